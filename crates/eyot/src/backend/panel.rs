//! The search for the nearest of ψ centres in sixteen partitionings at once: a vector lane is a partitioning, so that
//! nothing has to be compared across lanes. In `f32`, with the best and the second best kept, so that the caller can
//! tell where rounding might have decided.
#![expect(clippy::inline_always, reason = "everything is inlined into the loop that was chosen for the processor")]
#![expect(unsafe_code, reason = "calls for a feature that was detected just before")]

use super::f32x16::{F32x16, WIDE, dispatch};
use super::room::Room;

/// Rows that are searched for together.
pub(super) const ABREAST: usize = 8;

/// Columns that are summed before the sum is added to the others: rounding grows with this number and with the number
/// of such sums, not with the number of columns.
const RUN: usize = 64;

/// Bytes of centres that are used for all rows before the next ones come: half of a first-level cache.
pub(super) const NEAR_BYTES: usize = 24 << 10;

/// Unit roundoff of `f32`.
pub(super) const ROUNDOFF: f64 = f32::EPSILON as f64 / 2.0;

/// Centres of sixteen partitionings, side by side.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    d: usize,
    /// Centre by centre, column by column, sixteen partitionings each; a missing centre is infinitely far.
    values: Vec<f32>,
    /// Half the squared length of every centre.
    halves: Vec<f32>,
    form: Form,
}

/// How the distance is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Σ(x − z)²: keeps its digits near the row.
    Difference,
    /// ‖z‖²/2 − ⟨x, z⟩, half of what the squared distance is above ‖x‖²: half the work, but the rounding is that of the
    /// lengths.
    Product,
}

/// Rows in tiles of [`ABREAST`] (a single row is its own tile), column by column within a tile, the last tile filled
/// up with zeros.
pub(crate) struct NarrowTiles {
    d: usize,
    /// Rows of a tile.
    abreast: usize,
    values: Room<f32, 64>,
    lengths: Room<f64, 1>,
}

impl NarrowTiles {
    pub(crate) fn new(n_rows: usize, d: usize) -> Self {
        let abreast = if n_rows == 1 { 1 } else { ABREAST };
        let values = Room::new(n_rows.div_ceil(abreast) * abreast * d, 0.0);
        Self { d, abreast, values, lengths: Room::new(n_rows, 0.0) }
    }

    /// Takes up a row and its length.
    pub(crate) fn place(&mut self, row: usize, x: &[f64], length: f64) {
        let tile = &mut self.values[row / self.abreast * self.abreast * self.d..][..self.abreast * self.d];
        tile.iter_mut()
            .skip(row % self.abreast)
            .step_by(self.abreast)
            .zip(x)
            .for_each(|(slot, &value)| *slot = value as f32);
        self.lengths[row] = length;
    }
}

/// What a panel says of a row and a partitioning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Proposal {
    /// The nearest centre, as far as is known.
    pub(crate) centre: u32,
    /// Which others can be as near.
    pub(crate) rivals: Rivals,
    /// Bounds of its squared distance, in the units of the panel.
    pub(crate) at_least: f64,
    pub(crate) at_most: f64,
}

impl Proposal {
    /// Where nothing is known.
    pub(crate) const UNKNOWN: Self = Self { centre: 0, rivals: Rivals::Many, at_least: 0.0, at_most: f64::INFINITY };
}

/// Centres that rounding cannot tell from the nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rivals {
    None,
    /// As many as this, who are named beside the proposal.
    Few(u8),
    Many,
}

impl Rivals {
    const fn none_if(sure: bool) -> Self {
        if sure { Self::None } else { Self::Many }
    }
}

/// The best of a row in sixteen partitionings so far.
#[derive(Debug, Clone, Copy)]
struct Standing {
    best: [f32; WIDE],
    second: [f32; WIDE],
    /// The number of the best centre, exact in `f32`.
    number: [f32; WIDE],
}

impl Standing {
    const START: Self = Self { best: [f32::INFINITY; WIDE], second: [f32::INFINITY; WIDE], number: [0.0; WIDE] };
}

impl Panel {
    /// The centres of up to 16 partitionings: `centre(lane, j, z)` fills in `z`, or returns that there is none.
    pub(crate) fn new(
        d: usize,
        psi: usize,
        form: Form,
        mut centre: impl FnMut(usize, usize, &mut [f64]) -> bool,
    ) -> Self {
        let mut values = vec![f32::INFINITY; psi * d * WIDE];
        let mut halves = vec![f32::INFINITY; psi * WIDE];
        let mut z = vec![0.0; d];
        for j in 0..psi {
            for lane in 0..WIDE {
                let here = values[j * d * WIDE..].iter_mut().skip(lane).step_by(WIDE);
                if centre(lane, j, &mut z) {
                    here.zip(&z).for_each(|(slot, &value)| *slot = value as f32);
                    halves[j * WIDE + lane] = (z.iter().map(|value| value * value).sum::<f64>() / 2.0) as f32;
                } else if form == Form::Product {
                    // ∞ times 0 would be no number; the infinite length alone keeps it away.
                    here.take(d).for_each(|slot| *slot = 0.0);
                }
            }
        }
        Self { d, values, halves, form }
    }

