//! A detector as users keep it: from raw rows in their own columns to scores, flags and reasons.

use serde_json::json;

use super::{AnyDetector, Detector, DetectorParams, Explainer, Share};
use crate::data::{Encoder, Points};
use crate::error::{ColumnRef, Error, Result};
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::parallel::Run;
use crate::params::Checked;
use crate::score::{Contamination, Threshold};

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

    /// Fits on all rows, encoded, and scores them.
    pub fn fit(
        params: &Checked<DetectorParams>,
        contamination: Contamination,
        encoder: Encoder,
        points: Points<'_>,
        run: Run<'_>,
    ) -> Result<(Self, Vec<f64>)> {
        let (detector, scores) = params.fit_score(points, run)?;
        let threshold = detector.threshold(&scores, contamination)?;
        let explainer = Explainer::fit(points, &scores, params.seed);
        let params = params.clone().into_inner();
        Ok((Self { params, encoder, detector, threshold, explainer }, scores))
    }

    /// Takes in more rows, encoded, and scores them by all rows so far ([`AnyDetector::extend`]). Encoder,
    /// partitionings, threshold and reasons stay those of the fit: scores are shares of the data, so they do not grow
    /// with it.
    pub fn extend(&mut self, points: Points<'_>, run: Run<'_>) -> Result<Vec<f64>> {
        self.detector.extend(points, run)
    }

    /// Rows that it was made from.
    fn n_rows(&self) -> usize {
        match &self.detector {
            AnyDetector::Idk(idk) => idk.embedding().n_points() as usize,
            _ => self.encoder.n_rows(),
        }
    }

    /// The parts of the raw columns in the oddness of encoded rows, and the names of these columns.
    pub fn explain(&self, points: Points<'_>, run: Run<'_>) -> Result<(Vec<String>, Vec<Vec<Share>>)> {
        let (names, sources) = Self::sources(&self.encoder);
        Ok((names, self.explainer.explain(&self.detector, points, &sources, run)?))
    }

    /// The bytes of a model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut out = ModelWriter::new(Self::KIND);
        out.put_json("parameters", &self.params);
        out.put_json("trained_on", &json!({ "rows": self.n_rows(), "columns": self.encoder.n_columns() }));
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
        let params = DetectorParams::default().t(20).check().unwrap();
        DetectorModel::fit(&params, Contamination::Share(0.1), encoder, points.as_points(), Run::single()).unwrap()
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
    fn more_rows_change_counts_alone_and_only_where_the_method_is_a_mean() {
        let (mut many_scales, _) = model();
        let points = many_scales.encoder.encode(&table()).unwrap();
        let error = many_scales.extend(points.as_points(), Run::single()).unwrap_err().to_string();
        assert_eq!(error, "a detector of kind `multi-scale` cannot take in more rows; `idk` with a number for psi can");
        let params = DetectorParams::default().psi(Some(8)).t(20).check().unwrap();
        let encoder = many_scales.encoder;
        let (mut model, scores) =
            DetectorModel::fit(&params, Contamination::Auto, encoder, points.as_points(), Run::single()).unwrap();
        let threshold = model.threshold;
        // The same rows once more: all shares stay.
        assert_eq!(model.extend(points.as_points(), Run::single()).unwrap(), scores);
        assert_eq!(model.threshold, threshold);
        let bytes = model.to_bytes().unwrap();
        let reader = ModelReader::parse(&bytes).unwrap();
        assert_eq!(reader.trained_on()["rows"], 120);
        assert_eq!(DetectorModel::load(&reader).unwrap().to_bytes().unwrap(), bytes);
    }

    #[test]
    fn encoded_columns_know_their_raw_column() {
        let (model, _) = model();
        let (names, sources) = DetectorModel::sources(&model.encoder);
        assert_eq!((names, sources), (vec!["size".into(), "color".into(), "weight".into()], vec![0, 1, 1, 2]));
    }
}
