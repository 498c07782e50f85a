//! Cross-validation of a head over bags whose kernel matrix is there already. Bags held out have weight 0 in the fit, so
//! nothing is copied.

use crate::error::Result;
use crate::parallel::Run;
use crate::params::Checked;
use crate::score::Confusion;
use crate::solve::{KernelMatrix, KernelSvmParams, class_of_scores};
use crate::tune::Folds;

/// How a candidate does on the bags held out of one split.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Verdict {
    /// The share of bags whose class is the one predicted.
    pub(super) accuracy: f64,
    /// The mean of 1/(1 + e^(−2m/s)), where m is a bag's margin, by how much its own class is ahead of the others, and s
    /// the mean of |m|: an accuracy that knows how near the near misses and the lucky hits are. Of few bags it says more
    /// than a count does, and unlike a loss it does not depend on the size of the scores, which C changes.
    pub(super) clearness: f64,
    /// The classes of the bags held out, as predicted.
    pub(super) predicted: Vec<u32>,
}

/// Bags to learn from and bags held out; there may be others, which lend their instances to what needs no labels.
#[derive(Debug, Clone)]
pub(super) struct Split {
    pub(super) learned: Vec<usize>,
    pub(super) held: Vec<usize>,
}

impl Split {
    /// Every fold held out in turn, the folds being those of some bags, whose numbers are `bags`.
    pub(super) fn all(folds: &Folds, bags: &[usize]) -> Vec<Self> {
        let numbers = |places: Vec<usize>| places.into_iter().map(|place| bags[place]).collect();
        let one = |fold| {
            let (learned, held) = folds.split(fold);
            Self { learned: numbers(learned), held: numbers(held) }
        };
        (0..folds.n_folds()).map(one).collect()
    }
}

/// Bags with their classes, and which of them are held out, split by split.
#[derive(Clone, Copy)]
pub(super) struct Labelled<'a> {
    pub(super) labels: &'a [u32],
    pub(super) n_classes: usize,
    pub(super) splits: &'a [Split],
    pub(super) run: Run<'a>,
}

impl Labelled<'_> {
    /// How well scores of bags held out, bag by bag, fit their classes.
    fn judge(&self, held: &[usize], scores: &[Vec<f64>]) -> Verdict {
        let truth: Vec<u32> = held.iter().map(|&bag| self.labels[bag]).collect();
        let predicted: Vec<u32> = scores.iter().map(|scores| class_of_scores(scores)).collect();
        let accuracy = Confusion::of(self.n_classes, &truth, &predicted).accuracy();
        let clearness = clearness(scores.iter().zip(truth).map(|(scores, class)| margin(scores, class)));
        Verdict { accuracy, clearness, predicted }
    }

    /// One verdict per split. `scores` gets a weight for every bag, 1 for those to learn from and 0 for all others, and
    /// gives the scores of the bags held out.
    pub(super) fn each_split(
        &self,
        mut scores: impl FnMut(&[f64], &[usize]) -> Result<Vec<Vec<f64>>>,
    ) -> Result<Vec<Verdict>> {
        let one = |(at, split): (usize, &Split)| {
            self.run.tick("splits", at, self.splits.len())?;
            let mut weights = vec![0.0; self.labels.len()];
            split.learned.iter().for_each(|&bag| weights[bag] = 1.0);
            Ok(self.judge(&split.held, &scores(&weights, &split.held)?))
        };
        self.splits.iter().enumerate().map(one).collect()
    }

    /// Kernel SVMs on the matrix of all bags, one list of verdicts each.
    pub(super) fn kernel<M: KernelMatrix>(
        &self,
        matrix: &M,
        svms: &[Checked<KernelSvmParams>],
    ) -> Result<Vec<Vec<Verdict>>> {
        let one = |svm: &Checked<KernelSvmParams>| {
            self.each_split(|weights, held| {
                let model = svm.fit(matrix, self.labels, self.n_classes, Some(weights), self.run)?.model;
                let mut row = vec![0.0; model.expansion.rows().len()];
                let scores = |&bag: &usize| {
                    let mut scores = vec![0.0; model.n_scores()];
                    matrix.entries_into(bag, model.expansion.rows(), &mut row);
                    model.scores_into(&row, &mut scores);
                    scores
                };
                Ok(held.iter().map(scores).collect())
            })
        };
        svms.iter().map(one).collect()
    }
}

/// By how much the score of a class is ahead of the best of the others.
fn margin(scores: &[f64], class: u32) -> f64 {
    match scores {
        [] => 0.0,
        &[score] => {
            if class == 1 {
                score
            } else {
                -score
            }
        }
        _ => {
            let others = scores.iter().enumerate().filter(|(other, _)| *other != class as usize);
            scores[class as usize] - others.map(|(_, &score)| score).fold(f64::NEG_INFINITY, f64::max)
        }
    }
}

/// See [`Verdict`]; a half where all margins are 0.
fn clearness(margins: impl Iterator<Item = f64>) -> f64 {
    let margins: Vec<f64> = margins.collect();
    let n = margins.len() as f64;
    let size = margins.iter().map(|margin| margin.abs()).sum::<f64>() / n;
    let size = if size > 0.0 { size } else { 1.0 };
    margins.iter().map(|margin| 1.0 / (1.0 + (-2.0 * margin / size).exp())).sum::<f64>() / n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clearness_counts_near_misses_and_lucky_hits_by_halves_whatever_the_size_of_scores() {
        // Three of four right both times; the one on the left is wrong by a hair, and the others are clear.
        let near = clearness([2.0, 2.0, 2.0, -0.01].into_iter());
        let far = clearness([0.5, 2.0, 2.0, -2.0].into_iter());
        assert!(near > far && near < 1.0 && far > 0.0, "{near} {far}");
        let larger = clearness([200.0, 200.0, 200.0, -1.0].into_iter());
        assert!((near - larger).abs() < 1e-12);
        assert_eq!(clearness([0.0, 0.0].into_iter()), 0.5);
    }

    #[test]
    fn margins_are_signed_for_two_classes_and_ahead_of_the_best_other_for_more() {
        assert_eq!((margin(&[0.3], 1), margin(&[0.3], 0)), (0.3, -0.3));
        assert_eq!((margin(&[1.0, 3.0, 2.0], 1), margin(&[1.0, 3.0, 2.0], 2)), (1.0, -1.0));
    }
}
