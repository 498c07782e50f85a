//! Projectron and Projectron++: perceptrons with a budget that, when full, project a new point onto the span of the
//! kept ones instead of keeping it. Nothing is ever forgotten, so accuracy holds well; the inverse Gram matrix costs
//! O(B²) memory and time per update.
//!
//! On a mistake, with G the Gram matrix of the kept points and k = κ(x, ·): d = G⁻¹k and Δ² = κ(x, x) − kᵀd. Below the
//! budget the point is kept with β = y and G⁻¹ ← \[G⁻¹ 0; 0 0\] + vvᵀ/Δ², v = (d, −1); at the budget, or if Δ² is
//! nearly 0 (the point lies in the span), β += y·d. Projectron++ also learns from correct predictions inside the
//! margin: with ℓ = 1 − m, P = kᵀd and τ = min(ℓ/P, 1), if τ(2ℓ − τP − 2UΔ) ≥ 0 then β += τ·y·d, where
//! U = ¼√((B+1)/ln(B+1)).
//!
//! # References
//! Reparameterized Random Features, §5, Tables 1 and 2; as in the package used there, the budget alone decides when
//! to project.

use faer::linalg::solvers::SolveCore;
use faer::{Conj, Mat, Side};

use super::perceptron::rate;
use super::{
    Expansion, Head, Input, OnlineLearner, OnlineLoss, Scratch, Step, Target, default_kernel, head_access,
    learner_parts,
};
use crate::data::{Points, Row};
use crate::error::{Error, Result};
use crate::kernel::{AnyKernel, Kernel};
use crate::map::dot;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::params::{Checked, in_range, not_negative, params, positive};

/// Δ² below this share of κ(x, x) means that the point is in the span of the kept ones.
const IN_SPAN: f64 = 1e-8;
/// G⁻¹ is computed anew after so many additions,
const REBUILD_AFTER: usize = 500;
/// or when a row of G·G⁻¹ is off by more than this.
const REBUILD_ABOVE: f64 = 1e-6;
/// G⁻¹ of the largest budget takes 2 GB.
const MAX_PROJECTRON_BUDGET: usize = 16_384;

params! {
    /// Parameters of [`Projectron`].
    pub struct ProjectronParams {
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
        /// Projectron++: also learn inside the margin. Classes only.
        margins: bool = false,
        /// Keep points that lie in the span of the kept ones instead of projecting them, as a plain perceptron would.
        keep_spanned: bool = false,
    }
}

impl ProjectronParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        self.kernel.check()?;
        not_negative("epsilon", self.epsilon)?;
        positive("eta", self.eta)?;
        in_range("budget", self.budget, 1..=MAX_PROJECTRON_BUDGET)?;
        if self.margins && self.loss.is_regression() {
            let expected = "hinge or logistic for projectron++, which is for classes only".into();
            return Err(Error::Param { name: "loss", expected, got: self.loss.name().into() });
        }
        Ok(Checked::new(self))
    }
}

/// G⁻¹ of the kept points.
#[derive(Debug, Clone, PartialEq)]
struct GramInverse {
    n: usize,
    /// Rows are so far apart; grows by doubling.
    stride: usize,
    values: Vec<f64>,
    since_rebuild: usize,
}

