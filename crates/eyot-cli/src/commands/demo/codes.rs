//! What a point becomes: its cell in each partitioning, and similarity as the share of common cells.

use eyot::{Codes, IsolationMapParams, NONE, Partition, Run};
use eyot_io::plot::{CellMap, Contour, Figure, HeatMap};
use serde_json::{Value, json};

use super::data::{DENSE, PARTITIONS, RANGE, SPARSE, encode, pair, two_densities};
use super::stop::{Stop, decimal};

/// Few cells and few partitionings, so that all can be shown.
const PSI: usize = 8;
const T: usize = 16;
/// Points on each side of the grid that is coloured.
const GRID: usize = 141;
const NAMES: [&str; 5] = ["A", "B", "C", "D", "E"];

pub(super) fn stop(seed: u64, run: Run<'_>) -> eyot::Result<Stop> {
    let data = two_densities(seed);
    let [[a, b], [c, d]] = [pair(DENSE, 0.3), pair(SPARSE, 0.3)];
    let points = [a, b, c, d, [0.0, 0.7]];
    let codes_of = |partition: Partition, points: &[[f64; 2]]| -> eyot::Result<Codes> {
        let params = IsolationMapParams::default().partition(partition).psi(PSI).t(T).seed(seed).check()?;
        encode(&params, &data, points, run)
    };
    let codes = codes_of(Partition::Voronoi, &points)?;
    let row = |i: usize| {
        let cells: Vec<Value> = codes.row(i).cells().map(|cell| json!(cell)).collect();
        vec![json!(NAMES[i]), json!(points[i][0]), json!(points[i][1]), json!(cells)]
    };
    let shared = |i: usize, j: usize| codes.row(i).matches(codes.row(j));
    let similarity = |i: usize, j: usize| codes.row(i).similarity(codes.row(j));
    let finding = format!(
        "A and B share {} of their {T} cells, so K(A, B) = {}. C and D lie equally far apart, but where data is sparse: \
         they share {} of {T}, so K(C, D) = {}.",
        shared(0, 1),
        decimal(similarity(0, 1)),
        shared(2, 3),
        decimal(similarity(2, 3)),
    );

    let all: Vec<f64> = (0..NAMES.len().pow(2)).map(|i| similarity(i / NAMES.len(), i % NAMES.len())).collect();
    let similarities = HeatMap::new("K of all pairs", NAMES, NAMES, &all)
        .about("Shares of common cells; a point is like itself in all of them.")
        .size(360.0, 330.0)
        .figure();
    let grid = Contour::grid(RANGE, RANGE, GRID, GRID);
    let mut pictures = Vec::new();
    for (partition, name) in PARTITIONS {
        pictures.push(cells(name, &codes_of(partition, &grid)?, &points));
    }
    Ok(Stop {
        name: "codes",
        heading: "A point becomes a few small integers",
        intro: format!(
            "Each of t = {T} partitionings samples ψ = {PSI} rows of the data and gives every sampled row a cell of its \
             own. The code of a point is its list of cell numbers: the exact feature map of the kernel, t ones among \
             t·ψ = {} features, stored as t small integers. Here it is for five points, with Voronoi cells.",
            T * PSI
        ),
        finding,
        columns: vec!["point", "x", "y", "cells"],
        rows: (0..NAMES.len()).map(row).collect(),
        figures: vec![(
            "The first partitioning of each kind. Voronoi cells belong to the nearest sampled row; trees cut along the \
             axes until every sampled row is alone; hyperspheres reach from a sampled row to its nearest neighbour and \
             leave gaps, where a point has no cell at all."
                .into(),
            pictures,
        ), ("The similarity of all pairs, from their codes alone.".into(), vec![similarities])],
        facts: vec![],
    })
}

fn cells(name: &str, codes: &Codes, points: &[[f64; 2]]) -> Figure {
    let first = codes.rows().map(|row| Some(row.cell(0)).filter(|&cell| cell != NONE)).collect();
    let map = CellMap::new(format!("Cells: {name}"), RANGE, RANGE, GRID, GRID, first);
    let map = points.iter().zip(NAMES).fold(map, |map, (&point, name)| map.name(point, name));
    map.size(360.0, 330.0).figure()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_the_same_on_any_number_of_threads() {
        let [one, two] = [1, 2].map(|threads| stop(5, Run::threads(threads)).unwrap());
        assert_eq!(one.to_text(), two.to_text());
        assert_eq!(one.to_json(), two.to_json());
        let figures = |stop: &Stop| stop.figures.iter().flat_map(|(_, figures)| figures.clone()).collect::<Vec<_>>();
        assert_eq!(figures(&one), figures(&two));
    }
}
