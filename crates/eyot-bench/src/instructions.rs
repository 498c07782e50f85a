//! Three fixed workloads whose instructions `cargo xtask instructions` counts: one thread, generated data, nothing that
//! depends on the machine. Each covers other hot loops: the searches for nearest centres, trees, codes with weights.

use eyot::{Detector as _, Idk, IsolationForest, IsolationMapParams, LinearSvmParams, Partition, PointsBuf, Run};

use crate::Outcome;

/// Runs a workload and returns a figure of its result, so that nothing can be left out as unused.
pub(crate) fn run(name: &str) -> Outcome<f64> {
    match name {
        "maps" => maps(),
        "isolation-forest" => isolation_forest(),
        "svm-on-codes" => svm_on_codes(),
        _ => Err(format!("`{name}` is not a workload").into()),
    }
}

/// Voronoi cells by each search (few cells by brute force, many by the walk, rows of 0 and 1 by bits), and hyperspheres
/// with their embedding. Small, because valgrind is slow where these are fast.
fn maps() -> Outcome<f64> {
    let (few, many, bits) = (clumps(300, 16), clumps(1000, 4), zeros_and_ones(1000, 64));
    let mut sum = 0.0;
    for (points, psi) in [(&few, 64), (&many, 512), (&bits, 64)] {
        let map = IsolationMapParams::default().psi(psi).check()?.fit(points.as_points(), Run::single())?;
        let codes = map.encode(points.as_points(), Run::single())?;
        sum += codes.rows().map(|row| f64::from(row.cell(0))).sum::<f64>();
    }
    let params = IsolationMapParams::default().partition(Partition::Sphere).psi(32).check()?;
    let (_, scores) = Idk::fit_score(&params, few.as_points(), Run::single())?;
    Ok(sum + scores.iter().sum::<f64>())
}

/// Fit and score of trees.
fn isolation_forest() -> Outcome<f64> {
    let points = clumps(8000, 10);
    let forest = IsolationForest::fit(256, 100, 0, points.as_points(), Run::single())?;
    Ok(forest.score(points.as_points(), Run::single())?.iter().sum())
}

/// A linear SVM on the codes of trees.
fn svm_on_codes() -> Outcome<f64> {
    let points = clumps(4000, 10);
    let params = IsolationMapParams::default().partition(Partition::Tree).psi(128).check()?;
    let map = params.fit(points.as_points(), Run::single())?;
    let codes = map.encode(points.as_points(), Run::single())?;
    let labels: Vec<u32> = points.as_points().rows().map(|row| u32::from(row.get(0) * row.get(1) > 0.3)).collect();
    let fit = LinearSvmParams::default().check()?.fit(&codes, &labels, 2, None, Run::single())?;
    Ok(fit.model.weights(0).iter().sum())
}

/// Rows round 16 centres. A short generator of its own: the library's would be a part of what is counted.
fn clumps(n: usize, d: usize) -> PointsBuf {
    let mut unit = generator();
    let centres: Vec<f64> = (0..16 * d).map(|_| unit()).collect();
    let row = |i: usize| &centres[i % 16 * d..][..d];
    let values = (0..n).flat_map(row).map(|centre| centre + 0.3 * (unit() + unit() - 1.0)).collect();
    PointsBuf::from_dense(values, d).expect("finite numbers")
}

fn zeros_and_ones(n: usize, d: usize) -> PointsBuf {
    let mut unit = generator();
    let values = (0..n * d).map(|_| if unit() < 0.3 { 1.0 } else { 0.0 }).collect();
    PointsBuf::from_dense(values, d).expect("finite numbers")
}

/// Numbers from 0 to 1 by a linear congruence.
fn generator() -> impl FnMut() -> f64 {
    let mut state = 7_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}
