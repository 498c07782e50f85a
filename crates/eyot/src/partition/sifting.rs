//! The sampled rows of many partitionings in one [`Sieve`], which weighs each distinct row once for all partitionings: in
//! bytes along the first principal directions where the data is flat enough, else in bytes of all columns.
//!
//! Equal rows are merged, so that copies are no ties.

use super::frame::Frame;
use super::union::{Memberships, PART, arrange, distinct_values};
use crate::backend::{
    self, Batch, Finds, Path, Proposal, REACH, Rivals, Rounding, SETS, Sieve, SievePoints, best, round_row,
};
use crate::data::{Points, PointsBuf, Row};
use crate::parallel::Run;

/// Directions that are tried before all columns.
const DIRECTIONS: usize = 95;

/// Directions pay where so much of the squared length of rows is along them.
const WORTH_TURNING: f64 = 0.7;

/// Rows are ordered by so many directions.
const ORDERED_BY: usize = 12;

/// No more columns than sums of bytes have room for.
const MOST_COLUMNS: usize = 16_000;

/// More rivals than this are not named.
const MOST_NAMED: usize = u8::MAX as usize;

/// Rows a sieve is tried on.
const PILOT_ROWS: usize = 64;

/// The distinct centres of up to [`SETS`] partitionings.
#[derive(Debug, Clone)]
pub(crate) struct Sifting {
    frame: Frame,
    /// Steps per unit of the frame.
    steps: f64,
    sieve: Sieve,
    memberships: Memberships,
    t: usize,
    n: usize,
}

impl Sifting {
    /// About what a row of `d` columns costs in nanoseconds at the least: with `n` rows that are the centres of `t`
    /// partitionings, `share` of them distinct, all but nobody passes but the nearest.
    pub(crate) fn least_cost(n: usize, d: usize, t: usize, share: f64) -> f64 {
        let along = if DIRECTIONS < d { weighed(n, d, DIRECTIONS + 1, t, true) } else { f64::INFINITY };
        along.min(weighed(n, d, d, t, false)) + share * t as f64 * passing(d)
    }

    /// The centres of partitionings of ψ members each, given as rows of `points`; along `directions` if so, else in all
    /// columns.
    fn new(points: &PointsBuf, members: &[u32], psi: usize, directions: usize, run: Run<'_>) -> Option<Self> {
        let (t, d) = (members.len() / psi, points.n_columns());
        debug_assert!(t <= SETS, "a mask has a bit for every partitioning");
        if d > MOST_COLUMNS {
            return None;
        }
        let (same, distinct) = distinct_values(points, members);
        let frame = Frame::new(points, directions)?;
        if directions > 0 && frame.share_along(points) < WORTH_TURNING {
            return None;
        }
        let in_order = order_along(&frame, distinct.len(), |at| points.row(distinct[at] as usize), run);
        let distinct: Vec<u32> = in_order.into_iter().map(|at| distinct[at as usize]).collect();
        let mut place = vec![0u32; points.n_rows()];
        distinct.iter().enumerate().for_each(|(at, &row)| place[row as usize] = at as u32);

        let (k, n, steps) = (frame.k, distinct.len(), REACH / frame.longest);
        let pairs = Rounding::new(k, d, 1.0, steps).pairs();
        let placed = |part: usize| {
            let rows = distinct.chunks(PART).nth(part).unwrap_or_default();
            let (mut coordinates, mut fine) = (vec![0.0f32; rows.len() * k], vec![0; rows.len() * pairs]);
            let (mut x, mut residual) = (vec![0.0; d], 0.0f64);
            let room = coordinates.chunks_exact_mut(k).zip(fine.chunks_exact_mut(pairs));
            for (&row, (y, fine)) in rows.iter().zip(room) {
                let length = frame.moved(points.row(row as usize), &mut x);
                frame.coordinates(&x, length, y);
                residual = residual.max(round_row(&x, steps, fine));
            }
            Ok((coordinates, fine, residual))
        };
        let (mut coordinates, mut fine, mut fine_residual) = (Vec::new(), Vec::new(), 0.0f64);
        for (y, of_part, residual) in run.map("index", n.div_ceil(PART), placed).ok()? {
            coordinates.extend(y);
            fine.extend(of_part);
            fine_residual = fine_residual.max(residual);
        }
        let widest = coordinates.iter().fold(0.0f32, |widest, y| widest.max(y.abs()));
        let rounding = Rounding::new(k, d, f64::from(widest), steps);
        let memberships = Memberships::new(n, members, psi, |row| place[same[row as usize] as usize] as usize);
        let sieve = Sieve::new(SievePoints {
            rounding,
            coordinates: &coordinates,
            fine,
            fine_residual,
            members: (0..n).map(|point| memberships.of(point)).collect(),
            sets: t,
        });
        Some(Self { frame, steps, sieve, memberships, t, n })
    }

