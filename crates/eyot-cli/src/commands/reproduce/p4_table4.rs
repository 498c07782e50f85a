//! Paper 4, Table 4: texts as bags of posts.

use eyot::{BagGrid, Bags, Distance, PointsBuf, Scale, SetMethod, Sets};

use super::lab::Lab;
use super::p4::{Benchmark, HINDSIGHT, accuracies, benchmark, by_hindsight, grid, method};
use super::results::{Ours, Published};
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p4-table4",
    title: "ten-fold accuracy on texts, with and without the text distance",
    measure: Measure::share("accuracy"),
    run,
};

/// Data sets with what the paper prints for ISK (text distance), miGraph, MI-Kernel and miFV, in percent.
const SETS: [(&str, [(f64, f64); 4]); 18] = [
    ("alt_atheism", [(83.2, 1.0), (82.1, 1.1), (56.5, 1.7), (71.4, 0.9)]),
    ("comp_graphics", [(85.3, 0.9), (84.2, 0.9), (51.7, 1.3), (57.2, 0.6)]),
    ("comp_os_ms_windows_misc", [(67.5, 1.6), (67.4, 1.3), (49.6, 2.1), (55.6, 0.4)]),
    ("comp_sys_ibm_pc_hardware", [(76.7, 1.5), (78.3, 0.8), (53.1, 1.6), (57.7, 1.8)]),
    ("comp_sys_mac_hardware", [(80.8, 2.1), (83.0, 1.9), (50.8, 2.2), (54.1, 0.6)]),
    ("comp_windows_x", [(82.4, 1.0), (80.6, 1.1), (51.7, 1.3), (66.0, 0.5)]),
    ("misc_forsale", [(70.1, 1.3), (69.3, 1.4), (55.3, 1.7), (62.8, 1.1)]),
    ("rec_autos", [(79.9, 1.7), (84.6, 1.7), (52.7, 1.9), (59.7, 1.1)]),
    ("rec_sport_baseball", [(86.3, 1.6), (88.8, 1.5), (54.0, 2.1), (78.2, 1.8)]),
    ("rec_sport_hockey", [(85.5, 1.7), (90.1, 1.2), (51.2, 1.8), (79.5, 1.0)]),
    ("sci_crypt", [(80.6, 1.3), (76.8, 1.5), (54.6, 1.4), (61.3, 2.1)]),
    ("sci_electronics", [(93.3, 0.8), (92.9, 0.7), (54.7, 1.7), (52.8, 0.9)]),
    ("sci_med", [(83.8, 1.8), (83.7, 1.6), (50.3, 1.8), (75.3, 1.9)]),
    ("sci_space", [(83.3, 1.7), (83.1, 1.5), (54.4, 1.9), (74.5, 1.8)]),
    ("soc_religion_christian", [(83.7, 1.1), (82.5, 1.0), (52.7, 1.4), (65.2, 1.4)]),
    ("talk_politics_guns", [(79.7, 1.7), (78.2, 1.9), (52.8, 1.5), (64.6, 0.7)]),
    ("talk_politics_misc", [(70.8, 1.5), (74.4, 1.4), (51.7, 1.8), (70.6, 1.6)]),
    ("talk_religion_misc", [(81.1, 1.3), (76.2, 1.4), (53.8, 1.4), (73.4, 1.3)]),
];

/// The names of all sets.
pub(super) const TEXTS: [&str; 18] = {
    let mut names = [""; 18];
    let mut at = 0;
    while at < names.len() {
        names[at] = SETS[at].0;
        at += 1;
    }
    names
};

/// What is run: name in the table, method, distance, and whether a graph weights instances of ISK.
const METHODS: [(&str, &str, Distance, bool); 7] = [
    ("isk, text distance, graph", "isk", Distance::Text, true),
    ("isk, Euclidean, graph", "isk", Distance::Euclidean, true),
    ("isk, text distance", "isk", Distance::Text, false),
    ("isk, Euclidean", "isk", Distance::Euclidean, false),
    ("mi-kernel", "mi-kernel", Distance::Euclidean, false),
    ("migraph", "migraph", Distance::Euclidean, false),
    ("mifv", "mifv", Distance::Euclidean, false),
];

