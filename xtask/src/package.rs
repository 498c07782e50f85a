//! The Python package: its wheel, and its tests in an environment of their own.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::python::environment;
use crate::{say, step};

/// Set to go without this step on a machine without Python or without the package registry. CI does not set it.
const SKIP: &str = "EYOT_SKIP_PYTHON";

/// Largest wheel that is acceptable, in bytes.
const LARGEST: u64 = 15 << 20;

/// Builds the wheel, installs it, and runs pytest, ruff and mypy.
pub(crate) fn check(root: &Path) -> Result<()> {
    if std::env::var_os(SKIP).is_some() {
        say(&format!("python: skipped, because {SKIP} is set; the Python package was NOT tested"));
        return Ok(());
    }
    let python = interpreter(root)?;
    let wheel = build(root, &python, false)?;
    let (python, wheel) = (python.to_string_lossy().into_owned(), wheel.to_string_lossy().into_owned());
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps"];
    step(&python, &[&pip[..], &[&wheel]].concat(), &[])?;
    step("cargo", &["build", "--release"], &[])?;
    let program = root.join("target/release/eyot").to_string_lossy().into_owned();
    step(&python, &["-m", "ruff", "check", "--quiet", "python"], &[])?;
    step(&python, &["-m", "mypy", "--config-file", "python/pyproject.toml", "python/eyot"], &[])?;
    let environment = [("EYOT_PROGRAM", program.as_str()), ("MPLBACKEND", "Agg")];
    step(&python, &["-m", "pytest", "-c", "python/pyproject.toml", "--rootdir", "python", "python/tests"], &environment)
}

/// Builds wheel and source distribution into target/wheels.
pub(crate) fn wheel(root: &Path) -> Result<()> {
    let python = interpreter(root)?;
    let wheel = build(root, &python, true)?;
    say(&format!("{} ({} bytes)", wheel.display(), wheel.metadata()?.len()));
    Ok(())
}

/// The interpreter of the environment that python/tests/requirements.txt describes.
fn interpreter(root: &Path) -> Result<PathBuf> {
    let list = root.join("python/tests/requirements.txt");
    let list = std::fs::read_to_string(&list).with_context(|| list.display().to_string())?;
    environment(root, "python", &list.lines().collect::<Vec<_>>())
}

/// The wheel, newly built in the workspace's own target folder.
fn build(root: &Path, python: &Path, source: bool) -> Result<PathBuf> {
    let out = root.join("target/wheels");
    if out.is_dir() {
        std::fs::remove_dir_all(&out)?;
    }
    let (folder, target) = (out.to_string_lossy().into_owned(), root.join("target").to_string_lossy().into_owned());
    let mut arguments = vec!["-m", "maturin", "build", "--release", "--manifest-path", "python/Cargo.toml"];
    arguments.extend(["--out", &folder, "--target-dir", &target]);
    if source {
        arguments.push("--sdist");
    }
    step(&python.to_string_lossy(), &arguments, &[])?;
    let mut files = std::fs::read_dir(&out)?.filter_map(|entry| Some(entry.ok()?.path()));
    let Some(wheel) = files.find(|path| path.extension().is_some_and(|extension| extension == "whl")) else {
        bail!("there is no wheel in {}", out.display());
    };
    let bytes = wheel.metadata()?.len();
    if bytes > LARGEST {
        bail!("the wheel has {bytes} bytes, more than {LARGEST}");
    }
    Ok(wheel)
}
