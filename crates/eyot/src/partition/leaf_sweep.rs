//! The leaves of many rows without descending: every cut of a tree is asked of 64 rows at once.
//!
//! A row's place among the cuts of all trees is found once per column. Trees are taken in groups so small that no column
//! has more than 255 cuts in one: there a table turns a place into a rank of one byte, and 64 rows fit into a register.
//! A row costs one search per column, about one look-up per tree, and for each tree its cuts by 64.

use std::hint::select_unpredictable;

use super::isolation_tree::{Cut as TreeCut, IsolationTree};
use crate::backend::{Cut, Cuts, LEAF, MOST_LEAVES, PerRow, ROWS};
use crate::data::{Points, Real, Values};
use crate::parallel::Run;
use crate::partition::Cell;

/// Places that values can have: any number of 16 bits.
const PLACES: usize = 1 << 16;

/// Cuts that a column may have in a group.
const MOST_RANKS: usize = u8::MAX as usize;

/// What finding a value's place costs, and asking 64 rows, in steps of a descent.
const PLACE: f64 = 5.0;
const ASK: f64 = 0.8;

/// Blocks of 64 rows that share the reading of a cut.
const BLOCKS: usize = 4;

/// Rows whose values are searched for side by side: a search alone waits for every step.
const ABREAST: usize = 8;

/// All trees, in parts.
#[derive(Debug, Clone)]
pub(super) struct LeafSweep {
    parts: Vec<Part>,
}

/// Trees whose cuts are searched together.
#[derive(Debug, Clone)]
struct Part {
    /// The distinct cuts of each column, ascending.
    cuts: Vec<Vec<f64>>,
    groups: Vec<Group>,
}

/// Trees with few cuts in each column.
#[derive(Debug, Clone)]
struct Group {
    /// The rank of every place of the part.
    ranks: Vec<u8>,
    trees: Vec<Cuts>,
}

impl LeafSweep {
    /// `None` where descending is faster, or trees are too large.
    pub(super) fn of(trees: &[IsolationTree], columns: usize, run: Run<'_>) -> Option<Self> {
        let leaves: usize = trees.iter().map(|tree| tree.leaves().len()).sum();
        let depths = trees.iter().flat_map(IsolationTree::leaves).map(|leaf| f64::from(leaf.depth));
        let descent = trees.len() as f64 * depths.sum::<f64>() / leaves as f64;
        let small = trees.iter().all(|tree| tree.leaves().len() <= MOST_LEAVES);
        let sweep = PLACE * columns as f64 + ASK * leaves as f64 / ROWS as f64;
        if !small || sweep > descent || columns + MOST_LEAVES > PLACES {
            return None;
        }
        let together = (PLACES - columns) / MOST_LEAVES;
        let trees = run.map("index", trees.len(), |i| Ok(trees[i].cuts())).ok()?;
        let parts: Option<Vec<Part>> = trees.chunks(together).map(|trees| Part::of(trees, columns, run)).collect();
        Some(Self { parts: parts? })
    }

    /// Calls `put(row, i, cell)` for every row of a dense table and every tree.
    pub(super) fn cells(&self, points: Points<'_>, mut put: impl FnMut(usize, usize, Cell)) {
        let (rows, columns) = (points.n_rows(), points.n_columns());
        let mut places = vec![[0; ROWS]; rows.div_ceil(ROWS) * columns];
        let mut first = 0;
        for part in &self.parts {
            match points.values() {
                Values::F32(values) => part.places(values, &mut places),
                Values::F64(values) => part.places(values, &mut places),
                Values::Sparse { .. } => unreachable!("sparse rows descend"),
            }
            for group in &part.groups {
                let (many, few) = places.split_at(places.len() / (BLOCKS * columns) * BLOCKS * columns);
                let mut put = |block: usize, i: usize, leaves: &PerRow| {
                    let here = block * ROWS..rows.min((block + 1) * ROWS);
                    here.zip(leaves).for_each(|(row, &leaf)| put(row, first + i, Cell::from(leaf)));
                };
                group.leaves::<BLOCKS>(many, columns, &mut put);
                let done = many.len() / columns;
                group.leaves::<1>(few, columns, |block, i, leaves| put(done + block, i, leaves));
                first += group.trees.len();
            }
        }
    }
}

