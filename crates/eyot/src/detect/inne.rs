//! iNNE: how much smaller than its neighbour's is the ball that holds the point?
//!
//! In each partitioning take, of the balls that hold x, the smallest, c: I = 1 − r(η(c))/r(c), η(c) the centre nearest
//! to c; no ball at all is I = 1. The anomaly score is the mean over the partitionings, from 0 to 1. Comparing a ball
//! with its neighbour makes it a local score: good for anomalies near dense regions; like K_I it misses anomalies that
//! are dense themselves. Radii are those to the nearest other row, copies included (a ball of radius 0 has I = 0).
//!
//! Cost with d columns: O(t·ψ²·d) to fit, O(t·ψ·d) per score.
//!
//! # References
//! Bandaragoda et al. 2018, Definitions 1–3; paper 3, Table 4.

use super::Detector;
use crate::data::Points;
use crate::error::{Error, Result};
use crate::map::{Cells, IsolationMap, IsolationMapParams};
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::parallel::Run;
use crate::partition::{Next, Others, Partition, Radii, neighbours};

/// A fitted iNNE detector.
#[derive(Debug, Clone)]
pub struct Inne {
    map: IsolationMap,
    /// I of ball j of partitioning i at i·ψ + j.
    isolation: Vec<f64>,
}

impl Inne {
    /// Fits `t` partitionings of `psi` balls.
    pub fn fit(psi: usize, t: usize, seed: u64, points: Points<'_>, run: Run<'_>) -> Result<Self> {
        let params = IsolationMapParams::default().partition(Partition::Sphere).radii(Radii::Plain);
        let map = params.psi(psi).t(t).seed(seed).check()?.fit(points, run)?;
        let Cells::Spheres { centres, squared_radii } = &map.cells else { unreachable!("the map was made of balls") };
        let psi = map.psi();
        let next = neighbours(centres, &[psi], Others::All, run)?.concat();
        let isolation = |(ball, next): (usize, &Next)| {
            isolation_of(squared_radii[ball / psi * psi + next.number as usize], squared_radii[ball])
        };
        let isolation = next.iter().enumerate().map(isolation).collect();
        Ok(Self { map, isolation })
    }

    /// The map.
    pub const fn map(&self) -> &IsolationMap {
        &self.map
    }
}

/// I from the squared radii of the neighbour and of the ball itself; a ball of radius 0 is not isolated.
pub(super) fn isolation_of(neighbour: f64, own: f64) -> f64 {
    if own == 0.0 || (neighbour.is_infinite() && own.is_infinite()) {
        return 0.0;
    }
    1.0 - (neighbour / own).sqrt().min(1.0)
}

impl Detector for Inne {
    fn n_columns(&self) -> usize {
        self.map.n_columns()
    }

    fn score_chunk(&self, points: Points<'_>, scores: &mut [f64]) -> Result<()> {
        let Cells::Spheres { centres, squared_radii } = &self.map.cells else { unreachable!("checked when made") };
        let psi = self.map.psi();
        scores.fill(0.0);
        centres.all_distances(points, |row, i, distances| {
            let radii = &squared_radii[i * psi..(i + 1) * psi];
            // The smallest ball that holds the row; strictly smaller, so the lowest index wins a tie.
            let (mut smallest, mut ball) = (f64::INFINITY, None);
            for (j, (&distance, &radius)) in distances.iter().zip(radii).enumerate() {
                if distance <= radius && radius < smallest {
                    (smallest, ball) = (radius, Some(j));
                }
            }
            scores[row] += ball.map_or(1.0, |j| self.isolation[i * psi + j]);
        });
        for score in scores {
            *score /= self.map.t() as f64;
        }
        Ok(())
    }
}

impl Persist for Inne {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.map.save(out, &format!("{prefix}.map"));
        out.put_f64(&format!("{prefix}.isolation"), &self.isolation);
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let map = IsolationMap::load(from, &format!("{prefix}.map"))?;
        let isolation = from.f64s(&format!("{prefix}.isolation"))?;
        let spheres = matches!(map.cells, Cells::Spheres { .. }) && isolation.len() == map.n_features();
        if !spheres || !isolation.iter().all(|value| (0.0..=1.0).contains(value)) {
            return Err(Error::Model("the isolation values of the model do not fit its balls".into()));
        }
        Ok(Self { map, isolation })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{blob_with_outlier, clumps};
    use super::*;
    use crate::data::{PointsBuf, Row};

    /// The score by its definition.
    fn oracle(map: &IsolationMap, x: Row<'_>) -> f64 {
        let Cells::Spheres { centres, .. } = &map.cells else { unreachable!() };
        let psi = map.psi();
        let mut sum = 0.0;
        for i in 0..map.t() {
            let centre = |j: usize| centres.points().row(centres.members_of(i)[j] as usize);
            let distance = |a: usize, b: usize| centre(a).squared_distance(centre(b)).sqrt();
            let others = |j: usize| (0..psi).filter(move |&k| k != j);
            let nearest = |j: usize| others(j).min_by(|&a, &b| distance(j, a).total_cmp(&distance(j, b))).unwrap();
            let radius = |j: usize| distance(j, nearest(j));
            let holding = (0..psi).filter(|&j| centre(j).squared_distance(x) <= radius(j).powi(2) * (1.0 + 1e-12));
            let smallest = holding.min_by(|&a, &b| radius(a).total_cmp(&radius(b)));
            sum += smallest.map_or(1.0, |c| if radius(c) == 0.0 { 0.0 } else { 1.0 - radius(nearest(c)) / radius(c) });
        }
        sum / map.t() as f64
    }

    #[test]
    fn scores_follow_the_definition_also_with_copies_and_sparse_rows() {
        for points in [blob_with_outlier(60, 2), clumps(60, 3), {
            let mut sparse = PointsBuf::sparse(3);
            clumps(60, 3).as_points().rows().for_each(|row| sparse.push(row));
            sparse
        }] {
            let inne = Inne::fit(8, 25, 3, points.as_points(), Run::single()).unwrap();
            let scores = inne.score(points.as_points(), Run::single()).unwrap();
            for (row, score) in points.as_points().rows().zip(scores) {
                assert!((score - oracle(&inne.map, row)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn an_outlier_is_isolated_and_identical_rows_are_not() {
        let points = blob_with_outlier(300, 3);
        let inne = Inne::fit(16, 100, 0, points.as_points(), Run::single()).unwrap();
        let scores = inne.score(points.as_points(), Run::single()).unwrap();
        assert!(scores[..300].iter().all(|&score| score < scores[300]));
        let same = PointsBuf::from_rows(&vec![[4.0]; 30]).unwrap();
        let inne = Inne::fit(8, 20, 0, same.as_points(), Run::single()).unwrap();
        assert_eq!(inne.score(same.as_points(), Run::single()).unwrap(), [0.0; 30]);
    }
}
