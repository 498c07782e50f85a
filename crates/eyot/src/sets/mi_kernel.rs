//! MI-Kernel: the sum of Gaussian kernels over all pairs of instances of two bags, normalised.
//!
//! The set kernel that does not depend on the data, and the plain rival of ISK. Every pair of instances is computed, so
//! its time grows with the square of the number of instances; a bag's many similar instances drown its few others.
//!
//! K(S, T) = Σ_u Σ_v exp(−γ‖x_u − x_v‖²) / √(K(S, S)·K(T, T)); γ from 2^-5 to 2^5 in the paper; kernel SVM on bags.
//!
//! # References
//! Gärtner et al., "Multi-instance kernels", ICML 2002; paper 4 §7.

use serde::{Deserialize, Serialize};

use super::gaussian::{GaussianSetKernel, gaussian_builders};
use crate::error::Result;
use crate::params::Checked;
use crate::solve::KernelSvmParams;

/// Parameters of MI-Kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MiKernelParams {
    pub(super) gamma: f64,
    pub(super) svm: KernelSvmParams,
}

impl Default for MiKernelParams {
    fn default() -> Self {
        Self { gamma: 1.0, svm: KernelSvmParams::default() }
    }
}

gaussian_builders!(MiKernelParams);

impl MiKernelParams {
    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        self.kernel().check()?;
        self.svm.clone().check()?;
        Ok(Checked::new(self))
    }

    pub(super) fn kernel(&self) -> GaussianSetKernel {
        GaussianSetKernel { gamma: self.gamma, tau: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Gaussian, Kernel};
    use crate::parallel::Run;
    use crate::sets::gaussian::{SetKernelClassifier, matrix};
    use crate::sets::testing::{blobs, turned};

    #[test]
    fn the_kernel_is_the_normalised_double_sum() {
        let (sets, _) = blobs(6, 1);
        let values = matrix(&sets, MiKernelParams::default().gamma(0.5).kernel(), Run::threads(2)).unwrap();
        let double = |a: usize, b: usize| -> f64 {
            let kernel = Gaussian { gamma: 0.5 };
            sets.bag(a).rows().flat_map(|x| sets.bag(b).rows().map(move |y| kernel.value(x, y))).sum()
        };
        for a in 0..6 {
            for b in 0..6 {
                let expected = double(a, b) / (double(a, a) * double(b, b)).sqrt();
                assert!((values[a * 6 + b] - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn shares_sum_up_to_the_score_and_the_order_of_instances_does_not_matter() {
        let (sets, labels) = blobs(12, 2);
        let params = MiKernelParams::default();
        let svm = params.svm.clone().check().unwrap();
        let fit = SetKernelClassifier::fit(params.kernel(), &svm, &sets, &labels, 2, Run::single()).unwrap();
        let scores = fit.scores(&sets, Run::single()).unwrap();
        let shares = fit.instance_scores(&sets, Run::single()).unwrap();
        let first: f64 = sets.range(0).map(|row| shares[row]).sum();
        let second: f64 = sets.range(1).map(|row| shares[row]).sum();
        assert!((first - scores[0] - (second - scores[1])).abs() < 1e-9, "the constant is the same");
        for (own, other) in fit.scores(&turned(&sets), Run::single()).unwrap().iter().zip(&scores) {
            assert!((own - other).abs() < 1e-12);
        }
    }
}
