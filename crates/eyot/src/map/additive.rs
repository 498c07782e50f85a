//! Additive-kernel feature map: a few features per column whose product approximates the χ² or intersection kernel, so
//! that a linear SVM can take the kernel's place (paper 1 Table 8).
//!
//! A value x > 0 becomes 2b + 1 features, sampled from the kernel's spectrum κ with period L:
//! √(x·L·κ(0)), then √(2x·L·κ(jL))·cos(jL·ln x) and the same with sin for j = 1..b; x = 0 becomes zeros, so sparse rows
//! stay sparse. χ²: κ(ω) = sech(πω); intersection: κ(ω) = (2/π)/(1 + 4ω²). With b = 0, paper 1's choice, χ² becomes
//! √(0.8x): one feature per column, a scaled Hellinger kernel.
//! Good for histograms; needs values of at least 0.
//!
//! Time and memory O(non-zeros · (2b + 1)).
//!
//! # References
//! Vedaldi and Zisserman, "Efficient additive kernels via explicit feature maps", 2012; paper 1 §8.4.

use serde::{Deserialize, Serialize};

use crate::data::{Points, PointsBuf, Row, SparseRow};
use crate::error::Result;
use crate::kernel::check_not_negative;
use crate::params::{Checked, in_range, positive};

/// Kernels that are sums over columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdditiveKernel {
    /// Σ 2xy/(x + y).
    #[default]
    Chi2,
    /// Σ min(x, y).
    Intersection,
}

impl AdditiveKernel {
    fn spectrum(self, frequency: f64) -> f64 {
        use std::f64::consts::{FRAC_2_PI, PI};
        match self {
            Self::Chi2 => 1.0 / (PI * frequency).cosh(),
            Self::Intersection => FRAC_2_PI / (1.0 + 4.0 * frequency * frequency),
        }
    }

    /// The period that suits an order; from b = 2 on that of b = 2.
    fn period(self, order: usize) -> f64 {
        match self {
            Self::Chi2 => [0.8, 0.5, 0.4][order.min(2)],
            Self::Intersection => [1.2, 0.8, 0.7][order.min(2)],
        }
    }
}

/// Parameters of the map, which needs no fitting.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdditiveMapParams {
    kernel: AdditiveKernel,
    order: usize,
    period: Option<f64>,
}

impl AdditiveMapParams {
    /// Which kernel; χ² by default.
    #[must_use]
    pub fn kernel(mut self, kernel: AdditiveKernel) -> Self {
        self.kernel = kernel;
        self
    }

    /// b: 2b + 1 features per column, up to b = 100; 0 by default.
    #[must_use]
    pub fn order(mut self, order: usize) -> Self {
        self.order = order;
        self
    }

    /// The sampling period L, above 0; chosen by the order by default.
    #[must_use]
    pub fn period(mut self, period: Option<f64>) -> Self {
        self.period = period;
        self
    }

    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        in_range("order", self.order, 0..=100)?;
        self.period.map_or(Ok(()), |period| positive("period", period))?;
        Ok(Checked::new(self))
    }
}

impl Checked<AdditiveMapParams> {
    /// Features per column, 2b + 1.
    pub fn features_per_column(&self) -> usize {
        2 * self.order + 1
    }

    /// The features of all rows, in the storage of the points (dense `f32` becomes `f64`). Values below 0 are refused.
    pub fn encode(&self, points: Points<'_>) -> Result<PointsBuf> {
        check_not_negative(points)?;
        let per_column = self.features_per_column();
        let period = self.period.unwrap_or_else(|| self.kernel.period(self.order));
        let amplitudes: Vec<f64> = (0..=self.order)
            .map(|j| {
                let double = if j == 0 { 1.0 } else { 2.0 };
                (double * period * self.kernel.spectrum(j as f64 * period)).sqrt()
            })
            .collect();
        let width = points.n_columns() * per_column;
        let mut features = if points.is_sparse() { PointsBuf::sparse(width) } else { PointsBuf::dense(width) };
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for row in points.rows() {
            columns.clear();
            values.clear();
            for (column, value) in row.nonzeros() {
                let (root, phase) = (value.sqrt(), period * value.ln());
                columns.extend((column * per_column..(column + 1) * per_column).map(|feature| feature as u32));
                values.push(root * amplitudes[0]);
                for (j, amplitude) in amplitudes.iter().enumerate().skip(1) {
                    let (sin, cos) = (j as f64 * phase).sin_cos();
                    values.push(root * amplitude * cos);
                    values.push(root * amplitude * sin);
                }
            }
            push(&mut features, points.is_sparse(), &columns, &values);
        }
        Ok(features)
    }
}

