//! Simple-MI: a bag is its mean instance, classified by a Gaussian kernel SVM. The baseline that forgets the sets.
//!
//! Good where a bag is a noisy measurement of one thing; blind to everything but the mean. Cost: one SVM over bags.
//!
//! # References
//! Amores, "Multiple instance classification: review, taxonomy and comparative study", 2013; paper 4 §7.

use serde::{Deserialize, Serialize};

use super::gaussian::gaussian_builders;
use super::held_out::{Labelled, Verdict};
use super::instances::Sets;
use crate::data::PointsBuf;
use crate::error::Result;
use crate::kernel::{Gaussian, Kernel, gram};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::{Checked, positive};
use crate::solve::{KernelSvmModel, KernelSvmParams, PointsMatrix, Precomputed};

/// Parameters of Simple-MI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimpleMiParams {
    pub(super) gamma: f64,
    pub(super) svm: KernelSvmParams,
}

impl Default for SimpleMiParams {
    fn default() -> Self {
        Self { gamma: 1.0, svm: KernelSvmParams::default() }
    }
}

gaussian_builders!(SimpleMiParams);

impl SimpleMiParams {
    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        positive("gamma", self.gamma)?;
        self.svm.clone().check()?;
        Ok(Checked::new(self))
    }
}

/// A kernel SVM on mean instances.
#[derive(Debug, Clone)]
pub(super) struct SimpleMiClassifier {
    kernel: Gaussian,
    /// The mean instances in use.
    pub(super) support: PointsBuf,
    pub(super) model: KernelSvmModel,
}

impl SimpleMiClassifier {
    pub(super) fn fit(
        params: &SimpleMiParams,
        sets: &Sets,
        labels: &[u32],
        n_classes: usize,
        run: Run<'_>,
    ) -> Result<Self> {
        let (means, kernel) = (sets.means(), Gaussian { gamma: params.gamma });
        let matrix = PointsMatrix { kernel, points: means.as_points() };
        let model = params.svm.clone().check()?.fit(&matrix, labels, n_classes, None, run)?.model;
        let rows: Vec<usize> = model.expansion.rows().iter().map(|&row| row as usize).collect();
        Ok(Self { kernel, support: means.select(&rows), model })
    }

    pub(super) fn scores(&self, sets: &Sets) -> Vec<f64> {
        let means = sets.means();
        let width = self.model.n_scores();
        let (mut values, mut scores) = (vec![0.0; self.support.n_rows()], vec![0.0; sets.len() * width]);
        if width > 0 {
            for (row, scores) in means.as_points().rows().zip(scores.chunks_exact_mut(width)) {
                self.kernel.row_into(row, self.support.as_points(), &mut values);
                self.model.scores_into(&values, scores);
            }
        }
        scores
    }

    pub(super) fn held_out(members: &[&SimpleMiParams], sets: &Sets, of: Labelled<'_>) -> Result<Vec<Vec<Verdict>>> {
        let means = sets.means();
        let one = |params: &&SimpleMiParams| {
            let kernel = Gaussian { gamma: params.gamma };
            let values = gram(&kernel, means.as_points(), means.as_points(), of.run)?;
            let matrix = Precomputed::new(&values, sets.len())?;
            Ok(of.kernel(&matrix, &[params.svm.clone().check()?])?.swap_remove(0))
        };
        members.iter().map(one).collect()
    }
}

impl Persist for SimpleMiClassifier {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_f64(&format!("{prefix}.gamma"), &[self.kernel.gamma]);
        self.support.save(out, &format!("{prefix}.support"));
        self.model.save(out, &format!("{prefix}.sums"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let gamma = from.finite_f64s(&format!("{prefix}.gamma"), 1)?[0];
        positive("gamma", gamma).map_err(|error| bad_part(prefix, &error.to_string()))?;
        let support = PointsBuf::load(from, &format!("{prefix}.support"))?;
        let model = KernelSvmModel::load(from, &format!("{prefix}.sums"))?;
        if support.n_rows() != model.expansion.rows().len() {
            return Err(bad_part(prefix, "has other support vectors than its sums need"));
        }
        Ok(Self { kernel: Gaussian { gamma }, support, model })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::testing::blobs;

    #[test]
    fn on_singletons_it_is_the_svm_on_points() {
        let (sets, labels) = blobs(20, 5);
        let singletons = Sets::singletons(sets.means());
        let params = SimpleMiParams::default().gamma(0.5);
        let fit = SimpleMiClassifier::fit(&params, &singletons, &labels, 2, Run::single()).unwrap();
        let matrix = PointsMatrix { kernel: Gaussian { gamma: 0.5 }, points: singletons.points() };
        let svm = KernelSvmParams::default().check().unwrap().fit(&matrix, &labels, 2, None, Run::single()).unwrap();
        assert_eq!(fit.model, svm.model);
        // And a bag is treated as its mean.
        assert_eq!(fit.scores(&sets), fit.scores(&singletons));
    }
}
