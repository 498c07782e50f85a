//! Orthogonal random features: random frequencies whose directions are orthogonal within blocks of N, with lengths
//! as independent normal vectors have. The estimate of the Gaussian kernel stays unbiased and its variance falls below
//! that of independent draws. Cost O(N³) per block once, hence only for up to 4096 columns; wider data get independent
//! draws.
//!
//! Rows of a block: Q·diag(sign R_ii) from the QR factors of an N×N normal matrix (uniform over rotations), row k times
//! ‖g_k‖, g_k ~ N(0, I_N).
//!
//! # References
//! Used by AdaRaker, a competitor in Isolation Kernel for online kernel learning, §7. Its code scales rows by |N(0,1)|
//! instead of ‖g_k‖, another spectral law: [`RowLength::AbsNormal`].

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::fourier::{Law, Noise};
use crate::rng::{Component, rng_of};

/// Columns above which QR would cost too much and draws are independent.
pub const MAX_ORTHOGONAL_COLUMNS: usize = 4096;

/// How long the rows of an orthogonal block are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowLength {
    /// As vectors of N normal draws: χ with N degrees of freedom.
    #[default]
    Chi,
    /// As one normal draw, what the AdaRaker code has.
    AbsNormal,
}

/// Draws of `n_frequencies` frequencies over `columns` columns, orthogonal within blocks; independent ones if there
/// are more than [`MAX_ORTHOGONAL_COLUMNS`] columns (or none).
pub fn orthogonal_noise(seed: u64, part: u32, n_frequencies: usize, columns: usize, length: RowLength) -> Noise {
    let independent = Noise::new(seed, part, Law::Normal, n_frequencies, columns);
    if columns == 0 || columns > MAX_ORTHOGONAL_COLUMNS {
        return independent;
    }
    let mut kept = vec![0.0; columns * n_frequencies];
    for (block, first) in (0..n_frequencies).step_by(columns).enumerate() {
        // The upper half of the stream numbers belongs to blocks, the lower to columns.
        let mut rng = rng_of(seed, Component::Frequencies, (1 << 63) | (u64::from(part) << 40) | block as u64);
        let normals = Mat::from_fn(columns, columns, |_, _| rng.normal());
        let qr = normals.qr();
        let (q, r) = (qr.compute_Q(), qr.R());
        for row in 0..columns.min(n_frequencies - first) {
            let length = match length {
                RowLength::Chi => (0..columns).map(|_| rng.normal().powi(2)).sum::<f64>().sqrt(),
                RowLength::AbsNormal => rng.normal().abs(),
            };
            for column in 0..columns {
                let sign = if r[(column, column)] < 0.0 { -1.0 } else { 1.0 };
                kept[column * n_frequencies + first + row] = length * sign * q[(row, column)];
            }
        }
    }
    independent.with_kept(kept)
}

#[cfg(test)]
mod tests {
    use super::super::fourier::{FourierMap, dot};
    use super::*;
    use crate::data::PointsBuf;

    fn frequency(noise: &Noise, d: usize, columns: usize) -> Vec<f64> {
        (0..columns).map(|column| noise.kept()[column * noise.n_frequencies() + d]).collect()
    }

    #[test]
    fn rows_of_a_block_are_orthogonal() {
        let noise = orthogonal_noise(5, 0, 10, 6, RowLength::Chi);
        for a in 0..10 {
            for b in 0..a {
                let product = dot(&frequency(&noise, a, 6), &frequency(&noise, b, 6));
                assert!(a / 6 != b / 6 || product.abs() < 1e-10, "{a} {b} {product}");
            }
        }
    }

    #[test]
    fn the_estimate_is_unbiased_and_varies_less_than_with_independent_draws() {
        let points = PointsBuf::from_rows(&[[0.0; 8], [1.2 / 8f64.sqrt(); 8]]).unwrap();
        let (x, y) = (points.row(0), points.row(1));
        let spread = |noise: &dyn Fn(u64) -> Noise| {
            let draws: Vec<f64> = (0..3000)
                .map(|seed| {
                    let map = FourierMap::new(noise(seed), 1.0, true);
                    dot(&map.features(x), &map.features(y))
                })
                .collect();
            let mean = draws.iter().sum::<f64>() / 3000.0;
            (mean, draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / 3000.0)
        };
        let (mean, variance) = spread(&|seed| orthogonal_noise(seed, 0, 8, 8, RowLength::Chi));
        let (_, independent) = spread(&|seed| Noise::new(seed, 0, Law::Normal, 8, 8));
        assert!((mean - (-0.72f64).exp()).abs() < 0.01, "{mean}");
        // Between a quarter and a half in theory; 3000 draws give each variance to within about 8 %.
        assert!((0.2..0.6).contains(&(variance / independent)), "{variance} {independent}");
    }

    #[test]
    fn wide_data_get_independent_draws() {
        let wide = MAX_ORTHOGONAL_COLUMNS + 1;
        assert_eq!(orthogonal_noise(1, 0, 2, wide, RowLength::Chi), Noise::new(1, 0, Law::Normal, 2, wide));
    }
}
