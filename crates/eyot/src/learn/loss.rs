//! Losses, and what their gradients ask of a learner: which score to raise, which to lower, and how strongly.
//!
//! Two classes have one score f and the margin m = y·f, y = +1 for class 1 and −1 for class 0. More classes have one
//! score each and m = f_y − f_s with s the best of the others (Crammer and Singer). Regression has one score.
//!
//! | loss | value | −gradient |
//! |---|---|---|
//! | hinge | max(0, 1 − m) | 1 on the margin if m < 1 |
//! | logistic | ln(1 + e^−m) | 1/(1 + e^m) on the margin |
//! | absolute | \|f − y\| | sign(y − f) |
//! | squared | ½(f − y)² | y − f, 0 within ε |
//! | insensitive | max(0, \|f − y\| − ε) | sign(y − f), 0 within ε |

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What is wanted for a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// A class, by number from 0.
    Class(u32),
    /// A number.
    Value(f64),
}

/// What a learner minimises. The first two are for classes, the others for numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnlineLoss {
    /// max(0, 1 − m).
    Hinge,
    /// ln(1 + e^−m).
    Logistic,
    /// |f − y|.
    Absolute,
    /// ½(f − y)².
    Squared,
    /// max(0, |f − y| − ε).
    Insensitive,
}

impl OnlineLoss {
    /// All losses with the names users write.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("hinge", Self::Hinge),
        ("logistic", Self::Logistic),
        ("absolute", Self::Absolute),
        ("squared", Self::Squared),
        ("insensitive", Self::Insensitive),
    ];

    /// Whether targets are numbers.
    pub const fn is_regression(self) -> bool {
        matches!(self, Self::Absolute | Self::Squared | Self::Insensitive)
    }

    /// The name users write.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, loss)| *loss == self).map_or("", |(name, _)| name)
    }
}

/// How scores should move: `up` by amount·rate, `down` by −amount·rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The score to raise.
    pub up: usize,
    /// The score to lower, with more than two classes.
    pub down: Option<usize>,
    /// How strongly; negative for the lower class of two and for predictions that are too high.
    pub amount: f64,
}

impl Step {
    /// Adds rate·amount to the coefficients, one per score.
    pub fn add_to(self, coefficients: &mut [f64], rate: f64) {
        coefficients[self.up] += rate * self.amount;
        if let Some(down) = self.down {
            coefficients[down] -= rate * self.amount;
        }
    }

    /// The change of the coefficients' squared norm from zero, per squared rate: 1 for one score, 2 for a pair.
    pub(crate) fn width(self) -> f64 {
        if self.down.is_some() { 2.0 } else { 1.0 }
    }
}

/// The task of a learner as far as scores and targets go: its loss, its classes, the points it has learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// What is minimised.
    pub loss: OnlineLoss,
    /// ε: errors within it count as none (squared and insensitive loss, mistakes in regression).
    pub epsilon: f64,
    /// Classes known so far; 0 in regression.
    pub classes: usize,
    /// Columns of a dense row.
    pub columns: usize,
    /// Points learned so far.
    pub steps: u64,
    /// Numbers are learned as (y − centre)/unit, so that rates and ε suit targets of any size.
    #[serde(default)]
    pub centre: f64,
    /// What one is worth in the numbers outside.
    #[serde(default = "one")]
    pub unit: f64,
}

/// The unit of numbers that are learned as they are.
const fn one() -> f64 {
    1.0
}

impl Head {
    /// A task that has seen nothing yet.
    pub const fn new(loss: OnlineLoss, epsilon: f64, columns: usize) -> Self {
        Self { loss, epsilon, classes: 0, columns, steps: 0, centre: 0.0, unit: one() }
    }

    /// Number of scores: one in regression and for up to two classes, else one per class.
    pub const fn n_scores(&self) -> usize {
        if self.classes > 2 { self.classes } else { 1 }
    }

    /// Numbers will be learned in units of their standard deviation, from their mean on; numbers that are all the same, or
    /// too large for that, as they are.
    pub(crate) fn measure(&mut self, values: &[f64]) {
        let (mean, deviation) = super::mean_and_deviation(values);
        if mean.is_finite() && deviation.is_finite() {
            self.centre = mean;
            self.unit = if deviation > 0.0 { deviation } else { 1.0 };
        }
    }

    /// A target as it is learned.
    pub(crate) fn inward(&self, target: Target) -> Target {
        match target {
            Target::Value(y) => Target::Value((y - self.centre) / self.unit),
            class @ Target::Class(_) => class,
        }
    }

