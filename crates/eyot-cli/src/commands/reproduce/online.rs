//! What the experiments with streams share: data sets of paper 1 and 2, and passes over them.

use std::time::Instant;

use anyhow::Context;
use eyot::{LearnerParams, PointsBuf, Scale, Scaler, Targets, permutation, regression_targets};

use super::lab::{Lab, Labelled, Targets as LabTargets, labelled};
use super::results::{Ours, Published};
use crate::contest::{Course, chosen};

/// A data set whose first rows are for training.
pub(super) struct Set {
    pub(super) points: PointsBuf,
    pub(super) targets: Targets,
    pub(super) n_train: usize,
}

impl Set {
    /// These rows only.
    pub(super) fn select(&self, rows: &[usize]) -> (PointsBuf, Targets) {
        (self.points.select(rows), self.targets.select(rows))
    }
}

/// `online/NAME.train` and `online/NAME.test`, one after the other, unscaled.
pub(super) fn train_and_test(lab: &mut Lab<'_>, name: &str) -> anyhow::Result<Option<Set>> {
    let Some(train) = lab.classes(&format!("online/{name}.train"), Scale::None)? else { return Ok(None) };
    let Some(test) = lab.classes(&format!("online/{name}.test"), Scale::None)? else { return Ok(None) };
    let n_train = train.points.n_rows();
    let columns = train.points.n_columns().max(test.points.n_columns());
    let sparse = train.points.as_points().is_sparse();
    let mut points = if sparse { PointsBuf::sparse(columns) } else { PointsBuf::dense(columns) };
    for part in [&train, &test] {
        part.points.as_points().rows().for_each(|row| points.push(row));
    }
    let mut classes = class_numbers(&train);
    classes.extend(class_numbers(&test));
    Ok(Some(Set { points, targets: Targets::Classes(classes), n_train }))
}

/// The class numbers of a set with classes.
pub(super) fn class_numbers(set: &Labelled) -> Vec<u32> {
    match &set.targets {
        LabTargets::Classes(numbers, _) => numbers.clone(),
        LabTargets::Numbers(_) => Vec::new(),
    }
}

/// Every value times a factor.
pub(super) fn times(points: &PointsBuf, factor: f64) -> eyot::Result<PointsBuf> {
    let points = points.as_points();
    let mut values = Vec::with_capacity(points.n_rows() * points.n_columns());
    for row in points.rows() {
        values.extend((0..points.n_columns()).map(|column| row.get(column) * factor));
    }
    PointsBuf::from_dense(values, points.n_columns())
}

/// A method of paper 2: its name there, what is published (mean, deviation), and how it is set.
pub(super) struct Contestant {
    pub(super) name: String,
    pub(super) published: (Option<f64>, Option<f64>),
    pub(super) params: LearnerParams,
}

/// Paper 2's protocol: tuned on a tenth of the points, then one pass over each of several random orders. `scale` is
/// applied to mistake rates or errors.
pub(super) fn prequential_cell(
    lab: &mut Lab<'_>,
    dataset: &str,
    contestant: &Contestant,
    set: &Set,
    (runs, scale): (u64, f64),
) -> anyhow::Result<Ours> {
    let (mean, std) = contestant.published;
    let published = Published { mean, std, other_data: false };
    lab.cell(dataset, &contestant.name, published, |lab| passes(lab, &contestant.params, set, 10, (runs, scale)))
}

/// Tunes on one in `part` of the points, then passes over random orders.
pub(super) fn passes(
    lab: &Lab<'_>,
    params: &LearnerParams,
    set: &Set,
    part: usize,
    (runs, scale): (u64, f64),
) -> anyhow::Result<Ours> {
    let course = Course { points: &set.points, targets: &set.targets, init: 1000, block: 1 };
    let (params, tried) = course.tune(params, course.len() / part, false, 0, lab.run())?;
    let seeds: Vec<u64> = lab.seeds(runs, 2).collect();
    let start = Instant::now();
    let run = lab.run();
    let errors = run.map("learn", seeds.len(), |i| {
        let order = permutation(course.len(), seeds[i], 0);
        let pass = course.pass(&params.clone().seed(seeds[i]), &order, run.inner())?;
        Ok(scale * pass.tally.error(params.regress))
    })?;
    let setting = format!("{}; best of {tried}", chosen(&params));
    Ok(Ours::of(errors).with(setting).took(start.elapsed().as_secs_f64()))
}

/// A random part of a set, for a short answer.
pub(super) fn random_part(set: Set, most: usize) -> Set {
    if set.points.n_rows() <= most {
        return set;
    }
    let order = permutation(set.points.n_rows(), 0, 0);
    let (points, targets) = set.select(&order[..most]);
    Set { n_train: points.n_rows(), points, targets }
}

/// Columns scaled to 0…1.
pub(super) fn min_max(set: Set) -> Set {
    let points = Scaler::fit(set.points.as_points(), Scale::MinMax).apply(set.points.as_points());
    Set { points, ..set }
}

/// The stand-in for the airlines of paper 2: flights from New York in 2013, with their delay in minutes.
pub(super) fn flights(lab: &mut Lab<'_>) -> anyhow::Result<Option<(PointsBuf, Vec<f64>)>> {
    let Some(mut table) = lab.table("online/airlines_nyc13")? else { return Ok(None) };
    let delay = table.columns.iter().find(|column| column.name == "arr_delay").context("there is no column `arr_delay`")?;
    let delay = regression_targets(delay, 0)?;
    table.columns.retain(|column| column.name != "arr_delay");
    Ok(Some((labelled(&table, Scale::MinMax)?.points, delay)))
}
