//! What an experiment found: cells, claims, notes and figures, as text, Markdown and a page.

use std::collections::BTreeSet;
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
    /// Whether it was measured on data that is not at hand, so that ours stands beside it for orientation only.
    pub(super) other_data: bool,
}

impl Published {
    /// The same figure, measured on other data than ours.
    pub(super) fn on_other_data(self) -> Self {
        Self { other_data: true, ..self }
    }
}

impl From<f64> for Published {
    fn from(mean: f64) -> Self {
        Some(mean).into()
    }
}

impl From<(f64, f64)> for Published {
    fn from((mean, std): (f64, f64)) -> Self {
        Self { mean: Some(mean), std: Some(std), other_data: false }
    }
}

impl From<Option<f64>> for Published {
    fn from(mean: Option<f64>) -> Self {
        Self { mean, std: None, other_data: false }
    }
}

/// What was measured here: the value of every run, seconds of all runs together, and the setting that was used.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Ours {
    pub(super) runs: Vec<f64>,
    pub(super) seconds: Option<f64>,
    /// For example `psi 64`.
    pub(super) setting: String,
    /// What a figure shows of this cell, as points of a line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) curve: Vec<[f64; 2]>,
    /// The seconds after which it was stopped, without a figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stopped: Option<u64>,
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

    /// With the line of a figure, kept to five digits.
    pub(super) fn drawn(mut self, curve: impl IntoIterator<Item = [f64; 2]>) -> Self {
        self.curve = curve.into_iter().map(|point| point.map(five_digits)).collect();
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

fn five_digits(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

fn shown(mean: f64, std: Option<f64>, decimals: usize) -> String {
    std.map_or_else(|| format!("{mean:.decimals$}"), |std| format!("{mean:.decimals$} ± {std:.decimals$}"))
}

impl Cell {
    /// Ours less published.
    fn difference(&self) -> Option<f64> {
        Some(self.ours.mean() - self.published.mean?)
    }

    /// Whether ours is within the tolerance of the published figure, where that can be said.
    fn near(&self, measure: Measure) -> Option<bool> {
        let near = measure.tolerance.max(2.0 * self.published.std.unwrap_or(0.0));
        self.difference().filter(|_| measure.tolerance.is_finite()).map(|_| self.within(near))
    }

    /// Whether ours is that near to the published figure.
    fn within(&self, limit: f64) -> bool {
        // Printed figures are rounded, so that the limit itself must be within.
        self.difference().is_some_and(|difference| difference.abs() <= limit + 1e-9)
    }

    /// Whether the published figure is reproduced, where it was measured on the data at hand.
    pub(super) fn reproduced(&self, measure: Measure) -> Option<bool> {
        self.near(measure).filter(|_| !self.published.other_data)
    }

    /// Ours, and what is published beside it.
    fn beside(&self, measure: Measure) -> String {
        let ours = self.ours.shown(measure.decimals);
        let Some(mean) = self.published.mean else { return ours };
        let published = format!("{mean:.decimals$}", decimals = measure.decimals);
        let published = published.trim_end_matches('0').trim_end_matches('.');
        match self.reproduced(measure) {
            _ if self.published.other_data => format!("{ours} / ({published})"),
            Some(false) => format!("{ours} / {published} ✗"),
            _ => format!("{ours} / {published}"),
        }
    }
}

/// What a paper says, and what is found here.
pub(super) struct Claim {
    pub(super) says: String,
    pub(super) holds: Option<bool>,
    pub(super) found: String,
    /// Whether it is put to other data than the paper's.
    pub(super) other_data: bool,
}

impl Claim {
    /// Where the claim comes from, what it is, whether it holds and what shows it.
    fn words(&self, of_paper: bool) -> String {
        let who = if of_paper { "The paper says" } else { "Asked" };
        let verdict = match self.holds {
            Some(true) if self.other_data => "Holds on a stand-in",
            Some(false) if self.other_data => "Does not hold on a stand-in",
            Some(true) if of_paper => "Holds here",
            Some(false) if of_paper => "Does not hold here",
            Some(true) => "Yes",
            Some(false) => "No",
            None => "Here",
        };
        format!("{who}: {}. {verdict}: {}.", self.says.trim_end_matches('.'), self.found.trim_end_matches('.'))
    }
}

/// Why cells differ from what is published.
pub(super) struct Reason {
    pub(super) datasets: Vec<String>,
    pub(super) methods: Vec<String>,
    pub(super) why: String,
}

impl Reason {
    fn fits(&self, cell: &Cell) -> bool {
        let among = |names: &[String], name: &String| names.is_empty() || names.contains(name);
        among(&self.datasets, &cell.dataset) && among(&self.methods, &cell.method)
    }
}

/// What an experiment found.
pub(super) struct Results {
    pub(super) experiment: &'static Experiment,
    pub(super) cells: Vec<Cell>,
    pub(super) claims: Vec<Claim>,
    pub(super) reasons: Vec<Reason>,
    pub(super) notes: Vec<String>,
    pub(super) figures: Vec<(String, Figure)>,
    /// Data sets that are not there.
    pub(super) skipped: Vec<String>,
    /// Cells that were to be shown only if they were finished, and are not.
    pub(super) unfinished: usize,
}

/// How many published figures are met.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    /// On the paper's data.
    compared: usize,
    reproduced: usize,
    /// Of those that are reproduced: within the tolerance alone, whatever the published deviation.
    within: usize,
    /// Of those that are not reproduced.
    explained: usize,
    /// On other data than the paper's.
    beside: usize,
    near: usize,
    claims: usize,
    hold: usize,
}

impl Tally {
    fn plus(self, other: Self) -> Self {
        Self {
            compared: self.compared + other.compared,
            reproduced: self.reproduced + other.reproduced,
            within: self.within + other.within,
            explained: self.explained + other.explained,
            beside: self.beside + other.beside,
            near: self.near + other.near,
            claims: self.claims + other.claims,
            hold: self.hold + other.hold,
        }
    }

    /// `12 of 14 (86 %)`, or nothing.
    fn share(part: usize, whole: usize) -> String {
        if whole == 0 { String::new() } else { format!("{part} of {whole} ({:.0} %)", 100.0 * part as f64 / whole as f64) }
    }
}

const COLUMNS: [&str; 9] =
    ["data", "method", "published", "ours", "difference", "reproduced", "runs", "seconds", "setting"];

/// A table of words.
struct Grid {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// Without columns in which nothing stands.
    fn without_empty(columns: &[&str], rows: &[[String; 9]]) -> Self {
        let used: Vec<usize> = (0..columns.len()).filter(|&at| rows.iter().any(|row| !row[at].is_empty())).collect();
        Self {
            columns: used.iter().map(|&at| columns[at].to_owned()).collect(),
            rows: rows.iter().map(|row| used.iter().map(|&at| row[at].clone()).collect()).collect(),
        }
    }

    fn to_markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "));
        let rule: Vec<String> = self.columns.iter().map(|_| "---".into()).collect();
        self.rows.iter().fold(line(&self.columns) + &line(&rule), |text, row| text + &line(row))
    }

    fn to_table(&self) -> Table {
        Table::new(self.columns.iter().cloned()).rows(self.rows.iter().cloned())
    }
}

