//! RRF learners: gradient descent on random features and, at the same time, on the width of the kernel in every
//! column. Constant memory and time per point; few features do the work of many fixed ones, and columns that do not
//! matter fade out. Inputs should be scaled to about \[−1, 1\].
//!
//! f = w·z(x) with z of [`crate::RrfMap`]. Step: w −= η_w(λw + g·z) and γ_n −= η_γ·g·∂f/∂γ_n, both from the old w. With more
//! classes (Crammer–Singer) rows y and s move, and w_y − w_s stands for w in the gradient of γ. Cost O(nnz·D + C·D).
//!
//! # References
//! Reparameterized Random Features, §3, Algorithm 1, Tables 1 and 2. Algorithm 1 lacks λ (Eq. 8 has it), has one rate
//! (the authors' code has two) and would use the new w in its last line; features carry no 1/√D so that published
//! rates apply.

use super::{Head, Input, Linear, OnlineLearner, OnlineLoss, Scratch, Target, head_access, learner_parts};
use crate::data::Points;
use crate::error::Result;
use crate::map::{MAX_FREQUENCIES, MAX_LOG_WIDTH, RrfMap};
use crate::model::Persist;
use crate::params::{Checked, in_range, not_negative, params, positive};

params! {
    /// Parameters of [`Rrf`].
    pub struct RrfParams {
        /// Number of frequencies D; there are 2D features.
        frequencies: usize = 100,
        /// Whether features have length 1 instead of √D; needs η·D and λ/D for the same steps.
        normalised: bool = false,
        /// What is minimised.
        loss: OnlineLoss = OnlineLoss::Hinge,
        /// ε of the insensitive loss.
        epsilon: f64 = 0.1,
        /// The rate of the weights, η_w.
        eta: f64 = 0.005,
        /// The rate of the log-widths, η_γ.
        eta_width: f64 = 0.005,
        /// Regularisation λ of the weights.
        lambda: f64 = 0.0,
        /// Log-width γ that every column begins with.
        log_width: f64 = 0.0,
        /// Seed of the noise.
        seed: u64 = 0,
    }
}

impl RrfParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        in_range("frequencies", self.frequencies, 1..=MAX_FREQUENCIES)?;
        not_negative("epsilon", self.epsilon)?;
        positive("eta", self.eta)?;
        not_negative("eta_width", self.eta_width)?;
        not_negative("lambda", self.lambda)?;
        in_range("log_width", self.log_width, -MAX_LOG_WIDTH..=MAX_LOG_WIDTH)?;
        Ok(Checked::new(self))
    }
}

/// The learner.
#[derive(Debug, Clone)]
pub struct Rrf {
    params: Checked<RrfParams>,
    head: Head,
    map: RrfMap,
    linear: Linear,
}

impl Checked<RrfParams> {
    /// A learner for points like these.
    pub fn start(self, like: Points<'_>) -> Rrf {
        let map = RrfMap::new(self.seed, self.frequencies, like.n_columns(), self.log_width, self.normalised);
        let epsilon = if self.loss == OnlineLoss::Insensitive { self.epsilon } else { 0.0 };
        Rrf {
            head: Head::new(self.loss, epsilon, like.n_columns()),
            linear: Linear::new(map.n_features(), 1),
            map,
            params: self,
        }
    }
}

impl Rrf {
    /// Log-widths γ_n learned so far; a column that matters has a larger one than a column that does not.
    pub fn log_widths(&self) -> &[f64] {
        self.map.log_widths()
    }
}

impl OnlineLearner for Rrf {
    head_access!();

