//! Arrays of raw numbers, without the detour through named columns: the same points, bit for bit, as the table of the
//! same numbers would give, and none copied where nothing is to be changed.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::apply::{Coding, EncodeCounts, Encoder};
use super::fit::EncoderFit;
use super::{EncoderParams, scaled};
use crate::data::points::{Points, PointsBuf, Real, Values};
use crate::data::table::{Column, Table, TableColumn};
use crate::error::{Error, Result};
use crate::params::Checked;

/// Rows that are looked at together; no result depends on it.
const BATCH: usize = 4096;

/// Raw numbers row by row, NaN meaning missing, with the names of the columns.
#[derive(Debug, Clone, Copy)]
pub struct RawArray<'a> {
    values: RawValues<'a>,
    names: &'a [String],
    n_rows: usize,
}

/// The numbers of a [`RawArray`].
#[derive(Debug, Clone, Copy)]
pub enum RawValues<'a> {
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
}

/// Points that may be the caller's own numbers.
#[derive(Debug)]
pub enum Encoded<'a> {
    /// The array itself: nothing had to be changed.
    View(Points<'a>),
    /// New numbers.
    Owned(PointsBuf),
}

impl Encoded<'_> {
    /// The points.
    pub fn as_points(&self) -> Points<'_> {
        match self {
            Self::View(points) => *points,
            Self::Owned(points) => points.as_points(),
        }
    }
}

impl RawValues<'_> {
    fn len(self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    fn slice(self, range: Range<usize>) -> Self {
        match self {
            Self::F32(values) => Self::F32(&values[range]),
            Self::F64(values) => Self::F64(&values[range]),
        }
    }

    fn get(self, at: usize) -> f64 {
        match self {
            Self::F32(values) => f64::from(values[at]),
            Self::F64(values) => values[at],
        }
    }
}

impl<'a> RawArray<'a> {
    /// Rows as wide as there are names.
    pub fn new(values: RawValues<'a>, names: &'a [String]) -> Result<Self> {
        let width = names.len();
        if width == 0 || !values.len().is_multiple_of(width) {
            return Err(Error::Shape { what: "columns", expected: width.max(1), got: values.len() });
        }
        Ok(Self { values, names, n_rows: values.len() / width })
    }

    /// Number of rows.
    pub const fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The names of the columns.
    pub const fn names(&self) -> &'a [String] {
        self.names
    }

    /// Some rows as a table.
    ///
    /// # Panics
    /// If the range leaves the rows.
    pub fn table(&self, rows: Range<usize>) -> Table {
        let width = self.names.len();
        let column = |(at, name): (usize, &String)| {
            let values = rows.clone().map(|row| self.values.get(row * width + at)).map(one_nan).collect();
            TableColumn { name: name.clone(), values: Column::Numbers(values) }
        };
        let columns = self.names.iter().enumerate().map(column).collect();
        Table { first_row: rows.start, n_rows: rows.len(), columns, sparse: None }
    }
}

/// All NaN are the same one.
fn one_nan(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value }
}

