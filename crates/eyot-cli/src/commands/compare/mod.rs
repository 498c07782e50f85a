//! `eyot compare`: several online learners on the same stream.

mod report;

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context;
use eyot::{
    Classes, LearnerParams, Method, OnlineLoss, Partition, PointsBuf, Run, Targets, mean_and_deviation, permutation, regression_targets,
};
use serde::Serialize;

use crate::args::{DataArgs, LearnerArgs, ReportArgs, RunArgs, method};
use crate::contest::{Course, Pass, Together, chosen};
use crate::fit::{encode, fit_encoder};
use crate::input::Input;
use crate::job::{Job, Phase, Shared};
use crate::messages::{self, Usage};

/// Streams shorter than this are tuned on a tenth of their points, longer ones on a hundredth.
const LONG_STREAM: usize = 500_000;

const EXAMPLES: &str = "\
EXAMPLES
  Which learner suits this stream:
    eyot compare log.csv --target clicked --methods ik-ogd,rrf,fogd,nogd

  As in the papers: parameters chosen on a part of the stream, ten random orders, curves in a report:
    eyot compare log.csv --target clicked --methods all --tune --runs 10 --report compare.html

  Variants of a method, by partition or loss:
    eyot compare log.csv --target clicked --methods ik-ogd:voronoi,ik-ogd:tree,rrf:hinge,rrf:logistic

METHODS
  The names of `eyot stream --method`, each optionally with a partition (voronoi, tree, sphere) or a loss after a colon.
  `all` is every method that can learn the task, ik-ogd with voronoi and with tree. ogd and perceptron keep every point
  they learn from, so their time grows with the square of the stream.";

/// Run several online learners on the same stream
///
/// Every row is predicted first and learned afterwards, as in `eyot stream`, by each method; columns are scaled by all
/// rows. Prints one table: the mistake rate (or, for numbers, the root of the mean squared error), and the seconds for
/// making features and for learning. The data is held in memory.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,

    /// The learners, or all
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', default_value = "ik-ogd,rrf,fogd,nogd",
          help_heading = "Comparison")]
    methods: Vec<String>,

    /// Random orders of the rows to run over; with 1 they stay in their order
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Comparison")]
    runs: usize,

    /// Shuffle the rows even for a single run
    #[arg(long, help_heading = "Comparison")]
    shuffle: bool,

    /// Choose each method's parameters on a random part of the rows, over the grids of the papers
    ///
    /// γ of the kernel, η, λ, ψ and C, whichever the method has; those given as options stay as they are.
    #[arg(long, help_heading = "Comparison")]
    tune: bool,

    /// Rows to tune on [default: a tenth of them, of 500,000 or more a hundredth]
    #[arg(long, value_name = "N", requires = "tune", help_heading = "Comparison")]
    tune_rows: Option<usize>,

    /// First rows, from which maps and landmarks are made
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Comparison")]
    init: usize,

    /// Rows that are predicted together by the model as it was before them; the initial rows are then only learned
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Comparison")]
    block: usize,

    /// Write a picture of the learning curves
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    report: ReportArgs,

    #[command(flatten)]
    learner: LearnerArgs,

    #[command(flatten)]
    run: RunArgs,
}

/// A learner that takes part.
struct Entry {
    name: String,
    params: LearnerParams,
}

/// What came out for a learner.
#[derive(Debug, Serialize)]
struct Outcome {
    method: String,
    /// Mistake rate or RMSE; none if it diverged.
    mean: Option<f64>,
    std: Option<f64>,
    /// Of one run: mapping and learning.
    seconds: f64,
    map_seconds: f64,
    learn_seconds: f64,
    runs: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diverged: Option<String>,
    parameters: LearnerParams,
    curve: Vec<CurvePoint>,
}

/// The mean over the runs after so many points.
#[derive(Debug, Clone, Copy, Serialize)]
struct CurvePoint {
    points: u64,
    mean: f64,
}

