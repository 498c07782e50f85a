//! `eyot train`: batch classification.

use std::path::PathBuf;

use anyhow::Context;
use clap::ValueEnum;
use eyot::{
    AdditiveKernel, AdditiveMapParams, AnyKernel, Chi2, Classes, Classifier, ClassifierModel, ClassifierParams,
    ClassifierTuning, Confusion, CvTable, Gaussian, Intersection, KernelSvmParams, Laplacian, LinearSvmParams, Loss,
    PointsBuf, Polynomial, Scheme, Table, TableColumn, TunedClassifier, check_not_negative, powers_of_two, psi_grid, rng_of,
    stratified_folds,
};
use serde::Serialize;

use crate::args::{CellArgs, DataArgs, ReportArgs, RunArgs, SaveArgs};
use crate::fit::{encode, fit_encoder};
use crate::input::Input;
use crate::job::{Job, Phase, Shared};
use crate::messages::{Usage, count};

mod report;

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
    data: DataArgs,

    /// What is learned
    ///
    /// `ik-svm`: linear SVM on isolation features. `svm`: kernel SVM with --kernel; slow beyond some ten thousand rows.
    /// `chi2-svm`: linear SVM on features that approximate the additive χ² (or intersection) kernel, for histograms
    /// and counts. `linear-svm`: linear SVM on the columns themselves.
    #[arg(long, value_name = "NAME", default_value = "ik-svm", help_heading = "Method")]
    method: MethodName,

    /// Price of a violated margin, C; of several, the best is chosen
    ///
    /// Small prices give simple classifiers, large ones follow every row. Example: --c 0.03125,1,32
    #[arg(long, value_name = "X,..", value_delimiter = ',', default_value = "1", help_heading = "Method")]
    c: Vec<f64>,

    /// What a violated margin costs (linear methods)
    #[arg(long, value_name = "LOSS", default_value = "squared-hinge", help_heading = "Method")]
    loss: LossName,

    /// Learn a bias too (linear methods)
    ///
    /// Not needed with isolation features, which contain one unless they are balls.
    #[arg(long, help_heading = "Method")]
    bias: bool,

    /// Make classes of few rows count as much as those of many
    #[arg(long, help_heading = "Method")]
    balance: bool,

    /// The kernel (svm), or the kernel to approximate: chi2 or intersection (chi2-svm)
    ///
    /// [default: gaussian, chi2]
    #[arg(long, value_name = "NAME", help_heading = "Method")]
    kernel: Option<KernelName>,

    /// Sharpness γ of the gaussian kernel [default: by cross-validation]
    #[arg(long, value_name = "X", help_heading = "Method")]
    gamma: Option<f64>,

    /// Degree of the polynomial kernel
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = "Method")]
    degree: u32,

    /// Order b of the additive map: 2b + 1 features per column (chi2-svm)
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Method")]
    order: usize,

    /// Move columns with negative values to start at 0 (chi2-svm)
    #[arg(long, help_heading = "Method")]
    shift: bool,

    /// Tell several classes apart pair by pair, with votes, instead of each from the rest (svm)
    #[arg(long, help_heading = "Method")]
    one_vs_one: bool,

    /// Rows sampled for each partitioning, ψ: the sharpness; or auto
    ///
    /// `auto` tries 4, 8, … 4096 by cross-validation. The laplacian kernel uses it too, as ψ^(−distance/columns).
    #[arg(long, value_name = "N", default_value = "auto", value_parser = psi, help_heading = "Isolation map")]
    psi: Psi,

    #[command(flatten)]
    cells: CellArgs,

    /// Folds of cross-validation
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Evaluation")]
    cv: usize,

    /// Most rows to cross-validate on; more are sampled, and a note says so
    #[arg(long, value_name = "N", default_value_t = 20_000, help_heading = "Evaluation")]
    cv_rows: usize,

    /// Data to measure the accuracy on, in the columns of the training data
    #[arg(long, value_name = "FILE", help_heading = "Evaluation")]
    test: Option<PathBuf>,

    #[command(flatten)]
    save: SaveArgs,

    #[command(flatten)]
    report: ReportArgs,

    #[command(flatten)]
    run: RunArgs,
}

/// Methods.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum MethodName {
    IkSvm,
    Svm,
    #[value(name = "chi2-svm")]
    Chi2Svm,
    LinearSvm,
}

/// Kernels.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum KernelName {
    Gaussian,
    Laplacian,
    Polynomial,
    #[value(name = "chi2")]
    Chi2,
    Intersection,
}