    fn widen(&mut self) {
        self.linear.widen(self.head.n_scores());
    }

    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        self.map.features_into(x.row, &mut at.features, &mut at.theta, &mut at.spare);
        self.linear.score(None, at);
    }

    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        let step = self.head.step(&at.scores, target);
        if let Some(step) = step
            && self.params.eta_width > 0.0
        {
            // Slopes from the old w: of f, or of f_y − f_s.
            at.kernel.clear();
            at.kernel.extend_from_slice(self.linear.row(step.up));
            if let Some(down) = step.down {
                at.kernel.iter_mut().zip(self.linear.row(down)).for_each(|(up, down)| *up -= down);
            }
            RrfMap::slopes_into(&at.kernel, &at.features, &mut at.theta);
            self.map.descend(x.row, &at.theta, -self.params.eta_width * step.amount, &mut at.spare);
        }
        self.linear.shrink(1.0 - self.params.eta * self.params.lambda);
        if let Some(step) = step {
            self.linear.add(&at.features, step, self.params.eta);
        }
    }
}

learner_parts!(Rrf, RrfParams, [map, linear], |learner| {
    learner.linear.fits(learner.map.n_features(), learner.head.n_scores())
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{PointsBuf, Row};
    use crate::kernel::{AnyKernel, Gaussian};
    use crate::learn::FogdParams;
    use crate::rng::{Component, rng_of};

    fn stream(n: usize, d: usize) -> PointsBuf {
        let mut rng = rng_of(8, Component::Synthetic, 0);
        PointsBuf::from_dense((0..n * d).map(|_| 2.0 * rng.open01() - 1.0).collect(), d).unwrap()
    }

    fn loss_at(learner: &Rrf, x: Row<'_>, target: Target) -> f64 {
        let mut at = Scratch::default();
        learner.score(x.into(), &mut at);
        learner.head.loss(&at.scores, target)
    }

    #[test]
    fn steps_follow_the_gradient_of_every_loss() {
        let points = stream(30, 3);
        let tasks = [
            (OnlineLoss::Hinge, 2),
            (OnlineLoss::Logistic, 2),
            (OnlineLoss::Hinge, 3),
            (OnlineLoss::Logistic, 3),
            (OnlineLoss::Absolute, 0),
            (OnlineLoss::Squared, 0),
            (OnlineLoss::Insensitive, 0),
        ];
        for (loss, classes) in tasks {
            let rate = 1e-7;
            let params = RrfParams::default().loss(loss).frequencies(12).eta(0.05).eta_width(0.05);
            let mut learner = params.check().unwrap().start(points.as_points());
            let mut at = Scratch::default();
            let target = |i: usize| {
                if classes == 0 { Target::Value(2.0 + i as f64) } else { Target::Class((i % classes) as u32) }
            };
            for (i, x) in points.as_points().rows().enumerate().take(29) {
                learner.learn(x.into(), target(i), &mut at).unwrap();
            }
            // One more step at a tiny rate; each of w and γ must have moved by −rate times its own slope of the loss.
            learner.params =
                RrfParams { eta: rate, eta_width: rate, ..learner.params.clone().into_inner() }.check().unwrap();
            let (x, wanted, before) = (points.row(29), target(29), learner.clone());
            learner.learn(x.into(), wanted, &mut at).unwrap();
            if before.head.step(&at.scores, wanted).is_none() {
                continue;
            }
            let h = 1e-6;
            for n in 0..3 {
                let shifted = |by: f64| {
                    let mut other = before.clone();
                    let mut widths = other.map.log_widths().to_vec();
                    widths[n] += by;
                    other.map.set_log_widths(widths);
                    loss_at(&other, x, wanted)
                };
                let slope = (shifted(h) - shifted(-h)) / (2.0 * h);
                let moved = (learner.log_widths()[n] - before.log_widths()[n]) / rate;
                assert!((moved + slope).abs() < 1e-5 * slope.abs().max(1.0), "{loss:?} γ{n}: {moved} {slope}");
            }
            for k in 0..before.head.n_scores() {
                for feature in [0, 5, 17] {
                    let shifted = |by: f64| {
                        let mut other = before.clone();
                        let mut z = vec![0.0; 24];
                        z[feature] = by;
                        other.linear.add(&z, crate::learn::Step { up: k, down: None, amount: 1.0 }, 1.0);
                        loss_at(&other, x, wanted)
                    };
                    let slope = (shifted(h) - shifted(-h)) / (2.0 * h);
                    let moved = (learner.linear.row(k)[feature] - before.linear.row(k)[feature]) / rate;
                    assert!((moved + slope).abs() < 1e-5 * slope.abs().max(1.0), "{loss:?} w{k}: {moved} {slope}");
                }
            }
        }
    }

    #[test]
    fn frozen_widths_give_fogd_on_the_same_noise() {
        let points = stream(300, 4);
        let mut rrf =
            RrfParams::default().eta_width(0.0).frequencies(40).eta(0.02).check().unwrap().start(points.as_points());
        let kernel = AnyKernel::Gaussian(Gaussian { gamma: 0.5 });
        let params = FogdParams::default().kernel(kernel).frequencies(40).eta(0.02);
        let mut fogd = params.check().unwrap().start(points.as_points());
        let (mut a, mut b) = (Scratch::default(), Scratch::default());
        for x in points.as_points().rows() {
            let target = Target::Class(u32::from(x.get(0) * x.get(1) > 0.0));
            rrf.learn(x.into(), target, &mut a).unwrap();
            fogd.learn(x.into(), target, &mut b).unwrap();
            assert_eq!(a.scores, b.scores);
        }
    }

    #[test]
    fn unit_features_need_other_rates_for_the_same_steps() {
        let points = stream(200, 3);
        let d = 30.0;
        let base = RrfParams::default().frequencies(30).eta(0.01).eta_width(0.01).lambda(0.3);
        let mut plain = base.clone().check().unwrap().start(points.as_points());
        let mut unit = base.normalised(true).eta(0.01 * d).lambda(0.3 / d).check().unwrap().start(points.as_points());
        let (mut a, mut b) = (Scratch::default(), Scratch::default());
        for x in points.as_points().rows() {
            let target = Target::Class(u32::from(x.get(0) > x.get(1)));
            plain.learn(x.into(), target, &mut a).unwrap();
            unit.learn(x.into(), target, &mut b).unwrap();
            assert!((a.scores[0] - b.scores[0]).abs() < 1e-9);
        }
    }

    #[test]
    fn few_frequencies_of_learned_widths_beat_more_of_fixed_ones() {
        // The claim of Figure 1: one column of six matters, the others are noise.
        let points = stream(4000, 6);
        let mistakes = |learner: &mut dyn FnMut(Row<'_>, Target) -> Target| {
            let wanted = |x: Row<'_>| Target::Class(u32::from(x.get(0) > 0.0));
            points.as_points().rows().filter(|&x| learner(x, wanted(x)) != wanted(x)).count()
        };
        let mut at = Scratch::default();
        let params = RrfParams::default().frequencies(20).eta(0.01).eta_width(0.01);
        let mut rrf = params.check().unwrap().start(points.as_points());
        let of_rrf = mistakes(&mut |x, target| rrf.predict_then_learn(x.into(), target, &mut at).unwrap());
        let kernel = AnyKernel::Gaussian(Gaussian { gamma: 0.5 });
        let params = FogdParams::default().kernel(kernel).frequencies(100).eta(0.01);
        let mut fogd = params.check().unwrap().start(points.as_points());
        let of_fogd = mistakes(&mut |x, target| fogd.predict_then_learn(x.into(), target, &mut at).unwrap());
        assert!(of_rrf < of_fogd, "{of_rrf} {of_fogd}");
    }

    #[test]
    fn a_column_that_does_not_matter_becomes_narrower_than_one_that_does() {
        let points = stream(6000, 2);
        let params = RrfParams::default().eta(0.005).eta_width(0.01);
        let mut learner = params.check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        for x in points.as_points().rows() {
            learner.learn(x.into(), Target::Class(u32::from(x.get(0) > 0.0)), &mut at).unwrap();
        }
        let widths = learner.log_widths();
        assert!(widths[0] > widths[1] + 0.3, "{widths:?}");
    }
}
