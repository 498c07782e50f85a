//! Codes: a point as t small integers, the cell it falls into in each partitioning. One byte each where the cells
//! allow it, else two or four.

use crate::data::Features;
use crate::error::{Error, Result};
use crate::parallel::Run;

/// The number of a cell within its partitioning.
pub type Cell = u32;

/// The code of a point in no cell (hyperspheres leave gaps). It never equals anything, itself included.
pub const NONE: Cell = Cell::MAX;

/// Rows that are summed up at a time.
const SUMS_TOGETHER: usize = 4096;

/// The codes of many points, point by point: an n × t table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Codes {
    t: usize,
    psi: usize,
    store: CodeStore,
}

/// The bytes of [`Codes`]. The largest value of the type stands for [`NONE`] where the partitioning has gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeStore {
    /// Up to 255 cells, or 256 without gaps.
    U8(Vec<u8>),
    /// Up to 65,535 cells, or 65,536 without gaps.
    U16(Vec<u16>),
    /// More cells.
    U32(Vec<u32>),
}

/// The codes of one point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeRow<'a> {
    psi: usize,
    cells: CodeSlice<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodeSlice<'a> {
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
}

/// An integer that codes are stored in.
pub(crate) trait CodeInt: Copy + Send + Sync + PartialEq + 'static {
    fn from_cell(cell: Cell) -> Self;
    /// The stored value as a cell; `psi` tells a gap (a value not below it) from a cell.
    fn to_cell(self, psi: usize) -> Cell;
    /// The stored value as a place among ψ cells and one for gaps.
    fn place(self, psi: usize) -> usize;
}

macro_rules! code_int {
    ($($int:ty),*) => {$(
        impl CodeInt for $int {
            #[inline]
            fn from_cell(cell: Cell) -> Self {
                if cell == NONE { <$int>::MAX } else { cell as $int }
            }
            #[inline]
            fn to_cell(self, psi: usize) -> Cell {
                if (self as usize) < psi { Cell::from(self) } else { NONE }
            }
            #[inline]
            fn place(self, psi: usize) -> usize {
                (self as usize).min(psi)
            }
        }
    )*};
}
code_int!(u8, u16, u32);

/// Runs an expression on the typed vector inside a [`CodeStore`], or on the slice inside a code row.
macro_rules! with_codes {
    ($kind:ident, $store:expr, $cells:ident => $body:expr) => {
        match $store {
            $kind::U8($cells) => $body,
            $kind::U16($cells) => $body,
            $kind::U32($cells) => $body,
        }
    };
}
pub(crate) use with_codes;

impl Codes {
    /// `n` points of `t` codes below `psi`, all cell 0; in the narrowest type that also holds a gap if `gaps`.
    pub fn zeros(n: usize, t: usize, psi: usize, gaps: bool) -> Self {
        let values = psi + usize::from(gaps);
        let store = if values <= 1 << 8 {
            CodeStore::U8(vec![0; n * t])
        } else if values <= 1 << 16 {
            CodeStore::U16(vec![0; n * t])
        } else {
            CodeStore::U32(vec![0; n * t])
        };
        Self { t, psi, store }
    }

    /// Takes over codes from elsewhere, for example a file; values not below `psi` are gaps.
    pub fn from_store(store: CodeStore, t: usize, psi: usize) -> Result<Self> {
        let len = with_codes!(CodeStore, &store, cells => cells.len());
        if t == 0 || len % t != 0 {
            return Err(Error::Shape {
                what: "codes in the last row",
                expected: t,
                got: len.checked_rem(t).unwrap_or(len),
            });
        }
        Ok(Self { t, psi, store })
    }

    /// Number of points.
    pub fn n_rows(&self) -> usize {
        with_codes!(CodeStore, &self.store, cells => cells.len()) / self.t
    }

    /// Partitionings, t.
    pub const fn t(&self) -> usize {
        self.t
    }

    /// Cells per partitioning, ψ: the width of a block in the feature vector.
    pub const fn psi(&self) -> usize {
        self.psi
    }

    /// Length of the feature vector Φ(x): t·ψ.
    pub const fn n_features(&self) -> usize {
        self.t * self.psi
    }

    /// The stored integers, point by point.
    pub const fn store(&self) -> &CodeStore {
        &self.store
    }

    pub(crate) fn store_mut(&mut self) -> &mut CodeStore {
        &mut self.store
    }

    /// The points of these numbers, in this order.
    pub(crate) fn gather(&self, rows: &[u32]) -> Self {
        fn gathered<C: Copy>(cells: &[C], t: usize, rows: &[u32]) -> Vec<C> {
            let mut out = Vec::with_capacity(rows.len() * t);
            for &row in rows {
                out.extend_from_slice(&cells[row as usize * t..][..t]);
            }
            out
        }
        let store = match &self.store {
            CodeStore::U8(cells) => CodeStore::U8(gathered(cells, self.t, rows)),
            CodeStore::U16(cells) => CodeStore::U16(gathered(cells, self.t, rows)),
            CodeStore::U32(cells) => CodeStore::U32(gathered(cells, self.t, rows)),
        };
        Self { t: self.t, psi: self.psi, store }
    }

