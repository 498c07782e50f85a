//! Where a stream stands, kept in a file and brought back.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use eyot::{LearnerParams, ModelReader, ModelWriter, OnlineModel, Persist, PointsBuf, Tally, Targets};
use serde::{Deserialize, Serialize};

use super::learning::Stream;
use super::table::CurvePoint;
use crate::messages::{self, Usage};

/// Where a stream is saved on Ctrl-C when no place was named.
const RESCUE: &str = "eyot-stream.eyot";

/// Where a stream stands: all that a checkpoint has beside the model and the rows of a block that is not complete.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Position {
    /// Rows of the input that are learned.
    pub(super) rows: u64,
    pub(super) tally: Tally,
    /// The tally at the last line of the table.
    pub(super) shown: Tally,
    /// Points at which the next line is due.
    pub(super) next_line: u64,
    pub(super) curve: Vec<CurvePoint>,
    /// Bytes of predictions written.
    pub(super) predicted_bytes: u64,
}

impl Stream<'_> {
    /// Goes on from a checkpoint.
    pub(super) fn resume(&mut self, path: &Path) -> anyhow::Result<()> {
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
        if self.args.learner.searches_psi() {
            wanted.map = made_with.map.clone();
            wanted.kernel = made_with.kernel;
        }
        let options: (usize, usize, Option<String>) = reader.json("stream.options").with_context(name)?;
        if made_with != wanted || options != self.options() {
            let message = format!("{}: the checkpoint was made with other options", name());
            return Err(Usage::new(message).hint("use the same options, or remove the file to begin anew").into());
        }
        self.position = reader.json("stream").with_context(name)?;
        if reader.has_json("stream.pending") {
            let regress: bool = reader.json("stream.pending").with_context(name)?;
            let points = PointsBuf::load(&reader, "stream.pending.points").with_context(name)?;
            let targets = if regress {
                Targets::Values(reader.finite_f64s("stream.pending.targets", points.n_rows()).with_context(name)?)
            } else {
                Targets::Classes(reader.u32s("stream.pending.targets").with_context(name)?)
            };
            if targets.len() != points.n_rows() {
                return Err(eyot::Error::Model("the rows of its last block do not fit together".into())).with_context(name);
            }
            self.pending = Some((points, targets));
        }
        (self.model, self.params) = (Some(model), Some(made_with));
        let (points, rows) = (messages::count(self.position.rows as usize), messages::count(self.taken()));
        self.job.note(if self.live {
            format!("going on after {points} points: skip {rows} rows of the input (after its header), they are taken")
        } else {
            format!("going on after {points} points")
        });
        Ok(())
    }

    /// What must be the same to go on.
    fn options(&self) -> (usize, usize, Option<String>) {
        (self.args.init, self.args.block, self.args.data.target.clone())
    }

    /// Rows of the input that are learned or wait for the rest of their block.
    pub(super) fn taken(&self) -> usize {
        self.position.rows as usize + self.pending.as_ref().map_or(0, |(points, _)| points.n_rows())
    }

    /// Saves a checkpoint if so many rows, just learned, have passed a multiple of --every.
    pub(super) fn checkpoint_if_due(&mut self, learned: u64) -> anyhow::Result<()> {
        let (rows, every) = (self.position.rows, self.args.every);
        if let Some(path) = self.args.checkpoint.as_deref().filter(|_| rows / every > (rows - learned) / every) {
            self.save_to(path)?;
        }
        Ok(())
    }

    fn save_to(&mut self, path: &Path) -> anyhow::Result<()> {
        self.flush_predictions()?;
        let (Some(model), Some(params)) = (&self.model, &self.params) else { return Ok(()) };
        let mut out = ModelWriter::new(OnlineModel::KIND);
        model.describe(&mut out, params, self.position.rows, &self.position.tally);
        out.put_json("stream", &self.position);
        out.put_json("stream.parameters", params);
        out.put_json("stream.options", &self.options());
        if let Some((points, targets)) = &self.pending {
            out.put_json("stream.pending", &matches!(targets, Targets::Values(_)));
            points.save(&mut out, "stream.pending.points");
            match targets {
                Targets::Values(values) => out.put_f64("stream.pending.targets", values),
                Targets::Classes(classes) => out.put_u32("stream.pending.targets", classes),
            }
        }
        let bytes = out.finish()?;
        // A learner about to diverge must not take the place of one that can be read back.
        OnlineModel::read(&ModelReader::parse(&bytes)?)?;
        eyot_io::save_model(path, &bytes)?;
        Ok(())
    }

    fn flush_predictions(&mut self) -> anyhow::Result<()> {
        self.predictions.as_mut().map_or(Ok(()), Write::flush).context("predictions")
    }

    /// The model and the checkpoint at the end.
    pub(super) fn save_all(&mut self) -> anyhow::Result<()> {
        self.flush_predictions()?;
        if let Some(path) = &self.args.checkpoint {
            self.save_to(path)?;
        }
        if let (Some(path), Some(model), Some(params)) = (&self.args.save.save, &self.model, &self.params) {
            let mut out = ModelWriter::new(OnlineModel::KIND);
            model.describe(&mut out, params, self.position.rows, &self.position.tally);
            eyot_io::save_model(path, &out.finish()?)?;
        }
        Ok(())
    }

    /// After Ctrl-C, or when the input turned out bad: saves where the stream is. A learner that diverged is not saved.
    pub(super) fn rescue(&mut self, error: &anyhow::Error) -> anyhow::Result<()> {
        let core = error.downcast_ref::<eyot::Error>();
        if matches!(core, Some(eyot::Error::Diverged { .. })) {
            if let Some(path) = self.args.checkpoint.as_ref().filter(|path| path.exists()) {
                self.job.note(format!("{} is as the last checkpoint left it", path.display()));
            }
            return Ok(());
        }
        let stopped = matches!(core, Some(eyot::Error::Stopped));
        let unnamed = (stopped || self.live).then(|| PathBuf::from(RESCUE));
        let Some(path) = self.args.checkpoint.clone().or(unnamed) else { return Ok(()) };
        if self.model.is_none() || self.taken() == 0 {
            return Ok(());
        }
        self.save_to(&path)?;
        let (file, points) = (path.display(), messages::count(self.position.rows as usize));
        self.job.note(format!("saved after {points} points; --checkpoint {file} goes on from there"));
        Ok(())
    }
}
