//! A stream learner with all it needs to treat raw rows: encoder, class names, learner. Kind `online`.

use serde_json::json;

use super::{AnyLearner, LearnerParams, OnlineLearner, Tally};
use crate::data::{Classes, Encoder};
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};

/// Raw row in, class or number out.
#[derive(Debug, Clone)]
pub struct OnlineModel {
    /// From raw columns to points.
    pub encoder: Encoder,
    /// Names of the classes; none in regression.
    pub classes: Classes,
    /// What was learned.
    pub learner: AnyLearner,
}

impl OnlineModel {
    /// The kind of its model files.
    pub const KIND: &'static str = "online";

    /// Puts the parts `encoder`, `classes` and `learner`.
    pub fn write(&self, out: &mut ModelWriter) {
        self.encoder.save(out, "encoder");
        self.classes.save(out, "classes");
        self.learner.save(out, "learner");
    }

    /// Puts all that a model file of a stream has: the parts, the parameters, and what was learned from.
    pub fn describe(&self, out: &mut ModelWriter, params: &LearnerParams, rows: u64, tally: &Tally) {
        self.write(out);
        out.put_json("parameters", params);
        let trained_on = json!({ "rows": rows, "tested": tally.points, "mistakes": tally.mistakes });
        out.put_json("trained_on", &trained_on);
    }

    /// Takes the parts back.
    pub fn read(from: &ModelReader<'_>) -> Result<Self> {
        let encoder = Encoder::load(from, "encoder")?;
        let classes = Classes::load(from, "classes")?;
        let learner = AnyLearner::load(from, "learner")?;
        let head = learner.head();
        if head.columns != encoder.n_columns() || head.classes > classes.len() {
            return Err(bad_part("learner", "does not fit its encoder and classes"));
        }
        Ok(Self { encoder, classes, learner })
    }
}
