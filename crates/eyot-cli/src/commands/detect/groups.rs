//! `eyot detect --bag COL`: which groups of rows are odd? And `eyot predict` with such a model.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Context;
use eyot::{
    Checked, ColumnRef, DetectorParams, Error, GroupModel, ModelReader, Table, TextColumn, average_precision, roc_auc,
};
use eyot_io::{Cells, Format, TableWriter, output_format, save_model, write_file};
use serde::Serialize;

use super::labels::{Labels, cell};
use super::report::{self, Ranked};
use super::table::{align, check_name, psi_words, short, write_table};
use super::{Args, Quality, collect, order, refuse};
use crate::args::{DataArgs, OutputArgs, RunArgs};
use crate::fit::{encode, fit_encoder};
use crate::input::Input;
use crate::job::{Job, Phase, Shared};
use crate::messages;

/// The groups of rows, numbered in order of first appearance.
#[derive(Default)]
struct Groups {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    sizes: Vec<usize>,
    of_row: Vec<u32>,
}

#[derive(Serialize)]
struct Own {
    psi: usize,
    t: usize,
    threshold: f64,
    flagged: usize,
    groups: usize,
    top: Vec<TopGroup>,
    #[serde(flatten)]
    quality: Option<Quality>,
}

#[derive(Serialize)]
struct TopGroup {
    group: String,
    rows: usize,
    score: f64,
    probability: f64,
    flagged: bool,
}

pub(super) fn run(args: &Args, level2: &Checked<DetectorParams>, job: Job) -> anyhow::Result<()> {
    let bag = args.data.bag.clone().unwrap_or_default();
    if args.explain {
        return Err(refuse("--explain works on rows, not on groups", "leave out --explain or --bag"));
    }
    let format = check_name(args.output.output.as_deref())?;
    let mut input = Input::again(&args.data);
    let name = input.name().to_owned();
    let (mut groups, mut labels) = (Groups::default(), Labels::new(args.data.label.as_deref()));
    let encoder = fit_encoder(&mut input, &args.data, &job, |table| {
        groups.observe(table, &bag).with_context(|| name.clone())?;
        if let Some(labels) = &mut labels {
            labels.observe(table).with_context(|| name.clone())?;
        }
        Ok(())
    })?;
    let points = collect(&mut input, &args.data, &encoder, &job)?;
    let n = groups.names.len();
    let fit = || {
        let groups = (&groups.of_row[..], n);
        GroupModel::fit(level2, args.contamination, bag.clone(), encoder, points.as_points(), groups, job.run())
    };
    let (model, scores) = job.timed(Phase::Fit, fit).with_context(|| name.clone())?;
    let GroupModel { encoder, detector, threshold, .. } = &model;
    let threshold = *threshold;
    let labels = labels.map(Labels::finish).transpose().with_context(|| name.clone())?;
    let truth = labels.as_ref().map(|labels| groups.any(labels.anomalous()));
    let quality = truth.as_ref().map(|truth| quality(&scores, truth, &job)).transpose().with_context(|| name.clone())?;
    let flagged = scores.iter().filter(|&&score| threshold.flags(score)).count();
    let (n_columns, level1_psi) = (encoder.n_columns(), detector.map().psi());
    let psi = format!("{level1_psi} for rows, {} for groups", psi_words(detector.detector()));
    if let Some(path) = &args.output.output {
        let sizes: Vec<u64> = groups.sizes.iter().map(|&rows| rows as u64).collect();
        let names = groups.column();
        let first = [(bag.as_str(), Cells::Text(&names)), ("rows", Cells::Integers(&sizes))];
        write_table(path, format, &first, &scores, threshold, &[])?;
    }
    if let Some(path) = &args.save.save {
        save_model(path, &model.to_bytes()?)?;
    }
    let top: Vec<TopGroup> = order(&scores, args.top)
        .into_iter()
        .map(|group| TopGroup {
            group: groups.names[group].clone(),
            rows: groups.sizes[group],
            score: scores[group],
            probability: threshold.probability(scores[group]),
            flagged: threshold.flags(scores[group]),
        })
        .collect();
    let mut lines = vec![["rank", &bag, "rows", "score", "p"].map(str::to_owned).to_vec()];
    for (at, group) in top.iter().enumerate() {
        let rank = format!("{}{}", at + 1, if group.flagged { "*" } else { "" });
        let (score, probability) = (short(group.score), format!("{:.2}", group.probability));
        lines.push(vec![rank, group.group.clone(), group.rows.to_string(), score, probability]);
    }
    if let Some(path) = &args.report {
        let ranked = Ranked { name: &name, what: "groups", scores: &scores, threshold, truth: truth.as_deref() };
        let html = report::groups(&ranked, args, &lines, quality, &psi);
        write_file(path, html.as_bytes())?;
    }
    if !args.run.messages.json {
        messages::print((align(&lines) + "\n").as_bytes())?;
    }
    let mut facts = vec![
        ("groups", messages::count(n)),
        ("rows", messages::count(points.n_rows())),
        ("flagged (*)", format!("{flagged}, score at least {}", short(threshold.value()))),
        ("psi", psi),
    ];
    if let Some(quality) = quality {
        facts.push(("AUC", format!("{:.4}", quality.auc)));
        facts.push(("average precision", format!("{:.4}", quality.average_precision)));
    }
    let own = Own { psi: level1_psi, t: args.t, threshold: threshold.value(), flagged, groups: n, top, quality };
    let shared = Shared {
        method: "idk-groups",
        rows: points.n_rows(),
        columns: n_columns,
        seed: args.run.seed,
        parameters: &**level2,
    };
    job.finish(&shared, &own, &facts)
}

