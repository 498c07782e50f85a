//! Stage 4, batch classifiers: a feature map and a large-margin head.
//!
//! | method | map | head |
//! |---|---|---|
//! | `ik-svm` | isolation codes | linear SVM |
//! | `svm` | none, or isolation codes | kernel SVM |
//! | `chi2-svm` | additive χ² or intersection features | linear SVM |
//! | `linear-svm` | none | linear SVM |
//!
//! Map and head are fitted one after the other, so that a search over C pays for the map of a ψ once and a front end
//! can tell the time of the two apart. Scoring encodes in chunks: its memory does not grow with the rows.
//!
//! # References
//! Paper 1 §8.4, Tables 7 and 8.

mod calibration;
mod floor;
mod map;
mod model;
mod tuning;

use serde::{Deserialize, Serialize};

use crate::data::{Points, PointsBuf};
use crate::error::{Error, Result};
use crate::kernel::{AnyKernel, Kernel};
use crate::map::{AdditiveMapParams, IsolationMapParams};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::Checked;
use crate::solve::{
    CodesMatrix, KernelSvmModel, KernelSvmParams, LinearModel, LinearSvmParams, PointsMatrix, Scheme, class_of_scores,
};

pub use calibration::Calibration;
pub use floor::Floor;
pub use map::{ClassifierMap, FeatureBatch};
pub use model::ClassifierModel;
pub use tuning::{ClassifierTuning, TunedClassifier};

/// Rows that are scored together.
const CHUNK: usize = 1024;

/// Parameters of a classifier, by method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClassifierParams {
    /// Linear SVM on isolation features.
    IkSvm {
        /// The isolation map.
        map: IsolationMapParams,
        /// The linear SVM.
        svm: LinearSvmParams,
    },
    /// Kernel SVM.
    Svm {
        /// The kernel.
        kernel: AnyKernel,
        /// For χ² and intersection: whether columns with negative values are shifted by their training minimum; without
        /// it they are refused.
        #[serde(default)]
        shift: bool,
        /// The kernel SVM.
        svm: KernelSvmParams,
    },
    /// Kernel SVM with the Isolation Kernel. What is kept are weights, since the kernel's map is exact.
    IsolationSvm {
        /// The isolation map.
        map: IsolationMapParams,
        /// The kernel SVM; several classes are told apart one against the rest.
        svm: KernelSvmParams,
    },
    /// Linear SVM on additive-kernel features.
    Chi2Svm {
        /// The additive map.
        map: AdditiveMapParams,
        /// Whether columns with negative values are shifted by their training minimum; without it they are refused.
        shift: bool,
        /// The linear SVM.
        svm: LinearSvmParams,
    },
    /// Linear SVM on the columns themselves.
    LinearSvm {
        /// The linear SVM.
        svm: LinearSvmParams,
    },
}

impl ClassifierParams {
    /// The method's name, as users write it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::IkSvm { .. } => "ik-svm",
            Self::Svm { .. } | Self::IsolationSvm { .. } => "svm",
            Self::Chi2Svm { .. } => "chi2-svm",
            Self::LinearSvm { .. } => "linear-svm",
        }
    }

    /// The isolation map, where there is one.
    pub const fn isolation_map(&self) -> Option<&IsolationMapParams> {
        match self {
            Self::IkSvm { map, .. } | Self::IsolationSvm { map, .. } => Some(map),
            _ => None,
        }
    }

    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        match &self {
            Self::IsolationSvm { map, svm } => {
                map.clone().check()?;
                if svm.clone().check()?.scheme == Scheme::OneVsOne {
                    let (expected, got) = ("one-vs-rest with the isolation kernel".into(), "one-vs-one".into());
                    return Err(Error::Param { name: "scheme", expected, got });
                }
            }
            Self::IkSvm { map, svm } => {
                map.clone().check()?;
                svm.clone().check()?;
            }
            Self::Svm { kernel, svm, .. } => {
                kernel.check()?;
                svm.clone().check()?;
            }
            Self::Chi2Svm { map, svm, .. } => {
                map.clone().check()?;
                svm.clone().check()?;
            }
            Self::LinearSvm { svm } => {
                svm.clone().check()?;
            }
        }
        Ok(Checked::new(self))
    }
}

