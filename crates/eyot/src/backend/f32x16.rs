//! Sixteen `f32` side by side, written for AVX-512, AVX2 and as plain code, so that what proposes nearest centres is
//! written once. The three may round differently (fused or not): whatever they propose is certified by bounds that
//! hold for all of them.
#![expect(clippy::inline_always, reason = "everything is inlined into the loop that was chosen for the processor")]
#![expect(unsafe_code, reason = "vector instructions, called only where the processor was found to have them")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256, __m512, _CMP_LE_OQ, _CMP_LT_OQ, _mm_loadl_epi64, _mm_loadu_si128, _mm256_add_ps, _mm256_and_si256,
    _mm256_blendv_ps, _mm256_castsi256_ps, _mm256_cmp_ps, _mm256_cmpeq_epi32, _mm256_cvtepi8_epi32,
    _mm256_cvtepu8_epi32, _mm256_fmadd_ps, _mm256_i32gather_ps, _mm256_loadu_ps, _mm256_max_ps, _mm256_min_ps,
    _mm256_movemask_ps, _mm256_permutevar8x32_ps, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setr_epi32,
    _mm256_slli_epi32, _mm256_storeu_ps, _mm256_sub_ps, _mm512_add_ps, _mm512_cmp_ps_mask, _mm512_cvtepu8_epi32,
    _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_mask_min_ps, _mm512_mask_mov_ps, _mm512_max_ps, _mm512_min_ps,
    _mm512_permutex2var_ps, _mm512_permutexvar_ps, _mm512_set1_epi32, _mm512_set1_ps, _mm512_storeu_ps, _mm512_sub_ps,
    _mm512_test_epi32_mask,
};

/// Lanes of a vector.
pub(crate) const WIDE: usize = 16;

/// Numbers that a byte can name without its first bit.
pub(super) const NAMES: usize = 128;

