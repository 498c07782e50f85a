//! Columns that start at 0, as χ² and intersection need them.

use crate::data::{Points, PointsBuf, Row, SparseRow};
use crate::error::{Error, Result};
use crate::kernel::check_not_negative;
use crate::model::{ModelReader, ModelWriter};

/// What is subtracted from each column, if anything. Values that end below 0 all the same, because training had none
/// so low, count as 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Floor(Option<Vec<f64>>);

impl Floor {
    /// With `shift`, columns with negative values are moved by their minimum; without it such values are refused.
    pub(super) fn of(points: Points<'_>, shift: bool) -> Result<Self> {
        if !shift {
            check_not_negative(points)?;
            return Ok(Self(None));
        }
        let mut lowest = vec![0.0f64; points.n_columns()];
        for row in points.rows() {
            row.nonzeros().for_each(|(column, value)| lowest[column] = lowest[column].min(value));
        }
        let negative = lowest.iter().any(|&value| value < 0.0);
        if negative && points.is_sparse() {
            return Err(Error::Data("a shift of negative values would make sparse rows dense".into()));
        }
        Ok(Self(negative.then_some(lowest)))
    }

    /// The rows above the floor, if any value changes.
    pub(super) fn raise(&self, points: Points<'_>) -> Option<PointsBuf> {
        if self.0.is_none() && check_not_negative(points).is_ok() {
            return None;
        }
        let shift = self.0.as_deref();
        let (sparse, columns) = (shift.is_none() && points.is_sparse(), points.n_columns());
        let mut moved = if sparse { PointsBuf::sparse(columns) } else { PointsBuf::dense(columns) };
        for row in points.rows() {
            if sparse {
                let kept = row.nonzeros().filter(|&(_, value)| value > 0.0);
                let (columns, values): (Vec<u32>, Vec<f64>) =
                    kept.map(|(column, value)| (column as u32, value)).unzip();
                moved.push(Row::Sparse(SparseRow { columns: &columns, values: &values }));
            } else {
                let low = |column: usize| shift.map_or(0.0, |shift| shift[column]);
                let values: Vec<f64> = (0..columns).map(|column| (row.get(column) - low(column)).max(0.0)).collect();
                moved.push(Row::F64(&values));
            }
        }
        Some(moved)
    }

    pub(super) const fn is_shifted(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn save(&self, out: &mut ModelWriter, prefix: &str) {
        if let Some(shift) = &self.0 {
            out.put_f64(&format!("{prefix}.shift"), shift);
        }
    }

    pub(super) fn load(from: &ModelReader<'_>, prefix: &str, shifted: bool, columns: usize) -> Result<Self> {
        let shift = || from.finite_f64s(&format!("{prefix}.shift"), columns);
        Ok(Self(if shifted { Some(shift()?) } else { None }))
    }
}
