//! Isolation forest: how few random cuts separate a point from a sample?
//!
//! Anomaly score s(x) = 2^(−E h(x) / c(ψ)), h the depth of the leaf of x plus c(size) for the rows left in it, c(m) the
//! mean depth of a random search tree of m rows; from 0 to 1, about 0.5 for unremarkable data. Fast, robust to columns
//! on different scales, and good for anomalies that stand out in single columns; it misses local anomalies and those
//! that only a combination of columns shows, because every cut is parallel to an axis.
//!
//! Cost: O(t·ψ·log ψ) to fit, O(t·log ψ) per score.
//!
//! # References
//! Liu, Ting and Zhou 2008, Eq. 1–2; paper 3, Table 4.

use super::Detector;
use crate::data::{Features, Points};
use crate::error::{Error, Result};
use crate::map::{Cells, IsolationMap, IsolationMapParams};
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::parallel::Run;
use crate::params::in_range;
use crate::partition::Partition;

/// A fitted isolation forest.
#[derive(Debug, Clone)]
pub struct IsolationForest {
    map: IsolationMap,
    /// h of leaf j of tree i at i·ψ + j.
    heights: Vec<f64>,
}

impl IsolationForest {
    /// Grows `t` trees on `psi` rows each, at most ⌈log₂ ψ⌉ high.
    pub fn fit(psi: usize, t: usize, seed: u64, points: Points<'_>, run: Run<'_>) -> Result<Self> {
        in_range("psi", psi, 2..=usize::MAX)?;
        if points.n_rows() == 1 {
            return Err(Error::Data("an isolation forest needs at least two rows, but there is one".into()));
        }
        let rows = psi.min(points.n_rows());
        let params = IsolationMapParams::default().partition(Partition::Tree).psi(psi).t(t).seed(seed);
        let params = params.max_height(Some(rows.next_power_of_two().trailing_zeros()));
        Ok(Self::with_map(params.check()?.fit(points, run)?).expect("the map was made of trees"))
    }

    fn with_map(map: IsolationMap) -> Option<Self> {
        let Cells::Trees(forest) = &map.cells else { return None };
        let mut heights = vec![0.0; map.n_features()];
        for (block, tree) in heights.chunks_mut(map.psi()).zip(forest.trees()) {
            for (height, leaf) in block.iter_mut().zip(tree.leaves()) {
                *height = f64::from(leaf.depth) + mean_depth(leaf.size as usize);
            }
        }
        Some(Self { map, heights })
    }

    /// The trees.
    pub const fn map(&self) -> &IsolationMap {
        &self.map
    }
}

impl Detector for IsolationForest {
    fn n_columns(&self) -> usize {
        self.map.n_columns()
    }

    fn score_chunk(&self, points: Points<'_>, scores: &mut [f64]) -> Result<()> {
        let codes = self.map.encode(points, Run::single())?;
        let scale = 1.0 / (self.map.t() as f64 * mean_depth(self.map.psi()));
        scores.iter_mut().zip(codes.rows()).for_each(|(score, row)| *score = (-row.dot(&self.heights) * scale).exp2());
        Ok(())
    }
}

/// c(m): the mean depth of an unsuccessful search in a random binary tree of m rows.
fn mean_depth(m: usize) -> f64 {
    let harmonic = |k: usize| match k {
        0..50 => (1..=k).map(|i| 1.0 / i as f64).sum(),
        _ => (k as f64).ln() + 0.577_215_664_9,
    };
    match m {
        0 | 1 => 0.0,
        2 => 1.0,
        _ => 2.0 * harmonic(m - 1) - 2.0 * (m - 1) as f64 / m as f64,
    }
}

impl Persist for IsolationForest {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.map.save(out, &format!("{prefix}.map"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let map = IsolationMap::load(from, &format!("{prefix}.map"))?;
        let psi = map.psi();
        Self::with_map(map)
            .filter(|_| psi >= 2)
            .ok_or_else(|| Error::Model("the forest of the model does not consist of trees".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::blob_with_outlier;
    use super::*;
    use crate::data::PointsBuf;

    #[test]
    fn mean_depth_of_small_trees_by_hand() {
        assert_eq!([mean_depth(1), mean_depth(2)], [0.0, 1.0]);
        assert!((mean_depth(3) - (2.0 * 1.5 - 4.0 / 3.0)).abs() < 1e-15);
        assert!((mean_depth(256) - 10.244_770_9).abs() < 1e-3);
    }

    #[test]
    fn identical_rows_score_one_half() {
        let points = PointsBuf::from_rows(&vec![[1.0, 2.0]; 300]).unwrap();
        let forest = IsolationForest::fit(256, 10, 0, points.as_points(), Run::single()).unwrap();
        assert_eq!(forest.score(points.as_points(), Run::single()).unwrap(), vec![0.5; 300]);
    }

    #[test]
    fn an_outlier_at_ten_sigma_scores_above_sixty_percent() {
        let points = blob_with_outlier(500, 4);
        let forest = IsolationForest::fit(256, 100, 0, points.as_points(), Run::single()).unwrap();
        let scores = forest.score(points.as_points(), Run::single()).unwrap();
        assert!(scores[500] > 0.6, "{}", scores[500]);
        assert!(scores[..500].iter().all(|&score| score < scores[500]));
    }

    #[test]
    fn a_sample_of_one_row_is_refused() {
        let points = blob_with_outlier(5, 2);
        assert!(IsolationForest::fit(1, 10, 0, points.as_points(), Run::single()).is_err());
        assert!(IsolationForest::fit(8, 10, 0, points.as_points().slice(0..1), Run::single()).is_err());
    }
}
