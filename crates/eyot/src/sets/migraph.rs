//! miGraph: MI-Kernel with instances that have many neighbours in their bag counting less each.
//!
//! A bag is a graph whose edges join instances closer than τ; an instance weighs one over the number of its neighbours,
//! itself counted. So a clique of similar instances counts like one instance, and rare ones are heard. Time as MI-Kernel.
//!
//! W_u = 1/#{v ∈ S : ‖x_u − x_v‖² < τ or v = u}; K(S, T) = Σ_u Σ_v W_u·W_v·exp(−γ‖x_u − x_v‖²) / √(K(S, S)·K(T, T)), where
//! any common factor of the weights of a bag cancels. τ → 0 and τ → ∞ both give MI-Kernel. The squared distance in the
//! graph is that of its authors' program; the paper searches γ and τ from 2^-5 to 2^5.
//!
//! # References
//! Zhou, Sun, Li, "Multi-instance learning by treating instances as non-i.i.d. samples", ICML 2009; paper 4 §7.

use serde::{Deserialize, Serialize};

use super::gaussian::{GaussianSetKernel, gaussian_builders};
use crate::error::Result;
use crate::params::Checked;
use crate::solve::KernelSvmParams;

/// Parameters of miGraph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MiGraphParams {
    pub(super) gamma: f64,
    pub(super) tau: f64,
    pub(super) svm: KernelSvmParams,
}

impl Default for MiGraphParams {
    fn default() -> Self {
        Self { gamma: 1.0, tau: 1.0, svm: KernelSvmParams::default() }
    }
}

gaussian_builders!(MiGraphParams);

impl MiGraphParams {
    /// Squared distance below which two instances of a bag are neighbours, at least 0; 1 by default.
    #[must_use]
    pub fn tau(mut self, tau: f64) -> Self {
        self.tau = tau;
        self
    }

    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        self.kernel().check()?;
        self.svm.clone().check()?;
        Ok(Checked::new(self))
    }

    pub(super) fn kernel(&self) -> GaussianSetKernel {
        GaussianSetKernel { gamma: self.gamma, tau: Some(self.tau) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Gaussian, Kernel};
    use crate::parallel::Run;
    use crate::sets::gaussian::matrix;
    use crate::sets::mi_kernel::MiKernelParams;
    use crate::sets::testing::blobs;

    #[test]
    fn the_limits_of_tau_are_mi_kernel() {
        let (sets, _) = blobs(8, 3);
        let plain = matrix(&sets, MiKernelParams::default().kernel(), Run::single()).unwrap();
        for tau in [0.0, 1e-9, 1e9] {
            let ours = matrix(&sets, MiGraphParams::default().tau(tau).kernel(), Run::single()).unwrap();
            assert!(ours.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-12), "{tau}");
        }
    }

    #[test]
    fn the_kernel_is_the_weighted_double_sum_and_positive_semi_definite() {
        let (sets, _) = blobs(7, 4);
        let params = MiGraphParams::default().gamma(0.3).tau(0.5);
        let values = matrix(&sets, params.kernel(), Run::single()).unwrap();
        let weights = |bag: usize| -> Vec<f64> {
            let points = sets.bag(bag);
            let near = |u: usize| {
                (0..points.n_rows()).filter(move |&v| v == u || points.row(u).squared_distance(points.row(v)) < 0.5)
            };
            (0..points.n_rows()).map(|u| 1.0 / near(u).count() as f64).collect()
        };
        assert!(weights(0).iter().any(|&weight| weight < 1.0), "some instances have neighbours");
        let double = |a: usize, b: usize| {
            let (of_a, of_b, mut sum) = (weights(a), weights(b), 0.0);
            for (u, x) in sets.bag(a).rows().enumerate() {
                for (v, y) in sets.bag(b).rows().enumerate() {
                    sum += of_a[u] * of_b[v] * Gaussian { gamma: 0.3 }.value(x, y);
                }
            }
            sum
        };
        for a in 0..7 {
            for b in 0..7 {
                let expected = double(a, b) / (double(a, a) * double(b, b)).sqrt();
                assert!((values[a * 7 + b] - expected).abs() < 1e-12);
            }
        }
        let matrix = faer::Mat::from_fn(7, 7, |i, j| values[i * 7 + j]);
        let least = matrix.self_adjoint_eigenvalues(faer::Side::Lower).unwrap()[0];
        assert!(least > -1e-9, "{least}");
    }
}
