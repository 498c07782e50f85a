//! Few bags in many columns: n vectors span at most n directions. The rows of the triangular factor L of their Gram
//! matrix, ΦΦᵀ = LLᵀ, have the same inner products, so a linear SVM learns the same from them, and a step over a bag costs
//! at most n contiguous numbers instead of one look-up per non-zero. A search over scales, ψ, ε and C solves thousands of
//! these problems.

use faer::{Mat, Side};

use crate::data::{Features, PointsBuf};
use crate::error::Result;
use crate::parallel::Run;
use crate::params::Checked;
use crate::solve::{ConcreteRows, FeatureRows, LinearModel, LinearSvmParams, RowTask};

/// More bags than this are learned from as they are: the matrix would have too many entries.
const MOST: usize = 4096;

/// Bags of fewer non-zeros than a quarter of their number are cheaper as they are.
const WIDTH: usize = 4;

/// Added to the diagonal, as a share of its largest entry, since equal bags make the matrix singular.
const RIDGE: f64 = 1e-10;

/// Numbers that are summed side by side.
const LANES: usize = 8;

/// The rows of L.
pub(super) struct Compact {
    n: usize,
    /// n · n, row by row; zeros above the diagonal.
    values: Vec<f64>,
}

impl Compact {
    /// The compact form of vectors, if it is worth while.
    pub(super) fn of(vectors: &PointsBuf) -> Option<Self> {
        let (points, n) = (vectors.as_points(), vectors.n_rows());
        let nonzeros: usize = points.rows().map(|row| row.nonzeros().count()).sum();
        (n <= MOST && n * n <= WIDTH * nonzeros).then(|| Self::factor(vectors)).flatten()
    }

    fn factor(vectors: &PointsBuf) -> Option<Self> {
        let n = vectors.n_rows();
        let mut gram: Mat<f64> = Mat::zeros(n, n);
        let mut dense = vec![0.0; vectors.n_columns()];
        for i in 0..n {
            let row = vectors.row(i);
            row.nonzeros().for_each(|(column, value)| dense[column] = value);
            for j in 0..=i {
                gram[(i, j)] = Features::dot(vectors.row(j), &dense);
            }
            row.nonzeros().for_each(|(column, _)| dense[column] = 0.0);
        }
        let largest = (0..n).map(|i| gram[(i, i)]).fold(0.0, f64::max);
        (0..n).for_each(|i| gram[(i, i)] += RIDGE * largest);
        let factor = gram.llt(Side::Lower).ok()?;
        let lower = factor.L();
        let mut values = vec![0.0; n * n];
        for i in 0..n {
            (0..=i).for_each(|j| values[i * n + j] = lower[(i, j)]);
        }
        Some(Self { n, values })
    }

    fn at(&self, i: usize) -> &[f64] {
        &self.values[i * self.n..=i * self.n + i]
    }
}

impl FeatureRows for Compact {
    type Row<'a> = &'a [f64];

    fn n_rows(&self) -> usize {
        self.n
    }

    fn n_features(&self) -> usize {
        self.n
    }

    fn row(&self, i: usize) -> &[f64] {
        self.at(i)
    }

    fn with_concrete<T: RowTask>(&self, task: T) -> T::Output {
        task.run(self)
    }
}

impl ConcreteRows for Compact {
    fn dot(&self, i: usize, weights: &[f64]) -> f64 {
        let row = self.at(i);
        let (blocks, rest) = row.as_chunks::<LANES>();
        let (of_blocks, _) = weights.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for (x, w) in blocks.iter().zip(of_blocks) {
            for lane in 0..LANES {
                sums[lane] += x[lane] * w[lane];
            }
        }
        sums.iter().sum::<f64>() + Features::dot(rest, &weights[row.len() - rest.len()..])
    }

    fn add_to(&self, i: usize, weights: &mut [f64], scale: f64) {
        self.at(i).add_to(weights, scale);
    }

    fn squared_norm(&self, i: usize) -> f64 {
        Features::squared_norm(self.at(i))
    }

    fn fetch(&self, _: usize) {}
}

/// A linear SVM on vectors, by way of their compact form where that is shorter: w = Σ α_i·y_i·Φ_i.
pub(super) fn fit_linear(
    svm: &Checked<LinearSvmParams>,
    vectors: &PointsBuf,
    labels: &[u32],
    n_classes: usize,
    run: Run<'_>,
) -> Result<LinearModel> {
    let points = vectors.as_points();
    let Some(compact) = Compact::of(vectors) else {
        return Ok(svm.fit(&points, labels, n_classes, None, run)?.model);
    };
    let fit = svm.fit(&compact, labels, n_classes, None, run)?;
    let (n_scores, width) = (fit.model.n_scores(), vectors.n_columns());
    let mut weights = vec![0.0; n_scores * width];
    for (score, alphas) in fit.alphas.iter().enumerate() {
        let positive = if n_scores == 1 { 1 } else { score as u32 };
        let weights = &mut weights[score * width..(score + 1) * width];
        for ((row, &alpha), &label) in points.rows().zip(alphas).zip(labels).filter(|((_, alpha), _)| **alpha > 0.0) {
            row.add_to(weights, if label == positive { alpha } else { -alpha });
        }
    }
    let biases = (0..n_scores).map(|score| fit.model.bias(score)).collect();
    Ok(LinearModel::from_parts(n_classes, width, weights, biases))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Row;
    use crate::rng::{Component, rng_of};
    use crate::solve::Loss;

    /// Rows of 60 numbers, one in three of them zero; the last is a copy of the first.
    fn some(n: usize) -> PointsBuf {
        let mut rng = rng_of(1, Component::Synthetic, 9);
        let mut vectors = PointsBuf::sparse(60);
        for _ in 1..n {
            let row: Vec<f64> = (0..60).map(|_| if rng.below(3) == 0 { 0.0 } else { rng.normal() }).collect();
            vectors.push(Row::F64(&row));
        }
        let first = vectors.select(&[0]);
        vectors.push(first.row(0));
        vectors
    }

    #[test]
    fn inner_products_stay() {
        let vectors = some(20);
        let compact = Compact::of(&vectors).unwrap();
        for i in 0..20 {
            for j in 0..20 {
                let mut weights = vec![0.0; 20];
                compact.add_to(j, &mut weights, 1.0);
                let expected = vectors.row(i).dot(vectors.row(j));
                assert!((compact.dot(i, &weights) - expected).abs() < 1e-6, "{i} {j}");
            }
        }
    }

    #[test]
    fn the_model_is_that_of_the_vectors() {
        let vectors = some(30);
        for n_classes in [1, 2, 3] {
            let labels: Vec<u32> = (0..30).map(|i| (i / 3) % n_classes).collect();
            let svm = LinearSvmParams::default().loss(Loss::Hinge).bias(true).epsilon(1e-8).check().unwrap();
            let points = vectors.as_points();
            let plain = svm.fit(&points, &labels, n_classes as usize, None, Run::single()).unwrap().model;
            let ours = fit_linear(&svm, &vectors, &labels, n_classes as usize, Run::single()).unwrap();
            let (a, b) = (plain.scores(&points, Run::single()), ours.scores(&points, Run::single()));
            assert!(a.unwrap().iter().zip(b.unwrap()).all(|(a, b)| (a - b).abs() < 1e-4), "{n_classes}");
        }
    }

    #[test]
    fn many_bags_of_few_entries_stay_as_they_are() {
        let mut vectors = PointsBuf::sparse(9);
        (0..40).for_each(|i| vectors.push(Row::F64(&[1.0, f64::from(i), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])));
        assert!(Compact::of(&vectors).is_none());
    }
}
