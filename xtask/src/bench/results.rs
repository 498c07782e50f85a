//! What was measured, as it lies in docs/benchmarks.json.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// All results, and the machine of the last run.
pub(super) struct Results {
    pub(super) machine: Value,
    lines: Vec<Value>,
}

impl Results {
    /// Those of the file, or none yet.
    pub(super) fn open(file: &Path) -> Result<Self> {
        if !file.is_file() {
            return Ok(Self { machine: Value::Null, lines: Vec::new() });
        }
        let text = std::fs::read_to_string(file)?;
        let all: Value = serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let lines = all["results"].as_array().cloned().unwrap_or_default();
        Ok(Self { machine: all["machine"].clone(), lines })
    }

    /// Takes note of the machine on which these rows are measured anew, or all if none is named. The machine of the page
    /// stays what it is if others of its rows do; those measured on another processor are named.
    pub(super) fn measured_on(&mut self, mut facts: Value, rows: &[&str]) {
        let mut elsewhere = self.machine["elsewhere"].as_object().cloned().unwrap_or_default();
        let same = self.machine.is_null() || self.machine["processor"] == facts["processor"];
        for &row in rows {
            elsewhere.remove(row);
            if !same {
                elsewhere.insert(row.to_owned(), facts["processor"].clone());
            }
        }
        if same || rows.is_empty() {
            self.machine = facts.take();
        }
        if !rows.is_empty() && !elsewhere.is_empty() {
            self.machine["elsewhere"] = elsewhere.into();
        }
    }

    /// One result per line, so that differences can be read.
    pub(super) fn save(&self, file: &Path) -> Result<()> {
        let lines: Vec<String> = self.lines.iter().map(|line| format!("  {line}")).collect();
        let text = format!("{{\"machine\": {},\n \"results\": [\n{}\n ]}}\n", self.machine, lines.join(",\n"));
        Ok(std::fs::write(file, text)?)
    }

    /// Forgets a row, which is about to be measured anew.
    pub(super) fn forget(&mut self, row: &str) {
        self.lines.retain(|line| line["row"] != row);
    }

    /// Adds a result to a row.
    pub(super) fn add(&mut self, row: &str, mut line: Value) {
        line["row"] = row.into();
        self.lines.push(line);
    }

    /// The results of a row, in order.
    pub(super) fn row(&self, row: &str) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter(move |line| line["row"] == row)
    }

    /// The cells of a row, in order, each once.
    pub(super) fn cells(&self, row: &str) -> Vec<&str> {
        let mut cells = Vec::new();
        for cell in self.row(row).filter_map(|line| line["cell"].as_str()) {
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
        cells
    }

    /// Who took part in a row, in order, each once.
    pub(super) fn whos(&self, row: &str) -> Vec<&str> {
        let mut whos = Vec::new();
        for who in self.row(row).filter_map(|line| line["who"].as_str()) {
            if !whos.contains(&who) {
                whos.push(who);
            }
        }
        whos
    }

    /// One result; null if there is none.
    pub(super) fn get(&self, row: &str, cell: &str, who: &str) -> &Value {
        self.row(row).find(|line| line["cell"] == cell && line["who"] == who).unwrap_or(&Value::Null)
    }

    /// Its seconds.
    pub(super) fn seconds(&self, row: &str, cell: &str, who: &str) -> Option<f64> {
        self.get(row, cell, who)["seconds"].as_f64()
    }
}

/// A program that did not do the work, with its own words.
pub(super) fn failure(cell: &str, who: &str, error: &str) -> Value {
    json!({ "cell": cell, "who": who, "error": error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_another_processor_are_named_until_they_are_measured_again() {
        let facts = |name: &str| json!({ "processor": name });
        let mut results = Results { machine: Value::Null, lines: Vec::new() };
        results.measured_on(facts("a"), &[]);
        results.measured_on(facts("b"), &["map", "real"]);
        results.measured_on(facts("a"), &["map"]);
        assert_eq!(results.machine, json!({ "processor": "a", "elsewhere": { "real": "b" } }));
        results.measured_on(facts("b"), &[]);
        assert_eq!(results.machine, facts("b"));
    }

    #[test]
    fn a_row_measured_anew_replaces_itself_and_nothing_else() {
        let mut results = Results { machine: Value::Null, lines: Vec::new() };
        results.add("map", json!({ "cell": "a", "who": "eyot", "seconds": 1.0 }));
        results.add("svm", json!({ "cell": "a", "who": "eyot", "seconds": 2.0 }));
        results.forget("map");
        results.add("map", json!({ "cell": "b", "who": "eyot", "seconds": 3.0 }));
        assert_eq!(results.cells("map"), ["b"]);
        assert_eq!(results.seconds("svm", "a", "eyot"), Some(2.0));
        assert_eq!(results.seconds("map", "a", "eyot"), None);
    }
}