    /// Calls `found(row, lane, scale, proposal, rivals)` with the nearest of the first `ends[scale]` centres for every row and
    /// lane, scales ascending. `ends` ascends; `longest` is the length of the longest centre.
    pub(crate) fn nearest(
        &self,
        path: super::simd::Path,
        rows: &NarrowTiles,
        longest: f64,
        ends: &[usize],
        mut found: impl FnMut(usize, usize, usize, Proposal, &[u32]),
    ) {
        let mut standings = Room::<Standing, 1>::new(rows.values.len() / self.d, Standing::START);
        let mut start = 0;
        for (scale, &end) in ends.iter().enumerate() {
            self.compare(path, rows, start..end, &mut standings);
            start = end;
            for (row, (standing, &length)) in standings.iter().zip(rows.lengths.iter()).enumerate() {
                let margin = self.margin(length, longest);
                for lane in 0..WIDE {
                    found(row, lane, scale, margin.proposal(standing, lane), &[]);
                }
            }
        }
    }

    /// Compares all rows with some of the centres, few enough at a time to stay near.
    fn compare(
        &self,
        path: super::simd::Path,
        rows: &NarrowTiles,
        centres: std::ops::Range<usize>,
        standings: &mut [Standing],
    ) {
        let near = (NEAR_BYTES / (self.d * WIDE * size_of::<f32>())).max(8);
        let together = if rows.abreast == 1 { centres.len().max(1) } else { near };
        for first in centres.clone().step_by(together) {
            let centres = first..centres.end.min(first + together);
            let tiles = rows.values.chunks_exact(rows.abreast * self.d);
            for (tile, standings) in tiles.zip(standings.chunks_exact_mut(rows.abreast)) {
                match (self.form, rows.abreast) {
                    (Form::Difference, 1) => compare::<0, 1>(path, self, centres.clone(), tile, standings),
                    (Form::Product, 1) => compare::<1, 1>(path, self, centres.clone(), tile, standings),
                    (Form::Difference, _) => compare::<0, ABREAST>(path, self, centres.clone(), tile, standings),
                    (Form::Product, _) => compare::<1, ABREAST>(path, self, centres.clone(), tile, standings),
                }
            }
        }
    }

    fn margin(&self, length: f64, longest: f64) -> Margin {
        let terms = (self.d.min(RUN) + self.d / RUN + 10) as f64;
        match self.form {
            // As for the walk: coordinates are off by u of themselves, sums by u per term, twice for two distances.
            Form::Difference => {
                let relative = 2.5 * terms * ROUNDOFF;
                let absolute = 4.5 * ROUNDOFF * length + 2.0 * (terms * f64::from(f32::MIN_POSITIVE)).sqrt();
                // (a(1 + r) + b)² ≤ (1 + ε)(1 + r)²a² + (1 + 1/ε)b² for every ε.
                let slack = 1.0 + EASY + 4.0 * relative;
                let less = slack.recip() * (1.0 - 1e-9);
                Margin::Difference { relative, absolute, slack, less, more: absolute * absolute * 2.0 / EASY }
            }
            // A product is off by u per term of ‖x‖‖z‖, half a squared length by u of itself, twice for two centres.
            Form::Product => {
                let absolute = 2.5 * terms * ROUNDOFF * (length * longest + longest * longest / 2.0)
                    + 4.0 * terms * f64::from(f32::MIN_POSITIVE);
                Margin::Product { absolute, square: length * length }
            }
        }
    }
}

/// Distances that differ by this share are told apart without a root.
const EASY: f64 = 1e-4;

/// How far apart numbers must be for rounding not to matter.
enum Margin {
    /// Distances are off by a share and a number; their squares by no more than `slack` times themselves and `more`.
    /// `less` is about 1 / `slack`, not above.
    Difference { relative: f64, absolute: f64, slack: f64, less: f64, more: f64 },
    /// Halves of squared distances are off by a number; `square` is the squared length of the row.
    Product { absolute: f64, square: f64 },
}

