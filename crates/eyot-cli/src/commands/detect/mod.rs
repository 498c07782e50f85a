//! `eyot detect`: ranks rows from most to least anomalous.

pub(super) mod groups;
mod labels;
mod report;
mod stream;
mod table;

use std::path::PathBuf;

use anyhow::Context;
use eyot::{
    Checked, Contamination, DetectMethod, DetectorModel, DetectorParams, Encoder, LandmarkDraw, PointsBuf, ScaleReason,
    Share, average_precision, roc_auc,
};
use eyot_io::{is_model_file, save_model, write_file};
use serde::Serialize;

use crate::args::{DataArgs, OutputArgs, RunArgs, SaveArgs};
use crate::fit::{encode, fit_encoder};
use crate::input::Input;
use crate::job::{Job, Phase, Shared};
use crate::messages::{self, Usage};
use labels::{Ids, Labels};

const EXAMPLES: &str = "\
EXAMPLES
  Which rows are odd, and why?
    eyot detect orders.csv --explain --report orders.html

  Keep the scores of all rows, flag one in a hundred:
    eyot detect orders.csv --contamination 0.01 -o scores.csv

  Score tomorrow's rows with today's model:
    eyot detect monday.csv -f orders.eyot
    eyot predict orders.eyot tuesday.csv

  How good is it where the truth is known (column `label` is not used as a feature)?
    eyot detect mammography.parquet --label label

  Watch a stream for ever, surviving restarts:
    tail -F log.csv | eyot detect - --stream --checkpoint log.eyot

  Which shops are odd, each being many orders?
    eyot detect orders.csv --bag shop";

/// Find anomalies: rank rows from most to least odd
///
/// No labels are needed, and none are used. Text columns become one column per level, number columns are scaled, and
/// columns that look like identifiers are left out with a note. Without --psi, rows are scored at many scales at once,
/// and those at which a row stands out count; the table says for each row whether it is far from everything or
/// odd among its neighbours.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    data: DataArgs,

    /// How oddness is measured
    ///
    /// `idk`: the Isolation Distributional Kernel, how similar a row is to all data together. `inne`: how isolated its
    /// ball is beside the neighbour's. `norm`: in how many partitionings it is covered at all. `iforest`: how few random
    /// cuts separate it. `gaussian`: mean Gaussian kernel; `ocsvm`: one-class SVM (both slow on many rows, which are
    /// then sampled, with a note).
    #[arg(long, value_name = "NAME", default_value = "idk", value_parser = method, help_heading = "Detector")]
    method: DetectMethod,

    /// Rows sampled for each partitioning, ψ, or auto
    ///
    /// A small ψ (2 to 16) finds rows far from everything and small far clusters, a large one (256 and more) rows that
    /// are odd among their neighbours. `auto` scores at ψ = 2, 4, 8, … up to 4096, as far as rows and time allow, and
    /// adds up how far each row stands out: insurance against a badly wrong ψ, not better than the best one.
    #[arg(long, value_name = "N|auto", default_value = "auto", value_parser = psi, help_heading = "Detector")]
    psi: Psi,

    /// Largest ψ of auto [default: 4096, less on large data]
    #[arg(long, value_name = "N", help_heading = "Detector")]
    max_psi: Option<usize>,

    /// Number of partitionings or trees, t
    ///
    /// More make scores less noisy and everything slower in proportion.
    #[arg(short, value_name = "N", default_value_t = 100, help_heading = "Detector")]
    t: usize,

    /// Bandwidth of the Gaussian kernel [default: the median distance between rows]
    #[arg(long, value_name = "S", help_heading = "Detector")]
    sigma: Option<f64>,

    /// How `gaussian-nystrom` draws its landmarks: uniform, or leverage
    ///
    /// By leverage scores, rare regions get landmarks too; it takes about twice as long.
    #[arg(long, value_name = "HOW", default_value = "uniform", value_parser = landmarks, help_heading = "Detector")]
    landmarks: LandmarkDraw,

    /// Share of rows that a one-class SVM may leave outside
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, help_heading = "Detector")]
    nu: f64,

    /// Share of rows to flag, above 0 and at most 0.5, or auto
    ///
    /// `auto` flags rows whose score stands out: beyond the point where a tail that starts at the median and falls off
    /// exponentially through the upper quartile has 1 % of the rows left. None if nothing stands out. Rows of equal
    /// score are flagged together.
    #[arg(long, value_name = "F|auto", default_value = "auto", value_parser = contamination, allow_negative_numbers = true, help_heading = "Result")]
    contamination: Contamination,

    /// How many rows to show
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Result")]
    top: usize,

    /// Say which columns make each flagged row odd, as shares that sum to 1
    ///
    /// Asked of the fitted detector itself: how much less odd the row becomes with a column's value taken from its
    /// nearest ordinary rows, and how odd those become with the row's value. With -o, the file has the reasons of all
    /// flagged rows, not only of those shown.
    #[arg(long, help_heading = "Result")]
    explain: bool,

    /// Write a report to read and to share: one HTML file that needs nothing else
    #[arg(long, value_name = "FILE.html", help_heading = "Result")]
    report: Option<PathBuf>,

    /// Score and learn row by row, for ever, in constant memory
    ///
    /// Every row is scored by the rows before it, then learned; older rows are gradually forgotten. The first rows (a
    /// window of 1024) only teach. Writes a line per row as it comes.
    #[arg(long, help_heading = "Stream", conflicts_with_all = ["explain", "report", "bag", "save"])]
    stream: bool,

    /// Rows after which a row of the stream counts half
    #[arg(long, value_name = "ROWS", default_value_t = 10_000.0, help_heading = "Stream")]
    half_life: f64,

    /// Recent rows of the stream that are kept, and rows before the first score
    #[arg(long, value_name = "ROWS", default_value_t = 1024, help_heading = "Stream")]
    window: usize,

    /// File to resume the stream from, if it is there, and to save its state to
    #[arg(long, value_name = "FILE", requires = "stream", help_heading = "Stream")]
    checkpoint: Option<PathBuf>,

    /// Rows between two checkpoints
    #[arg(long, value_name = "ROWS", default_value_t = 10_000, help_heading = "Stream")]
    every: u64,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    save: SaveArgs,

    #[command(flatten)]
    run: RunArgs,
}

