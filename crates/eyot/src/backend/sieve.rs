//! A search for the nearest member of up to 128 sets at once, by weighing every point twice: first in a few bytes, which
//! costs almost nothing and bounds its distance from below, then, for those few that pass, in whole steps of 16 bits.
//!
//! Good where a tree is not: many columns, no near neighbours. Both weights are exact in themselves, and how far rounding
//! took rows and points is known, so whatever could be nearest by the canonical distance is among the points noted; the
//! caller settles the few doubtful cases.
#![expect(clippy::inline_always, reason = "everything is inlined into the loop that was chosen for the processor")]
#![expect(unsafe_code, reason = "calls for a feature that was detected just before")]

use super::f32x16::{F32x16, WIDE};
use super::i32x16::{I32x16, SCORES, dispatch_whole};
use super::prefetch::prefetch;
use super::walk::{ROUNDOFF, SETS};
use super::whole::{nearest_whole, square};

/// Steps of a coordinate in a byte, either way.
const BYTE: f64 = 127.0;

/// Bytes of rows are unsigned: so much is added.
const MIDDLE: i32 = 128;

/// Rows that are weighed together, and blocks of points.
const ABREAST: usize = 8;
const BLOCKS: usize = 2;

/// Blocks of points that are weighed for all rows before the next ones come: they stay in a second-level cache.
const NEAR_BYTES: usize = 128 << 10;

/// First weights that are kept at a time.
const ROOM: usize = 4 << 20;

/// Weights that have their sets looked up are put into so many classes at the most.
const CLASSES: usize = 512;

/// Candidates are asked for so many before their turn.
const AHEAD: usize = 4;

/// What computing with bounds in `f32` and `f64` can take away.
const SLACK: f64 = 24.0 * ROUNDOFF;

/// Points in bytes and in steps, with the sets they are members of.
#[derive(Debug, Clone)]
pub(crate) struct Sieve {
    /// Coordinates in bytes, four by four, in blocks of 16 points.
    quads: usize,
    coarse: Vec<i32>,
    /// −‖z‖²/2 less what [`MIDDLE`] adds.
    starts: Vec<i32>,
    coarse_residual: f64,
    /// Bits that weights lose to fit into 16.
    shift: u32,
    /// All columns in steps, two by two, point by point, and ‖z‖².
    pairs: usize,
    fine: Vec<i32>,
    squares: Vec<i32>,
    fine_residual: f64,
    rounding: Rounding,
    members: Vec<u128>,
    sets: usize,
    /// About so many points are looked at first; groups to guess their weight by are numbered by so many sections and by
    /// lanes.
    first: usize,
    sections: usize,
}

/// Rows or points while they are taken up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounding {
    k: usize,
    d: usize,
    coarse_steps: f64,
    pub(crate) fine_steps: f64,
}

impl Rounding {
    /// For coordinates up to `widest` either way.
    pub(crate) fn new(k: usize, d: usize, widest: f64, fine_steps: f64) -> Self {
        // A little less, so that the widest does not round up.
        Self { k, d, coarse_steps: BYTE * (1.0 - 1e-9) / widest, fine_steps }
    }

    pub(crate) const fn quads(&self) -> usize {
        self.k.div_ceil(4)
    }

    pub(crate) const fn pairs(&self) -> usize {
        self.d.div_ceil(2 * WIDE) * WIDE
    }

    /// Coordinates in bytes around nought; returns how far they are from those of the row, moved into the box of bytes.
    fn bytes(&self, y: &[f32], out: &mut [i8]) -> f64 {
        let mut square = 0.0;
        for (slot, &y) in out.iter_mut().zip(y) {
            let exact = (f64::from(y) * self.coarse_steps).clamp(-BYTE, BYTE);
            let rounded = nearest_whole(exact);
            square += (exact - rounded) * (exact - rounded);
            *slot = rounded as i8;
        }
        square.sqrt() * (1.0 + 1e-9) + 1e-6
    }
}

