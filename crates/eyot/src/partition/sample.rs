//! Samples by keys: partitioning i takes the ψ rows of smallest key(seed, i, row number), in ascending key order. The
//! result depends on the row numbers alone, so one pass over a stream, chunks of it, or the shards of a cluster merged
//! in any order give the same samples; memory is the sampled rows, never the data.

use crate::error::{Error, Result};
use crate::parallel::Run;
use crate::rng::RowKeys;

/// Rows whose keys are computed together; keeps the keys of a block in the first-level cache.
const BLOCK: u64 = 1024;

/// Collects, for each of t partitionings, the rows of smallest key among those seen so far.
#[derive(Debug, Clone)]
pub struct Sampler {
    psi: usize,
    seen: u64,
    kept: Vec<Kept>,
}

/// The rows of smallest key of one partitioning.
#[derive(Debug, Clone)]
struct Kept {
    keys: RowKeys,
    /// (key, row), unordered; cut back to ψ whenever it reaches 2ψ.
    entries: Vec<(u64, u64)>,
    /// No key above this can belong to the sample any more.
    limit: u64,
}

impl Kept {
    fn cut_back(&mut self, psi: usize) {
        if self.entries.len() > psi {
            self.entries.select_nth_unstable(psi - 1);
            self.entries.truncate(psi);
        }
        if self.entries.len() == psi {
            self.limit = self.entries.iter().map(|&(key, _)| key).max().unwrap_or(u64::MAX);
        }
    }

    fn offer(&mut self, first: u64, rows: u64, psi: usize) {
        // On a copy: samples that lie side by side would take a line of the cache from each other's threads.
        let mut own = Self { keys: self.keys, entries: std::mem::take(&mut self.entries), limit: self.limit };
        own.offer_alone(first, rows, psi);
        *self = own;
    }

    fn offer_alone(&mut self, first: u64, rows: u64, psi: usize) {
        let mut block = [0u64; BLOCK as usize];
        let mut start = first;
        while start < first + rows {
            let len = BLOCK.min(first + rows - start) as usize;
            for (offset, slot) in block[..len].iter_mut().enumerate() {
                *slot = self.keys.key(start + offset as u64);
            }
            for (offset, &key) in block[..len].iter().enumerate() {
                if key <= self.limit {
                    self.entries.push((key, start + offset as u64));
                    if self.entries.len() >= 2 * psi {
                        self.cut_back(psi);
                    }
                }
            }
            start += len as u64;
        }
    }
}

impl Sampler {
    /// Nothing seen yet; `t` partitionings of `psi` rows.
    pub fn new(seed: u64, t: usize, psi: usize) -> Self {
        let kept = |i| Kept { keys: RowKeys::new(seed, i as u64), entries: Vec::new(), limit: u64::MAX };
        Self { psi, seen: 0, kept: (0..t).map(kept).collect() }
    }

    /// Offers the rows numbered `first..first + rows`. Every row of the data must be offered once, in any order.
    pub fn offer(&mut self, first: u64, rows: u64, run: Run<'_>) -> Result<()> {
        let psi = self.psi;
        self.seen += rows;
        run.chunks_mut("sample", &mut self.kept, 1, |_, kept| {
            kept[0].offer(first, rows, psi);
            Ok(())
        })
    }

