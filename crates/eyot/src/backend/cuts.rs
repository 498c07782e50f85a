//! All cuts of a tree, asked of 64 rows at once: no row waits for its own way down.
//!
//! Level by level, every cut knows which of the rows come by; those that pass on the right add the leaves on its left to
//! the number of their leaf. A cut costs a few instructions for all rows together, whether any comes by or not.
#![expect(unsafe_code, reason = "vector instructions, called only where the processor was found to have them")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm512_loadu_si512, _mm512_mask_add_epi8, _mm512_mask_cmpge_epu8_mask, _mm512_set1_epi8, _mm512_setzero_si512,
    _mm512_storeu_si512,
};

/// Leaves that a tree may have.
pub(crate) const MOST_LEAVES: usize = 256;

/// Rows that are asked at once.
pub(crate) const ROWS: usize = 64;

/// A number for each row of a block.
pub(crate) type PerRow = [u8; ROWS];

/// A cut of a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    pub(crate) column: u16,
    /// Rows from this rank on pass on the right.
    pub(crate) least: u8,
    /// Leaves on the left.
    pub(crate) left: u8,
    /// The next cuts on the left and on the right, or [`LEAF`].
    pub(crate) next: [u8; 2],
}

/// Stands for the cut that a leaf has not.
pub(crate) const LEAF: u8 = u8::MAX;

/// The cuts of one tree, every one after the one above it.
#[derive(Debug, Clone)]
pub(crate) struct Cuts {
    all: Vec<Cut>,
    /// The first of those at the end with leaves on both sides: nobody has to know who goes on from there.
    last: usize,
    columns: usize,
}

impl Cuts {
    /// From the cuts of a tree, every one after the one above it.
    pub(crate) fn new(cuts: &[Cut]) -> Self {
        assert!(cuts.len() < MOST_LEAVES, "one leaf more than cuts");
        let columns = cuts.iter().map(|cut| usize::from(cut.column) + 1).max().unwrap_or(0);
        let (mut order, last): (Vec<usize>, Vec<usize>) = (0..cuts.len()).partition(|&at| cuts[at].next != [LEAF; 2]);
        let ends = order.len();
        order.extend(last);
        let mut places = [LEAF; MOST_LEAVES];
        order.iter().zip(0..).for_each(|(&at, place)| places[at] = place);
        let moved = |&at: &usize| Cut { next: cuts[at].next.map(|next| places[usize::from(next)]), ..cuts[at] };
        Self { all: order.iter().map(moved).collect(), last: ends, columns }
    }

