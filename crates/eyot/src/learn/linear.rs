//! Weights on dense features, one row per score.

use super::{Scratch, Step};
use crate::error::Result;
use crate::map::dot;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};

/// f_k(z) = w_k·z.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Linear {
    width: usize,
    weights: Vec<f64>,
}

impl Linear {
    pub(crate) fn new(width: usize, n_scores: usize) -> Self {
        Self { width, weights: vec![0.0; width * n_scores] }
    }

    pub(crate) fn from_weights(width: usize, weights: Vec<f64>) -> Self {
        Self { width, weights }
    }

    /// Whether there is one row of `width` weights per score.
    pub(crate) fn fits(&self, width: usize, n_scores: usize) -> bool {
        self.width == width && self.weights.len() == width * n_scores
    }

    pub(crate) fn row(&self, k: usize) -> &[f64] {
        &self.weights[k * self.width..(k + 1) * self.width]
    }

    /// Adds w_k·z to every score, which must be as many as rows.
    pub(crate) fn add_scores(&self, z: &[f64], scores: &mut [f64]) {
        scores.iter_mut().zip(self.weights.chunks_exact(self.width)).for_each(|(score, w)| *score += dot(w, z));
    }

    /// Writes w_k·z into the scores, z being the features in `at` or those given.
    pub(crate) fn score(&self, z: Option<&[f64]>, at: &mut Scratch) {
        let z = z.unwrap_or(&at.features);
        at.scores.clear();
        at.scores.extend(self.weights.chunks_exact(self.width).map(|w| dot(w, z)));
    }

    /// w += rate·step·z.
    pub(crate) fn add(&mut self, z: &[f64], step: Step, rate: f64) {
        let width = self.width;
        let mut add = |k: usize, scale: f64| {
            let row = &mut self.weights[k * width..(k + 1) * width];
            row.iter_mut().zip(z).for_each(|(w, z)| *w += scale * z);
        };
        add(step.up, rate * step.amount);
        if let Some(down) = step.down {
            add(down, -rate * step.amount);
        }
    }

    pub(crate) fn shrink(&mut self, factor: f64) {
        if factor != 1.0 {
            self.weights.iter_mut().for_each(|w| *w *= factor);
        }
    }

    /// Grows to one row per score; see [`super::widen_coefficients`].
    pub(crate) fn widen(&mut self, n_scores: usize) {
        if self.weights.len() == self.width {
            let half: Vec<f64> = self.weights.iter().map(|w| 0.5 * w).collect();
            self.weights.iter_mut().for_each(|w| *w *= -0.5);
            self.weights.extend(half);
        }
        self.weights.resize(self.width * n_scores, 0.0);
    }
}

impl Persist for Linear {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.width"), &self.width);
        out.put_f64(&format!("{prefix}.weights"), &self.weights);
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let width: usize = from.json(&format!("{prefix}.width"))?;
        let weights = from.f64s(&format!("{prefix}.weights"))?;
        let whole = if width == 0 { weights.is_empty() } else { weights.len() % width == 0 };
        if whole && weights.iter().all(|w| w.is_finite()) {
            return Ok(Self { width, weights });
        }
        Err(bad_part(prefix, "has weights that do not fit its width"))
    }
}
