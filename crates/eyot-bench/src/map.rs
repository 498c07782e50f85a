//! Voronoi and hypersphere maps of noise. The other programs get the same rows and the same samples, and our codes to
//! compare theirs with.

use eyot::{IsolationMapParams, Partition, Points, Run};
use serde_json::json;

use crate::data::{noise, write_codes, write_points, write_samples, write_task};
use crate::timing::{fastest, result};
use crate::{Outcome, Task};

/// Writes the data, times the map of all rows on one thread by each partitioning.
pub(crate) fn run(task: &Task, partitions: &[Partition]) -> Outcome<()> {
    let points = noise(task.n, task.d);
    write(task, points.as_points())?;
    for &partition in partitions {
        let cell = format!("{} d={} psi={}", name(partition), task.d, task.psi);
        let params = IsolationMapParams::default().partition(partition).psi(task.psi).t(task.t).check()?;
        // Radii take long and are not what is measured; so two threads. A clone has made no search yet, so that every
        // repeat makes its own on the clock.
        let map = params.fit(points.as_points(), Run::threads(2))?;
        let encode = |map: eyot::IsolationMap| {
            let codes = map.encode(points.as_points(), Run::single())?;
            Ok((codes, map.search()))
        };
        let timed = fastest(|| map.clone(), encode)?;
        let (codes, search) = timed.result;
        if partition == Partition::Voronoi {
            write_codes(&task.folder, &codes)?;
        }
        // What brute force would compute: a multiplication and an addition per column and centre.
        let flops = 2.0 * (task.n * task.t * task.psi * task.d) as f64 / timed.seconds;
        let bytes = (4 * task.n * task.d + task.n * task.t * if task.psi > 256 { 2 } else { 1 }) as f64 / timed.seconds;
        let more = json!({ "search": search, "flops": flops, "bytes": bytes });
        result(&cell, timed.seconds, timed.repeats, more)?;
    }
    Ok(())
}

/// Rows, samples and shape, for the other programs.
pub(crate) fn write(task: &Task, points: Points<'_>) -> Outcome<()> {
    write_points(&task.folder, points)?;
    write_samples(task, points.n_rows())?;
    write_task(task, points.n_rows(), points.n_columns(), json!({}))
}

/// The word for it in tables.
pub(crate) const fn name(partition: Partition) -> &'static str {
    match partition {
        Partition::Voronoi => "voronoi",
        Partition::Sphere => "sphere",
        Partition::Tree => "tree",
    }
}
