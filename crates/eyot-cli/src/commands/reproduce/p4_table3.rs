//! Paper 4, Table 3: accuracy of eight methods on seven sets of bags.

use eyot::{BagGrid, Distance, Scale};

use super::lab::Lab;
use super::p4::{Benchmark, HINDSIGHT, accuracies, benchmark, by_hindsight, grid, method};
use super::results::{Ours, Published};
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p4-table3",
    title: "ten-fold accuracy of eight methods on seven sets of bags",
    measure: Measure::share("accuracy"),
    run,
};

/// Data sets with what the paper prints for each method, in the order of [`METHODS`], in percent.
pub(super) const SETS: [(&str, [(f64, f64); 8]); 7] = [
    ("elephant", [(89.2, 0.6), (84.2, 0.8), (85.3, 0.6), (84.1, 0.8), (79.5, 1.2), (82.1, 0.6), (81.3, 1.2), (81.8, 0.8)]),
    ("fox", [(61.5, 0.7), (60.6, 0.6), (61.3, 0.8), (60.7, 0.9), (59.1, 1.3), (58.2, 0.5), (59.4, 0.9), (57.7, 0.5)]),
    ("tiger", [(82.6, 0.7), (80.9, 1.0), (81.6, 0.8), (81.3, 0.6), (76.9, 1.1), (78.8, 0.9), (79.8, 1.1), (79.2, 0.6)]),
    ("musk1", [(89.9, 0.9), (88.1, 1.3), (88.7, 1.1), (87.8, 1.1), (84.1, 1.4), (87.4, 0.7), (77.8, 0.8), (85.7, 0.4)]),
    ("musk2", [(85.1, 1.1), (85.0, 1.2), (87.8, 1.3), (86.8, 1.3), (71.2, 1.7), (83.6, 1.0), (84.1, 0.9), (83.2, 1.2)]),
    ("corel2000", [(75.2, 0.6), (73.2, 0.9), (72.1, 0.7), (71.4, 0.6), (62.8, 1.3), (67.4, 1.1), (66.8, 1.1), (63.7, 0.6)]),
    ("corel1000", [(85.1, 1.1), (83.7, 1.5), (84.5, 1.0), (83.7, 1.2), (69.3, 1.5), (78.3, 1.3), (76.4, 1.3), (70.5, 0.8)]),
];

pub(super) const METHODS: [&str; 8] = ["isk", "mi-kernel", "migraph", "mifv", "cce", "mi-svm", "MI-SVM", "simple-mi"];

/// What comes after the name of a method whose scaling and C are chosen too.
const TUNED: &str = ", tuned";

/// ISK as `eyot mil` has it: beyond the paper, shares of cells may be raised to a power.
const ANY_POWER: &str = "isk, any power";

/// ISK whose cells are grown from the training bags only.
const TRAINING: &str = "isk, training bags only";

/// Methods of which the paper names nothing that is searched.
const NOT_SEARCHED: [&str; 2] = ["mifv", "cce"];

/// SVMs on instances of these sets take hours where parameters are searched.
const SLOW: [&str; 5] = ["musk2", "corel1000", "corel2000", "birds_brown_creeper", "birds_winter_wren"];

