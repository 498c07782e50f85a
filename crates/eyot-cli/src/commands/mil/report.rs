//! The report of `eyot mil`: how good, fold by fold, and which rows decided.

use eyot_io::plot::{Bars, HeatMap};
use eyot_io::report::{Report, Section, Table};

use super::{Outcome, words};
use crate::job::Job;
use crate::messages::count;

/// More classes than this make a picture of no use.
const MOST_CLASSES: usize = 40;

/// Rows in the table of those that speak loudest.
const MOST_TELLING: usize = 30;

/// Bags whose rows are drawn.
const BAGS_DRAWN: usize = 4;

/// The whole report.
pub(super) fn report(outcome: &Outcome<'_>, job: &Job) -> anyhow::Result<Report> {
    let (accuracy, error) = outcome.accuracy();
    let error = error.map_or(String::new(), |error| format!(" ± {:.2}", 100.0 * error));
    let lead = format!(
        "{:.2}{error} % of the bags of {} were classified rightly.",
        100.0 * accuracy,
        if outcome.tested.is_some() { "the test file" } else { "the held-out folds" }
    );
    let (sets, names) = (&outcome.bags.sets, outcome.bags.classes.names());
    let mut report = Report::new(format!("Bags classified with {}", outcome.parameters().method.name()))
        .lead(lead)
        .fact("accuracy", format!("{accuracy:.4}"))
        .fact("bags", count(sets.len()))
        .fact("rows", count(sets.n_instances()))
        .fact("classes", names.len().to_string());
    if !outcome.validations.is_empty() {
        report = report.section(folds(outcome));
    }
    let confusion = outcome.confusion();
    let mut section = Section::new("Which classes are taken for which");
    if names.len() <= MOST_CLASSES {
        let counts: Vec<f64> = confusion.counts().iter().map(|&count| count as f64).collect();
        section = section.figures([HeatMap::confusion("Confusion matrix", names, &counts).figure()]);
    }
    let mut table = Table::new(["class", "precision", "recall", "F1", "bags"]);
    for (class, name) in names.iter().enumerate() {
        let score = confusion.class(class);
        let [precision, recall, f1] = [score.precision, score.recall, score.f1].map(|share| format!("{share:.4}"));
        table = table.row([name.clone(), precision, recall, f1, count(score.rows as usize)]);
    }
    report = report.section(section.table(table));
    if let Some(section) = telling(outcome, job)? {
        report = report.section(section);
    }
    let parameters = serde_json::to_string(outcome.parameters()).unwrap_or_default();
    Ok(report.run("seed", outcome.args.run.seed.to_string()).run("parameters", parameters))
}

fn folds(outcome: &Outcome<'_>) -> Section {
    let of_folds: Vec<_> = outcome.folds().collect();
    let name = |run: usize, fold: usize| {
        if outcome.validations.len() > 1 { format!("{}.{}", run + 1, fold + 1) } else { (fold + 1).to_string() }
    };
    let mut table = Table::new(["fold", "bags", "accuracy", "chosen inside the other folds"]);
    for (run, fold, of) in &of_folds {
        let cells = [name(*run, *fold), of.bags.len().to_string(), format!("{:.4}", of.accuracy), words(&of.chosen)];
        table = table.row(cells);
    }
    let section = Section::new("Fold by fold").text(
        "Every fold was held out once. Scaling, partitionings and parameters were fitted and chosen on the other folds.",
    );
    let first: Vec<_> = of_folds.iter().take(20).collect();
    let values: Vec<f64> = first.iter().map(|(_, _, of)| of.accuracy).collect();
    let bars = Bars::new("Accuracy of each fold held out", first.iter().map(|(run, fold, _)| name(*run, *fold)));
    section.figures([bars.series("accuracy", &values).figure()]).table(table)
}

/// The rows that speak loudest for the class of their bag, by a model of all bags.
fn telling(outcome: &Outcome<'_>, job: &Job) -> anyhow::Result<Option<Section>> {
    let Some((model, _)) = outcome.fitted else { return Ok(None) };
    let (bags, width) = (outcome.bags, model.classifier.n_scores());
    if width == 0 {
        return Ok(None);
    }
    let scores = model.classifier.instance_scores(&bags.sets, job.run())?;
    // For two classes the one score speaks for the second; turned around it speaks for the first.
    let for_class = |row: usize, class: u32| match width {
        1 if class == 0 => -scores[row],
        1 => scores[row],
        _ => scores[row * width + class as usize],
    };
    let of_bag: Vec<(usize, Vec<f64>)> = (0..bags.bags.len())
        .map(|bag| (bag, bags.sets.range(bag).map(|row| for_class(row, bags.labels[bag])).collect()))
        .collect();
    let mut rows: Vec<(usize, usize, f64)> = of_bag
        .iter()
        .flat_map(|(bag, scores)| scores.iter().enumerate().map(move |(at, &score)| (*bag, at, score)))
        .collect();
    rows.sort_by(|a, b| b.2.total_cmp(&a.2));
    let mut table = Table::new(["bag", "class", "row", "speaks for the class", "of the bag's rows"]);
    for &(bag, at, score) in rows.iter().take(MOST_TELLING) {
        let of = &of_bag[bag].1;
        let rank = 1 + of.iter().filter(|&&other| other > score).count();
        table = table.row([
            bags.bags.name(bag).to_owned(),
            bags.classes.name(bags.labels[bag]).to_owned(),
            (bags.bags.rows(bag)[at] + 1).to_string(),
            format!("{score:.4}"),
            format!("{rank} of {}", of.len()),
        ]);
    }
    // Bags of medium size, where one row stands out most, one per class in turn.
    let mut drawn: Vec<usize> = (0..of_bag.len()).filter(|&bag| (3..=24).contains(&of_bag[bag].1.len())).collect();
    let spread = |bag: usize| {
        let of = &of_bag[bag].1;
        let top = of.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        top - of.iter().sum::<f64>() / of.len() as f64
    };
    drawn.sort_by(|&a, &b| spread(b).total_cmp(&spread(a)));
    let mut shown: Vec<usize> = Vec::new();
    for class in (0..bags.classes.len() as u32).cycle().take(BAGS_DRAWN * bags.classes.len()) {
        let next = drawn.iter().copied().find(|bag| bags.labels[*bag] == class && !shown.contains(bag));
        shown.extend(next.filter(|_| shown.len() < BAGS_DRAWN));
    }
    let figures = shown.into_iter().map(|bag| {
        let title = format!("Bag {}, class {}", bags.bags.name(bag), bags.classes.name(bags.labels[bag]));
        let names = bags.bags.rows(bag).iter().map(|row| (row + 1).to_string());
        Bars::new(title, names).y("row").series("speaks for the class", &of_bag[bag].1).lying().figure()
    });
    let text = "How much each row speaks for the class of its bag, by a model fitted on all bags: the rows that decide.";
    Ok(Some(Section::new("The rows that decided").text(text).figures(figures.collect::<Vec<_>>()).table(table)))
}
