//! Python environments under target/, made on first use: what other programs are compared with comes from there.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{has, say, step};

/// The interpreter of an environment that holds these packages.
pub(crate) fn environment(root: &Path, name: &str, packages: &[&str]) -> Result<PathBuf> {
    let folder = root.join("target").join(name);
    let python = folder.join("bin/python");
    // Written last: an environment that was not finished is made again.
    let finished = folder.join("packages");
    let wanted = packages.join("\n");
    if std::fs::read_to_string(&finished).is_ok_and(|there| there == wanted) {
        return Ok(python);
    }
    let help = "this step needs python3 with venv (Debian: apt-get install python3-venv) and the package registry";
    if !has("python3", &["-c", "import venv, ensurepip"]) && has("apt-get", &["--version"]) {
        // A fresh machine. Where this is not allowed, the next step says what is missing.
        let _ = step("apt-get", &["update", "-qq"], &[]);
        let _ = step("apt-get", &["install", "-y", "-qq", "python3", "python3-venv"], &[]);
    }
    step("python3", &["-m", "venv", &folder.to_string_lossy()], &[]).context(help)?;
    let install = [&["-m", "pip", "install", "--quiet", "--disable-pip-version-check"], packages].concat();
    step(&python.to_string_lossy(), &install, &[]).context(help)?;
    std::fs::write(&finished, wanted)?;
    Ok(python)
}

/// What a program prints; on one thread, as far as the usual libraries listen.
pub(crate) fn output(root: &Path, program: &str, arguments: &[&str]) -> Result<String> {
    say(&format!("{program} {}", arguments.join(" ")));
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root)
        .env("OMP_NUM_THREADS", "1")
        .env("OPENBLAS_NUM_THREADS", "1")
        .output()
        .with_context(|| format!("running {program}"))?;
    if !output.status.success() {
        let printed = [output.stdout, output.stderr].concat();
        bail!("{program} failed:\n{}", String::from_utf8_lossy(&printed));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