/// Places in [`METHODS`].
const GRAPH: usize = 0;
const TEXT: usize = 2;
const EUCLIDEAN: usize = 3;
const MI_KERNEL: usize = 4;
const MIGRAPH: usize = 5;
const MIFV: usize = 6;

/// Methods by hindsight, with the place of their published figure; that of miFV, of which nothing is searched, is the last
/// and stands beside [`PLAIN`].
const SEARCHED: [usize; 3] = [GRAPH, MIGRAPH, MI_KERNEL];

/// miFV with one Gaussian, whose vectors stay as they are.
const PLAIN: &str = "mifv, plain";

/// What a single number says: the length of the longest post of a bag, that is the largest norm of its rows.
const LONGEST: &str = "longest post alone";

/// Sets of a short answer.
const QUICK_SETS: usize = 6;

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let mut all: Vec<[f64; METHODS.len()]> = Vec::new();
    let mut one_number: Vec<f64> = Vec::new();
    let mut all_mifv: Vec<[f64; 3]> = Vec::new();
    let mut by_hindsight_all: Vec<[f64; SEARCHED.len()]> = Vec::new();
    let most = if lab.quick() { QUICK_SETS } else { SETS.len() };
    for (set, published) in SETS.into_iter().take(most) {
        let Some(of) = benchmark(lab, &format!("text_{set}"))? else { continue };
        let published = published.map(|(mean, error)| Published::from((mean / 100.0, error / 100.0)));
        let mut means = [f64::NAN; METHODS.len()];
        let mut searched = [f64::NAN; SEARCHED.len()];
        let skipped = |at: usize| lab.quick() && [MIGRAPH, MIFV].contains(&at);
        let skipped: Vec<bool> = (0..METHODS.len()).map(skipped).collect();
        for (slot, (at, published)) in searched.iter_mut().zip(SEARCHED.into_iter().zip(published)) {
            if !skipped[at] {
                let (shown, ..) = METHODS[at];
                *slot = lab.cell(set, &format!("{shown}{HINDSIGHT}"), published, |lab| by_best(lab, &of, shown))?.mean();
            }
        }
        for (at, (shown, ..)) in METHODS.into_iter().enumerate().filter(|&(at, _)| !skipped[at]) {
            means[at] = lab.cell(set, shown, None, |lab| cell(lab, &of, shown))?.mean();
        }
        if !skipped[MIFV] {
            let plain = lab.cell(set, PLAIN, published[SEARCHED.len()], |lab| {
                accuracies(lab, &of, lab.seeds(SEARCHED_RUNS, 1), true, |seed| plain_grid(lab, seed))
            })?;
            all_mifv.push([plain.mean(), means[MIFV], published[SEARCHED.len()].mean.unwrap_or(f64::NAN)]);
        }
        let longest = Benchmark { sets: longest_posts(&of.sets)?, labels: of.labels, n_classes: of.n_classes };
        one_number.push(lab.cell(set, LONGEST, None, |lab| {
            accuracies(lab, &longest, lab.seeds(RUNS, 1), true, |seed| {
                let mut grid = grid(lab, method(lab, "simple-mi", Distance::Euclidean, seed), seed);
                (grid.scales, grid.costs) = (vec![Scale::Standard], vec![1.0]);
                grid
            })
        })?.mean());
        all.push(means);
        by_hindsight_all.push(searched);
    }
    if all.is_empty() {
        return Ok(());
    }
    let ahead = |a: usize, b: usize| all.iter().filter(|means| means[a] > means[b]).count();
    let mean = |at: usize| all.iter().map(|means| means[at]).sum::<f64>() / all.len() as f64;
    let n = all.len();
    lab.note(format!(
        "isk with the text distance is ahead of isk with the Euclidean distance on {} and of mi-kernel on {} of {n} sets; \
         weighted by a graph, on {} and {}",
        ahead(TEXT, EUCLIDEAN),
        ahead(TEXT, MI_KERNEL),
        ahead(GRAPH, EUCLIDEAN),
        ahead(GRAPH, MI_KERNEL),
    ));
    let means = METHODS.iter().enumerate().filter(|&(at, _)| !mean(at).is_nan());
    let means: Vec<String> = means.map(|(at, (shown, ..))| format!("{shown} {:.3}", mean(at))).collect();
    lab.note(format!("means over the sets: {}", means.join("; ")));
    // Isk, migraph and mi-kernel, in this order.
    let searched = |at: usize| by_hindsight_all.iter().map(|row| row[at]).sum::<f64>() / n as f64;
    let beats = |at: usize| by_hindsight_all.iter().filter(|row| row[0] > row[at]).count();
    for (at, says) in
        [(2, "ISK is better than MI-Kernel on all text sets"), (1, "ISK is better than miGraph on 14 of 20 text sets")]
    {
        if searched(0).is_finite() && searched(at).is_finite() {
            let rival = SEARCHED[at];
            lab.claim(
                says,
                if at == 1 { 20 * beats(at) >= 14 * n } else { beats(at) == n },
                format!(
                    "on {} of {n}, by {:.3} on average; chosen inside the folds, on {}, by {:.3}",
                    beats(at),
                    searched(0) - searched(at),
                    ahead(GRAPH, rival),
                    mean(GRAPH) - mean(rival),
                ),
            );
        }
    }
    let measured = SEARCHED.iter().enumerate().filter(|&(at, _)| searched(at).is_finite());
    let means: Vec<String> = measured.map(|(at, &of)| format!("{} {:.3}", METHODS[of].0, searched(at))).collect();
    lab.note(format!("by hindsight, means over the sets: {}", means.join("; ")));
    let alone = one_number.iter().sum::<f64>() / n as f64;
    if alone.is_finite() {
        lab.note(format!(
            "What decides on these texts is how long the longest vector of a bag is. A Gaussian SVM that is \
             told nothing of a bag but the norm of its longest post has {alone:.3} in the mean of the sets, so that what isk and \
             migraph reach with weights by a graph, which make long posts heard, needs no words. With MI-Kernel, where all posts \
             count alike, they are not heard."
        ));
    }
    lab.explain(&[], &[], "100 bags: other folds move a figure by two to five points, and one width or tau in eleven may be lucky");
    lab.explain(
        &[],
        &[PLAIN],
        "the paper names neither scale, components, PCA nor normalisation of miFV; plain vectors have the published level and \
         mostly the published order of the sets, see below",
    );
    let with_published = |at: usize| correlation(&all_mifv.iter().map(|of| [of[at], of[2]]).collect::<Vec<_>>());
    if let (Some(plain), Some(normalised)) = (with_published(0), with_published(1)) {
        let mean = |at: usize| all_mifv.iter().map(|of| of[at]).sum::<f64>() / all_mifv.len() as f64;
        lab.note(format!(
            "miFV as its authors describe it, with the root of every entry and length 1, is far better here than published. Plain, \
             without these two steps, under one Gaussian, with C = 1, it has a mean of {:.3} over the sets (published {:.3}), and \
             where it is good is where the published figures are good: their correlation over the sets is {plain:.2}, that of \
             `mifv` with both steps {normalised:.2}. So these steps were probably left out. The setting was picked by the published \
             figures.",
            mean(0),
            mean(2),
        ));
    }
    lab.note(
        "By hindsight: gamma and tau, which the paper calls searched, are the values with the best accuracy of all folds, as in \
         p4-table3; psi is chosen inside the folds, C is 1, columns are as they are. Read so, most published figures of miGraph and \
         MI-Kernel come out set by set; chosen inside the folds, they do not. The reading and C were picked with the published figures in \
         view: with C = 10 and one seed three fewer of miGraph and of isk come out. Without hindsight C is chosen too.",
    );
    if lab.quick() {
        lab.note(format!("quick: the first {QUICK_SETS} sets, without migraph and mifv"));
    }
    lab.note(
        "Instances of isk are weighted as the paper's text says, by how many others of their bag share more than epsilon of \
         their cells, or (graph) as miGraph weights them, by how many are nearer than tau. The published figures stand beside the \
         latter, which come near them; weights by epsilon do not, whatever epsilon, psi, C, the reading of the distance (root of \
         the mean or mean of the roots), term weights or powers of the shares: with them the posts that all bags have drown the \
         one or two that decide.",
    );
    Ok(())
}

