//! miFV: a bag is its Fisher vector under a Gaussian mixture of all instances, classified by a linear SVM.
//!
//! As fast as ISK and as data-dependent, but the mixture must fit: with few instances in many columns it does not, and
//! the vectors are dense.
//!
//! 1. Optionally PCA that keeps a share of the variance. 2. A mixture of M Gaussians with diagonal covariances, EM from a
//!    k-means start, at most 100 rounds, variances at least 1e-6 of the global one. 3. With posteriors p_jk of the
//!    instances of bag S: f_ω,k = Σ_j (p_jk − ω_k)/√ω_k, f_μ,k = Σ_j p_jk·(x_j − μ_k)/s_k/√ω_k,
//!    f_s,k = Σ_j p_jk·((x_j − μ_k)²/s_k² − 1)/√(2ω_k). 4. sign(v)·√|v|, then length 1; plain vectors are divided by the
//!    number of instances instead. 5. Linear SVM, squared hinge.
//!
//! Time O(rounds·instances·M·d), memory O(instances·d) besides the (2d + 1)·M numbers per bag.
//!
//! # References
//! Wei, Wu, Zhou, "Scalable algorithms for multi-instance learning", 2017; paper 4 §7.

use faer::{Mat, Side};
use serde::{Deserialize, Serialize};

use super::held_out::{Labelled, Verdict};
use super::instances::Sets;
use super::kmeans::{check_width, kmeans, nearest};
use super::products::Products;
use super::vectors::{BagMap, VectorClassifier};
use crate::data::{Points, PointsBuf, Row};
use crate::error::{Error, Result};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::{Checked, in_range};
use crate::solve::KernelSvmParams;

/// Rounds of EM at the most.
const MAX_ROUNDS: usize = 100;

/// EM ends when the mean log-likelihood grows by less than this.
const ENOUGH: f64 = 1e-6;

/// Smallest variance, as a share of the column's.
const VARIANCE_FLOOR: f64 = 1e-6;

/// A component of less weight than this is dropped.
const LEAST_WEIGHT: f64 = 1e-6;

/// PCA needs a matrix over columns: not for wider data.
const MAX_PCA_COLUMNS: usize = 4096;

/// Parameters of miFV.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MiFvParams {
    pub(super) components: usize,
    pub(super) energy: f64,
    pub(super) plain: bool,
    pub(super) seed: u64,
    pub(super) svm: KernelSvmParams,
}

impl Default for MiFvParams {
    fn default() -> Self {
        Self { components: 2, energy: 1.0, plain: false, seed: 0, svm: KernelSvmParams::default() }
    }
}

impl MiFvParams {
    /// Components of the mixture, M, 1 to 1024; 2 by default.
    #[must_use]
    pub fn components(mut self, components: usize) -> Self {
        self.components = components;
        self
    }

    /// The share of the variance that PCA keeps, above 0; 1, the default, means no PCA.
    #[must_use]
    pub fn energy(mut self, energy: f64) -> Self {
        self.energy = energy;
        self
    }

    /// Whether Fisher vectors stay as they are, means over instances, without roots and length 1; `false` by default.
    #[must_use]
    pub fn plain(mut self, plain: bool) -> Self {
        self.plain = plain;
        self
    }

    /// The seed of the start of the mixture.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The linear SVM; squared hinge with C = 1 by default.
    #[must_use]
    pub fn svm(mut self, svm: KernelSvmParams) -> Self {
        self.svm = svm;
        self
    }

    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        in_range("components", self.components, 1..=1024)?;
        if !(self.energy > 0.0 && self.energy <= 1.0) {
            let expected = "above 0 and at most 1".into();
            return Err(Error::Param { name: "energy", expected, got: self.energy.to_string() });
        }
        self.svm.clone().check()?;
        Ok(Checked::new(self))
    }
}

/// The map of a bag to its Fisher vector.
#[derive(Debug, Clone, PartialEq)]
pub struct FisherMap {
    columns: usize,
    plain: bool,
    /// Mean and, row by row, the directions kept.
    pca: Option<(Vec<f64>, Vec<f64>)>,
    weights: Vec<f64>,
    /// Component by component.
    means: Vec<f64>,
    /// Standard deviations, component by component.
    deviations: Vec<f64>,
}

