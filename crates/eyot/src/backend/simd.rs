//! The search for the nearest centre, written out for AVX-512 and AVX2 and chosen at run time; everything else takes
//! the plain loops. Written by hand because the compiler's own vectors are fragile here: on the shape that AVX-512
//! wants (8 rows × 8 centres in registers) the generic body ran 20 times slower than these few intrinsics.
#![expect(clippy::inline_always, reason = "inlined into functions compiled for an instruction set")]
#![expect(unsafe_code, reason = "vector loads and stores, and calls for a feature that was detected just before")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _CMP_LE_OQ, _CMP_LT_OQ, _mm256_add_pd, _mm256_blendv_pd, _mm256_cmp_pd, _mm256_loadu_pd, _mm256_mul_pd,
    _mm256_set1_pd, _mm256_setzero_pd, _mm256_storeu_pd, _mm256_sub_pd, _mm512_add_pd, _mm512_cmp_pd_mask,
    _mm512_loadu_pd, _mm512_mask_mov_pd, _mm512_mul_pd, _mm512_set1_pd, _mm512_setzero_pd, _mm512_storeu_pd,
    _mm512_sub_pd,
};

use super::lanes::{LANES, TILE, Winner};

/// An instruction set the loops are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Path {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The best path of this processor; detection is cached by the standard library, a load and a branch.
pub(crate) fn best() -> Path {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return Path::Avx512;
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Path::Avx2;
        }
    }
    Path::Plain
}

/// The paths this processor can take.
#[cfg(test)]
pub(crate) fn available() -> Vec<Path> {
    let mut paths = vec![Path::Plain];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            paths.push(Path::Avx2);
        }
        if is_x86_feature_detected!("avx512f") {
            paths.push(Path::Avx512);
        }
    }
    paths
}

