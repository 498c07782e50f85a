//! The search of [`Panel`](super::Panel) in whole numbers of 16 bits: twice the columns in a register, so about twice
//! as fast, and exact in itself. What is lost is known: how far the rounded row and the rounded centres lie from the
//! true ones. Good where a row is some hundred steps from its nearest centre; data squeezed by outliers is not.
//!
//! Centres are compared by ‖z‖² − 2⟨x, z⟩, the squared distance less ‖x‖²: one instruction for two columns instead of two.
//! Whole numbers cancel without loss, so that is no less exact.
#![expect(clippy::inline_always, reason = "everything is inlined into the loop that was chosen for the processor")]
#![expect(unsafe_code, reason = "calls for a feature that was detected just before")]

use std::ops::Range;

use super::f32x16::WIDE;
use super::i32x16::{I32x16, NUMBER, dispatch_whole};
use super::panel::{NEAR_BYTES, Proposal, Rivals};
use super::room::Room;
use super::simd::Path;

/// Steps from the middle to the longest centre. Rows may be as long again, so that no difference of two columns and no
/// doubled column of a centre leaves 16 bits, and no squared distance and no ‖z‖² − 2⟨x, z⟩ leaves 30.
pub(crate) const REACH: f64 = 16_000.0;
const FARTHEST: f64 = 32_767.0;

/// Stands for ‖z‖² where there is no centre: more than any ‖z‖² − 2⟨x, z⟩.
pub(super) const NOBODY: i32 = 1 << 30;

/// From so many pairs on, three places are kept, and six: the more columns there are, the more often several centres are
/// nearly as near, and the less keeping them costs.
const KEEP_THREE: usize = 12;
const KEEP_SIX: usize = 64;
const MOST_KEPT: usize = 6;

/// Rows that are compared side by side: sixteen sums, and what is the best so far, fill the registers. Few columns: four
/// rows with four centres. Many, whose centres come from afar: eight rows with two.
const ABREAST: [usize; 2] = [4, 8];

/// Places that are kept.
const fn kept(pairs: usize) -> usize {
    match pairs {
        KEEP_SIX.. => MOST_KEPT,
        KEEP_THREE.. => 3,
        _ => 2,
    }
}

/// The number of a centre within its block stands in the last bits of its squared distance, so that one comparison
/// serves both.
const BLOCK: usize = NUMBER as usize + 1;

/// Centres of sixteen partitionings, side by side; of fewer, each in as many lanes.
#[derive(Debug, Clone)]
pub(crate) struct WholePanel {
    psi: usize,
    /// Lanes of a partitioning: centre j is in the one of number j mod `share`.
    share: usize,
    /// Columns, two by two.
    pairs: usize,
    /// −2z, centre by centre, pair by pair.
    values: Vec<Lanes>,
    /// ‖z‖², centre by centre.
    squares: Vec<Lanes>,
}

/// Numbers of sixteen partitionings, in one line of the cache: a single row takes 7 % longer to compare where every one
/// lies across two.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Lanes([i32; WIDE]);

/// Rows in tiles of 4 or 8 (a single row is its own tile), pair by pair within a tile.
pub(crate) struct WholeTiles {
    pairs: usize,
    abreast: usize,
    values: Room<i32, 64>,
    /// How far each rounded row lies from the true one; not a number where it is too long.
    residuals: Room<f64, 1>,
    /// ‖x‖² of the rounded rows.
    squares: Room<f64, 1>,
}

/// Pairs of so many columns.
pub(crate) const fn pairs_for(d: usize) -> usize {
    d.div_ceil(2)
}

/// Whether a row of `d` columns is not too long, with the longest centre opposite and a little for rounding.
pub(crate) fn within_reach(d: usize, length: f64, steps: f64) -> bool {
    length * steps + REACH + 2.0 * (d as f64).sqrt() < FARTHEST
}

/// The nearest whole number, of numbers that are not huge: at the size of the sum the last bit is a one.
#[inline]
pub(super) fn nearest_whole(value: f64) -> f64 {
    const MIDDLE: f64 = (3u64 << 51) as f64;
    (value + MIDDLE) - MIDDLE
}

