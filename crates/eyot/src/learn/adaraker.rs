//! AdaRaker: an ensemble of kernels learned together, restarted on intervals of all lengths so that it follows change.
//! No kernel width has to be chosen; but every step costs one pass over all kernels and all active intervals.
//!
//! Raker with rate η: P Gaussian kernels, each with orthogonal random features z_p, weights θ_p and a vote u_p.
//! f_p = θ_p·z_p, f = Σ ū_p f_p; θ_p ← (1 − ηλ)θ_p − η·g_p·z_p, u_p ← u_p·exp(−η·ℓ(f_p)). AdaRaker runs one Raker per
//! dyadic interval that contains the present step t (those of length 2^k ≤ t), with η_I = min(½, η₀/√|I|); it starts
//! afresh with its interval, and the votes h_I ← h_I·exp(η_I(ℓ(f) − ℓ(f_I))) mix them. All votes are kept as logarithms.
//! Cost O(P·D·(nnz + log t)) per point.
//!
//! # References
//! A competitor in Isolation Kernel for online kernel learning, §7 (P = 16 widths 2^−10 … 2^5, D = 50). As in the code
//! used there widths multiply the frequencies; unlike it, features have the factor 1/√D and rows their right length.

use super::{Head, Input, OnlineLearner, OnlineLoss, Scratch, Target, head_access, learner_parts};
use crate::data::Points;
use crate::error::Result;
use crate::map::{FourierMap, MAX_FREQUENCIES, RowLength, dot, orthogonal_noise};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::params::{Checked, in_range, not_negative, params, positive};

params! {
    /// Parameters of [`AdaRaker`].
    pub struct AdaRakerParams {
        /// Smallest exponent m of the widths 2^m.
        first_exponent: i32 = -10,
        /// Number of kernels, P.
        kernels: usize = 16,
        /// Frequencies per kernel, D.
        frequencies: usize = 50,
        /// Length of the rows of orthogonal frequencies.
        row_length: RowLength = RowLength::Chi,
        /// What is minimised.
        loss: OnlineLoss = OnlineLoss::Logistic,
        /// Errors of numbers within it count as none.
        epsilon: f64 = 0.0,
        /// η₀; an interval of length L has the rate min(½, η₀/√L). Features have length 1: with η₀ = 1 no interval would
        /// learn anything before it ends, unless it is hundreds of thousands of points long.
        eta: f64 = 16.0,
        /// Decay λ of the weights.
        lambda: f64 = 1e-3,
        /// As the authors' code; see [`AdaRaker`].
        compat: bool = false,
        /// Seed of the frequencies.
        seed: u64 = 0,
    }
}

impl AdaRakerParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        in_range("first_exponent", self.first_exponent, -60..=60)?;
        in_range("kernels", self.kernels, 1..=64)?;
        in_range("frequencies", self.frequencies, 1..=MAX_FREQUENCIES)?;
        not_negative("epsilon", self.epsilon)?;
        positive("eta", self.eta)?;
        not_negative("lambda", self.lambda)?;
        Ok(Checked::new(self))
    }

    fn maps(&self, columns: usize) -> Vec<FourierMap> {
        (0..self.kernels)
            .map(|p| {
                let length = if self.compat { RowLength::AbsNormal } else { self.row_length };
                let noise = orthogonal_noise(self.seed, p as u32, self.frequencies, columns, length);
                FourierMap::new(noise, 2f64.powi(self.first_exponent) * 2f64.powf(p as f64), !self.compat)
            })
            .collect()
    }
}

/// One Raker per length of interval, the shortest first.
#[derive(Debug, Clone, Default, PartialEq)]
struct Instances {
    /// θ: instance, kernel, score, feature.
    theta: Vec<f64>,
    /// ln u: instance, kernel.
    votes: Vec<f64>,
    /// ln h.
    weights: Vec<f64>,
}

/// The maps, made again from the parameters when a model is read.
#[derive(Debug, Clone)]
struct Maps(Vec<FourierMap>);