/// The names in order of first appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

impl Results {
    pub(super) fn new(experiment: &'static Experiment) -> Self {
        Self {
            experiment,
            cells: Vec::new(),
            claims: Vec::new(),
            reasons: Vec::new(),
            notes: Vec::new(),
            figures: Vec::new(),
            skipped: Vec::new(),
            unfinished: 0,
        }
    }

    fn is_of_paper(&self) -> bool {
        paper_of(self.experiment.name) < PAPERS.len() - 1
    }

    fn tally(&self) -> Tally {
        let measure = self.experiment.measure;
        let mut tally = Tally::default();
        for cell in &self.cells {
            match (cell.near(measure), cell.published.other_data) {
                (None, _) => {}
                (Some(near), true) => {
                    tally.beside += 1;
                    tally.near += usize::from(near);
                }
                (Some(near), false) => {
                    tally.compared += 1;
                    tally.reproduced += usize::from(near);
                    tally.within += usize::from(cell.within(measure.tolerance));
                    tally.explained += usize::from(!near && self.why(cell).is_some());
                }
            }
        }
        if self.is_of_paper() {
            let counted = || self.claims.iter().filter(|claim| !claim.other_data);
            tally.claims = counted().filter(|claim| claim.holds.is_some()).count();
            tally.hold = counted().filter(|claim| claim.holds == Some(true)).count();
        }
        tally
    }