impl FisherMap {
    /// Fits PCA and mixture on all instances.
    pub fn fit(params: &Checked<MiFvParams>, sets: &Sets) -> Result<Self> {
        check_width(sets, "mifv")?;
        let points = sets.points();
        let columns = points.n_columns();
        let pca = if params.energy < 1.0 { Some(principal(points, params.energy)?) } else { None };
        let mut map = Self { columns, plain: params.plain, pca, weights: vec![], means: vec![], deviations: vec![] };
        let reduced = map.reduce(points);
        map.fit_mixture(&reduced, params);
        Ok(map)
    }

    /// Columns after PCA.
    fn width(&self) -> usize {
        self.pca.as_ref().map_or(self.columns, |(_, directions)| directions.len() / self.columns)
    }

    /// Length of a Fisher vector.
    pub fn n_features(&self) -> usize {
        (2 * self.width() + 1) * self.weights.len()
    }

    fn reduce(&self, points: Points<'_>) -> PointsBuf {
        let mut reduced = PointsBuf::dense(self.width());
        let mut values = vec![0.0; self.columns];
        for row in points.rows() {
            values.fill(0.0);
            row.nonzeros().for_each(|(column, value)| values[column] = value);
            let Some((mean, directions)) = &self.pca else {
                reduced.push(Row::F64(&values));
                continue;
            };
            values.iter_mut().zip(mean).for_each(|(value, mean)| *value -= mean);
            let project = |direction: &[f64]| direction.iter().zip(&values).map(|(a, b)| a * b).sum();
            let projected: Vec<f64> = directions.chunks_exact(self.columns).map(project).collect();
            reduced.push(Row::F64(&projected));
        }
        reduced
    }

    /// EM from a k-means start.
    fn fit_mixture(&mut self, points: &PointsBuf, params: &MiFvParams) {
        let (n, d) = (points.n_rows(), points.n_columns());
        let rows: Vec<&[f64]> = points.as_points().rows().map(dense).collect();
        let moments = |mean: &mut [f64], squares: &mut [f64], row: &[f64], p: f64| {
            for ((mean, square), &x) in mean.iter_mut().zip(squares).zip(row) {
                *mean += p * x;
                *square += p * x * x;
            }
        };
        let (mut mean, mut squares) = (vec![0.0; d], vec![0.0; d]);
        for row in &rows {
            moments(&mut mean, &mut squares, row, 1.0 / n as f64);
        }
        let global = mean.iter().zip(&squares).map(|(mean, square)| (square - mean * mean).max(0.0));
        // A constant column says nothing: any positive deviation will do.
        let floors: Vec<f64> =
            global.map(|variance| if variance > 0.0 { VARIANCE_FLOOR * variance } else { 1.0 }).collect();
        let centroids = kmeans(points.as_points(), params.components, params.seed, u64::MAX);
        let m = centroids.n_rows();
        let mut room = Vec::new();
        let mut posteriors: Vec<f64> = vec![0.0; n * m];
        for (row, posteriors) in points.as_points().rows().zip(posteriors.chunks_exact_mut(m)) {
            posteriors[nearest(row, &centroids, &mut room).0] = 1.0;
        }
        let mut before = f64::NEG_INFINITY;
        for _ in 0..MAX_ROUNDS {
            let m = posteriors.len() / n;
            let mut totals = vec![0.0; m];
            let (mut means, mut squares) = (vec![0.0; m * d], vec![0.0; m * d]);
            for (row, posteriors) in rows.iter().zip(posteriors.chunks_exact(m)) {
                for (k, &p) in posteriors.iter().enumerate().filter(|(_, p)| **p > 0.0) {
                    totals[k] += p;
                    moments(&mut means[k * d..(k + 1) * d], &mut squares[k * d..(k + 1) * d], row, p);
                }
            }
            (self.weights, self.means, self.deviations) = (vec![], vec![], vec![]);
            for k in (0..m).filter(|&k| totals[k] > LEAST_WEIGHT * n as f64) {
                self.weights.push(totals[k] / n as f64);
                for column in 0..d {
                    let mean = means[k * d + column] / totals[k];
                    let variance = squares[k * d + column] / totals[k] - mean * mean;
                    self.means.push(mean);
                    self.deviations.push(variance.max(floors[column]).sqrt());
                }
            }
            let total: f64 = self.weights.iter().sum();
            self.weights.iter_mut().for_each(|weight| *weight /= total);
            let m = self.weights.len();
            posteriors = vec![0.0; n * m];
            let mut likelihood = 0.0;
            let constants = self.constants();
            for (row, posteriors) in rows.iter().zip(posteriors.chunks_exact_mut(m)) {
                likelihood += self.posteriors(row, &constants, posteriors) / n as f64;
            }
            if likelihood - before < ENOUGH * likelihood.abs().max(1.0) {
                break;
            }
            before = likelihood;
        }
    }

