//! How the instances of a bag weigh, and the sums of their weights in cells: O(|S|²·t) comparisons of bytes per bag by codes,
//! O(|S|²·d) by distances, and O(|S|) memory, never a matrix over instances.

use std::ops::Range;

use super::instances::Sets;
use crate::error::Result;
use crate::kernel::{Kernel, SquaredDistance};
use crate::parallel::Run;
use crate::partition::{Cell, CodeStore, Codes, NONE};

/// For each ε, how many instances of its bag are ε-similar to each instance, itself included.
pub(super) fn neighbours(sets: &Sets, codes: &Codes, epsilons: &[f64], run: Run<'_>) -> Result<Vec<Vec<u32>>> {
    let t = codes.t();
    // K > ε from this many common cells on.
    let least: Vec<usize> =
        epsilons.iter().map(|&epsilon| (0..=t).find(|&m| m as f64 / t as f64 > epsilon).unwrap_or(t + 1)).collect();
    let parts = run.map("weigh", sets.len(), |bag| {
        let range = sets.range(bag);
        let mut counts = vec![vec![1u32; range.len()]; least.len()];
        for x in 0..range.len() {
            for y in x + 1..range.len() {
                let common = common_cells(codes, range.start + x, codes, range.start + y);
                for (counts, &least) in counts.iter_mut().zip(&least) {
                    if common >= least {
                        counts[x] += 1;
                        counts[y] += 1;
                    }
                }
            }
        }
        Ok(counts)
    })?;
    Ok((0..least.len()).map(|at| parts.iter().flat_map(|counts| counts[at].iter().copied()).collect()).collect())
}

/// For each τ, how many instances of its bag are nearer to each instance than τ, by squared distance, itself included.
pub(super) fn nearby(sets: &Sets, taus: &[f64], run: Run<'_>) -> Result<Vec<Vec<u32>>> {
    let parts = run.map("weigh", sets.len(), |bag| {
        let points = sets.bag(bag);
        let mut distances = vec![0.0; points.n_rows()];
        let mut counts = vec![vec![0u32; points.n_rows()]; taus.len()];
        for (u, row) in points.rows().enumerate() {
            SquaredDistance.row_into(row, points, &mut distances);
            for (counts, &tau) in counts.iter_mut().zip(taus) {
                let near = distances.iter().enumerate().filter(|&(v, &distance)| v == u || distance < tau);
                counts[u] = near.count() as u32;
            }
        }
        Ok(counts)
    })?;
    Ok((0..taus.len()).map(|at| parts.iter().flat_map(|counts| counts[at].iter().copied()).collect()).collect())
}

/// In how many partitionings two points share a cell; gaps match nothing.
pub(super) fn common_cells(codes: &Codes, x: usize, others: &Codes, y: usize) -> usize {
    let (t, psi) = (codes.t(), codes.psi());
    let (x, y) = (x * t..(x + 1) * t, y * t..(y + 1) * t);
    match (codes.store(), others.store()) {
        (CodeStore::U8(a), CodeStore::U8(b)) => equal(&a[x], &b[y], |cell| usize::from(cell) < psi),
        (CodeStore::U16(a), CodeStore::U16(b)) => equal(&a[x], &b[y], |cell| usize::from(cell) < psi),
        (CodeStore::U32(a), CodeStore::U32(b)) => equal(&a[x], &b[y], |cell| (cell as usize) < psi),
        _ => unreachable!("codes of one map are stored alike"),
    }
}

/// Counts equal places in blocks short enough for sums of a byte, which compile to vector code.
fn equal<C: Copy + PartialEq>(x: &[C], y: &[C], inside: impl Fn(C) -> bool) -> usize {
    const BLOCK: usize = 128;
    let block =
        |(x, y): (&[C], &[C])| usize::from(x.iter().zip(y).map(|(&x, &y)| u8::from(x == y && inside(x))).sum::<u8>());
    x.chunks(BLOCK).zip(y.chunks(BLOCK)).map(block).sum()
}

/// The weights of the instances of a bag, which sum up to 1.
pub(super) struct Weights<'a> {
    counts: Option<&'a [u32]>,
    /// Instances in the order in which weights are summed: ascending counts, so that the order of instances does not
    /// matter.
    pub(super) order: Vec<usize>,
    /// Σ 1/count.
    pub(super) total: f64,
}

impl<'a> Weights<'a> {
    pub(super) fn new(counts: Option<&'a [u32]>, instances: usize) -> Self {
        let mut order: Vec<usize> = (0..instances).collect();
        let Some(of) = counts else { return Self { counts, order, total: instances as f64 } };
        order.sort_by_key(|&at| of[at]);
        let total = order.iter().map(|&at| 1.0 / f64::from(of[at])).sum();
        Self { counts, order, total }
    }

    /// 1/count.
    pub(super) fn raw(&self, instance: usize) -> f64 {
        self.counts.map_or(1.0, |counts| 1.0 / f64::from(counts[instance]))
    }

    pub(super) fn of(&self, instance: usize) -> f64 {
        self.raw(instance) / self.total
    }
}

/// Φ(S): the cells that a bag is in and the sums of its instances' weights there.
pub(super) fn bag_vector(codes: &Codes, range: Range<usize>, weights: &Weights<'_>) -> (Vec<u32>, Vec<f64>) {
    let (t, psi) = (codes.t(), codes.psi());
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    let mut put = |i: usize, cell: Cell, sum: f64| {
        columns.push((i * psi) as u32 + cell);
        values.push(sum / weights.total);
    };
    // A large bag visits most cells: sums by cell. A small one: its few entries in the order of their cells. Both add
    // in the same order.
    if range.len() * 8 >= psi {
        let mut sums = vec![0.0; psi];
        for i in 0..t {
            sums.fill(0.0);
            for &at in &weights.order {
                let cell = codes.row(range.start + at).cell(i);
                if cell != NONE {
                    sums[cell as usize] += weights.raw(at);
                }
            }
            for (cell, &sum) in sums.iter().enumerate().filter(|(_, sum)| **sum > 0.0) {
                put(i, cell as Cell, sum);
            }
        }
    } else {
        let mut entries: Vec<(Cell, f64)> = Vec::with_capacity(range.len());
        for i in 0..t {
            entries.clear();
            entries.extend(weights.order.iter().map(|&at| (codes.row(range.start + at).cell(i), weights.raw(at))));
            entries.sort_by_key(|&(cell, _)| cell);
            for same in entries.chunk_by(|a, b| a.0 == b.0).filter(|same| same[0].0 != NONE) {
                put(i, same[0].0, same.iter().map(|&(_, weight)| weight).fold(0.0, |sum, weight| sum + weight));
            }
        }
    }
    (columns, values)
}