impl Persist for Maps {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.count"), &self.0.len());
        self.0.iter().enumerate().for_each(|(p, map)| map.save(out, &format!("{prefix}.{p}")));
    }
    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let count: usize = from.json(&format!("{prefix}.count"))?;
        in_range("kernels", count, 1..=64).map_err(|error| bad_part(prefix, &error.to_string()))?;
        (0..count).map(|p| FourierMap::load(from, &format!("{prefix}.{p}"))).collect::<Result<_>>().map(Self)
    }
}

impl Persist for Instances {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_f64(&format!("{prefix}.theta"), &self.theta);
        out.put_f64(&format!("{prefix}.votes"), &self.votes);
        out.put_f64(&format!("{prefix}.weights"), &self.weights);
    }
    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let all = |name: &str| {
            let values = from.f64s(&format!("{prefix}.{name}"))?;
            let finite = values.iter().all(|value| value.is_finite());
            if finite { Ok(values) } else { Err(bad_part(prefix, "has values that are not finite")) }
        };
        Ok(Self { theta: all("theta")?, votes: all("votes")?, weights: all("weights")? })
    }
}

/// The learner.
///
/// With `compat` it does what the authors' code does: η₀ = 1 and features without 1/√D, rows of frequencies as long as one normal
/// draw, votes that follow the count of mistakes (u ← u·½^ℓ + 10⁻⁴; h ← h·½^((ℓ − middle)/half the range) + 10⁻¹⁰), and
/// only the vote of an instance starts afresh with its interval.
#[derive(Debug, Clone)]
pub struct AdaRaker {
    params: Checked<AdaRakerParams>,
    head: Head,
    maps: Maps,
    instances: Instances,
}

impl Checked<AdaRakerParams> {
    /// A learner for points like these.
    pub fn start(self, like: Points<'_>) -> AdaRaker {
        let mut learner = AdaRaker {
            head: Head::new(self.loss, self.epsilon, like.n_columns()),
            maps: Maps(self.maps(like.n_columns())),
            instances: Instances::default(),
            params: self,
        };
        learner.begin_intervals();
        learner
    }
}

impl AdaRaker {
    fn rate(&self, level: usize) -> f64 {
        let eta = if self.params.compat { 1.0 } else { self.params.eta };
        (eta / 2f64.powf(level as f64).sqrt()).min(0.5)
    }

    fn width(&self) -> usize {
        2 * self.params.frequencies
    }

    /// Starts every instance whose interval begins with the next step.
    fn begin_intervals(&mut self) {
        let (p, t) = (self.params.kernels, self.head.steps + 1);
        let block = p * self.head.n_scores() * self.width();
        for level in 0..=t.ilog2() as usize {
            if t.is_multiple_of(1 << level) {
                let is_new = level == self.instances.weights.len();
                if is_new {
                    self.instances.theta.resize((level + 1) * block, 0.0);
                    self.instances.votes.resize((level + 1) * p, 0.0);
                    self.instances.weights.push(0.0);
                }
                if is_new || !self.params.compat {
                    self.instances.theta[level * block..(level + 1) * block].fill(0.0);
                    self.instances.votes[level * p..(level + 1) * p].fill(0.0);
                }
                self.instances.weights[level] = self.rate(level).ln();
            }
        }
    }

    /// The loss of one score against the target, each class on its own when there are more than two.
    fn loss_of(&self, scores: &[f64], target: Target) -> f64 {
        let one = self.one_score();
        scores.iter().enumerate().map(|(k, &f)| one.loss(&[f], target_of(scores.len(), k, target))).sum()
    }

    /// What votes follow: the loss, or whether it was a mistake.
    fn vote_loss(&self, scores: &[f64], target: Target) -> f64 {
        match target {
            Target::Class(_) if self.params.compat => f64::from(self.head.predict(scores) != target),
            _ => self.loss_of(scores, target),
        }
    }

