//! One row at a time by a fitted model: t = 100, ψ = 256, d = 10, one thread; one line `work microseconds` each, the
//! least of many rounds.
#![expect(clippy::print_stdout, reason = "the figures are the result")]

use std::time::Instant;

use eyot::{Component, DetectMethod, Detector, DetectorParams, IsolationMapParams, Partition, PointsBuf, Run, rng_of};

const ROUNDS: usize = 30;

fn main() {
    let (n, d) = (20_000, 10);
    let mut rng = rng_of(0, Component::Synthetic, d as u64);
    let points = PointsBuf::from_dense((0..n * d).map(|_| rng.normal()).collect(), d).expect("finite numbers");
    for method in [DetectMethod::Idk, DetectMethod::Norm, DetectMethod::Iforest] {
        let params = DetectorParams::default().method(method).psi(Some(256)).check().expect("in range");
        let (detector, _) = params.fit_score(points.as_points(), Run::single()).expect("there are rows");
        let mut score = [0.0];
        let micros = per_row(|row| {
            detector.score_chunk(points.as_points().slice(row..row + 1), &mut score).expect("a row of the same width");
        });
        println!("eyot score {method:?} {micros:.2}");
    }
    for partition in [Partition::Voronoi, Partition::Sphere, Partition::Tree] {
        let params = IsolationMapParams::default().partition(partition).check().expect("defaults are in range");
        let map = params.fit(points.as_points(), Run::single()).expect("there are rows");
        map.encode(points.as_points(), Run::single()).expect("the rows fit the map");
        let mut cells = vec![0; map.t()];
        let micros = per_row(|row| map.encode_row(points.row(row), &mut cells));
        println!("eyot encode {partition:?} {micros:.2}");
    }
}

/// Microseconds per row, of the fastest round.
fn per_row(mut work: impl FnMut(usize)) -> f64 {
    const ROWS: usize = 200;
    let round = |round: usize, work: &mut dyn FnMut(usize)| {
        let start = Instant::now();
        (0..ROWS).for_each(|row| work(round * ROWS + row));
        start.elapsed().as_secs_f64() / ROWS as f64 * 1e6
    };
    (0..ROUNDS).map(|at| round(at, &mut work)).fold(f64::INFINITY, f64::min)
}
