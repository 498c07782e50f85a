//! Bags for the tests of this stage.

use super::instances::Sets;
use crate::data::{Bags, PointsBuf};
use crate::rng::{Component, rng_of};

/// Bags of 2 to 6 instances in two columns. All have instances around 0; those of class 1 also some around (3, 3).
pub(super) fn blobs(n_bags: usize, seed: u64) -> (Sets, Vec<u32>) {
    let mut rng = rng_of(seed, Component::Synthetic, 0);
    let (mut rows, mut sizes): (Vec<[f64; 2]>, Vec<usize>) = (vec![], vec![]);
    let labels: Vec<u32> = (0..n_bags).map(|bag| (bag % 2) as u32).collect();
    for &label in &labels {
        let size = 2 + rng.below(5);
        sizes.push(size);
        for instance in 0..size {
            let centre = if label == 1 && instance < size.div_ceil(2) { 3.0 } else { 0.0 };
            rows.push([centre + 0.5 * rng.normal(), centre + 0.5 * rng.normal()]);
        }
    }
    let points = PointsBuf::from_rows(&rows).unwrap();
    (Sets::new(points.as_points(), &Bags::from_sizes(&sizes).unwrap()).unwrap(), labels)
}

/// The same bags with their instances in the opposite order.
pub(super) fn turned(sets: &Sets) -> Sets {
    let rows: Vec<usize> = (0..sets.len()).flat_map(|bag| sets.range(bag).rev()).collect();
    sets.with_points(sets.points().to_buf().select(&rows))
}

/// The same bags with every instance twice.
pub(super) fn doubled(sets: &Sets) -> Sets {
    let rows: Vec<usize> = (0..sets.n_instances()).flat_map(|row| [row, row]).collect();
    let starts = sets.starts().iter().map(|start| 2 * start).collect();
    Sets::from_parts(sets.points().to_buf().select(&rows), starts).unwrap()
}