    /// The leaf of every row of R blocks; `ranks` are those of its values, column by column. `coming` is room to work in.
    pub(crate) fn leaves<const R: usize>(
        &self,
        ranks: &[[PerRow; R]],
        coming: &mut [PerRow; MOST_LEAVES],
    ) -> [PerRow; R] {
        assert!(self.columns <= ranks.len(), "ranks in every column");
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
            // SAFETY: the features were detected just now, and there is no column beyond the ranks.
            return unsafe { self.leaves_avx512(ranks) };
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the feature was detected just now.
            return std::array::from_fn(|block| unsafe { self.leaves_avx2(ranks, block, coming) });
        }
        std::array::from_fn(|block| self.leaves_plain(ranks, block, coming))
    }

    /// # Safety
    /// No cut may be of a column beyond the ranks.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn leaves_avx512<const R: usize>(&self, ranks: &[[PerRow; R]]) -> [PerRow; R] {
        let mut coming = [[0; MOST_LEAVES]; R];
        for coming in &mut coming {
            coming[0] = u64::MAX;
        }
        let mut leaves = [_mm512_setzero_si512(); R];
        let (cuts, last) = self.all.split_at(self.last);
        let mut ask = |at: usize, cut: &Cut, goes_on: bool| {
            let (least, left) = (_mm512_set1_epi8(cut.least.cast_signed()), _mm512_set1_epi8(cut.left.cast_signed()));
            // SAFETY: promised by the caller.
            let own = unsafe { ranks.get_unchecked(usize::from(cut.column)) };
            for block in 0..R {
                let here = coming[block][at % MOST_LEAVES];
                // SAFETY: a block has the 64 bytes of a register.
                let own = unsafe { _mm512_loadu_si512(own[block].as_ptr().cast()) };
                let right = _mm512_mask_cmpge_epu8_mask(here, own, least);
                leaves[block] = _mm512_mask_add_epi8(leaves[block], right, leaves[block], left);
                if goes_on {
                    coming[block][usize::from(cut.next[0])] = here ^ right;
                    coming[block][usize::from(cut.next[1])] = right;
                }
            }
        };
        cuts.iter().enumerate().for_each(|(at, cut)| ask(at, cut, true));
        last.iter().zip(self.last..).for_each(|(cut, at)| ask(at, cut, false));
        let mut out = [[0; ROWS]; R];
        for (out, leaves) in out.iter_mut().zip(leaves) {
            // SAFETY: there are as many places as bytes in the register.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), leaves) };
        }
        out
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn leaves_avx2<const R: usize>(
        &self,
        ranks: &[[PerRow; R]],
        block: usize,
        coming: &mut [PerRow; MOST_LEAVES],
    ) -> PerRow {
        self.leaves_plain(ranks, block, coming)
    }

    /// Plain loops, which compile to vector code of any processor: all bits of a byte say that its row comes by.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "compiled for the processor of the caller")]
    fn leaves_plain<const R: usize>(
        &self,
        ranks: &[[PerRow; R]],
        block: usize,
        coming: &mut [PerRow; MOST_LEAVES],
    ) -> PerRow {
        coming[0] = [u8::MAX; ROWS];
        let mut leaves = [0; ROWS];
        let (cuts, last) = self.all.split_at(self.last);
        for (at, cut) in cuts.iter().enumerate() {
            let (own, here) = (&ranks[usize::from(cut.column)][block], coming[at]);
            let (mut left, mut right) = (here, here);
            for row in 0..ROWS {
                right[row] = if own[row] >= cut.least { here[row] } else { 0 };
                left[row] = here[row] ^ right[row];
                leaves[row] += right[row] & cut.left;
            }
            coming[usize::from(cut.next[0])] = left;
            coming[usize::from(cut.next[1])] = right;
        }
        for (cut, here) in last.iter().zip(&coming[self.last..]) {
            let own = &ranks[usize::from(cut.column)][block];
            for row in 0..ROWS {
                let passes = u8::from(own[row] >= cut.least).wrapping_neg();
                leaves[row] += here[row] & passes & cut.left;
            }
        }
        leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_processors_find_the_leaves_of_plain_loops() {
        // A chain to the right and one to the left under one root, over three columns.
        let mut cuts = vec![Cut { column: 0, least: 100, left: 128, next: [1, 2] }];
        for level in 0..127 {
            let (at, last) = (1 + 2 * level, level == 126);
            let (column, rank) = (1 + u16::from(level % 2), level * 2);
            let down = |from: u8| if last { LEAF } else { from + 2 };
            cuts.push(Cut { column, least: 254 - rank, left: 127 - level, next: [down(at), LEAF] });
            cuts.push(Cut { column, least: rank + 1, left: 1, next: [LEAF, down(at + 1)] });
        }
        let cuts = Cuts::new(&cuts);
        for seed in 0..50 {
            let rank = |column: usize, block: usize, row: usize| (row * 4 + seed * 7 + column * 31 + block) as u8;
            let column = |column| std::array::from_fn(|block| std::array::from_fn(|row| rank(column, block, row)));
            let ranks: Vec<[PerRow; 2]> = (0..3).map(column).collect();
            let mut room = [[0; ROWS]; MOST_LEAVES];
            let plain = [0, 1].map(|block| cuts.leaves_plain(&ranks, block, &mut room));
            assert_eq!(cuts.leaves(&ranks, &mut room), plain);
        }
    }
}
