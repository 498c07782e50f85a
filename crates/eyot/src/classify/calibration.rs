//! Probabilities from scores: a sigmoid per score, fitted on rows that were held out (Platt scaling).
//!
//! P(class | f) = 1/(1 + exp(A·f + B)). A and B minimise the log loss over held-out scores, with targets
//! (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) instead of 1 and 0, so that separable scores do not end in certainty. With more than
//! two classes each has its sigmoid, and the results are divided by their sum.
//! Good when scores order rows rightly; it cannot mend an order. Scores of the rows a classifier learned from would
//! make it too sure, hence the folds.
//!
//! Newton's method with backtracking, O(n) per step and few steps.
//!
//! # References
//! Platt, "Probabilistic outputs for support vector machines", 1999; Lin, Lin, Weng, "A note on Platt's probabilistic
//! outputs for support vector machines", 2007.

use serde::{Deserialize, Serialize};

use super::{Classifier, ClassifierParams};
use crate::data::PointsBuf;
use crate::error::{Error, Result};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::Checked;
use crate::solve::n_scores;
use crate::tune::Folds;

/// One sigmoid per score.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    n_classes: usize,
    sigmoids: Vec<Sigmoid>,
}

/// P(f) = 1/(1 + exp(A·f + B)).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sigmoid {
    slope: f64,
    offset: f64,
}

impl Calibration {
    /// Fits the sigmoids on scores of rows that the classifier did not learn from, row by row, and their classes.
    pub fn fit(scores: &[f64], labels: &[u32], n_classes: usize) -> Result<Self> {
        let width = n_scores(n_classes);
        if scores.len() != labels.len() * width {
            return Err(Error::Shape { what: "scores", expected: labels.len() * width, got: scores.len() });
        }
        let sigmoid = |score: usize| {
            let positive = if width == 1 { 1 } else { score as u32 };
            let of_score: Vec<(f64, bool)> = (scores.iter().skip(score).step_by(width).zip(labels))
                .map(|(&value, &label)| (value, label == positive))
                .collect();
            Sigmoid::fit(&of_score)
        };
        Ok(Self { n_classes, sigmoids: (0..width).map(sigmoid).collect() })
    }

    /// Number of classes.
    pub const fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// The probability of each class from the scores of one row; they sum to 1.
    ///
    /// # Panics
    /// If the lengths are not those of the classifier.
    pub fn probabilities_into(&self, scores: &[f64], out: &mut [f64]) {
        assert_eq!((scores.len(), out.len()), (self.sigmoids.len(), self.n_classes), "one place per class");
        match out {
            [] => (),
            [only] => *only = 1.0,
            [first, second] => {
                *second = self.sigmoids[0].at(scores[0]);
                *first = 1.0 - *second;
            }
            several => {
                for ((out, sigmoid), &score) in several.iter_mut().zip(&self.sigmoids).zip(scores) {
                    *out = sigmoid.at(score);
                }
                let (sum, n) = (several.iter().sum::<f64>(), several.len() as f64);
                for p in several {
                    *p = if sum > 0.0 { *p / sum } else { 1.0 / n };
                }
            }
        }
    }
}

impl Sigmoid {
    fn at(self, score: f64) -> f64 {
        logistic(self.slope * score + self.offset)
    }

