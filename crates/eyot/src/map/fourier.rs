//! Random Fourier features: cosines and sines of random projections, whose products approximate a shift-invariant
//! kernel. Good for smooth kernels on few dense columns; poor where the kernel must be narrow, since the error falls
//! only as 1/√D whatever the data are.
//!
//! z(x) = s·\[cos ω_dᵀx\] ⊕ s·\[sin ω_dᵀx\], d = 1..D, with ω ~ N(0, 2γI) for exp(−γ‖x−y‖²) and Cauchy(0, λ) in each
//! column for exp(−λ‖x−y‖₁). s = 1/√D makes z(x)·z(y) the kernel; the published rates of online learners are for
//! s = 1. Cost O(nnz·D) per point.
//!
//! The draws of a column come from a stream of its own, so the map needs no fixed number of columns: a column never
//! seen before has its frequencies already.
//!
//! # References
//! Reparameterized Random Features, §2, Eq. 5 and Lemma 1.

use serde::{Deserialize, Serialize};

use crate::data::Row;
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::rng::{Component, rng_of};

/// The law of one raw draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Standard normal: Gaussian kernel.
    Normal,
    /// Standard Cauchy: Laplacian kernel.
    Cauchy,
}

/// Draws e_{nd} kept at most; columns beyond are drawn anew at every use. 32 MiB of numbers.
const KEPT_DRAWS: usize = 1 << 22;

/// Most frequencies that a map may have.
pub const MAX_FREQUENCIES: usize = 1 << 20;

/// The raw draws e_{nd} of all columns n, for D frequencies.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    seed: u64,
    part: u32,
    n_frequencies: usize,
    law: Law,
    /// Draws of the first columns, column by column.
    kept: Vec<f64>,
}

impl Noise {
    /// `n_frequencies` draws per column from part `part` of a seed, those of the first `columns` kept in memory.
    pub fn new(seed: u64, part: u32, law: Law, n_frequencies: usize, columns: usize) -> Self {
        let mut noise = Self { seed, part, n_frequencies, law, kept: Vec::new() };
        let columns = columns.min(KEPT_DRAWS / n_frequencies.max(1));
        let mut kept = vec![0.0; columns * n_frequencies];
        if n_frequencies > 0 {
            kept.chunks_exact_mut(n_frequencies).enumerate().for_each(|(column, out)| noise.draw(column, out));
        }
        noise.kept = kept;
        noise
    }

    /// Replaces the draws of the first columns, for a law that ties columns together.
    pub(crate) fn with_kept(mut self, kept: Vec<f64>) -> Self {
        assert!(kept.len().is_multiple_of(self.n_frequencies), "whole columns");
        self.kept = kept;
        self
    }

    /// Number of frequencies, D.
    pub const fn n_frequencies(&self) -> usize {
        self.n_frequencies
    }

    /// The draws kept in memory, column by column.
    pub fn kept(&self) -> &[f64] {
        &self.kept
    }

    /// The draws of a column: kept ones, or drawn into `spare`.
    fn column<'a>(&'a self, column: usize, spare: &'a mut Vec<f64>) -> &'a [f64] {
        let d = self.n_frequencies;
        if (column + 1) * d <= self.kept.len() {
            return &self.kept[column * d..(column + 1) * d];
        }
        spare.resize(d, 0.0);
        self.draw(column, spare);
        spare
    }

    fn draw(&self, column: usize, out: &mut [f64]) {
        let mut rng = rng_of(self.seed, Component::Frequencies, (u64::from(self.part) << 40) | column as u64);
        for slot in out {
            *slot = match self.law {
                Law::Normal => rng.normal(),
                Law::Cauchy => (std::f64::consts::PI * (rng.open01() - 0.5)).tan(),
            };
        }
    }

