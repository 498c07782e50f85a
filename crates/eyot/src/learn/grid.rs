//! The papers' grids: which parameters each method is tried with when it is tuned.
//!
//! | parameter | values | methods |
//! |---|---|---|
//! | γ of the Gaussian | 2^−8, 2^−4, 2^−2, 1, 2², 2⁴, 2⁸ | all that have a kernel |
//! | η | 1e−5, 3e−5, 1e−4, 3e−4, 1e−3, 3e−3, 1e−2 | OGD, NOGD, FOGD, BOGD, RRF |
//! | rate of widths | η, η/10, η/30 | RRF |
//! | λ | 2^−4/M, 2^−2/M, …, 2^16/M for M points | BSGD-M, DualSGD |
//! | λ | 10^m, 10^m/2 for m = −2 … −5 | AdaRaker |
//! | ψ | 2², …, 2^12 | IK-OGD |
//!
//! # References
//! Reparameterized Random Features, §5; Isolation Kernel for online kernel learning, Table 3. The step C of BPA-S,
//! which they do not name, is tried at 1/16, 1/4 and 1.

use super::{LearnerParams, Method};
use crate::kernel::{AnyKernel, Gaussian};

/// Exponents of γ.
const GAMMA: [i32; 7] = [-8, -4, -2, 0, 2, 4, 8];
/// The longest steps first, since ties go to the earlier: with short ones nearly every point stays within the margin, and
/// learners without a budget keep them all.
const ETA: [f64; 7] = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5];

impl LearnerParams {
    /// All candidates of the papers' search for a stream of `n` points. What is given stays as it is: η, λ, C, the rate
    /// of widths, the kernel. ψ is searched if `search_psi`, up to fewer than `most_psi` rows.
    pub fn grid(&self, n: usize, search_psi: bool, most_psi: usize) -> Vec<Self> {
        let mut all = vec![self.clone()];
        let method = self.method;
        let has_kernel = !matches!(method, Method::IkOgd | Method::Rrf | Method::AdaRaker);
        if self.kernel.is_none() && has_kernel {
            let kernel = |m: i32| Some(AnyKernel::Gaussian(Gaussian { gamma: 2f64.powi(m) }));
            vary(&mut all, &GAMMA.map(kernel), Self::kernel);
        }
        match method {
            Method::IkOgd if search_psi => {
                let psis: Vec<usize> = (2..=12).map(|m| 1 << m).filter(|&psi| psi < most_psi || psi == 4).collect();
                all = psis.into_iter().map(|psi| Self { map: self.map.clone().psi(psi), ..self.clone() }).collect();
            }
            Method::Ogd | Method::Nogd | Method::Fogd | Method::Bogd | Method::Rrf if self.eta.is_none() => {
                vary(&mut all, &ETA.map(Some), Self::eta);
            }
            Method::BsgdM | Method::DualSgd if self.lambda.is_none() => {
                let lambda = |m: i32| Some(2f64.powi(m) / n.max(1) as f64);
                vary(&mut all, &(-2..=8).map(|half| lambda(2 * half)).collect::<Vec<_>>(), Self::lambda);
            }
            Method::AdaRaker if self.lambda.is_none() => {
                let lambdas = (-5..=-2).flat_map(|m| [10f64.powi(m) / 2.0, 10f64.powi(m)]).map(Some);
                vary(&mut all, &lambdas.collect::<Vec<_>>(), Self::lambda);
            }
            Method::Bpas if self.c.is_none() => vary(&mut all, &[Some(0.0625), Some(0.25), Some(1.0)], Self::c),
            _ => {}
        }
        if method == Method::Rrf && self.eta_width.is_none() {
            let of = |params: &Self, share: f64| {
                let eta_width = params.eta.map(|eta| eta * share);
                params.clone().eta_width(eta_width)
            };
            all = all.iter().flat_map(|params| [1.0, 0.1, 1.0 / 30.0].map(|share| of(params, share))).collect();
        }
        all
    }
}

/// Every candidate with every value.
fn vary<T: Clone>(all: &mut Vec<LearnerParams>, values: &[T], set: impl Fn(LearnerParams, T) -> LearnerParams) {
    *all = all.iter().flat_map(|params| values.iter().map(|value| set(params.clone(), value.clone()))).collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_the_papers_sizes_and_keep_what_is_given() {
        let size = |method, given: fn(LearnerParams) -> LearnerParams| {
            given(LearnerParams::default().method(method)).grid(1000, true, 500).len()
        };
        assert_eq!(size(Method::IkOgd, |p| p), 7);
        assert_eq!(size(Method::Ogd, |p| p), 49);
        assert_eq!(size(Method::Ogd, |p| p.eta(Some(0.5))), 7);
        assert_eq!(size(Method::Rrf, |p| p), 21);
        assert_eq!(size(Method::Perceptron, |p| p), 7);
        assert_eq!(size(Method::BsgdM, |p| p), 77);
        assert_eq!(size(Method::AdaRaker, |p| p), 8);
        let gamma = Some(AnyKernel::Gaussian(Gaussian { gamma: 3.0 }));
        assert_eq!(LearnerParams::default().method(Method::Nogd).kernel(gamma).grid(10, true, 10).len(), 7);
        let lambdas = LearnerParams::default().method(Method::DualSgd).kernel(gamma).grid(16, false, 10);
        assert_eq!(lambdas[0].lambda, Some(1.0 / 256.0));
        assert_eq!(lambdas[10].lambda, Some(4096.0));
    }
}
