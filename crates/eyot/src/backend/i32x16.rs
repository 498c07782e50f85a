//! Sixteen whole numbers side by side, as [`F32x16`] is for `f32`. Whole numbers leave no choice of rounding: all
//! instruction sets give the same.
#![expect(clippy::inline_always, reason = "everything is inlined into the loop that was chosen for the processor")]
#![expect(unsafe_code, reason = "vector instructions, called only where the processor was found to have them")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256i, __m512i, _mm_cvtsi32_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_blendv_epi8, _mm256_castsi256_ps,
    _mm256_cmpeq_epi32, _mm256_cmpgt_epi16, _mm256_cvtepi32_ps, _mm256_loadu_si256, _mm256_madd_epi16,
    _mm256_max_epi32, _mm256_min_epi32, _mm256_movemask_epi8, _mm256_movemask_ps, _mm256_or_si256, _mm256_packs_epi16,
    _mm256_packs_epi32, _mm256_permute4x64_epi64, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_setr_epi32,
    _mm256_slli_epi16, _mm256_sra_epi32, _mm256_srai_epi16, _mm256_srli_epi16, _mm256_storeu_si256, _mm512_add_epi32,
    _mm512_and_si512, _mm512_cmpeq_epi32_mask, _mm512_cmpge_epi16_mask, _mm512_cmpneq_epi32_mask, _mm512_cvtepi32_ps,
    _mm512_cvtsepi32_epi16, _mm512_dpbusd_epi32, _mm512_dpwssd_epi32, _mm512_loadu_si512, _mm512_madd_epi16,
    _mm512_mask_mov_epi32, _mm512_max_epi32, _mm512_min_epi32, _mm512_or_si512, _mm512_reduce_add_epi32,
    _mm512_set1_epi16, _mm512_set1_epi32, _mm512_slli_epi16, _mm512_sra_epi32, _mm512_srai_epi16, _mm512_srli_epi16,
    _mm512_storeu_si512,
};

use super::f32x16::{self, F32x16, WIDE};

/// Weights that are compared at once.
pub(super) const SCORES: usize = 32;

/// The last bits of a number that is [`I32x16::numbered`].
pub(super) const NUMBER: i32 = 255;

/// Sixteen whole numbers of 32 bits, or sixteen pairs of 16 bits.
pub(super) trait I32x16: Copy {
    /// The same lanes in `f32`.
    type Float: F32x16;
    fn splat(value: i32) -> Self;
    fn load(values: &[i32; WIDE]) -> Self;
    fn store(self, out: &mut [i32; WIDE]);
    fn add(self, other: Self) -> Self;
    /// self + the products of both halves.
    fn add_products(self, x: Self, z: Self) -> Self;
    /// self with a number instead of its last bits.
    fn numbered(self, number: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    /// `same` where self equals other, elsewhere `changed`.
    fn where_same(self, other: Self, same: Self, changed: Self) -> Self;
    /// That of `other` in the lanes whose bit is set; elsewhere itself.
    fn replaced(self, lanes: u16, other: Self) -> Self;
    /// Bit i says whether lane i is another number than that of `other`.
    fn differs(self, other: Self) -> u16;
    /// Each number in `f32`, rounded.
    fn to_float(self) -> Self::Float;
    /// Adds Σ x·z of the four bytes in each lane, those of `x` without and those of `z` with a sign.
    fn add_bytes(self, x: Self, z: Self) -> Self;
    /// Without the last `shift` bits, in 16 bits; what does not fit becomes the end of the range.
    fn store_narrow(self, shift: u32, out: &mut [i16; WIDE]);
    /// The sum of all lanes.
    fn sum(self) -> i32;
    /// A bit for every weight that is no less.
    fn scores_from(scores: &[i16; SCORES], least: i16) -> u32;
}

/// Plain code, for any processor.
#[derive(Clone, Copy)]
pub(super) struct Plain([i32; WIDE]);

impl Plain {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(i32, i32) -> i32) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

impl I32x16 for Plain {
    type Float = f32x16::Plain;

