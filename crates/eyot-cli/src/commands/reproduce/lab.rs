//! What an experiment works with: data sets, a clock, and a memory of the cells that are finished.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use eyot::{Classes, EncoderParams, PointsBuf, Roles, Run, Scale, Table, TableColumn, Watch, regression_targets};
use eyot_io::plot::Figure;
use serde::{Deserialize, Serialize};

use super::data::Shelf;
use super::results::{Cell, Claim, Ours, Published, Reason, Results};
use super::{Args, Experiment};
use crate::job::{Job, Phase};
use crate::messages::Usage;
use crate::progress::stop_requested;

/// The file in which finished cells are kept.
const CELLS: &str = "cells.jsonl";

/// Seconds that one cell may take for a short answer.
const QUICK_SECONDS: u64 = 120;

/// The room in which experiments run.
pub(super) struct Lab<'a> {
    job: &'a Job,
    clock: &'a Clock,
    shelf: Option<Shelf>,
    /// Only these data sets, if any are named.
    sets: Vec<String>,
    quick: bool,
    seed: u64,
    /// Whether cells that are not finished stay empty.
    cached: bool,
    /// What one cell may take.
    most: Option<Duration>,
    known: HashMap<String, Ours>,
    memory: File,
    current: Option<Results>,
}

/// Stops calls when their time is over, and when the user wants to stop.
pub(super) struct Clock {
    start: Instant,
    /// Milliseconds after the start.
    until: AtomicU64,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), until: AtomicU64::new(u64::MAX) }
    }

    fn set(&self, most: Option<Duration>) {
        let until = most.map_or(u64::MAX, |most| (self.start.elapsed() + most).as_millis() as u64);
        self.until.store(until, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.start.elapsed().as_millis() as u64 > self.until.load(Ordering::Relaxed)
    }
}

impl Watch for Clock {
    fn progress(&self, _: &'static str, _: usize, _: usize) -> bool {
        self.goes_on()
    }

    fn goes_on(&self) -> bool {
        !stop_requested() && !self.is_over()
    }
}

/// A finished cell as it is remembered.
#[derive(Serialize, Deserialize)]
struct Remembered {
    key: String,
    ours: Ours,
}

/// A data set with its labels.
pub(super) struct Labelled {
    pub(super) points: PointsBuf,
    pub(super) targets: Targets,
}

/// What is known of every row.
pub(super) enum Targets {
    /// Class numbers and the names of the classes, sorted.
    Classes(Vec<u32>, Classes),
    /// Numbers to predict.
    Numbers(Vec<f64>),
}

impl<'a> Lab<'a> {
    pub(super) fn new(args: &Args, job: &'a Job, clock: &'a Clock) -> anyhow::Result<Self> {
        if let Some(data) = &args.data
            && !data.is_dir()
        {
            let hint = "--data names the folder that holds the folders anomaly, online and mil, or files by their public names";
            return Err(Usage::new(format!("{} is not a folder", data.display())).hint(hint).into());
        }
        fs::create_dir_all(&args.output).with_context(|| args.output.display().to_string())?;
        let path = args.output.join(CELLS);
        let mut memory = OpenOptions::new().create(true).read(true).append(true).open(&path).with_context(|| path.display().to_string())?;
        end_line(&mut memory).with_context(|| path.display().to_string())?;
        let mut lab = Self {
            job,
            clock,
            shelf: args.data.as_deref().map(Shelf::new).transpose()?,
            sets: args.sets.clone(),
            quick: args.quick,
            seed: args.run.seed,
            cached: args.cached,
            most: args.most_seconds.or(args.quick.then_some(QUICK_SECONDS)).map(Duration::from_secs),
            known: HashMap::new(),
            memory,
            current: None,
        };
        if !args.fresh {
            // Cells of the output folder last, so that they win.
            for (key, ours) in read_cells(&path)? {
                lab.known.insert(key, ours);
            }
            for from in &args.cells {
                let from = if from.is_dir() { from.join(CELLS) } else { from.clone() };
                for (key, ours) in read_cells(&from)? {
                    // Of two that were stopped, the one which had more time.
                    let later = |seconds| ours.stopped.is_none_or(|stopped| stopped > seconds);
                    if lab.known.get(&key).is_none_or(|known| known.stopped.is_some_and(later)) {
                        lab.remember(&key, &ours)?;
                    }
                }
            }
        }
        Ok(lab)
    }