/// Ten-fold accuracy of one of [`METHODS`] on texts.
pub(super) fn cell(lab: &Lab<'_>, of: &Benchmark, shown: &str) -> anyhow::Result<Ours> {
    accuracies(lab, of, lab.seeds(RUNS, 1), true, |seed| grid_of(lab, shown, seed))
}

/// The same by hindsight.
fn by_best(lab: &Lab<'_>, of: &Benchmark, shown: &str) -> anyhow::Result<Ours> {
    by_hindsight(lab, of, lab.seeds(SEARCHED_RUNS, 1), |seed| BagGrid { costs: vec![1.0], ..grid_of(lab, shown, seed) })
}

/// Every bag as one row of one column: the largest norm of its rows.
fn longest_posts(sets: &Sets) -> eyot::Result<Sets> {
    let of_bag = |bag| [sets.bag(bag).rows().map(|row| row.squared_norm().sqrt()).fold(0.0, f64::max)];
    let longest = PointsBuf::from_rows(&(0..sets.len()).map(of_bag).collect::<Vec<_>>())?;
    Sets::new(longest.as_points(), &Bags::from_sizes(&vec![1; sets.len()])?)
}

/// Cross-validations, and those of what stands beside a published figure.
const RUNS: u64 = 3;
const SEARCHED_RUNS: u64 = 10;

