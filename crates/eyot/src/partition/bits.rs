//! Rows that are all 0 and 1, packed: a squared distance is a count of differing bits, exact in whole numbers.
//!
//! One sweep gives the distances to all distinct centres. Then distances are gone through in growing order, each centre
//! at that distance serves the partitionings it is a member of, and when all are served the row is done: a few
//! distances, whatever ψ is.

use super::union::{Memberships, groups, same_values};
use crate::backend::{BLOCK, Winner, differing_bits, rows_at};
use crate::data::{Points, PointsBuf, Row};

/// Most columns that are packed; a row is at most 64 words.
const MOST_COLUMNS: usize = 4096;

/// The distinct centres as bits.
#[derive(Debug, Clone)]
pub(crate) struct Bits {
    /// Words of a row.
    n_words: usize,
    /// Distinct centres, in whole blocks.
    n_rows: usize,
    /// The first word of all centres, then the second, and so on.
    words: Vec<u64>,
    memberships: Vec<Memberships>,
    t: usize,
}

/// Room for one row.
struct Room {
    x: Vec<u64>,
    distances: Vec<u16>,
    matching: Vec<u64>,
    best: Vec<Winner>,
}

impl Bits {
    /// `None` unless all centres are rows of 0 and 1.
    pub(crate) fn new(points: &PointsBuf, members: &[u32], psi: usize) -> Option<Self> {
        let n_words = points.n_columns().div_ceil(64);
        if points.n_columns() > MOST_COLUMNS {
            return None;
        }
        let mut x = vec![0; n_words];
        if !points.as_points().rows().all(|row| pack(row, &mut x)) {
            return None;
        }
        let same = same_values(points);
        let mut distinct = same.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let n_rows = distinct.len().next_multiple_of(BLOCK);
        let mut words = vec![0; n_rows * n_words];
        let mut place = vec![0; points.n_rows()];
        for (at, &row) in distinct.iter().enumerate() {
            pack(points.row(row as usize), &mut x);
            x.iter().enumerate().for_each(|(w, &word)| words[w * n_rows + at] = word);
            place[row as usize] = at as u32;
        }
        let t = members.len() / psi;
        let memberships = groups(t).map(|group| {
            Memberships::new(n_rows, &members[group.start * psi..group.end * psi], psi, |row| {
                place[same[row as usize] as usize] as usize
            })
        });
        let memberships = memberships.collect();
        Some(Self { n_words, n_rows, words, memberships, t })
    }

    /// Calls `found(row, i, winner)` for every row and partitioning; rows that are not all 0 and 1 are returned.
    pub(crate) fn nearest(&self, points: Points<'_>, mut found: impl FnMut(usize, usize, Winner)) -> Vec<usize> {
        let mut room = Room {
            x: vec![0; self.n_words],
            distances: vec![0; self.n_rows],
            matching: vec![0; self.n_rows / BLOCK],
            best: Vec::new(),
        };
        let mut unserved = Vec::new();
        for (at, row) in points.rows().enumerate() {
            if pack(row, &mut room.x) {
                self.serve(&mut room);
                room.best.iter().enumerate().for_each(|(i, &winner)| found(at, i, winner));
            } else {
                unserved.push(at);
            }
        }
        unserved
    }

    fn serve(&self, room: &mut Room) {
        differing_bits(&self.words, &room.x, &mut room.distances);
        room.best.clear();
        room.best.resize(self.t, Winner { centre: u32::MAX, squared_distance: f64::INFINITY });
        let mut waiting: Vec<(usize, u128)> =
            groups(self.t).map(|group| (group.start, u128::MAX >> (128 - group.len()))).collect();
        let mut distance = room.distances.iter().copied().min().unwrap_or(0);
        while waiting.iter().any(|&(_, sets)| sets != 0) {
            rows_at(&room.distances, distance, &mut room.matching);
            let mut served = vec![0u128; waiting.len()];
            for (block, &bits) in room.matching.iter().enumerate() {
                let mut bits = bits;
                while bits != 0 {
                    let point = block * BLOCK + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    for (((first, sets), served), memberships) in waiting.iter().zip(&mut served).zip(&self.memberships)
                    {
                        let mut here = memberships.of(point) & sets;
                        *served |= here;
                        while here != 0 {
                            let i = here.trailing_zeros() as usize;
                            here &= here - 1;
                            let best = &mut room.best[first + i];
                            best.centre = best.centre.min(memberships.number(point, i));
                            best.squared_distance = f64::from(distance);
                        }
                    }
                }
            }
            for ((_, sets), served) in waiting.iter_mut().zip(served) {
                *sets &= !served;
            }
            distance += 1;
        }
    }
}

/// The bits of a row; `false` if it is not all 0 and 1.
fn pack(row: Row<'_>, out: &mut [u64]) -> bool {
    out.fill(0);
    row.nonzeros().all(|(column, value)| {
        out[column / 64] |= u64::from(value != 0.0) << (column % 64);
        value == 0.0 || value == 1.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Component, rng_of};

    #[test]
    fn bits_give_the_winners_of_the_plain_loop() {
        let mut rng = rng_of(9, Component::Synthetic, 0);
        for (n, d, t, psi, sparse) in
            [(200, 5, 20, 16, false), (150, 123, 100, 20, true), (100, 300, 130, 9, false), (50, 64, 3, 1, true)]
        {
            let mut points = if sparse { PointsBuf::sparse(d) } else { PointsBuf::dense(d) };
            for _ in 0..n {
                let row: Vec<f64> = (0..d).map(|_| f64::from(u8::from(rng.below(4) == 0))).collect();
                points.push(Row::F64(&row));
            }
            let members: Vec<u32> = (0..t * psi).map(|_| rng.below(n) as u32).collect();
            let bits = Bits::new(&points, &members, psi).unwrap();
            let mut seen = 0;
            let unserved = bits.nearest(points.as_points(), |row, i, winner| {
                seen += 1;
                let distance = |member: u32| points.row(row).squared_distance(points.row(member as usize));
                let members = &members[i * psi..(i + 1) * psi];
                let nearest =
                    (0..psi).reduce(|best, j| if distance(members[j]) < distance(members[best]) { j } else { best });
                assert_eq!(Some(winner.centre as usize), nearest);
                assert_eq!(winner.squared_distance, distance(members[winner.centre as usize]));
            });
            assert!(unserved.is_empty() && seen == n * t);
            let other =
                PointsBuf::from_dense((0..2 * d).map(|at| if at == d { 0.5 } else { 1.0 }).collect(), d).unwrap();
            assert_eq!(bits.nearest(other.as_points(), |row, _, _| assert_eq!(row, 0)), [1]);
            assert!(Bits::new(&other, &[0, 1], 2).is_none());
        }
    }
}
