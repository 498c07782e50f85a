//! The map by brute force: every row is compared with every centre of every partitioning. What a cleverer search is
//! worth is measured by this; codes are the same.
//!
//! # Examples
//! ```
//! use eyot::{IsolationMapParams, PointsBuf, Run};
//!
//! let points = PointsBuf::from_rows(&[[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.0, 5.2]])?;
//! let map = IsolationMapParams::default().psi(2).t(200).check()?.fit(points.as_points(), Run::single())?;
//! let sweep = map.sweep(points.as_points()).expect("Voronoi cells have centres");
//! let codes = sweep.encode(points.as_points(), Run::single())?;
//! assert_eq!(codes, map.encode(points.as_points(), Run::single())?);
//! # Ok::<(), eyot::Error>(())
//! ```

use super::isolation::{Cells, IsolationMap};
use crate::backend::Form;
use crate::data::Points;
use crate::error::Result;
use crate::parallel::Run;
use crate::partition::{Centres, CodeInt, CodeStore, Codes, Numbers, Panels, with_codes};

/// Rows that are compared with all centres together.
const TOGETHER: usize = 512;

/// Compares rows with all centres of a map, in a form made beforehand.
#[derive(Debug)]
pub struct Sweep<'a> {
    map: &'a IsolationMap,
    centres: &'a Centres,
    panels: Option<(Numbers, Panels)>,
}

impl IsolationMap {
    /// Brute force in the form that rows like these show to be fastest, certified like every search. `None` for trees,
    /// which have no centres.
    pub fn sweep(&self, points: Points<'_>) -> Option<Sweep<'_>> {
        self.sweep_in(points, false)
    }

    /// The same in the fastest form that computes in `f32`.
    pub fn sweep_in_f32(&self, points: Points<'_>) -> Option<Sweep<'_>> {
        self.sweep_in(points, true)
    }

    fn sweep_in(&self, points: Points<'_>, f32_only: bool) -> Option<Sweep<'_>> {
        let (Cells::Voronoi(centres) | Cells::Spheres { centres, .. }) = &self.cells else { return None };
        Some(Sweep { map: self, centres, panels: centres.panels_for_sweep(points, f32_only) })
    }
}

impl Sweep<'_> {
    /// The codes of all rows: those of [`IsolationMap::encode`].
    pub fn encode(&self, points: Points<'_>, run: Run<'_>) -> Result<Codes> {
        self.map.check_width(points)?;
        let (t, want) = (self.map.t(), self.map.want());
        let panels = self.panels.as_ref().map(|(_, panels)| panels);
        let mut codes = Codes::zeros(points.n_rows(), t, self.map.psi(), self.map.params().partition.has_gaps());
        let together = run.evenly(points.n_rows(), TOGETHER);
        with_codes!(CodeStore, codes.store_mut(), cells => {
            run.chunks_mut("map", cells, together * t, |chunk, out| {
                let first = chunk * together;
                let rows = points.slice(first..first + out.len() / t);
                self.centres.cells_by_sweep(rows, panels, want, |row, i, cell| {
                    out[row * t + i] = CodeInt::from_cell(cell);
                });
                Ok(())
            })?;
        });
        Ok(codes)
    }

    /// What distances are computed in before near-ties are settled.
    pub fn numbers(&self) -> &'static str {
        match self.panels {
            Some((Numbers::Whole, _)) => "16-bit steps",
            Some((Numbers::F32(Form::Product), _)) => "f32 products",
            Some((Numbers::F32(Form::Difference), _)) => "f32 differences",
            None => "f64",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;
    use crate::map::IsolationMapParams;
    use crate::partition::{BallRule, Distance, Partition};
    use crate::rng::{Component, rng_of};

    #[test]
    fn every_sweep_gives_the_codes_of_the_map() {
        let mut rng = rng_of(6, Component::Synthetic, 0);
        let mut rows = |n: usize, d: usize, lattice: bool| {
            let value = |_| if lattice { rng.below(4) as f64 } else { rng.normal() };
            PointsBuf::from_dense((0..n * d).map(value).collect(), d).unwrap()
        };
        let (ties, noise, wide) = (rows(700, 3, true), rows(1500, 9, false), rows(300, 40, false));
        let mut sparse = PointsBuf::sparse(3);
        ties.as_points().rows().for_each(|row| sparse.push(row));
        let base = IsolationMapParams::default().t(20).psi(100);
        let spheres = base.clone().partition(Partition::Sphere);
        let all = [base.clone(), spheres.clone(), spheres.rule(BallRule::Cover), base.distance(Distance::Text)];
        for points in [&ties, &noise, &wide, &sparse].map(PointsBuf::as_points) {
            for params in &all {
                let map = params.clone().check().unwrap().fit(points, Run::single()).unwrap();
                let codes = map.encode(points, Run::single()).unwrap();
                for sweep in [map.sweep(points), map.sweep_in_f32(points)].map(Option::unwrap) {
                    assert!(sweep.encode(points, Run::threads(2)).unwrap() == codes, "{params:?}, {}", sweep.numbers());
                }
            }
        }
    }

    #[test]
    fn the_form_is_the_fastest_that_keeps_its_digits() {
        let mut rng = rng_of(7, Component::Synthetic, 0);
        let noise = PointsBuf::from_dense((0..900 * 10).map(|_| rng.normal()).collect(), 10).unwrap();
        // An outlier squeezes all others into a few steps.
        let mut squeezed = PointsBuf::dense(10);
        squeezed.push(crate::data::Row::F64(&[1e7; 10]));
        noise.as_points().rows().for_each(|row| squeezed.push(row));
        let numbers = |points: &PointsBuf| {
            let params = IsolationMapParams::default().psi(800).t(16);
            let map = params.check().unwrap().fit(points.as_points(), Run::single()).unwrap();
            let points = points.as_points();
            [map.sweep(points), map.sweep_in_f32(points)].map(|sweep| sweep.unwrap().numbers())
        };
        assert_eq!(numbers(&noise), ["16-bit steps", "f32 products"]);
        assert_eq!(numbers(&squeezed), ["f32 differences"; 2]);
    }

    #[test]
    fn trees_have_no_centres_to_sweep() {
        let points = PointsBuf::from_rows(&[[0.0], [1.0], [2.0]]).unwrap();
        let params = IsolationMapParams::default().partition(Partition::Tree).psi(2).t(3);
        let map = params.check().unwrap().fit(points.as_points(), Run::single()).unwrap();
        assert!(map.sweep(points.as_points()).is_none());
    }
}