impl GramInverse {
    const fn new() -> Self {
        Self { n: 0, stride: 0, values: Vec::new(), since_rebuild: 0 }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.stride..i * self.stride + self.n]
    }

    /// G⁻¹k.
    fn solve_into(&self, k: &[f64], d: &mut Vec<f64>) {
        d.clear();
        d.extend((0..self.n).map(|i| dot(self.row(i), k)));
    }

    /// Takes in a point with G⁻¹k = d and Δ².
    fn grow(&mut self, d: &[f64], delta: f64) {
        let n = self.n;
        if n == self.stride {
            let stride = (2 * n).max(16);
            let mut values = vec![0.0; stride * stride];
            for i in 0..n {
                values[i * stride..i * stride + n].copy_from_slice(self.row(i));
            }
            (self.stride, self.values) = (stride, values);
        }
        for i in 0..n {
            let (row, scale) = (&mut self.values[i * self.stride..=i * self.stride + n], d[i] / delta);
            row.iter_mut().zip(d).for_each(|(value, d)| *value += scale * d);
            row[n] = -scale;
        }
        let last = &mut self.values[n * self.stride..=n * self.stride + n];
        last.iter_mut().zip(d).for_each(|(value, d)| *value = -d / delta);
        last[n] = 1.0 / delta;
        self.n += 1;
        self.since_rebuild += 1;
    }

    /// Computes G⁻¹ anew if it is due or a probe row shows that it has drifted.
    fn refresh(&mut self, kernel: &AnyKernel, points: Points<'_>, k: &mut Vec<f64>) {
        let probe = self.since_rebuild % self.n;
        k.resize(self.n, 0.0);
        kernel.row_into(points.row(probe), points, k);
        let error = |j: usize| (dot(k, self.row(j)) - f64::from(j == probe)).abs();
        if self.since_rebuild < REBUILD_AFTER && (0..self.n).all(|j| error(j) <= REBUILD_ABOVE) {
            return;
        }
        self.since_rebuild = 0;
        let gram = Mat::from_fn(self.n, self.n, |i, j| kernel.value(points.row(i), points.row(j)));
        // A Gram matrix too close to singular has no Cholesky factor; then the updated inverse has to do.
        if let Ok(factor) = gram.llt(Side::Lower) {
            let mut inverse = Mat::identity(self.n, self.n);
            factor.solve_in_place_with_conj(Conj::No, inverse.as_mut());
            for i in 0..self.n {
                for j in 0..self.n {
                    self.values[i * self.stride + j] = inverse[(i, j)];
                }
            }
        }
    }
}

impl Persist for GramInverse {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.size"), &(self.n, self.since_rebuild));
        let values: Vec<f64> = (0..self.n).flat_map(|i| self.row(i).iter().copied()).collect();
        out.put_f64(&format!("{prefix}.values"), &values);
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let (n, since_rebuild): (usize, usize) = from.json(&format!("{prefix}.size"))?;
        let len = n.checked_mul(n).ok_or_else(|| bad_part(prefix, "is too large"))?;
        let values = from.finite_f64s(&format!("{prefix}.values"), len)?;
        Ok(Self { n, stride: n, values, since_rebuild })
    }
}

/// The learner, with or without the plus signs.
#[derive(Debug, Clone)]
pub struct Projectron {
    params: Checked<ProjectronParams>,
    head: Head,
    expansion: Expansion,
    inverse: GramInverse,
}

impl Checked<ProjectronParams> {
    /// A learner for points like these.
    pub fn start(self, like: Points<'_>) -> Projectron {
        Projectron {
            head: Head::new(self.loss, self.epsilon, like.n_columns()),
            expansion: Expansion::new(self.kernel, like.n_columns(), like.is_sparse()),
            inverse: GramInverse::new(),
            params: self,
        }
    }
}

impl Projectron {
    /// β += step·rate·d.
    fn project(&mut self, d: &[f64], step: Step, rate: f64) {
        for (i, d) in d.iter().enumerate() {
            step.add_to(self.expansion.beta_mut(i), rate * d);
        }
    }

    fn learn_mistake(&mut self, x: Row<'_>, step: Step, at: &mut Scratch) {
        let rate = rate(self.params.loss, self.params.eta);
        let own = self.params.kernel.value(x, x);
        self.inverse.solve_into(&at.kernel, &mut at.features);
        let delta = own - dot(&at.kernel, &at.features);
        let spanned = delta < IN_SPAN * own;
        if self.expansion.len() >= self.params.budget || (spanned && !self.params.keep_spanned) {
            self.project(&at.features, step, rate);
            return;
        }
        self.inverse.grow(&at.features, delta.max(IN_SPAN * own));
        self.expansion.add(x, step, rate);
        self.inverse.refresh(&self.params.kernel, self.expansion.points().as_points(), &mut at.kernel);
    }

    fn learn_margin(&mut self, x: Row<'_>, class: u32, at: &mut Scratch) {
        let (m, down) = self.head.margin(&at.scores, class);
        let loss = 1.0 - m;
        if loss <= 0.0 {
            return;
        }
        self.inverse.solve_into(&at.kernel, &mut at.features);
        let p = dot(&at.kernel, &at.features);
        if p < 1e-12 {
            return;
        }
        let distance = (self.params.kernel.value(x, x) - p).max(0.0).sqrt();
        let b = self.params.budget as f64 + 1.0;
        let u = 0.25 * (b / b.ln()).sqrt();
        let tau = (loss / p).min(1.0);
        if tau * (2.0 * loss - tau * p - 2.0 * u * distance) >= 0.0 {
            let step = self.head.push(class, down, 1.0);
            let d = std::mem::take(&mut at.features);
            self.project(&d, step, tau);
            at.features = d;
        }
    }
}