/// ψ as users write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Psi {
    Auto,
    Fixed(usize),
}

fn psi(text: &str) -> Result<Psi, String> {
    match text {
        "auto" => Ok(Psi::Auto),
        _ => text.parse().map(Psi::Fixed).map_err(|_| "it must be a whole number or `auto`".to_owned()),
    }
}

fn contamination(text: &str) -> Result<Contamination, String> {
    match text {
        "auto" => Ok(Contamination::Auto),
        _ => text.parse().map(Contamination::Share).map_err(|_| "it must be a share or `auto`".to_owned()),
    }
}

fn landmarks(text: &str) -> Result<LandmarkDraw, String> {
    match text {
        "uniform" => Ok(LandmarkDraw::Uniform),
        "leverage" => Ok(LandmarkDraw::Leverage),
        _ => Err("it must be uniform or leverage".to_owned()),
    }
}

fn method(text: &str) -> Result<DetectMethod, String> {
    text.parse().map_err(|error: eyot::Error| error.to_string())
}

impl Args {
    fn params(&self) -> eyot::Result<Checked<DetectorParams>> {
        self.contamination.check()?;
        let psi = match self.psi {
            Psi::Auto => None,
            Psi::Fixed(psi) => Some(psi),
        };
        let params = DetectorParams::default().method(self.method).psi(psi).max_psi(self.max_psi).t(self.t);
        params.seed(self.run.seed).sigma(self.sigma).nu(self.nu).landmarks(self.landmarks).check()
    }
}

