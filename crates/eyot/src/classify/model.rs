//! A classifier with all that raw rows need: the encoder before it and the class names after it.

use serde::{Deserialize, Serialize};

use super::{Classifier, ClassifierParams, HeadFit};
use crate::data::{Classes, Encoder, PointsBuf};
use crate::error::{Error, Result};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::Checked;
use crate::tune::Folds;

/// A classifier of raw rows.
#[derive(Debug, Clone)]
pub struct ClassifierModel {
    /// Raw rows to points.
    pub encoder: Encoder,
    /// The names of the classes.
    pub classes: Classes,
    /// What it was fitted with.
    pub params: ClassifierParams,
    /// Points to scores.
    pub classifier: Classifier,
}

/// What a model file says of the training.
#[derive(Serialize, Deserialize)]
struct TrainedOn {
    rows: usize,
    columns: usize,
}

impl ClassifierModel {
    /// What models of this kind are called in their files.
    pub const KIND: &'static str = "classifier";

    /// Fits on all rows, encoded, with their class numbers; also says whether the solver met its stop rule. With
    /// `folds`, probabilities are learned on rows held out.
    pub fn fit(
        params: &Checked<ClassifierParams>,
        encoder: Encoder,
        classes: Classes,
        (points, labels): (&PointsBuf, &[u32]),
        folds: Option<&Folds>,
        run: Run<'_>,
    ) -> Result<(Self, bool)> {
        if classes.len() < 2 {
            let only = classes.names().first().map_or("", String::as_str);
            let message = format!("all rows are of class `{only}`, and one class cannot be told from others");
            return Err(Error::Data(message));
        }
        let map = params.fit_map(points.as_points(), run)?;
        let HeadFit { head, converged } =
            params.fit_head(&map.encode(points.as_points(), run)?, labels, classes.len(), None, run)?;
        let mut classifier = Classifier::new(map, head);
        if let Some(folds) = folds {
            classifier = classifier.calibrated(params.calibrate(points, labels, classes.len(), folds, run)?);
        }
        Ok((Self { encoder, classes, params: params.clone().into_inner(), classifier }, converged))
    }

    /// The bytes of the model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut out = ModelWriter::new(Self::KIND);
        out.put_json("parameters", &self.params);
        out.put_json("trained_on", &TrainedOn { rows: self.encoder.n_rows(), columns: self.encoder.n_columns() });
        self.encoder.save(&mut out, "encoder");
        self.classes.save(&mut out, "classes");
        self.classifier.save(&mut out, "classifier");
        out.finish()
    }

    /// A model from the parts of its file.
    pub fn load(from: &ModelReader<'_>) -> Result<Self> {
        from.expect_kind(Self::KIND)?;
        let params: ClassifierParams = from.json("parameters")?;
        let model = Self {
            encoder: Encoder::load(from, "encoder")?,
            classes: Classes::load(from, "classes")?,
            params: params.check()?.into_inner(),
            classifier: Classifier::load(from, "classifier")?,
        };
        if model.classes.len() != model.classifier.n_classes() {
            return Err(bad_part("classes", "does not go with the classifier"));
        }
        if model.encoder.n_columns() != model.classifier.map().n_columns() {
            return Err(bad_part("encoder", "does not go with the classifier"));
        }
        Ok(model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, EncoderParams, Table, TableColumn};
    use crate::map::IsolationMapParams;
    use crate::solve::LinearSvmParams;

    #[test]
    fn a_model_takes_raw_rows_to_class_names_after_a_reload() {
        let columns = vec![
            TableColumn {
                name: "size".into(),
                values: Column::Numbers((0..40).map(|i| 0.37 * f64::from(i)).collect()),
            },
            TableColumn {
                name: "kind".into(),
                values: Column::Text((0..40).map(|i| Some(if i < 20 { "small" } else { "large" })).collect()),
            },
        ];
        let table = Table { first_row: 0, n_rows: 40, columns, sparse: None };
        let roles = crate::data::Roles { target: Some("kind".into()), ..Default::default() };
        let encoder = EncoderParams::default().roles(roles).check().unwrap().fit(&table).unwrap();
        let mut classes = Classes::default();
        classes.numbers_or_insert(&table.columns[1], 0).unwrap();
        classes.sort();
        let labels = classes.numbers(&table.columns[1], 0).unwrap();
        let points = encoder.encode(&table).unwrap();
        let params =
            ClassifierParams::IkSvm { map: IsolationMapParams::default().psi(8), svm: LinearSvmParams::default() };
        let params = params.check().unwrap();
        let fit = ClassifierModel::fit(&params, encoder, classes, (&points, &labels), None, Run::single());
        let bytes = fit.unwrap().0.to_bytes().unwrap();
        let model = ClassifierModel::load(&ModelReader::parse(&bytes).unwrap()).unwrap();
        assert_eq!(model.to_bytes().unwrap(), bytes);
        let points = model.encoder.encode(&table).unwrap();
        let predicted = model.classifier.predict(points.as_points(), Run::single()).unwrap();
        assert_eq!(model.classes.name(predicted[0]), "small");
        assert_eq!(model.classes.name(predicted[39]), "large");
    }

    #[test]
    fn parts_that_do_not_go_together_are_refused() {
        let mut out = ModelWriter::new("other");
        out.put_json("parameters", &1);
        let bytes = out.finish().unwrap();
        assert!(ClassifierModel::load(&ModelReader::parse(&bytes).unwrap()).is_err());
    }
}
