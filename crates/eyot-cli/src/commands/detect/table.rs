//! What `eyot detect` shows and writes: the ranked table, and the scores of all rows.

use std::fmt::Write as _;
use std::path::Path;

use eyot::{AnyDetector, Column, Encoder, Share, TextColumn, Threshold};
use eyot_io::{Cells, Format, TableWriter, output_format};
use serde_json::{Value, json};

use super::labels::cell;
use super::{Found, refuse};
use crate::input::Input;
use crate::job::Job;
use crate::messages;

/// Columns of raw values shown to people, and characters of a cell.
const SHOWN_COLUMNS: usize = 8;
const CELL_WIDTH: usize = 14;

/// Raw cells.
pub(super) struct Raw {
    /// Names of the columns that are used.
    pub(super) columns: Vec<String>,
    /// Of some rows all cells.
    pub(super) cells: Vec<Vec<String>>,
    /// Of some number columns all cells that are there.
    pub(super) values: Vec<(usize, Vec<f64>)>,
}

/// The raw cells of `rows`, and all of the number columns among `wanted`.
pub(super) fn raw_cells(
    input: &mut Input,
    encoder: &Encoder,
    rows: &[usize],
    wanted: &[usize],
    job: &Job,
) -> anyhow::Result<Raw> {
    let columns: Vec<String> = encoder.inputs().map(|(name, _)| name.to_owned()).collect();
    let mut cells = vec![vec![String::new(); columns.len()]; rows.len()];
    let mut wanted: Vec<usize> = wanted.iter().copied().filter(|&column| column < columns.len()).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut values: Vec<(usize, Vec<f64>)> = wanted.into_iter().map(|column| (column, Vec::new())).collect();
    input.pass(job, "read", |table| {
        for (cells, &row) in cells.iter_mut().zip(rows) {
            if (table.first_row..table.first_row + table.n_rows).contains(&row) {
                for (slot, name) in cells.iter_mut().zip(&columns) {
                    *slot = table.column(name).and_then(|values| cell(values, row - table.first_row)).unwrap_or_default();
                }
            }
        }
        for (column, all) in &mut values {
            if let Some(Column::Numbers(numbers)) = table.column(&columns[*column]) {
                all.extend(numbers.iter().copied().filter(|number| number.is_finite()));
            }
        }
        Ok(())
    })?;
    values.retain(|(_, values)| !values.is_empty());
    Ok(Raw { columns, cells, values })
}

/// ψ in the JSON object: a number, the list of scales, or null.
pub(super) fn psi_json(detector: &AnyDetector) -> Value {
    match detector.multi_scale() {
        Some(model) => json!(model.scales()),
        None => json!(detector.psi()),
    }
}

/// ψ in words.
pub(super) fn psi_words(detector: &AnyDetector) -> String {
    match (detector.multi_scale(), detector.psi()) {
        (Some(model), _) => {
            let scales = model.scales();
            format!("auto: {} scales from {} to {}", scales.len(), scales[0], scales[scales.len() - 1])
        }
        (None, Some(psi)) => psi.to_string(),
        (None, None) => "none".to_owned(),
    }
}

/// What the columns did, shortly.
pub(super) fn why_words(found: &Found, at: usize, most: usize) -> String {
    found.why.get(at).map_or_else(String::new, |shares| shares_words(found, shares, most))
}

/// The columns of at least 5 %.
fn shares_words(found: &Found, shares: &[Share], most: usize) -> String {
    let words = shares.iter().take(most).filter(|share| share.share >= 0.05);
    words.map(|share| format!("{} {:.0}%", found.columns[share.column], 100.0 * share.share)).collect::<Vec<_>>().join(", ")
}

/// The ranked table.
pub(super) fn for_people(found: &Found, explain: bool) -> String {
    let mut header = vec!["rank".to_owned(), found.ids.column().unwrap_or("row").to_owned(), "score".to_owned()];
    header.push("p".to_owned());
    if !found.scales.is_empty() {
        header.push("kind".to_owned());
    }
    if explain {
        header.push("why".to_owned());
    }
    // Explained columns first, then the rest in their order.
    let mut order: Vec<usize> = Vec::new();
    for share in found.why.iter().flatten() {
        if share.share >= 0.05 && share.column < found.raw_columns.len() && !order.contains(&share.column) {
            order.push(share.column);
        }
    }
    (0..found.raw_columns.len()).for_each(|column| if !order.contains(&column) { order.push(column) });
    order.truncate(SHOWN_COLUMNS);
    order.sort_unstable();
    header.extend(order.iter().map(|&column| shorten(&found.raw_columns[column])));
    let mut lines = vec![header];
    for (at, &row) in found.top.iter().enumerate() {
        let score = found.scores[row];
        let flag = if found.model.threshold.flags(score) { "*" } else { "" };
        let name = found.ids.get(row).unwrap_or_else(|| (row + 1).to_string());
        let mut line = vec![format!("{}{flag}", at + 1), name, short(score)];
        line.push(format!("{:.2}", found.model.threshold.probability(score)));
        if let Some(scale) = found.scales.get(at) {
            line.push(scale.kind.words().to_owned());
        }
        if explain {
            line.push(why_words(found, at, 3));
        }
        line.extend(order.iter().map(|&column| shorten(&readable(&found.cells[at][column]))));
        lines.push(line);
    }
    align(&lines) + "\n"
}

