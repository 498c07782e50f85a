//! Paper 1, Table 5: one training pass, then the test set; ψ, or λ of the Laplacian as ln ψ/d, by cross-validation.

use std::time::Instant;

use eyot::{
    AnyKernel, IsolationMapParams, Landmarks, Laplacian, LearnerParams, Method, Partition, Scale, Targets,
    batch, choose_by_cv, least, permutation,
};

use super::lab::{Lab, labelled};
use super::online::{Set, class_numbers, times, train_and_test};
use super::results::Ours;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p1-table5",
    title: "accuracy of IK-OGD, OGD, NOGD and AdaRaker, one training pass",
    measure: Measure::share("accuracy on the test set"),
    run,
};

/// Each with its place among the published figures, which is that of the reading that its authors' programs have: low trees,
/// landmarks that are the first violations, AdaRaker that keeps its weights. The other readings stand beside them.
const METHODS: [(&str, Option<usize>); 8] = [
    (LOW, Some(0)),
    ("IK-OGD (trees)", None),
    ("IK-OGD (Voronoi)", Some(1)),
    ("OGD", Some(2)),
    ("NOGD (first violations)", Some(3)),
    ("NOGD", None),
    ("AdaRaker (its program)", Some(4)),
    ("AdaRaker (its paper)", None),
];

/// Trees that end at a height of log₂ ψ, as the authors' program grows them, instead of isolating every point.
const LOW: &str = "IK-OGD (low trees)";

/// NOGD again, to show what the order of the training points does.
const ORDERS: &str = "NOGD (first violations), other orders";

/// The accuracies of the paper: IK-OGD with trees and with Voronoi cells, OGD, NOGD, AdaRaker.
const PUBLISHED: [(&str, [f64; 5]); 4] = [
    ("a9a", [0.84, 0.84, 0.84, 0.84, 0.79]),
    ("ijcnn1", [0.95, 0.97, 0.94, 0.93, 0.90]),
    ("mnist", [0.95, 0.98, 0.97, 0.85, 0.80]),
    ("covtype", [0.86, 0.92, 0.76, 0.70, 0.70]),
];

/// Points that parameters are chosen on, in full and for a short answer.
const CV_POINTS: [usize; 2] = [10_000, 5000];
/// The same for methods that keep points, which are slow.
const CV_POINTS_SLOW: [usize; 2] = [4000, 1000];
/// Training points of a short answer.
const QUICK_TRAIN: usize = 20_000;

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    for (name, published) in PUBLISHED {
        let Some(set) = load(lab, name)? else { continue };
        for (method, at) in METHODS {
            lab.cell(name, method, at.map(|at| published[at]), |lab| measure(lab, method, &set, 1))?;
        }
        if name == "covtype" {
            let orders = if lab.quick() { 2 } else { 10 };
            lab.cell(name, ORDERS, None, |lab| measure(lab, "NOGD (first violations)", &set, orders))?;
        }
    }
    lab.note(
        "eta is 0.5 and the loss the hinge for all; t = 100; NOGD has 100 landmarks and rank 20; AdaRaker 16 Gaussians \
         with 50 orthogonal frequencies each, the logistic loss, lambda by cross-validation",
    );
    lab.note(
        "NOGD: the paper says that landmarks are random points, but used a package that takes the first violations of the \
         margin; on ijcnn1 in file order random ones give 0.85 to 0.88 at any psi, on shuffled rows 0.905 to 0.919, the \
         first violations 0.93",
    );
    lab.explain(
        &[],
        &["AdaRaker (its program)"],
        "its state at the end of one pass is a matter of where intervals end and votes are reset, see below; the published \
         figure lies between this reading and that of its paper",
    );
    lab.explain(
        &["covtype"],
        &["NOGD (first violations)"],
        "what 100 landmarks, rank 20 and steps of 0.5 leave at the end of a pass is a matter of chance: the same in \
         other orders of the training points has the spread shown in its own row",
    );
    lab.explain(
        &["covtype"],
        &["OGD"],
        "the narrower the kernel, the better it is here, and the paper does not print psi: in one pass over 40,000 of the \
         points, each predicted before it is learned, accuracy is 0.742 with psi 4, 0.757 with 16, 0.768 with 64, 0.776 with \
         256 and 0.786 with 4096; 256 was chosen",
    );
    lab.note(
        "Low trees end at a height of log2 psi, as the authors' program grows them; trees isolate every sampled point. The paper \
         does not say which it means.",
    );
    lab.explain(&["a9a"], &[], "psi is chosen on 10,000 points (4,000 where points are kept) of the training set");
    lab.note(
        "AdaRaker of its paper starts a new learner with every interval of 1, 2, 4, … points, and its votes begin with the \
         shortest: what it knows at the end of training depends on where the intervals end. Its program keeps all weights \
         and only resets the votes",
    );
    if lab.quick() {
        lab.note("quick: 20,000 training points and parameters chosen on few points, so accuracies are lower");
    }
    Ok(())
}

