//! `eyot reproduce`: tables and figures of the papers, ours beside the published ones.
//!
//! One experiment is one file with an [`Experiment`] and one line of the list below; what it needs comes from the
//! [`Lab`], which keeps every finished cell in a file, so that a run that was stopped goes on where it was.

mod data;
mod lab;
mod results;

mod batch;
mod cost;
mod drift;
mod grid_bags;
mod grid_batch;
mod grid_detectors;
mod online;
mod online_grid;
mod p1_figure1;
mod p1_figure2;
mod p1_figure3;
mod p1_figure4;
mod p1_figure5;
mod p1_table5;
mod p1_table6;
mod p1_table7;
mod p1_table8;
mod p2_figure1;
mod p2_table1;
mod p2_table2;
mod p3;
mod p3_figure4;
mod p3_figure5;
mod p3_figure6;
mod p3_table2;
mod p3_table3;
mod p4;
mod p4_figure1;
mod p4_figure3;
mod p4_table3;
mod p4_table4;
mod p4_table5;
mod p4_table6;
mod psi_auto;
mod ranks;
mod threshold_auto;

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use crate::args::RunArgs;
use crate::job::{Job, Shared};
use crate::messages::{self, Usage};
use crate::progress::stop_requested;
use lab::{Clock, Lab};
use results::{Cell, Results};

/// All experiments, in the order of the papers.
const EXPERIMENTS: &[Experiment] = &[
    p1_figure1::EXPERIMENT,
    p1_figure2::EXPERIMENT,
    p1_table5::EXPERIMENT,
    p1_table6::EXPERIMENT,
    p1_figure3::EXPERIMENT,
    p1_figure4::EXPERIMENT,
    p1_figure4::DUAL,
    p1_figure5::EXPERIMENT,
    p1_table7::EXPERIMENT,
    p1_table8::EXPERIMENT,
    p2_figure1::EXPERIMENT,
    p2_table1::EXPERIMENT,
    p2_table2::EXPERIMENT,
    p3_table2::EXPERIMENT,
    p3_table3::EXPERIMENT,
    p3_figure4::EXPERIMENT,
    p3_figure5::EXPERIMENT,
    p3_figure6::EXPERIMENT,
    p4_figure1::EXPERIMENT,
    p4_figure1::FIGURE2,
    p4_table3::EXPERIMENT,
    p4_table4::EXPERIMENT,
    p4_figure3::EXPERIMENT,
    p4_table5::EXPERIMENT,
    p4_table6::EXPERIMENT,
    grid_detectors::EXPERIMENT,
    grid_batch::EXPERIMENT,
    grid_bags::EXPERIMENT,
    psi_auto::EXPERIMENT,
    threshold_auto::EXPERIMENT,
    drift::EXPERIMENT,
    cost::EXPERIMENT,
    online_grid::EXPERIMENT,
];

/// A table or figure of a paper.
struct Experiment {
    /// What the command line calls it, for example `p3-table2`.
    name: &'static str,
    /// What it shows.
    title: &'static str,
    measure: Measure,
    run: fn(&mut Lab<'_>) -> anyhow::Result<()>,
}

/// What is measured and how near counts as the same.
#[derive(Debug, Clone, Copy)]
struct Measure {
    /// For example `AUC`.
    name: &'static str,
    /// Decimals that are shown.
    decimals: usize,
    /// A difference up to this, or to two published standard deviations, counts as reproduced; infinite where only
    /// the order of methods can be compared.
    tolerance: f64,
}

impl Measure {
    /// An accuracy, AUC or rate between 0 and 1, compared as the papers' reading rule says.
    const fn share(name: &'static str) -> Self {
        Self { name, decimals: 3, tolerance: 0.02 }
    }

    /// Something that is not compared cell by cell: seconds, or what no paper prints.
    const fn shown(name: &'static str, decimals: usize) -> Self {
        Self { name, decimals, tolerance: f64::INFINITY }
    }
}

const EXAMPLES: &str = "\
EXAMPLES
  What is there?                     eyot reproduce list
  One figure, no data needed:        eyot reproduce p1-figure2
  Everything, in short form:         eyot reproduce all --quick --data DIR
  The page of two runs together:     eyot reproduce all --cached --cells one,two --data DIR -o both";

/// Re-run tables and figures of the papers, ours beside the published ones
///
/// Data sets are looked for in --data DIR and its folders, by the names of this project (online/a9a.train.svm.zst) or
/// by those of LIBSVM and UCI (a9a, a9a.t, CASP.csv); those that are not there are skipped by name. Each finished cell
/// is kept in the output folder: a run that was stopped goes on where it was. A cell that fails, or takes longer than
/// --most-seconds, becomes a note. At the end the folder holds results.md, results.html and the figures as SVG.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// Names of experiments, or `all`, or `list` to see them
    #[arg(required = true, value_name = "WHAT")]
    what: Vec<String>,

