//! The report of `eyot detect --report`.

use eyot::{CurvePoint, Threshold, pr_curve, roc_curve};
use eyot_io::plot::{Figure, Histogram, LineChart};
use eyot_io::report::{Report, Section, Table};

use super::table::{psi_words, readable, short, why_words};
use super::labels::Labels;
use super::{Args, Found, Quality};
use crate::messages;

/// Points of a curve that are drawn.
const CURVE_POINTS: usize = 300;
/// Top rows whose worst value is shown against its column.
const PICTURES: usize = 6;

/// The whole file.
pub(super) fn html(found: &Found, args: &Args) -> String {
    let n = found.scores.len();
    let title = title(&found.name);
    let truth = found.labels.as_ref().map(Labels::anomalous);
    let threshold = found.model.threshold;
    let ranked = Ranked { name: &found.name, what: "rows", scores: &found.scores, threshold, truth };
    let mut report = Report::new(title)
        .lead(lead(found.flagged, n, "rows"))
        .fact("rows", messages::count(n))
        .fact("flagged", messages::count(found.flagged))
        .fact("threshold", short(found.model.threshold.value()));
    if let Some(quality) = found.quality {
        report = report.fact("AUC", format!("{:.3}", quality.auc));
        report = report.fact("average precision", format!("{:.3}", quality.average_precision));
    }
    report = report.section(top_rows(found)).section(scores(&ranked, args));
    let pictures = pictures(found);
    if !pictures.is_empty() {
        let text = "For each of the first rows, its value in the column that does most to make it odd, against the \
                    distribution of that column over all rows.";
        report = report.section(Section::new("Odd values").text(text).figures(pictures));
    }
    if let Some(section) = found.labels.as_ref().and_then(|labels| against(&ranked, labels.meaning())) {
        report = report.section(section);
    }
    report = report.section(psi(found));
    report
        .run("data", &found.name)
        .run("method", args.method.name())
        .run("psi", psi_words(&found.model.detector))
        .run("t", args.t.to_string())
        .run("seed", args.run.seed.to_string())
        .run("columns used", found.raw_columns.join(", "))
        .run("program", concat!("eyot ", env!("CARGO_PKG_VERSION")))
        .to_html()
}

fn top_rows(found: &Found) -> Section {
    let mut columns = vec!["rank", found.ids.column().unwrap_or("row"), "score", "probability"];
    if !found.scales.is_empty() {
        columns.push("kind");
    }
    columns.push("columns that make it odd");
    let mut columns: Vec<String> = columns.into_iter().map(str::to_owned).collect();
    columns.extend(found.raw_columns.iter().take(12).cloned());
    let mut table = Table::new(columns);
    for (at, &row) in found.top.iter().enumerate() {
        let score = found.scores[row];
        let flag = if found.model.threshold.flags(score) { " *" } else { "" };
        let name = found.ids.get(row).unwrap_or_else(|| (row + 1).to_string());
        let mut cells = vec![format!("{}{flag}", at + 1), name, short(score)];
        cells.push(format!("{:.2}", found.model.threshold.probability(score)));
        cells.extend(found.scales.get(at).map(|scale| scale.kind.words().to_owned()));
        cells.push(why_words(found, at, 4));
        cells.extend(found.cells[at].iter().take(12).map(|cell| readable(cell)));
        table = table.row(cells);
    }
    Section::new("Most anomalous rows")
        .text(
            "Rows marked * are flagged. The probability is 0.5 at the threshold and 0.01 at the median row; it is a \
             scale to read scores by, not a frequency. Shares say how much of a row's score is due to each column, \
             asked of the model itself.",
        )
        .table(table)
}

/// Scores of rows or groups, with a threshold and perhaps the truth.
pub(super) struct Ranked<'a> {
    pub(super) name: &'a str,
    /// `rows` or `groups`.
    pub(super) what: &'static str,
    pub(super) scores: &'a [f64],
    pub(super) threshold: Threshold,
    pub(super) truth: Option<&'a [bool]>,
}

/// The report on groups; `top` are the lines of the table that people see.
pub(super) fn groups(ranked: &Ranked<'_>, args: &Args, top: &[Vec<String>], quality: Option<Quality>, psi: &str) -> String {
    let n = ranked.scores.len();
    let flagged = ranked.scores.iter().filter(|&&score| ranked.threshold.flags(score)).count();
    let mut report = Report::new(title(ranked.name))
        .lead(lead(flagged, n, "groups"))
        .fact("groups", messages::count(n))
        .fact("flagged", messages::count(flagged))
        .fact("threshold", short(ranked.threshold.value()));
    if let Some(quality) = quality {
        report = report.fact("AUC", format!("{:.3}", quality.auc));
        report = report.fact("average precision", format!("{:.3}", quality.average_precision));
    }
    let table = top[1..].iter().fold(Table::new(top[0].clone()), |table, line| table.row(line.clone()));
    let text = "Groups marked * are flagged. A group is compared with the others by the mean of its rows' feature \
                vectors, so it can be odd although none of its rows is: too many of a kind, or a kind missing. The \
                column p is 0.5 at the threshold and 0.01 at the median group.";
    report = report.section(Section::new("Most anomalous groups").text(text).table(table)).section(scores(ranked, args));
    if let Some(section) = against(ranked, "A group with an anomalous row counts as anomalous.".to_owned()) {
        report = report.section(section);
    }
    report
        .run("data", ranked.name)
        .run("method", "idk-groups")
        .run("psi", psi)
        .run("t", args.t.to_string())
        .run("seed", args.run.seed.to_string())
        .run("program", concat!("eyot ", env!("CARGO_PKG_VERSION")))
        .to_html()
}

