//! The sampled rows of many partitionings in one tree, so that one walk finds the nearest centre of each: what a row
//! costs hardly depends on ψ.
//!
//! Equal rows are merged, so that ties between copies are settled once. The tree and its boxes live in a rotated
//! space: the first principal directions and the length of what is left over, a map that lengthens no distance and is
//! much narrower than the data. Distances to points are always measured in all columns, first in `f32`, and in the
//! canonical form where `f32` cannot tell.

use std::ops::Range;

use super::frame::{FAR, Frame};
use crate::backend::{self, Leaves, Party, Path, REACH, SETS, Tree, Walker, Winner, pairs_for};
use crate::data::{Points, PointsBuf, Row};
use crate::parallel::Run;

/// Rows that walk together.
const PARTY: usize = 8;

/// Points of an index that are prepared together.
pub(super) const PART: usize = 4096;

/// Rows that are brought into the order of their leaves together.
pub(crate) const TOGETHER: usize = 1 << 13;

/// A walk is tried on so many groups of rows, from so many places, of so many rows each.
const PILOT_GROUPS: usize = 64;
const PILOT_CHUNKS: usize = 8;
const PILOT_TOGETHER: usize = 2048;
/// Rows that the pilot brings into order at the most.
pub(crate) const PILOT_ORDERED: usize = PILOT_CHUNKS * PILOT_TOGETHER;

/// What a byte costs that comes from far away, in nanoseconds, where the points are more than so many bytes.
const FAR_AWAY: [(usize, f64); 2] = [(16 << 20, 0.05), (1 << 20, 0.02)];

/// The distinct centres of up to [`SETS`] partitionings.
#[derive(Debug, Clone)]
pub(crate) struct Union {
    frame: Frame,
    tree: Tree,
    /// Steps per unit of the frame, where points are in whole steps.
    steps: Option<f64>,
    /// Row of the centres for each point of the tree.
    rows: Vec<u32>,
    memberships: Memberships,
    /// How many partitionings there are.
    t: usize,
}

/// Which of up to [`SETS`] partitionings each point is a member of, and its number there.
#[derive(Debug, Clone)]
pub(super) struct Memberships {
    points: Vec<Membership>,
    /// Numbers that have no room beside their points.
    more: Vec<u32>,
}

/// The partitionings of a point. Its first numbers stand beside them, so that one line of the cache answers most questions.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(32))]
struct Membership {
    sets: u128,
    /// One number per set, sets ascending.
    first: [u32; BESIDE],
    /// Where the others are.
    rest: u32,
}

/// Numbers beside a point.
const BESIDE: usize = 3;

impl Memberships {
    /// Of `n` points, with `place(row)` the point of a member; where copies are in one partitioning, the lowest number
    /// counts.
    pub(super) fn new(n: usize, members: &[u32], psi: usize, place: impl Fn(u32) -> usize) -> Self {
        let mut points = vec![Membership::default(); n];
        let mut others: Vec<Vec<u32>> = vec![Vec::new(); n];
        for (i, members) in members.chunks_exact(psi).enumerate() {
            for (j, &row) in members.iter().enumerate() {
                let at = place(row);
                let point = &mut points[at];
                if point.sets >> i & 1 == 0 {
                    match point.first.get_mut(point.sets.count_ones() as usize) {
                        Some(slot) => *slot = j as u32,
                        None => others[at].push(j as u32),
                    }
                    point.sets |= 1 << i;
                }
            }
        }
        let mut more = Vec::new();
        for (point, others) in points.iter_mut().zip(&others) {
            point.rest = more.len() as u32;
            more.extend_from_slice(others);
        }
        Self { points, more }
    }

    /// The partitionings of a point.
    #[inline]
    pub(super) fn of(&self, point: usize) -> u128 {
        self.points[point].sets
    }

    /// The partitionings of all points.
    fn all(&self) -> Vec<u128> {
        self.points.iter().map(|point| point.sets).collect()
    }

    /// The number of a point within partitioning `i`, of which it is a member.
    #[inline]
    pub(super) fn number(&self, point: usize, i: usize) -> u32 {
        self.number_after(point, (1 << i) - 1)
    }

