//! Anomaly detectors of other programs on the same files as ours.

use std::path::Path;

use anyhow::{Result, bail};

use crate::python::environment;
use crate::step;

/// Builds our program, makes an environment for theirs on first use, and prints AUC by file; `arguments` are the folder
/// of the data sets and perhaps names of sets.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let Some(data) = arguments.first() else { bail!("usage: cargo xtask detectors DATA [SET,..]") };
    step("cargo", &["build", "--release"], &[])?;
    let packages = ["numpy", "pandas", "scikit-learn", "pyarrow", "pyod", "isotree"];
    let python = environment(root, "detector-peers", &packages)?;
    let program = root.join("target/release/eyot").to_string_lossy().into_owned();
    let mut line = vec!["xtask/detectors.py", data, &program];
    line.extend(arguments.get(1).map(String::as_str));
    step(&python.to_string_lossy(), &line, &[("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1")])
}
