//! Kernel SVM (C-SVC), the batch classifier for kernels without a usable feature map, and the peer of the linear SVM on
//! isolation features (paper 1 Tables 7 and 8).
//!
//! Good on up to some tens of thousands of rows; the time grows between n² and n³. Where a feature map is exact (the
//! Isolation Kernel), the linear SVM finds the same classifier orders of magnitude faster.
//!
//! min_α ½ Σ y_k y_l α_k α_l K_kl − Σ α_k, 0 ≤ α_k ≤ C_k, Σ y_k α_k = 0 (without a bias the last condition falls away);
//! f(x) = Σ y_k α_k κ(x_k, x) − ρ. Several classes: one against the rest, or each pair with voting as in LIBSVM.
//!
//! Time O(n) per step plus kernel rows; memory O(n) plus the cache per problem solved at a time.
//!
//! # References
//! Paper 1 §8.4; Chang and Lin, "LIBSVM: a library for support vector machines", 2011, §2.1, §7.

use serde::{Deserialize, Serialize};

use super::matrix::{KernelMatrix, Part};
use super::smo::{Limits, Problem, solve};
use super::{Expansion, KernelReport, LinearModel, check_labels, row_costs};
use crate::data::Features;
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::{Checked, positive};
use crate::partition::Codes;

/// How several classes are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Each class against all others; the largest value wins.
    #[default]
    OneVsRest,
    /// Each class against each other; the most votes win.
    OneVsOne,
}

/// Parameters of a kernel SVM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KernelSvmParams {
    c: f64,
    bias: bool,
    epsilon: f64,
    cache_bytes: usize,
    pub(crate) scheme: Scheme,
    class_weights: Option<Vec<f64>>,
}

impl Default for KernelSvmParams {
    fn default() -> Self {
        let (c, epsilon, cache_bytes) = (1.0, 1e-3, 256 << 20);
        Self { c, bias: true, epsilon, cache_bytes, scheme: Scheme::OneVsRest, class_weights: None }
    }
}

impl KernelSvmParams {
    /// The price C of a violated margin, above 0; 1 by default.
    #[must_use]
    pub fn c(mut self, c: f64) -> Self {
        self.c = c;
        self
    }

    /// Whether there is a bias; on by default.
    #[must_use]
    pub fn bias(mut self, bias: bool) -> Self {
        self.bias = bias;
        self
    }

    /// Largest violation of optimality at the end, above 0; 0.001 by default.
    #[must_use]
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// Memory for kernel rows, per problem solved at a time; 256 MiB by default.
    #[must_use]
    pub fn cache_bytes(mut self, cache_bytes: usize) -> Self {
        self.cache_bytes = cache_bytes;
        self
    }

    /// How several classes are told apart.
    #[must_use]
    pub fn scheme(mut self, scheme: Scheme) -> Self {
        self.scheme = scheme;
        self
    }

    /// Factors of C, one per class; 1 by default.
    #[must_use]
    pub fn class_weights(mut self, class_weights: Option<Vec<f64>>) -> Self {
        self.class_weights = class_weights;
        self
    }

    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        positive("c", self.c)?;
        positive("epsilon", self.epsilon)?;
        self.class_weights.iter().flatten().try_for_each(|&weight| positive("class_weights", weight))?;
        Ok(Checked::new(self))
    }
}

/// A kernel classifier: sums over training rows, and how they become class scores.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelSvmModel {
    /// Number of classes; with one, everything is class 0.
    pub n_classes: usize,
    /// How several classes are told apart.
    pub scheme: Scheme,
    /// One sum per two-class problem.
    pub expansion: Expansion,
}

impl KernelSvmModel {
    /// How many scores a row gets: one for two classes, else one per class (none for a single class).
    pub const fn n_scores(&self) -> usize {
        super::n_scores(self.n_classes)
    }

