//! Budgeted stochastic gradient descent with merging (BSGD-M): Pegasos with a Gaussian kernel that, when full, merges
//! two kept points into one between them. Constant memory; accurate, but each merge searches all kept points.
//!
//! Step t = 1, 2, …: all β ← (1 − 1/t)β; if m < 1 the point is kept with β = y/(λt). Over the budget: m = the kept point
//! of least ‖β‖; for each n of the same sign, κ = κ(x_m, x_n), find h in \[0, 1\] maximising |β_m κ^((1−h)²) + β_n κ^(h²)|
//! by golden section; the merged point is z = h·x_m + (1−h)·x_n with β_z that value, and the n of least
//! β_m² + β_n² + 2κβ_mβ_n − β_z² is taken. Without a partner of the same sign, m is removed. Cost O(B(d + log 1/tol)).
//!
//! # References
//! Reparameterized Random Features, §5, Table 1. Points of opposite sign are never merged (our decision).

use super::{
    Expansion, Head, Input, MAX_BUDGET, OnlineLearner, OnlineLoss, Scratch, Target, head_access, learner_parts,
};
use crate::data::{Points, Row, SparseRow};
use crate::error::{Error, Result};
use crate::kernel::{AnyKernel, Gaussian, Kernel};
use crate::model::Persist;
use crate::params::{Checked, in_range, params, positive};

/// The golden section ends when the interval is this short.
const TOLERANCE: f64 = 1e-4;
/// Points this similar are one point.
const SAME_POINT: f64 = 1.0 - 1e-8;

params! {
    /// Parameters of [`BsgdM`].
    pub struct BsgdMParams {
        /// γ of the Gaussian kernel.
        gamma: f64 = 1.0,
        /// Hinge or logistic.
        loss: OnlineLoss = OnlineLoss::Hinge,
        /// Regularisation λ; rates are 1/(λt).
        lambda: f64 = 1e-4,
        /// Most points to keep, B.
        budget: usize = 100,
    }
}

impl BsgdMParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        positive("gamma", self.gamma)?;
        positive("lambda", self.lambda)?;
        in_range("budget", self.budget, 1..=MAX_BUDGET)?;
        if self.loss.is_regression() {
            let expected = "hinge or logistic for bsgd-m, which is for classes only".into();
            return Err(Error::Param { name: "loss", expected, got: self.loss.name().into() });
        }
        Ok(Checked::new(self))
    }
}

/// The learner.
#[derive(Debug, Clone)]
pub struct BsgdM {
    params: Checked<BsgdMParams>,
    head: Head,
    expansion: Expansion,
}

impl Checked<BsgdMParams> {
    /// A learner for points like these.
    pub fn start(self, like: Points<'_>) -> BsgdM {
        let kernel = AnyKernel::Gaussian(Gaussian { gamma: self.gamma });
        BsgdM {
            head: Head::new(self.loss, 0.0, like.n_columns()),
            expansion: Expansion::new(kernel, like.n_columns(), like.is_sparse()),
            params: self,
        }
    }
}

/// How much of the first of two points the best merged point has, for weights `a` and `b` of one sign and κ > 0.
fn best_share(a: f64, b: f64, ln_kappa: f64) -> f64 {
    let value = |h: f64| (a * ((1.0 - h).powi(2) * ln_kappa).exp() + b * (h * h * ln_kappa).exp()).abs();
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (0.0, 1.0);
    let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_left, mut at_right) = (value(left), value(right));
    while high - low > TOLERANCE {
        if at_left >= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = value(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = value(right);
        }
    }
    0.5 * (low + high)
}

/// The merge of two coefficient vectors at similarity κ: share of the first, loss, merged coefficients into `merged`.
/// `None` if they have opposite signs.
fn merge(first: &[f64], second: &[f64], kappa: f64, merged: &mut Vec<f64>) -> Option<(f64, f64)> {
    let (mut a, mut b) = (0.0, 0.0);
    for (&x, &y) in first.iter().zip(second) {
        let sum = if x + y == 0.0 { 1e-4 } else { x + y };
        a += x / sum;
        b += y / sum;
    }
    if a * b <= 0.0 {
        return None;
    }
    let ln_kappa = kappa.max(f64::MIN_POSITIVE).ln();
    let h = best_share(a, b, ln_kappa);
    let (of_first, of_second) = (((1.0 - h).powi(2) * ln_kappa).exp(), (h * h * ln_kappa).exp());
    merged.clear();
    let mut loss = 0.0;
    for (&x, &y) in first.iter().zip(second) {
        let z = x * of_first + y * of_second;
        loss += x * x + y * y + 2.0 * kappa * x * y - z * z;
        merged.push(z);
    }
    Some((h, loss))
}

