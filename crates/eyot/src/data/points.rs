//! Points as methods see them: finite numbers, dense (`f32` or `f64`, row by row) or sparse (compressed rows). A
//! [`Points`] is a view and is finite once built, so nothing downstream checks again; [`PointsBuf`] owns its rows.
//! Storage never matters: the same values give the same answers, because every sum over columns runs in ascending
//! column order in `f64`, and a column absent from a sparse row is exactly 0.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{ColumnRef, Error, Result};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};

/// A borrowed table of finite numbers.
#[derive(Debug, Clone, Copy)]
pub struct Points<'a> {
    rows: usize,
    columns: usize,
    values: Values<'a>,
}

/// How the numbers of [`Points`] are stored.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// Row by row.
    F32(&'a [f32]),
    /// Row by row.
    F64(&'a [f64]),
    /// Compressed rows: row i has entries `starts[i]..starts[i + 1]` of the other two; the first start of a slice
    /// need not be 0.
    Sparse {
        /// One more than rows.
        starts: &'a [usize],
        /// Column of each entry, ascending within a row.
        columns: &'a [u32],
        /// Value of each entry, never 0.
        values: &'a [f64],
    },
}

/// One row of [`Points`].
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// All columns.
    F32(&'a [f32]),
    /// All columns.
    F64(&'a [f64]),
    /// The columns that are not 0.
    Sparse(SparseRow<'a>),
}

/// The non-zero entries of a row, columns ascending.
#[derive(Debug, Clone, Copy)]
pub struct SparseRow<'a> {
    /// Ascending.
    pub columns: &'a [u32],
    /// Finite, never 0.
    pub values: &'a [f64],
}

/// `f32` or `f64`, the types of dense storage. Both widen to `f64` without loss.
pub trait Real: Copy + Send + Sync + Into<f64> + 'static {}
impl Real for f32 {}
impl Real for f64 {}

impl<'a> Points<'a> {
    /// Dense `f64` rows of `columns` numbers each.
    pub fn dense(values: &'a [f64], columns: usize) -> Result<Self> {
        let rows = count_rows(values, columns)?;
        Ok(Self { rows, columns, values: Values::F64(values) })
    }

    /// Dense `f32` rows of `columns` numbers each.
    pub fn dense_f32(values: &'a [f32], columns: usize) -> Result<Self> {
        let rows = count_rows(values, columns)?;
        Ok(Self { rows, columns, values: Values::F32(values) })
    }

    /// Sparse rows: `starts` has one entry more than there are rows; within a row, columns ascend and values are
    /// finite and not 0.
    pub fn sparse(starts: &'a [usize], entry_columns: &'a [u32], values: &'a [f64], columns: usize) -> Result<Self> {
        let ends_fit = starts.first() == Some(&0) && starts.last() == Some(&values.len());
        if !ends_fit || entry_columns.len() != values.len() || !starts.is_sorted() {
            return Err(Error::Shape {
                what: "entries of the sparse rows",
                expected: values.len(),
                got: entry_columns.len(),
            });
        }
        for (row, bounds) in starts.windows(2).enumerate() {
            let (row_columns, row_values) = (&entry_columns[bounds[0]..bounds[1]], &values[bounds[0]..bounds[1]]);
            let ascending = row_columns.windows(2).all(|pair| pair[0] < pair[1]);
            let inside = row_columns.last().is_none_or(|&last| (last as usize) < columns);
            if !ascending || !inside || row_values.contains(&0.0) {
                return Err(Error::SparseRow { row, columns });
            }
            if let Some(at) = row_values.iter().position(|value| !value.is_finite()) {
                let column = ColumnRef::Number(row_columns[at] as usize);
                return Err(Error::NotFinite { row, column, value: row_values[at] });
            }
        }
        Ok(Self { rows: starts.len() - 1, columns, values: Values::Sparse { starts, columns: entry_columns, values } })
    }

    /// Rows that are known to be finite and well-formed, because they come from other points.
    pub(crate) const fn trusted(rows: usize, columns: usize, values: Values<'a>) -> Self {
        Self { rows, columns, values }
    }

    /// Number of rows.
    pub const fn n_rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub const fn n_columns(&self) -> usize {
        self.columns
    }

    /// The storage, for code that has a path of its own for each kind.
    pub const fn values(&self) -> Values<'a> {
        self.values
    }

    /// Whether the rows are stored sparsely.
    pub const fn is_sparse(&self) -> bool {
        matches!(self.values, Values::Sparse { .. })
    }

    /// Row `row`.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, row: usize) -> Row<'a> {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        let dense = row * self.columns..(row + 1) * self.columns;
        match self.values {
            Values::F32(values) => Row::F32(&values[dense]),
            Values::F64(values) => Row::F64(&values[dense]),
            Values::Sparse { starts, columns, values } => {
                let entries = starts[row]..starts[row + 1];
                Row::Sparse(SparseRow { columns: &columns[entries.clone()], values: &values[entries] })
            }
        }
    }

    /// All rows in order.
    pub fn rows(self) -> impl ExactSizeIterator<Item = Row<'a>> {
        (0..self.rows).map(move |row| self.row(row))
    }

    /// The rows of a range, without copying.
    ///
    /// # Panics
    /// If the range leaves the rows.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        let dense = rows.start * self.columns..rows.end * self.columns;
        let values = match self.values {
            Values::F32(values) => Values::F32(&values[dense]),
            Values::F64(values) => Values::F64(&values[dense]),
            Values::Sparse { starts, columns, values } => {
                Values::Sparse { starts: &starts[rows.start..=rows.end], columns, values }
            }
        };
        Self { rows: rows.len(), columns: self.columns, values }
    }

    /// A copy that owns its rows, in the same storage.
    pub fn to_buf(&self) -> PointsBuf {
        let mut buf = PointsBuf::like(self);
        for row in self.rows() {
            buf.push(row);
        }
        buf
    }
}