    /// Why a cell differs from what is published: the last reason that fits, since experiments go from the general to
    /// the particular.
    fn why(&self, cell: &Cell) -> Option<&str> {
        self.reasons.iter().rev().find(|reason| reason.fits(cell)).map(|reason| reason.why.as_str())
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
                        None if published.other_data => "other data".into(),
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

    /// The cells at a glance: one row per data set and one column per method, or turned where that has fewer columns.
    /// Data sets that share few methods are in tables of their own.
    fn glance(&self) -> Vec<Grid> {
        let datasets = distinct(self.cells.iter().map(|cell| cell.dataset.as_str()));
        let methods = distinct(self.cells.iter().map(|cell| cell.method.as_str()));
        if self.cells.len() * 5 >= datasets.len() * methods.len() * 2 {
            return vec![self.grid(&datasets, &methods)];
        }
        let methods_of = |dataset: &str| distinct(self.cells.iter().filter(|cell| cell.dataset == dataset).map(|cell| cell.method.as_str()));
        let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
        for dataset in datasets {
            let methods = methods_of(dataset);
            match groups.iter_mut().find(|(_, known)| *known == methods) {
                Some((datasets, _)) => datasets.push(dataset),
                None => groups.push((vec![dataset], methods)),
            }
        }
        groups.iter().map(|(datasets, methods)| self.grid(datasets, methods)).collect()
    }

    fn grid(&self, datasets: &[&str], methods: &[&str]) -> Grid {
        let text = |dataset: &str, method: &str| {
            let found = self.cells.iter().find(|cell| cell.dataset == dataset && cell.method == method);
            found.map_or_else(String::new, |cell| cell.beside(self.experiment.measure))
        };
        let turned = datasets.len() < methods.len() && methods.len() > if datasets.len() == 1 { 4 } else { 8 };
        let (corner, across, down) = if turned { ("method", datasets, methods) } else { ("data", methods, datasets) };
        let mut grid = Grid { columns: vec![corner.to_owned()], rows: Vec::new() };
        grid.columns.extend(across.iter().map(|&name| name.to_owned()));
        for &one in down {
            let mut row = vec![one.to_owned()];
            for &other in across {
                row.push(if turned { text(other, one) } else { text(one, other) });
            }
            grid.rows.push(row);
        }
        grid
    }

    /// How to read the tables at a glance.
    fn legend(&self) -> String {
        let measure = self.experiment.measure;
        let mut text = format!("Each cell: {}", measure.name);
        if self.cells.iter().any(|cell| cell.published.mean.is_some()) {
            text += ", ours / published";
        }
        let runs: Vec<usize> = self.cells.iter().map(|cell| cell.ours.runs.len()).collect();
        if let (Some(least), Some(most)) = (runs.iter().min(), runs.iter().max()) {
            if *most > 1 {
                text += "; ± is the standard deviation over runs";
            }
            let _ = if least == most { write!(text, "; runs per cell: {least}") } else { write!(text, "; runs per cell: {least} to {most}") };
        }
        if self.cells.iter().any(|cell| cell.reproduced(measure) == Some(false)) {
            let _ = write!(text, "; ✗: differs by more than {} and two published standard deviations", measure.tolerance);
        }
        if self.cells.iter().any(|cell| cell.published.other_data) {
            text += "; in brackets: published for data that is not at hand, ours is a stand-in";
        }
        text + "."
    }

    /// Cells that are not reproduced, with what is known about why.
    fn differing(&self) -> Option<Grid> {
        let measure = self.experiment.measure;
        let row = |cell: &Cell| {
            vec![
                cell.dataset.clone(),
                cell.method.clone(),
                cell.ours.shown(measure.decimals),
                cell.published.mean.map_or_else(String::new, |mean| shown(mean, cell.published.std, measure.decimals)),
                self.why(cell).unwrap_or("not explained").to_owned(),
            ]
        };
        let rows: Vec<_> = self.cells.iter().filter(|cell| cell.reproduced(measure) == Some(false)).map(row).collect();
        let columns = ["data", "method", "ours", "published", "why"].map(str::to_owned).to_vec();
        (!rows.is_empty()).then_some(Grid { columns, rows })
    }

    fn verdict(&self) -> Option<String> {
        let tally = self.tally();
        let tolerance = self.experiment.measure.tolerance;
        let limit = format!("within {tolerance} or two published standard deviations");
        let mut sentences = Vec::new();
        if tally.compared > 0 {
            let Tally { compared, reproduced, explained, .. } = tally;
            let rest = compared - reproduced;
            let rest = if rest > 0 { format!("; {explained} of the other {rest} are explained below") } else { String::new() };
            sentences.push(format!("{reproduced} of {compared} published figures are reproduced, {limit}{rest}."));
        }
        if tally.beside > 0 {
            sentences.push(format!("On stand-ins for data that is not at hand, {} of {} figures are as near.", tally.near, tally.beside));
        }
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }

    fn claims(&self) -> Vec<String> {
        self.claims.iter().map(|claim| claim.words(self.is_of_paper())).collect()
    }

    /// A table for people.
    pub(super) fn to_text(&self) -> String {
        let Grid { columns, rows } = Grid::without_empty(&COLUMNS, &self.rows());
        let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).chain([columns[at].len()]).max();
        let line = |cells: &[String]| {
            let words = cells.iter().enumerate().map(|(at, cell)| format!("{cell:<width$}", width = width(at).unwrap_or(0)));
            format!("{}\n", words.collect::<Vec<_>>().join("  ").trim_end())
        };
        let mut text = format!("\n{}: {} ({})\n\n", self.experiment.name, self.experiment.title, self.experiment.measure.name);
        if !rows.is_empty() {
            text += &line(&columns);
        }
        for row in &rows {
            text += &line(row);
        }
        text.push('\n');
        for note in self.verdict().iter().chain(&self.claims()).chain(&self.notes) {
            let _ = writeln!(text, "{note}");
        }
        text.push('\n');
        text
    }

