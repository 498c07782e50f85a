//! What this processor can do at the most, one thread: fused multiply-adds per second from registers, and bytes per
//! second from memory and from the second-level cache. `cargo xtask bench peak` compiles it for the very processor, so that loops become its widest
//! instructions. Prints one JSON object per figure.

use std::hint::black_box;
use std::time::Instant;

/// Independent sums, enough to hide the latency of a multiply-add.
const SUMS: usize = 12;
const ROUNDS: usize = 20_000_000;
/// Far beyond every cache.
const BYTES: usize = 1 << 29;
/// More than a first-level cache holds, and what a second-level cache can keep.
const NEAR_BYTES: usize = 1 << 19;

/// Numbers that the registers of this processor hold, and a multiply-add of such registers.
#[cfg(target_feature = "avx512f")]
mod wide {
    pub use std::arch::x86_64::{
        _mm512_fmadd_pd as fma_f64, _mm512_fmadd_ps as fma_f32, _mm512_set1_pd as all_f64, _mm512_set1_ps as all_f32,
    };
    pub const BYTES: usize = 64;
}

#[cfg(all(target_feature = "avx2", target_feature = "fma", not(target_feature = "avx512f")))]
mod wide {
    pub use std::arch::x86_64::{
        _mm256_fmadd_pd as fma_f64, _mm256_fmadd_ps as fma_f32, _mm256_set1_pd as all_f64, _mm256_set1_ps as all_f32,
    };
    pub const BYTES: usize = 32;
}

#[cfg(not(all(target_feature = "avx2", target_feature = "fma")))]
mod wide {
    pub unsafe fn fma_f64(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }
    pub unsafe fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
    pub unsafe fn all_f64(a: f64) -> f64 {
        a
    }
    pub unsafe fn all_f32(a: f32) -> f32 {
        a
    }
    /// One number at a time: of one kind, so that both count alike.
    pub const BYTES: usize = 8;
}

macro_rules! fma {
    ($name:ident, $all:path, $fma:path, $size:expr) => {
        fn $name() -> f64 {
            // SAFETY, here and below: `wide` has only what the processor that this is compiled for can do.
            let (a, b, one) = unsafe { ($all(0.999_999), $all(1e-7), $all(1.0)) };
            let (a, b, mut sums) = (black_box(a), black_box(b), [one; SUMS]);
            let start = Instant::now();
            for _ in 0..ROUNDS {
                for sum in &mut sums {
                    *sum = unsafe { $fma(*sum, a, b) };
                }
            }
            let seconds = start.elapsed().as_secs_f64();
            black_box(sums);
            (2 * ROUNDS * SUMS * (wide::BYTES / $size).max(1)) as f64 / seconds
        }
    };
}

fma!(flops_f32, wide::all_f32, wide::fma_f32, 4);
fma!(flops_f64, wide::all_f64, wide::fma_f64, 8);

/// Reads so many words again and again, as many bytes in all as are far beyond every cache.
fn reads(words: &[u64]) -> f64 {
    let start = Instant::now();
    let mut sums = [0_u64; 64];
    for _ in 0..BYTES / size_of_val(words) {
        for block in black_box(words).chunks_exact(64) {
            for (sum, word) in sums.iter_mut().zip(block) {
                *sum = sum.wrapping_add(*word);
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    black_box(sums);
    BYTES as f64 / seconds
}

fn best(work: impl Fn() -> f64) -> f64 {
    (0..5).map(|_| work()).fold(0.0, f64::max)
}

fn main() {
    let words = vec![1_u64; BYTES / 8];
    // From the start of a line of the cache.
    let near = &words[words.as_ptr().align_offset(64)..][..NEAR_BYTES / 8];
    let figures = [
        ("fma f32", best(flops_f32), "flops"),
        ("fma f64", best(flops_f64), "flops"),
        ("read memory", best(|| reads(&words)), "bytes"),
        ("read second-level cache", best(|| reads(near)), "bytes"),
    ];
    for (cell, figure, unit) in figures {
        println!("{{\"cell\": \"{cell}\", \"who\": \"machine\", \"per_second\": {figure:.4e}, \"unit\": \"{unit}\"}}");
    }
}
