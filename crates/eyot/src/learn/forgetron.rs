//! Forgetron (self-tuned): a perceptron with a budget that shrinks all coefficients before it drops the oldest point,
//! just so much that the mistake bound holds. Constant memory and time per point; forgets old knowledge by design.
//!
//! On a mistake M += 1 and the point is kept with β = y. With B + 1 kept, let (x₁, β₁) be the oldest, δ = |β₁|,
//! μ = y₁·f'(x₁) (f' with the new point), a = δ² − 2δμ, b = 2δ, c = Q − (15/32)·M. φ is the largest value in (0, 1] with
//! aφ² + bφ + c ≤ 0 reached from 0; all β ← φβ, Q += (δφ)² + 2δφ(1 − φμ), and the oldest goes. Cost O(B·d) per point.
//!
//! # References
//! Reparameterized Random Features, §5, Tables 1 and 2. A published package takes the other root where a < 0, which
//! exceeds 1 and inflates the coefficients; ours is the original algorithm's.

use serde::{Deserialize, Serialize};

use super::perceptron::rate;
use super::{
    Expansion, Head, Input, MAX_BUDGET, OnlineLearner, OnlineLoss, Scratch, Stored, Target, default_kernel,
    head_access, learner_parts,
};
use crate::data::Points;
use crate::error::Result;
use crate::kernel::{AnyKernel, Kernel};
use crate::model::Persist;
use crate::params::{Checked, in_range, not_negative, params, positive};

/// The share of the mistakes that forgetting may cost.
const SHARE: f64 = 15.0 / 32.0;

params! {
    /// Parameters of [`Forgetron`].
    pub struct ForgetronParams {
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
        /// Takes the other root where a < 0, as a published package does.
        compat: bool = false,
    }
}

impl ForgetronParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        self.kernel.check()?;
        not_negative("epsilon", self.epsilon)?;
        positive("eta", self.eta)?;
        in_range("budget", self.budget, 1..=MAX_BUDGET)?;
        Ok(Checked::new(self))
    }
}

/// What forgetting has cost so far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Account {
    q: f64,
    mistakes: u64,
}

/// The learner.
#[derive(Debug, Clone)]
pub struct Forgetron {
    params: Checked<ForgetronParams>,
    head: Head,
    expansion: Expansion,
    account: Stored<Account>,
}

impl Checked<ForgetronParams> {
    /// A learner for points like these.
    pub fn start(self, like: Points<'_>) -> Forgetron {
        Forgetron {
            head: Head::new(self.loss, self.epsilon, like.n_columns()),
            expansion: Expansion::new(self.kernel, like.n_columns(), like.is_sparse()),
            account: Stored(Account { q: 0.0, mistakes: 0 }),
            params: self,
        }
    }
}

impl Forgetron {
    /// δ = |β₁| and μ = y₁·f(x₁) of the oldest point.
    fn oldest(&self, kernel: &mut Vec<f64>) -> (f64, f64) {
        let points = self.expansion.points();
        kernel.resize(points.n_rows(), 0.0);
        self.expansion.kernel().row_into(points.row(0), points.as_points(), kernel);
        let beta = self.expansion.beta(0);
        // The class of the point is where its coefficient is largest; the lone score of two classes has a sign.
        let class = (0..beta.len()).fold(0, |best, k| if beta[k] > beta[best] { k } else { best });
        let f: f64 = kernel.iter().enumerate().map(|(i, k)| self.expansion.beta(i)[class] * k).sum();
        let mu = if self.params.loss.is_regression() {
            f.abs()
        } else if beta.len() == 1 {
            beta[0].signum() * f
        } else {
            f
        };
        (beta[class].abs(), mu)
    }
}

/// The largest φ in (0, 1] with aφ² + bφ + c ≤ 0 that is reached from 0, where c < 0 < b.
fn shrink_factor(a: f64, b: f64, c: f64) -> f64 {
    if a + b + c <= 0.0 { 1.0 } else { -2.0 * c / (b + (b * b - 4.0 * a * c).max(0.0).sqrt()) }
}

/// The φ of a published package: where a < 0 the larger root, which exceeds 1.
fn package_factor(a: f64, b: f64, c: f64) -> f64 {
    let discriminant = b * b - 4.0 * a * c;
    if a < 0.0 && discriminant >= 0.0 { (-b - discriminant.sqrt()) / (2.0 * a) } else { shrink_factor(a, b, c) }
}

impl OnlineLearner for Forgetron {
    head_access!();

    fn widen(&mut self) {
        self.expansion.widen(self.head.n_scores());
    }

    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        self.expansion.score(x.row, at);
    }

    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        let Some(step) = self.head.mistake(&at.scores, target) else { return };
        self.expansion.add(x.row, step, rate(self.params.loss, self.params.eta));
        self.account.0.mistakes += 1;
        if self.expansion.len() <= self.params.budget {
            return;
        }
        let (delta, mu) = self.oldest(&mut at.kernel);
        let Account { q, mistakes } = self.account.0;
        let factor = if self.params.compat { package_factor } else { shrink_factor };
        let phi = factor(delta * delta - 2.0 * delta * mu, 2.0 * delta, q - SHARE * mistakes as f64);
        self.expansion.shrink(phi);
        self.account.0.q += (delta * phi).powi(2) + 2.0 * delta * phi * (1.0 - phi * mu);
        self.expansion.remove(0);
    }

    fn n_kept(&self) -> Option<usize> {
        Some(self.expansion.len())
    }
}

learner_parts!(Forgetron, ForgetronParams, [expansion, account], |learner| {
    learner.expansion.fits(learner.head.n_scores(), learner.params.budget) && learner.account.0.q.is_finite()
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;
    use crate::rng::{Component, rng_of};

    #[test]
    fn the_factor_is_the_smallest_positive_root() {
        assert!((shrink_factor(-1.0, 2.0, -0.5) - 0.292_893_218_813_452_4).abs() < 1e-12);
        assert_eq!(shrink_factor(-1.0, 0.5, -0.5), 1.0);
        assert_eq!(shrink_factor(0.0, 2.0, -0.5), 0.25);
        assert!((package_factor(-1.0, 2.0, -0.5) - 1.707_106_781_186_547_5).abs() < 1e-12);
        assert_eq!(package_factor(1.0, 2.0, -0.5), shrink_factor(1.0, 2.0, -0.5));
    }

    #[test]
    fn the_cost_of_forgetting_stays_within_its_share() {
        let mut rng = rng_of(2, Component::Synthetic, 0);
        let points = PointsBuf::from_dense((0..600).map(|_| rng.open01()).collect(), 2).unwrap();
        let mut learner = ForgetronParams::default().budget(7).check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        for row in points.as_points().rows() {
            let before: f64 = learner.expansion.coefficients().iter().map(|beta| beta.abs()).sum();
            learner.learn(row.into(), Target::Class(rng.below(2) as u32), &mut at).unwrap();
            let after: f64 = learner.expansion.coefficients().iter().map(|beta| beta.abs()).sum();
            let Account { q, mistakes } = learner.account.0;
            assert!(q <= SHARE * mistakes as f64 + 1e-9 && learner.expansion.len() <= 7);
            assert!(after <= before + 1.0, "φ never exceeds 1");
        }
    }
}
