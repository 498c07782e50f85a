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

/// From so many pairs on, the third best is kept too: with many columns two centres are often nearly as near, three
/// seldom.
const KEEP_THIRD: usize = 12;

/// Rows that are compared side by side: sixteen sums, and what is the best so far, fill the registers. Few columns: four
/// rows with four centres. Many, whose centres come from afar: eight rows with two.
const ABREAST: [usize; 2] = [4, 8];

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
    /// −2z, centre by centre, pair by pair, sixteen partitionings each.
    values: Vec<i32>,
    /// ‖z‖², centre by centre, sixteen partitionings each.
    squares: Vec<i32>,
}

/// Rows in tiles of 4 or 8 (a single row is its own tile), pair by pair within a tile.
pub(crate) struct WholeTiles {
    pairs: usize,
    abreast: usize,
    values: Room<i32, 64>,
    /// How far each rounded row lies from the true one.
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

const MIDDLE: f64 = (3u64 << 51) as f64;

/// Rounds a row to whole steps, at most 32,767 of them; returns how far that is from the row.
fn round_to(x: &[f64], steps: f64, mut put: impl FnMut(usize, i16)) -> f64 {
    let mut square = 0.0;
    for (column, &value) in x.iter().enumerate() {
        let exact = value * steps;
        // To the nearest whole number: at this size the last bit of a sum is a one.
        let rounded = (exact + MIDDLE) - MIDDLE;
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
        let abreast = if n_rows == 1 { 1 } else { ABREAST[usize::from(pairs >= KEEP_THIRD)] };
        let values = Room::new(n_rows.div_ceil(abreast) * abreast * pairs, 0);
        Self { pairs, abreast, values, residuals: Room::new(n_rows, 0.0), squares: Room::new(n_rows, 0.0) }
    }

    /// Takes up a row, unless it is too long; returns whether it did.
    pub(crate) fn place(&mut self, row: usize, x: &[f64], length: f64, steps: f64) -> bool {
        if !within_reach(x.len(), length, steps) {
            return false;
        }
        let tile = &mut self.values[row / self.abreast * self.abreast * self.pairs..][..self.abreast * self.pairs];
        let (lane, abreast) = (row % self.abreast, self.abreast);
        let mut square = 0;
        self.residuals[row] = round_to(x, steps, |column, value| {
            square += i32::from(value) * i32::from(value);
            put_half(&mut tile[column / 2 * abreast + lane], column, value);
        });
        self.squares[row] = f64::from(square);
        true
    }
}

/// The best of a row in sixteen partitionings so far: ‖z‖² − 2⟨x, z⟩ with numbers in their last bits, and the blocks that
/// the first two are in.
#[derive(Debug, Clone, Copy)]
struct Standing {
    best: [i32; WIDE],
    second: [i32; WIDE],
    third: [i32; WIDE],
    blocks: [[i32; WIDE]; 2],
}

impl Standing {
    const START: Self =
        Self { best: [i32::MAX; WIDE], second: [i32::MAX; WIDE], third: [i32::MAX; WIDE], blocks: [[0; WIDE]; 2] };
}

/// The first three of a row in every partitioning, and who the first two are.
struct Places {
    keys: [[i32; WIDE]; 3],
    centres: [[u32; WIDE]; 2],
}

impl Places {
    #[inline(always)]
    fn of(standing: &Standing) -> Self {
        let keys = [standing.best, standing.second, standing.third];
        let mut centres = [[0; WIDE]; 2];
        for place in 0..2 {
            for lane in 0..WIDE {
                centres[place][lane] = number(keys[place][lane], standing.blocks[place][lane]);
            }
        }
        Self { keys, centres }
    }

    /// `share` lanes together, the first partitionings first.
    fn together(&self, share: usize) -> Self {
        let mut all = Self { keys: [[i32::MAX; WIDE]; 3], centres: [[0; WIDE]; 2] };
        for i in 0..WIDE / share {
            // Keys with who they belong to, so that one comparison serves both.
            let [mut best, mut second, mut third] = [i64::MAX; 3];
            for lane in i * share..(i + 1) * share {
                for place in 0..3 {
                    let centre = self.centres[place.min(1)][lane] * share as u32 + (lane % share) as u32;
                    let new = i64::from(self.keys[place][lane]) << 32 | i64::from(centre);
                    let after_best = new.max(best);
                    third = after_best.max(second).min(third);
                    second = after_best.min(second);
                    best = new.min(best);
                }
            }
            for (place, winner) in [best, second, third].into_iter().enumerate() {
                all.keys[place][i] = (winner >> 32) as i32;
                if place < 2 {
                    all.centres[place][i] = winner as u32;
                }
            }
        }
        all
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
        let (mut values, mut squares) = (vec![0; deep * pairs * WIDE], vec![NOBODY; deep * WIDE]);
        let mut z = vec![0.0; d];
        let mut farthest = 0.0f64;
        for j in 0..deep {
            for lane in 0..partitionings * share {
                let number = j * share + lane % share;
                if number >= psi || !centre(lane / share, number, &mut z) {
                    continue;
                }
                let here = &mut values[j * pairs * WIDE..][..pairs * WIDE];
                let mut square = 0;
                let off = round_to(&z, steps, |column, value| {
                    square += i32::from(value) * i32::from(value);
                    put_half(&mut here[column / 2 * WIDE + lane], column, -2 * value);
                });
                squares[j * WIDE + lane] = square;
                farthest = farthest.max(off);
            }
        }
        (Self { psi, share, pairs, values, squares }, farthest)
    }