    /// Fits on scores and whether each is of the class.
    fn fit(scores: &[(f64, bool)]) -> Self {
        const STEPS: usize = 100;
        // Keeps the Hessian invertible where all scores are equal.
        const RIDGE: f64 = 1e-12;
        let positives = scores.iter().filter(|(_, positive)| *positive).count() as f64;
        let negatives = scores.len() as f64 - positives;
        let (high, low) = ((positives + 1.0) / (positives + 2.0), 1.0 / (negatives + 2.0));
        let target = |positive: bool| if positive { high } else { low };
        let loss = |fit: Sigmoid| {
            let term = |&(score, positive): &(f64, bool)| {
                // −t·ln P − (1 − t)·ln(1 − P) without overflow.
                let z = fit.slope * score + fit.offset;
                z * (target(positive) - f64::from(u8::from(z >= 0.0))) + z.max(0.0) + (-z.abs()).exp().ln_1p()
            };
            scores.iter().map(term).sum::<f64>()
        };
        let mut fit = Self { slope: 0.0, offset: ((negatives + 1.0) / (positives + 1.0)).ln() };
        let mut value = loss(fit);
        for _ in 0..STEPS {
            let (mut aa, mut bb, mut ab, mut a, mut b) = (RIDGE, RIDGE, 0.0, 0.0, 0.0);
            for &(score, positive) in scores {
                let p = fit.at(score);
                let (weight, error) = (p * (1.0 - p), target(positive) - p);
                aa += score * score * weight;
                ab += score * weight;
                bb += weight;
                a += score * error;
                b += error;
            }
            if a.abs().max(b.abs()) < 1e-5 {
                break;
            }
            let determinant = aa * bb - ab * ab;
            let step = Sigmoid { slope: -(bb * a - ab * b) / determinant, offset: -(aa * b - ab * a) / determinant };
            let descent = a * step.slope + b * step.offset;
            let moved = |share: f64| Sigmoid {
                slope: fit.slope + share * step.slope,
                offset: fit.offset + share * step.offset,
            };
            let shares = (0..34).map(|halvings| 0.5f64.powi(halvings));
            let Some(share) = shares.into_iter().find(|&share| loss(moved(share)) < value + 1e-4 * share * descent)
            else {
                break;
            };
            fit = moved(share);
            value = loss(fit);
        }
        fit
    }
}

/// 1/(1 + exp(z)) without overflow.
fn logistic(z: f64) -> f64 {
    if z >= 0.0 { (-z).exp() / (1.0 + (-z).exp()) } else { 1.0 / (1.0 + z.exp()) }
}

impl Checked<ClassifierParams> {
    /// Fits the sigmoids of a classifier with these parameters: each fold is scored by map and head fitted on the
    /// others. Costs as much as that many fits.
    pub fn calibrate(
        &self,
        points: &PointsBuf,
        labels: &[u32],
        n_classes: usize,
        folds: &Folds,
        run: Run<'_>,
    ) -> Result<Calibration> {
        let width = n_scores(n_classes);
        let mut scores = vec![0.0; labels.len() * width];
        for fold in 0..folds.n_folds() {
            let (train, test) = folds.split(fold);
            let train_labels: Vec<u32> = train.iter().map(|&row| labels[row]).collect();
            let classifier: Classifier = self.fit(points.select(&train).as_points(), &train_labels, n_classes, run)?;
            let held_out = classifier.scores(points.select(&test).as_points(), run)?;
            for (&row, own) in test.iter().zip(held_out.chunks(width.max(1))) {
                scores[row * width..(row + 1) * width].copy_from_slice(own);
            }
        }
        Calibration::fit(&scores, labels, n_classes)
    }
}

/// What a model file says of a calibration besides its tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    classes: usize,
}

impl Persist for Calibration {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(prefix, &Shape { classes: self.n_classes });
        let all = |part: fn(&Sigmoid) -> f64| self.sigmoids.iter().map(part).collect::<Vec<_>>();
        out.put_f64(&format!("{prefix}.slopes"), &all(|sigmoid| sigmoid.slope));
        out.put_f64(&format!("{prefix}.offsets"), &all(|sigmoid| sigmoid.offset));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let Shape { classes } = from.json(prefix)?;
        let width = n_scores(classes);
        if width > crate::data::Classes::MAX {
            return Err(bad_part(prefix, "has too many classes"));
        }
        let slopes = from.finite_f64s(&format!("{prefix}.slopes"), width)?;
        let offsets = from.finite_f64s(&format!("{prefix}.offsets"), width)?;
        let sigmoids = slopes.into_iter().zip(offsets).map(|(slope, offset)| Sigmoid { slope, offset }).collect();
        Ok(Self { n_classes: classes, sigmoids })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::IsolationMapParams;
    use crate::rng::{Component, rng_of};
    use crate::solve::LinearSvmParams;
    use crate::tune::stratified_folds;

    /// Scores whose classes are drawn from a known sigmoid.
    fn drawn(n: usize, slope: f64, offset: f64) -> (Vec<f64>, Vec<u32>) {
        let mut rng = rng_of(1, Component::Synthetic, 0);
        let scores: Vec<f64> = (0..n).map(|_| 2.0 * rng.normal()).collect();
        let labels = scores.iter().map(|score| u32::from(rng.open01() < logistic(slope * score + offset))).collect();
        (scores, labels)
    }