/// How well the scores tell groups with an anomalous row from the others.
fn quality(scores: &[f64], truth: &[bool], job: &Job) -> eyot::Result<Quality> {
    let odd = truth.iter().filter(|&&is| is).count();
    job.note(format!("a group with an anomalous row counts as anomalous: {odd} of {}", messages::count(truth.len())));
    Ok(Quality { auc: roc_auc(scores, truth)?, average_precision: average_precision(scores, truth)? })
}

#[derive(Serialize)]
struct Predictions {
    predictions: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    group: String,
    rows: usize,
    score: f64,
    label: &'static str,
}

/// `eyot predict` with a detector of groups: one line per group of the data.
pub(crate) fn predict(
    model: (&Path, &ModelReader<'_>),
    data: &DataArgs,
    output: &OutputArgs,
    run: &RunArgs,
    job: Job,
) -> anyhow::Result<()> {
    let (path, from) = model;
    let model = GroupModel::load(from).with_context(|| path.display().to_string())?;
    let mut data = data.clone();
    let bag = data.bag.get_or_insert_with(|| model.bag.clone()).clone();
    let mut input = Input::for_encoder(&data, &model.encoder);
    let name = input.name().to_owned();
    let (mut groups, mut points) = (Groups::default(), None);
    encode(&mut input, &data, &model.encoder, &job, "read", |table, part| {
        groups.observe(table, &bag).with_context(|| name.clone())?;
        super::append(&mut points, part);
        Ok(())
    })?;
    let points = points.ok_or(Error::Empty).with_context(|| name.clone())?;
    let scores = job.timed(Phase::Score, || {
        model.detector.score(points.as_points(), &groups.of_row, groups.names.len(), job.run())
    })?;
    let labels: Vec<&'static str> =
        scores.iter().map(|&score| if model.threshold.flags(score) { "anomaly" } else { "normal" }).collect();
    let mut lines = Vec::new();
    if run.messages.json {
        let line = |group: usize| Line {
            group: groups.names[group].clone(),
            rows: groups.sizes[group],
            score: scores[group],
            label: labels[group],
        };
        lines = (0..scores.len()).map(line).collect();
    } else {
        let path = output.output.clone().unwrap_or_else(|| "-".into());
        let mut out = TableWriter::create(&path, output_format(&path).unwrap_or(Format::Csv))?;
        let (names, labels): (_, TextColumn) = (groups.column(), labels.iter().copied().map(Some).collect());
        let cells = [(bag.as_str(), Cells::Text(&names)), ("score", Cells::Numbers(&scores)), ("label", Cells::Text(&labels))];
        out.write(&cells)?;
        out.finish()?;
    }
    let shared = Shared {
        method: "idk-groups",
        rows: points.n_rows(),
        columns: model.encoder.n_columns(),
        seed: run.seed,
        parameters: &model.params,
    };
    let facts: [(&str, String); 0] = [];
    job.finish(&shared, &Predictions { predictions: lines }, &facts)
}

impl Groups {
    /// Takes in the groups of more rows, named by the column `bag`.
    fn observe(&mut self, table: &Table, bag: &str) -> eyot::Result<()> {
        let values = table.column(bag).expect("data without this column have been refused");
        for row in 0..table.n_rows {
            let missing = || Error::MissingRole { row: table.first_row + row, column: ColumnRef::Name(bag.to_owned()) };
            self.add(cell(values, row).ok_or_else(missing)?);
        }
        Ok(())
    }

    fn add(&mut self, name: String) {
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.names.push(name);
            self.sizes.push(0);
        }
        self.sizes[number as usize] += 1;
        self.of_row.push(number);
    }

    /// For every group whether that is true of any of its rows.
    fn any(&self, of_row: &[bool]) -> Vec<bool> {
        let mut any = vec![false; self.names.len()];
        self.of_row.iter().zip(of_row).for_each(|(&group, &is)| any[group as usize] |= is);
        any
    }

    fn column(&self) -> TextColumn {
        self.names.iter().map(|name| Some(name.as_str())).collect()
    }
}
