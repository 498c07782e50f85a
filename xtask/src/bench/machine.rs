//! The machine: what it is, and what it can do at the most.

use std::fs;
use std::process::Command;

use anyhow::{Result, bail};
use serde_json::{Map, Value, json};

use super::results::Results;
use super::run::Bench;

/// Multiply-adds and bytes per second, by a small program compiled for this very processor.
pub(super) fn peak(bench: &Bench, results: &mut Results) -> Result<()> {
    results.forget("peak");
    let program = bench.root.join("target/bench/peak");
    let mut compile = Command::new("rustc");
    compile.args(["--edition", "2024", "-C", "opt-level=3", "-C", "target-cpu=native", "xtask/peak.rs", "-o"]);
    let (_, outcome) = bench.run(compile.arg(&program), 300)?;
    let (lines, again) = bench.run(&mut Command::new(&program), 300)?;
    if let Err(message) = outcome.and(again) {
        bail!("{message}");
    }
    for line in lines {
        results.add("peak", line);
    }
    Ok(())
}

/// Processor, memory, compiler and versions of the other programs.
pub(super) fn facts(bench: &Bench) -> Result<Value> {
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
        line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    // Makers hide what is inside: two machines that differ twofold in speed have the same name.
    let [name, family, model] = ["model name", "cpu family", "model\t"].map(|name| field("/proc/cpuinfo", name));
    let processor = format!("{name} (family {family}, model {model})");
    let kilobytes: f64 = field("/proc/meminfo", "MemTotal").trim_end_matches(" kB").parse().unwrap_or_default();
    let said = |program: &str, argument: &str| -> Result<String> {
        let output = Command::new(program).arg(argument).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let script =
        "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))";
    let output = Command::new(&bench.python).args(["-c", script]).output()?;
    let versions: Map<String, Value> = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let mut packages = Map::new();
    for package in super::run::PACKAGES {
        let alike = |name: &str| name.to_lowercase().replace('_', "-") == package;
        if let Some((_, version)) = versions.iter().find(|(name, _)| alike(name)) {
            packages.insert(package.to_owned(), version.clone());
        }
    }
    Ok(json!({
        "processor": processor,
        "cores": std::thread::available_parallelism()?.get(),
        "memory_gb": (kilobytes / 1e6).round(),
        "rustc": said("rustc", "--version")?,
        "python": said(&bench.python, "--version")?,
        "packages": packages,
    }))
}