    /// The codes of one point.
    ///
    /// # Panics
    /// If there is no such row.
    #[inline]
    pub fn row(&self, row: usize) -> CodeRow<'_> {
        let range = row * self.t..(row + 1) * self.t;
        let cells = match &self.store {
            CodeStore::U8(cells) => CodeSlice::U8(&cells[range]),
            CodeStore::U16(cells) => CodeSlice::U16(&cells[range]),
            CodeStore::U32(cells) => CodeSlice::U32(&cells[range]),
        };
        CodeRow { psi: self.psi, cells }
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = CodeRow<'_>> {
        (0..self.n_rows()).map(|row| self.row(row))
    }

    /// The codes of some points, in the order given.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let t = self.t;
        let pick = |row: &usize| *row * t..(*row + 1) * t;
        let store = match &self.store {
            CodeStore::U8(cells) => CodeStore::U8(rows.iter().flat_map(|row| &cells[pick(row)]).copied().collect()),
            CodeStore::U16(cells) => CodeStore::U16(rows.iter().flat_map(|row| &cells[pick(row)]).copied().collect()),
            CodeStore::U32(cells) => CodeStore::U32(rows.iter().flat_map(|row| &cells[pick(row)]).copied().collect()),
        };
        Self { t, psi: self.psi, store }
    }

    /// Adds one to the counts of every point's cells. Gaps come as they like, so they have a place too, and no step asks
    /// whether this is one.
    pub(crate) fn count_in(&self, counts: &mut [u64]) {
        let places = self.psi + 1;
        let mut with_gaps = vec![0; self.t * places];
        with_codes!(CodeStore, &self.store, cells => {
            for row in cells.chunks_exact(self.t) {
                for (block, cell) in with_gaps.chunks_exact_mut(places).zip(row) {
                    block[cell.place(self.psi)] += 1;
                }
            }
        });
        for (counts, block) in counts.chunks_exact_mut(self.psi).zip(with_gaps.chunks_exact(places)) {
            counts.iter_mut().zip(block).for_each(|(count, new)| *count += new);
        }
    }

    /// Σ of the counts of every point's cells.
    pub(crate) fn sums_of(&self, counts: &[u64], run: Run<'_>) -> Result<Vec<u64>> {
        let places = self.psi + 1;
        let mut with_gaps = vec![0; self.t * places];
        for (block, counts) in with_gaps.chunks_exact_mut(places).zip(counts.chunks_exact(self.psi)) {
            block[..self.psi].copy_from_slice(counts);
        }
        let mut sums = vec![0; self.n_rows()];
        with_codes!(CodeStore, &self.store, cells => {
            run.chunks_mut("score", &mut sums, SUMS_TOGETHER, |chunk, sums| {
                let rows = cells[chunk * SUMS_TOGETHER * self.t..].chunks_exact(self.t);
                for (sum, row) in sums.iter_mut().zip(rows) {
                    let blocks = with_gaps.chunks_exact(places).zip(row);
                    *sum = blocks.map(|(block, cell)| block[cell.place(self.psi)]).sum();
                }
                Ok(())
            })?;
        });
        Ok(sums)
    }

    /// Number of ones in all feature vectors together.
    pub fn nonzeros(&self) -> usize {
        self.rows().map(CodeRow::covered).sum()
    }
}

/// The matrix of K(x, y) for all rows of `x` and `y`, row by row. O(n·m·t) time.
pub fn similarities(x: &Codes, y: &Codes, run: Run<'_>) -> Result<Vec<f64>> {
    if (x.t, x.psi) != (y.t, y.psi) {
        return Err(Error::Shape { what: "partitionings", expected: x.t, got: y.t });
    }
    let mut all = vec![0.0; x.n_rows() * y.n_rows()];
    run.chunks_mut("compare", &mut all, y.n_rows().max(1), |row, out| {
        out.iter_mut().zip(y.rows()).for_each(|(out, other)| *out = x.row(row).similarity(other));
        Ok(())
    })?;
    Ok(all)
}

impl<'a> CodeRow<'a> {
    /// Partitionings, t.
    pub fn t(self) -> usize {
        with_codes!(CodeSlice, self.cells, cells => cells.len())
    }

    /// Cells per partitioning, ψ.
    pub const fn psi(self) -> usize {
        self.psi
    }

    /// The cell in partitioning `i`, [`NONE`] in a gap.
    #[inline]
    pub fn cell(self, i: usize) -> Cell {
        with_codes!(CodeSlice, self.cells, cells => cells[i].to_cell(self.psi))
    }

