//! The same loops compiled for several instruction sets and chosen at run time. One safe, generic body; the only
//! unsafe act is to call it where the processor has been asked for the feature.
#![expect(unsafe_code, reason = "calls of functions compiled for a feature that was detected just before")]
#![expect(clippy::inline_always, reason = "a body takes on its caller's instruction set only when it is inlined")]

use super::lanes::{LANES, Winner};

/// An instruction set the loops are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Path {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The paths this processor can take, best last.
pub(crate) fn available() -> impl Iterator<Item = Path> {
    let mut paths = vec![Path::Plain];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") {
            paths.push(Path::Avx2);
        }
        if is_x86_feature_detected!("avx512f") {
            paths.push(Path::Avx512);
        }
    }
    paths.into_iter()
}

/// The best path; detection is cached by the standard library, a load and a branch.
fn best() -> Path {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return Path::Avx512;
        }
        if is_x86_feature_detected!("avx2") {
            return Path::Avx2;
        }
    }
    Path::Plain
}

/// See `Lanes::nearest`; `blocks` holds the centres.
pub(super) fn nearest(blocks: &[f64], d: usize, xs: &[f64], within: Option<&[f64]>, out: &mut [Winner]) {
    nearest_on(best(), blocks, d, xs, within, out);
}

/// [`nearest`] on a given path, which must be available.
pub(super) fn nearest_on(path: Path, blocks: &[f64], d: usize, xs: &[f64], within: Option<&[f64]>, out: &mut [Winner]) {
    match path {
        Path::Plain => nearest_body::<4>(blocks, d, xs, within, out),
        // SAFETY: the path is only named where the feature was detected.
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 => unsafe { nearest_avx2(blocks, d, xs, within, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Path::Avx512 => unsafe { nearest_avx512(blocks, d, xs, within, out) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn nearest_avx2(blocks: &[f64], d: usize, xs: &[f64], within: Option<&[f64]>, out: &mut [Winner]) {
    nearest_body::<4>(blocks, d, xs, within, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn nearest_avx512(blocks: &[f64], d: usize, xs: &[f64], within: Option<&[f64]>, out: &mut [Winner]) {
    nearest_body::<8>(blocks, d, xs, within, out);
}

/// See `Lanes::squared_distances`.
pub(super) fn squared_distances(blocks: &[f64], d: usize, x: &[f64], out: &mut [f64]) {
    match best() {
        Path::Plain => squared_distances_body(blocks, d, x, out),
        // SAFETY: `best` has just detected the feature.
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 => unsafe { squared_distances_avx2(blocks, d, x, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Path::Avx512 => unsafe { squared_distances_avx512(blocks, d, x, out) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn squared_distances_avx2(blocks: &[f64], d: usize, x: &[f64], out: &mut [f64]) {
    squared_distances_body(blocks, d, x, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn squared_distances_avx512(blocks: &[f64], d: usize, x: &[f64], out: &mut [f64]) {
    squared_distances_body(blocks, d, x, out);
}

#[inline(always)]
fn squared_distances_body(blocks: &[f64], d: usize, x: &[f64], out: &mut [f64]) {
    for (block, out) in blocks.chunks_exact(LANES * d).zip(out.chunks_mut(LANES)) {
        let sums = block_distances::<1>(block, [x]);
        out.copy_from_slice(&sums[0][..out.len()]);
    }
}

/// Squared distances of R rows to the centres of one block: R·LANES running sums that stay in registers.
#[inline(always)]
fn block_distances<const R: usize>(block: &[f64], rows: [&[f64]; R]) -> [[f64; LANES]; R] {
    let mut sums = [[0.0; LANES]; R];
    for (k, z) in block.as_chunks::<LANES>().0.iter().enumerate() {
        for r in 0..R {
            let x = rows[r][k];
            for lane in 0..LANES {
                let difference = x - z[lane];
                sums[r][lane] += difference * difference;
            }
        }
    }
    sums
}

#[inline(always)]
fn nearest_body<const R: usize>(blocks: &[f64], d: usize, xs: &[f64], within: Option<&[f64]>, out: &mut [Winner]) {
    let mut tiles = out.chunks_exact_mut(R);
    let mut first = 0;
    for tile in &mut tiles {
        let rows = std::array::from_fn(|r| &xs[(first + r) * d..(first + r + 1) * d]);
        nearest_tile::<R>(blocks, d, rows, within, tile);
        first += R;
    }
    for slot in tiles.into_remainder() {
        nearest_tile::<1>(blocks, d, [&xs[first * d..(first + 1) * d]], within, std::slice::from_mut(slot));
        first += 1;
    }
}

#[inline(always)]
fn nearest_tile<const R: usize>(
    blocks: &[f64],
    d: usize,
    rows: [&[f64]; R],
    within: Option<&[f64]>,
    out: &mut [Winner],
) {
    // Per lane the best of the blocks so far; a strict comparison keeps the earlier block on ties.
    let mut best = [[f64::INFINITY; LANES]; R];
    let mut best_block = [[0u64; LANES]; R];
    for (number, block) in blocks.chunks_exact(LANES * d).enumerate() {
        let mut sums = block_distances(block, rows);
        if let Some(within) = within {
            let limits = &within[number * LANES..within.len().min((number + 1) * LANES)];
            for sums in &mut sums {
                for (sum, limit) in sums.iter_mut().zip(limits) {
                    *sum = if *sum <= *limit { *sum } else { f64::INFINITY };
                }
            }
        }
        for r in 0..R {
            for lane in 0..LANES {
                let closer = sums[r][lane] < best[r][lane];
                best[r][lane] = if closer { sums[r][lane] } else { best[r][lane] };
                best_block[r][lane] = if closer { number as u64 } else { best_block[r][lane] };
            }
        }
    }
    for r in 0..R {
        let mut winner = Winner { centre: 0, squared_distance: f64::INFINITY };
        for lane in 0..LANES {
            let centre = best_block[r][lane] as u32 * LANES as u32 + lane as u32;
            let squared_distance = best[r][lane];
            let tie_won = squared_distance == winner.squared_distance && centre < winner.centre;
            if squared_distance < winner.squared_distance || tie_won {
                winner = Winner { centre, squared_distance };
            }
        }
        out[r] = winner;
    }
}
