//! Linear SVM by dual coordinate descent, the batch classifier on explicit features (IK-SVM, ISK, miFV, CCE).
//!
//! Good when rows are many and features are explicit: a pass costs O(non-zeros), for codes t look-ups per row whatever
//! ψ is. Slow to high precision when C is large; the stop rule's default, 0.1, is meant for prediction.
//!
//! min_w ½‖w‖² + Σ_i C_i·ξ(1 − y_i ⟨w, x_i⟩) with ξ(m) = max(0, m) (hinge, "L1") or max(0, m)² (squared hinge, "L2").
//! Dual: min_α ½‖Σ α_i y_i x_i‖² + Σ α_i²·D_i/2 − Σ α_i, 0 ≤ α_i ≤ U_i, with D = 0, U = C_i (hinge) or D = 1/(2C_i),
//! U = ∞ (squared hinge). One coordinate at a time in random order, shrinking those that stay at a bound; stops when the
//! largest and smallest projected gradients of a pass over all rows differ by at most ε.
//!
//! Several classes are separated one against the rest. Codes are learned from as Φ(x)/√t, so that C means the same for
//! every t, and stored weights absorb the factor: f(x) = ⟨w, Φ(x)⟩ + b on the plain codes.
//!
//! Time O(passes · non-zeros) per class, memory O(n + features) per class besides the rows.
//!
//! # References
//! Hsieh et al., "A dual coordinate descent method for large-scale linear SVM", ICML 2008, Algorithm 3; paper 1 §8.4.

use serde::{Deserialize, Serialize};

use super::rows::{ConcreteRows, RowTask};
use super::{FeatureRows, check_labels, n_scores, row_costs};
use crate::backend::prefetch;
use crate::data::Features;
use crate::error::{Error, Result};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::{Checked, in_range, positive};
use crate::rng::{Component, Rng, rng_of};

/// A variable at its bound rests when its gradient exceeds this share of the last pass's worst violation. LIBLINEAR has
/// 1; on isolation codes a half saves a sixth of the visits at C = 1 (hinge) and costs nothing elsewhere, and a quarter
/// or less needs more passes at C = 100, because too many come back. The stop rule asks all rows in any case.
const EAGERNESS: f64 = 0.5;

/// How many rows ahead the next ones are sent for.
const AHEAD: usize = 2;

/// What a margin below 1 costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// max(0, 1 − m), "L1".
    Hinge,
    /// max(0, 1 − m)², "L2".
    #[default]
    SquaredHinge,
}

/// Parameters of a linear SVM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinearSvmParams {
    loss: Loss,
    c: f64,
    bias: bool,
    epsilon: f64,
    max_passes: usize,
    class_weights: Option<Vec<f64>>,
    seed: u64,
}

impl Default for LinearSvmParams {
    fn default() -> Self {
        Self {
            loss: Loss::SquaredHinge,
            c: 1.0,
            bias: false,
            epsilon: 0.1,
            max_passes: 1000,
            class_weights: None,
            seed: 0,
        }
    }
}

impl LinearSvmParams {
    /// The loss; squared hinge by default.
    #[must_use]
    pub fn loss(mut self, loss: Loss) -> Self {
        self.loss = loss;
        self
    }

    /// The price C of a violated margin, above 0; 1 by default.
    #[must_use]
    pub fn c(mut self, c: f64) -> Self {
        self.c = c;
        self
    }

    /// Whether to learn a bias, as the weight of a constant 1 (so it is regularised); off by default, because it is in
    /// the span of isolation features without gaps.
    #[must_use]
    pub fn bias(mut self, bias: bool) -> Self {
        self.bias = bias;
        self
    }

    /// Largest difference of projected gradients at the end, above 0; 0.1 by default.
    #[must_use]
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// Passes after which to give up; 1000 by default.
    #[must_use]
    pub fn max_passes(mut self, max_passes: usize) -> Self {
        self.max_passes = max_passes;
        self
    }

    /// Factors of C, one per class; 1 by default.
    #[must_use]
    pub fn class_weights(mut self, class_weights: Option<Vec<f64>>) -> Self {
        self.class_weights = class_weights;
        self
    }