/// The nearest centres of the rows of one tile: `blocks` holds the centres of `d` columns, `tile` [`TILE`] rows column
/// by column, of which the first `out.len()` count. `path` must be available.
pub(super) fn nearest(path: Path, blocks: &[f64], d: usize, tile: &[f64], within: Option<&[f64]>, out: &mut [Winner]) {
    match (path, out.len()) {
        (Path::Plain, _) => {
            for (r, slot) in out.iter_mut().enumerate() {
                *slot = nearest_plain(blocks, d, tile, r, within);
            }
        }
        // SAFETY: the path is only named where the feature was detected.
        #[cfg(target_arch = "x86_64")]
        (Path::Avx2, 1) => unsafe { nearest_avx2::<1>(blocks, d, tile, 0, within, out) },
        #[cfg(target_arch = "x86_64")]
        (Path::Avx2, _) => {
            for (half, out) in out.chunks_mut(4).enumerate() {
                // SAFETY: as above.
                unsafe { nearest_avx2::<4>(blocks, d, tile, 4 * half, within, out) };
            }
        }
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        (Path::Avx512, 1) => unsafe { nearest_avx512::<1>(blocks, d, tile, within, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        (Path::Avx512, _) => unsafe { nearest_avx512::<TILE>(blocks, d, tile, within, out) },
    }
}

/// Squared distances from `x` to every centre.
pub(super) fn squared_distances(blocks: &[f64], d: usize, x: &[f64], out: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    {
        // The body is the same; only the width of the vectors differs, and nothing is fused.
        #[target_feature(enable = "avx512f")]
        fn avx512(blocks: &[f64], d: usize, x: &[f64], out: &mut [f64]) {
            squared_distances_on(blocks, d, x, out);
        }
        #[target_feature(enable = "avx2")]
        fn avx2(blocks: &[f64], d: usize, x: &[f64], out: &mut [f64]) {
            squared_distances_on(blocks, d, x, out);
        }
        match best() {
            // SAFETY: the path is only named where the feature was detected.
            Path::Avx512 => return unsafe { avx512(blocks, d, x, out) },
            // SAFETY: as above.
            Path::Avx2 => return unsafe { avx2(blocks, d, x, out) },
            Path::Plain => {}
        }
    }
    squared_distances_on(blocks, d, x, out);
}

#[inline(always)]
fn squared_distances_on(blocks: &[f64], d: usize, x: &[f64], out: &mut [f64]) {
    for (block, out) in blocks.chunks_exact(LANES * d).zip(out.chunks_mut(LANES)) {
        let mut sums = [0.0; LANES];
        for (z, x) in block.as_chunks::<LANES>().0.iter().zip(x) {
            for (sum, z) in sums.iter_mut().zip(z) {
                let difference = x - z;
                *sum += difference * difference;
            }
        }
        out.copy_from_slice(&sums[..out.len()]);
    }
}

/// The limits of one block, padding lanes excluded by a limit below every distance.
fn limits(within: &[f64], block: usize) -> [f64; LANES] {
    let mut limits = [-1.0; LANES];
    let given = &within[block * LANES..within.len().min((block + 1) * LANES)];
    limits[..given.len()].copy_from_slice(given);
    limits
}

/// The best of the lanes, lowest centre on ties. `blocks` are block numbers, exact in `f64` by far.
#[expect(clippy::cast_sign_loss, reason = "block numbers are not negative")]
fn best_lane(distances: [f64; LANES], blocks: [f64; LANES]) -> Winner {
    let mut winner = Winner { centre: 0, squared_distance: f64::INFINITY };
    for lane in 0..LANES {
        let centre = blocks[lane] as u32 * LANES as u32 + lane as u32;
        let tie_won = distances[lane] == winner.squared_distance && centre < winner.centre;
        if distances[lane] < winner.squared_distance || tie_won {
            winner = Winner { centre, squared_distance: distances[lane] };
        }
    }
    winner
}

/// Row `r` of a tile, by the plain loops.
fn nearest_plain(blocks: &[f64], d: usize, tile: &[f64], r: usize, within: Option<&[f64]>) -> Winner {
    let (mut best, mut best_block) = ([f64::INFINITY; LANES], [0.0; LANES]);
    for (number, block) in blocks.chunks_exact(LANES * d).enumerate() {
        let mut sums = [0.0; LANES];
        for (z, x) in block.as_chunks::<LANES>().0.iter().zip(tile.as_chunks::<TILE>().0) {
            for (sum, z) in sums.iter_mut().zip(z) {
                let difference = x[r] - z;
                *sum += difference * difference;
            }
        }
        let limits = within.map_or([f64::INFINITY; LANES], |within| limits(within, number));
        for lane in 0..LANES {
            // Strict, so that the earlier block wins a tie.
            if sums[lane] <= limits[lane] && sums[lane] < best[lane] {
                best[lane] = sums[lane];
                best_block[lane] = number as f64;
            }
        }
    }
    best_lane(best, best_block)
}

/// The first R rows of a tile: R running sums of 8 centres each stay in registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn nearest_avx512<const R: usize>(blocks: &[f64], d: usize, tile: &[f64], within: Option<&[f64]>, out: &mut [Winner]) {
    let infinity = _mm512_set1_pd(f64::INFINITY);
    let (mut best, mut best_block) = ([infinity; R], [_mm512_setzero_pd(); R]);
    for (number, block) in blocks.chunks_exact(LANES * d).enumerate() {
        let mut sums = [_mm512_setzero_pd(); R];
        for (z, x) in block.as_chunks::<LANES>().0.iter().zip(tile.as_chunks::<TILE>().0) {
            // SAFETY: `z` is an array of 8 numbers.
            let z = unsafe { _mm512_loadu_pd(z.as_ptr()) };
            for r in 0..R {
                let difference = _mm512_sub_pd(_mm512_set1_pd(x[r]), z);
                sums[r] = _mm512_add_pd(sums[r], _mm512_mul_pd(difference, difference));
            }
        }
        if let Some(within) = within {
            // SAFETY: `limits` is an array of 8 numbers.
            let limits = unsafe { _mm512_loadu_pd(limits(within, number).as_ptr()) };
            for sum in &mut sums {
                let inside = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(*sum, limits);
                *sum = _mm512_mask_mov_pd(infinity, inside, *sum);
            }
        }
        let number = _mm512_set1_pd(number as f64);
        for r in 0..R {
            // Strict, so that the earlier block wins a tie.
            let closer = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(sums[r], best[r]);
            best[r] = _mm512_mask_mov_pd(best[r], closer, sums[r]);
            best_block[r] = _mm512_mask_mov_pd(best_block[r], closer, number);
        }
    }
    for (r, slot) in out.iter_mut().enumerate() {
        let (mut distances, mut numbers) = ([0.0; LANES], [0.0; LANES]);
        // SAFETY: both are arrays of 8 numbers.
        unsafe {
            _mm512_storeu_pd(distances.as_mut_ptr(), best[r]);
            _mm512_storeu_pd(numbers.as_mut_ptr(), best_block[r]);
        }
        *slot = best_lane(distances, numbers);
    }
}

/// R rows of a tile from row `first` on; a block is two registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn nearest_avx2<const R: usize>(
    blocks: &[f64],
    d: usize,
    tile: &[f64],
    first: usize,
    within: Option<&[f64]>,
    out: &mut [Winner],
) {
    let infinity = _mm256_set1_pd(f64::INFINITY);
    let (mut best, mut best_block) = ([[infinity; 2]; R], [[_mm256_setzero_pd(); 2]; R]);
    // SAFETY: 8 numbers are two registers of 4.
    let load =
        |values: &[f64; LANES]| unsafe { [_mm256_loadu_pd(values.as_ptr()), _mm256_loadu_pd(values.as_ptr().add(4))] };
    for (number, block) in blocks.chunks_exact(LANES * d).enumerate() {
        let mut sums = [[_mm256_setzero_pd(); 2]; R];
        for (z, x) in block.as_chunks::<LANES>().0.iter().zip(tile.as_chunks::<TILE>().0) {
            let z = load(z);
            for r in 0..R {
                let x = _mm256_set1_pd(x[first + r]);
                for half in 0..2 {
                    let difference = _mm256_sub_pd(x, z[half]);
                    sums[r][half] = _mm256_add_pd(sums[r][half], _mm256_mul_pd(difference, difference));
                }
            }
        }
        if let Some(within) = within {
            let limits = load(&limits(within, number));
            for sums in &mut sums {
                for half in 0..2 {
                    let inside = _mm256_cmp_pd::<_CMP_LE_OQ>(sums[half], limits[half]);
                    sums[half] = _mm256_blendv_pd(infinity, sums[half], inside);
                }
            }
        }
        let number = _mm256_set1_pd(number as f64);
        for r in 0..R {
            for half in 0..2 {
                // Strict, so that the earlier block wins a tie.
                let closer = _mm256_cmp_pd::<_CMP_LT_OQ>(sums[r][half], best[r][half]);
                best[r][half] = _mm256_blendv_pd(best[r][half], sums[r][half], closer);
                best_block[r][half] = _mm256_blendv_pd(best_block[r][half], number, closer);
            }
        }
    }
    for (r, slot) in out.iter_mut().enumerate() {
        let (mut distances, mut numbers) = ([0.0; LANES], [0.0; LANES]);
        for half in 0..2 {
            // SAFETY: each half has 4 of the 8 numbers.
            unsafe {
                _mm256_storeu_pd(distances.as_mut_ptr().add(4 * half), best[r][half]);
                _mm256_storeu_pd(numbers.as_mut_ptr().add(4 * half), best_block[r][half]);
            }
        }
        *slot = best_lane(distances, numbers);
    }
}