/// Raw rows in memory, numbered from 0.
#[derive(Debug, Clone, Copy)]
pub enum RawRows<'a> {
    /// Numbers only.
    Array(RawArray<'a>),
    /// Columns of any kind.
    Table(&'a Table),
}

impl<'a> RawRows<'a> {
    /// Number of rows.
    pub const fn n_rows(&self) -> usize {
        match self {
            Self::Array(array) => array.n_rows,
            Self::Table(table) => table.n_rows,
        }
    }

    /// Some rows as a table, numbered as they are here, with more columns of all rows after those that are there.
    pub fn table(&self, rows: Range<usize>, more: &[TableColumn]) -> Table {
        let mut table = match self {
            Self::Array(array) => array.table(rows.clone()),
            Self::Table(table) if rows == (0..table.n_rows) => (*table).clone(),
            Self::Table(table) => {
                let part = table.select(&rows.clone().collect::<Vec<_>>());
                Table { first_row: table.first_row + rows.start, ..part }
            }
        };
        table.columns.extend(
            more.iter()
                .map(|column| TableColumn { name: column.name.clone(), values: column.values.slice(rows.clone()) }),
        );
        table
    }

    /// Fits an encoder; `more` are columns of all rows that have a role.
    pub fn fit_encoder(&self, params: Checked<EncoderParams>, more: &[TableColumn]) -> Result<Encoder> {
        let mut fit = EncoderFit::new(params);
        let batch = if matches!(self, Self::Array(_)) { BATCH } else { self.n_rows().max(1) };
        for first in (0..self.n_rows()).step_by(batch) {
            fit.observe(&self.table(first..(first + batch).min(self.n_rows()), more))?;
        }
        fit.finish()
    }

    /// The points of some rows; `plan` is [`Encoder::plan`] for the columns of an array.
    pub fn encode(
        &self,
        encoder: &Encoder,
        plan: Option<&ArrayPlan>,
        rows: Range<usize>,
        counts: &mut EncodeCounts,
    ) -> Result<Encoded<'a>> {
        match self {
            Self::Array(array) => encoder.encode_array(plan, array, rows, counts),
            Self::Table(table) if rows == (0..table.n_rows) => {
                encoder.encode_counting(table, counts).map(Encoded::Owned)
            }
            Self::Table(_) => encoder.encode_counting(&self.table(rows, &[]), counts).map(Encoded::Owned),
        }
    }
}

/// Where an encoder finds its columns in arrays of certain names.
#[derive(Debug, Clone)]
pub struct ArrayPlan {
    width: usize,
    columns: Vec<Planned>,
    /// Whether encoding changes no number.
    identity: bool,
}

#[derive(Debug, Clone, Copy)]
struct Planned {
    place: usize,
    shift: f64,
    divisor: f64,
    fill: Option<f64>,
}

impl Encoder {
    /// The way from arrays with these columns to points; `None` if a column is not one of numbers, so that rows must
    /// come as tables.
    pub fn plan(&self, names: &[String]) -> Option<ArrayPlan> {
        let known: HashSet<&str> = self.known_names().collect();
        if self.sparse.is_some() || names.iter().any(|name| !known.contains(name.as_str())) {
            return None;
        }
        let places: HashMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let planned = self.columns.iter().map(|column| {
            let place = *places.get(column.name.as_str())?;
            match column.coding {
                Coding::Number { shift, divisor, fill } => Some(Planned { place, shift, divisor, fill }),
                Coding::Text { .. } => None,
            }
        });
        let columns: Vec<Planned> = planned.collect::<Option<_>>()?;
        let unchanged = |(at, column): (usize, &Planned)| {
            column.place == at && (column.shift, column.divisor, column.fill) == (0.0, 1.0, None)
        };
        let identity = columns.len() == names.len() && columns.iter().enumerate().all(unchanged);
        Some(ArrayPlan { width: names.len(), columns, identity })
    }

    /// The points of an array, as [`Encoder::encode_counting`] would give them for its table.
    pub fn encode_array<'a>(
        &self,
        plan: Option<&ArrayPlan>,
        array: &RawArray<'a>,
        rows: Range<usize>,
        counts: &mut EncodeCounts,
    ) -> Result<Encoded<'a>> {
        let width = array.names.len();
        let values = array.values.slice(rows.start * width..rows.end * width);
        if let Some(plan) = plan.filter(|plan| plan.width == width) {
            let encoded = match values {
                RawValues::F32(values) => plan.encode(values, counts),
                RawValues::F64(values) => plan.encode(values, counts),
            };
            if let Some(encoded) = encoded {
                return Ok(encoded);
            }
        }
        // Slower, and it has words for what is wrong.
        self.encode_counting(&array.table(rows), counts).map(Encoded::Owned)
    }
}

