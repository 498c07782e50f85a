//! A learner chosen at run time, by the name of its method.

use serde::{Deserialize, Serialize};

use super::{
    AdaRaker, AdaRakerParams, Ahead, Bogd, BogdParams, Bpas, BpasParams, BsgdM, BsgdMParams, DualSgd, DualSgdParams,
    Fogd, FogdParams, Forgetron, ForgetronParams, Head, IkOgd, IkOgdParams, IkRefresh, IkRefreshParams, Input,
    Landmarks, Nogd, NogdParams, Ogd, OgdParams, OnlineLearner, OnlineLoss, Perceptron, PerceptronParams, Projectron,
    ProjectronParams, Rbp, RbpParams, Refresh, Removal, Rrf, RrfParams, Scratch, Target, Targets,
};
use crate::data::Points;
use crate::error::{Error, Result};
use crate::kernel::{AnyKernel, Gaussian};
use crate::map::{IsolationMapParams, MAX_LOG_WIDTH};
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::parallel::Run;
use crate::params::{Checked, params};

/// The name of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Method {
    /// Gradient descent on the isolation map.
    #[serde(rename = "ik-ogd")]
    IkOgd,
    /// Reparameterised random features.
    #[serde(rename = "rrf")]
    Rrf,
    /// Kernel gradient descent without a budget.
    #[serde(rename = "ogd")]
    Ogd,
    /// Gradient descent on Nyström features.
    #[serde(rename = "nogd")]
    Nogd,
    /// Gradient descent on random Fourier features.
    #[serde(rename = "fogd")]
    Fogd,
    /// Ensemble of kernels that follows change.
    #[serde(rename = "adaraker")]
    AdaRaker,
    /// Kernel perceptron without a budget.
    #[serde(rename = "perceptron")]
    Perceptron,
    /// Perceptron with random removal.
    #[serde(rename = "rbp")]
    Rbp,
    /// Perceptron that shrinks and drops the oldest.
    #[serde(rename = "forgetron")]
    Forgetron,
    /// Perceptron that projects.
    #[serde(rename = "projectron")]
    Projectron,
    /// Projectron that also learns inside the margin.
    #[serde(rename = "projectron++")]
    ProjectronPlus,
    /// Budgeted passive-aggressive.
    #[serde(rename = "bpas")]
    Bpas,
    /// Stochastic descent with merging.
    #[serde(rename = "bsgd-m")]
    BsgdM,
    /// Bounded gradient descent.
    #[serde(rename = "bogd")]
    Bogd,
    /// Exact core plus random features.
    #[serde(rename = "dualsgd")]
    DualSgd,
}