    /// The sieve that some rows show to be faster, and about how many nanoseconds it takes for a row. It counts and does
    /// not time, so that the same data always goes the same way.
    pub(crate) fn fastest(
        points: &PointsBuf,
        members: &[u32],
        psi: usize,
        rows: Points<'_>,
        run: Run<'_>,
    ) -> Option<(Self, f64)> {
        let mut fastest: Option<(Self, f64)> = None;
        let d = points.n_columns();
        for directions in [DIRECTIONS, 0] {
            if directions >= d || fastest.as_ref().is_some_and(|(sifting, cost)| weighing(sifting.n, d) > *cost) {
                continue;
            }
            let Some(sifting) = Self::new(points, members, psi, directions, run) else { continue };
            let cost = sifting.cost(rows);
            if fastest.as_ref().is_none_or(|(_, least)| cost < *least) {
                fastest = Some((sifting, cost));
            }
        }
        fastest
    }

    fn cost(&self, points: Points<'_>) -> f64 {
        let mut pilot = PointsBuf::like(&points);
        let rows = points.n_rows().min(PILOT_ROWS);
        (0..rows).for_each(|at| pilot.push(points.row(at * points.n_rows() / rows)));
        let (_, passed) = self.sift(pilot.as_points(), best(), |_, _, _, _| ());
        let (d, k, turned) = (self.frame.d, self.frame.k, !self.frame.directions.is_empty());
        weighed(self.n, d, k, self.t, turned) + passed as f64 / rows.max(1) as f64 * passing(d)
    }

    /// Calls `found(row, i, proposal, rivals)` for every row and partitioning. Returns the rows that were not served: those
    /// too far away.
    pub(crate) fn nearest(
        &self,
        points: Points<'_>,
        path: Path,
        found: impl FnMut(usize, usize, Proposal, &[u32]),
    ) -> Vec<usize> {
        self.sift(points, path, found).0
    }

    /// The same; returns how many points passed, too.
    fn sift(
        &self,
        points: Points<'_>,
        path: Path,
        mut found: impl FnMut(usize, usize, Proposal, &[u32]),
    ) -> (Vec<usize>, usize) {
        let d = self.frame.d;
        let (mut x, mut y) = (vec![0.0; d], vec![0.0f32; self.frame.k]);
        let mut batch = Batch::new(&self.sieve, points.n_rows());
        let mut room = Room::new(self.t);
        let (mut unserved, mut rows) = (Vec::new(), Vec::new());
        let order = order_along(&self.frame, points.n_rows(), |at| points.row(at), Run::single());
        for (number, &at) in order.iter().enumerate() {
            let at = at as usize;
            let length = self.frame.moved(points.row(at), &mut x);
            if backend::within_reach(d, length, self.steps) {
                self.frame.coordinates(&x, length, &mut y);
                let residual = round_row(&x, self.steps, batch.next_fine(&self.sieve));
                let off = backend::coordinates_off(d, self.frame.k) * (length + self.frame.longest);
                batch.push(&self.sieve, &y, off, residual);
                rows.push(at);
            } else {
                unserved.push(at);
            }
            if batch.is_full() || number + 1 == order.len() {
                backend::weigh(path, &self.sieve, &mut batch);
                backend::sift(path, &self.sieve, &mut batch);
                for (finds, &at) in batch.finds.iter().zip(&rows) {
                    self.propose(finds, &mut room, |i, proposal, rivals| found(at, i, proposal, rivals));
                }
                batch.clear();
                rows.clear();
            }
        }
        (unserved, batch.passed)
    }

    /// What the finds of a row say of every partitioning.
    fn propose(&self, finds: &Finds, room: &mut Room, mut found: impl FnMut(usize, Proposal, &[u32])) {
        let Room { first, others, named } = room;
        first.fill((u32::MAX, 0.0));
        others.clear();
        for hit in &finds.hits {
            let mut left = hit.sets;
            while left != 0 {
                let i = left.trailing_zeros() as usize;
                left &= left - 1;
                if finds.within(hit.squared, i) {
                    if first[i].0 == u32::MAX {
                        first[i] = (hit.point, hit.squared);
                    } else {
                        others.push((i as u32, hit.point));
                    }
                }
            }
        }
        others.sort_unstable();
        let unit = Some(self.frame.unit()).filter(|unit| unit.is_normal());
        let mut others = others.chunk_by(|a, b| a.0 == b.0).peekable();
        for (i, &(point, squared)) in first.iter().enumerate() {
            let number = |point: u32| self.memberships.number(point as usize, i);
            named.clear();
            if let Some(rivals) = others.next_if(|rivals| rivals[0].0 as usize == i) {
                named.extend(rivals.iter().map(|&(_, point)| number(point)));
            }
            let rivals = match named.len() {
                0 => Rivals::None,
                1..=MOST_NAMED => Rivals::Few(named.len() as u8),
                _ => Rivals::Many,
            };
            let (at_least, at_most) = match unit {
                Some(unit) => {
                    let (least, most) = finds.bounds(squared);
                    (least * unit, most * unit)
                }
                None => (0.0, f64::INFINITY),
            };
            found(i, Proposal { centre: number(point), rivals, at_least, at_most }, named);
        }
    }
}

