//! `eyot mil`: classification of bags of rows.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use eyot::{
    BagClassifierModel, BagClassifierParams, BagFold, BagGrid, BagValidation, BagValidationParams, CceParams, Confusion, CvEntry, CvTable,
    Distance, IskParams, IsolationMapParams, MiFvParams, MiGraphParams, MiKernelParams, SetMethod,
    SimpleMiParams, WitnessParams,
};
use eyot_io::{Cells, Format, TableWriter, output_format};
use serde::Serialize;

use self::bags::LabelledBags;
use crate::args::{DataArgs, ReportArgs, RunArgs, SaveArgs};
use crate::job::{Job, Phase, Shared};
use crate::messages::{Usage, count};

pub(super) mod bags;
mod report;

const EXAMPLES: &str = "\
EXAMPLES
  Molecules of several shapes each; the accuracy, found by nested cross-validation:
    eyot mil musk.csv --bag molecule --target musk

  A model for new molecules, and a report on which shapes decide:
    eyot mil musk.csv --bag molecule --target musk -f musk.eyot --report musk.html
    eyot predict musk.eyot new.csv

  Texts as bags of word counts, with given parameters, as JSON:
    eyot mil posts.svm --bag qid --distance text --scale none --psi 64 --tau 0.125 --json";

/// Learn to classify bags of rows from examples
///
/// A bag is a set of rows that have one label together: the shapes of a molecule, the regions of an image, the posts of a
/// discussion. Bags may have any sizes and labels any values. The default method, isk, turns a bag of any size into one
/// sparse vector, the shares of its rows in the cells of random partitionings, and learns a linear classifier on them.
///
/// Accuracy is that of --cv folds, each held out once; all that is chosen (scale, ψ, ε, …) is chosen inside the other
/// folds by a cross-validation of its own: the candidate that tells held-out bags apart most clearly. With --test it is
/// that of the test file.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,

    /// What is learned
    ///
    /// `isk`: the Isolation Set-Kernel; fast on many rows. `mi-kernel`: all pairs of rows compared by a Gaussian kernel.
    /// `migraph`: the same, with similar rows of a bag counting less each. `mifv`: Fisher vectors of a Gaussian mixture.
    /// `cce`: the clusters that a bag visits. `mi-svm`: guesses which rows make a bag positive. `MI-SVM`: guesses the one
    /// row that does; both are slow on many rows. `simple-mi`: the mean of a bag.
    #[arg(long, value_name = "NAME", default_value = "isk", help_heading = "Method")]
    method: MethodName,

    /// How distance is measured (isk)
    ///
    /// `text` divides by the number of columns where one of the two rows is not 0, for word counts and the like.
    #[arg(long, value_name = "KIND", default_value = "euclidean", help_heading = "Method")]
    distance: DistanceName,

    /// Number of partitionings, t (isk)
    #[arg(short, value_name = "N", default_value_t = 200, help_heading = "Method")]
    t: usize,

    /// Rows sampled for each partitioning, ψ (isk); of several, the best is chosen [default: 16, 32, … 4096; with a text
    /// distance 16, 64, 256, or 4, 8, … 256 with --epsilon]
    #[arg(long, value_name = "N,..", value_delimiter = ',', help_heading = "Method")]
    psi: Vec<usize>,

    /// Rows of a bag that share more cells than this weigh less each, ε (isk) [default: 0.55, 0.6, … 1; with a text distance
    /// --tau instead]
    ///
    /// From 0 to 1; 1 weights all rows of a bag alike. Of several, the best is chosen.
    #[arg(long, value_name = "X,..", value_delimiter = ',', allow_negative_numbers = true, help_heading = "Method")]
    epsilon: Vec<f64>,

    /// Power that a bag's shares of cells are raised to (isk) [default: 1, 0.5, 0; 1 with --tau]
    ///
    /// 1: shares as they are. 0.5: their roots. 0: only whether a bag is in a cell. Below 1, cells with few rows are heard
    /// where most rows of all bags are alike. Of several, the best is chosen.
    #[arg(long, value_name = "X,..", value_delimiter = ',', allow_negative_numbers = true, help_heading = "Method")]
    power: Vec<f64>,

    /// Sharpness γ of the Gaussian kernel (mi-kernel, migraph, the SVMs, simple-mi) [default: 2^-5, … 2^5]
    #[arg(long, value_name = "X,..", value_delimiter = ',', allow_negative_numbers = true, help_heading = "Method")]
    gamma: Vec<f64>,

    /// Squared distance below which rows of a bag are neighbours and weigh less each, τ (migraph, and isk instead of
    /// --epsilon) [default: 2^-5, … 2^5]
    #[arg(long, value_name = "X,..", value_delimiter = ',', allow_negative_numbers = true, help_heading = "Method")]
    tau: Vec<f64>,

    /// Components of the mixture (mifv) [default: 1, 2, 3, 4]
    #[arg(long, value_name = "N,..", value_delimiter = ',', help_heading = "Method")]
    components: Vec<usize>,

    /// Share of the variance that PCA keeps before the mixture, 1 for no PCA (mifv) [default: 1, 0.8, 0.9]
    #[arg(long, value_name = "X,..", value_delimiter = ',', allow_negative_numbers = true, help_heading = "Method")]
    energy: Vec<f64>,

    /// Price of a violated margin, C; of several, the best is chosen
    #[arg(long, value_name = "X,..", value_delimiter = ',', default_value = "1,10,100", allow_negative_numbers = true, help_heading = "Method")]
    c: Vec<f64>,

    /// Folds of cross-validation over bags
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Evaluation")]
    cv: usize,

    /// Folds of the cross-validation inside, which chooses the parameters
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Evaluation")]
    inner: usize,

    /// How often to cross-validate, each time with other folds and other random choices
    ///
    /// With several runs, the standard error is that of the mean over runs; with one, over its folds.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000), help_heading = "Evaluation")]
    runs: u64,

    /// Let scaling, cells and all else that needs no labels see the bags held out too
    ///
    /// For bags that are all at hand when the model is made, and only labels are missing: as the paper measures. Of bags
    /// that come later, the accuracy then says too much.
    #[arg(long, conflicts_with = "test", help_heading = "Evaluation")]
    transductive: bool,

    /// Data to measure the accuracy on, in the columns of the training data
    #[arg(long, value_name = "FILE", help_heading = "Evaluation")]
    test: Option<PathBuf>,

    #[command(flatten)]
    save: SaveArgs,

    #[command(flatten)]
    report: ReportArgs,

    /// Write how much every row speaks for each class, by a model of all bags
    ///
    /// A CSV, TSV or Parquet file with bag, row and one score per class (one for two classes: above 0 speaks for the
    /// second). With isk, mi-kernel and migraph the scores of a bag's rows add up to that of the bag, but for a constant;
    /// with the others a row has the score it would have alone.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    instances: Option<PathBuf>,

    #[command(flatten)]
    run: RunArgs,
}

