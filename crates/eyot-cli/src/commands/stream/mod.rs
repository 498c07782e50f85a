//! `eyot stream`: learn from a stream in one pass, testing before learning.
//!
//! `learning.rs` takes rows and learns them, `checkpoint.rs` keeps and brings back where the stream stands, `table.rs`
//! counts, shows and writes predictions.

mod checkpoint;
mod learning;
mod table;

use std::path::PathBuf;

use eyot::{LearnerParams, Method, OnlineLearner, OnlineModel, PointsBuf, Run};
use serde::Serialize;

use self::checkpoint::Position;
use self::learning::Stream;
use self::table::CurvePoint;
use crate::args::{DataArgs, LearnerArgs, RunArgs, SaveArgs, method};
use crate::input::Input;
use crate::job::{Job, Shared};
use crate::messages::{self, Usage};
use crate::progress::stop_requested;

const EXAMPLES: &str = "\
EXAMPLES
  Learn from a log as it comes; Ctrl-C saves where it was:
    zcat log.csv.gz | eyot stream - --target clicked

  Apply what was learned:
    eyot stream log.csv --target clicked -f clicks.eyot && eyot predict clicks.eyot new.csv

  Never lose a stream: after a crash the same command goes on where the checkpoint was:
    eyot stream log.csv --target clicked --checkpoint log.eyot --every 10000

  Another method, and its predictions:
    eyot stream prices.csv --target price --task regress --method rrf -p predictions.csv

  A stream that changes: partitionings are renewed from recent points, one every 1000 points:
    eyot stream log.csv --target clicked --refresh 1000

  The protocol of paper 1: an initial set, psi by cross-validation, blocks of 1000:
    eyot stream data.svm --target label --init 10000 --psi auto --block 1000

METHODS
  ik-ogd rrf fogd nogd adaraker rbp forgetron projectron projectron++ bpas bsgd-m bogd dualsgd need the same memory
  for ever. ogd and perceptron keep every point they learn from: they grow and slow down with the stream.";

/// Learn from a stream in one pass, testing before learning
///
/// Every row is predicted first and learned afterwards, so the figures are honest. The first rows (--init) also decide
/// how columns are scaled and where the isolation map is drawn. Classes may be of any kind, and new ones may turn up
/// later. Lines of the progress table appear at 1, 2, 4, 8, … points.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,

    /// The learner
    #[arg(long, value_name = "NAME", default_value = "ik-ogd", value_parser = method, help_heading = "Learner")]
    method: Method,

    #[command(flatten)]
    learner: LearnerArgs,

    /// First rows, from which scaling, map and landmarks are made
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Stream")]
    init: usize,

    /// Rows that are predicted together by the model as it was before them
    ///
    /// With 1, every row is tested and learned, the initial ones too. With more, the initial rows are only learned.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Stream")]
    block: usize,

    /// Save everything to FILE while learning, and go on from it if it is there
    ///
    /// It is written whole or not at all, so it can be killed at any moment. A file of data is then skipped to the
    /// right row; on stdin the next row must be the one after the last taken, and a note says how many to skip.
    /// Without it, Ctrl-C on stdin saves to eyot-stream.eyot.
    #[arg(long, value_name = "FILE", help_heading = "Stream")]
    checkpoint: Option<PathBuf>,

    /// Points between checkpoints
    #[arg(long, value_name = "N", default_value_t = 100_000, help_heading = "Stream")]
    every: u64,

    /// Write every prediction, made before learning: row, score, prediction
    #[arg(short, long, value_name = "FILE", help_heading = "Stream")]
    predictions: Option<PathBuf>,

    #[command(flatten)]
    save: SaveArgs,

    #[command(flatten)]
    run: RunArgs,
}

#[derive(Serialize)]
struct Own<'a> {
    points: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mistakes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mistake_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rmse: Option<f64>,
    classes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<usize>,
    curve: &'a [CurvePoint],
    points_per_second: f64,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let job = Job::start("stream", &args.run);
    if args.init == 0 || args.block == 0 || args.every == 0 {
        return Err(Usage::new("`--init`, `--block` and `--every` must be at least 1").into());
    }
    // Wrong parameters are said before anything is read.
    let two = PointsBuf::from_rows(&[[0.0], [1.0]])?;
    args.learner.params(args.method, 1, args.run.seed)?.check()?.start(two.as_points(), Run::single())?;
    let mut stream = Stream::new(args, &job)?;
    let mut input = Input::as_it_comes(&args.data, stream.encoder(), args.init.saturating_add(1));
    let outcome = input.pass(&job, "learn", |table| stream.take(table)).and_then(|()| stream.end());
    if let Err(error) = outcome {
        stream.rescue(&error)?;
        return Err(if stop_requested() { eyot::Error::Stopped.into() } else { error });
    }
    if stop_requested() {
        stream.rescue(&eyot::Error::Stopped.into())?;
    }
    stream.save_all()?;
    let stream = stream.finished()?;
    finish(job, args, &stream.model, &stream.params, &stream.position, stream.points_per_second)?;
    if stop_requested() { Err(eyot::Error::Stopped.into()) } else { Ok(()) }
}

fn finish(
    job: Job,
    args: &Args,
    model: &OnlineModel,
    params: &LearnerParams,
    position: &Position,
    points_per_second: f64,
) -> anyhow::Result<()> {
    let (tally, regress) = (position.tally, args.learner.regress());
    let curve = position.full_curve(regress);
    let own = Own {
        points: tally.points,
        mistakes: (!regress).then_some(tally.mistakes),
        mistake_rate: (!regress).then(|| tally.mistake_rate()),
        accuracy: (!regress).then(|| 1.0 - tally.mistake_rate()),
        rmse: regress.then(|| tally.rmse()),
        classes: model.classes.names(),
        kept: model.learner.n_kept(),
        curve: &curve,
        points_per_second,
    };
    let mut facts = vec![("points", messages::count(tally.points as usize))];
    if regress {
        facts.push(("rmse", format!("{:.6}", tally.rmse())));
    } else {
        facts.push(("mistakes", messages::count(tally.mistakes as usize)));
        facts.push(("accuracy", format!("{:.4}", 1.0 - tally.mistake_rate())));
        facts.push(("classes", model.classes.names().len().to_string()));
        if let [only] = model.classes.names() {
            job.note(format!("all rows were of class `{only}`: there was nothing to tell apart"));
        }
    }
    if let Some(kept) = model.learner.n_kept() {
        facts.push(("kept", format!("{} points", messages::count(kept))));
    }
    facts.push(("speed", format!("{} points per second", messages::count(points_per_second as usize))));
    let shared = Shared {
        method: params.method.name(),
        rows: position.rows as usize,
        columns: model.encoder.n_columns(),
        seed: params.seed,
        parameters: params,
    };
    job.finish(&shared, &own, &facts)
}
