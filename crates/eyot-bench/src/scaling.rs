//! Time of the maps against one size at a time, the others as the task says.

use eyot::{IsolationMapParams, Partition, Run};
use serde_json::json;

use crate::data::noise;
use crate::map::name;
use crate::timing::fastest;
use crate::{Outcome, Task, say};

/// What can grow.
#[derive(Clone, Copy)]
struct Size {
    n: usize,
    d: usize,
    psi: usize,
    t: usize,
    threads: usize,
}

pub(crate) fn run(task: &Task) -> Outcome<()> {
    let base = Size { n: task.n, d: task.d, psi: task.psi, t: task.t, threads: 1 };
    let steps = |factors: &[f64], of: usize| factors.iter().map(|f| ((f * of as f64) as usize).max(2)).collect();
    let all = std::thread::available_parallelism()?.get();
    let curves: [(&str, Vec<usize>); 5] = [
        ("n", steps(&[0.25, 0.5, 1.0, 2.0, 4.0], task.n)),
        ("d", steps(&[0.2, 1.0, 2.0, 5.0, 20.0, 80.0], task.d)),
        ("psi", steps(&[1.0 / 64.0, 0.0625, 0.25, 1.0, 4.0, 16.0], task.psi)),
        ("t", steps(&[0.1, 0.3, 1.0, 3.0, 10.0], task.t)),
        ("threads", (1..=all).collect()),
    ];
    for (what, values) in curves {
        for partition in [Partition::Voronoi, Partition::Sphere, Partition::Tree] {
            let mut curve = Vec::new();
            for &value in &values {
                let mut size = base;
                match what {
                    "n" => size.n = value,
                    "d" => size.d = value,
                    "psi" => size.psi = value,
                    "t" => size.t = value,
                    _ => size.threads = value,
                }
                curve.push([value as f64, seconds(size, partition)?]);
            }
            say(&json!({ "cell": what, "who": name(partition), "curve": curve }))?;
        }
    }
    Ok(())
}

fn seconds(size: Size, partition: Partition) -> Outcome<f64> {
    let points = noise(size.n, size.d);
    let params = IsolationMapParams::default().partition(partition).psi(size.psi).t(size.t).check()?;
    let map = params.fit(points.as_points(), Run::threads(2))?;
    let run = Run::threads(size.threads);
    Ok(fastest(|| map.clone(), |map| Ok(map.encode(points.as_points(), run)?))?.seconds)
}
