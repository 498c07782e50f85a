//! Anomaly detectors of other programs on the same files as ours.

use std::path::Path;

use anyhow::{Result, bail};

use crate::step;

/// Builds our program, makes an environment for theirs on first use, and prints AUC by file; `arguments` are the folder
/// of the data sets and perhaps names of sets.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let Some(data) = arguments.first() else { bail!("usage: cargo xtask detectors DATA [SET,..]") };
    step("cargo", &["build", "--release"], &[])?;
    let environment = root.join("target/detector-peers");
    let python = environment.join("bin/python").to_string_lossy().into_owned();
    if !environment.join("bin/python").is_file() {
        step("python3", &["-m", "venv", &environment.to_string_lossy()], &[])?;
        let packages = ["numpy", "pandas", "scikit-learn", "pyarrow", "pyod", "isotree"];
        step(&python, &[&["-m", "pip", "install", "--quiet"], &packages[..]].concat(), &[])?;
    }
    let program = root.join("target/release/eyot").to_string_lossy().into_owned();
    let mut line = vec!["xtask/detectors.py", data, &program];
    line.extend(arguments.get(1).map(String::as_str));
    step(&python, &line, &[("OMP_NUM_THREADS", "1"), ("OPENBLAS_NUM_THREADS", "1")])
}