/// Losses.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum LossName {
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
enum Psi {
    Auto,
    Given(usize),
}

fn psi(text: &str) -> Result<Psi, String> {
    match text {
        "auto" => Ok(Psi::Auto),
        number => number.parse().map(Psi::Given).map_err(|_| "it must be a whole number or auto".into()),
    }
}

/// Rows with their classes.
struct Rows {
    points: PointsBuf,
    labels: Vec<u32>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let job = Job::start("train", &args.run);
    let mut input = Input::again(&args.data);
    let mut classes = Classes::default();
    let mut labels = Vec::new();
    let encoder = fit_encoder(&mut input, &args.data, &job, |table| {
        labels.extend(classes.numbers_or_insert(target_of(args, table)?, table.first_row)?);
        Ok(())
    })?;
    let sorted = classes.sort();
    for label in &mut labels {
        *label = sorted[*label as usize];
    }
    if classes.len() < 2 {
        let only = classes.names().first().map_or("", String::as_str);
        let message = format!("all rows are of class `{only}`, and one class cannot be told from others");
        return Err(eyot::Error::Data(message)).with_context(|| input.name().to_owned());
    }
    let points = collect(&mut input, &args.data, &encoder, &job)?;
    let rows = Rows { points, labels };
    let context = || input.name().to_owned();

    if args.needs_not_negative() {
        check_not_negative(rows.points.as_points()).map_err(|error| named(error, &encoder)).with_context(context)?;
    }
    let weights = args.balance.then(|| balanced(&rows.labels, classes.len()));
    let tuned = job.timed(Phase::Fit, || tune(args, &rows, &classes, weights.as_deref(), &job)).with_context(context)?;
    let params = match &tuned {
        Some(tuned) => tuned.table.best().parameters.clone(),
        None => candidates(args, rows.points.n_columns(), rows.points.n_rows(), weights.as_deref())?.swap_remove(0).swap_remove(0),
    };
    let checked = params.clone().check()?;
    let points = rows.points.as_points();
    let map = job.timed(Phase::Map, || checked.fit_map(points, job.run())).with_context(context)?;
    let features = job.timed(Phase::Map, || map.encode(points, job.run()))?;
    let fit = job.timed(Phase::Fit, || checked.fit_head(&features, &rows.labels, classes.len(), None, job.run()))?;
    if !fit.converged {
        job.note("the solver stopped before its stop rule was met; a smaller --c or other scaling may help");
    }
    drop(features);
    let columns = rows.points.n_columns();
    let model = ClassifierModel { encoder, classes, params, classifier: Classifier::new(map, fit.head) };

    let tested = args.test.as_ref().map(|path| test(args, path, &model, &job)).transpose()?;
    if let Some(path) = &args.save.save {
        let bytes = model.to_bytes()?;
        eyot_io::save_model(path, &bytes)?;
        job.detail(|| format!("{}: {} bytes", path.display(), count(bytes.len())));
    }
    let outcome = Outcome { model: &model, tuned: tuned.as_ref(), tested: tested.as_ref() };
    if let Some(path) = &args.report.report {
        let report = report::report(&outcome, rows.labels.len(), &job.seconds(), args.run.seed);
        report.save(path).with_context(|| path.display().to_string())?;
    }
    let shared = Shared {
        method: model.params.name(),
        rows: rows.labels.len(),
        columns,
        seed: args.run.seed,
        parameters: &model.params,
    };
    job.finish(&shared, &outcome.summary(), &outcome.facts(rows.labels.len(), columns))
}

impl Args {
    /// Whether the method is defined for values of at least 0 only.
    fn needs_not_negative(&self) -> bool {
        match self.method {
            MethodName::Chi2Svm => !self.shift,
            MethodName::Svm => matches!(self.kernel, Some(KernelName::Chi2 | KernelName::Intersection)),
            MethodName::IkSvm | MethodName::LinearSvm => false,
        }
    }
}

/// The target column of a table: the one named, or the label of svmlight.
fn target_of<'a>(args: &Args, table: &'a Table) -> anyhow::Result<&'a TableColumn> {
    let name = match &args.data.target {
        Some(name) => name,
        None if table.sparse.is_some() => "label",
        None => {
            let known: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            let hint = format!("name it with --target; the columns are {}", known.join(", "));
            return Err(Usage::new("which column holds the classes is not said").hint(hint).into());
        }
    };
    let found = table.columns.iter().find(|column| column.name == name);
    found.ok_or_else(|| Usage::new(format!("there is no column `{name}`")).into())
}

