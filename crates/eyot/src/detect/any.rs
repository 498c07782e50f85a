//! The detector that a user names: method, ψ or "auto", and what else the method takes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{
    Detector, GaussianMean, GaussianNystrom, Idk, Inne, IsolationForest, MultiScale, MultiScaleParams, Norm,
    OneClassSvm, ScaleRule,
};
use crate::data::Points;
use crate::error::{Error, Result};
use crate::map::{IsolationMap, IsolationMapParams, LandmarkDraw};
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::parallel::Run;
use crate::params::{Checked, in_range, positive};
use crate::partition::Partition;
use crate::score::{Contamination, Threshold};
use crate::solve::OneClassParams;

/// The methods of detection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DetectMethod {
    /// K_I, the Isolation Distributional Kernel.
    #[default]
    Idk,
    /// iNNE.
    Inne,
    /// ‖Φ(x)‖.
    Norm,
    /// Isolation forest.
    Iforest,
    /// K_G, the Gaussian mean embedding.
    Gaussian,
    /// K_NG, the same through Nyström features.
    GaussianNystrom,
    /// One-class SVM.
    Ocsvm,
}

impl DetectMethod {
    /// All methods, in the order of the manual.
    pub const ALL: [Self; 7] =
        [Self::Idk, Self::Inne, Self::Norm, Self::Iforest, Self::Gaussian, Self::GaussianNystrom, Self::Ocsvm];

    /// The name, as users write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idk => "idk",
            Self::Inne => "inne",
            Self::Norm => "norm",
            Self::Iforest => "iforest",
            Self::Gaussian => "gaussian",
            Self::GaussianNystrom => "gaussian-nystrom",
            Self::Ocsvm => "ocsvm",
        }
    }
}

impl fmt::Display for DetectMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DetectMethod {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|method| method.name()).collect();
            Error::Param { name: "method", expected: format!("one of {}", names.join(", ")), got: name.into() }
        })
    }
}

/// What a detector is made with; each method takes what concerns it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DetectorParams {
    method: DetectMethod,
    pub(super) psi: Option<usize>,
    max_psi: Option<usize>,
    pub(super) t: usize,
    pub(super) seed: u64,
    sigma: Option<f64>,
    nu: f64,
    landmarks: LandmarkDraw,
}

impl Default for DetectorParams {
    fn default() -> Self {
        Self {
            method: DetectMethod::Idk,
            psi: None,
            max_psi: None,
            t: 100,
            seed: 0,
            sigma: None,
            nu: 0.5,
            landmarks: LandmarkDraw::Uniform,
        }
    }
}

impl DetectorParams {
    /// The method; K_I by default.
    #[must_use]
    pub fn method(mut self, method: DetectMethod) -> Self {
        self.method = method;
        self
    }

    /// Rows sampled per partitioning, ψ; `None`, the default, scores at many scales (isolation forest: takes 256).
    #[must_use]
    pub fn psi(mut self, psi: Option<usize>) -> Self {
        self.psi = psi;
        self
    }

    /// The largest ψ of many scales; by default as [`MultiScaleParams::max_psi`] has it.
    #[must_use]
    pub fn max_psi(mut self, max_psi: Option<usize>) -> Self {
        self.max_psi = max_psi;
        self
    }

    /// Partitionings or trees, t; 100 by default.
    #[must_use]
    pub fn t(mut self, t: usize) -> Self {
        self.t = t;
        self
    }

    /// Where all randomness comes from; 0 by default.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Bandwidth of Gaussian kernels; by default the median distance between rows.
    #[must_use]
    pub fn sigma(mut self, sigma: Option<f64>) -> Self {
        self.sigma = sigma;
        self
    }

    /// Share of rows that a one-class SVM may leave outside, above 0 and at most 1; 0.5 by default.
    #[must_use]
    pub fn nu(mut self, nu: f64) -> Self {
        self.nu = nu;
        self
    }

    /// How the landmarks of K_NG are drawn; uniformly by default.
    #[must_use]
    pub fn landmarks(mut self, landmarks: LandmarkDraw) -> Self {
        self.landmarks = landmarks;
        self
    }

    /// The method's name, as users write it.
    pub const fn name(&self) -> &'static str {
        self.method.name()
    }

    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        if let Some(psi) = self.psi {
            in_range("psi", psi, 2..=1 << 20)?;
        }
        if let Some(sigma) = self.sigma {
            positive("sigma", sigma)?;
        }
        if let Some(max_psi) = self.max_psi {
            in_range("max-psi", max_psi, 2..=1 << 20)?;
        }
        OneClassParams::default().nu(self.nu).check()?;
        in_range("t", self.t, 1..=1 << 20)?;
        Ok(Checked::new(self))
    }
}