impl Method {
    /// All methods with the names users write.
    pub const NAMES: [(&'static str, Self); 15] = [
        ("ik-ogd", Self::IkOgd),
        ("rrf", Self::Rrf),
        ("ogd", Self::Ogd),
        ("nogd", Self::Nogd),
        ("fogd", Self::Fogd),
        ("adaraker", Self::AdaRaker),
        ("perceptron", Self::Perceptron),
        ("rbp", Self::Rbp),
        ("forgetron", Self::Forgetron),
        ("projectron", Self::Projectron),
        ("projectron++", Self::ProjectronPlus),
        ("bpas", Self::Bpas),
        ("bsgd-m", Self::BsgdM),
        ("bogd", Self::Bogd),
        ("dualsgd", Self::DualSgd),
    ];

    /// The name users write.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }

    /// Whether it can learn numbers too, not only classes.
    pub const fn can_regress(self) -> bool {
        !matches!(self, Self::ProjectronPlus | Self::Bpas | Self::BsgdM)
    }

    /// Whether its memory grows with the stream.
    pub const fn grows(self) -> bool {
        matches!(self, Self::Ogd | Self::Perceptron)
    }
}

params! {
    /// Parameters of any method; what is `None` takes the method's own default, what a method has no use for is
    /// ignored by it.
    pub struct LearnerParams {
        /// The method.
        method: Method = Method::IkOgd,
        /// Whether to learn numbers instead of classes.
        regress: bool = false,
        /// What is minimised.
        loss: Option<OnlineLoss> = None,
        /// Errors of numbers within it count as none.
        epsilon: Option<f64> = None,
        /// The kernel; by default a Gaussian as wide as the first points are spread, γ being one over the sum of the
        /// variances of their columns.
        kernel: Option<AnyKernel> = None,
        /// The rate η.
        eta: Option<f64> = None,
        /// The rate of RRF's log-widths; that of the weights by default.
        eta_width: Option<f64> = None,
        /// RRF: log-width to begin with; that of the default kernel if none is given.
        log_width: Option<f64> = None,
        /// Decay or regularisation λ.
        lambda: Option<f64> = None,
        /// Most points to keep, B, or landmarks, b.
        budget: Option<usize> = None,
        /// Most Nyström features, r.
        rank: Option<usize> = None,
        /// Nyström: which points are landmarks.
        landmarks: Option<Landmarks> = None,
        /// Random frequencies D; there are 2D features.
        frequencies: Option<usize> = None,
        /// Longest step C of BPA-S.
        c: Option<f64> = None,
        /// IK-OGD: form, scale and intercept.
        ik: IkOgdParams = IkOgdParams::default(),
        /// IK-OGD: when partitionings are renewed; never by default.
        refresh: Refresh = Refresh::Never,
        /// Points between renewals, or between tests for drift.
        refresh_every: u64 = 1000,
        /// IK-OGD: the map.
        map: IsolationMapParams = IsolationMapParams::default(),
        /// Whether numbers are learned in units of their spread among the first rows, so that rates suit targets of any size;
        /// an ε that is given stays in their own units.
        scale_target: bool = true,
        /// Behave as the programs behind the published figures, where they differ (forgetron, bogd, dualsgd, adaraker).
        compat: bool = false,
        /// Seed of everything random.
        seed: u64 = 0,
    }
}

/// Sets the fields that are given, keeps the defaults of the others.
macro_rules! with_given {
    ($params:expr, $given:expr, [$($field:ident),*]) => {{
        let mut params = $params;
        $(if let Some(value) = $given.$field { params.$field = value; })*
        params
    }};
}

impl LearnerParams {
    /// The loss that will be minimised.
    pub fn loss_or_default(&self) -> OnlineLoss {
        self.loss.unwrap_or(match (self.regress, self.method) {
            (true, _) => OnlineLoss::Squared,
            (false, Method::AdaRaker) => OnlineLoss::Logistic,
            (false, _) => OnlineLoss::Hinge,
        })
    }

    /// What sets the length of steps, for messages: `eta 0.5`, say.
    pub fn rate(&self) -> String {
        let eta = |default: f64| format!("eta {:?}", self.eta.unwrap_or(default));
        match self.method {
            Method::IkOgd => eta(self.ik.eta),
            Method::Rrf => eta(RrfParams::default().eta),
            Method::Ogd => eta(OgdParams::default().eta),
            Method::Nogd => eta(NogdParams::default().eta),
            Method::Fogd => eta(FogdParams::default().eta),
            Method::AdaRaker => eta(AdaRakerParams::default().eta),
            Method::Bogd => eta(BogdParams::default().eta),
            Method::Perceptron | Method::Rbp | Method::Forgetron | Method::Projectron | Method::ProjectronPlus => {
                eta(PerceptronParams::default().eta)
            }
            Method::Bpas => format!("C {:?}", self.c.unwrap_or(BpasParams::default().c)),
            Method::BsgdM => format!("lambda {:?}", self.lambda.unwrap_or(BsgdMParams::default().lambda)),
            Method::DualSgd => format!("lambda {:?}", self.lambda.unwrap_or_else(|| self.dualsgd_lambda())),
        }
    }

