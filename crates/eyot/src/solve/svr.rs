//! Kernel regression with an insensitive tube (ε-SVR): errors up to the tube's half width cost nothing.
//!
//! min ½‖w‖² + C Σ (ξ_i + ξ*_i) with |z_i − f(x_i)| ≤ tube + ξ; two dual variables per point, on the core of `smo`.
//! Time and memory as the kernel SVM with twice the variables and the same kernel rows.
//!
//! # References
//! Chang and Lin, "LIBSVM: a library for support vector machines", 2011, §2.4.

use serde::{Deserialize, Serialize};

use super::matrix::KernelMatrix;
use super::smo::{Limits, Problem, solve};
use super::{Expansion, KernelReport};
use crate::error::{ColumnRef, Error, Result};
use crate::parallel::Run;
use crate::params::{Checked, not_negative, positive};

/// Parameters of ε-SVR.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SvrParams {
    c: f64,
    tube: f64,
    epsilon: f64,
    cache_bytes: usize,
}

impl Default for SvrParams {
    fn default() -> Self {
        Self { c: 1.0, tube: 0.1, epsilon: 1e-3, cache_bytes: 256 << 20 }
    }
}

impl SvrParams {
    /// The price C of an error beyond the tube, above 0; 1 by default.
    #[must_use]
    pub fn c(mut self, c: f64) -> Self {
        self.c = c;
        self
    }

    /// Half the width of the tube, at least 0; 0.1 by default.
    #[must_use]
    pub fn tube(mut self, tube: f64) -> Self {
        self.tube = tube;
        self
    }

    /// Largest violation of optimality at the end, above 0; 0.001 by default.
    #[must_use]
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// Memory for kernel rows; 256 MiB by default.
    #[must_use]
    pub fn cache_bytes(mut self, cache_bytes: usize) -> Self {
        self.cache_bytes = cache_bytes;
        self
    }

    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        positive("c", self.c)?;
        not_negative("tube", self.tube)?;
        positive("epsilon", self.epsilon)?;
        Ok(Checked::new(self))
    }
}

impl Checked<SvrParams> {
    /// Learns targets from a kernel matrix. The prediction is the one sum of the expansion.
    pub fn fit<M: KernelMatrix>(&self, matrix: &M, targets: &[f64], run: Run<'_>) -> Result<(Expansion, KernelReport)> {
        let n = matrix.n();
        if n == 0 {
            return Err(Error::Empty);
        }
        if targets.len() != n {
            return Err(Error::Shape { what: "targets", expected: n, got: targets.len() });
        }
        if let Some(row) = targets.iter().position(|target| !target.is_finite()) {
            let column = ColumnRef::Name("target".into());
            return Err(Error::NotFinite { row, column, value: targets[row] });
        }
        // The first n variables push the prediction up, the others down.
        let up = targets.iter().map(|target| self.tube - target);
        let down = targets.iter().map(|target| self.tube + target);
        let problem = Problem {
            signs: [vec![1.0; n], vec![-1.0; n]].concat(),
            uppers: vec![self.c; 2 * n],
            linear: up.chain(down).collect(),
            start: vec![0.0; 2 * n],
            bias: true,
        };
        let optimum = solve(matrix, &problem, Limits::new(self.epsilon, 2 * n, self.cache_bytes), run)?;
        let coefficients = (0..n).map(|i| optimum.alphas[i] - optimum.alphas[n + i]).collect();
        Ok((Expansion::new(n, vec![(coefficients, optimum.rho)]), KernelReport::of(&optimum)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;
    use crate::kernel::Gaussian;
    use crate::solve::matrix::PointsMatrix;

    #[test]
    fn a_sine_is_followed_within_the_tube() {
        let rows: Vec<[f64; 1]> = (0..60).map(|i| [f64::from(i) / 10.0]).collect();
        let targets: Vec<f64> = rows.iter().map(|row| row[0].sin()).collect();
        let points = PointsBuf::from_rows(&rows).unwrap();
        let matrix = PointsMatrix { kernel: Gaussian { gamma: 1.0 }, points: points.as_points() };
        let params = SvrParams::default().c(100.0).tube(0.05).check().unwrap();
        let (expansion, report) = params.fit(&matrix, &targets, Run::single()).unwrap();
        assert!(report.converged && expansion.rows().len() < 40);
        for (i, target) in targets.iter().enumerate() {
            let (mut values, mut value) = (vec![0.0; expansion.rows().len()], [0.0]);
            matrix.entries_into(i, expansion.rows(), &mut values);
            expansion.values_into(&values, &mut value);
            assert!((value[0] - target).abs() < 0.05 + 2e-3, "{} {target}", value[0]);
        }
    }

    #[test]
    fn a_constant_target_needs_no_row() {
        let points = PointsBuf::from_rows(&[[0.0], [1.0], [2.0]]).unwrap();
        let matrix = PointsMatrix { kernel: Gaussian { gamma: 1.0 }, points: points.as_points() };
        let (expansion, _) = SvrParams::default().check().unwrap().fit(&matrix, &[7.0; 3], Run::single()).unwrap();
        let mut value = [0.0];
        expansion.values_into(&[], &mut value);
        assert!((value[0] - 7.0).abs() <= 0.1 + 1e-9);
    }
}
