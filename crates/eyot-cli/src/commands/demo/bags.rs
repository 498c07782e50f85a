//! Bags: which of several sets of points hold something from the right place?

use eyot::{
    BagClassifierParams, BagGrid, BagValidation, BagValidationParams, Bags, Component, IskParams, IsolationMapParams, MiKernelParams, PointsBuf,
    Run, Scale, SetMethod, Sets, SimpleMiParams, rng_of,
};
use eyot_io::plot::{Bars, Figure, Scatter};
use serde_json::json;

use super::stop::{Stop, decimal};

const N_BAGS: usize = 120;
/// Where the points of all bags lie, and where those lie that make a bag positive.
const COMMON: [[f64; 2]; 3] = [[-0.6, 0.4], [0.0, -0.5], [0.55, 0.55]];
const TELLING: [f64; 2] = [0.45, -0.45];

/// Bags with their classes.
struct Data {
    points: Vec<[f64; 2]>,
    sets: Sets,
    labels: Vec<u32>,
}

/// Bags of 6 to 12 points. In every second one, two or three come from a place of their own.
fn bags(seed: u64) -> eyot::Result<Data> {
    let mut rng = rng_of(seed, Component::Synthetic, 6);
    let (mut points, mut sizes): (Vec<[f64; 2]>, Vec<usize>) = (Vec::new(), Vec::new());
    let labels: Vec<u32> = (0..N_BAGS as u32).map(|bag| bag % 2).collect();
    for &label in &labels {
        let size = 6 + rng.below(7);
        let telling = if label == 1 { 2 + rng.below(2) } else { 0 };
        for point in 0..size {
            let (centre, width) = if point < telling { (TELLING, 0.09) } else { (COMMON[rng.below(3)], 0.2) };
            points.push(centre.map(|value| value + width * rng.normal()));
        }
        sizes.push(size);
    }
    let sets = Sets::new(PointsBuf::from_rows(&points)?.as_points(), &Bags::from_sizes(&sizes)?)?;
    Ok(Data { points, sets, labels })
}

