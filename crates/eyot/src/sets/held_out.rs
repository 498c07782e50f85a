//! Cross-validation of a head over bags that are vectors or a kernel matrix already. Bags held out have weight 0 in the
//! fit, so nothing is copied.

use super::compact::Compact;
use crate::data::PointsBuf;
use crate::error::Result;
use crate::parallel::Run;
use crate::params::Checked;
use crate::score::Confusion;
use crate::solve::{FeatureRows, KernelMatrix, KernelSvmParams, LinearSvmParams, Precomputed, class_of_scores};
use crate::tune::Folds;

/// Bags with their classes and folds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Labelled<'a> {
    pub(super) labels: &'a [u32],
    pub(super) n_classes: usize,
    pub(super) folds: &'a Folds,
}

impl Labelled<'_> {
    /// 1 for bags to learn from, 0 for those held out, and the latter.
    pub(super) fn split(&self, fold: usize) -> (Vec<f64>, Vec<usize>) {
        let of = self.folds.fold_of();
        let weights = of.iter().map(|&own| if own as usize == fold { 0.0 } else { 1.0 }).collect();
        (weights, (0..of.len()).filter(|&bag| of[bag] as usize == fold).collect())
    }

    /// The share of bags held out whose class is the one predicted.
    pub(super) fn accuracy(&self, held: &[usize], predicted: &[u32]) -> f64 {
        let truth: Vec<u32> = held.iter().map(|&bag| self.labels[bag]).collect();
        Confusion::of(self.n_classes, &truth, predicted).accuracy()
    }

    /// One number per fold.
    pub(super) fn each_fold(&self, accuracy: impl FnMut(usize) -> Result<f64>) -> Result<Vec<f64>> {
        (0..self.folds.n_folds()).map(accuracy).collect()
    }

    /// Linear SVMs on vectors, one list of accuracies each.
    pub(super) fn linear(&self, vectors: &PointsBuf, svms: &[Checked<LinearSvmParams>]) -> Result<Vec<Vec<f64>>> {
        let compact = Compact::of(vectors);
        let one = |svm: &Checked<LinearSvmParams>| match &compact {
            Some(compact) => self.on_rows(compact, svm),
            None => self.on_rows(&vectors.as_points(), svm),
        };
        svms.iter().map(one).collect()
    }

    fn on_rows<R: FeatureRows>(&self, rows: &R, svm: &Checked<LinearSvmParams>) -> Result<Vec<f64>> {
        self.each_fold(|fold| {
            let (weights, held) = self.split(fold);
            let fit = svm.fit(rows, self.labels, self.n_classes, Some(&weights), Run::single())?;
            let mut scores = vec![0.0; fit.model.n_scores()];
            let class = |&bag: &usize| {
                fit.model.scores_into(rows.row(bag), &mut scores);
                class_of_scores(&scores)
            };
            let predicted: Vec<u32> = held.iter().map(class).collect();
            Ok(self.accuracy(&held, &predicted))
        })
    }

    /// A kernel SVM on the matrix of all bags.
    pub(super) fn kernel(&self, values: &[f64], svm: &Checked<KernelSvmParams>) -> Result<Vec<f64>> {
        let matrix = Precomputed::new(values, self.labels.len())?;
        self.each_fold(|fold| {
            let (weights, held) = self.split(fold);
            let fit = svm.fit(&matrix, self.labels, self.n_classes, Some(&weights), Run::single())?;
            let (mut scores, mut row) = (vec![0.0; fit.model.n_scores()], vec![0.0; fit.model.expansion.rows().len()]);
            let class = |&bag: &usize| {
                matrix.entries_into(bag, fit.model.expansion.rows(), &mut row);
                fit.model.scores_into(&row, &mut scores);
                class_of_scores(&scores)
            };
            let predicted: Vec<u32> = held.iter().map(class).collect();
            Ok(self.accuracy(&held, &predicted))
        })
    }
}
