//! Data and laws shared by the tests of all detectors.

use crate::data::PointsBuf;
use crate::map::IsolationMapParams;
use crate::params::Checked;
use crate::partition::Partition;
use crate::rng::{Component, rng_of};

/// `n` points of a standard bell in `d` columns, then one point at 10 standard deviations in every column.
pub(crate) fn blob_with_outlier(n: usize, d: usize) -> PointsBuf {
    let mut rng = rng_of(42, Component::Synthetic, d as u64);
    let mut values: Vec<f64> = (0..n * d).map(|_| rng.normal()).collect();
    values.extend(vec![10.0; d]);
    PointsBuf::from_dense(values, d).unwrap()
}

/// Points on a coarse grid, many of them equal.
pub(crate) fn clumps(n: usize, d: usize) -> PointsBuf {
    let mut rng = rng_of(43, Component::Synthetic, d as u64);
    PointsBuf::from_dense((0..n * d).map(|_| rng.below(3) as f64).collect(), d).unwrap()
}

/// Parameters of hyperspheres with 60 partitionings.
pub(crate) fn spheres(psi: usize) -> Checked<IsolationMapParams> {
    IsolationMapParams::default().partition(Partition::Sphere).psi(psi).t(60).check().unwrap()
}