/// Sixteen numbers. Every function is inlined into one that was compiled for the instruction set.
pub(super) trait F32x16: Copy {
    fn splat(value: f32) -> Self;
    fn load(values: &[f32; WIDE]) -> Self;
    fn store(self, out: &mut [f32; WIDE]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    /// self² + sum.
    fn square_add(self, sum: Self) -> Self;
    /// self · other + sum.
    fn product_add(self, other: Self, sum: Self) -> Self;
    fn min(self, other: Self) -> Self;
    /// Where `self` is below `best`, itself and `number`; elsewhere `best` and `best_number`.
    fn closer(self, best: Self, number: Self, best_number: Self) -> (Self, Self);
    /// A NaN counts as nothing: of a NaN in `self` and a number, the number is returned.
    fn max(self, other: Self) -> Self;
    /// Bit i says whether lane i is at most that of `other`.
    fn at_most(self, other: Self) -> u16;
    /// Infinity where it is at most `limit`.
    fn beyond(self, limit: Self) -> Self;
    /// The smaller of the two in the lanes whose bit is set; elsewhere itself.
    fn lowered(self, lanes: u16, to: Self) -> Self;
    /// In each lane the lane named; only the last four bits of a name count.
    fn pick(self, lanes: &[u8; WIDE]) -> Self;
    /// In each lane the number named, or −1 where the name has its first bit set.
    fn gather(table: &[f32; NAMES], names: &[u8; WIDE]) -> Self;
}

/// Plain code, for any processor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain([f32; WIDE]);

impl Plain {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

impl F32x16 for Plain {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; WIDE])
    }
    #[inline(always)]
    fn load(values: &[f32; WIDE]) -> Self {
        Self(*values)
    }
    #[inline(always)]
    fn store(self, out: &mut [f32; WIDE]) {
        *out = self.0;
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
    #[inline(always)]
    fn square_add(self, sum: Self) -> Self {
        self.zip(sum, |a, sum| a * a + sum)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn product_add(self, other: Self, sum: Self) -> Self {
        self.zip(other, |a, b| a * b).zip(sum, |product, sum| product + sum)
    }
    #[inline(always)]
    fn closer(self, best: Self, number: Self, best_number: Self) -> (Self, Self) {
        let pick = |i: usize| if self.0[i] < best.0[i] { number.0[i] } else { best_number.0[i] };
        (self.min(best), Self(std::array::from_fn(pick)))
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> u16 {
        (0..WIDE).fold(0, |mask, i| mask | u16::from(self.0[i] <= other.0[i]) << i)
    }
    #[inline(always)]
    fn beyond(self, limit: Self) -> Self {
        self.zip(limit, |a, limit| if a <= limit { f32::INFINITY } else { a })
    }
    #[inline(always)]
    fn lowered(self, lanes: u16, to: Self) -> Self {
        let lower = self.min(to);
        Self(std::array::from_fn(|i| if lanes >> i & 1 == 1 { lower.0[i] } else { self.0[i] }))
    }
    #[inline(always)]
    fn pick(self, lanes: &[u8; WIDE]) -> Self {
        Self(std::array::from_fn(|i| self.0[usize::from(lanes[i]) % WIDE]))
    }
    #[inline(always)]
    fn gather(table: &[f32; NAMES], names: &[u8; WIDE]) -> Self {
        Self(std::array::from_fn(|i| table.get(usize::from(names[i])).copied().unwrap_or(-1.0)))
    }
}

/// One register of AVX-512.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx512(__m512);

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    #[inline(always)]
    pub(super) fn new(values: __m512) -> Self {
        Self(values)
    }
}

// SAFETY of all below: the type is used only inside functions compiled for AVX-512, which run only where it was found;
// loads and stores cover exactly the 16 numbers of the array, and a table has a number for every name.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::undocumented_unsafe_blocks, reason = "said once, above, for all of them")]
impl F32x16 for Avx512 {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(unsafe { _mm512_set1_ps(value) })
    }
    #[inline(always)]
    fn load(values: &[f32; WIDE]) -> Self {
        Self(unsafe { _mm512_loadu_ps(values.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, out: &mut [f32; WIDE]) {
        unsafe { _mm512_storeu_ps(out.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(unsafe { _mm512_add_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(unsafe { _mm512_sub_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn square_add(self, sum: Self) -> Self {
        Self(unsafe { _mm512_fmadd_ps(self.0, self.0, sum.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(unsafe { _mm512_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(unsafe { _mm512_min_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn product_add(self, other: Self, sum: Self) -> Self {
        Self(unsafe { _mm512_fmadd_ps(self.0, other.0, sum.0) })
    }
    #[inline(always)]
    fn closer(self, best: Self, number: Self, best_number: Self) -> (Self, Self) {
        unsafe {
            let below = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, best.0);
            let number = _mm512_mask_mov_ps(best_number.0, below, number.0);
            (Self(_mm512_min_ps(self.0, best.0)), Self(number))
        }
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> u16 {
        unsafe { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0) }
    }
    #[inline(always)]
    fn beyond(self, limit: Self) -> Self {
        let within = self.at_most(limit);
        Self(unsafe { _mm512_mask_mov_ps(self.0, within, _mm512_set1_ps(f32::INFINITY)) })
    }
    #[inline(always)]
    fn lowered(self, lanes: u16, to: Self) -> Self {
        Self(unsafe { _mm512_mask_min_ps(self.0, lanes, self.0, to.0) })
    }
    #[inline(always)]
    fn pick(self, lanes: &[u8; WIDE]) -> Self {
        unsafe {
            let lanes = _mm512_cvtepu8_epi32(_mm_loadu_si128(lanes.as_ptr().cast()));
            Self(_mm512_permutexvar_ps(lanes, self.0))
        }
    }
    #[inline(always)]
    fn gather(table: &[f32; NAMES], names: &[u8; WIDE]) -> Self {
        // The whole table in registers: a walk takes about a tenth less than with a gather, on the one processor tried.
        let table = table.as_chunks::<WIDE>().0;
        unsafe {
            let names = _mm512_cvtepu8_epi32(_mm_loadu_si128(names.as_ptr().cast()));
            let of_two =
                |at: usize| _mm512_permutex2var_ps(Self::load(&table[at]).0, names, Self::load(&table[at + 1]).0);
            let has = |bit: i32| _mm512_test_epi32_mask(names, _mm512_set1_epi32(bit));
            let low = _mm512_mask_mov_ps(of_two(0), has(32), of_two(2));
            let high = _mm512_mask_mov_ps(of_two(4), has(32), of_two(6));
            let named = _mm512_mask_mov_ps(low, has(64), high);
            Self(_mm512_mask_mov_ps(named, has(128), _mm512_set1_ps(-1.0)))
        }
    }
}

/// Two registers of AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256, __m256);

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    #[inline(always)]
    pub(super) fn new(low: __m256, high: __m256) -> Self {
        Self(low, high)
    }
}

// SAFETY of all below: as above, for AVX2 with FMA.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::undocumented_unsafe_blocks, reason = "said once, above, for all of them")]
impl F32x16 for Avx2 {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        let half = unsafe { _mm256_set1_ps(value) };
        Self(half, half)
    }
    #[inline(always)]
    fn load(values: &[f32; WIDE]) -> Self {
        unsafe { Self(_mm256_loadu_ps(values.as_ptr()), _mm256_loadu_ps(values.as_ptr().add(8))) }
    }
    #[inline(always)]
    fn store(self, out: &mut [f32; WIDE]) {
        unsafe {
            _mm256_storeu_ps(out.as_mut_ptr(), self.0);
            _mm256_storeu_ps(out.as_mut_ptr().add(8), self.1);
        }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        unsafe { Self(_mm256_add_ps(self.0, other.0), _mm256_add_ps(self.1, other.1)) }
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        unsafe { Self(_mm256_sub_ps(self.0, other.0), _mm256_sub_ps(self.1, other.1)) }
    }
    #[inline(always)]
    fn square_add(self, sum: Self) -> Self {
        unsafe { Self(_mm256_fmadd_ps(self.0, self.0, sum.0), _mm256_fmadd_ps(self.1, self.1, sum.1)) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        unsafe { Self(_mm256_max_ps(self.0, other.0), _mm256_max_ps(self.1, other.1)) }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        unsafe { Self(_mm256_min_ps(self.0, other.0), _mm256_min_ps(self.1, other.1)) }
    }
    #[inline(always)]
    fn product_add(self, other: Self, sum: Self) -> Self {
        unsafe { Self(_mm256_fmadd_ps(self.0, other.0, sum.0), _mm256_fmadd_ps(self.1, other.1, sum.1)) }
    }
    #[inline(always)]
    fn closer(self, best: Self, number: Self, best_number: Self) -> (Self, Self) {
        let half = |a, best, number, best_number| unsafe {
            _mm256_blendv_ps(best_number, number, _mm256_cmp_ps::<_CMP_LT_OQ>(a, best))
        };
        let number = Self(half(self.0, best.0, number.0, best_number.0), half(self.1, best.1, number.1, best_number.1));
        (self.min(best), number)
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> u16 {
        let half = |a, b| unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(a, b)) } as u16;
        half(self.0, other.0) | half(self.1, other.1) << 8
    }
    #[inline(always)]
    fn beyond(self, limit: Self) -> Self {
        let half = |a, limit| unsafe {
            _mm256_blendv_ps(a, _mm256_set1_ps(f32::INFINITY), _mm256_cmp_ps::<_CMP_LE_OQ>(a, limit))
        };
        Self(half(self.0, limit.0), half(self.1, limit.1))
    }
    #[inline(always)]
    fn lowered(self, lanes: u16, to: Self) -> Self {
        let half = |a, to, lanes: i32| unsafe {
            let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let set = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(lanes), bits), bits);
            _mm256_blendv_ps(a, _mm256_min_ps(a, to), _mm256_castsi256_ps(set))
        };
        Self(half(self.0, to.0, i32::from(lanes)), half(self.1, to.1, i32::from(lanes >> 8)))
    }
    #[inline(always)]
    fn pick(self, lanes: &[u8; WIDE]) -> Self {
        let half = |lanes: &[u8]| unsafe {
            let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(lanes.as_ptr().cast()));
            // The fourth bit says which register, as the sign of a number.
            let second = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(lanes));
            let (low, high) = (_mm256_permutevar8x32_ps(self.0, lanes), _mm256_permutevar8x32_ps(self.1, lanes));
            _mm256_blendv_ps(low, high, second)
        };
        Self(half(&lanes[..8]), half(&lanes[8..]))
    }
    #[inline(always)]
    fn gather(table: &[f32; NAMES], names: &[u8; WIDE]) -> Self {
        let half = |names: &[u8]| unsafe {
            let names = _mm256_cvtepi8_epi32(_mm_loadl_epi64(names.as_ptr().cast()));
            let inside = _mm256_and_si256(names, _mm256_set1_epi32(0x7F));
            let named = _mm256_i32gather_ps::<4>(table.as_ptr(), inside);
            _mm256_blendv_ps(named, _mm256_set1_ps(-1.0), _mm256_castsi256_ps(names))
        };
        Self(half(&names[..8]), half(&names[8..]))
    }
}

/// `dispatch! { fn name = generic<const R: usize>(arguments…) }` makes `name(path, arguments…)`, which runs
/// `generic<V: F32x16, …>`, an `#[inline(always)]` function, compiled for the instruction set of the path.
macro_rules! dispatch {
    ($(#[$doc:meta])* $vis:vis fn $name:ident = $generic:ident $(<$(const $const:ident: usize),+>)? ($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)?) => {
        $(#[$doc])*
        $vis fn $name $(<$(const $const: usize),+>)? (path: $crate::backend::simd::Path, $($arg: $type),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f")]
            fn avx512 $(<$(const $const: usize),+>)? ($($arg: $type),*) $(-> $out)? {
                $generic::<$crate::backend::f32x16::Avx512 $($(, $const)+)?>($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2 $(<$(const $const: usize),+>)? ($($arg: $type),*) $(-> $out)? {
                $generic::<$crate::backend::f32x16::Avx2 $($(, $const)+)?>($($arg),*)
            }
            match path {
                $crate::backend::simd::Path::Plain => {
                    $generic::<$crate::backend::f32x16::Plain $($(, $const)+)?>($($arg),*)
                }
                // SAFETY: a path is only named where its features were detected.
                #[cfg(target_arch = "x86_64")]
                $crate::backend::simd::Path::Avx2 => unsafe { avx2 $(::<$($const),+>)? ($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::backend::simd::Path::Avx512 => unsafe { avx512 $(::<$($const),+>)? ($($arg),*) },
            }
        }
    };
}
pub(super) use dispatch;