/// h·x + (1 − h)·y as sparse entries.
fn between(h: f64, x: Row<'_>, y: Row<'_>) -> (Vec<u32>, Vec<f64>) {
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    let (mut xs, mut ys) = (x.nonzeros().peekable(), y.nonzeros().peekable());
    loop {
        let column = match (xs.peek(), ys.peek()) {
            (Some(&(x, _)), Some(&(y, _))) => x.min(y),
            (Some(&(column, _)), None) | (None, Some(&(column, _))) => column,
            (None, None) => return (columns, values),
        };
        let x = xs.next_if(|entry| entry.0 == column).map_or(0.0, |entry| entry.1);
        let y = ys.next_if(|entry| entry.0 == column).map_or(0.0, |entry| entry.1);
        let value = h * x + (1.0 - h) * y;
        if value != 0.0 {
            columns.push(column as u32);
            values.push(value);
        }
    }
}

impl BsgdM {
    /// Brings B + 1 kept points back to B.
    fn shorten(&mut self, at: &mut Scratch) {
        let norm = |i: usize| self.expansion.beta(i).iter().map(|beta| beta * beta).sum::<f64>();
        let weakest = (0..self.expansion.len()).fold(0, |best, i| if norm(i) < norm(best) { i } else { best });
        let points = self.expansion.points();
        at.kernel.resize(points.n_rows(), 0.0);
        self.expansion.kernel().row_into(points.row(weakest), points.as_points(), &mut at.kernel);
        let mut best: Option<(usize, f64, f64)> = None;
        for n in (0..self.expansion.len()).filter(|&n| n != weakest) {
            let found = merge(self.expansion.beta(weakest), self.expansion.beta(n), at.kernel[n], &mut at.features);
            if let Some((h, loss)) = found
                && best.is_none_or(|(_, _, least)| loss < least)
            {
                best = Some((n, h, loss));
            }
        }
        let Some((partner, h, _)) = best else { return self.expansion.remove(weakest) };
        merge(self.expansion.beta(weakest), self.expansion.beta(partner), at.kernel[partner], &mut at.features);
        let points = self.expansion.points();
        let (columns, values) = between(h, points.row(weakest), points.row(partner));
        self.expansion.remove(weakest.max(partner));
        self.expansion.remove(weakest.min(partner));
        self.expansion.add_beta(Row::Sparse(SparseRow { columns: &columns, values: &values }), &at.features);
    }
}

impl OnlineLearner for BsgdM {
    head_access!();

    fn widen(&mut self) {
        self.expansion.widen(self.head.n_scores());
    }

    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        self.expansion.score(x.row, at);
    }

    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        let t = (self.head.steps + 1) as f64;
        self.expansion.shrink(1.0 - 1.0 / t);
        let Some(step) = self.head.step(&at.scores, target) else { return };
        let rate = 1.0 / (self.params.lambda * t);
        if self.expansion.len() < self.params.budget {
            return self.expansion.add(x.row, step, rate);
        }
        if let Some(same) = at.kernel.iter().position(|&k| k > SAME_POINT) {
            return step.add_to(self.expansion.beta_mut(same), rate);
        }
        self.expansion.add(x.row, step, rate);
        self.shorten(at);
    }

    fn n_kept(&self) -> Option<usize> {
        Some(self.expansion.len())
    }
}

learner_parts!(BsgdM, BsgdMParams, [expansion], |learner| {
    learner.expansion.fits(learner.head.n_scores(), learner.params.budget)
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Component, rng_of};

    #[test]
    fn equal_points_merge_half_way_unless_far_apart() {
        for kappa in [0.14, 0.3, 0.9] {
            assert!((best_share(0.5, 0.5, f64::ln(kappa)) - 0.5).abs() < 2e-4, "{kappa}");
        }
        let far = best_share(0.5, 0.5, f64::ln(0.01));
        assert!(!(0.1..=0.9).contains(&far), "{far}");
    }

    #[test]
    fn a_merge_never_gains_and_a_duplicate_loses_nothing() {
        let mut rng = rng_of(1, Component::Synthetic, 0);
        let mut merged = Vec::new();
        for _ in 0..500 {
            let (a, b, kappa) = (rng.open01(), rng.open01(), rng.open01());
            let (_, loss) = merge(&[a], &[b], kappa, &mut merged).unwrap();
            assert!(loss >= -1e-12, "{a} {b} {kappa}: {loss}");
            let (_, loss) = merge(&[a], &[b], 1.0, &mut merged).unwrap();
            assert!(loss.abs() < 1e-12 && (merged[0] - a - b).abs() < 1e-12);
            assert!(merge(&[a], &[-b], kappa, &mut merged).is_none());
        }
    }

    #[test]
    fn the_merged_point_lies_between() {
        let (columns, values) = between(0.25, Row::F64(&[1.0, 0.0, 4.0]), Row::F64(&[0.0, 0.0, 8.0]));
        assert_eq!((columns, values), (vec![0, 2], vec![0.25, 7.0]));
    }
}
