//! k-means on instances: clusters of CCE, and where the mixture of miFV starts.

use super::instances::Sets;
use crate::data::{Points, PointsBuf, Row};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, SquaredDistance};
use crate::rng::{Component, rng_of};

/// Rounds at the most.
const MAX_ROUNDS: usize = 100;

/// Centroids and mixtures are dense; wider data than this would not fit.
const MAX_COLUMNS: usize = 65_536;

/// Refuses data too wide for dense centroids.
pub(super) fn check_width(sets: &Sets, method: &str) -> Result<()> {
    match sets.points().n_columns() {
        0..=MAX_COLUMNS => Ok(()),
        wide => Err(Error::Data(format!("{method} needs at most {MAX_COLUMNS} columns, but there are {wide}"))),
    }
}

/// The nearest centroid of a row, the first of equals, and its squared distance.
pub(super) fn nearest(row: Row<'_>, centroids: &PointsBuf, room: &mut Vec<f64>) -> (usize, f64) {
    room.resize(centroids.n_rows(), 0.0);
    SquaredDistance.row_into(row, centroids.as_points(), room);
    let mut best = (0, room[0]);
    for (at, &distance) in room.iter().enumerate().skip(1) {
        if distance < best.1 {
            best = (at, distance);
        }
    }
    best
}

/// At most `k` centroids: k-means++ starts, then Lloyd's rounds until nothing moves. A cluster that falls empty starts
/// anew at the point farthest from its centroid. Fewer distinct points than `k` give as many centroids.
pub(super) fn kmeans(points: Points<'_>, k: usize, seed: u64, stream: u64) -> PointsBuf {
    let mut centroids = starts(points, k, seed, stream);
    let (n, columns) = (points.n_rows(), points.n_columns());
    let mut cluster_of = vec![usize::MAX; n];
    let mut room = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let mut moved = false;
        let mut distances = vec![0.0; n];
        for (row, point) in points.rows().enumerate() {
            let (cluster, distance) = nearest(point, &centroids, &mut room);
            moved |= cluster_of[row] != cluster;
            (cluster_of[row], distances[row]) = (cluster, distance);
        }
        if !moved {
            break;
        }
        let k = centroids.n_rows();
        let (mut sums, mut counts) = (vec![0.0; k * columns], vec![0usize; k]);
        for (row, point) in points.rows().enumerate() {
            let sums = &mut sums[cluster_of[row] * columns..][..columns];
            point.nonzeros().for_each(|(column, value)| sums[column] += value);
            counts[cluster_of[row]] += 1;
        }
        let mut next = PointsBuf::dense(columns);
        for (cluster, sums) in sums.chunks_exact_mut(columns).enumerate() {
            if counts[cluster] > 0 {
                for sum in sums.iter_mut() {
                    *sum /= counts[cluster] as f64;
                }
                next.push(Row::F64(sums));
            } else {
                let mut farthest = 0;
                for row in 1..n {
                    if distances[row] > distances[farthest] {
                        farthest = row;
                    }
                }
                distances[farthest] = 0.0;
                next.push(points.row(farthest));
            }
        }
        centroids = next;
    }
    centroids
}

/// k-means++: the first point at random, each further one with probability in proportion to its squared distance from
/// those chosen.
fn starts(points: Points<'_>, k: usize, seed: u64, stream: u64) -> PointsBuf {
    let mut rng = rng_of(seed, Component::Clusters, stream);
    let mut centroids = PointsBuf::dense(points.n_columns());
    centroids.push(points.row(rng.below(points.n_rows())));
    let mut distances = vec![f64::INFINITY; points.n_rows()];
    while centroids.n_rows() < k {
        let last = centroids.row(centroids.n_rows() - 1);
        for (row, distance) in points.rows().zip(&mut distances) {
            *distance = distance.min(row.squared_distance(last));
        }
        let total: f64 = distances.iter().sum();
        if total <= 0.0 {
            break;
        }
        let mut left = rng.open01() * total;
        let chosen = distances.iter().position(|distance| {
            left -= distance;
            left < 0.0
        });
        // Rounding may leave a rest: then the last point that differs from all chosen.
        let chosen = chosen.or_else(|| distances.iter().rposition(|&distance| distance > 0.0));
        centroids.push(points.row(chosen.expect("the total is above 0")));
    }
    centroids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_heaps_have_three_centroids_and_copies_no_more_than_there_are() {
        let rows: Vec<[f64; 1]> = (0..60).map(|i| [f64::from(i % 3) * 10.0 + f64::from(i) * 0.001]).collect();
        let points = PointsBuf::from_rows(&rows).unwrap();
        let mut found: Vec<f64> =
            kmeans(points.as_points(), 3, 0, 0).as_points().rows().map(|row| row.get(0)).collect();
        found.sort_by(f64::total_cmp);
        assert!(found.iter().zip([0.0, 10.0, 20.0]).all(|(own, expected)| (own - expected).abs() < 0.1), "{found:?}");
        let copies = PointsBuf::from_rows(&[[1.0], [2.0], [1.0], [2.0]]).unwrap();
        assert_eq!(kmeans(copies.as_points(), 5, 0, 0).n_rows(), 2);
    }
}
