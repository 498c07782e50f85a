//! Solves small problems with every solver and writes problems and answers down, for `xtask/references.py` to solve
//! them again with LIBLINEAR and LIBSVM: `cargo run --release -p eyot-io --example solvers -- FOLDER [DATA]`.
//!
//! FOLDER gets NAME.train.svm and NAME.test.svm per data set and ours.jsonl with one line per problem. Two data sets are
//! generated; those of the folder DATA come on top, as far as they are there.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use eyot::{
    Classes, Component, EncoderParams, Expansion, Features, Gaussian, Kernel, KernelSvmParams, Laplacian, LinearModel,
    LinearSvmParams, Loss, OneClassParams, PointsBuf, PointsMatrix, Precomputed, Roles, Run, Scale, Scheme, SvrParams,
    Table, class_of_scores, gram, regression_targets, rng_of,
};
use eyot_io::{ReadOptions, Source, read_table};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const GAMMA: f64 = 0.5;
const LAMBDA: f64 = 0.3;
const NU: f64 = 0.3;
const TUBE: f64 = 0.1;

struct Rows {
    points: PointsBuf,
    targets: Vec<f64>,
}

/// A data set of the folder DATA: training file, test file (or the same one), rows of each, whether it is a regression.
const SETS: &[(&str, &str, &str, usize, usize, bool)] = &[
    ("a9a", "a9a.train.svm.zst", "a9a.test.svm.zst", 2000, 1000, false),
    ("ijcnn1", "ijcnn1.train.parquet", "ijcnn1.test.parquet", 2000, 1000, false),
    ("phishing", "phishing.parquet", "phishing.parquet", 2000, 1000, false),
    ("rcv1_small", "rcv1_small.train.svm.zst", "rcv1_small.test.svm.zst", 1000, 500, false),
    ("mnist", "mnist.train.parquet", "mnist.test.parquet", 1000, 1000, false),
    ("abalone", "abalone.parquet", "abalone.parquet", 1000, 1000, true),
];

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = Path::new(arguments.first().ok_or("usage: solvers FOLDER [DATA]")?);
    fs::create_dir_all(folder)?;
    let mut lines = Vec::new();
    for (name, n_classes) in [("generated-2", 2), ("generated-4", 4)] {
        solve(folder, name, &generated(n_classes, 400, 0), &generated(n_classes, 300, 1), false, &mut lines)?;
    }
    let wave = |rows, seed| {
        let Rows { points, .. } = generated(2, rows, seed);
        let targets = points.as_points().rows().map(|x| (3.0 * x.get(0)).sin() + x.get(1)).collect();
        Rows { points, targets }
    };
    solve(folder, "generated-wave", &wave(300, 2), &wave(200, 3), true, &mut lines)?;
    for &(name, train, test, train_rows, test_rows, regression) in SETS {
        let path = |file: &str| arguments.get(1).map(|data| Path::new(data).join("online").join(file));
        let (Some(train_path), Some(test_path)) = (path(train), path(test)) else { continue };
        if !train_path.exists() || !test_path.exists() {
            continue;
        }
        let table = read_table(&mut Source::new(&train_path), &ReadOptions::default())?;
        let scale = if table.sparse.is_some() { Scale::None } else { Scale::MinMax };
        let part = table.select(&(0..train_rows).collect::<Vec<_>>());
        let roles = Roles { target: Some("label".into()), ignore: vec!["qid".into()], ..Roles::default() };
        let encoder = EncoderParams::default().scale(scale).roles(roles).check()?.fit(&part)?;
        let encode = |table: &Table| -> Outcome<Rows> {
            let label = table.columns.iter().find(|column| column.name == "label").ok_or("no label")?;
            Ok(Rows { points: encoder.encode(table)?, targets: regression_targets(label, 0)? })
        };
        // Test rows of a single file are those after the training rows.
        let first = if train == test { train_rows } else { 0 };
        let table = read_table(&mut Source::new(&test_path), &ReadOptions::default())?;
        let test = encode(&table.select(&(first..first + test_rows).collect::<Vec<_>>()))?;
        solve(folder, name, &encode(&part)?, &test, regression, &mut lines)?;
    }
    fs::write(folder.join("ours.jsonl"), lines.join("\n") + "\n")?;
    Ok(())
}

