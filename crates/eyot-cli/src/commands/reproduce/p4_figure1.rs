//! Paper 4, Figures 1 and 2: set similarity follows the density of the data.

use eyot::{
    Bags, Component, Gaussian, IskParams, IsolationMapParams, IsolationSetMap, Kernel, Points, PointsBuf, Run, Sets,
    rng_of,
};
use eyot_io::plot::{Contour, LineChart};

use super::lab::Lab;
use super::results::Ours;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p4-figure1",
    title: "ISK between a small set and its shifted copies: stretched into the sparse side",
    measure: Measure::shown("similarity at a shift of 0.5 to the dense and to the sparse side", 3),
    run,
};

pub(super) const FIGURE2: Experiment = Experiment {
    name: "p4-figure2",
    title: "set pairs at the same distance are more similar where data is sparse",
    measure: Measure::shown("K in the sparse region less K in the dense one", 3),
    run: run_figure2,
};

/// Points of a side of the grid of shifts.
const GRID: usize = 41;

/// The small set: four points around the origin.
const CROSS: [[f64; 2]; 4] = [[0.0, 0.1], [0.0, -0.1], [0.1, 0.0], [-0.1, 0.0]];

/// 5,050 points of the square [−1, 1]²; with `two` densities, 5,000 of them at x < 0.
fn square(two: bool, seed: u64) -> PointsBuf {
    let mut rng = rng_of(seed, Component::Synthetic, 5);
    let mut points = PointsBuf::dense(2);
    for i in 0..5050 {
        let x = if !two {
            2.0 * rng.open01() - 1.0
        } else if i < 5000 {
            -rng.open01()
        } else {
            rng.open01()
        };
        points.push(eyot::Row::F64(&[x, 2.0 * rng.open01() - 1.0]));
    }
    points
}

fn shifted([x, y]: [f64; 2]) -> Vec<[f64; 2]> {
    CROSS.iter().map(|[a, b]| [a + x, b + y]).collect()
}

/// Sets of four points, one per shift.
fn crosses(shifts: &[[f64; 2]]) -> anyhow::Result<Sets> {
    let rows: Vec<[f64; 2]> = shifts.iter().flat_map(|&shift| shifted(shift)).collect();
    Ok(Sets::new(PointsBuf::from_rows(&rows)?.as_points(), &Bags::from_sizes(&vec![4; shifts.len()])?)?)
}

fn isk(data: &PointsBuf, psi: usize, t: usize, seed: u64, run: Run<'_>) -> eyot::Result<IsolationSetMap> {
    let map = IsolationMapParams::default().psi(psi).t(t).seed(seed);
    IskParams::default().map(map).normalise(false).check()?.fit_map(data.as_points(), run)
}

/// The mean Gaussian kernel between two sets.
fn mi_kernel(s: Points<'_>, t: Points<'_>) -> f64 {
    let kernel = Gaussian { gamma: 8.0 };
    let sum: f64 = s.rows().map(|x| t.rows().map(|y| kernel.value(x, y)).sum::<f64>()).sum();
    sum / (s.n_rows() * t.n_rows()) as f64
}

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let (seed, t) = (lab.seeds(1, 1).start, if lab.quick() { 200 } else { 1000 });
    let grid = Contour::grid((-1.0, 1.0), (-1.0, 1.0), GRID, GRID);
    let sets = crosses(&grid)?;
    let middle = grid.len() / 2;
    let mut sides = Vec::new();
    for (name, two) in [("uniform", false), ("1:100 across x = 0", true)] {
        let data = square(two, seed);
        let map = isk(&data, 32, t, seed, lab.run())?;
        let vectors = map.vectors(&sets, lab.run())?;
        let field: Vec<f64> = (0..grid.len()).map(|at| map.kernel(vectors.row(middle), vectors.row(at))).collect();
        sides.push(measure(lab, name, "isk, psi 32", &field));
        picture(lab, &format!("ISK, {name}"), &field);
    }
    let field: Vec<f64> = (0..grid.len()).map(|at| mi_kernel(sets.bag(middle), sets.bag(at))).collect();
    let [left, right] = measure(lab, "any data", "mi-kernel, gamma 8", &field);
    picture(lab, "MI-Kernel, any data", &field);
    let [dense, sparse] = sides[1];
    lab.claim(
        "ISK adapts to the data, stretched into the sparse side; MI-Kernel has the same lines whatever the data",
        sparse > 2.0 * dense && (left - right).abs() < 1e-9,
        format!(
            "half a unit away ISK keeps {sparse:.2} of its value on the sparse side and {dense:.2} on the dense one ({:.2} and {:.2} on \
             uniform data), MI-Kernel {left:.2} on both",
            sides[0][0], sides[0][1]
        ),
    );
    Ok(())
}

