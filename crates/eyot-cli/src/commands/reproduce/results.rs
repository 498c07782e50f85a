//! What an experiment found: cells, notes and figures, as text, Markdown and a page.

use std::fmt::Write as _;
use std::path::Path;

use eyot_io::plot::Figure;
use eyot_io::report::{Report, Section, Table};
use eyot_io::write_file;
use serde::{Deserialize, Serialize};

use super::{Experiment, Measure};

/// One number of a table, ours and published.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Cell {
    pub(super) dataset: String,
    pub(super) method: String,
    pub(super) published: Published,
    pub(super) ours: Ours,
}

/// A published figure, with its standard deviation if it is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Published {
    pub(super) mean: Option<f64>,
    pub(super) std: Option<f64>,
}

impl From<f64> for Published {
    fn from(mean: f64) -> Self {
        Self { mean: Some(mean), std: None }
    }
}

impl From<(f64, f64)> for Published {
    fn from((mean, std): (f64, f64)) -> Self {
        Self { mean: Some(mean), std: Some(std) }
    }
}

impl From<Option<f64>> for Published {
    fn from(mean: Option<f64>) -> Self {
        Self { mean, std: None }
    }
}

/// What was measured here: the value of every run, seconds of all runs together, and the setting that was used.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Ours {
    pub(super) runs: Vec<f64>,
    pub(super) seconds: Option<f64>,
    /// For example `psi 64`.
    pub(super) setting: String,
}

impl Ours {
    /// The values of all runs.
    pub(super) fn of(runs: Vec<f64>) -> Self {
        Self { runs, ..Self::default() }
    }

    /// With the setting that was used.
    pub(super) fn with(mut self, setting: impl Into<String>) -> Self {
        self.setting = setting.into();
        self
    }

    /// With the seconds of all runs together.
    pub(super) fn took(mut self, seconds: f64) -> Self {
        self.seconds = Some(seconds);
        self
    }

    pub(super) fn mean(&self) -> f64 {
        self.runs.iter().sum::<f64>() / self.runs.len() as f64
    }

    /// The standard deviation over runs, if there is more than one.
    pub(super) fn std(&self) -> Option<f64> {
        let (mean, n) = (self.mean(), self.runs.len());
        let squares: f64 = self.runs.iter().map(|value| (value - mean).powi(2)).sum();
        (n > 1).then(|| (squares / (n - 1) as f64).sqrt())
    }

    pub(super) fn shown(&self, decimals: usize) -> String {
        shown(self.mean(), self.std(), decimals)
    }
}

fn shown(mean: f64, std: Option<f64>, decimals: usize) -> String {
    std.map_or_else(|| format!("{mean:.decimals$}"), |std| format!("{mean:.decimals$} ± {std:.decimals$}"))
}

impl Cell {
    /// Ours less published.
    fn difference(&self) -> Option<f64> {
        Some(self.ours.mean() - self.published.mean?)
    }

    /// Whether the published figure is reproduced, where that can be said.
    pub(super) fn reproduced(&self, measure: Measure) -> Option<bool> {
        let near = measure.tolerance.max(2.0 * self.published.std.unwrap_or(0.0));
        // Printed figures are rounded, so that the limit itself must be within.
        self.difference().filter(|_| measure.tolerance.is_finite()).map(|difference| difference.abs() <= near + 1e-9)
    }
}

/// What an experiment found.
pub(super) struct Results {
    pub(super) experiment: &'static Experiment,
    pub(super) cells: Vec<Cell>,
    pub(super) notes: Vec<String>,
    pub(super) figures: Vec<(String, Figure)>,
}

const COLUMNS: [&str; 9] =
    ["data", "method", "published", "ours", "difference", "reproduced", "runs", "seconds", "setting"];

impl Results {
    pub(super) fn new(experiment: &'static Experiment) -> Self {
        Self { experiment, cells: Vec::new(), notes: Vec::new(), figures: Vec::new() }
    }

    /// How many of the published cells are reproduced, and how many there are.
    fn tally(&self) -> (usize, usize) {
        let verdicts: Vec<bool> =
            self.cells.iter().filter_map(|cell| cell.reproduced(self.experiment.measure)).collect();
        (verdicts.iter().filter(|&&reproduced| reproduced).count(), verdicts.len())
    }

    /// The cells as words, one row each.
    fn rows(&self) -> Vec<[String; 9]> {
        let measure = self.experiment.measure;
        let decimals = measure.decimals;
        self.cells
            .iter()
            .map(|cell| {
                let Cell { dataset, method, published, ours } = cell;
                [
                    dataset.clone(),
                    method.clone(),
                    published.mean.map_or_else(String::new, |mean| shown(mean, published.std, decimals)),
                    ours.shown(decimals),
                    cell.difference().map_or_else(String::new, |difference| format!("{difference:+.decimals$}")),
                    match cell.reproduced(measure) {
                        None => String::new(),
                        Some(true) => "yes".into(),
                        Some(false) => "no".into(),
                    },
                    ours.runs.len().to_string(),
                    ours.seconds.map_or_else(String::new, |seconds| format!("{seconds:.1}")),
                    ours.setting.clone(),
                ]
            })
            .collect()
    }