    /// The command that gives this experiment alone.
    fn command(&self, options: &str) -> String {
        format!("eyot reproduce {}{options}", self.experiment.name)
    }

    fn to_markdown(&self, options: &str) -> String {
        let Experiment { name, title, .. } = self.experiment;
        let mut text = format!("### {name}\n\n**{}**\n\n`{}`\n\n", sentence(title), self.command(options));
        if let Some(verdict) = self.verdict() {
            let _ = write!(text, "{verdict}\n\n");
        }
        for claim in self.claims() {
            let _ = writeln!(text, "- {claim}");
        }
        if !self.claims.is_empty() {
            text.push('\n');
        }
        if !self.cells.is_empty() {
            for grid in self.glance() {
                text += &(grid.to_markdown() + "\n");
            }
            let _ = write!(text, "{}\n\n", self.legend());
        }
        if let Some(grid) = self.differing() {
            let _ = write!(text, "Figures that differ from the published ones:\n\n{}\n", grid.to_markdown());
        }
        for (file, figure) in &self.figures {
            let _ = write!(text, "![{}]({file}.svg)\n\n", if figure.about().is_empty() { file } else { figure.about() });
        }
        for note in &self.notes {
            let _ = writeln!(text, "- {note}");
        }
        if !self.cells.is_empty() {
            let all = Grid::without_empty(&COLUMNS, &self.rows()).to_markdown();
            let _ = write!(text, "\n<details><summary>All cells with runs, seconds and settings</summary>\n\n{all}\n</details>\n");
        }
        text.push('\n');
        text
    }

    fn to_section(&self, options: &str) -> Section {
        let Experiment { name, title, .. } = self.experiment;
        let mut section = Section::new(format!("{name}: {title}")).anchor(*name).below().code(self.command(options));
        section = self.verdict().into_iter().fold(section, Section::text).list(self.claims());
        if !self.cells.is_empty() {
            section = self.glance().iter().fold(section, |section, grid| section.table(grid.to_table())).text(self.legend());
        }
        if let Some(grid) = self.differing() {
            section = section.table(grid.to_table().caption("Figures that differ from the published ones"));
        }
        if !self.figures.is_empty() {
            section = section.figures(self.figures.iter().map(|(_, figure)| figure.clone()));
        }
        section = section.list(&self.notes);
        if self.cells.is_empty() {
            return section;
        }
        section.folded("All cells with runs, seconds and settings", Grid::without_empty(&COLUMNS, &self.rows()).to_table())
    }
}