impl OnlineLearner for Projectron {
    head_access!();

    fn widen(&mut self) {
        self.expansion.widen(self.head.n_scores());
    }

    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        self.expansion.score(x.row, at);
    }

    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        if let Some(step) = self.head.mistake(&at.scores, target) {
            self.learn_mistake(x.row, step, at);
        } else if let (true, Target::Class(class)) = (self.params.margins, target) {
            self.learn_margin(x.row, class, at);
        }
    }

    fn n_kept(&self) -> Option<usize> {
        Some(self.expansion.len())
    }
}

learner_parts!(Projectron, ProjectronParams, [expansion, inverse], |learner| {
    learner.expansion.fits(learner.head.n_scores(), learner.params.budget)
        && learner.inverse.n == learner.expansion.len()
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;
    use crate::rng::{Component, rng_of};

    fn points(n: usize) -> PointsBuf {
        let mut rng = rng_of(5, Component::Synthetic, 0);
        PointsBuf::from_dense((0..2 * n).map(|_| 3.0 * rng.open01()).collect(), 2).unwrap()
    }

    fn score(learner: &Projectron, x: Row<'_>) -> f64 {
        let mut at = Scratch::default();
        learner.score(x.into(), &mut at);
        at.scores[0]
    }

    #[test]
    fn projection_agrees_with_keeping_at_every_kept_point() {
        let points = points(40);
        let mut learner = ProjectronParams::default().budget(12).check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        for (i, x) in points.as_points().rows().enumerate() {
            let (before, class) = (learner.clone(), (i % 2) as u32);
            learner.learn(x.into(), Target::Class(class), &mut at).unwrap();
            let mistaken = before.head.classes > 1 && before.head.mistake(&at.scores, Target::Class(class)).is_some();
            if mistaken && learner.expansion.len() == before.expansion.len() {
                let sign = if class == 1 { 1.0 } else { -1.0 };
                for z in before.expansion.points().as_points().rows() {
                    let kept = score(&before, z) + sign * before.params.kernel.value(z, x);
                    assert!((score(&learner, z) - kept).abs() < 1e-6);
                }
            }
            assert!(learner.expansion.len() <= 12);
        }
        assert_eq!(learner.expansion.len(), 12);
    }

    #[test]
    fn distance_to_the_projection_is_delta() {
        let points = points(9);
        let kernel = default_kernel();
        let mut learner = ProjectronParams::default().budget(8).check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        let step = Step { up: 0, down: None, amount: 1.0 };
        for row in 0..8 {
            learner.score(points.row(row).into(), &mut at);
            learner.learn_mistake(points.row(row), step, &mut at);
        }
        let x = points.row(8);
        learner.score(x.into(), &mut at);
        learner.inverse.solve_into(&at.kernel, &mut at.features);
        let delta = 1.0 - dot(&at.kernel, &at.features);
        // ‖φ(x) − Σ d_i φ(x_i)‖² from the kernel matrix.
        let d = &at.features;
        let mut distance = 1.0;
        for i in 0..8 {
            distance -= 2.0 * d[i] * at.kernel[i];
            for j in 0..8 {
                distance += d[i] * d[j] * kernel.value(points.row(i), points.row(j));
            }
        }
        assert!((distance - delta).abs() < 1e-9, "{distance} {delta}");
    }

    #[test]
    fn duplicates_never_enlarge_the_set() {
        let points = PointsBuf::from_rows(&[[0.3, 0.4]; 30]).unwrap();
        let mut learner = ProjectronParams::default().check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        for (i, x) in points.as_points().rows().enumerate() {
            learner.learn(x.into(), Target::Class(i as u32 % 2), &mut at).unwrap();
        }
        assert_eq!(learner.n_kept(), Some(1));
    }

    #[test]
    fn the_inverse_stays_the_inverse() {
        let points = points(700);
        let mut learner = ProjectronParams::default().budget(60).check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        for (i, x) in points.as_points().rows().enumerate() {
            learner.learn(x.into(), Target::Class(i as u32 % 2), &mut at).unwrap();
        }
        let (kept, n) = (learner.expansion.points().as_points(), learner.inverse.n);
        for i in 0..n {
            let k: Vec<f64> = kept.rows().map(|z| learner.params.kernel.value(kept.row(i), z)).collect();
            for j in 0..n {
                assert!((dot(&k, learner.inverse.row(j)) - f64::from(i == j)).abs() < 1e-5);
            }
        }
    }
}
