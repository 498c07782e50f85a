//! The built-in data: points on the square [−1, 1]², drawn from the seed.

use eyot::{Checked, Codes, Component, IsolationMapParams, Partition, PointsBuf, Run, rng_of};

/// Rows of each data set, and their columns.
pub(super) const N_ROWS: usize = 5050;
pub(super) const N_COLUMNS: usize = 2;

/// The range of both columns.
pub(super) const RANGE: (f64, f64) = (-1.0, 1.0);

/// The partitionings, with the names that users write.
pub(super) const PARTITIONS: [(Partition, &str); 3] =
    [(Partition::Voronoi, "voronoi"), (Partition::Tree, "tree"), (Partition::Sphere, "sphere")];

/// Points with the same density everywhere.
pub(super) fn uniform(seed: u64) -> Vec<[f64; 2]> {
    let mut rng = rng_of(seed, Component::Synthetic, 0);
    (0..N_ROWS).map(|_| [2.0 * rng.open01() - 1.0, 2.0 * rng.open01() - 1.0]).collect()
}

/// A dense left half and a sparse right half: 5000 points against 50, the data of the papers' Theorem on density.
pub(super) fn two_densities(seed: u64) -> Vec<[f64; 2]> {
    let mut rng = rng_of(seed, Component::Synthetic, 1);
    let left = |i: usize| if i < 5000 { -1.0 } else { 0.0 };
    (0..N_ROWS).map(|i| [left(i) + rng.open01(), 2.0 * rng.open01() - 1.0]).collect()
}

/// The middles of two pairs of points, one in the dense half and one in the sparse.
pub(super) const DENSE: f64 = -0.5;
pub(super) const SPARSE: f64 = 0.5;

/// Two points at a distance, side by side round (x, 0).
pub(super) fn pair(x: f64, distance: f64) -> [[f64; 2]; 2] {
    [[x - distance / 2.0, 0.0], [x + distance / 2.0, 0.0]]
}

/// Fits a map on `data` and encodes `points`.
pub(super) fn encode(
    params: &Checked<IsolationMapParams>,
    data: &[[f64; 2]],
    points: &[[f64; 2]],
    run: Run<'_>,
) -> eyot::Result<Codes> {
    let map = params.fit(PointsBuf::from_rows(data)?.as_points(), run)?;
    map.encode(PointsBuf::from_rows(points)?.as_points(), run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_hold_5000_and_50_points() {
        let points = two_densities(3);
        assert_eq!(points.iter().filter(|point| point[0] < 0.0).count(), 5000);
        assert!(points.iter().flatten().all(|value| value.abs() < 1.0));
        assert_ne!(two_densities(3), two_densities(4));
    }
}
