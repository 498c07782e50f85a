//! Kernel perceptron: keeps every point it gets wrong. The parent of all perceptrons with a budget; simple and often
//! good, but it grows with its mistakes, in memory and in time per point.
//!
//! f(x) = Σ β_i κ(x_i, x). On a mistake (m ≤ 0) the point is kept with β = y; with more classes +1 on y and −1 on the
//! runner-up; in regression β = η·sign(y − f) when |y − f| > ε. Cost O(kept·d) per point.
//!
//! # References
//! Reparameterized Random Features, §5, Table 1.

use super::{
    Expansion, Head, Input, OnlineLearner, OnlineLoss, Scratch, Target, default_kernel, head_access, learner_parts,
};
use crate::data::Points;
use crate::error::Result;
use crate::kernel::AnyKernel;
use crate::model::Persist;
use crate::params::{Checked, not_negative, params, positive};

params! {
    /// Parameters of [`Perceptron`].
    pub struct PerceptronParams {
        /// The kernel.
        kernel: AnyKernel = default_kernel(),
        /// Only whether it is for classes or numbers matters.
        loss: OnlineLoss = OnlineLoss::Hinge,
        /// In regression, errors within it are no mistakes.
        epsilon: f64 = 0.1,
        /// Rate in regression; classification needs none.
        eta: f64 = 0.1,
    }
}

impl PerceptronParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        self.kernel.check()?;
        not_negative("epsilon", self.epsilon)?;
        positive("eta", self.eta)?;
        Ok(Checked::new(self))
    }
}

/// The rate of perceptron-like learners: 1 for classes, η for numbers.
pub(crate) fn rate(loss: OnlineLoss, eta: f64) -> f64 {
    if loss.is_regression() { eta } else { 1.0 }
}

/// The learner.
#[derive(Debug, Clone)]
pub struct Perceptron {
    params: Checked<PerceptronParams>,
    head: Head,
    expansion: Expansion,
}

impl Checked<PerceptronParams> {
    /// A learner for points like these.
    pub fn start(self, like: Points<'_>) -> Perceptron {
        Perceptron {
            head: Head::new(self.loss, self.epsilon, like.n_columns()),
            expansion: Expansion::new(self.kernel, like.n_columns(), like.is_sparse()),
            params: self,
        }
    }
}

impl OnlineLearner for Perceptron {
    head_access!();

    fn widen(&mut self) {
        self.expansion.widen(self.head.n_scores());
    }

    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        self.expansion.score(x.row, at);
    }

    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        if let Some(step) = self.head.mistake(&at.scores, target) {
            self.expansion.add(x.row, step, rate(self.params.loss, self.params.eta));
        }
    }

    fn n_kept(&self) -> Option<usize> {
        Some(self.expansion.len())
    }
}

learner_parts!(Perceptron, PerceptronParams, [expansion], |learner| {
    learner.expansion.fits(learner.head.n_scores(), usize::MAX)
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{PointsBuf, Row};
    use crate::kernel::{Kernel, Laplacian};

    #[test]
    fn scores_are_the_sum_over_mistakes() {
        let kernel = AnyKernel::Laplacian(Laplacian { lambda: 1.0 });
        let points = PointsBuf::from_rows(&[[0.0], [0.1], [1.0], [0.9]]).unwrap();
        let mut learner = PerceptronParams::default().kernel(kernel).check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        for (row, class) in [0, 0, 1, 1].into_iter().enumerate() {
            learner.learn(points.row(row).into(), Target::Class(class), &mut at).unwrap();
        }
        // Wrong on the first (f = 0) and on the third.
        assert_eq!(learner.n_kept(), Some(2));
        let x = Row::F64(&[0.4]);
        learner.score(x.into(), &mut at);
        assert_eq!(at.scores, [-kernel.value(points.row(0), x) + kernel.value(points.row(2), x)]);
    }
}
