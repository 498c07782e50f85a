//! The sampled rows of all partitionings, each stored once, and the search for the nearest of a partitioning. Dense
//! rows under the Euclidean distance go through vector lanes, everything else through inverted lists.

use std::hint::select_unpredictable;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use super::Distance;
use super::bits::Bits;
use super::codes::{Cell, NONE};
use super::panels::{Numbers, Panels};
use super::postings::{Postings, Query};
use super::sifting::Sifting;
use super::union::{PILOT_ORDERED, TOGETHER, Union, groups};
use crate::backend::{
    Form, Lanes, Proposal, Rivals, Room, Tiles, Winner, best, off_in_f32, squared_distance_about,
    squared_distance_in_f32,
};
use crate::data::{Points, PointsBuf, Row};
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;

/// Lane copies of all centres are kept only up to this size; beyond, each chunk of rows makes them anew, which costs
/// less than 1 part in 100 of its work.
const KEEP_LANES_BYTES: usize = 32 << 20;

/// So many rows in doubt are worth making lanes for, where they are not kept.
const WORTH_LANES: usize = 3;

/// A search per partitioning that takes fewer nanoseconds per row is as good as any walk.
const WORTH_A_WALK: f64 = 5000.0;

/// A single row is compared with all centres in about so many times the time that a row takes among others.
const ALONE: f64 = 1.6;

/// Bits are packed once so many rows are asked for together.
const WORTH_BITS: usize = 64;

/// Panels, from what is fastest if all goes well; what a centre costs and each of its columns, in nanoseconds.
const FORMS: [(Numbers, f64, f64); 3] = [
    (Numbers::Whole, 0.04, 0.009),
    (Numbers::F32(Form::Product), 0.05, 0.02),
    (Numbers::F32(Form::Difference), 0.05, 0.027),
];

/// What a code costs beyond finding the nearest centre, in nanoseconds.
const PER_CODE: f64 = 8.0;

/// Whole steps pay in a walk from so many columns on.
const WORTH_STEPS: usize = 32;

/// Rows of so many columns go through a sieve, and of so many through nothing but a sieve.
const WORTH_A_SIEVE: usize = 32;
const TOO_WIDE_TO_WALK: usize = 256;

/// Panels are tried on so many partitionings: those of one panel.
const PILOT_PARTITIONINGS: usize = 16;

/// Panels are tried on so many rows.
const PILOT_ROWS: usize = 256;

/// Centres of t partitionings of ψ each, over shared rows.
#[derive(Debug, Clone)]
pub(crate) struct Centres {
    points: PointsBuf,
    /// Row of `points` for centre j of partitioning i, at i·ψ + j.
    members: Vec<u32>,
    psi: usize,
    distance: Distance,
    search: Search,
    /// For rows of 0 and 1, whatever else there is.
    bits: OnceLock<Option<Box<Bits>>>,
}

#[derive(Debug, Clone)]
enum Search {
    Dense { lanes: OnceLock<Vec<Lanes>>, fast: Box<Fast> },
    Postings(Postings),
}

/// What proposes nearest centres in `f32`: made once so many rows have been asked for that it pays, and `None` inside
/// where it was found not to.
#[derive(Debug, Default)]
struct Fast {
    /// The form of panels that a pilot found fastest, and about what a row costs in nanoseconds.
    plan: OnceLock<(Option<Numbers>, f64)>,
    /// Every centre of every partitioning.
    panels: OnceLock<Option<Panels>>,
    /// All partitionings at once.
    joint: OnceLock<Option<Joint>>,
    /// Rows asked for so far.
    asked: AtomicUsize,
    /// Held by whoever makes one of the above; others go on with what there is.
    making: Mutex<()>,
}

/// One search for all partitionings, in groups of as many as a mask has bits for.
#[derive(Debug, Clone)]
struct Joint {
    way: Way,
    /// About what a row costs in nanoseconds when many are asked for, and alone.
    cost: f64,
    cost_alone: f64,
}

#[derive(Debug, Clone)]
enum Way {
    Walk(Vec<Union>),
    Sieve(Vec<Sifting>),
}

impl Clone for Fast {
    fn clone(&self) -> Self {
        let asked = AtomicUsize::new(self.asked.load(Ordering::Relaxed));
        let (plan, panels, joint) = (self.plan.clone(), self.panels.clone(), self.joint.clone());
        Self { plan, panels, joint, asked, making: Mutex::new(()) }
    }
}

impl Fast {
    fn panels(&self) -> Option<&Panels> {
        self.panels.get().and_then(Option::as_ref)
    }

    fn joint(&self) -> Option<&Joint> {
        self.joint.get().and_then(Option::as_ref)
    }
}

