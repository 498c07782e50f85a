//! Rows that repeat. Logs and counts are full of them, and a row that was mapped once need not be mapped again.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use super::{Points, PointsBuf, Row};

/// Fewer rows are not worth the look.
const FEWEST: usize = 1024;
/// Wider rows seldom repeat, and copies of them are large.
const WIDEST: usize = 64;
/// Rows after which a look is given up that has found less than one repeat in so many: the more rows, the more repeat.
const TRIED: [(usize, usize); 2] = [(1 << 13, 256), (1 << 16, SHARE)];
/// One row in so many must repeat.
const SHARE: usize = 8;

/// The distinct rows of many, and which of them each row is.
pub(crate) struct Distinct {
    rows: PointsBuf,
    of_row: Vec<u32>,
}

impl Distinct {
    /// `None` unless enough dense rows repeat to be worth a copy of the others.
    pub(crate) fn of(points: Points<'_>) -> Option<Self> {
        let n = points.n_rows();
        if points.is_sparse() || points.n_columns() > WIDEST || !(FEWEST..u32::MAX as usize).contains(&n) {
            return None;
        }
        let mut rows = PointsBuf::like(&points);
        let mut of_row = Vec::with_capacity(n);
        let mut known: HashMap<u64, u32, BuildHasherDefault<Taken>> = HashMap::default();
        for (i, row) in points.rows().enumerate() {
            if TRIED.iter().any(|&(tried, share)| i == tried && rows.n_rows() > tried - tried / share) {
                return None;
            }
            let next = rows.n_rows() as u32;
            let place = match known.entry(fingerprint(row)) {
                Entry::Vacant(free) => *free.insert(next),
                Entry::Occupied(taken) if same(rows.row(*taken.get() as usize), row) => *taken.get(),
                // Two rows of one fingerprint: the later one stands alone.
                Entry::Occupied(_) => next,
            };
            if place == next {
                rows.push(row);
            }
            of_row.push(place);
        }
        (rows.n_rows() <= n - n / SHARE).then_some(Self { rows, of_row })
    }

    /// Every distinct row once, in order of its first appearance.
    pub(crate) fn rows(&self) -> Points<'_> {
        self.rows.as_points()
    }

    /// For every row its number among the distinct ones.
    pub(crate) fn of_row(&self) -> &[u32] {
        &self.of_row
    }
}

/// Mixes the bits of all values.
fn fingerprint(row: Row<'_>) -> u64 {
    let mix = |sum: u64, bits: u64| {
        let mixed = (sum ^ bits).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 29)
    };
    match row {
        Row::F32(values) => values.iter().fold(0, |sum, value| mix(sum, value.to_bits().into())),
        Row::F64(values) => values.iter().fold(0, |sum, value| mix(sum, value.to_bits())),
        Row::Sparse(_) => unreachable!("dense rows only"),
    }
}

/// Whether two rows have the same bits: 0 and −0 count as two.
fn same(a: Row<'_>, b: Row<'_>) -> bool {
    match (a, b) {
        (Row::F32(a), Row::F32(b)) => a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()),
        (Row::F64(a), Row::F64(b)) => a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()),
        _ => unreachable!("rows of one store"),
    }
}

/// Takes a fingerprint as the hash that it is.
#[derive(Default)]
struct Taken(u64);

impl Hasher for Taken {
    fn write(&mut self, _: &[u8]) {
        unreachable!("fingerprints are u64");
    }

    fn write_u64(&mut self, fingerprint: u64) {
        self.0 = fingerprint.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, period: usize) -> PointsBuf {
        let rows: Vec<[f64; 2]> = (0..n).map(|i| [(i % period) as f64, (i % period / 7) as f64]).collect();
        PointsBuf::from_rows(&rows).unwrap()
    }

    #[test]
    fn every_row_is_the_distinct_row_it_points_to() {
        let points = numbers(3000, 1000);
        let distinct = Distinct::of(points.as_points()).unwrap();
        assert_eq!(distinct.rows().n_rows(), 1000);
        for (i, &place) in distinct.of_row().iter().enumerate() {
            assert!(same(points.row(i), distinct.rows().row(place as usize)));
        }
    }

    #[test]
    fn rows_that_seldom_repeat_are_left_alone() {
        assert!(Distinct::of(numbers(3000, 2900).as_points()).is_none());
        assert!(Distinct::of(numbers(1000, 10).as_points()).is_none());
        assert!(Distinct::of(numbers(70_000, 66_000).as_points()).is_none());
    }

    #[test]
    fn zero_and_minus_zero_are_two_rows() {
        let rows: Vec<[f64; 1]> = (0..2000).map(|i| [if i % 2 == 0 { 0.0 } else { -0.0 }]).collect();
        let points = PointsBuf::from_rows(&rows).unwrap();
        assert_eq!(Distinct::of(points.as_points()).unwrap().rows().n_rows(), 2);
    }
}