/// [`PLAIN`].
fn plain_grid(lab: &Lab<'_>, seed: u64) -> BagGrid {
    let base = match method(lab, "mifv", Distance::Euclidean, seed) {
        SetMethod::MiFv(params) => SetMethod::MiFv(params.plain(true)),
        other => other,
    };
    let mut grid = grid(lab, base, seed);
    (grid.scales, grid.costs) = (vec![Scale::None], vec![1.0]);
    (grid.components, grid.energies) = (vec![1], vec![1.0]);
    grid
}

/// Pearson's correlation of pairs, if there are enough to say something.
fn correlation(pairs: &[[f64; 2]]) -> Option<f64> {
    if pairs.len() < 3 || pairs.iter().flatten().any(|value| !value.is_finite()) {
        return None;
    }
    let mean = |at: usize| pairs.iter().map(|pair| pair[at]).sum::<f64>() / pairs.len() as f64;
    let means = [mean(0), mean(1)];
    let product = |a: usize, b: usize| pairs.iter().map(|pair| (pair[a] - means[a]) * (pair[b] - means[b])).sum::<f64>();
    Some(product(0, 1) / (product(0, 0) * product(1, 1)).sqrt())
}

fn grid_of(lab: &Lab<'_>, shown: &str, seed: u64) -> BagGrid {
    let (_, name, distance, graph) = METHODS.into_iter().find(|method| method.0 == shown).expect("one of the methods");
    let base = match method(lab, name, distance, seed) {
        SetMethod::Isk(params) => SetMethod::Isk(params.tau(graph.then_some(1.0))),
        other => other,
    };
    let mut grid = grid(lab, base, seed);
    // Zeros mean that a word is absent, so they stay zeros.
    grid.scales = vec![Scale::None];
    grid.psis = if graph || lab.quick() { vec![16, 64, 256] } else { vec![16, 32, 64, 128, 256] };
    grid
}
