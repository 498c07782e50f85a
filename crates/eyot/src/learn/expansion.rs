//! A sum of kernels over kept points: f_k(x) = Σ_i β_ik κ(x_i, x). Points stand in order of arrival, so the oldest
//! is the first, and removing one keeps the order.

use super::{Scratch, Step, widen_coefficients};
use crate::data::{PointsBuf, Row};
use crate::error::Result;
use crate::kernel::{AnyKernel, Kernel};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};

/// Kept points with one coefficient per score.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expansion {
    kernel: AnyKernel,
    points: PointsBuf,
    n_scores: usize,
    coefficients: Vec<f64>,
}

impl Expansion {
    /// Nothing kept yet; rows will be `columns` wide, and are kept sparse if `sparse`.
    pub(crate) fn new(kernel: AnyKernel, columns: usize, sparse: bool) -> Self {
        let points = if sparse { PointsBuf::sparse(columns) } else { PointsBuf::dense(columns) };
        Self { kernel, points, n_scores: 1, coefficients: Vec::new() }
    }

    /// Whether it has that many scores and at most `budget` points.
    pub(crate) const fn fits(&self, n_scores: usize, budget: usize) -> bool {
        self.n_scores == n_scores && self.len() <= budget
    }

    pub(crate) const fn len(&self) -> usize {
        self.points.n_rows()
    }

    pub(crate) const fn kernel(&self) -> &AnyKernel {
        &self.kernel
    }

    pub(crate) const fn points(&self) -> &PointsBuf {
        &self.points
    }

    pub(crate) fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    pub(crate) fn beta(&self, i: usize) -> &[f64] {
        &self.coefficients[i * self.n_scores..(i + 1) * self.n_scores]
    }

    pub(crate) fn beta_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.coefficients[i * self.n_scores..(i + 1) * self.n_scores]
    }

    /// Writes κ(x, x_i) and the scores.
    pub(crate) fn score(&self, x: Row<'_>, at: &mut Scratch) {
        at.kernel.resize(self.len(), 0.0);
        self.kernel.row_into(x, self.points.as_points(), &mut at.kernel);
        at.scores.clear();
        at.scores.resize(self.n_scores, 0.0);
        for (beta, k) in self.coefficients.chunks_exact(self.n_scores).zip(&at.kernel) {
            at.scores.iter_mut().zip(beta).for_each(|(score, beta)| *score += beta * k);
        }
    }

    /// Keeps a point with the coefficients rate·step.
    pub(crate) fn add(&mut self, x: Row<'_>, step: Step, rate: f64) {
        let start = self.coefficients.len();
        self.coefficients.resize(start + self.n_scores, 0.0);
        step.add_to(&mut self.coefficients[start..], rate);
        self.points.push(x);
    }

    /// Keeps a point with the coefficients given.
    pub(crate) fn add_beta(&mut self, x: Row<'_>, beta: &[f64]) {
        self.coefficients.extend_from_slice(beta);
        self.points.push(x);
    }

    /// Forgets kept point `i`; those after it move up.
    pub(crate) fn remove(&mut self, i: usize) {
        self.points.remove(i);
        self.coefficients.drain(i * self.n_scores..(i + 1) * self.n_scores);
    }

    /// β ← factor·β for all.
    pub(crate) fn shrink(&mut self, factor: f64) {
        if factor != 1.0 {
            self.coefficients.iter_mut().for_each(|beta| *beta *= factor);
        }
    }

    pub(crate) fn widen(&mut self, n_scores: usize) {
        widen_coefficients(&mut self.coefficients, self.n_scores, n_scores);
        self.n_scores = n_scores;
    }
}

impl Persist for Expansion {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.kernel"), &(self.kernel, self.n_scores));
        out.put_f64(&format!("{prefix}.coefficients"), &self.coefficients);
        self.points.save(out, &format!("{prefix}.kept"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let (kernel, n_scores): (AnyKernel, usize) = from.json(&format!("{prefix}.kernel"))?;
        kernel.check().map_err(|error| bad_part(prefix, &error.to_string()))?;
        let points = PointsBuf::load(from, &format!("{prefix}.kept"))?;
        let coefficients = from.f64s(&format!("{prefix}.coefficients"))?;
        let whole = n_scores > 0 && points.n_rows().checked_mul(n_scores) == Some(coefficients.len());
        if whole && coefficients.iter().all(|beta| beta.is_finite()) {
            return Ok(Self { kernel, points, n_scores, coefficients });
        }
        Err(bad_part(prefix, "has coefficients that do not fit its points"))
    }
}