/// What is needed to make a [`Sieve`].
pub(crate) struct SievePoints<'a> {
    pub(crate) rounding: Rounding,
    /// Coordinates: a map that lengthens no distance.
    pub(crate) coordinates: &'a [f32],
    /// All columns in steps, and how far that is off at most.
    pub(crate) fine: Vec<i32>,
    pub(crate) fine_residual: f64,
    pub(crate) members: Vec<u128>,
    pub(crate) sets: usize,
}

impl Sieve {
    pub(crate) fn new(points: SievePoints<'_>) -> Self {
        let SievePoints { rounding, coordinates, fine, fine_residual, members, sets } = points;
        let (n, quads, pairs) = (members.len(), rounding.quads(), rounding.pairs());
        let blocks = n.div_ceil(WIDE * BLOCKS) * BLOCKS;
        let mut coarse = vec![0; blocks * quads * WIDE];
        // Where there is no point, nothing is near.
        let mut starts = vec![i32::MIN / 2; blocks * WIDE];
        let (mut coarse_residual, mut longest) = (0.0f64, 0.0f64);
        let mut bytes = vec![0i8; 4 * quads];
        for (at, y) in coordinates.chunks_exact(rounding.k).enumerate() {
            coarse_residual = coarse_residual.max(rounding.bytes(y, &mut bytes));
            let block = &mut coarse[at / WIDE * quads * WIDE..][..quads * WIDE];
            for (quad, bytes) in bytes.as_chunks::<4>().0.iter().enumerate() {
                block[quad * WIDE + at % WIDE] = i32::from_le_bytes(bytes.map(i8::cast_unsigned));
            }
            let (square, sum) = square_and_sum(&bytes);
            starts[at] = -(square / 2) - MIDDLE * sum;
            longest = longest.max(f64::from(square));
        }
        // The farthest pair is about 2·√longest apart, and half its squared distance is to fit.
        let shift = (2.0 * longest / 32_000.0).log2().ceil().max(0.0) as u32;
        let memberships: usize = members.iter().map(|sets| sets.count_ones() as usize).sum();
        // So many nearest points have a member of most sets among them.
        let enough = n as f64 * sets as f64 / memberships as f64 * (sets as f64).ln().max(1.0);
        let first = (enough.ceil() as usize).max(WIDE);
        Self {
            quads,
            coarse,
            starts,
            coarse_residual,
            shift,
            pairs,
            squares: fine.chunks_exact(pairs).map(square).collect(),
            fine,
            fine_residual,
            rounding,
            members,
            sets,
            sections: (2 * first).div_ceil(SCORES),
            first,
        }
    }

    /// How many weights a row has.
    fn weights(&self) -> usize {
        self.starts.len()
    }

    /// Rows that are sifted together: the more, the more often a point is at hand.
    fn rows_together(&self) -> usize {
        (ROOM / (ABREAST * self.weights())).clamp(1, 32) * ABREAST
    }

    /// No point of this weight or less can be nearer to a row than this, in squared steps of the fine kind.
    #[inline(always)]
    fn least_squared(&self, weight: i16, row: &Sifted) -> f32 {
        let most = (i64::from(weight) + 1) << self.shift;
        let squared = (-2 * most - 1).max(0) as f64;
        let distance =
            (squared.sqrt() * (1.0 - SLACK) - self.coarse_residual - row.coarse_residual) / self.rounding.coarse_steps;
        let steps =
            (distance - row.coordinates_off) * self.rounding.fine_steps - self.fine_residual - row.fine_residual;
        (steps.max(0.0).powi(2) * (1.0 - SLACK)) as f32
    }

    /// The least weight that a point within a squared distance, in steps of the fine kind, can have.
    #[inline(always)]
    fn least_weight(&self, squared: f32, row: &Sifted) -> i16 {
        let steps = f64::from(squared).sqrt() * (1.0 + SLACK) + self.fine_residual + row.fine_residual;
        let distance = steps / self.rounding.fine_steps + row.coordinates_off;
        let coarse =
            (distance * self.rounding.coarse_steps + self.coarse_residual + row.coarse_residual) * (1.0 + SLACK);
        let weight = (-0.5 * coarse * coarse - 2.0).floor() / f64::from(1u32 << self.shift);
        weight.floor().max(f64::from(i16::MIN)) as i16
    }
}