/// Rounds a row to whole steps, at most 32,767 of them; returns how far that is from the row.
fn round_to(x: &[f64], steps: f64, mut put: impl FnMut(usize, i16)) -> f64 {
    let mut square = 0.0;
    for (column, &value) in x.iter().enumerate() {
        let exact = value * steps;
        let rounded = nearest_whole(exact);
        square += (exact - rounded) * (exact - rounded);
        put(column, rounded as i16);
    }
    // The rest is for the rounding of all this in `f64`, and for that of canonical distances.
    square.sqrt() * (1.0 + 1e-9) + 1e-6
}

/// Puts a number into one half of a pair.
fn put_half(pair: &mut i32, column: usize, value: i16) {
    let shift = 16 * (column % 2);
    *pair |= (u32::from(value.cast_unsigned()) << shift).cast_signed();
}

/// The two columns of a pair.
const fn halves(pair: i32) -> [i32; 2] {
    [pair << 16 >> 16, pair >> 16]
}

/// −2 times both columns of a pair.
pub(super) const fn doubled_and_turned(pair: i32) -> i32 {
    let [low, high] = halves(pair);
    (-2 * low) & 0xFFFF | (-2 * high) << 16
}

/// The squared length of a row of pairs.
pub(super) fn square(pairs: &[i32]) -> i32 {
    pairs.iter().flat_map(|&pair| halves(pair)).map(|value| value * value).sum()
}

/// A row in whole steps, pair by pair; returns how far that is from the row.
pub(crate) fn round_row(x: &[f64], steps: f64, out: &mut [i32]) -> f64 {
    out.fill(0);
    round_to(x, steps, |column, value| put_half(&mut out[column / 2], column, value))
}

impl WholeTiles {
    pub(crate) fn new(n_rows: usize, d: usize) -> Self {
        let pairs = pairs_for(d);
        let abreast = if n_rows == 1 { 1 } else { ABREAST[usize::from(pairs >= KEEP_THREE)] };
        let values = Room::new(n_rows.div_ceil(abreast) * abreast * pairs, 0);
        Self { pairs, abreast, values, residuals: Room::new(n_rows, 0.0), squares: Room::new(n_rows, 0.0) }
    }

    /// Takes up a row, unless it is too long: nothing will be known of it.
    pub(crate) fn place(&mut self, row: usize, x: &[f64], length: f64, steps: f64) {
        if !within_reach(x.len(), length, steps) {
            self.residuals[row] = f64::NAN;
            return;
        }
        let tile = &mut self.values[row / self.abreast * self.abreast * self.pairs..][..self.abreast * self.pairs];
        let (lane, abreast) = (row % self.abreast, self.abreast);
        let mut square = 0;
        self.residuals[row] = round_to(x, steps, |column, value| {
            square += i32::from(value) * i32::from(value);
            put_half(&mut tile[column / 2 * abreast + lane], column, value);
        });
        self.squares[row] = f64::from(square);
    }
}

/// The best of a row in sixteen partitionings so far, place by place: ‖z‖² − 2⟨x, z⟩ with numbers in their last bits,
/// and the blocks that they are in.
#[derive(Debug, Clone, Copy)]
struct Standing<'a> {
    keys: &'a [[i32; WIDE]],
    blocks: &'a [[i32; WIDE]],
    /// Lanes of a partitioning.
    share: usize,
}

impl<'a> Standing<'a> {
    /// From what [`compare`] has left: keys, then blocks.
    fn new(places: &'a [[i32; WIDE]], share: usize) -> Self {
        let (keys, blocks) = places.split_at(places.len() / 2);
        Self { keys, blocks, share }
    }

    /// A key and the centre it belongs to, so that one comparison serves both.
    #[inline(always)]
    fn ranked(&self, place: usize, lane: usize) -> i64 {
        let (key, share) = (self.keys[place][lane], self.share as u32);
        let centre = number(key, self.blocks[place][lane]) * share + lane as u32 % share;
        i64::from(key) << 32 | i64::from(centre)
    }

    /// The first places of partitioning `i`, as many as are kept.
    fn ranking(&self, i: usize) -> ([i64; MOST_KEPT], usize) {
        let mut first = [i64::MAX; MOST_KEPT];
        for lane in i * self.share..(i + 1) * self.share {
            for place in 0..self.keys.len() {
                let mut new = self.ranked(place, lane);
                for known in &mut first {
                    (*known, new) = (new.min(*known), new.max(*known));
                }
            }
        }
        (first, self.keys.len())
    }
}