/// How many rows each class has.
pub fn class_counts(labels: &[u32], n_classes: usize) -> Vec<usize> {
    let mut counts = vec![0; n_classes];
    for &label in labels {
        counts[label as usize] += 1;
    }
    counts
}

/// Factors of C that make every class count alike.
pub fn balanced_weights(labels: &[u32], n_classes: usize) -> Vec<f64> {
    let counts = class_counts(labels, n_classes);
    counts.iter().map(|&count| labels.len() as f64 / (n_classes * count) as f64).collect()
}

/// A fitted head, and whether its solver met its stop rule.
#[derive(Debug)]
pub struct HeadFit {
    /// The head.
    pub head: ClassifierHead,
    /// Whether the stop rule was met for all classes.
    pub converged: bool,
}

/// What turns features into scores.
#[derive(Debug, Clone, PartialEq)]
pub enum ClassifierHead {
    /// Weights.
    Linear(LinearModel),
    /// Sums over support vectors.
    Kernel {
        /// The kernel.
        kernel: AnyKernel,
        /// The support vectors.
        support: PointsBuf,
        /// Coefficients; its row numbers are those of the training rows.
        model: KernelSvmModel,
    },
}

impl Checked<ClassifierParams> {
    /// Fits the map alone.
    pub fn fit_map(&self, points: Points<'_>, run: Run<'_>) -> Result<ClassifierMap> {
        match &**self {
            ClassifierParams::IkSvm { map, .. } | ClassifierParams::IsolationSvm { map, .. } => {
                Ok(ClassifierMap::Isolation(map.clone().check()?.fit(points, run)?.into()))
            }
            ClassifierParams::Chi2Svm { map, shift, .. } => {
                let floor = Floor::of(points, *shift)?;
                Ok(ClassifierMap::Additive { map: map.clone().check()?, floor, columns: points.n_columns() })
            }
            ClassifierParams::Svm { kernel, shift, .. } if kernel.needs_not_negative() => {
                Ok(ClassifierMap::NotNegative { floor: Floor::of(points, *shift)?, columns: points.n_columns() })
            }
            ClassifierParams::Svm { .. } | ClassifierParams::LinearSvm { .. } => {
                Ok(ClassifierMap::Identity { columns: points.n_columns() })
            }
        }
    }

    /// Fits the head on the features of the training rows.
    pub fn fit_head(
        &self,
        features: &FeatureBatch<'_>,
        labels: &[u32],
        n_classes: usize,
        weights: Option<&[f64]>,
        run: Run<'_>,
    ) -> Result<HeadFit> {
        let svm = match &**self {
            ClassifierParams::IsolationSvm { svm, .. } => {
                let codes = features.codes().expect("isolation methods have codes");
                let fit = svm.clone().check()?.fit(&CodesMatrix(codes), labels, n_classes, weights, run)?;
                let converged = fit.reports.iter().all(|report| report.converged);
                return Ok(HeadFit { head: ClassifierHead::Linear(fit.model.on_codes(codes)), converged });
            }
            ClassifierParams::Svm { kernel, svm, .. } => {
                let points = features.points().expect("kernel methods have no codes");
                let matrix = PointsMatrix { kernel: *kernel, points };
                let fit = svm.clone().check()?.fit(&matrix, labels, n_classes, weights, run)?;
                let mut support = PointsBuf::like(&points);
                for &row in fit.model.expansion.rows() {
                    support.push(points.row(row as usize));
                }
                let converged = fit.reports.iter().all(|report| report.converged);
                return Ok(HeadFit {
                    head: ClassifierHead::Kernel { kernel: *kernel, support, model: fit.model },
                    converged,
                });
            }
            ClassifierParams::IkSvm { svm, .. }
            | ClassifierParams::Chi2Svm { svm, .. }
            | ClassifierParams::LinearSvm { svm } => svm.clone().check()?,
        };
        let fit = match features.codes() {
            Some(codes) => svm.fit(codes, labels, n_classes, weights, run)?,
            None => svm.fit(&features.points().expect("either codes or points"), labels, n_classes, weights, run)?,
        };
        let converged = fit.reports.iter().all(|report| report.converged);
        Ok(HeadFit { head: ClassifierHead::Linear(fit.model), converged })
    }

