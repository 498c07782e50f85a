//! Columns of Arrow arrays, from files or from other programs' memory.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, RecordBatchReader};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, TimeUnit};
use eyot::{Column, Table, TableColumn, TextColumn};

use super::ColumnKind;
use super::column::{Gathered, TextCells, as_text, number};
use crate::error::{Error, Result};

/// All rows of a stream of Arrow batches, as a file of them would be read. `name` is what errors call it.
pub fn table_of_arrow(name: &str, batches: impl RecordBatchReader) -> Result<Table> {
    let broken = |error: &ArrowError| Error::Format { file: name.into(), format: "Arrow", what: error.to_string() };
    let schema = batches.schema();
    let mut kinds = Vec::new();
    for field in schema.fields() {
        let unusable = || Error::ColumnType {
            file: name.into(),
            column: field.name().clone(),
            kind: field.data_type().to_string(),
        };
        kinds.push(kind_of(field.data_type()).ok_or_else(unusable)?);
    }
    let mut all = Gathered::default();
    let mut first_row = 0;
    for batch in batches {
        let batch = batch.map_err(|error| broken(&error))?;
        let mut columns = Vec::with_capacity(kinds.len());
        for ((field, kind), array) in schema.fields().iter().zip(&kinds).zip(batch.columns()) {
            let values = match kind {
                ColumnKind::Number => numbers(array).map(Column::Numbers),
                ColumnKind::Text => texts(array).map(Column::Text),
            };
            let values = values.map_err(|wrong| match wrong {
                Wrong::Arrow(error) => broken(&error),
                Wrong::Cell { row, value } => {
                    let (row, column) = (first_row + row + 1, field.name());
                    Error::Core(eyot::Error::Data(format!("row {row}, column `{column}`: `{value}` is not a number")))
                }
            })?;
            columns.push(TableColumn { name: field.name().clone(), values });
        }
        all.push(Table { first_row, n_rows: batch.num_rows(), columns, sparse: None });
        first_row += batch.num_rows();
    }
    Ok(all.finish()?)
}

/// What a type becomes, `None` if neither.
pub(super) fn kind_of(kind: &DataType) -> Option<ColumnKind> {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(ColumnKind::Text),
        DataType::Dictionary(_, values) => kind_of(values),
        DataType::Interval(_) => None,
        DataType::Null | DataType::Boolean => Some(ColumnKind::Number),
        kind => (kind.is_numeric() || kind.is_temporal()).then_some(ColumnKind::Number),
    }
}

/// What is wrong with a column of a batch.
pub(super) enum Wrong {
    Arrow(ArrowError),
    Cell { row: usize, value: String },
}

impl From<ArrowError> for Wrong {
    fn from(error: ArrowError) -> Self {
        Self::Arrow(error)
    }
}

pub(super) fn numbers(array: &ArrayRef) -> Result<Vec<f64>, Wrong> {
    let array = match array.data_type() {
        DataType::Null => return Ok(vec![f64::NAN; array.len()]),
        DataType::Dictionary(_, values) => return numbers(&cast(array, values)?),
        // By way of the digits, because dividing by a power of ten can miss the nearest number.
        kind if kind.is_decimal() => return parsed(array),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => return parsed(array),
        DataType::Date32 | DataType::Time32(_) => &cast(array, &DataType::Int32)?,
        // In one unit, so that a model fits whatever holds the same instants.
        DataType::Timestamp(_, zone) => {
            &cast(&cast(array, &DataType::Timestamp(TimeUnit::Microsecond, zone.clone()))?, &DataType::Int64)?
        }
        kind if kind.is_temporal() => &cast(array, &DataType::Int64)?,
        _ => array,
    };
    let array = cast(array, &DataType::Float64)?;
    let values = array.as_primitive::<Float64Type>();
    let cell = |value: Option<f64>| value.filter(|value| !value.is_nan()).unwrap_or(f64::NAN);
    Ok(values.iter().map(cell).collect())
}

fn parsed(array: &ArrayRef) -> Result<Vec<f64>, Wrong> {
    let strings = cast(array, &DataType::LargeUtf8)?;
    let cell = |(row, text): (usize, Option<&str>)| match text {
        None => Ok(f64::NAN),
        Some(text) => number(text.trim_ascii().as_bytes()).ok_or_else(|| Wrong::Cell { row, value: text.into() }),
    };
    strings.as_string::<i64>().iter().enumerate().map(cell).collect()
}

pub(super) fn texts(array: &ArrayRef) -> Result<TextColumn, Wrong> {
    match array.data_type() {
        DataType::Dictionary(_, values) => return texts(&cast(array, values)?),
        // Written as other numbers are: 1, not 1.0.
        kind if kind.is_floating() => return Ok(as_text(&numbers(array)?)),
        _ => {}
    }
    let strings = cast(array, &DataType::LargeUtf8)?;
    let mut cells = TextCells::default();
    for text in strings.as_string::<i64>() {
        cells.push(text);
    }
    Ok(cells.finish())
}
