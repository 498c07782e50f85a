//! Python environments under target/, made on first use: what other programs are compared with comes from there.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{has, install, say, step};

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
    if !has("python3", &["-c", "import venv, ensurepip"]) {
        install(&["python3", "python3-venv"]);
    }
    step("python3", &["-m", "venv", &folder.to_string_lossy()], &[]).context(help)?;
    if !packages.is_empty() {
        let install = [&["-m", "pip", "install", "--quiet", "--disable-pip-version-check"], packages].concat();
        step(&python.to_string_lossy(), &install, &[]).context(help)?;
    }
    std::fs::write(&finished, wanted)?;
    Ok(python)
}

/// The interpreter of an environment with as many of these packages as can be installed one by one, and those that
/// cannot, with the reason.
pub(crate) fn peers<'p>(root: &Path, name: &str, packages: &[&'p str]) -> Result<(PathBuf, Vec<(&'p str, String)>)> {
    let python = environment(root, name, &[])?;
    let mut missing = Vec::new();
    for package in packages {
        let there = root.join("target").join(name).join("installed").join(package);
        if there.is_file() {
            continue;
        }
        say(&format!("installing {package}"));
        let options = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package];
        let output = Command::new(&python).args(options).output()?;
        if output.status.success() {
            std::fs::create_dir_all(there.parent().expect("it has a folder"))?;
            std::fs::write(&there, "")?;
        } else {
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            let reason = words.lines().find(|line| line.starts_with("ERROR")).unwrap_or("pip failed").to_owned();
            say(&format!("{package}: {reason}"));
            missing.push((*package, reason));
        }
    }
    Ok((python, missing))
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
