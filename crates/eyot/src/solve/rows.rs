//! The rows of a training set as a linear solver sees them: products with a weight vector, by row number. Codes have
//! their own loops here, because almost all time of a linear SVM on isolation features goes into them.

use crate::backend::prefetch;
use crate::data::{Features, Points};
use crate::partition::{Cell, CodeRow, CodeStore, Codes};

/// Feature vectors by number. The vector that is learned from is `row(i)` times the root of [`FeatureRows::scale2`].
pub trait FeatureRows: Sync {
    /// One row.
    type Row<'a>: Features
    where
        Self: 'a;
    /// Number of rows.
    fn n_rows(&self) -> usize;
    /// Length of a weight vector.
    fn n_features(&self) -> usize;
    /// Row `i`, unscaled.
    fn row(&self, i: usize) -> Self::Row<'_>;
    /// The square of the factor that rows are learned with: 1/t for codes, whose kernel is ⟨Φ, Φ⟩/t; else 1.
    fn scale2(&self) -> f64 {
        1.0
    }
    /// Runs a task on the rows in their concrete storage.
    fn with_concrete<T: RowTask>(&self, task: T) -> T::Output;
}

/// Work that is generic in the storage of rows.
pub trait RowTask {
    /// Its result.
    type Output;
    /// Does the work.
    fn run<R: ConcreteRows>(self, rows: &R) -> Self::Output;
}

/// Rows whose storage is known when compiling, for the inner loops of a solver.
pub trait ConcreteRows: Sync {
    /// ⟨w, x_i⟩. The order of the sum is fixed, but need not be that of [`Features::dot`].
    fn dot(&self, i: usize, weights: &[f64]) -> f64;
    /// w += scale · x_i.
    fn add_to(&self, i: usize, weights: &mut [f64], scale: f64);
    /// ⟨x_i, x_i⟩.
    fn squared_norm(&self, i: usize) -> f64;
    /// Sends for row `i`, so that it is there when it is needed.
    fn fetch(&self, i: usize);
}

impl FeatureRows for Points<'_> {
    type Row<'a>
        = crate::data::Row<'a>
    where
        Self: 'a;
    fn n_rows(&self) -> usize {
        Points::n_rows(self)
    }
    fn n_features(&self) -> usize {
        self.n_columns()
    }
    fn row(&self, i: usize) -> Self::Row<'_> {
        Points::row(self, i)
    }
    fn with_concrete<T: RowTask>(&self, task: T) -> T::Output {
        task.run(self)
    }
}

impl ConcreteRows for Points<'_> {
    fn dot(&self, i: usize, weights: &[f64]) -> f64 {
        Features::dot(self.row(i), weights)
    }
    fn add_to(&self, i: usize, weights: &mut [f64], scale: f64) {
        self.row(i).add_to(weights, scale);
    }
    fn squared_norm(&self, i: usize) -> f64 {
        self.row(i).squared_norm()
    }
    fn fetch(&self, _: usize) {}
}

impl FeatureRows for Codes {
    type Row<'a> = CodeRow<'a>;
    fn n_rows(&self) -> usize {
        Codes::n_rows(self)
    }
    fn n_features(&self) -> usize {
        Codes::n_features(self)
    }
    fn row(&self, i: usize) -> CodeRow<'_> {
        Codes::row(self, i)
    }
    fn scale2(&self) -> f64 {
        1.0 / self.t() as f64
    }
    fn with_concrete<T: RowTask>(&self, task: T) -> T::Output {
        let (t, psi) = (self.t(), self.psi());
        match self.store() {
            CodeStore::U8(cells) => task.run(&CodeRows { cells, t, psi }),
            CodeStore::U16(cells) => task.run(&CodeRows { cells, t, psi }),
            CodeStore::U32(cells) => task.run(&CodeRows { cells, t, psi }),
        }
    }
}

/// Codes of one integer type.
struct CodeRows<'a, I> {
    cells: &'a [I],
    t: usize,
    psi: usize,
}

impl<I: Copy + Into<Cell>> CodeRows<'_, I> {
    /// Whether every value of a byte is a cell. Blocks then have a length known when compiling, so look-ups need no
    /// check: a tenth to a third of the time saved at the default ψ.
    #[inline]
    fn is_full_byte(&self) -> bool {
        size_of::<I>() == 1 && self.psi == FULL_BYTE
    }

    fn cells(&self, i: usize) -> &[I] {
        &self.cells[i * self.t..(i + 1) * self.t]
    }
}