fn count_rows<F: Real>(values: &[F], columns: usize) -> Result<usize> {
    if columns == 0 {
        return if values.is_empty() { Ok(0) } else { Err(Error::Shape { what: "columns", expected: 1, got: 0 }) };
    }
    if !values.len().is_multiple_of(columns) {
        return Err(Error::Shape { what: "values in the last row", expected: columns, got: values.len() % columns });
    }
    if let Some(at) = values.iter().position(|&value| !value.into().is_finite()) {
        let column = ColumnRef::Number(at % columns);
        return Err(Error::NotFinite { row: at / columns, column, value: values[at].into() });
    }
    Ok(values.len() / columns)
}

impl<'a> Row<'a> {
    /// The value in a column; 0 where a sparse row has no entry.
    ///
    /// # Panics
    /// If a dense row has no such column.
    #[inline]
    pub fn get(&self, column: usize) -> f64 {
        match self {
            Self::F32(values) => f64::from(values[column]),
            Self::F64(values) => values[column],
            Self::Sparse(row) => row.columns.binary_search(&(column as u32)).map_or(0.0, |at| row.values[at]),
        }
    }

    /// The entries that are not 0, columns ascending.
    pub fn nonzeros(self) -> impl Iterator<Item = (usize, f64)> + 'a {
        let (dense32, dense64, sparse): (&[f32], &[f64], _) = match self {
            Row::F32(values) => (values, &[], None),
            Row::F64(values) => (&[], values, None),
            Row::Sparse(row) => (&[], &[], Some(row)),
        };
        let dense32 = dense32.iter().map(|&value| f64::from(value)).enumerate();
        let dense64 = dense64.iter().copied().enumerate();
        let sparse = sparse
            .into_iter()
            .flat_map(|row| row.columns.iter().map(|&column| column as usize).zip(row.values.iter().copied()));
        dense32.chain(dense64).filter(|&(_, value)| value != 0.0).chain(sparse)
    }

    /// Σ x_k², columns ascending.
    pub fn squared_norm(self) -> f64 {
        self.nonzeros().map(|(_, value)| value * value).sum()
    }

    /// Σ x_k·y_k over columns where both are not 0, ascending.
    pub fn dot(self, other: Row<'_>) -> f64 {
        let mut sum = 0.0;
        self.pairs(other, |x, y| {
            if x != 0.0 && y != 0.0 {
                sum += x * y;
            }
        });
        sum
    }

    /// Σ (x_k − y_k)², columns ascending, in `f64`: the one definition of distance that all fast paths must agree
    /// with. No fused multiply-add, so every machine rounds alike.
    pub fn squared_distance(self, other: Row<'_>) -> f64 {
        let mut sum = 0.0;
        self.pairs(other, |x, y| {
            let difference = x - y;
            sum += difference * difference;
        });
        sum
    }

    /// Σ |x_k − y_k|, columns ascending.
    pub fn l1_distance(self, other: Row<'_>) -> f64 {
        let mut sum = 0.0;
        self.pairs(other, |x, y| sum += (x - y).abs());
        sum
    }

    /// Calls `visit(x_k, y_k)` for ascending k wherever one of the two rows has an entry (dense rows have all).
    #[inline]
    pub fn pairs(self, other: Row<'_>, mut visit: impl FnMut(f64, f64)) {
        match (self, other) {
            (Row::F64(x), Row::F64(y)) => x.iter().zip(y).for_each(|(&x, &y)| visit(x, y)),
            (Row::F32(x), Row::F32(y)) => x.iter().zip(y).for_each(|(&x, &y)| visit(x.into(), y.into())),
            (Row::F32(x), Row::F64(y)) => x.iter().zip(y).for_each(|(&x, &y)| visit(x.into(), y)),
            (Row::F64(x), Row::F32(y)) => x.iter().zip(y).for_each(|(&x, &y)| visit(x, y.into())),
            (Row::Sparse(x), Row::Sparse(y)) => {
                let (mut i, mut j) = (0, 0);
                while i < x.columns.len() && j < y.columns.len() {
                    match x.columns[i].cmp(&y.columns[j]) {
                        std::cmp::Ordering::Less => {
                            visit(x.values[i], 0.0);
                            i += 1;
                        }
                        std::cmp::Ordering::Greater => {
                            visit(0.0, y.values[j]);
                            j += 1;
                        }
                        std::cmp::Ordering::Equal => {
                            visit(x.values[i], y.values[j]);
                            i += 1;
                            j += 1;
                        }
                    }
                }
                x.values[i..].iter().for_each(|&x| visit(x, 0.0));
                y.values[j..].iter().for_each(|&y| visit(0.0, y));
            }
            (Row::Sparse(x), dense) => pairs_sparse_dense(x, dense, visit),
            (dense, Row::Sparse(y)) => pairs_sparse_dense(y, dense, |y, x| visit(x, y)),
        }
    }
}

