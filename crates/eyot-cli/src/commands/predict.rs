//! `eyot predict`: any saved model on new rows.

use std::path::PathBuf;

use anyhow::Context;
use eyot::{
    BagClassifierModel, Classes, ClassifierModel, Column, Detector as _, DetectorModel, Encoder, GroupModel, ModelReader,
    OnlineLearner as _, OnlineModel, Points, Run, Table, Target, TextColumn, regression_targets,
};
use eyot_io::{Cells, Format, TableWriter, load_model, output_format};
use serde::Serialize;

use super::mil::bags::{Unlabelled, read_unlabelled};
use crate::args::{DataArgs, OutputArgs, RunArgs};
use crate::fit::encode;
use crate::input::Input;
use crate::job::{Job, Phase, Shared};

const EXAMPLES: &str = "\
EXAMPLES
  Classes of new rows, as CSV:
    eyot predict iris.eyot new.csv

  With the names of the rows, to a file:
    eyot predict model.eyot new.parquet --id customer -o predictions.csv

  From a pipe, as one JSON object:
    zcat new.csv.gz | eyot predict model.eyot - --format csv --json";

/// Apply a saved model to new rows
///
/// Takes rows in the columns of the training data and writes, for each, its score and what that means: the class of a
/// classifier, or whether a detector finds it anomalous. A model that learned numbers writes its value instead.
/// Scaling and category tables are part of the model. If the
/// truth is there too, in --label or the column that was the target, a note says how many rows were right. A
/// classifier trained with --probability also gives the probability of every class. A model of `eyot mil` predicts
/// bags, one line each.
///
/// Files larger than memory stream through.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The saved model
    model: PathBuf,

    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    run: RunArgs,
}

/// What a model says of one row.
pub(crate) struct Prediction {
    pub(crate) score: f64,
    /// Empty where numbers were learned: the score is then the value.
    pub(crate) label: String,
    /// One per class, if the model has learned them.
    pub(crate) probabilities: Vec<f64>,
}

/// A model that scores rows one by one. A new kind of model implements this and gets an arm in [`load`].
trait RowModel {
    /// The method's name.
    fn method(&self) -> &str;
    /// Raw rows to points.
    fn encoder(&self) -> &Encoder;
    /// What it was fitted with.
    fn parameters(&self) -> serde_json::Value;
    /// One prediction per row.
    fn predict(&self, points: Points<'_>, run: Run<'_>) -> eyot::Result<Vec<Prediction>>;
    /// The classes that probabilities are for, if the model has learned any.
    fn probable(&self) -> &[String] {
        &[]
    }
    /// Whether it predicts numbers, which can be compared with the target column.
    fn is_regression(&self) -> bool {
        false
    }
    /// Whether labels are classes that can be compared with the target column.
    fn is_classifier(&self) -> bool {
        false
    }
}

/// The model of a file, by its kind.
fn load(from: &ModelReader<'_>) -> eyot::Result<Box<dyn RowModel>> {
    match from.kind() {
        ClassifierModel::KIND => Ok(Box::new(ClassifierModel::load(from)?)),
        DetectorModel::KIND => Ok(Box::new(DetectorModel::load(from)?)),
        OnlineModel::KIND => Ok(Box::new(Online::load(from)?)),
        _ => Err(from.unknown_kind()),
    }
}

impl RowModel for ClassifierModel {
    fn method(&self) -> &str {
        self.params.name()
    }

    fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(&self.params).unwrap_or_default()
    }

    fn predict(&self, points: Points<'_>, run: Run<'_>) -> eyot::Result<Vec<Prediction>> {
        let scores = self.classifier.scores(points, run)?;
        let classes = self.classifier.head().classes_of(&scores, points.n_rows());
        let (width, n_classes) = (self.classifier.n_scores(), self.classes.len());
        let probabilities = self.classifier.probabilities_of(&scores, points.n_rows());
        let prediction = |(row, class): (usize, u32)| {
            let score = score_of(&scores, width, row, class);
            let of_row = |all: &Vec<f64>| all[row * n_classes..(row + 1) * n_classes].to_vec();
            let probabilities = probabilities.as_ref().map(of_row).unwrap_or_default();
            Prediction { score, label: self.classes.name(class).to_owned(), probabilities }
        };
        Ok(classes.into_iter().enumerate().map(prediction).collect())
    }

    fn probable(&self) -> &[String] {
        if self.classifier.calibration().is_some() { self.classes.names() } else { &[] }
    }

    fn is_classifier(&self) -> bool {
        true
    }
}