/// All rows as points.
fn collect(
    input: &mut Input,
    data: &DataArgs,
    encoder: &eyot::Encoder,
    job: &Job,
) -> anyhow::Result<PointsBuf> {
    let mut all: Option<PointsBuf> = None;
    encode(input, data, encoder, job, "encode", |_, points| {
        match &mut all {
            Some(all) => points.as_points().rows().for_each(|row| all.push(row)),
            None => all = Some(points),
        }
        Ok(())
    })?;
    Ok(all.ok_or(eyot::Error::Empty)?)
}

/// How many rows each class has.
fn class_counts(labels: &[u32], n_classes: usize) -> Vec<usize> {
    let mut counts = vec![0; n_classes];
    for &label in labels {
        counts[label as usize] += 1;
    }
    counts
}

/// Factors of C that make every class count alike.
fn balanced(labels: &[u32], n_classes: usize) -> Vec<f64> {
    let counts = class_counts(labels, n_classes);
    counts.iter().map(|&count| labels.len() as f64 / (n_classes * count) as f64).collect()
}

/// Candidates in groups that share their map. ψ is at most `psi_limit`.
fn candidates(
    args: &Args,
    columns: usize,
    psi_limit: usize,
    weights: Option<&[f64]>,
) -> anyhow::Result<Vec<Vec<ClassifierParams>>> {
    let seed = args.run.seed;
    let linear = |c: f64| {
        let params = LinearSvmParams::default().c(c).loss(args.loss.into()).bias(args.bias).seed(seed);
        params.class_weights(weights.map(<[f64]>::to_vec))
    };
    let psis = match args.psi {
        Psi::Given(psi) => vec![psi],
        Psi::Auto => match psi_grid(2..=12, psi_limit) {
            grid if grid.is_empty() => vec![psi_limit.max(2)],
            grid => grid,
        },
    };
    let groups: Vec<Vec<ClassifierParams>> = match args.method {
        MethodName::IkSvm => {
            let group = |psi: usize| -> anyhow::Result<Vec<ClassifierParams>> {
                let map = args.cells.params(psi, seed)?.into_inner();
                Ok(args.c.iter().map(|&c| ClassifierParams::IkSvm { map: map.clone(), svm: linear(c) }).collect())
            };
            psis.into_iter().map(group).collect::<anyhow::Result<_>>()?
        }
        MethodName::LinearSvm => {
            vec![args.c.iter().map(|&c| ClassifierParams::LinearSvm { svm: linear(c) }).collect()]
        }
        MethodName::Chi2Svm => {
            let kernel = match args.kernel {
                None | Some(KernelName::Chi2) => AdditiveKernel::Chi2,
                Some(KernelName::Intersection) => AdditiveKernel::Intersection,
                Some(_) => {
                    return Err(Usage::new("--method chi2-svm goes with --kernel chi2 or intersection only").into());
                }
            };
            let map = AdditiveMapParams::default().kernel(kernel).order(args.order);
            let one = |&c: &f64| ClassifierParams::Chi2Svm { map: map.clone(), shift: args.shift, svm: linear(c) };
            vec![args.c.iter().map(one).collect()]
        }
        MethodName::Svm => {
            let scheme = if args.one_vs_one { Scheme::OneVsOne } else { Scheme::OneVsRest };
            let svm = |c: f64| {
                KernelSvmParams::default().c(c).scheme(scheme).class_weights(weights.map(<[f64]>::to_vec))
            };
            let kernels: Vec<AnyKernel> = match args.kernel.unwrap_or(KernelName::Gaussian) {
                KernelName::Gaussian => {
                    let gammas = args.gamma.map_or_else(|| powers_of_two(-5..=5), |gamma| vec![gamma]);
                    gammas.into_iter().map(|gamma| AnyKernel::Gaussian(Gaussian { gamma })).collect()
                }
                KernelName::Laplacian => {
                    psis.iter().map(|&psi| AnyKernel::Laplacian(Laplacian::of_psi(psi as f64, columns))).collect()
                }
                KernelName::Polynomial => {
                    vec![AnyKernel::Polynomial(Polynomial { degree: args.degree, ..Polynomial::of_columns(columns) })]
                }
                KernelName::Chi2 => vec![AnyKernel::Chi2(Chi2 {})],
                KernelName::Intersection => vec![AnyKernel::Intersection(Intersection {})],
            };
            let group = |kernel: AnyKernel| args.c.iter().map(|&c| ClassifierParams::Svm { kernel, svm: svm(c) }).collect();
            kernels.into_iter().map(group).collect()
        }
    };
    for params in groups.iter().flatten() {
        params.clone().check()?;
    }
    Ok(groups)
}