    /// Calls `found(row, i, scale, proposal)` with the nearest of the first `ends[scale]` centres for every row and
    /// partitioning, scales ascending, where anything is known; bounds are in steps. `ends` ascends; `residual` is how
    /// far rounded centres lie from the true ones at the most.
    pub(crate) fn nearest(
        &self,
        path: Path,
        rows: &WholeTiles,
        residual: f64,
        ends: &[usize],
        mut found: impl FnMut(usize, usize, usize, Proposal),
    ) {
        let mut standings = Room::<Standing, 1>::new(rows.values.len() / self.pairs, Standing::START);
        let mut start = 0;
        for (scale, &end) in ends.iter().enumerate() {
            // Lanes of one partitioning must end together.
            let known = end.is_multiple_of(self.share) || end == self.psi;
            let end = if known { end.div_ceil(self.share) } else { start };
            self.compare(path, rows, start..end, &mut standings);
            start = end;
            let off = rows.residuals.iter().zip(rows.squares.iter());
            for (row, (standing, (own, &square))) in standings.iter().zip(off).enumerate() {
                let margin = Margin::new(own + residual, square, self.pairs >= KEEP_THIRD);
                let mut verdict = Verdict::START;
                judge(path, &margin, standing, self.share, &mut verdict);
                for i in 0..WIDE / self.share {
                    found(row, i, scale, if known { verdict.proposal(&margin, i) } else { Proposal::UNKNOWN });
                }
            }
        }
    }