    /// ln ω_k − Σ ln s_k of every component.
    fn constants(&self) -> Vec<f64> {
        let logarithms = |deviations: &[f64]| deviations.iter().map(|deviation| deviation.ln()).sum::<f64>();
        let of_components = self.deviations.chunks_exact(self.width()).map(logarithms);
        self.weights.iter().zip(of_components).map(|(weight, sum)| weight.ln() - sum).collect()
    }

    /// p_jk of one instance; returns its log-likelihood but for a constant.
    fn posteriors(&self, row: &[f64], constants: &[f64], out: &mut [f64]) -> f64 {
        let d = row.len();
        for (k, out) in out.iter_mut().enumerate() {
            let (means, deviations) = (&self.means[k * d..(k + 1) * d], &self.deviations[k * d..(k + 1) * d]);
            let mut sum = constants[k];
            for ((x, mean), deviation) in row.iter().zip(means).zip(deviations) {
                sum -= 0.5 * ((x - mean) / deviation).powi(2);
            }
            *out = sum;
        }
        let largest = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for value in out.iter_mut() {
            *value = (*value - largest).exp();
        }
        let total: f64 = out.iter().sum();
        for value in out.iter_mut() {
            *value /= total;
        }
        largest + total.ln()
    }

    /// The Fisher vectors of bags before step 4, bag by bag.
    fn raw(&self, sets: &Sets) -> Vec<Vec<f64>> {
        let (d, m) = (self.width(), self.weights.len());
        let reduced = self.reduce(sets.points());
        let reduced = reduced.as_points();
        let (mut posteriors, constants) = (vec![0.0; m], self.constants());
        let mut vectors = Vec::with_capacity(sets.len());
        for bag in 0..sets.len() {
            let mut vector = vec![0.0; self.n_features()];
            let (of_weights, rest) = vector.split_at_mut(m);
            let (of_means, of_deviations) = rest.split_at_mut(m * d);
            for row in sets.range(bag) {
                let row = dense(reduced.row(row));
                self.posteriors(row, &constants, &mut posteriors);
                for (k, &p) in posteriors.iter().enumerate() {
                    let root = self.weights[k].sqrt();
                    of_weights[k] += (p - self.weights[k]) / root;
                    for (column, &x) in row.iter().enumerate() {
                        let at = k * d + column;
                        let z = (x - self.means[at]) / self.deviations[at];
                        of_means[at] += p * z / root;
                        of_deviations[at] += p * (z * z - 1.0) / (root * std::f64::consts::SQRT_2);
                    }
                }
            }
            vectors.push(vector);
        }
        vectors
    }

    /// The Fisher vectors of bags.
    pub fn vectors(&self, sets: &Sets) -> PointsBuf {
        let mut vectors = PointsBuf::dense(self.n_features());
        for (bag, mut vector) in self.raw(sets).into_iter().enumerate() {
            let length = if self.plain {
                sets.range(bag).len() as f64
            } else {
                for value in &mut vector {
                    *value = value.signum() * value.abs().sqrt();
                }
                vector.iter().map(|value| value * value).sum::<f64>().sqrt()
            };
            if length > 0.0 {
                for value in &mut vector {
                    *value /= length;
                }
            }
            vectors.push(Row::F64(&vector));
        }
        vectors
    }
}

/// A row of a dense buffer.
fn dense(row: Row<'_>) -> &[f64] {
    match row {
        Row::F64(values) => values,
        Row::F32(_) | Row::Sparse(_) => unreachable!("reduced points are dense"),
    }
}

