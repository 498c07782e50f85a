//! `eyot train`: batch classification.

mod args;
mod outcome;
mod report;

use std::time::Instant;

use anyhow::Context;
use eyot::{
    Classes, Classifier, ClassifierModel, ClassifierTuning, Confusion, PointsBuf, Table,
    TableColumn, TunedClassifier, balanced_weights, check_not_negative, class_counts, rng_of, stratified_folds,
};

use crate::args::DataArgs;
use crate::fit::{encode, fit_encoder};
use crate::input::Input;
use crate::job::{Job, Phase, Shared};
use crate::messages::{Usage, count};

pub(crate) use args::Args;
use outcome::Outcome;

/// Rows with their classes.
struct Rows {
    points: PointsBuf,
    labels: Vec<u32>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let job = Job::start("train", &args.run);
    let mut data = args.data.clone();
    data.label_is_target = true;
    let mut input = Input::again(&data);
    let mut classes = Classes::default();
    let mut labels = Vec::new();
    let encoder = fit_encoder(&mut input, &data, &job, |table| {
        labels.extend(classes.numbers_or_insert(target_of(args, table)?, table.first_row)?);
        Ok(())
    })?;
    let sorted = classes.sort();
    for label in &mut labels {
        *label = sorted[*label as usize];
    }
    if classes.len() < 2 {
        let only = classes.names().first().map_or("", String::as_str);
        let message = format!("all rows are of class `{only}`, and one class cannot be told from others");
        return Err(eyot::Error::Data(message)).with_context(|| input.name().to_owned());
    }
    let points = collect(&mut input, &data, &encoder, &job)?;
    let rows = Rows { points, labels };
    let context = || input.name().to_owned();

    if args.needs_not_negative() {
        check_not_negative(rows.points.as_points()).map_err(|error| named(error, &encoder)).with_context(context)?;
    }
    let weights = args.balance.then(|| balanced_weights(&rows.labels, classes.len()));
    let start = Instant::now();
    let tuned = job.timed(Phase::Fit, || tune(args, &rows, &classes, weights.as_deref(), &job)).with_context(context)?;
    let tuning_seconds = start.elapsed().as_secs_f64();
    let params = match &tuned {
        Some(tuned) => tuned.table.best().parameters.clone(),
        None => args
            .candidates(rows.points.n_columns(), rows.points.n_rows(), weights.as_deref())?
            .swap_remove(0)
            .swap_remove(0),
    };
    let checked = params.clone().check()?;
    let points = rows.points.as_points();
    let map = job.timed(Phase::Map, || checked.fit_map(points, job.run())).with_context(context)?;
    let features = job.timed(Phase::Map, || map.encode(points, job.run()))?;
    let fit = job.timed(Phase::Fit, || checked.fit_head(&features, &rows.labels, classes.len(), None, job.run()))?;
    if !fit.converged {
        job.note("the solver stopped before its stop rule was met; a smaller --c or other scaling may help");
    }
    drop(features);
    let mut classifier = Classifier::new(map, fit.head);
    if args.probability {
        let folds = stratified_folds(&rows.labels, args.cv, args.run.seed)?;
        let calibrate = || checked.calibrate(&rows.points, &rows.labels, classes.len(), &folds, job.run());
        classifier = classifier.calibrated(job.timed(Phase::Fit, calibrate).with_context(context)?);
    }
    let columns = rows.points.n_columns();
    let model = ClassifierModel { encoder, classes, params, classifier };

    let tested = args.test.as_ref().map(|path| test(args, path, &model, &job)).transpose()?;
    if let Some(path) = &args.save.save {
        let bytes = model.to_bytes()?;
        eyot_io::save_model(path, &bytes)?;
        job.detail(|| format!("{}: {} bytes", path.display(), count(bytes.len())));
    }
    let outcome = Outcome { model: &model, tuned: tuned.as_ref(), tested: tested.as_ref() };
    if let Some(path) = &args.report.report {
        let report = report::report(&outcome, rows.labels.len(), tuning_seconds, &job.seconds(), args.run.seed);
        report.save(path).with_context(|| path.display().to_string())?;
    }
    let shared = Shared {
        method: model.params.name(),
        rows: rows.labels.len(),
        columns,
        seed: args.run.seed,
        parameters: &model.params,
    };
    job.finish(&shared, &outcome.summary(), &outcome.facts(rows.labels.len(), columns))
}