    /// The seed of the random order.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        positive("c", self.c)?;
        positive("epsilon", self.epsilon)?;
        in_range("max_passes", self.max_passes, 1..=1_000_000)?;
        self.class_weights.iter().flatten().try_for_each(|&weight| positive("class_weights", weight))?;
        Ok(Checked::new(self))
    }
}

/// Weight vectors, one per score.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel {
    n_classes: usize,
    n_features: usize,
    /// Score by score.
    weights: Vec<f64>,
    /// One per score.
    biases: Vec<f64>,
}

impl LinearModel {
    /// Weights score by score, one bias per score.
    pub(crate) fn from_parts(n_classes: usize, n_features: usize, weights: Vec<f64>, biases: Vec<f64>) -> Self {
        Self { n_classes, n_features, weights, biases }
    }

    /// Number of classes; with one, everything is class 0.
    pub const fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Length of a feature vector.
    pub const fn n_features(&self) -> usize {
        self.n_features
    }

    /// How many scores a row gets: one for two classes, else one per class (none for a single class).
    pub const fn n_scores(&self) -> usize {
        self.biases.len()
    }

    /// The weights of one score.
    pub fn weights(&self, score: usize) -> &[f64] {
        &self.weights[score * self.n_features..(score + 1) * self.n_features]
    }

    /// The bias of one score.
    pub fn bias(&self, score: usize) -> f64 {
        self.biases[score]
    }

    /// The scores f(x) of one row.
    ///
    /// # Panics
    /// If `scores` has not the length [`LinearModel::n_scores`].
    pub fn scores_into(&self, row: impl Features, scores: &mut [f64]) {
        assert_eq!(scores.len(), self.n_scores(), "one place per score");
        for (number, score) in scores.iter_mut().enumerate() {
            *score = row.dot(self.weights(number)) + self.biases[number];
        }
    }

    /// The scores of all rows, row by row.
    pub fn scores<R: FeatureRows>(&self, rows: &R, run: Run<'_>) -> Result<Vec<f64>> {
        const CHUNK: usize = 1024;
        if rows.n_features() != self.n_features {
            return Err(Error::Shape { what: "features", expected: self.n_features, got: rows.n_features() });
        }
        let width = self.n_scores();
        let mut scores = vec![0.0; rows.n_rows() * width];
        if width > 0 {
            run.chunks_mut("score", &mut scores, CHUNK * width, |chunk, out| {
                for (i, out) in out.chunks_exact_mut(width).enumerate() {
                    self.scores_into(rows.row(chunk * CHUNK + i), out);
                }
                Ok(())
            })?;
        }
        Ok(scores)
    }
}

/// What a model file says of a linear model besides its tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    classes: usize,
    features: usize,
}

impl Persist for LinearModel {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(prefix, &Shape { classes: self.n_classes, features: self.n_features });
        out.put_f64(&format!("{prefix}.weights"), &self.weights);
        out.put_f64(&format!("{prefix}.biases"), &self.biases);
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let Shape { classes, features } = from.json(prefix)?;
        let scores = n_scores(classes);
        let weights = scores.checked_mul(features).ok_or_else(|| bad_part(prefix, "is too large"))?;
        Ok(Self {
            n_classes: classes,
            n_features: features,
            weights: from.finite_f64s(&format!("{prefix}.weights"), weights)?,
            biases: from.finite_f64s(&format!("{prefix}.biases"), scores)?,
        })
    }
}

/// How a fit went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearReport {
    /// Passes over the rows.
    pub passes: usize,
    /// Whether the stop rule was met.
    pub converged: bool,
    /// The dual objective to be maximised, Σα − ½‖w‖² − ½Σα²D: a lower bound of the primal one.
    pub dual: f64,
    /// Rows with α above 0.
    pub support: usize,
}

/// A model and how its parts were found.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearFit {
    /// The model.
    pub model: LinearModel,
    /// One report per score.
    pub reports: Vec<LinearReport>,
    /// The dual variables, score by score, one per row.
    pub alphas: Vec<Vec<f64>>,
}