    /// The number of a point within the partitioning that comes after those whose bits are given.
    #[inline]
    fn number_after(&self, point: usize, before: u128) -> u32 {
        let point = &self.points[point];
        let below = (point.sets & before).count_ones() as usize;
        point.first.get(below).copied().unwrap_or_else(|| self.more[point.rest as usize + below - BESIDE])
    }
}

/// Directions that pay for `d` columns: none where the columns themselves are few enough.
fn directions_for(d: usize) -> usize {
    match d {
        0..=12 => 0,
        13..=32 => 12,
        33..=128 => 32,
        _ => 64,
    }
}

impl Union {
    /// The length of a step that a union of these rows in whole steps has.
    pub(crate) fn step(points: &PointsBuf) -> Option<f64> {
        let frame = Frame::new(points, 0)?;
        Some(frame.unit().sqrt() * frame.longest / REACH)
    }

    /// The centres of partitionings of ψ members each, given as rows of `points`; in whole steps if `whole`.
    pub(crate) fn new(points: &PointsBuf, members: &[u32], psi: usize, whole: bool, run: Run<'_>) -> Option<Self> {
        let t = members.len() / psi;
        debug_assert!(t <= SETS, "a mask has a bit for every partitioning");
        let frame = || Frame::new(points, directions_for(points.n_columns()));
        let (frame, (same, distinct)) = run.both(frame, || distinct_values(points, members));
        let frame = frame?;
        let (d, k, n) = (frame.d, frame.k, distinct.len());
        let mut coordinates = vec![0.0; n * k];
        let coordinates_of = |part: usize, out: &mut [f32]| {
            let mut x = vec![0.0; d];
            for (&row, out) in distinct[part * PART..].iter().zip(out.chunks_exact_mut(k)) {
                let length = frame.moved(points.row(row as usize), &mut x);
                frame.coordinates(&x, length, out);
            }
            Ok(())
        };
        run.chunks_mut("index", &mut coordinates, PART * k, coordinates_of).ok()?;
        let mut order: Vec<u32> = (0..n as u32).collect();
        arrange(&mut order, &coordinates, k, run.n_threads());
        let mut place = vec![0u32; points.n_rows()];
        order.iter().enumerate().for_each(|(at, &point)| place[distinct[point as usize] as usize] = at as u32);

        let steps = whole.then_some(REACH / frame.longest);
        let rows: Vec<u32> = order.iter().map(|&point| distinct[point as usize]).collect();
        let leaves_of = |part: usize| {
            let rows = rows.chunks(PART).nth(part).unwrap_or_default();
            let mut x = vec![0.0; d];
            let mut columns = Columns::new(rows.len(), d, steps.is_some());
            let mut residual = 0.0f64;
            for (at, &row) in rows.iter().enumerate() {
                frame.moved(points.row(row as usize), &mut x);
                residual = residual.max(columns.place(at, &x, steps));
            }
            Ok(match (&columns, steps) {
                (Columns::Whole { values, pairs }, Some(steps)) => Leaves::whole(values, d, *pairs, steps, residual),
                (Columns::Narrow { values, .. }, _) => Leaves::narrow(values, d),
                _ => unreachable!("whole columns have steps"),
            })
        };
        let leaves = run.map("index", n.div_ceil(PART), leaves_of).ok()?.into_iter().reduce(Leaves::and)?;
        let placed = || {
            let mut placed = Vec::with_capacity(n * k);
            for &point in &order {
                placed.extend_from_slice(&coordinates[point as usize * k..][..k]);
            }
            placed
        };
        let place = |row: u32| place[same[row as usize] as usize] as usize;
        let (placed, memberships) = run.both(placed, || Memberships::new(n, members, psi, place));
        let tree = Tree::new(leaves, &placed, k, memberships.all());
        Some(Self { frame, tree, steps, rows, memberships, t })
    }

