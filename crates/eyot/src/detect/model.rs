//! A detector as users keep it: from raw rows in their own columns to scores, flags and reasons.

use serde_json::json;

use super::{AnyDetector, Detector, DetectorParams, Explainer};
use crate::data::Encoder;
use crate::error::{ColumnRef, Error, Result};
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::score::Threshold;

/// Everything from the encoder to the threshold.
#[derive(Debug, Clone)]
pub struct DetectorModel {
    /// What it was made with.
    pub params: DetectorParams,
    /// Raw rows to points.
    pub encoder: Encoder,
    /// Points to scores.
    pub detector: AnyDetector,
    /// Scores to flags and probabilities.
    pub threshold: Threshold,
    /// Why a row is odd.
    pub explainer: Explainer,
}

impl DetectorModel {
    /// What the model file says it is.
    pub const KIND: &'static str = "detector";

    /// The bytes of a model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut out = ModelWriter::new(Self::KIND);
        out.put_json("parameters", &self.params);
        out.put_json("trained_on", &json!({ "rows": self.encoder.n_rows(), "columns": self.encoder.n_columns() }));
        self.encoder.save(&mut out, "encoder");
        self.detector.save(&mut out, "detector");
        self.explainer.save(&mut out, "explainer");
        out.put_f64("threshold", &[self.threshold.value(), self.threshold.scale()]);
        out.finish()
    }

    /// A detector from verified bytes.
    pub fn load(from: &ModelReader<'_>) -> Result<Self> {
        from.expect_kind(Self::KIND)?;
        let params: DetectorParams = from.json("parameters")?;
        let params = params.check().map_err(|error| Error::Model(error.to_string()))?.into_inner();
        let encoder = Encoder::load(from, "encoder")?;
        let detector = AnyDetector::load(from, "detector")?;
        let explainer = Explainer::load(from, "explainer")?;
        let threshold = from.finite_f64s("threshold", 2)?;
        if detector.n_columns() != encoder.n_columns() || explainer.n_columns() != encoder.n_columns() {
            return Err(Error::Model("the parts of the detector have different columns".into()));
        }
        let threshold = Threshold::from_parts(threshold[0], threshold[1])?;
        Ok(Self { params, encoder, detector, threshold, explainer })
    }

    /// The raw columns in use, and for every encoded column the number of the raw one it comes from.
    pub fn sources(encoder: &Encoder) -> (Vec<String>, Vec<u32>) {
        let named: usize = encoder.inputs().count();
        let mut names: Vec<String> = encoder.inputs().map(|(name, _)| name.to_owned()).collect();
        let mut sources = Vec::with_capacity(encoder.n_columns());
        // Encoded columns of one raw column stand side by side.
        let mut at = 0;
        for column in 0..encoder.n_columns() {
            match encoder.source_of(column) {
                ColumnRef::Name(name) => {
                    while at < named && names[at] != name {
                        at += 1;
                    }
                    sources.push(at as u32);
                }
                number @ ColumnRef::Number(_) => {
                    sources.push(names.len() as u32);
                    names.push(number.to_string());
                }
            }
        }
        (names, sources)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, EncoderParams, Table, TableColumn, TextColumn};
    use crate::parallel::Run;
    use crate::score::Contamination;

    fn table() -> Table {
        let text: TextColumn = (0..60).map(|i| Some(if i % 3 == 0 { "red" } else { "blue" })).collect();
        let columns = vec![
            TableColumn {
                name: "size".into(),
                values: Column::Numbers((0..60).map(|i| f64::from(i % 17) * 0.5).collect()),
            },
            TableColumn { name: "color".into(), values: Column::Text(text) },
            TableColumn {
                name: "weight".into(),
                values: Column::Numbers((0..60).map(|i| f64::from(i * i % 7)).collect()),
            },
        ];
        Table { first_row: 0, n_rows: 60, columns, sparse: None }
    }

    fn model() -> (DetectorModel, Vec<f64>) {
        let encoder = EncoderParams::default().check().unwrap().fit(&table()).unwrap();
        let points = encoder.encode(&table()).unwrap();
        let params = DetectorParams::default().t(20);
        let (detector, scores) = params.clone().check().unwrap().fit_score(points.as_points(), Run::single()).unwrap();
        let threshold = Threshold::fit(&scores, Contamination::Share(0.1)).unwrap();
        let explainer = Explainer::fit(points.as_points(), &scores, 0);
        (DetectorModel { params, encoder, detector, threshold, explainer }, scores)
    }

    #[test]
    fn a_saved_detector_scores_raw_rows_bit_for_bit() {
        let (model, scores) = model();
        let bytes = model.to_bytes().unwrap();
        let back = DetectorModel::load(&ModelReader::parse(&bytes).unwrap()).unwrap();
        let points = back.encoder.encode(&table()).unwrap();
        assert_eq!(back.detector.score(points.as_points(), Run::single()).unwrap(), scores);
        assert_eq!((back.threshold, back.explainer.clone()), (model.threshold, model.explainer));
        assert_eq!(back.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn encoded_columns_know_their_raw_column() {
        let (model, _) = model();
        let (names, sources) = DetectorModel::sources(&model.encoder);
        assert_eq!((names, sources), (vec!["size".into(), "color".into(), "weight".into()], vec![0, 1, 1, 2]));
    }
}