    /// A learned number as it is outside.
    pub(crate) fn outward(&self, score: f64) -> f64 {
        self.centre + self.unit * score
    }

    /// What the scores say. Ties go to class 1 of two (sign 0 is +), else to the lowest class.
    pub fn predict(&self, scores: &[f64]) -> Target {
        if self.loss.is_regression() {
            return Target::Value(self.outward(scores[0]));
        }
        Target::Class(match self.classes {
            0 | 1 => 0,
            2 => u32::from(scores[0] >= 0.0),
            _ => best_of(scores, None) as u32,
        })
    }

    /// What the scores say of every class so far, as shares that sum to 1: the logistic function of one score, the
    /// softmax of several. Probabilities where the loss is logistic; else only in the order of the scores.
    pub fn shares(&self, scores: &[f64]) -> Vec<f64> {
        match self.classes {
            0 => vec![],
            1 => vec![1.0],
            2 => {
                let second = 1.0 / (1.0 + (-scores[0]).exp());
                vec![1.0 - second, second]
            }
            _ => {
                let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let powers: Vec<f64> = scores.iter().map(|score| (score - highest).exp()).collect();
                let sum: f64 = powers.iter().sum();
                powers.iter().map(|power| power / sum).collect()
            }
        }
    }

    /// The margin m of a class, and the runner-up if there are more than two classes.
    pub fn margin(&self, scores: &[f64], class: u32) -> (f64, Option<usize>) {
        if self.n_scores() == 1 {
            return (sign_of(class) * scores[0], None);
        }
        let rival = best_of(scores, Some(class as usize));
        (scores[class as usize] - scores[rival], Some(rival))
    }

    /// The loss of these scores.
    pub fn loss(&self, scores: &[f64], target: Target) -> f64 {
        match target {
            Target::Class(class) => {
                let (m, _) = self.margin(scores, class);
                match self.loss {
                    // ln(1 + e^−m) without overflow.
                    OnlineLoss::Logistic => (-m.abs()).exp().ln_1p() + (-m).max(0.0),
                    _ => (1.0 - m).max(0.0),
                }
            }
            Target::Value(y) => {
                let error = (scores[0] - y).abs();
                match self.loss {
                    OnlineLoss::Squared => 0.5 * error * error,
                    OnlineLoss::Insensitive => (error - self.epsilon).max(0.0),
                    _ => error,
                }
            }
        }
    }

    /// The step against the gradient, `None` where it is 0. At m = 1 exactly the hinge asks for nothing.
    pub fn step(&self, scores: &[f64], target: Target) -> Option<Step> {
        match target {
            Target::Class(class) => {
                let (m, down) = self.margin(scores, class);
                let push = match self.loss {
                    OnlineLoss::Logistic if m > 0.0 => (-m).exp() / (1.0 + (-m).exp()),
                    OnlineLoss::Logistic => 1.0 / (1.0 + m.exp()),
                    _ => f64::from(m < 1.0),
                };
                (push != 0.0).then(|| self.push(class, down, push))
            }
            Target::Value(y) => {
                let error = y - scores[0];
                let amount = match self.loss {
                    OnlineLoss::Squared if error.abs() > self.epsilon => error,
                    OnlineLoss::Absolute if error != 0.0 => error.signum(),
                    OnlineLoss::Insensitive if error.abs() > self.epsilon => error.signum(),
                    _ => 0.0,
                };
                (amount != 0.0).then_some(Step { up: 0, down: None, amount })
            }
        }
    }

    /// The unit step of perceptron-like learners: on a mistake (m ≤ 0) or an error beyond ε.
    pub fn mistake(&self, scores: &[f64], target: Target) -> Option<Step> {
        match target {
            Target::Class(class) => {
                let (m, down) = self.margin(scores, class);
                (m <= 0.0).then(|| self.push(class, down, 1.0))
            }
            Target::Value(y) => {
                let error = y - scores[0];
                (error.abs() > self.epsilon).then(|| Step { up: 0, down: None, amount: error.signum() })
            }
        }
    }

    /// A step of that strength towards a class.
    pub(crate) fn push(&self, class: u32, down: Option<usize>, strength: f64) -> Step {
        if self.n_scores() == 1 {
            Step { up: 0, down: None, amount: sign_of(class) * strength }
        } else {
            Step { up: class as usize, down, amount: strength }
        }
    }