impl WholePanel {
    /// The centres of up to 16 partitionings: `centre(i, j, z)` fills in `z`, or returns that there is none. Also
    /// returns how far a rounded centre lies from the true one at the most.
    pub(crate) fn new(
        d: usize,
        partitionings: usize,
        psi: usize,
        steps: f64,
        mut centre: impl FnMut(usize, usize, &mut [f64]) -> bool,
    ) -> (Self, f64) {
        let pairs = pairs_for(d);
        let share = WIDE / partitionings.next_power_of_two();
        let deep = psi.div_ceil(share);
        let (mut values, mut squares) = (vec![Lanes([0; WIDE]); deep * pairs], vec![Lanes([NOBODY; WIDE]); deep]);
        let mut z = vec![0.0; d];
        let mut farthest = 0.0f64;
        for j in 0..deep {
            for lane in 0..partitionings * share {
                let number = j * share + lane % share;
                if number >= psi || !centre(lane / share, number, &mut z) {
                    continue;
                }
                let here = &mut values[j * pairs..][..pairs];
                let mut square = 0;
                let off = round_to(&z, steps, |column, value| {
                    square += i32::from(value) * i32::from(value);
                    put_half(&mut here[column / 2].0[lane], column, -2 * value);
                });
                squares[j].0[lane] = square;
                farthest = farthest.max(off);
            }
        }
        (Self { psi, share, pairs, values, squares }, farthest)
    }

    /// Calls `found(row, i, scale, proposal, rivals)` with the nearest of the first `ends[scale]` centres for every row and
    /// partitioning, scales ascending, where anything is known; `unit` is a squared step in the unit of the bounds, if numbers
    /// can express them. `ends` ascends; `residual` is how far rounded centres lie from the true ones at the most.
    pub(crate) fn nearest(
        &self,
        path: Path,
        rows: &WholeTiles,
        (residual, unit): (f64, Option<f64>),
        ends: &[usize],
        mut found: impl FnMut(usize, usize, usize, Proposal, &[u32]),
    ) {
        let kept = kept(self.pairs);
        let mut places =
            Room::<[i32; WIDE], { 2 * MOST_KEPT }>::new(rows.values.len() / self.pairs * 2 * kept, [0; WIDE]);
        for places in places.chunks_exact_mut(2 * kept) {
            places[..kept].fill([i32::MAX; WIDE]);
        }
        let (mut start, mut named) = (0, [0; MOST_KEPT]);
        for (scale, &end) in ends.iter().enumerate() {
            // Lanes of one partitioning must end together.
            let known = end.is_multiple_of(self.share) || end == self.psi;
            let end = if known { end.div_ceil(self.share) } else { start };
            self.compare(path, rows, start..end, &mut places);
            start = end;
            let off = rows.residuals.iter().zip(rows.squares.iter());
            for (row, (places, (own, &square))) in places.chunks_exact(2 * kept).zip(off).enumerate() {
                let standing = Standing::new(places, self.share);
                let margin = Margin::new(own + residual, square, unit);
                let known = known && !own.is_nan();
                let mut verdict = Verdict::UNKNOWN;
                if known {
                    judge(path, &margin, &standing, &mut verdict);
                }
                for i in 0..WIDE / self.share {
                    let rivals = || if known { margin.rivals(&standing, i, &mut named) } else { Rivals::Many };
                    let proposal = verdict.proposal(i, rivals);
                    found(row, i, scale, proposal, &named);
                }
            }
        }
    }

    /// Compares all rows with some of the centres, few enough at a time to stay near, and of one block.
    fn compare(&self, path: Path, rows: &WholeTiles, centres: Range<usize>, places: &mut [[i32; WIDE]]) {
        let together =
            if rows.abreast == 1 { BLOCK } else { (NEAR_BYTES / (self.pairs * WIDE * size_of::<i32>())).max(8) };
        let kept = kept(self.pairs);
        let mut first = centres.start;
        while first < centres.end {
            let end = centres.end.min(first + together).min((first / BLOCK + 1) * BLOCK);
            let tiles = rows.values.chunks_exact(rows.abreast * self.pairs);
            for (tile, places) in tiles.zip(places.chunks_exact_mut(rows.abreast * 2 * kept)) {
                match (rows.abreast, kept) {
                    (1, 2) => compare::<1, 2>(path, self, first..end, tile, places),
                    (1, 3) => compare::<1, 3>(path, self, first..end, tile, places),
                    (1, _) => compare::<1, MOST_KEPT>(path, self, first..end, tile, places),
                    (_, 2) => compare::<{ ABREAST[0] }, 2>(path, self, first..end, tile, places),
                    (_, 3) => compare::<{ ABREAST[1] }, 3>(path, self, first..end, tile, places),
                    (_, _) => compare::<{ ABREAST[1] }, MOST_KEPT>(path, self, first..end, tile, places),
                }
            }
            first = end;
        }
    }
}

