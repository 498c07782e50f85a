//! Projectron and Projectron++: perceptrons with a budget that, when full, project a new point onto the span of the
//! kept ones instead of keeping it. Nothing is ever forgotten, so accuracy holds well; the factor of the Gram matrix
//! costs O(B²) memory and time per update.
//!
//! On a mistake, with G = LLᵀ the Gram matrix of the kept points and k = κ(x, ·): l = L⁻¹k, d = L⁻ᵀl = G⁻¹k and
//! Δ² = κ(x, x) − lᵀl. Below the budget the point is kept with β = y and (l, Δ) becomes the next row of L; at the
//! budget, or if Δ² is nearly 0 (the point lies in the span), β += y·d. Projectron++ also learns from correct predictions inside the
//! margin: with ℓ = 1 − m, P = kᵀd = lᵀl and τ = min(ℓ/P, 1), if τ(2ℓ − τP − 2UΔ) ≥ 0 then β += τ·y·d, where
//! U = ¼√((B+1)/ln(B+1)).
//!
//! # References
//! Reparameterized Random Features, §5, Tables 1 and 2; as in the package used there, the budget alone decides when
//! to project. An updated G⁻¹ in place of L would be as fast, but loses all digits where the kernel is flat.

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
/// L of the largest budget takes 1 GB.
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

/// L of the kept points.
#[derive(Debug, Clone, PartialEq)]
struct GramFactor {
    n: usize,
    /// Row by row, row i having i + 1 numbers.
    values: Vec<f64>,
}

impl GramFactor {
    fn row(&self, i: usize) -> &[f64] {
        let start = i * (i + 1) / 2;
        &self.values[start..=start + i]
    }

    /// l = L⁻¹k.
    fn forward_into(&self, k: &[f64], l: &mut Vec<f64>) {
        l.clear();
        for (i, k) in k.iter().enumerate().take(self.n) {
            let row = self.row(i);
            l.push((k - dot(&row[..i], l)) / row[i]);
        }
    }

    /// d = L⁻ᵀl.
    fn back_into(&self, l: &[f64], d: &mut Vec<f64>) {
        d.clear();
        d.extend_from_slice(l);
        for i in (0..self.n).rev() {
            let (row, (before, rest)) = (self.row(i), d.split_at_mut(i));
            rest[0] /= row[i];
            before.iter_mut().zip(row).for_each(|(d, g)| *d -= rest[0] * g);
        }
    }

    /// Takes in a point with L⁻¹k = l and Δ² > 0.
    fn grow(&mut self, l: &[f64], delta: f64) {
        self.values.extend_from_slice(l);
        self.values.push(delta.sqrt());
        self.n += 1;
    }
}

impl Persist for GramFactor {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.size"), &self.n);
        out.put_f64(&format!("{prefix}.values"), &self.values);
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let n: usize = from.json(&format!("{prefix}.size"))?;
        if n > MAX_PROJECTRON_BUDGET {
            return Err(bad_part(prefix, "is too large"));
        }
        let factor = Self { n, values: from.finite_f64s(&format!("{prefix}.values"), n * (n + 1) / 2)? };
        if (0..n).all(|i| factor.row(i)[i] > 0.0) {
            Ok(factor)
        } else {
            Err(bad_part(prefix, "has a row of no length"))
        }
    }
}

/// The learner, with or without the plus signs.
#[derive(Debug, Clone)]
pub struct Projectron {
    params: Checked<ProjectronParams>,
    head: Head,
    expansion: Expansion,
    factor: GramFactor,
}

impl Checked<ProjectronParams> {
    /// A learner for points like these.
    pub fn start(self, like: Points<'_>) -> Projectron {
        Projectron {
            head: Head::new(self.loss, self.epsilon, like.n_columns()),
            expansion: Expansion::new(self.kernel, like.n_columns(), like.is_sparse()),
            factor: GramFactor { n: 0, values: Vec::new() },
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
        self.factor.forward_into(&at.kernel, &mut at.spare);
        let delta = own - dot(&at.spare, &at.spare);
        let spanned = delta < IN_SPAN * own;
        if self.expansion.len() >= self.params.budget || (spanned && !self.params.keep_spanned) {
            self.factor.back_into(&at.spare, &mut at.features);
            self.project(&at.features, step, rate);
            return;
        }
        self.factor.grow(&at.spare, delta.max(IN_SPAN * own));
        self.expansion.add(x, step, rate);
    }

    fn learn_margin(&mut self, x: Row<'_>, class: u32, at: &mut Scratch) {
        let (m, down) = self.head.margin(&at.scores, class);
        let loss = 1.0 - m;
        if loss <= 0.0 {
            return;
        }
        self.factor.forward_into(&at.kernel, &mut at.spare);
        let p = dot(&at.spare, &at.spare);
        if p < 1e-12 {
            return;
        }
        let distance = (self.params.kernel.value(x, x) - p).max(0.0).sqrt();
        let b = self.params.budget as f64 + 1.0;
        let u = 0.25 * (b / b.ln()).sqrt();
        let tau = (loss / p).min(1.0);
        if tau * (2.0 * loss - tau * p - 2.0 * u * distance) >= 0.0 {
            let step = self.head.push(class, down, 1.0);
            self.factor.back_into(&at.spare, &mut at.features);
            self.project(&at.features, step, tau);
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

learner_parts!(Projectron, ProjectronParams, [expansion, factor], |learner| {
    learner.expansion.fits(learner.head.n_scores(), learner.params.budget)
        && learner.factor.n == learner.expansion.len()
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
        learner.factor.forward_into(&at.kernel, &mut at.spare);
        learner.factor.back_into(&at.spare, &mut at.features);
        let delta = 1.0 - dot(&at.spare, &at.spare);
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
    fn the_factor_is_that_of_the_gram_matrix() {
        let points = points(700);
        let mut learner = ProjectronParams::default().budget(60).check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        for (i, x) in points.as_points().rows().enumerate() {
            learner.learn(x.into(), Target::Class(i as u32 % 2), &mut at).unwrap();
        }
        let (kept, factor) = (learner.expansion.points().as_points(), &learner.factor);
        assert!(factor.n > 20);
        for i in 0..factor.n {
            for j in 0..=i {
                let product = dot(&factor.row(i)[..=j], factor.row(j));
                assert!((product - learner.params.kernel.value(kept.row(i), kept.row(j))).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn numbers_are_learned_where_the_kernel_is_flat() {
        let points = points(3000);
        let kernel = AnyKernel::Gaussian(crate::kernel::Gaussian { gamma: 1.0 / 128.0 });
        let params = ProjectronParams::default().kernel(kernel).loss(OnlineLoss::Squared);
        let mut learner = params.check().unwrap().start(points.as_points());
        let mut at = Scratch::default();
        let mut squared = 0.0;
        for x in points.as_points().rows() {
            let y = (2.0 * x.get(0)).sin();
            learner.learn(x.into(), Target::Value(y), &mut at).unwrap();
            squared += (at.scores[0] - y).powi(2);
        }
        // The deviation of the target is 0.67.
        let rmse = (squared / 3000.0).sqrt();
        assert!(rmse < 1.0, "{rmse}");
    }
}
