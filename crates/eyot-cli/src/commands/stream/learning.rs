//! Taking rows and learning them.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use eyot::{
    AHEAD, Classes, EncodeCounts, Encoder, InitialRows, LearnerParams, OnlineLearner, OnlineModel, PointsBuf, Run,
    Scratch, Table, Targets, choose_by_cv, least, predict, score_behind,
};

use super::Args;
use super::checkpoint::Position;
use super::table::open_predictions;
use crate::job::{Job, Phase};
use crate::messages;
use crate::progress::stop_requested;

/// Most points that the search for ψ looks at.
const CV_POINTS: usize = 20_000;

/// A running stream.
pub(super) struct Stream<'a> {
    pub(super) args: &'a Args,
    pub(super) job: &'a Job,
    name: String,
    /// Whether it comes on stdin: what has been read must be learned, for it cannot be had again.
    pub(super) live: bool,
    /// Rows before there is a model.
    initial: Vec<Table>,
    pub(super) model: Option<OnlineModel>,
    pub(super) params: Option<LearnerParams>,
    /// Rows of a block that is not complete.
    pub(super) pending: Option<(PointsBuf, Targets)>,
    pub(super) position: Position,
    counts: EncodeCounts,
    at: Scratch,
    pub(super) predictions: Option<BufWriter<File>>,
    learned_here: u64,
    since: Instant,
}

/// A stream that has come to its end.
pub(super) struct Finished {
    pub(super) model: OnlineModel,
    pub(super) params: LearnerParams,
    pub(super) position: Position,
    pub(super) points_per_second: f64,
}