/// ψ of the isolation forest when none is given, as in its paper.
const FOREST_PSI: usize = 256;

impl Checked<DetectorParams> {
    /// Fits, and scores the same rows.
    pub fn fit_score(&self, points: Points<'_>, run: Run<'_>) -> Result<(AnyDetector, Vec<f64>)> {
        let scales = |rule| {
            let params = MultiScaleParams::default().rule(rule).max_psi(self.max_psi).t(self.t).seed(self.seed);
            let (model, scores) = params.check()?.fit_score(points, run)?;
            Ok((AnyDetector::MultiScale(model), scores))
        };
        let map = |psi| IsolationMapParams::default().partition(Partition::Sphere).psi(psi).t(self.t).seed(self.seed);
        let detector = match (self.method, self.psi) {
            (DetectMethod::Idk | DetectMethod::Inne, None) => return scales(ScaleRule::Ratio),
            (DetectMethod::Norm, None) => return scales(ScaleRule::Coverage),
            (DetectMethod::Idk, Some(psi)) => {
                let (idk, scores) = Idk::fit_score(&map(psi).check()?, points, run)?;
                return Ok((AnyDetector::Idk(idk), scores));
            }
            (DetectMethod::Inne, Some(psi)) => AnyDetector::Inne(Inne::fit(psi, self.t, self.seed, points, run)?),
            (DetectMethod::Norm, Some(psi)) => AnyDetector::Norm(Norm::fit(&map(psi).check()?, points, run)?),
            (DetectMethod::Iforest, psi) => {
                let psi = psi.unwrap_or(FOREST_PSI);
                AnyDetector::Iforest(IsolationForest::fit(psi, self.t, self.seed, points, run)?)
            }
            (DetectMethod::Gaussian, _) => AnyDetector::Gaussian(GaussianMean::fit(self.sigma, self.seed, points)?),
            (DetectMethod::GaussianNystrom, _) => {
                let how = self.landmarks;
                AnyDetector::GaussianNystrom(GaussianNystrom::fit(self.sigma, None, how, self.seed, points, run)?)
            }
            (DetectMethod::Ocsvm, _) => {
                AnyDetector::Ocsvm(OneClassSvm::fit(self.sigma, self.nu, self.seed, points, run)?)
            }
        };
        let scores = detector.score(points, run)?;
        Ok((detector, scores))
    }
}

/// A fitted detector of any method.
#[derive(Debug, Clone)]
pub enum AnyDetector {
    /// K_I at one ψ.
    Idk(Idk),
    /// iNNE at one ψ.
    Inne(Inne),
    /// ‖Φ(x)‖ at one ψ.
    Norm(Norm),
    /// Isolation forest.
    Iforest(IsolationForest),
    /// K_G.
    Gaussian(GaussianMean),
    /// K_NG.
    GaussianNystrom(GaussianNystrom),
    /// One-class SVM.
    Ocsvm(OneClassSvm),
    /// Many scales.
    MultiScale(MultiScale),
}

/// Runs an expression on the detector inside an [`AnyDetector`].
macro_rules! with_detector {
    ($any:expr, $detector:ident => $body:expr) => {
        match $any {
            AnyDetector::Idk($detector) => $body,
            AnyDetector::Inne($detector) => $body,
            AnyDetector::Norm($detector) => $body,
            AnyDetector::Iforest($detector) => $body,
            AnyDetector::Gaussian($detector) => $body,
            AnyDetector::GaussianNystrom($detector) => $body,
            AnyDetector::Ocsvm($detector) => $body,
            AnyDetector::MultiScale($detector) => $body,
        }
    };
}

