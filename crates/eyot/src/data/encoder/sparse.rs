//! The scaling of sparse columns. Zeros stay zeros, except in columns in which every training row had an entry.

use super::scaled;
use crate::data::points::SparseRow;
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, bad_part, expect_len};

/// Shift and divisor of the columns that are listed; the others are passed on as they are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SparseCoding {
    pub(super) width: usize,
    /// How many columns should have been shifted, but must keep their zeros.
    pub(super) not_shifted: usize,
    /// Ascending.
    columns: Vec<u32>,
    shifts: Vec<f64>,
    divisors: Vec<f64>,
    /// Place of each column in the lists plus 1; empty if the lists are too short for that, then it is searched for.
    places: Vec<u32>,
    /// Places of the columns whose zeros do not stay zeros. Few: every training row had an entry in each of them.
    shifted: Vec<usize>,
}

impl SparseCoding {
    /// Takes `columns`, ascending and below `width`, with their shifts and divisors.
    pub(super) fn new(
        width: usize,
        not_shifted: usize,
        columns: Vec<u32>,
        shifts: Vec<f64>,
        divisors: Vec<f64>,
    ) -> Self {
        let mut places = Vec::new();
        if width / 8 <= columns.len() {
            places.resize(width, 0);
            columns.iter().zip(1..).for_each(|(&column, place)| places[column as usize] = place);
        }
        let shifted = (0..columns.len()).filter(|&place| shifts[place] != 0.0).collect();
        Self { width, not_shifted, columns, shifts, divisors, places, shifted }
    }

    fn place(&self, column: u32) -> Option<usize> {
        match self.places.get(column as usize) {
            Some(&place) => (place as usize).checked_sub(1),
            None => self.columns.binary_search(&column).ok(),
        }
    }

    /// Calls `visit(column, scaled value, raw value)` for ascending columns; returns how many entries were ignored
    /// because they lie beyond the width.
    pub(super) fn row(&self, row: SparseRow<'_>, mut visit: impl FnMut(usize, f64, f64) -> Result<()>) -> Result<u64> {
        let value_at = |place: usize, value: f64| scaled(value, self.shifts[place], self.divisors[place]);
        let column_at = |place: usize| self.columns[place];
        let mut shifted = self.shifted.iter().copied().peekable();
        let inside = row.columns.partition_point(|&column| (column as usize) < self.width);
        for (&column, &value) in row.columns[..inside].iter().zip(row.values) {
            while let Some(place) = shifted.next_if(|&place| column_at(place) < column) {
                visit(column_at(place) as usize, value_at(place, 0.0), 0.0)?;
            }
            shifted.next_if(|&place| column_at(place) == column);
            let encoded = self.place(column).map_or(value, |place| value_at(place, value));
            visit(column as usize, encoded, value)?;
        }
        for place in shifted {
            visit(column_at(place) as usize, value_at(place, 0.0), 0.0)?;
        }
        Ok((row.columns.len() - inside) as u64)
    }

    pub(super) fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_u64(&format!("{prefix}.not_shifted"), &[self.not_shifted as u64]);
        out.put_u32(&format!("{prefix}.columns"), &self.columns);
        out.put_f64(&format!("{prefix}.shifts"), &self.shifts);
        out.put_f64(&format!("{prefix}.divisors"), &self.divisors);
    }

    pub(super) fn load(from: &ModelReader<'_>, prefix: &str, width: usize) -> Result<Self> {
        let name = |part: &str| format!("{prefix}.{part}");
        let not_shifted = expect_len(&name("not_shifted"), from.u64s(&name("not_shifted"))?, 1)?[0] as usize;
        let columns = from.u32s(&name("columns"))?;
        let shifts = from.finite_f64s(&name("shifts"), columns.len())?;
        let divisors = from.finite_f64s(&name("divisors"), columns.len())?;
        let ascending = columns.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = columns.last().is_none_or(|&last| (last as usize) < width) && u32::try_from(width).is_ok();
        if !ascending || !inside {
            return Err(bad_part(&name("columns"), "is not in order"));
        }
        if divisors.iter().any(|&divisor| divisor <= 0.0) {
            return Err(bad_part(&name("divisors"), "has a value that is not above 0"));
        }
        Ok(Self::new(width, not_shifted, columns, shifts, divisors))
    }
}
