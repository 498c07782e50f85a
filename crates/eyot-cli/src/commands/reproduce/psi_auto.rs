//! What `--psi auto` costs against the ψ picked with labels, and what it saves against any fixed ψ.

use eyot::{DetectorParams, ScaleRule};
use eyot_io::plot::LineChart;

use super::lab::Lab;
use super::p3::{Data, SETS, T};
use super::results::Ours;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "psi-auto",
    title: "AUC of --psi auto, of every fixed psi, and of the psi picked with labels",
    measure: Measure::shown("AUC", 3),
    run,
};

/// Rows times ψ up to which a fixed ψ is tried; beyond, AUC is that of the largest ψ tried.
const MOST_WORK: usize = 1 << 28;
const QUICK_WORK: usize = 1 << 24;

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    lab.note(format!("t = {T}; columns scaled to 0…1. `cargo xtask detectors` scores the same files with other programs."));
    let work = if lab.quick() { QUICK_WORK } else { MOST_WORK };
    let grid: Vec<usize> = (1..=12).map(|m| 1 << m).collect();
    let (mut autos, mut bests, mut fixed) = (Vec::new(), Vec::new(), vec![Vec::new(); grid.len()]);
    let mut worst = (f64::NEG_INFINITY, "");
    for set in &SETS {
        let Some(data) = Data::load(lab, set.file)? else { continue };
        let tried = data.grid(work);
        let auto = lab.cell(set.name, "auto", None, |lab| {
            let auc = |seed| -> anyhow::Result<f64> {
                let params = DetectorParams::default().t(T).seed(seed).check()?;
                Ok(data.auc(&params.fit_score(data.points(), lab.run())?.1)?)
            };
            Ok(Ours::of(lab.seeds(3, 1).map(auc).collect::<anyhow::Result<_>>()?))
        })?;
        // All fixed ψ of a run come from one sweep; their means are remembered in one cell.
        let means = lab.cell(set.name, "K_I, psi = 2, 4, 8, …", None, |lab| {
            let runs: Vec<Vec<f64>> = lab
                .seeds(3, 1)
                .map(|seed| data.auc_of_balls(ScaleRule::Similarity, &tried, seed, lab.run()))
                .collect::<eyot::Result<_>>()?;
            let mean = |k: usize| runs.iter().map(|run| run[k]).sum::<f64>() / runs.len() as f64;
            Ok(Ours::of((0..tried.len()).map(mean).collect()).with("mean over psi"))
        })?;
        if auto.runs.is_empty() || means.runs.is_empty() {
            continue;
        }
        let best = means.runs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let at = means.runs.iter().position(|&auc| auc == best).unwrap_or(0);
        lab.show(set.name, "K_I, psi picked with labels", None, Ours::of(vec![best]).with(format!("psi {}", grid[at])));
        for (k, fixed) in fixed.iter_mut().enumerate() {
            fixed.push(means.runs.get(k).or(means.runs.last()).copied().unwrap_or(f64::NAN));
        }
        if best - auto.mean() > worst.0 {
            worst = (best - auto.mean(), set.name);
        }
        autos.push(auto.mean());
        bests.push(best);
    }
    if autos.is_empty() {
        return Ok(());
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let curve: Vec<[f64; 2]> = grid.iter().zip(&fixed).map(|(&psi, values)| [psi as f64, mean(values)]).collect();
    for &[psi, auc] in &curve {
        lab.show("mean of all sets", &format!("K_I, psi = {psi}"), None, Ours::of(vec![auc]));
    }
    lab.note(format!(
        "Mean over {} sets: auto {:.3}, picked with labels {:.3}, best fixed psi {:.3}. Auto is {:.3} below the pick on \
         average, {:.3} at the worst ({}).",
        autos.len(),
        mean(&autos),
        mean(&bests),
        curve.iter().map(|point| point[1]).fold(f64::NEG_INFINITY, f64::max),
        mean(&bests) - mean(&autos),
        worst.0,
        worst.1
    ));
    let chart = LineChart::new("Mean AUC over all sets")
        .x("psi")
        .y("AUC")
        .log_x()
        .series("K_I at a fixed psi", &curve)
        .level(mean(&autos), "auto")
        .level(mean(&bests), "picked with labels");
    lab.figure("psi-auto", chart.figure());
    Ok(())
}
