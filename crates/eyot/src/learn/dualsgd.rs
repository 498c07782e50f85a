//! Dual-space gradient descent (DualSGD): a small exact expansion plus random features. When the expansion is full, its
//! weakest points move into the feature vector, approximately but not lost. Constant memory and time per point.
//!
//! f(x) = Σ β_i κ(x_i, x) + w̃·z(x), z with 1/√D. Step t: all β and w̃ are multiplied by (t − 1)/t; if the gradient is not
//! 0 and the core is full, its k points of least |β| move, w̃ += β_i z(x_i); then the point is kept with −g/(λt). Cost
//! O(B·d + D·nnz) per point.
//!
//! # References
//! Reparameterized Random Features, §5, Tables 1 and 2. Points without a gradient are not kept (the authors' code
//! keeps them with coefficient 0); frequencies have standard deviation √(2γ) (theirs: 2γ).

use super::{
    Expansion, Head, Input, Linear, MAX_BUDGET, OnlineLearner, OnlineLoss, Scratch, Step, Target, head_access,
    learner_parts,
};
use crate::data::Points;
use crate::error::Result;
use crate::kernel::{AnyKernel, Gaussian};
use crate::map::{FourierMap, MAX_FREQUENCIES};
use crate::model::Persist;
use crate::params::{Checked, in_range, not_negative, params, positive};

params! {
    /// Parameters of [`DualSgd`].
    pub struct DualSgdParams {
        /// γ of the Gaussian kernel.
        gamma: f64 = 1.0,
        /// Number of frequencies D; there are 2D features.
        frequencies: usize = 200,
        /// Most points in the exact part, B.
        budget: usize = 100,
        /// Points that move at once, k.
        moved: usize = 20,
        /// What is minimised.
        loss: OnlineLoss = OnlineLoss::Hinge,
        /// Errors of numbers within it count as none.
        epsilon: f64 = 0.0,
        /// Regularisation λ; rates are 1/(λt).
        lambda: f64 = 1e-4,
        /// As the authors' code: frequencies of standard deviation 2γ, points without a gradient kept with 0.
        compat: bool = false,
        /// Seed of the frequencies.
        seed: u64 = 0,
    }
}

impl DualSgdParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        positive("gamma", self.gamma)?;
        in_range("frequencies", self.frequencies, 1..=MAX_FREQUENCIES)?;
        in_range("budget", self.budget, 1..=MAX_BUDGET)?;
        in_range("moved", self.moved, 1..=MAX_BUDGET)?;
        not_negative("epsilon", self.epsilon)?;
        positive("lambda", self.lambda)?;
        Ok(Checked::new(self))
    }
}

/// The learner.
#[derive(Debug, Clone)]
pub struct DualSgd {
    params: Checked<DualSgdParams>,
    head: Head,
    expansion: Expansion,
    map: FourierMap,
    linear: Linear,
}

impl Checked<DualSgdParams> {
    /// A learner for points like these.
    pub fn start(self, like: Points<'_>) -> DualSgd {
        let kernel = AnyKernel::Gaussian(Gaussian { gamma: self.gamma });
        let gamma = if self.compat { 2.0 * self.gamma * self.gamma } else { self.gamma };
        let map = FourierMap::gaussian(self.seed, gamma, self.frequencies, like.n_columns(), true);
        DualSgd {
            head: Head::new(self.loss, self.epsilon, like.n_columns()),
            expansion: Expansion::new(kernel, like.n_columns(), like.is_sparse()),
            linear: Linear::new(map.n_features(), 1),
            map,
            params: self,
        }
    }
}

impl DualSgd {
    /// Moves the k points of least |β| from the core into the features.
    fn move_weakest(&mut self, at: &mut Scratch) {
        let norm = |i: usize| self.expansion.beta(i).iter().map(|beta| beta * beta).sum::<f64>();
        let mut weakest: Vec<usize> = (0..self.expansion.len()).collect();
        weakest.sort_by(|&a, &b| norm(a).total_cmp(&norm(b)).then(a.cmp(&b)));
        weakest.truncate(self.params.moved);
        weakest.sort_unstable();
        for &i in &weakest {
            self.map.features_into(self.expansion.points().row(i), &mut at.features, &mut at.theta, &mut at.spare);
            for (k, &beta) in self.expansion.beta(i).iter().enumerate() {
                if beta != 0.0 {
                    self.linear.add(&at.features, Step { up: k, down: None, amount: beta }, 1.0);
                }
            }
        }
        weakest.iter().rev().for_each(|&i| self.expansion.remove(i));
    }
}