    /// Rates of 1/(λt) suit margins, which are bounded; errors of numbers would grow without bound.
    fn dualsgd_lambda(&self) -> f64 {
        match self.loss_or_default() {
            OnlineLoss::Squared => 0.1,
            OnlineLoss::Absolute | OnlineLoss::Insensitive => 0.01,
            OnlineLoss::Hinge | OnlineLoss::Logistic => DualSgdParams::default().lambda,
        }
    }

    /// The same with a kernel and a width to begin with that suit these points, where none is given.
    fn suited_to(&self, points: Points<'_>) -> Self {
        let gamma = 1.0 / total_variance(points);
        // Points that do not vary, or hardly, or beyond all bounds, say nothing.
        let gamma = if gamma > 0.0 && gamma.is_finite() { gamma } else { 1.0 };
        let log_width = (0.5 * (2.0 * gamma).ln()).clamp(-MAX_LOG_WIDTH, MAX_LOG_WIDTH);
        Self {
            kernel: self.kernel.or(Some(AnyKernel::Gaussian(Gaussian { gamma }))),
            log_width: self.log_width.or(Some(log_width)),
            ..self.clone()
        }
    }

    /// γ of the Gaussian kernel, for methods that need that kernel.
    fn gamma(&self) -> Result<f64> {
        match self.kernel {
            None => Ok(1.0),
            Some(AnyKernel::Gaussian(Gaussian { gamma })) => Ok(gamma),
            Some(other) => {
                let expected = format!("gaussian for {}", self.method.name());
                Err(Error::Param { name: "kernel", expected, got: other.name().into() })
            }
        }
    }

    /// Checks what does not depend on the method; the rest is checked on starting.
    pub fn check(self) -> Result<Checked<Self>> {
        let loss = self.loss_or_default();
        if loss.is_regression() != self.regress {
            let expected = if self.regress { "absolute, squared or insensitive" } else { "hinge or logistic" };
            return Err(Error::Param { name: "loss", expected: expected.into(), got: loss.name().into() });
        }
        if self.regress && !self.method.can_regress() {
            let able: Vec<_> = Method::NAMES.iter().filter(|(_, method)| method.can_regress()).map(|m| m.0).collect();
            let expected = format!("one that can learn numbers ({})", able.join(", "));
            return Err(Error::Param { name: "method", expected, got: self.method.name().into() });
        }
        Ok(Checked::new(self))
    }
}

impl Checked<LearnerParams> {
    /// As [`Self::start`], for targets like these.
    pub fn begin(&self, initial: Points<'_>, targets: &Targets, run: Run<'_>) -> Result<AnyLearner> {
        let mut learner = self.start(initial, run)?;
        if let (true, Targets::Values(values)) = (self.scale_target, targets) {
            let head = learner.head_mut();
            head.measure(values);
            if self.epsilon.is_some() {
                head.epsilon /= head.unit;
            }
        }
        Ok(learner)
    }

