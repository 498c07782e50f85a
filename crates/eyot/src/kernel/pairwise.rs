//! Kernels that do not depend on the data (methods A5): Gaussian, Laplacian, polynomial, and the additive χ² and
//! intersection kernels.
//!
//! Each is a function of one sum over columns, κ(x, y) = finish(Σ_k term(x_k, y_k)) with term(0, 0) = 0, so all share
//! one loop. A batch runs eight rows side by side, which hides the latency of the additions without changing the order
//! of any sum. They are the baselines of the papers and good where distances mean the same everywhere; they fail where
//! density varies, and with λ = ln ψ/d the Laplacian kernel is nearly constant in many sparse columns.
//!
//! Cost: O(d) per pair, O(non-zeros) for sparse rows.
//!
//! # References
//! Paper 1 §7 (Laplacian, ψ^(−‖x−y‖₁/d)), §8.4 (χ²); paper 2 §2 and paper 3 Eq. 1 (Gaussian).

use serde::{Deserialize, Serialize};

use super::Kernel;
use crate::data::{Points, Real, Row, Values};

/// Gaussian kernel exp(−γ‖x−y‖²).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gaussian {
    /// γ, above 0.
    pub gamma: f64,
}

/// Laplacian kernel exp(−λ‖x−y‖₁).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Laplacian {
    /// λ, above 0.
    pub lambda: f64,
}

/// Polynomial kernel (α x·y + r)^h.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Polynomial {
    /// α, above 0; 1/d by default.
    pub alpha: f64,
    /// r, at least 0.
    pub offset: f64,
    /// h, from 1 to 64.
    pub degree: u32,
}

/// Additive χ² kernel Σ 2x_j·y_j/(x_j + y_j); needs values of at least 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chi2 {}

/// Intersection kernel Σ min(x_j, y_j); needs values of at least 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intersection {}

impl Gaussian {
    /// exp(−‖x−y‖²/(2σ²)), the form of paper 3.
    pub fn of_bandwidth(sigma: f64) -> Self {
        Self { gamma: 1.0 / (2.0 * sigma * sigma) }
    }
}

impl Laplacian {
    /// ψ^(−‖x−y‖₁/d) for d columns, the form of paper 1: λ = ln ψ/d.
    pub fn of_psi(psi: f64, columns: usize) -> Self {
        Self { lambda: psi.ln() / columns.max(1) as f64 }
    }
}

impl Polynomial {
    /// (x·y/d + 1)² for d columns.
    pub fn of_columns(columns: usize) -> Self {
        Self { alpha: 1.0 / columns.max(1) as f64, offset: 1.0, degree: 2 }
    }
}

/// A function of one sum over columns.
trait SumKernel: Sync {
    /// The summand; 0 for (0, 0).
    fn term(x: f64, y: f64) -> f64;
    /// The kernel's value from the sum.
    fn finish(&self, sum: f64) -> f64;
}

impl SumKernel for Gaussian {
    #[inline]
    fn term(x: f64, y: f64) -> f64 {
        (x - y) * (x - y)
    }
    #[inline]
    fn finish(&self, sum: f64) -> f64 {
        (-self.gamma * sum).exp()
    }
}

/// ‖x−y‖² in the place of a kernel, for methods that need distances row by row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SquaredDistance;

impl SumKernel for SquaredDistance {
    #[inline]
    fn term(x: f64, y: f64) -> f64 {
        (x - y) * (x - y)
    }
    #[inline]
    fn finish(&self, sum: f64) -> f64 {
        sum
    }
}

impl SumKernel for Laplacian {
    #[inline]
    fn term(x: f64, y: f64) -> f64 {
        (x - y).abs()
    }
    #[inline]
    fn finish(&self, sum: f64) -> f64 {
        (-self.lambda * sum).exp()
    }
}

impl SumKernel for Polynomial {
    #[inline]
    fn term(x: f64, y: f64) -> f64 {
        x * y
    }
    #[inline]
    fn finish(&self, sum: f64) -> f64 {
        (self.alpha * sum + self.offset).powi(self.degree.cast_signed())
    }
}

