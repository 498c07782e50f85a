//! The solvers beside LIBLINEAR and LIBSVM: same objective, same predictions, on generated data and, where it is at
//! hand, on real data.

use std::path::Path;

use anyhow::Result;

use crate::python::{environment, output};
use crate::{say, step};

/// Set to go without this step on a machine that cannot reach the package registry. CI does not set it.
const SKIP: &str = "EYOT_SKIP_REFERENCES";

/// Data sets that are looked for, relative to the workspace.
const DATA: &str = "../shared/data";

pub(crate) fn check(root: &Path) -> Result<()> {
    if std::env::var_os(SKIP).is_some() {
        say(&format!("references: skipped, because {SKIP} is set; the solvers were NOT compared"));
        return Ok(());
    }
    let python = environment(root, "references", &["numpy", "scipy", "scikit-learn"])?;
    // As the tests are built, so that nothing is compiled anew.
    step("cargo", &["build", "--workspace", "--examples"], &[])?;
    let solvers = root.join("target/debug/examples/solvers");
    let folder = root.join("target/references/problems");
    let folder = folder.to_string_lossy();
    if !root.join(DATA).is_dir() {
        say(&format!("references: no {DATA}, so generated data only"));
    }
    output(root, &solvers.to_string_lossy(), &[&folder, DATA])?;
    let table = output(root, &python.to_string_lossy(), &["xtask/references.py", &folder])?;
    table.lines().for_each(say);
    Ok(())
}
