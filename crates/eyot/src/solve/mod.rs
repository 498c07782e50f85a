//! Solvers of batch problems: linear SVM by dual coordinate descent, kernel SVM by SMO.

mod expansion;
mod kernel_svm;
mod linear;
mod matrix;
mod one_class;
mod rows;
mod smo;
mod svr;

pub use expansion::{Expansion, KernelReport};
pub use kernel_svm::{KernelSvmFit, KernelSvmModel, KernelSvmParams, Scheme};
pub use linear::{LinearFit, LinearModel, LinearReport, LinearSvmParams, Loss};
pub use matrix::{CodesMatrix, KernelMatrix, PointsMatrix, Precomputed};
pub use one_class::OneClassParams;
pub use rows::FeatureRows;
pub use svr::SvrParams;

use crate::error::{Error, Result};
use crate::params::not_negative;

/// The class that scores speak for: with two classes there is one score, and it is class 1 from 0 upwards; with more
/// there is one score per class and the largest wins, the first of equals.
pub fn class_of_scores(scores: &[f64]) -> u32 {
    if let [score] = scores {
        return u32::from(*score >= 0.0);
    }
    let mut best = 0;
    for (class, &score) in scores.iter().enumerate().skip(1) {
        if score > scores[best] {
            best = class;
        }
    }
    best as u32
}

/// How many scores a classifier of that many classes gives: none for a constant one, one for two classes.
pub(crate) const fn n_scores(n_classes: usize) -> usize {
    match n_classes {
        0 | 1 => 0,
        2 => 1,
        more => more,
    }
}

/// Refuses labels that do not go with the rows.
pub(crate) fn check_labels(labels: &[u32], n_rows: usize, n_classes: usize) -> Result<()> {
    if n_rows == 0 {
        return Err(Error::Empty);
    }
    if labels.len() != n_rows {
        return Err(Error::Shape { what: "labels", expected: n_rows, got: labels.len() });
    }
    match labels.iter().find(|&&label| label as usize >= n_classes) {
        Some(&label) => Err(Error::Shape { what: "classes", expected: n_classes, got: label as usize + 1 }),
        None => Ok(()),
    }
}

/// C of every row: the common one, times the factor of its class, times its own.
pub(crate) fn row_costs(
    c: f64,
    class_weights: Option<&[f64]>,
    labels: &[u32],
    n_classes: usize,
    weights: Option<&[f64]>,
) -> Result<Vec<f64>> {
    if let Some(class_weights) = class_weights.filter(|weights| weights.len() != n_classes) {
        return Err(Error::Shape { what: "class weights", expected: n_classes, got: class_weights.len() });
    }
    let class_weight = |label: u32| class_weights.map_or(1.0, |weights| weights[label as usize]);
    let mut costs: Vec<f64> = labels.iter().map(|&label| c * class_weight(label)).collect();
    if let Some(weights) = weights {
        if weights.len() != labels.len() {
            return Err(Error::Shape { what: "sample weights", expected: labels.len(), got: weights.len() });
        }
        for (cost, &weight) in costs.iter_mut().zip(weights) {
            not_negative("sample weight", weight)?;
            *cost *= weight;
        }
    }
    Ok(costs)
}
