//! A bag classifier with all that raw rows need: the encoder before it and the class names after it.

use serde::{Deserialize, Serialize};

use super::any::{BagClassifier, BagClassifierParams};
use super::grid::BagGrid;
use super::instances::Sets;
use crate::data::{Bags, Classes, Encoder};
use crate::error::{Error, Result};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::tune::CvTable;

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

    /// Chooses among the candidates of a grid and fits on all bags; also says how the candidates did, if there was a
    /// choice.
    pub fn fit(
        grid: &BagGrid,
        encoder: Encoder,
        classes: Classes,
        (sets, labels): (&Sets, &[u32]),
        run: Run<'_>,
    ) -> Result<(Self, Option<CvTable<BagClassifierParams>>)> {
        let (params, table) = grid.search(sets, labels, classes.len(), false, run)?;
        let classifier = params.clone().check()?.fit(sets, labels, classes.len(), run)?;
        Ok((Self { encoder, classes, params, classifier, n_bags: sets.len() }, table))
    }

    /// Refuses bags that nothing can be learned from; `column` is the one that says which bag a row belongs to.
    pub fn check_bags(bags: &Bags, classes: &Classes, column: &str) -> Result<()> {
        let n = bags.len();
        if n == 1 {
            let only = bags.name(0);
            let message = format!("all rows are of bag `{only}` by column `{column}`, but there must be several bags");
            return Err(Error::Data(message));
        }
        if let [only] = classes.names() {
            let message = format!("all bags are of class `{only}`, and one class cannot be told from others");
            return Err(Error::Data(message));
        }
        if n == classes.len() {
            let message =
                format!("every class has one bag only ({n} bags, {n} classes), which leaves nothing to learn from");
            return Err(Error::Data(message));
        }
        Ok(())
    }

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