/// How far apart squared distances must be for rounding not to matter.
struct Margin {
    /// Computed distances are off by no more than this.
    off: f64,
    more: f64,
    /// ‖x‖².
    square: f64,
    unit: Option<f64>,
}

/// Distances that differ by this share are told apart without a root.
const EASY: f64 = 1.0 / 256.0;

impl Margin {
    fn new(off: f64, square: f64, unit: Option<f64>) -> Self {
        // (a + b)² ≤ (1 + ε)a² + (1 + 1/ε)b² for every ε.
        Self { off, more: off * off * (1.0 + 1.0 / EASY) + 1.0, square, unit }
    }

    /// Who may be nearer than the first, where a root must tell.
    #[cold]
    fn rivals(&self, standing: &Standing<'_>, i: usize, named: &mut [u32; MOST_KEPT]) -> Rivals {
        let (places, kept) = standing.ranking(i);
        let key = |place: usize| (places[place] >> 32) as i32;
        let most = (self.square + f64::from(key(0) | NUMBER)).sqrt() + 2.0 * self.off;
        let beyond = |key: i32| (self.square + f64::from(key & !NUMBER)).sqrt() > most;
        match (1..kept).find(|&place| beyond(key(place))) {
            Some(1) => Rivals::None,
            // Two of the same number in different blocks, and the same distance, were taken for one.
            Some(end) if (1..end).all(|place| places[place] != places[place - 1]) => {
                named.iter_mut().zip(&places[1..end]).for_each(|(name, &place)| *name = place as u32);
                Rivals::Few(end as u8 - 1)
            }
            _ => Rivals::Many,
        }
    }
}

/// What is known of a row in every partitioning.
struct Verdict {
    centres: [u32; WIDE],
    /// Whether nobody comes near the first.
    clear: [bool; WIDE],
    at_least: [f64; WIDE],
    at_most: [f64; WIDE],
}

impl Verdict {
    const UNKNOWN: Self =
        Self { centres: [0; WIDE], clear: [false; WIDE], at_least: [0.0; WIDE], at_most: [f64::INFINITY; WIDE] };

    #[inline(always)]
    fn proposal(&self, i: usize, rivals: impl FnOnce() -> Rivals) -> Proposal {
        Proposal {
            centre: self.centres[i],
            rivals: if self.clear[i] { Rivals::None } else { rivals() },
            at_least: self.at_least[i],
            at_most: self.at_most[i],
        }
    }
}

