//! Beyond the papers: what renewing partitionings gains on a stream that changes, and costs on one that does not.

use std::time::Instant;

use eyot::{
    Component, IsolationMapParams, LearnerParams, Partition, PointsBuf, Refresh, Rng, Targets, prequential, rng_of,
};
use eyot_io::plot::LineChart;

use super::lab::Lab;
use super::results::Ours;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "drift",
    title: "IK-OGD with renewed partitionings on streams that change and on one that does not",
    measure: Measure::shown("mistakes, %", 2),
    run,
};

/// Columns of the generated streams.
const COLUMNS: usize = 5;
/// Points from which the first map is made.
const INIT: usize = 5000;

/// How a generated stream changes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Stays,
    Moves,
    Jumps,
}

const KINDS: [(Kind, &str); 3] = [(Kind::Stays, "stays"), (Kind::Moves, "moves"), (Kind::Jumps, "jumps")];
const METHODS: [(Refresh, &str); 3] =
    [(Refresh::Never, "map stays"), (Refresh::Steadily, "one every 1000 points"), (Refresh::OnDrift, "on drift")];

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let n = if lab.quick() { 40_000 } else { 200_000 };
    let mut late = Vec::new();
    for (kind, name) in KINDS {
        for (partition, cells) in [(Partition::Voronoi, "Voronoi"), (Partition::Tree, "trees")] {
            let mut chart = LineChart::new(format!("Stream that {name}, {cells}")).x("points seen").y("mistakes in the last 2 %");
            for (refresh, method) in METHODS {
                let seeds: Vec<u64> = lab.seeds(3, 1).collect();
                let run = lab.run();
                let ours = lab.cell(name, &format!("{cells}, {method}"), None, |_| {
                    let start = Instant::now();
                    let rates = run.map("learn", seeds.len(), |i| mistakes(kind, n, partition, refresh, seeds[i]))?;
                    let mean = |rates: &[f64]| 100.0 * rates.iter().sum::<f64>() / rates.len() as f64;
                    let late: Vec<f64> = rates.iter().map(|rates| mean(&rates[rates.len() / 2..])).collect();
                    let late = late.iter().sum::<f64>() / late.len() as f64;
                    let step = n as f64 / 50.0;
                    let curve = (1..).zip(&rates[0]).map(|(at, &rate)| [f64::from(at) * step, rate]);
                    let ours = Ours::of(rates.iter().map(|rates| mean(rates)).collect()).drawn(curve);
                    Ok(ours.with(format!("second half {late:.2}")).took(start.elapsed().as_secs_f64()))
                })?;
                chart = chart.series(method, &ours.curve);
                late.push((name, cells, method, ours.mean()));
            }
            lab.figure(&format!("drift-{name}-{}", cells.to_lowercase()), chart.figure());
        }
    }
    let of = |name: &str, method: &str| late.iter().find(|row| row.0 == name && row.1 == "Voronoi" && row.2 == method).map_or(f64::NAN, |row| row.3);
    let steady = METHODS[1].1;
    lab.claim(
        "does renewing partitionings help on streams that change, without harm on one that does not",
        of("moves", steady) < of("moves", "map stays") && of("stays", steady) <= of("stays", "map stays") + 1.0,
        format!(
            "Voronoi cells, one renewed every 1000 points against none: {:.2} against {:.2} % mistakes on the stream that moves, {:.2} \
             against {:.2} % on the one that stays",
            of("moves", steady),
            of("moves", "map stays"),
            of("stays", steady),
            of("stays", "map stays")
        ),
    );
    lab.note(
        "generated: two classes of three Gaussian clouds each in five columns. `stays`: nothing changes. `moves`: the \
         clouds wander away from where the first 5000 points, which the map is made from, were. `jumps`: in the middle \
         all clouds are at new places. psi 256, t 100, eta 0.5; figures show one seed",
    );
    Ok(())
}

/// The share of mistakes in each fiftieth of the stream.
fn mistakes(kind: Kind, n: usize, partition: Partition, refresh: Refresh, seed: u64) -> eyot::Result<Vec<f64>> {
    let (points, targets) = stream(kind, n, seed)?;
    let map = IsolationMapParams::default().partition(partition);
    let params = LearnerParams::default().map(map).refresh(refresh).refresh_every(1000).seed(seed);
    let initial = points.select(&(0..INIT).collect::<Vec<_>>());
    let mut learner = params.check()?.start(initial.as_points(), eyot::Run::single())?;
    let mut wrong = vec![0.0; 50];
    prequential(&mut learner, points.as_points(), &targets, eyot::Run::single(), |row, predicted, _| {
        wrong[row * 50 / n] += f64::from(u8::from(predicted != targets.get(row)));
    })?;
    Ok(wrong.into_iter().map(|wrong| wrong * 50.0 / n as f64).collect())
}

/// A stream of two classes, each of three clouds.
fn stream(kind: Kind, n: usize, seed: u64) -> eyot::Result<(PointsBuf, Targets)> {
    let mut rng = rng_of(seed, Component::Synthetic, 77);
    let places = |rng: &mut Rng| -> Vec<[f64; COLUMNS]> {
        (0..6).map(|_| std::array::from_fn(|_| 4.0 * rng.open01())).collect()
    };
    let (first, second) = (places(&mut rng), places(&mut rng));
    let (mut values, mut classes) = (Vec::with_capacity(n * COLUMNS), Vec::with_capacity(n));
    for i in 0..n {
        let cloud = rng.below(6);
        let share = match kind {
            Kind::Stays => 0.0,
            Kind::Moves => 3.0 * i as f64 / n as f64,
            Kind::Jumps => f64::from(u8::from(i >= n / 2)),
        };
        for (from, to) in first[cloud].iter().zip(&second[cloud]) {
            values.push(from + share * (to - from + 2.0) + 0.7 * rng.normal());
        }
        classes.push(u32::from(cloud >= 3));
    }
    Ok((PointsBuf::from_dense(values, COLUMNS)?, Targets::Classes(classes)))
}