impl Part {
    fn of(trees: &[Vec<TreeCut>], columns: usize, run: Run<'_>) -> Option<Self> {
        let cuts = distinct_cuts(trees, columns);
        let mut groups = Vec::new();
        let mut left = trees;
        while !left.is_empty() {
            // As many trees as leave every column with few cuts, counted with repeats.
            let mut counts = vec![0; columns];
            let fits = |tree: &&Vec<TreeCut>| {
                tree.iter().for_each(|cut| counts[cut.column] += 1);
                counts.iter().all(|&count| count <= MOST_RANKS)
            };
            let (group, others) = left.split_at(left.iter().take_while(fits).count().max(1));
            groups.push(group);
            left = others;
        }
        let groups = run.map("index", groups.len(), |at| Ok(Group::of(groups[at], &cuts))).ok()?;
        Some(Self { cuts, groups })
    }

    /// The place of every value: how many cuts of its column are not above it, after the places of the columns before.
    /// Blocks of rows, column by column.
    fn places<F: Real>(&self, values: &[F], places: &mut [[u16; ROWS]]) {
        let columns = self.cuts.len();
        for (values, places) in values.chunks(ROWS * columns).zip(places.chunks_exact_mut(columns)) {
            let mut first = 0;
            for (column, (cuts, places)) in self.cuts.iter().zip(places).enumerate() {
                let mut wanted = [0.0; ROWS];
                let own = values.iter().skip(column).step_by(columns);
                wanted.iter_mut().zip(own).for_each(|(wanted, &value)| *wanted = value.into());
                let (places, _) = places.as_chunks_mut::<ABREAST>();
                for (places, &wanted) in places.iter_mut().zip(wanted.as_chunks::<ABREAST>().0) {
                    *places = cuts_passed(cuts, wanted).map(|passed| (first + passed) as u16);
                }
                first += cuts.len() + 1;
            }
        }
    }
}

impl Group {
    /// Trees of a part with the cuts `all`.
    fn of(trees: &[Vec<TreeCut>], all: &[Vec<f64>]) -> Self {
        let own = distinct_cuts(trees, all.len());
        let mut ranks = Vec::new();
        for (own, all) in own.iter().zip(all) {
            // The first place is below all cuts; every cut begins the next one.
            let mut passed = 0;
            ranks.push(0);
            for &threshold in all {
                passed += usize::from(own.get(passed).is_some_and(|&cut| cut <= threshold));
                ranks.push(passed as u8);
            }
        }
        let tree = |tree: &Vec<TreeCut>| {
            let cut = |cut: &TreeCut| Cut {
                column: cut.column as u16,
                least: own[cut.column].partition_point(|&other| other <= cut.threshold) as u8,
                left: cut.left as u8,
                next: cut.next.map(|next| next.map_or(LEAF, |next| next as u8)),
            };
            Cuts::new(&tree.iter().map(cut).collect::<Vec<_>>())
        };
        Self { ranks, trees: trees.iter().map(tree).collect() }
    }

    /// Calls `found(block, i, leaves)` for every block of rows, R of them at a time, and every tree.
    fn leaves<const R: usize>(
        &self,
        places: &[[u16; ROWS]],
        columns: usize,
        mut found: impl FnMut(usize, usize, &PerRow),
    ) {
        let mut ranks = vec![[[0; ROWS]; R]; columns];
        let mut room = [[0; ROWS]; MOST_LEAVES];
        for (chunk, places) in places.chunks_exact(R * columns).enumerate() {
            for (block, places) in places.chunks_exact(columns).enumerate() {
                for (ranks, places) in ranks.iter_mut().zip(places) {
                    for (rank, &place) in ranks[block].iter_mut().zip(places) {
                        *rank = self.ranks[usize::from(place)];
                    }
                }
            }
            for (i, tree) in self.trees.iter().enumerate() {
                let leaves = tree.leaves(&ranks, &mut room);
                leaves.iter().enumerate().for_each(|(block, leaves)| found(chunk * R + block, i, leaves));
            }
        }
    }
}

