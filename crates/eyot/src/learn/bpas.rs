//! Budgeted passive-aggressive learning, simple form (BPA-S): each step moves just far enough to classify the point
//! with margin 1; when full, the new point replaces the kept one whose loss hurts least. Constant memory and time.
//!
//! ℓ = max(0, 1 − m); if ℓ > 0: τ = min(C, ℓ/κ(x,x)) and below the budget the point is kept with β = τ·y. At the
//! budget every kept r is tried: β'_r = β_r·κ_rx/κ_xx + τ·y, and the one of least
//! ½(β_r²κ_rr + β'_r²κ_xx − 2β_rβ'_rκ_rx) + C·max(0, 1 − m after the swap) is replaced. With more classes τ has 2κ(x,x)
//! below and coefficients are vectors. Cost O(B(d + classes)) per point.
//!
//! # References
//! Reparameterized Random Features, §5, Table 1.

use super::{
    Expansion, Head, Input, MAX_BUDGET, OnlineLearner, OnlineLoss, Scratch, Step, Target, default_kernel, head_access,
    learner_parts,
};
use crate::data::{Points, Row};
use crate::error::{Error, Result};
use crate::kernel::{AnyKernel, Kernel};
use crate::model::Persist;
use crate::params::{Checked, in_range, params, positive};

params! {
    /// Parameters of [`Bpas`].
    pub struct BpasParams {
        /// The kernel.
        kernel: AnyKernel = default_kernel(),
        /// Hinge; named for uniformity.
        loss: OnlineLoss = OnlineLoss::Hinge,
        /// Longest step, C.
        c: f64 = 1.0,
        /// Most points to keep, B.
        budget: usize = 100,
    }
}

impl BpasParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        self.kernel.check()?;
        in_range("budget", self.budget, 1..=MAX_BUDGET)?;
        positive("c", self.c)?;
        if self.loss != OnlineLoss::Hinge {
            let expected = "hinge for bpas, which is for classes only".into();
            return Err(Error::Param { name: "loss", expected, got: self.loss.name().into() });
        }
        Ok(Checked::new(self))
    }
}

/// The learner.
#[derive(Debug, Clone)]
pub struct Bpas {
    params: Checked<BpasParams>,
    head: Head,
    expansion: Expansion,
}

impl Checked<BpasParams> {
    /// A learner for points like these.
    pub fn start(self, like: Points<'_>) -> Bpas {
        Bpas {
            head: Head::new(self.loss, 0.0, like.n_columns()),
            expansion: Expansion::new(self.kernel, like.n_columns(), like.is_sparse()),
            params: self,
        }
    }
}

impl Bpas {
    /// The kept point to replace: the one of least cost, the oldest on ties.
    fn cheapest(&self, class: u32, step: Step, tau: f64, own: f64, at: &mut Scratch) -> usize {
        let (mut best, mut least) = (0, f64::INFINITY);
        for r in 0..self.expansion.len() {
            let (k, beta) = (at.kernel[r], self.expansion.beta(r));
            let z = self.expansion.points().row(r);
            let own_r = self.params.kernel.value(z, z);
            swapped_into(beta, k / own, step, tau, &mut at.features);
            at.theta.clear();
            let mut change = 0.0;
            for ((&old, &new), score) in beta.iter().zip(&at.features).zip(&at.scores) {
                change += old * old * own_r + new * new * own - 2.0 * old * new * k;
                at.theta.push(score - old * k + new * own);
            }
            let violation = (1.0 - self.head.margin(&at.theta, class).0).max(0.0);
            let cost = 0.5 * change + self.params.c * violation;
            if cost < least {
                (best, least) = (r, cost);
            }
        }
        best
    }

    fn replace(&mut self, r: usize, x: Row<'_>, step: Step, tau: f64, own: f64, at: &mut Scratch) {
        swapped_into(self.expansion.beta(r), at.kernel[r] / own, step, tau, &mut at.features);
        self.expansion.remove(r);
        self.expansion.add_beta(x, &at.features);
    }
}

/// β·share + τ·step.
fn swapped_into(beta: &[f64], share: f64, step: Step, tau: f64, out: &mut Vec<f64>) {
    out.clear();
    out.extend(beta.iter().map(|beta| beta * share));
    step.add_to(out, tau);
}

impl OnlineLearner for Bpas {
    head_access!();

    fn widen(&mut self) {
        self.expansion.widen(self.head.n_scores());
    }

    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        self.expansion.score(x.row, at);
    }

    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        let Target::Class(class) = target else { return };
        let (m, down) = self.head.margin(&at.scores, class);
        if m >= 1.0 {
            return;
        }
        let own = self.params.kernel.value(x.row, x.row);
        if own <= 0.0 {
            return;
        }
        let step = self.head.push(class, down, 1.0);
        let tau = self.params.c.min((1.0 - m) / (step.width() * own));
        if self.expansion.len() < self.params.budget {
            self.expansion.add(x.row, step, tau);
        } else {
            let r = self.cheapest(class, step, tau, own, at);
            self.replace(r, x.row, step, tau, own, at);
        }
    }

    fn n_kept(&self) -> Option<usize> {
        Some(self.expansion.len())
    }
}

learner_parts!(Bpas, BpasParams, [expansion], |learner| {
    learner.expansion.fits(learner.head.n_scores(), learner.params.budget)
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;

    #[test]
    fn without_a_limit_each_point_ends_with_margin_one() {
        let points = PointsBuf::from_rows(&[[0.0], [0.4], [1.1], [0.2]]).unwrap();
        let mut learner = BpasParams::default().c(1e12).check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        for (i, x) in points.as_points().rows().enumerate() {
            learner.learn(x.into(), Target::Class(i as u32 % 2), &mut at).unwrap();
            learner.score(x.into(), &mut at);
            assert!(learner.head.margin(&at.scores, i as u32 % 2).0 >= 1.0 - 1e-12);
        }
    }

    #[test]
    fn the_cheapest_swap_is_that_of_trying_all() {
        let points = PointsBuf::from_rows(&[[0.0], [2.0], [2.1], [0.9]]).unwrap();
        let mut learner = BpasParams::default().budget(3).check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        for (row, class) in [0, 1, 1].into_iter().enumerate() {
            learner.learn(points.row(row).into(), Target::Class(class), &mut at).unwrap();
        }
        let before = learner.clone();
        let (x, y) = (points.row(3), 1.0);
        learner.learn(x.into(), Target::Class(1), &mut at).unwrap();
        let tau = (1.0 - y * at.scores[0]).min(1.0);
        let cost = |r: usize| {
            let (beta, k) =
                (before.expansion.beta(r)[0], before.params.kernel.value(before.expansion.points().row(r), x));
            let new = beta * k + tau * y;
            let f = at.scores[0] - beta * k + new;
            0.5 * (beta * beta + new * new - 2.0 * beta * new * k) + (1.0 - y * f).max(0.0)
        };
        let best = (0..3).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap();
        let mut expected = before.expansion.points().clone();
        expected.remove(best);
        expected.push(x);
        assert_eq!(learner.expansion.points(), &expected);
    }
}
