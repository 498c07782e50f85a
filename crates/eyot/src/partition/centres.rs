//! The sampled rows of all partitionings, each stored once, and the search for the nearest of a partitioning. Dense
//! rows under the Euclidean distance go through vector lanes, everything else through inverted lists.

use std::sync::OnceLock;

use super::Distance;
use super::postings::Postings;
use super::union::{Union, groups};
use crate::backend::{Lanes, Tiles, Winner, best};
use crate::data::{Points, PointsBuf, Row};
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};

/// Lane copies of all centres are kept only up to this size; beyond, each chunk of rows makes them anew, which costs
/// less than 1 part in 100 of its work.
const KEEP_LANES_BYTES: usize = 32 << 20;

/// A search per partitioning that takes fewer nanoseconds per row is as good as any walk.
const WORTH_A_WALK: f64 = 4000.0;

/// A walk is tried on so many runs of so many rows.
const PILOT_RUNS: usize = 4;
const PILOT_ROWS: usize = 64;

/// Centres of t partitionings of ψ each, over shared rows.
#[derive(Debug, Clone)]
pub(crate) struct Centres {
    points: PointsBuf,
    /// Row of `points` for centre j of partitioning i, at i·ψ + j.
    members: Vec<u32>,
    psi: usize,
    distance: Distance,
    search: Search,
}

#[derive(Debug, Clone)]
enum Search {
    Dense {
        lanes: OnceLock<Vec<Lanes>>,
        /// Trees for one walk instead of a search per partitioning, made where they pay.
        unions: OnceLock<Vec<Union>>,
    },
    Postings(Postings),
}

/// Whether the caller needs the winner's squared distance, or only its number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Want<'a> {
    /// The number alone; the distance may be a bound.
    Centre,
    /// The canonical distance too.
    Distance,
    /// Only centres whose ball holds the row count; `within[i·ψ + j]` are squared radii.
    Within(&'a [f64]),
}