    #[test]
    fn the_sigmoid_that_drew_the_classes_is_found() {
        let (scores, labels) = drawn(20_000, -1.5, 0.4);
        let Sigmoid { slope, offset } = Calibration::fit(&scores, &labels, 2).unwrap().sigmoids[0];
        assert!((slope + 1.5).abs() < 0.1 && (offset - 0.4).abs() < 0.1, "{slope} {offset}");
    }

    #[test]
    fn the_optimum_is_flat() {
        let (scores, labels) = drawn(300, -0.7, -1.0);
        let fit = Calibration::fit(&scores, &labels, 2).unwrap().sigmoids[0];
        let positives = labels.iter().filter(|&&label| label == 1).count() as f64;
        let (high, low) = ((positives + 1.0) / (positives + 2.0), 1.0 / (300.0 - positives + 2.0));
        let errors: Vec<f64> = (scores.iter().zip(&labels))
            .map(|(&score, &label)| if label == 1 { high } else { low } - fit.at(score))
            .collect();
        assert!(errors.iter().sum::<f64>().abs() < 1e-4);
        assert!(errors.iter().zip(&scores).map(|(error, score)| error * score).sum::<f64>().abs() < 1e-4);
    }

    #[test]
    fn separable_equal_and_huge_scores_give_probabilities() {
        for scores in [[-2.0, -1.0, 1.0, 2.0], [1.0; 4], [-1e300, 0.0, 0.0, 1e300]] {
            let fit = Calibration::fit(&scores, &[0, 0, 1, 1], 2).unwrap();
            let mut p = [0.0; 2];
            for score in scores.iter().chain(&[-1e308, 1e308]) {
                fit.probabilities_into(&[*score], &mut p);
                assert!(p.iter().all(|p| (0.0..=1.0).contains(p)) && (p[0] + p[1] - 1.0).abs() < 1e-12, "{p:?}");
            }
        }
        assert!(Calibration::fit(&[1.0], &[0, 1], 2).is_err());
    }

    #[test]
    fn of_rows_that_get_a_probability_that_share_is_of_the_class() {
        // Labels are noisy: near the border a row is of either class.
        let mut rng = rng_of(2, Component::Synthetic, 0);
        let rows: Vec<[f64; 1]> = (0..2000).map(|_| [rng.open01()]).collect();
        let labels: Vec<u32> = rows.iter().map(|x| u32::from(rng.open01() < logistic(8.0 - 16.0 * x[0]))).collect();
        let points = PointsBuf::from_rows(&rows).unwrap();
        let map = IsolationMapParams::default().psi(16).t(50);
        let params = ClassifierParams::IkSvm { map, svm: LinearSvmParams::default() }.check().unwrap();
        let folds = stratified_folds(&labels, 5, 0).unwrap();
        let calibration = params.calibrate(&points, &labels, 2, &folds, Run::single()).unwrap();
        assert_eq!(calibration, params.calibrate(&points, &labels, 2, &folds, Run::threads(2)).unwrap());
        let classifier = params.fit(points.as_points(), &labels, 2, Run::single()).unwrap().calibrated(calibration);
        let new: Vec<[f64; 1]> = (0..200).map(|i| [(f64::from(i) + 0.5) / 200.0]).collect();
        let new = PointsBuf::from_rows(&new).unwrap();
        let probabilities = classifier.probabilities(new.as_points(), Run::single()).unwrap().unwrap();
        let mean_error: f64 = (probabilities.chunks(2).zip(new.as_points().rows()))
            .map(|(p, x)| (p[1] - logistic(8.0 - 16.0 * x.get(0))).abs())
            .sum::<f64>()
            / 200.0;
        assert!(mean_error < 0.05, "{mean_error}");
    }

    #[test]
    fn several_classes_sum_to_one_and_survive_a_file() {
        let scores: Vec<f64> = (0..30).flat_map(|i| (0..3).map(move |k| if i % 3 == k { 1.0 } else { -1.0 })).collect();
        let labels: Vec<u32> = (0..30).map(|i| if i == 7 { 2 } else { i % 3 }).collect();
        let fit = Calibration::fit(&scores, &labels, 3).unwrap();
        let mut p = [0.0; 3];
        fit.probabilities_into(&[1.0, -1.0, -1.0], &mut p);
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12 && p[0] > 0.8, "{p:?}");
        let mut out = ModelWriter::new("test");
        fit.save(&mut out, "c");
        let bytes = out.finish().unwrap();
        assert_eq!(Calibration::load(&ModelReader::parse(&bytes).unwrap(), "c").unwrap(), fit);
    }
}
