//! Rows of bits: how many bits differ, and which rows differ in exactly so many.
#![expect(clippy::inline_always, reason = "everything is inlined into the loop that was chosen for the processor")]
#![expect(unsafe_code, reason = "calls for features that were detected just before")]

/// Rows whose distances are looked at together.
pub(crate) const BLOCK: usize = 64;

/// Runs a body compiled for vector population counts, for AVX2, or plainly. The bodies are simple loops that the
/// compiler turns into vectors; whole numbers leave it no choice of rounding.
macro_rules! for_processor {
    ($vis:vis fn $name:ident = $body:ident($($arg:ident: $type:ty),*)) => {
        $vis fn $name($($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq")]
                fn avx512($($arg: $type),*) {
                    $body($($arg),*);
                }
                #[target_feature(enable = "avx2,popcnt")]
                fn avx2($($arg: $type),*) {
                    $body($($arg),*);
                }
                if is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vpopcntdq")
                {
                    // SAFETY: the features were detected just now.
                    return unsafe { avx512($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
                    // SAFETY: as above.
                    return unsafe { avx2($($arg),*) };
                }
            }
            $body($($arg),*);
        }
    };
}

for_processor!(pub(crate) fn differing_bits = count(words: &[u64], x: &[u64], out: &mut [u16]));
for_processor!(pub(crate) fn rows_at = matching(distances: &[u16], distance: u16, out: &mut [u64]));

/// Bits in which each row differs from `x`; `words` holds the first word of all rows, then the second, and so on.
#[inline(always)]
fn count(words: &[u64], x: &[u64], out: &mut [u16]) {
    out.fill(0);
    for (column, &x) in words.chunks_exact(out.len()).zip(x) {
        for (sum, &word) in out.iter_mut().zip(column) {
            *sum += (word ^ x).count_ones() as u16;
        }
    }
}

/// One bit per row: whether its distance is `distance`. Rows come in whole blocks of [`BLOCK`].
#[inline(always)]
fn matching(distances: &[u16], distance: u16, out: &mut [u64]) {
    for (bits, block) in out.iter_mut().zip(distances.as_chunks::<BLOCK>().0) {
        let mut here = [0u8; BLOCK];
        for (flag, &at) in here.iter_mut().zip(block) {
            *flag = u8::from(at == distance);
        }
        // Eight flags of a byte each become eight bits: flag i lands on bit 56 + i of the product.
        let eights = here.as_chunks::<8>().0.iter();
        *bits = eights.enumerate().fold(0, |bits, (i, &flags)| {
            bits | (u64::from_le_bytes(flags).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_differing_bits_and_blocks_name_the_rows() {
        let rows: Vec<[u64; 2]> = (0..128u64).map(|i| [i.wrapping_mul(0x9e37_79b9_7f4a_7c15), i * i]).collect();
        let words: Vec<u64> = (0..2).flat_map(|w| rows.iter().map(move |row| row[w])).collect();
        let x = [0x0123_4567_89ab_cdef, 77];
        let (mut distances, mut bits) = (vec![0; 128], vec![0; 2]);
        differing_bits(&words, &x, &mut distances);
        for (row, &distance) in rows.iter().zip(&distances) {
            assert_eq!(u32::from(distance), (row[0] ^ x[0]).count_ones() + (row[1] ^ x[1]).count_ones());
        }
        rows_at(&distances, distances[5], &mut bits);
        for (at, &distance) in distances.iter().enumerate() {
            assert_eq!(bits[at / 64] >> (at % 64) & 1 == 1, distance == distances[5]);
        }
    }
}
