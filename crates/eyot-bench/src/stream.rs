//! IK-OGD on trees over a stream in memory: every point is predicted, then learned.

use eyot::{EncoderParams, IkOgdParams, IsolationMapParams, Partition, PointsBuf, Roles, Run, Targets, prequential};
use eyot_io::{ReadOptions, Source, read_table};
use serde_json::json;

use crate::data::{clumps, write_labels, write_points, write_task};
use crate::timing::{fastest, result};
use crate::{Outcome, Task};

/// Rows whose values (not labels) the partitionings are made of. The other programs learn from them too, but nobody's
/// mistakes on them count.
const INITIAL: usize = 1000;

/// The set is `clumps`, generated, or `ijcnn1` of the data folder.
pub(crate) fn run(task: &Task) -> Outcome<()> {
    let (buffer, labels) = if task.set == "clumps" { clumps(task.n, task.d) } else { ijcnn1(task)? };
    let points = buffer.as_points();
    write_points(&task.folder, points)?;
    write_labels(&task.folder, &labels)?;
    let more = json!({ "initial": INITIAL, "set": task.set });
    write_task(task, points.n_rows(), points.n_columns(), more)?;
    let params = IsolationMapParams::default().partition(Partition::Tree).psi(task.psi).t(task.t).check()?;
    let tested = points.slice(INITIAL..points.n_rows());
    let targets = Targets::Classes(labels[INITIAL..].to_vec());
    let work = |()| {
        let start = IkOgdParams::default().check()?;
        let mut learner = start.start(&params, points.slice(0..INITIAL), Run::single())?;
        Ok(prequential(&mut learner, tested, &targets, Run::single(), |_, _, _| ())?)
    };
    let timed = fastest(|| (), work)?;
    let accuracy = 1.0 - timed.result.mistake_rate();
    let rate = tested.n_rows() as f64 / timed.seconds;
    result(&task.set, timed.seconds, timed.repeats, json!({ "points_per_second": rate, "accuracy": accuracy }))
}

/// Training rows, then test rows, scaled to the unit cube.
fn ijcnn1(task: &Task) -> Outcome<(PointsBuf, Vec<u32>)> {
    let roles = Roles { target: Some("label".into()), ..Roles::default() };
    let read = |part: &str| {
        let path = task.data.join(format!("online/ijcnn1.{part}.parquet"));
        read_table(&mut Source::new(path), &ReadOptions::default())
    };
    let (train, test) = (read("train")?, read("test")?);
    let encoder = EncoderParams::default().roles(roles).check()?.fit(&train)?;
    let (mut points, mut labels) = (encoder.encode(&train)?, Vec::new());
    for row in encoder.encode(&test)?.as_points().rows() {
        points.push(row);
    }
    for table in [&train, &test] {
        let label = table.columns.iter().find(|column| column.name == "label").ok_or("ijcnn1 has no label")?;
        let values = eyot::regression_targets(label, 0)?;
        labels.extend(values.iter().map(|&value| u32::from(value > 0.0)));
    }
    let rows = task.n.min(points.n_rows());
    labels.truncate(rows);
    Ok((points.select(&(0..rows).collect::<Vec<_>>()), labels))
}
