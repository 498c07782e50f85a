//! Lines of equal similarity to one point (paper 1, Figure 2), for all partitionings, on even and on uneven data.

use eyot::{Gaussian, IsolationMapParams, Kernel, Laplacian, Partition, PointsBuf, Run};
use eyot_io::plot::{Contour, Figure};
use serde_json::{Value, json};

use super::data::{N_COLUMNS, PARTITIONS, RANGE, encode, two_densities, uniform};
use super::stop::{Stop, decimal};

/// As in the paper's figure.
const PSI: usize = 10;
const T: usize = 1000;
/// Points on each side of the grid; odd, so that its middle is the reference point.
const GRID: usize = 65;
const HERE: [f64; 2] = [0.0, 0.0];
/// One data point in so many is drawn.
const DRAWN: usize = 5;

pub(in crate::commands) fn stop(seed: u64, run: Run<'_>) -> eyot::Result<Stop> {
    let grid = Contour::grid(RANGE, RANGE, GRID, GRID);
    let sets = [("uniform", uniform(seed)), ("two densities", two_densities(seed))];
    let mut rows: Vec<Vec<Value>> = Vec::new();
    let mut pictures: Vec<Vec<Figure>> = Vec::new();
    for (set, data) in &sets {
        let mut these = Vec::new();
        for (partition, name) in PARTITIONS {
            let field = similarity_field(partition, seed, data, &grid, run)?;
            let [left, right] = reach(&field);
            rows.push(vec![json!(name), json!(set), json!(left), json!(right)]);
            let shown: Vec<[f64; 2]> = data.iter().copied().step_by(DRAWN).collect();
            these.push(picture(&format!("{name}, {set}"), &field, &shown));
        }
        pictures.push(these);
    }
    let mut others = Vec::new();
    let kernels: [(&str, &dyn Kernel); 2] =
        [("laplacian", &Laplacian::of_psi(PSI as f64, N_COLUMNS)), ("gaussian", &Gaussian::of_bandwidth(0.5))];
    for (name, kernel) in kernels {
        let points = PointsBuf::from_rows(&grid)?;
        let here = PointsBuf::from_rows(&[HERE])?;
        let mut field = vec![0.0; grid.len()];
        kernel.row_into(here.row(0), points.as_points(), &mut field);
        let [left, right] = reach(&field);
        rows.push(vec![json!(name), json!("any"), json!(left), json!(right)]);
        others.push(picture(&format!("{name}, any data"), &field, &[]));
    }

    let number = |row: usize, column: usize| rows[row][column].as_f64().unwrap_or(f64::NAN);
    let sparse_side = match number(3, 3) {
        1.0.. => "stays above half up to the edge of the picture".into(),
        half => format!("falls to half after {}", decimal(half)),
    };
    let finding = format!(
        "On uniform data Voronoi similarity to the middle falls to half after {} to the left and {} to the right. With 100 \
         times the density on the left it falls to half after {} there, and {sparse_side} on the sparse side.",
        decimal(number(0, 2)),
        decimal(number(0, 3)),
        decimal(number(3, 2)),
    );
    let [uniform, two] = pictures.try_into().unwrap_or_else(|_| unreachable!("two data sets"));
    Ok(Stop {
        name: "contours",
        heading: "Lines of equal similarity follow the data",
        intro: format!(
            "Similarity of every place in the square to its middle, K((0, 0), ·), with ψ = {PSI} and t = {T} as in Figure \
             2 of the paper on online learning. The table says how far to the left and to the right similarity is at \
             least half of what it is in the middle; 1.00 is the edge of the picture."
        ),
        finding,
        columns: vec!["kernel", "data", "half, left", "half, right"],
        rows,
        figures: vec![
            ("Uniform data: the lines are the same on all sides.".into(), uniform),
            (
                "Two densities: the lines are compressed on the dense side and stretched on the sparse side. Hyperspheres \
                 also know where no data is: far from all sampled rows a place has no cell and is like nothing, which \
                 makes them good at finding anomalies. Dots are one in five of the data points."
                    .into(),
                two,
            ),
            ("Kernels that only know the distance draw the same picture whatever the data.".into(), others),
        ],
        facts: vec![],
    })
}

/// K(HERE, ·) on the grid.
fn similarity_field(
    partition: Partition,
    seed: u64,
    data: &[[f64; 2]],
    grid: &[[f64; 2]],
    run: Run<'_>,
) -> eyot::Result<Vec<f64>> {
    let params = IsolationMapParams::default().partition(partition).psi(PSI).t(T).seed(seed).check()?;
    let codes = encode(&params, data, grid, run)?;
    let here = codes.row(grid.len() / 2);
    Ok(codes.rows().map(|row| row.similarity(here)).collect())
}

/// How far to the left and to the right of the middle the field is at least half of its value there, linear between
/// points of the grid.
fn reach(field: &[f64]) -> [f64; 2] {
    let middle = GRID / 2;
    let row = &field[middle * GRID..(middle + 1) * GRID];
    let half = row[middle] / 2.0;
    let steps = |values: &[f64]| match values.iter().position(|&value| value < half) {
        Some(i) => i as f64 - 1.0 + (values[i - 1] - half) / (values[i - 1] - values[i]),
        None => middle as f64,
    };
    let left: Vec<f64> = row[..=middle].iter().rev().copied().collect();
    let length = (RANGE.1 - RANGE.0) / (GRID - 1) as f64;
    [steps(&left), steps(&row[middle..])].map(|steps| steps * length)
}

fn picture(title: &str, field: &[f64], shown: &[[f64; 2]]) -> Figure {
    let mut values = field.iter();
    let levels: Vec<f64> = (1..10).map(|tenth| f64::from(tenth) / 10.0).collect();
    Contour::new(title, RANGE, RANGE, GRID, GRID, |_| values.next().copied().unwrap_or(f64::NAN))
        .levels(&levels)
        .points(shown)
        .mark(HERE, "the point of reference")
        .size(360.0, 330.0)
        .figure()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_is_measured_to_both_sides() {
        let field: Vec<f64> = Contour::grid(RANGE, RANGE, GRID, GRID)
            .iter()
            .map(|&[x, _]| if x < 0.0 { 1.0 + 2.0 * x } else { 1.0 - 0.4 * x })
            .collect();
        let [left, right] = reach(&field);
        assert!((left - 0.25).abs() < 1e-9 && right == 1.0, "{left} {right}");
    }
}