    pub(super) fn begin(&mut self, experiment: &'static Experiment) {
        self.current = Some(Results::new(experiment));
    }

    pub(super) fn end(&mut self) -> Results {
        let mut results = self.current.take().expect("an experiment has begun");
        if !results.skipped.is_empty() {
            results.skipped.dedup();
            results.notes.push(format!("Not in --data: {}.", results.skipped.join(", ")));
        }
        if results.unfinished > 0 {
            // What was said on the way spoke of cells that are not there.
            if results.cells.is_empty() {
                (results.claims, results.notes, results.figures) = (Vec::new(), Vec::new(), Vec::new());
            }
            results.claims.iter_mut().for_each(|claim| claim.holds = None);
            results.notes.push(format!("{} cells are not computed yet.", results.unfinished));
        }
        results
    }

    fn current(&mut self) -> &mut Results {
        self.current.as_mut().expect("an experiment has begun")
    }

    /// Whether a short answer is wanted.
    pub(super) fn quick(&self) -> bool {
        self.quick
    }

    /// The seeds of repeated runs: so many in full, so many for a short answer.
    pub(super) fn seeds(&self, full: u64, quick: u64) -> std::ops::Range<u64> {
        self.seed..self.seed + if self.quick { quick } else { full }
    }

    /// How long calls run.
    pub(super) fn run(&self) -> Run<'a> {
        self.job.step().watched(self.clock)
    }

    /// The same on one thread, for times that are to be compared.
    pub(super) fn single(&self) -> Run<'a> {
        Run::single().watched(self.clock)
    }

    /// Says something below the table: how it was done, what was found out.
    pub(super) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.job.line(&format!("  {text}"));
        self.current().notes.push(text);
    }

    /// What the paper says about this experiment, whether it holds here (`None` if that cannot be said), and what is
    /// found here.
    pub(super) fn claim(&mut self, says: impl Into<String>, holds: impl Into<Option<bool>>, found: impl Into<String>) {
        let claim = Claim { says: says.into(), holds: holds.into(), found: found.into(), other_data: false };
        self.current().claims.push(claim);
    }

    /// The same where the paper's data is not at hand, so that the claim is put to a stand-in and is not counted.
    pub(super) fn claim_on_stand_in(&mut self, says: impl Into<String>, holds: bool, found: impl Into<String>) {
        let claim = Claim { says: says.into(), holds: Some(holds), found: found.into(), other_data: true };
        self.current().claims.push(claim);
    }

    /// Why cells of these data sets and methods (of all, if none are named) differ from what is published.
    pub(super) fn explain(&mut self, datasets: &[&str], methods: &[&str], why: impl Into<String>) {
        let words = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let reason = Reason { datasets: words(datasets), methods: words(methods), why: why.into() };
        self.current().reasons.push(reason);
    }

    /// Adds a figure, unless there is nothing in it; `name` is its file without `.svg`.
    pub(super) fn figure(&mut self, name: &str, figure: Figure) {
        if !figure.to_svg().contains(">no data<") {
            self.current().figures.push((name.to_owned(), figure));
        }
    }

    /// The table of a data set, for example `anomaly/http`; `None`, and a note, if it is not there, not asked for, or
    /// not readable. Only its first rows if nothing is to be computed.
    pub(super) fn table(&mut self, set: &str) -> anyhow::Result<Option<Table>> {
        let short = set.rsplit('/').next().unwrap_or(set);
        let base = short.split('.').next().unwrap_or(short);
        if !self.sets.is_empty() && !self.sets.iter().any(|wanted| wanted == base) {
            return Ok(None);
        }
        let Some(found) = self.shelf.as_ref().and_then(|shelf| shelf.find(set)) else {
            if let Some(why) = self.shelf.as_ref().and_then(|shelf| shelf.unreadable(set)) {
                self.note(why);
            }
            self.job.line(&format!("  skipped {short}: not in --data"));
            self.current().skipped.push(short.to_owned());
            return Ok(None);
        };
        match self.job.timed(Phase::Read, || found.read(self.cached)) {
            Ok(table) => Ok(Some(table)),
            Err(error) if stop_requested() => Err(error),
            Err(error) => {
                self.note(format!("skipped {short}: {error:#}"));
                Ok(None)
            }
        }
    }

    /// Whether a data set is there and asked for.
    pub(super) fn has(&self, set: &str) -> bool {
        let short = set.rsplit('/').next().unwrap_or(set);
        let base = short.split('.').next().unwrap_or(short);
        (self.sets.is_empty() || self.sets.iter().any(|wanted| wanted == base))
            && self.shelf.as_ref().is_some_and(|shelf| shelf.find(set).is_some())
    }

    /// The points and classes of a data set whose classes stand in the column `label`.
    pub(super) fn classes(&mut self, set: &str, scale: Scale) -> anyhow::Result<Option<Labelled>> {
        let Some(table) = self.table(set)? else { return Ok(None) };
        labelled(&table, scale).with_context(|| set.to_owned()).map(Some)
    }

    /// The points and numbers of a regression whose target stands in the column `label`.
    pub(super) fn numbers(&mut self, set: &str, scale: Scale) -> anyhow::Result<Option<Labelled>> {
        let Some(table) = self.table(set)? else { return Ok(None) };
        numbered(&table, scale).with_context(|| set.to_owned()).map(Some)
    }

    fn key(&self, experiment: &str, dataset: &str, method: &str) -> String {
        format!("{experiment}/{dataset}/{method}/quick {}/seed {}", self.quick, self.seed)
    }

    /// What a cell of this or another experiment holds, if it is finished.
    pub(super) fn recall(&self, experiment: &str, dataset: &str, method: &str) -> Option<&Ours> {
        self.known.get(&self.key(experiment, dataset, method)).filter(|ours| ours.stopped.is_none())
    }

    /// Keeps a finished cell.
    fn remember(&mut self, key: &str, ours: &Ours) -> anyhow::Result<()> {
        let line = serde_json::to_string(&Remembered { key: key.to_owned(), ours: ours.clone() })?;
        writeln!(self.memory, "{line}").and_then(|()| self.memory.flush()).context(CELLS)?;
        self.known.insert(key.to_owned(), ours.clone());
        Ok(())
    }

    /// One cell of the table: computed by `work`, or taken from an earlier run. Where `work` fails or takes too long
    /// the reason becomes a note, and what comes back has no runs; only the wish to stop is an error.
    pub(super) fn cell(
        &mut self,
        dataset: &str,
        method: &str,
        published: impl Into<Published>,
        work: impl FnOnce(&mut Self) -> anyhow::Result<Ours>,
    ) -> anyhow::Result<Ours> {
        let experiment = self.current().experiment.name;
        self.cell_of(experiment, dataset, method, published, work)
    }

    /// The same for a cell that belongs to another experiment too, under whose name it is kept.
    pub(super) fn cell_of(
        &mut self,
        experiment: &str,
        dataset: &str,
        method: &str,
        published: impl Into<Published>,
        work: impl FnOnce(&mut Self) -> anyhow::Result<Ours>,
    ) -> anyhow::Result<Ours> {
        let ours = self.keep(experiment, dataset, method, work)?;
        Ok(self.show(dataset, method, published, ours))
    }

    /// What a cell holds, without showing it: computed by `work`, or taken from an earlier run.
    pub(super) fn keep(
        &mut self,
        experiment: &str,
        dataset: &str,
        method: &str,
        work: impl FnOnce(&mut Self) -> anyhow::Result<Ours>,
    ) -> anyhow::Result<Ours> {
        let key = self.key(experiment, dataset, method);
        match self.known.get(&key).cloned() {
            Some(ours) if !self.may_end(&ours) => {
                if let Some(seconds) = ours.stopped {
                    self.note(stopped_after(dataset, method, seconds));
                }
                Ok(ours)
            }
            None if self.cached => {
                self.current().unfinished += 1;
                Ok(Ours::default())
            }
            _ => self.compute(&key, dataset, method, work),
        }
    }

    /// Whether a cell was stopped after less time than it may take now.
    fn may_end(&self, ours: &Ours) -> bool {
        let more = |seconds| self.most.is_none_or(|most| most.as_secs() > seconds);
        !self.cached && ours.stopped.is_some_and(more)
    }

    /// A cell that follows from others, so that it is not kept.
    pub(super) fn show(
        &mut self,
        dataset: &str,
        method: &str,
        published: impl Into<Published>,
        ours: Ours,
    ) -> Ours {
        if ours.mean().is_finite() {
            let (dataset, method) = (dataset.to_owned(), method.to_owned());
            self.current().cells.push(Cell { dataset, method, published: published.into(), ours: ours.clone() });
        }
        ours
    }

    fn compute(
        &mut self,
        key: &str,
        dataset: &str,
        method: &str,
        work: impl FnOnce(&mut Self) -> anyhow::Result<Ours>,
    ) -> anyhow::Result<Ours> {
        self.job.tick("measure", 0, 0)?;
        let start = Instant::now();
        self.clock.set(self.most);
        let outcome = work(self);
        let over = self.clock.is_over();
        self.clock.set(None);
        match outcome {
            Ok(ours) => {
                if ours.runs.iter().all(|value| value.is_finite()) {
                    self.remember(key, &ours)?;
                }
                let (shown, seconds) = (ours.shown(3), start.elapsed().as_secs_f64());
                self.job.line(&format!("  {dataset}, {method}: {shown} in {seconds:.1} s {}", ours.setting));
                Ok(ours)
            }
            Err(error) if stop_requested() => Err(error),
            Err(error) => match self.most {
                Some(most) if over => {
                    let ours = Ours { stopped: Some(most.as_secs()), ..Ours::default() };
                    self.remember(key, &ours)?;
                    self.note(stopped_after(dataset, method, most.as_secs()));
                    Ok(ours)
                }
                _ => {
                    self.note(format!("{dataset}, {method}: no figure, {error:#}"));
                    Ok(Ours::default())
                }
            },
        }
    }
}

