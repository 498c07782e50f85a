//! The kernel matrix of a training set as a kernel solver sees it: row by row, computed when asked for and kept while
//! there is room.

use crate::data::Points;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::partition::{Cell, CodeStore, Codes, with_codes};

/// A symmetric matrix κ(x_i, x_j), by rows.
pub trait KernelMatrix: Sync {
    /// Number of rows and columns.
    fn n(&self) -> usize;
    /// κ(x_i, x_i).
    fn diagonal(&self, i: usize) -> f64;
    /// Row `i`.
    fn row_into(&self, i: usize, out: &mut [f64]);
    /// The entries of row `i` in the columns named.
    fn entries_into(&self, i: usize, columns: &[u32], out: &mut [f64]) {
        let mut row = vec![0.0; self.n()];
        self.row_into(i, &mut row);
        out.iter_mut().zip(columns).for_each(|(out, &column)| *out = row[column as usize]);
    }
}

/// A kernel on points.
#[derive(Debug, Clone, Copy)]
pub struct PointsMatrix<'a, K> {
    /// The kernel.
    pub kernel: K,
    /// The points.
    pub points: Points<'a>,
}

impl<K: Kernel> KernelMatrix for PointsMatrix<'_, K> {
    fn n(&self) -> usize {
        self.points.n_rows()
    }
    fn diagonal(&self, i: usize) -> f64 {
        self.kernel.value(self.points.row(i), self.points.row(i))
    }
    fn row_into(&self, i: usize, out: &mut [f64]) {
        self.kernel.row_into(self.points.row(i), self.points, out);
    }
    fn entries_into(&self, i: usize, columns: &[u32], out: &mut [f64]) {
        let x = self.points.row(i);
        for (out, &column) in out.iter_mut().zip(columns) {
            *out = self.kernel.value(x, self.points.row(column as usize));
        }
    }
}

/// The Isolation Kernel of codes.
#[derive(Debug, Clone, Copy)]
pub struct CodesMatrix<'a>(pub &'a Codes);

impl KernelMatrix for CodesMatrix<'_> {
    fn n(&self) -> usize {
        self.0.n_rows()
    }
    fn diagonal(&self, i: usize) -> f64 {
        self.0.row(i).covered() as f64 / self.0.t() as f64
    }
    fn row_into(&self, i: usize, out: &mut [f64]) {
        let (t, psi) = (self.0.t(), self.0.psi());
        with_codes!(CodeStore, self.0.store(), cells => {
            let x = &cells[i * t..(i + 1) * t];
            for (out, y) in out.iter_mut().zip(cells.chunks_exact(t)) {
                *out = f64::from(matches(x, y, psi)) / t as f64;
            }
        });
    }
    fn entries_into(&self, i: usize, columns: &[u32], out: &mut [f64]) {
        let x = self.0.row(i);
        for (out, &column) in out.iter_mut().zip(columns) {
            *out = x.similarity(self.0.row(column as usize));
        }
    }
}

/// How many codes agree; gaps, the values from `psi` on, agree with nothing. Plain counting, which the compiler turns
/// into vectors.
#[inline]
fn matches<I: Copy + PartialEq + Into<Cell>>(x: &[I], y: &[I], psi: usize) -> u32 {
    x.iter().zip(y).map(|(&x, &y)| u32::from(x == y && (x.into() as usize) < psi)).sum()
}

/// A matrix computed before.
#[derive(Debug, Clone, Copy)]
pub struct Precomputed<'a> {
    n: usize,
    values: &'a [f64],
}

impl<'a> Precomputed<'a> {
    /// Takes the n·n entries, row by row. They must be finite and symmetric to 1e-9 of the largest; they need not be
    /// positive semi-definite.
    pub fn new(values: &'a [f64], n: usize) -> Result<Self> {
        if values.len() != n * n {
            return Err(Error::Shape { what: "entries of the kernel matrix", expected: n * n, got: values.len() });
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let column = crate::error::ColumnRef::Number(at % n);
            return Err(Error::NotFinite { row: at / n, column, value: values[at] });
        }
        let tolerance = 1e-9 * values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        let symmetric = (0..n).all(|i| (0..i).all(|j| (values[i * n + j] - values[j * n + i]).abs() <= tolerance));
        if !symmetric {
            return Err(Error::Data("the kernel matrix is not symmetric".into()));
        }
        Ok(Self { n, values })
    }
}

impl KernelMatrix for Precomputed<'_> {
    fn n(&self) -> usize {
        self.n
    }
    fn diagonal(&self, i: usize) -> f64 {
        self.values[i * self.n + i]
    }
    fn row_into(&self, i: usize, out: &mut [f64]) {
        out.copy_from_slice(&self.values[i * self.n..(i + 1) * self.n]);
    }
    fn entries_into(&self, i: usize, columns: &[u32], out: &mut [f64]) {
        let row = &self.values[i * self.n..(i + 1) * self.n];
        out.iter_mut().zip(columns).for_each(|(out, &column)| *out = row[column as usize]);
    }
}

/// Some rows and columns of a matrix.
pub(super) struct Part<'a, M> {
    pub(super) whole: &'a M,
    pub(super) rows: &'a [u32],
}

impl<M: KernelMatrix> KernelMatrix for Part<'_, M> {
    fn n(&self) -> usize {
        self.rows.len()
    }
    fn diagonal(&self, i: usize) -> f64 {
        self.whole.diagonal(self.rows[i] as usize)
    }
    fn row_into(&self, i: usize, out: &mut [f64]) {
        let row = self.rows[i] as usize;
        if self.rows.len() == self.whole.n() {
            self.whole.row_into(row, out);
        } else {
            self.whole.entries_into(row, self.rows, out);
        }
    }
}