impl ArrayPlan {
    /// `None` if a value cannot be used.
    fn encode<'a, F: Real + Viewed>(&self, values: &'a [F], counts: &mut EncodeCounts) -> Option<Encoded<'a>> {
        // Both zeros compute alike, but an encoded one is never negative.
        let negative_zero = |value: &F| (*value).into() == 0.0 && (*value).into().is_sign_negative();
        if self.identity && !values.iter().any(negative_zero) {
            return F::view(values, self.width).map(Encoded::View);
        }
        let mut encoded = Vec::with_capacity(values.len() / self.width * self.columns.len());
        let mut imputed = 0;
        for row in values.chunks_exact(self.width) {
            for column in &self.columns {
                let mut value: f64 = row[column.place].into();
                if value.is_nan() {
                    value = column.fill?;
                    imputed += 1;
                }
                encoded.push(scaled(value, column.shift, column.divisor));
            }
        }
        let points = PointsBuf::from_dense(encoded, self.columns.len()).ok()?;
        counts.imputed += imputed;
        Some(Encoded::Owned(points))
    }
}

/// A type whose numbers are points as they are.
trait Viewed: Sized {
    fn view(values: &[Self], columns: usize) -> Option<Points<'_>>;
}

impl Viewed for f32 {
    fn view(values: &[Self], columns: usize) -> Option<Points<'_>> {
        Points::dense_f32(values, columns).ok()
    }
}

impl Viewed for f64 {
    fn view(values: &[Self], columns: usize) -> Option<Points<'_>> {
        Points::dense(values, columns).ok()
    }
}

impl Encoded<'_> {
    /// The points in `f64`, as files give them: a model made from them has the same bytes, whatever the array's type.
    #[must_use]
    pub fn widened(self) -> Self {
        match &self {
            Self::View(points) => match points.values() {
                Values::F32(values) => {
                    let wide = values.iter().map(|&value| f64::from(value)).collect();
                    Self::Owned(PointsBuf::from_dense(wide, points.n_columns()).expect("the numbers are finite"))
                }
                _ => self,
            },
            Self::Owned(_) => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Missing, Scale};

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("f{i}")).collect()
    }

    fn numbers() -> Vec<f64> {
        (0..60).map(|i| f64::from(i * i % 17) * 0.37 - 1.0).collect()
    }

    #[test]
    fn an_array_is_encoded_as_its_table() {
        let (names, mut values) = (names(3), numbers());
        values[7] = f64::NAN;
        let narrow: Vec<f32> = values.iter().map(|&value| value as f32).collect();
        for scale in [Scale::MinMax, Scale::Standard, Scale::None] {
            for values in [RawValues::F64(&values), RawValues::F32(&narrow)] {
                let array = RawArray::new(values, &names).unwrap();
                let params = EncoderParams::default().scale(scale).missing(Missing::Impute).check().unwrap();
                let encoder = params.clone().fit(&array.table(0..20)).unwrap();
                assert_eq!(RawRows::Array(array).fit_encoder(params, &[]).unwrap(), encoder);
                let plan = encoder.plan(&names);
                let mut counts = EncodeCounts::default();
                let points = encoder.encode_array(plan.as_ref(), &array, 0..20, &mut counts).unwrap();
                assert_eq!(points.as_points().to_buf(), encoder.encode(&array.table(0..20)).unwrap());
                assert_eq!(counts.imputed, 1);
            }
        }
    }

    #[test]
    fn unscaled_arrays_are_viewed_and_bad_cells_are_named_as_in_a_table() {
        let (names, mut values) = (names(3), numbers());
        let params = EncoderParams::default().scale(Scale::None).check().unwrap();
        let encoder = params.fit(&RawArray::new(RawValues::F64(&values), &names).unwrap().table(0..20)).unwrap();
        let plan = encoder.plan(&names);
        let encode = |values: &[f64]| {
            let array = RawArray::new(RawValues::F64(values), &names).unwrap();
            let encoded = encoder.encode_array(plan.as_ref(), &array, 0..20, &mut EncodeCounts::default())?;
            Ok::<bool, Error>(matches!(encoded, Encoded::View(_)))
        };
        assert!(encode(&values).unwrap());
        values[4] = -0.0;
        assert!(!encode(&values).unwrap());
        values[4] = f64::NAN;
        assert_eq!(encode(&values).unwrap_err().to_string(), "row 2, column `f1`: the value is missing");
        values[4] = f64::INFINITY;
        assert_eq!(encode(&values).unwrap_err().to_string(), "row 2, column `f1`: inf is not a finite number");
    }
}
