//! Stage 4b, how odd is x: anomaly detectors. Every detector gives larger scores to more anomalous rows, and the score
//! of a row depends on the model and that row alone, never on the rows scored beside it.

mod idk;
mod norm;
mod inne;
mod iforest;
mod gaussian;
mod gaussian_nystrom;
mod ocsvm;
mod multiscale;
mod any;
mod explain;
mod model;
mod streaming;
mod group;
#[cfg(test)]
mod testing;

pub use any::{AnyDetector, DetectMethod, DetectorParams};
pub use explain::{Explainer, Share};
pub use gaussian::GaussianMean;
pub use gaussian_nystrom::GaussianNystrom;
pub use group::{GroupDetector, GroupModel};
pub use idk::{Embedding, Idk};
pub use iforest::IsolationForest;
pub use inne::Inne;
pub use model::DetectorModel;
pub use multiscale::{MultiScale, MultiScaleParams, ScaleKind, ScaleReason, ScaleRule};
pub use norm::Norm;
pub use ocsvm::OneClassSvm;
pub use streaming::{StreamParams, StreamScore, StreamingIdk};

use crate::data::Points;
use crate::error::{Error, Result};
use crate::parallel::Run;

/// Rows that are scored together. Fixed, though no score depends on it.
pub(crate) const CHUNK: usize = 512;

/// Something that says how anomalous rows are.
pub trait Detector: Sync {
    /// Columns that a row must have.
    fn n_columns(&self) -> usize;

    /// Scores at most a few hundred rows of the right width on the calling thread, one place per row.
    fn score_chunk(&self, points: Points<'_>, scores: &mut [f64]) -> Result<()>;

    /// Scores rows, larger meaning more anomalous.
    fn score(&self, points: Points<'_>, run: Run<'_>) -> Result<Vec<f64>> {
        if points.n_columns() != self.n_columns() {
            return Err(Error::Shape { what: "columns", expected: self.n_columns(), got: points.n_columns() });
        }
        let mut scores = vec![0.0; points.n_rows()];
        run.chunks_mut("score", &mut scores, CHUNK, |chunk, scores| {
            let first = chunk * CHUNK;
            self.score_chunk(points.slice(first..first + scores.len()), scores)
        })?;
        Ok(scores)
    }
}
