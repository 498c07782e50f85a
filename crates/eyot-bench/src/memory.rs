//! Peak memory of the command line while it scores a file: n rows, then 4n.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use eyot::{Component, rng_of};
use serde_json::json;

use crate::timing::result_of;
use crate::{Outcome, Task};

/// How often the size of the process is looked at. Linux keeps the peak, so no more than what is taken in the last of
/// these intervals can be missed.
const LOOK: Duration = Duration::from_millis(2);

pub(crate) fn run(task: &Task) -> Outcome<()> {
    let model = task.folder.join("memory.eyot");
    for (method, options) in [("idk", &["--psi", "256"][..]), ("iforest", &[])] {
        for rows in [task.n, 4 * task.n] {
            let path = file(task, rows)?;
            if rows == task.n {
                let mut fit = program(task, "detect", &[&path]);
                fit.args(["--method", method, "--top", "1", "--save"]).arg(&model).args(options);
                peak(&mut fit)?;
            }
            let out = task.folder.join("scores.csv");
            let (bytes, seconds) = peak(program(task, "predict", &[&model, &path]).arg("--output").arg(&out))?;
            let input = path.metadata()?.len();
            let more = json!({ "peak_bytes": bytes, "input_bytes": input, "rows": rows });
            result_of(if rows == task.n { "n rows" } else { "4n rows" }, method, seconds, 1, more)?;
        }
    }
    Ok(())
}

fn program(task: &Task, command: &str, files: &[&Path]) -> Command {
    let mut line = Command::new(&task.program);
    line.arg(command).args(files).args(["--threads", "1", "--quiet"]).stdout(Stdio::null());
    line
}

/// Peak bytes in memory and seconds of a program that must succeed.
fn peak(command: &mut Command) -> Outcome<(u64, f64)> {
    let start = Instant::now();
    let mut child = command.spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut bytes = 0;
    loop {
        // The field is gone once the process has ended.
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let field = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        let kilobytes: u64 = field.trim().trim_end_matches(" kB").parse().unwrap_or_default();
        bytes = bytes.max(1024 * kilobytes);
        if let Some(status) = child.try_wait()? {
            if !status.success() {
                return Err(format!("{command:?} ended with {status}").into());
            }
            return Ok((bytes, start.elapsed().as_secs_f64()));
        }
        std::thread::sleep(LOOK);
    }
}

/// Noise as CSV.
fn file(task: &Task, rows: usize) -> Outcome<PathBuf> {
    let path = task.folder.join(format!("{rows}.csv"));
    let mut out = BufWriter::new(File::create(&path)?);
    let mut rng = rng_of(0, Component::Synthetic, task.d as u64);
    for _ in 0..rows {
        for column in 0..task.d {
            let end = if column + 1 < task.d { ',' } else { '\n' };
            write!(out, "{:.6}{end}", rng.normal())?;
        }
    }
    out.flush()?;
    Ok(path)
}
