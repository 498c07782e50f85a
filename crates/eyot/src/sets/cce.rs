//! CCE: a bag is the set of clusters that its instances visit; several clusterings vote.
//!
//! For each k of a list, k-means cuts the instances into k clusters and a bag becomes k bits, bit c set if some instance
//! is nearest to centroid c; a linear SVM on the bits has one vote, and ties go to the larger sum of decision values.
//! Cheap and robust; how many instances visit a cluster is lost.
//!
//! # References
//! Zhou, Zhang, "Solving multi-instance problems with classifier ensemble based on constructive clustering", 2007;
//! paper 4 §7, which gives no numbers of clusters.

use serde::{Deserialize, Serialize};

use super::held_out::{Labelled, Verdict};
use super::instances::Sets;
use super::kmeans::{check_width, kmeans, nearest};
use crate::data::{PointsBuf, Row, SparseRow};
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::{Checked, in_range};
use crate::solve::{LinearModel, LinearSvmParams, Loss, class_of_scores, n_scores};

/// Parameters of CCE.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CceParams {
    pub(super) clusters: Vec<usize>,
    pub(super) seed: u64,
    pub(super) svm: LinearSvmParams,
}

impl Default for CceParams {
    fn default() -> Self {
        let svm = LinearSvmParams::default().loss(Loss::Hinge).bias(true).epsilon(0.01);
        Self { clusters: vec![10, 20, 30, 40, 50], seed: 0, svm }
    }
}

impl CceParams {
    /// The numbers of clusters, an odd number of them; 10, 20, …, 50 by default.
    #[must_use]
    pub fn clusters(mut self, clusters: Vec<usize>) -> Self {
        self.clusters = clusters;
        self
    }

    /// The seed of the clusterings.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The linear SVM; hinge loss with C = 1 by default.
    #[must_use]
    pub fn svm(mut self, svm: LinearSvmParams) -> Self {
        self.svm = svm;
        self
    }

    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        in_range("numbers of clusters", self.clusters.len(), 1..=99)?;
        self.clusters.iter().try_for_each(|&k| in_range("clusters", k, 2..=10_000))?;
        self.svm.clone().check()?;
        Ok(Checked::new(self))
    }

    /// All clusterings.
    fn cluster(&self, sets: &Sets) -> Result<Vec<PointsBuf>> {
        check_width(sets, "cce")?;
        let clustering = |(stream, &k): (usize, &usize)| kmeans(sets.points(), k, self.seed, stream as u64);
        Ok(self.clusters.iter().enumerate().map(clustering).collect())
    }
}

/// The clusters that bags visit, as 0/1 vectors.
fn bits(sets: &Sets, centroids: &PointsBuf) -> PointsBuf {
    let (mut vectors, mut room) = (PointsBuf::sparse(centroids.n_rows()), Vec::new());
    for bag in 0..sets.len() {
        let mut visited: Vec<u32> =
            sets.bag(bag).rows().map(|row| nearest(row, centroids, &mut room).0 as u32).collect();
        visited.sort_unstable();
        visited.dedup();
        vectors.push(Row::Sparse(SparseRow { columns: &visited, values: &vec![1.0; visited.len()] }));
    }
    vectors
}

/// One vote per member; of equals, the larger sum of decision values. As scores: votes plus a share of that sum below a
/// vote, so that the largest score wins.
fn vote(n_classes: usize, members: &[Vec<f64>]) -> Vec<f64> {
    let width = n_scores(n_classes);
    if width == 0 {
        return vec![];
    }
    let mut totals = vec![0.0; width];
    for scores in members {
        for (total, score) in totals.iter_mut().zip(scores) {
            *total += score;
        }
    }
    // Into (−½, ½), in order.
    let squeezed = totals.into_iter().map(|total| 0.5 * total / (1.0 + total.abs()));
    if width == 1 {
        let votes: f64 = members.iter().map(|scores| if scores[0] >= 0.0 { 1.0 } else { -1.0 }).sum();
        return squeezed.map(|rest| votes + rest).collect();
    }
    let mut votes = vec![0.0; width];
    for scores in members {
        votes[class_of_scores(scores) as usize] += 1.0;
    }
    squeezed.zip(votes).map(|(rest, votes)| votes + rest).collect()
}

/// Clusterings, each with a linear SVM.
#[derive(Debug, Clone)]
pub(super) struct CceClassifier {
    pub(super) n_classes: usize,
    pub(super) members: Vec<(PointsBuf, LinearModel)>,
}

impl CceClassifier {
    pub(super) fn fit(params: &CceParams, sets: &Sets, labels: &[u32], n_classes: usize, run: Run<'_>) -> Result<Self> {
        let svm = params.svm.clone().check()?;
        let member = |centroids: PointsBuf| {
            let model = svm.fit(&bits(sets, &centroids).as_points(), labels, n_classes, None, run)?.model;
            Ok((centroids, model))
        };
        let members = params.cluster(sets)?.into_iter().map(member).collect::<Result<_>>()?;
        Ok(Self { n_classes, members })
    }

