//! Reparameterised random features: random Fourier features whose width in each column can be learned, because the
//! randomness e is fixed and only multiplied by σ_n = exp(γ_n).
//!
//! θ_d = Σ_n σ_n·e_{nd}·x_n, z(x) = s·\[cos θ_d\] ⊕ s·\[sin θ_d\], e ~ N(0, I). σ is the spectral standard deviation:
//! the kernel is exp(−½ Σ σ_n²(x_n − y_n)²). The paper's kernel line (variance) does not fit its own ω = diag(σ)e and
//! Algorithm 1, which we follow. For f = wᵀz the gradient is ∂f/∂γ_n = s·σ_n·x_n·Σ_d a_d·e_{nd} with
//! a_d = −w^cos_d·sin θ_d + w^sin_d·cos θ_d; Eq. 9 is elementwise in n. Cost O(nnz·D) per point, either way.
//!
//! # References
//! Reparameterized Random Features, §3.1, Eq. 5 and 9, Algorithm 1.

use super::fourier::{Law, Noise, cos_sin_into};
use crate::data::Row;
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};

/// Log-widths stay within ± this, so that exp never overflows.
pub const MAX_LOG_WIDTH: f64 = 15.0;

/// The map, with the log-widths γ_n of the columns seen so far.
#[derive(Debug, Clone, PartialEq)]
pub struct RrfMap {
    noise: Noise,
    start: f64,
    log_widths: Vec<f64>,
    s: f64,
}

impl RrfMap {
    /// D frequencies, every γ_n = `start`; features have length 1 if `normalised`, else √D.
    pub fn new(seed: u64, n_frequencies: usize, columns: usize, start: f64, normalised: bool) -> Self {
        let noise = Noise::new(seed, 0, Law::Normal, n_frequencies, columns);
        let s = if normalised { 1.0 / (n_frequencies as f64).sqrt() } else { 1.0 };
        Self { noise, start, log_widths: vec![start; columns], s }
    }

    /// Other log-widths than those that were learned.
    #[cfg(test)]
    pub(crate) fn set_log_widths(&mut self, log_widths: Vec<f64>) {
        self.log_widths = log_widths;
    }

    /// γ_n of the columns seen so far.
    pub fn log_widths(&self) -> &[f64] {
        &self.log_widths
    }

    /// Length of z(x): 2D.
    pub const fn n_features(&self) -> usize {
        2 * self.noise.n_frequencies()
    }

    fn log_width(&self, column: usize) -> f64 {
        self.log_widths.get(column).copied().unwrap_or(self.start)
    }

    /// z(x); `theta` and `spare` are room to work in.
    pub fn features_into(&self, x: Row<'_>, out: &mut Vec<f64>, theta: &mut Vec<f64>, spare: &mut Vec<f64>) {
        self.noise.project(x, |column| self.log_width(column).exp(), theta, spare);
        cos_sin_into(theta, self.s, out);
    }

    /// s·a_d of the weights `w` at the features `z` of a point.
    pub fn slopes_into(w: &[f64], z: &[f64], out: &mut Vec<f64>) {
        let d = w.len() / 2;
        let ((w_cos, w_sin), (cos, sin)) = (w.split_at(d), z.split_at(d));
        out.clear();
        out.extend((0..d).map(|k| w_sin[k] * cos[k] - w_cos[k] * sin[k]));
    }

    /// γ_n −= rate·∂f/∂γ_n for every column of x, given the slopes of f.
    pub fn descend(&mut self, x: Row<'_>, slopes: &[f64], rate: f64, spare: &mut Vec<f64>) {
        let (noise, widths, start) = (&self.noise, &mut self.log_widths, self.start);
        noise.project_back(x, slopes, spare, |column, value, sum| {
            if column >= widths.len() {
                widths.resize(column + 1, start);
            }
            let gamma = &mut widths[column];
            let moved = *gamma - rate * gamma.exp() * value * sum;
            if moved.is_finite() {
                *gamma = moved.clamp(-MAX_LOG_WIDTH, MAX_LOG_WIDTH);
            }
        });
    }
}

impl Persist for RrfMap {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.noise.save(out, prefix);
        out.put_json(&format!("{prefix}.widths"), &(self.start, self.s));
        out.put_f64(&format!("{prefix}.log_widths"), &self.log_widths);
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let noise = Noise::load(from, prefix)?;
        let (start, s): (f64, f64) = from.json(&format!("{prefix}.widths"))?;
        let name = format!("{prefix}.log_widths");
        let log_widths = from.f64s(&name)?;
        let within = |gamma: &f64| gamma.abs() <= MAX_LOG_WIDTH;
        if within(&start) && log_widths.iter().all(within) {
            return Ok(Self { noise, start, log_widths, s });
        }
        Err(bad_part(&name, "has a width out of range"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fourier::{FourierMap, dot};
    use super::*;
    use crate::data::PointsBuf;

    fn features(map: &RrfMap, x: Row<'_>) -> Vec<f64> {
        let mut z = Vec::new();
        map.features_into(x, &mut z, &mut Vec::new(), &mut Vec::new());
        z
    }

    #[test]
    fn equal_widths_give_fourier_features_of_the_same_noise() {
        let points = PointsBuf::from_rows(&[[0.4, -1.0, 0.2]]).unwrap();
        let rrf = RrfMap::new(4, 30, 3, 0.3, true);
        let fourier = FourierMap::new(Noise::new(4, 0, Law::Normal, 30, 3), 0.3f64.exp(), true);
        assert_eq!(features(&rrf, points.row(0)), fourier.features(points.row(0)));
    }

    #[test]
    fn the_gradient_agrees_with_finite_differences() {
        let points = PointsBuf::from_rows(&[[0.4, -1.0, 0.0, 0.7]]).unwrap();
        let x = points.row(0);
        let w: Vec<f64> = (0..40).map(|k| (f64::from(k) * 0.7).sin()).collect();
        let mut map = RrfMap::new(4, 20, 4, 0.0, false);
        map.set_log_widths(vec![0.1, -0.4, 0.3, 0.2]);
        let f = |map: &RrfMap| dot(&w, &features(map, x));
        let mut slopes = Vec::new();
        RrfMap::slopes_into(&w, &features(&map, x), &mut slopes);
        let mut moved = map.clone();
        moved.descend(x, &slopes, 1.0, &mut Vec::new());
        for column in 0..4 {
            let gradient = map.log_widths[column] - moved.log_widths[column];
            let at = |h: f64| {
                let mut shifted = map.clone();
                shifted.log_widths[column] += h;
                f(&shifted)
            };
            let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((gradient - numeric).abs() <= 1e-6 * numeric.abs().max(1.0), "{column}: {gradient} {numeric}");
        }
        assert_eq!(moved.log_widths[2], 0.3, "a column that is 0 never moves");
    }

    #[test]
    fn columns_never_seen_before_have_the_starting_width() {
        let mut wide = PointsBuf::sparse(9);
        wide.push(Row::F64(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 1.0]));
        let (narrow, full) = (RrfMap::new(4, 10, 2, 0.2, false), RrfMap::new(4, 10, 9, 0.2, false));
        assert_eq!(features(&narrow, wide.row(0)), features(&full, wide.row(0)));
    }
}