/// The target column of a table: the one named, or the label of svmlight.
fn target_of<'a>(args: &Args, table: &'a Table) -> anyhow::Result<&'a TableColumn> {
    let name = match &args.data.target {
        Some(name) => name,
        None if table.sparse.is_some() => "label",
        None => {
            let known: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            let hint = format!("name it with --target; the columns are {}", known.join(", "));
            return Err(Usage::new("which column holds the classes is not said").hint(hint).into());
        }
    };
    let found = table.columns.iter().find(|column| column.name == name);
    found.ok_or_else(|| Usage::new(format!("there is no column `{name}`")).into())
}

/// All rows as points.
fn collect(
    input: &mut Input,
    data: &DataArgs,
    encoder: &eyot::Encoder,
    job: &Job,
) -> anyhow::Result<PointsBuf> {
    let mut all: Option<PointsBuf> = None;
    encode(input, data, encoder, job, "encode", |_, points| {
        match &mut all {
            Some(all) => points.as_points().rows().for_each(|row| all.push(row)),
            None => all = Some(points),
        }
        Ok(())
    })?;
    Ok(all.ok_or(eyot::Error::Empty)?)
}

/// Cross-validates, unless there is nothing to choose and a test file to measure on.
fn tune(
    args: &Args,
    rows: &Rows,
    classes: &Classes,
    weights: Option<&[f64]>,
    job: &Job,
) -> anyhow::Result<Option<TunedClassifier>> {
    let (n, columns) = (rows.labels.len(), rows.points.n_columns());
    // Before folds are cut: options that are wrong in themselves are refused with or without tuning.
    let all = args.candidates(columns, n, weights)?;
    if args.test.is_some() && all.len() == 1 && all[0].len() == 1 {
        return Ok(None);
    }
    let sampled = (n > args.cv_rows).then(|| {
        let mut chosen: Vec<usize> = (0..n).collect();
        rng_of(args.run.seed, eyot::Component::Subset, 0).shuffle(&mut chosen);
        chosen.truncate(args.cv_rows);
        chosen.sort_unstable();
        let labels = chosen.iter().map(|&row| rows.labels[row]).collect();
        Rows { points: rows.points.select(&chosen), labels }
    });
    if sampled.is_some() {
        job.note(format!("cross-validation uses {} of the {} rows", count(args.cv_rows), count(n)));
    }
    let rows = sampled.as_ref().unwrap_or(rows);
    let folds = stratified_folds(&rows.labels, args.cv, args.run.seed)?;
    let counts = class_counts(&rows.labels, classes.len());
    for (class, &rows) in counts.iter().enumerate().filter(|(_, rows)| **rows < args.cv).take(3) {
        let name = classes.name(class as u32);
        job.note(format!("class `{name}` has {rows} rows, fewer than the {} folds: some folds are without it", args.cv));
    }
    let tuning =
        ClassifierTuning { points: &rows.points, labels: &rows.labels, n_classes: classes.len(), folds: &folds };
    let groups = args.candidates(columns, tuning.training_rows(), weights)?;
    Ok(Some(tuning.run(&groups, job.run())?))
}

/// How the model does on the test file.
fn test(args: &Args, path: &std::path::Path, model: &ClassifierModel, job: &Job) -> anyhow::Result<Confusion> {
    let mut data = args.data.clone();
    path.clone_into(&mut data.data);
    let mut input = Input::for_encoder(&data, &model.encoder);
    // Classes that the model does not know get numbers beyond its own.
    let mut classes = model.classes.clone();
    let mut confusion = Confusion::new(model.classes.len());
    let name = input.name().to_owned();
    encode(&mut input, &data, &model.encoder, job, "score", |table, points| {
        let truth = classes.numbers_or_insert(target_of(args, table)?, table.first_row)?;
        let predicted = job.timed(Phase::Score, || model.classifier.predict(points.as_points(), job.step()))?;
        truth.iter().zip(&predicted).for_each(|(&truth, &predicted)| confusion.add(truth, predicted));
        Ok(())
    })?;
    if confusion.rows() == 0 {
        return Err(eyot::Error::Empty).context(name);
    }
    if confusion.unseen() > 0 {
        let unseen = &classes.names()[model.classes.len()..];
        let more = if unseen.len() > 3 { " and others" } else { "" };
        let list: Vec<String> = unseen.iter().take(3).map(|name| format!("`{name}`")).collect();
        let rows = count(confusion.unseen() as usize);
        job.note(format!("{name}: {rows} rows are of classes that the training data lacks ({}{more}) and count as errors", list.join(", ")));
    }
    Ok(confusion)
}

/// The error with the name of a raw column instead of the number of an encoded one.
fn named(error: eyot::Error, encoder: &eyot::Encoder) -> eyot::Error {
    match error {
        eyot::Error::Negative { row, column: eyot::ColumnRef::Number(column), value } => {
            eyot::Error::Negative { row, column: encoder.source_of(column), value }
        }
        other => other,
    }
}