    /// A learner that begins with these points: its map or landmarks come from them, and later points must be like
    /// them. It has learned nothing yet.
    pub fn start(&self, initial: Points<'_>, run: Run<'_>) -> Result<AnyLearner> {
        let (given, loss, seed) = (&self.suited_to(initial), self.loss_or_default(), self.seed);
        if let Some(kernel) = given.kernel {
            kernel.check()?;
            kernel.check_points(initial)?;
        }
        Ok(match given.method {
            Method::IkOgd if given.refresh != Refresh::Never => {
                let params = IkRefreshParams::default().loss(loss).refresh(given.refresh).every(given.refresh_every);
                let map = given.map.clone().seed(seed).check()?;
                AnyLearner::IkRefresh(with_given!(params, given, [eta, epsilon]).check()?.start(&map, initial, run)?)
            }
            Method::IkOgd => {
                let params = with_given!(given.ik.clone().loss(loss), given, [eta, epsilon]);
                let map = given.map.clone().seed(seed).check()?;
                AnyLearner::IkOgd(params.check()?.start(&map, initial, run)?)
            }
            Method::Rrf => {
                let mut params = RrfParams::default().loss(loss).seed(seed);
                params = with_given!(params, given, [eta, epsilon, frequencies, lambda, log_width]);
                let eta_width = given.eta_width.unwrap_or(params.eta);
                AnyLearner::Rrf(params.eta_width(eta_width).check()?.start(initial))
            }
            Method::Ogd => {
                let params = with_given!(OgdParams::default().loss(loss), given, [kernel, eta, epsilon, lambda]);
                AnyLearner::Ogd(params.check()?.start(initial))
            }
            Method::Nogd => {
                let params = NogdParams::default().loss(loss).seed(seed);
                let params = with_given!(params, given, [kernel, eta, epsilon, budget, rank, landmarks]);
                AnyLearner::Nogd(params.check()?.start(initial, run)?)
            }
            Method::Fogd => {
                let params = FogdParams::default().loss(loss).seed(seed);
                let params = with_given!(params, given, [kernel, eta, epsilon, lambda, frequencies]);
                AnyLearner::Fogd(params.check()?.start(initial))
            }
            Method::AdaRaker => {
                let params = AdaRakerParams::default().loss(loss).compat(given.compat).seed(seed);
                let params = with_given!(params, given, [eta, epsilon, lambda, frequencies]);
                AnyLearner::AdaRaker(params.check()?.start(initial))
            }
            Method::Perceptron => {
                let params = with_given!(PerceptronParams::default().loss(loss), given, [kernel, eta, epsilon]);
                AnyLearner::Perceptron(params.check()?.start(initial))
            }
            Method::Rbp => {
                let params = RbpParams::default().loss(loss).seed(seed);
                AnyLearner::Rbp(with_given!(params, given, [kernel, eta, epsilon, budget]).check()?.start(initial))
            }
            Method::Forgetron => {
                let params = ForgetronParams::default().loss(loss).compat(given.compat);
                let params = with_given!(params, given, [kernel, eta, epsilon, budget]);
                AnyLearner::Forgetron(params.check()?.start(initial))
            }
            Method::Projectron | Method::ProjectronPlus => {
                let params = ProjectronParams::default().loss(loss).margins(given.method == Method::ProjectronPlus);
                let params = with_given!(params, given, [kernel, eta, epsilon, budget]);
                AnyLearner::Projectron(params.check()?.start(initial))
            }
            Method::Bpas => {
                let params = with_given!(BpasParams::default().loss(loss), given, [kernel, c, budget]);
                AnyLearner::Bpas(params.check()?.start(initial))
            }
            Method::BsgdM => {
                let params = BsgdMParams::default().loss(loss).gamma(given.gamma()?);
                AnyLearner::BsgdM(with_given!(params, given, [lambda, budget]).check()?.start(initial))
            }
            Method::Bogd => {
                let removal = if given.compat { Removal::Oldest } else { Removal::Uniform };
                let params = BogdParams::default().loss(loss).removal(removal).seed(seed);
                let params = with_given!(params, given, [kernel, eta, epsilon, lambda, budget]);
                AnyLearner::Bogd(params.check()?.start(initial))
            }
            Method::DualSgd => {
                let params = DualSgdParams::default().loss(loss).gamma(given.gamma()?).lambda(self.dualsgd_lambda());
                let params = params.compat(given.compat).seed(seed);
                let params = with_given!(params, given, [epsilon, lambda, budget, frequencies]);
                AnyLearner::DualSgd(params.check()?.start(initial))
            }
        })
    }
}

/// The sum of the variances of all columns: half the mean squared distance of two points.
fn total_variance(points: Points<'_>) -> f64 {
    let n = points.n_rows().max(1) as f64;
    // Per column: the mean, the sum of squared deviations of entries that are not 0, and how many those are.
    let mut columns = vec![(0.0, 0.0, 0.0); points.n_columns()];
    points.rows().for_each(|row| row.nonzeros().for_each(|(column, value)| columns[column].0 += value / n));
    for row in points.rows() {
        for (column, value) in row.nonzeros() {
            let (mean, deviations, entries) = &mut columns[column];
            *deviations += (value - *mean) * (value - *mean);
            *entries += 1.0;
        }
    }
    columns.iter().map(|(mean, deviations, entries)| (deviations + (n - entries) * mean * mean) / n).sum()
}

/// Declares the enum, its dispatch and its bytes.
macro_rules! any_learner {
    ($($name:ident),*) => {
        /// A learner of any method.
        #[derive(Debug, Clone)]
        #[allow(missing_docs, reason = "each variant holds the learner of its name")]
        pub enum AnyLearner { $($name($name),)* }

        /// Runs an expression on the learner inside.
        macro_rules! with_learner {
            ($any:expr, $learner:ident => $body:expr) => {
                match $any { $(AnyLearner::$name($learner) => $body,)* }
            };
        }

        impl Persist for AnyLearner {
            fn save(&self, out: &mut ModelWriter, prefix: &str) {
                match self {
                    $(Self::$name(learner) => {
                        out.put_json(&format!("{prefix}.learner"), &stringify!($name));
                        learner.save(out, prefix);
                    })*
                }
            }

            fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
                let name: String = from.json(&format!("{prefix}.learner"))?;
                match name.as_str() {
                    $(stringify!($name) => $name::load(from, prefix).map(Self::$name),)*
                    other => Err(Error::Model(format!("this program does not know a learner `{other}`"))),
                }
            }
        }
    };
}
any_learner!(
    IkOgd, IkRefresh, Rrf, Ogd, Nogd, Fogd, AdaRaker, Perceptron, Rbp, Forgetron, Projectron, Bpas, BsgdM, Bogd,
    DualSgd
);