#[derive(Serialize)]
struct Own<'a> {
    metric: &'static str,
    runs: usize,
    results: &'a [Outcome],
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let job = Job::start("compare", &args.run);
    if args.runs == 0 || args.init == 0 || args.block == 0 || args.tune_rows == Some(0) {
        return Err(Usage::new("`--runs`, `--init`, `--block` and `--tune-rows` must be at least 1").into());
    }
    if args.learner.searches_psi() {
        return Err(Usage::new("`--psi auto` is for a single learner").hint("say --tune, or name a number").into());
    }
    // Wrong names and parameters are said before anything is read.
    entries(args, 1)?;
    let (points, targets) = read(args, &job)?;
    let name = args.data.name();
    if points.n_rows() < 2 {
        return Err(eyot::Error::Data("one row is no stream".into())).context(name);
    }
    let course = Course { points: &points, targets: &targets, init: args.init, block: args.block };
    let mut entries = entries(args, points.n_columns())?;
    if args.tune {
        job.timed(Phase::Fit, || tune(args, &course, &mut entries, &job)).with_context(|| name.clone())?;
    }
    let outcomes = job.timed(Phase::Learn, || compete(args, &course, entries, &job)).with_context(|| name.clone())?;
    let regress = args.learner.regress();
    if let Some(path) = &args.plot {
        let svg = report::curves(&outcomes, regress).to_svg();
        eyot_io::write_file(path, svg.as_bytes())?;
    }
    if let Some(path) = &args.report.report {
        report::html(args, &name, &course, &outcomes).save(path).with_context(|| path.display().to_string())?;
    }
    let names: Vec<&str> = outcomes.iter().map(|outcome| outcome.method.as_str()).collect();
    let shared = Shared {
        method: &names.join(","),
        rows: points.n_rows(),
        columns: points.n_columns(),
        seed: args.run.seed,
        parameters: &Given { init: args.init, block: args.block, tune: args.tune },
    };
    job.clear();
    if !job.json() {
        messages::print(table(&outcomes, regress, args.runs).as_bytes())?;
    }
    let own = Own { metric: if regress { "rmse" } else { "mistake_rate" }, runs: args.runs, results: &outcomes };
    let facts: [(&str, String); 0] = [];
    job.finish(&shared, &own, &facts)
}

/// Parameters that all learners share.
#[derive(Serialize)]
struct Given {
    init: usize,
    block: usize,
    tune: bool,
}

/// The learners asked for.
fn entries(args: &Args, columns: usize) -> anyhow::Result<Vec<Entry>> {
    let regress = args.learner.regress();
    let able = Method::NAMES.iter().filter(|(_, method)| !regress || method.can_regress());
    let all = able.flat_map(|(name, method)| {
        let variants: &[&str] = if *method == Method::IkOgd { &[":voronoi", ":tree"] } else { &[""] };
        variants.iter().map(move |variant| format!("{name}{variant}"))
    });
    let names: Vec<String> = if args.methods == ["all"] { all.collect() } else { args.methods.clone() };
    let mut entries: Vec<Entry> = Vec::new();
    for name in names {
        let (base, variant) = name.split_once(':').map_or((name.as_str(), None), |(base, of)| (base, Some(of)));
        let wrong = |what: String| Usage::new(format!("--methods: {what}"));
        let method = method(base).map_err(|known| wrong(format!("`{base}` is no method")).hint(known))?;
        let mut params = args.learner.params(method, columns, args.run.seed)?;
        match variant {
            None => {}
            Some("voronoi") => params.map = params.map.partition(Partition::Voronoi),
            Some("tree") => params.map = params.map.partition(Partition::Tree),
            Some("sphere") => params.map = params.map.partition(Partition::Sphere),
            Some(loss) => {
                let known = OnlineLoss::NAMES.iter().find(|(known, _)| *known == loss);
                let hint = "after the colon stands voronoi, tree or sphere, or a loss of --loss";
                let no_variant = || wrong(format!("`{loss}` of `{name}` is no variant")).hint(hint);
                params.loss = Some(known.ok_or_else(no_variant)?.1);
            }
        }
        params.clone().check().with_context(|| name.clone())?;
        if entries.iter().any(|entry| entry.name == name) {
            return Err(wrong(format!("`{name}` is named twice")).into());
        }
        entries.push(Entry { name, params });
    }
    Ok(entries)
}

/// All rows with their targets.
fn read(args: &Args, job: &Job) -> anyhow::Result<(PointsBuf, Targets)> {
    let mut input = Input::again(&args.data);
    let (mut classes, mut numbers, mut values) = (Classes::default(), Vec::new(), Vec::new());
    let encoder = fit_encoder(&mut input, &args.data, job, |table| {
        let column = args.data.target_column(table)?;
        let name = || args.data.name();
        if args.learner.regress() {
            values.extend(regression_targets(column, table.first_row).with_context(name)?);
        } else {
            numbers.extend(classes.numbers_or_insert(column, table.first_row).with_context(name)?);
        }
        Ok(())
    })?;
    let sorted = classes.sort();
    for number in &mut numbers {
        *number = sorted[*number as usize];
    }
    let mut points: Option<PointsBuf> = None;
    encode(&mut input, &args.data, &encoder, job, "encode", |_, part| {
        match &mut points {
            Some(points) => part.as_points().rows().for_each(|row| points.push(row)),
            None => points = Some(part),
        }
        Ok(())
    })?;
    let targets = if args.learner.regress() { Targets::Values(values) } else { Targets::Classes(numbers) };
    if !args.learner.regress() && classes.len() == 1 {
        job.note(format!("all rows are of class `{}`: there is nothing to tell apart", classes.name(0)));
    }
    Ok((points.ok_or(eyot::Error::Empty)?, targets))
}