/// With two classes the one score, else that of the class chosen.
fn score_of(scores: &[f64], width: usize, row: usize, class: u32) -> f64 {
    match width {
        0 => 0.0,
        1 => scores[row],
        _ => scores[row * width + class as usize],
    }
}

impl RowModel for DetectorModel {
    fn method(&self) -> &str {
        self.params.name()
    }

    fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(&self.params).unwrap_or_default()
    }

    fn predict(&self, points: Points<'_>, run: Run<'_>) -> eyot::Result<Vec<Prediction>> {
        let label = |score| if self.threshold.flags(score) { "anomaly" } else { "normal" };
        let scores = self.detector.score(points, run)?;
        Ok(scores.into_iter().map(|score| Prediction { score, label: label(score).into(), probabilities: vec![] }).collect())
    }
}

/// What a stream has taught, and with which parameters.
struct Online {
    model: OnlineModel,
    method: String,
    parameters: serde_json::Value,
}

impl Online {
    fn load(from: &ModelReader<'_>) -> eyot::Result<Self> {
        let parameters: serde_json::Value = from.json("parameters")?;
        let method = parameters["method"].as_str().unwrap_or_default().to_owned();
        Ok(Self { model: OnlineModel::read(from)?, method, parameters })
    }
}

impl RowModel for Online {
    fn method(&self) -> &str {
        &self.method
    }

    fn encoder(&self) -> &Encoder {
        &self.model.encoder
    }

    fn parameters(&self) -> serde_json::Value {
        self.parameters.clone()
    }

    fn predict(&self, points: Points<'_>, run: Run<'_>) -> eyot::Result<Vec<Prediction>> {
        let prediction = |(predicted, score): (Target, f64)| {
            let label = match predicted {
                Target::Class(class) => self.model.classes.name(class).to_owned(),
                Target::Value(_) => String::new(),
            };
            Prediction { score, label, probabilities: vec![] }
        };
        Ok(eyot::predict(&self.model.learner, points, run)?.into_iter().map(prediction).collect())
    }

    fn is_classifier(&self) -> bool {
        !self.is_regression()
    }

    fn is_regression(&self) -> bool {
        self.model.learner.head().loss.is_regression()
    }
}

#[derive(Serialize)]
struct Own {
    predictions: Vec<Line>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rmse: Option<f64>,
}

#[derive(Serialize)]
struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bag: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    probabilities: serde_json::Map<String, serde_json::Value>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let job = Job::start("predict", &args.run);
    let bytes = load_model(&args.model)?;
    let from = ModelReader::parse(&bytes).with_context(|| args.model.display().to_string())?;
    if from.kind() == GroupModel::KIND {
        return super::detect::groups::predict((&args.model, &from), &args.data, &args.output, &args.run, job);
    }
    if from.kind() == BagClassifierModel::KIND {
        return bags(args, &from, job);
    }
    let model = load(&from).with_context(|| args.model.display().to_string())?;
    let mut input = Input::for_encoder(&args.data, model.encoder());
    let json = args.run.messages.json;
    let mut out = if json { None } else { Some(table_writer(args)?) };
    let (mut rows, mut lines, mut truth) = (0, Vec::new(), Truth::default());
    let target = args.data.label.as_deref().or(model.encoder().params().target());
    encode(&mut input, &args.data, model.encoder(), &job, "score", |table, points| {
        let predictions = job.timed(Phase::Score, || model.predict(points.as_points(), job.step()))?;
        if let Some(target) = target.filter(|_| model.is_classifier()) {
            truth.compare(table, target, &predictions);
        } else if let Some(target) = target.filter(|_| model.is_regression()) {
            truth.compare_values(table, target, &predictions);
        }
        let ids = args.data.id.as_deref().map(|name| id_column(table, name, input_name(args))).transpose()?;
        match &mut out {
            Some(out) => job.timed(Phase::Score, || {
                write(out, table, args.data.id.as_deref().zip(ids), &predictions, &*model)
            })?,
            None => lines.extend(json_lines(table, ids, predictions, &*model)),
        }
        rows += table.n_rows;
        Ok(())
    })?;
    if let Some(out) = out {
        out.finish()?;
    }
    let accuracy = truth.accuracy();
    if let Some(accuracy) = accuracy {
        job.note(format!("the data has the truth too: {accuracy:.4} of the rows are predicted rightly"));
    }
    let rmse = truth.rmse();
    if let Some(rmse) = rmse {
        job.note(format!("the data has the truth too: values are off by {rmse:.6} (root of the mean square)"));
    }
    let facts: [(&str, String); 0] = [];
    let shared = Shared {
        method: model.method(),
        rows,
        columns: model.encoder().n_columns(),
        seed: args.run.seed,
        parameters: &model.parameters(),
    };
    job.finish(&shared, &Own { predictions: lines, accuracy, rmse }, &facts)
}