/// Methods.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum MethodName {
    Isk,
    MiKernel,
    #[value(name = "migraph")]
    MiGraph,
    #[value(name = "mifv")]
    MiFv,
    Cce,
    MiSvm,
    #[value(name = "MI-SVM")]
    MiSvmBag,
    SimpleMi,
}

/// Distances.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum DistanceName {
    Euclidean,
    Text,
    TextSum,
}

impl From<DistanceName> for Distance {
    fn from(name: DistanceName) -> Self {
        match name {
            DistanceName::Euclidean => Self::Euclidean,
            DistanceName::Text => Self::Text,
            DistanceName::TextSum => Self::TextSum,
        }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let job = Job::start("mil", &args.run);
    if let Some(path) = &args.instances {
        table_format(path)?;
    }
    let data = args.data.unscaled();
    let (encoder, bags) = bags::read_training(&data, &job)?;
    let context = || args.data.data.display().to_string();
    args.grid(0)?.check()?;
    let rows = bags.sets.n_instances();
    for psi in args.psi.iter().filter(|&&psi| psi > rows && args.method == MethodName::Isk) {
        job.note(format!("psi {psi} is more than there are rows ({}), so all rows are taken", count(rows)));
    }
    let validations = match &args.test {
        Some(_) => vec![],
        None => job.timed(Phase::Fit, || validate(args, &bags, &job)).with_context(context)?,
    };
    let wanted = args.test.is_some() || args.save.save.is_some() || args.report.report.is_some() || args.instances.is_some();
    let fitted = if wanted {
        Some(job.timed(Phase::Fit, || fit(args, encoder.clone(), &bags, &job)).with_context(context)?)
    } else {
        None
    };
    let tested = match (&args.test, &fitted) {
        (Some(path), Some((model, _))) => Some(test(&data, path, model, &job)?),
        _ => None,
    };
    if let (Some(path), Some((model, _))) = (&args.save.save, &fitted) {
        let bytes = model.to_bytes()?;
        eyot_io::save_model(path, &bytes)?;
        job.detail(|| format!("{}: {} bytes", path.display(), count(bytes.len())));
    }
    if let (Some(path), Some((model, _))) = (&args.instances, &fitted) {
        job.timed(Phase::Score, || write_instances(path, model, &bags, &job))?;
    }
    let outcome = Outcome { args, bags: &bags, validations: &validations, fitted: fitted.as_ref(), tested: tested.as_ref() };
    if let Some(path) = &args.report.report {
        let report = report::report(&outcome, &job)?;
        report.save(path).with_context(|| path.display().to_string())?;
    }
    let columns = encoder.n_columns();
    let shared = Shared {
        method: outcome.parameters().method.name(),
        rows: bags.sets.n_instances(),
        columns,
        seed: args.run.seed,
        parameters: &outcome.parameters(),
    };
    job.finish(&shared, &outcome.summary(), &outcome.facts(columns))
}

impl Args {
    /// What to choose from, in one of the runs.
    fn grid(&self, run: u64) -> eyot::Result<BagGrid> {
        let seed = self.run.seed.wrapping_add(run);
        let base = match self.method {
            MethodName::Isk => {
                let map = IsolationMapParams::default().t(self.t).seed(seed).distance(self.distance.into());
                SetMethod::Isk(IskParams::default().map(map).weighted(!self.epsilon.is_empty(), !self.tau.is_empty())?)
            }
            MethodName::MiKernel => SetMethod::MiKernel(MiKernelParams::default()),
            MethodName::MiGraph => SetMethod::MiGraph(MiGraphParams::default()),
            MethodName::MiFv => SetMethod::MiFv(MiFvParams::default().seed(seed)),
            MethodName::Cce => SetMethod::Cce(CceParams::default().seed(seed)),
            MethodName::MiSvm => SetMethod::MiSvm(WitnessParams::default()),
            MethodName::MiSvmBag => SetMethod::MiSvmBag(WitnessParams::default()),
            MethodName::SimpleMi => SetMethod::SimpleMi(SimpleMiParams::default()),
        };
        let mut grid = BagGrid::of(base);
        given(&mut grid.psis, &self.psi);
        given(&mut grid.epsilons, &self.epsilon);
        given(&mut grid.powers, &self.power);
        given(&mut grid.gammas, &self.gamma);
        given(&mut grid.taus, &self.tau);
        given(&mut grid.components, &self.components);
        given(&mut grid.energies, &self.energy);
        if let Some(scale) = self.data.scale() {
            grid.scales = vec![scale];
        }
        grid.costs.clone_from(&self.c);
        grid.folds = self.inner;
        grid.seed = seed;
        Ok(grid)
    }
}

/// Takes what was given instead of the default.
fn given<T: Clone>(list: &mut Vec<T>, given: &[T]) {
    if !given.is_empty() {
        *list = given.to_vec();
    }
}

/// Cross-validates as often as asked for.
fn validate(args: &Args, bags: &LabelledBags, job: &Job) -> anyhow::Result<Vec<BagValidation>> {
    let n = bags.sets.len();
    if args.cv < 2 || args.cv > n {
        let message = format!("there are {n} bags, so --cv must be from 2 to {n}, but is {}", args.cv);
        return Err(Usage::new(message).hint("use fewer folds, or measure on --test FILE").into());
    }
    for (class, &of_class) in bags.counts().iter().enumerate().filter(|(_, bags)| **bags < args.cv).take(3) {
        let name = bags.classes.name(class as u32);
        job.note(format!("class `{name}` has {of_class} bags, fewer than the {} folds: some folds are without it", args.cv));
    }
    let validation = |run: u64| {
        let seed = args.run.seed.wrapping_add(run);
        let params = BagValidationParams { n_folds: args.cv, seed, transductive: args.transductive };
        BagValidation::run(params, &args.grid(run)?, &bags.sets, &bags.labels, bags.classes.len(), job.run())
    };
    Ok((0..args.runs).map(validation).collect::<eyot::Result<_>>()?)
}

/// A model of all bags, and how its parameters were chosen.
type Fitted = (BagClassifierModel, Option<CvTable<BagClassifierParams>>);

fn fit(args: &Args, encoder: eyot::Encoder, bags: &LabelledBags, job: &Job) -> eyot::Result<Fitted> {
    BagClassifierModel::fit(&args.grid(0)?, encoder, bags.classes.clone(), (&bags.sets, &bags.labels), job.run())
}

/// How the model does on the bags of the test file.
fn test(data: &DataArgs, path: &Path, model: &BagClassifierModel, job: &Job) -> anyhow::Result<Confusion> {
    let bags = bags::read_test(&data.in_file(path), model, job)?;
    let predicted = job.timed(Phase::Score, || model.classifier.predict(&bags.sets, job.run()))?;
    let confusion = Confusion::of(model.classes.len(), &bags.labels, &predicted);
    if confusion.unseen() > 0 {
        let unseen = count(confusion.unseen() as usize);
        job.note(format!("{}: {unseen} bags are of classes that the training data lacks and count as errors", path.display()));
    }
    Ok(confusion)
}

/// The format of a table of results, by the extension of its file.
fn table_format(path: &Path) -> anyhow::Result<Format> {
    let written = [Format::Parquet, Format::Csv, Format::Tsv];
    output_format(path).filter(|format| written.contains(format)).ok_or_else(|| {
        let message = format!("{}: tables cannot be written in the format of this extension", path.display());
        Usage::new(message).hint("use .csv, .tsv or .parquet; .gz or .zst may follow").into()
    })
}

/// Scores of all rows by bag, as they stand in the data.
fn write_instances(path: &Path, model: &BagClassifierModel, bags: &LabelledBags, job: &Job) -> anyhow::Result<()> {
    let width = model.classifier.n_scores();
    let scores = model.classifier.instance_scores(&bags.sets, job.run())?;
    let names = (0..bags.bags.len()).flat_map(|bag| bags.bags.rows(bag).iter().map(move |_| Some(bags.bags.name(bag))));
    let names = names.collect();
    let rows: Vec<u64> = bags.bags.ordered_rows().iter().map(|&row| row as u64 + 1).collect();
    let heads: Vec<String> = match width {
        1 => vec!["score".to_owned()],
        _ => bags.classes.names().iter().map(|name| format!("score {name}")).collect(),
    };
    let columns: Vec<Vec<f64>> = (0..width).map(|at| scores.iter().skip(at).step_by(width).copied().collect()).collect();
    let mut cells = vec![("bag", Cells::Text(&names)), ("row", Cells::Integers(&rows))];
    cells.extend(heads.iter().zip(&columns).map(|(head, column)| (head.as_str(), Cells::Numbers(column))));
    let mut out = TableWriter::create(path, table_format(path)?)?;
    out.write(&cells)?;
    Ok(out.finish()?)
}

/// What came out.
struct Outcome<'a> {
    args: &'a Args,
    bags: &'a LabelledBags,
    validations: &'a [BagValidation],
    fitted: Option<&'a Fitted>,
    tested: Option<&'a Confusion>,
}