/// Puts the best parameters of its grid into every entry.
fn tune(args: &Args, course: &Course<'_>, entries: &mut [Entry], job: &Job) -> eyot::Result<()> {
    let n = course.len();
    let rows = args.tune_rows.unwrap_or(if n < LONG_STREAM { n / 10 } else { n / 100 }).clamp(1, n);
    let search_psi = args.learner.psi.is_none();
    for entry in entries {
        let (params, tried) = course.tune(&entry.params, rows, search_psi, args.run.seed, job.run())?;
        entry.params = params;
        job.detail(|| {
            let chosen = chosen(&entry.params);
            format!("{}: best of {tried} on {} rows: {chosen}", entry.name, messages::count(rows))
        });
    }
    Ok(())
}

/// All entries over all orders, side by side.
fn compete(args: &Args, course: &Course<'_>, entries: Vec<Entry>, job: &Job) -> eyot::Result<Vec<Outcome>> {
    let shuffle = args.shuffle || args.runs > 1;
    let orders: Vec<Vec<usize>> = (0..args.runs)
        .map(|run| if shuffle { permutation(course.len(), args.run.seed, run as u64) } else { (0..course.len()).collect() })
        .collect();
    let passes = entries.len() * args.runs;
    let watch = Together::new(job.run(), passes * course.ticks());
    let threads = (job.run().n_threads() / passes).max(1);
    let pass = |i: usize| {
        let (entry, run) = (&entries[i / args.runs], i % args.runs);
        // Each order has its own random features.
        let params = entry.params.clone().seed(args.run.seed.wrapping_add(run as u64));
        match course.pass(&params, &orders[run], Run::threads(threads).watched(&watch)) {
            Err(error @ eyot::Error::Diverged { .. }) => Ok(Err(error.to_string())),
            pass => pass.map(Ok),
        }
    };
    let mut passes = Run::threads(job.run().n_threads()).map("compare", passes, pass)?.into_iter();
    let outcome = |entry: Entry| Outcome::new(entry, passes.by_ref().take(args.runs).collect());
    Ok(entries.into_iter().map(outcome).collect())
}

impl Outcome {
    fn new(entry: Entry, passes: Vec<Result<Pass, String>>) -> Self {
        let regress = entry.params.regress;
        let diverged = passes.iter().find_map(|pass| pass.as_ref().err().cloned());
        let passes: Vec<Pass> = passes.into_iter().filter_map(Result::ok).collect();
        let runs: Vec<f64> = passes.iter().map(|pass| pass.tally.error(regress)).collect();
        let (mean, std) = mean_and_deviation(&runs);
        let mean_of = |of: fn(&Pass) -> f64| mean_and_deviation(&passes.iter().map(of).collect::<Vec<_>>()).0;
        let (map_seconds, learn_seconds) = (mean_of(|pass| pass.map_seconds), mean_of(|pass| pass.learn_seconds));
        let finished = diverged.is_none();
        let curve = passes.first().filter(|_| finished).map_or_else(Vec::new, |first| {
            let point = |at: usize| {
                let values: Vec<f64> = passes.iter().map(|pass| pass.curve[at].1).collect();
                CurvePoint { points: first.curve[at].0, mean: mean_and_deviation(&values).0 }
            };
            (0..first.curve.len()).map(point).collect()
        });
        Self {
            method: entry.name,
            mean: finished.then_some(mean),
            std: finished.then_some(std),
            seconds: map_seconds + learn_seconds,
            map_seconds,
            learn_seconds,
            runs,
            diverged,
            parameters: entry.params,
            curve,
        }
    }
}

/// The table for people, best first.
fn table(outcomes: &[Outcome], regress: bool, runs: usize) -> String {
    let metric = if regress { "rmse" } else { "mistakes %" };
    let width = outcomes.iter().map(|outcome| outcome.method.len()).max().unwrap_or(0).max(6);
    let mut text = format!("{:<width$}  {metric:>18}  {:>12}  {:>12}\n", "method", "map seconds", "learn seconds");
    for outcome in ranked(outcomes) {
        let figure = figure(outcome, regress, runs);
        let (map, learn) = (outcome.map_seconds, outcome.learn_seconds);
        let _ = writeln!(text, "{:<width$}  {figure:>18}  {map:>12.2}  {learn:>13.2}", outcome.method);
    }
    text
}

/// Best first; what diverged is last.
fn ranked(outcomes: &[Outcome]) -> Vec<&Outcome> {
    let mut ranked: Vec<&Outcome> = outcomes.iter().collect();
    ranked.sort_by(|a, b| a.mean.unwrap_or(f64::INFINITY).total_cmp(&b.mean.unwrap_or(f64::INFINITY)));
    ranked
}

/// The mean and, over several runs, the deviation.
fn figure(outcome: &Outcome, regress: bool, runs: usize) -> String {
    let (Some(mean), Some(std)) = (outcome.mean, outcome.std) else { return "diverged".into() };
    match (regress, runs) {
        (true, 1) => format!("{mean:.5}"),
        (true, _) => format!("{mean:.5} ± {std:.5}"),
        (false, 1) => format!("{:.3}", 100.0 * mean),
        (false, _) => format!("{:.3} ± {:.3}", 100.0 * mean, 100.0 * std),
    }
}