    /// The scores from κ(x, x_k) for the rows of the expansion: decision values, or votes of the pairs.
    ///
    /// # Panics
    /// If `scores` has not the length [`KernelSvmModel::n_scores`].
    pub fn scores_into(&self, kernel_values: &[f64], scores: &mut [f64]) {
        assert_eq!(scores.len(), self.n_scores(), "one place per score");
        if self.n_classes <= 2 || self.scheme == Scheme::OneVsRest {
            return self.expansion.values_into(kernel_values, scores);
        }
        let mut decisions = vec![0.0; self.expansion.n_sums()];
        self.expansion.values_into(kernel_values, &mut decisions);
        scores.fill(0.0);
        for ((a, b), decision) in class_pairs(self.n_classes).zip(decisions) {
            scores[if decision >= 0.0 { b } else { a } as usize] += 1.0;
        }
    }
}

impl KernelSvmModel {
    /// The same scores as weights of isolation features, for a model of the Isolation Kernel: Σ c_k K(x_k, x) − ρ =
    /// ⟨w, Φ(x)⟩ − ρ with w = Σ c_k Φ(x_k)/t. `codes` are those it learned from.
    ///
    /// # Panics
    /// If the model votes over pairs of classes, which weights cannot.
    pub fn on_codes(&self, codes: &Codes) -> LinearModel {
        self.on_features(codes.n_features(), |row| codes.row(row), 1.0 / codes.t() as f64)
    }

    /// The same for any features whose inner product, times `scale`, is the kernel.
    pub(crate) fn on_features<F: Features>(&self, n: usize, features: impl Fn(usize) -> F, scale: f64) -> LinearModel {
        assert_eq!(self.expansion.n_sums(), self.n_scores(), "one sum per score");
        let mut weights = vec![0.0; self.n_scores() * n];
        for (sum, weights) in weights.chunks_mut(n.max(1)).enumerate() {
            for (&row, &coefficient) in self.expansion.rows().iter().zip(self.expansion.coefficients(sum)) {
                features(row as usize).add_to(weights, coefficient * scale);
            }
        }
        let biases = (0..self.n_scores()).map(|sum| -self.expansion.rho(sum)).collect();
        LinearModel::from_parts(self.n_classes, n, weights, biases)
    }
}

/// What a model file says of a kernel classifier besides its tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    classes: usize,
    scheme: Scheme,
}

impl Persist for KernelSvmModel {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(prefix, &Shape { classes: self.n_classes, scheme: self.scheme });
        self.expansion.save(out, prefix);
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let Shape { classes, scheme } = from.json(prefix)?;
        let expansion = Expansion::load(from, prefix)?;
        let sums = match (classes, scheme) {
            (0..=2, _) | (_, Scheme::OneVsRest) => super::n_scores(classes),
            (_, Scheme::OneVsOne) => classes.saturating_mul(classes - 1) / 2,
        };
        if sums != expansion.n_sums() {
            return Err(bad_part(prefix, "has another number of sums than its classes need"));
        }
        Ok(Self { n_classes: classes, scheme, expansion })
    }
}

/// All pairs of classes, the first below the second.
fn class_pairs(n_classes: usize) -> impl Iterator<Item = (u32, u32)> {
    (0..n_classes as u32).flat_map(move |a| (a + 1..n_classes as u32).map(move |b| (a, b)))
}

/// A model and how its parts were found.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelSvmFit {
    /// The model.
    pub model: KernelSvmModel,
    /// One report per two-class problem.
    pub reports: Vec<KernelReport>,
}

