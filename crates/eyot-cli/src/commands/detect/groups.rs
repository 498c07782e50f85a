//! `eyot detect --bag COL`: which groups of rows are odd?

use std::collections::HashMap;

use anyhow::Context;
use eyot::{Checked, ColumnRef, DetectorParams, Error, GroupDetector, IsolationMapParams, Partition, Threshold};
use eyot_io::Cells;
use serde::Serialize;

use super::labels::cell;
use super::table::{align, check_name, short, write_table};
use super::{Args, Psi, collect, order, refuse};
use crate::fit::fit_encoder;
use crate::input::Input;
use crate::job::{Job, Phase, Shared};
use crate::messages;

/// ψ of the first level when none is given: enough balls to tell a group's kinds of rows apart.
const LEVEL_1_PSI: usize = 64;

/// The groups of rows, numbered in order of first appearance.
#[derive(Default)]
struct Groups {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    sizes: Vec<usize>,
    of_row: Vec<u32>,
}

#[derive(Serialize)]
struct Own {
    psi: usize,
    t: usize,
    threshold: f64,
    flagged: usize,
    groups: usize,
    top: Vec<TopGroup>,
}

#[derive(Serialize)]
struct TopGroup {
    group: String,
    rows: usize,
    score: f64,
    probability: f64,
    flagged: bool,
}

pub(super) fn run(args: &Args, level2: &Checked<DetectorParams>, job: Job) -> anyhow::Result<()> {
    let bag = args.data.bag.clone().unwrap_or_default();
    let refused = [
        (args.explain, "--explain"),
        (args.report.is_some(), "--report"),
        (args.save.save.is_some(), "--save"),
        (args.data.label.is_some(), "--label"),
    ];
    if let Some((_, option)) = refused.into_iter().find(|(given, _)| *given) {
        return Err(refuse(format!("{option} works on rows, not on groups"), format!("leave out {option} or --bag")));
    }
    let format = check_name(args.output.output.as_deref())?;
    let mut input = Input::again(&args.data);
    let name = input.name().to_owned();
    let mut groups = Groups::default();
    let encoder = fit_encoder(&mut input, &args.data, &job, |table| {
        let values = table.column(&bag).expect("the encoder has refused data without it");
        for row in 0..table.n_rows {
            let group = cell(values, row).ok_or_else(|| Error::Missing {
                row: table.first_row + row,
                column: ColumnRef::Name(bag.clone()),
            });
            groups.add(group.with_context(|| name.clone())?);
        }
        Ok(())
    })?;
    let points = collect(&mut input, &args.data, &encoder, &job)?;
    let psi = match args.psi {
        Psi::Auto => LEVEL_1_PSI,
        Psi::Fixed(psi) => psi,
    };
    let level1 = IsolationMapParams::default().partition(Partition::Sphere).psi(psi).t(args.t).seed(args.run.seed);
    let level1 = level1.check()?;
    let n = groups.names.len();
    let (detector, scores) = job
        .timed(Phase::Fit, || {
            GroupDetector::fit_score(&level1, level2, points.as_points(), &groups.of_row, n, job.run())
        })
        .with_context(|| name.clone())?;
    let threshold = Threshold::fit(&scores, args.contamination)?;
    let top = order(&scores, args.top);
    let flagged = scores.iter().filter(|&&score| threshold.flags(score)).count();
    if let Some(path) = &args.output.output {
        let names = groups.names.iter().map(|name| Some(name.as_str())).collect();
        let sizes: Vec<u64> = groups.sizes.iter().map(|&rows| rows as u64).collect();
        let first = [(bag.as_str(), Cells::Text(&names)), ("rows", Cells::Integers(&sizes))];
        write_table(path, format, &first, &scores, threshold)?;
    }
    let top: Vec<TopGroup> = top
        .into_iter()
        .map(|group| TopGroup {
            group: groups.names[group].clone(),
            rows: groups.sizes[group],
            score: scores[group],
            probability: threshold.probability(scores[group]),
            flagged: threshold.flags(scores[group]),
        })
        .collect();
    if !args.run.messages.json {
        let mut lines = vec![["rank", &bag, "rows", "score", "p"].map(str::to_owned).to_vec()];
        for (at, group) in top.iter().enumerate() {
            let rank = format!("{}{}", at + 1, if group.flagged { "*" } else { "" });
            let (score, probability) = (short(group.score), format!("{:.2}", group.probability));
            lines.push(vec![rank, group.group.clone(), group.rows.to_string(), score, probability]);
        }
        messages::print((align(&lines) + "\n").as_bytes())?;
    }
    let facts = [
        ("groups", messages::count(n)),
        ("rows", messages::count(points.n_rows())),
        ("flagged (*)", format!("{flagged}, score at least {}", short(threshold.value()))),
        ("psi", format!("{} for rows, {} for groups", detector.map().psi(), super::table::psi_words(detector.detector()))),
    ];
    let own = Own { psi: detector.map().psi(), t: args.t, threshold: threshold.value(), flagged, groups: n, top };
    let shared = Shared {
        method: "idk-groups",
        rows: points.n_rows(),
        columns: encoder.n_columns(),
        seed: args.run.seed,
        parameters: &**level2,
    };
    job.finish(&shared, &own, &facts)
}

impl Groups {
    fn add(&mut self, name: String) {
        let next = self.names.len() as u32;
        let number = *self.numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.names.push(name);
            self.sizes.push(0);
        }
        self.sizes[number as usize] += 1;
        self.of_row.push(number);
    }
}
