//! What a kernel solver leaves behind: sums Σ c_k κ(x_k, x) − ρ over the training rows that matter.

use serde::{Deserialize, Serialize};

use super::smo::Optimum;
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};

/// Sums over training rows, all over the same rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Expansion {
    rows: Vec<u32>,
    /// Sum by sum, one per row.
    coefficients: Vec<f64>,
    /// ρ of each sum.
    rhos: Vec<f64>,
}

impl Expansion {
    /// From coefficients of all `n` training rows and ρ, one pair per sum; rows that no sum uses are left out.
    pub(super) fn new(n: usize, sums: Vec<(Vec<f64>, f64)>) -> Self {
        let rows: Vec<u32> =
            (0..n as u32).filter(|&row| sums.iter().any(|(sum, _)| sum[row as usize] != 0.0)).collect();
        let pick = |sum: &[f64]| rows.iter().map(|&row| sum[row as usize]).collect::<Vec<_>>();
        let coefficients = sums.iter().flat_map(|(sum, _)| pick(sum)).collect();
        let rhos = sums.into_iter().map(|(_, rho)| rho).collect();
        Self { rows, coefficients, rhos }
    }

    /// The training rows in use, ascending.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// How many sums there are.
    pub const fn n_sums(&self) -> usize {
        self.rhos.len()
    }

    /// The coefficients of one sum, one per row in use.
    pub fn coefficients(&self, sum: usize) -> &[f64] {
        &self.coefficients[sum * self.rows.len()..(sum + 1) * self.rows.len()]
    }

    /// ρ of one sum.
    pub fn rho(&self, sum: usize) -> f64 {
        self.rhos[sum]
    }

    /// The sums from κ(x, x_k) for the rows in use.
    ///
    /// # Panics
    /// If the lengths do not fit.
    pub fn values_into(&self, kernel_values: &[f64], out: &mut [f64]) {
        assert_eq!(kernel_values.len(), self.rows.len(), "one kernel value per row in use");
        assert_eq!(out.len(), self.n_sums(), "one place per sum");
        for (sum, out) in out.iter_mut().enumerate() {
            let products = self.coefficients(sum).iter().zip(kernel_values).map(|(c, k)| c * k);
            *out = products.sum::<f64>() - self.rhos[sum];
        }
    }
}

impl Persist for Expansion {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_u32(&format!("{prefix}.rows"), &self.rows);
        out.put_f64(&format!("{prefix}.coefficients"), &self.coefficients);
        out.put_f64(&format!("{prefix}.rhos"), &self.rhos);
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let rows = from.u32s(&format!("{prefix}.rows"))?;
        if !rows.is_sorted_by(|a, b| a < b) {
            return Err(bad_part(&format!("{prefix}.rows"), "does not ascend"));
        }
        let name = format!("{prefix}.rhos");
        let rhos = from.f64s(&name)?;
        if rhos.iter().any(|rho| !rho.is_finite()) {
            return Err(bad_part(&name, "has a value that is not a finite number"));
        }
        let name = format!("{prefix}.coefficients");
        let len = rows.len().checked_mul(rhos.len()).ok_or_else(|| bad_part(&name, "is too large"))?;
        Ok(Self { coefficients: from.finite_f64s(&name, len)?, rows, rhos })
    }
}

/// How a kernel problem was solved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelReport {
    /// Steps taken.
    pub steps: usize,
    /// Whether the stop rule was met.
    pub converged: bool,
    /// The dual objective that was minimised.
    pub objective: f64,
    /// Variables above 0.
    pub support: usize,
}

impl KernelReport {
    pub(super) fn of(optimum: &Optimum) -> Self {
        let support = optimum.alphas.iter().filter(|&&alpha| alpha > 0.0).count();
        Self { steps: optimum.steps, converged: optimum.converged, objective: optimum.objective, support }
    }
}