/// Cross-validates, unless there is nothing to choose and a test file to measure on.
fn tune(
    args: &Args,
    rows: &Rows,
    classes: &Classes,
    weights: Option<&[f64]>,
    job: &Job,
) -> anyhow::Result<Option<TunedClassifier>> {
    let (n, columns) = (rows.labels.len(), rows.points.n_columns());
    // Before folds are cut: options that are wrong in themselves are refused with or without tuning.
    let all = candidates(args, columns, n, weights)?;
    if args.test.is_some() && all.len() == 1 && all[0].len() == 1 {
        return Ok(None);
    }
    let sampled = (n > args.cv_rows).then(|| {
        let mut chosen: Vec<usize> = (0..n).collect();
        rng_of(args.run.seed, eyot::Component::Subset, 0).shuffle(&mut chosen);
        chosen.truncate(args.cv_rows);
        chosen.sort_unstable();
        let labels = chosen.iter().map(|&row| rows.labels[row]).collect();
        Rows { points: rows.points.select(&chosen), labels }
    });
    if sampled.is_some() {
        job.note(format!("cross-validation uses {} of the {} rows", count(args.cv_rows), count(n)));
    }
    let rows = sampled.as_ref().unwrap_or(rows);
    let folds = stratified_folds(&rows.labels, args.cv, args.run.seed)?;
    let counts = class_counts(&rows.labels, classes.len());
    for (class, &rows) in counts.iter().enumerate().filter(|(_, rows)| **rows < args.cv).take(3) {
        let name = classes.name(class as u32);
        job.note(format!("class `{name}` has {rows} rows, fewer than the {} folds: some folds are without it", args.cv));
    }
    let tuning =
        ClassifierTuning { points: &rows.points, labels: &rows.labels, n_classes: classes.len(), folds: &folds };
    let groups = candidates(args, columns, tuning.training_rows(), weights)?;
    Ok(Some(tuning.run(&groups, job.run())?))
}

/// How the model does on the test file.
fn test(args: &Args, path: &std::path::Path, model: &ClassifierModel, job: &Job) -> anyhow::Result<Confusion> {
    let mut data = args.data.clone();
    path.clone_into(&mut data.data);
    let mut input = Input::for_encoder(&data, &model.encoder);
    // Classes that the model does not know get numbers beyond its own.
    let mut classes = model.classes.clone();
    let mut confusion = Confusion::new(model.classes.len());
    let name = input.name().to_owned();
    encode(&mut input, &data, &model.encoder, job, "score", |table, points| {
        let truth = classes.numbers_or_insert(target_of(args, table)?, table.first_row)?;
        let predicted = job.timed(Phase::Score, || model.classifier.predict(points.as_points(), job.step()))?;
        truth.iter().zip(&predicted).for_each(|(&truth, &predicted)| confusion.add(truth, predicted));
        Ok(())
    })?;
    if confusion.rows() == 0 {
        return Err(eyot::Error::Empty).context(name);
    }
    if confusion.unseen() > 0 {
        let unseen = &classes.names()[model.classes.len()..];
        let more = if unseen.len() > 3 { " and others" } else { "" };
        let list: Vec<String> = unseen.iter().take(3).map(|name| format!("`{name}`")).collect();
        let rows = count(confusion.unseen() as usize);
        job.note(format!("{name}: {rows} rows are of classes that the training data lacks ({}{more}) and count as errors", list.join(", ")));
    }
    Ok(confusion)
}

/// The error with the name of a raw column instead of the number of an encoded one.
fn named(error: eyot::Error, encoder: &eyot::Encoder) -> eyot::Error {
    match error {
        eyot::Error::Negative { row, column: eyot::ColumnRef::Number(column), value } => {
            eyot::Error::Negative { row, column: encoder.source_of(column), value }
        }
        other => other,
    }
}

/// What came out.
struct Outcome<'a> {
    model: &'a ClassifierModel,
    tuned: Option<&'a TunedClassifier>,
    tested: Option<&'a Confusion>,
}

#[derive(Serialize)]
struct Summary<'a> {
    classes: &'a [String],
    accuracy: f64,
    macro_f1: f64,
    measured_on: &'static str,
    per_class: Vec<PerClass<'a>>,
    confusion: Vec<&'a [u64]>,
    unseen: u64,
    cv: Vec<Cv>,
}