impl Margin {
    #[inline]
    fn proposal(&self, standing: &Standing, lane: usize) -> Proposal {
        let (best, second) = (f64::from(standing.best[lane]), f64::from(standing.second[lane]));
        #[expect(clippy::cast_sign_loss, reason = "numbers of centres are not negative")]
        let centre = standing.number[lane] as u32;
        match *self {
            Self::Difference { relative, absolute, slack, less, more } => {
                let at_most = best * slack + more;
                let sure = second > at_most || {
                    let most = best.sqrt() * (1.0 + relative) + absolute;
                    second > most * most * (1.0 + 8.0 * ROUNDOFF)
                };
                Proposal { centre, rivals: Rivals::none_if(sure), at_least: (best - more) * less, at_most }
            }
            Self::Product { absolute, square } => {
                let squared = 2.0 * best + square;
                let (at_least, at_most) = (squared - 2.0 * absolute, squared + 2.0 * absolute);
                Proposal { centre, rivals: Rivals::none_if(second > best + absolute), at_least, at_most }
            }
        }
    }
}

dispatch! {
    /// Compares R rows with some of the centres; `FORM` 0 is the difference, 1 the product.
    fn compare = compare_on<const FORM: usize, const R: usize>(
        panel: &Panel,
        centres: std::ops::Range<usize>,
        tile: &[f32],
        standings: &mut [Standing],
    )
}

/// The best of R rows while they are compared.
struct Race<V, const R: usize> {
    best: [V; R],
    second: [V; R],
    number: [V; R],
}

/// Up to so many columns one centre at a time leaves all registers to the rows.
const FEW_COLUMNS: usize = 4;

#[inline(always)]
fn compare_on<V: F32x16, const FORM: usize, const R: usize>(
    panel: &Panel,
    centres: std::ops::Range<usize>,
    tile: &[f32],
    standings: &mut [Standing],
) {
    let standings: &mut [Standing; R] = standings.try_into().expect("one for every row");
    let mut race = Race {
        best: std::array::from_fn(|r| V::load(&standings[r].best)),
        second: std::array::from_fn(|r| V::load(&standings[r].second)),
        number: std::array::from_fn(|r| V::load(&standings[r].number)),
    };
    let mut first = centres.start;
    if R == 1 {
        while first + 8 <= centres.end {
            some::<V, FORM, R, 8>(panel, first, tile, &mut race);
            first += 8;
        }
    } else if panel.d > FEW_COLUMNS {
        while first + 2 <= centres.end {
            some::<V, FORM, R, 2>(panel, first, tile, &mut race);
            first += 2;
        }
    }
    while first < centres.end {
        some::<V, FORM, R, 1>(panel, first, tile, &mut race);
        first += 1;
    }
    for (r, standing) in standings.iter_mut().enumerate() {
        race.best[r].store(&mut standing.best);
        race.second[r].store(&mut standing.second);
        race.number[r].store(&mut standing.number);
    }
}

/// C centres from `first` on: C × R sums of sixteen lanes stay in registers.
#[inline(always)]
fn some<V: F32x16, const FORM: usize, const R: usize, const C: usize>(
    panel: &Panel,
    first: usize,
    tile: &[f32],
    race: &mut Race<V, R>,
) {
    let d = panel.d;
    let columns: [&[[f32; WIDE]]; C] =
        std::array::from_fn(|c| panel.values[(first + c) * d * WIDE..][..d * WIDE].as_chunks::<WIDE>().0);
    let x = &tile.as_chunks::<R>().0[..d];
    let mut totals = [[V::splat(0.0); R]; C];
    let mut at = 0;
    while at < d {
        let end = d.min(at + RUN);
        let mut sums = [[V::splat(0.0); R]; C];
        for k in at..end {
            let z: [V; C] = std::array::from_fn(|c| V::load(&columns[c][k]));
            for r in 0..R {
                let x = V::splat(x[k][r]);
                for c in 0..C {
                    sums[c][r] =
                        if FORM == 0 { x.sub(z[c]).square_add(sums[c][r]) } else { x.product_add(z[c], sums[c][r]) };
                }
            }
        }
        for c in 0..C {
            for r in 0..R {
                totals[c][r] = if at == 0 { sums[c][r] } else { totals[c][r].add(sums[c][r]) };
            }
        }
        at = end;
    }
    for (c, totals) in totals.iter().enumerate() {
        let number = V::splat((first + c) as f32);
        for (r, &total) in totals.iter().enumerate() {
            let mut sum = total;
            if FORM == 1 {
                sum = V::load(&panel.halves.as_chunks::<WIDE>().0[first + c]).sub(sum);
            }
            race.second[r] = sum.max(race.best[r]).min(race.second[r]);
            (race.best[r], race.number[r]) = sum.closer(race.best[r], number, race.number[r]);
        }
    }
}
