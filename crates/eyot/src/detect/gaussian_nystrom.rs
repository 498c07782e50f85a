//! K_NG: K_G through Nyström features, linear in the number of rows.
//!
//! √n landmark rows give features x̂ whose products approximate the Gaussian kernel; similarity(x) = x̂ · mean x̂. As
//! good as K_G where the landmarks span the data, worse where they miss a region: then even normal rows there look
//! odd. Landmarks are drawn uniformly or by leverage scores, which miss less and take about as long as the rest.
//!
//! Cost with b = √n landmarks and d columns: O(b²·d + b³ + n·b·(d + b)) to fit, O(b·(d + b)) per score.
//!
//! # References
//! Paper 3, §5 and Table 2 (K_NG).

use super::gaussian::gaussian;
use super::{CHUNK, Detector};
use crate::data::Points;
use crate::error::{Error, Result};
use crate::kernel::AnyKernel;
use crate::map::{LandmarkDraw, NystroemMap};
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::parallel::Run;

/// A fitted K_NG detector.
#[derive(Debug, Clone)]
pub struct GaussianNystrom {
    map: NystroemMap,
    /// Mean x̂ of the fitting data.
    mean: Vec<f64>,
}

impl GaussianNystrom {
    /// Fits; `sigma` is the bandwidth, by default the median distance between rows, `landmarks` their number, by
    /// default ⌊√n⌋, and `how` they are drawn.
    pub fn fit(
        sigma: Option<f64>,
        landmarks: Option<usize>,
        how: LandmarkDraw,
        seed: u64,
        points: Points<'_>,
        run: Run<'_>,
    ) -> Result<Self> {
        let n = points.n_rows();
        if n == 0 {
            return Err(Error::Empty);
        }
        let b = landmarks.unwrap_or_else(|| n.isqrt()).clamp(1, n);
        let kernel = AnyKernel::Gaussian(gaussian(sigma, seed, points)?);
        let landmarks = how.choose(&kernel, points, b, seed, run)?;
        let map = NystroemMap::fit(kernel, landmarks, b, run)?;
        // Sums of fixed chunks, added in order: no thread can change them.
        let parts = run.map("fit", n.div_ceil(CHUNK), |chunk| {
            let rows = points.slice(chunk * CHUNK..n.min((chunk + 1) * CHUNK));
            let (mut sum, mut features, mut k) = (vec![0.0; map.n_features()], Vec::new(), Vec::new());
            for row in rows.rows() {
                map.features_into(row, &mut features, &mut k);
                sum.iter_mut().zip(&features).for_each(|(sum, feature)| *sum += feature);
            }
            Ok(sum)
        })?;
        let mut mean = vec![0.0; map.n_features()];
        for part in parts {
            mean.iter_mut().zip(part).for_each(|(mean, part)| *mean += part);
        }
        for value in &mut mean {
            *value /= n as f64;
        }
        Ok(Self { map, mean })
    }

    /// Number of landmarks.
    pub const fn n_landmarks(&self) -> usize {
        self.map.landmarks().n_rows()
    }
}

impl Detector for GaussianNystrom {
    fn n_columns(&self) -> usize {
        self.map.landmarks().n_columns()
    }

    fn score_chunk(&self, points: Points<'_>, scores: &mut [f64]) -> Result<()> {
        let (mut features, mut k) = (Vec::new(), Vec::new());
        for (score, row) in scores.iter_mut().zip(points.rows()) {
            self.map.features_into(row, &mut features, &mut k);
            *score = 0.0 - features.iter().zip(&self.mean).map(|(x, m)| x * m).sum::<f64>();
        }
        Ok(())
    }
}

impl Persist for GaussianNystrom {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.map.save(out, &format!("{prefix}.map"));
        out.put_f64(&format!("{prefix}.mean"), &self.mean);
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let map = NystroemMap::load(from, &format!("{prefix}.map"))?;
        let mean = from.finite_f64s(&format!("{prefix}.mean"), map.n_features())?;
        Ok(Self { map, mean })
    }
}

#[cfg(test)]
mod tests {
    use super::super::GaussianMean;
    use super::super::testing::blob_with_outlier;
    use super::*;

    #[test]
    fn with_all_rows_as_landmarks_it_is_the_exact_mean() {
        let points = blob_with_outlier(80, 2);
        let exact = GaussianMean::fit(Some(0.5), 0, points.as_points()).unwrap();
        let exact = exact.score(points.as_points(), Run::single()).unwrap();
        for how in [LandmarkDraw::Uniform, LandmarkDraw::Leverage] {
            let fitted = GaussianNystrom::fit(Some(0.5), Some(81), how, 0, points.as_points(), Run::single()).unwrap();
            let scores = fitted.score(points.as_points(), Run::single()).unwrap();
            assert!(exact.iter().zip(&scores).all(|(a, b)| (a - b).abs() < 1e-6));
            assert_eq!(fitted.n_landmarks(), 81);
        }
    }
}
