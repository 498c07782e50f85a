//! ‖Φ(x)‖: in how many partitionings does any ball hold the point?
//!
//! K_I without the distribution: it asks whether a point is covered, not by how much data. Cheaper to fit than K_I (no
//! pass over the data beyond the sample) and nearly as good on clean data; it degrades when anomalies are among the
//! fitting data, because a sampled anomaly covers its neighbours. The anomaly score is −‖Φ(x)‖² = −#covered, from −t
//! to 0. It needs partitionings with gaps, hence hyperspheres.
//!
//! Cost with d columns: O(t·ψ²·d) to fit, O(t·ψ·d) per score.
//!
//! # References
//! Paper 3, §6.3 and Table 4.

use super::Detector;
use crate::backend::Room;
use crate::data::Points;
use crate::error::{Error, Result};
use crate::map::{IsolationMap, IsolationMapParams};
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::parallel::Run;
use crate::params::Checked;
use crate::partition::Partition;

/// A fitted ‖Φ(x)‖ detector.
#[derive(Debug, Clone)]
pub struct Norm {
    map: IsolationMap,
}

impl Norm {
    /// Fits the map.
    pub fn fit(params: &Checked<IsolationMapParams>, points: Points<'_>, run: Run<'_>) -> Result<Self> {
        Self::with_map(params.fit(points, run)?)
    }

    /// Uses a map fitted before, of hyperspheres.
    pub fn with_map(map: IsolationMap) -> Result<Self> {
        if map.params().partition != Partition::Sphere {
            let got = format!("{:?}", map.params().partition).to_lowercase();
            return Err(Error::Param { name: "partition", expected: "`sphere` for this detector".into(), got });
        }
        Ok(Self { map })
    }

    /// The map.
    pub const fn map(&self) -> &IsolationMap {
        &self.map
    }
}

impl Detector for Norm {
    fn n_columns(&self) -> usize {
        self.map.n_columns()
    }

    fn score_chunk(&self, points: Points<'_>, scores: &mut [f64]) -> Result<()> {
        let mut covered = Room::<u64, 1>::new(points.n_rows(), 0);
        self.map.totals_of_few(points, &mut covered, |_| 1)?;
        scores.iter_mut().zip(covered.iter()).for_each(|(score, &covered)| *score = 0.0 - covered as f64);
        Ok(())
    }

    fn score(&self, points: Points<'_>, run: Run<'_>) -> Result<Vec<f64>> {
        let covered = self.map.totals(points, run, |_| 1)?;
        Ok(covered.into_iter().map(|covered| 0.0 - covered as f64).collect())
    }
}

impl Persist for Norm {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.map.save(out, &format!("{prefix}.map"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        Self::with_map(IsolationMap::load(from, &format!("{prefix}.map"))?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{blob_with_outlier, spheres};
    use super::*;

    #[test]
    fn the_score_is_the_number_of_partitionings_that_cover_the_point() {
        let points = blob_with_outlier(200, 2);
        let norm = Norm::fit(&spheres(8), points.as_points(), Run::single()).unwrap();
        let scores = norm.score(points.as_points(), Run::single()).unwrap();
        for (row, &score) in points.as_points().rows().zip(&scores) {
            let mut cells = vec![0; norm.map.t()];
            norm.map.encode_row(row, &mut cells);
            assert_eq!(-score, cells.iter().filter(|&&cell| cell != crate::partition::NONE).count() as f64);
        }
        assert!(scores[..200].iter().all(|&score| score < scores[200]));
    }

    #[test]
    fn partitionings_without_gaps_are_refused() {
        let points = blob_with_outlier(20, 2);
        let params = IsolationMapParams::default().psi(4).check().unwrap();
        assert!(Norm::fit(&params, points.as_points(), Run::single()).is_err());
    }
}