/// Rows in an order in which neighbours are near each other: they have much the same candidates, which then are at hand.
/// Without directions there is little to order by.
fn order_along<'a>(frame: &Frame, n: usize, row: impl Fn(usize) -> Row<'a> + Sync, run: Run<'_>) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    let k = ORDERED_BY.min(frame.directions.len() / frame.d);
    let mut coordinates = vec![0.0f32; n * k];
    let along = |part: usize, out: &mut [f32]| {
        let mut x = vec![0.0; frame.d];
        for (at, out) in out.chunks_exact_mut(k).enumerate() {
            frame.moved(row(part * PART + at), &mut x);
            out.iter_mut().zip(frame.along(&x)).for_each(|(slot, along)| *slot = along as f32);
        }
        Ok(())
    };
    if k > 0 && run.chunks_mut("index", &mut coordinates, PART * k, along).is_ok() {
        arrange(&mut order, &coordinates, k, run.n_threads());
    }
    order
}

/// About what the first weights of a row cost in nanoseconds.
fn weighing(n: usize, k: usize) -> f64 {
    let four_columns = if backend::bytes_are_fast() { 0.022 } else { 0.15 };
    n as f64 * (0.1 + four_columns * k.div_ceil(4) as f64)
}

/// About what a row costs but for the points that pass.
fn weighed(n: usize, d: usize, k: usize, t: usize, turned: bool) -> f64 {
    let turning = if turned { 0.1 * (d * k) as f64 } else { 0.0 };
    weighing(n, k) + 14.0 * t as f64 + 4.0 * d as f64 + turning
}

/// About what a point costs that passes.
fn passing(d: usize) -> f64 {
    20.0 + 0.12 * d as f64
}

/// Room for one row.
struct Room {
    /// Per partitioning a point that can be the nearest, and its squared distance.
    first: Vec<(u32, f32)>,
    /// Others of partitionings.
    others: Vec<(u32, u32)>,
    named: Vec<u32>,
}

impl Room {
    fn new(t: usize) -> Self {
        Self { first: vec![(0, 0.0); t], others: Vec::new(), named: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::union::tests::{awkward, oracle};
    use super::*;
    use crate::rng::{Component, rng_of};

    #[test]
    fn a_sieve_lets_through_the_winners_of_the_plain_loop_on_every_path() {
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
                let mut rng = rng_of(8, Component::Synthetic, (kind * n) as u64);
                let members: Vec<u32> = (0..t * psi).map(|_| rng.below(n * 2 / 3) as u32).collect();
                let far = PointsBuf::from_dense((0..3 * d).map(|at| 1e200 * (at as f64 - 1.0)).collect(), d).unwrap();
                for (directions, asked) in [(0, &points), (d / 2 + 1, &points), (0, &far)] {
                    let Some(sifting) = Sifting::new(&points, &members, psi, directions, Run::threads(2)) else {
                        continue;
                    };
                    for path in backend::available() {
                        let (mut seen, mut sure) = (0, 0);
                        let unserved = sifting.nearest(asked.as_points(), path, |row, i, proposal, named| {
                            seen += 1;
                            sure += usize::from(proposal.rivals == Rivals::None);
                            let expected = oracle(&points, &members[i * psi..][..psi], asked.row(row));
                            let said = format!("kind {kind}, d {d}, {directions}, {path:?}: {proposal:?}, {named:?}");
                            if proposal.rivals != Rivals::Many {
                                let known = proposal.centre == expected.centre || named.contains(&expected.centre);
                                assert!(known, "{said}, {expected:?}");
                            }
                            if proposal.rivals == Rivals::None {
                                let distance = expected.squared_distance;
                                assert!(
                                    proposal.at_least <= distance && distance <= proposal.at_most,
                                    "{said}, {distance}"
                                );
                            }
                        });
                        assert_eq!(seen + unserved.len() * t, asked.n_rows() * t, "kind {kind}, d {d}, {path:?}");
                        assert!(kind != 1 || seen == 0 || sure * 3 > seen * 2, "{sure} of {seen}");
                    }
                }
            }
        }
    }
}