impl Centres {
    pub(crate) fn new(points: PointsBuf, members: Vec<u32>, psi: usize, distance: Distance) -> Self {
        let dense = !points.as_points().is_sparse() && distance == Distance::Euclidean;
        let search = if dense {
            Search::Dense { lanes: OnceLock::new(), unions: OnceLock::new() }
        } else {
            Search::Postings(Postings::new(&points))
        };
        Self { points, members, psi, distance, search }
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
    pub(crate) fn squared_distances_from(&self, i: usize, j: usize, lanes: Option<&Lanes>, out: &mut [f64]) {
        self.distances_to(i, self.points.row(self.members_of(i)[j] as usize), lanes, out);
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

    /// The lanes of partitioning `i`, where lanes are used at all.
    pub(crate) fn lanes_of(&self, i: usize) -> Option<Lanes> {
        matches!(self.search, Search::Dense { .. }).then(|| Lanes::new(self.points.as_points(), self.members_of(i)))
    }

    /// Calls `found(row, i, winner)` for every row and partitioning, in no particular order.
    pub(crate) fn nearest(&self, points: Points<'_>, want: Want<'_>, mut found: impl FnMut(usize, usize, Winner)) {
        match &self.search {
            Search::Dense { lanes, unions } => match (unions.get(), want) {
                (Some(unions), Want::Centre | Want::Distance) if !unions.is_empty() => {
                    self.nearest_by_walk(points, unions, lanes, want, found);
                }
                _ => self.nearest_dense(points, lanes, want, found),
            },
            Search::Postings(postings) => {
                let mut query = postings.query();
                for (at, row) in points.rows().enumerate() {
                    postings.ask(row, self.distance, &mut query);
                    let canonical = |centre: u32| self.distance.between(row, self.points.row(centre as usize));
                    for i in 0..self.t() {
                        let members = self.members_of(i);
                        let winner = match want {
                            Want::Centre => query.nearest(members, false, canonical),
                            Want::Distance => query.nearest(members, true, canonical),
                            Want::Within(radii) => {
                                query.nearest_within(members, &radii[i * self.psi..(i + 1) * self.psi], canonical)
                            }
                        };
                        found(at, i, winner);
                    }
                }
            }
        }
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

    /// Calls `found(row, i, scale, winner)` with the nearest of the first `ends[scale]` centres of every partitioning:
    /// all scales in one sweep over the largest. Partitionings ascend for each row and scale; `ends` ascends and stays
    /// within ψ.
    pub(crate) fn nearest_nested(
        &self,
        points: Points<'_>,
        ends: &[usize],
        mut found: impl FnMut(usize, usize, usize, Winner),
    ) {
        let none = Winner { centre: 0, squared_distance: f64::INFINITY };
        let starts = || std::iter::once(0).chain(ends.iter().copied());
        let closer = |best: &mut Winner, new: Winner, start: usize| {
            if new.squared_distance < best.squared_distance {
                *best = Winner { centre: new.centre + start as u32, ..new };
            }
        };
        match &self.search {
            Search::Dense { .. } => {
                let tiles = Tiles::new(points);
                let mut lanes = Lanes::new(self.points.as_points(), &[]);
                let (mut best, mut winners) = (vec![none; points.n_rows()], vec![none; points.n_rows()]);
                for i in 0..self.t() {
                    best.fill(none);
                    for (scale, (start, &end)) in starts().zip(ends).enumerate() {
                        lanes.refill(self.points.as_points(), &self.members_of(i)[start..end]);
                        lanes.nearest(&tiles, None, &mut winners);
                        for (row, (best, &winner)) in best.iter_mut().zip(&winners).enumerate() {
                            closer(best, winner, start);
                            found(row, i, scale, *best);
                        }
                    }
                }
            }
            Search::Postings(postings) => {
                let mut query = postings.query();
                for (at, row) in points.rows().enumerate() {
                    postings.ask(row, self.distance, &mut query);
                    let canonical = |centre: u32| self.distance.between(row, self.points.row(centre as usize));
                    for i in 0..self.t() {
                        let mut best = none;
                        for (scale, (start, &end)) in starts().zip(ends).enumerate() {
                            closer(&mut best, query.nearest(&self.members_of(i)[start..end], true, canonical), start);
                            found(at, i, scale, best);
                        }
                    }
                }
            }
        }
    }

    /// Makes what pays for mapping these rows: where a search per partitioning would take long enough, trees are built
    /// and tried on a few of the rows, and kept if the walk is faster. The choice changes no code.
    pub(crate) fn prepare(&self, points: Points<'_>) {
        let Search::Dense { unions, .. } = &self.search else { return };
        if unions.get().is_some() {
            return;
        }
        let (d, members) = (self.points.n_columns() as f64, self.members.len() as f64);
        let brute_force = members * (0.2 + 0.07 * d);
        let build = members * (700.0 + 60.0 * d);
        if brute_force < WORTH_A_WALK || points.n_rows() as f64 * brute_force < 2.0 * build {
            return;
        }
        let made: Vec<Union> = groups(self.t())
            .map(|group| {
                Union::new(&self.points, &self.members[group.start * self.psi..group.end * self.psi], self.psi)
            })
            .collect();
        let mut pilot = PointsBuf::like(&points);
        for run in 0..PILOT_RUNS {
            let first = run * (points.n_rows().saturating_sub(PILOT_ROWS)) / PILOT_RUNS;
            points.slice(first..points.n_rows().min(first + PILOT_ROWS)).rows().for_each(|row| pilot.push(row));
        }
        let walk: f64 = made.iter().map(|union| union.cost(pilot.as_points(), &self.points)).sum();
        // Whoever came first has decided the same.
        let _ = unions.set(if walk < brute_force { made } else { Vec::new() });
    }

    /// How nearest centres are found.
    pub(crate) fn search(&self) -> &'static str {
        match &self.search {
            Search::Dense { unions, .. } if unions.get().is_some_and(|unions| !unions.is_empty()) => "walk",
            Search::Dense { .. } => "brute force",
            Search::Postings(_) => "inverted lists",
        }
    }

    /// Rows that are best mapped together: neighbours can share a walk, so more of them are better there.
    pub(crate) fn rows_together(&self) -> usize {
        if self.search() == "walk" { 4096 } else { 512 }
    }

    fn nearest_by_walk(
        &self,
        points: Points<'_>,
        unions: &[Union],
        lanes: &OnceLock<Vec<Lanes>>,
        want: Want<'_>,
        mut found: impl FnMut(usize, usize, Winner),
    ) {
        let mut unserved = Vec::new();
        for (group, union) in groups(self.t()).zip(unions) {
            let way = union.nearest(points, &self.points, best(), want == Want::Distance, |row, i, winner| {
                found(row, group.start + i, winner);
            });
            // The same for every union: rows too far from all centres.
            unserved = way.unserved;
        }
        for row in unserved {
            let alone = points.slice(row..row + 1);
            self.nearest_dense(alone, lanes, want, |_, i, winner| found(row, i, winner));
        }
    }

    fn nearest_dense(
        &self,
        points: Points<'_>,
        kept: &OnceLock<Vec<Lanes>>,
        want: Want<'_>,
        mut found: impl FnMut(usize, usize, Winner),
    ) {
        let tiles = Tiles::new(points);
        let bytes = size_of::<f64>() * self.members.len() * self.points.n_columns();
        let kept = (bytes <= KEEP_LANES_BYTES).then(|| {
            kept.get_or_init(|| {
                (0..self.t()).map(|i| Lanes::new(self.points.as_points(), self.members_of(i))).collect()
            })
        });
        let mut scratch = Lanes::new(self.points.as_points(), &[]);
        let mut winners = vec![Winner { centre: 0, squared_distance: 0.0 }; points.n_rows()];
        for i in 0..self.t() {
            let lanes = if let Some(kept) = kept {
                &kept[i]
            } else {
                scratch.refill(self.points.as_points(), self.members_of(i));
                &scratch
            };
            let within = match want {
                Want::Within(radii) => Some(&radii[i * self.psi..(i + 1) * self.psi]),
                Want::Centre | Want::Distance => None,
            };
            lanes.nearest(&tiles, within, &mut winners);
            winners.iter().enumerate().for_each(|(row, &winner)| found(row, i, winner));
        }
    }
}

/// A row as dense `f64`.
fn widen(row: Row<'_>, columns: usize) -> Vec<f64> {
    let mut dense = vec![0.0; columns];
    row.nonzeros().for_each(|(column, value)| dense[column] = value);
    dense
}
