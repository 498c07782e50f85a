//! Inner products of the vectors of bags, as a kernel solver sees them. There are far fewer bags than features, so the
//! solver works on the products: a step over a bag costs as many numbers as there are bags, and its bias is free. (A bias
//! that is the weight of a constant feature is regularised, and all bags have most of their vector in common: on fox that
//! cost ISK six points of accuracy.)

use crate::data::{Features, PointsBuf};
use crate::error::Result;
use crate::parallel::Run;
use crate::params::Checked;
use crate::solve::{KernelMatrix, KernelSvmParams, LinearModel};

/// Up to this many bags all products are kept; of more, rows are computed when asked for.
const MOST_KEPT: usize = 4096;

/// ⟨Φ_i, Φ_j⟩ of all bags.
pub(super) struct Products<'a> {
    vectors: &'a PointsBuf,
    /// All of them, row by row, if there are not too many.
    kept: Option<Vec<f64>>,
}

impl<'a> Products<'a> {
    pub(super) fn new(vectors: &'a PointsBuf) -> Self {
        Self::keeping(vectors, MOST_KEPT)
    }

    fn keeping(vectors: &'a PointsBuf, most: usize) -> Self {
        let n = vectors.n_rows();
        let kept = (n <= most).then(|| {
            let (mut values, mut dense) = (vec![0.0; n * n], vec![0.0; vectors.n_columns()]);
            for i in 0..n {
                spread(vectors, i, &mut dense, |dense| {
                    for j in 0..=i {
                        let product = Features::dot(vectors.row(j), dense);
                        (values[i * n + j], values[j * n + i]) = (product, product);
                    }
                });
            }
            values
        });
        Self { vectors, kept }
    }
}

/// Lets a dense row of zeros hold one of the vectors for a while.
fn spread(vectors: &PointsBuf, i: usize, dense: &mut [f64], work: impl FnOnce(&[f64])) {
    vectors.row(i).nonzeros().for_each(|(column, value)| dense[column] = value);
    work(dense);
    vectors.row(i).nonzeros().for_each(|(column, _)| dense[column] = 0.0);
}

impl KernelMatrix for Products<'_> {
    fn n(&self) -> usize {
        self.vectors.n_rows()
    }

    fn diagonal(&self, i: usize) -> f64 {
        Features::squared_norm(self.vectors.row(i))
    }

    fn row_into(&self, i: usize, out: &mut [f64]) {
        if let Some(kept) = &self.kept {
            return out.copy_from_slice(&kept[i * self.n()..(i + 1) * self.n()]);
        }
        spread(self.vectors, i, &mut vec![0.0; self.vectors.n_columns()], |dense| {
            out.iter_mut().enumerate().for_each(|(j, out)| *out = Features::dot(self.vectors.row(j), dense));
        });
    }
}

/// A linear SVM on vectors.
pub(super) fn fit_linear(
    svm: &Checked<KernelSvmParams>,
    vectors: &PointsBuf,
    labels: &[u32],
    n_classes: usize,
    run: Run<'_>,
) -> Result<LinearModel> {
    let model = svm.fit(&Products::new(vectors), labels, n_classes, None, run)?.model;
    Ok(model.on_features(vectors.n_columns(), |bag| vectors.row(bag), 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Row;
    use crate::rng::{Component, rng_of};

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
    fn products_are_the_same_kept_or_computed_when_asked_for() {
        let vectors = some(20);
        let (kept, not) = (Products::new(&vectors), Products::keeping(&vectors, 5));
        assert!(kept.kept.is_some() && not.kept.is_none());
        for i in 0..20 {
            let (mut a, mut b) = (vec![0.0; 20], vec![0.0; 20]);
            kept.row_into(i, &mut a);
            not.row_into(i, &mut b);
            for j in 0..20 {
                let plain = vectors.row(i).dot(vectors.row(j));
                assert!((a[j] - plain).abs() < 1e-12 && (b[j] - plain).abs() < 1e-12, "{i} {j}");
            }
            assert!((kept.diagonal(i) - a[i]).abs() < 1e-12);
        }
    }

    #[test]
    fn weights_and_bias_give_the_scores_of_the_sums() {
        let vectors = some(30);
        for n_classes in [1, 2, 3] {
            let labels: Vec<u32> = (0..30).map(|i| (i / 3) % n_classes).collect();
            let svm = KernelSvmParams::default().epsilon(1e-8).check().unwrap();
            let products = Products::new(&vectors);
            let sums = svm.fit(&products, &labels, n_classes as usize, None, Run::single()).unwrap().model;
            let linear = fit_linear(&svm, &vectors, &labels, n_classes as usize, Run::single()).unwrap();
            let scores = linear.scores(&vectors.as_points(), Run::single()).unwrap();
            let width = linear.n_scores();
            for bag in 0..30 {
                let mut values = vec![0.0; sums.expansion.rows().len()];
                products.entries_into(bag, sums.expansion.rows(), &mut values);
                let mut expected = vec![0.0; width];
                sums.scores_into(&values, &mut expected);
                let ours = &scores[bag * width..(bag + 1) * width];
                assert!(ours.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9), "{n_classes}");
            }
        }
    }
}
