//! Beyond the papers: how seconds grow with the rows, the length of the stream, and the number of bags.

use std::time::Instant;

use eyot::{
    AnyKernel, Component, Detector, Gaussian, GaussianMean, Idk, Inne, IskParams, IsolationForest, IsolationMapParams, LearnerParams,
    Method, OneClassSvm, Partition, PointsBuf, Targets, prequential, rng_of,
};
use eyot_io::plot::LineChart;

use super::lab::Lab;
use super::p4_table5::speakers;
use super::results::Ours;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cost",
    title: "seconds as rows, streams and numbers of bags grow, one thread",
    measure: Measure::shown("seconds", 3),
    run,
};

/// Columns of the generated data.
const COLUMNS: usize = 10;
const PSI: usize = 256;
const T: usize = 100;

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    detectors(lab)?;
    learners(lab)?;
    bags(lab)?;
    lab.note(format!(
        "Generated: ten clusters of different width in {COLUMNS} columns. psi = {PSI}, t = {T}; one thread, one run, so that \
         neighbouring points may differ by the noise of the machine."
    ));
    Ok(())
}

/// Rows of ten clusters, and the parity of their cluster.
fn clusters(n: usize, seed: u64) -> eyot::Result<(PointsBuf, Targets)> {
    let mut rng = rng_of(seed, Component::Synthetic, 13);
    let centres: Vec<[f64; COLUMNS]> = (0..10).map(|_| std::array::from_fn(|_| 10.0 * rng.open01())).collect();
    let (mut values, mut classes) = (Vec::with_capacity(n * COLUMNS), Vec::with_capacity(n));
    for _ in 0..n {
        let cluster = rng.below(10);
        values.extend(centres[cluster].map(|x| x + 0.2 * (cluster + 1) as f64 * rng.normal()));
        classes.push(cluster as u32 % 2);
    }
    Ok((PointsBuf::from_dense(values, COLUMNS)?, Targets::Classes(classes)))
}

fn detectors(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let sizes: &[usize] = if lab.quick() { &[1000, 4000, 16_000] } else { &[1000, 4000, 16_000, 64_000, 256_000, 1_000_000] };
    let seed = lab.seeds(1, 1).start;
    let mut chart = LineChart::new("Detectors: seconds to fit and score").x("rows").y("seconds").log_x().log_y();
    for (method, most) in [("K_I", usize::MAX), ("iNNE", 256_000), ("iForest", usize::MAX), ("K_G", 16_000), ("OCSVM", 16_000)] {
        let mut curve = Vec::new();
        for &n in sizes.iter().filter(|&&n| n <= most) {
            let ours = lab.cell(&format!("{n} rows"), method, None, |lab| {
                let (points, _) = clusters(n, seed)?;
                let (points, run) = (points.as_points(), lab.single());
                let start = Instant::now();
                let detector: Box<dyn Detector> = match method {
                    "K_I" => {
                        let map = IsolationMapParams::default().partition(Partition::Sphere).psi(PSI).t(T).seed(seed).check()?;
                        Box::new(Idk::fit(&map, points, run)?)
                    }
                    "iNNE" => Box::new(Inne::fit(PSI, T, seed, points, run)?),
                    "iForest" => Box::new(IsolationForest::fit(PSI, T, seed, points, run)?),
                    "K_G" => Box::new(GaussianMean::fit(Some(1.0), seed, points)?),
                    _ => Box::new(OneClassSvm::fit(Some(1.0), 0.5, seed, points, run)?),
                };
                detector.score(points, run)?;
                Ok(Ours::of(vec![start.elapsed().as_secs_f64()]))
            })?;
            curve.push([n as f64, ours.mean()]);
        }
        chart = chart.series(method, &curve);
    }
    lab.figure("cost-detectors", chart.figure());
    Ok(())
}

fn learners(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let n = if lab.quick() { 10_000 } else { 100_000 };
    let seed = lab.seeds(1, 1).start;
    let mut chart = LineChart::new("Online learners: seconds so far").x("points of the stream").y("seconds").log_x().log_y();
    let trees = IsolationMapParams::default().partition(Partition::Tree).psi(PSI).t(T);
    let gaussian = Some(AnyKernel::Gaussian(Gaussian { gamma: 0.1 }));
    for (method, params) in [
        ("IK-OGD, trees", LearnerParams::default().map(trees)),
        ("IK-OGD, Voronoi", LearnerParams::default().map(IsolationMapParams::default().psi(PSI).t(T))),
        ("RRF", LearnerParams::default().method(Method::Rrf).frequencies(Some(100))),
        ("FOGD", LearnerParams::default().method(Method::Fogd).kernel(gaussian).frequencies(Some(1000))),
        ("NOGD", LearnerParams::default().method(Method::Nogd).kernel(gaussian).budget(Some(1000)).rank(Some(200))),
        ("Projectron", LearnerParams::default().method(Method::Projectron).kernel(gaussian).budget(Some(1000))),
        ("OGD", LearnerParams::default().method(Method::Ogd).kernel(gaussian)),
        ("Perceptron", LearnerParams::default().method(Method::Perceptron).kernel(gaussian)),
    ] {
        let ours = lab.cell(&format!("stream of {n} points"), method, None, |lab| {
            let (points, targets) = clusters(n, seed)?;
            let points = points.as_points();
            let start = Instant::now();
            let mut learner = params.clone().seed(seed).check()?.start(points.slice(0..1000), lab.single())?;
            let (mut curve, mut next) = (Vec::new(), 1000);
            let wrong = prequential(&mut learner, points, &targets, lab.single(), |row, _, _| {
                if row + 1 == next {
                    curve.push([next as f64, start.elapsed().as_secs_f64()]);
                    next = next * 5 / 4;
                }
            })?;
            let seconds = start.elapsed().as_secs_f64();
            Ok(Ours::of(vec![seconds]).with(format!("mistakes {:.2} %", 100.0 * wrong.mistake_rate())).drawn(curve))
        })?;
        chart = chart.series(method, &ours.curve);
    }
    lab.figure("cost-learners", chart.figure());
    Ok(())
}

fn bags(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let sizes: &[usize] = if lab.quick() { &[50, 100, 200] } else { &[50, 100, 200, 400, 800] };
    let seed = lab.seeds(1, 1).start;
    let mut chart = LineChart::new("ISK: seconds to map, or to compare all bags").x("bags of about 20 rows").y("seconds").log_x().log_y();
    for method in ["isk, feature map", "isk, kernel of all pairs"] {
        let mut curve = Vec::new();
        for &n in sizes {
            let ours = lab.cell(&format!("{n} bags"), method, None, |lab| {
                let of = speakers(n, 20, seed)?;
                let run = lab.single();
                let map = IsolationMapParams::default().psi(64).t(200).seed(seed);
                let start = Instant::now();
                let map = IskParams::default().map(map).check()?.fit_map(of.sets.points(), run)?;
                if method == "isk, feature map" {
                    map.vectors(&of.sets, run)?;
                } else {
                    map.matrix(&of.sets, &of.sets, run)?;
                }
                Ok(Ours::of(vec![start.elapsed().as_secs_f64()]))
            })?;
            curve.push([n as f64, ours.mean()]);
        }
        chart = chart.series(method, &curve);
    }
    lab.figure("cost-bags", chart.figure());
    Ok(())
}
