//! All that a linear learner may ask of a feature vector: codes gather, dense and sparse rows multiply.

use super::points::{Row, SparseRow};

/// A feature vector that a linear learner can use without knowing how it is stored.
pub trait Features: Copy {
    /// ⟨w, x⟩, summed in ascending feature order.
    fn dot(self, weights: &[f64]) -> f64;
    /// w += scale · x.
    fn add_to(self, weights: &mut [f64], scale: f64);
    /// ⟨x, x⟩.
    fn squared_norm(self) -> f64;
}

impl Features for &[f64] {
    fn dot(self, weights: &[f64]) -> f64 {
        self.iter().zip(weights).map(|(x, w)| x * w).sum()
    }
    fn add_to(self, weights: &mut [f64], scale: f64) {
        weights.iter_mut().zip(self).for_each(|(w, x)| *w += scale * x);
    }
    fn squared_norm(self) -> f64 {
        self.iter().map(|x| x * x).sum()
    }
}

impl Features for &[f32] {
    fn dot(self, weights: &[f64]) -> f64 {
        self.iter().zip(weights).map(|(&x, w)| f64::from(x) * w).sum()
    }
    fn add_to(self, weights: &mut [f64], scale: f64) {
        weights.iter_mut().zip(self).for_each(|(w, &x)| *w += scale * f64::from(x));
    }
    fn squared_norm(self) -> f64 {
        self.iter().map(|&x| f64::from(x) * f64::from(x)).sum()
    }
}

impl Features for SparseRow<'_> {
    fn dot(self, weights: &[f64]) -> f64 {
        self.columns.iter().zip(self.values).map(|(&column, x)| x * weights[column as usize]).sum()
    }
    fn add_to(self, weights: &mut [f64], scale: f64) {
        self.columns.iter().zip(self.values).for_each(|(&column, x)| weights[column as usize] += scale * x);
    }
    fn squared_norm(self) -> f64 {
        self.values.iter().map(|x| x * x).sum()
    }
}

impl Features for Row<'_> {
    fn dot(self, weights: &[f64]) -> f64 {
        match self {
            Self::F32(values) => Features::dot(values, weights),
            Self::F64(values) => Features::dot(values, weights),
            Self::Sparse(row) => row.dot(weights),
        }
    }
    fn add_to(self, weights: &mut [f64], scale: f64) {
        match self {
            Self::F32(values) => values.add_to(weights, scale),
            Self::F64(values) => values.add_to(weights, scale),
            Self::Sparse(row) => row.add_to(weights, scale),
        }
    }
    fn squared_norm(self) -> f64 {
        Row::squared_norm(self)
    }
}
