//! All trees of a map, and how rows find their leaves: few rows descend, many ask all cuts at once, by [`LeafSweep`].

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::isolation_tree::{IsolationTree, cells_of_trees, load_trees, save_trees};
use super::leaf_sweep::LeafSweep;
use crate::data::Points;
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter};
use crate::parallel::Run;
use crate::partition::Cell;

/// Rows from which on making the sweep pays: it takes the time of descending about as often.
const MANY: usize = 2048;

/// Fewer rows than this descend although there is a sweep, which asks 64 rows or none.
const FEW: usize = 24;

/// Trees on the same columns.
#[derive(Debug)]
pub(crate) struct Forest {
    trees: Vec<IsolationTree>,
    columns: usize,
    /// Rows that were asked for so far, until there are many.
    asked: AtomicUsize,
    sweep: OnceLock<Option<LeafSweep>>,
}

impl Clone for Forest {
    fn clone(&self) -> Self {
        let asked = AtomicUsize::new(self.asked.load(Ordering::Relaxed));
        Self { trees: self.trees.clone(), columns: self.columns, asked, sweep: self.sweep.clone() }
    }
}

impl Forest {
    pub(crate) const fn new(trees: Vec<IsolationTree>, columns: usize) -> Self {
        Self { trees, columns, asked: AtomicUsize::new(0), sweep: OnceLock::new() }
    }

    pub(crate) fn trees(&self) -> &[IsolationTree] {
        &self.trees
    }

    pub(crate) const fn n_columns(&self) -> usize {
        self.columns
    }

    /// Makes the sweep, where that pays for these rows and those before.
    pub(crate) fn prepare(&self, points: Points<'_>, run: Run<'_>) {
        if self.sweep.get().is_some() || points.is_sparse() {
            return;
        }
        let before = self.asked.fetch_add(points.n_rows(), Ordering::Relaxed);
        if before + points.n_rows() >= MANY {
            let run = Run::threads(run.n_threads());
            self.sweep.get_or_init(|| LeafSweep::of(&self.trees, self.columns, run));
        }
    }

    fn sweep(&self) -> Option<&LeafSweep> {
        self.sweep.get().and_then(Option::as_ref)
    }

    /// How leaves are found.
    pub(crate) fn search(&self) -> &'static str {
        if self.sweep().is_some() { "all cuts" } else { "descent" }
    }

    /// Calls `put(row, i, cell)` for every row and tree.
    pub(crate) fn cells(&self, points: Points<'_>, put: impl FnMut(usize, usize, Cell)) {
        match self.sweep() {
            Some(sweep) if !points.is_sparse() && points.n_rows() >= FEW => sweep.cells(points, put),
            _ => cells_of_trees(&self.trees, points, put),
        }
    }

    pub(crate) fn save(&self, out: &mut ModelWriter, prefix: &str) {
        save_trees(&self.trees, out, prefix);
    }

    /// Takes back `t` trees of at most `psi` leaves.
    pub(crate) fn load(from: &ModelReader<'_>, prefix: &str, t: usize, psi: usize, columns: usize) -> Result<Self> {
        Ok(Self::new(load_trees(from, prefix, t, psi, columns)?, columns))
    }
}