    /// Calls `found(row, i, winner)` for every row and partitioning; `centres` are the rows it was made from. With
    /// `distance_wanted` the distance of a winner is the canonical one. Returns the rows that were not served: those too
    /// far away for `f32`.
    pub(crate) fn nearest(
        &self,
        points: Points<'_>,
        centres: &PointsBuf,
        path: Path,
        distance_wanted: bool,
        found: impl FnMut(usize, usize, Winner),
    ) -> Vec<usize> {
        let walkers = self.walkers(points, path);
        if points.n_rows() == 1 {
            self.walk::<1>(&walkers, walkers.order.chunks(1), centres, path, distance_wanted, found);
        } else {
            self.walk::<PARTY>(&walkers, walkers.order.chunks(PARTY), centres, path, distance_wanted, found);
        }
        walkers.unserved
    }

    /// Brings rows into the frame and into the order of their leaves.
    fn walkers<'a>(&self, points: Points<'a>, path: Path) -> Walkers<'a> {
        let (d, k, n) = (self.frame.d, self.frame.k, points.n_rows());
        let mut x = vec![0.0; d];
        let mut columns = Columns::new(n, d, self.steps.is_some());
        let mut coordinates = vec![0.0f32; n * k];
        let (mut lengths, mut residuals, mut unserved) = (vec![0.0; n], vec![0.0; n], Vec::new());
        let mut order: Vec<(u32, u32)> = Vec::with_capacity(n);
        for (at, row) in points.rows().enumerate() {
            lengths[at] = self.frame.moved(row, &mut x);
            if self.steps.map_or(lengths[at] <= FAR, |steps| backend::within_reach(d, lengths[at], steps)) {
                residuals[at] = columns.place(at, &x, self.steps);
            } else {
                unserved.push(at);
                continue;
            }
            let here = &mut coordinates[at * k..][..k];
            self.frame.coordinates(&x, lengths[at], here);
            let leaf = if n > 1 { backend::leaf_of(path, &self.tree, here) } else { 0 };
            order.push((leaf, at as u32));
        }
        order.sort_unstable();
        Walkers { points, columns, coordinates, lengths, residuals, order, unserved }
    }

    /// Lets groups of up to R rows walk.
    fn walk<'a, const R: usize>(
        &self,
        walkers: &Walkers<'_>,
        groups: impl Iterator<Item = &'a [(u32, u32)]>,
        centres: &PointsBuf,
        path: Path,
        distance_wanted: bool,
        mut found: impl FnMut(usize, usize, Winner),
    ) -> Met {
        let k = self.frame.k;
        let mut party = Party::<R>::new(&self.tree);
        let mut settle = Settle::default();
        let mut met = Met::default();
        for group in groups {
            for seat in 0..R {
                // Empty seats repeat the last row.
                let at = group[seat.min(group.len() - 1)].1 as usize;
                let y = &walkers.coordinates[at * k..][..k];
                party.place(seat, walkers.columns.row(at), y, walkers.lengths[at], walkers.residuals[at]);
            }
            backend::walk::<R>(path, &self.tree, self.t, &mut party);
            for (&(_, at), seeker) in group.iter().zip(&party.seekers) {
                let at = at as usize;
                met.rows += 1;
                self.settle(seeker, walkers.points.row(at), centres, distance_wanted, &mut settle, |i, winner| {
                    found(at, i, winner);
                });
            }
            // The next rows are neighbours of the last of these.
            if R > 1 {
                party.guide_on(&self.tree, self.t, group.len() - 1);
            }
        }
        Met { nodes: party.nodes, leaves: party.leaves, ..met }
    }

    /// About how many nanoseconds a row takes when many walk, and when it walks alone, from what some rows meet on their
    /// way. It counts and does not time, so that the same data always goes the same way.
    pub(crate) fn costs(&self, points: Points<'_>, centres: &PointsBuf, run: Run<'_>) -> [f64; 2] {
        let path = backend::best();
        let n = points.n_rows();
        let chunks = n.div_ceil(PILOT_TOGETHER).min(PILOT_CHUNKS);
        let pilot = |chunk: usize| {
            // Whole chunks are brought into order, so that the few groups that walk are those of the real thing.
            let first = (n - PILOT_TOGETHER.min(n)) * chunk / chunks.max(2).saturating_sub(1);
            let walkers = self.walkers(points.slice(first..n.min(first + PILOT_TOGETHER)), path);
            // Neighbours, since groups show the way to those that come after.
            let (groups, few) = (walkers.order.len().div_ceil(PARTY), PILOT_GROUPS.div_ceil(chunks));
            let picked = || walkers.order.chunks(PARTY).skip(groups.saturating_sub(few) / 2).take(few);
            let many = self.walk::<PARTY>(&walkers, picked(), centres, path, false, |_, _, _| ());
            let singles = picked().map(|group| &group[..1]);
            Ok((many, self.walk::<1>(&walkers, singles, centres, path, false, |_, _, _| ())))
        };
        let (mut many, mut alone) = (Met::default(), Met::default());
        for met in run.map("pilot", chunks, pilot).into_iter().flatten() {
            many.add(&met.0);
            alone.add(&met.1);
        }
        let (d, k) = (self.frame.d as f64, self.frame.k as f64);
        let prepare = 2.0 * d + if self.frame.directions.is_empty() { 0.0 } else { 0.3 * d * k };
        let cost = |met: &Met, per_leaf: f64, per_node: f64| {
            let ways = met.leaves as f64 * per_leaf + met.nodes as f64 * per_node;
            ways / met.rows.max(1) as f64 + 14.0 * self.t as f64 + prepare
        };
        let d = if self.steps.is_some() { 0.5 * d } else { d };
        let leaf = 4.0 * 16.0 * d;
        let bytes = leaf as usize * self.rows.len().div_ceil(16);
        let far = leaf * FAR_AWAY.into_iter().find(|(size, _)| bytes > *size).map_or(0.0, |(_, each)| each);
        [cost(&many, 3.0 * d + 40.0 + far, 7.0 * k + 30.0), cost(&alone, d + 15.0 + far, 2.0 * k + 20.0)]
    }

    /// The winner of every partitioning among what a row has seen.
    fn settle(
        &self,
        seeker: &backend::Seeker,
        x: Row<'_>,
        centres: &PointsBuf,
        distance_wanted: bool,
        room: &mut Settle,
        mut found: impl FnMut(usize, Winner),
    ) {
        let canonical = |point: u32| x.squared_distance(centres.row(self.rows[point as usize] as usize));
        room.rivals.clear();
        room.rivals.extend(seeker.rivals().map(|rival| (usize::from(rival.set), rival.point)));
        if room.rivals.is_empty() && !distance_wanted {
            let mut before = 0u128;
            for (i, best) in seeker.best().take(self.t).enumerate() {
                let centre = self.memberships.number_after(best as usize, before);
                found(i, Winner { centre, squared_distance: f64::NAN });
                before = before << 1 | 1;
            }
            return;
        }
        room.rivals.sort_unstable();
        let mut rivals = room.rivals.chunk_by(|a, b| a.0 == b.0).peekable();
        for (i, best) in seeker.best().take(self.t).enumerate() {
            let number = |point: u32| self.memberships.number(point as usize, i);
            let mut winner = Winner { centre: number(best), squared_distance: f64::NAN };
            let rivals = rivals.next_if(|rivals| rivals[0].0 == i);
            if distance_wanted || rivals.is_some() {
                winner.squared_distance = canonical(best);
            }
            for &(_, point) in rivals.into_iter().flatten() {
                let other = Winner { centre: number(point), squared_distance: canonical(point) };
                let (near, far) = (other.squared_distance, winner.squared_distance);
                if near < far || near == far && other.centre < winner.centre {
                    winner = other;
                }
            }
            found(i, winner);
        }
    }
}

