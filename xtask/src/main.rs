//! What developers and CI run, in Rust so that both run the same: `cargo xtask test | tidy | bench | bless` and more.

mod bench;
mod detectors;
mod instructions;
mod package;
mod python;
mod references;
mod tidy;

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test        everything that CI runs: format, tidy rules, lints, tests, documentation, references, the demo, instruction
              counts, Python
  tidy        the rules of ARCHITECTURE.md that the compiler does not know
  references  the solvers beside LIBLINEAR and LIBSVM (makes its own Python environment)
  python      the Python package: wheel, linters, pytest (makes its own Python environment)
  wheel       wheel and source distribution of the Python package, into target/wheels
  bless       rewrites golden and snapshot files after an intended change; review the diff
  instructions [--record]: instruction counts of fixed workloads beside the recorded ones (needs valgrind)
  bench       [ROW..] [--data DIR] [--alone] [--small] [--report]: ours beside other programs, into docs/benchmarks.md
  detectors   DATA [SET,..]: scikit-learn, PyOD and isotree beside ours, on the files of DATA/anomaly";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("test") => test(),
        Some("tidy") => tidy::check(&root()),
        Some("references") => references::check(&root()),
        Some("python") => package::check(&root()),
        Some("wheel") => package::wheel(&root()),
        Some("bless") => bless(),
        Some("instructions") => instructions::run(&root(), &arguments[1..]),
        Some("bench") => bench::run(&root(), &arguments[1..]),
        Some("detectors") => detectors::run(&root(), &arguments[1..]),
        _ => bail!("{USAGE}"),
    }
}

/// The root of the workspace.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).canonicalize().expect("the workspace exists")
}

/// Cheap checks first. Every step names the workspace as a whole, so that all share one set of compiled dependencies.
fn test() -> Result<()> {
    step("cargo", &["fmt", "--all", "--check"], &[])?;
    say("tidy");
    tidy::check(&root())?;
    if has("cargo", &["clippy", "--version"]) {
        step("cargo", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])?;
    }
    if has("cargo", &["nextest", "--version"]) {
        step("cargo", &["nextest", "run", "--workspace", "--no-fail-fast"], &[])?;
        step("cargo", &["test", "--workspace", "--doc"], &[])?;
    } else {
        step("cargo", &["test", "--workspace"], &[])?;
    }
    step("cargo", &["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    references::check(&root())?;
    demo()?;
    instructions::check(&root())?;
    package::check(&root())
}

/// The README's first command, on the release build, in a folder of its own.
fn demo() -> Result<()> {
    step("cargo", &["build", "--release", "--package", "eyot-cli", "--package", "eyot-bench"], &[])?;
    let folder = root().join("target/xtask-demo");
    std::fs::create_dir_all(&folder)?;
    let program = root().join("target/release/eyot");
    say("eyot demo");
    let status = Command::new(program).arg("demo").current_dir(&folder).status().context("running the demo")?;
    let report = folder.join("eyot-demo/report.html");
    if !status.success() || !report.is_file() {
        bail!("the demo failed or wrote no report");
    }
    Ok(())
}

fn bless() -> Result<()> {
    let environment = [("EYOT_BLESS", "1"), ("INSTA_UPDATE", "always")];
    step("cargo", &["test", "--workspace"], &environment)
}

fn has(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Installs Debian packages on a fresh machine. Where this is not allowed, the next step says what is missing.
fn install(packages: &[&str]) {
    if has("apt-get", &["--version"]) {
        let _ = step("apt-get", &["update", "-qq"], &[]);
        let _ = step("apt-get", &[&["install", "-y", "-qq"], packages].concat(), &[]);
    }
}

fn step(program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    let line = format!("{program} {}", arguments.join(" "));
    say(&line);
    let start = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(root())
        .status()
        .with_context(|| format!("running `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed");
    }
    say(&format!("ok: {line} ({:.0} s)", start.elapsed().as_secs_f64()));
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a developer's tool speaks on the terminal")]
fn say(text: &str) {
    eprintln!("xtask: {text}");
}