impl<'a> Stream<'a> {
    pub(super) fn new(args: &'a Args, job: &'a Job) -> anyhow::Result<Self> {
        let mut stream = Self {
            args,
            job,
            name: args.data.name(),
            live: args.data.data == Path::new("-"),
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

    /// The encoder of a stream that goes on.
    pub(super) fn encoder(&self) -> Option<&Encoder> {
        self.model.as_ref().map(|model| &model.encoder)
    }

    /// How steps run. A live stream is not stopped in the middle of what has come.
    fn run(&self) -> Run<'a> {
        if self.live { Run::threads(self.job.run().n_threads()) } else { self.job.step() }
    }

    /// Takes the next rows of the input.
    pub(super) fn take(&mut self, table: &Table) -> anyhow::Result<()> {
        // What a checkpoint has taken of a file goes by; stdin begins where it ended.
        let done = if self.live { 0 } else { self.taken() };
        if self.model.is_some() && table.first_row < done {
            let skip = (done - table.first_row).min(table.n_rows);
            return if skip == table.n_rows { Ok(()) } else { self.learn(&rest_of(table, skip)) };
        }
        if self.model.is_some() {
            return self.learn(table);
        }
        let have: usize = self.initial.iter().map(|part| part.n_rows).sum();
        if have + table.n_rows < self.args.init {
            self.args.data.target_column(table)?;
            self.initial.push(table.clone());
            return Ok(());
        }
        let missing = self.args.init - have;
        self.initial.push(table.select(&(0..missing).collect::<Vec<_>>()));
        self.begin()?;
        if missing < table.n_rows { self.learn(&rest_of(table, missing)) } else { Ok(()) }
    }

    /// The last rows.
    pub(super) fn end(&mut self) -> anyhow::Result<()> {
        if self.model.is_none() {
            let rows: usize = self.initial.iter().map(|part| part.n_rows).sum();
            if stop_requested() && rows > 0 {
                let (rows, init) = (messages::count(rows), messages::count(self.args.init));
                self.job.note(format!("scaling and map are made from {rows} rows instead of {init}: no more had come"));
            }
            self.begin()?;
        }
        // A stream that was stopped goes on with the rows that wait.
        if !stop_requested()
            && let Some((points, targets)) = self.pending.take()
            && points.n_rows() > 0
        {
            self.block(&points, &targets)?;
        }
        self.counts.notes().iter().for_each(|note| self.job.note(note.to_string()));
        Ok(())
    }

    /// What is left at the end.
    pub(super) fn finished(self) -> anyhow::Result<Finished> {
        let Self { model, params, position, learned_here, since, .. } = self;
        let (Some(model), Some(params)) = (model, params) else { return Err(eyot::Error::Empty.into()) };
        let points_per_second = learned_here as f64 / since.elapsed().as_secs_f64();
        Ok(Finished { model, params, position, points_per_second })
    }

    /// Makes the model from the initial rows and learns them.
    fn begin(&mut self) -> anyhow::Result<()> {
        let (args, job, name) = (self.args, self.job, self.name.clone());
        let tables = std::mem::take(&mut self.initial);
        let first = tables.first().ok_or(eyot::Error::Empty).with_context(|| name.clone())?;
        let mut data = args.data.clone();
        data.target = Some(data.target_name(first)?);
        let encoder_params = data.encoder_params(&name, first)?;
        let initial = || InitialRows::of(encoder_params, Classes::default(), &tables, args.learner.regress());
        let initial = job.timed(Phase::Fit, initial).with_context(|| name.clone())?;
        let InitialRows { encoder, classes, points, targets } = initial;
        encoder.notes().iter().for_each(|note| job.note(note.to_string()));
        let params = self.choose(&encoder, &points, &targets)?;
        let learner = job.timed(Phase::Fit, || params.clone().check()?.begin(points.as_points(), &targets, self.run()))?;
        self.model = Some(OnlineModel { encoder, classes, learner });
        self.params = Some(params);
        self.learn_points(&points, &targets, args.block == 1)
    }

    /// The parameters; ψ by cross-validation if asked for.
    fn choose(&self, encoder: &Encoder, points: &PointsBuf, targets: &Targets) -> anyhow::Result<LearnerParams> {
        let (args, job) = (self.args, self.job);
        let params = args.learner.params(args.method, encoder.n_columns(), args.run.seed)?;
        if !args.learner.searches_psi() {
            return Ok(params);
        }
        let tested = points.n_rows().min(CV_POINTS);
        let candidates = params.grid(tested, true, tested * 4 / 5);
        let errors = choose_by_cv(&candidates, points.as_points(), targets, 5, CV_POINTS, args.run.seed, job.run())?;
        let best = candidates[least(&errors)].clone();
        let psi = serde_json::to_value(&best.map)?["psi"].clone();
        job.note(format!("psi is {psi}, by 5-fold cross-validation on {} points", messages::count(tested)));
        Ok(best)
    }

    fn targets(&self, table: &Table, classes: &mut Classes) -> anyhow::Result<Targets> {
        let column = self.args.data.target_column(table)?;
        let targets = Targets::of_column(column, table.first_row, self.args.learner.regress(), classes);
        targets.with_context(|| self.name.clone())
    }

    /// Learns rows, in blocks if that is asked for.
    fn learn(&mut self, table: &Table) -> anyhow::Result<()> {
        let Some(mut model) = self.model.take() else { return Ok(()) };
        let encoded = self.job.timed(Phase::Map, || model.encoder.encode_counting(table, &mut self.counts));
        let targets = self.targets(table, &mut model.classes);
        self.model = Some(model);
        let (points, targets) = (encoded.with_context(|| self.name.clone())?, targets?);
        if self.args.block == 1 {
            return self.learn_points(&points, &targets, true);
        }
        let (mut waiting, wanted) = match self.pending.take() {
            Some((points, targets)) => (points, Some(targets)),
            None => (PointsBuf::like(&points.as_points()), None),
        };
        append(&mut waiting, &points);
        let wanted = joined(wanted, targets);
        let block = self.args.block;
        let mut first = 0;
        while first + block <= waiting.n_rows() {
            let rows: Vec<usize> = (first..first + block).collect();
            let rest: Vec<usize> = (first + block..waiting.n_rows()).collect();
            // A checkpoint after this block must have the rows after it if they cannot be had again.
            self.pending = self.live.then(|| (waiting.select(&rest), wanted.select(&rest)));
            self.block(&waiting.select(&rows), &wanted.select(&rows))?;
            first += block;
        }
        let rest: Vec<usize> = (first..waiting.n_rows()).collect();
        self.pending = Some((waiting.select(&rest), wanted.select(&rest)));
        Ok(())
    }

    /// Predicts a block with the model as it is, then learns it.
    fn block(&mut self, points: &PointsBuf, targets: &Targets) -> anyhow::Result<()> {
        let Some(model) = &self.model else { return Ok(()) };
        let predicted = self.job.timed(Phase::Map, || predict(&model.learner, points.as_points(), self.run()))?;
        for (row, predicted) in predicted.into_iter().enumerate() {
            let out = self.predictions.as_mut();
            self.position.count(self.job, &model.classes, out, predicted, targets.get(row))?;
        }
        self.learn_points(points, targets, false)
    }

    /// Learns point by point, testing each before if `test`; pieces end where a checkpoint is due.
    fn learn_points(&mut self, points: &PointsBuf, targets: &Targets, test: bool) -> anyhow::Result<()> {
        let mut first = 0;
        while first < points.n_rows() {
            let before = first;
            let to_checkpoint = (self.args.every - self.position.rows % self.args.every) as usize;
            let ahead = self.model.as_ref().map_or(AHEAD, |model| model.learner.most_ahead());
            // A block is predicted as a whole, so that a checkpoint cannot stand within it.
            let piece = if test { ahead.min(to_checkpoint) } else { ahead };
            let end = points.n_rows().min(first + piece);
            self.learn_piece(points, targets, (first, end), test)?;
            first = end;
            if test {
                self.checkpoint_if_due((end - before) as u64)?;
                self.look_for_stop()?;
            }
        }
        if !test {
            self.checkpoint_if_due(points.n_rows() as u64)?;
            self.look_for_stop()?;
        }
        Ok(())
    }

    fn look_for_stop(&self) -> eyot::Result<()> {
        if self.live { Ok(()) } else { self.job.step().tick("learn", 0, 0) }
    }

    fn learn_piece(
        &mut self,
        points: &PointsBuf,
        targets: &Targets,
        (first, end): (usize, usize),
        test: bool,
    ) -> anyhow::Result<()> {
        let job = self.job;
        let run = if test { self.run() } else { Run::threads(job.run().n_threads()) };
        let Some(model) = &mut self.model else { return Ok(()) };
        let piece = points.as_points().slice(first..end);
        let ahead = job.timed(Phase::Map, || model.learner.map_ahead(piece, run))?;
        job.timed(Phase::Learn, || {
            for (row, x) in piece.rows().enumerate() {
                let (x, target) = (eyot::Input { row: x, mapped: ahead.row(row) }, targets.get(first + row));
                let learned = model.learner.predict_then_learn(x, target, &mut self.at);
                let predicted = learned.with_context(|| describe(self.params.as_ref()))?;
                self.position.rows += 1;
                self.learned_here += 1;
                if test {
                    let (score, out) = (score_behind(predicted, &self.at.scores), self.predictions.as_mut());
                    self.position.count(job, &model.classes, out, (predicted, score), target)?;
                }
            }
            Ok(())
        })
    }
}

/// Which learner it was, for a failure.
fn describe(params: Option<&LearnerParams>) -> String {
    params.map_or_else(String::new, |params| format!("{} with {}", params.method.name(), params.rate()))
}

fn rest_of(table: &Table, skip: usize) -> Table {
    let rest = table.select(&(skip..table.n_rows).collect::<Vec<_>>());
    Table { first_row: table.first_row + skip, ..rest }
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
