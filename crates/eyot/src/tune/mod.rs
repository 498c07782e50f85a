//! Choosing parameters: folds, grids, cross-validation. A service to every stage that learns from labels.

mod cross_validate;
mod folds;

pub use cross_validate::{CrossValidation, CvEntry, CvTable};
pub use folds::{Folds, k_folds, stratified_folds};

/// 2^from, …, 2^to: the grids of the papers.
pub fn powers_of_two(exponents: std::ops::RangeInclusive<i32>) -> Vec<f64> {
    exponents.map(|exponent| f64::from(exponent).exp2()).collect()
}

/// The ψ of the papers that `n` training rows allow: 2^from, …, 2^to without those above n.
pub fn psi_grid(exponents: std::ops::RangeInclusive<u32>, n: usize) -> Vec<usize> {
    exponents.map(|exponent| 1 << exponent).filter(|&psi| psi <= n).collect()
}
