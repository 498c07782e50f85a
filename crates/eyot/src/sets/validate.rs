//! Nested cross-validation over bags: every fold is held out once, and everything that is fitted or chosen (scaling,
//! maps, parameters) sees the other folds only, or, transductively, all bags but the labels of the fold.

use super::any::BagClassifierParams;
use super::grid::{BagGrid, Predicted};
use super::held_out::Split;
use super::instances::Sets;
use crate::error::{Error, Result};
use crate::parallel::Run;
use crate::score::Confusion;
use crate::tune::{CvEntry, CvTable, stratified_folds};

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

/// How to cross-validate a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BagValidationParams {
    /// Number of folds, stratified by class.
    pub n_folds: usize,
    /// Seed of the folds.
    pub seed: u64,
    /// Whether what needs no labels (scaling, partitionings, mixtures, clusters) is fitted on the bags held out too. Paper
    /// 4 does so. It says how well bags are classified that are known beforehand, but for their labels; of bags that come
    /// later it says too much.
    pub transductive: bool,
}

impl BagValidation {
    /// Cross-validates a search.
    pub fn run(
        params: BagValidationParams,
        grid: &BagGrid,
        sets: &Sets,
        labels: &[u32],
        n_classes: usize,
        run: Run<'_>,
    ) -> Result<Self> {
        let BagValidationParams { n_folds, seed, transductive } = params;
        if labels.len() != sets.len() {
            return Err(Error::Shape { what: "labels of bags", expected: sets.len(), got: labels.len() });
        }
        let all: Vec<usize> = (0..sets.len()).collect();
        let splits = Split::all(&stratified_folds(labels, n_folds, seed)?, &all);
        let labels_of = |bags: &[usize]| bags.iter().map(|&bag| labels[bag]).collect::<Vec<u32>>();
        let predicted: Vec<Predicted> = if transductive {
            grid.transductive(sets, labels, n_classes, &splits, run)?
        } else {
            let one = |(fold, Split { learned, held }): (usize, &Split)| {
                run.tick("folds", fold, n_folds)?;
                let (train_sets, train_labels) = (sets.select(learned), labels_of(learned));
                let (chosen, _) = grid.search(&train_sets, &train_labels, n_classes, false, run)?;
                let classifier = chosen.clone().check()?.fit(&train_sets, &train_labels, n_classes, run)?;
                Ok((chosen, classifier.predict(&sets.select(held), run)?))
            };
            splits.iter().enumerate().map(one).collect::<Result<_>>()?
        };
        let mut confusion = Confusion::new(n_classes);
        let mut folds = Vec::with_capacity(n_folds);
        for (Split { held, .. }, (chosen, predicted)) in splits.into_iter().zip(predicted) {
            let part = Confusion::of(n_classes, &labels_of(&held), &predicted);
            confusion.merge(&part);
            folds.push(BagFold { bags: held, predicted, accuracy: part.accuracy(), chosen });
        }
        Ok(Self { folds, confusion })
    }

    /// Cross-validates every value of what paper 4 calls searched (ε, γ, τ) by itself, all else being chosen inside the
    /// training bags; transductively. The best of them is chosen by the very folds that it is measured on, by hindsight,
    /// so that its accuracy is too good. Entries have a single value of all that was chosen inside.
    pub fn by_hindsight(
        n_folds: usize,
        seed: u64,
        grid: &BagGrid,
        sets: &Sets,
        labels: &[u32],
        n_classes: usize,
        run: Run<'_>,
    ) -> Result<CvTable<BagClassifierParams>> {
        if labels.len() != sets.len() {
            return Err(Error::Shape { what: "labels of bags", expected: sets.len(), got: labels.len() });
        }
        let all: Vec<usize> = (0..sets.len()).collect();
        let splits = Split::all(&stratified_folds(labels, n_folds, seed)?, &all);
        let values = grid.by_value(sets, labels, n_classes, &splits, run)?;
        CvTable::of(values.into_iter().map(|(value, accuracies)| CvEntry::of(value, accuracies)).collect())
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
