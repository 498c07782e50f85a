//! Paper 3, Figure 5: how much K_I varies from run to run, with 100 and with 1000 partitionings.

use eyot::{Idk, IsolationMapParams, Partition};
use eyot_io::plot::BoxPlot;

use super::lab::Lab;
use super::p3::Data;
use super::results::Ours;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p3-figure5",
    title: "K_I over ten seeds: the spread shrinks as t grows (Figure 5)",
    measure: Measure::shown("AUC", 4),
    run,
};

/// Data sets, and the ψ at which they are best.
const SETS: [(&str, &str, usize); 2] = [("ForestCover", "forestcover", 64), ("smtp", "smtp", 128)];

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let sizes = if lab.quick() { [50, 200] } else { [100, 1000] };
    for (name, file, psi) in SETS {
        let Some(data) = Data::load(lab, file)? else { continue };
        let mut plot = BoxPlot::new(format!("AUC of K_I on {name}")).x("AUC");
        let mut spreads = Vec::new();
        for t in sizes {
            let ours = lab.cell(name, &format!("K_I, t = {t}"), None, |lab| {
                let auc = |seed| -> anyhow::Result<f64> {
                    let map = IsolationMapParams::default().partition(Partition::Sphere).psi(psi).t(t).seed(seed);
                    Ok(data.auc(&Idk::fit_score(&map.check()?, data.points(), lab.run())?.1)?)
                };
                let runs = lab.seeds(10, 4).map(auc).collect::<anyhow::Result<Vec<f64>>>()?;
                Ok(Ours::of(runs).with(format!("psi {psi}")))
            })?;
            plot = plot.group(format!("t = {t}"), &ours.runs);
            spreads.push(ours.std().unwrap_or(f64::NAN));
        }
        lab.claim(
            "the scores become more stable as t grows",
            spreads[1] < spreads[0],
            format!(
                "{name}: the standard deviation of AUC over seeds goes from {:.4} to {:.4} as t grows from {} to {}",
                spreads[0], spreads[1], sizes[0], sizes[1]
            ),
        );
        lab.figure(&format!("p3-figure5-{file}"), plot.figure());
    }
    Ok(())
}