/// Many bags of many classes: every candidate is hundreds of SVMs.
const LARGE: [&str; 2] = ["corel1000", "corel2000"];

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let (mut searched_rows, mut inside_rows, mut tuned_rows) = (Vec::new(), Vec::new(), Vec::new());
    if lab.quick() {
        lab.note("quick: musk2 and the corel sets, on which a search takes many minutes, are left out, and grids are coarser");
    }
    for (set, published) in SETS {
        if lab.quick() && SLOW.contains(&set) {
            continue;
        }
        let Some(of) = benchmark(lab, set)? else { continue };
        let (mut searched, mut inside) = (Vec::new(), Vec::new());
        for (name, (mean, error)) in METHODS.into_iter().zip(published) {
            let published = Published::from((mean / 100.0, error / 100.0));
            let published = if LARGE.contains(&set) { published.on_other_data() } else { published };
            if NOT_SEARCHED.contains(&name) {
                let ours = lab.cell(set, name, published, |lab| cell(lab, &of, set, name))?.mean();
                searched.push(ours);
                inside.push(ours);
                continue;
            }
            let shown = format!("{name}{HINDSIGHT}");
            let ours = lab.cell(set, &shown, published, |lab| {
                by_hindsight(lab, &of, lab.seeds(runs(set, &shown), 1), |seed| grid_of(lab, set, &shown, seed))
            })?;
            searched.push(ours.mean());
            inside.push(lab.cell(set, name, None, |lab| cell(lab, &of, set, name))?.mean());
        }
        let mut tuned_row = Vec::new();
        for name in METHODS.into_iter().filter(|name| !is_on_instances(name)) {
            let shown = tuned(name);
            tuned_row.push(lab.cell(set, &shown, None, |lab| cell(lab, &of, set, &shown))?.mean());
        }
        for beyond in [TRAINING, ANY_POWER] {
            lab.cell(set, beyond, None, |lab| cell(lab, &of, set, beyond))?;
        }
        searched_rows.push(searched);
        inside_rows.push(inside);
        tuned_rows.push(tuned_row);
    }
    // Only sets on which all methods have been measured say who is best.
    let of_all = |rows: &[Vec<f64>]| {
        let all: Vec<&Vec<f64>> = rows.iter().filter(|row| row.iter().all(|figure| figure.is_finite())).collect();
        (all.iter().filter(|row| row[1..].iter().all(|&other| other <= row[0])).count(), all.len())
    };
    let ((wins, sets), (inside_wins, inside_sets), (tuned_wins, tuned_sets)) =
        (of_all(&searched_rows), of_all(&inside_rows), of_all(&tuned_rows));
    if sets > 0 {
        lab.claim(
            "ISK has the best accuracy on six of seven sets",
            7 * wins >= 6 * sets,
            format!(
                "on {wins} of {sets} sets; chosen inside the folds, on {inside_wins} of {inside_sets}; tuned, on \
                 {tuned_wins} of {tuned_sets}"
            ),
        );
    }
    // SVMs on instances have another C and other widths by hindsight.
    let same_grid = |at: &usize| !is_on_instances(METHODS[*at]) && !NOT_SEARCHED.contains(&METHODS[*at]);
    let gain = |(searched, inside): (&Vec<f64>, &Vec<f64>)| {
        let gains = (0..METHODS.len()).filter(same_grid).map(|at| searched[at] - inside[at]);
        gains.filter(|gain| gain.is_finite()).collect::<Vec<f64>>()
    };
    let gains: Vec<f64> = searched_rows.iter().zip(&inside_rows).flat_map(gain).collect();
    if !gains.is_empty() {
        let mean = gains.iter().sum::<f64>() / gains.len() as f64;
        lab.note(format!("Hindsight is worth {:.1} points in the mean of {} cells", 100.0 * mean, gains.len()));
    }
    lab.explain(
        &[],
        &[],
        "the paper states neither scaling nor C, and with 92 to 200 bags other folds move a figure by one to nine points: see the \
         rows without hindsight and `tuned`, where scaling and C are chosen",
    );
    lab.explain(
        &[],
        &["mi-svm, by hindsight", "MI-SVM, by hindsight"],
        "the paper states neither scaling nor C, on which they depend most",
    );
    lab.note(
        "The paper selects psi by cross-validation inside the training set, and says of epsilon, gamma and tau only that they are \
         searched. By hindsight reads that as: the value with the best accuracy of all folds is printed. On texts (p4-table4) no \
         other reading that was tried comes as near to the published figures. Without hindsight everything is chosen inside the training folds, which is \
         what can be had on bags that come later.",
    );
    lab.note(
        "The paper states neither scaling nor C. Here columns are standardised and C is 1. That was picked by the published figures: \
         of nine settings (no scaling, min-max, standard; C of 1, 10, 100), tried with mi-kernel, migraph, mifv and simple-mi on \
         elephant, fox, tiger and musk1, it came nearest to them, so the count above is kinder than one of a protocol fixed \
         beforehand. With min-max scaling some are up to eight points better. Tuned: both are chosen inside the training \
         folds, scaling from min-max and standard, C from 1, 10 and 100, without a look at the published figures. mi-svm and \
         MI-SVM have min-max columns, where they do better and come nearer to the published figures, and C is chosen unless by hindsight.",
    );
    lab.note(
        "Ten cross-validations beside a published figure (three of mi-svm and MI-SVM, which are slow), else five (one), and one on \
         corel: with 92 to 200 bags another seed moves a figure by one to nine points. corel has 9 columns here, 121 in the paper; \
         there C is at most 10, psi at most 512 and the inner folds are 3. mi-svm and MI-SVM have fixed parameters on corel, and on musk2 unless by hindsight, with gamma up to 1.",
    );
    lab.note(
        "What needs no labels, scaling and cells, is fitted on all bags, as in the paper; labels are those of the other folds. \
         Training bags only: cells and scaling do not see the bags held out.",
    );
    lab.note(
        "isk is the kernel of the paper. Any power: tuned, and the shares of cells may be raised to the power 1/2 or 0, which is \
         what `eyot mil --transductive` does if nothing else is said.",
    );
    Ok(())
}

