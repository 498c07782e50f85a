//! `eyot stream`: learn from a stream in one pass, testing before learning.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use eyot::{
    AHEAD, Classes, EncodeCounts, Encoder, EncoderFit, IsolationMapParams, LearnerParams, Method,
    ModelReader, ModelWriter, OnlineLearner, OnlineModel, PointsBuf, Scratch, Table, TableColumn, Tally, Target,
    Targets, choose_by_cv, least, regression_targets,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::args::{DataArgs, LearnerArgs, Psi, RunArgs, SaveArgs, method};
use crate::input::Input;
use crate::job::{Job, Phase, Shared};
use crate::messages::{self, Usage};

/// Most points that the search for ψ looks at.
const CV_POINTS: usize = 20_000;
/// Where a stream is saved on Ctrl-C when no place was named.
const RESCUE: &str = "eyot-stream.eyot";

const EXAMPLES: &str = "\
EXAMPLES
  Learn from a log as it comes; Ctrl-C saves where it was:
    zcat log.csv.gz | eyot stream - --target clicked

  Never lose a stream: after a crash the same command goes on where the checkpoint was:
    eyot stream log.csv --target clicked --checkpoint log.eyot --every 10000

  Another method, and its predictions:
    eyot stream prices.csv --target price --task regress --method rrf -p predictions.csv

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
    /// right row; on stdin the next row must be the one after the last learned, and a note says how many to skip.
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

/// Where a stream stands: all that a checkpoint has beside the model.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Position {
    /// Rows of the input that are done with.
    rows: u64,
    tally: Tally,
    /// The tally at the last line of the table.
    shown: Tally,
    /// Points at which the next line is due.
    next_line: u64,
    curve: Vec<CurvePoint>,
    /// Bytes of predictions written.
    predicted_bytes: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct CurvePoint {
    points: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rmse: Option<f64>,
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

/// A running stream.
struct Stream<'a> {
    args: &'a Args,
    job: &'a Job,
    name: String,
    target: String,
    /// Rows before there is a model.
    initial: Vec<Table>,
    model: Option<OnlineModel>,
    params: Option<LearnerParams>,
    /// Rows of a block that is not complete.
    pending: Option<(PointsBuf, Targets)>,
    position: Position,
    counts: EncodeCounts,
    at: Scratch,
    predictions: Option<BufWriter<File>>,
    learned_here: u64,
    since: Instant,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let job = Job::start("stream", &args.run);
    if args.init == 0 || args.block == 0 || args.every == 0 {
        return Err(Usage::new("`--init`, `--block` and `--every` must be at least 1").into());
    }
    // Wrong parameters are said before anything is read.
    args.learner.params(args.method, 1, args.run.seed)?.check()?;
    let mut stream = Stream::new(args, &job)?;
    let mut input = match &stream.model {
        Some(model) => Input::for_encoder(&args.data, &model.encoder),
        None => Input::once(&args.data),
    };
    let outcome = input.pass(&job, "learn", |table| stream.take(table)).and_then(|()| stream.end());
    if let Err(error) = outcome {
        let stopped = matches!(error.downcast_ref::<eyot::Error>(), Some(eyot::Error::Stopped));
        if stopped && stream.model.is_some() {
            stream.rescue()?;
        }
        return Err(error);
    }
    stream.save_all()?;
    let Stream { model, params, position, learned_here, since, .. } = stream;
    let (Some(model), Some(params)) = (model, params) else { return Err(eyot::Error::Empty.into()) };
    finish(job, args, &model, &params, &position, learned_here as f64 / since.elapsed().as_secs_f64())
}

impl<'a> Stream<'a> {
    fn new(args: &'a Args, job: &'a Job) -> anyhow::Result<Self> {
        let mut stream = Self {
            args,
            job,
            name: args.data.data.display().to_string(),
            target: args.data.target.clone().unwrap_or_default(),
            initial: Vec::new(),
            model: None,
            params: None,
            pending: None,
            position: Position { next_line: 1, ..Position::default() },
            counts: EncodeCounts::default(),
            at: Scratch::default(),
            predictions: None,
            learned_here: 0,
            since: Instant::now(),
        };
        if let Some(path) = args.checkpoint.as_deref().filter(|path| path.exists()) {
            stream.resume(path)?;
        }
        if let Some(path) = &args.predictions {
            stream.predictions = Some(open_predictions(path, stream.position.predicted_bytes)?);
        }
        Ok(stream)
    }