/// The distinct cuts of each column, ascending.
fn distinct_cuts(trees: &[Vec<TreeCut>], columns: usize) -> Vec<Vec<f64>> {
    let mut cuts = vec![Vec::new(); columns];
    trees.iter().flatten().for_each(|cut| cuts[cut.column].push(cut.threshold));
    for cuts in &mut cuts {
        cuts.sort_unstable_by(f64::total_cmp);
        cuts.dedup();
    }
    cuts
}

/// How many of the cuts, which ascend, are not above each value.
fn cuts_passed(cuts: &[f64], values: [f64; ABREAST]) -> [usize; ABREAST] {
    let mut passed = [0; ABREAST];
    let mut size = cuts.len();
    while size > 0 {
        let half = size.div_ceil(2);
        for (passed, &value) in passed.iter_mut().zip(&values) {
            let next = *passed + half;
            *passed = select_unpredictable(cuts[next - 1] <= value, next, *passed);
        }
        size -= half;
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;
    use crate::rng::{Component, rng_of};

    /// Values between, on and beside cuts: noise, a lattice full of equal values, both zeros, the largest numbers.
    fn tables() -> Vec<PointsBuf> {
        let mut rng = rng_of(5, Component::Synthetic, 0);
        let noise: Vec<f64> = (0..300 * 3).map(|_| rng.normal()).collect();
        let lattice = noise.iter().map(|value| (value * 2.0).round() * 0.5);
        let extreme =
            noise.iter().map(|value| if value.abs() > 1.5 { value.signum() * f64::MAX } else { value * 1e-310 });
        [noise.clone(), lattice.collect(), extreme.collect()]
            .map(|values| PointsBuf::from_dense(values, 3).unwrap())
            .into()
    }

    #[test]
    fn leaves_are_those_of_descents() {
        for table in tables() {
            let mut single = PointsBuf::dense_f32(3);
            table.as_points().rows().for_each(|row| single.push(row));
            for (psi, height) in [(1, None), (2, None), (64, None), (255, None), (256, None), (256, Some(8))] {
                let members: Vec<u32> = (0..psi).collect();
                let grow =
                    |i| IsolationTree::grow(table.as_points(), &members, height, &mut rng_of(0, Component::Tree, i));
                // More than one part, and more than one group in each.
                let trees: Vec<IsolationTree> = (0..300).map(grow).collect();
                let cuts: Vec<_> = trees.iter().map(IsolationTree::cuts).collect();
                let parts = [&cuts[..200], &cuts[200..]].map(|cuts| Part::of(cuts, 3, Run::threads(2)).unwrap());
                let sweep = LeafSweep { parts: parts.into() };
                for points in [&table, &single] {
                    let mut seen = 0;
                    sweep.cells(points.as_points(), |row, i, cell| {
                        assert_eq!(cell, trees[i].cell_of(points.row(row)), "row {row}, tree {i}, psi {psi}");
                        seen += 1;
                    });
                    assert_eq!(seen, 300 * 300);
                }
            }
        }
    }

    #[test]
    fn wide_tables_and_large_trees_descend() {
        let mut rng = rng_of(6, Component::Synthetic, 0);
        let mut pays = |columns: usize, psi: u32| {
            let table = PointsBuf::from_dense((0..300 * columns).map(|_| rng.normal()).collect(), columns).unwrap();
            let members: Vec<u32> = (0..psi).collect();
            let tree = IsolationTree::grow(table.as_points(), &members, None, &mut rng_of(0, Component::Tree, 0));
            LeafSweep::of(&[tree], columns, Run::single()).is_some()
        };
        assert!(pays(1, 256) && !pays(1, 300) && !pays(100, 256));
    }

    #[test]
    fn places_are_found_side_by_side_as_one_by_one() {
        for len in 0..20 {
            let cuts: Vec<f64> = (0..len).map(f64::from).collect();
            let values = [-1.0, 0.0, 0.5, 3.0, 7.5, 8.0, 18.5, 100.0];
            let expected = values.map(|value| cuts.partition_point(|&cut| cut <= value));
            assert_eq!(cuts_passed(&cuts, values), expected, "{len} cuts");
        }
    }
}
