//! What the papers say about the Isolation Kernel, on data whose answer is known. Tolerances are four standard errors
//! of the estimate or more, and seeds are fixed.

use eyot::{BallRule, Component, IsolationMap, IsolationMapParams, Partition, Points, PointsBuf, Row, Run, rng_of};

fn uniform(n: usize, d: usize, stream: u64) -> PointsBuf {
    let mut rng = rng_of(17, Component::Synthetic, stream);
    PointsBuf::from_dense((0..n * d).map(|_| rng.open01()).collect(), d).unwrap()
}

fn fit(points: Points<'_>, params: IsolationMapParams) -> IsolationMap {
    params.check().unwrap().fit(points, Run::threads(2)).unwrap()
}

/// Mean K between x and x + δ over interior places x of the unit interval, by ψδ.
fn on_a_line(partition: Partition) -> Vec<f64> {
    let data = uniform(20_000, 1, 0);
    let params = IsolationMapParams::default().partition(partition).psi(64).t(4000);
    let map = fit(data.as_points(), params);
    let places = 40;
    let mean = |psi_delta: f64| {
        let similarity = |at: i32| {
            let x = 0.3 + 0.4 * f64::from(at) / f64::from(places);
            map.similarity(Row::F64(&[x]), Row::F64(&[x + psi_delta / 64.0]))
        };
        (0..places).map(similarity).sum::<f64>() / f64::from(places)
    };
    [0.1, 0.25, 0.5, 1.0, 2.0].into_iter().map(mean).collect()
}

fn assert_close(ours: &[f64], expected: &[f64], tolerance: f64) {
    let close = ours.iter().zip(expected).all(|(a, b)| (a - b).abs() <= tolerance);
    assert!(close && ours.len() == expected.len(), "{ours:.3?} against {expected:.3?}");
}

#[test]
fn voronoi_cells_on_a_line_follow_the_closed_form() {
    // K(δ) = (1 + ψδ)·exp(−2ψδ).
    let expected: Vec<f64> = [0.1, 0.25, 0.5, 1.0, 2.0].iter().map(|a: &f64| (1.0 + a) * (-2.0 * a).exp()).collect();
    assert_close(&on_a_line(Partition::Voronoi), &expected, 0.015);
}

#[test]
fn tree_cells_on_a_line_follow_the_closed_form() {
    assert_close(&on_a_line(Partition::Tree), &[0.902, 0.768, 0.584, 0.336, 0.111], 0.015);
}

#[test]
fn balls_cover_two_thirds_of_a_line_or_three_quarters() {
    let data = uniform(20_000, 1, 0);
    for (rule, expected) in [(BallRule::Nearest, 0.663), (BallRule::Cover, 0.746)] {
        let params = IsolationMapParams::default().partition(Partition::Sphere).rule(rule).psi(64).t(4000);
        let map = fit(data.as_points(), params);
        let covered: Vec<f64> = (0..40)
            .map(|at| 0.3 + f64::from(at) / 100.0)
            .map(|x| map.similarity(Row::F64(&[x]), Row::F64(&[x])))
            .collect();
        assert_close(&[covered.iter().sum::<f64>() / 40.0], &[expected], 0.015);
    }
}

#[test]
fn the_unit_square_has_its_reference_values() {
    let data = uniform(5000, 2, 1);
    let centre = [0.5, 0.5];
    // ψ, then K at five displacements for full trees, trees of height log₂ψ and Voronoi cells.
    let table = [
        (
            16,
            [
                [0.907, 0.772, 0.602, 0.380, 0.259],
                [0.939, 0.857, 0.730, 0.532, 0.387],
                [0.902, 0.758, 0.539, 0.206, 0.050],
            ],
        ),
        (
            64,
            [
                [0.787, 0.569, 0.378, 0.186, 0.106],
                [0.887, 0.750, 0.586, 0.373, 0.238],
                [0.805, 0.544, 0.217, 0.008, 0.000],
            ],
        ),
        (
            256,
            [
                [0.606, 0.374, 0.211, 0.085, 0.043],
                [0.797, 0.622, 0.445, 0.254, 0.151],
                [0.621, 0.213, 0.009, 0.000, 0.000],
            ],
        ),
    ];
    for (psi, [full, capped, voronoi]) in table {
        let params = IsolationMapParams::default().psi(psi).t(5000);
        let height = Some(psi.ilog2());
        let variants = [
            (params.clone().partition(Partition::Tree), full),
            (params.clone().partition(Partition::Tree).max_height(height), capped),
            (params, voronoi),
        ];
        for (params, expected) in variants {
            let map = fit(data.as_points(), params);
            let ours: Vec<f64> = [0.02, 0.05, 0.1, 0.2, 0.3]
                .iter()
                .map(|delta| map.similarity(Row::F64(&centre), Row::F64(&[0.5 + delta, 0.5])))
                .collect();
            // The references are good to 0.02; three standard errors at t = 5000 are another 0.02.
            assert_close(&ours, &expected, 0.04);
        }
    }
}

#[test]
fn trees_fall_off_like_a_laplacian_in_shape() {
    let map =
        fit(uniform(5000, 2, 1).as_points(), IsolationMapParams::default().partition(Partition::Tree).psi(16).t(8000));
    let similarity = |delta: f64| map.similarity(Row::F64(&[0.5, 0.5]), Row::F64(&[0.5 + delta, 0.5]));
    let values: Vec<f64> = [0.05, 0.1, 0.2, 0.3].into_iter().map(similarity).collect();
    assert!(values.is_sorted_by(|a, b| a > b));
    let rates: Vec<f64> = [0.05, 0.1, 0.2, 0.3].iter().zip(&values).map(|(delta, k)| -k.ln() / delta).collect();
    let mean = rates.iter().sum::<f64>() / 4.0;
    let spread = (rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / 4.0).sqrt();
    assert!(spread / mean < 0.1, "{rates:?}");
}

/// 5000 points in the left half of a square, 50 in the right; K of a pair at distance 0.3 in each half.
fn dense_and_sparse(partition: Partition, seed: u64) -> (f64, f64) {
    let mut rng = rng_of(seed, Component::Synthetic, 2);
    let mut data = PointsBuf::dense(2);
    for i in 0..5050 {
        let x = if i < 5000 { rng.open01() - 1.0 } else { rng.open01() };
        data.push(Row::F64(&[x, 2.0 * rng.open01() - 1.0]));
    }
    let params = IsolationMapParams::default().partition(partition).psi(32).t(200).seed(seed);
    let map = fit(data.as_points(), params);
    let pair = |a: f64, b: f64| map.similarity(Row::F64(&[a, 0.0]), Row::F64(&[b, 0.0]));
    (pair(-0.65, -0.35), pair(0.35, 0.65))
}

#[test]
fn equal_distances_are_less_similar_where_the_data_is_dense() {
    for (partition, expected) in [(Partition::Voronoi, [0.06, 0.80]), (Partition::Tree, [0.18, 0.96])] {
        let pairs: Vec<(f64, f64)> = (0..10).map(|seed| dense_and_sparse(partition, seed)).collect();
        assert!(pairs.iter().all(|(dense, sparse)| dense < sparse), "{partition:?}: {pairs:?}");
        let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / 10.0;
        assert_close(&[mean(|pair| pair.0), mean(|pair| pair.1)], &expected, 0.06);
    }
    let pairs: Vec<(f64, f64)> = (0..20).map(|seed| dense_and_sparse(Partition::Sphere, seed)).collect();
    let sum = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
    assert!(sum(|pair| pair.0) < sum(|pair| pair.1), "{pairs:?}");
}
