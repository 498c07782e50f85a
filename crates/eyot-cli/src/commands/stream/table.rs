//! Counting, the table of progress, and the file of predictions.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::Context;
use eyot::{Classes, Tally, Target};
use serde::{Deserialize, Serialize};

use super::checkpoint::Position;
use crate::job::Job;

/// How good it was up to some point.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CurvePoint {
    points: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rmse: Option<f64>,
}

impl CurvePoint {
    fn of(tally: &Tally, regress: bool) -> Self {
        Self {
            points: tally.points,
            accuracy: (!regress).then(|| 1.0 - tally.mistake_rate()),
            rmse: regress.then(|| tally.rmse()),
        }
    }
}

impl Position {
    /// The curve up to now.
    pub(super) fn full_curve(&self, regress: bool) -> Vec<CurvePoint> {
        let mut curve = self.curve.clone();
        if curve.last().is_none_or(|last| last.points < self.tally.points) {
            curve.push(CurvePoint::of(&self.tally, regress));
        }
        curve
    }

    /// Counts a prediction, writes it, and shows a line of the table where one is due.
    pub(super) fn count(
        &mut self,
        job: &Job,
        classes: &Classes,
        out: Option<&mut BufWriter<File>>,
        (predicted, score): (Target, f64),
        target: Target,
    ) -> anyhow::Result<()> {
        self.tally.add(predicted, target);
        if let Some(out) = out {
            let line = format!("{},{score},{}\n", self.tally.points, text_of(classes, predicted));
            out.write_all(line.as_bytes()).context("predictions")?;
            self.predicted_bytes += line.len() as u64;
        }
        if self.tally.points < self.next_line {
            return Ok(());
        }
        self.next_line *= 2;
        let regress = matches!(target, Target::Value(_));
        let (all, last) = (self.tally, self.tally.since(&self.shown));
        self.curve.push(CurvePoint::of(&all, regress));
        if self.shown.points == 0 {
            let loss = if regress { "rmse" } else { "mistakes" };
            job.line("average  since     point       current             current");
            job.line(&format!("{loss:<8} last      counter     target              prediction"));
        }
        self.shown = all;
        job.line(&format!(
            "{:<8} {:<8}  {:<10}  {:<18}  {}",
            shown(all.error(regress)),
            shown(last.error(regress)),
            all.points,
            short_of(classes, target),
            short_of(classes, predicted)
        ));
        Ok(())
    }
}

fn text_of(classes: &Classes, target: Target) -> String {
    match target {
        Target::Class(class) => classes.names().get(class as usize).cloned().unwrap_or_default(),
        Target::Value(value) => format!("{value:.6}"),
    }
}

/// The same for the table.
fn short_of(classes: &Classes, target: Target) -> String {
    if let Target::Value(value) = target { shown(value) } else { text_of(classes, target) }
}

/// A number in a column of the table: those of a learner about to diverge are short too.
fn shown(value: f64) -> String {
    if value.abs() < 1e7 { format!("{value:.6}") } else { format!("{value:.3e}") }
}

/// Opens the file of predictions at the place where a checkpoint left it.
pub(super) fn open_predictions(path: &Path, bytes: u64) -> anyhow::Result<BufWriter<File>> {
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
