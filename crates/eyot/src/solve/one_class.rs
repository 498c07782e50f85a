//! One-class SVM: the smallest region of kernel space that holds most of the data (methods E6).
//!
//! min ½ Σ α_k α_l K_kl, 0 ≤ α_k ≤ 1/(νn), Σ α_k = 1; f(x) = Σ α_k κ(x_k, x) − ρ is negative outside. At most the share
//! ν of the training rows ends outside, and at least that share are support vectors. The first ⌊νn⌋ variables start
//! at their bound, as in LIBSVM; α is kept times νn, so that bounds are 1, and scaled back at the end.
//!
//! # References
//! Schölkopf et al., "Estimating the support of a high-dimensional distribution", 2001; paper 3 §6 (as baseline).

use serde::{Deserialize, Serialize};

use super::matrix::KernelMatrix;
use super::smo::{Limits, Problem, solve};
use super::{Expansion, KernelReport};
use crate::error::{Error, Result};
use crate::parallel::Run;
use crate::params::{Checked, positive};

/// Parameters of a one-class SVM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OneClassParams {
    nu: f64,
    epsilon: f64,
    cache_bytes: usize,
}

impl Default for OneClassParams {
    fn default() -> Self {
        Self { nu: 0.5, epsilon: 1e-3, cache_bytes: 256 << 20 }
    }
}

impl OneClassParams {
    /// The share ν of rows that may lie outside, above 0 and at most 1; 0.5 by default.
    #[must_use]
    pub fn nu(mut self, nu: f64) -> Self {
        self.nu = nu;
        self
    }

    /// Largest violation of optimality at the end, above 0; 0.001 by default.
    #[must_use]
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// Memory for kernel rows; 256 MiB by default.
    #[must_use]
    pub fn cache_bytes(mut self, cache_bytes: usize) -> Self {
        self.cache_bytes = cache_bytes;
        self
    }

    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        positive("epsilon", self.epsilon)?;
        if !(self.nu > 0.0 && self.nu <= 1.0) {
            let (expected, got) = ("above 0 and at most 1".into(), self.nu.to_string());
            return Err(Error::Param { name: "nu", expected, got });
        }
        Ok(Checked::new(self))
    }
}

impl Checked<OneClassParams> {
    /// Learns from a kernel matrix. The one sum of the expansion is negative outside; anomaly is its negative.
    pub fn fit<M: KernelMatrix>(&self, matrix: &M, run: Run<'_>) -> Result<(Expansion, KernelReport)> {
        let n = matrix.n();
        if n == 0 {
            return Err(Error::Empty);
        }
        let total = self.nu * n as f64;
        let start = (0..n).map(|i| (total - i as f64).clamp(0.0, 1.0)).collect();
        let problem = Problem { signs: vec![1.0; n], uppers: vec![1.0; n], linear: vec![0.0; n], start, bias: true };
        let optimum = solve(matrix, &problem, Limits::new(self.epsilon, n, self.cache_bytes), run)?;
        let coefficients = optimum.alphas.iter().map(|alpha| alpha / total).collect();
        Ok((Expansion::new(n, vec![(coefficients, optimum.rho / total)]), KernelReport::of(&optimum)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;
    use crate::kernel::Gaussian;
    use crate::rng::{Component, rng_of};
    use crate::solve::matrix::PointsMatrix;

    #[test]
    fn nu_lies_between_the_shares_of_outliers_and_support_vectors() {
        let mut rng = rng_of(1, Component::Synthetic, 0);
        let rows: Vec<[f64; 2]> = (0..200).map(|_| [rng.normal(), rng.normal()]).collect();
        let points = PointsBuf::from_rows(&rows).unwrap();
        let matrix = PointsMatrix { kernel: Gaussian { gamma: 0.5 }, points: points.as_points() };
        for nu in [0.05, 0.213, 0.5, 1.0] {
            let params = OneClassParams::default().nu(nu).epsilon(1e-6).check().unwrap();
            let (expansion, _) = params.fit(&matrix, Run::single()).unwrap();
            assert!((expansion.coefficients(0).iter().sum::<f64>() - 1.0).abs() < 1e-9);
            let outside = (0..200)
                .filter(|&i| {
                    let (mut values, mut value) = (vec![0.0; expansion.rows().len()], [0.0]);
                    matrix.entries_into(i, expansion.rows(), &mut values);
                    expansion.values_into(&values, &mut value);
                    // Support vectors on the boundary are 0 up to the stop rule.
                    value[0] < -1e-6
                })
                .count();
            let support = expansion.rows().len();
            assert!(outside as f64 <= nu * 200.0 && nu * 200.0 <= support as f64 + 1e-9, "{outside} {nu} {support}");
        }
    }

    #[test]
    fn shares_outside_zero_to_one_are_refused() {
        assert!(OneClassParams::default().nu(0.0).check().is_err());
        assert!(OneClassParams::default().nu(1.5).check().is_err());
        assert!(OneClassParams::default().nu(f64::NAN).check().is_err());
    }
}
