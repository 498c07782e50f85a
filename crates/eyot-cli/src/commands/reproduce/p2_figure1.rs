//! Paper 2, Figures 1 and 2: mistakes and seconds as the number of random features grows.

use eyot::{LearnerParams, Method, OnlineLoss, Scale, Targets};
use eyot_io::plot::LineChart;

use super::lab::Lab;
use super::online::{Set, class_numbers, passes, random_part, train_and_test};
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p2-figure1",
    title: "mistakes and seconds of RRF and FOGD as D grows (Figures 1 and 2)",
    measure: Measure::shown("mistakes, %", 2),
    run,
};

/// Numbers of frequencies: the paper's for RRF, up to its 1,600 for FOGD.
const RRF: [usize; 7] = [10, 20, 50, 100, 150, 200, 400];
const FOGD: [usize; 6] = [20, 50, 100, 200, 400, 1600];
/// Those of a short answer.
const QUICK_RRF: [usize; 4] = [10, 20, 100, 400];
const QUICK_FOGD: [usize; 3] = [20, 100, 1600];
const QUICK_POINTS: usize = 8000;

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    if let Some(set) = lab.classes("online/codrna_30k_rowz", Scale::MinMax)? {
        let (targets, n_train) = (Targets::Classes(class_numbers(&set)), set.points.n_rows());
        sweep(lab, "codrna_30k_rowz", Set { points: set.points, targets, n_train })?;
    }
    if let Some(set) = train_and_test(lab, "ijcnn1")? {
        sweep(lab, "ijcnn1", set)?;
    }
    lab.note(
        "The paper has cod-rna; codrna_30k_rowz (30,000 of its rows, each standardised by itself) stands in for it. eta, and \
         gamma of FOGD, are tuned for every D over the paper's grids on a tenth of the points.",
    );
    if lab.quick() {
        lab.note(format!("quick: {QUICK_POINTS} random points"));
    }
    Ok(())
}

fn sweep(lab: &mut Lab<'_>, name: &str, set: Set) -> anyhow::Result<()> {
    let quick = lab.quick();
    let set = if quick { random_part(set, QUICK_POINTS) } else { set };
    let sizes: [&[usize]; 2] = if quick { [&QUICK_RRF, &QUICK_FOGD] } else { [&RRF, &FOGD] };
    let mut curves = [Vec::new(), Vec::new()];
    let mut seconds = [Vec::new(), Vec::new()];
    for (at, (method, params)) in [
        ("RRF-Hinge", LearnerParams::default().method(Method::Rrf).loss(Some(OnlineLoss::Hinge))),
        ("FOGD", LearnerParams::default().method(Method::Fogd)),
    ]
    .into_iter()
    .enumerate()
    {
        for &d in sizes[at] {
            let ours = lab.cell(name, &format!("{method}, D = {d}"), None, |lab| {
                passes(lab, &params.clone().frequencies(Some(d)), &set, 10, (3, 100.0))
            })?;
            curves[at].push([d as f64, ours.mean()]);
            seconds[at].push([d as f64, ours.seconds.unwrap_or(f64::NAN)]);
        }
    }
    let chart = |title: &str, y: &str, lines: &[Vec<[f64; 2]>; 2]| {
        LineChart::new(format!("{title}, {name}")).x("D").y(y).log_x().series("RRF-Hinge", &lines[0]).series("FOGD", &lines[1])
    };
    lab.figure(&format!("p2-figure1-{name}"), chart("Mistakes", "mistakes, %", &curves).figure());
    lab.figure(&format!("p2-figure2-{name}"), chart("Seconds of all runs", "seconds", &seconds).log_y().figure());
    let at = |curve: &[[f64; 2]], d: f64| curve.iter().find(|point| point[0] == d).map_or(f64::NAN, |point| point[1]);
    let (small, large) = (at(&curves[0], 20.0), at(&curves[1], 1600.0));
    if (small + large).is_finite() {
        lab.claim_on_stand_in(
            "RRF with 20 frequencies makes fewer mistakes than FOGD with 1,600 (on cod-rna)",
            small < large,
            format!("{name}: {small:.2} % against {large:.2} %"),
        );
        let [first, last] = [curves[0][0][1], curves[0][curves[0].len() - 1][1]];
        lab.claim_on_stand_in(
            "the error of RRF falls as D grows, its time grows",
            last < first,
            format!("{name}: from {first:.2} % at D = {} to {last:.2} % at D = {}", sizes[0][0], sizes[0][sizes[0].len() - 1]),
        );
    }
    Ok(())
}
