//! Our side of `cargo xtask bench` and `cargo xtask instructions`: fixed work, timed in one process. Starting the
//! program, making or reading data and writing it for others are never on the clock.
//!
//! A row of the benchmark is asked for by its name and a [`Task`] as JSON; it prints one JSON object per result and
//! leaves the data in the task's folder, where the other programs find it.

mod data;
mod forests;
mod instructions;
mod latency;
mod map;
mod memory;
mod plots;
mod real;
mod scaling;
mod stream;
mod svm;
mod threads;
mod timing;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use eyot::Partition;
use serde::Deserialize;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "\
usage: eyot-bench instructions WORKLOAD
       eyot-bench plots RESULTS.json FOLDER
       eyot-bench ROW TASK";

/// The size of the work and where data goes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    folder: PathBuf,
    n: usize,
    d: usize,
    psi: usize,
    t: usize,
    /// A folder of real data, and the set wanted of it.
    #[serde(default)]
    data: PathBuf,
    #[serde(default)]
    set: String,
    /// Another program to run: our own command line.
    #[serde(default)]
    program: PathBuf,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["instructions", workload] => say(&instructions::run(workload)?),
        ["plots", results, folder] => plots::write(Path::new(results), Path::new(folder)),
        [row, task] => {
            let task: Task = serde_json::from_str(task)?;
            match row {
                "map" => map::run(&task, &[Partition::Voronoi, Partition::Sphere]),
                "forest" => forests::forest(&task),
                "idk" => forests::idk(&task),
                "stream" => stream::run(&task),
                "svm" => svm::run(&task),
                "latency" => latency::run(&task),
                "threads" => threads::run(&task),
                "memory" => memory::run(&task),
                "scaling" => scaling::run(&task),
                "real" => real::run(&task),
                _ => Err(format!("there is no row `{row}`").into()),
            }
        }
        _ => Err(USAGE.into()),
    }
}

fn say(line: &impl std::fmt::Display) -> Outcome<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}