/// The rows used last, as many as fit.
pub(super) struct RowCache<'a, M> {
    matrix: &'a M,
    values: Vec<f64>,
    /// Slot of each row, `NOWHERE` if it is not kept.
    slot_of: Vec<u32>,
    /// Row in each slot.
    row_in: Vec<u32>,
    /// A ring of slots from least to most recently used; its head is one past the last slot.
    after: Vec<u32>,
    before: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl<'a, M: KernelMatrix> RowCache<'a, M> {
    /// Keeps rows within `bytes`, but at least two.
    pub(super) fn new(matrix: &'a M, bytes: usize) -> Self {
        let n = matrix.n();
        let slots = (bytes / (8 * n.max(1))).clamp(2, n.max(2));
        let ring = slots as u32 + 1;
        Self {
            matrix,
            values: Vec::new(),
            slot_of: vec![NOWHERE; n],
            row_in: vec![NOWHERE; slots],
            after: (0..ring).map(|slot| (slot + 1) % ring).collect(),
            before: (0..ring).map(|slot| (slot + ring - 1) % ring).collect(),
        }
    }

    /// Makes sure that a row is kept, as the most recently used one.
    fn load(&mut self, row: usize) {
        let head = self.row_in.len();
        let kept = self.slot_of[row];
        let slot = if kept == NOWHERE { self.after[head] as usize } else { kept as usize };
        let (before, after) = (self.before[slot], self.after[slot]);
        self.after[before as usize] = after;
        self.before[after as usize] = before;
        let last = self.before[head];
        self.after[last as usize] = slot as u32;
        self.before[slot] = last;
        self.after[slot] = head as u32;
        self.before[head] = slot as u32;
        if kept == NOWHERE {
            let n = self.matrix.n();
            if self.row_in[slot] != NOWHERE {
                self.slot_of[self.row_in[slot] as usize] = NOWHERE;
            }
            self.row_in[slot] = row as u32;
            self.slot_of[row] = slot as u32;
            if self.values.len() < (slot + 1) * n {
                self.values.resize((slot + 1) * n, 0.0);
            }
            self.matrix.row_into(row, &mut self.values[slot * n..(slot + 1) * n]);
        }
    }

    fn kept(&self, row: usize) -> &[f64] {
        let (slot, n) = (self.slot_of[row] as usize, self.matrix.n());
        &self.values[slot * n..(slot + 1) * n]
    }

    /// Row `i`.
    pub(super) fn row(&mut self, i: usize) -> &[f64] {
        self.load(i);
        self.kept(i)
    }

    /// Rows `i` and `j`.
    pub(super) fn pair(&mut self, i: usize, j: usize) -> (&[f64], &[f64]) {
        self.load(i);
        self.load(j);
        (self.kept(i), self.kept(j))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting(std::sync::atomic::AtomicUsize);
    impl KernelMatrix for Counting {
        fn n(&self) -> usize {
            6
        }
        fn diagonal(&self, _: usize) -> f64 {
            1.0
        }
        fn row_into(&self, i: usize, out: &mut [f64]) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            out.iter_mut().enumerate().for_each(|(j, out)| *out = (10 * i + j) as f64);
        }
    }

    #[test]
    fn the_least_recently_used_row_makes_room() {
        let matrix = Counting(0.into());
        let mut cache = RowCache::new(&matrix, 3 * 6 * 8);
        let mut computed = |rows: &[usize]| {
            let before = matrix.0.load(std::sync::atomic::Ordering::Relaxed);
            for &row in rows {
                assert_eq!(cache.row(row)[2], (10 * row + 2) as f64);
            }
            matrix.0.load(std::sync::atomic::Ordering::Relaxed) - before
        };
        assert_eq!(computed(&[0, 1, 2]), 3);
        assert_eq!(computed(&[0, 2, 1]), 0);
        assert_eq!(computed(&[3]), 1);
        assert_eq!(computed(&[2, 1, 3]), 0);
        assert_eq!(computed(&[0]), 1);
    }

    #[test]
    fn two_rows_fit_however_small_the_cache_is() {
        let matrix = Counting(0.into());
        let mut cache = RowCache::new(&matrix, 0);
        let (a, b) = cache.pair(4, 5);
        assert_eq!((a[1], b[0]), (41.0, 50.0));
        let (a, b) = cache.pair(5, 1);
        assert_eq!((a[1], b[0]), (51.0, 10.0));
        let (a, b) = cache.pair(2, 2);
        assert_eq!(a, b);
    }

    #[test]
    fn rows_of_codes_hold_the_isolation_kernel() {
        let cells = vec![0, 3, 2, 0, 1, 2, 3, 3, 3];
        let codes = Codes::from_store(CodeStore::U8(cells), 3, 3).unwrap();
        let mut row = [0.0; 3];
        for i in 0..3 {
            CodesMatrix(&codes).row_into(i, &mut row);
            assert_eq!(row, [0, 1, 2].map(|j| codes.row(i).similarity(codes.row(j))));
            assert_eq!(row[i], CodesMatrix(&codes).diagonal(i));
        }
    }

    #[test]
    fn precomputed_matrices_must_be_square_finite_and_symmetric() {
        assert!(Precomputed::new(&[1.0, 0.5, 0.5], 2).is_err());
        assert!(Precomputed::new(&[1.0, 0.5, 0.4, 1.0], 2).is_err());
        assert!(Precomputed::new(&[1.0, f64::NAN, 0.5, 1.0], 2).is_err());
        assert!(Precomputed::new(&[1.0, 0.5, 0.5, 1.0], 2).is_ok());
    }
}