#[derive(Serialize)]
struct PerClass<'a> {
    class: &'a str,
    #[serde(flatten)]
    score: eyot::ClassScore,
}

#[derive(Serialize)]
struct Cv {
    parameters: serde_json::Map<String, serde_json::Value>,
    mean: f64,
    standard_error: f64,
    dropped: bool,
}

/// The parameters that candidates differ in.
fn varied(params: &ClassifierParams) -> Vec<(&'static str, f64)> {
    let json = serde_json::to_value(params).unwrap_or_default();
    let number = |path: &str| json.pointer(path).and_then(serde_json::Value::as_f64);
    let places = [
        ("psi", "/map/psi"),
        ("gamma", "/kernel/gamma"),
        ("lambda", "/kernel/lambda"),
        ("c", "/svm/c"),
    ];
    places.into_iter().filter_map(|(name, path)| Some((name, number(path)?))).collect()
}

impl Outcome<'_> {
    /// The counts that the accuracy is from.
    fn confusion(&self) -> &Confusion {
        self.tested.or(self.tuned.map(|tuned| &tuned.confusion)).expect("measured on one of the two")
    }

    /// On --test, or the mean over the folds.
    fn accuracy(&self) -> f64 {
        match (self.tested, self.tuned) {
            (None, Some(tuned)) => tuned.table.best().mean,
            _ => self.confusion().accuracy(),
        }
    }

    fn measured_on(&self) -> &'static str {
        if self.tested.is_some() { "test" } else { "held-out folds" }
    }

    fn table(&self) -> Option<&CvTable<ClassifierParams>> {
        self.tuned.map(|tuned| &tuned.table)
    }

    fn summary(&self) -> Summary<'_> {
        let (confusion, names) = (self.confusion(), self.model.classes.names());
        Summary {
            classes: names,
            accuracy: self.accuracy(),
            macro_f1: confusion.macro_f1(),
            measured_on: self.measured_on(),
            per_class: names
                .iter()
                .enumerate()
                .map(|(class, name)| PerClass { class: name, score: confusion.class(class) })
                .collect(),
            confusion: confusion.counts().chunks(names.len()).collect(),
            unseen: confusion.unseen(),
            cv: self.table().map_or(vec![], |table| table.entries.iter().map(cv_line).collect()),
        }
    }

    /// Lines for people.
    fn facts(&self, rows: usize, columns: usize) -> Vec<(String, String)> {
        let mut facts = vec![
            ("method".into(), self.model.params.name().into()),
            ("rows".into(), format!("{}, in {} columns", count(rows), count(columns))),
        ];
        for (name, value) in varied(&self.model.params) {
            facts.push((name.into(), short(value)));
        }
        if let Some(table) = self.table().filter(|table| table.entries.len() > 1) {
            for (number, entry) in table.entries.iter().enumerate() {
                let name: Vec<String> =
                    varied(&entry.parameters).into_iter().map(|(name, value)| format!("{name} {}", short(value))).collect();
                let end = if number == table.best { "  best" } else if entry.dropped { "  given up" } else { "" };
                let value = format!("{:.4} ± {:.4}{end}", entry.mean, entry.standard_error);
                facts.push((format!("  {}", name.join(", ")), value));
            }
        }
        let confusion = self.confusion();
        facts.push(("accuracy".into(), format!("{:.4} on {}", self.accuracy(), self.measured_on())));
        facts.push(("macro F1".into(), format!("{:.4}", confusion.macro_f1())));
        for (class, name) in self.model.classes.names().iter().enumerate().take(20) {
            let score = confusion.class(class);
            let value = format!("precision {:.3}, recall {:.3}, {} rows", score.precision, score.recall, score.rows);
            facts.push((format!("  class {name}"), value));
        }
        if self.model.classes.len() > 20 {
            facts.push((String::new(), format!("and {} more classes", self.model.classes.len() - 20)));
        }
        facts
    }
}

fn cv_line(entry: &eyot::CvEntry<ClassifierParams>) -> Cv {
    let number = |value: f64| if value.fract() == 0.0 { (value as i64).into() } else { value.into() };
    let parameters =
        varied(&entry.parameters).into_iter().map(|(name, value)| (name.to_owned(), number(value))).collect();
    Cv { parameters, mean: entry.mean, standard_error: entry.standard_error, dropped: entry.dropped }
}

/// A parameter as people write it.
fn short(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 0.001 { format!("{}", (value * 1e6).round() / 1e6) } else { format!("{value:.3e}") }
}
