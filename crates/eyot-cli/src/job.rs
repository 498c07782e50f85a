//! One run of a command: its threads, its clock, its notes, and what it says at the end.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use eyot::{Run, Watch};
use serde::Serialize;

use crate::args::{MessageArgs, RunArgs};
use crate::messages;
use crate::progress::{self, Progress, Silent};

/// What a command spends its time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Reading and parsing files.
    Read,
    /// Encoding columns and finding cells.
    Map,
    /// Fitting in a batch.
    Fit,
    /// Scoring rows and writing what came out.
    Score,
    /// Learning from a stream, point by point.
    Learn,
}

/// One run of a command.
pub(crate) struct Job {
    command: &'static str,
    threads: usize,
    messages: MessageArgs,
    verbose: bool,
    progress: Progress,
    started: Instant,
    spent: [Cell<Duration>; 5],
    notes: RefCell<Vec<String>>,
}

impl Job {
    /// Starts the clock and listens for Ctrl-C.
    pub(crate) fn start(command: &'static str, args: &RunArgs) -> Self {
        progress::stop_on_ctrl_c();
        Self {
            command,
            threads: args.threads(),
            messages: args.messages,
            verbose: args.verbose,
            progress: Progress::new(args.messages.quiet),
            started: Instant::now(),
            spent: Default::default(),
            notes: RefCell::default(),
        }
    }

    /// How a long call runs: on all threads, with a progress bar.
    pub(crate) fn run(&self) -> Run<'_> {
        Run::threads(self.threads).watched(&self.progress)
    }

    /// How a step of a loop over batches runs: on all threads, without a bar, because the loop has one.
    pub(crate) fn step(&self) -> Run<'_> {
        Run::threads(self.threads).watched(&Silent)
    }

    /// Tells how far a loop is; an error if the user wants to stop. A `total` of 0 means that nobody knows.
    pub(crate) fn tick(&self, stage: &'static str, done: usize, total: usize) -> eyot::Result<()> {
        if self.progress.progress(stage, done, total) { Ok(()) } else { Err(eyot::Error::Stopped) }
    }

    /// Does `work` on the clock of `phase`.
    pub(crate) fn timed<R>(&self, phase: Phase, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        let spent = &self.spent[phase as usize];
        spent.set(spent.get() + start.elapsed());
        result
    }

    /// Says something the user should know, now and in the JSON object.
    pub(crate) fn note(&self, text: impl Into<String>) {
        let text = text.into();
        if !self.messages.quiet {
            self.progress.aside(|| messages::note(&text));
        }
        self.notes.borrow_mut().push(text);
    }

    /// A line of a table that grows while the work goes on, to stderr.
    pub(crate) fn line(&self, text: &str) {
        if !self.messages.quiet {
            self.progress.aside(|| messages::detail(text));
        }
    }

    /// Says something to those who asked for details.
    pub(crate) fn detail(&self, text: impl FnOnce() -> String) {
        if self.verbose {
            self.progress.aside(|| messages::detail(&text()));
        }
    }

    /// Whether one JSON object is wanted.
    pub(crate) fn json(&self) -> bool {
        self.messages.json
    }

    /// Takes the progress bar away before something else is printed.
    pub(crate) fn clear(&self) {
        self.progress.clear();
    }

    /// Ends the job: one JSON object with the keys that all commands share and those of `own`, or `facts` for people.
    pub(crate) fn finish(
        self,
        shared: &Shared<'_, impl Serialize>,
        own: &impl Serialize,
        facts: &[(impl AsRef<str>, String)],
    ) -> anyhow::Result<()> {
        self.progress.clear();
        let Seconds { read, map, fit, learn, score, total } = self.seconds();
        self.detail(|| {
            let learn = learn.map_or_else(String::new, |learn| format!("{learn:.2} learning, "));
            format!("seconds: {read:.2} reading, {fit:.2} fitting, {map:.2} mapping, {learn}{score:.2} scoring and writing, {total:.2} in all")
        });
        if !self.messages.json {
            return messages::facts(facts);
        }
        messages::json(&Report {
            command: self.command,
            method: shared.method,
            rows: (shared.columns > 0).then_some(shared.rows),
            columns: (shared.columns > 0).then_some(shared.columns),
            seed: shared.seed,
            parameters: shared.parameters,
            seconds: self.seconds(),
            own,
            notes: &self.notes.borrow(),
        })
    }

    /// Time spent so far.
    pub(crate) fn seconds(&self) -> Seconds {
        let [read, map, fit, score, learn] = self.spent.each_ref().map(|spent| spent.get().as_secs_f64());
        let learn = (learn > 0.0).then_some(learn);
        Seconds { read, map, fit, learn, score, total: self.started.elapsed().as_secs_f64() }
    }
}

/// What every command that works on data reports; no columns where it is not about one table.
pub(crate) struct Shared<'a, P> {
    pub(crate) method: &'a str,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) seed: u64,
    pub(crate) parameters: &'a P,
}

#[derive(Serialize)]
struct Report<'a, P, O> {
    command: &'a str,
    method: &'a str,
    /// Not of commands that work on many tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<usize>,
    seed: u64,
    parameters: &'a P,
    seconds: Seconds,
    #[serde(flatten)]
    own: &'a O,
    notes: &'a [String],
}

/// Seconds by phase.
#[derive(Serialize)]
pub(crate) struct Seconds {
    pub(crate) read: f64,
    pub(crate) map: f64,
    pub(crate) fit: f64,
    /// Only of commands that learn from streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    learn: Option<f64>,
    pub(crate) score: f64,
    total: f64,
}
