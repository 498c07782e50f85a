//! Beyond the papers: every online learner in each of its variants on every data set, with default parameters.

use std::time::Instant;

use eyot::{
    Form, IkOgdParams, IsolationMapParams, Landmarks, LearnerParams, Method, OnlineLoss, Partition, Refresh, Scale, Table,
    Targets, compare_ranks, permutation,
};
use eyot_io::plot::Bars;

use super::lab::{Lab, Targets as LabTargets, labelled, numbered};
use super::online::Set;
use super::results::Ours;
use super::{Experiment, Measure};
use crate::contest::Course;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "online-grid",
    title: "every online learner in each variant on every data set, default parameters",
    measure: Measure::shown("mistakes in %; of numbers the RMSE in % of their standard deviation", 2),
    run,
};

/// Rows of a data set at the most, in full and for a short answer.
const ROWS: [usize; 2] = [20_000, 2000];

/// Files of the data sets with classes; those with numbers and what the target is called.
const CLASSES: [&str; 10] = [
    "a9a.train", "ijcnn1.train", "covtype", "mnist.train", "poker.train", "susy_30k", "phishing", "airlines_nyc13",
    "news20b.train", "rcv1_small.train",
];
const NUMBERS: [(&str, &str); 3] = [("casp", "label"), ("cadata", "label"), ("airlines_nyc13", "arr_delay")];

/// The lines of the grid that stand for a method in the ranks.
const RANKED: [&str; 17] = [
    "ik-ogd", "ik-ogd trees", "ik-ogd spheres", "rrf", "ogd", "nogd", "fogd", "adaraker", "perceptron", "rbp", "forgetron",
    "projectron", "projectron++", "bpas", "bsgd-m", "bogd", "dualsgd",
];

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let mut figures = Vec::new();
    for file in CLASSES {
        let Some(table) = lab.table(&format!("online/{file}"))? else { continue };
        let set = with_classes(lab, file, table)?;
        let errors = grid(lab, name_of(file), &set, &classifiers())?;
        let of = |name: &str| -errors.iter().find(|(known, _)| known == name).map_or(f64::INFINITY, |(_, error)| *error);
        figures.push(RANKED.map(of).to_vec());
    }
    for (file, target) in NUMBERS {
        let Some(table) = lab.table(&format!("online/{file}"))? else { continue };
        let set = with_numbers(lab, table, target)?;
        grid(lab, &format!("{}, numbers", name_of(file)), &set, &regressors())?;
    }
    ranks(lab, &figures);
    lab.note(format!(
        "the first {} rows of a random order of each file, columns scaled to 0…1; maps and landmarks from the first 1000; \
         every row is predicted, then learned. `constant` always says the most frequent class, or the mean",
        ROWS[usize::from(lab.quick())]
    ));
    Ok(())
}

/// The file's name without its part.
fn name_of(file: &str) -> &str {
    file.split('.').next().unwrap_or(file)
}

/// Rows in a random order, no more than wanted.
fn some(lab: &Lab<'_>, table: &Table) -> Table {
    let order = permutation(table.n_rows, 0, 0);
    table.select(&order[..table.n_rows.min(ROWS[usize::from(lab.quick())])])
}

fn with_classes(lab: &Lab<'_>, file: &str, mut table: Table) -> anyhow::Result<Set> {
    table.columns.retain(|column| !["class", "arr_delay"].contains(&column.name.as_str()));
    let set = labelled(&some(lab, &table), Scale::MinMax)?;
    let LabTargets::Classes(mut numbers, _) = set.targets else { anyhow::bail!("these are no classes") };
    // Two classes of digits, as in paper 1.
    if file.starts_with("mnist") {
        for digit in &mut numbers {
            *digit = u32::from([3, 4, 6, 7, 9].contains(digit));
        }
    }
    Ok(Set { n_train: numbers.len(), points: set.points, targets: Targets::Classes(numbers) })
}

fn with_numbers(lab: &Lab<'_>, mut table: Table, target: &str) -> anyhow::Result<Set> {
    if target != "label" {
        table.columns.retain(|column| column.name != "label");
        table.columns.iter_mut().filter(|column| column.name == target).for_each(|column| column.name = "label".into());
    }
    let set = numbered(&some(lab, &table), Scale::MinMax)?;
    let LabTargets::Numbers(values) = set.targets else { anyhow::bail!("these are no numbers") };
    Ok(Set { n_train: values.len(), points: set.points, targets: Targets::Values(values) })
}

