//! `eyot demo`: the tour on built-in data. Each stop is one file with one function that returns a [`Stop`]; the frame
//! here tells all stops in three ways: as tables on the terminal, as a report, and as JSON.

mod stop;
mod data;
mod codes;
mod density;
pub(super) mod contours;
mod bags;

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use eyot::Run;
use eyot_io::report::Report;
use serde::Serialize;
use serde_json::Value;

use crate::args::RunArgs;
use crate::job::{Job, Phase, Shared};
use crate::messages;
use stop::Stop;

const EXAMPLES: &str = "\
EXAMPLES
  Take the tour:                     eyot demo
  With other random numbers:         eyot demo --seed 7
  The figures, for a program:        eyot demo --json | jq '.sections[0].rows'";

/// Take a tour of the isolation kernel on built-in data
///
/// No file is needed. Prints a few tables and writes one self-contained page with pictures, in well under a minute.
/// All data are generated from the seed.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder for the report, made if it is not there
    #[arg(short, long, value_name = "DIR", default_value = "eyot-demo", help_heading = "Output")]
    output: PathBuf,

    #[command(flatten)]
    run: RunArgs,
}

/// The way of the tour.
const STOPS: [fn(u64, Run<'_>) -> eyot::Result<Stop>; 4] =
    [codes::stop, density::stop, contours::stop, bags::stop];

#[derive(Serialize)]
struct Own {
    sections: Vec<Value>,
    report: String,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let job = Job::start("demo", &args.run);
    let path = args.output.join("report.html");
    let name = path.display().to_string();
    fs::create_dir_all(&args.output).with_context(|| args.output.display().to_string())?;
    let mut stops = Vec::new();
    for stop in STOPS {
        let start = Instant::now();
        let stop = job.timed(Phase::Map, || stop(args.run.seed, job.run()))?;
        job.detail(|| format!("{}: {:.2} s", stop.name, start.elapsed().as_secs_f64()));
        stops.push(stop);
    }
    job.timed(Phase::Score, || report(&stops, args.run.seed).save(&path))?;

    if !job.json() {
        job.clear();
        messages::print(stops.iter().map(Stop::to_text).collect::<String>().as_bytes())?;
    }
    let (rows, columns) = (2 * data::N_ROWS, data::N_COLUMNS);
    let shared = Shared { method: "isolation", rows, columns, seed: args.run.seed, parameters: &Value::Null };
    let own = Own { sections: stops.iter().map(Stop::to_json).collect(), report: name.clone() };
    job.finish(&shared, &own, &[("pictures in", name)])
}

fn report(stops: &[Stop], seed: u64) -> Report {
    let report = Report::new("A tour of the isolation kernel")
        .lead(
            "A point becomes t small integers: its cell in each of t random partitionings of the data. Two points are \
             as similar as the share of cells they have in common. Nothing else is needed, no bandwidth and no \
             distance matrix, and similarity adapts to the density of the data.",
        )
        .run("command", if seed == 0 { "eyot demo".into() } else { format!("eyot demo --seed {seed}") })
        .run("version", env!("CARGO_PKG_VERSION"))
        .run("seed", seed.to_string());
    let report = stops.iter().flat_map(|stop| &stop.facts).fold(report, |report, (name, value)| report.fact(*name, value));
    stops.iter().fold(report, |report, stop| report.section(stop.to_section()))
}
