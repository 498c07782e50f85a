//! Squared distances in whatever order is fastest, for where hardly ever the last digits decide.
#![expect(unsafe_code, reason = "calls for a feature that was detected just before")]

use crate::data::{Real, Row};

/// Sums that do not wait for each other.
const SUMS: usize = 32;
const SUMS_F32: usize = 64;

/// Sums below this are not computed in `f32`, whose smallest numbers have few digits.
const LEAST_F32: f64 = 1e-30;

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

/// The same in `f32`, within [`off_in_f32`] of itself, several times as fast; `None` for rows of anything else, and where
/// `f32` has no room for the sum.
pub(crate) fn squared_distance_in_f32(x: Row<'_>, y: Row<'_>) -> Option<f64> {
    let (Row::F32(x), Row::F32(y)) = (x, y) else { return None };
    Some(sum_of_squares_f32(x, y)).filter(|sum| (LEAST_F32..f64::INFINITY).contains(sum))
}

/// What a sum over `d` columns in `f32` can be off by, as a share of itself: a difference is off by 2⁻²⁴ of itself, its
/// square by three times that, and each addition to one of the sums adds once more.
pub(crate) fn off_in_f32(d: usize) -> f64 {
    1.01 * (d.div_ceil(SUMS_F32) + 4) as f64 * f64::from(f32::EPSILON) / 2.0
}

/// Calls `$plain` with the instructions there are: the constant says whether a product and a sum are one.
macro_rules! fastest {
    ($(#[$doc:meta])* fn $name:ident = $plain:ident $(<$($real:ident),+>)? ($x:ty, $y:ty)) => {
        $(#[$doc])*
        fn $name $(<$($real: Real),+>)? (x: $x, y: $y) -> f64 {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,fma")]
                fn avx512 $(<$($real: Real),+>)? (x: $x, y: $y) -> f64 {
                    $plain::<true $($(, $real)+)?>(x, y)
                }
                #[target_feature(enable = "avx2,fma")]
                fn avx2 $(<$($real: Real),+>)? (x: $x, y: $y) -> f64 {
                    $plain::<true $($(, $real)+)?>(x, y)
                }
                if is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx512f") {
                    // SAFETY: the features were detected just now.
                    return unsafe { avx512(x, y) };
                } else if is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2") {
                    // SAFETY: the features were detected just now.
                    return unsafe { avx2(x, y) };
                }
            }
            $plain::<false $($(, $real)+)?>(x, y)
        }
    };
}

fastest!(fn sum_of_squares = plain<F, G>(&[F], &[G]));
fastest!(fn sum_of_squares_f32 = plain_f32(&[f32], &[f32]));

#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the processor of the caller")]
fn plain<const FUSED: bool, F: Real, G: Real>(x: &[F], y: &[G]) -> f64 {
    let ((x_chunks, x_rest), (y_chunks, y_rest)) = (x.as_chunks::<SUMS>(), y.as_chunks::<SUMS>());
    let mut sums = [0.0; SUMS];
    for (x, y) in x_chunks.iter().zip(y_chunks) {
        for k in 0..SUMS {
            let difference: f64 = x[k].into() - y[k].into();
            sums[k] = if FUSED { difference.mul_add(difference, sums[k]) } else { sums[k] + difference * difference };
        }
    }
    for (sum, (&x, &y)) in sums.iter_mut().zip(x_rest.iter().zip(y_rest)) {
        let difference: f64 = x.into() - y.into();
        *sum += difference * difference;
    }
    sums.iter().sum()
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the processor of the caller")]
fn plain_f32<const FUSED: bool>(x: &[f32], y: &[f32]) -> f64 {
    let ((x_chunks, x_rest), (y_chunks, y_rest)) = (x.as_chunks::<SUMS_F32>(), y.as_chunks::<SUMS_F32>());
    let mut sums = [0.0f32; SUMS_F32];
    for (x, y) in x_chunks.iter().zip(y_chunks) {
        for k in 0..SUMS_F32 {
            let difference = x[k] - y[k];
            sums[k] = if FUSED { difference.mul_add(difference, sums[k]) } else { sums[k] + difference * difference };
        }
    }
    for (sum, (&x, &y)) in sums.iter_mut().zip(x_rest.iter().zip(y_rest)) {
        *sum += (x - y) * (x - y);
    }
    sums.iter().map(|&sum| f64::from(sum)).sum()
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
            for sum in [sum_of_squares(&x, &y), plain::<true, _, _>(&x, &y), plain::<false, _, _>(&x, &y)] {
                assert!((sum - exact).abs() <= off, "{d}");
            }
        }
    }

    #[test]
    fn sums_in_f32_are_within_their_bound_or_not_there() {
        let of = |d: u32, scale: f32| {
            let x: Vec<f32> = (0..d).map(|k| (k as f32 * 0.7).sin() * scale).collect();
            let y: Vec<f32> = (0..d).map(|k| (k as f32 * 0.3).cos() * scale + 3.0 * scale).collect();
            (x, y)
        };
        for d in [1, 31, 32, 63, 64, 65, 784, 5000] {
            for scale in [1e-12, 1.0, 1e15] {
                let (x, y) = of(d, scale);
                let exact: f64 = x.iter().zip(&y).map(|(&x, &y)| (f64::from(x) - f64::from(y)).powi(2)).sum();
                let off = off_in_f32(d as usize) * exact;
                let fast = squared_distance_in_f32(Row::F32(&x), Row::F32(&y)).unwrap();
                for sum in [fast, plain_f32::<true>(&x, &y), plain_f32::<false>(&x, &y)] {
                    assert!((sum - exact).abs() <= off, "{d}, {scale}: {sum} for {exact}");
                }
            }
            for scale in [1e-20, 1e30] {
                let (x, y) = of(d, scale);
                assert_eq!(squared_distance_in_f32(Row::F32(&x), Row::F32(&y)), None);
            }
        }
        assert_eq!(squared_distance_in_f32(Row::F32(&[1.0]), Row::F64(&[2.0])), None);
    }
}
