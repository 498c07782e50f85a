//! Codes of several ψ at once. Samples nest: the first ψ' rows of a sample of ψ are the sample of ψ', because samples are
//! the rows of smallest key. So the Voronoi cells of all smaller ψ come out of one search over the largest.

use super::isolation::{Cells, IsolationMap};
use crate::data::Points;
use crate::error::{Error, Result};
use crate::parallel::Run;
use crate::partition::{CodeInt, CodeStore, Codes, with_codes};

/// Rows that are encoded together.
const CHUNK: usize = 512;

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
        let t = self.t();
        let blank = |rows: usize| psis.iter().map(|&psi| Codes::zeros(rows, t, psi, false)).collect::<Vec<_>>();
        let parts = run.map("map", points.n_rows().div_ceil(CHUNK), |chunk| {
            let first = chunk * CHUNK;
            let rows = points.slice(first..points.n_rows().min(first + CHUNK));
            let mut part = blank(rows.n_rows());
            centres.nearest_nested(rows, psis, |row, i, scale, winner| {
                with_codes!(CodeStore, part[scale].store_mut(), cells => {
                    cells[row * t + i] = CodeInt::from_cell(winner.centre);
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
        Ok(Some(all))
    }
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