/// Noisy classes around their own centres.
fn generated(n_classes: usize, rows: usize, seed: u64) -> Rows {
    const COLUMNS: usize = 5;
    let mut rng = rng_of(seed, Component::Synthetic, 77);
    let targets: Vec<f64> = (0..rows).map(|_| rng.below(n_classes) as f64).collect();
    let values = targets
        .iter()
        .flat_map(|&class| (0..COLUMNS).map(move |k| if k == class as usize { 1.0 } else { 0.0 }))
        .map(|centre| centre + 0.6 * rng.normal())
        .collect();
    Rows { points: PointsBuf::from_dense(values, COLUMNS).expect("finite numbers"), targets }
}

fn solve(
    folder: &Path,
    name: &str,
    train: &Rows,
    test: &Rows,
    regression: bool,
    lines: &mut Vec<String>,
) -> Outcome<()> {
    for (part, rows) in [("train", train), ("test", test)] {
        fs::write(folder.join(format!("{name}.{part}.svm")), svmlight(rows))?;
    }
    let mut say = |task: &str, mut line: Value| {
        line["set"] = name.into();
        line["task"] = task.into();
        lines.push(line.to_string());
    };
    let matrix = PointsMatrix { kernel: Gaussian { gamma: GAMMA }, points: train.points.as_points() };
    if regression {
        let params = SvrParams::default().tube(TUBE).epsilon(1e-4).check()?;
        let (expansion, report) = params.fit(&matrix, &train.targets, Run::single())?;
        let predicted = values(&expansion, &matrix.kernel, train, test);
        let squares: f64 = predicted.iter().zip(&test.targets).map(|(a, b)| (a - b) * (a - b)).sum();
        let rmse = (squares / predicted.len() as f64).sqrt();
        say("svr", json!({ "gamma": GAMMA, "tube": TUBE, "objective": report.objective, "rmse": rmse }));
        return Ok(());
    }
    let mut classes = Classes::default();
    let names = |rows: &Rows, classes: &mut Classes| -> Outcome<Vec<u32>> {
        Ok(rows.targets.iter().map(|target| classes.number_or_insert(&target.to_string())).collect::<Result<_, _>>()?)
    };
    let (labels, truth) = (names(train, &mut classes)?, names(test, &mut classes)?);
    let sorted = classes.sort();
    let labels: Vec<u32> = labels.iter().map(|&label| sorted[label as usize]).collect();
    let truth: Vec<u32> = truth.iter().map(|&label| sorted[label as usize]).collect();
    let n = classes.len();
    let right =
        |predicted: &[u32]| predicted.iter().zip(&truth).filter(|(a, b)| a == b).count() as f64 / truth.len() as f64;

    for (loss, word) in [(Loss::Hinge, "hinge"), (Loss::SquaredHinge, "squared_hinge")] {
        for (c, bias) in [(1.0, true), (0.1, false)] {
            let params = LinearSvmParams::default().loss(loss).c(c).bias(bias).epsilon(1e-3).max_passes(100_000);
            let fit = params.check()?.fit(&train.points.as_points(), &labels, n, None, Run::single())?;
            let scores = fit.model.scores(&test.points.as_points(), Run::single())?;
            let predicted: Vec<u32> = scores.chunks(fit.model.n_scores()).map(class_of_scores).collect();
            let objective = primal(&fit.model, train, &labels, loss, c);
            let accuracy = right(&predicted);
            say("linear", json!({ "loss": word, "c": c, "bias": bias, "objective": objective, "accuracy": accuracy }));
        }
    }
    let svm = KernelSvmParams::default().scheme(Scheme::OneVsOne).epsilon(1e-4).check()?;
    let fit = svm.fit(&matrix, &labels, n, None, Run::single())?;
    let kernel_classes = |model: &eyot::KernelSvmModel, kernel: &dyn Fn(usize, &mut [f64])| -> Vec<u32> {
        let (mut row, mut scores) = (vec![0.0; labels.len()], vec![0.0; model.n_scores()]);
        (0..truth.len())
            .map(|i| {
                kernel(i, &mut row);
                let support: Vec<f64> = model.expansion.rows().iter().map(|&k| row[k as usize]).collect();
                model.scores_into(&support, &mut scores);
                class_of_scores(&scores)
            })
            .collect()
    };
    let all = train.points.as_points();
    let predicted = kernel_classes(&fit.model, &|i, row| matrix.kernel.row_into(test.points.row(i), all, row));
    let objective: f64 = fit.reports.iter().map(|report| report.objective).sum();
    say("c-svc", json!({ "gamma": GAMMA, "objective": objective, "accuracy": right(&predicted) }));

    let laplacian = Laplacian { lambda: LAMBDA };
    let entries = gram(&laplacian, all, all, Run::single())?;
    let fit = svm.fit(&Precomputed::new(&entries, labels.len())?, &labels, n, None, Run::single())?;
    let predicted = kernel_classes(&fit.model, &|i, row| laplacian.row_into(test.points.row(i), all, row));
    let objective: f64 = fit.reports.iter().map(|report| report.objective).sum();
    say("precomputed", json!({ "lambda": LAMBDA, "objective": objective, "accuracy": right(&predicted) }));

    let one_class = OneClassParams::default().nu(NU).epsilon(1e-4).check()?;
    let (expansion, report) = one_class.fit(&matrix, Run::single())?;
    let outside = values(&expansion, &matrix.kernel, train, test).iter().filter(|&&value| value < 0.0).count();
    let share = outside as f64 / truth.len() as f64;
    say("one-class", json!({ "gamma": GAMMA, "nu": NU, "objective": report.objective, "outside": share }));
    Ok(())
}

