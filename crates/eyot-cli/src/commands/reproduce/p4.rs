//! What the experiments of paper 4 share: bags of a data set, grids, and cross-validated accuracies.

use std::time::Instant;

use anyhow::Context;
use eyot::{
    BagClassifierParams, BagGrid, BagValidation, BagValidationParams, Bags, Classes, Distance, EncoderParams, PointsBuf, Roles, Scale, SetMethod, Sets,
    powers_of_two,
};

use super::lab::Lab;
use super::results::Ours;

/// Bags of a data set with their classes.
pub(super) struct Benchmark {
    pub(super) sets: Sets,
    pub(super) labels: Vec<u32>,
    pub(super) n_classes: usize,
}

/// A data set of the folder mil, if it is there.
pub(super) fn benchmark(lab: &mut Lab<'_>, name: &str) -> anyhow::Result<Option<Benchmark>> {
    let Some(table) = lab.table(&format!("mil/{name}"))? else { return Ok(None) };
    let column = |wanted: &str| {
        let found = table.columns.iter().find(|column| column.name == wanted);
        found.with_context(|| format!("{name}: there is no column `{wanted}`"))
    };
    let bags = Bags::from_column(column("bag")?, 0)?;
    let mut classes = Classes::default();
    classes.numbers_or_insert(column("bag_label")?, 0)?;
    classes.sort();
    let labels = bags.labels(&classes.numbers(column("bag_label")?, 0)?, |label| classes.name(label).to_owned())?;
    let roles = Roles { target: Some("bag_label".into()), bag: Some("bag".into()), ..Roles::default() };
    let points = EncoderParams::default().scale(Scale::None).roles(roles).check()?.fit(&table)?.encode(&table)?;
    let sets = Sets::new(slim(points).as_points(), &bags)?;
    Ok(Some(Benchmark { sets, labels, n_classes: classes.len() }))
}

/// The same points stored by their non-zeros if these are few, as in texts: the same distances, found sooner.
fn slim(dense: PointsBuf) -> PointsBuf {
    let points = dense.as_points();
    let nonzeros: usize = points.rows().map(|row| row.nonzeros().count()).sum();
    if nonzeros * 10 > points.n_rows() * points.n_columns() {
        return dense;
    }
    let mut sparse = PointsBuf::sparse(points.n_columns());
    points.rows().for_each(|row| sparse.push(row));
    sparse
}

/// A method by name, with a seed and t = 200, or 100 for a short answer.
pub(super) fn method(lab: &Lab<'_>, name: &str, distance: Distance, seed: u64) -> SetMethod {
    let found = SetMethod::all(seed).into_iter().find(|method| method.name() == name);
    match found.expect("the experiments name methods that are there") {
        SetMethod::Isk(params) => {
            let map = eyot::IsolationMapParams::default().seed(seed).distance(distance);
            SetMethod::Isk(params.map(map.t(if lab.quick() { 100 } else { 200 })))
        }
        other => other,
    }
}

/// The grids of the paper, or every third value of them for a short answer.
pub(super) fn grid(lab: &Lab<'_>, method: SetMethod, seed: u64) -> BagGrid {
    let mut grid = BagGrid::of(method);
    grid.seed = seed;
    grid.powers = vec![1.0];
    if lab.quick() {
        grid.psis = vec![16, 64, 256];
        grid.epsilons = vec![0.55, 0.75, 1.0];
        grid.gammas = powers_of_two(-5..=3).into_iter().step_by(2).collect();
        grid.taus = powers_of_two(-5..=5).into_iter().step_by(5).collect();
        grid.components = vec![1, 2, 4];
        grid.energies = vec![1.0, 0.9];
        grid.costs = vec![1.0, 10.0];
        grid.folds = 3;
    }
    grid
}

