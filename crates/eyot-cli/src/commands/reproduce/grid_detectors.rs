//! Beyond the papers: all detectors on all sets of paper 3 at hand, in one comparison, with the one that needs no labels.

use eyot::DetectorParams;

use super::lab::Lab;
use super::p3::{Data, SETS, T};
use super::p3_table2::{METHODS, auc};
use super::ranks::compare;
use super::results::Ours;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "grid-detectors",
    title: "all detectors on all anomaly sets at hand: average ranks",
    measure: Measure::shown("AUC", 3),
    run,
};

/// What `eyot detect` does by itself.
const AUTO: &str = "auto, no labels";

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let mut figures = Vec::new();
    for set in &SETS {
        let Some(data) = Data::load(lab, set.file)? else { continue };
        let mut row = Vec::new();
        for method in METHODS {
            row.push(lab.cell_of("p3-table2", set.name, method, None, |lab| auc(lab, &data, method))?.mean());
        }
        // The cell of psi-auto.
        let auto = lab.keep("psi-auto", set.name, "auto", |lab| {
            let auc = |seed| -> anyhow::Result<f64> {
                let params = DetectorParams::default().t(T).seed(seed).check()?;
                Ok(data.auc(&params.fit_score(data.points(), lab.run())?.1)?)
            };
            Ok(Ours::of(lab.seeds(3, 1).map(auc).collect::<anyhow::Result<_>>()?))
        })?;
        row.push(lab.show(set.name, AUTO, None, auto).mean());
        figures.push(row);
    }
    let names: Vec<&str> = METHODS.into_iter().chain([AUTO]).collect();
    let means: Vec<f64> = (0..names.len()).map(|at| figures.iter().map(|row| row[at]).sum::<f64>() / figures.len().max(1) as f64).collect();
    let Some(ranks) = compare(lab, "grid-detectors", "all detectors", &names, &figures) else { return Ok(()) };
    let best = (0..names.len()).min_by(|&a, &b| ranks.mean_ranks[a].total_cmp(&ranks.mean_ranks[b])).unwrap_or(0);
    lab.claim(
        "is K_I the best detector when all are compared at once",
        best == 0,
        format!(
            "the best average rank has {} ({:.2}), K_I {:.2}; mean AUC: {}",
            names[best],
            ranks.mean_ranks[best],
            ranks.mean_ranks[0],
            names.iter().zip(&means).map(|(name, mean)| format!("{name} {mean:.3}")).collect::<Vec<_>>().join(", ")
        ),
    );
    lab.note("The cells are those of p3-table2, every detector at the setting that its labels make best, and of psi-auto, which sees no labels.");
    Ok(())
}
