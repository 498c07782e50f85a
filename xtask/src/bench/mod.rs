//! Benchmarks side by side with other programs, in one go on one machine: the table that docs/benchmarks.md shows. What
//! counts is the ratio; a row can be run alone, and its results replace the earlier ones of that row.

mod machine;
mod report;
mod results;
mod rows;
mod run;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use self::results::Results;
use self::rows::{ROWS, Sizes};
use self::run::Bench;
use crate::{say, step};

const USAGE: &str = "usage: cargo xtask bench [ROW..] [--data DIR] [--alone] [--small] [--report]";

/// Runs the rows asked for, or all of them, and writes the report. `--small` only shows that everything works: tiny
/// sizes, results under target/. `--alone` leaves the other programs out, which on real data take hours. `--report`
/// measures nothing and writes the report anew.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let (mut wanted, mut data) = (Vec::new(), None);
    let (mut alone, mut small, mut report) = (false, false, false);
    let mut arguments = arguments.iter().map(String::as_str);
    while let Some(argument) = arguments.next() {
        match argument {
            "--data" => data = Some(PathBuf::from(arguments.next().context(USAGE)?).canonicalize()?),
            "--alone" => alone = true,
            "--small" => small = true,
            "--report" => report = true,
            row if ROWS.iter().any(|(name, _)| *name == row) => wanted.push(row),
            _ => bail!("{USAGE}\n\nrows: {}", ROWS.map(|(name, _)| name).join(" ")),
        }
    }
    let out = if small { root.join("target/bench/small") } else { root.join("docs") };
    std::fs::create_dir_all(&out)?;
    let file = out.join("benchmarks.json");
    let (mut results, mut failures) = (Results::open(&file)?, Vec::new());
    step("cargo", &["build", "--release", "--package", "eyot-cli", "--package", "eyot-bench"], &[])?;
    if !report {
        let bench = Bench::new(root, data, if small { Sizes::SMALL } else { Sizes::FULL }, alone)?;
        results.measured_on(machine::facts(&bench)?, &wanted);
        for (name, row) in ROWS {
            if wanted.is_empty() || wanted.contains(&name) {
                let start = Instant::now();
                // Others go on; what this row has is kept.
                if let Err(error) = row(&bench, &mut results) {
                    say(&format!("bench: {name}: {error:#}"));
                    failures.push(format!("{name}: {error:#}"));
                }
                results.save(&file)?;
                say(&format!("bench: {name} took {:.0} s", start.elapsed().as_secs_f64()));
            }
        }
    }
    results.save(&file)?;
    let program = root.join("target/release/eyot-bench").to_string_lossy().into_owned();
    let plots = out.join("benchmarks");
    step(&program, &["plots", &file.to_string_lossy(), &plots.to_string_lossy()], &[])?;
    let page = out.join("benchmarks.md");
    std::fs::write(&page, report::markdown(&results))?;
    for line in report::lines(&results) {
        say(&line);
    }
    say(&format!("bench: {}", page.display()));
    if !failures.is_empty() {
        bail!("these rows are not complete:\n{}", failures.join("\n"));
    }
    Ok(())
}
