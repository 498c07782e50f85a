//! One seed, independent streams. Every component draws from its own stream, its part i from stream i, so results
//! depend neither on threads nor on order, and t = 100 is the prefix of t = 200. This is the only file that names a
//! generator; draws are our own few lines over `next_u64`, pinned by golden tests, because library samplers may change.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Who draws. The numbers are part of every model ever made: never reorder or reuse them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Component {
    /// Row keys of samples.
    Sample = 1,
    /// Cuts of isolation trees.
    Tree = 2,
    /// Random frequencies (Fourier, orthogonal, reparameterised).
    Frequencies = 3,
    /// Order of coordinate descent.
    Descent = 4,
    /// Folds of cross-validation.
    Folds = 5,
    /// Permutations of a stream.
    Permutation = 6,
    /// Random removal from a budget.
    Removal = 7,
    /// Landmarks of a Nyström map.
    Landmarks = 8,
    /// Built-in data of the demo, tests and benchmarks.
    Synthetic = 9,
    /// Initialisation of clusters and mixtures.
    Clusters = 10,
    /// Reservoirs of streams.
    Reservoir = 11,
    /// Draws that explain a score.
    Explain = 12,
    /// Subsets for tuning and for oversized inputs.
    Subset = 13,
}

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Rng(ChaCha8Rng);

/// The stream of part `i` of a component.
pub fn rng_of(seed: u64, component: Component, i: u64) -> Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8] = component as u8;
    let mut rng = ChaCha8Rng::from_seed(key);
    rng.set_stream(i);
    Rng(rng)
}

impl Rng {
    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform on the open interval (0, 1): the middle of one of 2^53 equal parts, so neither end can occur.
    pub fn open01(&mut self) -> f64 {
        ((self.next_u64() >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Uniform on `0..n` without bias (Lemire's multiplication with rejection).
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "a draw below 0");
        let n = n as u64;
        let reject_under = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            if product as u64 >= reject_under {
                return (product >> 64) as usize;
            }
        }
    }

    /// A standard normal number (Box–Muller, one of the pair; exact in law, no table).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.open01().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.open01()).cos()
    }

    /// Shuffles in place (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// Where the stream stands, for a checkpoint.
    pub fn position(&self) -> u128 {
        self.0.get_word_pos()
    }

    /// Moves the stream to a position that [`Rng::position`] gave.
    pub fn set_position(&mut self, position: u128) {
        self.0.set_word_pos(position);
    }
}

/// The keys by which partitioning i chooses its sample: the rows of smallest key. A bijection of the row number, so
/// no two rows share a key; cheap enough for n·t calls, and free of any state, so any shard can compute it.
#[derive(Debug, Clone, Copy)]
pub struct RowKeys {
    start: u64,
}

impl RowKeys {
    /// The keys of partitioning `i`.
    pub fn new(seed: u64, i: u64) -> Self {
        Self { start: rng_of(seed, Component::Sample, i).next_u64() }
    }

    /// The key of a row. SplitMix64's finaliser over a Weyl sequence.
    #[inline]
    pub fn key(self, row: u64) -> u64 {
        let mut z = self.start.wrapping_add(row.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_pinned_for_ever() {
        let mut rng = rng_of(0, Component::Tree, 0);
        let drawn = [rng.next_u64(), rng.next_u64()];
        let mut again = rng_of(0, Component::Tree, 0);
        assert_eq!(drawn, [again.next_u64(), again.next_u64()]);
        assert_ne!(rng_of(0, Component::Tree, 1).next_u64(), drawn[0]);
        assert_ne!(rng_of(0, Component::Sample, 0).next_u64(), drawn[0]);
        assert_ne!(rng_of(1, Component::Tree, 0).next_u64(), drawn[0]);
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut rng = rng_of(7, Component::Synthetic, 0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[rng.below(7)] += 1;
        }
        // 10,000 expected in each; five standard deviations are about 463.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 463), "{counts:?}");
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_variance_one() {
        let mut rng = rng_of(7, Component::Synthetic, 1);
        let draws: Vec<f64> = (0..100_000).map(|_| rng.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / 1e5;
        // Standard errors are 0.0032 and 0.0045.
        assert!(mean.abs() < 0.016 && (variance - 1.0).abs() < 0.023, "{mean} {variance}");
    }

    #[test]
    fn a_stream_resumes_at_its_position() {
        let mut rng = rng_of(3, Component::Removal, 0);
        rng.next_u64();
        let position = rng.position();
        let expected = rng.next_u64();
        let mut resumed = rng_of(3, Component::Removal, 0);
        resumed.set_position(position);
        assert_eq!(resumed.next_u64(), expected);
    }
}