/// Rows in the frame of a union.
struct Walkers<'a> {
    points: Points<'a>,
    columns: Columns,
    coordinates: Vec<f32>,
    lengths: Vec<f64>,
    /// How far each row was rounded, in steps.
    residuals: Vec<f64>,
    /// (leaf, row), ascending.
    order: Vec<(u32, u32)>,
    unserved: Vec<usize>,
}

/// Rows in `f32`, or in whole steps, two columns by two.
enum Columns {
    Narrow { d: usize, values: Vec<f32> },
    Whole { pairs: usize, values: Vec<i32> },
}

impl Columns {
    fn new(n: usize, d: usize, whole: bool) -> Self {
        let pairs = pairs_for(d);
        if whole {
            Self::Whole { pairs, values: vec![0; n * pairs] }
        } else {
            Self::Narrow { d, values: vec![0.0; n * d] }
        }
    }

    /// Takes up a row; returns how far it was rounded, in steps.
    fn place(&mut self, at: usize, x: &[f64], steps: Option<f64>) -> f64 {
        match (self, steps) {
            (Self::Whole { pairs, values }, Some(steps)) => {
                backend::round_row(x, steps, &mut values[at * *pairs..][..*pairs])
            }
            (Self::Narrow { d, values }, _) => {
                values[at * *d..][..*d].iter_mut().zip(x).for_each(|(slot, &value)| *slot = value as f32);
                0.0
            }
            _ => unreachable!("whole columns have steps"),
        }
    }

