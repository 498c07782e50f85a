//! Codes of several ψ at once. Samples nest: the first ψ' rows of a sample of ψ are the sample of ψ', because samples are
//! the rows of smallest key. So the Voronoi cells of all smaller ψ come out of one sweep over the centres of the largest.
//! Where a walk finds the nearest of many centres sooner than the sweep reaches them, only small ψ share a sweep.

use super::isolation::{Cells, IsolationMap};
use crate::data::Points;
use crate::error::{Error, Result};
use crate::parallel::Run;
use crate::partition::{Centres, CodeInt, CodeStore, Codes, with_codes};

/// Rows that are encoded together.
const CHUNK: usize = 512;

/// A smaller ψ has fewer centres near a row, so that its walk takes up to so many times as long.
const LONGER_WALK: f64 = 2.0;

impl IsolationMap {
    /// The codes that maps of the same parameters but these ψ would give, bit for bit; `psis` ascends and ends at or
    /// below this map's own. Voronoi cells only: `None` for other partitionings.
    pub fn encode_nested(&self, points: Points<'_>, psis: &[usize], run: Run<'_>) -> Result<Option<Vec<Codes>>> {
        let Cells::Voronoi(centres) = &self.cells else { return Ok(None) };
        if points.n_columns() != self.n_columns() {
            return Err(Error::Shape { what: "columns", expected: self.n_columns(), got: points.n_columns() });
        }
        if !psis.is_sorted_by(|a, b| a < b) || psis.iter().any(|&psi| psi == 0 || psi > self.psi()) {
            let expected = format!("ascending, from 1 to {}", self.psi());
            return Err(Error::Param { name: "psi", expected, got: format!("{psis:?}") });
        }
        centres.prepare_nested(points, run);
        let (swept, walked) = psis.split_at(n_swept(centres, psis));
        let mut all = if swept.is_empty() { vec![] } else { sweep(centres, points, swept, run)? };
        for &psi in walked {
            all.push(self.smaller(centres, psi).encode(points, run)?);
        }
        Ok(Some(all))
    }

    /// The map of the same parameters but this ψ.
    fn smaller(&self, centres: &Centres, psi: usize) -> Self {
        let members = (0..self.t()).flat_map(|i| &centres.members_of(i)[..psi]).copied().collect();
        let params = self.params().clone().psi(psi);
        let cells = Cells::Voronoi(Centres::new(centres.points().clone(), members, psi, params.distance));
        Self::from_parts(params, psi, cells)
    }
}

/// How many of the smallest ψ are best swept together: until going on costs more than a walk.
fn n_swept(centres: &Centres, psis: &[usize]) -> usize {
    let (Some(sweep), Some(walk)) = centres.costs() else { return psis.len() };
    let per_centre = sweep / centres.psi() as f64;
    let before = std::iter::once(&0).chain(psis);
    psis.iter()
        .zip(before)
        .take_while(|(psi, before)| per_centre * ((*psi - *before) as f64) < LONGER_WALK * walk)
        .count()
}

/// The codes of all ψ in one sweep over the centres of the largest.
fn sweep(centres: &Centres, points: Points<'_>, psis: &[usize], run: Run<'_>) -> Result<Vec<Codes>> {
    let t = centres.t();
    let blank = |rows: usize| psis.iter().map(|&psi| Codes::zeros(rows, t, psi, false)).collect::<Vec<_>>();
    let parts = run.map("map", points.n_rows().div_ceil(CHUNK), |chunk| {
        let first = chunk * CHUNK;
        let rows = points.slice(first..points.n_rows().min(first + CHUNK));
        let mut part = blank(rows.n_rows());
        centres.cells_nested(rows, psis, None, |row, i, scale, cell| {
            with_codes!(CodeStore, part[scale].store_mut(), cells => {
                cells[row * t + i] = CodeInt::from_cell(cell);
            });
        });
        Ok(part)
    })?;
    let mut all = blank(0);
    for (codes, part) in parts.iter().flat_map(|part| part.iter().enumerate()) {
        match (all[codes].store_mut(), part.store()) {
            (CodeStore::U8(all), CodeStore::U8(part)) => all.extend(part),
            (CodeStore::U16(all), CodeStore::U16(part)) => all.extend(part),
            (CodeStore::U32(all), CodeStore::U32(part)) => all.extend(part),
            _ => unreachable!("the type follows from ψ"),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;
    use crate::map::IsolationMapParams;
    use crate::partition::Partition;
    use crate::rng::{Component, rng_of};

    #[test]
    fn nested_codes_are_those_of_maps_of_their_own() {
        let mut rng = rng_of(4, Component::Synthetic, 0);
        let dense = PointsBuf::from_dense((0..700 * 3).map(|_| rng.below(6) as f64).collect(), 3).unwrap();
        let mut sparse = PointsBuf::sparse(3);
        dense.as_points().rows().for_each(|row| sparse.push(row));
        for points in [dense, sparse] {
            let params = |psi| IsolationMapParams::default().psi(psi).t(7).seed(2);
            let largest = params(300).check().unwrap().fit(points.as_points(), Run::single()).unwrap();
            let psis = [1, 4, 256, 300];
            let nested = largest.encode_nested(points.as_points(), &psis, Run::threads(2)).unwrap().unwrap();
            for (&psi, codes) in psis.iter().zip(&nested) {
                let own = params(psi).check().unwrap().fit(points.as_points(), Run::single()).unwrap();
                assert!(codes == &own.encode(points.as_points(), Run::single()).unwrap(), "psi {psi}");
            }
        }
    }

    #[test]
    fn a_smaller_map_is_that_of_its_own_sample() {
        let mut rng = rng_of(5, Component::Synthetic, 0);
        let points = PointsBuf::from_dense((0..300 * 2).map(|_| rng.normal()).collect(), 2).unwrap();
        let params = |psi| IsolationMapParams::default().psi(psi).t(5);
        let largest = params(64).check().unwrap().fit(points.as_points(), Run::single()).unwrap();
        let Cells::Voronoi(centres) = &largest.cells else { unreachable!("the default") };
        let smaller = largest.smaller(centres, 16).encode(points.as_points(), Run::single()).unwrap();
        let own = params(16).check().unwrap().fit(points.as_points(), Run::single()).unwrap();
        assert_eq!(smaller, own.encode(points.as_points(), Run::single()).unwrap());
    }

    #[test]
    fn other_partitionings_and_larger_samples_do_not_nest() {
        let points = PointsBuf::from_rows(&[[0.0], [1.0], [2.0]]).unwrap();
        let fit = |partition| {
            let params = IsolationMapParams::default().partition(partition).psi(2).t(3);
            params.check().unwrap().fit(points.as_points(), Run::single()).unwrap()
        };
        assert!(fit(Partition::Tree).encode_nested(points.as_points(), &[2], Run::single()).unwrap().is_none());
        assert!(fit(Partition::Voronoi).encode_nested(points.as_points(), &[3], Run::single()).is_err());
        assert!(fit(Partition::Voronoi).encode_nested(points.as_points(), &[2, 1], Run::single()).is_err());
    }
}