    /// The folder with the data sets
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    data: Option<PathBuf>,

    /// Fewer runs, smaller grids and samples: an answer in minutes instead of hours
    #[arg(long)]
    quick: bool,

    /// Only these data sets
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', help_heading = "Input")]
    sets: Vec<String>,

    /// Compute every cell again instead of taking finished ones from the output folder
    #[arg(long)]
    fresh: bool,

    /// Compute nothing: write the page with the cells that are finished
    #[arg(long, conflicts_with = "fresh")]
    cached: bool,

    /// Take finished cells from these folders (or their cells.jsonl) too
    #[arg(long, value_name = "PATH,..", value_delimiter = ',', conflicts_with = "fresh", help_heading = "Input")]
    cells: Vec<PathBuf>,

    /// Stop a cell that takes longer than this, at its next step; 120 with --quick, else without end
    #[arg(long, value_name = "N")]
    most_seconds: Option<u64>,

    /// The folder for cells, results and figures, made if it is not there
    #[arg(short, long, value_name = "DIR", default_value = "eyot-results", help_heading = "Output")]
    output: PathBuf,

    #[command(flatten)]
    run: RunArgs,
}

#[derive(Serialize)]
struct Row<'a> {
    experiment: &'a str,
    #[serde(flatten)]
    cell: &'a Cell,
}

#[derive(Serialize)]
struct Own<'a> {
    rows: &'a [Row<'a>],
    output: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    if args.what == ["list"] {
        let lines: Vec<_> = EXPERIMENTS.iter().map(|experiment| (experiment.name, experiment.title.to_owned())).collect();
        return messages::facts(&lines);
    }
    let chosen = chosen(&args.what)?;
    let job = Job::start("reproduce", &args.run);
    let clock = Clock::new();
    let mut lab = Lab::new(args, &job, &clock)?;
    let mut all: Vec<Results> = Vec::new();
    for experiment in chosen {
        job.line(&format!("{}: {}", experiment.name, experiment.title));
        lab.begin(experiment);
        if let Err(error) = (experiment.run)(&mut lab) {
            if stop_requested() {
                return Err(error);
            }
            lab.note(format!("ended early: {error:#}"));
        }
        let results = lab.end();
        if !job.json() {
            job.clear();
            messages::print(results.to_text().as_bytes())?;
        }
        all.push(results);
    }
    results::save(&all, &args.output, &options(args))?;

    let rows: Vec<Row<'_>> = all
        .iter()
        .flat_map(|results| results.cells.iter().map(|cell| Row { experiment: results.experiment.name, cell }))
        .collect();
    let method = args.what.join(",");
    let parameters = serde_json::json!({ "quick": args.quick });
    let shared = Shared { method: &method, rows: 0, columns: 0, seed: args.run.seed, parameters: &parameters };
    let own = Own { rows: &rows, output: args.output.display().to_string() };
    job.finish(&shared, &own, &[("results in", args.output.join("results.html").display().to_string())])
}

/// The experiments of these names, in the order of the papers.
fn chosen(what: &[String]) -> anyhow::Result<Vec<&'static Experiment>> {
    if let Some(unknown) = what.iter().find(|name| *name != "all" && EXPERIMENTS.iter().all(|known| known.name != **name)) {
        let hint = "`eyot reproduce list` names the experiments";
        return Err(Usage::new(format!("there is no experiment `{unknown}`")).hint(hint).into());
    }
    let all = what.iter().any(|name| name == "all");
    Ok(EXPERIMENTS.iter().filter(|experiment| all || what.iter().any(|name| name == experiment.name)).collect())
}

/// The options that give the same results again, without the names of the experiments.
fn options(args: &Args) -> String {
    let mut line = String::new();
    if args.quick {
        line += " --quick";
    }
    if args.data.is_some() {
        line += " --data DIR";
    }
    if args.run.seed != 0 {
        let _ = write!(line, " --seed {}", args.run.seed);
    }
    line
}
