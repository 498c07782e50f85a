//! An isolation map with all that raw rows need: the encoder before it. Kind `map`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{IsolationMap, IsolationMapParams};
use crate::data::{Encoder, Points, PointsBuf};
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::Checked;

/// Raw rows to codes.
#[derive(Debug, Clone)]
pub struct MapModel {
    /// Raw rows to points.
    pub encoder: Encoder,
    /// Points to codes.
    pub map: IsolationMap,
}

/// What a model file says of how it was made.
#[derive(Debug, Serialize)]
pub struct MapParameters<'a> {
    #[serde(flatten)]
    map: &'a IsolationMapParams,
    scale: Value,
    missing: Value,
}

#[derive(Serialize, Deserialize)]
struct TrainedOn {
    rows: usize,
    columns: usize,
}

impl MapModel {
    /// What models of this kind are called in their files.
    pub const KIND: &'static str = "map";

    /// Fits the map on all rows, encoded. The same map as from samples taken while reading.
    pub fn fit(
        params: &Checked<IsolationMapParams>,
        encoder: Encoder,
        points: Points<'_>,
        run: Run<'_>,
    ) -> Result<Self> {
        let mut sampler = params.sampler();
        sampler.offer(0, points.n_rows() as u64, run)?;
        let samples = sampler.finish();
        let mut rows: Vec<u64> = samples.concat();
        rows.sort_unstable();
        rows.dedup();
        let mut kept = PointsBuf::like(&points);
        for &row in &rows {
            kept.push(points.row(row as usize));
        }
        let map = params.fit_sample(&samples, &rows, kept, encoder.extent(), run)?;
        Ok(Self { encoder, map })
    }

    /// What it was made with.
    pub fn parameters(&self) -> MapParameters<'_> {
        let mut encoder = serde_json::to_value(self.encoder.params()).unwrap_or_default();
        MapParameters { map: self.map.params(), scale: encoder["scale"].take(), missing: encoder["missing"].take() }
    }

    /// The bytes of the model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut out = ModelWriter::new(Self::KIND);
        out.put_json("parameters", &self.parameters());
        out.put_json("trained_on", &TrainedOn { rows: self.encoder.n_rows(), columns: self.encoder.n_columns() });
        self.encoder.save(&mut out, "encoder");
        self.map.save(&mut out, "map");
        out.finish()
    }

    /// A model from the parts of its file.
    pub fn load(from: &ModelReader<'_>) -> Result<Self> {
        from.expect_kind(Self::KIND)?;
        let model = Self { encoder: Encoder::load(from, "encoder")?, map: IsolationMap::load(from, "map")? };
        if model.encoder.n_columns() != model.map.n_columns() {
            return Err(bad_part("encoder", "does not go with the map"));
        }
        Ok(model)
    }
}
