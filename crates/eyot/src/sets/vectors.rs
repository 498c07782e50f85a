//! Methods that make a vector of every bag and learn a linear SVM on them: `isk` and `mifv`.

use super::instances::Sets;
use super::products::fit_linear;
use crate::data::PointsBuf;
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::solve::{KernelSvmParams, LinearModel};

/// A map of bags to vectors.
pub(super) trait BagMap: Persist {
    /// Its name in a model file.
    const PART: &'static str;

    /// Columns that an instance must have.
    fn n_columns(&self) -> usize;

    /// Length of a vector.
    fn n_features(&self) -> usize;

    /// The vectors of bags.
    fn vectors(&self, sets: &Sets, run: Run<'_>) -> Result<PointsBuf>;
}

/// A linear SVM on the vectors of a map.
#[derive(Debug, Clone)]
pub(super) struct VectorClassifier<M> {
    pub(super) map: M,
    pub(super) model: LinearModel,
}

impl<M: BagMap> VectorClassifier<M> {
    pub(super) fn fit(
        map: M,
        svm: &KernelSvmParams,
        sets: &Sets,
        labels: &[u32],
        n_classes: usize,
        run: Run<'_>,
    ) -> Result<Self> {
        let model = fit_linear(&svm.clone().check()?, &map.vectors(sets, run)?, labels, n_classes, run)?;
        Ok(Self { map, model })
    }

    pub(super) fn scores(&self, sets: &Sets, run: Run<'_>) -> Result<Vec<f64>> {
        self.model.scores(&self.map.vectors(sets, run)?.as_points(), run)
    }
}

impl<M: BagMap> Persist for VectorClassifier<M> {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.map.save(out, &format!("{prefix}.{}", M::PART));
        self.model.save(out, &format!("{prefix}.linear"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let map = M::load(from, &format!("{prefix}.{}", M::PART))?;
        let model = LinearModel::load(from, &format!("{prefix}.linear"))?;
        if model.n_features() != map.n_features() {
            return Err(bad_part(prefix, "has weights that do not go with its map"));
        }
        Ok(Self { map, model })
    }
}