/// Appends a row given by its entries, some of which may be 0 after rounding.
fn push(features: &mut PointsBuf, sparse: bool, columns: &[u32], values: &[f64]) {
    if sparse {
        let kept = || columns.iter().zip(values).filter(|(_, value)| **value != 0.0);
        let (columns, values): (Vec<u32>, Vec<f64>) = kept().map(|(&column, &value)| (column, value)).unzip();
        features.push(Row::Sparse(SparseRow { columns: &columns, values: &values }));
    } else {
        let mut dense = vec![0.0; features.n_columns()];
        columns.iter().zip(values).for_each(|(&column, &value)| dense[column as usize] = value);
        features.push(Row::F64(&dense));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Chi2, Kernel};

    fn encoded(rows: &[[f64; 2]], order: usize) -> PointsBuf {
        let points = PointsBuf::from_rows(rows).unwrap();
        AdditiveMapParams::default().order(order).check().unwrap().encode(points.as_points()).unwrap()
    }

    #[test]
    fn order_zero_is_a_scaled_root() {
        let features = encoded(&[[0.3, 2.0], [1.2, 0.5]], 0);
        let product = features.row(0).dot(features.row(1));
        assert!((product - 0.8 * (0.36f64.sqrt() + 1.0)).abs() < 1e-12);
    }

    #[test]
    fn the_error_falls_with_the_order() {
        for (order, most) in [(0, 0.21), (1, 0.11), (2, 0.06)] {
            for ratio in [0.25, 0.4, 0.7, 1.0, 1.9, 3.0, 4.0] {
                let rows = [[ratio * 0.37, 0.0], [0.37, 0.0]];
                let features = encoded(&rows, order);
                let points = PointsBuf::from_rows(&rows).unwrap();
                let exact = Chi2 {}.value(points.row(0), points.row(1));
                let error = (features.row(0).dot(features.row(1)) - exact).abs() / exact;
                assert!(error <= most, "order {order}, ratio {ratio}: {error}");
            }
        }
    }

    #[test]
    fn a_factor_of_the_row_is_a_factor_of_the_squared_norm() {
        let features = encoded(&[[0.3, 2.0], [0.9, 6.0]], 2);
        assert!((3.0 * features.row(0).squared_norm() - features.row(1).squared_norm()).abs() < 1e-12);
    }

    #[test]
    fn sparse_rows_stay_sparse_and_equal_dense_ones() {
        let dense = PointsBuf::from_rows(&[[0.0, 2.0, 1.0], [0.5, 0.0, 0.0]]).unwrap();
        let mut sparse = PointsBuf::sparse(3);
        dense.as_points().rows().for_each(|row| sparse.push(row));
        for kernel in [AdditiveKernel::Chi2, AdditiveKernel::Intersection] {
            let map = AdditiveMapParams::default().kernel(kernel).order(1).check().unwrap();
            let (a, b) = (map.encode(dense.as_points()).unwrap(), map.encode(sparse.as_points()).unwrap());
            assert!(b.as_points().is_sparse());
            for row in 0..2 {
                assert!(a.row(row).nonzeros().eq(b.row(row).nonzeros()));
            }
        }
    }

    #[test]
    fn negative_values_are_refused() {
        let points = PointsBuf::from_rows(&[[0.1, -0.1]]).unwrap();
        assert!(AdditiveMapParams::default().check().unwrap().encode(points.as_points()).is_err());
    }
}
