//! The maps on generated data, one thread, minimum of five repeats; one line `work seconds` each.
#![expect(clippy::print_stdout, reason = "the figures are the result")]

use std::time::Instant;

use eyot::{Component, IsolationMapParams, Partition, PointsBuf, Run, rng_of};

const REPEATS: usize = 5;

fn main() {
    for d in [10, 54] {
        for (partition, n) in [(Partition::Tree, 100_000), (Partition::Voronoi, 20_000), (Partition::Sphere, 20_000)] {
            let mut rng = rng_of(0, Component::Synthetic, d as u64);
            let points = PointsBuf::from_dense((0..n * d).map(|_| rng.normal()).collect(), d).expect("finite numbers");
            let params = IsolationMapParams::default().partition(partition).check().expect("defaults are in range");
            let map = params.fit(points.as_points(), Run::single()).expect("there are rows");
            let name = format!("eyot {partition:?} d={d} n={n}").to_lowercase();
            println!("{name} {:.3}", seconds(|| map.encode(points.as_points(), Run::single()).map(drop)));
        }
    }
}

fn seconds(work: impl Fn() -> eyot::Result<()>) -> f64 {
    let time = || {
        let start = Instant::now();
        work().expect("the rows fit the map");
        start.elapsed().as_secs_f64()
    };
    (0..REPEATS).map(|_| time()).fold(f64::INFINITY, f64::min)
}
