//! Running our program and theirs, each in a process of its own with a limit of time, so that nobody's failure ends the
//! bench.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::results::{Results, failure};
use super::rows::Sizes;
use crate::python::peers;
use crate::say;

/// Time limits in seconds. Ours has none that counts.
const OURS: u64 = 7200;
const THEIRS: u64 = 900;

/// How often a running program is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Packages of the other programs.
pub(super) const PACKAGES: [&str; 10] = [
    "numpy",
    "scipy",
    "scikit-learn",
    "faiss-cpu",
    "isotree",
    "pyod",
    "ikpykit",
    "vowpalwabbit",
    "river",
    "liblinear-official",
];

/// Another program: the name in tables, its package, the script that runs it.
pub(super) struct Peer {
    pub(super) who: &'static str,
    pub(super) package: &'static str,
    pub(super) script: &'static str,
}

/// Where things are.
pub(super) struct Bench {
    pub(super) root: PathBuf,
    pub(super) python: String,
    /// Packages that could not be installed, and why.
    missing: Vec<(&'static str, String)>,
    /// Real data, if given.
    pub(super) data: Option<PathBuf>,
    pub(super) sizes: Sizes,
    /// Only our own program runs.
    alone: bool,
    folder: PathBuf,
}

impl Bench {
    pub(super) fn new(root: &Path, data: Option<PathBuf>, sizes: Sizes, alone: bool) -> Result<Self> {
        let (python, missing) = peers(root, "bench-peers", &PACKAGES)?;
        let folder = root.join("target/bench/data");
        fs::create_dir_all(&folder)?;
        let python = python.to_string_lossy().into_owned();
        Ok(Self { root: root.to_owned(), python, missing, data, sizes, alone, folder })
    }

    /// What our program must know of a piece of work.
    pub(super) fn task(&self, n: usize, d: usize, psi: usize, t: usize) -> Value {
        json!({ "folder": self.folder, "n": n, "d": d, "psi": psi, "t": t })
    }

    /// Our program on a task, then the others on the data it left behind.
    pub(super) fn side_by_side(
        &self,
        results: &mut Results,
        row: &str,
        task: &Value,
        program: &str,
        peers: &[Peer],
    ) -> Result<()> {
        let cells = self.ours(results, row, task, program)?;
        for peer in peers {
            self.theirs(results, row, &cells, peer, THEIRS);
        }
        Ok(())
    }

    /// Our program; returns the cells of its results.
    pub(super) fn ours(&self, results: &mut Results, row: &str, task: &Value, program: &str) -> Result<Vec<String>> {
        let mut command = Command::new(self.root.join("target/release/eyot-bench"));
        let (lines, outcome) = self.run(command.args([program, &task.to_string()]), OURS)?;
        if let Err(message) = outcome {
            bail!("eyot-bench {program} {task}: {message}");
        }
        let mut cells: Vec<String> = Vec::new();
        for line in lines {
            let cell = line["cell"].as_str().unwrap_or_default().to_owned();
            if !cells.contains(&cell) {
                cells.push(cell);
            }
            results.add(row, line);
        }
        Ok(cells)
    }

    /// Another program; every one of these cells gets a result or its message.
    pub(super) fn theirs(&self, results: &mut Results, row: &str, cells: &[String], peer: &Peer, limit: u64) {
        if self.alone {
            return;
        }
        let outcome = self.run_peer(peer, cells, limit);
        let (lines, message) = match outcome {
            Ok((lines, Ok(()))) => (lines, "printed nothing for this".to_owned()),
            Ok((lines, Err(message))) => (lines, message),
            Err(error) => (Vec::new(), format!("{error:#}")),
        };
        for cell in cells {
            if let Some(line) = lines.iter().find(|line| line["cell"] == cell.as_str()) {
                results.add(row, line.clone());
            } else {
                say(&format!("bench: {} on {cell}: {message}", peer.who));
                results.add(row, failure(cell, peer.who, &message));
            }
        }
    }

    /// Puts the newest wheel of the Python package into the environment of the others.
    pub(super) fn install_wheel(&self) -> Result<()> {
        let folder = self.root.join("target/wheels");
        let files = fs::read_dir(&folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
        let wheel = files.filter(|path| path.extension().is_some_and(|extension| extension == "whl")).last();
        let wheel = wheel.context("there is no wheel; `cargo xtask wheel` makes one")?;
        let mut command = Command::new(&self.python);
        command.args(["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"]).arg(wheel);
        let (_, outcome) = self.run(&mut command, 300)?;
        outcome.map_err(anyhow::Error::msg)
    }

    fn run_peer(
        &self,
        peer: &Peer,
        cells: &[String],
        limit: u64,
    ) -> Result<(Vec<Value>, std::result::Result<(), String>)> {
        if let Some((_, why)) = self.missing.iter().find(|(package, _)| *package == peer.package) {
            bail!("not installed: {why}");
        }
        let mut command = Command::new(&self.python);
        command.arg(format!("xtask/peers/{}", peer.script)).arg(&self.folder).arg(peer.who).args(cells);
        self.run(&mut command, limit)
    }

    /// The JSON objects that a program prints, and whether it came to a good end. One thread, as far as the usual
    /// libraries listen.
    pub(super) fn run(
        &self,
        command: &mut Command,
        limit: u64,
    ) -> Result<(Vec<Value>, std::result::Result<(), String>)> {
        say(&format!("{command:?}"));
        let (out, words) = (self.folder.join("stdout"), self.folder.join("stderr"));
        let mut child = command
            .current_dir(&self.root)
            .envs(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"].map(|name| (name, "1")))
            .stdin(Stdio::null())
            .stdout(File::create(&out)?)
            .stderr(File::create(&words)?)
            .spawn()
            .with_context(|| format!("running {command:?}"))?;
        let start = Instant::now();
        let outcome = loop {
            if let Some(status) = child.try_wait()? {
                let words = String::from_utf8_lossy(&fs::read(&words)?).into_owned();
                break if status.success() { Ok(()) } else { Err(last_words(&words, &status.to_string())) };
            }
            if start.elapsed() > Duration::from_secs(limit) {
                child.kill()?;
                child.wait()?;
                break Err(format!("not done after {limit} s"));
            }
            std::thread::sleep(LOOK);
        };
        let text = fs::read_to_string(&out)?;
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        Ok((lines.filter(Value::is_object).collect(), outcome))
    }
}

/// The last line that a failing program printed, short enough for a table; else how it ended.
fn last_words(words: &str, status: &str) -> String {
    let last = words.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or(status);
    last.chars().take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_of_a_program_are_its_message() {
        assert_eq!(last_words("Traceback\n  x\nMemoryError: too much\n\n", "exit status: 1"), "MemoryError: too much");
        assert_eq!(last_words("\n", "signal: 9 (SIGKILL)"), "signal: 9 (SIGKILL)");
    }
}