/// The bags of the data instead of its rows.
fn bags(args: &Args, from: &ModelReader<'_>, job: Job) -> anyhow::Result<()> {
    let model = BagClassifierModel::load(from).with_context(|| args.model.display().to_string())?;
    let mut data = args.data.clone();
    data.bag = data.bag.or_else(|| model.encoder.params().bag().map(str::to_owned));
    let Unlabelled { bags, sets, truth } = read_unlabelled(&data, &model, &job)?;
    let scores = job.timed(Phase::Score, || model.classifier.scores(&sets, job.run()))?;
    let classes = model.classifier.classes_of(&scores, sets.len());
    let width = model.classifier.n_scores();
    let predictions: Vec<Prediction> = classes
        .into_iter()
        .enumerate()
        .map(|(bag, class)| Prediction {
            score: score_of(&scores, width, bag, class),
            label: model.classes.name(class).to_owned(),
            probabilities: vec![],
        })
        .collect();
    let accuracy = truth.map(|truth| {
        let right = truth.iter().zip(&predictions).filter(|(truth, own)| **truth == own.label).count();
        right as f64 / predictions.len() as f64
    });
    if let Some(accuracy) = accuracy {
        job.note(format!("the data has the truth too: {accuracy:.4} of the bags are predicted rightly"));
    }
    let mut lines = Vec::new();
    if job.json() {
        let line = |(bag, Prediction { score, label, .. }): (usize, Prediction)| {
            Line {
                row: None,
                bag: Some(bags.name(bag).to_owned()),
                id: None,
                score: Some(score),
                value: None,
                label: Some(label),
                probabilities: serde_json::Map::new(),
            }
        };
        lines = predictions.into_iter().enumerate().map(line).collect();
    } else {
        let names: TextColumn = (0..bags.len()).map(|bag| Some(bags.name(bag))).collect();
        let scores: Vec<f64> = predictions.iter().map(|prediction| prediction.score).collect();
        let labels: TextColumn = predictions.iter().map(|prediction| Some(prediction.label.as_str())).collect();
        let first = data.bag.as_deref().unwrap_or("bag");
        let mut out = table_writer(args)?;
        out.write(&[(first, Cells::Text(&names)), ("score", Cells::Numbers(&scores)), ("label", Cells::Text(&labels))])?;
        out.finish()?;
    }
    let facts: [(&str, String); 0] = [];
    let shared = Shared {
        method: model.params.method.name(),
        rows: sets.n_instances(),
        columns: model.encoder.n_columns(),
        seed: args.run.seed,
        parameters: &model.params,
    };
    job.finish(&shared, &Own { predictions: lines, accuracy, rmse: None }, &facts)
}

fn input_name(args: &Args) -> String {
    args.data.data.display().to_string()
}

/// Where predictions go: a file by its extension, or CSV on stdout.
fn table_writer(args: &Args) -> anyhow::Result<TableWriter> {
    let path = args.output.output.clone().unwrap_or_else(|| "-".into());
    let format = output_format(&path).unwrap_or(Format::Csv);
    Ok(TableWriter::create(path, format)?)
}