    /// The cells in order, [`NONE`] in gaps.
    pub fn cells(self) -> impl Iterator<Item = Cell> + 'a {
        (0..self.t()).map(move |i| self.cell(i))
    }

    /// Positions of the ones in Φ(x), ascending: i·ψ + cell, gaps left out.
    pub fn features(self) -> impl Iterator<Item = usize> + 'a {
        let psi = self.psi;
        self.cells().enumerate().filter(|&(_, cell)| cell != NONE).map(move |(i, cell)| i * psi + cell as usize)
    }

    /// In how many partitionings the point is in a cell: ‖Φ(x)‖².
    pub fn covered(self) -> usize {
        self.cells().filter(|&cell| cell != NONE).count()
    }

    /// Σ of the counts of the point's cells.
    pub(crate) fn sum_of(self, counts: &[u64]) -> u64 {
        self.features().map(|feature| counts[feature]).sum()
    }

    /// In how many partitionings two points share a cell: ⟨Φ(x), Φ(y)⟩. Gaps match nothing.
    pub fn matches(self, other: CodeRow<'_>) -> usize {
        self.cells().zip(other.cells()).filter(|&(x, y)| x == y && x != NONE).count()
    }

    /// The Isolation Kernel K(x, y) = ⟨Φ(x), Φ(y)⟩ / t.
    pub fn similarity(self, other: CodeRow<'_>) -> f64 {
        self.matches(other) as f64 / self.t() as f64
    }
}

impl Features for CodeRow<'_> {
    /// ⟨w, Φ(x)⟩ = Σ_i w\[i·ψ + φ_i(x)\]: t additions in order, whatever ψ is.
    #[inline]
    fn dot(self, weights: &[f64]) -> f64 {
        let mut sum = 0.0;
        with_codes!(CodeSlice, self.cells, cells => {
            for (block, &cell) in weights.chunks_exact(self.psi).zip(cells) {
                let cell = cell.to_cell(self.psi);
                if cell != NONE {
                    sum += block[cell as usize];
                }
            }
        });
        sum
    }

    #[inline]
    fn add_to(self, weights: &mut [f64], scale: f64) {
        with_codes!(CodeSlice, self.cells, cells => {
            for (block, &cell) in weights.chunks_exact_mut(self.psi).zip(cells) {
                let cell = cell.to_cell(self.psi);
                if cell != NONE {
                    block[cell as usize] += scale;
                }
            }
        });
    }

    fn squared_norm(self) -> f64 {
        self.covered() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(rows: &[[Cell; 3]], psi: usize, gaps: bool) -> Codes {
        let mut codes = Codes::zeros(rows.len(), 3, psi, gaps);
        let flat = rows.concat();
        with_codes!(CodeStore, codes.store_mut(), cells => {
            cells.iter_mut().zip(&flat).for_each(|(slot, &cell)| *slot = CodeInt::from_cell(cell));
        });
        codes
    }

    #[test]
    fn width_follows_cells_and_gaps() {
        let width = |psi, gaps| match Codes::zeros(1, 1, psi, gaps).store() {
            CodeStore::U8(_) => 1,
            CodeStore::U16(_) => 2,
            CodeStore::U32(_) => 4,
        };
        assert_eq!([width(255, true), width(256, false), width(256, true), width(65_535, true)], [1, 1, 2, 2]);
        assert_eq!([width(65_536, false), width(65_536, true)], [2, 4]);
    }

    #[test]
    fn a_gap_matches_nothing_not_even_a_gap() {
        for psi in [4, 300, 70_000] {
            let codes = codes(&[[1, NONE, 3], [1, NONE, 2]], psi, true);
            assert_eq!(codes.row(0).matches(codes.row(1)), 1);
            assert_eq!(codes.row(0).covered(), 2);
            assert_eq!(codes.row(0).similarity(codes.row(0)), 2.0 / 3.0);
            assert_eq!(codes.nonzeros(), 4);
        }
    }

    #[test]
    fn dot_equals_the_product_with_the_expanded_vector() {
        let codes = codes(&[[1, NONE, 3]], 4, true);
        let weights: Vec<f64> = (0..12).map(f64::from).collect();
        let expanded: f64 = codes.row(0).features().map(|feature| weights[feature]).sum();
        assert_eq!(codes.row(0).dot(&weights), expanded);
        let mut sum = vec![0.0; 12];
        codes.row(0).add_to(&mut sum, 0.5);
        assert_eq!(sum.iter().sum::<f64>(), 1.0);
        assert_eq!((sum[1], sum[11]), (0.5, 0.5));
    }

    #[test]
    fn the_last_cell_of_a_full_byte_is_a_cell() {
        let codes = codes(&[[255, 0, 255]], 256, false);
        assert_eq!(codes.row(0).cell(0), 255);
        assert_eq!(codes.row(0).covered(), 3);
    }
}