impl Checked<LinearSvmParams> {
    /// Learns from rows with class numbers below `n_classes`; `weights` are factors of C, one per row, at least 0.
    pub fn fit<R: FeatureRows>(
        &self,
        rows: &R,
        labels: &[u32],
        n_classes: usize,
        weights: Option<&[f64]>,
        run: Run<'_>,
    ) -> Result<LinearFit> {
        check_labels(labels, rows.n_rows(), n_classes)?;
        let costs = row_costs(self.c, self.class_weights.as_deref(), labels, n_classes, weights)?;
        let n = n_scores(n_classes);
        let solve = |score: usize, run: Run<'_>| {
            let positive = if n == 1 { 1 } else { score as u32 };
            let signs: Vec<f64> = labels.iter().map(|&label| if label == positive { 1.0 } else { -1.0 }).collect();
            let (params, costs) = (&**self, costs.as_slice());
            let rng = rng_of(self.seed, Component::Descent, score as u64);
            let (n_features, scale2) = (rows.n_features(), rows.scale2());
            rows.with_concrete(Descent { params, n_features, scale2, signs: &signs, costs, rng, run })
        };
        let solved =
            if n == 1 { vec![solve(0, run)?] } else { run.map("solve", n, |score| solve(score, run.inner()))? };
        let mut model = LinearModel { n_classes, n_features: rows.n_features(), weights: vec![], biases: vec![] };
        let (mut reports, mut alphas) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for solution in solved {
            model.weights.extend(solution.weights);
            model.biases.push(solution.bias);
            reports.push(solution.report);
            alphas.push(solution.alphas);
        }
        Ok(LinearFit { model, reports, alphas })
    }
}

/// One two-class problem.
struct Descent<'a, 'r> {
    params: &'a LinearSvmParams,
    n_features: usize,
    scale2: f64,
    signs: &'a [f64],
    costs: &'a [f64],
    rng: Rng,
    run: Run<'r>,
}

struct Solution {
    weights: Vec<f64>,
    bias: f64,
    alphas: Vec<f64>,
    report: LinearReport,
}

/// What a step needs of a row besides its features, in one cache line.
struct Coordinate {
    alpha: f64,
    sign: f64,
    /// Q_ii + D_ii.
    curvature: f64,
    /// D_ii.
    diagonal: f64,
    upper: f64,
}

impl RowTask for Descent<'_, '_> {
    type Output = Result<Solution>;

