//! How good a classifier is: the confusion matrix and what follows from it.

use serde::{Deserialize, Serialize};

/// How often class a was called class b. Rows of a class that the model never saw count as errors of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    n_classes: usize,
    /// Truth by truth, one count per prediction.
    counts: Vec<u64>,
    unseen: u64,
}

/// Precision, recall and their harmonic mean for one class; 0 where nothing was there to divide by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClassScore {
    /// Of the rows called so, the share that were so.
    pub precision: f64,
    /// Of the rows that were so, the share called so.
    pub recall: f64,
    /// 2·precision·recall / (precision + recall).
    pub f1: f64,
    /// Rows that were so.
    pub rows: u64,
}

impl Confusion {
    /// No rows yet.
    pub fn new(n_classes: usize) -> Self {
        Self { n_classes, counts: vec![0; n_classes * n_classes], unseen: 0 }
    }

    /// From true and predicted class numbers; a truth of `n_classes` or more is an unseen class.
    ///
    /// # Panics
    /// If the lengths differ or a prediction is not below `n_classes`.
    pub fn of(n_classes: usize, truth: &[u32], predicted: &[u32]) -> Self {
        assert_eq!(truth.len(), predicted.len(), "one prediction per row");
        let mut confusion = Self::new(n_classes);
        truth.iter().zip(predicted).for_each(|(&truth, &predicted)| confusion.add(truth, predicted));
        confusion
    }

    /// Counts one row.
    ///
    /// # Panics
    /// If the prediction is no class.
    pub fn add(&mut self, truth: u32, predicted: u32) {
        assert!((predicted as usize) < self.n_classes, "class {predicted} of {}", self.n_classes);
        if (truth as usize) < self.n_classes {
            self.counts[truth as usize * self.n_classes + predicted as usize] += 1;
        } else {
            self.unseen += 1;
        }
    }

    /// Adds the counts of another one of the same classes.
    ///
    /// # Panics
    /// If the classes differ in number.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.n_classes, other.n_classes, "the same classes");
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.unseen += other.unseen;
    }

    /// Number of classes.
    pub const fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// How often `truth` was called `predicted`.
    pub fn count(&self, truth: usize, predicted: usize) -> u64 {
        self.counts[truth * self.n_classes + predicted]
    }

    /// The counts, truth by truth.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Rows of classes that the model never saw.
    pub const fn unseen(&self) -> u64 {
        self.unseen
    }

    /// All rows.
    pub fn rows(&self) -> u64 {
        self.counts.iter().sum::<u64>() + self.unseen
    }

    /// The share of rows called rightly; 0 without rows.
    pub fn accuracy(&self) -> f64 {
        let right: u64 = (0..self.n_classes).map(|class| self.count(class, class)).sum();
        share(right, self.rows())
    }

    /// Precision and recall of one class.
    pub fn class(&self, class: usize) -> ClassScore {
        let right = self.count(class, class);
        let called: u64 = (0..self.n_classes).map(|truth| self.count(truth, class)).sum();
        let rows: u64 = (0..self.n_classes).map(|predicted| self.count(class, predicted)).sum();
        let (precision, recall) = (share(right, called), share(right, rows));
        let f1 = if right == 0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) };
        ClassScore { precision, recall, f1, rows }
    }

    /// The mean F1 of the classes that occur, as truth or as prediction; 0 if none does.
    pub fn macro_f1(&self) -> f64 {
        let occurs = |class: &usize| {
            let others = 0..self.n_classes;
            others.into_iter().any(|other| self.count(*class, other) + self.count(other, *class) > 0)
        };
        let classes: Vec<usize> = (0..self.n_classes).filter(occurs).collect();
        let sum: f64 = classes.iter().map(|&class| self.class(class).f1).sum();
        if classes.is_empty() { 0.0 } else { sum / classes.len() as f64 }
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_counted_by_hand() {
        let confusion = Confusion::of(3, &[0, 0, 0, 1, 1, 2], &[0, 0, 1, 1, 0, 1]);
        assert_eq!(confusion.accuracy(), 0.5);
        let zero = confusion.class(0);
        assert_eq!((zero.precision, zero.recall, zero.rows), (2.0 / 3.0, 2.0 / 3.0, 3));
        let one = confusion.class(1);
        assert_eq!((one.precision, one.recall), (1.0 / 3.0, 0.5));
        let two = confusion.class(2);
        assert_eq!((two.precision, two.recall, two.f1), (0.0, 0.0, 0.0));
        assert!((confusion.macro_f1() - (2.0 / 3.0 + 0.4 + 0.0) / 3.0).abs() < 1e-15);
    }

    #[test]
    fn an_unseen_class_is_an_error_and_is_counted() {
        let confusion = Confusion::of(2, &[0, 1, 7, 2], &[0, 1, 0, 1]);
        assert_eq!((confusion.unseen(), confusion.rows(), confusion.accuracy()), (2, 4, 0.5));
    }

    #[test]
    fn a_class_that_never_occurs_does_not_lower_the_mean() {
        let confusion = Confusion::of(3, &[0, 2], &[0, 2]);
        assert_eq!(confusion.macro_f1(), 1.0);
        assert_eq!(Confusion::new(2).accuracy(), 0.0);
    }
}
