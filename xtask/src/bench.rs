//! Benchmarks side by side with other programs, in one run on one machine. Figures are the minimum of several repeats,
//! one thread each; what counts is the ratio.

use std::path::Path;

use anyhow::{Context, Result};

use crate::python::{environment, output};

/// Runs ours, then theirs on the same data, and prints tables.
pub(crate) fn run(root: &Path) -> Result<()> {
    let python = environment(root, "bench-peers", &["numpy", "scipy", "scikit-learn", "liblinear-official"])?;
    let python = python.to_string_lossy();
    maps(root, &python)?;
    solvers(root, &python)
}

fn bench(root: &Path, name: &str, arguments: &[&str]) -> Result<String> {
    output(root, "cargo", &[&["bench", "--quiet", "--package", "eyot", "--bench", name, "--"], arguments].concat())
}

/// The maps beside scikit-learn and numpy.
fn maps(root: &Path, python: &str) -> Result<()> {
    let ours = bench(root, "encode", &[])?;
    let theirs = output(root, python, &["xtask/peers.py"])?;
    print(&["work", "seconds"], ours.lines().chain(theirs.lines()).map(str::to_owned));
    Ok(())
}

/// The linear SVM on codes beside LIBLINEAR's solver of the same problem, at the same stop rule.
fn solvers(root: &Path, python: &str) -> Result<()> {
    let folder = root.join("target/bench-codes");
    std::fs::create_dir_all(&folder)?;
    let folder = folder.to_string_lossy();
    let ours = bench(root, "solve", &[&folder])?;
    let theirs = output(root, python, &["xtask/liblinear.py", &folder])?;
    let mut lines = Vec::new();
    for (own, their) in ours.lines().zip(theirs.lines()) {
        let (work, seconds, objective) = figures(own)?;
        let (_, their_seconds, their_objective) = figures(their)?;
        let ratio = their_seconds / seconds;
        lines.push(format!("{work} {seconds:.3} {their_seconds:.3} {ratio:.1} {objective:.1} {their_objective:.1}"));
    }
    print(&["linear SVM on codes", "eyot s", "LIBLINEAR s", "ratio", "objective", "theirs"], lines.into_iter());
    Ok(())
}

/// The work, its seconds and the objective reached.
fn figures(line: &str) -> Result<(&str, f64, f64)> {
    let parse = || {
        let (rest, objective) = line.rsplit_once(' ')?;
        let (work, seconds) = rest.rsplit_once(' ')?;
        Some((work, seconds.parse().ok()?, objective.parse().ok()?))
    };
    parse().with_context(|| format!("`{line}` is not `work seconds objective`"))
}

/// A table whose first column may hold spaces.
#[expect(clippy::print_stdout, reason = "the table is the result")]
fn print(heads: &[&str], lines: impl Iterator<Item = String>) {
    let row = |cells: Vec<&str>| {
        let (first, rest) = cells.split_first().expect("a table has columns");
        let rest: Vec<String> = rest.iter().map(|cell| format!("{cell:>12}")).collect();
        println!("{first:<40} {}", rest.join(" "));
    };
    row(heads.to_vec());
    for line in lines {
        let mut cells: Vec<&str> = line.rsplitn(heads.len(), ' ').collect();
        cells.reverse();
        row(cells);
    }
}