fn pairs_sparse_dense(sparse: SparseRow<'_>, dense: Row<'_>, mut visit: impl FnMut(f64, f64)) {
    let mut entries = sparse.columns.iter().zip(sparse.values).peekable();
    let width = match dense {
        Row::F32(values) => values.len(),
        Row::F64(values) => values.len(),
        Row::Sparse(_) => unreachable!("called with a dense row"),
    };
    for column in 0..width {
        let x = entries.next_if(|(at, _)| **at as usize == column).map_or(0.0, |(_, &value)| value);
        visit(x, dense.get(column));
    }
}

/// Owned rows that grow one by one.
#[derive(Debug, Clone, PartialEq)]
pub struct PointsBuf {
    columns: usize,
    rows: usize,
    store: Store,
}

#[derive(Debug, Clone, PartialEq)]
enum Store {
    F32(Vec<f32>),
    F64(Vec<f64>),
    Sparse { starts: Vec<usize>, columns: Vec<u32>, values: Vec<f64> },
}

impl PointsBuf {
    /// No rows yet, dense `f64`.
    pub fn dense(columns: usize) -> Self {
        Self { columns, rows: 0, store: Store::F64(Vec::new()) }
    }

    /// No rows yet, dense `f32`.
    pub fn dense_f32(columns: usize) -> Self {
        Self { columns, rows: 0, store: Store::F32(Vec::new()) }
    }

    /// No rows yet, sparse.
    pub fn sparse(columns: usize) -> Self {
        Self { columns, rows: 0, store: Store::Sparse { starts: vec![0], columns: Vec::new(), values: Vec::new() } }
    }

    /// No rows yet, in the storage of `points`.
    pub fn like(points: &Points<'_>) -> Self {
        match points.values() {
            Values::F32(_) => Self::dense_f32(points.n_columns()),
            Values::F64(_) => Self::dense(points.n_columns()),
            Values::Sparse { .. } => Self::sparse(points.n_columns()),
        }
    }

    /// Takes over dense `f64` rows.
    pub fn from_dense(values: Vec<f64>, columns: usize) -> Result<Self> {
        let rows = count_rows(&values, columns)?;
        Ok(Self { columns, rows, store: Store::F64(values) })
    }

