//! One thread beside two, turn by turn, so that both meet the same machine.

use std::time::Instant;

use eyot::{Detector as _, Idk, IsolationForest, IsolationMapParams, Partition, Run};
use serde_json::json;

use crate::data::noise;
use crate::map::name;
use crate::timing::result_of;
use crate::{Outcome, Task};

const REPEATS: usize = 5;

pub(crate) fn run(task: &Task) -> Outcome<()> {
    let buffer = noise(task.n, task.d);
    let points = buffer.as_points();
    let of = |partition| IsolationMapParams::default().partition(partition).psi(task.psi).t(task.t).check();
    for partition in [Partition::Voronoi, Partition::Sphere, Partition::Tree] {
        let map = of(partition)?.fit(points, Run::threads(2))?;
        let work = |run: Run<'_>| {
            let fresh = map.clone();
            let start = Instant::now();
            fresh.encode(points, run)?;
            Ok(start.elapsed().as_secs_f64())
        };
        both(&format!("map, {}", name(partition)), work)?;
    }
    let sphere = of(Partition::Sphere)?;
    let fit = |run: Run<'_>| {
        let start = Instant::now();
        Idk::fit(&sphere, points, run)?;
        Ok(start.elapsed().as_secs_f64())
    };
    both("fit, IDK", fit)?;
    let fit = |run: Run<'_>| {
        let start = Instant::now();
        IsolationForest::fit(task.psi, task.t, 0, points, run)?;
        Ok(start.elapsed().as_secs_f64())
    };
    both("fit, isolation forest", fit)?;
    let idk = Idk::fit(&sphere, points, Run::threads(2))?;
    let score = |run: Run<'_>| {
        let fresh = idk.clone();
        let start = Instant::now();
        fresh.score(points, run)?;
        Ok(start.elapsed().as_secs_f64())
    };
    both("score, IDK", score)?;
    let forest = IsolationForest::fit(task.psi, task.t, 0, points, Run::threads(2))?;
    let score = |run: Run<'_>| {
        let start = Instant::now();
        forest.score(points, run)?;
        Ok(start.elapsed().as_secs_f64())
    };
    both("score, isolation forest", score)
}

/// `work` returns its own seconds, so that making copies stays off the clock.
fn both(cell: &str, work: impl Fn(Run<'_>) -> Outcome<f64>) -> Outcome<()> {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..REPEATS {
        best[0] = best[0].min(work(Run::single())?);
        best[1] = best[1].min(work(Run::threads(2))?);
    }
    result_of("one thread", cell, best[0], REPEATS, json!({}))?;
    result_of("eyot", cell, best[1], REPEATS, json!({}))
}