/// The column that names the rows.
fn id_column<'a>(table: &'a Table, name: &str, file: String) -> anyhow::Result<&'a Column> {
    let known = || table.columns.iter().map(|column| column.name.clone()).collect();
    let column = table.column(name);
    column.ok_or_else(|| eyot_io::Error::NoColumn { file, column: name.to_owned(), known: known() }.into())
}

fn write(
    out: &mut TableWriter,
    table: &Table,
    ids: Option<(&str, &Column)>,
    predictions: &[Prediction],
    model: &dyn RowModel,
) -> anyhow::Result<()> {
    let numbers: Vec<u64> = (table.first_row..).take(table.n_rows).map(|row| row as u64 + 1).collect();
    let scores: Vec<f64> = predictions.iter().map(|prediction| prediction.score).collect();
    let labels: TextColumn = predictions.iter().map(|prediction| Some(prediction.label.as_str())).collect();
    let first = ids.map_or(("row", Cells::Integers(&numbers)), |(name, column)| (name, Cells::from(column)));
    if model.is_regression() {
        out.write(&[first, ("value", Cells::Numbers(&scores))])?;
        return Ok(());
    }
    let named: Vec<(String, Vec<f64>)> = model
        .probable()
        .iter()
        .enumerate()
        .map(|(class, name)| (format!("p_{name}"), predictions.iter().map(|row| row.probabilities[class]).collect()))
        .collect();
    let mut columns = vec![first, ("score", Cells::Numbers(&scores)), ("label", Cells::Text(&labels))];
    columns.extend(named.iter().map(|(name, values)| (name.as_str(), Cells::Numbers(values))));
    out.write(&columns)?;
    Ok(())
}

fn json_lines(
    table: &Table,
    ids: Option<&Column>,
    predictions: Vec<Prediction>,
    model: &dyn RowModel,
) -> Vec<Line> {
    let line = |(at, Prediction { score, label, probabilities }): (usize, Prediction)| {
        let id = ids.map(|ids| match ids {
            Column::Numbers(values) => serde_json::Value::from(values[at]),
            Column::Text(text) => text.get(at).into(),
        });
        let probabilities = model.probable().iter().cloned().zip(probabilities.into_iter().map(Into::into)).collect();
        let row = id.is_none().then_some(table.first_row + at + 1);
        let (score, value, label) =
            if model.is_regression() { (None, Some(score), None) } else { (Some(score), None, Some(label)) };
        Line { row, bag: None, id, score, value, label, probabilities }
    };
    predictions.into_iter().enumerate().map(line).collect()
}

/// Counts predictions that agree with the target column, where the data has one.
#[derive(Default)]
struct Truth {
    classes: Classes,
    rows: usize,
    right: usize,
    values: usize,
    squared: f64,
}

impl Truth {
    fn compare_values(&mut self, table: &Table, target: &str, predictions: &[Prediction]) {
        let Some(column) = table.columns.iter().find(|column| column.name == target) else { return };
        let Ok(truth) = regression_targets(column, table.first_row) else { return };
        self.values += truth.len();
        self.squared += truth.iter().zip(predictions).map(|(y, own)| (own.score - y).powi(2)).sum::<f64>();
    }

    fn rmse(&self) -> Option<f64> {
        (self.values > 0).then(|| (self.squared / self.values as f64).sqrt())
    }

    fn compare(&mut self, table: &Table, target: &str, predictions: &[Prediction]) {
        let Some(column) = table.columns.iter().find(|column| column.name == target) else { return };
        // A target with holes, or with too many values, is nothing to compare with.
        let Ok(truth) = self.classes.numbers_or_insert(column, table.first_row) else { return };
        self.rows += truth.len();
        self.right += truth.iter().zip(predictions).filter(|(truth, own)| self.classes.name(**truth) == own.label).count();
    }

    fn accuracy(&self) -> Option<f64> {
        (self.rows > 0).then(|| self.right as f64 / self.rows as f64)
    }
}