/// All that is known of the rows after scoring.
struct Found {
    name: String,
    model: DetectorModel,
    scores: Vec<f64>,
    /// Row numbers, most anomalous first, as many as are shown.
    top: Vec<usize>,
    flagged: usize,
    ids: Ids,
    labels: Option<Labels>,
    quality: Option<Quality>,
    /// Names of raw columns, as [`Share::column`] numbers them.
    columns: Vec<String>,
    /// Why the top rows are odd, if that was asked for.
    why: Vec<Vec<Share>>,
    /// The same for all flagged rows, ascending, if scores are written to a file.
    reasons: Vec<(usize, Vec<Share>)>,
    /// The scale that spoke for the top rows, where there are many scales.
    scales: Vec<ScaleReason>,
    /// Raw cells of the top rows, column by column as in [`Found::raw_columns`].
    cells: Vec<Vec<String>>,
    raw_columns: Vec<String>,
    /// All values of the number columns that do most to make the top rows odd, for the report.
    values: Vec<(usize, Vec<f64>)>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Quality {
    auc: f64,
    average_precision: f64,
}

#[derive(Serialize)]
struct Own {
    psi: serde_json::Value,
    t: usize,
    threshold: f64,
    flagged: usize,
    top: Vec<TopRow>,
    #[serde(flatten)]
    quality: Option<Quality>,
}

#[derive(Serialize)]
struct TopRow {
    row: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    score: f64,
    probability: f64,
    flagged: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<Scale>,
    why: Vec<Why>,
}

#[derive(Serialize)]
struct Scale {
    psi: usize,
    kind: &'static str,
}

#[derive(Serialize)]
struct Why {
    column: String,
    share: f64,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let job = Job::start("detect", &args.run);
    let params = args.params()?;
    if is_model_file(&args.data.data) {
        let message = format!("{}: this is a model, not data", args.data.data.display());
        return Err(refuse(message, "apply it with: eyot predict MODEL DATA"));
    }
    if args.stream {
        return stream::run(args, job);
    }
    if args.data.bag.is_some() {
        return groups::run(args, &params, job);
    }
    table::check_name(args.output.output.as_deref())?;
    let found = find(args, &params, &job)?;
    if let Some(path) = &args.output.output {
        job.timed(Phase::Score, || table::write_scores(path, &found, args.explain))?;
    }
    if let Some(path) = &args.save.save {
        let bytes = found.model.to_bytes()?;
        save_model(path, &bytes)?;
    }
    if let Some(path) = &args.report {
        let html = report::html(&found, args);
        write_file(path, html.as_bytes())?;
    }
    finish(args, &found, job)
}

/// Reads, fits, scores and explains.
fn find(args: &Args, params: &Checked<DetectorParams>, job: &Job) -> anyhow::Result<Found> {
    let mut input = Input::again(&args.data);
    let name = input.name().to_owned();
    let (mut ids, mut labels) = (Ids::new(args.data.id.as_deref()), Labels::new(args.data.label.as_deref()));
    let encoder = fit_encoder(&mut input, &args.data, job, |table| {
        ids.observe(table);
        if let Some(labels) = &mut labels {
            labels.observe(table).with_context(|| name.clone())?;
        }
        Ok(())
    })?;
    let labels = labels.map(Labels::finish).transpose().with_context(|| name.clone())?;
    if let Some(labels) = &labels {
        job.note(labels.meaning());
    }
    let points = collect(&mut input, &args.data, &encoder, job)?;
    let fit = || DetectorModel::fit(params, args.contamination, encoder, points.as_points(), job.run());
    let (model, scores) = job.timed(Phase::Fit, fit).with_context(|| name.clone())?;
    let DetectorModel { encoder, detector, threshold, explainer, .. } = &model;
    note_limits(args, detector, encoder, job);
    let flagged = scores.iter().filter(|&&score| threshold.flags(score)).count();
    let top = order(&scores, args.top);
    let chosen = points.select(&top);
    let scales = match detector.multi_scale() {
        Some(model) => model.reasons(chosen.as_points(), job.step())?,
        None => Vec::new(),
    };
    let (columns, sources) = DetectorModel::sources(encoder);
    let why = if args.explain || args.report.is_some() {
        explainer.explain(detector, chosen.as_points(), &sources, job.run())?
    } else {
        Vec::new()
    };
    // A file of scores has room for the reasons of all flagged rows.
    let mut reasons: Vec<(usize, Vec<Share>)> = Vec::new();
    if args.explain && args.output.output.is_some() {
        let rows: Vec<usize> = (0..scores.len()).filter(|&row| threshold.flags(scores[row])).collect();
        let shares = explainer.explain(detector, points.select(&rows).as_points(), &sources, job.run())?;
        reasons = rows.into_iter().zip(shares).collect();
    }
    let quality = match &labels {
        Some(labels) => Some(Quality {
            auc: roc_auc(&scores, labels.anomalous()).with_context(|| name.clone())?,
            average_precision: average_precision(&scores, labels.anomalous())?,
        }),
        None => None,
    };
    // Columns whose distribution the report shows.
    let wanted: Vec<usize> = match args.report {
        Some(_) => why.iter().filter_map(|shares| Some(shares.first()?.column)).collect(),
        None => Vec::new(),
    };
    let table::Raw { columns: raw_columns, cells, values } =
        table::raw_cells(&mut input, encoder, &top, &wanted, job)?;
    Ok(Found { name, model, scores, top, flagged, ids, labels, quality, columns, why, reasons, scales, cells, raw_columns, values })
}

/// All rows, encoded.
fn collect(input: &mut Input, data: &DataArgs, encoder: &Encoder, job: &Job) -> anyhow::Result<PointsBuf> {
    let mut all: Option<PointsBuf> = None;
    encode(input, data, encoder, job, "encode", |_, points| {
        append(&mut all, points);
        Ok(())
    })?;
    Ok(all.ok_or(eyot::Error::Empty)?)
}

/// Adds rows to those that are there.
fn append(all: &mut Option<PointsBuf>, points: PointsBuf) {
    match all {
        None => *all = Some(points),
        Some(all) => points.as_points().rows().for_each(|row| all.push(row)),
    }
}

/// Says where the data did not allow what was asked for.
fn note_limits(args: &Args, detector: &eyot::AnyDetector, encoder: &Encoder, job: &Job) {
    if let (Psi::Fixed(asked), Some(psi)) = (args.psi, detector.psi())
        && psi < asked
    {
        job.note(format!("psi is {psi}, the number of rows, because there are no more"));
    }
    if let Some(rows) = detector.sampled_rows().filter(|&rows| rows < encoder.n_rows()) {
        let (rows, all) = (messages::count(rows), messages::count(encoder.n_rows()));
        job.note(format!("`{}` is quadratic in the rows, so it was fitted on {rows} of {all}", args.method));
    }
    if encoder.extent() == 0.0 {
        job.note("all rows are the same, so none is more anomalous than another");
    }
}

/// The rows of highest score, ties by row number.
fn order(scores: &[f64], most: usize) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..scores.len()).collect();
    let by_score = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
    if most < rows.len() {
        rows.select_nth_unstable_by(most, by_score);
        rows.truncate(most);
    }
    rows.sort_unstable_by(by_score);
    rows
}

