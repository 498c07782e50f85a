//! Beyond the papers: all batch classifiers on all sets of two classes at hand.

use eyot::{
    AdditiveMapParams, AnyKernel, ClassifierParams, Gaussian, IsolationMapParams, LinearSvmParams, Partition,
};

use super::batch::{GRID_SETS, SETS, Split, choose, ik_svms, laplacian_svm, svm};
use super::lab::Lab;
use super::ranks::compare;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "grid-batch",
    title: "all batch classifiers on all sets at hand: average ranks",
    measure: Measure::shown("accuracy", 3),
    run,
};

/// Names here, and the experiment and name under which a cell is kept.
const METHODS: [(&str, &str, &str); 6] = [
    ("IK-SVM, Voronoi", "p1-table7", "IK_a-SVM, C = 1"),
    ("IK-SVM, trees", "grid-batch", "IK_i-SVM"),
    ("SVM, Laplacian", "p1-table7", "SVM, Laplacian"),
    ("SVM, Gaussian", "grid-batch", "SVM, Gaussian"),
    ("chi2 map", "p1-table8", "map, chi2"),
    ("linear SVM", "grid-batch", "linear SVM"),
];

/// Training rows up to which kernel machines end in minutes.
const MOST_ROWS: usize = 35_000;

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let mut figures = Vec::new();
    for set in SETS.iter().chain(GRID_SETS) {
        let Some(split) = Split::load(lab, set)? else { continue };
        let mut row = Vec::new();
        for (shown, experiment, kept) in METHODS {
            let slow = shown.starts_with("SVM") && split.training_rows() > MOST_ROWS;
            if slow && lab.recall(experiment, set.name, kept).is_none() {
                row.push(f64::NAN);
                continue;
            }
            let ours = lab.keep(experiment, set.name, kept, |lab| split.accuracy(lab, &params(lab, &split, shown)?))?;
            row.push(lab.show(set.name, shown, None, ours).mean());
        }
        figures.push(row);
    }
    let names = METHODS.map(|method| method.0);
    let Some(ranks) = compare(lab, "grid-batch", "all batch classifiers", &names, &figures) else { return Ok(()) };
    let best = (0..names.len()).min_by(|&a, &b| ranks.mean_ranks[a].total_cmp(&ranks.mean_ranks[b])).unwrap_or(0);
    lab.claim(
        "is IK-SVM with Voronoi cells the best classifier",
        best == 0,
        format!("the best average rank has {} ({:.2}), IK-SVM with Voronoi cells {:.2}", names[best], ranks.mean_ranks[best], ranks.mean_ranks[0]),
    );
    lab.note(format!(
        "Two classes each (poker: hands of nothing against all others; cifar10 and mnist as paper 1 puts them together). \
         C = 1 everywhere; psi and the widths of kernels by cross-validation. Kernel machines on more than {MOST_ROWS} training rows are \
         taken from p1-table7 where it has them."
    ));
    if lab.quick() {
        lab.note("quick: 5,000 training and test rows");
    }
    Ok(())
}

fn params(lab: &Lab<'_>, split: &Split, method: &str) -> anyhow::Result<ClassifierParams> {
    let seed = lab.seeds(1, 1).start;
    Ok(match method {
        "IK-SVM, Voronoi" => {
            let [params] = ik_svms(split, lab, [1.0])?;
            params
        }
        "IK-SVM, trees" => choose(split, lab, 10_000, |psi| ClassifierParams::IkSvm {
            map: IsolationMapParams::default().partition(Partition::Tree).psi(psi).seed(seed),
            svm: LinearSvmParams::default().seed(seed),
        })?,
        "SVM, Laplacian" => laplacian_svm(split, lab)?,
        // Widths 1/(2 psi) … of the diameter: the same number of candidates as psi has, from wide to narrow.
        "SVM, Gaussian" => choose(split, lab, 2000, |psi| svm(AnyKernel::Gaussian(Gaussian { gamma: psi as f64 / 16.0 / split.columns() as f64 })))?,
        "chi2 map" => ClassifierParams::Chi2Svm { map: AdditiveMapParams::default(), shift: true, svm: LinearSvmParams::default().bias(true) },
        _ => ClassifierParams::LinearSvm { svm: LinearSvmParams::default().bias(true) },
    })
}