    /// Fits map and head.
    pub fn fit(&self, points: Points<'_>, labels: &[u32], n_classes: usize, run: Run<'_>) -> Result<Classifier> {
        let map = self.fit_map(points, run)?;
        let HeadFit { head, .. } = self.fit_head(&map.encode(points, run)?, labels, n_classes, None, run)?;
        Ok(Classifier::new(map, head))
    }
}

/// A fitted classifier of points into classes `0..n_classes`.
#[derive(Debug, Clone)]
pub struct Classifier {
    map: ClassifierMap,
    head: ClassifierHead,
    calibration: Option<Calibration>,
}

impl Classifier {
    /// Puts a fitted map and a head fitted on its features together.
    pub fn new(map: ClassifierMap, head: ClassifierHead) -> Self {
        Self { map, head, calibration: None }
    }

    /// With a calibration of the head's scores, so that it gives probabilities too.
    ///
    /// # Panics
    /// If the calibration is for another number of classes.
    #[must_use]
    pub fn calibrated(mut self, calibration: Calibration) -> Self {
        assert_eq!(calibration.n_classes(), self.n_classes(), "a calibration of the same classes");
        self.calibration = Some(calibration);
        self
    }

    /// What turns scores into probabilities, if that was asked for.
    pub const fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// The map.
    pub const fn map(&self) -> &ClassifierMap {
        &self.map
    }

    /// The head.
    pub const fn head(&self) -> &ClassifierHead {
        &self.head
    }

    /// Number of classes.
    pub const fn n_classes(&self) -> usize {
        self.head.n_classes()
    }

    /// How many scores a row gets; see [`ClassifierHead::n_scores`].
    pub const fn n_scores(&self) -> usize {
        self.head.n_scores()
    }

    /// The scores of all rows, row by row.
    pub fn scores(&self, points: Points<'_>, run: Run<'_>) -> Result<Vec<f64>> {
        let columns = self.map.n_columns();
        if points.n_columns() != columns {
            return Err(Error::Shape { what: "columns", expected: columns, got: points.n_columns() });
        }
        let width = self.n_scores();
        let mut scores = vec![0.0; points.n_rows() * width];
        if width > 0 {
            run.chunks_mut("score", &mut scores, CHUNK * width, |chunk, out| {
                let first = chunk * CHUNK;
                let rows = points.slice(first..first + out.len() / width);
                let features = self.map.encode(rows, Run::single());
                features.and_then(|features| self.head.scores_into(&features, out)).map_err(|error| match error {
                    Error::Negative { row, column, value } => Error::Negative { row: first + row, column, value },
                    other => other,
                })
            })?;
        }
        Ok(scores)
    }

    /// The class of every row.
    pub fn predict(&self, points: Points<'_>, run: Run<'_>) -> Result<Vec<u32>> {
        Ok(self.head.classes_of(&self.scores(points, run)?, points.n_rows()))
    }

    /// The probability of every class, row by row; `None` without a calibration.
    pub fn probabilities(&self, points: Points<'_>, run: Run<'_>) -> Result<Option<Vec<f64>>> {
        Ok(self.probabilities_of(&self.scores(points, run)?, points.n_rows()))
    }

    /// The probability of every class from the scores of rows; `None` without a calibration.
    pub fn probabilities_of(&self, scores: &[f64], n_rows: usize) -> Option<Vec<f64>> {
        let (calibration, width) = (self.calibration.as_ref()?, self.n_scores());
        let mut probabilities = vec![0.0; n_rows * self.n_classes()];
        for (row, out) in probabilities.chunks_mut(self.n_classes().max(1)).enumerate() {
            calibration.probabilities_into(&scores[row * width..(row + 1) * width], out);
        }
        Some(probabilities)
    }
}

