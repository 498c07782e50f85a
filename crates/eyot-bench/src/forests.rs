//! Trees as a map and as an isolation forest, and IDK beside them.

use eyot::{Detector as _, Idk, IsolationForest, IsolationMapParams, Partition, Run};
use serde_json::json;

use crate::data::{noise, write_points, write_task};
use crate::timing::{fastest, result};
use crate::{Outcome, Task};

/// Leaves of all trees for all rows; then growing trees and scoring all rows.
pub(crate) fn forest(task: &Task) -> Outcome<()> {
    let buffer = noise(task.n, task.d);
    let points = buffer.as_points();
    write_points(&task.folder, points)?;
    write_task(task, task.n, task.d, json!({}))?;
    let params = IsolationMapParams::default().partition(Partition::Tree).psi(task.psi).t(task.t).check()?;
    let map = params.fit(points, Run::single())?;
    let timed = fastest(|| (), |()| Ok(map.encode(points, Run::single())?))?;
    result("tree map", timed.seconds, timed.repeats, json!({}))?;
    let work = |()| {
        let forest = IsolationForest::fit(task.psi, task.t, 0, points, Run::single())?;
        Ok(forest.score(points, Run::single())?)
    };
    let timed = fastest(|| (), work)?;
    result("isolation forest", timed.seconds, timed.repeats, json!({}))
}

/// Fitting a detector and scoring the same rows.
pub(crate) fn idk(task: &Task) -> Outcome<()> {
    let buffer = noise(task.n, task.d);
    let points = buffer.as_points();
    write_points(&task.folder, points)?;
    write_task(task, task.n, task.d, json!({}))?;
    let params = IsolationMapParams::default().partition(Partition::Sphere).psi(task.psi).t(task.t).check()?;
    let timed = fastest(|| (), |()| Ok(Idk::fit_score(&params, points, Run::single())?))?;
    let search = timed.result.0.map().search();
    result("fit + score", timed.seconds, timed.repeats, json!({ "search": search }))
}
