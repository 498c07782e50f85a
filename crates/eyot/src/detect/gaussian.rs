//! K_G: how similar is a point to all data under the Gaussian kernel?
//!
//! similarity(x) = (1/n)·Σ_y exp(−‖x−y‖²/2σ²), a kernel density estimate but for a constant; the anomaly score is its
//! negative, from −1 to 0. One bandwidth for all of space: good when normal data has one density, blind to anomalies
//! near a dense cluster when another is sparse. σ decides everything; the default is the median distance between rows.
//!
//! Cost with d columns: O(n·d) per score, O(n²·d) for all rows, and the rows themselves are the model. Above
//! [`GaussianMean::MAX_ROWS`] rows a uniform sample of that many stands for all, and [`GaussianMean::n_rows`] says so.
//!
//! # References
//! Paper 3, §2 and Table 2 (K_G).

use super::{CHUNK, Detector};
use crate::data::{Points, PointsBuf};
use crate::error::{Error, Result};
use crate::kernel::{Gaussian, Kernel};
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::params::positive;
use crate::rng::{Component, rng_of};

/// A fitted K_G detector.
#[derive(Debug, Clone)]
pub struct GaussianMean {
    kernel: Gaussian,
    points: PointsBuf,
}

impl GaussianMean {
    /// Rows kept at the most.
    pub const MAX_ROWS: usize = 20_000;

    /// Keeps the rows, or a sample of them; `sigma` is the bandwidth, by default the median distance between rows.
    pub fn fit(sigma: Option<f64>, seed: u64, points: Points<'_>) -> Result<Self> {
        if points.n_rows() == 0 {
            return Err(Error::Empty);
        }
        Ok(Self { kernel: gaussian(sigma, seed, points)?, points: subset(points, Self::MAX_ROWS, seed) })
    }

    /// Rows that stand for the data.
    pub const fn n_rows(&self) -> usize {
        self.points.n_rows()
    }

    /// The bandwidth.
    pub fn sigma(&self) -> f64 {
        sigma_of(self.kernel)
    }
}

impl Detector for GaussianMean {
    fn n_columns(&self) -> usize {
        self.points.n_columns()
    }

    fn score_chunk(&self, points: Points<'_>, scores: &mut [f64]) -> Result<()> {
        let n = self.points.n_rows();
        let mut values = vec![0.0; CHUNK.min(n)];
        for (score, row) in scores.iter_mut().zip(points.rows()) {
            let mut sum = 0.0;
            for first in (0..n).step_by(CHUNK) {
                let part = self.points.as_points().slice(first..n.min(first + CHUNK));
                let values = &mut values[..part.n_rows()];
                self.kernel.row_into(row, part, values);
                sum += values.iter().sum::<f64>();
            }
            *score = 0.0 - sum / n as f64;
        }
        Ok(())
    }
}

/// The kernel of bandwidth `sigma`, or of the median distance between rows.
pub(super) fn gaussian(sigma: Option<f64>, seed: u64, points: Points<'_>) -> Result<Gaussian> {
    let sigma = match sigma {
        Some(sigma) => sigma,
        None => median_distance(points, seed),
    };
    positive("sigma", sigma)?;
    let kernel = Gaussian { gamma: 0.5 / (sigma * sigma) };
    positive("sigma", kernel.gamma)?;
    Ok(kernel)
}

pub(super) fn sigma_of(kernel: Gaussian) -> f64 {
    (0.5 / kernel.gamma).sqrt()
}

/// The median distance of 1000 random pairs of rows; 1 if they are equal.
fn median_distance(points: Points<'_>, seed: u64) -> f64 {
    let mut rng = rng_of(seed, Component::Subset, 1);
    let mut pair = || points.row(rng.below(points.n_rows())).squared_distance(points.row(rng.below(points.n_rows())));
    let mut squares: Vec<f64> = (0..1000).map(|_| pair()).filter(|&square| square > 0.0).collect();
    if squares.is_empty() {
        return 1.0;
    }
    let middle = squares.len() / 2;
    squares.select_nth_unstable_by(middle, f64::total_cmp).1.sqrt()
}

/// All rows, or a uniform sample of `most` of them in their order.
pub(super) fn subset(points: Points<'_>, most: usize, seed: u64) -> PointsBuf {
    let n = points.n_rows();
    if n <= most {
        return points.to_buf();
    }
    let mut rng = rng_of(seed, Component::Subset, 0);
    let mut chosen = PointsBuf::like(&points);
    for row in 0..n {
        // The share still wanted of the rows still to come.
        if rng.below(n - row) < most - chosen.n_rows() {
            chosen.push(points.row(row));
        }
    }
    chosen
}

impl Persist for GaussianMean {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_f64(&format!("{prefix}.gamma"), &[self.kernel.gamma]);
        self.points.save(out, &format!("{prefix}.rows"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let gamma = from.finite_f64s(&format!("{prefix}.gamma"), 1)?[0];
        let points = PointsBuf::load(from, &format!("{prefix}.rows"))?;
        if points.n_rows() == 0 || gamma <= 0.0 {
            return Err(Error::Model("the model has no rows or no bandwidth".into()));
        }
        Ok(Self { kernel: Gaussian { gamma }, points })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::blob_with_outlier;
    use super::*;
    use crate::parallel::Run;

    #[test]
    fn the_score_is_minus_the_mean_kernel() {
        let points = blob_with_outlier(700, 2);
        let detector = GaussianMean::fit(Some(0.7), 0, points.as_points()).unwrap();
        let scores = detector.score(points.as_points(), Run::single()).unwrap();
        for x in [0, 333, 700] {
            let kernel = |y| (-points.row(x).squared_distance(y) / (2.0 * 0.7 * 0.7)).exp();
            let mean = points.as_points().rows().map(kernel).sum::<f64>() / 701.0;
            assert!((scores[x] + mean).abs() < 1e-12);
        }
        assert!(scores[..700].iter().all(|&score| score < scores[700]));
    }

    #[test]
    fn the_default_bandwidth_is_near_the_median_distance() {
        let points = blob_with_outlier(500, 1);
        let sigma = GaussianMean::fit(None, 0, points.as_points()).unwrap().sigma();
        // |x − y| of two standard normal numbers has median 0.954.
        assert!((sigma - 0.954).abs() < 0.15, "{sigma}");
        let same = PointsBuf::from_rows(&[[1.0], [1.0]]).unwrap();
        assert_eq!(GaussianMean::fit(None, 0, same.as_points()).unwrap().sigma().round(), 1.0);
    }

    #[test]
    fn a_sample_is_uniform_in_order_and_of_the_size_asked_for() {
        let points = PointsBuf::from_dense((0..1000).map(f64::from).collect(), 1).unwrap();
        let chosen = subset(points.as_points(), 100, 5);
        let values: Vec<f64> = chosen.as_points().rows().map(|row| row.get(0)).collect();
        assert!(values.len() == 100 && values.is_sorted());
        let mean = values.iter().sum::<f64>() / 100.0;
        assert!((mean - 499.5).abs() < 5.0 * 28.9, "{mean}");
    }

    #[test]
    fn a_bandwidth_that_is_not_positive_is_refused() {
        let points = blob_with_outlier(5, 1);
        for sigma in [0.0, -1.0, f64::NAN, 1e300] {
            assert!(GaussianMean::fit(Some(sigma), 0, points.as_points()).is_err());
        }
    }
}