    fn run<R: ConcreteRows>(mut self, rows: &R) -> Result<Solution> {
        let bias2 = if self.params.bias { 1.0 } else { 0.0 };
        let mut coordinates: Vec<Coordinate> = (0..self.signs.len())
            .map(|i| {
                let (upper, diagonal) = match self.params.loss {
                    Loss::Hinge => (self.costs[i], 0.0),
                    Loss::SquaredHinge => (f64::INFINITY, 0.5 / self.costs[i]),
                };
                let curvature = self.scale2 * rows.squared_norm(i) + bias2 + diagonal;
                Coordinate { alpha: 0.0, sign: self.signs[i], curvature, diagonal, upper }
            })
            .collect();
        // A row of weight 0 takes no part.
        let mut order: Vec<u32> = (0..self.signs.len() as u32).filter(|&i| self.costs[i as usize] > 0.0).collect();
        let (mut weights, mut bias) = (vec![0.0; self.n_features], 0.0);
        let mut active = order.len();
        let (mut highest, mut lowest) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut passes, mut converged) = (0, false);
        while passes < self.params.max_passes && !converged {
            self.run.tick("solve", passes, self.params.max_passes)?;
            passes += 1;
            self.rng.shuffle(&mut order[..active]);
            let (mut max_gradient, mut min_gradient) = (f64::NEG_INFINITY, f64::INFINITY);
            let mut at = 0;
            while at < active {
                let i = order[at] as usize;
                if at + AHEAD < active {
                    let next = order[at + AHEAD] as usize;
                    prefetch(&coordinates, next);
                    rows.fetch(next);
                }
                let row = &mut coordinates[i];
                let gradient = row.sign * (rows.dot(i, &weights) + bias) - 1.0 + row.alpha * row.diagonal;
                let projected = if row.alpha == 0.0 {
                    if gradient > highest {
                        active -= 1;
                        order.swap(at, active);
                        continue;
                    }
                    gradient.min(0.0)
                } else if row.alpha == row.upper {
                    if gradient < lowest {
                        active -= 1;
                        order.swap(at, active);
                        continue;
                    }
                    gradient.max(0.0)
                } else {
                    gradient
                };
                max_gradient = max_gradient.max(projected);
                min_gradient = min_gradient.min(projected);
                if projected.abs() > 1e-12 {
                    let before = row.alpha;
                    row.alpha = (before - gradient / row.curvature).max(0.0).min(row.upper);
                    let step = (row.alpha - before) * row.sign;
                    rows.add_to(i, &mut weights, step * self.scale2);
                    bias += step * bias2;
                }
                at += 1;
            }
            if max_gradient - min_gradient <= self.params.epsilon {
                converged = active == order.len();
                active = order.len();
                (highest, lowest) = (f64::INFINITY, f64::NEG_INFINITY);
            } else {
                highest = if max_gradient > 0.0 { EAGERNESS * max_gradient } else { f64::INFINITY };
                lowest = if min_gradient < 0.0 { EAGERNESS * min_gradient } else { f64::NEG_INFINITY };
            }
        }
        // The regulariser is that of the weights for scaled rows, which are the stored ones divided by the scale.
        let norm2 = weights.iter().map(|w| w * w).sum::<f64>() / self.scale2 + bias * bias;
        let gain: f64 =
            coordinates.iter().map(|row| row.alpha - 0.5 * row.alpha * row.alpha * finite(row.diagonal)).sum();
        let alphas: Vec<f64> = coordinates.iter().map(|row| row.alpha).collect();
        let support = alphas.iter().filter(|&&alpha| alpha > 0.0).count();
        let report = LinearReport { passes, converged, dual: gain - 0.5 * norm2, support };
        Ok(Solution { weights, bias, alphas, report })
    }
}

