//! Paper 4, Table 3: accuracy of eight methods on seven sets of bags.

use eyot::{Distance, Scale};

use super::lab::Lab;
use super::p4::{accuracies, benchmark, grid, method};
use super::results::Published;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p4-table3",
    title: "ten-fold accuracy of eight methods on seven sets of bags",
    measure: Measure::share("accuracy"),
    run,
};

/// Data sets with what the paper prints for each method, in the order of [`METHODS`], in percent.
const SETS: [(&str, [(f64, f64); 8]); 7] = [
    ("elephant", [(89.2, 0.6), (84.2, 0.8), (85.3, 0.6), (84.1, 0.8), (79.5, 1.2), (82.1, 0.6), (81.3, 1.2), (81.8, 0.8)]),
    ("fox", [(61.5, 0.7), (60.6, 0.6), (61.3, 0.8), (60.7, 0.9), (59.1, 1.3), (58.2, 0.5), (59.4, 0.9), (57.7, 0.5)]),
    ("tiger", [(82.6, 0.7), (80.9, 1.0), (81.6, 0.8), (81.3, 0.6), (76.9, 1.1), (78.8, 0.9), (79.8, 1.1), (79.2, 0.6)]),
    ("musk1", [(89.9, 0.9), (88.1, 1.3), (88.7, 1.1), (87.8, 1.1), (84.1, 1.4), (87.4, 0.7), (77.8, 0.8), (85.7, 0.4)]),
    ("musk2", [(85.1, 1.1), (85.0, 1.2), (87.8, 1.3), (86.8, 1.3), (71.2, 1.7), (83.6, 1.0), (84.1, 0.9), (83.2, 1.2)]),
    ("corel2000", [(75.2, 0.6), (73.2, 0.9), (72.1, 0.7), (71.4, 0.6), (62.8, 1.3), (67.4, 1.1), (66.8, 1.1), (63.7, 0.6)]),
    ("corel1000", [(85.1, 1.1), (83.7, 1.5), (84.5, 1.0), (83.7, 1.2), (69.3, 1.5), (78.3, 1.3), (76.4, 1.3), (70.5, 0.8)]),
];

const METHODS: [&str; 8] = ["isk", "mi-kernel", "migraph", "mifv", "cce", "mi-svm", "MI-SVM", "simple-mi"];

/// ISK beyond the paper: shares of cells raised to a power.
const RAISED: &str = "isk, raised";

/// SVMs on instances of these sets take hours where parameters are searched.
const SLOW: [&str; 3] = ["musk2", "corel1000", "corel2000"];

/// Many bags of many classes: every candidate is hundreds of SVMs.
const LARGE: [&str; 2] = ["corel1000", "corel2000"];

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    for (set, published) in SETS {
        let Some(of) = benchmark(lab, set)? else { continue };
        let published = published.map(|(mean, error)| Published::from((mean / 100.0, error / 100.0)));
        let methods = METHODS.into_iter().zip(published).map(|(name, published)| (name, name, published));
        for (shown, name, published) in methods.chain([(RAISED, "isk", Published::default())]) {
            let on_instances = name == "mi-svm" || name == "MI-SVM";
            if on_instances && lab.quick() && SLOW.contains(&set) {
                lab.note(format!("{set}, {name}: left out in the quick form, for it takes hours"));
                continue;
            }
            lab.cell(set, shown, published, |lab| {
                accuracies(lab, &of, lab.seeds(1, 1), |seed| {
                    let mut grid = grid(lab, method(lab, name, Distance::Euclidean, seed), seed);
                    if shown == RAISED {
                        grid.powers = vec![0.5, 0.0];
                        grid.psis.retain(|&psi| psi <= 256);
                    }
                    if LARGE.contains(&set) {
                        (grid.costs, grid.folds) = (vec![1.0, 10.0], 3);
                        grid.psis.retain(|&psi| psi <= 512);
                    }
                    if on_instances {
                        // Kernels of standardised columns are too sharp for the paper's γ, and each costs an SVM of
                        // all instances: this is where the time goes.
                        grid.scales = vec![Scale::MinMax];
                        grid.gammas.retain(|&gamma| gamma <= 1.0);
                        if lab.quick() || SLOW.contains(&set) {
                            grid.gammas = vec![if LARGE.contains(&set) { 4.0 } else { 0.125 }];
                            grid.costs = vec![10.0];
                        }
                    }
                    grid
                })
            })?;
        }
    }
    lab.note(
        "The paper states neither scaling nor C; here both are chosen inside the training folds, scaling from min-max \
         and standard. Its errors are those of repeated cross-validations, ours is one: with a few hundred bags another \
         seed moves a figure by one to two points. corel has 9 columns here, 121 in the paper; there C is 1 or 10, psi at \
         most 512 and the inner folds are 3. mi-svm and MI-SVM have fixed parameters on musk2 and corel.",
    );
    lab.note(
        "isk is the kernel of the paper. Raised: the shares of cells raised to the power 1/2 or 0 (eyot mil --power, which \
         chooses among 1, 1/2 and 0 by itself), psi at most 256.",
    );
    Ok(())
}
