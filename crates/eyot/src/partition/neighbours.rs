//! The nearest other centre of every centre within its own partitioning: the radii of balls, and whose ball is next to
//! whose. t·ψ² distances, most of them in `f32` with a certificate, the winner's in the canonical form; sparse rows
//! go through inverted lists.

use super::centres::Centres;
use super::frame::Frame;
use crate::backend::{self, Lanes, Neighbour, Path};
use crate::error::Result;
use crate::parallel::Run;

/// Centres of a block of [`backend::Neighbours`].
const BLOCK: usize = 16;

/// The frame makes the longest centre 1, up to rounding.
const LONGEST: f64 = 1.001;

/// Which other centres count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Others {
    /// All, copies included.
    All,
    /// Those at a squared distance above this.
    Beyond(f64),
}

impl Others {
    pub(super) fn count(self, squared_distance: f64) -> bool {
        match self {
            Self::All => true,
            Self::Beyond(floor) => squared_distance > floor,
        }
    }
}

/// The nearest other centre: its number within the partitioning and its canonical squared distance, which is infinite
/// where no other centre counts; the number is then that of the centre itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Next {
    pub(crate) number: u32,
    pub(crate) squared_distance: f64,
}

/// For every scale the neighbours of centre j of partitioning i among the first `ends[scale]`, at i·`ends[scale]` + j;
/// the lowest number wins a tie.
pub(crate) fn neighbours(centres: &Centres, ends: &[usize], others: Others, run: Run<'_>) -> Result<Vec<Vec<Next>>> {
    let parts = if centres.has_lanes() {
        let frame = Frame::new(centres.points(), 0).filter(|_| centres.psi() > BLOCK);
        let path = backend::best();
        run.map("measure balls", centres.t(), |i| Ok(of_one(centres, i, frame.as_ref(), ends, others, path)))?
    } else {
        of_sparse(centres, ends, others, run)?
    };
    let of_scale = |scale: usize| parts.iter().flat_map(|part| &part[scale]).copied().collect();
    Ok((0..ends.len()).map(of_scale).collect())
}

/// Of one partitioning of dense rows.
fn of_one(
    centres: &Centres,
    i: usize,
    frame: Option<&Frame>,
    ends: &[usize],
    others: Others,
    path: Path,
) -> Vec<Vec<Next>> {
    let (points, members) = (centres.points(), centres.members_of(i));
    let mut all: Vec<Vec<Next>> = ends.iter().map(|&end| vec![nobody(0); end]).collect();
    // A bit for each scale at which a centre is in doubt; scales that end within a block are.
    let last = ends.len() - 1;
    let by_block: Vec<usize> = (0..=last).filter(|&scale| ends[scale].is_multiple_of(BLOCK) || scale == last).collect();
    let mut doubts = vec![!0u64; ends[last]];
    if let Some(frame) = frame {
        let bits = by_block.iter().fold(0, |bits, scale| bits | 1 << scale);
        doubts.fill(!bits);
        let floor = match others {
            Others::All => None,
            Others::Beyond(floor) => Some(floor / frame.unit()),
        };
        let near = backend::Neighbours::new(frame.d, ends[last], LONGEST, floor, |j, z| {
            frame.moved(points.row(members[j] as usize), z);
        });
        let block_ends: Vec<usize> = by_block.iter().map(|&scale| ends[scale]).collect();
        near.find(path, &block_ends, |j, at, neighbour| {
            let scale = by_block[at];
            match neighbour {
                Neighbour::Nobody => all[scale][j] = nobody(j),
                Neighbour::Unsure => doubts[j] |= 1 << scale,
                Neighbour::Centre(number) => {
                    // The same as at the scale before, more often than not.
                    let before = if at > 0 && j < block_ends[at - 1] { all[by_block[at - 1]][j] } else { nobody(j) };
                    all[scale][j] = if before.number == number && before.squared_distance < f64::INFINITY {
                        before
                    } else {
                        let (own, other) = (members[j] as usize, members[number as usize] as usize);
                        Next { number, squared_distance: points.row(own).squared_distance(points.row(other)) }
                    };
                }
            }
        });
    }
    settle(centres, i, ends, others, &doubts, &mut all);
    all
}

/// Neighbours in doubt, by canonical distances to all centres of the partitioning.
fn settle(centres: &Centres, i: usize, ends: &[usize], others: Others, doubts: &[u64], all: &mut [Vec<Next>]) {
    let mut lanes: Option<Lanes> = None;
    let mut distances = vec![0.0; centres.psi()];
    for (j, &doubt) in doubts.iter().enumerate() {
        let open = |scale: usize| j < ends[scale] && doubt >> scale & 1 == 1;
        let Some(last) = (0..ends.len()).rev().find(|&scale| open(scale)) else { continue };
        let lanes = lanes.get_or_insert_with(|| centres.lanes_of(i).expect("dense rows have lanes"));
        centres.squared_distances_from(i, j, lanes, &mut distances);
        let (mut next, mut start) = (nobody(j), 0);
        for (scale, &end) in ends[..=last].iter().enumerate() {
            for (k, &squared_distance) in (start..).zip(&distances[start..end]) {
                if squared_distance < next.squared_distance && k != j && others.count(squared_distance) {
                    next = Next { number: k as u32, squared_distance };
                }
            }
            start = end;
            if open(scale) {
                all[scale][j] = next;
            }
        }
    }
}

