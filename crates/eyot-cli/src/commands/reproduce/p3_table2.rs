//! Paper 3, Tables 2 and 4 and Figure 3: AUC of all seven detectors at their best parameter.

use anyhow::Context as _;
use eyot::{
    Detector as _, GaussianMean, GaussianNystrom, LandmarkDraw, OneClassSvm, Points, PointsBuf, ScaleRule, roc_auc,
};

use super::lab::Lab;
use super::p3::{Data, QUICK_ROWS, SETS, T, best};
use super::ranks::compare;
use super::results::{Ours, Published};
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p3-table2",
    title: "AUC of seven anomaly detectors at their best parameter (Tables 2 and 4, Figure 3)",
    measure: Measure::share("AUC"),
    run,
};

/// As in the tables.
pub(super) const METHODS: [&str; 7] = ["K_I", "K_G", "K_NG", "OCSVM", "norm of phi", "iNNE", "iForest"];

/// Rows times ψ up to which the grid is followed, and a shorter way.
const MOST_WORK: usize = 1 << 28;
const QUICK_WORK: usize = 1 << 23;
/// The same for iNNE, which looks at all balls that hold a row.
const INNE_WORK: usize = 1 << 28;

/// Rows on which Gaussian methods are fitted, and normal rows on which they are measured, at the most.
const GAUSSIAN_ROWS: usize = 4000;
const NORMAL_ROWS: usize = 10_000;
const NU: f64 = 0.5;

/// Other readings of the paper's words, without a published figure: K_G of all rows at the sigma of K_G, and the one-class
/// SVM whose bandwidths are sigma, as K_G's are, instead of gamma.
const K_G_OF_ALL: &str = "K_G, all rows";
const BY_SIGMA: &str = "OCSVM, by sigma";

/// Bandwidths are these powers of 2.
const POWERS: [i32; 11] = [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5];

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    lab.note(format!(
        "Settings are the best of their grid by AUC, as in the paper, which needs the labels: t = {T}, psi = 2 to 4096 \
         while psi times rows is at most 2^28 (trees: in any case), bandwidth 2^-5 to 2^5, nu = {NU}. `eyot reproduce psi-auto` \
         shows what can be had without labels."
    ));
    lab.note(format!(
        "The paper says bandwidth. For K_G and K_NG that is read as sigma, for OCSVM as gamma, which is what programs for it \
         ask for, LIBSVM for one; `{BY_SIGMA}` has the other reading, which was tried first and is farther from the published \
         figure on ALOI."
    ));
    lab.note(format!(
        "K_G, K_NG and OCSVM are fitted on at most {GAUSSIAN_ROWS} rows drawn at random (K_NG with the square root of \
         all rows as landmarks, by leverage scores), and measured on all anomalies and {NORMAL_ROWS} normal rows."
    ));
    if lab.quick() {
        lab.note(format!("quick: at most {QUICK_ROWS} rows drawn at random of every set, psi times rows at most 2^23"));
    }
    let mut figures = Vec::new();
    for set in &SETS {
        let Some(data) = Data::load(lab, set.file)? else { continue };
        let mut row = Vec::new();
        for (method, published) in METHODS.into_iter().zip(set.published) {
            let published = if set.other_draw { Published::from(published).on_other_data() } else { published.into() };
            row.push(lab.cell(set.name, method, published, |lab| auc(lab, &data, method))?.mean());
        }
        if !lab.quick() {
            lab.cell(set.name, BY_SIGMA, None, |lab| auc(lab, &data, BY_SIGMA))?;
            lab.cell(set.name, K_G_OF_ALL, None, |lab| of_all_rows(lab, &data, set.name))?;
        }
        figures.push(row);
    }
    rank(lab, "kernel-based detectors", &figures, [0, 1, 2, 3], "K_I is significantly better than K_G, K_NG and OCSVM");
    rank(lab, "isolation-based detectors", &figures, [0, 4, 5, 6], "K_I has the best average rank of the isolation-based detectors");
    explain(lab);
    Ok(())
}