    /// Compares all rows with some of the centres, few enough at a time to stay near, and of one block.
    fn compare(&self, path: Path, rows: &WholeTiles, centres: Range<usize>, standings: &mut [Standing]) {
        let together =
            if rows.abreast == 1 { BLOCK } else { (NEAR_BYTES / (self.pairs * WIDE * size_of::<i32>())).max(8) };
        let mut first = centres.start;
        while first < centres.end {
            let end = centres.end.min(first + together).min((first / BLOCK + 1) * BLOCK);
            let tiles = rows.values.chunks_exact(rows.abreast * self.pairs);
            for (tile, standings) in tiles.zip(standings.chunks_exact_mut(rows.abreast)) {
                match (rows.abreast, self.pairs >= KEEP_THIRD) {
                    (1, false) => compare::<1, 2>(path, self, first..end, tile, standings),
                    (1, true) => compare::<1, 3>(path, self, first..end, tile, standings),
                    (_, false) => compare::<{ ABREAST[0] }, 2>(path, self, first..end, tile, standings),
                    (_, true) => compare::<{ ABREAST[1] }, 3>(path, self, first..end, tile, standings),
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
    third: bool,
}

/// Distances that differ by this share are told apart without a root.
const EASY: f64 = 1.0 / 256.0;

impl Margin {
    fn new(off: f64, square: f64, third: bool) -> Self {
        // (a + b)² ≤ (1 + ε)a² + (1 + 1/ε)b² for every ε.
        Self { off, more: off * off * (1.0 + 1.0 / EASY) + 1.0, square, third }
    }

    /// Who may be nearer than the first, where a root must tell.
    #[cold]
    fn rivals(&self, places: &Places, i: usize) -> Rivals {
        let [best, second, third] = places.keys.map(|keys| keys[i]);
        let most = self.square + f64::from(best | NUMBER);
        let beyond = |key: i32| (self.square + f64::from(key & !NUMBER)).sqrt() > most.sqrt() + 2.0 * self.off;
        if beyond(second) {
            return Rivals::None;
        }
        // Two of the same number in different blocks, and the same distance, were taken for one.
        let [first, rival] = places.centres.map(|centres| centres[i]);
        let one = self.third && rival != first && beyond(third);
        if one { Rivals::One(rival) } else { Rivals::Many }
    }
}

/// What is known of a row in every partitioning.
struct Verdict {
    places: Places,
    /// Whether nobody comes near the first.
    clear: [bool; WIDE],
    at_least: [f64; WIDE],
    at_most: [f64; WIDE],
}

impl Verdict {
    const START: Self = Self {
        places: Places { keys: [[0; WIDE]; 3], centres: [[0; WIDE]; 2] },
        clear: [false; WIDE],
        at_least: [0.0; WIDE],
        at_most: [0.0; WIDE],
    };

    #[inline(always)]
    fn proposal(&self, margin: &Margin, i: usize) -> Proposal {
        Proposal {
            centre: self.places.centres[0][i],
            rivals: if self.clear[i] { Rivals::None } else { margin.rivals(&self.places, i) },
            at_least: self.at_least[i],
            at_most: self.at_most[i],
        }
    }
}

dispatch_whole! {
    /// Looks at all partitionings of a row at once, `share` lanes for each.
    fn judge = judge_on(margin: &Margin, standing: &Standing, share: usize, verdict: &mut Verdict)
}

#[inline(always)]
fn judge_on<V: I32x16>(margin: &Margin, standing: &Standing, share: usize, verdict: &mut Verdict) {
    verdict.places = Places::of(standing);
    if share > 1 {
        verdict.places = verdict.places.together(share);
    }
    let [best, second, _] = &verdict.places.keys;
    let &Margin { more, square, .. } = margin;
    for i in 0..WIDE {
        // What the last bits were is not known.
        let least = square + f64::from(best[i] & !NUMBER);
        let most = square + f64::from(best[i] | NUMBER);
        let next = square + f64::from(second[i] & !NUMBER);
        verdict.clear[i] = next > most * (1.0 + EASY) + 4.0 * more;
        verdict.at_least[i] = (least - more) * (1.0 - EASY);
        verdict.at_most[i] = most * (1.0 + EASY) + more;
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
        standings: &mut [Standing],
    )
}

/// The best of R rows while they are compared.
struct Race<V, const R: usize> {
    best: [V; R],
    second: [V; R],
    third: [V; R],
}

#[inline(always)]
fn compare_on<V: I32x16, const R: usize, const KEPT: usize>(
    panel: &WholePanel,
    centres: Range<usize>,
    tile: &[i32],
    standings: &mut [Standing],
) {
    let standings: &mut [Standing; R] = standings.try_into().expect("one for every row");
    let mut race = Race {
        best: std::array::from_fn(|r| V::load(&standings[r].best)),
        second: std::array::from_fn(|r| V::load(&standings[r].second)),
        third: std::array::from_fn(|r| V::load(&standings[r].third)),
    };
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
    for (r, standing) in standings.iter_mut().enumerate() {
        let (best, second) = (V::load(&standing.best), V::load(&standing.second));
        let [of_best, of_second] = [V::load(&standing.blocks[0]), V::load(&standing.blocks[1])];
        race.best[r].where_same(best, of_best, here).store(&mut standing.blocks[0]);
        let moved_down = race.second[r].where_same(best, of_best, here);
        race.second[r].where_same(second, of_second, moved_down).store(&mut standing.blocks[1]);
        race.best[r].store(&mut standing.best);
        race.second[r].store(&mut standing.second);
        race.third[r].store(&mut standing.third);
    }
}

/// C centres from `first` on: C × R sums of sixteen lanes stay in registers.
#[inline(always)]
fn some<V: I32x16, const R: usize, const KEPT: usize, const C: usize>(
    panel: &WholePanel,
    first: usize,
    tile: &[i32],
    race: &mut Race<V, R>,
) {
    let pairs = panel.pairs;
    let columns: [&[[i32; WIDE]]; C] =
        std::array::from_fn(|c| panel.values[(first + c) * pairs * WIDE..][..pairs * WIDE].as_chunks::<WIDE>().0);
    let x = &tile.as_chunks::<R>().0[..pairs];
    let squares = &panel.squares[first * WIDE..][..C * WIDE].as_chunks::<WIDE>().0;
    let mut sums: [[V; R]; C] = std::array::from_fn(|c| [V::load(&squares[c]); R]);
    for k in 0..pairs {
        let z: [V; C] = std::array::from_fn(|c| V::load(&columns[c][k]));
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
            let sum = sum.numbered(number);
            let after_best = sum.max(race.best[r]);
            if KEPT == 3 {
                race.third[r] = after_best.max(race.second[r]).min(race.third[r]);
            }
            race.second[r] = after_best.min(race.second[r]);
            race.best[r] = sum.min(race.best[r]);
        }
    }
}