/// Similarity at a shift of 0.5 to either side, as a share of that without a shift.
fn measure(lab: &mut Lab<'_>, data: &str, method: &str, field: &[f64]) -> [f64; 2] {
    let (middle, half) = (field.len() / 2, GRID / 4);
    let shares = [middle - half, middle + half].map(|place| field[place] / field[middle]);
    for (side, share) in ["to the left", "to the right"].into_iter().zip(shares) {
        lab.show(data, &format!("{method}, {side}"), None, Ours::of(vec![share]));
    }
    shares
}

fn picture(lab: &mut Lab<'_>, title: &str, field: &[f64]) {
    let highest = field.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut values = field.iter();
    let levels: Vec<f64> = (1..10).map(|tenth| f64::from(tenth) / 10.0).collect();
    let next = |_| values.next().map_or(f64::NAN, |value| value / highest);
    let figure = Contour::new(title, (-1.0, 1.0), (-1.0, 1.0), GRID, GRID, next)
        .levels(&levels)
        .mark([0.0, 0.0], "the set of reference")
        .size(360.0, 330.0)
        .figure();
    let name: String = title.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    lab.figure(&format!("p4-figure1-{name}"), figure);
}

fn run_figure2(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let (seed, t) = (lab.seeds(1, 1).start, if lab.quick() { 400 } else { 2000 });
    let data = square(true, seed);
    let pair = |distance: f64, psi: usize, run: Run<'_>| -> anyhow::Result<[f64; 2]> {
        // One pair of sets in the middle of each half, one above the other.
        let places = [0.5, -0.5].map(|x| [[x, -distance / 2.0], [x, distance / 2.0]]);
        let sets = crosses(&places.concat())?;
        let map = isk(&data, psi, t, seed, run)?;
        let vectors = map.vectors(&sets, run)?;
        Ok([0, 2].map(|at| map.kernel(vectors.row(at), vectors.row(at + 1))))
    };
    let mut by_psi = Vec::new();
    for psi in [2, 4, 8, 12, 16, 32, 64, 128, 512, 2048] {
        let [sparse, dense] = pair(0.3, psi, lab.run())?;
        by_psi.push((psi as f64, sparse, dense));
        lab.show("distance 0.3", &format!("psi {psi}"), None, Ours::of(vec![sparse - dense]));
    }
    let mut by_distance = Vec::new();
    for tenths in 1..=8 {
        let distance = f64::from(tenths) / 10.0;
        let [sparse, dense] = pair(distance, 12, lab.run())?;
        by_distance.push((distance, sparse, dense));
        lab.show("psi 12", &format!("distance {distance}"), None, Ours::of(vec![sparse - dense]));
    }
    let above = by_psi.iter().chain(&by_distance).filter(|(_, sparse, dense)| sparse > dense).count();
    let settings = by_psi.len() + by_distance.len();
    lab.claim(
        "two sets at the same distance are more similar where data is sparse, for every psi and every distance",
        above == settings,
        format!("in {above} of {settings} settings"),
    );
    let chart = |title: &str, x: &str, rows: &[(f64, f64, f64)]| {
        let sparse: Vec<[f64; 2]> = rows.iter().map(|&(x, sparse, _)| [x, sparse]).collect();
        let dense: Vec<[f64; 2]> = rows.iter().map(|&(x, _, dense)| [x, dense]).collect();
        LineChart::new(title).x(x).y("K(S, T)").series("sparse region", &sparse).series("dense region", &dense)
    };
    lab.figure("p4-figure2-psi", chart("Distance 0.3", "psi", &by_psi).log_x().figure());
    lab.figure("p4-figure2-distance", chart("psi 12", "distance", &by_distance).figure());
    Ok(())
}