    fn verdict(&self) -> Option<String> {
        let (reproduced, published) = self.tally();
        let tolerance = self.experiment.measure.tolerance;
        (published > 0).then(|| {
            format!(
                "{reproduced} of {published} published cells are reproduced: within {tolerance} or two published standard \
                 deviations."
            )
        })
    }

    /// A table for people.
    pub(super) fn to_text(&self) -> String {
        let rows = self.rows();
        let used: Vec<usize> = (0..COLUMNS.len()).filter(|&at| rows.iter().any(|row| !row[at].is_empty())).collect();
        let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).chain([COLUMNS[at].len()]).max();
        let line = |cells: &dyn Fn(usize) -> String| {
            let words: Vec<String> =
                used.iter().map(|&at| format!("{:<width$}", cells(at), width = width(at).unwrap_or(0))).collect();
            format!("{}\n", words.join("  ").trim_end())
        };
        let mut text = format!("\n{}: {} ({})\n\n", self.experiment.name, self.experiment.title, self.experiment.measure.name);
        text += &line(&|at| COLUMNS[at].to_owned());
        for row in &rows {
            text += &line(&|at| row[at].clone());
        }
        text.push('\n');
        for note in self.verdict().iter().chain(&self.notes) {
            let _ = writeln!(text, "{note}");
        }
        text.push('\n');
        text
    }

    fn to_markdown(&self) -> String {
        let rows = self.rows();
        let used: Vec<usize> = (0..COLUMNS.len()).filter(|&at| rows.iter().any(|row| !row[at].is_empty())).collect();
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let Experiment { name, title, measure, .. } = self.experiment;
        let mut text = format!("## {name}: {title}\n\nMeasured: {}.\n\n", measure.name);
        text += &line(used.iter().map(|&at| COLUMNS[at]).collect());
        text += &line(used.iter().map(|_| "---").collect());
        for row in &rows {
            text += &line(used.iter().map(|&at| row[at].as_str()).collect());
        }
        for note in self.verdict().iter().chain(&self.notes) {
            let _ = write!(text, "\n{note}\n");
        }
        for (file, _) in &self.figures {
            let _ = write!(text, "\n![{file}]({file}.svg)\n");
        }
        text.push('\n');
        text
    }

    fn to_section(&self) -> Section {
        let Experiment { name, title, measure, .. } = self.experiment;
        let rows = self.rows();
        let used: Vec<usize> = (0..COLUMNS.len()).filter(|&at| rows.iter().any(|row| !row[at].is_empty())).collect();
        let table = Table::new(used.iter().map(|&at| COLUMNS[at])).caption(measure.name);
        let table = table.rows(rows.iter().map(|row| used.iter().map(|&at| row[at].clone()).collect::<Vec<_>>()));
        let section = Section::new(format!("{name}: {title}")).table(table);
        let section = self.verdict().iter().chain(&self.notes).fold(section, Section::text);
        if self.figures.is_empty() {
            return section;
        }
        section.figures(self.figures.iter().map(|(_, figure)| figure.clone()))
    }
}

/// Writes the page, the same as Markdown, and every figure as a file.
pub(super) fn save(all: &[Results], folder: &Path, command: &str) -> anyhow::Result<()> {
    let (reproduced, published) =
        all.iter().map(Results::tally).fold((0, 0), |(a, b), (reproduced, published)| (a + reproduced, b + published));
    let lead = format!("{reproduced} of {published} published cells that can be compared are reproduced.");
    let mut markdown = format!("# Ours beside the papers\n\n`{command}`\n\n{lead}\n\n");
    let report = Report::new("Ours beside the papers").lead(lead).run("command", command);
    let mut report = report.run("version", env!("CARGO_PKG_VERSION"));
    for results in all {
        markdown += &results.to_markdown();
        report = report.section(results.to_section());
        for (name, figure) in &results.figures {
            write_file(folder.join(format!("{name}.svg")), figure.to_svg().as_bytes())?;
        }
    }
    write_file(folder.join("results.md"), markdown.as_bytes())?;
    report.save(folder.join("results.html"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(published: impl Into<Published>, runs: &[f64]) -> Cell {
        let (dataset, method) = ("http".into(), "idk".into());
        Cell { dataset, method, published: published.into(), ours: Ours::of(runs.to_vec()) }
    }

    #[test]
    fn a_cell_is_reproduced_within_the_tolerance_or_two_deviations() {
        let measure = Measure::share("AUC");
        assert_eq!(cell(0.90, &[0.92]).reproduced(measure), Some(true));
        assert_eq!(cell(0.90, &[0.93]).reproduced(measure), Some(false));
        assert_eq!(cell((0.90, 0.02), &[0.93]).reproduced(measure), Some(true));
        assert_eq!(cell(None, &[0.93]).reproduced(measure), None);
        assert_eq!(cell(0.9, &[0.1]).reproduced(Measure::shown("seconds", 1)), None);
    }

    #[test]
    fn mean_and_spread_are_over_runs() {
        let ours = Ours::of(vec![1.0, 2.0, 3.0]);
        assert_eq!((ours.mean(), ours.std()), (2.0, Some(1.0)));
        assert_eq!(ours.shown(2), "2.00 ± 1.00");
        assert_eq!(Ours::of(vec![0.5]).shown(1), "0.5");
    }
}
