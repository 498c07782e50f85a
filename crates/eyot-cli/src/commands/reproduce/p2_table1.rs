//! Paper 2, Table 1: mistake rates of online learners, train and test files merged.

use eyot::{AnyKernel, Gaussian, LearnerParams, Method, OnlineLoss, Scale, Targets, permutation};

use super::lab::Lab;
use super::online::{Contestant, Set, class_numbers, flights, min_max, passes, prequential_cell, random_part, train_and_test};
use super::results::Published;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p2-table1",
    title: "mistake rates of online kernel learners",
    measure: Measure { name: "mistakes, %", decimals: 2, tolerance: 2.0 },
    run,
};

/// Paper 2's budget, number of RRF's frequencies, and of FOGD's: on ijcnn1 and airlines, cod-rna, poker.
const IJCNN1: [usize; 3] = [1000, 100, 4000];
const COD_RNA: [usize; 3] = [400, 100, 1600];
const POKER: [usize; 3] = [1000, 200, 4000];

/// Rows of cod-rna and poker in the paper.
const COD_RNA_ROWS: usize = 331_152;
const POKER_ROWS: usize = 1_025_010;
/// Delays of more minutes count as one.
const DELAYED: f64 = 15.0;
/// Points of the other sets for a short answer.
const QUICK_POINTS: usize = 5000;

/// 1/(2·8²): the width at which the package that the authors used has its examples.
const PACKAGE_GAMMA: f64 = 1.0 / 128.0;

/// Names, published rates with their deviations on ijcnn1, cod-rna, poker and airlines.
type Line = (&'static str, [Option<(f64, f64)>; 4]);

const PUBLISHED: [Line; 14] = [
    ("Perceptron", [Some((12.85, 0.09)), Some((9.79, 0.04)), None, None]),
    ("OGD", [Some((10.39, 0.06)), Some((7.81, 0.03)), None, None]),
    ("RBP", [Some((15.54, 0.21)), Some((26.02, 0.39)), None, None]),
    ("Forgetron", [Some((16.17, 0.26)), Some((28.56, 2.22)), None, None]),
    ("Projectron", [Some((12.98, 0.23)), Some((11.16, 3.61)), None, None]),
    ("Projectron++", [Some((9.97, 0.09)), Some((17.97, 15.60)), None, None]),
    ("BPAS", [Some((10.68, 0.05)), Some((11.97, 0.09)), None, None]),
    ("BSGD-M", [Some((9.14, 0.18)), Some((5.33, 0.04)), None, None]),
    ("BOGD", [Some((10.87, 0.18)), Some((38.13, 0.11)), None, None]),
    ("FOGD", [Some((9.41, 0.03)), Some((7.15, 0.03)), Some((52.28, 0.04)), Some((20.98, 0.01))]),
    ("NOGD", [Some((10.43, 0.08)), Some((7.83, 0.06)), Some((44.90, 0.16)), Some((25.56, 0.01))]),
    ("DualSGD", [Some((8.35, 0.20)), Some((4.83, 0.21)), Some((46.65, 0.14)), Some((19.28, 0.0))]),
    ("RRF-Logit", [Some((4.16, 0.28)), Some((4.37, 0.04)), Some((43.47, 0.12)), Some((18.70, 0.0))]),
    ("RRF-Hinge", [Some((3.68, 0.17)), Some((4.33, 0.05)), Some((43.39, 0.12)), Some((18.79, 0.0))]),
];

/// How a method is set with a budget and numbers of frequencies.
fn params(name: &str, [budget, frequencies, fogd]: [usize; 3]) -> LearnerParams {
    let of = |method| LearnerParams::default().method(method);
    let kept = |method| of(method).budget(Some(budget));
    let rrf = |loss| of(Method::Rrf).loss(Some(loss)).frequencies(Some(frequencies)).log_width(Some(0.0));
    match name {
        "Perceptron" => of(Method::Perceptron),
        "OGD" => of(Method::Ogd),
        "RBP" => kept(Method::Rbp),
        "Forgetron" => kept(Method::Forgetron),
        "Projectron" => kept(Method::Projectron),
        "Projectron++" => kept(Method::ProjectronPlus),
        "BPAS" => kept(Method::Bpas),
        "BSGD-M" => kept(Method::BsgdM),
        "BOGD" => kept(Method::Bogd),
        "FOGD" => of(Method::Fogd).frequencies(Some(fogd)),
        "NOGD" => kept(Method::Nogd).rank(Some(budget / 5)),
        "DualSGD" => of(Method::DualSgd),
        "RRF-Logit" => rrf(OnlineLoss::Logistic),
        _ => rrf(OnlineLoss::Hinge),
    }
}

/// Some with the rates of their authors' examples instead of those of the paper's grid. Every published figure is counted
/// once, with the grid.
fn package_lines() -> [Contestant; 3] {
    let of = |method| LearnerParams::default().method(method);
    let dualsgd = of(Method::DualSgd).loss(Some(OnlineLoss::Logistic)).lambda(Some(2.0 / 35_000.0)).compat(true);
    let one = AnyKernel::Gaussian(Gaussian { gamma: 1.0 });
    let kept = |method| of(method).budget(Some(IJCNN1[0])).kernel(Some(AnyKernel::Gaussian(Gaussian { gamma: PACKAGE_GAMMA })));
    let line = |name: &str, params| Contestant { name: name.into(), published: (None, None), params };
    [
        line("BOGD, η = 0.2", kept(Method::Bogd).eta(Some(0.2))),
        line("BPAS, C = 1", kept(Method::Bpas).c(Some(1.0))),
        line("DualSGD, its authors' example", dualsgd.kernel(Some(one))),
    ]
}

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    ijcnn1(lab)?;
    if let Some((set, name)) = cod_rna(lab)? {
        let stand_in = set.points.n_rows() != COD_RNA_ROWS;
        others(lab, name, set, 1, COD_RNA, stand_in)?;
    }
    if let Some(set) = train_and_test(lab, "poker")? {
        let stand_in = set.points.n_rows() != POKER_ROWS;
        others(lab, "poker", min_max(set), 2, POKER, stand_in)?;
    }
    if let Some((points, delay)) = flights(lab)? {
        let late = delay.iter().map(|&minutes| u32::from(minutes > DELAYED)).collect();
        let n_train = points.n_rows();
        others(lab, "airlines_nyc13", Set { points, targets: Targets::Classes(late), n_train }, 3, IJCNN1, true)?;
    }
    lab.note(
        "Stand-ins: codrna_30k_rowz has 30,000 of the 331,152 rows of cod-rna, every row standardised by itself; poker has 43,498 \
         of 1,025,010 rows; airlines_nyc13 has the 273,853 flights from New York in 2013 instead of 5,929,413. Their figures \
         say which method is ahead, not whether the published ones are met. gamma is tuned on them.",
    );
    Ok(())
}