    /// Takes over dense `f32` rows.
    pub fn from_dense_f32(values: Vec<f32>, columns: usize) -> Result<Self> {
        let rows = count_rows(&values, columns)?;
        Ok(Self { columns, rows, store: Store::F32(values) })
    }

    /// Takes over sparse rows; see [`Points::sparse`] for the rules.
    pub fn from_sparse(starts: Vec<usize>, entry_columns: Vec<u32>, values: Vec<f64>, columns: usize) -> Result<Self> {
        let rows = Points::sparse(&starts, &entry_columns, &values, columns)?.n_rows();
        Ok(Self { columns, rows, store: Store::Sparse { starts, columns: entry_columns, values } })
    }

    /// Dense rows given as a list, for examples and tests.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self> {
        let columns = rows.first().map_or(0, |row| row.as_ref().len());
        if let Some(row) = rows.iter().find(|row| row.as_ref().len() != columns) {
            return Err(Error::Shape { what: "columns", expected: columns, got: row.as_ref().len() });
        }
        Self::from_dense(rows.iter().flat_map(|row| row.as_ref().iter().copied()).collect(), columns)
    }

    /// Appends a row of existing points, converting to the storage of this one (dense `f32` storage rounds). A
    /// sparse row with new columns widens sparse storage.
    ///
    /// # Panics
    /// If a dense row has another width.
    pub fn push(&mut self, row: Row<'_>) {
        let before = self.rows * self.columns;
        match (&mut self.store, row) {
            (Store::F32(store), Row::F32(values)) => store.extend_from_slice(values),
            (Store::F64(store), Row::F64(values)) => store.extend_from_slice(values),
            (Store::F32(store), row) => {
                store.resize(before + self.columns, 0.0);
                row.nonzeros().for_each(|(column, value)| store[before + column] = value as f32);
            }
            (Store::F64(store), row) => {
                store.resize(before + self.columns, 0.0);
                row.nonzeros().for_each(|(column, value)| store[before + column] = value);
            }
            (Store::Sparse { starts, columns, values }, row) => {
                for (column, value) in row.nonzeros() {
                    columns.push(column as u32);
                    values.push(value);
                    self.columns = self.columns.max(column + 1);
                }
                starts.push(values.len());
            }
        }
        self.rows += 1;
        if let Store::F32(_) | Store::F64(_) = self.store {
            assert_eq!(self.dense_len(), self.rows * self.columns, "a row of another width");
        }
    }

    /// Takes a row out; those after it move up, in order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn remove(&mut self, row: usize) {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        let dense = row * self.columns..(row + 1) * self.columns;
        match &mut self.store {
            Store::F32(values) => drop(values.drain(dense)),
            Store::F64(values) => drop(values.drain(dense)),
            Store::Sparse { starts, columns, values } => {
                let entries = starts[row]..starts[row + 1];
                columns.drain(entries.clone());
                values.drain(entries.clone());
                starts.remove(row);
                starts[row..].iter_mut().for_each(|start| *start -= entries.len());
            }
        }
        self.rows -= 1;
    }

    fn dense_len(&self) -> usize {
        match &self.store {
            Store::F32(values) => values.len(),
            Store::F64(values) => values.len(),
            Store::Sparse { .. } => 0,
        }
    }

    /// The rows as a view.
    pub fn as_points(&self) -> Points<'_> {
        let values = match &self.store {
            Store::F32(values) => Values::F32(values),
            Store::F64(values) => Values::F64(values),
            Store::Sparse { starts, columns, values } => Values::Sparse { starts, columns, values },
        };
        Points { rows: self.rows, columns: self.columns, values }
    }

    /// Row `row`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> Row<'_> {
        self.as_points().row(row)
    }

    /// Number of rows.
    pub const fn n_rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub const fn n_columns(&self) -> usize {
        self.columns
    }

    /// A new buffer with the rows named, in that order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut chosen = Self::like(&self.as_points());
        for &row in rows {
            chosen.push(self.row(row));
        }
        chosen
    }
}

/// How the rows of a [`PointsBuf`] are stored, as written in model files.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Stored {
    F32,
    F64,
    Sparse,
}