impl AnyDetector {
    /// What the model file calls it.
    const fn tag(&self) -> &'static str {
        match self {
            Self::Idk(_) => "idk",
            Self::Inne(_) => "inne",
            Self::Norm(_) => "norm",
            Self::Iforest(_) => "iforest",
            Self::Gaussian(_) => "gaussian",
            Self::GaussianNystrom(_) => "gaussian-nystrom",
            Self::Ocsvm(_) => "ocsvm",
            Self::MultiScale(_) => "multi-scale",
        }
    }

    /// The ψ in use, after clamping to the rows; `None` for many scales and for methods without one.
    pub fn psi(&self) -> Option<usize> {
        self.map().map(IsolationMap::psi)
    }

    /// The detector of many scales, if it is one.
    pub const fn multi_scale(&self) -> Option<&MultiScale> {
        match self {
            Self::MultiScale(model) => Some(model),
            _ => None,
        }
    }

    /// Counts more rows and scores them by all rows so far, where the method is a mean over rows in partitionings that
    /// can stay: K_I at one ψ. A failure leaves the detector as it was.
    pub fn extend(&mut self, points: Points<'_>, run: Run<'_>) -> Result<Vec<f64>> {
        match self {
            Self::Idk(idk) => idk.extend(points, run),
            _ => Err(Error::Data(format!(
                "a detector of kind `{}` cannot take in more rows; `idk` with a number for psi can",
                self.tag()
            ))),
        }
    }

    /// The threshold for the scores of the fitting data.
    pub fn threshold(&self, scores: &[f64], contamination: Contamination) -> Result<Threshold> {
        Threshold::fit_with_end(scores, contamination, self.highest())
    }

    /// The score of a row infinitely far away, where that is an end.
    fn highest(&self) -> Option<f64> {
        match self {
            Self::Idk(_) | Self::Norm(_) | Self::Gaussian(_) | Self::GaussianNystrom(_) => Some(0.0),
            Self::Inne(_) => Some(1.0),
            Self::MultiScale(model) => Some(model.highest()),
            Self::Iforest(_) | Self::Ocsvm(_) => None,
        }
    }

    /// Rows that stand for the data, for methods that cannot use them all.
    pub const fn sampled_rows(&self) -> Option<usize> {
        match self {
            Self::Gaussian(detector) => Some(detector.n_rows()),
            Self::Ocsvm(detector) => Some(detector.n_rows()),
            _ => None,
        }
    }

    fn map(&self) -> Option<&IsolationMap> {
        match self {
            Self::Idk(detector) => Some(detector.map()),
            Self::Inne(detector) => Some(detector.map()),
            Self::Norm(detector) => Some(detector.map()),
            Self::Iforest(detector) => Some(detector.map()),
            Self::Gaussian(_) | Self::GaussianNystrom(_) | Self::Ocsvm(_) | Self::MultiScale(_) => None,
        }
    }
}

impl Detector for AnyDetector {
    fn n_columns(&self) -> usize {
        with_detector!(self, detector => detector.n_columns())
    }

    fn score_chunk(&self, points: Points<'_>, scores: &mut [f64]) -> Result<()> {
        with_detector!(self, detector => detector.score_chunk(points, scores))
    }
}

impl Persist for AnyDetector {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.kind"), &self.tag());
        with_detector!(self, detector => detector.save(out, prefix));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let tag: String = from.json(&format!("{prefix}.kind"))?;
        Ok(match tag.as_str() {
            "idk" => Self::Idk(Idk::load(from, prefix)?),
            "inne" => Self::Inne(Inne::load(from, prefix)?),
            "norm" => Self::Norm(Norm::load(from, prefix)?),
            "iforest" => Self::Iforest(IsolationForest::load(from, prefix)?),
            "gaussian" => Self::Gaussian(GaussianMean::load(from, prefix)?),
            "gaussian-nystrom" => Self::GaussianNystrom(GaussianNystrom::load(from, prefix)?),
            "ocsvm" => Self::Ocsvm(OneClassSvm::load(from, prefix)?),
            "multi-scale" => Self::MultiScale(MultiScale::load(from, prefix)?),
            other => return Err(Error::Model(format!("this program does not know the detector `{other}`"))),
        })
    }
}

/// Laws that hold for every detector.
#[cfg(test)]
mod tests {
    use super::super::testing::{blob_with_outlier, clumps};
    use super::*;
    use crate::data::PointsBuf;

    fn every() -> Vec<DetectorParams> {
        let base = || DetectorParams::default().t(30).max_psi(Some(32));
        let fixed = DetectMethod::ALL.map(|method| base().method(method).psi(Some(8)));
        let leverage = base().method(DetectMethod::GaussianNystrom).landmarks(LandmarkDraw::Leverage);
        fixed.into_iter().chain(DetectMethod::ALL.map(|method| base().method(method))).chain([leverage]).collect()
    }

    fn fit(params: &DetectorParams, points: &PointsBuf, run: Run<'_>) -> (AnyDetector, Vec<f64>) {
        params.clone().check().unwrap().fit_score(points.as_points(), run).unwrap()
    }