/// The name of a method whose scaling and C are chosen too.
pub(super) fn tuned(method: &str) -> String {
    if is_on_instances(method) { method.to_owned() } else { format!("{method}{TUNED}") }
}

const fn is_on_instances(method: &str) -> bool {
    matches!(method.as_bytes(), b"mi-svm" | b"MI-SVM")
}

/// Cross-validations: in general, beside a published figure, and of SVMs on instances likewise.
const RUNS: [u64; 2] = [5, 10];
const SLOW_RUNS: [u64; 2] = [1, 3];

/// Ten-fold accuracy of a method on a set that is not of texts.
pub(super) fn cell(lab: &Lab<'_>, of: &Benchmark, set: &str, name: &str) -> anyhow::Result<Ours> {
    accuracies(lab, of, lab.seeds(runs(set, name), 1), name != TRAINING, |seed| grid_of(lab, set, name, seed))
}

/// Cross-validations of a method.
fn runs(set: &str, name: &str) -> u64 {
    let beside_published = name.ends_with(HINDSIGHT) || NOT_SEARCHED.contains(&name);
    let runs = if LARGE.contains(&set) {
        [SLOW_RUNS[0]; 2]
    } else if is_on_instances(name.trim_end_matches(HINDSIGHT)) {
        SLOW_RUNS
    } else {
        RUNS
    };
    runs[usize::from(beside_published)]
}

/// What the parameters of a method are chosen from.
fn grid_of(lab: &Lab<'_>, set: &str, name: &str, seed: u64) -> BagGrid {
    let (name, searched) = name.strip_suffix(HINDSIGHT).map_or((name, false), |name| (name, true));
    let base = if name == ANY_POWER || name == TRAINING { "isk" } else { name.trim_end_matches(TUNED) };
    let mut grid = grid(lab, method(lab, base, Distance::Euclidean, seed), seed);
    if name == ANY_POWER {
        grid.powers = vec![1.0, 0.5, 0.0];
    }
    if METHODS.contains(&name) && !is_on_instances(name) {
        (grid.scales, grid.costs) = (vec![Scale::Standard], vec![1.0]);
    } else if LARGE.contains(&set) {
        grid.costs = vec![1.0, 10.0];
    }
    if LARGE.contains(&set) {
        grid.folds = 3;
        grid.psis.retain(|&psi| psi <= 512);
    }
    if is_on_instances(name) {
        // Kernels of standardised columns are too sharp for the paper's γ, and each costs an SVM of all instances: this
        // is where the time goes.
        let slow = SLOW.contains(&set);
        grid.scales = vec![Scale::MinMax];
        if searched {
            grid.costs = vec![1.0];
        }
        if !searched || slow {
            grid.gammas.retain(|&gamma| gamma <= 1.0);
        }
        if LARGE.contains(&set) || !searched && (lab.quick() || slow) {
            grid.gammas = vec![if LARGE.contains(&set) { 4.0 } else { 0.125 }];
            grid.costs = vec![10.0];
        }
    }
    grid
}
