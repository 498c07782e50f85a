//! Instruction counts of fixed workloads, compared with the recorded ones, so that speed cannot rot silently. Unlike
//! seconds they do not depend on the machine or on what else it does: valgrind emulates one processor (with AVX2,
//! without AVX-512), and the workloads run on one thread.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{has, install, say, step};

/// Set to go without this step on a machine without valgrind. CI does not set it.
const SKIP: &str = "EYOT_SKIP_INSTRUCTIONS";

/// The recorded counts, one line `workload count` each.
const RECORD: &str = "xtask/instructions.txt";

const WORKLOADS: [&str; 3] = ["maps", "isolation-forest", "svm-on-codes"];

/// Change that is let pass, as a share of the recorded count.
const MARGIN: f64 = 0.1;

const AGAIN: &str = "cargo xtask instructions --record";

/// Counts, and compares with the recorded counts or records the new ones.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    match arguments {
        [] => check(root),
        [flag] if flag == "--record" => record(root),
        _ => bail!("usage: cargo xtask instructions [--record]"),
    }
}

/// Fails if a workload takes more or fewer instructions than the margin allows.
pub(crate) fn check(root: &Path) -> Result<()> {
    if std::env::var_os(SKIP).is_some() {
        say(&format!("instructions: skipped, because {SKIP} is set; they were NOT counted"));
        return Ok(());
    }
    let text =
        std::fs::read_to_string(root.join(RECORD)).with_context(|| format!("reading {RECORD}; {AGAIN} makes it"))?;
    let recorded = parse(&text)?;
    let mut complaints = Vec::new();
    for (workload, now) in count(root)? {
        let before = recorded.iter().find(|(name, _)| *name == workload).map(|&(_, count)| count);
        let before = before.with_context(|| format!("{RECORD} has no `{workload}`; {AGAIN} adds it"))?;
        say(&format!("{workload}: {} instructions, recorded {}", grouped(now), grouped(before)));
        complaints.extend(judge(workload, before, now));
    }
    if !complaints.is_empty() {
        bail!("{}", complaints.join("\n"));
    }
    Ok(())
}

fn record(root: &Path) -> Result<()> {
    let lines: Vec<String> = count(root)?.iter().map(|(workload, count)| format!("{workload} {count}\n")).collect();
    std::fs::write(root.join(RECORD), lines.concat())?;
    say(&format!("{RECORD}:\n{}", lines.concat()));
    Ok(())
}

/// What to say of a count that left the margin.
fn judge(workload: &str, recorded: u64, now: u64) -> Option<String> {
    let change = now as f64 / recorded as f64 - 1.0;
    let figures = format!("{workload}: {} instructions instead of {}", grouped(now), grouped(recorded));
    if change > MARGIN {
        let share = 100.0 * change;
        return Some(format!(
            "{figures}, {share:.0} % more. If that is the price of something worth having, say so in the commit and \
             record it with `{AGAIN}`; if not, `callgrind_annotate target/instructions/{workload}.out` shows where \
             they go"
        ));
    }
    (change < -MARGIN).then(|| format!("{figures}, {:.0} % fewer. Well done: keep it with `{AGAIN}`", -100.0 * change))
}

/// The instructions of every workload.
fn count(root: &Path) -> Result<Vec<(&'static str, u64)>> {
    let help = "this step needs valgrind (Debian: apt-get install valgrind)";
    if !has("valgrind", &["--version"]) {
        install(&["valgrind"]);
    }
    step("cargo", &["build", "--release", "--package", "eyot-cli", "--package", "eyot-bench"], &[])?;
    let folder = root.join("target/instructions");
    std::fs::create_dir_all(&folder)?;
    let one = |workload| {
        let out = folder.join(format!("{workload}.out"));
        let output = Command::new("valgrind")
            .args(["--quiet", "--tool=callgrind", &format!("--callgrind-out-file={}", out.display())])
            .arg(root.join("target/release/eyot-bench"))
            .args(["instructions", workload])
            .output()
            .context(help)?;
        if !output.status.success() {
            bail!("valgrind failed on `{workload}`:\n{}", String::from_utf8_lossy(&output.stderr));
        }
        let text = std::fs::read_to_string(&out).with_context(|| out.display().to_string())?;
        let line = text.lines().find_map(|line| line.strip_prefix("summary: "));
        let count = line.and_then(|count| count.trim().parse().ok());
        Ok((workload, count.with_context(|| format!("{} has no summary", out.display()))?))
    };
    // One for each processor would be faster, but machines that test have few.
    WORKLOADS.into_iter().map(one).collect()
}

fn parse(text: &str) -> Result<Vec<(&str, u64)>> {
    let mut counts = Vec::new();
    for line in text.lines() {
        let pair = line.split_once(' ').and_then(|(name, count)| Some((name, count.trim().parse().ok()?)));
        counts.push(pair.with_context(|| format!("{RECORD}: `{line}` is not `workload count`"))?);
    }
    Ok(counts)
}

/// 1234567 as 1,234,567.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_within_a_tenth_passes_and_both_sides_beyond_are_told_apart() {
        assert_eq!(judge("w", 1000, 1099), None);
        assert_eq!(judge("w", 1000, 901), None);
        assert!(judge("w", 1000, 1101).unwrap().contains("1,101 instructions instead of 1,000, 10 % more"));
        assert!(judge("w", 1000, 899).unwrap().contains("10 % fewer"));
    }

    #[test]
    fn every_workload_has_a_recorded_count() {
        let text = std::fs::read_to_string(crate::root().join(RECORD)).unwrap();
        let names: Vec<&str> = parse(&text).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, WORKLOADS);
    }

    #[test]
    fn digits_are_grouped_by_three() {
        assert_eq!([1, 12, 123, 1234, 1_234_567].map(grouped), ["1", "12", "123", "1,234", "1,234,567"]);
    }
}