/// Partitionings whose weights are summed side by side: enough to hide the latency of an addition.
const LANES: usize = 4;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Cells that fill a byte; 256 is also the default ψ.
const FULL_BYTE: usize = 256;

#[inline]
fn dot_full_byte<I: Copy + Into<Cell>>(cells: &[I], weights: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (cells, last_cells) = cells.as_chunks::<LANES>();
    let (blocks, last_blocks) = weights.as_chunks::<FULL_BYTE>().0.as_chunks::<LANES>();
    for (cells, blocks) in cells.iter().zip(blocks) {
        for lane in 0..LANES {
            sums[lane] += blocks[lane][cells[lane].into() as usize % FULL_BYTE];
        }
    }
    for (&cell, block) in last_cells.iter().zip(last_blocks) {
        sums[0] += block[cell.into() as usize % FULL_BYTE];
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

impl<I: Copy + Into<Cell> + Sync> ConcreteRows for CodeRows<'_, I> {
    #[inline]
    fn dot(&self, i: usize, weights: &[f64]) -> f64 {
        if self.is_full_byte() {
            return dot_full_byte(self.cells(i), weights);
        }
        let psi = self.psi;
        let mut sums = [0.0; LANES];
        let mut cells = self.cells(i).chunks_exact(LANES);
        let mut blocks = weights.chunks_exact(LANES * psi);
        for (cells, mut block) in (&mut cells).zip(&mut blocks) {
            for (sum, &cell) in sums.iter_mut().zip(cells) {
                let (own, rest) = block.split_at(psi);
                block = rest;
                // A gap is a code not below ψ: it has no weight.
                if let Some(weight) = own.get(cell.into() as usize) {
                    *sum += weight;
                }
            }
        }
        for (&cell, own) in cells.remainder().iter().zip(blocks.remainder().chunks_exact(psi)) {
            if let Some(weight) = own.get(cell.into() as usize) {
                sums[0] += weight;
            }
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }

    #[inline]
    fn add_to(&self, i: usize, weights: &mut [f64], scale: f64) {
        if self.is_full_byte() {
            for (&cell, own) in self.cells(i).iter().zip(weights.as_chunks_mut::<FULL_BYTE>().0) {
                own[cell.into() as usize % FULL_BYTE] += scale;
            }
            return;
        }
        for (&cell, own) in self.cells(i).iter().zip(weights.chunks_exact_mut(self.psi)) {
            if let Some(weight) = own.get_mut(cell.into() as usize) {
                *weight += scale;
            }
        }
    }

    fn squared_norm(&self, i: usize) -> f64 {
        self.cells(i).iter().filter(|&&cell| (cell.into() as usize) < self.psi).count() as f64
    }

    #[inline]
    fn fetch(&self, i: usize) {
        let (first, end) = (i * self.t, (i + 1) * self.t);
        for at in (first..end).step_by(LINE / size_of::<I>()) {
            prefetch(self.cells, at);
        }
        prefetch(self.cells, end - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Component, rng_of};

    /// Compares the loops with those of [`Features`], which look up one cell after the other.
    struct Compare<'a>(&'a Codes);
    impl RowTask for Compare<'_> {
        type Output = ();
        fn run<R: ConcreteRows>(self, rows: &R) {
            // Whole numbers, so that the order of a sum does not matter.
            let weights: Vec<f64> = (0..self.0.n_features()).map(|i| (i % 97) as f64).collect();
            for i in 0..self.0.n_rows() {
                assert_eq!(rows.dot(i, &weights), self.0.row(i).dot(&weights));
                assert_eq!(rows.squared_norm(i), self.0.row(i).covered() as f64);
                let (mut ours, mut plain) = (weights.clone(), weights.clone());
                rows.add_to(i, &mut ours, 2.0);
                self.0.row(i).add_to(&mut plain, 2.0);
                assert_eq!(ours, plain);
                rows.fetch(i);
            }
        }
    }

    #[test]
    fn fast_loops_see_the_features_of_codes() {
        let mut rng = rng_of(0, Component::Synthetic, 7);
        for (t, psi) in [(1, 2), (7, 5), (10, 255), (9, 256), (6, 300), (3, 65_536)] {
            let gaps = psi != 256 && psi != 65_536;
            let mut codes = Codes::zeros(6, t, psi, gaps);
            crate::partition::with_codes!(CodeStore, codes.store_mut(), cells => {
                for cell in cells {
                    *cell = crate::partition::CodeInt::from_cell(rng.below(psi + usize::from(gaps)) as Cell);
                }
            });
            codes.with_concrete(Compare(&codes));
        }
    }
}