/// ‖x‖² and Σx.
fn square_and_sum(bytes: &[i8]) -> (i32, i32) {
    bytes.iter().map(|&byte| i32::from(byte)).fold((0, 0), |(square, sum), byte| (square + byte * byte, sum + byte))
}

/// A row that is being sifted.
#[derive(Debug, Clone, Copy, Default)]
struct Sifted {
    /// −‖x‖²/2 of its bytes.
    start: i32,
    /// ‖x‖² in fine steps.
    square: i32,
    coarse_residual: f64,
    fine_residual: f64,
    /// How far coordinates can be off, those of points included.
    coordinates_off: f64,
}

/// Rows that are sifted together.
pub(crate) struct Batch {
    /// Bytes of eight rows at a time, four by four.
    coarse: Vec<i32>,
    fine: Vec<i32>,
    rows: Vec<Sifted>,
    /// What each row says of each point: minus half its squared distance in bytes, the largest is nearest.
    weights: Vec<i16>,
    len: usize,
    /// Points that were weighed the second time, on all rows so far.
    pub(crate) passed: usize,
    pub(crate) finds: Vec<Finds>,
    /// Room.
    bytes: Vec<i8>,
    maxima: Vec<i16>,
    near_sets_of: Vec<u128>,
}

impl Batch {
    /// Room for so many rows, as far as they are sifted together.
    pub(crate) fn new(sieve: &Sieve, rows: usize) -> Self {
        let most = sieve.rows_together().min(rows.next_multiple_of(ABREAST));
        Self {
            coarse: vec![0; most * sieve.quads],
            fine: vec![0; most * sieve.pairs],
            rows: vec![Sifted::default(); most],
            weights: vec![0; most * sieve.weights()],
            len: 0,
            passed: 0,
            finds: vec![Finds::new(sieve); most],
            bytes: vec![0; 4 * sieve.quads],
            maxima: Vec::new(),
            near_sets_of: Vec::new(),
        }
    }

    pub(crate) const fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len == self.rows.len()
    }

    /// Where the next row puts its columns in steps.
    pub(crate) fn next_fine(&mut self, sieve: &Sieve) -> &mut [i32] {
        &mut self.fine[self.len * sieve.pairs..][..sieve.pairs]
    }

    /// Takes up a row whose columns are there: its coordinates, how far they can be off, and how far the columns are.
    pub(crate) fn push(&mut self, sieve: &Sieve, y: &[f32], coordinates_off: f64, fine_residual: f64) {
        let coarse_residual = sieve.rounding.bytes(y, &mut self.bytes);
        let tile = &mut self.coarse[self.len / ABREAST * ABREAST * sieve.quads..][..ABREAST * sieve.quads];
        for (quad, bytes) in self.bytes.as_chunks::<4>().0.iter().enumerate() {
            let bytes = bytes.map(|byte| (i32::from(byte) + MIDDLE) as u8);
            tile[quad * ABREAST + self.len % ABREAST] = i32::from_le_bytes(bytes);
        }
        let start = -(square_and_sum(&self.bytes).0 / 2);
        let square = square(self.next_fine(sieve));
        self.rows[self.len] = Sifted { start, square, coarse_residual, fine_residual, coordinates_off };
        self.len += 1;
    }
}

/// A point that was within the limit of some sets when it was seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    pub(crate) point: u32,
    pub(crate) squared: f32,
    pub(crate) sets: u128,
}

/// What a row has found.
#[derive(Debug, Clone)]
pub(crate) struct Finds {
    /// A point beyond this squared distance is not the nearest of the set.
    limits: [f32; SETS],
    pub(crate) hits: Vec<Hit>,
    /// Steps by which distances can be off, and how many make a unit.
    off: f64,
    steps: f64,
    /// Points to be weighed the second time, ascending, and how many of them were.
    candidates: Vec<u32>,
    next: usize,
    /// The least weight that is looked at, and the least that was looked at before.
    least: i16,
    done: Option<i16>,
    ended: bool,
}