    /// Adds what another sampler of the same seed, t and ψ has seen; it must have seen other rows.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let same = self.psi == other.psi && self.kept.len() == other.kept.len();
        if !same || self.kept.iter().zip(&other.kept).any(|(a, b)| a.keys.key(0) != b.keys.key(0)) {
            return Err(Error::Data("samplers of different seed, t or psi cannot be merged".into()));
        }
        self.seen += other.seen;
        for (mine, theirs) in self.kept.iter_mut().zip(&other.kept) {
            mine.entries.extend_from_slice(&theirs.entries);
            mine.cut_back(self.psi);
        }
        Ok(())
    }

    /// Rows offered so far.
    pub const fn seen(&self) -> u64 {
        self.seen
    }

    /// Cuts every sample back to ψ rows: called now and then while streaming, so that rows which have fallen out can
    /// be dropped by whoever stores them.
    pub fn compact(&mut self) {
        let psi = self.psi;
        self.kept.iter_mut().for_each(|kept| kept.cut_back(psi));
    }

    /// All rows that are in some sample at present, ascending, each once.
    pub fn rows(&self) -> Vec<u64> {
        let mut rows: Vec<u64> = self.kept.iter().flat_map(|kept| kept.entries.iter().map(|&(_, row)| row)).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// The samples: per partitioning its min(ψ, seen) row numbers, ascending by key.
    pub fn finish(self) -> Vec<Vec<u64>> {
        self.finish_on(Run::single())
    }

    /// The same on several threads.
    pub(crate) fn finish_on(mut self, run: Run<'_>) -> Vec<Vec<u64>> {
        let psi = self.psi;
        let in_order = |_: usize, kept: &mut [Kept]| {
            kept[0].cut_back(psi);
            kept[0].entries.sort_unstable();
            Ok(())
        };
        Run::threads(run.n_threads()).chunks_mut("sample", &mut self.kept, 1, in_order).expect("sorting does not fail");
        self.kept.into_iter().map(|kept| kept.entries.into_iter().map(|(_, row)| row).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(seed: u64, t: usize, psi: usize, n: u64) -> Vec<Vec<u64>> {
        let sample = |i| {
            let keys = RowKeys::new(seed, i);
            let mut rows: Vec<u64> = (0..n).collect();
            rows.sort_by_key(|&row| (keys.key(row), row));
            rows.truncate(psi);
            rows
        };
        (0..t as u64).map(sample).collect()
    }

    fn sharded(shards: u64, n: u64) -> Vec<Vec<u64>> {
        let mut parts: Vec<Sampler> = (0..shards).map(|_| Sampler::new(5, 9, 64)).collect();
        for first in (0..n).step_by(100) {
            let part = &mut parts[(first / 100 % shards) as usize];
            part.offer(first, 100.min(n - first), Run::single()).unwrap();
        }
        let mut all = parts.pop().unwrap();
        for part in &parts {
            all.merge(part).unwrap();
        }
        assert_eq!(all.seen(), n);
        all.finish()
    }

    #[test]
    fn samples_are_the_rows_of_smallest_key_in_key_order() {
        for n in [1, 63, 64, 5000] {
            let mut sampler = Sampler::new(5, 9, 64);
            sampler.offer(0, n, Run::threads(2)).unwrap();
            assert_eq!(sampler.finish(), plain(5, 9, 64, n));
        }
    }

    #[test]
    fn one_two_and_seven_shards_give_the_same_samples() {
        let whole = plain(5, 9, 64, 4321);
        for shards in [1, 2, 7] {
            assert_eq!(sharded(shards, 4321), whole);
        }
    }

    #[test]
    fn fewer_partitionings_and_smaller_samples_are_prefixes() {
        let (large, small) = (plain(3, 10, 64, 1000), plain(3, 4, 16, 1000));
        for (large, small) in large.iter().zip(&small) {
            assert_eq!(large[..16], small[..]);
        }
    }

    #[test]
    fn every_row_is_equally_likely() {
        let mut counts = [0u32; 50];
        for seed in 0..200 {
            plain(seed, 10, 5, 50).concat().iter().for_each(|&row| counts[row as usize] += 1);
        }
        // 200 expected in each of 50 rows; the standard deviation is about 13.4, five of them 67.
        assert!(counts.iter().all(|&count| count.abs_diff(200) < 67), "{counts:?}");
    }

    #[test]
    fn samplers_of_other_seeds_do_not_merge() {
        assert!(Sampler::new(1, 2, 4).merge(&Sampler::new(2, 2, 4)).is_err());
    }
}