impl Checked<KernelSvmParams> {
    /// Learns from a kernel matrix and class numbers below `n_classes`; `weights` are factors of C, one per row.
    pub fn fit<M: KernelMatrix>(
        &self,
        matrix: &M,
        labels: &[u32],
        n_classes: usize,
        weights: Option<&[f64]>,
        run: Run<'_>,
    ) -> Result<KernelSvmFit> {
        check_labels(labels, matrix.n(), n_classes)?;
        let costs = row_costs(self.c, self.class_weights.as_deref(), labels, n_classes, weights)?;
        // Which classes stand against which: the second against the first, or one against all (`None`).
        let problems: Vec<(Option<u32>, u32)> = match (n_classes, self.scheme) {
            (0 | 1, _) => vec![],
            (2, _) => vec![(Some(0), 1)],
            (_, Scheme::OneVsRest) => (0..n_classes as u32).map(|class| (None, class)).collect(),
            (_, Scheme::OneVsOne) => class_pairs(n_classes).map(|(a, b)| (Some(a), b)).collect(),
        };
        let part = |number: usize, run: Run<'_>| {
            let (against, class) = problems[number];
            let takes_part = |label: u32| against.is_none_or(|other| label == other || label == class);
            let rows: Vec<u32> = (0..labels.len() as u32)
                .filter(|&row| takes_part(labels[row as usize]) && costs[row as usize] > 0.0)
                .collect();
            self.fit_part(matrix, &rows, |row| if labels[row as usize] == class { 1.0 } else { -1.0 }, &costs, run)
        };
        let solved = match problems.len() {
            1 => vec![part(0, run)?],
            several => run.map("solve", several, |number| part(number, run.inner()))?,
        };
        let (sums, reports): (Vec<_>, Vec<_>) = solved.into_iter().unzip();
        let expansion = Expansion::new(matrix.n(), sums);
        Ok(KernelSvmFit { model: KernelSvmModel { n_classes, scheme: self.scheme, expansion }, reports })
    }

    /// Solves one two-class problem: the coefficients of all rows and ρ.
    fn fit_part<M: KernelMatrix>(
        &self,
        matrix: &M,
        rows: &[u32],
        sign: impl Fn(u32) -> f64,
        costs: &[f64],
        run: Run<'_>,
    ) -> Result<((Vec<f64>, f64), KernelReport)> {
        let problem = Problem {
            signs: rows.iter().map(|&row| sign(row)).collect(),
            uppers: rows.iter().map(|&row| costs[row as usize]).collect(),
            linear: vec![-1.0; rows.len()],
            start: vec![0.0; rows.len()],
            bias: self.bias,
        };
        let limits = Limits::new(self.epsilon, rows.len(), self.cache_bytes);
        let optimum = solve(&Part { whole: matrix, rows }, &problem, limits, run)?;
        let mut coefficients = vec![0.0; matrix.n()];
        for ((&row, alpha), sign) in rows.iter().zip(&optimum.alphas).zip(&problem.signs) {
            coefficients[row as usize] = alpha * sign;
        }
        Ok(((coefficients, optimum.rho), KernelReport::of(&optimum)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;
    use crate::kernel::{Gaussian, gram};
    use crate::partition::CodeStore;
    use crate::rng::{Component, rng_of};
    use crate::solve::matrix::{CodesMatrix, PointsMatrix, Precomputed};
    use crate::solve::{LinearSvmParams, Loss};

    const GAUSSIAN: Gaussian = Gaussian { gamma: 0.8 };

    /// Points in rings: the class is the ring, with some noise.
    fn rings(n: usize, classes: usize, seed: u64) -> (PointsBuf, Vec<u32>) {
        let mut rng = rng_of(seed, Component::Synthetic, 0);
        let labels: Vec<u32> = (0..n).map(|i| (i % classes) as u32).collect();
        let rows: Vec<[f64; 2]> = labels
            .iter()
            .map(|&label| {
                let (angle, radius) = (std::f64::consts::TAU * rng.open01(), f64::from(label) + 0.4 * rng.normal());
                [radius * angle.cos(), radius * angle.sin()]
            })
            .collect();
        (PointsBuf::from_rows(&rows).unwrap(), labels)
    }

    fn tight() -> KernelSvmParams {
        KernelSvmParams::default().epsilon(1e-7)
    }

    /// The dual objective from its definition.
    fn dual(values: &[f64], coefficients: &[f64]) -> f64 {
        let n = coefficients.len();
        let mut quadratic = 0.0;
        for i in 0..n {
            for j in 0..n {
                quadratic += coefficients[i] * coefficients[j] * values[i * n + j];
            }
        }
        0.5 * quadratic - coefficients.iter().map(|c| c.abs()).sum::<f64>()
    }

    /// The same problem by projected gradient descent: plain, slow, obviously right. The projection onto
    /// {0 ≤ α ≤ C, Σ yα = 0} is by bisection over the multiplier.
    fn by_projected_gradient(values: &[f64], labels: &[u32], c: f64) -> f64 {
        let n = labels.len();
        let signs: Vec<f64> = labels.iter().map(|&label| if label == 1 { 1.0 } else { -1.0 }).collect();
        let rate = 1.0 / n as f64;
        let mut alphas = vec![0.0; n];
        for _ in 0..20_000 {
            let moved: Vec<f64> = (0..n)
                .map(|i| {
                    let force: f64 = (0..n).map(|j| signs[j] * alphas[j] * values[i * n + j]).sum();
                    alphas[i] - rate * (signs[i] * force - 1.0)
                })
                .collect();
            let clipped = |shift: f64| -> Vec<f64> {
                moved.iter().zip(&signs).map(|(alpha, sign)| (alpha - shift * sign).clamp(0.0, c)).collect()
            };
            let (mut low, mut high) = (-100.0, 100.0);
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                let balance: f64 = clipped(middle).iter().zip(&signs).map(|(alpha, sign)| alpha * sign).sum();
                if balance > 0.0 { low = middle } else { high = middle }
            }
            alphas = clipped(low);
        }
        let coefficients: Vec<f64> = alphas.iter().zip(&signs).map(|(alpha, sign)| alpha * sign).collect();
        dual(values, &coefficients)
    }

    /// Coefficients of all training rows.
    fn full(model: &KernelSvmModel, n: usize) -> Vec<f64> {
        let mut coefficients = vec![0.0; n];
        for (&row, &coefficient) in model.expansion.rows().iter().zip(model.expansion.coefficients(0)) {
            coefficients[row as usize] = coefficient;
        }
        coefficients
    }

    #[test]
    fn the_optimum_is_that_of_a_plain_solver() {
        let (points, labels) = rings(30, 2, 1);
        let values = gram(&GAUSSIAN, points.as_points(), points.as_points(), Run::single()).unwrap();
        let matrix = Precomputed::new(&values, 30).unwrap();
        for c in [0.5, 5.0] {
            let fit = tight().c(c).check().unwrap().fit(&matrix, &labels, 2, None, Run::single()).unwrap();
            let (ours, plain) = (dual(&values, &full(&fit.model, 30)), by_projected_gradient(&values, &labels, c));
            assert!((ours - plain).abs() < 1e-4 * plain.abs(), "{ours} {plain}");
            assert!((fit.reports[0].objective - ours).abs() < 1e-9 * ours.abs());
        }
    }

    #[test]
    fn the_optimality_conditions_hold_whatever_the_cache() {
        let (points, labels) = rings(120, 2, 2);
        let matrix = PointsMatrix { kernel: GAUSSIAN, points: points.as_points() };
        let fit = |bytes| {
            let params = KernelSvmParams::default().cache_bytes(bytes).check().unwrap();
            params.fit(&matrix, &labels, 2, None, Run::single()).unwrap()
        };
        let model = fit(1 << 20).model;
        assert_eq!(model, fit(0).model);
        let coefficients = full(&model, 120);
        assert!(coefficients.iter().sum::<f64>().abs() < 1e-9);
        let mut row = vec![0.0; 120];
        let (mut highest, mut lowest) = (f64::NEG_INFINITY, f64::INFINITY);
        for (i, &label) in labels.iter().enumerate() {
            matrix.row_into(i, &mut row);
            let score: f64 = row.iter().zip(&coefficients).map(|(k, c)| k * c).sum();
            let sign = if label == 1 { 1.0 } else { -1.0 };
            let (force, alpha) = (score - sign, coefficients[i] * sign);
            if if sign > 0.0 { alpha < 1.0 } else { alpha > 0.0 } {
                lowest = lowest.min(force);
            }
            if if sign > 0.0 { alpha > 0.0 } else { alpha < 1.0 } {
                highest = highest.max(force);
            }
        }
        assert!(highest - lowest <= 1e-3 + 1e-9, "{highest} {lowest}");
    }

    #[test]
    fn on_the_isolation_kernel_it_is_the_linear_svm_on_isolation_features() {
        let mut rng = rng_of(3, Component::Synthetic, 0);
        let labels: Vec<u32> = (0..150).map(|_| rng.below(2) as u32).collect();
        let cells = labels
            .iter()
            .flat_map(|&label| {
                (0..20).map(|_| (rng.below(6) + if label == 1 { rng.below(3) } else { 0 }) as u8).collect::<Vec<_>>()
            })
            .collect();
        let codes = Codes::from_store(CodeStore::U8(cells), 20, 8).unwrap();
        let kernel = tight().bias(false).check().unwrap();
        let kernel = kernel.fit(&CodesMatrix(&codes), &labels, 2, None, Run::single()).unwrap();
        let linear = LinearSvmParams::default().loss(Loss::Hinge).epsilon(1e-7).max_passes(100_000).check().unwrap();
        let linear = linear.fit(&codes, &labels, 2, None, Run::single()).unwrap();
        let linear_scores = linear.model.scores(&codes, Run::single()).unwrap();
        let mut score = [0.0];
        for (i, expected) in linear_scores.iter().enumerate() {
            let support = kernel.model.expansion.rows();
            let mut values = vec![0.0; support.len()];
            CodesMatrix(&codes).entries_into(i, support, &mut values);
            kernel.model.scores_into(&values, &mut score);
            assert!((score[0] - expected).abs() < 1e-3, "{} {expected}", score[0]);
        }
        assert!((kernel.reports[0].objective + linear.reports[0].dual).abs() < 1e-4);
    }

    #[test]
    fn both_schemes_tell_three_rings_apart_on_any_number_of_threads() {
        let (points, labels) = rings(240, 3, 4);
        let matrix = PointsMatrix { kernel: GAUSSIAN, points: points.as_points() };
        for scheme in [Scheme::OneVsRest, Scheme::OneVsOne] {
            let params = KernelSvmParams::default().c(10.0).scheme(scheme).check().unwrap();
            let fit = params.fit(&matrix, &labels, 3, None, Run::single()).unwrap();
            assert_eq!(fit, params.fit(&matrix, &labels, 3, None, Run::threads(3)).unwrap());
            let mut right = 0;
            for (i, &label) in labels.iter().enumerate() {
                let (mut values, mut scores) = (vec![0.0; fit.model.expansion.rows().len()], vec![0.0; 3]);
                matrix.entries_into(i, fit.model.expansion.rows(), &mut values);
                fit.model.scores_into(&values, &mut scores);
                right += usize::from(crate::solve::class_of_scores(&scores) == label);
            }
            assert!(right > 180, "{scheme:?}: {right} of 240");
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_semi_definite_still_ends() {
        let mut rng = rng_of(5, Component::Synthetic, 0);
        let n = 40;
        let mut values = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                values[i * n + j] = rng.normal();
                values[j * n + i] = values[i * n + j];
            }
        }
        let labels: Vec<u32> = (0..n).map(|i| (i % 2) as u32).collect();
        for bias in [true, false] {
            let params = KernelSvmParams::default().bias(bias).check().unwrap();
            let fit = params.fit(&Precomputed::new(&values, n).unwrap(), &labels, 2, None, Run::single()).unwrap();
            assert!(fit.model.expansion.coefficients(0).iter().all(|c| c.abs() <= 1.0));
        }
    }

    #[test]
    fn one_class_and_one_sided_problems_have_an_answer() {
        let (points, _) = rings(10, 2, 6);
        let matrix = PointsMatrix { kernel: GAUSSIAN, points: points.as_points() };
        let params = KernelSvmParams::default().check().unwrap();
        assert_eq!(params.fit(&matrix, &[0; 10], 1, None, Run::single()).unwrap().model.n_scores(), 0);
        let fit = params.fit(&matrix, &[1; 10], 2, None, Run::single()).unwrap();
        let mut score = [f64::NAN];
        fit.model.scores_into(&vec![0.0; fit.model.expansion.rows().len()], &mut score);
        assert!(score[0] >= 0.0, "all training rows are of class 1");
    }
}