    /// Goes on from a checkpoint.
    fn resume(&mut self, path: &Path) -> anyhow::Result<()> {
        let name = || path.display().to_string();
        let bytes = eyot_io::load_model(path)?;
        let reader = ModelReader::parse(&bytes).with_context(name)?;
        reader.expect_kind(OnlineModel::KIND).with_context(name)?;
        if !reader.has_json("stream") {
            let message = format!("{}: a saved model, but not a checkpoint of a stream", name());
            return Err(Usage::new(message).hint("name another file after --checkpoint").into());
        }
        let model = OnlineModel::read(&reader).with_context(name)?;
        let made_with: LearnerParams = reader.json("stream.parameters").with_context(name)?;
        let mut wanted = self.args.learner.params(self.args.method, model.encoder.n_columns(), self.args.run.seed)?;
        if self.args.learner.psi == Psi::Auto {
            wanted.map = made_with.map.clone();
            wanted.kernel = made_with.kernel;
        }
        let options: (usize, usize, String) = reader.json("stream.options").with_context(name)?;
        if made_with != wanted || options != (self.args.init, self.args.block, self.target.clone()) {
            let message = format!("{}: the checkpoint was made with other options", name());
            return Err(Usage::new(message).hint("use the same options, or remove the file to begin anew").into());
        }
        self.position = reader.json("stream").with_context(name)?;
        (self.model, self.params) = (Some(model), Some(made_with));
        let rows = messages::count(self.position.rows as usize);
        self.job.note(if self.reads_stdin() {
            format!("going on after {rows} points: skip so many rows of the input (after its header), they are learned")
        } else {
            format!("going on after {rows} points")
        });
        Ok(())
    }

    fn reads_stdin(&self) -> bool {
        self.args.data.data == Path::new("-")
    }

