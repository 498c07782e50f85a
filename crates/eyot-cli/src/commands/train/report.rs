//! The report of `eyot train`: how good, found how, confused where, time spent on what.

use eyot_io::plot::{Bars, HeatMap, LineChart};
use eyot_io::report::{Report, Section, Table};

use super::outcome::{Outcome, short, varied};
use crate::job::Seconds;
use crate::messages::count;

/// More classes than this make a picture of no use.
const MOST_CLASSES: usize = 40;

/// The whole report.
pub(super) fn report(outcome: &Outcome<'_>, rows: usize, tuned_in: f64, seconds: &Seconds, seed: u64) -> Report {
    let (confusion, names) = (outcome.confusion(), outcome.model.classes.names());
    let lead = format!(
        "{:.2} % of the rows of {} were classified rightly.",
        100.0 * outcome.accuracy(),
        if outcome.tested.is_some() { "the test file" } else { "the held-out folds" }
    );
    let mut report = Report::new(format!("Classification with {}", outcome.model.params.name()))
        .lead(lead)
        .fact("accuracy", format!("{:.4}", outcome.accuracy()))
        .fact("macro F1", format!("{:.4}", confusion.macro_f1()))
        .fact("training rows", count(rows))
        .fact("classes", names.len().to_string());
    for (name, value) in varied(&outcome.model.params) {
        report = report.fact(name, short(value));
    }
    if let Some(section) = tuning(outcome) {
        report = report.section(section);
    }
    let mut section = Section::new("Which classes are taken for which");
    if names.len() <= MOST_CLASSES {
        let counts: Vec<f64> = confusion.counts().iter().map(|&count| count as f64).collect();
        section = section.figures([HeatMap::confusion("Confusion matrix", names, &counts).figure()]);
    }
    let mut table = Table::new(["class", "precision", "recall", "F1", "rows"]);
    for (class, name) in names.iter().enumerate() {
        let score = confusion.class(class);
        let cells = [score.precision, score.recall, score.f1].map(|share| format!("{share:.4}"));
        let [precision, recall, f1] = cells;
        table = table.row([name.clone(), precision, recall, f1, count(score.rows as usize)]);
    }
    report = report.section(section.table(table));
    let solving = (seconds.fit - tuned_in).max(0.0);
    let spent = [seconds.read, tuned_in, seconds.map, solving, seconds.score];
    let times = Bars::new("Seconds by step", ["read", "tune", "map", "solve", "score"]).series("seconds", &spent);
    report = report.section(Section::new("Where the time went").figures([times.lying().with_values().figure()]));
    let parameters = serde_json::to_string(&outcome.model.params).unwrap_or_default();
    report.run("seed", seed.to_string()).run("parameters", parameters)
}

/// Accuracy against the sharpness, one line per price.
fn tuning(outcome: &Outcome<'_>) -> Option<Section> {
    let table = outcome.table().filter(|table| table.entries.len() > 1)?;
    let mut heads: Vec<&'static str> = varied(&table.best().parameters).into_iter().map(|(name, _)| name).collect();
    let sharpness = heads.first().copied().unwrap_or("c");
    let mut lines: Vec<(f64, Vec<[f64; 2]>)> = Vec::new();
    for entry in &table.entries {
        let values = varied(&entry.parameters);
        let (Some(&(_, x)), Some(&(_, price))) = (values.first(), values.last()) else { continue };
        // Where only C varies, there is one line.
        let line = if values.len() > 1 { price } else { 0.0 };
        match lines.iter_mut().find(|(of, _)| *of == line) {
            Some((_, points)) => points.push([x, entry.mean]),
            None => lines.push((line, vec![[x, entry.mean]])),
        }
    }
    let mut chart = LineChart::new(format!("Held-out accuracy against {sharpness}"))
        .x(sharpness)
        .y("accuracy")
        .about("Mean over the folds; candidates that trailed far behind were given up early.")
        .log_x();
    for (price, points) in &lines {
        let name = if lines.len() > 1 { format!("C = {}", short(*price)) } else { "accuracy".to_owned() };
        chart = chart.series(name, points);
    }
    heads.extend(["mean accuracy", "standard error", ""]);
    let mut rows = Table::new(heads);
    for (number, entry) in table.entries.iter().enumerate() {
        let mut cells: Vec<String> = varied(&entry.parameters).into_iter().map(|(_, value)| short(value)).collect();
        let word = match (number == table.best, entry.dropped) {
            (true, _) => "best",
            (_, true) => "given up",
            _ => "",
        };
        cells.extend([format!("{:.4}", entry.mean), format!("{:.4}", entry.standard_error), word.to_owned()]);
        rows = rows.row(cells);
    }
    Some(Section::new("How the parameters were chosen").figures([chart.figure()]).table(rows))
}