impl OnlineLearner for AnyLearner {
    fn head(&self) -> &Head {
        with_learner!(self, learner => learner.head())
    }
    fn head_mut(&mut self) -> &mut Head {
        with_learner!(self, learner => learner.head_mut())
    }
    fn widen(&mut self) {
        with_learner!(self, learner => learner.widen());
    }
    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        with_learner!(self, learner => learner.score(x, at));
    }
    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        with_learner!(self, learner => learner.update(x, target, at));
    }
    fn map_ahead(&self, points: Points<'_>, run: Run<'_>) -> Result<Ahead> {
        with_learner!(self, learner => learner.map_ahead(points, run))
    }
    fn most_ahead(&self) -> usize {
        with_learner!(self, learner => learner.most_ahead())
    }
    fn n_kept(&self) -> Option<usize> {
        with_learner!(self, learner => learner.n_kept())
    }
    // Chosen once per step, not at every part of it.
    fn learn(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) -> Result<()> {
        with_learner!(self, learner => learner.learn(x, target, at))
    }
    fn predict_then_learn(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) -> Result<Target> {
        with_learner!(self, learner => learner.predict_then_learn(x, target, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;

    #[test]
    fn the_default_width_is_the_spread_of_the_points_however_they_are_stored() {
        let dense = PointsBuf::from_rows(&[[1e9, 0.0], [1e9 + 2.0, 0.0], [1e9, 3.0], [1e9 + 2.0, 3.0]]).unwrap();
        let mut sparse = PointsBuf::sparse(2);
        dense.as_points().rows().for_each(|row| sparse.push(row));
        for points in [&dense, &sparse] {
            assert_eq!(total_variance(points.as_points()), 1.0 + 2.25);
        }
        let suited = LearnerParams::default().suited_to(dense.as_points());
        assert_eq!(suited.kernel, Some(AnyKernel::Gaussian(Gaussian { gamma: 1.0 / 3.25 })));
        let given = LearnerParams::default().kernel(suited.kernel).log_width(Some(0.3));
        assert_eq!(given.suited_to(sparse.as_points()), given);
        let alike = PointsBuf::from_rows(&[[4.0], [4.0]]).unwrap();
        assert_eq!(LearnerParams::default().suited_to(alike.as_points()).log_width, Some(0.5 * 2f64.ln()));
    }
}
