//! Maps of single partitionings as one map of all: cells are then searched for together, which is several times faster
//! than one map after the other and gives the same codes.

use super::isolation::{Cells, IsolationMap};
use crate::data::PointsBuf;
use crate::partition::{Centres, Forest};

impl IsolationMap {
    /// The partitionings of all these maps in order, as one map. They must be of one kind, one ψ and one number of
    /// columns.
    ///
    /// # Panics
    /// If they are not, or if there is none.
    pub(crate) fn joined(maps: &[Self]) -> Self {
        let first = &maps[0];
        assert!(maps.iter().all(|map| (map.psi(), map.n_columns()) == (first.psi(), first.n_columns())), "maps alike");
        let params = first.params().clone().t(maps.iter().map(Self::t).sum());
        let cells = match &first.cells {
            Cells::Voronoi(_) => Cells::Voronoi(joined_centres(maps)),
            Cells::Spheres { .. } => {
                let radii = maps.iter().flat_map(|map| match &map.cells {
                    Cells::Spheres { squared_radii, .. } => squared_radii.as_slice(),
                    _ => panic!("maps of one kind"),
                });
                Cells::Spheres { squared_radii: radii.copied().collect(), centres: joined_centres(maps) }
            }
            Cells::Trees(forest) => {
                let trees = maps.iter().flat_map(|map| match &map.cells {
                    Cells::Trees(forest) => forest.trees(),
                    _ => panic!("maps of one kind"),
                });
                Cells::Trees(Forest::new(trees.cloned().collect(), forest.n_columns()))
            }
        };
        Self::from_parts(params, first.psi(), cells)
    }
}

fn joined_centres(maps: &[IsolationMap]) -> Centres {
    let (mut points, mut members): (Option<PointsBuf>, Vec<u32>) = (None, Vec::new());
    for map in maps {
        let (Cells::Voronoi(centres) | Cells::Spheres { centres, .. }) = &map.cells else { panic!("maps of one kind") };
        let points = points.get_or_insert_with(|| PointsBuf::like(&centres.points().as_points()));
        let before = points.n_rows() as u32;
        centres.points().as_points().rows().for_each(|row| points.push(row));
        members.extend((0..map.t()).flat_map(|i| centres.members_of(i)).map(|member| before + member));
    }
    let points = points.expect("there is a map");
    Centres::new(points, members, maps[0].psi(), maps[0].params().distance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::IsolationMapParams;
    use crate::parallel::Run;
    use crate::partition::Partition;
    use crate::rng::{Component, rng_of};

    #[test]
    fn a_joined_map_gives_the_codes_of_its_parts() {
        let mut rng = rng_of(1, Component::Synthetic, 0);
        let dense = PointsBuf::from_dense((0..900).map(|_| rng.open01()).collect(), 3).unwrap();
        let mut sparse = PointsBuf::sparse(3);
        dense.as_points().rows().for_each(|row| sparse.push(row));
        for partition in [Partition::Voronoi, Partition::Sphere, Partition::Tree] {
            for points in [&dense, &sparse] {
                let part = |seed| {
                    let params = IsolationMapParams::default().partition(partition).psi(20).t(2).seed(seed);
                    params.check().unwrap().fit(points.as_points(), Run::single()).unwrap()
                };
                let parts: Vec<IsolationMap> = (0..3).map(part).collect();
                let joined = IsolationMap::joined(&parts).encode(points.as_points(), Run::single()).unwrap();
                for (at, part) in parts.iter().enumerate() {
                    let codes = part.encode(points.as_points(), Run::single()).unwrap();
                    for (one, all) in codes.rows().zip(joined.rows()) {
                        assert!((0..2).all(|i| one.cell(i) == all.cell(2 * at + i)), "{partition:?}");
                    }
                }
            }
        }
    }
}