    /// Takes the next rows of the input.
    fn take(&mut self, table: &Table) -> anyhow::Result<()> {
        if self.target.is_empty() {
            if table.sparse.is_none() {
                let message = format!("{}: --target must name the column to predict", self.name);
                let known: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).take(20).collect();
                return Err(Usage::new(message).hint(format!("the columns are {}", known.join(", "))).into());
            }
            self.target = "label".into();
        }
        // What a checkpoint has learned of a file goes by; stdin begins where it ended.
        let done = if self.reads_stdin() { 0 } else { self.position.rows as usize };
        if self.model.is_some() && table.first_row < done {
            let skip = (done - table.first_row).min(table.n_rows);
            if skip == table.n_rows {
                return Ok(());
            }
            return self.learn(&rest_of(table, skip));
        }
        if self.model.is_some() {
            return self.learn(table);
        }
        let have: usize = self.initial.iter().map(|part| part.n_rows).sum();
        if have + table.n_rows < self.args.init {
            self.initial.push(table.clone());
            return Ok(());
        }
        let missing = self.args.init - have;
        self.initial.push(table.select(&(0..missing).collect::<Vec<_>>()));
        self.begin()?;
        if missing < table.n_rows { self.learn(&rest_of(table, missing)) } else { Ok(()) }
    }

    /// Makes the model from the initial rows and learns them.
    fn begin(&mut self) -> anyhow::Result<()> {
        let (args, job, name) = (self.args, self.job, self.name.clone());
        let tables = std::mem::take(&mut self.initial);
        let first = tables.first().ok_or(eyot::Error::Empty).with_context(|| name.clone())?;
        let mut data = args.data.clone();
        data.target = Some(self.target.clone());
        let mut fit = EncoderFit::new(data.encoder_params(&name, first)?);
        let mut classes = Classes::default();
        for table in &tables {
            job.timed(Phase::Fit, || fit.observe(table)).with_context(|| name.clone())?;
            if !args.learner.regress() {
                let column = column_of(table, &self.target)?;
                classes.numbers_or_insert(column, table.first_row).with_context(|| name.clone())?;
            }
        }
        classes.sort();
        let encoder = fit.finish().with_context(|| name.clone())?;
        encoder.notes().iter().for_each(|note| job.note(note.to_string()));
        let mut points: Option<PointsBuf> = None;
        let mut targets = None;
        for table in &tables {
            let part = encoder.encode(table).with_context(|| name.clone())?;
            let wanted = self.targets(table, &mut classes)?;
            append(points.get_or_insert_with(|| PointsBuf::like(&part.as_points())), &part);
            targets = Some(joined(targets, wanted));
        }
        let (Some(points), Some(targets)) = (points, targets) else { return Err(eyot::Error::Empty.into()) };
        let params = self.choose(&encoder, &points, &targets)?;
        let learner = job.timed(Phase::Fit, || params.clone().check()?.start(points.as_points(), job.step()))?;
        self.model = Some(OnlineModel { encoder, classes, learner });
        self.params = Some(params);
        if args.block > 1 {
            self.learn_only(&points, &targets)
        } else {
            self.learn_points(&points, &targets)
        }
    }

    /// The parameters; ψ by cross-validation if asked for.
    fn choose(&self, encoder: &Encoder, points: &PointsBuf, targets: &Targets) -> anyhow::Result<LearnerParams> {
        let (args, job) = (self.args, self.job);
        let params = args.learner.params(args.method, encoder.n_columns(), args.run.seed)?;
        if args.learner.psi != Psi::Auto {
            return Ok(params);
        }
        let candidates: Vec<LearnerParams> = psi_grid(&params.map, points.n_rows())
            .map(|map| LearnerParams { map, ..params.clone() })
            .collect();
        let errors = choose_by_cv(&candidates, points.as_points(), targets, 5, CV_POINTS, args.run.seed, job.run())?;
        let best = candidates[least(&errors)].clone();
        let tested = points.n_rows().min(CV_POINTS);
        let psi = serde_json::to_value(&best.map)?["psi"].clone();
        job.note(format!("psi is {psi}, by 5-fold cross-validation on {} points", messages::count(tested)));
        Ok(best)
    }

    fn targets(&self, table: &Table, classes: &mut Classes) -> anyhow::Result<Targets> {
        let column = column_of(table, &self.target)?;
        let targets = if self.args.learner.regress() {
            Targets::Values(regression_targets(column, table.first_row).with_context(|| self.name.clone())?)
        } else {
            Targets::Classes(classes.numbers_or_insert(column, table.first_row).with_context(|| self.name.clone())?)
        };
        Ok(targets)
    }

    /// Learns rows, in blocks if that is asked for.
    fn learn(&mut self, table: &Table) -> anyhow::Result<()> {
        let Some(mut model) = self.model.take() else { return Ok(()) };
        let encoded = self.job.timed(Phase::Map, || model.encoder.encode_counting(table, &mut self.counts));
        let targets = self.targets(table, &mut model.classes);
        self.model = Some(model);
        let (points, targets) = (encoded.with_context(|| self.name.clone())?, targets?);
        if self.args.block == 1 {
            return self.learn_points(&points, &targets);
        }
        let (mut waiting, wanted) = match self.pending.take() {
            Some((points, targets)) => (points, Some(targets)),
            None => (PointsBuf::like(&points.as_points()), None),
        };
        append(&mut waiting, &points);
        let wanted = joined(wanted, targets);
        let (block, mut first) = (self.args.block, 0);
        while first + block <= waiting.n_rows() {
            let rows: Vec<usize> = (first..first + block).collect();
            self.block(&waiting.select(&rows), &wanted.select(&rows))?;
            first += block;
        }
        let rest: Vec<usize> = (first..waiting.n_rows()).collect();
        self.pending = Some((waiting.select(&rest), wanted.select(&rest)));
        Ok(())
    }

    /// The last rows.
    fn end(&mut self) -> anyhow::Result<()> {
        if self.model.is_none() {
            self.begin()?;
        }
        if let Some((points, targets)) = self.pending.take()
            && points.n_rows() > 0
        {
            self.block(&points, &targets)?;
        }
        self.counts.notes().iter().for_each(|note| self.job.note(note.to_string()));
        Ok(())
    }

    /// Predicts a block with the model as it is, then learns it.
    fn block(&mut self, points: &PointsBuf, targets: &Targets) -> anyhow::Result<()> {
        let Some(model) = &self.model else { return Ok(()) };
        let ahead = self.job.timed(Phase::Map, || model.learner.map_ahead(points.as_points(), self.job.step()))?;
        let mut predicted = Vec::with_capacity(points.n_rows());
        for (row, x) in points.as_points().rows().enumerate() {
            model.learner.score(eyot::Input { row: x, mapped: ahead.row(row) }, &mut self.at);
            predicted.push((model.learner.head().predict(&self.at.scores), score_of(&self.at.scores)));
        }
        for (row, (predicted, score)) in predicted.into_iter().enumerate() {
            self.count(predicted, targets.get(row), score)?;
        }
        self.learn_only(points, targets)?;
        self.checkpoint_if_due(points.n_rows() as u64)
    }

    /// Learns points without counting.
    fn learn_only(&mut self, points: &PointsBuf, targets: &Targets) -> anyhow::Result<()> {
        let Some(model) = &mut self.model else { return Ok(()) };
        let ahead = self.job.timed(Phase::Map, || model.learner.map_ahead(points.as_points(), self.job.step()))?;
        for (row, x) in points.as_points().rows().enumerate() {
            let x = eyot::Input { row: x, mapped: ahead.row(row) };
            model.learner.learn(x, targets.get(row), &mut self.at).with_context(|| describe(self.params.as_ref()))?;
        }
        self.position.rows += points.n_rows() as u64;
        self.learned_here += points.n_rows() as u64;
        Ok(())
    }

    /// Tests and learns point by point; pieces end where a checkpoint is due.
    fn learn_points(&mut self, points: &PointsBuf, targets: &Targets) -> anyhow::Result<()> {
        let mut first = 0;
        while first < points.n_rows() {
            let to_checkpoint = (self.args.every - self.position.rows % self.args.every) as usize;
            let end = points.n_rows().min(first + AHEAD.min(to_checkpoint));
            self.learn_piece(points, targets, first, end)?;
            self.checkpoint_if_due((end - first) as u64)?;
            self.job.step().tick("learn", 0, 0)?;
            first = end;
        }
        Ok(())
    }

    fn learn_piece(&mut self, points: &PointsBuf, targets: &Targets, first: usize, end: usize) -> anyhow::Result<()> {
        let Some(mut model) = self.model.take() else { return Ok(()) };
        let piece = points.as_points().slice(first..end);
        let job = self.job;
        let outcome = (|| -> anyhow::Result<()> {
            let ahead = job.timed(Phase::Map, || model.learner.map_ahead(piece, job.step()))?;
            job.timed(Phase::Fit, || {
                for (row, x) in piece.rows().enumerate() {
                    let (x, target) = (eyot::Input { row: x, mapped: ahead.row(row) }, targets.get(first + row));
                    let learned = model.learner.predict_then_learn(x, target, &mut self.at);
                    let predicted = learned.with_context(|| describe(self.params.as_ref()))?;
                    let score = score_of(&self.at.scores);
                    self.position.rows += 1;
                    self.learned_here += 1;
                    self.count_with(&model.classes, predicted, target, score)?;
                }
                Ok(())
            })
        })();
        self.model = Some(model);
        outcome
    }

    fn count(&mut self, predicted: Target, target: Target, score: f64) -> anyhow::Result<()> {
        let Some(model) = self.model.take() else { return Ok(()) };
        let outcome = self.count_with(&model.classes, predicted, target, score);
        self.model = Some(model);
        outcome
    }

    /// Counts a prediction, writes it, and shows a line of the table where one is due.
    fn count_with(&mut self, classes: &Classes, predicted: Target, target: Target, score: f64) -> anyhow::Result<()> {
        let position = &mut self.position;
        position.tally.add(predicted, target);
        if let Some(out) = &mut self.predictions {
            let line = format!("{},{score},{}\n", position.tally.points, text_of(classes, predicted));
            out.write_all(line.as_bytes()).context("predictions")?;
            position.predicted_bytes += line.len() as u64;
        }
        if position.tally.points < position.next_line {
            return Ok(());
        }
        position.next_line *= 2;
        let regress = self.args.learner.regress();
        let (all, last) = (position.tally, position.tally.since(&position.shown));
        position.curve.push(curve_point(&all, regress));
        if position.shown.points == 0 {
            let loss = if regress { "rmse" } else { "mistakes" };
            self.job.line("average  since     point       current             current");
            self.job.line(&format!("{loss:<8} last      counter     target              prediction"));
        }
        position.shown = all;
        self.job.line(&format!(
            "{:<8.6} {:<8.6}  {:<10}  {:<18}  {}",
            all.error(regress),
            last.error(regress),
            all.points,
            text_of(classes, target),
            text_of(classes, predicted)
        ));
        Ok(())
    }

    fn checkpoint_if_due(&mut self, learned: u64) -> anyhow::Result<()> {
        let (rows, every) = (self.position.rows, self.args.every);
        if let Some(path) = self.args.checkpoint.as_deref().filter(|_| rows / every > (rows - learned) / every) {
            self.save_to(path)?;
        }
        Ok(())
    }

    fn save_to(&mut self, path: &Path) -> anyhow::Result<()> {
        if let Some(out) = &mut self.predictions {
            out.flush().context("predictions")?;
        }
        let (Some(model), Some(params)) = (&self.model, &self.params) else { return Ok(()) };
        let mut out = ModelWriter::new(OnlineModel::KIND);
        describe_model(&mut out, model, params, &self.position);
        out.put_json("stream", &self.position);
        out.put_json("stream.parameters", params);
        out.put_json("stream.options", &(self.args.init, self.args.block, &self.target));
        eyot_io::save_model(path, &out.finish()?)?;
        Ok(())
    }

    /// The model and the checkpoint at the end.
    fn save_all(&mut self) -> anyhow::Result<()> {
        if let Some(out) = &mut self.predictions {
            out.flush().context("predictions")?;
        }
        if let Some(path) = &self.args.checkpoint {
            self.save_to(path)?;
        }
        if let (Some(path), Some(model), Some(params)) = (&self.args.save.save, &self.model, &self.params) {
            let mut out = ModelWriter::new(OnlineModel::KIND);
            describe_model(&mut out, model, params, &self.position);
            eyot_io::save_model(path, &out.finish()?)?;
        }
        Ok(())
    }

    /// After Ctrl-C: saves where the stream is.
    fn rescue(&mut self) -> anyhow::Result<()> {
        let path = self.args.checkpoint.clone().unwrap_or_else(|| RESCUE.into());
        self.save_to(&path)?;
        let (file, points) = (path.display(), messages::count(self.position.rows as usize));
        self.job.note(format!("saved after {points} points; --checkpoint {file} goes on from there"));
        Ok(())
    }
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
    let mut curve = position.curve.clone();
    if curve.last().is_none_or(|last| last.points < tally.points) {
        curve.push(curve_point(&tally, regress));
    }
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

