//! Online gradient descent with a kernel, in the dual: keeps every point whose loss has a gradient. The yardstick of
//! accuracy among kernel learners; it grows without bound, in memory and in time per point.
//!
//! f(x) = Σ β_i κ(x_i, x). Where the gradient is not 0 the point is kept with β = −η·g (for the hinge: where m < 1);
//! with λ > 0 all β are multiplied by 1 − ηλ first. Cost O(kept·d) per point.
//!
//! # References
//! Isolation Kernel for online kernel learning, Algorithm 1 (η = 0.5); Reparameterized Random Features, Table 1. The
//! former calls the trigger an incorrect prediction, but its counts of support vectors are those of the margin rule.

use super::{
    Expansion, Head, Input, OnlineLearner, OnlineLoss, Scratch, Target, default_kernel, head_access, learner_parts,
};
use crate::data::Points;
use crate::error::Result;
use crate::kernel::AnyKernel;
use crate::model::Persist;
use crate::params::{Checked, not_negative, params, positive};

params! {
    /// Parameters of [`Ogd`].
    pub struct OgdParams {
        /// The kernel.
        kernel: AnyKernel = default_kernel(),
        /// What is minimised.
        loss: OnlineLoss = OnlineLoss::Hinge,
        /// Errors of numbers within it count as none.
        epsilon: f64 = 0.1,
        /// The rate η.
        eta: f64 = 0.5,
        /// Decay λ of all coefficients.
        lambda: f64 = 0.0,
    }
}

impl OgdParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        self.kernel.check()?;
        not_negative("epsilon", self.epsilon)?;
        positive("eta", self.eta)?;
        not_negative("lambda", self.lambda)?;
        Ok(Checked::new(self))
    }
}

/// The learner.
#[derive(Debug, Clone)]
pub struct Ogd {
    params: Checked<OgdParams>,
    head: Head,
    expansion: Expansion,
}

impl Checked<OgdParams> {
    /// A learner for points like these.
    pub fn start(self, like: Points<'_>) -> Ogd {
        Ogd {
            head: Head::new(self.loss, self.epsilon, like.n_columns()),
            expansion: Expansion::new(self.kernel, like.n_columns(), like.is_sparse()),
            params: self,
        }
    }
}

impl OnlineLearner for Ogd {
    head_access!();

    fn widen(&mut self) {
        self.expansion.widen(self.head.n_scores());
    }

    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        self.expansion.score(x.row, at);
    }

    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        self.expansion.shrink(1.0 - self.params.eta * self.params.lambda);
        if let Some(step) = self.head.step(&at.scores, target) {
            self.expansion.add(x.row, step, self.params.eta);
        }
    }

    fn n_kept(&self) -> Option<usize> {
        Some(self.expansion.len())
    }
}

learner_parts!(Ogd, OgdParams, [expansion], |learner| learner.expansion.fits(learner.head.n_scores(), usize::MAX));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;

    #[test]
    fn points_inside_the_margin_are_kept_and_others_not() {
        let points = PointsBuf::from_rows(&[[0.0]; 5]).unwrap();
        let mut learner = OgdParams::default().check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        // f(0) is 0, 0.5, 1, 1, …: at margin 1 exactly nothing more is kept.
        for row in 0..5 {
            learner.learn(points.row(row).into(), Target::Class(1), &mut at).unwrap();
        }
        assert_eq!((learner.n_kept(), &at.scores[..]), (Some(2), &[1.0][..]));
    }

    #[test]
    fn decay_shrinks_what_was_kept() {
        let points = PointsBuf::from_rows(&[[0.0], [9.0]]).unwrap();
        let params = OgdParams::default().lambda(0.1);
        let mut learner = params.check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        for row in 0..2 {
            learner.learn(points.row(row).into(), Target::Class(1), &mut at).unwrap();
        }
        assert_eq!(learner.expansion.coefficients(), [0.5 * 0.95, 0.5]);
    }
}