    /// The votes of kernels and instances after a step, as the authors' code has them. `scores` are of every instance
    /// and kernel, `alone` of every instance.
    fn vote_as_published(&mut self, scores: &[f64], alone: &[f64], target: Target) {
        let (p, n) = (self.params.kernels, self.head.n_scores());
        let mut shares = Vec::new();
        let losses: Vec<f64> = scores.chunks_exact(n).map(|scores| self.vote_loss(scores, target)).collect();
        for (votes, losses) in self.instances.votes.chunks_exact_mut(p).zip(losses.chunks_exact(p)) {
            shares_into(votes, &mut shares);
            for ((vote, share), loss) in votes.iter_mut().zip(&shares).zip(losses) {
                *vote = (share * 0.5f64.powf(*loss) + 1e-4).ln();
            }
        }
        let losses: Vec<f64> = alone.chunks_exact(n).map(|scores| self.vote_loss(scores, target)).collect();
        let (low, high) = losses
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &loss| (low.min(loss), high.max(loss)));
        let half = 0.5 * (high - low);
        shares_into(&self.instances.weights, &mut shares);
        for ((weight, share), loss) in self.instances.weights.iter_mut().zip(&shares).zip(&losses) {
            let exponent = if half > 0.0 { (loss - 0.5 * (low + high)) / half } else { 0.0 };
            *weight = (share * 0.5f64.powf(exponent) + 1e-10).ln();
        }
        shares_into(&self.instances.weights, &mut shares);
        for (weight, share) in self.instances.weights.iter_mut().zip(&shares) {
            *weight = share.ln();
        }
    }

    /// The task of a single score.
    fn one_score(&self) -> Head {
        Head { classes: self.head.classes.min(2), ..self.head.clone() }
    }
}

/// What score k of n should say: with more than one score, whether the class is k.
fn target_of(n: usize, k: usize, target: Target) -> Target {
    match target {
        Target::Class(class) if n > 1 => Target::Class(u32::from(class as usize == k)),
        target => target,
    }
}

/// Shares proportional to exp(log), into `out`.
fn shares_into(logs: &[f64], out: &mut Vec<f64>) {
    let top = logs.iter().fold(f64::NEG_INFINITY, |top, &log| top.max(log));
    out.clear();
    out.extend(logs.iter().map(|log| (log - top).exp()));
    let total: f64 = out.iter().sum();
    for share in out.iter_mut() {
        *share /= total;
    }
}

/// Keeps logarithms near 0 without changing their differences.
fn recentre(logs: &mut [f64]) {
    let top = logs.iter().fold(f64::NEG_INFINITY, |top, &log| top.max(log));
    for log in logs.iter_mut() {
        *log = (*log - top).max(-700.0);
    }
}

impl OnlineLearner for AdaRaker {
    head_access!();

    fn widen(&mut self) {
        // From one score to one against the rest each: score 1 keeps what was learned, score 0 its negative.
        let (width, n) = (self.width(), self.head.n_scores());
        let kernels = self.instances.weights.len() * self.params.kernels;
        let before = self.instances.theta.len() / (width * kernels);
        let mut theta = Vec::with_capacity(kernels * n * width);
        for old in self.instances.theta.chunks_exact(before * width) {
            let start = theta.len();
            if before == 1 {
                theta.extend(old.iter().map(|value| -value));
            }
            theta.extend_from_slice(old);
            theta.resize(start + n * width, 0.0);
        }
        self.instances.theta = theta;
    }

