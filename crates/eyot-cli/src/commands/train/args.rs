//! The options of `eyot train`, and the candidates they stand for.

use std::path::PathBuf;

use clap::ValueEnum;
use eyot::{
    AdditiveKernel, AdditiveMapParams, AnyKernel, Chi2, ClassifierParams, Gaussian, Intersection, KernelSvmParams,
    Laplacian, LinearSvmParams, Loss, Polynomial, Scheme, powers_of_two, psi_grid,
};

use crate::args::{CellArgs, DataArgs, ReportArgs, RunArgs, SaveArgs};
use crate::messages::Usage;

const EXAMPLES: &str = "\
EXAMPLES
  Learn the species of flowers; the number of cells is found by cross-validation:
    eyot train iris.csv --target species -f iris.eyot

  Predict those of others:
    eyot predict iris.eyot new.csv

  A given split, given cells, several prices to choose from, and a report to look at:
    eyot train train.csv --target class --test test.csv --psi 256 --c 0.1,1,10 --report report.html

  The kernel SVM to compare with, as JSON:
    eyot train train.csv --target class --method svm --kernel laplacian --json";

/// Learn to classify rows from examples
///
/// Finds a feature map and a large-margin classifier for the classes of the target column, whose values may be any
/// numbers or words. The default, ik-svm, is a linear SVM on isolation features: as flexible as a kernel SVM, and fast
/// on many rows. What is not given is chosen by cross-validation; accuracy is measured on --test, else on the rows
/// held out.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) data: DataArgs,

    /// What is learned
    ///
    /// `ik-svm`: linear SVM on isolation features. `svm`: kernel SVM with --kernel; slow beyond some ten thousand rows.
    /// `chi2-svm`: linear SVM on features that approximate the additive χ² (or intersection) kernel, for histograms
    /// and counts. `linear-svm`: linear SVM on the columns themselves.
    #[arg(long, value_name = "NAME", default_value = "ik-svm", help_heading = "Method")]
    pub(super) method: MethodName,

    /// Price of a violated margin, C; of several, the best is chosen
    ///
    /// Small prices give simple classifiers, large ones follow every row. Example: --c 0.03125,1,32
    #[arg(long, value_name = "X,..", value_delimiter = ',', default_value = "1", help_heading = "Method")]
    pub(super) c: Vec<f64>,

    /// What a violated margin costs (linear methods)
    #[arg(long, value_name = "LOSS", default_value = "squared-hinge", help_heading = "Method")]
    pub(super) loss: LossName,

    /// Learn a bias too (linear methods)
    ///
    /// Not needed with isolation features, which contain one unless they are balls.
    #[arg(long, help_heading = "Method")]
    pub(super) bias: bool,

    /// Make classes of few rows count as much as those of many
    #[arg(long, help_heading = "Method")]
    pub(super) balance: bool,

    /// The kernel (svm), or the kernel to approximate: chi2 or intersection (chi2-svm)
    ///
    /// `isolation` is the kernel of ik-svm, solved as a kernel machine: slower, for comparison.
    /// [default: gaussian, chi2]
    #[arg(long, value_name = "NAME", help_heading = "Method")]
    pub(super) kernel: Option<KernelName>,

    /// Sharpness γ of the gaussian kernel [default: by cross-validation]
    #[arg(long, value_name = "X", help_heading = "Method")]
    pub(super) gamma: Option<f64>,

    /// Degree of the polynomial kernel
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = "Method")]
    pub(super) degree: u32,

    /// Order b of the additive map: 2b + 1 features per column (chi2-svm)
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Method")]
    pub(super) order: usize,

    /// Move columns with negative values to start at 0 (chi2-svm, and svm with such a kernel)
    ///
    /// Without it negative values are refused, because the χ² and intersection kernels are not defined for them.
    #[arg(long, help_heading = "Method")]
    pub(super) shift: bool,

    /// Learn probabilities too: predict then writes that of every class
    ///
    /// Platt scaling: a sigmoid per class turns scores into probabilities. It is fitted on the rows held out by --cv
    /// folds, so training takes about that many times longer.
    #[arg(long, help_heading = "Method")]
    pub(super) probability: bool,

    /// Tell several classes apart pair by pair, with votes, instead of each from the rest (svm)
    #[arg(long, help_heading = "Method")]
    pub(super) one_vs_one: bool,

    /// Rows sampled for each partitioning, ψ: the sharpness; or auto
    ///
    /// `auto` tries 4, 8, … 4096 by cross-validation. The laplacian kernel uses it too, as ψ^(−distance/columns).
    #[arg(long, value_name = "N", default_value = "auto", value_parser = psi, help_heading = "Isolation map")]
    pub(super) psi: Psi,

    #[command(flatten)]
    pub(super) cells: CellArgs,

    /// Folds of cross-validation
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Evaluation")]
    pub(super) cv: usize,

    /// Most rows to cross-validate on; more are sampled, and a note says so
    #[arg(long, value_name = "N", default_value_t = 20_000, help_heading = "Evaluation")]
    pub(super) cv_rows: usize,

    /// Data to measure the accuracy on, in the columns of the training data
    #[arg(long, value_name = "FILE", help_heading = "Evaluation")]
    pub(super) test: Option<PathBuf>,

    #[command(flatten)]
    pub(super) save: SaveArgs,

    #[command(flatten)]
    pub(super) report: ReportArgs,

    #[command(flatten)]
    pub(super) run: RunArgs,
}

/// Methods.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MethodName {
    IkSvm,
    Svm,
    #[value(name = "chi2-svm")]
    Chi2Svm,
    LinearSvm,
}

