//! Where `--contamination auto` draws the line, beside usual rules, on data with known shares of anomalies.

use eyot::{Component, Contamination, DetectorParams, PointsBuf, Rng, rng_of};

use super::lab::Lab;
use super::p3::{Data, SETS, T};
use super::results::Ours;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "threshold-auto",
    title: "share of rows that thresholds without labels flag, and what they find",
    measure: Measure::shown("share flagged, in %", 2),
    run,
};

/// The rules compared.
const RULES: [&str; 4] = ["auto", "boxplot", "median + 3 MAD", "mean + 3 sd"];

/// Rows of a data set that are used at the most, a random part.
const MOST_ROWS: usize = 50_000;

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    lab.note(
        "Scores are those of `eyot detect` with psi auto. F1 is against the labels, with that of the best threshold for \
         the same scores in brackets. Synthetic sets: clusters of different density in 6 columns, 3000 normal rows; \
         far rows are spread over the range of the data, local ones lie around a cluster at 3 times its width, clusters \
         are small and dense. Data sets are cut to 50,000 rows.",
    );
    for (kind, share) in [
        ("clean", 0.0),
        ("far", 0.01),
        ("far", 0.05),
        ("far", 0.1),
        ("local", 0.01),
        ("local", 0.05),
        ("local", 0.1),
        ("cluster", 0.01),
        ("cluster", 0.05),
        ("cluster", 0.1),
    ] {
        let name = format!("{kind}, {} %", 100.0 * share);
        let all = lab.seeds(3, 1).map(|seed| synthetic(kind, share, seed)).collect::<eyot::Result<Vec<_>>>()?;
        compare(lab, &name, &all)?;
    }
    for set in &SETS {
        let Some(data) = Data::load(lab, set.file)? else { continue };
        compare(lab, set.name, &[data.part(MOST_ROWS)])?;
    }
    Ok(())
}

/// One cell per rule: the share flagged in every data set, F1 in the setting.
fn compare(lab: &mut Lab<'_>, name: &str, all: &[Data]) -> anyhow::Result<()> {
    let mut scored = None;
    for rule in RULES {
        lab.cell(name, rule, None, |lab| {
            if scored.is_none() {
                scored = Some(score(lab, all)?);
            }
            let mut flagged = Vec::new();
            let (mut f1, mut best) = (0.0, 0.0);
            for (data, (scores, auto)) in all.iter().zip(scored.as_ref().expect("it was just computed")) {
                let threshold = if rule == "auto" { *auto } else { usual(rule, scores) };
                let flags: Vec<bool> = scores.iter().map(|&score| score >= threshold).collect();
                flagged.push(100.0 * flags.iter().filter(|&&flag| flag).count() as f64 / flags.len() as f64);
                f1 += f1_of(&flags, &data.anomalous) / all.len() as f64;
                best += best_f1(scores, &data.anomalous) / all.len() as f64;
            }
            let anomalies = all[0].anomalous.iter().filter(|&&is| is).count();
            let truth = 100.0 * anomalies as f64 / all[0].anomalous.len() as f64;
            let quality = if anomalies == 0 { String::new() } else { format!(", F1 {f1:.2} ({best:.2})") };
            Ok(Ours::of(flagged).with(format!("anomalies {truth:.2} %{quality}")))
        })?;
    }
    Ok(())
}

/// Scores, and the threshold of auto.
fn score(lab: &Lab<'_>, all: &[Data]) -> anyhow::Result<Vec<(Vec<f64>, f64)>> {
    let one = |data: &Data| {
        let (detector, scores) = DetectorParams::default().t(T).check()?.fit_score(data.points(), lab.run())?;
        let auto = detector.threshold(&scores, Contamination::Auto)?.value();
        Ok((scores, auto))
    };
    all.iter().map(one).collect()
}

/// Thresholds by the book.
fn usual(rule: &str, scores: &[f64]) -> f64 {
    let quantile = |values: &[f64], part: f64| {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted[(part * (sorted.len() - 1) as f64).round() as usize]
    };
    let n = scores.len() as f64;
    match rule {
        "boxplot" => {
            let (lower, upper) = (quantile(scores, 0.25), quantile(scores, 0.75));
            upper + 1.5 * (upper - lower)
        }
        "median + 3 MAD" => {
            let median = quantile(scores, 0.5);
            let distances: Vec<f64> = scores.iter().map(|score| (score - median).abs()).collect();
            median + 3.0 * 1.4826 * quantile(&distances, 0.5)
        }
        _ => {
            let mean = scores.iter().sum::<f64>() / n;
            mean + 3.0 * (scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / n).sqrt()
        }
    }
}

/// 2·hits / (flags + anomalies).
fn f1_of(flags: &[bool], anomalous: &[bool]) -> f64 {
    let count = |of: &[bool]| of.iter().filter(|&&is| is).count() as f64;
    let hits = flags.iter().zip(anomalous).filter(|(flag, is)| **flag && **is).count() as f64;
    let all = count(flags) + count(anomalous);
    if all == 0.0 { 1.0 } else { 2.0 * hits / all }
}

/// The F1 of the best threshold.
fn best_f1(scores: &[f64], anomalous: &[bool]) -> f64 {
    let mut rows: Vec<usize> = (0..scores.len()).collect();
    rows.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let all = anomalous.iter().filter(|&&is| is).count() as f64;
    let (mut hits, mut best) = (0.0, 0.0f64);
    for (at, &row) in rows.iter().enumerate() {
        hits += f64::from(u8::from(anomalous[row]));
        best = best.max(2.0 * hits / (all + at as f64 + 1.0));
    }
    best
}

/// Three clusters of different width, and anomalies of one kind.
fn synthetic(kind: &str, share: f64, seed: u64) -> eyot::Result<Data> {
    const COLUMNS: usize = 6;
    const WIDTHS: [f64; 3] = [0.3, 0.6, 1.2];
    let mut rng = rng_of(seed, Component::Synthetic, 7);
    let around = |rng: &mut Rng, centre: &[f64; COLUMNS], width: f64| centre.map(|x| x + width * rng.normal());
    let centres = WIDTHS.map(|_| [(); COLUMNS].map(|()| 4.0 * rng.normal()));
    let mut rows: Vec<[f64; COLUMNS]> = (0..3000).map(|i| around(&mut rng, &centres[i % 3], WIDTHS[i % 3])).collect();
    let (mut low, mut high) = ([f64::INFINITY; COLUMNS], [f64::NEG_INFINITY; COLUMNS]);
    for row in &rows {
        for (k, &x) in row.iter().enumerate() {
            (low[k], high[k]) = (low[k].min(x), high[k].max(x));
        }
    }
    let clusters = [(); 2].map(|()| [(); COLUMNS].map(|()| 6.0 * rng.normal()));
    let n_odd = (3000.0 * share / (1.0 - share)).round() as usize;
    for i in 0..n_odd {
        rows.push(match kind {
            "far" => std::array::from_fn(|k| low[k] + (high[k] - low[k]) * (1.2 * rng.open01() - 0.1)),
            "local" => around(&mut rng, &centres[i % 3], 3.0 * WIDTHS[i % 3]),
            _ => around(&mut rng, &clusters[i % 2], 0.15),
        });
    }
    let anomalous = (0..rows.len()).map(|row| row >= 3000).collect();
    Ok(Data { points: PointsBuf::from_rows(&rows)?, anomalous })
}