/// Of all partitionings of sparse rows: the lists are asked once for each row, whatever partitionings it is in.
fn of_sparse(centres: &Centres, ends: &[usize], others: Others, run: Run<'_>) -> Result<Vec<Vec<Vec<Next>>>> {
    let (points, psi) = (centres.points(), ends[ends.len() - 1]);
    // Where each row is a centre: (partitioning, number).
    let mut places: Vec<Vec<(u32, u32)>> = vec![Vec::new(); points.n_rows()];
    for i in 0..centres.t() {
        for (j, &row) in centres.members_of(i)[..psi].iter().enumerate() {
            places[row as usize].push((i as u32, j as u32));
        }
    }
    let found = run.map("measure balls", points.n_rows().div_ceil(ROWS), |chunk| {
        let rows = chunk * ROWS..points.n_rows().min((chunk + 1) * ROWS);
        let mut found = Vec::new();
        centres.ask_lists(rows.clone().map(|row| points.row(row)), |at, query, canonical| {
            for &(i, j) in &places[rows.start + at] {
                let members = centres.members_of(i as usize);
                let (mut next, mut start) = (nobody(j as usize), 0);
                for (scale, &end) in ends.iter().enumerate() {
                    query.nearer_other(members, start..end, j, others, canonical, &mut next);
                    start = end;
                    if (j as usize) < end {
                        found.push((i, j, scale, next));
                    }
                }
            }
        });
        Ok(found)
    })?;
    let empty = || ends.iter().map(|&end| vec![nobody(0); end]).collect();
    let mut all: Vec<Vec<Vec<Next>>> = (0..centres.t()).map(|_| empty()).collect();
    for (i, j, scale, next) in found.into_iter().flatten() {
        all[i as usize][scale][j as usize] = next;
    }
    Ok(all)
}

/// Rows that are asked for together.
const ROWS: usize = 64;

const fn nobody(j: usize) -> Next {
    Next { number: j as u32, squared_distance: f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::super::Distance;
    use super::*;
    use crate::data::PointsBuf;
    use crate::rng::{Component, rng_of};

    /// Lattices full of ties and copies, noise, digits that `f32` cannot hold, clusters far below the extent, and numbers
    /// whose squares underflow.
    fn awkward(kind: usize, n: usize, d: usize) -> PointsBuf {
        let mut rng = rng_of(12, Component::Synthetic, (kind * 1000 + d) as u64);
        let values = (0..n * d).map(|at| match kind {
            0 => rng.below(3) as f64,
            1 => rng.normal(),
            2 => 1e9 + rng.below(50) as f64 * 1e-6,
            3 => f64::from(u8::from(at < d)) + 1e-5 * rng.normal(),
            _ => rng.below(1000) as f64 * 1e-163,
        });
        PointsBuf::from_dense(values.collect(), d).unwrap()
    }

    fn oracle(points: &PointsBuf, members: &[u32], distance: Distance, j: usize, others: Others) -> Next {
        let row = |k: usize| points.row(members[k] as usize);
        let all = (0..members.len()).filter(|&k| k != j).map(|k| (k, distance.between(row(j), row(k))));
        all.filter(|&(_, squared)| others.count(squared)).fold(nobody(j), |next, (k, squared_distance)| {
            if squared_distance < next.squared_distance { Next { number: k as u32, squared_distance } } else { next }
        })
    }

    #[test]
    fn neighbours_are_those_of_the_plain_loop_on_every_path_and_in_lists() {
        for kind in 0..5 {
            for (d, psi, ends) in [
                (1, 70, vec![2, 4, 8, 16, 32, 64, 70]),
                (3, 64, vec![2, 4, 8, 16, 32, 64]),
                (10, 100, vec![100]),
                (55, 20, vec![5, 20]),
                (2, 3, vec![2, 3]),
            ] {
                let dense = awkward(kind, 90, d);
                let mut sparse = PointsBuf::sparse(d);
                dense.as_points().rows().for_each(|row| sparse.push(row));
                let mut rng = rng_of(13, Component::Synthetic, kind as u64);
                let members: Vec<u32> = (0..3 * psi).map(|_| rng.below(90) as u32).collect();
                for others in [Others::All, Others::Beyond(0.0), Others::Beyond(1e-9), Others::Beyond(1e9)] {
                    for (points, distance) in
                        [(&dense, Distance::Euclidean), (&sparse, Distance::Euclidean), (&dense, Distance::Text)]
                    {
                        let centres = Centres::new(points.clone(), members.clone(), psi, distance);
                        let found = neighbours(&centres, &ends, others, Run::threads(2)).unwrap();
                        let said = format!("kind {kind}, d {d}, {others:?}, {distance:?}");
                        for (scale, &end) in ends.iter().enumerate() {
                            for i in 0..3 {
                                let members = &centres.members_of(i)[..end];
                                for j in 0..end {
                                    let expected = oracle(points, members, distance, j, others);
                                    assert_eq!(found[scale][i * end + j], expected, "{said}, psi {end}");
                                }
                            }
                        }
                        if centres.has_lanes() && psi > BLOCK {
                            let frame = Frame::new(points, 0);
                            for path in backend::available() {
                                let one = of_one(&centres, 1, frame.as_ref(), &ends, others, path);
                                for (scale, &end) in ends.iter().enumerate() {
                                    assert_eq!(one[scale], found[scale][end..2 * end], "{said}, {path:?}");
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