/// A ten-fold cross-validation. The paper grows cells from all bags, those held out included, so that it is transductive.
pub(super) fn validated(
    lab: &Lab<'_>,
    of: &Benchmark,
    grid: &BagGrid,
    seed: u64,
    transductive: bool,
) -> eyot::Result<BagValidation> {
    let params = BagValidationParams { n_folds: 10, seed, transductive };
    BagValidation::run(params, grid, &of.sets, &of.labels, of.n_classes, lab.run())
}

/// Ten-fold accuracies, one per run; `grid` makes the grid of a seed.
pub(super) fn accuracies(
    lab: &Lab<'_>,
    of: &Benchmark,
    runs: std::ops::Range<u64>,
    transductive: bool,
    grid: impl Fn(u64) -> BagGrid,
) -> anyhow::Result<Ours> {
    let start = Instant::now();
    let mut accuracies = Vec::new();
    let mut chosen: Vec<String> = Vec::new();
    for seed in runs {
        let run = validated(lab, of, &grid(seed), seed, transductive)?;
        accuracies.push(run.accuracy());
        chosen.extend(run.folds.iter().map(|fold| setting(&fold.chosen)));
    }
    chosen.sort_unstable();
    let most = chosen.chunk_by(|a, b| a == b).max_by_key(|same| same.len());
    let most = most.map_or(String::new(), |same| format!("{} in {} of {} folds", same[0], same.len(), chosen.len()));
    Ok(Ours::of(accuracies).with(most).took(start.elapsed().as_secs_f64()))
}

/// What comes after the name of a method where what the paper calls searched, ε, γ and τ, is the value with the best
/// accuracy of all runs, by the very folds that it is measured on. All else is chosen inside the training folds.
pub(super) const HINDSIGHT: &str = ", by hindsight";

/// Ten-fold accuracies by hindsight, one per run.
pub(super) fn by_hindsight(
    lab: &Lab<'_>,
    of: &Benchmark,
    runs: std::ops::Range<u64>,
    grid: impl Fn(u64) -> BagGrid,
) -> anyhow::Result<Ours> {
    let start = Instant::now();
    let table = |seed| BagValidation::by_hindsight(10, seed, &grid(seed), &of.sets, &of.labels, of.n_classes, lab.run());
    let tables = runs.map(table).collect::<eyot::Result<Vec<_>>>()?;
    let sum = |at: usize| tables.iter().map(|table| table.entries[at].mean).sum::<f64>();
    let values = tables.first().map_or(0, |table| table.entries.len());
    let best = (0..values).rev().max_by(|&a, &b| sum(a).total_cmp(&sum(b))).context("there are values")?;
    let accuracies = tables.iter().map(|table| table.entries[best].mean).collect();
    let value = in_words(&tables[0].entries[best].parameters, &SEARCHED);
    Ok(Ours::of(accuracies).with(format!("{value}: best of {values}")).took(start.elapsed().as_secs_f64()))
}

/// What was chosen, in words.
fn setting(chosen: &BagClassifierParams) -> String {
    let [epsilon, gamma, tau] = SEARCHED;
    let power = ("power ", "/power");
    let others = [("components ", "/components"), ("energy ", "/energy"), ("c ", "/svm/c")];
    in_words(chosen, &[&[("", "/scale"), ("psi ", "/map/psi"), epsilon, power, gamma, tau], &others[..]].concat())
}

/// What the paper calls searched.
const SEARCHED: [(&str, &str); 3] = [("epsilon ", "/epsilon"), ("gamma ", "/gamma"), ("tau ", "/tau")];

/// Parameters, each with its name and where it is in JSON; those that a method has not are left out.
fn in_words(params: &BagClassifierParams, places: &[(&str, &str)]) -> String {
    let json = serde_json::to_value(params).unwrap_or_default();
    let word = |&(name, path): &(&str, &str)| {
        let value = json.pointer(path)?;
        Some(format!("{name}{}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
    };
    places.iter().filter_map(word).collect::<Vec<_>>().join(", ")
}
