//! The leaves of many rows without descending. A cut that a row does not pass on the left rules out the leaves of its
//! left side; the row's leaf is the first that no cut has ruled out. What all cuts of one column rule out together
//! depends only on where the row's value stands among them, so it is one mask, made beforehand: a row costs one search
//! per column for all trees, then one look-up and one `and` per column and tree, none of which waits for another.
//!
//! A row's place among the cuts of all trees is found once per column; per tree a table says which mask that is.
//!
//! # References
//! The masks are those of QuickScorer (Lucchese and others 2015), kept per place instead of per cut.

use std::hint::select_unpredictable;

use super::isolation_tree::IsolationTree;
use crate::backend::{MOST_LEAVES, Mask, MaskedTree, PLACES};
use crate::data::{Points, Real, Values};
use crate::partition::Cell;

/// What a look-up costs in cuts of a descent.
const LOOK_UP: f64 = 0.34;

/// Rows whose values are searched for side by side: a search alone waits for every step.
const ABREAST: usize = 8;

/// All trees, in groups.
#[derive(Debug, Clone)]
pub(super) struct LeafMasks {
    groups: Vec<Group>,
}

/// Trees whose cuts are searched together.
#[derive(Debug, Clone)]
struct Group {
    /// The distinct cuts of each column, ascending.
    cuts: Vec<Vec<f64>>,
    trees: Vec<MaskedTree>,
}

/// A cut of a tree: where it stands and the leaves on its left.
pub(super) struct Cut {
    pub(super) column: usize,
    pub(super) threshold: f64,
    pub(super) left: std::ops::Range<u32>,
}

impl LeafMasks {
    /// `None` where descending is faster, or trees are too large.
    pub(super) fn of(trees: &[IsolationTree], columns: usize) -> Option<Self> {
        let leaves = || trees.iter().flat_map(IsolationTree::leaves);
        let depth = leaves().map(|leaf| f64::from(leaf.depth)).sum::<f64>() / leaves().count() as f64;
        let small = trees.iter().all(|tree| tree.leaves().len() <= MOST_LEAVES);
        if !small || columns as f64 * LOOK_UP > depth || columns + MOST_LEAVES > PLACES {
            return None;
        }
        let together = (PLACES - columns) / MOST_LEAVES;
        Some(Self { groups: trees.chunks(together).map(|trees| Group::of(trees, columns)).collect() })
    }

    /// Calls `put(row, i, cell)` for every row of a dense table and every tree.
    pub(super) fn cells(&self, points: Points<'_>, mut put: impl FnMut(usize, usize, Cell)) {
        let mut places = vec![0; points.n_rows() * points.n_columns()];
        let mut leaves = vec![0; points.n_rows()];
        let mut first = 0;
        for group in &self.groups {
            match points.values() {
                Values::F32(values) => group.places(values, &mut places),
                Values::F64(values) => group.places(values, &mut places),
                Values::Sparse { .. } => unreachable!("sparse rows descend"),
            }
            for (i, tree) in (first..).zip(&group.trees) {
                tree.leaves(&places, &mut leaves);
                leaves.iter().enumerate().for_each(|(row, &leaf)| put(row, i, Cell::from(leaf)));
            }
            first += group.trees.len();
        }
    }
}

impl Group {
    fn of(trees: &[IsolationTree], columns: usize) -> Self {
        let mut cuts = vec![Vec::new(); columns];
        trees.iter().flat_map(IsolationTree::cuts).for_each(|cut| cuts[cut.column].push(cut.threshold));
        for cuts in &mut cuts {
            cuts.sort_unstable_by(f64::total_cmp);
            cuts.dedup();
        }
        Self { trees: trees.iter().map(|tree| masked(tree, &cuts)).collect(), cuts }
    }

    /// The place of every value: how many cuts of its column are not above it, after the places of the columns before.
    fn places<F: Real>(&self, values: &[F], places: &mut [u16]) {
        let columns = self.cuts.len();
        let rows = values.chunks(ABREAST * columns).zip(places.chunks_mut(ABREAST * columns));
        for (values, places) in rows {
            let mut first = 0;
            for (column, cuts) in self.cuts.iter().enumerate() {
                let mut wanted = [0.0; ABREAST];
                let own = values.iter().skip(column).step_by(columns);
                wanted.iter_mut().zip(own).for_each(|(wanted, &value)| *wanted = value.into());
                let passed = cuts_passed(cuts, wanted);
                let own = places.iter_mut().skip(column).step_by(columns);
                own.zip(passed).for_each(|(place, passed)| *place = (first + passed) as u16);
                first += cuts.len() + 1;
            }
        }
    }
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

/// The masks of a tree for the places among `all` cuts of its columns.
fn masked(tree: &IsolationTree, all: &[Vec<f64>]) -> MaskedTree {
    let mut own: Vec<Vec<Cut>> = (0..all.len()).map(|_| Vec::new()).collect();
    tree.cuts().for_each(|cut| own[cut.column].push(cut));
    let mut numbers: Box<[u8; PLACES]> = vec![0; PLACES].try_into().expect("as long as asked for");
    let mut place = 0;
    let mut columns = Vec::with_capacity(all.len());
    for (own, all) in own.iter_mut().zip(all) {
        own.sort_unstable_by(|a, b| a.threshold.total_cmp(&b.threshold));
        let mut mask: Mask = [!0; _];
        let mut masks = vec![mask];
        for cut in &*own {
            cut.left.clone().for_each(|leaf| mask[leaf as usize / 64] &= !(1 << (leaf % 64)));
            masks.push(mask);
        }
        columns.push(masks);
        // The first place is below all cuts; every cut begins the next one.
        let mut passed = 0;
        for &threshold in all {
            place += 1;
            passed += own[passed..].iter().take_while(|cut| cut.threshold <= threshold).count();
            numbers[place] = passed as u8;
        }
        place += 1;
    }
    MaskedTree::new(numbers, &columns)
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
                // More than one group.
                let trees: Vec<IsolationTree> = (0..300).map(grow).collect();
                let masks = Group::of(&trees[..200], 3);
                let masks = LeafMasks { groups: vec![masks, Group::of(&trees[200..], 3)] };
                for points in [&table, &single] {
                    let mut seen = 0;
                    masks.cells(points.as_points(), |row, i, cell| {
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
            LeafMasks::of(&[tree], columns).is_some()
        };
        assert!(pays(2, 256) && !pays(2, 300) && !pays(100, 256));
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