    /// Leaves features of all kernels in `features`; in `theta` the scores of every instance and kernel; in `kernel`
    /// the scores of every instance.
    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        let (p, n, width) = (self.params.kernels, self.head.n_scores(), self.width());
        let mut all = std::mem::take(&mut at.features);
        all.clear();
        let mut z = std::mem::take(&mut at.kernel);
        for map in &self.maps.0 {
            map.features_into(x.row, &mut z, &mut at.theta, &mut at.spare);
            all.extend_from_slice(&z);
        }
        at.theta.clear();
        for of_instance in self.instances.theta.chunks_exact(p * n * width) {
            for (theta, z) in of_instance.chunks_exact(n * width).zip(all.chunks_exact(width)) {
                at.theta.extend(theta.chunks_exact(width).map(|theta| dot(theta, z)));
            }
        }
        z.clear();
        for (scores, votes) in at.theta.chunks_exact(p * n).zip(self.instances.votes.chunks_exact(p)) {
            shares_into(votes, &mut at.spare);
            let start = z.len();
            z.resize(start + n, 0.0);
            for (scores, share) in scores.chunks_exact(n).zip(&at.spare) {
                z[start..].iter_mut().zip(scores).for_each(|(f, score)| *f += share * score);
            }
        }
        shares_into(&self.instances.weights, &mut at.spare);
        at.scores.clear();
        at.scores.resize(n, 0.0);
        for (scores, share) in z.chunks_exact(n).zip(&at.spare) {
            at.scores.iter_mut().zip(scores).for_each(|(f, score)| *f += share * score);
        }
        (at.features, at.kernel) = (all, z);
    }

    fn update(&mut self, _: Input<'_>, target: Target, at: &mut Scratch) {
        let (p, n, width) = (self.params.kernels, self.head.n_scores(), self.width());
        let one = self.one_score();
        let together = self.loss_of(&at.scores, target);
        for level in 0..self.instances.weights.len() {
            let rate = self.rate(level);
            for kernel in 0..p {
                let at_kernel = level * p + kernel;
                let scores = &at.theta[at_kernel * n..(at_kernel + 1) * n];
                let z = &at.features[kernel * width..(kernel + 1) * width];
                for (k, &f) in scores.iter().enumerate() {
                    let theta = &mut self.instances.theta[(at_kernel * n + k) * width..][..width];
                    let push = one.step(&[f], target_of(n, k, target)).map_or(0.0, |step| step.amount);
                    let keep = 1.0 - rate * self.params.lambda;
                    theta.iter_mut().zip(z).for_each(|(w, z)| *w = keep * *w + rate * push * z);
                }
                if !self.params.compat {
                    self.instances.votes[at_kernel] -= rate * self.loss_of(scores, target);
                }
            }
            if self.params.compat {
                continue;
            }
            recentre(&mut self.instances.votes[level * p..(level + 1) * p]);
            let alone = self.loss_of(&at.kernel[level * n..(level + 1) * n], target);
            self.instances.weights[level] += rate * (together - alone);
        }
        if self.params.compat {
            self.vote_as_published(&at.theta, &at.kernel, target);
        }
        // Weights are compared with those of instances yet to start, so they are not recentred, only kept in range.
        self.instances.weights.iter_mut().for_each(|log| *log = log.clamp(-700.0, 700.0));
        self.head.steps += 1;
        self.begin_intervals();
        self.head.steps -= 1;
    }
}

