//! Bounded online gradient descent: gradient descent that, when full, forgets a random kept point and scales up the
//! others so that the sum stays the same on average; coefficients are bounded. Constant memory and time per point, but
//! noisy: each removal loses what the removed point knew.
//!
//! No violation: β ← (1 − ηλ)β. Violation below the budget: the same, then the point is kept with −η·g. At the budget
//! one of B points goes, the others are multiplied by (1 − ηλ)·B/(B − 1), the new one is kept, and all are scaled down
//! so that none exceeds η·clip. Cost O(B·d) per point.
//!
//! # References
//! Reparameterized Random Features, §5, Tables 1 and 2. A published package removes the oldest point and does not
//! scale up: [`Removal::Oldest`].

use serde::{Deserialize, Serialize};

use super::{
    Draws, Expansion, Head, Input, MAX_BUDGET, OnlineLearner, OnlineLoss, Scratch, Target, default_kernel, head_access,
    learner_parts,
};
use crate::data::Points;
use crate::error::Result;
use crate::kernel::AnyKernel;
use crate::model::Persist;
use crate::params::{Checked, in_range, not_negative, params, positive};

/// Whom to forget at the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Removal {
    /// Any point, each with probability 1/B; the others are scaled up.
    Uniform,
    /// The oldest; nothing is scaled up.
    Oldest,
}

params! {
    /// Parameters of [`Bogd`].
    pub struct BogdParams {
        /// The kernel.
        kernel: AnyKernel = default_kernel(),
        /// What is minimised.
        loss: OnlineLoss = OnlineLoss::Hinge,
        /// Errors of numbers within it count as none.
        epsilon: f64 = 0.1,
        /// The rate η.
        eta: f64 = 0.2,
        /// Decay λ of all coefficients.
        lambda: f64 = 0.0,
        /// No coefficient exceeds η times this, once the budget is full.
        clip: f64 = 10.0,
        /// Most points to keep, B.
        budget: usize = 100,
        /// Whom to forget.
        removal: Removal = Removal::Uniform,
        /// Seed of the removals.
        seed: u64 = 0,
    }
}

impl BogdParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        self.kernel.check()?;
        not_negative("epsilon", self.epsilon)?;
        positive("eta", self.eta)?;
        not_negative("lambda", self.lambda)?;
        positive("clip", self.clip)?;
        in_range("budget", self.budget, 1..=MAX_BUDGET)?;
        Ok(Checked::new(self))
    }
}

/// The learner.
#[derive(Debug, Clone)]
pub struct Bogd {
    params: Checked<BogdParams>,
    head: Head,
    expansion: Expansion,
    draws: Draws,
}

impl Checked<BogdParams> {
    /// A learner for points like these.
    pub fn start(self, like: Points<'_>) -> Bogd {
        Bogd {
            head: Head::new(self.loss, self.epsilon, like.n_columns()),
            expansion: Expansion::new(self.kernel, like.n_columns(), like.is_sparse()),
            draws: Draws::removals(self.seed),
            params: self,
        }
    }
}

impl OnlineLearner for Bogd {
    head_access!();

    fn widen(&mut self) {
        self.expansion.widen(self.head.n_scores());
    }

    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        self.expansion.score(x.row, at);
    }

    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        let BogdParams { eta, lambda, clip, budget, removal, .. } = *self.params;
        let decay = 1.0 - eta * lambda;
        let Some(step) = self.head.step(&at.scores, target) else { return self.expansion.shrink(decay) };
        if self.expansion.len() < budget {
            self.expansion.shrink(decay);
            self.expansion.add(x.row, step, eta);
            return;
        }
        match removal {
            Removal::Oldest => {
                self.expansion.remove(0);
                self.expansion.shrink(decay);
            }
            Removal::Uniform => {
                self.expansion.remove(self.draws.below(budget));
                self.expansion.shrink(decay * budget as f64 / (budget - 1).max(1) as f64);
            }
        }
        self.expansion.add(x.row, step, eta);
        let largest = self.expansion.coefficients().iter().fold(0.0f64, |most, beta| most.max(beta.abs()));
        self.expansion.shrink((eta * clip / largest).min(1.0));
    }

    fn n_kept(&self) -> Option<usize> {
        Some(self.expansion.len())
    }
}

learner_parts!(Bogd, BogdParams, [expansion, draws], |learner| {
    learner.expansion.fits(learner.head.n_scores(), learner.params.budget)
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;

    #[test]
    fn no_coefficient_exceeds_its_bound_and_one_point_can_be_enough() {
        let points = PointsBuf::from_rows(&(0..40).map(|i| [f64::from(i) * 5.0]).collect::<Vec<_>>()).unwrap();
        for budget in [1, 3] {
            let params = BogdParams::default().budget(budget).clip(1.5);
            let mut learner = params.check().unwrap().start(points.as_points());
            let mut at = Scratch::default();
            for (i, row) in points.as_points().rows().enumerate() {
                learner.learn(row.into(), Target::Class(i as u32 % 2), &mut at).unwrap();
                assert!(learner.expansion.len() <= budget);
                assert!(learner.expansion.coefficients().iter().all(|beta| beta.abs() <= 0.3 + 1e-12));
            }
        }
    }
}