/// With the name of the file, without its folders.
fn title(name: &str) -> String {
    format!("What stands out in {}", name.rsplit(['/', '\\']).next().unwrap_or(name))
}

fn lead(flagged: usize, n: usize, what: &str) -> String {
    let all = messages::count(n);
    if flagged == 0 {
        return format!("None of the {all} {what} stands out from the others by its score.");
    }
    let share = 100.0 * flagged as f64 / n as f64;
    format!("{} of {all} {what} ({share:.2} %) are flagged.", messages::count(flagged))
}

fn scores(ranked: &Ranked<'_>, args: &Args) -> Section {
    let rule = match args.contamination {
        eyot::Contamination::Auto => {
            "The threshold follows from the scores alone, no share of anomalies had to be guessed: it is where a tail \
             that starts at the median score and falls off exponentially through the upper quartile has one in a hundred \
             left."
        }
        eyot::Contamination::Share(_) => "The threshold flags the share that was asked for.",
    };
    let mut histogram = Histogram::new(format!("Scores of all {}", ranked.what)).x("score").y(ranked.what).log_y();
    histogram = match ranked.truth {
        None => histogram.values(ranked.what, ranked.scores),
        Some(truth) => {
            let of = |kind: bool| -> Vec<f64> {
                ranked.scores.iter().zip(truth).filter(|(_, is)| **is == kind).map(|(&score, _)| score).collect()
            };
            histogram.values("normal", &of(false)).values("anomalies", &of(true))
        }
    };
    let histogram = histogram.threshold(ranked.threshold.value(), "threshold").size(520.0, 320.0);
    Section::new("Where the line is drawn").text(rule).figures([histogram.figure()])
}

fn pictures(found: &Found) -> Vec<Figure> {
    let picture = |(at, &row): (usize, &usize)| {
        let column = found.why.get(at)?.first()?.column;
        let (_, values) = found.values.iter().find(|(known, _)| *known == column)?;
        let value: f64 = found.cells[at].get(column)?.parse().ok()?;
        let name = found.ids.get(row).unwrap_or_else(|| (row + 1).to_string());
        let title = format!("{} of row {name}", found.columns[column]);
        let histogram = Histogram::new(title).x(found.columns[column].clone()).values("rows", values).log_y();
        Some(histogram.threshold(value, "this row").size(360.0, 240.0).figure())
    };
    found.top.iter().enumerate().filter_map(picture).take(PICTURES).collect()
}

/// ROC and precision-recall, where the truth is known.
fn against(ranked: &Ranked<'_>, meaning: String) -> Option<Section> {
    let truth = ranked.truth?;
    let thin = |curve: Vec<CurvePoint>| -> Vec<[f64; 2]> {
        let step = curve.len().div_ceil(CURVE_POINTS).max(1);
        let last = curve.last().copied();
        curve.iter().step_by(step).chain(last.iter()).map(|point| [point.x, point.y]).collect()
    };
    let roc = thin(roc_curve(ranked.scores, truth).ok()?);
    let pr = thin(pr_curve(ranked.scores, truth).ok()?);
    let false_alarms = format!("normal {} flagged (false alarms)", ranked.what);
    let roc = LineChart::new("ROC curve").x(false_alarms).y("anomalies found (recall)").series("detector", &roc);
    let roc = roc.series("chance", &[[0.0, 0.0], [1.0, 1.0]]).y_range(0.0, 1.0).size(360.0, 300.0);
    let precision = LineChart::new("Precision and recall").x("anomalies found (recall)").y("of the flagged (precision)");
    let precision = precision.series("detector", &pr).y_range(0.0, 1.0).size(360.0, 300.0);
    Some(Section::new("Against the truth").text(meaning).figures([roc.figure(), precision.figure()]))
}

fn psi(found: &Found) -> Section {
    let section = Section::new("The scale ψ");
    match found.model.detector.multi_scale() {
        None => section.text(format!("ψ = {}, as asked for.", psi_words(&found.model.detector))),
        Some(model) => {
            let mut counts = vec![0usize; model.scales().len()];
            for scale in &found.scales {
                if let Some(at) = model.scales().iter().position(|&psi| psi == scale.psi) {
                    counts[at] += 1;
                }
            }
            let mut table = Table::new(["ψ", "of the rows above, most odd at this scale", "what it sees"]);
            for (&psi, count) in model.scales().iter().zip(&counts) {
                table = table.row([psi.to_string(), count.to_string(), eyot::ScaleKind::of(psi).words().to_owned()]);
            }
            section
                .text(
                    "No single ψ was chosen: without labels no rule is known that chooses well. Every row was scored at \
                     all of these scales, each scale was put on the same footing, and the row's score adds up how far \
                     it stands out at each, small excesses counting little. With labels, or knowing what kind of anomaly matters, a fixed --psi \
                     may be better.",
                )
                .table(table)
        }
    }
}
