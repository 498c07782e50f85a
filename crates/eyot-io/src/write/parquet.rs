//! Parquet out, batch by batch. The first batch decides the columns.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{ArrayRef, Float64Array, PrimitiveArray, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{Field, Schema};
use eyot::{CodeStore, Codes, Column};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::{AtomicFile, Cells};
use crate::error::{Error, Result};

/// Rows per row group: a writer keeps one group in memory.
const GROUP_ROWS: usize = 1 << 14;

pub(super) struct ParquetSink {
    name: String,
    state: State,
}

enum State {
    /// No batch yet.
    New(Box<Option<AtomicFile>>),
    Open(Box<ArrowWriter<AtomicFile>>, Arc<Schema>),
}

impl ParquetSink {
    #[expect(clippy::unnecessary_wraps, reason = "its twin in a build without Parquet fails here")]
    pub(super) fn new(file: AtomicFile) -> Result<Self> {
        Ok(Self { name: file.name().to_owned(), state: State::New(Box::new(Some(file))) })
    }

    pub(super) fn write_codes(&mut self, codes: &Codes, label: Option<&Column>) -> Result<()> {
        let mut columns: Vec<_> = (0..codes.t()).map(|i| (format!("p{i}"), code_column(codes, i))).collect();
        columns.extend(label.map(|label| ("label".to_owned(), arrow_column(label.into()))));
        self.write(columns)
    }

    pub(super) fn write_cells(&mut self, columns: &[(&str, Cells<'_>)]) -> Result<()> {
        self.write(columns.iter().map(|&(name, cells)| (name.to_owned(), arrow_column(cells))).collect())
    }

    fn write(&mut self, columns: Vec<(String, ArrayRef)>) -> Result<()> {
        let fail = |error: ParquetError| failed(&self.name, error);
        if let State::New(file) = &mut self.state {
            let field = |(name, array): &(String, ArrayRef)| Field::new(name, array.data_type().clone(), true);
            let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .set_max_row_group_row_count(Some(GROUP_ROWS))
                .build();
            let file = file.take().expect("taken only here, on the way to the open state");
            let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties)).map_err(fail)?;
            self.state = State::Open(Box::new(writer), schema);
        }
        let State::Open(writer, schema) = &mut self.state else { unreachable!("opened above") };
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(|error| fail(error.into()))?;
        writer.write(&batch).map_err(fail)
    }

    pub(super) fn finish(self) -> Result<()> {
        match self.state {
            State::New(_) => Err(Error::Empty { file: self.name, header: false }),
            State::Open(writer, _) => writer.into_inner().map_err(|error| failed(&self.name, error))?.commit(),
        }
    }
}

/// The operating system's own error, if that is what is inside.
fn failed(name: &str, error: ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => Error::io(name, *error),
            Err(other) => Error::io(name, std::io::Error::other(other)),
        },
        other => Error::io(name, std::io::Error::other(other)),
    }
}

fn code_column(codes: &Codes, i: usize) -> ArrayRef {
    fn column<T: ArrowPrimitiveType>(cells: &[T::Native], t: usize, i: usize, psi: usize) -> ArrayRef
    where
        T::Native: Into<u32>,
    {
        let column = cells.iter().skip(i).step_by(t);
        let code = |&cell: &T::Native| ((cell.into() as usize) < psi).then_some(cell);
        Arc::new(column.map(code).collect::<PrimitiveArray<T>>())
    }
    match codes.store() {
        CodeStore::U8(cells) => column::<UInt8Type>(cells, codes.t(), i, codes.psi()),
        CodeStore::U16(cells) => column::<UInt16Type>(cells, codes.t(), i, codes.psi()),
        CodeStore::U32(cells) => column::<UInt32Type>(cells, codes.t(), i, codes.psi()),
    }
}

/// A column for Parquet.
fn arrow_column(cells: Cells<'_>) -> ArrayRef {
    match cells {
        Cells::Integers(values) => Arc::new(UInt64Array::from(values.to_vec())),
        Cells::Numbers(values) => {
            Arc::new(values.iter().map(|&value| (!value.is_nan()).then_some(value)).collect::<Float64Array>())
        }
        Cells::Text(text) => Arc::new((0..text.codes.len()).map(|row| text.get(row)).collect::<StringArray>()),
    }
}