    fn order(scores: &[f64]) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..scores.len()).collect();
        rows.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        rows
    }

    #[test]
    fn a_row_alone_in_a_batch_and_in_the_fit_has_one_score_bit_for_bit() {
        for points in [blob_with_outlier(700, 3), clumps(200, 3)] {
            for params in every() {
                let (detector, fitted) = fit(&params, &points, Run::single());
                assert_eq!(detector.score(points.as_points(), Run::single()).unwrap(), fitted, "{params:?}");
                for row in [0, 5, 150, points.n_rows() - 1] {
                    let alone = detector.score(points.as_points().slice(row..row + 1), Run::single()).unwrap();
                    assert_eq!(alone, [fitted[row]], "{params:?}");
                }
            }
        }
    }

    #[test]
    fn two_threads_give_the_same_numbers() {
        let points = blob_with_outlier(1300, 2);
        for params in every() {
            assert_eq!(fit(&params, &points, Run::threads(2)).1, fit(&params, &points, Run::single()).1, "{params:?}");
        }
    }

    #[test]
    fn sparse_and_single_precision_storage_give_the_same_numbers() {
        let points = clumps(150, 4);
        let (mut sparse, mut single) = (PointsBuf::sparse(4), PointsBuf::dense_f32(4));
        for row in points.as_points().rows() {
            sparse.push(row);
            single.push(row);
        }
        for params in every() {
            let expected = fit(&params, &points, Run::single()).1;
            assert_eq!(fit(&params, &sparse, Run::single()).1, expected, "{params:?}");
            assert_eq!(fit(&params, &single, Run::single()).1, expected, "{params:?}");
        }
    }

    #[test]
    fn the_scale_of_the_data_changes_no_ranking() {
        let points = blob_with_outlier(300, 3);
        for params in every() {
            let expected = order(&fit(&params, &points, Run::single()).1);
            // A solver that stops early follows rounding, so it is given factors that round nothing.
            let solver = params.method == DetectMethod::Ocsvm;
            for factor in if solver { [1.0 / 128.0, 128.0] } else { [0.01, 100.0] } {
                let values: Vec<f64> =
                    points.as_points().rows().flat_map(|row| (0..3).map(move |k| row.get(k) * factor)).collect();
                let scaled = PointsBuf::from_dense(values, 3).unwrap();
                assert_eq!(order(&fit(&params, &scaled, Run::single()).1), expected, "{params:?} times {factor}");
            }
        }
    }

    #[test]
    fn no_row_is_above_the_outlier() {
        let points = blob_with_outlier(300, 3);
        for params in every() {
            let scores = fit(&params, &points, Run::single()).1;
            assert!(scores.iter().all(|&score| score <= scores[300]), "{params:?}");
        }
    }

    #[test]
    fn a_row_far_away_is_flagged_and_most_others_are_not() {
        let points = blob_with_outlier(400, 2);
        for params in every().into_iter().filter(|params| params.method != DetectMethod::Ocsvm) {
            let (detector, scores) = fit(&params, &points, Run::single());
            let threshold = detector.threshold(&scores, Contamination::Auto).unwrap();
            assert!(threshold.flags(scores[400]), "{params:?}: {} {threshold:?}", scores[400]);
            let flagged = scores.iter().filter(|&&score| threshold.flags(score)).count();
            assert!(flagged <= 40, "{params:?}: {flagged}");
        }
    }

    #[test]
    fn a_model_comes_back_from_its_bytes_with_the_same_scores() {
        let points = blob_with_outlier(200, 2);
        for params in every() {
            let (detector, scores) = fit(&params, &points, Run::single());
            let mut out = ModelWriter::new("test");
            detector.save(&mut out, "detector");
            let bytes = out.finish().unwrap();
            let back = AnyDetector::load(&ModelReader::parse(&bytes).unwrap(), "detector").unwrap();
            assert_eq!(back.score(points.as_points(), Run::single()).unwrap(), scores, "{params:?}");
            let mut again = ModelWriter::new("test");
            back.save(&mut again, "detector");
            assert_eq!(again.finish().unwrap(), bytes, "{params:?}");
        }
    }

    #[test]
    fn rows_of_another_width_and_empty_data_are_refused() {
        let (points, narrow) = (blob_with_outlier(50, 3), blob_with_outlier(5, 2));
        for params in every() {
            let (detector, _) = fit(&params, &points, Run::single());
            assert!(detector.score(narrow.as_points(), Run::single()).is_err(), "{params:?}");
            let empty = PointsBuf::dense(3);
            let outcome = params.clone().check().unwrap().fit_score(empty.as_points(), Run::single());
            assert_eq!(outcome.unwrap_err(), Error::Empty, "{params:?}");
        }
    }

    #[test]
    fn names_are_read_back_and_unknown_ones_refused() {
        for method in DetectMethod::ALL {
            assert_eq!(method.name().parse::<DetectMethod>().unwrap(), method);
        }
        assert!("lof".parse::<DetectMethod>().unwrap_err().to_string().contains("idk, inne"));
    }
}