/// What every model file of a stream has.
fn describe_model(out: &mut ModelWriter, model: &OnlineModel, params: &LearnerParams, position: &Position) {
    model.write(out);
    out.put_json("parameters", params);
    let tally = position.tally;
    let trained_on: Value =
        serde_json::json!({ "rows": position.rows, "tested": tally.points, "mistakes": tally.mistakes });
    out.put_json("trained_on", &trained_on);
}

fn curve_point(tally: &Tally, regress: bool) -> CurvePoint {
    CurvePoint {
        points: tally.points,
        accuracy: (!regress).then(|| 1.0 - tally.mistake_rate()),
        rmse: regress.then(|| tally.rmse()),
    }
}

/// Which learner it was, for a failure.
fn describe(params: Option<&LearnerParams>) -> String {
    params.map_or_else(String::new, |params| {
        let eta = params.eta.map_or_else(|| "its default rate".into(), |eta| format!("rate {eta}"));
        format!("{} with {eta}", params.method.name())
    })
}

/// ψ = 4, 8, …, 4096 as far as the training folds reach.
fn psi_grid(map: &IsolationMapParams, rows: usize) -> impl Iterator<Item = IsolationMapParams> {
    let most = rows.min(CV_POINTS) * 4 / 5;
    (2..=12).map(|m| 1 << m).filter(move |&psi| psi < most || psi == 4).map(|psi| map.clone().psi(psi))
}

