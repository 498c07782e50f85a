//! The first leaf that no cut has ruled out: one mask of leaves per column, all of them and-ed.
#![expect(unsafe_code, reason = "vector loads from tables that are long enough for any index")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm256_and_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi64, _mm256_loadu_si256, _mm256_movemask_pd,
    _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_storeu_si256,
};

/// Leaves that a tree may have.
pub(crate) const MOST_LEAVES: usize = 256;

/// Bit j is 0 if leaf j is ruled out.
pub(crate) type Mask = [u64; MOST_LEAVES / 64];

/// Places that values can have: any number of 16 bits.
pub(crate) const PLACES: usize = 1 << 16;

/// Rows that are looked up side by side.
#[cfg(target_arch = "x86_64")]
const ABREAST: usize = 8;

/// One tree as masks of its leaves.
#[derive(Debug, Clone)]
pub(crate) struct MaskedTree {
    /// Of every place the number of its mask within its column.
    numbers: Box<[u8; PLACES]>,
    /// The first mask of every column.
    firsts: Vec<u32>,
    /// Column by column; at least 256 from every first one on, so that any number finds one.
    masks: Vec<Mask>,
}

impl MaskedTree {
    /// A tree from the masks of every column, of which none rules out the last leaf.
    pub(crate) fn new(numbers: Box<[u8; PLACES]>, columns: &[Vec<Mask>]) -> Self {
        let mut masks = Vec::new();
        let mut firsts = Vec::with_capacity(columns.len());
        for column in columns {
            firsts.push(masks.len() as u32);
            masks.extend_from_slice(column);
        }
        masks.resize(firsts.last().map_or(0, |&first| first as usize) + (1 << u8::BITS), [!0; _]);
        Self { numbers, firsts, masks }
    }

    /// The leaf of every row; `places` are those of its values, one per column, row after row.
    pub(crate) fn leaves(&self, places: &[u16], leaves: &mut [u8]) {
        assert_eq!(places.len(), leaves.len() * self.firsts.len(), "one place per column");
        let mut done = 0;
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") {
            done = leaves.len() / ABREAST * ABREAST;
            // SAFETY: the features were detected just now.
            unsafe { self.leaves_avx2(places, &mut leaves[..done]) };
        }
        self.leaves_plain(&places[done * self.firsts.len()..], &mut leaves[done..]);
    }

    fn leaves_plain(&self, places: &[u16], leaves: &mut [u8]) {
        for (places, leaf) in places.chunks_exact(self.firsts.len()).zip(leaves) {
            let mut open: Mask = [!0; _];
            for (&place, &first) in places.iter().zip(&self.firsts) {
                let mask = &self.masks[first as usize + usize::from(self.numbers[usize::from(place)])];
                open.iter_mut().zip(mask).for_each(|(open, word)| *open &= word);
            }
            let word = open.iter().position(|&word| word != 0).unwrap_or(0);
            *leaf = (open[word].trailing_zeros() + 64 * word as u32) as u8;
        }
    }

    /// The same for whole groups of [`ABREAST`] rows.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1")]
    fn leaves_avx2(&self, places: &[u16], leaves: &mut [u8]) {
        let columns = self.firsts.len();
        for (places, leaves) in places.chunks_exact(ABREAST * columns).zip(leaves.as_chunks_mut::<ABREAST>().0) {
            let mut open = [_mm256_set1_epi64x(-1); ABREAST];
            for (column, &first) in self.firsts.iter().enumerate() {
                for (row, open) in open.iter_mut().enumerate() {
                    // SAFETY: row·columns + column is below the length of this group.
                    let place = unsafe { *places.get_unchecked(row * columns + column) };
                    let number = self.numbers[usize::from(place)];
                    // SAFETY: there are at least 256 masks from `first` on.
                    *open = unsafe {
                        let mask = self.masks.as_ptr().add(first as usize + usize::from(number));
                        _mm256_and_si256(*open, _mm256_loadu_si256(mask.cast()))
                    };
                }
            }
            for (leaf, open) in leaves.iter_mut().zip(open) {
                let mut words: Mask = [0; _];
                // SAFETY: the words are as many bits as the vector.
                unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), open) };
                let none_open = _mm256_cmpeq_epi64(open, _mm256_setzero_si256());
                let word = (!_mm256_movemask_pd(_mm256_castsi256_pd(none_open))).trailing_zeros() % 4;
                *leaf = (words[word as usize].trailing_zeros() + 64 * word) as u8;
            }
        }
    }
}
