//! `eyot map --bag COL`: one sparse vector per bag instead of one line per row.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use anyhow::Context;
use eyot::{Bags, Classes, IsolationSetMap, MapModel, PointsBuf, Row, Sets, TextColumn};
use eyot_io::{AtomicFile, Cells, Format, TableWriter, output_format};
use serde::Serialize;

use super::super::mil::bags::{BagIds, append};
use super::Args;
use crate::fit::encode;
use crate::input::Input;
use crate::job::{Job, Phase, Shared};
use crate::messages::{Usage, count};

#[derive(Serialize)]
struct Own {
    t: usize,
    psi: usize,
    bags: usize,
    nonzeros: usize,
}

/// Where vectors go and how: svmlight, or a long table of bag, feature and value.
pub(super) fn format(args: &Args) -> anyhow::Result<Option<Format>> {
    let Some(path) = &args.output.output else { return Ok((!args.run.messages.json).then_some(Format::Csv)) };
    let written = [Format::Svmlight, Format::Csv, Format::Tsv, Format::Parquet];
    output_format(path).filter(|format| written.contains(format)).map(Some).ok_or_else(|| {
        let message = format!("{}: vectors of bags cannot be written in the format of this extension", path.display());
        Usage::new(message).hint("use .svm, .csv, .tsv or .parquet; .gz or .zst may follow").into()
    })
}

pub(super) fn run(args: &Args, bag: &str, mut input: Input, model: &MapModel, job: Job) -> anyhow::Result<()> {
    let format = format(args)?;
    let name = input.name().to_owned();
    let (mut ids, mut classes, mut labels) = (BagIds::default(), Classes::default(), Vec::new());
    let target = args.data.target.as_deref().or(args.data.label.as_deref());
    let mut points: Option<PointsBuf> = None;
    encode(&mut input, &args.data, &model.encoder, &job, "map", |table, part| {
        let column = |name: &str| table.columns.iter().find(|column| column.name == name);
        // Roles have been checked: the columns are there.
        if let Some(column) = column(bag) {
            ids.observe(column, table.first_row).with_context(|| name.clone())?;
        }
        if let Some(column) = target.and_then(column) {
            labels.extend(classes.numbers_or_insert(column, table.first_row).with_context(|| name.clone())?);
        }
        append(&mut points, part);
        Ok(())
    })?;
    let points = points.ok_or(eyot::Error::Empty).with_context(|| name.clone())?;
    let bags = ids.finish().with_context(|| name.clone())?;
    let labels = match target {
        Some(_) => Some(bags.labels(&labels, |label| classes.name(label).to_owned()).with_context(|| name.clone())?),
        None => None,
    };
    let sets = Sets::new(points.as_points(), &bags)?;
    let map = IsolationSetMap::new(model.map.clone(), 1.0, false)?;
    let vectors = job.timed(Phase::Map, || map.vectors(&sets, job.run()))?;
    let label = |bag: usize| labels.as_ref().map(|labels| classes.name(labels[bag]));
    let path = args.output.output.as_deref().unwrap_or_else(|| Path::new("-"));
    job.timed(Phase::Score, || match format {
        None => Ok(()),
        Some(Format::Svmlight) => write_svmlight(path, &bags, &vectors, label),
        Some(format) => write_table(path, format, &bags, &vectors),
    })?;
    let nonzeros = vectors.as_points().rows().map(|row| row.nonzeros().count()).sum();
    let own = Own { t: model.map.t(), psi: model.map.psi(), bags: bags.len(), nonzeros };
    let mut facts = Vec::new();
    if let Some(path) = &args.output.output {
        facts = vec![
            ("bags", format!("{}, of {} rows", count(bags.len()), count(sets.n_instances()))),
            ("vectors", format!("{} numbers each, {} not 0 on average", count(map.n_features()), count(nonzeros / bags.len()))),
            ("output", path.display().to_string()),
        ];
    }
    let (columns, seed) = (model.encoder.n_columns(), model.map.seed());
    let shared = Shared { method: "isolation", rows: sets.n_instances(), columns, seed, parameters: &model.parameters() };
    job.finish(&shared, &own, &facts)
}

/// One line per bag: its label (0 without one), the entries of its vector counted from 1, and its name as a comment.
fn write_svmlight<'a>(
    path: &Path,
    bags: &Bags,
    vectors: &PointsBuf,
    label: impl Fn(usize) -> Option<&'a str>,
) -> anyhow::Result<()> {
    let mut file = AtomicFile::create(path)?;
    for (bag, row) in vectors.as_points().rows().enumerate() {
        let label = label(bag).unwrap_or("0");
        if label.parse::<f64>().is_err() {
            let message = format!("svmlight has labels of numbers, but bag `{}` has `{label}`", bags.name(bag));
            return Err(Usage::new(message).hint("use .csv or .parquet, or leave out --target").into());
        }
        let mut line = label.to_owned();
        for (feature, value) in row.nonzeros() {
            let _ = write!(line, " {}:{value}", feature + 1);
        }
        let _ = writeln!(line, " # {}", bags.name(bag).replace(['\n', '\r'], " "));
        file.write_all(line.as_bytes()).map_err(|error| eyot_io::Error::io(file.name(), error))?;
    }
    Ok(file.commit()?)
}

/// A line per entry: bag, feature (from 0) and value.
fn write_table(path: &Path, format: Format, bags: &Bags, vectors: &PointsBuf) -> anyhow::Result<()> {
    let mut out = TableWriter::create(path, format)?;
    for (bag, row) in vectors.as_points().rows().enumerate() {
        let (features, values) = entries(row);
        let names: TextColumn = features.iter().map(|_| Some(bags.name(bag))).collect();
        let cells = [("bag", Cells::Text(&names)), ("feature", Cells::Integers(&features)), ("value", Cells::Numbers(&values))];
        out.write(&cells)?;
    }
    Ok(out.finish()?)
}

fn entries(row: Row<'_>) -> (Vec<u64>, Vec<f64>) {
    row.nonzeros().map(|(feature, value)| (feature as u64, value)).unzip()
}