fn column_of<'t>(table: &'t Table, name: &str) -> anyhow::Result<&'t TableColumn> {
    table.columns.iter().find(|column| column.name == name).with_context(|| format!("there is no column `{name}`"))
}

fn rest_of(table: &Table, skip: usize) -> Table {
    table.select(&(skip..table.n_rows).collect::<Vec<_>>())
}

fn append(points: &mut PointsBuf, more: &PointsBuf) {
    more.as_points().rows().for_each(|row| points.push(row));
}

fn joined(first: Option<Targets>, second: Targets) -> Targets {
    match (first, second) {
        (Some(Targets::Classes(mut first)), Targets::Classes(second)) => {
            first.extend(second);
            Targets::Classes(first)
        }
        (Some(Targets::Values(mut first)), Targets::Values(second)) => {
            first.extend(second);
            Targets::Values(first)
        }
        (_, second) => second,
    }
}

fn text_of(classes: &Classes, target: Target) -> String {
    match target {
        Target::Class(class) => classes.names().get(class as usize).cloned().unwrap_or_default(),
        Target::Value(value) => format!("{value:.6}"),
    }
}

/// The score behind a prediction: the lone one, or the best.
fn score_of(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Opens the file of predictions at the place where a checkpoint left it.
fn open_predictions(path: &Path, bytes: u64) -> anyhow::Result<BufWriter<File>> {
    const HEADER: &[u8] = b"row,score,prediction\n";
    let open = || -> std::io::Result<File> {
        let mut file = OpenOptions::new().create(true).write(true).truncate(false).open(path)?;
        file.set_len(if bytes == 0 { 0 } else { bytes + HEADER.len() as u64 })?;
        if bytes == 0 {
            file.write_all(HEADER)?;
        }
        file.seek(SeekFrom::End(0))?;
        Ok(file)
    };
    Ok(BufWriter::new(open().with_context(|| path.display().to_string())?))
}