/// Kernels.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KernelName {
    Gaussian,
    Isolation,
    Laplacian,
    Polynomial,
    #[value(name = "chi2")]
    Chi2,
    Intersection,
}

/// Losses.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LossName {
    Hinge,
    SquaredHinge,
}

impl From<LossName> for Loss {
    fn from(name: LossName) -> Self {
        match name {
            LossName::Hinge => Self::Hinge,
            LossName::SquaredHinge => Self::SquaredHinge,
        }
    }
}

/// A given ψ, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Psi {
    Auto,
    Given(usize),
}

fn psi(text: &str) -> Result<Psi, String> {
    match text {
        "auto" => Ok(Psi::Auto),
        number => number.parse().map(Psi::Given).map_err(|_| "it must be a whole number or auto".into()),
    }
}

impl Args {
    /// Whether the method is defined for values of at least 0 only.
    pub(super) fn needs_not_negative(&self) -> bool {
        let additive = matches!(self.kernel, Some(KernelName::Chi2 | KernelName::Intersection));
        match self.method {
            MethodName::Chi2Svm => !self.shift,
            MethodName::Svm => additive && !self.shift,
            MethodName::IkSvm | MethodName::LinearSvm => false,
        }
    }

    /// Candidates in groups that share their map. ψ is at most `psi_limit`; `weights` are factors of C by class.
    pub(super) fn candidates(
        &self,
        columns: usize,
        psi_limit: usize,
        weights: Option<&[f64]>,
    ) -> anyhow::Result<Vec<Vec<ClassifierParams>>> {
        let weights = || weights.map(<[f64]>::to_vec);
        let linear = |c: f64| {
            let params = LinearSvmParams::default().c(c).loss(self.loss.into()).bias(self.bias).seed(self.run.seed);
            params.class_weights(weights())
        };
        let scheme = if self.one_vs_one { Scheme::OneVsOne } else { Scheme::OneVsRest };
        let kernel_svm = |c: f64| KernelSvmParams::default().c(c).scheme(scheme).class_weights(weights());
        let psis = match self.psi {
            Psi::Given(psi) => vec![psi],
            Psi::Auto => match psi_grid(2..=12, psi_limit) {
                grid if grid.is_empty() => vec![psi_limit.max(2)],
                grid => grid,
            },
        };
        let maps = || psis.iter().map(|&psi| Ok(self.cells.params(psi, self.run.seed)?.into_inner()));
        let groups: Vec<Vec<ClassifierParams>> = match (self.method, self.kernel) {
            (MethodName::IkSvm, _) => {
                let group = |map: eyot::Result<_>| {
                    let map = map?;
                    Ok(self.prices(|c| ClassifierParams::IkSvm { map: Clone::clone(&map), svm: linear(c) }))
                };
                maps().map(group).collect::<eyot::Result<_>>()?
            }
            (MethodName::Svm, Some(KernelName::Isolation)) => {
                let group = |map: eyot::Result<_>| {
                    let map = map?;
                    Ok(self.prices(|c| ClassifierParams::IsolationSvm { map: Clone::clone(&map), svm: kernel_svm(c) }))
                };
                maps().map(group).collect::<eyot::Result<_>>()?
            }
            (MethodName::Svm, kernel) => {
                let kernels = self.kernels(kernel.unwrap_or(KernelName::Gaussian), &psis, columns);
                let shift = self.shift;
                let group = |kernel| self.prices(|c| ClassifierParams::Svm { kernel, shift, svm: kernel_svm(c) });
                kernels.into_iter().map(group).collect()
            }
            (MethodName::LinearSvm, _) => vec![self.prices(|c| ClassifierParams::LinearSvm { svm: linear(c) })],
            (MethodName::Chi2Svm, kernel) => {
                let kernel = match kernel {
                    None | Some(KernelName::Chi2) => AdditiveKernel::Chi2,
                    Some(KernelName::Intersection) => AdditiveKernel::Intersection,
                    Some(_) => {
                        return Err(Usage::new("--method chi2-svm goes with --kernel chi2 or intersection only").into());
                    }
                };
                let map = AdditiveMapParams::default().kernel(kernel).order(self.order);
                vec![self.prices(|c| ClassifierParams::Chi2Svm { map: map.clone(), shift: self.shift, svm: linear(c) })]
            }
        };
        for params in groups.iter().flatten() {
            params.clone().check()?;
        }
        Ok(groups)
    }

    /// One candidate per price.
    fn prices(&self, candidate: impl Fn(f64) -> ClassifierParams) -> Vec<ClassifierParams> {
        self.c.iter().map(|&c| candidate(c)).collect()
    }

    /// Kernels of one name, one per sharpness to try.
    fn kernels(&self, name: KernelName, psis: &[usize], columns: usize) -> Vec<AnyKernel> {
        match name {
            KernelName::Gaussian => {
                let gammas = self.gamma.map_or_else(|| powers_of_two(-5..=5), |gamma| vec![gamma]);
                gammas.into_iter().map(|gamma| AnyKernel::Gaussian(Gaussian { gamma })).collect()
            }
            KernelName::Laplacian => {
                psis.iter().map(|&psi| AnyKernel::Laplacian(Laplacian::of_psi(psi as f64, columns))).collect()
            }
            KernelName::Polynomial => {
                vec![AnyKernel::Polynomial(Polynomial { degree: self.degree, ..Polynomial::of_columns(columns) })]
            }
            KernelName::Chi2 => vec![AnyKernel::Chi2(Chi2 {})],
            KernelName::Intersection => vec![AnyKernel::Intersection(Intersection {})],
            KernelName::Isolation => unreachable!("has candidates of its own"),
        }
    }
}