impl OnlineLearner for DualSgd {
    head_access!();

    fn widen(&mut self) {
        self.expansion.widen(self.head.n_scores());
        self.linear.widen(self.head.n_scores());
    }

    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        self.expansion.score(x.row, at);
        self.map.features_into(x.row, &mut at.features, &mut at.theta, &mut at.spare);
        self.linear.add_scores(&at.features, &mut at.scores);
    }

    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        let t = (self.head.steps + 1) as f64;
        self.expansion.shrink((t - 1.0) / t);
        self.linear.shrink((t - 1.0) / t);
        let nothing = self.params.compat.then_some(Step { up: 0, down: None, amount: 0.0 });
        let Some(step) = self.head.step(&at.scores, target).or(nothing) else { return };
        if self.expansion.len() >= self.params.budget {
            self.move_weakest(at);
        }
        self.expansion.add(x.row, step, 1.0 / (self.params.lambda * t));
    }

    fn n_kept(&self) -> Option<usize> {
        Some(self.expansion.len())
    }
}

learner_parts!(DualSgd, DualSgdParams, [expansion, map, linear], |learner| {
    learner.expansion.fits(learner.head.n_scores(), learner.params.budget)
        && learner.linear.fits(learner.map.n_features(), learner.head.n_scores())
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;
    use crate::kernel::Kernel;
    use crate::rng::{Component, rng_of};

    fn stream() -> (PointsBuf, Vec<u32>) {
        let mut rng = rng_of(5, Component::Synthetic, 0);
        let points = PointsBuf::from_dense((0..400).map(|_| 2.0 * rng.open01()).collect(), 2).unwrap();
        let labels = points.as_points().rows().map(|row| u32::from(row.get(0) > row.get(1))).collect();
        (points, labels)
    }

    #[test]
    fn a_large_budget_makes_it_plain_kernel_descent() {
        let (points, labels) = stream();
        let params = DualSgdParams::default().lambda(0.01).budget(1000);
        let mut learner = params.check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        let mut kept: Vec<(usize, f64)> = Vec::new();
        for (i, x) in points.as_points().rows().enumerate() {
            let (t, y) = (i as f64 + 1.0, f64::from(labels[i]) * 2.0 - 1.0);
            let f: f64 = kept.iter().map(|&(j, beta)| beta * learner.expansion.kernel().value(points.row(j), x)).sum();
            learner.learn(x.into(), Target::Class(labels[i]), &mut at).unwrap();
            assert!((at.scores[0] - f).abs() < 1e-9 * f.abs().max(1.0));
            for (_, beta) in &mut kept {
                *beta *= (t - 1.0) / t;
            }
            if y * f < 1.0 {
                kept.push((i, y / (0.01 * t)));
            }
        }
    }

    #[test]
    fn moving_points_changes_scores_little_and_not_on_average() {
        let (points, labels) = stream();
        let (mut total, mut worst) = (0.0, 0.0f64);
        for seed in 0..40 {
            let params = DualSgdParams::default().lambda(0.01).budget(1000).moved(10).seed(seed).frequencies(100);
            let mut learner = params.check().unwrap().start(points.as_points());
            let mut at = Scratch::default();
            for (x, &label) in points.as_points().rows().zip(&labels) {
                learner.learn(x.into(), Target::Class(label), &mut at).unwrap();
            }
            let x = points.row(7);
            learner.score(x.into(), &mut at);
            let before = at.scores[0];
            let mut sizes: Vec<f64> = learner.expansion.coefficients().iter().map(|beta| beta.abs()).collect();
            sizes.sort_by(f64::total_cmp);
            let moved: f64 = sizes.iter().take(10).sum();
            learner.move_weakest(&mut at);
            learner.score(x.into(), &mut at);
            let change = (at.scores[0] - before) / moved;
            total += change;
            worst = worst.max(change.abs());
        }
        // 4/√D is 0.4; the mean of 40 such changes has a standard error below 0.02.
        assert!(worst < 0.4 && (total / 40.0).abs() < 0.06, "{worst} {}", total / 40.0);
    }
}