/// Mean and leading directions that hold a share of the variance, signs fixed by the largest entry.
fn principal(points: Points<'_>, energy: f64) -> Result<(Vec<f64>, Vec<f64>)> {
    let (n, d) = (points.n_rows() as f64, points.n_columns());
    if d > MAX_PCA_COLUMNS {
        return Err(Error::Data(format!("PCA needs at most {MAX_PCA_COLUMNS} columns, but there are {d}")));
    }
    let (mut mean, mut products) = (vec![0.0; d], vec![0.0; d * d]);
    for row in points.rows() {
        let entries: Vec<(usize, f64)> = row.nonzeros().collect();
        for (at, &(i, x)) in entries.iter().enumerate() {
            mean[i] += x / n;
            entries[..=at].iter().for_each(|&(j, y)| products[i * d + j] += x * y / n);
        }
    }
    let covariance = Mat::from_fn(d, d, |i, j| {
        let (i, j) = (i.max(j), i.min(j));
        products[i * d + j] - mean[i] * mean[j]
    });
    let eigen = covariance
        .self_adjoint_eigen(Side::Lower)
        .map_err(|error| Error::Data(format!("the covariance has no eigenvectors: {error:?}")))?;
    let (vectors, lambda) = (eigen.U(), eigen.S().column_vector());
    let total: f64 = (0..d).map(|k| lambda[k].max(0.0)).sum();
    let (mut held, mut directions) = (0.0, Vec::new());
    for k in (0..d).rev() {
        let entries = (0..d).map(|i| vectors[(i, k)]);
        let extreme = entries.clone().fold(0.0, |most: f64, v| if v.abs() > most.abs() { v } else { most });
        directions.extend(entries.map(|v| extreme.signum() * v));
        held += lambda[k].max(0.0);
        if held >= energy * total {
            break;
        }
    }
    Ok((mean, directions))
}

impl Persist for FisherMap {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.shape"), &(self.columns, self.pca.as_ref().map(|_| self.width())));
        if self.plain {
            out.put_json(&format!("{prefix}.plain"), &true);
        }
        if let Some((mean, directions)) = &self.pca {
            out.put_f64(&format!("{prefix}.centre"), mean);
            out.put_f64(&format!("{prefix}.directions"), directions);
        }
        out.put_f64(&format!("{prefix}.weights"), &self.weights);
        out.put_f64(&format!("{prefix}.means"), &self.means);
        out.put_f64(&format!("{prefix}.deviations"), &self.deviations);
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let (columns, kept): (usize, Option<usize>) = from.json(&format!("{prefix}.shape"))?;
        let plain = format!("{prefix}.plain");
        let plain = from.has_json(&plain) && from.json(&plain)?;
        let too_large = || bad_part(prefix, "is too large");
        let pca = match kept {
            None => None,
            Some(kept) => {
                let mean = from.finite_f64s(&format!("{prefix}.centre"), columns)?;
                let entries = kept.checked_mul(columns).ok_or_else(too_large)?;
                Some((mean, from.finite_f64s(&format!("{prefix}.directions"), entries)?))
            }
        };
        let weights = from.f64s(&format!("{prefix}.weights"))?;
        let entries = weights.len().checked_mul(kept.unwrap_or(columns)).ok_or_else(too_large)?;
        let means = from.finite_f64s(&format!("{prefix}.means"), entries)?;
        let deviations = from.finite_f64s(&format!("{prefix}.deviations"), entries)?;
        let positive =
            |values: &[f64]| !values.is_empty() && values.iter().all(|value| value.is_finite() && *value > 0.0);
        if columns == 0 || !positive(&weights) || !positive(&deviations) {
            return Err(bad_part(prefix, "is not a mixture"));
        }
        Ok(Self { columns, plain, pca, weights, means, deviations })
    }
}

impl BagMap for FisherMap {
    const PART: &'static str = "fisher";

    fn n_columns(&self) -> usize {
        self.columns
    }

    fn n_features(&self) -> usize {
        self.n_features()
    }

    fn vectors(&self, sets: &Sets, _: Run<'_>) -> Result<PointsBuf> {
        Ok(self.vectors(sets))
    }
}

/// A linear SVM on Fisher vectors.
pub(super) type MiFvClassifier = VectorClassifier<FisherMap>;