/// A data set in the form of the paper: two classes, scaled as its files are.
pub(super) fn load(lab: &mut Lab<'_>, name: &str) -> anyhow::Result<Option<Set>> {
    let set = match name {
        "covtype" => {
            let Some(mut table) = lab.table("online/covtype")? else { return Ok(None) };
            table.columns.retain(|column| column.name != "class");
            let labelled = labelled(&table, Scale::MinMax)?;
            let order = permutation(labelled.points.n_rows(), 0, 0);
            let targets = Targets::Classes(class_numbers(&labelled)).select(&order);
            Set { points: labelled.points.select(&order), targets, n_train: 464_810 }
        }
        "mnist" => {
            let Some(set) = train_and_test(lab, name)? else { return Ok(None) };
            let Targets::Classes(digits) = &set.targets else { return Ok(None) };
            let two = digits.iter().map(|digit| u32::from([3, 4, 6, 7, 9].contains(digit))).collect();
            Set { points: times(&set.points, 1.0 / 255.0)?, targets: Targets::Classes(two), n_train: set.n_train }
        }
        _ => match train_and_test(lab, name)? {
            Some(set) => set,
            None => return Ok(None),
        },
    };
    Ok(Some(set))
}

/// Chooses the method's parameter, trains and tests; with the training points as they come, and in other orders.
fn measure(lab: &mut Lab<'_>, method: &str, set: &Set, orders: u64) -> anyhow::Result<Ours> {
    let quick = usize::from(lab.quick());
    let start = Instant::now();
    let (n, n_train) = (set.points.n_rows(), set.n_train.min(if lab.quick() { QUICK_TRAIN } else { usize::MAX }));
    let all = set.points.as_points();
    let (train, test) = (all.slice(0..n_train), all.slice(set.n_train..n));
    let (wanted, truth) = (select(&set.targets, 0..n_train), select(&set.targets, set.n_train..n));
    let slow = !method.starts_with("IK");
    let cap = if slow { CV_POINTS_SLOW } else { CV_POINTS }[quick].min(n_train);
    let (candidates, settings) = candidates(method, all.n_columns(), cap * 4 / 5);
    let errors = choose_by_cv(&candidates, train, &wanted, 5, cap, 0, lab.run())?;
    let best = least(&errors);
    let chosen = start.elapsed().as_secs_f64();
    let params = candidates[best].clone().check()?;
    let mut accuracies = Vec::new();
    for order in 0..orders {
        let rows = if order == 0 { (0..n_train).collect() } else { permutation(n_train, 1, order) };
        let (train, wanted) = (set.points.select(&rows), wanted.select(&rows));
        let mut learner = params.start(train.as_points(), lab.run())?;
        let tally = batch(&mut learner, (train.as_points(), &wanted), (test, &truth), lab.run())?;
        accuracies.push(1.0 - tally.mistake_rate());
    }
    let seconds = start.elapsed().as_secs_f64() - chosen;
    let setting = format!("{}; chosen in {chosen:.0} s", settings[best]);
    Ok(Ours::of(accuracies).with(setting).took(seconds))
}

fn select(targets: &Targets, rows: std::ops::Range<usize>) -> Targets {
    targets.select(&rows.collect::<Vec<_>>())
}

/// The grid of Table 3 for a method, and a name for each candidate.
pub(super) fn candidates(method: &str, columns: usize, most_psi: usize) -> (Vec<LearnerParams>, Vec<String>) {
    let psis: Vec<usize> = (2..=12).map(|m| 1usize << m).collect();
    let base = LearnerParams::default().eta(Some(0.5));
    let isolation = |partition, low: bool| {
        let psis = psis.iter().filter(|&&psi| psi < most_psi);
        let map = IsolationMapParams::default().partition(partition);
        let of = |&psi: &usize| base.clone().map(map.clone().psi(psi).max_height(low.then_some(psi.ilog2())));
        (psis.clone().map(of).collect(), psis.map(|psi| format!("psi {psi}")).collect())
    };
    let laplacian = |params: LearnerParams| {
        let of = |&psi: &usize| {
            let kernel = AnyKernel::Laplacian(Laplacian::of_psi(psi as f64, columns));
            params.clone().kernel(Some(kernel))
        };
        (psis.iter().map(of).collect(), psis.iter().map(|psi| format!("psi {psi}")).collect())
    };
    let nogd = |landmarks| {
        base.clone().method(Method::Nogd).landmarks(Some(landmarks)).budget(Some(100)).rank(Some(20))
    };
    match method {
        "IK-OGD (trees)" => isolation(Partition::Tree, false),
        LOW => isolation(Partition::Tree, true),
        "IK-OGD (Voronoi)" => isolation(Partition::Voronoi, false),
        "OGD" => laplacian(base.clone().method(Method::Ogd)),
        "NOGD" => laplacian(nogd(Landmarks::Uniform)),
        "NOGD (first violations)" => laplacian(nogd(Landmarks::FirstViolations)),
        _ => {
            let params = LearnerParams::default().method(Method::AdaRaker).compat(method.ends_with("(its program)"));
            let grid = params.grid(0, false, 0);
            let names = grid.iter().map(|params| format!("lambda {}", params.lambda.unwrap_or(0.0))).collect();
            (grid, names)
        }
    }
}
