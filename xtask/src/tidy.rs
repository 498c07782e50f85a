//! The arrows of ARCHITECTURE.md: within the core, a stage may use only stages before it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// What each stage of the core may use besides itself and the ground floor.
const ARROWS: &[(&str, &[&str])] = &[
    ("data", &[]),
    ("backend", &["data"]),
    ("partition", &["data", "backend"]),
    ("kernel", &["data", "backend"]),
    ("map", &["data", "backend", "partition", "kernel"]),
    ("score", &["data"]),
    ("solve", &["data", "backend", "partition", "kernel", "map", "score"]),
    ("tune", &["data", "partition", "kernel", "map", "score", "solve"]),
    ("learn", &["data", "backend", "partition", "kernel", "map", "score", "tune"]),
    ("detect", &["data", "backend", "partition", "kernel", "map", "score", "solve"]),
    ("sets", &["data", "backend", "partition", "kernel", "map", "score", "solve", "tune"]),
    ("classify", &["data", "backend", "partition", "kernel", "map", "score", "solve", "tune"]),
];

/// Usable from everywhere.
const GROUND: &[&str] = &["error", "params", "rng", "parallel", "model"];

/// Fails with all violations.
pub(crate) fn check(root: &Path) -> Result<()> {
    let core = root.join("crates/eyot/src");
    let mut violations = Vec::new();
    for (stage, may_use) in ARROWS {
        for file in rust_files(&core.join(stage))? {
            let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
            let file = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            violations.extend(against_the_arrow(&text, stage, may_use).into_iter().map(|used| {
                format!("{file}: `crate::{used}` is not a stage that `{stage}` may use (ARCHITECTURE.md)")
            }));
        }
    }
    if !violations.is_empty() {
        bail!("{}", violations.join("\n"));
    }
    Ok(())
}

/// The stages that a file uses against the arrow; tests may use anything.
fn against_the_arrow<'t>(text: &'t str, stage: &str, may_use: &[&str]) -> Vec<&'t str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut used: Vec<&str> = code
        .split("crate::")
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
        .filter(|name| name.chars().next().is_some_and(char::is_lowercase))
        .filter(|name| *name != stage && !GROUND.contains(name) && !may_use.contains(name))
        .collect();
    used.sort_unstable();
    used.dedup();
    used
}

fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_that_points_back_is_found() {
        let text =
            "use crate::learn::X;\nuse crate::data::Y;\nuse crate::error::Z;\n#[cfg(test)]\nuse crate::score::S;";
        assert_eq!(against_the_arrow(text, "partition", &["data"]), ["learn"]);
    }

    #[test]
    fn the_tree_as_it_is_keeps_the_rules() {
        check(&crate::root()).unwrap();
    }
}