impl Finds {
    fn new(sieve: &Sieve) -> Self {
        Self {
            limits: [0.0; SETS],
            hits: Vec::new(),
            off: 0.0,
            steps: sieve.rounding.fine_steps,
            candidates: Vec::new(),
            next: 0,
            least: 0,
            done: None,
            ended: false,
        }
    }

    /// Nothing found yet.
    fn begin(&mut self, sieve: &Sieve, row: &Sifted) {
        self.limits = [-1.0; SETS];
        self.limits[..sieve.sets].fill(f32::MAX);
        self.hits.clear();
        self.off = sieve.fine_residual + row.fine_residual;
        (self.done, self.ended) = (None, false);
    }

    /// Whether a point can be the nearest of a set.
    #[inline]
    pub(crate) fn within(&self, squared: f32, set: usize) -> bool {
        squared <= self.limits[set]
    }

    /// Bounds of the true squared distance of a point, in units.
    #[inline]
    pub(crate) fn bounds(&self, squared: f32) -> (f64, f64) {
        let distance = f64::from(squared).sqrt();
        let (least, most) = (distance * (1.0 - SLACK) - self.off, distance * (1.0 + SLACK) + self.off);
        ((least.max(0.0) / self.steps).powi(2) * (1.0 - SLACK), (most / self.steps).powi(2) * (1.0 + SLACK))
    }
}

dispatch_whole! {
    /// Weighs all points for all rows of the batch, the first time.
    pub(crate) fn weigh = weigh_on(sieve: &Sieve, batch: &mut Batch)
}

dispatch_whole! {
    /// Weighs the points that pass the second time: every point that could be the nearest member of a set is among the finds
    /// of its row.
    pub(crate) fn sift = sift_on(sieve: &Sieve, batch: &mut Batch)
}

