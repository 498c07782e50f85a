//! Dense centres in blocks of eight, one vector lane per centre, and the search for the nearest of them.

use super::room::Room;
use super::simd;
use crate::data::{Points, Row};

/// Centres per block.
pub(crate) const LANES: usize = 8;

/// Dense centres, column by column within blocks of [`LANES`]; the last block is padded with infinity, which is
/// farther than anything.
#[derive(Debug, Clone)]
pub(crate) struct Lanes {
    n_centres: usize,
    n_columns: usize,
    values: Vec<f64>,
}

/// Rows per tile.
pub(crate) const TILE: usize = 8;

/// Rows in tiles of [`TILE`], column by column within a tile, the last tile padded with zeros: made once for a chunk
/// of rows and used for all partitionings.
pub(crate) struct Tiles {
    n_rows: usize,
    n_columns: usize,
    values: Room<f64, 256>,
}

impl Tiles {
    /// All rows, dense or sparse.
    pub(crate) fn new(points: Points<'_>) -> Self {
        let (n_rows, n_columns) = (points.n_rows(), points.n_columns());
        let mut values = Room::new(n_rows.div_ceil(TILE) * TILE * n_columns, 0.0);
        for (row, x) in points.rows().enumerate() {
            let tile = &mut values[row / TILE * TILE * n_columns..][..TILE * n_columns];
            for (column, value) in x.nonzeros() {
                tile[column * TILE + row % TILE] = value;
            }
        }
        Self { n_rows, n_columns, values }
    }
}

/// The nearest centre of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Winner {
    pub(crate) centre: u32,
    pub(crate) squared_distance: f64,
}

impl Lanes {
    /// The centres `members` of `points`, which are dense.
    pub(crate) fn new(points: Points<'_>, members: &[u32]) -> Self {
        let mut lanes = Self { n_centres: 0, n_columns: points.n_columns(), values: Vec::new() };
        lanes.refill(points, members);
        lanes
    }

    /// Replaces the centres, keeping the memory.
    pub(crate) fn refill(&mut self, points: Points<'_>, members: &[u32]) {
        let d = points.n_columns();
        self.n_centres = members.len();
        self.n_columns = d;
        self.values.clear();
        self.values.resize(members.len().div_ceil(LANES) * LANES * d, f64::INFINITY);
        for (j, &member) in members.iter().enumerate() {
            let block = &mut self.values[j / LANES * LANES * d..][..LANES * d];
            let lane = block.iter_mut().skip(j % LANES).step_by(LANES);
            match points.row(member as usize) {
                Row::F32(values) => lane.zip(values).for_each(|(slot, &value)| *slot = value.into()),
                Row::F64(values) => lane.zip(values).for_each(|(slot, &value)| *slot = value),
                Row::Sparse(_) => unreachable!("lanes hold dense centres"),
            }
        }
    }

    /// The nearest centre of each row, lowest index on ties. With `within`, only centres at squared distance at most
    /// `within[j]` count; a row that none covers gets an infinite distance.
    pub(crate) fn nearest(&self, rows: &Tiles, within: Option<&[f64]>, out: &mut [Winner]) {
        self.nearest_on(simd::best(), rows, within, out);
    }

    fn nearest_on(&self, path: simd::Path, rows: &Tiles, within: Option<&[f64]>, out: &mut [Winner]) {
        let d = self.n_columns;
        assert!(rows.n_columns == d && rows.n_rows == out.len(), "rows of another width or number");
        for (tile, out) in rows.values.chunks_exact(TILE * d).zip(out.chunks_mut(TILE)) {
            simd::nearest(path, &self.values, d, tile, within, out);
        }
    }

    /// Squared distances from `x` to every centre.
    pub(crate) fn squared_distances(&self, x: &[f64], out: &mut [f64]) {
        assert!(x.len() == self.n_columns && out.len() == self.n_centres, "a row of another width");
        simd::squared_distances(&self.values, self.n_columns, x, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;
    use crate::rng::{Component, rng_of};

    fn oracle(points: &PointsBuf, members: &[u32], x: Row<'_>, within: Option<&[f64]>) -> Winner {
        let mut best = Winner { centre: 0, squared_distance: f64::INFINITY };
        for (j, &member) in members.iter().enumerate() {
            let squared_distance = x.squared_distance(points.row(member as usize));
            if within.is_none_or(|within| squared_distance <= within[j]) && squared_distance < best.squared_distance {
                best = Winner { centre: j as u32, squared_distance };
            }
        }
        best
    }

    /// Numbers on a coarse lattice tie constantly; the others span 200 orders of magnitude.
    fn awkward(kind: usize, n: usize, d: usize) -> PointsBuf {
        let mut rng = rng_of(11, Component::Synthetic, (kind * 1000 + d) as u64);
        let values = (0..n * d).map(|_| match kind {
            0 => rng.below(3) as f64,
            1 => rng.normal(),
            2 => 1e9 + rng.below(5) as f64 * 1e-7,
            _ => rng.normal() * 10f64.powf(rng.below(200) as f64 - 100.0),
        });
        PointsBuf::from_dense(values.collect(), d).unwrap()
    }

    #[test]
    fn every_path_finds_the_nearest_centre_of_the_plain_loop() {
        for kind in 0..4 {
            for (d, psi) in [(1, 1), (1, 9), (2, 8), (3, 17), (10, 64), (55, 20), (130, 5)] {
                let points = awkward(kind, 80, d);
                let members: Vec<u32> = (0..psi as u32).map(|j| j * 7 % 80).collect();
                let lanes = Lanes::new(points.as_points(), &members);
                let within: Vec<f64> = (0..psi).map(|j| points.row(j).squared_distance(points.row(j + 1))).collect();
                for within in [None, Some(&within[..])] {
                    let expected: Vec<Winner> =
                        points.as_points().rows().map(|row| oracle(&points, &members, row, within)).collect();
                    for path in simd::available() {
                        for n in [80, 13, 1] {
                            let rows = Tiles::new(points.as_points().slice(0..n));
                            let mut out = vec![Winner { centre: 0, squared_distance: 0.0 }; n];
                            lanes.nearest_on(path, &rows, within, &mut out);
                            assert_eq!(out, expected[..n], "kind {kind}, d {d}, psi {psi}, {path:?}");
                        }
                    }
                }
                let mut distances = vec![0.0; psi];
                let x: Vec<f64> = (0..d).map(|k| points.row(0).get(k)).collect();
                lanes.squared_distances(&x, &mut distances);
                for (j, &member) in members.iter().enumerate() {
                    assert_eq!(distances[j], points.row(0).squared_distance(points.row(member as usize)));
                }
            }
        }
    }
}
