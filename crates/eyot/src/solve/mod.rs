//! Solvers of batch problems: linear SVM by dual coordinate descent, kernel SVM by SMO.

mod linear;
mod rows;

pub use linear::{LinearFit, LinearModel, LinearReport, LinearSvmParams, Loss};
pub use rows::FeatureRows;

use crate::error::{Error, Result};

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