    /// θ_d = Σ_n scale(n)·x_n·e_{nd}, columns ascending.
    pub fn project(&self, x: Row<'_>, scale: impl Fn(usize) -> f64, theta: &mut Vec<f64>, spare: &mut Vec<f64>) {
        theta.clear();
        theta.resize(self.n_frequencies, 0.0);
        for (column, value) in x.nonzeros() {
            let factor = scale(column) * value;
            let draws = self.column(column, spare);
            theta.iter_mut().zip(draws).for_each(|(theta, e)| *theta += factor * e);
        }
    }

    /// Calls `visit(n, x_n, Σ_d a_d e_{nd})` for every column n that is not 0.
    pub fn project_back(&self, x: Row<'_>, a: &[f64], spare: &mut Vec<f64>, mut visit: impl FnMut(usize, f64, f64)) {
        for (column, value) in x.nonzeros() {
            let sum = dot(a, self.column(column, spare));
            visit(column, value, sum);
        }
    }
}

/// Σ a_k·b_k in eight running sums, added up in a fixed order: the same on every machine, and wide enough to be fast.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = a8.remainder().iter().zip(b8.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a8.zip(b8) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f64>() + tail
}

/// Writes s·cos θ and s·sin θ, first all cosines.
pub(crate) fn cos_sin_into(theta: &[f64], s: f64, out: &mut Vec<f64>) {
    out.clear();
    out.resize(2 * theta.len(), 0.0);
    let (cosines, sines) = out.split_at_mut(theta.len());
    for ((theta, cos), sin) in theta.iter().zip(cosines).zip(sines) {
        let (sine, cosine) = theta.sin_cos();
        *cos = s * cosine;
        *sin = s * sine;
    }
}

/// The map x ↦ z(x).
#[derive(Debug, Clone, PartialEq)]
pub struct FourierMap {
    noise: Noise,
    /// ω = width · e.
    width: f64,
    s: f64,
}

impl FourierMap {
    /// Any draws, multiplied by `width`; features have length 1 if `normalised`, else √D.
    pub fn new(noise: Noise, width: f64, normalised: bool) -> Self {
        let s = if normalised { 1.0 / (noise.n_frequencies() as f64).sqrt() } else { 1.0 };
        Self { noise, width, s }
    }

    /// For exp(−γ‖x−y‖²) with D frequencies.
    pub fn gaussian(seed: u64, gamma: f64, n_frequencies: usize, columns: usize, normalised: bool) -> Self {
        Self::new(Noise::new(seed, 0, Law::Normal, n_frequencies, columns), (2.0 * gamma).sqrt(), normalised)
    }

    /// For exp(−λ‖x−y‖₁) with D frequencies.
    pub fn laplacian(seed: u64, lambda: f64, n_frequencies: usize, columns: usize, normalised: bool) -> Self {
        Self::new(Noise::new(seed, 0, Law::Cauchy, n_frequencies, columns), lambda, normalised)
    }

    /// Length of z(x): 2D.
    pub const fn n_features(&self) -> usize {
        2 * self.noise.n_frequencies()
    }

    /// The draws behind the map.
    pub const fn noise(&self) -> &Noise {
        &self.noise
    }

    /// z(x); `theta` and `spare` are room to work in.
    pub fn features_into(&self, x: Row<'_>, out: &mut Vec<f64>, theta: &mut Vec<f64>, spare: &mut Vec<f64>) {
        self.noise.project(x, |_| self.width, theta, spare);
        cos_sin_into(theta, self.s, out);
    }

    /// z(x) in a new vector.
    pub fn features(&self, x: Row<'_>) -> Vec<f64> {
        let mut out = Vec::new();
        self.features_into(x, &mut out, &mut Vec::new(), &mut Vec::new());
        out
    }
}