impl ClassifierHead {
    /// Number of classes.
    pub const fn n_classes(&self) -> usize {
        match self {
            Self::Linear(model) => model.n_classes(),
            Self::Kernel { model, .. } => model.n_classes,
        }
    }

    /// How many scores a row gets: one for two classes (class 1 from 0 upwards), else one per class; none for a
    /// single class.
    pub const fn n_scores(&self) -> usize {
        match self {
            Self::Linear(model) => model.n_scores(),
            Self::Kernel { model, .. } => model.n_scores(),
        }
    }

    /// The classes that scores speak for.
    pub fn classes_of(&self, scores: &[f64], n_rows: usize) -> Vec<u32> {
        match self.n_scores() {
            0 => vec![0; n_rows],
            width => scores.chunks_exact(width).map(class_of_scores).collect(),
        }
    }

    /// The scores of a batch of features, row by row, on the calling thread.
    pub fn scores_into(&self, features: &FeatureBatch<'_>, out: &mut [f64]) -> Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        match (self, features.codes(), features.points()) {
            (Self::Linear(model), Some(codes), _) => out.copy_from_slice(&model.scores(codes, Run::single())?),
            (Self::Linear(model), _, Some(points)) => out.copy_from_slice(&model.scores(&points, Run::single())?),
            (Self::Kernel { kernel, support, model }, _, Some(points)) => {
                kernel.check_points(points)?;
                let mut values = vec![0.0; support.n_rows()];
                for (row, out) in points.rows().zip(out.chunks_exact_mut(model.n_scores())) {
                    kernel.row_into(row, support.as_points(), &mut values);
                    model.scores_into(&values, out);
                }
            }
            (Self::Kernel { .. }, _, None) | (Self::Linear(_), None, None) => unreachable!("either codes or points"),
        }
        Ok(())
    }
}