#[derive(Serialize)]
struct Summary<'a> {
    bags: usize,
    instances: usize,
    classes: &'a [String],
    accuracy: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    standard_error: Option<f64>,
    measured_on: &'static str,
    confusion: Vec<Vec<u64>>,
    runs: Vec<f64>,
    folds: Vec<HeldOut>,
    cv: Vec<Cv>,
}

#[derive(Serialize)]
struct HeldOut {
    run: usize,
    fold: usize,
    bags: usize,
    accuracy: f64,
    parameters: serde_json::Map<String, serde_json::Value>,
}

#[derive(Serialize)]
struct Cv {
    parameters: serde_json::Map<String, serde_json::Value>,
    mean: f64,
    standard_error: f64,
}

/// The parameters that candidates differ in, by name.
fn varied(params: &BagClassifierParams) -> serde_json::Map<String, serde_json::Value> {
    let json = serde_json::to_value(params).unwrap_or_default();
    let places = [
        ("scale", "/scale"),
        ("psi", "/map/psi"),
        ("epsilon", "/epsilon"),
        ("power", "/power"),
        ("gamma", "/gamma"),
        ("tau", "/tau"),
        ("components", "/components"),
        ("energy", "/energy"),
        ("c", "/svm/c"),
    ];
    // Where instances are weighted by a graph, ε is of no use.
    let graph = json.pointer("/tau").is_some();
    let used = places.into_iter().filter(|&(name, _)| name != "epsilon" || !graph);
    used.filter_map(|(name, path)| Some((name.to_owned(), json.pointer(path)?.clone()))).collect()
}

