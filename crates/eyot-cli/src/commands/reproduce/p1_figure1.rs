//! Paper 1, Figure 1: on uniform data the Isolation Kernel looks like the Laplacian kernel.

use eyot::{Component, IsolationMapParams, Kernel as _, Laplacian, Partition, PointsBuf, rng_of};
use eyot_io::plot::{Contour, LineChart};

use super::lab::Lab;
use super::results::Ours;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p1-figure1",
    title: "Isolation Kernel and Laplacian kernel around the middle of uniform data",
    measure: Measure::shown("similarity to the middle", 3),
    run,
};

/// As in the paper.
const PSI: usize = 256;
/// Points of a side of the grid; odd, so that the middle is one of them.
const GRID: usize = 41;
/// Data points.
const N: usize = 10_000;
/// L1 distances in steps of the grid, each an even number: 0.1, 0.2, … 0.8.
const STEPS: [usize; 6] = [2, 4, 6, 8, 12, 16];

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let (seed, t) = (lab.seeds(1, 1).start, if lab.quick() { 1000 } else { 10_000 });
    let mut rng = rng_of(seed, Component::Synthetic, 11);
    let data: Vec<[f64; 2]> = (0..N).map(|_| [(); 2].map(|()| 2.0 * rng.open01() - 1.0)).collect();
    let grid = Contour::grid((-1.0, 1.0), (-1.0, 1.0), GRID, GRID);
    let places = PointsBuf::from_rows(&grid)?;
    let middle = grid.len() / 2;

    let mut fields: Vec<(&str, Vec<f64>)> = Vec::new();
    let map = IsolationMapParams::default().psi(PSI).t(t).seed(seed);
    let trees = map.clone().partition(Partition::Tree);
    for (params, name) in [
        (trees.clone(), "IK, trees"),
        (trees.max_height(Some(PSI.ilog2())), "IK, low trees"),
        (map, "IK, Voronoi"),
    ] {
        let map = params.check()?.fit(PointsBuf::from_rows(&data)?.as_points(), lab.run())?;
        let codes = map.encode(places.as_points(), lab.run())?;
        fields.push((name, codes.rows().map(|row| row.similarity(codes.row(middle))).collect()));
    }
    let mut laplacian = vec![0.0; grid.len()];
    Laplacian::of_psi(PSI as f64, 2).row_into(places.row(middle), places.as_points(), &mut laplacian);
    fields.push(("Laplacian", laplacian));

    let step = 2.0 / (GRID - 1) as f64;
    let along = |steps: usize| middle + steps;
    let slanted = |steps: usize| middle + steps / 2 * GRID + steps / 2;
    let mut chart = LineChart::new("Similarity to the middle, on a line").x("distance to the right").y("similarity");
    for (name, field) in &fields {
        for steps in STEPS {
            let distance = format!("L1 distance {:.1}", steps as f64 * step);
            lab.show(&distance, &format!("{name}, along a column"), None, Ours::of(vec![field[along(steps)]]));
            lab.show(&distance, &format!("{name}, slanted"), None, Ours::of(vec![field[slanted(steps)]]));
        }
        let line: Vec<[f64; 2]> = (0..=GRID / 2).map(|i| [i as f64 * step, field[middle + i]]).collect();
        chart = chart.series(*name, &line);
    }
    let [trees, low, _, laplacian] = fields.as_slice() else { unreachable!("four kernels") };
    let at = |field: &(&str, Vec<f64>), steps: usize| field.1[along(steps)];
    let slant = |field: &(&str, Vec<f64>)| field.1[slanted(4)] / field.1[along(4)];
    lab.claim(
        "under uniform density the Isolation Kernel with trees approximates the Laplacian kernel",
        None,
        format!(
            "both have a sharp peak and fall the slower the farther away, but not at the same rate: at distances of 0.1, 0.2 \
             and 0.4 along a column the Laplacian has {:.2}, {:.2} and {:.2}, trees that isolate every point {:.2}, {:.2} and {:.2}, \
             trees of height log2 psi (as the authors' program grows them) {:.2}, {:.2} and {:.2}. Lines of equal similarity are \
             drawn out along the columns: at an L1 distance of 0.2 the slanted similarity is {:.2} of that along a column for trees, \
             {:.2} for low ones, 1 for the Laplacian",
            at(laplacian, 2),
            at(laplacian, 4),
            at(laplacian, 8),
            at(trees, 2),
            at(trees, 4),
            at(trees, 8),
            at(low, 2),
            at(low, 4),
            at(low, 8),
            slant(trees),
            slant(low)
        ),
    );
    lab.note(format!(
        "psi = {PSI}, t = {t}, {N} points drawn uniformly from a square of side 2. Low trees and Voronoi cells are not in the \
         paper's figure."
    ));
    lab.figure("p1-figure1-line", chart.figure());
    let levels: Vec<f64> = (1..10).map(|tenth| f64::from(tenth) / 10.0).collect();
    for (name, field) in &fields {
        let mut values = field.iter();
        let contour = Contour::new(*name, (-1.0, 1.0), (-1.0, 1.0), GRID, GRID, |_| values.next().copied().unwrap_or(f64::NAN));
        let figure = contour.levels(&levels).mark([0.0, 0.0], "the middle").size(360.0, 330.0).figure();
        lab.figure(&format!("p1-figure1-{}", name.to_lowercase().replace([',', ' '], "-").replace("--", "-")), figure);
    }
    Ok(())
}
