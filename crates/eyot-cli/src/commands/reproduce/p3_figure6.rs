//! Paper 3, Figures 6 and 7: K_I and ‖Φ‖ when more and more anomalies are in the fitting data.

use eyot::{Component, Detector as _, Idk, IsolationMapParams, Norm, Partition, rng_of};
use eyot_io::plot::LineChart;

use super::lab::Lab;
use super::p3::{Data, T};
use super::results::Ours;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p3-figure6",
    title: "K_I and the norm of phi as anomalies get into the fitting data (Figures 6 and 7)",
    measure: Measure::shown("AUC", 3),
    run,
};

/// Data sets, and the ψ at which K_I is best.
const SETS: [(&str, &str, usize); 2] = [("ForestCover", "forestcover", 64), ("http", "http", 128)];

/// How many times the anomalies of the data are in the fitting data.
const FACTORS: [f64; 6] = [0.0, 0.5, 1.0, 2.0, 5.0, 10.0];

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    lab.note(
        "The fitting data are all normal rows and gamma times the anomalies; AUC is measured on the data as they are. \
         Both detectors have the same balls.",
    );
    for (name, file, psi) in SETS {
        let Some(data) = Data::load(lab, file)? else { continue };
        let mut curves = [Vec::new(), Vec::new()];
        for factor in FACTORS {
            // Both values of a run stand in one cell of twice as many numbers, K_I first.
            let mut both = None;
            for (at, method) in ["K_I", "norm of phi"].into_iter().enumerate() {
                let ours = lab.cell(name, &format!("{method}, gamma = {factor}"), None, |lab| {
                    if both.is_none() {
                        both = Some(measure(lab, &data, psi, factor)?);
                    }
                    let [similarity, norm] = both.clone().unwrap_or_default();
                    Ok(Ours::of(if at == 0 { similarity } else { norm }).with(format!("psi {psi}")))
                })?;
                curves[at].push([factor, ours.mean()]);
            }
        }
        let fall = |curve: &[[f64; 2]]| curve[2][1] - curve[curve.len() - 1][1];
        let [similarity, norm] = [fall(&curves[0]), fall(&curves[1])];
        if (similarity + norm).is_finite() {
            lab.claim(
                "K_I is stable as more anomalies get into the fitting data, the norm of phi is not",
                norm > similarity + 0.005 && similarity.abs() < 0.05,
                format!("{name}: from gamma = 1 to 10, AUC falls by {similarity:.3} for K_I and by {norm:.3} for the norm"),
            );
        }
        let chart = LineChart::new(format!("Anomalies in the fitting data, {name}"))
            .x("gamma: anomalies in the fitting data, times those in the data")
            .y("AUC")
            .series("K_I", &curves[0])
            .series("norm of phi", &curves[1]);
        lab.figure(&format!("p3-figure6-{file}"), chart.figure());
    }
    Ok(())
}

/// AUC of K_I and of ‖Φ‖ in every run.
fn measure(lab: &Lab<'_>, data: &Data, psi: usize, factor: f64) -> anyhow::Result<[Vec<f64>; 2]> {
    let mut values = [Vec::new(), Vec::new()];
    let (odd, normal): (Vec<usize>, Vec<usize>) = (0..data.anomalous.len()).partition(|&row| data.anomalous[row]);
    for seed in lab.seeds(5, 2) {
        let mut odd = odd.clone();
        rng_of(seed, Component::Permutation, 1).shuffle(&mut odd);
        let wanted = (factor * odd.len() as f64).round() as usize;
        // Whole copies, and a random part.
        let rows: Vec<usize> = normal.iter().copied().chain(odd.iter().copied().cycle().take(wanted)).collect();
        let fitted = data.points.select(&rows);
        let map = IsolationMapParams::default().partition(Partition::Sphere).psi(psi).t(T).seed(seed).check()?;
        let idk = Idk::fit(&map, fitted.as_points(), lab.run())?;
        values[0].push(data.auc(&idk.score(data.points(), lab.run())?)?);
        values[1].push(data.auc(&Norm::with_map(idk.map().clone())?.score(data.points(), lab.run())?)?);
    }
    Ok(values)
}
