//! Bags of raw rows: which rows belong together, and the one label they have.

use anyhow::Context;
use eyot::{BagClassifierModel, Bags, Classes, Encoder, PointsBuf, Sets, Table, TableColumn};

use crate::args::DataArgs;
use crate::fit::{encode, fit_encoder};
use crate::input::Input;
use crate::job::Job;
use crate::messages::Usage;

/// Bags with their classes.
pub(crate) struct LabelledBags {
    pub(crate) bags: Bags,
    pub(crate) sets: Sets,
    pub(crate) labels: Vec<u32>,
    pub(crate) classes: Classes,
}

impl LabelledBags {
    /// How many bags each class has.
    pub(crate) fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        self.labels.iter().for_each(|&label| counts[label as usize] += 1);
        counts
    }
}

/// The bag of every row, read batch by batch.
#[derive(Default)]
pub(crate) struct BagIds(Vec<String>);

impl BagIds {
    /// Takes the bags of the next rows.
    pub(crate) fn observe(&mut self, column: &TableColumn, first_row: usize) -> eyot::Result<()> {
        let bags = Bags::from_column(column, first_row)?;
        let start = self.0.len();
        self.0.resize(start + bags.n_rows(), String::new());
        for bag in 0..bags.len() {
            for &row in bags.rows(bag) {
                bags.name(bag).clone_into(&mut self.0[start + row]);
            }
        }
        Ok(())
    }

    /// All bags.
    pub(crate) fn finish(&self) -> eyot::Result<Bags> {
        Bags::from_ids(&self.0)
    }
}

/// A column of a table that an option names.
fn column<'a>(table: &'a Table, name: Option<&str>, option: &str, file: &str) -> anyhow::Result<&'a TableColumn> {
    let known = || table.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    let Some(name) = name else {
        let message = format!("which column is the {option} is not said");
        return Err(Usage::new(message).hint(format!("name it with --{option}; the columns are {}", known().join(", "))).into());
    };
    let found = table.columns.iter().find(|column| column.name == name);
    found.ok_or_else(|| eyot_io::Error::NoColumn { file: file.to_owned(), column: name.to_owned(), known: known() }.into())
}

/// The target: the column named, or the label of svmlight.
fn target_name<'a>(data: &'a DataArgs, table: &Table) -> Option<&'a str> {
    data.target.as_deref().or_else(|| table.sparse.is_some().then_some("label"))
}

/// Reads bags to learn from.
pub(super) fn read_training(data: &DataArgs, job: &Job) -> anyhow::Result<(Encoder, LabelledBags)> {
    let mut input = Input::again(data);
    let name = input.name().to_owned();
    let (mut ids, mut classes, mut labels) = (BagIds::default(), Classes::default(), Vec::new());
    let encoder = fit_encoder(&mut input, data, job, |table| {
        let bag = column(table, data.bag.as_deref(), "bag", &name)?;
        ids.observe(bag, table.first_row).with_context(|| name.clone())?;
        let target = column(table, target_name(data, table), "target", &name)?;
        labels.extend(classes.numbers_or_insert(target, table.first_row).with_context(|| name.clone())?);
        Ok(())
    })?;
    let sorted = classes.sort();
    for label in &mut labels {
        *label = sorted[*label as usize];
    }
    let points = collect(&mut input, data, &encoder, job)?;
    let bags = labelled(&points, &ids, &labels, classes).with_context(|| name.clone())?;
    let column = data.bag.as_deref().unwrap_or_default();
    BagClassifierModel::check_bags(&bags.bags, &bags.classes, column).with_context(|| name)?;
    Ok((encoder, bags))
}

/// Reads bags to test on; classes that the model does not know get numbers beyond its own.
pub(super) fn read_test(data: &DataArgs, model: &BagClassifierModel, job: &Job) -> anyhow::Result<LabelledBags> {
    let mut input = Input::for_encoder(data, &model.encoder);
    let name = input.name().to_owned();
    let (mut ids, mut classes, mut labels) = (BagIds::default(), model.classes.clone(), Vec::new());
    let mut points: Option<PointsBuf> = None;
    encode(&mut input, data, &model.encoder, job, "score", |table, part| {
        ids.observe(column(table, data.bag.as_deref(), "bag", &name)?, table.first_row).with_context(|| name.clone())?;
        let target = column(table, target_name(data, table), "target", &name)?;
        labels.extend(classes.numbers_or_insert(target, table.first_row).with_context(|| name.clone())?);
        append(&mut points, part);
        Ok(())
    })?;
    let points = points.ok_or(eyot::Error::Empty).with_context(|| name.clone())?;
    labelled(&points, &ids, &labels, classes).with_context(|| name)
}

/// Bags whose classes are to be predicted.
pub(crate) struct Unlabelled {
    pub(crate) bags: Bags,
    pub(crate) sets: Sets,
    /// The names of their true classes, if the data has them.
    pub(crate) truth: Option<Vec<String>>,
}

/// Reads bags for a model, and their labels if they are there.
pub(crate) fn read_unlabelled(data: &DataArgs, model: &BagClassifierModel, job: &Job) -> anyhow::Result<Unlabelled> {
    let mut input = Input::for_encoder(data, &model.encoder);
    let name = input.name().to_owned();
    let target = data.label.as_deref().or(data.target.as_deref()).or(model.encoder.params().target());
    let (mut ids, mut classes, mut labels) = (BagIds::default(), Classes::default(), Some(Vec::new()));
    let mut points: Option<PointsBuf> = None;
    encode(&mut input, data, &model.encoder, job, "score", |table, part| {
        ids.observe(column(table, data.bag.as_deref(), "bag", &name)?, table.first_row).with_context(|| name.clone())?;
        let column = target.and_then(|target| table.columns.iter().find(|column| column.name == target));
        // Without the column, or with holes in it, there is no truth to compare with.
        labels = match (labels.take(), column.map(|column| classes.numbers_or_insert(column, table.first_row))) {
            (Some(mut labels), Some(Ok(more))) => {
                labels.extend(more);
                Some(labels)
            }
            _ => None,
        };
        append(&mut points, part);
        Ok(())
    })?;
    let points = points.ok_or(eyot::Error::Empty).with_context(|| name.clone())?;
    let bags = ids.finish().with_context(|| name.clone())?;
    let labels = labels.and_then(|labels| bags.labels(&labels, |label| classes.name(label).to_owned()).ok());
    let truth = labels.map(|labels| labels.into_iter().map(|label| classes.name(label).to_owned()).collect());
    let sets = Sets::new(points.as_points(), &bags).with_context(|| name)?;
    Ok(Unlabelled { bags, sets, truth })
}

fn labelled(points: &PointsBuf, ids: &BagIds, labels: &[u32], classes: Classes) -> eyot::Result<LabelledBags> {
    let bags = ids.finish()?;
    let labels = bags.labels(labels, |label| classes.name(label).to_owned())?;
    let sets = Sets::new(points.as_points(), &bags)?;
    Ok(LabelledBags { bags, sets, labels, classes })
}

fn collect(input: &mut Input, data: &DataArgs, encoder: &Encoder, job: &Job) -> anyhow::Result<PointsBuf> {
    let mut all = None;
    encode(input, data, encoder, job, "encode", |_, points| {
        append(&mut all, points);
        Ok(())
    })?;
    Ok(all.ok_or(eyot::Error::Empty)?)
}

/// Appends a batch of points.
pub(crate) fn append(all: &mut Option<PointsBuf>, points: PointsBuf) {
    match all {
        Some(all) => points.as_points().rows().for_each(|row| all.push(row)),
        None => *all = Some(points),
    }
}