dispatch_whole! {
    /// Looks at all partitionings of a row at once.
    fn judge = judge_on(margin: &Margin, standing: &Standing<'_>, verdict: &mut Verdict)
}

#[inline(always)]
fn judge_on<V: I32x16>(margin: &Margin, standing: &Standing<'_>, verdict: &mut Verdict) {
    let (mut best, mut second) = (standing.keys[0], standing.keys[1]);
    if standing.share == 1 {
        for (centre, (&key, &block)) in verdict.centres.iter_mut().zip(best.iter().zip(&standing.blocks[0])) {
            *centre = number(key, block);
        }
    } else {
        for i in 0..WIDE / standing.share {
            let [mut first, mut next] = [i64::MAX; 2];
            for lane in i * standing.share..(i + 1) * standing.share {
                for place in 0..2 {
                    let new = standing.ranked(place, lane);
                    next = new.max(first).min(next);
                    first = new.min(first);
                }
            }
            verdict.centres[i] = first as u32;
            (best[i], second[i]) = ((first >> 32) as i32, (next >> 32) as i32);
        }
    }
    let &Margin { more, square, unit, .. } = margin;
    let scale = unit.unwrap_or(1.0);
    for i in 0..WIDE {
        // What the last bits were is not known.
        let least = square + f64::from(best[i] & !NUMBER);
        let most = square + f64::from(best[i] | NUMBER);
        let next = square + f64::from(second[i] & !NUMBER);
        verdict.clear[i] = next > most * (1.0 + EASY) + 4.0 * more;
        verdict.at_least[i] = (least - more) * (1.0 - EASY) * scale;
        verdict.at_most[i] = (most * (1.0 + EASY) + more) * scale;
    }
    if unit.is_none() {
        (verdict.at_least, verdict.at_most) = (Verdict::UNKNOWN.at_least, Verdict::UNKNOWN.at_most);
    }
}

/// The number of a centre from its last bits and its block.
const fn number(key: i32, block: i32) -> u32 {
    block as u32 * BLOCK as u32 + (key & NUMBER) as u32
}

dispatch_whole! {
    /// Compares R rows with some of the centres, which are of one block, and keeps the first KEPT.
    fn compare = compare_on<const R: usize, const KEPT: usize>(
        panel: &WholePanel,
        centres: Range<usize>,
        tile: &[i32],
        places: &mut [[i32; WIDE]],
    )
}

#[inline(always)]
fn compare_on<V: I32x16, const R: usize, const KEPT: usize>(
    panel: &WholePanel,
    centres: Range<usize>,
    tile: &[i32],
    places: &mut [[i32; WIDE]],
) {
    // Of every row the first places.
    let mut race: [[V; KEPT]; R] =
        std::array::from_fn(|r| std::array::from_fn(|place| V::load(&places[2 * KEPT * r + place])));
    let mut first = centres.start;
    if R == 1 {
        while first + 8 <= centres.end {
            some::<V, R, KEPT, 8>(panel, first, tile, &mut race);
            first += 8;
        }
    }
    if R == ABREAST[0] {
        while first + 4 <= centres.end {
            some::<V, R, KEPT, 4>(panel, first, tile, &mut race);
            first += 4;
        }
    }
    while first + 2 <= centres.end {
        some::<V, R, KEPT, 2>(panel, first, tile, &mut race);
        first += 2;
    }
    if first < centres.end {
        some::<V, R, KEPT, 1>(panel, first, tile, &mut race);
    }
    let here = V::splat(((centres.start / BLOCK) as u32).cast_signed());
    for (r, places) in places.chunks_exact_mut(2 * KEPT).enumerate() {
        let mut before = [[here; 2]; KEPT];
        for place in 0..KEPT {
            before[place] = [V::load(&places[place]), V::load(&places[KEPT + place])];
        }
        for place in 0..KEPT {
            // Who was there before has come down from the same place or one above.
            let mut block = here;
            for [key, own] in &before[..=place] {
                block = race[r][place].where_same(*key, *own, block);
            }
            race[r][place].store(&mut places[place]);
            block.store(&mut places[KEPT + place]);
        }
    }
}

/// C centres from `first` on: C × R sums of sixteen lanes stay in registers.
#[inline(always)]
fn some<V: I32x16, const R: usize, const KEPT: usize, const C: usize>(
    panel: &WholePanel,
    first: usize,
    tile: &[i32],
    race: &mut [[V; KEPT]; R],
) {
    let pairs = panel.pairs;
    let columns: [&[Lanes]; C] = std::array::from_fn(|c| &panel.values[(first + c) * pairs..][..pairs]);
    let x = &tile.as_chunks::<R>().0[..pairs];
    let squares = &panel.squares[first..][..C];
    let mut sums: [[V; R]; C] = std::array::from_fn(|c| [V::load(&squares[c].0); R]);
    for k in 0..pairs {
        let z: [V; C] = std::array::from_fn(|c| V::load(&columns[c][k].0));
        for r in 0..R {
            let x = V::splat(x[k][r]);
            for c in 0..C {
                sums[c][r] = sums[c][r].add_products(x, z[c]);
            }
        }
    }
    for (c, sums) in sums.iter().enumerate() {
        let number = V::splat(((first + c) as u32).cast_signed() & NUMBER);
        for (r, sum) in sums.iter().enumerate() {
            let mut new = sum.numbered(number);
            for known in &mut race[r] {
                (*known, new) = (new.min(*known), new.max(*known));
            }
        }
    }
}