/// A line of the grid.
type Line = (String, LearnerParams);

/// One method in several variants: the default by its own name.
fn variants(method: Method, others: &[(&str, &dyn Fn(LearnerParams) -> LearnerParams)]) -> Vec<Line> {
    let base = LearnerParams::default().method(method);
    let mut lines = vec![(method.name().to_owned(), base.clone())];
    lines.extend(others.iter().map(|(name, change)| (format!("{} {name}", method.name()), change(base.clone()))));
    lines
}

fn cells(partition: Partition) -> impl Fn(LearnerParams) -> LearnerParams {
    move |params| params.map(IsolationMapParams::default().partition(partition))
}

fn with_loss(loss: OnlineLoss) -> impl Fn(LearnerParams) -> LearnerParams {
    move |params| params.loss(Some(loss))
}

fn as_published(params: LearnerParams) -> LearnerParams {
    params.compat(true)
}

fn kept_as(form: Form) -> impl Fn(LearnerParams) -> LearnerParams {
    move |params| params.ik(IkOgdParams::default().form(form))
}

fn renewed(refresh: Refresh) -> impl Fn(LearnerParams) -> LearnerParams {
    move |params| params.refresh(refresh).refresh_every(200)
}

fn classifiers() -> Vec<Line> {
    let logistic = with_loss(OnlineLoss::Logistic);
    let uniform = |params: LearnerParams| params.landmarks(Some(Landmarks::Uniform));
    let mut lines = variants(Method::IkOgd, &[
        ("trees", &cells(Partition::Tree)),
        ("spheres", &cells(Partition::Sphere)),
        ("logistic", &logistic),
        ("dual", &kept_as(Form::Dual)),
        ("naive", &kept_as(Form::Naive)),
        ("renewed", &renewed(Refresh::Steadily)),
        ("renewed on drift", &renewed(Refresh::OnDrift)),
    ]);
    for method in [Method::Rrf, Method::Ogd, Method::Fogd, Method::BsgdM] {
        lines.extend(variants(method, &[("logistic", &logistic)]));
    }
    lines.extend(variants(Method::Nogd, &[("logistic", &logistic), ("uniform", &uniform)]));
    lines.extend(variants(Method::AdaRaker, &[("hinge", &with_loss(OnlineLoss::Hinge)), ("compat", &as_published)]));
    for method in [Method::Bogd, Method::DualSgd] {
        lines.extend(variants(method, &[("logistic", &logistic), ("compat", &as_published)]));
    }
    lines.extend(variants(Method::Forgetron, &[("compat", &as_published)]));
    for method in [Method::Perceptron, Method::Rbp, Method::Projectron, Method::ProjectronPlus, Method::Bpas] {
        lines.extend(variants(method, &[]));
    }
    lines
}

fn regressors() -> Vec<Line> {
    let absolute = with_loss(OnlineLoss::Absolute);
    let insensitive = with_loss(OnlineLoss::Insensitive);
    let uniform = |params: LearnerParams| params.landmarks(Some(Landmarks::Uniform));
    let mut lines = variants(Method::IkOgd, &[
        ("trees", &cells(Partition::Tree)),
        ("spheres", &cells(Partition::Sphere)),
        ("absolute", &absolute),
        ("insensitive", &insensitive),
        ("dual", &kept_as(Form::Dual)),
        ("naive", &kept_as(Form::Naive)),
        ("renewed", &renewed(Refresh::Steadily)),
        ("renewed on drift", &renewed(Refresh::OnDrift)),
    ]);
    for method in [Method::Rrf, Method::Ogd, Method::Fogd, Method::AdaRaker] {
        lines.extend(variants(method, &[("absolute", &absolute), ("insensitive", &insensitive)]));
    }
    let nogd: [(&str, &dyn Fn(LearnerParams) -> LearnerParams); 3] =
        [("absolute", &absolute), ("insensitive", &insensitive), ("uniform", &uniform)];
    lines.extend(variants(Method::Nogd, &nogd));
    for method in [Method::Bogd, Method::DualSgd] {
        let others: [(&str, &dyn Fn(LearnerParams) -> LearnerParams); 3] =
            [("absolute", &absolute), ("insensitive", &insensitive), ("compat", &as_published)];
        lines.extend(variants(method, &others));
    }
    lines.extend(variants(Method::Forgetron, &[("compat", &as_published)]));
    for method in [Method::Perceptron, Method::Rbp, Method::Projectron] {
        lines.extend(variants(method, &[]));
    }
    lines.into_iter().map(|(name, params)| (name, params.regress(true))).collect()
}