/// The one sum of an expansion for all test rows.
fn values(expansion: &Expansion, kernel: &impl Kernel, train: &Rows, test: &Rows) -> Vec<f64> {
    let support: Vec<usize> = expansion.rows().iter().map(|&row| row as usize).collect();
    let support = train.points.select(&support);
    let (mut row, mut value) = (vec![0.0; support.n_rows()], [0.0]);
    let mut one = |x| {
        kernel.row_into(x, support.as_points(), &mut row);
        expansion.values_into(&row, &mut value);
        value[0]
    };
    test.points.as_points().rows().map(&mut one).collect()
}

/// ½‖w‖² + C Σ loss, summed over the scores; the bias counts as a weight.
fn primal(model: &LinearModel, train: &Rows, labels: &[u32], loss: Loss, c: f64) -> f64 {
    let mut objective = 0.0;
    for score in 0..model.n_scores() {
        let positive = if model.n_scores() == 1 { 1 } else { score as u32 };
        let (weights, bias) = (model.weights(score), model.bias(score));
        objective += 0.5 * (weights.iter().map(|w| w * w).sum::<f64>() + bias * bias);
        for (row, &label) in train.points.as_points().rows().zip(labels) {
            let value = Features::dot(row, weights) + bias;
            let slack = (1.0 - if label == positive { value } else { -value }).max(0.0);
            objective += c * if loss == Loss::Hinge { slack } else { slack * slack };
        }
    }
    objective
}

/// All digits of all numbers.
fn svmlight(rows: &Rows) -> String {
    let mut text = format!("# {} columns\n", rows.points.n_columns());
    for (row, target) in rows.points.as_points().rows().zip(&rows.targets) {
        let _ = write!(text, "{target}");
        for (column, value) in row.nonzeros() {
            let _ = write!(text, " {}:{value}", column + 1);
        }
        text.push('\n');
    }
    text
}
