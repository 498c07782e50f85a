//! The nearest other centre of every centre of one partitioning, in `f32` with a certificate: a vector lane is a centre,
//! eight centres ask at a time. Used for the radii of balls, where ψ² distances per partitioning are wanted.
#![expect(clippy::inline_always, reason = "everything is inlined into the loop that was chosen for the processor")]
#![expect(unsafe_code, reason = "calls for a feature that was detected just before")]

use super::f32x16::{F32x16, WIDE, dispatch};
use super::panel::{ABREAST, ROUNDOFF};
use super::simd::Path;

/// The centres of a partitioning in blocks of sixteen, column by column, the last block filled up with infinity.
#[derive(Debug)]
pub(crate) struct Neighbours {
    d: usize,
    psi: usize,
    blocks: Vec<f32>,
    /// Computed squared distances up to the first are surely within the floor, those above the second surely not.
    floor: (f32, f32),
    precision: Precision,
}

/// How far computed distances can be off: by a share and a number, each enough for two distances.
#[derive(Debug)]
struct Precision {
    relative: f64,
    absolute: f64,
}

impl Precision {
    /// Coordinates are off by u of themselves, sums by u per term.
    fn new(d: usize, longest: f64) -> Self {
        let terms = (d + 10) as f64;
        Self {
            relative: 2.5 * terms * ROUNDOFF,
            absolute: 4.5 * ROUNDOFF * longest + 2.0 * (terms * f64::from(f32::MIN_POSITIVE)).sqrt(),
        }
    }

    /// The smallest square of which `squared` is surely below.
    fn above(&self, squared: f64) -> f64 {
        let most = squared.sqrt() * (1.0 + self.relative) + self.absolute;
        most * most * (1.0 + 8.0 * ROUNDOFF)
    }

    fn told_apart(&self, best: f32, second: f32) -> bool {
        f64::from(second) > self.above(best.into())
    }

    /// Computed squared distances up to the first are surely at most `squared`, those above the second surely more.
    fn about(&self, squared: f64) -> (f32, f32) {
        let least = (squared.sqrt() - self.absolute) / (1.0 + self.relative);
        let low = if least > 0.0 { ((least * least) as f32).next_down() } else { -1.0 };
        (low, (self.above(squared) as f32).next_up())
    }
}

/// What is known of the nearest centre beyond the floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Neighbour {
    /// This one, whatever rounding did.
    Centre(u32),
    /// None is beyond the floor.
    Nobody,
    /// Rounding might have decided.
    Unsure,
}

/// The best so far of a centre that asks, lane by lane.
#[derive(Clone, Copy)]
struct Standing {
    best: [f32; WIDE],
    second: [f32; WIDE],
    /// The block of the best, exact in `f32`.
    block: [f32; WIDE],
    /// Lanes in which a distance could not be told from the floor.
    doubt: u16,
}

impl Standing {
    const START: Self =
        Self { best: [f32::INFINITY; WIDE], second: [f32::INFINITY; WIDE], block: [0.0; WIDE], doubt: 0 };
}

impl Neighbours {
    /// `centre(j, z)` fills in centre j, at most `longest` long; with a floor, a squared distance, centres within it do
    /// not count.
    pub(crate) fn new(
        d: usize,
        psi: usize,
        longest: f64,
        floor: Option<f64>,
        mut centre: impl FnMut(usize, &mut [f64]),
    ) -> Self {
        let mut blocks = vec![f32::INFINITY; psi.next_multiple_of(WIDE) * d];
        let mut z = vec![0.0; d];
        for j in 0..psi {
            centre(j, &mut z);
            let block = &mut blocks[j / WIDE * WIDE * d..][..WIDE * d];
            block.iter_mut().skip(j % WIDE).step_by(WIDE).zip(&z).for_each(|(slot, &value)| *slot = value as f32);
        }
        let precision = Precision::new(d, longest);
        let floor = floor.map_or((-1.0, -1.0), |floor| precision.about(floor));
        Self { d, psi, blocks, floor, precision }
    }