/// All lines on one data set: names and errors.
fn grid(lab: &mut Lab<'_>, name: &str, set: &Set, lines: &[Line]) -> anyhow::Result<Vec<(String, f64)>> {
    let constant = constant(&set.targets);
    lab.cell(name, "constant", None, |_| Ok(Ours::of(vec![percent(&set.targets, constant)])))?;
    let mut errors = Vec::new();
    for (method, params) in lines {
        let ours = lab.cell(name, method, None, |lab| measure(lab, set, params))?;
        if !ours.setting.is_empty() && ours.runs.is_empty() {
            lab.note(format!("{name}, {method}: {}", ours.setting));
        }
        errors.push((method.clone(), if ours.runs.is_empty() { f64::INFINITY } else { ours.mean() }));
    }
    Ok(errors)
}

/// One pass; a learner that diverges or refuses has no figure but a message.
fn measure(lab: &Lab<'_>, set: &Set, params: &LearnerParams) -> anyhow::Result<Ours> {
    let course = Course { points: &set.points, targets: &set.targets, init: 1000, block: 1 };
    let order: Vec<usize> = (0..course.len()).collect();
    let start = Instant::now();
    let ours = match course.pass(params, &order, lab.run()) {
        Err(eyot::Error::Stopped) => return Err(eyot::Error::Stopped.into()),
        Err(error) => Ours::of(vec![]).with(error.to_string()),
        Ok(pass) => {
            let error = pass.tally.error(params.regress);
            let setting = if params.regress { format!("RMSE {error:.4}") } else { String::new() };
            Ours::of(vec![percent(&set.targets, error)]).with(setting)
        }
    };
    Ok(ours.took(start.elapsed().as_secs_f64()))
}

/// The mistake rate of always saying the most frequent class, or the RMSE of always saying the mean.
fn constant(targets: &Targets) -> f64 {
    match targets {
        Targets::Classes(classes) => {
            let count = |class: u32| classes.iter().filter(|&&other| other == class).count();
            let most = (0..=classes.iter().copied().max().unwrap_or(0)).map(count).max().unwrap_or(0);
            1.0 - most as f64 / classes.len() as f64
        }
        Targets::Values(values) => eyot::mean_and_deviation(values).1,
    }
}

/// A mistake rate in percent, or an RMSE in percent of the deviation.
fn percent(targets: &Targets, error: f64) -> f64 {
    match targets {
        Targets::Classes(_) => 100.0 * error,
        Targets::Values(values) => 100.0 * error / eyot::mean_and_deviation(values).1,
    }
}

/// Average ranks over the sets with classes; one that refuses is last.
fn ranks(lab: &mut Lab<'_>, figures: &[Vec<f64>]) {
    let Ok(ranks) = compare_ranks(figures) else { return };
    let mut order: Vec<usize> = (0..RANKED.len()).collect();
    order.sort_by(|&a, &b| ranks.mean_ranks[a].total_cmp(&ranks.mean_ranks[b]));
    let shown: Vec<String> = order.iter().map(|&at| format!("{} {:.2}", RANKED[at], ranks.mean_ranks[at])).collect();
    lab.note(format!(
        "average ranks over {} sets with classes: {}; Friedman p = {:.4}; ranks that differ by {:.2} or more differ \
         significantly",
        figures.len(),
        shown.join(", "),
        ranks.p_value,
        ranks.critical_difference
    ));
    let half = vec![ranks.critical_difference / 2.0; order.len()];
    let values: Vec<f64> = order.iter().map(|&at| ranks.mean_ranks[at]).collect();
    let bars = Bars::new("Average ranks of online learners", order.iter().map(|&at| RANKED[at]))
        .series_with_errors("average rank", &values, &half)
        .lying();
    lab.figure("online-grid-ranks", bars.figure());
}