/// The public files of cod-rna if they are there, else the stand-in.
fn cod_rna(lab: &mut Lab<'_>) -> anyhow::Result<Option<(Set, &'static str)>> {
    if lab.has("online/codrna.train") {
        let Some(mut set) = train_and_test(lab, "codrna")? else { return Ok(None) };
        if let (Some(rest), Targets::Classes(classes)) = (lab.classes("online/codrna.rest", Scale::None)?, &mut set.targets) {
            rest.points.as_points().rows().for_each(|row| set.points.push(row));
            classes.extend(class_numbers(&rest));
        }
        return Ok(Some((min_max(set), "cod-rna")));
    }
    let Some(set) = lab.classes("online/codrna_30k_rowz", Scale::MinMax)? else { return Ok(None) };
    let (targets, n_train) = (Targets::Classes(class_numbers(&set)), set.points.n_rows());
    Ok(Some((Set { points: set.points, targets, n_train }, "codrna_30k_rowz")))
}

/// The methods that the paper has figures of for a set, `column` of [`PUBLISHED`]; those of paper 2 alone for a short answer.
fn others(lab: &mut Lab<'_>, name: &str, set: Set, column: usize, sizes: [usize; 3], stand_in: bool) -> anyhow::Result<()> {
    let set = if lab.quick() { random_part(set, QUICK_POINTS) } else { set };
    // The paper tunes on a hundredth of its large sets, which is more than there is here.
    let part = if set.points.n_rows() > 100_000 { 100 } else { 10 };
    let mut means = Vec::new();
    for (method, published) in PUBLISHED {
        let Some(published) = published[column] else { continue };
        if lab.quick() && PUBLISHED[9..].iter().all(|line| line.0 != method) {
            continue;
        }
        let published = if stand_in { Published::from(published).on_other_data() } else { published.into() };
        let ours = lab.cell(name, method, published, |lab| passes(lab, &params(method, sizes), &set, part, (3, 100.0)))?;
        means.push((method, ours.mean()));
    }
    claim(lab, name, &means, stand_in);
    Ok(())
}