impl SumKernel for Chi2 {
    #[inline]
    fn term(x: f64, y: f64) -> f64 {
        let sum = x + y;
        if sum == 0.0 { 0.0 } else { 2.0 * x * y / sum }
    }
    #[inline]
    fn finish(&self, sum: f64) -> f64 {
        sum
    }
}

impl SumKernel for Intersection {
    #[inline]
    fn term(x: f64, y: f64) -> f64 {
        x.min(y)
    }
    #[inline]
    fn finish(&self, sum: f64) -> f64 {
        sum
    }
}

impl<K: SumKernel> Kernel for K {
    fn value(&self, x: Row<'_>, y: Row<'_>) -> f64 {
        let mut sum = 0.0;
        x.pairs(y, |x, y| sum += K::term(x, y));
        self.finish(sum)
    }

    fn row_into(&self, x: Row<'_>, points: Points<'_>, out: &mut [f64]) {
        assert_eq!(out.len(), points.n_rows(), "one place per row");
        match (x, points.values()) {
            (Row::F64(x), Values::F64(values)) => dense_sums::<K, _, _>(x, values, out),
            (Row::F32(x), Values::F32(values)) => dense_sums::<K, _, _>(x, values, out),
            (Row::F64(x), Values::F32(values)) => dense_sums::<K, _, _>(x, values, out),
            (Row::F32(x), Values::F64(values)) => dense_sums::<K, _, _>(x, values, out),
            _ => {
                for (out, y) in out.iter_mut().zip(points.rows()) {
                    let mut sum = 0.0;
                    x.pairs(y, |x, y| sum += K::term(x, y));
                    *out = sum;
                }
            }
        }
        for value in out {
            *value = self.finish(*value);
        }
    }
}

