//! One row at a time: the mean over many different rows, each asked for in a call of its own.

use eyot::{Detector, Idk, IsolationForest, IsolationMapParams, Partition, Run};
use serde_json::json;

use crate::data::{noise, write_points, write_task};
use crate::timing::{fastest, result};
use crate::{Outcome, Task};

/// Rows asked for between two looks at the clock.
const ROWS: usize = 2000;

pub(crate) fn run(task: &Task) -> Outcome<()> {
    let buffer = noise(task.n, task.d);
    let points = buffer.as_points();
    write_points(&task.folder, points)?;
    write_task(task, task.n, task.d, json!({}))?;
    let params = IsolationMapParams::default().partition(Partition::Sphere).psi(task.psi).t(task.t).check()?;
    one("idk", &Idk::fit(&params, points, Run::single())?, task)?;
    one("isolation forest", &IsolationForest::fit(task.psi, task.t, 0, points, Run::single())?, task)
}

fn one(name: &str, detector: &impl Detector, task: &Task) -> Outcome<()> {
    let buffer = noise(task.n, task.d);
    let rows = buffer.as_points();
    let work = |()| {
        let mut sum = 0.0;
        for row in 0..ROWS {
            let row = row % rows.n_rows();
            sum += detector.score(rows.slice(row..row + 1), Run::single())?[0];
        }
        Ok(sum)
    };
    let timed = fastest(|| (), work)?;
    result(name, timed.seconds / ROWS as f64, timed.repeats, json!({}))
}
