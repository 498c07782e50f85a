//! One-class SVM: on which side of the smallest region that holds most of the data?
//!
//! anomaly(x) = ρ − Σ_k α_k κ(x_k, x) with the Gaussian kernel: positive outside the region, where at most the share ν
//! of the fitting rows lies. It learns a boundary, so with a small ν it can be sharp where K_G is blurred; like K_G it
//! has one bandwidth for all of space, and two parameters that matter (σ, ν).
//!
//! Cost: between O(n²) and O(n³) to fit, O(support vectors · d) per score. Above [`OneClassSvm::MAX_ROWS`] rows it is
//! fitted on a uniform sample of that many, and [`OneClassSvm::n_rows`] says so.
//!
//! # References
//! Schölkopf et al. 2001; paper 3, Table 2 (OCSVM).

use super::Detector;
use super::gaussian::{gaussian, sigma_of, subset};
use crate::data::{Points, PointsBuf};
use crate::error::{Error, Result};
use crate::kernel::{Gaussian, Kernel};
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::parallel::Run;
use crate::solve::{OneClassParams, PointsMatrix};

/// A fitted one-class SVM.
#[derive(Debug, Clone)]
pub struct OneClassSvm {
    kernel: Gaussian,
    rows: usize,
    support: PointsBuf,
    /// α of each support vector.
    coefficients: Vec<f64>,
    rho: f64,
}

impl OneClassSvm {
    /// Rows fitted on at the most.
    pub const MAX_ROWS: usize = 10_000;

    /// Fits; `sigma` is the bandwidth, by default the median distance between rows, `nu` the share that may lie
    /// outside.
    pub fn fit(sigma: Option<f64>, nu: f64, seed: u64, points: Points<'_>, run: Run<'_>) -> Result<Self> {
        let params = OneClassParams::default().nu(nu).check()?;
        if points.n_rows() == 0 {
            return Err(Error::Empty);
        }
        let kernel = gaussian(sigma, seed, points)?;
        let rows = subset(points, Self::MAX_ROWS, seed);
        let (expansion, _) = params.fit(&PointsMatrix { kernel, points: rows.as_points() }, run)?;
        let chosen: Vec<usize> = expansion.rows().iter().map(|&row| row as usize).collect();
        Ok(Self {
            kernel,
            rows: rows.n_rows(),
            support: rows.select(&chosen),
            coefficients: expansion.coefficients(0).to_vec(),
            rho: expansion.rho(0),
        })
    }

    /// Rows it was fitted on.
    pub const fn n_rows(&self) -> usize {
        self.rows
    }

    /// The bandwidth.
    pub fn sigma(&self) -> f64 {
        sigma_of(self.kernel)
    }
}

impl Detector for OneClassSvm {
    fn n_columns(&self) -> usize {
        self.support.n_columns()
    }

    fn score_chunk(&self, points: Points<'_>, scores: &mut [f64]) -> Result<()> {
        let mut values = vec![0.0; self.coefficients.len()];
        for (score, row) in scores.iter_mut().zip(points.rows()) {
            self.kernel.row_into(row, self.support.as_points(), &mut values);
            *score = self.rho - self.coefficients.iter().zip(&values).map(|(c, k)| c * k).sum::<f64>();
        }
        Ok(())
    }
}

impl Persist for OneClassSvm {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.rows"), &self.rows);
        out.put_f64(&format!("{prefix}.gamma_rho"), &[self.kernel.gamma, self.rho]);
        out.put_f64(&format!("{prefix}.coefficients"), &self.coefficients);
        self.support.save(out, &format!("{prefix}.support"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let rows = from.json(&format!("{prefix}.rows"))?;
        let numbers = from.finite_f64s(&format!("{prefix}.gamma_rho"), 2)?;
        let support = PointsBuf::load(from, &format!("{prefix}.support"))?;
        let coefficients = from.finite_f64s(&format!("{prefix}.coefficients"), support.n_rows())?;
        if numbers[0] <= 0.0 {
            return Err(Error::Model(format!("the bandwidth of the model is {}", numbers[0])));
        }
        Ok(Self { kernel: Gaussian { gamma: numbers[0] }, rows, support, coefficients, rho: numbers[1] })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::blob_with_outlier;
    use super::*;

    #[test]
    fn at_most_the_share_nu_of_the_rows_is_outside() {
        let points = blob_with_outlier(300, 2);
        for nu in [0.05, 0.3] {
            let svm = OneClassSvm::fit(Some(1.5), nu, 0, points.as_points(), Run::single()).unwrap();
            let scores = svm.score(points.as_points(), Run::single()).unwrap();
            let outside = scores.iter().filter(|&&score| score > 1e-2 * svm.rho).count();
            let support = svm.coefficients.len();
            assert!(outside as f64 <= nu * 301.0 && nu * 301.0 <= support as f64, "{outside} {nu} {support}");
            assert!(scores[..300].iter().all(|&score| score < scores[300]));
        }
    }

    #[test]
    fn a_share_outside_its_range_is_refused() {
        let points = blob_with_outlier(20, 2);
        assert!(OneClassSvm::fit(None, 0.0, 0, points.as_points(), Run::single()).is_err());
    }
}