    /// Calls `found(j, scale, neighbour)` for every centre j and scale, the nearest among the first `ends[scale]`
    /// centres, scales ascending; `ends` ascends, and all but the last are whole blocks.
    pub(crate) fn find(&self, path: Path, ends: &[usize], mut found: impl FnMut(usize, usize, Neighbour)) {
        let mut tile = vec![0.0; ABREAST * self.d];
        for first in (0..self.psi).step_by(ABREAST) {
            let block = self.blocks[first / WIDE * WIDE * self.d..][..WIDE * self.d].as_chunks::<WIDE>().0;
            for (column, tile) in block.iter().zip(tile.as_chunks_mut::<ABREAST>().0) {
                tile.copy_from_slice(&column[first % WIDE..][..ABREAST]);
            }
            let mut standings = [Standing::START; ABREAST];
            let mut start = 0;
            for (scale, &end) in ends.iter().enumerate() {
                compare(path, self, start..end.div_ceil(WIDE), first, &tile, &mut standings);
                start = end / WIDE;
                for (r, standing) in standings.iter().enumerate().take(self.psi - first) {
                    if first + r < end {
                        found(first + r, scale, self.outcome(standing));
                    }
                }
            }
        }
    }

    /// The best of all lanes, if it is sure.
    fn outcome(&self, standing: &Standing) -> Neighbour {
        let mut lane = 0;
        let mut second = f32::INFINITY;
        for other in 1..WIDE {
            let nearer = standing.best[other] < standing.best[lane];
            second = second.min(standing.best[if nearer { lane } else { other }]);
            lane = if nearer { other } else { lane };
        }
        second = second.min(standing.second[lane]);
        let best = standing.best[lane];
        if standing.doubt != 0 {
            Neighbour::Unsure
        } else if best == f32::INFINITY {
            Neighbour::Nobody
        } else if self.precision.told_apart(best, second) {
            Neighbour::Centre(standing.block[lane] as u32 * WIDE as u32 + lane as u32)
        } else {
            Neighbour::Unsure
        }
    }
}

dispatch! {
    /// Compares the eight centres of a tile, the first of them `first`, with some of the blocks.
    fn compare = compare_on(
        all: &Neighbours,
        blocks: std::ops::Range<usize>,
        first: usize,
        tile: &[f32],
        standings: &mut [Standing; ABREAST],
    )
}

#[inline(always)]
fn compare_on<V: F32x16>(
    all: &Neighbours,
    blocks: std::ops::Range<usize>,
    first: usize,
    tile: &[f32],
    standings: &mut [Standing; ABREAST],
) {
    let d = all.d;
    let tile = &tile.as_chunks::<ABREAST>().0[..d];
    let (low, high) = (V::splat(all.floor.0), V::splat(all.floor.1));
    for block in blocks {
        let columns = all.blocks[block * WIDE * d..][..WIDE * d].as_chunks::<WIDE>().0;
        let mut sums = [V::splat(0.0); ABREAST];
        for (z, x) in columns.iter().zip(tile) {
            let z = V::load(z);
            for r in 0..ABREAST {
                sums[r] = V::splat(x[r]).sub(z).square_add(sums[r]);
            }
        }
        if block == first / WIDE {
            // Nobody is a neighbour of itself.
            for (r, sum) in sums.iter_mut().enumerate() {
                let mut lanes = [0.0; WIDE];
                sum.store(&mut lanes);
                lanes[(first + r) % WIDE] = f32::INFINITY;
                *sum = V::load(&lanes);
            }
        }
        let number = V::splat(block as f32);
        for (standing, sum) in standings.iter_mut().zip(sums) {
            standing.doubt |= sum.at_most(high) & !sum.at_most(low);
            let sum = sum.beyond(high);
            let (best, second) = (V::load(&standing.best), V::load(&standing.second));
            sum.max(best).min(second).store(&mut standing.second);
            let (best, at) = sum.closer(best, number, V::load(&standing.block));
            best.store(&mut standing.best);
            at.store(&mut standing.block);
        }
    }
}