learner_parts!(AdaRaker, AdaRakerParams, [maps, instances], |learner| {
    let levels = learner.instances.weights.len();
    let p = learner.params.kernels;
    let widths = learner.maps.0.iter().all(|map| map.n_features() == learner.width());
    levels == (learner.head.steps + 1).ilog2() as usize + 1
        && learner.maps.0.len() == p
        && widths
        && learner.instances.votes.len() == levels * p
        && learner.instances.theta.len() == levels * p * learner.head.n_scores() * learner.width()
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{PointsBuf, Row};
    use crate::rng::{Component, rng_of};

    #[test]
    fn the_published_votes_learn_too_and_stay_shares() {
        let mut rng = rng_of(12, Component::Synthetic, 0);
        let points = PointsBuf::from_dense((0..4000).map(|_| rng.open01()).collect(), 2).unwrap();
        let mut learner = AdaRakerParams::default().compat(true).check().unwrap().start(points.as_points());
        let (mut at, mut late) = (Scratch::default(), 0);
        for (i, x) in points.as_points().rows().enumerate() {
            let class = u32::from(x.get(0) > 0.5);
            let predicted = learner.predict_then_learn(x.into(), Target::Class(class), &mut at).unwrap();
            late += usize::from(i >= 1000 && predicted != Target::Class(class));
            let total: f64 = learner.instances.weights.iter().map(|weight| weight.exp()).sum();
            assert!(total < 2.0 + learner.instances.weights.len() as f64 && total > 0.0);
        }
        assert!(late < 150, "{late} mistakes in the last 1000 points");
    }

    fn stream(n: usize) -> PointsBuf {
        let mut rng = rng_of(6, Component::Synthetic, 0);
        PointsBuf::from_dense((0..2 * n).map(|_| 2.0 * rng.open01() - 1.0).collect(), 2).unwrap()
    }

    #[test]
    fn one_kernel_in_its_first_interval_is_linear_descent_on_its_features() {
        let points = stream(40);
        let params = AdaRakerParams::default().kernels(1).first_exponent(0).lambda(0.0).eta(1.0).check().unwrap();
        let map = &params.maps(2)[0];
        let mut learner = params.clone().start(points.as_points());
        let mut at = Scratch::default();
        // The instance of length 32 starts at step 32 and lives to step 63: follow it from there.
        let mut theta = vec![0.0; 100];
        for (i, x) in points.as_points().rows().enumerate() {
            let y = if x.get(0) > 0.0 { 1.0 } else { -1.0 };
            learner.learn(x.into(), Target::Class(u32::from(y > 0.0)), &mut at).unwrap();
            if i + 1 >= 32 {
                let z = map.features(x);
                let f = dot(&theta, &z);
                assert!((at.kernel[5] - f).abs() < 1e-12);
                let rate = 1.0 / 32f64.sqrt();
                theta.iter_mut().zip(&z).for_each(|(w, z)| *w += rate * y / (1.0 + (y * f).exp()) * z);
            }
        }
    }

    #[test]
    fn equal_kernels_keep_equal_votes() {
        let points = stream(100);
        let params = AdaRakerParams::default().kernels(3).check().unwrap();
        let mut learner = params.start(points.as_points());
        let first = learner.maps.0[0].clone();
        learner.maps.0.fill(first);
        let mut at = Scratch::default();
        for x in points.as_points().rows() {
            learner.learn(x.into(), Target::Class(u32::from(x.get(0) > x.get(1))), &mut at).unwrap();
        }
        assert!(learner.instances.votes.chunks_exact(3).all(|votes| votes.iter().all(|&vote| vote == votes[0])));
    }

    #[test]
    fn after_a_switch_short_intervals_gain_weight() {
        let points = stream(1500);
        let mut learner = AdaRakerParams::default().check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        let mut share_of_long = Vec::new();
        for (i, x) in points.as_points().rows().enumerate() {
            let flipped = i >= 1100;
            learner.learn(x.into(), Target::Class(u32::from((x.get(0) > 0.0) != flipped)), &mut at).unwrap();
            if i == 1099 || i == 1200 {
                let mut shares = Vec::new();
                shares_into(&learner.instances.weights, &mut shares);
                share_of_long.push(shares[8..].iter().sum::<f64>());
            }
        }
        assert!(share_of_long[1] < share_of_long[0], "{share_of_long:?}");
    }

    #[test]
    fn more_than_two_classes_are_told_apart() {
        let points = stream(3000);
        let mut learner =
            AdaRakerParams::default().kernels(6).first_exponent(-2).check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        let class = |x: Row<'_>| u32::from(x.get(0) > 0.0) + u32::from(x.get(0) > 0.0 && x.get(1) > 0.0);
        let mut late = 0;
        for (i, x) in points.as_points().rows().enumerate() {
            learner.learn(x.into(), Target::Class(class(x)), &mut at).unwrap();
            late += usize::from(i >= 2000 && learner.head.predict(&at.scores) != Target::Class(class(x)));
        }
        assert!(late < 150, "{late} of 1000");
    }
}
