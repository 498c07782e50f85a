//! A bag classifier with all that raw rows need: the encoder before it and the class names after it.

use serde::{Deserialize, Serialize};

use super::any::{BagClassifier, BagClassifierParams};
use crate::data::{Classes, Encoder};
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};

/// A classifier of bags of raw rows.
#[derive(Debug, Clone)]
pub struct BagClassifierModel {
    /// Raw rows to points; it leaves the scale alone, which is a parameter of the classifier.
    pub encoder: Encoder,
    /// The names of the classes.
    pub classes: Classes,
    /// What it was fitted with.
    pub params: BagClassifierParams,
    /// Bags to scores.
    pub classifier: BagClassifier,
    /// Bags it was fitted on.
    pub n_bags: usize,
}

/// What a model file says of the training.
#[derive(Serialize, Deserialize)]
struct TrainedOn {
    rows: usize,
    columns: usize,
    bags: usize,
}

impl BagClassifierModel {
    /// What models of this kind are called in their files.
    pub const KIND: &'static str = "bags";

    /// The bytes of the model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut out = ModelWriter::new(Self::KIND);
        let (rows, columns) = (self.encoder.n_rows(), self.encoder.n_columns());
        out.put_json("parameters", &self.params);
        out.put_json("trained_on", &TrainedOn { rows, columns, bags: self.n_bags });
        self.encoder.save(&mut out, "encoder");
        self.classes.save(&mut out, "classes");
        self.classifier.save(&mut out, "bags");
        out.finish()
    }

    /// A model from the parts of its file.
    pub fn load(from: &ModelReader<'_>) -> Result<Self> {
        from.expect_kind(Self::KIND)?;
        let params: BagClassifierParams = from.json("parameters")?;
        let trained_on: TrainedOn = from.json("trained_on")?;
        let model = Self {
            encoder: Encoder::load(from, "encoder")?,
            classes: Classes::load(from, "classes")?,
            params: params.check().map_err(|error| bad_part("parameters", &error.to_string()))?.into_inner(),
            classifier: BagClassifier::load(from, "bags")?,
            n_bags: trained_on.bags,
        };
        if model.classes.len() != model.classifier.n_classes() {
            return Err(bad_part("classes", "does not go with the classifier"));
        }
        if model.encoder.n_columns() != model.classifier.n_columns() {
            return Err(bad_part("encoder", "does not go with the classifier"));
        }
        Ok(model)
    }
}