    #[inline(always)]
    fn splat(value: i32) -> Self {
        Self([value; WIDE])
    }
    #[inline(always)]
    fn load(values: &[i32; WIDE]) -> Self {
        Self(*values)
    }
    #[inline(always)]
    fn store(self, out: &mut [i32; WIDE]) {
        *out = self.0;
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
    #[inline(always)]
    fn add_products(self, x: Self, z: Self) -> Self {
        let products = x.zip(z, |x, z| (x << 16 >> 16) * (z << 16 >> 16) + (x >> 16) * (z >> 16));
        self.add(products)
    }
    #[inline(always)]
    fn numbered(self, number: Self) -> Self {
        self.zip(number, |a, number| a & !NUMBER | number)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, i32::min)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, i32::max)
    }
    #[inline(always)]
    fn where_same(self, other: Self, same: Self, changed: Self) -> Self {
        Self(std::array::from_fn(|i| if self.0[i] == other.0[i] { same.0[i] } else { changed.0[i] }))
    }
    #[inline(always)]
    fn replaced(self, lanes: u16, other: Self) -> Self {
        Self(std::array::from_fn(|i| if lanes >> i & 1 == 1 { other.0[i] } else { self.0[i] }))
    }
    #[inline(always)]
    fn differs(self, other: Self) -> u16 {
        (0..WIDE).fold(0, |mask, i| mask | u16::from(self.0[i] != other.0[i]) << i)
    }
    #[inline(always)]
    fn to_float(self) -> Self::Float {
        f32x16::Plain::load(&self.0.map(|value| value as f32))
    }
    #[inline(always)]
    fn add_bytes(self, x: Self, z: Self) -> Self {
        let products = x.zip(z, |x, z| {
            let (x, z) = (x.to_le_bytes(), z.to_le_bytes());
            (0..4).map(|at| i32::from(x[at]) * i32::from(z[at].cast_signed())).sum()
        });
        self.add(products)
    }
    #[inline(always)]
    fn store_narrow(self, shift: u32, out: &mut [i16; WIDE]) {
        for (slot, value) in out.iter_mut().zip(self.0) {
            *slot = (value >> shift).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
        }
    }
    #[inline(always)]
    fn sum(self) -> i32 {
        self.0.iter().sum()
    }
    #[inline(always)]
    fn scores_from(scores: &[i16; SCORES], least: i16) -> u32 {
        (0..SCORES).fold(0, |bits, at| bits | u32::from(scores[at] >= least) << at)
    }
}

/// One register of AVX-512, with products of 16 bits added up in one instruction where there is VNNI.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx512<const VNNI: bool>(__m512i);

// SAFETY of all below: the type is used only inside functions compiled for AVX-512 (with VNNI), which run only where it
// was found; loads and stores cover exactly the 16 numbers of the array.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::undocumented_unsafe_blocks, reason = "said once, above, for all of them")]
impl<const VNNI: bool> I32x16 for Avx512<VNNI> {
    type Float = f32x16::Avx512;

