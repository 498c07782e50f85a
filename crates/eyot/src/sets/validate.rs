//! Nested cross-validation over bags: every fold is held out once, and everything that is fitted or chosen (scaling,
//! maps, parameters) sees the other folds only.

use super::any::BagClassifierParams;
use super::grid::BagGrid;
use super::instances::Sets;
use crate::error::{Error, Result};
use crate::parallel::Run;
use crate::score::Confusion;
use crate::tune::stratified_folds;

/// One fold held out.
#[derive(Debug, Clone, PartialEq)]
pub struct BagFold {
    /// The bags held out.
    pub bags: Vec<usize>,
    /// Their classes, as predicted.
    pub predicted: Vec<u32>,
    /// The share predicted rightly.
    pub accuracy: f64,
    /// The parameters chosen inside the other folds.
    pub chosen: BagClassifierParams,
}

/// All folds.
#[derive(Debug, Clone, PartialEq)]
pub struct BagValidation {
    /// Fold by fold.
    pub folds: Vec<BagFold>,
    /// All bags held out.
    pub confusion: Confusion,
}

impl BagValidation {
    /// Cross-validates a search over `n_folds` folds, stratified by class.
    pub fn run(
        grid: &BagGrid,
        sets: &Sets,
        labels: &[u32],
        n_classes: usize,
        n_folds: usize,
        seed: u64,
        run: Run<'_>,
    ) -> Result<Self> {
        if labels.len() != sets.len() {
            return Err(Error::Shape { what: "labels of bags", expected: sets.len(), got: labels.len() });
        }
        let folds = stratified_folds(labels, n_folds, seed)?;
        let mut outcomes = Vec::with_capacity(n_folds);
        let mut confusion = Confusion::new(n_classes);
        for fold in 0..n_folds {
            run.tick("folds", fold, n_folds)?;
            let (train, held) = folds.split(fold);
            let labels_of = |bags: &[usize]| bags.iter().map(|&bag| labels[bag]).collect::<Vec<u32>>();
            let (train_sets, train_labels) = (sets.select(&train), labels_of(&train));
            let (chosen, _) = grid.search(&train_sets, &train_labels, n_classes, false, run)?;
            let classifier = chosen.clone().check()?.fit(&train_sets, &train_labels, n_classes, run)?;
            let predicted = classifier.predict(&sets.select(&held), run)?;
            let part = Confusion::of(n_classes, &labels_of(&held), &predicted);
            confusion.merge(&part);
            outcomes.push(BagFold { bags: held, predicted, accuracy: part.accuracy(), chosen });
        }
        Ok(Self { folds: outcomes, confusion })
    }

    /// The mean accuracy over the folds.
    pub fn accuracy(&self) -> f64 {
        self.folds.iter().map(|fold| fold.accuracy).sum::<f64>() / self.folds.len() as f64
    }

    /// The standard error of that mean: sample deviation over the root of the number of folds.
    pub fn standard_error(&self) -> f64 {
        let (k, mean) = (self.folds.len() as f64, self.accuracy());
        let squares: f64 = self.folds.iter().map(|fold| (fold.accuracy - mean).powi(2)).sum();
        (squares / (k - 1.0) / k).sqrt()
    }
}