impl Persist for Classifier {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.map.save(out, &format!("{prefix}.map"));
        match &self.head {
            ClassifierHead::Linear(model) => model.save(out, &format!("{prefix}.linear")),
            ClassifierHead::Kernel { kernel, support, model } => {
                out.put_json(&format!("{prefix}.kernel"), kernel);
                support.save(out, &format!("{prefix}.support"));
                model.save(out, &format!("{prefix}.sums"));
            }
        }
        if let Some(calibration) = &self.calibration {
            calibration.save(out, &format!("{prefix}.calibration"));
        }
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let map = ClassifierMap::load(from, &format!("{prefix}.map"))?;
        let name = format!("{prefix}.kernel");
        let head = if from.has_json(&name) {
            let kernel: AnyKernel = from.json(&name)?;
            kernel.check()?;
            let support = PointsBuf::load(from, &format!("{prefix}.support"))?;
            let model = KernelSvmModel::load(from, &format!("{prefix}.sums"))?;
            if support.n_rows() != model.expansion.rows().len() || support.n_columns() != map.n_columns() {
                return Err(bad_part(&name, "does not go with its support vectors"));
            }
            kernel.check_points(support.as_points())?;
            let plain = if kernel.needs_not_negative() {
                matches!(map, ClassifierMap::NotNegative { .. })
            } else {
                matches!(map, ClassifierMap::Identity { .. })
            };
            if !plain {
                return Err(bad_part(&name, "does not go with its feature map"));
            }
            ClassifierHead::Kernel { kernel, support, model }
        } else {
            let model = LinearModel::load(from, &format!("{prefix}.linear"))?;
            if model.n_features() != map.n_features() {
                return Err(bad_part(&format!("{prefix}.linear"), "does not go with its feature map"));
            }
            ClassifierHead::Linear(model)
        };
        let name = format!("{prefix}.calibration");
        let calibration = if from.has_json(&name) { Some(Calibration::load(from, &name)?) } else { None };
        if calibration.as_ref().is_some_and(|calibration| calibration.n_classes() != head.n_classes()) {
            return Err(bad_part(&name, "does not go with the classes"));
        }
        Ok(Self { map, head, calibration })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Chi2, Gaussian, Laplacian};
    use crate::rng::{Component, rng_of};

    /// Four blobs in the unit square, classes on the diagonals: no linear classifier can tell them apart.
    pub(super) fn checkers(n: usize, seed: u64) -> (PointsBuf, Vec<u32>) {
        let mut rng = rng_of(seed, Component::Synthetic, 0);
        let mut labels = Vec::new();
        let rows: Vec<[f64; 2]> = (0..n)
            .map(|_| {
                let (a, b) = (rng.below(2), rng.below(2));
                labels.push(u32::from(a != b));
                let mut near = |centre: usize| (0.25 + 0.5 * centre as f64 + 0.08 * rng.normal()).clamp(0.0, 1.0);
                [near(a), near(b)]
            })
            .collect();
        (PointsBuf::from_rows(&rows).unwrap(), labels)
    }

    fn all_methods() -> Vec<ClassifierParams> {
        let svm = LinearSvmParams::default();
        vec![
            ClassifierParams::IkSvm { map: IsolationMapParams::default().psi(16), svm: svm.clone() },
            ClassifierParams::Svm {
                kernel: AnyKernel::Gaussian(Gaussian { gamma: 10.0 }),
                shift: false,
                svm: KernelSvmParams::default(),
            },
            ClassifierParams::Svm {
                kernel: AnyKernel::Laplacian(Laplacian::of_psi(64.0, 2)),
                shift: false,
                svm: KernelSvmParams::default(),
            },
            ClassifierParams::IsolationSvm {
                map: IsolationMapParams::default().psi(16),
                svm: KernelSvmParams::default(),
            },
            ClassifierParams::Svm {
                kernel: AnyKernel::Chi2(Chi2 {}),
                shift: true,
                svm: KernelSvmParams::default().scheme(Scheme::OneVsOne),
            },
            ClassifierParams::Chi2Svm { map: AdditiveMapParams::default().order(1), shift: false, svm: svm.clone() },
            ClassifierParams::LinearSvm { svm: svm.bias(true) },
        ]
    }

    fn accuracy(classifier: &Classifier, points: &PointsBuf, labels: &[u32]) -> f64 {
        let predicted = classifier.predict(points.as_points(), Run::single()).unwrap();
        let right = predicted.iter().zip(labels).filter(|(a, b)| a == b).count();
        right as f64 / labels.len() as f64
    }

    #[test]
    fn nonlinear_methods_solve_what_a_line_cannot() {
        let ((points, labels), (test, truth)) = (checkers(400, 1), checkers(300, 2));
        let accuracies: Vec<f64> = all_methods()
            .into_iter()
            .map(|params| {
                let fit = params.check().unwrap().fit(points.as_points(), &labels, 2, Run::single()).unwrap();
                accuracy(&fit, &test, &truth)
            })
            .collect();
        assert!(accuracies[..4].iter().all(|&accuracy| accuracy > 0.95), "{accuracies:?}");
        assert!(accuracies[6] < 0.75, "{accuracies:?}");
    }

    #[test]
    fn a_saved_classifier_scores_the_same_bits_on_any_number_of_threads() {
        let (points, labels) = checkers(120, 3);
        // Three classes, so that every kind of score is there.
        let labels: Vec<u32> =
            labels.iter().enumerate().map(|(i, &label)| if i % 5 == 0 { 2 } else { label }).collect();
        for params in all_methods() {
            let params = params.check().unwrap();
            let one = params.fit(points.as_points(), &labels, 3, Run::single()).unwrap();
            let two = params.fit(points.as_points(), &labels, 3, Run::threads(2)).unwrap();
            let bytes = |classifier: &Classifier| {
                let mut out = ModelWriter::new("test");
                classifier.save(&mut out, "classifier");
                out.finish().unwrap()
            };
            assert_eq!(bytes(&one), bytes(&two), "{}", params.name());
            let saved = bytes(&one);
            let loaded = Classifier::load(&ModelReader::parse(&saved).unwrap(), "classifier").unwrap();
            let scores = one.scores(points.as_points(), Run::single()).unwrap();
            assert_eq!(scores, loaded.scores(points.as_points(), Run::threads(3)).unwrap(), "{}", params.name());
            assert_eq!(bytes(&loaded), saved);
        }
    }

    #[test]
    fn negative_values_need_the_shift_and_unseen_lower_ones_count_as_the_lowest() {
        let points = PointsBuf::from_rows(&[[-1.0, 0.5], [1.0, 0.2], [-0.8, 0.4], [0.9, 0.1]]).unwrap();
        let map = |shift| {
            let (map, svm) = (AdditiveMapParams::default(), LinearSvmParams::default());
            ClassifierParams::Chi2Svm { map, shift, svm }.check().unwrap()
        };
        let kernel = |shift| {
            let (kernel, svm) = (AnyKernel::Chi2(Chi2 {}), KernelSvmParams::default());
            ClassifierParams::Svm { kernel, shift, svm }.check().unwrap()
        };
        let mut refusals = Vec::new();
        for chi2 in [&map as &dyn Fn(bool) -> Checked<ClassifierParams>, &kernel] {
            refusals.push(chi2(false).fit(points.as_points(), &[0, 1, 0, 1], 2, Run::single()).unwrap_err());
            let fit = chi2(true).fit(points.as_points(), &[0, 1, 0, 1], 2, Run::single()).unwrap();
            assert_eq!(fit.predict(points.as_points(), Run::single()).unwrap(), [0, 1, 0, 1]);
            let lower = PointsBuf::from_rows(&[[-1.0, 0.5], [-7.0, 0.5]]).unwrap();
            let scores = fit.scores(lower.as_points(), Run::single()).unwrap();
            assert_eq!(scores[0], scores[1]);
        }
        assert!(matches!(refusals[0], Error::Negative { row: 0, .. }));
        assert_eq!(refusals[0], refusals[1], "both methods say the same");
    }

    #[test]
    fn weights_of_an_isolation_kernel_machine_give_the_scores_of_its_sums() {
        let (points, labels) = checkers(150, 6);
        let map = IsolationMapParams::default().psi(8).t(30);
        let svm = KernelSvmParams::default();
        let params = ClassifierParams::IsolationSvm { map: map.clone(), svm: svm.clone() }.check().unwrap();
        let scores = params
            .fit(points.as_points(), &labels, 2, Run::single())
            .unwrap()
            .scores(points.as_points(), Run::single());
        let map = map.check().unwrap().fit(points.as_points(), Run::single()).unwrap();
        let codes = map.encode(points.as_points(), Run::single()).unwrap();
        let model = svm.check().unwrap().fit(&CodesMatrix(&codes), &labels, 2, None, Run::single()).unwrap().model;
        let mut own = [0.0];
        for (i, score) in scores.unwrap().into_iter().enumerate() {
            let support = model.expansion.rows().iter().map(|&row| codes.row(i).similarity(codes.row(row as usize)));
            model.scores_into(&support.collect::<Vec<_>>(), &mut own);
            assert!((own[0] - score).abs() < 1e-9, "{} {score}", own[0]);
        }
        let pairs = KernelSvmParams::default().scheme(Scheme::OneVsOne);
        let map = IsolationMapParams::default();
        assert!(ClassifierParams::IsolationSvm { map, svm: pairs }.check().is_err());
    }

    #[test]
    fn one_class_predicts_itself() {
        let (points, _) = checkers(20, 4);
        for params in all_methods() {
            let fit = params.check().unwrap().fit(points.as_points(), &[0; 20], 1, Run::single()).unwrap();
            assert_eq!(fit.predict(points.as_points(), Run::single()).unwrap(), [0; 20]);
        }
    }

    #[test]
    fn parameters_survive_json() {
        for params in all_methods() {
            let text = serde_json::to_string(&params).unwrap();
            assert_eq!(serde_json::from_str::<ClassifierParams>(&text).unwrap(), params);
        }
    }
}