    /// Refuses a target of the other task, or one that is not finite.
    pub(crate) fn check_target(&self, target: Target) -> Result<()> {
        match target {
            Target::Value(y) if !y.is_finite() => {
                Err(Error::Data(format!("point {}: the target {y} is not a finite number", self.steps + 1)))
            }
            Target::Value(_) if !self.loss.is_regression() => {
                Err(Error::Data(format!("the loss `{}` needs classes, but the target is a number", self.loss.name())))
            }
            Target::Class(_) if self.loss.is_regression() => {
                Err(Error::Data(format!("the loss `{}` needs numbers, but the target is a class", self.loss.name())))
            }
            _ => Ok(()),
        }
    }
}

/// +1 for class 1, −1 for class 0.
pub(crate) fn sign_of(class: u32) -> f64 {
    if class == 1 { 1.0 } else { -1.0 }
}

/// The position of the largest score, `except` left out; the lowest on ties.
fn best_of(scores: &[f64], except: Option<usize>) -> usize {
    let mut best = usize::from(except == Some(0));
    for (k, &score) in scores.iter().enumerate() {
        if Some(k) != except && score > scores[best] {
            best = k;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(loss: OnlineLoss, classes: usize) -> Head {
        Head { classes, ..Head::new(loss, 0.1, 2) }
    }

    #[test]
    fn steps_are_minus_the_gradient_of_the_loss() {
        let cases = [
            (OnlineLoss::Hinge, 2, Target::Class(0), vec![0.3]),
            (OnlineLoss::Logistic, 2, Target::Class(1), vec![0.3]),
            (OnlineLoss::Logistic, 2, Target::Class(0), vec![-3.0]),
            (OnlineLoss::Hinge, 3, Target::Class(0), vec![0.3, 0.2, -0.4]),
            (OnlineLoss::Logistic, 3, Target::Class(1), vec![0.3, 0.2, -0.4]),
            (OnlineLoss::Absolute, 0, Target::Value(1.0), vec![0.3]),
            (OnlineLoss::Squared, 0, Target::Value(1.0), vec![0.3]),
            (OnlineLoss::Insensitive, 0, Target::Value(-1.0), vec![0.3]),
        ];
        for (loss, classes, target, scores) in cases {
            let head = head(loss, classes);
            let mut against = vec![0.0; scores.len()];
            if let Some(step) = head.step(&scores, target) {
                step.add_to(&mut against, 1.0);
            }
            for k in 0..scores.len() {
                let at = |h: f64| {
                    let mut moved = scores.clone();
                    moved[k] += h;
                    head.loss(&moved, target)
                };
                let gradient = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((against[k] + gradient).abs() < 1e-8, "{loss:?} {k}: {against:?} {gradient}");
            }
        }
    }

    #[test]
    fn nothing_moves_at_the_edges() {
        assert_eq!(head(OnlineLoss::Hinge, 2).step(&[1.0], Target::Class(1)), None);
        assert_eq!(head(OnlineLoss::Absolute, 0).step(&[1.0], Target::Value(1.0)), None);
        assert_eq!(head(OnlineLoss::Insensitive, 0).step(&[1.0], Target::Value(1.09)), None);
        assert_eq!(head(OnlineLoss::Squared, 0).step(&[1.0], Target::Value(1.05)), None);
        assert!(head(OnlineLoss::Hinge, 2).mistake(&[0.0], Target::Class(1)).is_some());
    }

    #[test]
    fn logistic_loss_neither_overflows_nor_vanishes() {
        let head = head(OnlineLoss::Logistic, 2);
        for f in [-800.0, 800.0] {
            let (loss, step) = (head.loss(&[f], Target::Class(1)), head.step(&[f], Target::Class(1)));
            assert!(loss.is_finite() && step.is_none_or(|step| step.amount.is_finite()));
        }
        assert_eq!(head.loss(&[-800.0], Target::Class(1)), 800.0);
    }

    #[test]
    fn ties_go_to_plus_one_and_to_the_lowest_class() {
        assert_eq!(head(OnlineLoss::Hinge, 2).predict(&[0.0]), Target::Class(1));
        assert_eq!(head(OnlineLoss::Hinge, 4).predict(&[0.0, 2.0, 2.0, 1.0]), Target::Class(1));
        assert_eq!(head(OnlineLoss::Hinge, 3).margin(&[1.0, 1.0, 1.0], 0), (0.0, Some(1)));
        assert_eq!(head(OnlineLoss::Hinge, 1).predict(&[0.0]), Target::Class(0));
    }
}
