//! Benchmarks side by side with other programs, in one run on one machine. Figures are the minimum of several repeats,
//! one thread each; what counts is the ratio.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{say, step};

/// Runs ours, then theirs on the same data, and prints one table.
pub(crate) fn run(root: &Path) -> Result<()> {
    let ours = output(root, "cargo", &["bench", "--quiet", "--package", "eyot", "--bench", "encode"])?;
    let theirs = peers(root)?;
    #[expect(clippy::print_stdout, reason = "the table is the result")]
    {
        println!("{:<44} {:>10}", "work", "seconds");
        for line in ours.lines().chain(theirs.lines()) {
            let (work, seconds) = line.rsplit_once(' ').unwrap_or((line, ""));
            println!("{work:<44} {seconds:>10}");
        }
    }
    Ok(())
}

/// scikit-learn in an environment under target/, made on first use.
fn peers(root: &Path) -> Result<String> {
    let environment = root.join("target/bench-peers");
    let python = environment.join("bin/python");
    if !python.is_file() {
        step("python3", &["-m", "venv", &environment.to_string_lossy()], &[])?;
        step(&python.to_string_lossy(), &["-m", "pip", "install", "--quiet", "numpy", "scikit-learn"], &[])?;
    }
    output(root, &python.to_string_lossy(), &["xtask/peers.py"])
}

fn output(root: &Path, program: &str, arguments: &[&str]) -> Result<String> {
    say(&format!("{program} {}", arguments.join(" ")));
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root)
        .env("OMP_NUM_THREADS", "1")
        .env("OPENBLAS_NUM_THREADS", "1")
        .output()
        .with_context(|| format!("running {program}"))?;
    if !output.status.success() {
        bail!("{program} failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