    pub(super) fn scores(&self, sets: &Sets, run: Run<'_>) -> Result<Vec<f64>> {
        let width = n_scores(self.n_classes);
        let of_members: Vec<Vec<f64>> = self
            .members
            .iter()
            .map(|(centroids, model)| model.scores(&bits(sets, centroids).as_points(), run))
            .collect::<Result<_>>()?;
        let bag = |bag: usize| {
            let own: Vec<Vec<f64>> =
                of_members.iter().map(|scores| scores[bag * width..(bag + 1) * width].to_vec()).collect();
            vote(self.n_classes, &own)
        };
        Ok((0..sets.len()).flat_map(bag).collect())
    }

    /// The verdicts on candidates that share their clusterings.
    pub(super) fn held_out(members: &[&CceParams], sets: &Sets, of: Labelled<'_>) -> Result<Vec<Vec<Verdict>>> {
        let Some(first) = members.first() else { return Ok(vec![]) };
        let vectors: Vec<PointsBuf> = first.cluster(sets)?.iter().map(|centroids| bits(sets, centroids)).collect();
        let one = |params: &&CceParams| {
            let svm = params.svm.clone().check()?;
            of.each_split(|weights, held| {
                let models = vectors.iter().map(|vectors| {
                    let fit = svm.fit(&vectors.as_points(), of.labels, of.n_classes, Some(weights), of.run);
                    fit.map(|fit| fit.model)
                });
                let models = models.collect::<Result<Vec<_>>>()?;
                let scores = |&bag: &usize| {
                    let scores: Vec<Vec<f64>> = models
                        .iter()
                        .zip(&vectors)
                        .map(|(model, vectors)| {
                            let mut scores = vec![0.0; model.n_scores()];
                            model.scores_into(vectors.row(bag), &mut scores);
                            scores
                        })
                        .collect();
                    vote(of.n_classes, &scores)
                };
                Ok(held.iter().map(scores).collect())
            })
        };
        members.iter().map(one).collect()
    }
}

impl Persist for CceClassifier {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.members"), &(self.members.len(), self.n_classes));
        for (at, (centroids, model)) in self.members.iter().enumerate() {
            centroids.save(out, &format!("{prefix}.centroids{at}"));
            model.save(out, &format!("{prefix}.linear{at}"));
        }
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let (n, n_classes): (usize, usize) = from.json(&format!("{prefix}.members"))?;
        let mut members = Vec::new();
        for at in 0..n.min(100) {
            let name = format!("{prefix}.centroids{at}");
            let centroids = PointsBuf::load(from, &name)?;
            let model = LinearModel::load(from, &format!("{prefix}.linear{at}"))?;
            let first: Option<&(PointsBuf, LinearModel)> = members.first();
            let columns = first.map_or(centroids.n_columns(), |(first, _)| first.n_columns());
            let fits = model.n_features() == centroids.n_rows() && model.n_classes() == n_classes;
            if !fits || centroids.n_rows() == 0 || centroids.n_columns() != columns {
                return Err(bad_part(&name, "does not go with its weights"));
            }
            members.push((centroids, model));
        }
        if members.is_empty() {
            return Err(bad_part(prefix, "has no members"));
        }
        Ok(Self { n_classes, members })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::testing::{blobs, doubled, turned};

    #[test]
    fn order_and_duplicates_of_instances_change_nothing() {
        let (sets, labels) = blobs(30, 6);
        let params = CceParams::default().clusters(vec![2, 3, 5]);
        let fit = CceClassifier::fit(&params, &sets, &labels, 2, Run::single()).unwrap();
        let scores = fit.scores(&sets, Run::single()).unwrap();
        assert_eq!(fit.scores(&turned(&sets), Run::single()).unwrap(), scores);
        assert_eq!(fit.scores(&doubled(&sets), Run::single()).unwrap(), scores);
        let right = scores.iter().zip(&labels).filter(|(score, label)| (**score >= 0.0) == (**label == 1)).count();
        assert!(right >= 28, "{right} of 30");
    }

    #[test]
    fn the_majority_wins_and_ties_go_to_the_sum() {
        assert!(vote(2, &[vec![0.1], vec![0.2], vec![-9.0]])[0] > 0.0);
        assert!(vote(2, &[vec![0.1], vec![-0.2]])[0] < 0.0);
        let scores = vote(3, &[vec![1.0, 0.0, -1.0], vec![0.0, 0.5, -1.0]]);
        assert_eq!(class_of_scores(&scores), 0);
    }
}
