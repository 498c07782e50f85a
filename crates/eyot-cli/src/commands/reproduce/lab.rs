//! What an experiment works with: data sets, a clock, and a memory of the cells that are finished.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use eyot::{Classes, EncoderParams, PointsBuf, Roles, Run, Scale, Table, TableColumn, regression_targets};
use eyot_io::plot::Figure;
use eyot_io::{ReadOptions, Source};
use serde::{Deserialize, Serialize};

use super::results::{Cell, Ours, Published, Results};
use super::{Args, Experiment};
use crate::job::{Job, Phase};
use crate::messages::Usage;

/// Endings of data files, in the order in which they are looked for.
const ENDINGS: [&str; 8] = ["parquet", "svm.zst", "svm", "csv", "csv.gz", "npy", "arrow", "libsvm"];

/// The room in which experiments run.
pub(super) struct Lab<'a> {
    job: &'a Job,
    data: Option<PathBuf>,
    /// Only these data sets, if any are named.
    sets: Vec<String>,
    quick: bool,
    seed: u64,
    known: HashMap<String, Ours>,
    memory: File,
    current: Option<Results>,
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
    pub(super) fn new(args: &Args, job: &'a Job) -> anyhow::Result<Self> {
        if let Some(data) = &args.data
            && !data.is_dir()
        {
            let hint = "--data names the folder that holds the folders anomaly, online and mil";
            return Err(Usage::new(format!("{} is not a folder", data.display())).hint(hint).into());
        }
        fs::create_dir_all(&args.output).with_context(|| args.output.display().to_string())?;
        let path = args.output.join("cells.jsonl");
        let name = path.display().to_string();
        let mut known = HashMap::new();
        if !args.fresh && path.exists() {
            for line in BufReader::new(File::open(&path).with_context(|| name.clone())?).lines() {
                // A line that a kill has cut is a cell that is not finished.
                if let Ok(cell) = serde_json::from_str::<Remembered>(&line.with_context(|| name.clone())?) {
                    known.insert(cell.key, cell.ours);
                }
            }
        }
        let mut memory = OpenOptions::new().create(true).append(true).open(&path).with_context(|| name.clone())?;
        // Whatever a kill has cut ends here.
        memory.write_all(b"\n").with_context(|| name)?;
        let (data, sets) = (args.data.clone(), args.sets.clone());
        Ok(Self { job, data, sets, quick: args.quick, seed: args.run.seed, known, memory, current: None })
    }

    pub(super) fn begin(&mut self, experiment: &'static Experiment) {
        self.current = Some(Results::new(experiment));
    }

    pub(super) fn end(&mut self) -> Results {
        self.current.take().expect("an experiment has begun")
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
        self.job.step()
    }

    /// Says something below the table: what was skipped, what was found out.
    pub(super) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.job.line(&format!("  {text}"));
        self.current().notes.push(text);
    }

    /// Adds a figure; `name` is its file without `.svg`.
    pub(super) fn figure(&mut self, name: &str, figure: Figure) {
        self.current().figures.push((name.to_owned(), figure));
    }

    /// The table of a data set, for example `anomaly/http`; `None`, and a note, if it is not there or not asked for.
    pub(super) fn table(&mut self, set: &str) -> anyhow::Result<Option<Table>> {
        let short = set.rsplit('/').next().unwrap_or(set);
        let base = short.split('.').next().unwrap_or(short);
        if !self.sets.is_empty() && !self.sets.iter().any(|wanted| wanted == base) {
            return Ok(None);
        }
        let found = self.data.as_ref().and_then(|data| {
            ENDINGS.iter().map(|ending| data.join(format!("{set}.{ending}"))).find(|path| path.exists())
        });
        let Some(path) = found else {
            self.note(format!("skipped {short}: not in --data"));
            return Ok(None);
        };
        let table = self.job.timed(Phase::Read, || eyot_io::read_table(&mut Source::new(&path), &ReadOptions::default()))?;
        Ok(Some(table))
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
        self.known.get(&self.key(experiment, dataset, method))
    }

    /// One cell of the table: computed by `work`, or taken from an earlier run.
    pub(super) fn cell(
        &mut self,
        dataset: &str,
        method: &str,
        published: impl Into<Published>,
        work: impl FnOnce(&mut Self) -> anyhow::Result<Ours>,
    ) -> anyhow::Result<Ours> {
        let experiment = self.current().experiment.name;
        let key = self.key(experiment, dataset, method);
        let ours = if let Some(ours) = self.known.get(&key) {
            ours.clone()
        } else {
            self.job.tick("measure", 0, 0)?;
            let start = Instant::now();
            let ours = work(self).with_context(|| format!("{experiment}, {dataset}, {method}"))?;
            let line = serde_json::to_string(&Remembered { key: key.clone(), ours: ours.clone() })?;
            writeln!(self.memory, "{line}").and_then(|()| self.memory.flush()).context("cells.jsonl")?;
            self.known.insert(key, ours.clone());
            let (shown, seconds) = (ours.shown(3), start.elapsed().as_secs_f64());
            self.job.line(&format!("  {dataset}, {method}: {shown} in {seconds:.1} s {}", ours.setting));
            ours
        };
        let cell = Cell { dataset: dataset.into(), method: method.into(), published: published.into(), ours: ours.clone() };
        self.current().cells.push(cell);
        Ok(ours)
    }
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