/// The AUC of a detector at the best setting of its grid.
pub(super) fn auc(lab: &mut Lab<'_>, data: &Data, method: &str) -> anyhow::Result<Ours> {
    let [most, inne] = if lab.quick() { [QUICK_WORK, QUICK_WORK / 4] } else { [MOST_WORK, INNE_WORK] };
    let (grid, short) = (data.grid(most), data.grid(inne));
    // Trees of more rows are hardly slower to ask.
    let whole = data.grid(usize::MAX);
    match method {
        "K_I" => by_psi(lab, 5, &grid, |lab, seed| data.auc_of_balls(ScaleRule::Similarity, &grid, seed, lab.run())),
        "norm of phi" => by_psi(lab, 5, &grid, |lab, seed| data.auc_of_balls(ScaleRule::Coverage, &grid, seed, lab.run())),
        "iNNE" => by_psi(lab, 2, &short, |lab, seed| data.auc_of_inne(&short, seed, lab.run())),
        "iForest" => by_psi(lab, 2, &whole, |lab, seed| data.auc_of_forests(&whole, seed, lab.run())),
        _ => by_bandwidth(lab, data, method),
    }
}

/// The best ψ over all runs.
fn by_psi(
    lab: &mut Lab<'_>,
    runs: u64,
    grid: &[usize],
    auc: impl Fn(&Lab<'_>, u64) -> eyot::Result<Vec<f64>>,
) -> anyhow::Result<Ours> {
    let runs = lab.seeds(runs, 1).map(|seed| auc(lab, seed)).collect::<eyot::Result<Vec<_>>>()?;
    let (at, values) = best(&runs);
    Ok(Ours::of(values).with(format!("psi {}", grid[at])))
}

/// The best bandwidth over all runs, on a sample.
fn by_bandwidth(lab: &mut Lab<'_>, data: &Data, method: &str) -> anyhow::Result<Ours> {
    let most = if lab.quick() { GAUSSIAN_ROWS / 4 } else { GAUSSIAN_ROWS };
    let landmarks = data.points.n_rows().isqrt();
    let mut runs = Vec::new();
    for seed in lab.seeds(2, 1) {
        let (rows, (tested, truth)) = (every_nth(data, seed), measured(data, seed));
        let fitted = data.points.select(&rows[..most.min(rows.len())]);
        let (points, tested, run): (Points<'_>, _, _) = (fitted.as_points(), tested.as_points(), lab.run());
        let auc = |power: i32| -> eyot::Result<f64> {
            let bandwidth = 2f64.powi(power);
            let sigma = Some(if method == "OCSVM" { (2.0 * bandwidth).sqrt().recip() } else { bandwidth });
            let scores = match method {
                "K_G" => GaussianMean::fit(sigma, seed, points)?.score(tested, run)?,
                "K_NG" => {
                    let draw = LandmarkDraw::Leverage;
                    GaussianNystrom::fit(sigma, Some(landmarks), draw, seed, points, run)?.score(tested, run)?
                }
                _ => OneClassSvm::fit(sigma, NU, seed, points, run)?.score(tested, run)?,
            };
            roc_auc(&scores, &truth)
        };
        runs.push(POWERS.into_iter().map(auc).collect::<eyot::Result<Vec<f64>>>()?);
    }
    let (at, values) = best(&runs);
    let what = if method == "OCSVM" { "gamma" } else { SIGMA };
    Ok(Ours::of(values).with(format!("{what} 2^{}", POWERS[at])))
}

/// The name of a bandwidth in settings.
const SIGMA: &str = "sigma";

/// K_G of all rows at the sigma that was best on a sample.
fn of_all_rows(lab: &mut Lab<'_>, data: &Data, set: &str) -> anyhow::Result<Ours> {
    let chosen = lab.recall(EXPERIMENT.name, set, "K_G").map(|ours| ours.setting.clone()).unwrap_or_default();
    let power: i32 = chosen.trim_start_matches(&format!("{SIGMA} 2^")).parse().context("K_G has no sigma yet")?;
    let seed = lab.seeds(1, 1).start;
    let (tested, truth) = measured(data, seed);
    let scores = GaussianMean::fit(Some(2f64.powi(power)), seed, data.points())?.score(tested.as_points(), lab.run())?;
    Ok(Ours::of(vec![roc_auc(&scores, &truth)?]).with(chosen))
}

/// All anomalies and some normal rows, with the truth about them.
fn measured(data: &Data, seed: u64) -> (PointsBuf, Vec<bool>) {
    let normal = every_nth(data, seed).into_iter().filter(|&row| !data.anomalous[row]).take(NORMAL_ROWS);
    let rows: Vec<usize> = (0..data.anomalous.len()).filter(|&row| data.anomalous[row]).chain(normal).collect();
    (data.points.select(&rows), rows.iter().map(|&row| data.anomalous[row]).collect())
}

/// All rows in a random order that depends on the seed.
fn every_nth(data: &Data, seed: u64) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..data.points.n_rows()).collect();
    eyot::rng_of(seed, eyot::Component::Permutation, 0).shuffle(&mut rows);
    rows
}

