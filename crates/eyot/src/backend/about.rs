//! Squared distances in whatever order is fastest, for where hardly ever the last digits decide.
#![expect(unsafe_code, reason = "calls for a feature that was detected just before")]

use crate::data::{Real, Row};

/// Sums that do not wait for each other.
const SUMS: usize = 32;

/// Σ(x_k − y_k)², with d columns at most (2d + 8)·2⁻⁵² of itself from the sum in any other order. `None` for sparse rows.
pub(crate) fn squared_distance_about(x: Row<'_>, y: Row<'_>) -> Option<f64> {
    match (x, y) {
        (Row::F64(x), Row::F64(y)) => Some(sum_of_squares(x, y)),
        (Row::F32(x), Row::F32(y)) => Some(sum_of_squares(x, y)),
        (Row::F32(x), Row::F64(y)) => Some(sum_of_squares(x, y)),
        (Row::F64(x), Row::F32(y)) => Some(sum_of_squares(x, y)),
        _ => None,
    }
}

fn sum_of_squares<F: Real, G: Real>(x: &[F], y: &[G]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        fn avx512<F: Real, G: Real>(x: &[F], y: &[G]) -> f64 {
            plain(x, y)
        }
        #[target_feature(enable = "avx2")]
        fn avx2<F: Real, G: Real>(x: &[F], y: &[G]) -> f64 {
            plain(x, y)
        }
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the feature was detected just now.
            return unsafe { avx512(x, y) };
        } else if is_x86_feature_detected!("avx2") {
            // SAFETY: the feature was detected just now.
            return unsafe { avx2(x, y) };
        }
    }
    plain(x, y)
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the processor of the caller")]
fn plain<F: Real, G: Real>(x: &[F], y: &[G]) -> f64 {
    let ((x_chunks, x_rest), (y_chunks, y_rest)) = (x.as_chunks::<SUMS>(), y.as_chunks::<SUMS>());
    let mut sums = [0.0; SUMS];
    for (x, y) in x_chunks.iter().zip(y_chunks) {
        for k in 0..SUMS {
            let (x, y): (f64, f64) = (x[k].into(), y[k].into());
            sums[k] += (x - y) * (x - y);
        }
    }
    let mut rest = 0.0;
    for (&x, &y) in x_rest.iter().zip(y_rest) {
        let (x, y): (f64, f64) = (x.into(), y.into());
        rest += (x - y) * (x - y);
    }
    rest + sums.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_order_is_within_its_bound() {
        for d in [0, 1, 31, 32, 33, 784] {
            let x: Vec<f64> = (0..d).map(|k| (f64::from(k) * 0.7).sin() * 1e3).collect();
            let y: Vec<f32> = (0..d).map(|k| (k as f32 * 0.3).cos()).collect();
            let exact: f64 = x.iter().zip(&y).map(|(x, &y)| (x - f64::from(y)).powi(2)).sum();
            let off = f64::from(2 * d + 8) * f64::EPSILON * exact;
            assert!((sum_of_squares(&x, &y) - exact).abs() <= off && (plain(&x, &y) - exact).abs() <= off, "{d}");
        }
    }
}