/// Lines of words as a table: columns as wide as their widest cell.
pub(super) fn align(lines: &[Vec<String>]) -> String {
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let mut row = String::new();
        for (cell, width) in line.iter().zip(&widths) {
            let _ = write!(row, "{cell:<width$}  ");
        }
        let _ = writeln!(text, "{}", row.trim_end());
    }
    text
}

/// A cell for people: of numbers with many digits the first six.
pub(super) fn readable(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(number) if text.len() > 8 && text.contains('.') && !text.contains(['e', 'E']) && number != 0.0 => {
            let decimals = (5 - number.abs().log10().floor() as i64).clamp(0, 12) as usize;
            let digits = format!("{number:.decimals$}");
            if decimals == 0 { digits } else { digits.trim_end_matches('0').trim_end_matches('.').to_owned() }
        }
        _ => text.to_owned(),
    }
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= CELL_WIDTH {
        return text.to_owned();
    }
    text.chars().take(CELL_WIDTH - 1).chain(['…']).collect()
}

/// A number with about four digits.
pub(super) fn short(value: f64) -> String {
    if value != 0.0 && (value.abs() < 1e-3 || value.abs() >= 1e6) { format!("{value:.3e}") } else { format!("{value:.4}") }
}

/// What people are told below the table.
pub(super) fn facts(found: &Found) -> Vec<(&'static str, String)> {
    let n = found.scores.len();
    let share = 100.0 * found.flagged as f64 / n as f64;
    let mut facts = vec![
        ("rows", messages::count(n)),
        ("flagged (*)", format!("{} ({share:.2} %), score at least {}", messages::count(found.flagged), short(found.model.threshold.value()))),
        ("psi", psi_words(&found.model.detector)),
    ];
    if let Some(quality) = found.quality {
        facts.push(("AUC", format!("{:.4}", quality.auc)));
        facts.push(("average precision", format!("{:.4}", quality.average_precision)));
    }
    facts
}

/// The format of a file of scores. Refuses a name that says none, before anything is computed.
pub(super) fn check_name(path: Option<&Path>) -> anyhow::Result<Format> {
    let Some(path) = path else { return Ok(Format::Csv) };
    let written = [Format::Csv, Format::Tsv, Format::Parquet];
    output_format(path).filter(|format| written.contains(format)).ok_or_else(|| {
        let message = format!("{}: scores cannot be written in the format of this extension", path.display());
        refuse(message, "use .csv, .tsv or .parquet; .gz or .zst may follow the first two")
    })
}

/// The scores of all rows in the order of the data.
pub(super) fn write_scores(path: &Path, found: &Found, explain: bool) -> anyhow::Result<()> {
    let format = check_name(Some(path))?;
    let rows: Vec<u64> = (1..=found.scores.len() as u64).collect();
    let names: TextColumn;
    let first = match found.ids.column() {
        None => ("row", Cells::Integers(&rows)),
        Some(column) => {
            names = (0..found.scores.len()).map(|row| found.ids.get(row)).collect();
            (column, Cells::Text(&names))
        }
    };
    let mut why: Vec<Option<String>> = Vec::new();
    if explain {
        why = vec![None; found.scores.len()];
        found.reasons.iter().for_each(|(row, shares)| why[*row] = Some(shares_words(found, shares, shares.len())));
    }
    let why: TextColumn = why.into_iter().collect();
    let after = [("why", Cells::Text(&why))];
    write_table(path, format, &[first], &found.scores, found.model.threshold, if explain { &after } else { &[] })
}

/// The columns in front, then score, probability and flag, then the columns after.
pub(super) fn write_table(
    path: &Path,
    format: Format,
    first: &[(&str, Cells<'_>)],
    scores: &[f64],
    threshold: Threshold,
    after: &[(&str, Cells<'_>)],
) -> anyhow::Result<()> {
    let probabilities: Vec<f64> = scores.iter().map(|&score| threshold.probability(score)).collect();
    let flags: Vec<u64> = scores.iter().map(|&score| u64::from(threshold.flags(score))).collect();
    let mut columns = first.to_vec();
    columns.push(("score", Cells::Numbers(scores)));
    columns.push(("probability", Cells::Numbers(&probabilities)));
    columns.push(("anomaly", Cells::Integers(&flags)));
    columns.extend_from_slice(after);
    let mut writer = TableWriter::create(path, format)?;
    writer.write(&columns)?;
    Ok(writer.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_shown_with_six_digits_and_other_cells_as_they_are() {
        for (cell, shown) in [
            ("6.196025371551514", "6.19603"),
            ("-0.10688305646181107", "-0.106883"),
            ("123456.789012", "123457"),
            ("12.5", "12.5"),
            ("2024-01-31", "2024-01-31"),
            ("1234567890", "1234567890"),
            ("0.00001234567", "0.0000123457"),
            ("blue", "blue"),
        ] {
            assert_eq!(readable(cell), shown);
        }
    }
}
