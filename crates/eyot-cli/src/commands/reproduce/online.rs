//! What the experiments with streams share: data sets of paper 1 and 2, and passes over them.

use std::time::Instant;

use eyot::{LearnerParams, PointsBuf, Scale, Targets, permutation};

use super::lab::{Lab, Labelled, Targets as LabTargets};
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
    let published = Published { mean, std };
    lab.cell(dataset, &contestant.name, published, |lab| {
        let course = Course { points: &set.points, targets: &set.targets, init: 1000, block: 1 };
        let (params, tried) = course.tune(&contestant.params, course.len() / 10, false, 0, lab.run())?;
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
    })
}