    fn row(&self, at: usize) -> Walker<'_> {
        match self {
            Self::Narrow { d, values } => Walker::Narrow(&values[at * d..][..*d]),
            Self::Whole { pairs, values } => Walker::Whole(&values[at * pairs..][..*pairs]),
        }
    }
}

/// What rows have met on their way.
#[derive(Debug, Default)]
struct Met {
    rows: usize,
    nodes: usize,
    leaves: usize,
}

impl Met {
    const fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.nodes += other.nodes;
        self.leaves += other.leaves;
    }
}

/// Room for settling one row: rivals of partitionings.
#[derive(Default)]
struct Settle {
    rivals: Vec<(usize, u32)>,
}

/// The rows that are members of some partitioning, copies merged, ascending; before them what [`same_values`] says.
pub(super) fn distinct_values(points: &PointsBuf, members: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let same = same_values(points);
    let mut wanted = vec![false; points.n_rows()];
    for &row in members {
        wanted[same[row as usize] as usize] = true;
    }
    let distinct = (0..points.n_rows() as u32).filter(|&row| wanted[row as usize]).collect();
    (same, distinct)
}

/// For every row the first row of the same values; −0 and 0 count as one.
pub(super) fn same_values(points: &PointsBuf) -> Vec<u32> {
    const FREE: u32 = u32::MAX;
    let equal = |a: Row<'_>, b: Row<'_>| {
        let mut equal = true;
        a.pairs(b, |a, b| equal &= a == b);
        equal
    };
    // First rows by their hashes, each in the first free place from there on.
    let mut firsts = vec![(0u64, FREE); (2 * points.n_rows()).next_power_of_two()];
    let mask = firsts.len() - 1;
    let first_of = |(at, row): (usize, Row<'_>)| {
        let mut hash = 0u64;
        for (column, value) in row.nonzeros().filter(|&(_, value)| value != 0.0) {
            hash = (hash ^ value.to_bits() ^ column as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
        let mut place = (hash >> 32) as usize & mask;
        loop {
            match firsts[place] {
                (_, FREE) => {
                    firsts[place] = (hash, at as u32);
                    return at as u32;
                }
                (known, first) if known == hash && equal(points.row(first as usize), row) => return first,
                _ => place = (place + 1) & mask,
            }
        }
    };
    points.as_points().rows().enumerate().map(first_of).collect()
}

/// Orders points so that every run of 16, 256, 4096 … is one subtree: cut across the direction of the largest
/// variance, at a multiple of the largest such run. The order does not depend on the number of threads.
pub(super) fn arrange(points: &mut [u32], coordinates: &[f32], k: usize, threads: usize) {
    const WIDE: usize = 16;
    if points.len() <= WIDE {
        return;
    }
    let mut unit = WIDE;
    while unit * WIDE < points.len() {
        unit *= WIDE;
    }
    let cut = points.len().div_ceil(unit) / 2 * unit;
    let column = widest(points, coordinates, k);
    let value = |point: u32| coordinates[point as usize * k + column];
    points.select_nth_unstable_by(cut, |&a, &b| value(a).total_cmp(&value(b)).then(a.cmp(&b)));
    let (left, right) = points.split_at_mut(cut);
    if threads < 2 || left.len() < PART {
        arrange(left, coordinates, k, 1);
        arrange(right, coordinates, k, 1);
        return;
    }
    std::thread::scope(|scope| {
        scope.spawn(|| arrange(left, coordinates, k, threads / 2));
        arrange(right, coordinates, k, threads - threads / 2);
    });
}

/// The coordinate of the largest variance, from a thousand of the points.
fn widest(points: &[u32], coordinates: &[f32], k: usize) -> usize {
    let step = points.len().div_ceil(1024);
    let (mut sums, mut squares) = (vec![0.0f64; k], vec![0.0f64; k]);
    let mut n = 0.0;
    for &point in points.iter().step_by(step) {
        n += 1.0;
        for (column, &value) in coordinates[point as usize * k..][..k].iter().enumerate() {
            sums[column] += f64::from(value);
            squares[column] += f64::from(value) * f64::from(value);
        }
    }
    let variance = |column: usize| squares[column] - sums[column] * sums[column] / n;
    (0..k).reduce(|best, column| if variance(column) > variance(best) { column } else { best }).unwrap_or(0)
}

/// Which partitionings go into one union each.
pub(crate) fn groups(t: usize) -> impl Iterator<Item = Range<usize>> {
    let n = t.div_ceil(SETS);
    (0..n).map(move |group| group * t / n..(group + 1) * t / n)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::panels::{Numbers, Panels};
    use super::*;
    use crate::backend::{Form, Rivals};
    use crate::rng::{Component, rng_of};

    /// Rows that are hard for one part or another of the walk.
    pub(in super::super) fn awkward(kind: usize, n: usize, d: usize) -> PointsBuf {
        let mut rng = rng_of(5, Component::Synthetic, (kind * 10_000 + d) as u64);
        let mut values = Vec::with_capacity(n * d);
        for row in 0..n {
            let group = rng.below(4) as f64;
            for column in 0..d {
                values.push(match kind {
                    // Exact ties everywhere, and many copies.
                    0 => rng.below(3) as f64,
                    1 => rng.normal(),
                    // Digits that f32 cannot hold.
                    2 => 1e9 + rng.below(5) as f64 * 1e-7,
                    // 200 orders of magnitude.
                    3 => rng.normal() * 10f64.powf(rng.below(200) as f64 - 100.0),
                    // Clusters, with an outlier that squeezes everything else.
                    4 if row == 0 => 1e12,
                    4 => 10.0 * group + 1e-3 * rng.normal(),
                    // Nearly equal distances to everything: points on a sphere round their mean.
                    5 => f64::from(u8::from(column == row % d)) * (1.0 + 1e-9 * rng.normal()),
                    // Subnormal numbers.
                    _ => rng.below(1000) as f64 * f64::MIN_POSITIVE / 100.0,
                });
            }
        }
        PointsBuf::from_dense(values, d).unwrap()
    }

    pub(in super::super) fn oracle(points: &PointsBuf, members: &[u32], x: Row<'_>) -> Winner {
        let mut best = Winner { centre: 0, squared_distance: f64::INFINITY };
        for (j, &member) in members.iter().enumerate() {
            let squared_distance = x.squared_distance(points.row(member as usize));
            if squared_distance < best.squared_distance {
                best = Winner { centre: j as u32, squared_distance };
            }
        }
        best
    }

    #[test]
    fn a_walk_finds_the_winners_of_the_plain_loop_on_every_path() {
        for kind in 0..7 {
            for (n, d, t, psi) in [
                (300, 1, 20, 30),
                (700, 3, 100, 40),
                (400, 10, 7, 200),
                (600, 20, 128, 9),
                (90, 150, 11, 13),
                (40, 2000, 3, 7),
            ] {
                let points = awkward(kind, n, d);
                let mut rng = rng_of(6, Component::Synthetic, (kind * n) as u64);
                let members: Vec<u32> = (0..t * psi).map(|_| rng.below(n * 2 / 3) as u32).collect();
                for whole in [false, true] {
                    let Some(union) = Union::new(&points, &members, psi, whole, Run::threads(d % 3)) else { continue };
                    // All rows, of which a third is in no sample; and a few in f32 and far away.
                    let mut narrow = PointsBuf::dense_f32(d);
                    points.as_points().rows().take(20).for_each(|row| narrow.push(row));
                    let far =
                        PointsBuf::from_dense((0..3 * d).map(|at| 1e200 * (at as f64 - 1.0)).collect(), d).unwrap();
                    for asked in [&points, &narrow, &far] {
                        let expected: Vec<Winner> = asked
                            .as_points()
                            .rows()
                            .flat_map(|row| members.chunks_exact(psi).map(move |members| (row, members)))
                            .map(|(row, members)| oracle(&points, members, row))
                            .collect();
                        for path in backend::available() {
                            let mut found = vec![None; asked.n_rows() * t];
                            let unserved = union.nearest(asked.as_points(), &points, path, true, |row, i, winner| {
                                assert!(found[row * t + i].replace(winner).is_none(), "found twice");
                            });
                            for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                                match found {
                                    Some(winner) => assert_eq!(winner, expected, "kind {kind}, d {d}, {path:?}, {at}"),
                                    None => assert!(unserved.contains(&(at / t)), "kind {kind}, d {d}, {path:?}, {at}"),
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_panel_that_is_sure_is_right_on_every_path() {
        for kind in 0..7 {
            for (n, d, t, psi) in
                [(200, 1, 20, 30), (100, 5, 20, 32), (300, 7, 33, 40), (90, 150, 11, 13), (40, 2000, 3, 7)]
            {
                let points = awkward(kind, n, d);
                let mut rng = rng_of(7, Component::Synthetic, (kind * n) as u64);
                let members: Vec<u32> = (0..t * psi).map(|_| rng.below(n * 2 / 3) as u32).collect();
                for numbers in [Numbers::F32(Form::Difference), Numbers::F32(Form::Product), Numbers::Whole] {
                    let Some(panels) = Panels::new(&points, &members, psi, numbers) else { continue };
                    let far = PointsBuf::from_dense((0..d).map(|_| 1e200).collect(), d).unwrap();
                    for (asked, path) in [&points, &far]
                        .into_iter()
                        .flat_map(|asked| backend::available().into_iter().map(move |path| (asked, path)))
                    {
                        let (mut seen, mut sure_ones) = (0, 0);
                        let ends = [1, psi / 2, psi];
                        panels.nearest(asked.as_points(), path, &ends, |row, i, scale, proposal, named| {
                            seen += 1;
                            // Lanes that share a partitioning may not know the scales between.
                            let last = scale + 1 == ends.len();
                            sure_ones += usize::from(last && proposal.rivals != Rivals::Many);
                            let members = &members[i * psi..][..ends[scale]];
                            let expected = oracle(&points, members, asked.row(row));
                            let said = format!("kind {kind}, d {d}, {numbers:?}, {path:?}: {proposal:?}");
                            let distance = expected.squared_distance;
                            match proposal.rivals {
                                Rivals::None => {
                                    assert_eq!(proposal.centre, expected.centre, "{said}");
                                    assert!(proposal.at_least <= distance, "{said}, {distance}");
                                    assert!(proposal.at_most >= distance, "{said}, {distance}");
                                }
                                Rivals::Few(many) => {
                                    let rivals = &named[..usize::from(many)];
                                    let known = proposal.centre == expected.centre || rivals.contains(&expected.centre);
                                    assert!(known, "{said}");
                                }
                                Rivals::Many => {}
                            }
                        });
                        assert_eq!(seen, asked.n_rows() * t * ends.len());
                        let last = seen / ends.len();
                        assert!(kind != 1 || asked.n_rows() == 1 || sure_ones * 10 > last * 9, "{sure_ones} of {last}");
                    }
                }
            }
        }
    }

    #[test]
    fn groups_cover_all_partitionings_evenly() {
        for t in [1, 100, 128, 129, 1000] {
            let groups: Vec<Range<usize>> = groups(t).collect();
            assert!(groups.iter().all(|group| group.len() <= SETS && !group.is_empty()));
            assert_eq!(groups.iter().map(ExactSizeIterator::len).sum::<usize>(), t);
            assert!(groups.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }

    #[test]
    fn every_run_of_sixteen_is_filled_but_the_last() {
        let points = awkward(1, 1000, 5);
        let members: Vec<u32> = (0..1000).collect();
        let union = Union::new(&points, &members, 1000, false, Run::single()).unwrap();
        let mut rows = union.rows.clone();
        rows.sort_unstable();
        assert_eq!(rows, members);
    }
}