impl MiFvClassifier {
    /// The verdicts on candidates that share their mixture.
    pub(super) fn held_out(members: &[&MiFvParams], sets: &Sets, of: Labelled<'_>) -> Result<Vec<Vec<Verdict>>> {
        let Some(first) = members.first() else { return Ok(vec![]) };
        let vectors = FisherMap::fit(&(*first).clone().check()?, sets)?.vectors(sets);
        let svms = members.iter().map(|params| params.svm.clone().check()).collect::<Result<Vec<_>>>()?;
        of.kernel(&Products::new(&vectors), &svms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::testing::{blobs, doubled, turned};

    fn map(sets: &Sets, components: usize, energy: f64) -> FisherMap {
        FisherMap::fit(&MiFvParams::default().components(components).energy(energy).check().unwrap(), sets).unwrap()
    }

    #[test]
    fn the_training_instances_as_one_bag_have_no_gradient() {
        let (sets, _) = blobs(40, 7);
        let whole = Sets::from_parts(sets.points().to_buf(), vec![0, sets.n_instances()]).unwrap();
        let n = sets.n_instances() as f64;
        let one = map(&sets, 1, 1.0).raw(&whole);
        assert!(one[0].iter().all(|value| value.abs() < 1e-9 * n), "{one:?}");
        // With more components EM stops a little before the optimum.
        let two = map(&sets, 2, 1.0).raw(&whole);
        assert!(two[0].iter().all(|value| value.abs() < 0.05 * n), "{two:?}");
    }

    #[test]
    fn order_and_duplicates_of_instances_change_nothing() {
        let (sets, _) = blobs(12, 8);
        let map = map(&sets, 2, 1.0);
        let vectors = map.vectors(&sets);
        for other in [turned(&sets), doubled(&sets)] {
            for (own, expected) in map.vectors(&other).as_points().rows().zip(vectors.as_points().rows()) {
                assert!(own.squared_distance(expected) < 1e-18);
            }
        }
    }

    #[test]
    fn plain_vectors_are_means_of_gradients_and_a_file_keeps_them_so() {
        let sets =
            Sets::from_parts(PointsBuf::from_rows(&[[0.0], [2.0], [4.0], [2.0]]).unwrap(), vec![0, 2, 4]).unwrap();
        let params = MiFvParams::default().components(1).plain(true).check().unwrap();
        let map = FisherMap::fit(&params, &sets).unwrap();
        // Mean 2, variance 2: the first bag has z = −√2 and 0, its squares less one are 1 and −1.
        for (row, z) in map.vectors(&sets).as_points().rows().zip([-0.5f64.sqrt(), 0.5f64.sqrt()]) {
            let vector = dense(row);
            assert!(vector[0].abs() < 1e-15 && (vector[1] - z).abs() < 1e-15 && vector[2].abs() < 1e-15, "{vector:?}");
        }
        for plain in [true, false] {
            let map = FisherMap { plain, ..map.clone() };
            let mut writer = ModelWriter::new("test");
            map.save(&mut writer, "fisher");
            let bytes = writer.finish().unwrap();
            assert_eq!(FisherMap::load(&ModelReader::parse(&bytes).unwrap(), "fisher").unwrap(), map);
        }
    }

    #[test]
    fn two_blobs_are_two_components_and_pca_finds_their_line() {
        let (sets, labels) = blobs(60, 9);
        let mixture = map(&sets, 2, 1.0);
        let mut centres = [mixture.means[0], mixture.means[2]];
        centres.sort_by(f64::total_cmp);
        assert!(centres[0].abs() < 0.3 && (centres[1] - 3.0).abs() < 0.3, "{centres:?}");
        assert_eq!((map(&sets, 2, 0.8).width(), map(&sets, 2, 1.0).width()), (1, 2));
        let params = MiFvParams::default().energy(0.8);
        let map = FisherMap::fit(&params.clone().check().unwrap(), &sets).unwrap();
        let fit = MiFvClassifier::fit(map, &params.svm, &sets, &labels, 2, Run::single()).unwrap();
        let scores = fit.scores(&sets, Run::single()).unwrap();
        let right = scores.iter().zip(&labels).filter(|(score, label)| (**score >= 0.0) == (**label == 1)).count();
        assert!(right >= 57, "{right} of 60");
    }

    #[test]
    fn constant_columns_do_no_harm() {
        let points = PointsBuf::from_rows(&[[1.0, 7.0], [2.0, 7.0], [3.0, 7.0], [5.0, 7.0]]).unwrap();
        let vectors = map(&Sets::singletons(points), 2, 1.0)
            .vectors(&Sets::singletons(PointsBuf::from_rows(&[[2.0, 8.0]]).unwrap()));
        assert!(vectors.row(0).nonzeros().all(|(_, value)| value.is_finite()));
    }
}