/// Σ_k term(x_k, y_k) for all dense rows y, eight at a time.
fn dense_sums<K: SumKernel, X: Real, Y: Real>(x: &[X], values: &[Y], out: &mut [f64]) {
    const SIDE_BY_SIDE: usize = 8;
    let d = x.len();
    if d == 0 {
        return out.fill(0.0);
    }
    let full = out.len() / SIDE_BY_SIDE * SIDE_BY_SIDE;
    let (out, rest) = out.split_at_mut(full);
    let (values, rest_values) = values.split_at(full * d);
    for (out, block) in out.chunks_exact_mut(SIDE_BY_SIDE).zip(values.chunks_exact(SIDE_BY_SIDE * d)) {
        let rows: [&[Y]; SIDE_BY_SIDE] = std::array::from_fn(|i| &block[i * d..(i + 1) * d]);
        let mut sums = [0.0; SIDE_BY_SIDE];
        for (k, &x) in x.iter().enumerate() {
            let x = x.into();
            for (sum, row) in sums.iter_mut().zip(&rows) {
                *sum += K::term(x, row[k].into());
            }
        }
        out.copy_from_slice(&sums);
    }
    for (out, y) in rest.iter_mut().zip(rest_values.chunks_exact(d)) {
        *out = 0.0;
        x.iter().zip(y).for_each(|(&x, &y)| *out += K::term(x.into(), y.into()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::PointsBuf;
    use crate::kernel::{AnyKernel, gram};
    use crate::parallel::Run;
    use crate::rng::{Component, rng_of};

    const ALL: [AnyKernel; 5] = [
        AnyKernel::Gaussian(Gaussian { gamma: 0.7 }),
        AnyKernel::Laplacian(Laplacian { lambda: 0.3 }),
        AnyKernel::Polynomial(Polynomial { alpha: 0.5, offset: 1.0, degree: 3 }),
        AnyKernel::Chi2(Chi2 {}),
        AnyKernel::Intersection(Intersection {}),
    ];

    fn points(n: usize, d: usize, seed: u64) -> PointsBuf {
        let mut rng = rng_of(seed, Component::Synthetic, 0);
        let rows: Vec<Vec<f64>> =
            (0..n).map(|_| (0..d).map(|_| if rng.below(3) == 0 { 0.0 } else { rng.open01() }).collect()).collect();
        PointsBuf::from_rows(&rows).unwrap()
    }

    #[test]
    fn values_are_those_of_the_formulas() {
        let points = PointsBuf::from_rows(&[[1.0, 0.0, 3.0], [2.0, 0.0, 1.0]]).unwrap();
        let values = ALL.map(|kernel| kernel.value(points.row(0), points.row(1)));
        let expected = [(-0.7f64 * 5.0).exp(), (-0.3f64 * 3.0).exp(), 3.5f64.powi(3), 4.0 / 3.0 + 6.0 / 4.0, 2.0];
        assert_eq!(values, expected);
    }

    #[test]
    fn a_point_with_itself_gives_one_or_the_sum_of_its_values() {
        let points = points(1, 6, 1);
        let x = points.row(0);
        let total: f64 = x.nonzeros().map(|(_, value)| value).sum();
        let selves = ALL.map(|kernel| kernel.value(x, x));
        assert_eq!(&selves[..2], &[1.0, 1.0]);
        assert!((selves[3] - total).abs() < 1e-12 && (selves[4] - total).abs() < 1e-12);
    }

    #[test]
    fn laplacian_of_psi_is_a_power_of_psi() {
        let points = points(2, 5, 2);
        let (x, y) = (points.row(0), points.row(1));
        let power = 64f64.powf(-x.l1_distance(y) / 5.0);
        assert!((Laplacian::of_psi(64.0, 5).value(x, y) - power).abs() < 1e-12);
    }

    #[test]
    fn gram_matrices_have_no_negative_eigenvalue() {
        let points = points(24, 4, 3);
        for kernel in ALL {
            let values = gram(&kernel, points.as_points(), points.as_points(), Run::single()).unwrap();
            let matrix = faer::MatRef::from_row_major_slice(&values, 24, 24);
            let eigenvalues = matrix.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
            assert!(eigenvalues.iter().all(|&value| value > -1e-9), "{kernel:?}");
        }
    }

    #[test]
    fn negative_values_are_refused_with_their_place_by_additive_kernels_only() {
        let points = PointsBuf::from_rows(&[[0.0, 1.0], [0.5, -0.25]]).unwrap();
        let refused = ALL.map(|kernel| kernel.check_points(points.as_points()).is_err());
        assert_eq!(refused, [false, false, false, true, true]);
        let error = ALL[3].check_points(points.as_points()).unwrap_err();
        assert_eq!(error.to_string(), "row 2, column 2: -0.25 is negative, but the method needs values of at least 0");
    }

    #[test]
    fn parameters_survive_json() {
        for kernel in ALL {
            let text = serde_json::to_string(&kernel).unwrap();
            assert_eq!(serde_json::from_str::<AnyKernel>(&text).unwrap(), kernel);
        }
    }

    proptest! {
        #[test]
        fn batches_and_storage_change_no_bit(n in 1usize..21, d in 1usize..7, seed in 0u64..1000) {
            let dense = points(n, d, seed);
            let (mut single, mut sparse) = (PointsBuf::dense_f32(d), PointsBuf::sparse(d));
            dense.as_points().rows().for_each(|row| {
                single.push(row);
                sparse.push(row);
            });
            for kernel in ALL {
                let one_by_one: Vec<f64> =
                    dense.as_points().rows().map(|y| kernel.value(dense.row(0), y)).collect();
                let mut batch = vec![0.0; n];
                kernel.row_into(dense.row(0), dense.as_points(), &mut batch);
                prop_assert_eq!(&batch, &one_by_one);
                kernel.row_into(sparse.row(0), sparse.as_points(), &mut batch);
                prop_assert_eq!(&batch, &one_by_one);
                kernel.row_into(single.row(0), single.as_points(), &mut batch);
                let narrow: Vec<f64> = single.as_points().rows().map(|y| kernel.value(single.row(0), y)).collect();
                prop_assert_eq!(&batch, &narrow);
            }
        }
    }
}