#[inline(always)]
fn weigh_on<W: I32x16>(sieve: &Sieve, batch: &mut Batch) {
    let Batch { coarse, rows, weights, len, .. } = batch;
    let (quads, n) = (sieve.quads, sieve.weights());
    let together = (NEAR_BYTES / (4 * quads * WIDE * BLOCKS)).max(1) * WIDE * BLOCKS;
    for first in (0..n).step_by(together) {
        let here = first..n.min(first + together);
        for tile in 0..len.div_ceil(ABREAST) {
            let x = coarse[tile * ABREAST * quads..][..ABREAST * quads].as_chunks::<ABREAST>().0;
            let rows = &rows[tile * ABREAST..][..ABREAST];
            for at in here.clone().step_by(WIDE * BLOCKS) {
                let z = &sieve.coarse[at * quads..][..BLOCKS * WIDE * quads];
                let (left, right) = z.split_at(WIDE * quads);
                let (left, right) = (left.as_chunks::<WIDE>().0, right.as_chunks::<WIDE>().0);
                let starts = sieve.starts[at..][..BLOCKS * WIDE].as_chunks::<WIDE>().0;
                let mut sums = [[W::splat(0); BLOCKS]; ABREAST];
                for r in 0..ABREAST {
                    for block in 0..BLOCKS {
                        sums[r][block] = W::load(&starts[block]).add(W::splat(rows[r].start));
                    }
                }
                for ((x, left), right) in x.iter().zip(left).zip(right) {
                    let (left, right) = (W::load(left), W::load(right));
                    for r in 0..ABREAST {
                        let x = W::splat(x[r]);
                        sums[r][0] = sums[r][0].add_bytes(x, left);
                        sums[r][1] = sums[r][1].add_bytes(x, right);
                    }
                }
                for r in 0..ABREAST {
                    let out = &mut weights[(tile * ABREAST + r) * n + at..][..BLOCKS * WIDE].as_chunks_mut::<WIDE>().0;
                    for block in 0..BLOCKS {
                        sums[r][block].store_narrow(sieve.shift, &mut out[block]);
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn sift_on<W: I32x16>(sieve: &Sieve, batch: &mut Batch) {
    let Batch { fine, rows, weights, len, passed, finds, maxima, near_sets_of, .. } = batch;
    let (n, finds) = (sieve.weights(), &mut finds[..*len]);
    for ((finds, row), weights) in finds.iter_mut().zip(&*rows).zip(weights.chunks_exact(n)) {
        finds.begin(sieve, row);
        find_maxima(sieve, weights, maxima);
        finds.least = maxima.get(sieve.first).copied().unwrap_or(i16::MIN);
    }
    loop {
        for ((finds, row), weights) in finds.iter_mut().zip(&*rows).zip(weights.chunks_exact(n)) {
            finds.next = 0;
            finds.candidates.clear();
            if !finds.ended {
                find_candidates::<W>(sieve, row, weights, near_sets_of, finds);
                *passed += finds.candidates.len();
            }
        }
        // Points that are near in memory are weighed for all rows before the next ones come.
        let together = (NEAR_BYTES / (4 * sieve.pairs)).max(1);
        for first in (0..sieve.members.len()).step_by(together) {
            for ((finds, row), x) in finds.iter_mut().zip(&*rows).zip(fine.chunks_exact(sieve.pairs)) {
                measure::<W>(sieve, row, x.as_chunks::<WIDE>().0, (first + together) as u32, finds);
            }
        }
        let mut ended = true;
        for (finds, row) in finds.iter_mut().zip(&*rows) {
            if finds.ended {
                continue;
            }
            let (mut bound, mut unseen) = (0.0f32, false);
            for &limit in &finds.limits[..sieve.sets] {
                unseen |= limit == f32::MAX;
                bound = bound.max(if limit == f32::MAX { 0.0 } else { limit });
            }
            let mut needed = sieve.least_weight(bound, row);
            if unseen {
                // Some set has no member among those seen: farther, and in any case by so much.
                needed = needed.min(finds.least.saturating_sub(1 + (finds.least / 8).saturating_abs()));
            }
            finds.ended = finds.least == i16::MIN || needed >= finds.least;
            finds.done = Some(finds.least);
            finds.least = needed;
            ended &= finds.ended;
        }
        if ended {
            return;
        }
    }
}

/// The largest weights of groups of points, descending: about as many groups have a point as near as there are such points.
/// Neighbours in memory are often neighbours in space, so each goes into another group.
#[inline(always)]
fn find_maxima(sieve: &Sieve, weights: &[i16], maxima: &mut Vec<i16>) {
    maxima.clear();
    maxima.resize(sieve.sections * SCORES, i16::MIN);
    let most = maxima.as_chunks_mut::<SCORES>().0;
    for chunks in weights.as_chunks::<SCORES>().0.chunks(sieve.sections) {
        for (most, chunk) in most.iter_mut().zip(chunks) {
            for lane in 0..SCORES {
                most[lane] = most[lane].max(chunk[lane]);
            }
        }
    }
    maxima.sort_unstable_by(|a, b| b.cmp(a));
}

/// The points that are near enough by their first weight and were not yet looked at.
#[inline(always)]
fn find_candidates<W: I32x16>(
    sieve: &Sieve,
    row: &Sifted,
    weights: &[i16],
    near_sets_of: &mut Vec<u128>,
    finds: &mut Finds,
) {
    let least = finds.least;
    let Some(done) = finds.done else {
        for (chunk, scores) in weights.as_chunks::<SCORES>().0.iter().enumerate() {
            let mut near = W::scores_from(scores, least);
            while near != 0 {
                finds.candidates.push((chunk * SCORES) as u32 + near.trailing_zeros());
                near &= near - 1;
            }
        }
        return;
    };
    // Near enough for some set, but for one of its own? That depends on the weight alone.
    let range = (i32::from(done) - i32::from(least)) as u32;
    let class = range.div_ceil(CLASSES as u32).max(1).next_power_of_two().trailing_zeros();
    near_sets_of.clear();
    for from in (0..range).step_by(1 << class) {
        let most = (i32::from(least) + from.cast_signed() + (1 << class) - 1).min(i32::from(done));
        near_sets_of.push(near_sets::<W>(&finds.limits, sieve.least_squared(most as i16, row)));
    }
    for (chunk, scores) in weights.as_chunks::<SCORES>().0.iter().enumerate() {
        let mut near = W::scores_from(scores, least);
        if near == 0 {
            continue;
        }
        near &= !W::scores_from(scores, done);
        while near != 0 {
            let lane = near.trailing_zeros() as usize;
            near &= near - 1;
            let point = chunk * SCORES + lane;
            let sets = near_sets_of[((i32::from(scores[lane]) - i32::from(least)) >> class) as usize];
            if sieve.members.get(point).is_some_and(|members| members & sets != 0) {
                finds.candidates.push(point as u32);
            }
        }
    }
}

/// Weighs the next candidates below `end` the second time.
#[inline(always)]
fn measure<W: I32x16>(sieve: &Sieve, row: &Sifted, x: &[[i32; WIDE]], end: u32, finds: &mut Finds) {
    let more = (2.0 * finds.off * (1.0 + SLACK)) as f32 * (1.0 + f32::EPSILON);
    while let Some(&point) = finds.candidates.get(finds.next).filter(|&&point| point < end) {
        if let Some(&ahead) = finds.candidates.get(finds.next + AHEAD) {
            let start = ahead as usize * sieve.pairs;
            for line in 0..sieve.pairs / WIDE {
                prefetch(&sieve.fine, start + line * WIDE);
            }
        }
        finds.next += 1;
        let at = point as usize;
        let Some(&members) = sieve.members.get(at) else { continue };
        let z = sieve.fine[at * sieve.pairs..][..sieve.pairs].as_chunks::<WIDE>().0;
        let squared = (row.square + sieve.squares[at] - 2 * product::<W>(x, z)) as f32;
        let near = near_sets::<W>(&finds.limits, squared) & members;
        if near == 0 {
            continue;
        }
        let most = squared.sqrt() * (1.0 + SLACK as f32) + more;
        let limit = W::Float::splat((most * most).min(f32::MAX));
        for (chunk, limits) in finds.limits.as_chunks_mut::<WIDE>().0.iter_mut().enumerate() {
            let lanes = (near >> (chunk * WIDE)) as u16;
            if lanes != 0 {
                W::Float::load(limits).lowered(lanes, limit).store(limits);
            }
        }
        finds.hits.push(Hit { point, squared, sets: near });
    }
}

/// The sets whose limit is no less than a squared distance.
#[inline(always)]
fn near_sets<W: I32x16>(limits: &[f32; SETS], squared: f32) -> u128 {
    let here = W::Float::splat(squared);
    let mut near = [0u64; 2];
    for (near, limits) in near.iter_mut().zip(limits.as_chunks::<64>().0) {
        for (chunk, limits) in limits.as_chunks::<WIDE>().0.iter().enumerate() {
            *near |= u64::from(here.at_most(W::Float::load(limits))) << (chunk * WIDE);
        }
    }
    u128::from(near[0]) | u128::from(near[1]) << 64
}

/// Σ x·z, four sums at a time, so that none waits for the one before.
#[inline(always)]
fn product<W: I32x16>(x: &[[i32; WIDE]], z: &[[i32; WIDE]]) -> i32 {
    let mut sums = [W::splat(0); 4];
    let ((x_fours, x_rest), (z_fours, z_rest)) = (x.as_chunks::<4>(), z.as_chunks::<4>());
    for (x, z) in x_fours.iter().zip(z_fours) {
        for at in 0..4 {
            sums[at] = sums[at].add_products(W::load(&x[at]), W::load(&z[at]));
        }
    }
    for (x, z) in x_rest.iter().zip(z_rest) {
        sums[0] = sums[0].add_products(W::load(x), W::load(z));
    }
    sums[0].add(sums[1]).add(sums[2].add(sums[3])).sum()
}
