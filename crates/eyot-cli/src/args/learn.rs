//! Which online learner, and its parameters.

use anyhow::Context;
use clap::Args;
use eyot::{AnyKernel, Landmarks, LearnerParams, Method, OnlineLoss, Refresh};

use super::CellArgs;

/// Parameters of online learners. What a method has no use for, it ignores.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Learner")]
pub(crate) struct LearnerArgs {
    /// What is predicted: classes of any kind, or numbers
    #[arg(long, value_name = "TASK", default_value = "classify", value_parser = ["classify", "regress"])]
    task: String,

    /// What is minimised [default: hinge for classes, squared for numbers]
    ///
    /// hinge or logistic for classes; absolute, squared or insensitive for numbers.
    #[arg(long, value_name = "NAME", value_parser = loss)]
    loss: Option<OnlineLoss>,

    /// Errors of numbers up to this count as none (ogd, nogd, fogd, bogd, perceptrons, insensitive loss)
    #[arg(long, value_name = "F")]
    epsilon: Option<f64>,

    /// Rate of learning, η [default: the method's own]
    ///
    /// ik-ogd, ogd and nogd: 0.5. rrf and fogd, whose features are not normalised: 0.005 and 0.003. adaraker: 16, divided
    /// by the root of the length of an interval. With the squared loss, ik-ogd needs a rate below 2.
    #[arg(long, value_name = "F")]
    eta: Option<f64>,

    /// Rate of the widths of rrf [default: that of the weights]
    #[arg(long, value_name = "F")]
    eta_width: Option<f64>,

    /// Decay or regularisation, λ [default: the method's own]
    ///
    /// ogd, fogd, bogd and rrf: 0. bsgd-m and dualsgd, whose rates are 1/(λt): 0.0001; dualsgd with numbers: 0.1 for the
    /// squared loss, else 0.01. adaraker: 0.001.
    #[arg(long, value_name = "F")]
    lambda: Option<f64>,

    /// Most points to keep, or number of landmarks of nogd [default: 100]
    ///
    /// ogd and perceptron have no budget: they grow with the stream.
    #[arg(long, value_name = "N")]
    budget: Option<usize>,

    /// Features of nogd [default: a fifth of the budget]
    #[arg(long, value_name = "N")]
    rank: Option<usize>,

    /// Landmarks of nogd: the first violations, or random points of the initial set
    #[arg(long, value_name = "WHICH", default_value = "first", value_parser = ["first", "uniform"])]
    landmarks: String,

    /// Random frequencies D of fogd (400), rrf (100), dualsgd (200) and adaraker (50 per kernel)
    #[arg(long, value_name = "N")]
    frequencies: Option<usize>,

    /// Longest step of bpas, C [default: 1]
    #[arg(long, value_name = "F")]
    c: Option<f64>,

    /// Kernel of the methods that keep points, and of fogd
    ///
    /// gaussian exp(−γ‖x−y‖²), laplacian exp(−γ‖x−y‖₁), polynomial (γ·x·y + 1)², chi2, intersection. fogd knows the
    /// first two; bsgd-m and dualsgd the first.
    #[arg(long, value_name = "NAME", default_value = "gaussian",
          value_parser = AnyKernel::NAMES)]
    kernel: String,

    /// γ of the kernel [default: by the spread of the first rows; laplacian: ln ψ / columns; polynomial: 1 / columns]
    ///
    /// The Gaussian's is one over the sum of the variances of the columns; rrf begins with the same width.
    #[arg(long, value_name = "F")]
    gamma: Option<f64>,

    /// Rows sampled for each partitioning of ik-ogd, ψ, or auto [default: 256]
    ///
    /// More cells are narrower. `auto` tries 4, 8, …, 4096 by 5-fold cross-validation on the initial rows.
    #[arg(long, value_name = "N|auto", value_parser = psi)]
    pub(crate) psi: Option<Psi>,

    /// Renew one partitioning of ik-ogd every N points, from recent ones [default: never]
    ///
    /// For streams that change: the oldest partitioning is drawn anew from the last points (ten times ψ of them), and
    /// has no say until it has learned enough. On streams that stay as they are this costs a little accuracy.
    #[arg(long, value_name = "N")]
    refresh: Option<u64>,

    /// Renew half of the partitionings of ik-ogd at once, only when errors say that the stream has changed
    ///
    /// Every N points of --refresh (1000): the error of these points is more than three standard errors above the
    /// mean since the last change.
    #[arg(long)]
    drift: bool,

    /// Behave as the programs behind the published figures, where they differ from the papers
    ///
    /// forgetron: another root, which lets coefficients grow. bogd: the oldest point goes. dualsgd: other frequencies,
    /// and every point is kept. adaraker: votes by mistakes, features without a factor.
    #[arg(long)]
    compat: bool,

    #[command(flatten)]
    cells: CellArgs,
}

/// ψ, or how to find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Psi {
    Auto,
    Number(usize),
}

fn psi(text: &str) -> Result<Psi, String> {
    match text {
        "auto" => Ok(Psi::Auto),
        number => number.parse().map(Psi::Number).map_err(|_| "it must be a whole number or auto".into()),
    }
}

fn loss(name: &str) -> Result<OnlineLoss, String> {
    let found = OnlineLoss::NAMES.iter().find(|(known, _)| *known == name);
    found.map(|(_, loss)| *loss).ok_or_else(|| "hinge, logistic, absolute, squared or insensitive".into())
}

/// The method of that name.
pub(crate) fn method(name: &str) -> Result<Method, String> {
    let names: Vec<&str> = Method::NAMES.iter().map(|(known, _)| *known).collect();
    let found = Method::NAMES.iter().find(|(known, _)| *known == name);
    found.map(|(_, method)| *method).ok_or_else(|| format!("the methods are {}", names.join(", ")))
}

impl LearnerArgs {
    /// Whether numbers are predicted.
    pub(crate) fn regress(&self) -> bool {
        self.task == "regress"
    }

    /// ψ as a number: the one given, or where a search begins.
    pub(crate) fn psi(&self) -> usize {
        if let Some(Psi::Number(psi)) = self.psi { psi } else { 256 }
    }

    /// Whether ψ is to be found by cross-validation.
    pub(crate) fn searches_psi(&self) -> bool {
        self.psi == Some(Psi::Auto)
    }

    /// The parameters of a method for points of so many columns.
    pub(crate) fn params(&self, method: Method, columns: usize, seed: u64) -> anyhow::Result<LearnerParams> {
        let psi = self.psi();
        let kernel = AnyKernel::named(&self.kernel, self.gamma, psi, columns)?;
        let is_default = self.kernel == "gaussian" && self.gamma.is_none();
        let landmarks = if self.landmarks == "uniform" { Landmarks::Uniform } else { Landmarks::FirstViolations };
        let map = self.cells.params(psi, seed).context("isolation map")?.into_inner();
        Ok(LearnerParams {
            regress: self.regress(),
            loss: self.loss,
            epsilon: self.epsilon,
            kernel: (!is_default).then_some(kernel),
            eta: self.eta,
            eta_width: self.eta_width,
            lambda: self.lambda,
            budget: self.budget,
            rank: self.rank,
            landmarks: Some(landmarks),
            frequencies: self.frequencies,
            c: self.c,
            refresh: match (self.drift, self.refresh) {
                (true, _) => Refresh::OnDrift,
                (false, Some(_)) => Refresh::Steadily,
                (false, None) => Refresh::Never,
            },
            refresh_every: self.refresh.unwrap_or(1000),
            compat: self.compat,
            map,
            seed,
            ..LearnerParams::default().method(method)
        })
    }
}