fn stopped_after(dataset: &str, method: &str, seconds: u64) -> String {
    format!("{dataset}, {method}: no figure, stopped after {seconds} s (--most-seconds)")
}

/// The finished cells of a file.
fn read_cells(path: &Path) -> anyhow::Result<Vec<(String, Ours)>> {
    let name = || path.display().to_string();
    let file = File::open(path).with_context(name)?;
    let mut cells = Vec::new();
    for line in BufReader::new(file).lines() {
        // A line that a kill has cut is a cell that is not finished.
        if let Ok(cell) = serde_json::from_str::<Remembered>(&line.with_context(name)?) {
            cells.push((cell.key, cell.ours));
        }
    }
    Ok(cells)
}

/// Ends the last line, which a kill may have cut.
fn end_line(file: &mut File) -> std::io::Result<()> {
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}

/// The points and classes of a table whose classes stand in the column `label`.
pub(super) fn labelled(table: &Table, scale: Scale) -> anyhow::Result<Labelled> {
    let column = label_of(table)?;
    let mut classes = Classes::default();
    let numbers = classes.numbers_or_insert(&column, 0)?;
    let sorted = classes.sort();
    let numbers = numbers.iter().map(|&class| sorted[class as usize]).collect();
    Ok(Labelled { points: encoded(table, scale)?, targets: Targets::Classes(numbers, classes) })
}

/// The points and numbers of a table whose target stands in the column `label`.
pub(super) fn numbered(table: &Table, scale: Scale) -> anyhow::Result<Labelled> {
    let targets = regression_targets(&label_of(table)?, 0)?;
    Ok(Labelled { points: encoded(table, scale)?, targets: Targets::Numbers(targets) })
}

fn label_of(table: &Table) -> anyhow::Result<TableColumn> {
    let column = table.columns.iter().find(|column| column.name == "label").context("there is no column `label`")?;
    Ok(column.clone())
}

/// All columns but `label` as points.
fn encoded(table: &Table, scale: Scale) -> eyot::Result<PointsBuf> {
    let mut table = table.clone();
    table.columns.retain(|column| column.name != "label" && !(table.sparse.is_some() && column.name == "qid"));
    EncoderParams::default().scale(scale).roles(Roles::default()).check()?.fit(&table)?.encode(&table)
}
