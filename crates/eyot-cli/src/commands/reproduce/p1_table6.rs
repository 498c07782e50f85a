//! Paper 1, Table 6: seconds of IK-OGD with Voronoi cells, beside the paper's on a processor and on a graphics card.

use std::time::Instant;

use eyot::{IsolationMapParams, LearnerParams, batch};

use super::lab::Lab;
use super::online::Set;
use super::p1_table5;
use super::results::Ours;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p1-table6",
    title: "seconds of IK-OGD with Voronoi cells, training and testing",
    measure: Measure::shown("seconds", 1),
    run,
};

/// Data sets, published seconds on a processor and on a graphics card.
const PUBLISHED: [(&str, f64, f64); 4] =
    [("a9a", 5589.0, 3.0), ("ijcnn1", 11_999.0, 3.0), ("mnist", 56_774.0, 45.0), ("covtype", 100_081.0, 42.0)];

/// The cell of Table 5 that the same run has timed.
const TIMED: (&str, &str) = ("p1-table5", "IK-OGD (Voronoi)");
/// ψ where Table 5 has not chosen one.
const PSI: usize = 1024;

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let mut ratios = Vec::new();
    for (name, cpu, gpu) in PUBLISHED {
        let ours = lab.recall(TIMED.0, name, TIMED.1).and_then(|ours| Some((ours.seconds?, ours.setting.clone())));
        let timed = if let Some((seconds, setting)) = ours {
            Ours::of(vec![seconds]).with(setting)
        } else {
            let Some(set) = p1_table5::load(lab, name)? else { continue };
            lab.keep(EXPERIMENT.name, name, "timed", |lab| measure(lab, &set))?
        };
        lab.show(name, "beside the paper's processor", cpu, timed.clone());
        lab.show(name, "beside the paper's graphics card", gpu, timed.clone());
        ratios.push((name, cpu / timed.mean(), gpu / timed.mean()));
    }
    let ratios: Vec<_> = ratios.into_iter().filter(|ratio| ratio.1.is_finite()).collect();
    if ratios.is_empty() {
        return Ok(());
    }
    let words = ratios.iter().map(|(name, cpu, gpu)| format!("{name} {cpu:.0} and {gpu:.1} times"));
    lab.claim(
        "Voronoi cells are slow on a processor (up to four orders of magnitude slower than on a graphics card)",
        ratios.iter().all(|ratio| ratio.1 < 10.0),
        format!(
            "with the search of this program a processor is enough; seconds of the paper's processor and graphics card over \
             ours: {}",
            words.collect::<Vec<_>>().join(", ")
        ),
    );
    lab.note("The same runs as in p1-table5, learning and predicting included. The paper's processor ran at 1.8 GHz, its cards are two GTX 1080 Ti.");
    if lab.quick() {
        lab.note("quick: at most 20,000 training points, the paper used all");
    }
    Ok(())
}

fn measure(lab: &Lab<'_>, set: &Set) -> anyhow::Result<Ours> {
    let n_train = set.n_train.min(if lab.quick() { 20_000 } else { usize::MAX });
    let all = set.points.as_points();
    let (train, test) = (all.slice(0..n_train), all.slice(set.n_train..set.points.n_rows()));
    let select = |rows: std::ops::Range<usize>| set.targets.select(&rows.collect::<Vec<_>>());
    let (wanted, truth) = (select(0..n_train), select(set.n_train..set.points.n_rows()));
    let params = LearnerParams::default().eta(Some(0.5)).map(IsolationMapParams::default().psi(PSI)).check()?;
    let start = Instant::now();
    let mut learner = params.start(train, lab.run())?;
    batch(&mut learner, (train, &wanted), (test, &truth), lab.run())?;
    Ok(Ours::of(vec![start.elapsed().as_secs_f64()]).with(format!("psi {PSI}")))
}