/// The papers by the beginning of their experiments' names; what has none of these is beyond the papers.
const PAPERS: [(&str, &str, &str); 5] = [
    ("p1", "Paper 1: Isolation Kernel for online kernel learning", "Ting, Wells, Washio: Isolation Kernel: The X Factor in Efficient and Effective Large Scale Online Kernel Learning."),
    ("p2", "Paper 2: Reparameterized Random Features", "Online kernel learning with random Fourier features whose widths are learned."),
    ("p3", "Paper 3: Isolation Distributional Kernel", "Ting, Xu, Washio, Zhou: Isolation Distributional Kernel: A New Tool for Kernel based Anomaly Detection, 2020."),
    ("p4", "Paper 4: Isolation Set-Kernel", "Isolation Set-Kernel and its application to multi-instance learning."),
    ("", "Beyond the papers", "What the papers did not show: every method of a family on every data set at hand, choices without labels, change, and cost."),
];

fn paper_of(experiment: &str) -> usize {
    PAPERS.iter().position(|(start, ..)| experiment.starts_with(start)).unwrap_or(PAPERS.len() - 1)
}

/// With a capital letter at the beginning and a point at the end.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map_or_else(String::new, |first| first.to_uppercase().collect());
    format!("{first}{}.", letters.as_str())
}

/// How to read the page.
const READING: &str = "A published figure counts as reproduced if ours is within the tolerance that the experiment names (0.02 \
    for accuracies and AUC) or within two published standard deviations (paper 4 prints standard errors). Figures on data \
    that is not at hand in the paper's version stand beside those of a stand-in and are not counted. Seconds are those of the machine that ran this; \
    only their ratios compare with the papers.";

