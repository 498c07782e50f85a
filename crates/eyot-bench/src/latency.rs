//! One row at a time: the mean over many different rows, each asked for in a call of its own.

use eyot::{Detector, Idk, IsolationForest, IsolationMapParams, Partition, Points, PointsBuf, Run};
use serde_json::{Value, json};

use crate::data::{noise, write_points, write_task};
use crate::timing::{fastest, result};
use crate::{Outcome, Task};

/// Rows asked for between two looks at the clock.
const ROWS: usize = 2000;

pub(crate) fn run(task: &Task) -> Outcome<()> {
    let single = noise(task.n, task.d);
    write_points(&task.folder, single.as_points())?;
    write_task(task, task.n, task.d, json!({}))?;
    // Double precision, as a caller has it who has one row.
    let mut buffer = PointsBuf::dense(task.d);
    for row in single.as_points().rows() {
        buffer.push(row);
    }
    let points = buffer.as_points();
    let params = IsolationMapParams::default().partition(Partition::Sphere).psi(task.psi).t(task.t).check()?;
    // A row is compared with all centres, of two bytes a column and four for their squares.
    let bytes = task.psi * task.t * (4 * task.d.div_ceil(2) + 4);
    one("idk", &Idk::fit(&params, points, Run::single())?, points, json!({ "bytes": bytes }))?;
    let forest = IsolationForest::fit(task.psi, task.t, 0, points, Run::single())?;
    one("isolation forest", &forest, points, json!({}))
}

fn one(name: &str, detector: &impl Detector, points: Points<'_>, more: Value) -> Outcome<()> {
    let work = |()| {
        let (mut score, mut sum) = ([0.0], 0.0);
        for call in 0..ROWS {
            let row = call % points.n_rows();
            detector.score_chunk(points.slice(row..row + 1), &mut score)?;
            sum += score[0];
        }
        Ok(sum)
    };
    let timed = fastest(|| (), work)?;
    result(name, timed.seconds / ROWS as f64, timed.repeats, more)
}
