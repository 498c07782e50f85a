//! Paper 2, Table 2: online regression on casp, columns and target scaled to 0…1, and on a stand-in for airlines.

use eyot::{AnyKernel, Gaussian, LearnerParams, Method, OnlineLoss, Scale, Targets, permutation};

use super::lab::{Lab, Targets as LabTargets};
use super::online::{Set, flights, passes, random_part};
use super::results::Published;
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p2-table2",
    title: "errors of online kernel regression",
    measure: Measure { name: "RMSE", decimals: 3, tolerance: 0.02 },
    run,
};

/// Paper 2's budget, number of RRF's frequencies, and of FOGD's: on casp and on airlines.
const CASP: [usize; 3] = [400, 100, 2000];
const AIRLINES: [usize; 3] = [1000, 50, 2000];

/// The width on casp beside the published errors.
const WIDTH: AnyKernel = AnyKernel::Gaussian(Gaussian { gamma: 1.0 });

/// Published errors on casp and on airlines.
const PUBLISHED: [(&str, f64, f64); 10] = [
    ("RBP", 0.320, 36.507),
    ("Forgetron", 0.317, 36.507),
    ("Projectron", 0.269, 36.137),
    ("BOGD", 0.286, 35.735),
    ("FOGD", 0.378, 53.164),
    ("NOGD", 0.251, 34.742),
    ("DualSGD", 0.320, 36.200),
    ("RRF-ε", 0.246, 35.390),
    ("RRF-ℓ1", 0.250, 35.384),
    ("RRF-ℓ2", 0.241, 33.316),
];

fn params(name: &str, [budget, frequencies, fogd]: [usize; 3]) -> LearnerParams {
    let of = |method| LearnerParams::default().method(method).regress(true).scale_target(false);
    let kept = |method| of(method).budget(Some(budget));
    let rrf = |loss| of(Method::Rrf).loss(Some(loss)).frequencies(Some(frequencies)).log_width(Some(0.0));
    match name {
        "RBP" => kept(Method::Rbp),
        "Forgetron" => kept(Method::Forgetron),
        "Projectron" => kept(Method::Projectron),
        "BOGD" => kept(Method::Bogd),
        "FOGD" => of(Method::Fogd).frequencies(Some(fogd)),
        "NOGD" => kept(Method::Nogd).rank(Some(budget / 5)),
        "DualSGD" => of(Method::DualSgd),
        "RRF-ε" => rrf(OnlineLoss::Insensitive),
        "RRF-ℓ1" => rrf(OnlineLoss::Absolute),
        _ => rrf(OnlineLoss::Squared).epsilon(Some(0.0)),
    }
}

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    if let Some(set) = lab.numbers("online/casp", Scale::MinMax)?
        && let LabTargets::Numbers(values) = set.targets
    {
        casp(lab, set.points, &values)?;
    }
    if let Some((points, delay)) = flights(lab)? {
        let n_train = points.n_rows();
        let set = Set { points, targets: Targets::Values(delay), n_train };
        let set = if lab.quick() { random_part(set, 5000) } else { set };
        let mut means = Vec::new();
        for (name, _, published) in PUBLISHED {
            let published = Published::from(published).on_other_data();
            let part = if lab.quick() { 10 } else { 100 };
            let ours = lab.cell("airlines_nyc13, minutes", name, published, |lab| passes(lab, &params(name, AIRLINES), &set, part, (3, 1.0)))?;
            means.push((name, ours.mean()));
        }
        claim(lab, "airlines_nyc13", &means);
        lab.note(
            "airlines_nyc13 stands in for airlines: 273,853 flights from New York in 2013 instead of 5,929,413 of 2008, arrival \
             instead of departure delay",
        );
    }
    Ok(())
}

fn claim(lab: &mut Lab<'_>, name: &str, means: &[(&str, f64)]) {
    let best = |rrf: bool| {
        let of = means.iter().filter(|(method, mean)| method.starts_with("RRF") == rrf && mean.is_finite());
        of.min_by(|a, b| a.1.total_cmp(&b.1)).copied()
    };
    let (Some(rrf), Some(rival)) = (best(true), best(false)) else { return };
    let found = format!("{name}: {} {:.3}, the best of the others {} {:.3}", rrf.0, rrf.1, rival.0, rival.1);
    let says = "RRF has the least error of all methods";
    if name == "casp" {
        lab.claim(says, rrf.1 < rival.1, found);
    } else {
        lab.claim_on_stand_in(says, rrf.1 < rival.1, found);
    }
}

fn casp(lab: &mut Lab<'_>, points: eyot::PointsBuf, values: &[f64]) -> anyhow::Result<()> {
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &y| (low.min(y), high.max(y)));
    let values = values.iter().map(|y| (y - low) / (high - low)).collect();
    let n_train = points.n_rows();
    let mut set = Set { points, targets: Targets::Values(values), n_train };
    if lab.quick() {
        let order = permutation(set.points.n_rows(), 0, 0);
        let (points, targets) = set.select(&order[..order.len() / 5]);
        set = Set { n_train: points.n_rows(), points, targets };
        lab.note("quick: a random fifth of the 45,730 points of casp");
    }
    let mut means = Vec::new();
    for (name, published, _) in PUBLISHED {
        let params = params(name, CASP);
        let has_width = params.method != Method::Rrf;
        let at_width = if has_width { params.clone().kernel(Some(WIDTH)) } else { params.clone() };
        let ours = lab.cell("casp", name, published, |lab| passes(lab, &at_width, &set, 10, (3, 1.0)))?;
        let best = if has_width {
            lab.cell("casp", &format!("{name}, γ tuned"), None, |lab| passes(lab, &params, &set, 10, (3, 1.0)))?
        } else {
            ours
        };
        means.push((name, best.mean()));
    }
    claim(lab, "casp", &means);
    lab.explain(
        &["casp"],
        &["FOGD"],
        "the published error is worse than predicting the mean (0.291) and that of steps which are too long: at γ = 1/128, 2000 \
         frequencies and features of squared length 2000, η = 0.0001 has 0.28, 0.0005 has 0.36 and 0.001 has 23",
    );
    lab.note(
        "the target is scaled to 0…1, the only scale on which the published errors make sense (its deviation is 0.291 \
         there, so that a published 0.32 or 0.378 is worse than predicting the mean); gradient methods and perceptrons \
         leave errors within 0.1 alone, as the package that the authors used",
    );
    lab.note(
        "published errors stand beside γ = 1, the middle of the paper's grid, at which nine of ten come out; that width was \
         picked by them. The paper says that γ was tuned: then (rows `γ tuned`) RBP, Forgetron and Projectron are better than \
         published by 0.02 to 0.03. The claim is judged with γ tuned",
    );
    Ok(())
}
