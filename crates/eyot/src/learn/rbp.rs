//! Randomised budget perceptron: a perceptron that, when full, forgets a random kept point before it keeps a new one.
//! Constant memory and time per point; on hard streams it forgets as fast as it learns.
//!
//! As [`super::Perceptron`], with at most B kept points. Cost O(B·d) per point.
//!
//! # References
//! Reparameterized Random Features, §5, Tables 1 and 2.

use super::perceptron::rate;
use super::{
    Draws, Expansion, Head, Input, MAX_BUDGET, OnlineLearner, OnlineLoss, Scratch, Target, default_kernel, head_access,
    learner_parts,
};
use crate::data::Points;
use crate::error::Result;
use crate::kernel::AnyKernel;
use crate::model::Persist;
use crate::params::{Checked, in_range, not_negative, params, positive};

params! {
    /// Parameters of [`Rbp`].
    pub struct RbpParams {
        /// The kernel.
        kernel: AnyKernel = default_kernel(),
        /// Only whether it is for classes or numbers matters.
        loss: OnlineLoss = OnlineLoss::Hinge,
        /// In regression, errors within it are no mistakes.
        epsilon: f64 = 0.1,
        /// Rate in regression; classification needs none.
        eta: f64 = 0.1,
        /// Most points to keep, B.
        budget: usize = 100,
        /// Seed of the removals.
        seed: u64 = 0,
    }
}

impl RbpParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        self.kernel.check()?;
        not_negative("epsilon", self.epsilon)?;
        positive("eta", self.eta)?;
        in_range("budget", self.budget, 1..=MAX_BUDGET)?;
        Ok(Checked::new(self))
    }
}

/// The learner.
#[derive(Debug, Clone)]
pub struct Rbp {
    params: Checked<RbpParams>,
    head: Head,
    expansion: Expansion,
    draws: Draws,
}

impl Checked<RbpParams> {
    /// A learner for points like these.
    pub fn start(self, like: Points<'_>) -> Rbp {
        Rbp {
            head: Head::new(self.loss, self.epsilon, like.n_columns()),
            expansion: Expansion::new(self.kernel, like.n_columns(), like.is_sparse()),
            draws: Draws::removals(self.seed),
            params: self,
        }
    }
}

impl OnlineLearner for Rbp {
    head_access!();

    fn widen(&mut self) {
        self.expansion.widen(self.head.n_scores());
    }

    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        self.expansion.score(x.row, at);
    }

    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        if let Some(step) = self.head.mistake(&at.scores, target) {
            if self.expansion.len() == self.params.budget {
                self.expansion.remove(self.draws.below(self.params.budget));
            }
            self.expansion.add(x.row, step, rate(self.params.loss, self.params.eta));
        }
    }

    fn n_kept(&self) -> Option<usize> {
        Some(self.expansion.len())
    }
}

learner_parts!(Rbp, RbpParams, [expansion, draws], |learner| {
    learner.expansion.fits(learner.head.n_scores(), learner.params.budget)
});