impl Persist for PointsBuf {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        let stored = match &self.store {
            Store::F32(values) => {
                out.put_f32(&format!("{prefix}.values"), values);
                Stored::F32
            }
            Store::F64(values) => {
                out.put_f64(&format!("{prefix}.values"), values);
                Stored::F64
            }
            Store::Sparse { starts, columns, values } => {
                let starts: Vec<u64> = starts.iter().map(|&start| start as u64).collect();
                out.put_u64(&format!("{prefix}.starts"), &starts);
                out.put_u32(&format!("{prefix}.columns"), columns);
                out.put_f64(&format!("{prefix}.values"), values);
                Stored::Sparse
            }
        };
        out.put_json(&format!("{prefix}.stored"), &(stored, self.columns));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let name = format!("{prefix}.values");
        let (stored, columns): (Stored, usize) = from.json(&format!("{prefix}.stored"))?;
        let points = match stored {
            Stored::F32 => Self::from_dense_f32(from.f32s(&name)?, columns),
            Stored::F64 => Self::from_dense(from.f64s(&name)?, columns),
            Stored::Sparse => {
                let starts = from.u64s(&format!("{prefix}.starts"))?.into_iter().map(|start| start as usize).collect();
                Self::from_sparse(starts, from.u32s(&format!("{prefix}.columns"))?, from.f64s(&name)?, columns)
            }
        };
        points.map_err(|error| bad_part(&name, &error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three_ways() -> [PointsBuf; 3] {
        let dense = PointsBuf::from_rows(&[[0.5, 0.0, -2.0], [0.0, 0.0, 0.0], [1.0, 4.0, 0.25]]).unwrap();
        let mut single = PointsBuf::dense_f32(3);
        let mut sparse = PointsBuf::sparse(3);
        dense.as_points().rows().for_each(|row| {
            single.push(row);
            sparse.push(row);
        });
        [dense, single, sparse]
    }

    #[test]
    fn storage_changes_no_sum() {
        for a in &three_ways() {
            for b in &three_ways() {
                assert_eq!(a.row(0).squared_distance(b.row(2)), 0.25 + 16.0 + 5.0625);
                assert_eq!(a.row(0).l1_distance(b.row(2)), 6.75);
                assert_eq!(a.row(0).dot(b.row(2)), 0.0);
                assert_eq!(a.row(1).squared_norm(), 0.0);
                assert_eq!(a.row(2).get(1), b.row(2).get(1));
            }
        }
    }

    #[test]
    fn what_is_not_finite_is_refused_with_its_place() {
        let error = Points::dense(&[0.0, 1.0, f64::NAN, 1.0], 2).unwrap_err();
        assert_eq!(error.to_string(), "row 2, column 1: NaN is not a finite number");
        let error = Points::sparse(&[0, 1], &[4], &[f64::INFINITY], 9).unwrap_err();
        assert_eq!(error.to_string(), "row 1, column 5: inf is not a finite number");
    }

    #[test]
    fn sparse_rows_must_ascend_and_hold_no_zero() {
        assert!(Points::sparse(&[0, 2], &[3, 3], &[1.0, 1.0], 9).is_err());
        assert!(Points::sparse(&[0, 1], &[9], &[1.0], 9).is_err());
        assert!(Points::sparse(&[0, 1], &[1], &[0.0], 9).is_err());
        assert!(Points::sparse(&[0, 2], &[1], &[1.0], 9).is_err());
    }

    #[test]
    fn a_slice_has_the_rows_of_its_range() {
        for points in &three_ways() {
            let slice = points.as_points().slice(1..3);
            assert_eq!(slice.n_rows(), 2);
            assert_eq!(slice.row(1).get(1), 4.0);
        }
    }

    #[test]
    fn rows_survive_a_model_file() {
        for points in &three_ways() {
            let mut out = ModelWriter::new("test");
            points.save(&mut out, "points");
            let bytes = out.finish().unwrap();
            assert_eq!(&PointsBuf::load(&ModelReader::parse(&bytes).unwrap(), "points").unwrap(), points);
        }
    }

    #[test]
    fn removing_a_row_keeps_the_order_of_the_others() {
        for mut points in three_ways() {
            let (first, last) = (points.select(&[0]), points.select(&[2]));
            points.remove(1);
            assert_eq!((points.select(&[0]), points.select(&[1])), (first, last));
            points.remove(0);
            points.remove(0);
            assert_eq!(points, PointsBuf::like(&points.as_points()));
        }
    }

    #[test]
    fn ragged_rows_are_refused() {
        assert!(PointsBuf::from_rows(&[vec![1.0], vec![1.0, 2.0]]).is_err());
        assert!(Points::dense(&[1.0, 2.0, 3.0], 2).is_err());
    }
}