/// Which centre a row belongs to; balls have the squared radii `radii[i·ψ + j]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Want<'a> {
    /// The nearest.
    Nearest,
    /// The nearest if its ball holds the row, else [`NONE`].
    Ball(&'a [f64]),
    /// The nearest of those whose ball holds the row, or [`NONE`].
    Cover(&'a [f64]),
}

impl Centres {
    pub(crate) fn new(points: PointsBuf, members: Vec<u32>, psi: usize, distance: Distance) -> Self {
        let dense = !points.as_points().is_sparse() && distance == Distance::Euclidean;
        let search = if dense {
            Search::Dense { lanes: OnceLock::new(), fast: Box::default() }
        } else {
            Search::Postings(Postings::new(&points))
        };
        Self { points, members, psi, distance, search, bits: OnceLock::new() }
    }

    pub(crate) const fn points(&self) -> &PointsBuf {
        &self.points
    }

    pub(crate) const fn psi(&self) -> usize {
        self.psi
    }

    pub(crate) fn t(&self) -> usize {
        self.members.len() / self.psi
    }

    /// The rows of `points` that are the centres of partitioning `i`, in sample order.
    pub(crate) fn members_of(&self, i: usize) -> &[u32] {
        &self.members[i * self.psi..(i + 1) * self.psi]
    }

    /// Squared distances between centre `j` of partitioning `i` and all centres of it; `lanes` as made by
    /// [`Centres::lanes_of`].
    pub(super) fn squared_distances_from(&self, i: usize, j: usize, lanes: &Lanes, out: &mut [f64]) {
        self.distances_to(i, self.points.row(self.members_of(i)[j] as usize), Some(lanes), out);
    }

    /// Squared distances between `x` and all centres of partitioning `i`.
    fn distances_to(&self, i: usize, x: Row<'_>, lanes: Option<&Lanes>, out: &mut [f64]) {
        match (lanes, x) {
            (Some(lanes), Row::F64(x)) => lanes.squared_distances(x, out),
            (Some(lanes), x) => lanes.squared_distances(&widen(x, self.points.n_columns()), out),
            (None, x) => {
                for (slot, &member) in out.iter_mut().zip(self.members_of(i)) {
                    *slot = self.distance.between(x, self.points.row(member as usize));
                }
            }
        }
    }

    /// Whether lanes are used at all.
    pub(super) const fn has_lanes(&self) -> bool {
        matches!(self.search, Search::Dense { .. })
    }

    /// The lanes of partitioning `i`, where they are used.
    pub(super) fn lanes_of(&self, i: usize) -> Option<Lanes> {
        self.has_lanes().then(|| Lanes::new(self.points.as_points(), self.members_of(i)))
    }

    /// Calls `asked(at, query, canonical)` for every row, with what inverted lists say of its distance to all centres
    /// and with the canonical distance; nothing where there are no lists.
    pub(super) fn ask_lists<'a>(
        &self,
        rows: impl Iterator<Item = Row<'a>>,
        mut asked: impl FnMut(usize, &mut Query, &dyn Fn(u32) -> f64),
    ) {
        let Search::Postings(postings) = &self.search else { return };
        let mut query = postings.query();
        for (at, row) in rows.enumerate() {
            postings.ask(row, self.distance, &mut query);
            asked(at, &mut query, &|centre| self.distance.between(row, self.points.row(centre as usize)));
        }
    }

    /// Calls `found(row, i, cell)` for every row and partitioning, in no particular order.
    pub(crate) fn cells(&self, points: Points<'_>, want: Want<'_>, mut found: impl FnMut(usize, usize, Cell)) {
        if let (Some(Some(bits)), Want::Nearest | Want::Ball(_)) = (self.bits.get(), want) {
            let other = bits.nearest(points, |row, i, winner| found(row, i, self.cell_of(want, i, winner)));
            for row in other {
                self.cells_otherwise(points.slice(row..row + 1), want, |_, i, cell| found(row, i, cell));
            }
            return;
        }
        self.cells_otherwise(points, want, found);
    }

    /// The same by anything but bits.
    fn cells_otherwise(&self, points: Points<'_>, want: Want<'_>, mut found: impl FnMut(usize, usize, Cell)) {
        match &self.search {
            Search::Dense { lanes, fast } => {
                // A single row has nobody to share a search with.
                let sweep = fast.panels().and(fast.plan.get()).map_or(f64::INFINITY, |&(_, cost)| cost);
                let joint = fast.joint().filter(|joint| points.n_rows() > 1 || joint.cost_alone < ALONE * sweep);
                match (joint.map(|joint| &joint.way), fast.panels(), want) {
                    (Some(Way::Walk(unions)), _, Want::Nearest | Want::Ball(_)) => {
                        self.cells_by_walk(points, unions, lanes, want, found);
                    }
                    (Some(Way::Sieve(sieves)), _, Want::Nearest | Want::Ball(_)) => {
                        self.cells_by_sieve(points, sieves, lanes, want, found);
                    }
                    (None, Some(panels), Want::Nearest | Want::Ball(_)) => {
                        self.cells_by_panels(points, panels, lanes, want, found);
                    }
                    _ => self.cells_exactly(points, lanes, want, 0..self.t(), found),
                }
            }
            Search::Postings(_) => self.ask_lists(points.rows(), |at, query, canonical| {
                for i in 0..self.t() {
                    let members = self.members_of(i);
                    let winner = match want {
                        Want::Nearest => query.nearest(members, false, canonical),
                        Want::Ball(_) => query.nearest(members, true, canonical),
                        Want::Cover(radii) => query.nearest_within(members, self.of(i, radii), canonical),
                    };
                    found(at, i, self.cell_of(want, i, winner));
                }
            }),
        }
    }

    /// As [`Centres::cells`], by comparing every row with every centre, by these panels if there are any.
    pub(crate) fn cells_by_sweep(
        &self,
        points: Points<'_>,
        panels: Option<&Panels>,
        want: Want<'_>,
        found: impl FnMut(usize, usize, Cell),
    ) {
        match (&self.search, panels, want) {
            (Search::Dense { lanes, .. }, Some(panels), Want::Nearest | Want::Ball(_)) => {
                self.cells_by_panels(points, panels, lanes, want, found);
            }
            (Search::Dense { lanes, .. }, ..) => self.cells_exactly(points, lanes, want, 0..self.t(), found),
            (Search::Postings(_), ..) => self.cells_otherwise(points, want, found),
        }
    }

    /// The panels for it that rows like these show to be fastest, in `f32` or in any numbers; `None` where none are
    /// faster than canonical distances.
    pub(crate) fn panels_for_sweep(&self, points: Points<'_>, f32_only: bool) -> Option<(Numbers, Panels)> {
        let Search::Dense { .. } = &self.search else { return None };
        let (numbers, _) = self.plan_panels(points, if f32_only { &FORMS[1..] } else { &FORMS });
        Some((numbers?, Panels::new(&self.points, &self.members, self.psi, numbers?)?))
    }

    /// The part of numbers per centre that belongs to partitioning `i`.
    fn of<'a>(&self, i: usize, numbers: &'a [f64]) -> &'a [f64] {
        &numbers[i * self.psi..(i + 1) * self.psi]
    }

    /// The cell of a row whose winner in partitioning `i` is known with its canonical distance. A search for covering
    /// balls that finds none says so by an infinite distance.
    fn cell_of(&self, want: Want<'_>, i: usize, winner: Winner) -> Cell {
        let inside = match want {
            Want::Nearest => true,
            Want::Ball(radii) => winner.squared_distance <= self.of(i, radii)[winner.centre as usize],
            Want::Cover(_) => winner.squared_distance < f64::INFINITY,
        };
        if inside { winner.centre } else { NONE }
    }

    /// The cell of a row of which a panel proposes the nearest centre of partitioning `i`, `radius(centre)` being the
    /// squared radius of its ball if there are balls; `None` if all canonical distances must be looked at.
    #[inline]
    fn cell_proposed(
        &self,
        points: Points<'_>,
        row: usize,
        i: usize,
        (proposal, named): (Proposal, &[u32]),
        radius: impl Fn(u32) -> Option<f64>,
    ) -> Option<Cell> {
        if proposal.rivals == Rivals::None {
            let Some(radius) = radius(proposal.centre) else { return Some(proposal.centre) };
            // A row is inside as often as not, which no processor guesses; on the edge, which is one question here, it
            // seldom is.
            if (radius - proposal.at_least).min(proposal.at_most - radius) < 0.0 {
                return Some(select_unpredictable(proposal.at_most <= radius, proposal.centre, NONE));
            }
        }
        self.cell_settled(points.row(row), i, (proposal, named), radius)
    }

    /// The same where canonical distances decide, of a few centres.
    #[cold]
    fn cell_settled(
        &self,
        x: Row<'_>,
        i: usize,
        (proposal, named): (Proposal, &[u32]),
        radius: impl Fn(u32) -> Option<f64>,
    ) -> Option<Cell> {
        let row_of = |centre: u32| self.points.row(self.members_of(i)[centre as usize] as usize);
        // Wide rows: one sum after another takes long, and hardly ever is the order of sums what decides, nor are the last
        // digits.
        let (margin, margin_f32) = (self.margin(), self.margin_f32());
        let in_f32 = |centre: u32| squared_distance_in_f32(x, row_of(centre));
        let about = |centre: u32| squared_distance_about(x, row_of(centre)).filter(|about| about.is_normal());
        let squared_distance = |centre: u32| x.squared_distance(row_of(centre));
        let less = |a: u32, b: u32| {
            let surely = |a: Option<f64>, b: Option<f64>, margin: f64| match (a, b) {
                (Some(a), Some(b)) if a * margin < b => Some(true),
                (Some(a), Some(b)) if b * margin < a => Some(false),
                _ => None,
            };
            surely(in_f32(a), in_f32(b), margin_f32)
                .or_else(|| surely(about(a), about(b), margin))
                .unwrap_or_else(|| squared_distance(a) < squared_distance(b))
        };
        let centre = match proposal.rivals {
            Rivals::Many => return None,
            Rivals::None => proposal.centre,
            Rivals::Few(many) => named[..usize::from(many)].iter().fold(proposal.centre, |best, &rival| {
                let (low, high) = (best.min(rival), best.max(rival));
                if low < high && less(high, low) { high } else { low }
            }),
        };
        let inside = radius(centre).is_none_or(|radius| {
            let surely = |about: Option<f64>, margin: f64| match about {
                Some(about) if about * margin < radius => Some(true),
                Some(about) if about > radius * margin => Some(false),
                _ => None,
            };
            surely(in_f32(centre), margin_f32)
                .or_else(|| surely(about(centre), margin))
                .unwrap_or_else(|| squared_distance(centre) <= radius)
        });
        Some(if inside { centre } else { NONE })
    }

    pub(crate) fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.points.save(out, &format!("{prefix}.centres"));
        out.put_u32(&format!("{prefix}.members"), &self.members);
    }

    /// Takes back the centres of `t` partitionings.
    pub(crate) fn load(from: &ModelReader<'_>, prefix: &str, t: usize, distance: Distance) -> Result<Self> {
        let points = PointsBuf::load(from, &format!("{prefix}.centres"))?;
        let name = format!("{prefix}.members");
        let members = from.u32s(&name)?;
        if points.n_columns() == 0 || members.is_empty() || !members.len().is_multiple_of(t) {
            return Err(bad_part(&name, "there must be equally many centres in every partitioning"));
        }
        if members.iter().any(|&member| member as usize >= points.n_rows()) {
            return Err(bad_part(&name, "a centre is not among the sampled rows"));
        }
        let psi = members.len() / t;
        Ok(Self::new(points, members, psi, distance))
    }

    /// Calls `found(row, i, distances)` with the squared distances to all centres, partitionings ascending for each
    /// row.
    pub(crate) fn all_distances(&self, points: Points<'_>, mut found: impl FnMut(usize, usize, &[f64])) {
        let mut distances = vec![0.0; self.psi];
        for i in 0..self.t() {
            let lanes = self.lanes_of(i);
            for (row, x) in points.rows().enumerate() {
                self.distances_to(i, x, lanes.as_ref(), &mut distances);
                found(row, i, &distances);
            }
        }
    }

    /// Calls `found(row, i, scale, cell)` with the nearest of the first `ends[scale]` centres of every partitioning, all
    /// scales in one sweep over the largest, in no particular order; with the squared radii `radii[scale][i·ψ + j]` of
    /// each scale's own ψ, the cell is [`NONE`] if its ball does not hold the row. `ends` ascends, stays within ψ and has
    /// at most 32 scales.
    pub(crate) fn cells_nested(
        &self,
        points: Points<'_>,
        ends: &[usize],
        radii: Option<&[&[f64]]>,
        mut found: impl FnMut(usize, usize, usize, Cell),
    ) {
        let radius =
            |i: usize, scale: usize, centre: u32| radii.map(|radii| radii[scale][i * ends[scale] + centre as usize]);
        let cell_of = |i: usize, scale: usize, winner: Winner| match radius(i, scale, winner.centre) {
            Some(radius) if winner.squared_distance > radius => NONE,
            _ => winner.centre,
        };
        match &self.search {
            Search::Dense { fast, .. } => {
                let Some(panels) = fast.panels() else {
                    for i in 0..self.t() {
                        self.nested_exactly(points, i, ends, |row, scale, winner| {
                            found(row, i, scale, cell_of(i, scale, winner));
                        });
                    }
                    return;
                };
                let mut doubts = vec![Doubts::default(); self.t()];
                panels.nearest(points, best(), ends, |row, i, scale, proposal, named| {
                    let radius = |centre| radius(i, scale, centre);
                    match self.cell_proposed(points, row, i, (proposal, named), radius) {
                        Some(cell) => found(row, i, scale, cell),
                        None => doubts[i].add(row, scale),
                    }
                });
                for (i, doubts) in doubts.into_iter().enumerate() {
                    doubts.settle(
                        points,
                        |rows, n_scales, settled| {
                            self.nested_exactly(rows, i, &ends[..n_scales], settled);
                        },
                        |row, scale, winner| found(row, i, scale, cell_of(i, scale, winner)),
                    );
                }
            }
            Search::Postings(_) => self.ask_lists(points.rows(), |at, query, canonical| {
                for i in 0..self.t() {
                    let mut best = NOBODY;
                    for (scale, (start, &end)) in starts(ends).zip(ends).enumerate() {
                        closer(&mut best, query.nearest(&self.members_of(i)[start..end], true, canonical), start);
                        found(at, i, scale, cell_of(i, scale, best));
                    }
                }
            }),
        }
    }

    /// All scales of partitioning `i` by canonical distances, scales ascending.
    fn nested_exactly(
        &self,
        points: Points<'_>,
        i: usize,
        ends: &[usize],
        mut found: impl FnMut(usize, usize, Winner),
    ) {
        let tiles = Tiles::new(points);
        let mut lanes = Lanes::new(self.points.as_points(), &[]);
        let (mut best, mut winners) = (vec![NOBODY; points.n_rows()], vec![NOBODY; points.n_rows()]);
        for (scale, (start, &end)) in starts(ends).zip(ends).enumerate() {
            lanes.refill(self.points.as_points(), &self.members_of(i)[start..end]);
            lanes.nearest(&tiles, None, &mut winners);
            for (row, (best, &winner)) in best.iter_mut().zip(&winners).enumerate() {
                closer(best, winner, start);
                found(row, scale, *best);
            }
        }
    }

    /// Before rows are mapped: makes what proposes their nearest centres once so many rows have been asked for that it
    /// pays. What is kept is what a few rows show to be fastest, by count and not by clock; no choice changes a code.
    pub(crate) fn prepare(&self, points: Points<'_>, run: Run<'_>) {
        if self.distance == Distance::Euclidean
            && points.n_rows() >= WORTH_BITS
            && self.bits.get_or_init(|| Bits::new(&self.points, &self.members, self.psi).map(Box::new)).is_some()
        {
            return;
        }
        let Search::Dense { fast, .. } = &self.search else { return };
        match fast.joint.get() {
            Some(Some(_)) => return,
            Some(None) => return self.prepare_sweep_of(points, points.n_rows()),
            None => {}
        }
        let rows = fast.asked.fetch_add(points.n_rows(), Ordering::Relaxed) + points.n_rows();
        let (d, members) = (self.points.n_columns() as f64, self.members.len() as f64);
        let least = self.least_sweep();
        // The pilot brings rows into order, which is work too.
        let build = self.points.n_rows() as f64 * (700.0 + 60.0 * d)
            + 30.0 * members
            + rows.min(PILOT_ORDERED) as f64 * 7.0 * d;
        if least < WORTH_A_WALK || rows as f64 * least < build || self.too_wide_for_all_but_a_sweep(points) {
            self.prepare_sweep_of(points, rows);
            return;
        }
        let Ok(_guard) = fast.making.try_lock() else { return };
        fast.joint.get_or_init(|| {
            let joint = self.make_joint(points, Run::threads(run.n_threads()))?;
            // Where it is faster than any sweep could be, none is prepared.
            if joint.cost < least {
                return Some(joint);
            }
            let (_, cost) = *fast.plan.get_or_init(|| self.plan_panels(points, &FORMS));
            if joint.cost < cost {
                return Some(joint);
            }
            self.make_panels(fast, points);
            None
        });
    }

    /// The same for [`Centres::cells_nested`], which sweeps whatever a walk would cost.
    pub(crate) fn prepare_nested(&self, points: Points<'_>, run: Run<'_>) {
        self.prepare(points, run);
        self.prepare_sweep_of(points, points.n_rows());
    }

    /// Makes panels if they pay for so many rows.
    fn prepare_sweep_of(&self, points: Points<'_>, rows: usize) {
        let Search::Dense { fast, .. } = &self.search else { return };
        let build = self.members.len() as f64 * (100.0 + 3.0 * self.points.n_columns() as f64);
        if fast.panels.get().is_none() && rows as f64 * self.exact_sweep() > 2.0 * build {
            let Ok(_guard) = fast.making.try_lock() else { return };
            self.make_panels(fast, points);
        }
    }

    /// About what a row costs in nanoseconds by canonical distances to all centres.
    fn exact_sweep(&self) -> f64 {
        self.members.len() as f64 * (0.2 + 0.07 * self.points.n_columns() as f64)
    }

    /// The same by the fastest panels, if all goes well.
    fn least_sweep(&self) -> f64 {
        self.sweep(FORMS[0].1, FORMS[0].2)
    }

    fn sweep(&self, per_centre: f64, per_column: f64) -> f64 {
        self.members.len() as f64 * (per_centre + per_column * self.points.n_columns() as f64)
            + PER_CODE * self.t() as f64
    }

    /// The form of panels that a pilot shows to be fastest, if faster than canonical distances to all centres.
    fn plan_panels(&self, points: Points<'_>, forms: &[(Numbers, f64, f64)]) -> (Option<Numbers>, f64) {
        let exact = self.exact_sweep();
        let pilot = self.pilot(points);
        let partitionings = self.t().min(PILOT_PARTITIONINGS);
        let members = &self.members[..partitionings * self.psi];
        let (mut fastest, mut cost) = (None, exact);
        for &(numbers, per_centre, per_column) in forms {
            let least = self.sweep(per_centre, per_column);
            if least > cost {
                continue;
            }
            let Some(panels) = Panels::new(&self.points, members, self.psi, numbers) else { break };
            let mut unsure = 0;
            panels.nearest(pilot.as_points(), best(), &[self.psi], |_, _, _, proposal, _| {
                unsure += usize::from(proposal.rivals == Rivals::Many);
            });
            let settling = 2.0 * exact * unsure as f64 / (pilot.n_rows() * partitionings) as f64;
            if least + settling < cost {
                (fastest, cost) = (Some(numbers), least + settling);
            }
        }
        (fastest, cost)
    }

    fn make_panels(&self, fast: &Fast, points: Points<'_>) {
        let (numbers, _) = *fast.plan.get_or_init(|| self.plan_panels(points, &FORMS));
        let panels = |numbers| Panels::new(&self.points, &self.members, self.psi, numbers);
        fast.panels.get_or_init(|| numbers.and_then(panels));
    }

    /// The search for all partitionings that costs less on a pilot.
    fn make_joint(&self, points: Points<'_>, run: Run<'_>) -> Option<Joint> {
        let d = self.points.n_columns();
        let wide = (d >= TOO_WIDE_TO_WALK).then(|| self.make_sieve(points, run)).flatten();
        if wide.is_some() {
            return wide;
        }
        let walk = self.make_walk(points, run)?;
        let worth_a_sieve = d >= WORTH_A_SIEVE && self.least_sieve() < walk.cost;
        let sieve = worth_a_sieve.then(|| self.make_sieve(points, run)).flatten();
        Some(sieve.filter(|sieve| sieve.cost < walk.cost).unwrap_or(walk))
    }

    fn members(&self, partitionings: Range<usize>) -> &[u32] {
        &self.members[partitionings.start * self.psi..partitionings.end * self.psi]
    }

    /// Whether rows are for a sieve, were it not that even the fastest takes longer than a sweep.
    fn too_wide_for_all_but_a_sweep(&self, points: Points<'_>) -> bool {
        self.points.n_columns() >= TOO_WIDE_TO_WALK
            && self.least_sieve() > self.least_sweep()
            && self.far_enough_for_steps(points)
    }

    /// About what a row costs by the fastest sieve, if all goes well.
    fn least_sieve(&self) -> f64 {
        let (n, d) = (self.points.n_rows(), self.points.n_columns());
        Sifting::least_cost(n, d, self.t(), n as f64 / self.members.len() as f64)
    }

    /// Sieves, if rows are wide and far enough from all centres.
    fn make_sieve(&self, points: Points<'_>, run: Run<'_>) -> Option<Joint> {
        if !self.far_enough_for_steps(points) {
            return None;
        }
        let (mut sieves, mut total) = (Vec::new(), 0.0);
        for group in groups(self.t()) {
            let (sieve, cost) =
                Sifting::fastest(&self.points, self.members(group), self.psi, self.typical(points), run)?;
            sieves.push(sieve);
            total += cost;
        }
        Some(Joint { way: Way::Sieve(sieves), cost: total, cost_alone: 4.0 * total })
    }

    /// Trees for the walk, and what they cost on a pilot.
    fn make_walk(&self, points: Points<'_>, run: Run<'_>) -> Option<Joint> {
        let whole = self.points.n_columns() >= WORTH_STEPS && self.far_enough_for_steps(points);
        let unions = groups(self.t()).map(|group| Union::new(&self.points, self.members(group), self.psi, whole, run));
        let unions: Vec<Union> = unions.collect::<Option<_>>()?;
        let (mut cost, mut cost_alone) = (0.0, 0.0);
        for union in &unions {
            let [many, alone] = union.costs(self.typical(points), &self.points, run);
            cost += many;
            cost_alone += alone;
        }
        Some(Joint { way: Way::Walk(unions), cost, cost_alone })
    }

    /// Whether most rows are so far from their nearest centre that rounding to steps hardly ever matters.
    fn far_enough_for_steps(&self, points: Points<'_>) -> bool {
        let Some(step) = Union::step(&self.points) else { return false };
        let pilot = self.pilot(points);
        let few = pilot.as_points().slice(0..pilot.n_rows().min(64));
        let lanes = Lanes::new(self.points.as_points(), self.members_of(0));
        let mut nearest = vec![NOBODY; few.n_rows()];
        lanes.nearest(&Tiles::new(few), None, &mut nearest);
        // Row and centre are each rounded by about √(d/12) steps.
        let rounding = 2.0 * step * (self.points.n_columns() as f64 / 12.0).sqrt();
        let far = nearest.iter().filter(|winner| winner.squared_distance.sqrt() > 40.0 * rounding);
        2 * far.count() > few.n_rows()
    }

    /// The rows asked for, or the centres if those are too few to go by.
    fn typical<'a>(&'a self, points: Points<'a>) -> Points<'a> {
        if points.n_rows() < PILOT_ROWS { self.points.as_points() } else { points }
    }

    /// A few rows from everywhere.
    fn pilot(&self, points: Points<'_>) -> PointsBuf {
        let points = self.typical(points);
        let mut pilot = PointsBuf::like(&points);
        let rows = points.n_rows().min(PILOT_ROWS);
        (0..rows).for_each(|at| pilot.push(points.row(at * points.n_rows() / rows)));
        pilot
    }

    /// How nearest centres are found.
    pub(crate) fn search(&self) -> &'static str {
        if let Some(Some(_)) = self.bits.get() {
            return "bits";
        }
        match &self.search {
            Search::Dense { fast, .. } => match (fast.joint().map(|joint| &joint.way), fast.panels()) {
                (Some(Way::Walk(_)), _) => "walk",
                (Some(Way::Sieve(_)), _) => "sieve",
                (None, Some(_)) => "certified brute force",
                (None, None) => "brute force",
            },
            Search::Postings(_) => "inverted lists",
        }
    }

    /// About what a row costs in nanoseconds without and with a walk, as far as the rows asked for so far made it worth
    /// finding out.
    pub(crate) fn costs(&self) -> (Option<f64>, Option<f64>) {
        let Search::Dense { fast, .. } = &self.search else { return (None, None) };
        (fast.plan.get().map(|(_, cost)| *cost), fast.joint().map(|joint| joint.cost))
    }

    /// Rows that are best mapped together: neighbours can share a walk, so more of them are better there.
    pub(crate) fn rows_together(&self) -> usize {
        if matches!(self.search(), "walk" | "sieve") { TOGETHER } else { 512 }
    }

    fn cells_by_panels(
        &self,
        points: Points<'_>,
        panels: &Panels,
        lanes: &OnceLock<Vec<Lanes>>,
        want: Want<'_>,
        mut found: impl FnMut(usize, usize, Cell),
    ) {
        // Partitionings and rows in doubt; a single row needs no memory unless there are.
        let mut doubts: Vec<(u32, u32)> = Vec::new();
        panels.nearest(points, best(), &[self.psi], |row, i, _, proposal, named| {
            match self.cell_proposed(points, row, i, (proposal, named), self.radius_of(want, i)) {
                Some(cell) => found(row, i, cell),
                None => doubts.push((i as u32, row as u32)),
            }
        });
        self.settle_doubts(points, doubts, lanes, want, found);
    }

    fn cells_by_sieve(
        &self,
        points: Points<'_>,
        sieves: &[Sifting],
        lanes: &OnceLock<Vec<Lanes>>,
        want: Want<'_>,
        mut found: impl FnMut(usize, usize, Cell),
    ) {
        let mut doubts: Vec<(u32, u32)> = Vec::new();
        for (group, sieve) in groups(self.t()).zip(sieves) {
            let unserved = sieve.nearest(points, best(), |row, i, proposal, named| {
                let i = group.start + i;
                match self.cell_proposed(points, row, i, (proposal, named), self.radius_of(want, i)) {
                    Some(cell) => found(row, i, cell),
                    None => doubts.push((i as u32, row as u32)),
                }
            });
            doubts.extend(unserved.iter().flat_map(|&row| group.clone().map(move |i| (i as u32, row as u32))));
        }
        self.settle_doubts(points, doubts, lanes, want, found);
    }

    /// The squared radius of a ball of partitioning `i`, if there are balls.
    fn radius_of<'a>(&self, want: Want<'a>, i: usize) -> impl Fn(u32) -> Option<f64> + use<'a> {
        let first = i * self.psi;
        move |centre| match want {
            Want::Ball(radii) => Some(radii[first + centre as usize]),
            _ => None,
        }
    }

    /// The cells of (partitioning, row) that a fast search was not sure of.
    fn settle_doubts(
        &self,
        points: Points<'_>,
        mut doubts: Vec<(u32, u32)>,
        lanes: &OnceLock<Vec<Lanes>>,
        want: Want<'_>,
        mut found: impl FnMut(usize, usize, Cell),
    ) {
        doubts.sort_unstable();
        for doubts in doubts.chunk_by(|a, b| a.0 == b.0) {
            let i = doubts[0].0 as usize;
            if points.n_rows() == 1 {
                self.cells_exactly(points, lanes, want, i..i + 1, &mut found);
                continue;
            }
            let mut rows = PointsBuf::like(&points);
            let mut left = Vec::new();
            for &(_, row) in doubts {
                let row = row as usize;
                let about = if doubts.len() < WORTH_LANES { self.nearest_about(points.row(row), i) } else { None };
                if let Some(winner) = about {
                    found(row, i, self.cell_of(want, i, winner));
                } else {
                    rows.push(points.row(row));
                    left.push(row);
                }
            }
            if !left.is_empty() {
                self.cells_exactly(rows.as_points(), lanes, want, i..i + 1, |at, i, cell| found(left[at], i, cell));
            }
        }
    }

    /// The nearest centre of partitioning `i` where lanes would have to be made first: by sums in any order, and by
    /// canonical ones where that leaves a doubt. `None` if lanes are at hand, or where such sums say nothing.
    fn nearest_about(&self, x: Row<'_>, i: usize) -> Option<Winner> {
        if self.lane_bytes() <= KEEP_LANES_BYTES {
            return None;
        }
        let row_of = |centre: u32| self.points.row(self.members_of(i)[centre as usize] as usize);
        let mut about = Vec::with_capacity(self.psi);
        for centre in 0..self.psi as u32 {
            about.push(squared_distance_about(x, row_of(centre)).filter(|about| about.is_normal())?);
        }
        let least = about.iter().copied().fold(f64::INFINITY, f64::min);
        let near = (0..self.psi as u32).filter(|&centre| about[centre as usize] <= least * self.margin());
        let mut best = NOBODY;
        for centre in near {
            closer(&mut best, Winner { centre, squared_distance: x.squared_distance(row_of(centre)) }, 0);
        }
        Some(best)
    }

    /// Sums in different orders are within this factor of each other.
    fn margin(&self) -> f64 {
        1.0 + (4 * self.points.n_columns() + 16) as f64 * f64::EPSILON
    }

    /// The same for sums in `f32`: both may be off, and the canonical sum a little.
    fn margin_f32(&self) -> f64 {
        1.0 + 2.1 * off_in_f32(self.points.n_columns()) + (self.margin() - 1.0)
    }

    /// What lane copies of all centres take.
    const fn lane_bytes(&self) -> usize {
        size_of::<f64>() * self.members.len() * self.points.n_columns()
    }

    fn cells_by_walk(
        &self,
        points: Points<'_>,
        unions: &[Union],
        lanes: &OnceLock<Vec<Lanes>>,
        want: Want<'_>,
        mut found: impl FnMut(usize, usize, Cell),
    ) {
        let mut unserved = Vec::new();
        for (group, union) in groups(self.t()).zip(unions) {
            let distances = want != Want::Nearest;
            let far = union.nearest(points, &self.points, best(), distances, |row, i, winner| {
                let i = group.start + i;
                found(row, i, self.cell_of(want, i, winner));
            });
            // The same for every union: rows too far from all centres.
            unserved = far;
        }
        for row in unserved {
            let alone = points.slice(row..row + 1);
            self.cells_exactly(alone, lanes, want, 0..self.t(), |_, i, cell| found(row, i, cell));
        }
    }

    /// The cells in some partitionings by canonical distances to all centres.
    fn cells_exactly(
        &self,
        points: Points<'_>,
        kept: &OnceLock<Vec<Lanes>>,
        want: Want<'_>,
        partitionings: Range<usize>,
        mut found: impl FnMut(usize, usize, Cell),
    ) {
        let tiles = Tiles::new(points);
        let kept = (self.lane_bytes() <= KEEP_LANES_BYTES).then(|| {
            kept.get_or_init(|| {
                (0..self.t()).map(|i| Lanes::new(self.points.as_points(), self.members_of(i))).collect()
            })
        });
        let mut scratch = Lanes::new(self.points.as_points(), &[]);
        let mut winners = Room::<Winner, 1>::new(points.n_rows(), NOBODY);
        for i in partitionings {
            let lanes = if let Some(kept) = kept {
                &kept[i]
            } else {
                scratch.refill(self.points.as_points(), self.members_of(i));
                &scratch
            };
            let within = match want {
                Want::Cover(radii) => Some(self.of(i, radii)),
                Want::Nearest | Want::Ball(_) => None,
            };
            lanes.nearest(&tiles, within, &mut winners);
            winners.iter().enumerate().for_each(|(row, &winner)| found(row, i, self.cell_of(want, i, winner)));
        }
    }
}