/// The diagonal of a row that takes part; one of weight 0 has none.
fn finite(diagonal: f64) -> f64 {
    if diagonal.is_finite() { diagonal } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Points, PointsBuf};
    use crate::partition::{CodeStore, Codes};

    /// Two noisy classes in `d` columns, and their labels.
    fn two_classes(n: usize, d: usize, seed: u64) -> (PointsBuf, Vec<u32>) {
        let mut rng = rng_of(seed, Component::Synthetic, 0);
        let labels: Vec<u32> = (0..n).map(|_| rng.below(2) as u32).collect();
        let rows: Vec<Vec<f64>> = labels
            .iter()
            .map(|&label| {
                (0..d).map(|k| if k % 2 == 0 { f64::from(label) } else { 0.5 } + 0.7 * rng.normal()).collect()
            })
            .collect();
        (PointsBuf::from_rows(&rows).unwrap(), labels)
    }

    /// Codes of `n` points with gaps, whose first cell hints at the class, and labels of `classes` classes.
    fn some_codes(n: usize, t: usize, psi: u8, classes: usize) -> (Codes, Vec<u32>) {
        let mut rng = rng_of(9, Component::Synthetic, 1);
        let labels: Vec<u32> = (0..n).map(|_| rng.below(classes) as u32).collect();
        let cells = labels
            .iter()
            .flat_map(|&label| {
                let mut row: Vec<u8> = (0..t).map(|_| rng.below(usize::from(psi) + 1) as u8).collect();
                if rng.below(3) > 0 {
                    row[0] = label as u8;
                }
                row
            })
            .collect();
        (Codes::from_store(CodeStore::U8(cells), t, psi.into()).unwrap(), labels)
    }

    /// The features Φ(x)/√t written out.
    fn expanded(codes: &Codes) -> PointsBuf {
        let value = (1.0 / codes.t() as f64).sqrt();
        let rows: Vec<Vec<f64>> = codes
            .rows()
            .map(|row| {
                let mut features = vec![0.0; codes.n_features()];
                row.features().for_each(|feature| features[feature] = value);
                features
            })
            .collect();
        PointsBuf::from_rows(&rows).unwrap()
    }

    /// ½‖w‖² + C Σ loss, term by term.
    fn primal(points: Points<'_>, labels: &[u32], model: &LinearModel, loss: Loss, c: f64) -> f64 {
        let norm2: f64 = model.weights(0).iter().map(|w| w * w).sum::<f64>() + model.bias(0).powi(2);
        let mut cost = 0.0;
        for (row, &label) in points.rows().zip(labels) {
            let score = Features::dot(row, model.weights(0)) + model.bias(0);
            let slack = (1.0 - if label == 1 { score } else { -score }).max(0.0);
            cost += c * if loss == Loss::Hinge { slack } else { slack * slack };
        }
        0.5 * norm2 + cost
    }

    fn tight() -> LinearSvmParams {
        LinearSvmParams::default().epsilon(1e-6).max_passes(100_000)
    }

    #[test]
    fn the_duality_gap_closes() {
        let (points, labels) = two_classes(150, 4, 1);
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            for (c, bias) in [(0.1, false), (1.0, true), (10.0, false)] {
                let params = tight().loss(loss).c(c).bias(bias).check().unwrap();
                let fit = params.fit(&points.as_points(), &labels, 2, None, Run::single()).unwrap();
                let primal = primal(points.as_points(), &labels, &fit.model, loss, c);
                let gap = primal - fit.reports[0].dual;
                assert!(fit.reports[0].converged);
                assert!(gap >= -1e-9 * primal && gap < 1e-3 * primal, "{loss:?} {c} {bias}: {gap} of {primal}");
            }
        }
    }

    #[test]
    fn codes_give_the_optimum_of_their_written_out_features() {
        let (codes, labels) = some_codes(120, 7, 5, 2);
        let features = expanded(&codes);
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            let params = tight().loss(loss).bias(true).check().unwrap();
            let on_codes = params.fit(&codes, &labels, 2, None, Run::single()).unwrap();
            let on_features = params.fit(&features.as_points(), &labels, 2, None, Run::single()).unwrap();
            let relative = (on_codes.reports[0].dual - on_features.reports[0].dual).abs() / on_features.reports[0].dual;
            assert!(relative < 1e-6, "{loss:?}: {relative}");
            let scores = on_codes.model.scores(&codes, Run::single()).unwrap();
            let expected = on_features.model.scores(&features.as_points(), Run::single()).unwrap();
            assert!(scores.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-4));
        }
    }

    #[test]
    fn dense_and_sparse_storage_give_the_same_bits() {
        let (dense, labels) = two_classes(60, 5, 2);
        let mut sparse = PointsBuf::sparse(5);
        dense.as_points().rows().for_each(|row| sparse.push(row));
        let params = LinearSvmParams::default().check().unwrap();
        let a = params.fit(&dense.as_points(), &labels, 2, None, Run::single()).unwrap();
        let b = params.fit(&sparse.as_points(), &labels, 2, None, Run::single()).unwrap();
        assert_eq!(a, b);
    }

    #[test]
    fn the_order_of_rows_and_the_seed_do_not_move_the_optimum() {
        let (points, labels) = two_classes(100, 3, 3);
        let reversed: Vec<usize> = (0..100).rev().collect();
        let backward = points.select(&reversed);
        let backward_labels: Vec<u32> = reversed.iter().map(|&i| labels[i]).collect();
        let fit = |points: &PointsBuf, labels: &[u32], seed| {
            let params = tight().seed(seed).check().unwrap();
            params.fit(&points.as_points(), labels, 2, None, Run::single()).unwrap()
        };
        let (a, b) = (fit(&points, &labels, 0), fit(&backward, &backward_labels, 5));
        assert!(a.model.weights(0).iter().zip(b.model.weights(0)).all(|(a, b)| (a - b).abs() < 1e-5));
    }

    #[test]
    fn the_optimality_conditions_hold() {
        let (points, labels) = two_classes(80, 4, 4);
        let fit = tight().loss(Loss::Hinge).check().unwrap();
        let fit = fit.fit(&points.as_points(), &labels, 2, None, Run::single()).unwrap();
        let scores = fit.model.scores(&points.as_points(), Run::single()).unwrap();
        for ((&alpha, score), &label) in fit.alphas[0].iter().zip(scores).zip(&labels) {
            let gradient = if label == 1 { score } else { -score } - 1.0;
            let residual = match alpha {
                0.0 => (-gradient).max(0.0),
                1.0 => gradient.max(0.0),
                _ => gradient.abs(),
            };
            assert!(residual <= 1e-6, "alpha {alpha}, gradient {gradient}");
        }
    }

    #[test]
    fn a_weight_of_two_is_a_row_twice_and_a_weight_of_zero_is_no_row() {
        let (points, labels) = two_classes(40, 3, 5);
        let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 3)).collect();
        let rows: Vec<usize> = (0..40).flat_map(|i| vec![i; i % 3]).collect();
        let repeated = points.select(&rows);
        let repeated_labels: Vec<u32> = rows.iter().map(|&i| labels[i]).collect();
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            let params = tight().loss(loss).check().unwrap();
            let weighted = params.fit(&points.as_points(), &labels, 2, Some(&weights), Run::single()).unwrap();
            let plain = params.fit(&repeated.as_points(), &repeated_labels, 2, None, Run::single()).unwrap();
            let (a, b) = (weighted.model.weights(0), plain.model.weights(0));
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5), "{loss:?}: {a:?} {b:?}");
        }
    }

    #[test]
    fn a_zero_row_takes_its_whole_price_and_moves_no_weight() {
        let points = PointsBuf::from_rows(&[[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]]).unwrap();
        let fit = |loss| {
            let params = tight().loss(loss).c(3.0).check().unwrap();
            params.fit(&points.as_points(), &[1, 0, 0], 2, None, Run::single()).unwrap()
        };
        assert_eq!(fit(Loss::SquaredHinge).alphas[0][2], 6.0);
        assert_eq!(fit(Loss::Hinge).alphas[0][2], 3.0);
        assert_eq!(fit(Loss::Hinge).model.weights(0)[1], 0.0);
    }

    #[test]
    fn one_class_gives_a_constant_predictor() {
        let (points, _) = two_classes(5, 2, 6);
        let params = LinearSvmParams::default().check().unwrap();
        let fit = params.fit(&points.as_points(), &[0; 5], 1, None, Run::single()).unwrap();
        assert_eq!(fit.model.n_scores(), 0);
        assert!(fit.model.scores(&points.as_points(), Run::single()).unwrap().is_empty());
    }

    #[test]
    fn several_classes_are_separated_alike_on_any_number_of_threads() {
        let (codes, labels) = some_codes(300, 6, 8, 3);
        let params = LinearSvmParams::default().check().unwrap();
        let one = params.fit(&codes, &labels, 3, None, Run::single()).unwrap();
        let three = params.fit(&codes, &labels, 3, None, Run::threads(3)).unwrap();
        assert_eq!(one, three);
        let scores = one.model.scores(&codes, Run::threads(2)).unwrap();
        let right =
            scores.chunks(3).zip(&labels).filter(|(scores, label)| super::super::class_of_scores(scores) == **label);
        assert!(right.count() > 200, "two thirds of the rows carry their class in the first cell");
    }

    #[test]
    fn bad_input_is_refused() {
        let (points, labels) = two_classes(4, 2, 7);
        assert!(LinearSvmParams::default().c(0.0).check().is_err());
        assert!(LinearSvmParams::default().epsilon(f64::NAN).check().is_err());
        let params = LinearSvmParams::default().check().unwrap();
        assert!(params.fit(&points.as_points(), &labels[1..], 2, None, Run::single()).is_err());
        assert!(params.fit(&points.as_points(), &[0, 1, 2, 0], 2, None, Run::single()).is_err());
        assert!(params.fit(&points.as_points(), &labels, 2, Some(&[1.0, -1.0, 1.0, 1.0]), Run::single()).is_err());
        let weighted = LinearSvmParams::default().class_weights(Some(vec![1.0])).check().unwrap();
        assert!(weighted.fit(&points.as_points(), &labels, 2, None, Run::single()).is_err());
    }
}
