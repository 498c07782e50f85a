//! Paper 1, Figure 2: lines of equal similarity to one point, on even and on uneven data.

use serde_json::Value;

use super::lab::Lab;
use super::results::Ours;
use super::{Experiment, Measure};
use crate::commands::demo::contours;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p1-figure2",
    title: "how far to the sparse side similarity stays above half",
    measure: Measure::shown("distance from the middle; 1 is the edge", 2),
    run,
};

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let stop = contours::stop(lab.seeds(1, 1).start, lab.run())?;
    for row in &stop.rows {
        let [kernel, set, _, right] = row.as_slice() else { continue };
        let (kernel, set) = (kernel.as_str().unwrap_or_default(), set.as_str().unwrap_or_default());
        lab.cell(set, kernel, None, |_| Ok(Ours::of(vec![right.as_f64().unwrap_or(f64::NAN)]).with("psi 10, t 1000")))?;
    }
    let reach = |at: usize, side: usize| stop.rows[at][side].as_f64().unwrap_or(f64::NAN);
    // Rows 3 and 4: Voronoi cells and trees on two densities; columns 2 and 3: to the dense and to the sparse side.
    lab.claim(
        "lines of equal similarity are stretched along the sparse region and compressed in the dense one",
        (3..5).all(|at| reach(at, 3) > reach(at, 2)),
        stop.finding.clone(),
    );
    let figures = stop.figures.into_iter().flat_map(|(_, figures)| figures);
    for (figure, row) in figures.zip(&stop.rows) {
        let name = row[..2].iter().filter_map(Value::as_str).collect::<Vec<_>>().join("-").replace(' ', "-");
        lab.figure(&format!("p1-figure2-{name}"), figure);
    }
    Ok(())
}