/// Average ranks with the critical difference, over the data sets that are there; `says` is what the paper says of them.
fn rank(lab: &mut Lab<'_>, kind: &str, figures: &[Vec<f64>], methods: [usize; 4], says: &str) {
    // Figures are ranked as the paper prints them, with two decimals.
    let rounded = |figure: f64| (100.0 * figure).round() / 100.0;
    let chosen: Vec<Vec<f64>> = figures.iter().map(|row| methods.map(|method| rounded(row[method])).to_vec()).collect();
    let names = methods.map(|method| METHODS[method]);
    let Some(ranks) = compare(lab, &format!("p3-figure3-{}", kind.split(' ').next().unwrap_or(kind)), kind, &names, &chosen) else { return };
    let [ours, others @ ..] = ranks.mean_ranks.as_slice() else { return };
    let best = others.iter().copied().fold(f64::INFINITY, f64::min);
    let significant = says.contains("significantly");
    let lead = if significant { ranks.critical_difference } else { 0.0 };
    lab.claim(
        says,
        best - ours >= lead,
        format!(
            "K_I {ours:.2}, the next {best:.2}{}",
            if significant { format!(", significant from {:.2} on, with {} sets (the paper has 14)", ranks.critical_difference, chosen.len()) } else { String::new() }
        ),
    );
}

/// Where the files differ from those of the paper, and what else is known to move figures.
fn explain(lab: &mut Lab<'_>) {
    lab.note(
        "EEG_eye, PenDigits and the MNIST sets: the paper's draw of anomalies is not known, the files hold another draw \
         of as many rows, so figures may differ either way; the MNIST rows of the paper seem swapped. Published figures of \
         these sets stand in brackets.",
    );
    lab.explain(
        &[],
        &["K_G"],
        "not for want of rows: fitted on all of them (row `K_G, all rows`) it is about the same. The paper does not print which \
         bandwidth it took",
    );
    lab.explain(
        &[],
        &["K_NG"],
        "it approximates K_G, whose figure it has here; the paper's is below its own K_G. How landmarks were drawn is not printed",
    );
    lab.explain(
        &[],
        &["OCSVM"],
        "fitted on 4,000 rows drawn at random, the paper on all; it prints neither nu nor which bandwidth it took",
    );
    lab.explain(&["smtp"], &["norm of phi"], "30 anomalies of 95,156 rows: single seeds have 0.93 to 0.96");
    lab.explain(
        &["ALOI"],
        &[],
        "the file has 49,534 of the paper's 50,000 rows, without duplicates",
    );
}
