//! Pictures of the results: one per size that grows, and the grid of maps.

use std::fs;
use std::path::Path;

use eyot_io::plot::LineChart;
use serde_json::Value;

use crate::Outcome;

/// Writes an SVG per curve of the row `scaling` in a file of results.
pub(crate) fn write(results: &Path, folder: &Path) -> Outcome<()> {
    let all: Value = serde_json::from_str(&fs::read_to_string(results)?)?;
    let lines = all["results"].as_array().ok_or("there are no results")?;
    fs::create_dir_all(folder)?;
    for (size, words) in [
        ("n", "rows"),
        ("d", "columns"),
        ("psi", "cells per partitioning, ψ"),
        ("t", "partitionings, t"),
        ("threads", "threads"),
    ] {
        let mut chart = LineChart::new(format!("Time of a map against {words}")).x(words).y("seconds").log_y();
        if size != "threads" {
            chart = chart.log_x();
        }
        let mut any = false;
        for line in lines.iter().filter(|line| line["row"] == "scaling" && line["cell"] == size) {
            let curve: Vec<[f64; 2]> = serde_json::from_value(line["curve"].clone())?;
            chart = chart.series(line["who"].as_str().unwrap_or_default(), &curve);
            any = true;
        }
        if any {
            let about = format!("Seconds of the Voronoi, hypersphere and tree maps as the {words} grow.");
            fs::write(folder.join(format!("{size}.svg")), chart.about(about).figure().to_svg())?;
        }
    }
    Ok(())
}