fn finish(args: &Args, found: &Found, job: Job) -> anyhow::Result<()> {
    let model = &found.model;
    let top = found.top.iter().enumerate().map(|(at, &row)| TopRow {
        row: row + 1,
        id: found.ids.get(row),
        score: found.scores[row],
        probability: model.threshold.probability(found.scores[row]),
        flagged: model.threshold.flags(found.scores[row]),
        scale: found.scales.get(at).map(|scale| Scale { psi: scale.psi, kind: scale.kind.words() }),
        why: found.why.get(at).map_or(Vec::new(), |shares| {
            shares
                .iter()
                .map(|share| Why { column: found.columns[share.column].clone(), share: share.share })
                .collect()
        }),
    });
    let own = Own {
        psi: table::psi_json(&model.detector),
        t: args.t,
        threshold: model.threshold.value(),
        flagged: found.flagged,
        top: top.collect(),
        quality: found.quality,
    };
    if !args.run.messages.json {
        messages::print(table::for_people(found, args.explain).as_bytes())?;
    }
    let shared = Shared {
        method: args.method.name(),
        rows: found.scores.len(),
        columns: model.encoder.n_columns(),
        seed: args.run.seed,
        parameters: &model.params,
    };
    job.finish(&shared, &own, &table::facts(found))
}

/// Options that make no sense together are wrong usage.
fn refuse(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Usage::new(message).hint(hint))
}