/// Rows and scales of one partitioning that a fast search was not sure of.
#[derive(Debug, Clone, Default)]
struct Doubts(Vec<(u32, u8)>);

impl Doubts {
    fn add(&mut self, row: usize, scale: usize) {
        self.0.push((row as u32, scale as u8));
    }

    /// Asks `exactly(rows, n_scales, winners)` for the winners of all rows in doubt, up to the last scale in doubt, and
    /// hands on those that were.
    fn settle(
        mut self,
        points: Points<'_>,
        exactly: impl FnOnce(Points<'_>, usize, &mut dyn FnMut(usize, usize, Winner)),
        mut found: impl FnMut(usize, usize, Winner),
    ) {
        let Some(last) = self.0.iter().map(|&(_, scale)| scale).max() else { return };
        self.0.sort_unstable();
        let mut rows = PointsBuf::like(&points);
        // Per row its number and a bit for each scale.
        let mut wanted: Vec<(usize, u32)> = Vec::new();
        for (row, scale) in self.0 {
            let row = row as usize;
            if wanted.last().is_none_or(|&(last, _)| last != row) {
                rows.push(points.row(row));
                wanted.push((row, 0));
            }
            wanted.last_mut().expect("pushed if it was not there").1 |= 1 << scale;
        }
        exactly(rows.as_points(), usize::from(last) + 1, &mut |at, scale, winner| {
            let (row, scales) = wanted[at];
            if scales >> scale & 1 == 1 {
                found(row, scale, winner);
            }
        });
    }
}

/// Nearer than nobody is everybody.
const NOBODY: Winner = Winner { centre: 0, squared_distance: f64::INFINITY };

/// Where each scale goes on from the one before.
fn starts(ends: &[usize]) -> impl Iterator<Item = usize> {
    std::iter::once(0).chain(ends.iter().copied())
}

/// Keeps the nearer of two winners, the first of equals; the new one is counted from `start`.
fn closer(best: &mut Winner, new: Winner, start: usize) {
    if new.squared_distance < best.squared_distance {
        *best = Winner { centre: new.centre + start as u32, ..new };
    }
}

/// A row as dense `f64`.
fn widen(row: Row<'_>, columns: usize) -> Vec<f64> {
    let mut dense = vec![0.0; columns];
    row.nonzeros().for_each(|(column, value)| dense[column] = value);
    dense
}