/// Whether RRF is ahead of all others.
fn claim(lab: &mut Lab<'_>, name: &str, means: &[(&str, f64)], stand_in: bool) {
    let best = |rrf: bool| {
        let of = means.iter().filter(|(method, mean)| method.starts_with("RRF") == rrf && mean.is_finite());
        of.min_by(|a, b| a.1.total_cmp(&b.1)).copied()
    };
    let (Some(rrf), Some(rival)) = (best(true), best(false)) else { return };
    let found = format!("{name}: {} {:.2} %, the best of the others {} {:.2} %", rrf.0, rrf.1, rival.0, rival.1);
    let says = "RRF makes the fewest mistakes of all methods";
    if stand_in {
        lab.claim_on_stand_in(says, rrf.1 < rival.1, found);
    } else {
        lab.claim(says, rrf.1 < rival.1, found);
    }
}

fn ijcnn1(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let Some(mut set) = train_and_test(lab, "ijcnn1")? else { return Ok(()) };
    if lab.quick() {
        let order = permutation(set.points.n_rows(), 0, 0);
        let (points, targets) = set.select(&order[..order.len() / 10]);
        set = Set { n_train: points.n_rows(), points, targets };
        lab.note("quick: a random tenth of the 141,691 points, so all rates are higher than on the whole stream");
    }
    let gaussian = AnyKernel::Gaussian(Gaussian { gamma: PACKAGE_GAMMA });
    let (mut narrow, mut tuned) = (Vec::new(), Vec::new());
    for (name, published) in PUBLISHED {
        let params = params(name, IJCNN1);
        let has_width = params.method != Method::Rrf;
        let published = published[0].map_or((None, None), |(mean, std)| (Some(mean), Some(std)));
        let at_width = if has_width { params.clone().kernel(Some(gaussian)) } else { params };
        let contestant = Contestant { name: name.into(), published, params: at_width };
        let ours = prequential_cell(lab, "ijcnn1", &contestant, &set, (3, 100.0))?.mean();
        narrow.push((name, ours));
        if !has_width {
            tuned.push((name, ours));
        }
    }
    for contestant in package_lines() {
        prequential_cell(lab, "ijcnn1", &contestant, &set, (3, 100.0))?;
    }
    for (name, _) in PUBLISHED.into_iter().filter(|(name, _)| !name.starts_with("RRF")) {
        let params = params(name, IJCNN1);
        let contestant = Contestant { name: format!("{name}, γ tuned"), published: (None, None), params };
        tuned.push((name, prequential_cell(lab, "ijcnn1", &contestant, &set, (3, 100.0))?.mean()));
    }
    claim(lab, "ijcnn1", &narrow, false);
    lab.claim(
        "RRF is ahead of all others on ijcnn1 (the same, with gamma of the others tuned over the paper's grid)",
        means_say(&tuned),
        format!("from best to worst: {}", ranking(tuned.clone())),
    );
    lab.note(format!("at γ = 1/128, from best to worst: {}", ranking(narrow)));
    lab.note(
        "σ = 8, γ = 1/128 is the Gaussian width of the package that the baselines come from; the paper says that γ was \
         tuned, so both are measured. η, λ and C are tuned over the paper's grids on a random tenth of the stream in \
         both parts",
    );
    lab.note(
        "always saying the more frequent class makes 9.57 % mistakes on this stream: the published OGD, NOGD, BPAS, BOGD and \
         Projectron++ make more, so that their rates cannot be the best of any grid that holds small ones, with which they \
         come to that share. At the rates of the examples of the packages (BOGD η = 0.2; DualSGD γ = 1, logistic loss, \
         100 points, 200 frequencies, λ = 2/35,000) they come near the published figures",
    );
    Ok(())
}

/// Whether the best is an RRF.
fn means_say(means: &[(&str, f64)]) -> Option<bool> {
    let finite = means.iter().filter(|(_, mean)| mean.is_finite());
    finite.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, _)| name.starts_with("RRF"))
}

/// Names and rates, the best first.
fn ranking(mut means: Vec<(&str, f64)>) -> String {
    means.retain(|(_, mean)| mean.is_finite());
    means.sort_by(|a, b| a.1.total_cmp(&b.1));
    means.iter().map(|(name, mean)| format!("{name} {mean:.2}")).collect::<Vec<_>>().join(", ")
}