/// Those parameters in words.
fn words(params: &BagClassifierParams) -> String {
    let word = |(name, value): (String, serde_json::Value)| match value.as_str() {
        Some(text) => format!("{name} {text}"),
        None => format!("{name} {value}"),
    };
    // Shares as they are go without saying.
    let told = varied(params).into_iter().filter(|(name, value)| name != "power" || value.as_f64() != Some(1.0));
    told.map(word).collect::<Vec<_>>().join(", ")
}

impl Outcome<'_> {
    /// The parameters of the model if there is one, else what was chosen in the first fold.
    fn parameters(&self) -> &BagClassifierParams {
        let chosen = || &self.validations[0].folds[0].chosen;
        self.fitted.map_or_else(chosen, |(model, _)| &model.params)
    }

    fn confusion(&self) -> Confusion {
        if let Some(tested) = self.tested {
            return tested.clone();
        }
        let mut confusion = Confusion::new(self.bags.classes.len());
        self.validations.iter().for_each(|run| confusion.merge(&run.confusion));
        confusion
    }

    /// On --test, or the mean over the runs' folds, with its standard error.
    fn accuracy(&self) -> (f64, Option<f64>) {
        match (self.tested, self.validations) {
            (Some(tested), _) => (tested.accuracy(), None),
            (None, [only]) => (only.accuracy(), Some(only.standard_error())),
            (None, several) => {
                let runs = CvEntry::of((), several.iter().map(BagValidation::accuracy).collect());
                (runs.mean, Some(runs.standard_error))
            }
        }
    }

    fn measured_on(&self) -> &'static str {
        if self.tested.is_some() { "test" } else { "held-out folds" }
    }

    fn folds(&self) -> impl Iterator<Item = (usize, usize, &BagFold)> {
        let of_run = |(run, validation): (usize, &'_ BagValidation)| (run, validation.folds.len());
        let places = self.validations.iter().enumerate().map(of_run);
        places.flat_map(|(run, folds)| (0..folds).map(move |fold| (run, fold))).map(|(run, fold)| (run, fold, &self.validations[run].folds[fold]))
    }

    fn summary(&self) -> Summary<'_> {
        let (accuracy, standard_error) = self.accuracy();
        let confusion = self.confusion();
        let fold = |(run, fold, of): (usize, usize, &BagFold)| HeldOut {
            run: run + 1,
            fold: fold + 1,
            bags: of.bags.len(),
            accuracy: of.accuracy,
            parameters: varied(&of.chosen),
        };
        let entry = |entry: &CvEntry<BagClassifierParams>| Cv {
            parameters: varied(&entry.parameters),
            mean: entry.mean,
            standard_error: entry.standard_error,
        };
        let table = self.fitted.and_then(|(_, table)| table.as_ref());
        Summary {
            bags: self.bags.sets.len(),
            instances: self.bags.sets.n_instances(),
            classes: self.bags.classes.names(),
            accuracy,
            standard_error,
            measured_on: self.measured_on(),
            confusion: confusion.counts().chunks(self.bags.classes.len()).map(<[u64]>::to_vec).collect(),
            runs: self.validations.iter().map(BagValidation::accuracy).collect(),
            folds: self.folds().map(fold).collect(),
            cv: table.map_or(vec![], |table| table.entries.iter().map(entry).collect()),
        }
    }

    /// Lines for people.
    fn facts(&self, columns: usize) -> Vec<(String, String)> {
        let sets = &self.bags.sets;
        let mut facts = vec![
            ("method".into(), self.parameters().method.name().into()),
            ("bags".into(), format!("{}, of {} rows in {} columns", count(sets.len()), count(sets.n_instances()), count(columns))),
        ];
        for (run, fold, of) in self.folds().take(30) {
            let name = if self.validations.len() > 1 { format!("  run {}, fold {}", run + 1, fold + 1) } else { format!("  fold {}", fold + 1) };
            facts.push((name, format!("{:.4}  {}", of.accuracy, words(&of.chosen))));
        }
        let (accuracy, error) = self.accuracy();
        let error = error.map_or(String::new(), |error| format!(" ± {error:.4}"));
        facts.push(("accuracy".into(), format!("{accuracy:.4}{error} on {}", self.measured_on())));
        let confusion = self.confusion();
        for (class, name) in self.bags.classes.names().iter().enumerate().take(20) {
            let score = confusion.class(class);
            facts.push((format!("  class {name}"), format!("precision {:.3}, recall {:.3}", score.precision, score.recall)));
        }
        if let Some((model, _)) = self.fitted {
            facts.push(("model".into(), words(&model.params)));
        }
        let files = [("report", &self.args.report.report), ("instances", &self.args.instances), ("saved", &self.args.save.save)];
        facts.extend(files.into_iter().filter_map(|(name, path)| Some((name.into(), path.as_ref()?.display().to_string()))));
        facts
    }
}