/// The methods of the table, with fixed parameters.
fn methods(seed: u64) -> [(SetMethod, &'static str); 3] {
    let map = IsolationMapParams::default().psi(64).t(100).seed(seed);
    [
        (SetMethod::Isk(IskParams::default().map(map)), "shares of cells"),
        (SetMethod::MiKernel(MiKernelParams::default().gamma(8.0)), "all pairs of points"),
        (SetMethod::SimpleMi(SimpleMiParams::default().gamma(8.0)), "the mean point"),
    ]
}

pub(super) fn stop(seed: u64, run: Run<'_>) -> eyot::Result<Stop> {
    let data = bags(seed)?;
    let (mut rows, mut accuracies) = (Vec::new(), Vec::new());
    for (method, what) in methods(seed) {
        let mut grid = BagGrid::of(method.clone());
        // One candidate of each kind: nothing is searched.
        (grid.scales, grid.epsilons, grid.powers, grid.costs) = (vec![Scale::None], vec![1.0], vec![1.0], vec![10.0]);
        (grid.psis, grid.gammas) = (vec![64], vec![8.0]);
        let params = BagValidationParams { n_folds: 10, seed, transductive: false };
        let held_out = BagValidation::run(params, &grid, &data.sets, &data.labels, 2, run)?;
        rows.push(vec![json!(method.name()), json!(what), json!(held_out.accuracy()), json!(held_out.standard_error())]);
        accuracies.push((held_out.accuracy(), held_out.standard_error()));
    }
    let isk = BagClassifierParams { scale: Scale::None, method: methods(seed)[0].0.clone() };
    let classifier = isk.check()?.fit(&data.sets, &data.labels, 2, run)?;
    let shares = classifier.instance_scores(&data.sets, run)?;
    // The positive bag of which the model is surest.
    let scores = classifier.scores(&data.sets, run)?;
    let surest = (0..N_BAGS).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap_or(0);

    Ok(Stop {
        name: "bags",
        heading: "Bags of points are classified, and the points that decide are named",
        intro: format!(
            "There are {N_BAGS} bags of 6 to 12 points each, and only bags have labels. Points of all bags come from the same \
             three places; positive bags have two or three from a fourth. The isolation set-kernel makes one sparse vector \
             of a bag of any size, its shares of the cells, and learns a linear classifier on them, so every point has an \
             exact share in the decision. Parameters are fixed here; eyot mil chooses them inside the training folds."
        ),
        finding: format!(
            "In ten folds {} of the bags are classified rightly. Seen as its mean point alone, a bag says less: {}.",
            decimal(accuracies[0].0),
            decimal(accuracies[2].0)
        ),
        columns: vec!["method", "a bag is", "accuracy", "standard error"],
        rows,
        figures: vec![(String::new(), vec![
            picture(&data),
            bars(&accuracies),
            deciding(&data, surest, &shares),
        ])],
        facts: vec![("bags classified rightly", format!("{:.1} %", 100.0 * accuracies[0].0))],
    })
}

fn picture(data: &Data) -> Figure {
    let of = |class: u32| -> Vec<[f64; 2]> {
        let bags = (0..N_BAGS).filter(|&bag| data.labels[bag] == class);
        bags.flat_map(|bag| data.points[data.sets.range(bag)].to_vec()).collect()
    };
    Scatter::new("Points of all bags")
        .x("x")
        .y("y")
        .group("of negative bags", &of(0))
        .group("of positive bags", &of(1))
        .radii(&[1.6, 1.6])
        .size(360.0, 330.0)
        .about("Only the place at the lower right has points of one class alone.")
        .figure()
}

fn bars(accuracies: &[(f64, f64)]) -> Figure {
    let (means, errors): (Vec<f64>, Vec<f64>) = accuracies.iter().copied().unzip();
    Bars::new("Ten-fold accuracy", methods(0).map(|(method, _)| method.name()))
        .y("accuracy")
        .series_with_errors("accuracy", &means, &errors)
        .size(360.0, 330.0)
        .about("Means over the folds, with their standard errors.")
        .figure()
}

fn deciding(data: &Data, bag: usize, shares: &[f64]) -> Figure {
    let range = data.sets.range(bag);
    let names = range.clone().enumerate().map(|(at, row)| {
        let [x, y] = data.points[row];
        format!("{}: ({}, {})", at + 1, decimal(x), decimal(y))
    });
    Bars::new("The points of a positive bag", names)
        .x("share in the score")
        .series("speaks for positive", &shares[range])
        .lying()
        .size(360.0, 330.0)
        .about("Those from the fourth place, around (0.45, −0.45), decide.")
        .figure()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_finds_what_the_mean_point_hides_and_names_the_points_that_decide() {
        let stop = stop(1, Run::single()).unwrap();
        let accuracy = |row: usize| stop.rows[row][2].as_f64().unwrap();
        assert!(accuracy(0) > 0.9 && accuracy(0) > accuracy(2), "{:?}", stop.rows);
        let data = bags(1).unwrap();
        let isk = BagClassifierParams { scale: Scale::None, method: methods(1)[0].0.clone() }.check().unwrap();
        let shares = isk.fit(&data.sets, &data.labels, 2, Run::single()).unwrap();
        let shares = shares.instance_scores(&data.sets, Run::single()).unwrap();
        // In positive bags the first points are the telling ones.
        let right = (0..N_BAGS).filter(|&bag| data.labels[bag] == 1).filter(|&bag| {
            let of = &shares[data.sets.range(bag)];
            let loudest = (0..of.len()).max_by(|&a, &b| of[a].total_cmp(&of[b])).unwrap();
            loudest < 3
        });
        assert!(right.count() > 54);
    }
}
