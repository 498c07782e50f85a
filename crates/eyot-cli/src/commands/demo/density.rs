//! Similarity adapts to density: two pairs at equal distance, one where data is dense and one where it is sparse.

use eyot::{Gaussian, IsolationMapParams, Kernel, Laplacian, Partition, PointsBuf, Run};
use eyot_io::plot::{Bars, Figure, LineChart, Scatter};
use serde_json::{Value, json};

use super::data::{DENSE, N_COLUMNS, PARTITIONS, SPARSE, encode, pair, two_densities};
use super::stop::{Stop, decimal};

const PSI: usize = 32;
const T: usize = 200;
/// Maps with different seeds over which K is averaged.
const N_SEEDS: usize = 20;
/// The distance of the two pairs, and the bandwidth of the Gaussian kernel beside them.
const DISTANCE: f64 = 0.3;
/// Distances of the curve: 0, 0.03, … 0.9.
const N_DISTANCES: usize = 31;
const STEP: f64 = 0.03;

/// K of the pairs at every distance: at even places the dense pair's, at odd ones the sparse pair's.
type Curve = Vec<f64>;

pub(super) fn stop(seed: u64, run: Run<'_>) -> eyot::Result<Stop> {
    let data = two_densities(seed);
    let distances: Vec<f64> = (0..N_DISTANCES).map(|i| STEP * i as f64).collect();
    let pairs: Vec<[[f64; 2]; 2]> = distances.iter().flat_map(|&d| [pair(DENSE, d), pair(SPARSE, d)]).collect();
    // Where in a curve the two pairs stand.
    let dense = 2 * (DISTANCE / STEP).round() as usize;
    let sparse = dense + 1;

    let mut rows: Vec<Vec<Value>> = Vec::new();
    let mut curves: Vec<Curve> = Vec::new();
    for (partition, name) in PARTITIONS {
        let runs = isolation_curves(partition, seed, &data, &pairs, run)?;
        let wins = runs.iter().filter(|curve| curve[sparse] > curve[dense]).count();
        let mean = mean(&runs);
        rows.push(vec![json!(name), json!(mean[dense]), json!(mean[sparse]), json!(format!("{wins} of {N_SEEDS}"))]);
        curves.push(mean);
    }
    let gaussian = kernel_curve(&Gaussian::of_bandwidth(DISTANCE), &pairs)?;
    let laplacian = kernel_curve(&Laplacian::of_psi(PSI as f64, N_COLUMNS), &pairs)?;
    for (name, curve) in [("gaussian", &gaussian), ("laplacian", &laplacian)] {
        rows.push(vec![json!(name), json!(curve[dense]), json!(curve[sparse]), json!("equal")]);
    }

    let [left, right] = [curves[0][dense], curves[0][sparse]];
    Ok(Stop {
        name: "density",
        heading: "Similarity adapts to the density of the data",
        intro: format!(
            "The left half of the square holds 5000 points, the right half 50. Two pairs of points lie {DISTANCE} apart, \
             one in each half. Cells are small where data is dense, so the pair there is less similar (Theorem 1 of the \
             paper on the isolation distributional kernel). Kernels that only know the distance see no difference. K is \
             the mean over {N_SEEDS} maps with different seeds, each with ψ = {PSI} and t = {T}."
        ),
        finding: format!(
            "With Voronoi cells the pair where data is sparse has similarity {}, the pair where it is dense {}, at the \
             same distance. Gaussian and Laplacian kernels give both pairs the same value.",
            decimal(right),
            decimal(left)
        ),
        columns: vec!["kernel", "K dense pair", "K sparse pair", "sparse above dense"],
        figures: vec![(String::new(), vec![
            picture_of(&data),
            bars(&rows),
            lines(&distances, &curves[0], &gaussian),
        ])],
        rows,
        facts: vec![
            ("similarity 0.3 apart, sparse region", decimal(right)),
            ("similarity 0.3 apart, dense region", decimal(left)),
            ("Gaussian kernel, both regions", decimal(gaussian[dense])),
        ],
    })
}

/// The curve of each of several maps.
fn isolation_curves(
    partition: Partition,
    seed: u64,
    data: &[[f64; 2]],
    pairs: &[[[f64; 2]; 2]],
    run: Run<'_>,
) -> eyot::Result<Vec<Curve>> {
    run.map("demo: densities", N_SEEDS, |i| {
        let params = IsolationMapParams::default().partition(partition).psi(PSI).t(T).seed(seed.wrapping_add(i as u64));
        let codes = encode(&params.check()?, data, pairs.as_flattened(), run.inner())?;
        Ok((0..pairs.len()).map(|i| codes.row(2 * i).similarity(codes.row(2 * i + 1))).collect())
    })
}

fn kernel_curve(kernel: &impl Kernel, pairs: &[[[f64; 2]; 2]]) -> eyot::Result<Curve> {
    let points = PointsBuf::from_rows(pairs.as_flattened())?;
    Ok((0..pairs.len()).map(|i| kernel.value(points.row(2 * i), points.row(2 * i + 1))).collect())
}

fn mean(curves: &[Curve]) -> Curve {
    (0..curves[0].len()).map(|i| curves.iter().map(|curve| curve[i]).sum::<f64>() / curves.len() as f64).collect()
}

fn picture_of(data: &[[f64; 2]]) -> Figure {
    Scatter::new("The data, and two pairs at the same distance")
        .x("x")
        .y("y")
        .group("data", data)
        .group("pair in the dense half", &pair(DENSE, DISTANCE))
        .group("pair in the sparse half", &pair(SPARSE, DISTANCE))
        .radii(&[0.8, 5.0, 5.0])
        .size(360.0, 330.0)
        .about("5000 points on the left, 50 on the right.")
        .figure()
}

fn bars(rows: &[Vec<Value>]) -> Figure {
    let column = |i: usize| -> Vec<f64> { rows.iter().map(|row| row[i].as_f64().unwrap_or(f64::NAN)).collect() };
    Bars::new("K of the two pairs", rows.iter().map(|row| row[0].as_str().unwrap_or_default()))
        .y("similarity K")
        .series("dense", &column(1))
        .series("sparse", &column(2))
        .size(360.0, 330.0)
        .about("Isolation kernels tell the pairs apart; the others cannot.")
        .figure()
}

fn lines(distances: &[f64], voronoi: &[f64], gaussian: &[f64]) -> Figure {
    let every = |curve: &[f64], first: usize| -> Vec<[f64; 2]> {
        distances.iter().zip(curve.iter().skip(first).step_by(2)).map(|(&d, &k)| [d, k]).collect()
    };
    LineChart::new("K at all distances")
        .x("distance of the pair")
        .y("similarity K")
        .series("voronoi, sparse half", &every(voronoi, 1))
        .series("voronoi, dense half", &every(voronoi, 0))
        .series("gaussian, both halves", &every(gaussian, 0))
        .y_range(0.0, 1.0)
        .size(360.0, 330.0)
        .about("The same map is broad where data is sparse and narrow where it is dense.")
        .figure()
}