    #[inline(always)]
    fn splat(value: i32) -> Self {
        Self(unsafe { _mm512_set1_epi32(value) })
    }
    #[inline(always)]
    fn load(values: &[i32; WIDE]) -> Self {
        Self(unsafe { _mm512_loadu_si512(values.as_ptr().cast()) })
    }
    #[inline(always)]
    fn store(self, out: &mut [i32; WIDE]) {
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), self.0) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(unsafe { _mm512_add_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn add_products(self, x: Self, z: Self) -> Self {
        Self(unsafe {
            if VNNI {
                _mm512_dpwssd_epi32(self.0, x.0, z.0)
            } else {
                _mm512_add_epi32(self.0, _mm512_madd_epi16(x.0, z.0))
            }
        })
    }
    #[inline(always)]
    fn numbered(self, number: Self) -> Self {
        Self(unsafe { _mm512_or_si512(_mm512_and_si512(self.0, _mm512_set1_epi32(!NUMBER)), number.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(unsafe { _mm512_min_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(unsafe { _mm512_max_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn where_same(self, other: Self, same: Self, changed: Self) -> Self {
        Self(unsafe { _mm512_mask_mov_epi32(changed.0, _mm512_cmpeq_epi32_mask(self.0, other.0), same.0) })
    }
    #[inline(always)]
    fn replaced(self, lanes: u16, other: Self) -> Self {
        Self(unsafe { _mm512_mask_mov_epi32(self.0, lanes, other.0) })
    }
    #[inline(always)]
    fn differs(self, other: Self) -> u16 {
        unsafe { _mm512_cmpneq_epi32_mask(self.0, other.0) }
    }
    #[inline(always)]
    fn to_float(self) -> Self::Float {
        f32x16::Avx512::new(unsafe { _mm512_cvtepi32_ps(self.0) })
    }
    #[inline(always)]
    fn add_bytes(self, x: Self, z: Self) -> Self {
        Self(unsafe {
            if VNNI {
                _mm512_dpbusd_epi32(self.0, x.0, z.0)
            } else {
                let even = _mm512_madd_epi16(
                    _mm512_and_si512(x.0, _mm512_set1_epi16(0xFF)),
                    _mm512_srai_epi16::<8>(_mm512_slli_epi16::<8>(z.0)),
                );
                let odd = _mm512_madd_epi16(_mm512_srli_epi16::<8>(x.0), _mm512_srai_epi16::<8>(z.0));
                _mm512_add_epi32(self.0, _mm512_add_epi32(even, odd))
            }
        })
    }
    #[inline(always)]
    fn store_narrow(self, shift: u32, out: &mut [i16; WIDE]) {
        unsafe {
            let shifted = _mm512_sra_epi32(self.0, _mm_cvtsi32_si128(shift.cast_signed()));
            _mm256_storeu_si256(out.as_mut_ptr().cast(), _mm512_cvtsepi32_epi16(shifted));
        }
    }
    #[inline(always)]
    fn sum(self) -> i32 {
        unsafe { _mm512_reduce_add_epi32(self.0) }
    }
    #[inline(always)]
    fn scores_from(scores: &[i16; SCORES], least: i16) -> u32 {
        unsafe { _mm512_cmpge_epi16_mask(_mm512_loadu_si512(scores.as_ptr().cast()), _mm512_set1_epi16(least)) }
    }
}

/// Two registers of AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256i, __m256i);

// SAFETY of all below: as above, for AVX2.
#[cfg(target_arch = "x86_64")]
#[expect(clippy::undocumented_unsafe_blocks, reason = "said once, above, for all of them")]
impl I32x16 for Avx2 {
    type Float = f32x16::Avx2;

    #[inline(always)]
    fn splat(value: i32) -> Self {
        let half = unsafe { _mm256_set1_epi32(value) };
        Self(half, half)
    }
    #[inline(always)]
    fn load(values: &[i32; WIDE]) -> Self {
        let half = |at: usize| unsafe { _mm256_loadu_si256(values.as_ptr().add(at).cast()) };
        Self(half(0), half(8))
    }
    #[inline(always)]
    fn store(self, out: &mut [i32; WIDE]) {
        unsafe {
            _mm256_storeu_si256(out.as_mut_ptr().cast(), self.0);
            _mm256_storeu_si256(out.as_mut_ptr().add(8).cast(), self.1);
        }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        unsafe { Self(_mm256_add_epi32(self.0, other.0), _mm256_add_epi32(self.1, other.1)) }
    }
    #[inline(always)]
    fn add_products(self, x: Self, z: Self) -> Self {
        let half = |sum, x, z| unsafe { _mm256_add_epi32(sum, _mm256_madd_epi16(x, z)) };
        Self(half(self.0, x.0, z.0), half(self.1, x.1, z.1))
    }
    #[inline(always)]
    fn numbered(self, number: Self) -> Self {
        let half = |a, number| unsafe { _mm256_or_si256(_mm256_and_si256(a, _mm256_set1_epi32(!NUMBER)), number) };
        Self(half(self.0, number.0), half(self.1, number.1))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        unsafe { Self(_mm256_min_epi32(self.0, other.0), _mm256_min_epi32(self.1, other.1)) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        unsafe { Self(_mm256_max_epi32(self.0, other.0), _mm256_max_epi32(self.1, other.1)) }
    }
    #[inline(always)]
    fn where_same(self, other: Self, same: Self, changed: Self) -> Self {
        let half = |a, b, same, changed| unsafe { _mm256_blendv_epi8(changed, same, _mm256_cmpeq_epi32(a, b)) };
        Self(half(self.0, other.0, same.0, changed.0), half(self.1, other.1, same.1, changed.1))
    }
    #[inline(always)]
    fn replaced(self, lanes: u16, other: Self) -> Self {
        let half = |a, other, lanes: i32| unsafe {
            let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let set = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(lanes), bits), bits);
            _mm256_blendv_epi8(a, other, set)
        };
        Self(half(self.0, other.0, i32::from(lanes)), half(self.1, other.1, i32::from(lanes >> 8)))
    }
    #[inline(always)]
    fn differs(self, other: Self) -> u16 {
        let same = |a, b| unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b))) } as u16;
        !(same(self.0, other.0) | same(self.1, other.1) << 8)
    }
    #[inline(always)]
    fn to_float(self) -> Self::Float {
        f32x16::Avx2::new(unsafe { _mm256_cvtepi32_ps(self.0) }, unsafe { _mm256_cvtepi32_ps(self.1) })
    }
    #[inline(always)]
    fn add_bytes(self, x: Self, z: Self) -> Self {
        // The instruction for bytes clips its sums, so bytes become words first.
        let half = |sum, x, z| unsafe {
            let even = _mm256_madd_epi16(
                _mm256_and_si256(x, _mm256_set1_epi16(0xFF)),
                _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(z)),
            );
            let odd = _mm256_madd_epi16(_mm256_srli_epi16::<8>(x), _mm256_srai_epi16::<8>(z));
            _mm256_add_epi32(sum, _mm256_add_epi32(even, odd))
        };
        Self(half(self.0, x.0, z.0), half(self.1, x.1, z.1))
    }
    #[inline(always)]
    fn store_narrow(self, shift: u32, out: &mut [i16; WIDE]) {
        unsafe {
            let shift = _mm_cvtsi32_si128(shift.cast_signed());
            let (low, high) = (_mm256_sra_epi32(self.0, shift), _mm256_sra_epi32(self.1, shift));
            let mixed = _mm256_packs_epi32(low, high);
            _mm256_storeu_si256(out.as_mut_ptr().cast(), _mm256_permute4x64_epi64::<0b11_01_10_00>(mixed));
        }
    }
    #[inline(always)]
    fn sum(self) -> i32 {
        let mut lanes = [0; WIDE];
        self.store(&mut lanes);
        lanes.iter().sum()
    }
    #[inline(always)]
    fn scores_from(scores: &[i16; SCORES], least: i16) -> u32 {
        let below = |at: usize| unsafe {
            _mm256_cmpgt_epi16(_mm256_set1_epi16(least), _mm256_loadu_si256(scores.as_ptr().add(at).cast()))
        };
        unsafe {
            let mixed = _mm256_packs_epi16(below(0), below(16));
            !_mm256_movemask_epi8(_mm256_permute4x64_epi64::<0b11_01_10_00>(mixed)).cast_unsigned()
        }
    }
}

/// Whether the processor has all that [`Avx512`] needs, without and with VNNI.
#[cfg(target_arch = "x86_64")]
pub(super) fn has_whole_avx512() -> (bool, bool) {
    let words = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
    (words, words && is_x86_feature_detected!("avx512vnni"))
}

/// Whether [`I32x16::add_bytes`] is one instruction here.
pub(crate) fn bytes_are_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    return has_whole_avx512().1;
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// As `dispatch!`, for functions that are generic over [`I32x16`].
macro_rules! dispatch_whole {
    ($(#[$doc:meta])* $vis:vis fn $name:ident = $generic:ident $(<$(const $const:ident: usize),+>)? ($($arg:ident: $type:ty),* $(,)?)) => {
        $(#[$doc])*
        $vis fn $name $(<$(const $const: usize),+>)? (path: $crate::backend::simd::Path, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
            fn vnni $(<$(const $const: usize),+>)? ($($arg: $type),*) {
                $generic::<$crate::backend::i32x16::Avx512<true> $($(, $const)+)?>($($arg),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw")]
            fn avx512 $(<$(const $const: usize),+>)? ($($arg: $type),*) {
                $generic::<$crate::backend::i32x16::Avx512<false> $($(, $const)+)?>($($arg),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2 $(<$(const $const: usize),+>)? ($($arg: $type),*) {
                $generic::<$crate::backend::i32x16::Avx2 $($(, $const)+)?>($($arg),*);
            }
            match path {
                $crate::backend::simd::Path::Plain => {
                    $generic::<$crate::backend::i32x16::Plain $($(, $const)+)?>($($arg),*);
                }
                // SAFETY: the features were detected just before; AVX-512 comes with AVX2 and FMA.
                #[cfg(target_arch = "x86_64")]
                $crate::backend::simd::Path::Avx512 => unsafe {
                    match $crate::backend::i32x16::has_whole_avx512() {
                        (_, true) => vnni $(::<$($const),+>)? ($($arg),*),
                        (true, _) => avx512 $(::<$($const),+>)? ($($arg),*),
                        _ => avx2 $(::<$($const),+>)? ($($arg),*),
                    }
                },
                // SAFETY: a path is only named where its features were detected.
                #[cfg(target_arch = "x86_64")]
                $crate::backend::simd::Path::Avx2 => unsafe { avx2 $(::<$($const),+>)? ($($arg),*) },
            }
        }
    };
}
pub(super) use dispatch_whole;