/// Independent draws are made again from the seed; those that were replaced are stored.
impl Persist for Noise {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        let columns = self.kept.len() / self.n_frequencies.max(1);
        let again = Self::new(self.seed, self.part, self.law, self.n_frequencies, columns) == *self;
        out.put_json(&format!("{prefix}.noise"), &(self.seed, self.part, self.law, self.n_frequencies, columns, again));
        if !again {
            out.put_f64(&format!("{prefix}.draws"), &self.kept);
        }
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let name = format!("{prefix}.noise");
        let (seed, part, law, n_frequencies, columns, again): (u64, u32, Law, usize, usize, bool) = from.json(&name)?;
        if n_frequencies == 0 || n_frequencies > MAX_FREQUENCIES {
            return Err(bad_part(&name, &format!("has {n_frequencies} frequencies")));
        }
        if again {
            return Ok(Self::new(seed, part, law, n_frequencies, columns));
        }
        let draws = format!("{prefix}.draws");
        let Some(len) = columns.checked_mul(n_frequencies) else { return Err(bad_part(&name, "is too large")) };
        let kept = from.finite_f64s(&draws, len)?;
        Ok(Self { seed, part, n_frequencies, law, kept })
    }
}

impl Persist for FourierMap {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.noise.save(out, prefix);
        out.put_json(&format!("{prefix}.width"), &(self.width, self.s));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let noise = Noise::load(from, prefix)?;
        let (width, s): (f64, f64) = from.json(&format!("{prefix}.width"))?;
        Ok(Self { noise, width, s })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;

    fn pair() -> PointsBuf {
        PointsBuf::from_rows(&[[0.3, -0.2, 0.0, 1.0], [0.1, 0.4, 0.0, 0.7]]).unwrap()
    }

    #[test]
    fn squared_length_is_the_scale_times_frequencies() {
        let points = pair();
        for (normalised, length) in [(true, 1.0), (false, 300.0)] {
            let z = FourierMap::gaussian(1, 0.5, 300, 4, normalised).features(points.row(0));
            assert!((dot(&z, &z) - length).abs() < 1e-9 * length);
        }
    }

    #[test]
    fn products_estimate_the_kernel() {
        let points = pair();
        let (x, y) = (points.row(0), points.row(1));
        for seed in 0..20 {
            let (gaussian, laplacian) =
                (FourierMap::gaussian(seed, 0.7, 2000, 4, true), FourierMap::laplacian(seed, 0.7, 2000, 4, true));
            let estimate = |map: &FourierMap| dot(&map.features(x), &map.features(y));
            // Lemma 1: off by more than 0.1 with probability below 1e-4; 4/√D is 0.089.
            assert!((estimate(&gaussian) - (-0.7 * x.squared_distance(y)).exp()).abs() < 0.1);
            assert!((estimate(&laplacian) - (-0.7 * x.l1_distance(y)).exp()).abs() < 0.1);
        }
    }

    #[test]
    fn the_estimate_is_unbiased_over_seeds() {
        let points = pair();
        let (x, y) = (points.row(0), points.row(1));
        let estimates = (0..400).map(|seed| {
            let map = FourierMap::gaussian(seed, 0.7, 50, 4, true);
            dot(&map.features(x), &map.features(y))
        });
        let mean = estimates.sum::<f64>() / 400.0;
        // The standard error of the mean is below 0.005.
        assert!((mean - (-0.7 * x.squared_distance(y)).exp()).abs() < 0.025, "{mean}");
    }

    #[test]
    fn kept_columns_and_storage_change_nothing() {
        let dense = pair();
        let mut sparse = PointsBuf::sparse(4);
        sparse.push(dense.row(0));
        let all = FourierMap::gaussian(3, 1.0, 16, 4, false).features(dense.row(0));
        for columns in [0, 2, 9] {
            let map = FourierMap::gaussian(3, 1.0, 16, columns, false);
            assert_eq!(map.features(sparse.row(0)), all);
        }
    }

    #[test]
    fn eight_sums_equal_one_sum_to_rounding() {
        let a: Vec<f64> = (0..101).map(|k| f64::from(k).sin()).collect();
        let plain: f64 = a.iter().map(|x| x * x).sum();
        assert!((dot(&a, &a) - plain).abs() < 1e-12);
    }
}
