//! Generated data, and the files through which the other programs get the same.

use std::fs;
use std::path::Path;

use eyot::{CodeStore, Codes, Component, Points, PointsBuf, Run, Sampler, Values, rng_of};
use serde_json::Value;

use crate::{Outcome, Task};

/// Normal noise without any structure, in single precision: the hardest case for a search that hopes to skip work.
pub(crate) fn noise(n: usize, d: usize) -> PointsBuf {
    let mut rng = rng_of(0, Component::Synthetic, d as u64);
    PointsBuf::from_dense_f32((0..n * d).map(|_| rng.normal() as f32).collect(), d).expect("finite numbers")
}

/// Rows in the unit cube; the class follows a wave over several columns, and one label in twenty is wrong.
pub(crate) fn waves(n: usize, d: usize) -> (PointsBuf, Vec<u32>) {
    let mut rng = rng_of(0, Component::Synthetic, 0);
    let values: Vec<f64> = (0..n * d).map(|_| rng.open01()).collect();
    let label = |x: &[f64]| (6.0 * x[0]).sin() + (5.0 * x[1] * x[2]).cos() + x[3] * x[4] > 1.0;
    let labels = values.chunks(d).map(|x| u32::from(label(x) != (rng.below(20) == 0))).collect();
    (PointsBuf::from_dense(values, d).expect("finite numbers"), labels)
}

/// Rows round 64 centres in the unit cube, each centre of one of two classes; one label in twenty is wrong. No plane
/// parts the classes.
pub(crate) fn clumps(n: usize, d: usize) -> (PointsBuf, Vec<u32>) {
    const CENTRES: usize = 64;
    let mut rng = rng_of(1, Component::Synthetic, d as u64);
    let centres: Vec<f64> = (0..CENTRES * d).map(|_| rng.open01()).collect();
    let (mut values, mut labels) = (Vec::with_capacity(n * d), Vec::with_capacity(n));
    for _ in 0..n {
        let centre = rng.below(CENTRES);
        labels.push(u32::from(centre.is_multiple_of(2) != (rng.below(20) == 0)));
        values.extend(centres[centre * d..][..d].iter().map(|value| value + 0.2 * rng.normal()));
    }
    (PointsBuf::from_dense(values, d).expect("finite numbers"), labels)
}

/// `task.json`: the shape of what lies beside it.
pub(crate) fn write_task(task: &Task, rows: usize, columns: usize, more: Value) -> Outcome<()> {
    let mut all = serde_json::json!({ "n": rows, "d": columns, "psi": task.psi, "t": task.t });
    if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
        all.extend(more);
    }
    Ok(fs::write(task.folder.join("task.json"), all.to_string())?)
}

/// `x.f32`, row by row.
pub(crate) fn write_points(folder: &Path, points: Points<'_>) -> Outcome<()> {
    let mut bytes = Vec::with_capacity(4 * points.n_rows() * points.n_columns());
    if let Values::F32(values) = points.values() {
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    } else {
        for row in points.rows() {
            bytes.extend((0..points.n_columns()).flat_map(|column| (row.get(column) as f32).to_le_bytes()));
        }
    }
    Ok(fs::write(folder.join("x.f32"), bytes)?)
}

/// `samples.u32`: the rows that partitioning i is made of, in the order of its cells.
pub(crate) fn write_samples(task: &Task, rows: usize) -> Outcome<()> {
    let mut sampler = Sampler::new(0, task.t, task.psi);
    sampler.offer(0, rows as u64, Run::single())?;
    let rows = sampler.finish().concat();
    Ok(fs::write(
        task.folder.join("samples.u32"),
        rows.iter().flat_map(|&row| (row as u32).to_le_bytes()).collect::<Vec<_>>(),
    )?)
}

/// `codes.u8` or `codes.u16`, row by row.
pub(crate) fn write_codes(folder: &Path, codes: &Codes) -> Outcome<()> {
    match codes.store() {
        CodeStore::U8(cells) => fs::write(folder.join("codes.u8"), cells)?,
        CodeStore::U16(cells) => {
            fs::write(folder.join("codes.u16"), cells.iter().flat_map(|cell| cell.to_le_bytes()).collect::<Vec<_>>())?;
        }
        CodeStore::U32(_) => return Err("no benchmark has so many cells".into()),
    }
    Ok(())
}

/// `labels.u8`.
pub(crate) fn write_labels(folder: &Path, labels: &[u32]) -> Outcome<()> {
    Ok(fs::write(folder.join("labels.u8"), labels.iter().map(|&label| label as u8).collect::<Vec<_>>())?)
}