/// Writes the page, the same as Markdown, and every figure as a file.
pub(super) fn save(all: &[Results], folder: &Path, options: &str) -> anyhow::Result<()> {
    let total = all.iter().map(Results::tally).fold(Tally::default(), Tally::plus);
    let mut lead = match total.compared {
        0 => "What comes out here, beside what is published.".to_owned(),
        _ => format!(
            "{} published figures are reproduced, {} of them within the tolerance alone.",
            Tally::share(total.reproduced, total.compared),
            total.within
        ),
    };
    if total.claims > 0 {
        let _ = write!(lead, " Of what the papers say about them, {} claims hold here.", Tally::share(total.hold, total.claims));
    }
    let of_paper = |paper: usize| all.iter().filter(move |results| paper_of(results.experiment.name) == paper);
    let line = |name: String, tally: Tally| {
        let Tally { compared, reproduced, explained, beside, near, claims, hold, .. } = tally;
        let rest = compared - reproduced;
        let explained = if rest == 0 { String::new() } else { format!("{explained} of {rest}") };
        vec![name, Tally::share(reproduced, compared), explained, Tally::share(near, beside), Tally::share(hold, claims)]
    };
    let columns = ["", "published figures reproduced", "others explained", "as near on stand-ins", "claims that hold"].map(str::to_owned).to_vec();
    let mut overview = Grid { columns: columns.clone(), rows: Vec::new() };
    let mut contents = Grid { columns, rows: Vec::new() };
    "experiment".clone_into(&mut contents.columns[0]);
    let mut links = Vec::new();
    for (paper, (_, title, _)) in PAPERS.iter().enumerate() {
        let tally = of_paper(paper).map(Results::tally).fold(Tally::default(), Tally::plus);
        if of_paper(paper).next().is_some() && paper < PAPERS.len() - 1 {
            overview.rows.push(line((*title).to_owned(), tally));
        }
        for results in of_paper(paper) {
            let Experiment { name, title, .. } = results.experiment;
            let tally = results.tally();
            let mut words = format!("{name}: {title}");
            if tally.compared > 0 {
                let _ = write!(words, "; {} of {} figures", tally.reproduced, tally.compared);
            }
            if tally.claims > 0 {
                let _ = write!(words, "; {} of {} claims", tally.hold, tally.claims);
            }
            links.push((*name, words));
            contents.rows.push(line(format!("[{name}](#{name}): {title}"), results.tally()));
        }
    }
    let command = format!("eyot reproduce all{options}");
    let mut markdown = format!(
        "# Ours beside the papers\n\n{lead}\n\n`{command}`\n\n{}\n{READING}\n\n## Contents\n\n{}\n",
        overview.to_markdown(),
        contents.to_markdown()
    );
    let mut report = Report::new("Ours beside the papers").lead(lead).run("command", &command);
    report = report.run("version", env!("CARGO_PKG_VERSION"));
    report = report.section(Section::new("Overview").table(overview.to_table()).text(READING).links(links));
    for (paper, (_, title, about)) in PAPERS.iter().enumerate() {
        if of_paper(paper).next().is_none() {
            continue;
        }
        let _ = write!(markdown, "## {title}\n\n{about}\n\n");
        report = report.section(Section::new(*title).text(*about));
        for results in of_paper(paper) {
            markdown += &results.to_markdown(options);
            report = report.section(results.to_section(options));
            for (name, figure) in &results.figures {
                write_file(folder.join(format!("{name}.svg")), figure.to_svg().as_bytes())?;
            }
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

    fn results(cells: Vec<Cell>) -> Results {
        const EXPERIMENT: Experiment =
            Experiment { name: "p3-table2", title: "a table", measure: Measure::share("AUC"), run: |_| Ok(()) };
        let mut results = Results::new(&EXPERIMENT);
        results.cells = cells;
        results
    }

    fn named(dataset: &str, method: &str) -> Cell {
        Cell { dataset: dataset.into(), method: method.into(), ..cell(None, &[0.5]) }
    }

    #[test]
    fn figures_on_other_data_stand_in_brackets_and_are_not_counted() {
        let other = Cell { published: Published::from(0.9).on_other_data(), ..cell(None, &[0.5]) };
        let results = results(vec![other, cell(0.9, &[0.5]), cell(0.9, &[0.9]), cell((0.9, 0.02), &[0.93])]);
        let tally = results.tally();
        assert_eq!((tally.compared, tally.reproduced, tally.beside, tally.near), (3, 2, 1, 0));
        assert_eq!(tally.within, 1);
        let measure = Measure::share("AUC");
        let words: Vec<String> = results.cells.iter().map(|cell| cell.beside(measure)).collect();
        assert_eq!(words, ["0.500 / (0.9)", "0.500 / 0.9 ✗", "0.900 / 0.9", "0.930 / 0.9"]);
    }

    #[test]
    fn what_differs_has_the_most_particular_reason() {
        let mut results = results(vec![cell(0.9, &[0.5])]);
        assert_eq!(results.tally().explained, 0);
        let reason = |methods: &[&str], why: &str| Reason {
            datasets: vec![],
            methods: methods.iter().map(|&method| method.to_owned()).collect(),
            why: why.to_owned(),
        };
        results.reasons = vec![reason(&[], "in general"), reason(&["idk"], "for idk"), reason(&["inne"], "for inne")];
        assert_eq!(results.tally().explained, 1);
        assert_eq!(results.differing().unwrap().rows[0][4], "for idk");
    }

    #[test]
    fn sets_with_other_methods_have_tables_of_their_own() {
        let full = ["a", "b"].map(|set| ["x", "y"].map(|method| named(set, method))).concat();
        let grids = results(full.clone()).glance();
        assert_eq!((grids.len(), grids[0].columns.join(" ")), (1, "data x y".to_owned()));
        let sweep: Vec<Cell> = (0..9).map(|at| named("all", &format!("psi {at}"))).collect();
        let grids = results([full, sweep].concat()).glance();
        assert_eq!(grids.len(), 2);
        // One set with many methods is turned.
        assert_eq!((grids[1].columns.join(" "), grids[1].rows.len()), ("method all".to_owned(), 9));
    }

    #[test]
    fn a_bar_in_a_name_does_not_end_a_cell_of_markdown() {
        let grid = Grid { columns: vec!["a|b".into()], rows: vec![vec!["c".into()]] };
        assert_eq!(grid.to_markdown(), "| a\\|b |\n| --- |\n| c |\n");
    }
}
