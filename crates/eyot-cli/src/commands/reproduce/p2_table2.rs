//! Paper 2, Table 2: online regression on casp, columns and target scaled to 0…1.

use eyot::{LearnerParams, Method, OnlineLoss, Scale, Targets, permutation};

use super::lab::{Lab, Targets as LabTargets};
use super::online::{Contestant, Set, prequential_cell};
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p2-table2",
    title: "errors of online kernel regression on casp",
    measure: Measure { name: "RMSE", decimals: 3, tolerance: 0.02 },
    run,
};

/// Paper 2's budget, number of RRF's frequencies, and of FOGD's.
const BUDGET: usize = 400;
const FREQUENCIES: usize = 100;
const FOGD_FREQUENCIES: usize = 2000;

fn contestants() -> Vec<Contestant> {
    let of = |method| LearnerParams::default().method(method).regress(true).scale_target(false);
    let budget = |method| of(method).budget(Some(BUDGET));
    let rrf = |loss| of(Method::Rrf).loss(Some(loss)).frequencies(Some(FREQUENCIES)).log_width(Some(0.0));
    [
        ("RBP", 0.320, budget(Method::Rbp)),
        ("Forgetron", 0.317, budget(Method::Forgetron)),
        ("Projectron", 0.269, budget(Method::Projectron)),
        ("BOGD", 0.286, budget(Method::Bogd)),
        ("FOGD", 0.378, of(Method::Fogd).frequencies(Some(FOGD_FREQUENCIES))),
        ("NOGD", 0.251, budget(Method::Nogd).rank(Some(BUDGET / 5))),
        ("DualSGD", 0.320, of(Method::DualSgd)),
        ("RRF-ε", 0.246, rrf(OnlineLoss::Insensitive)),
        ("RRF-ℓ1", 0.250, rrf(OnlineLoss::Absolute)),
        ("RRF-ℓ2", 0.241, rrf(OnlineLoss::Squared).epsilon(Some(0.0))),
    ]
    .into_iter()
    .map(|(name, mean, params)| Contestant { name: name.into(), published: (Some(mean), None), params })
    .collect()
}

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let Some(set) = lab.numbers("online/casp", Scale::MinMax)? else { return Ok(()) };
    let LabTargets::Numbers(values) = set.targets else { return Ok(()) };
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &y| (low.min(y), high.max(y)));
    let values = values.iter().map(|y| (y - low) / (high - low)).collect();
    let n_train = set.points.n_rows();
    let mut set = Set { points: set.points, targets: Targets::Values(values), n_train };
    if lab.quick() {
        let order = permutation(set.points.n_rows(), 0, 0);
        let (points, targets) = set.select(&order[..order.len() / 5]);
        set = Set { n_train: points.n_rows(), points, targets };
        lab.note("quick: a random fifth of the 45,730 points");
    }
    for contestant in contestants() {
        prequential_cell(lab, "casp", &contestant, &set, (3, 1.0))?;
    }
    lab.note(
        "the target is scaled to 0…1, the only scale on which the published errors make sense (its deviation is 0.291 \
         there, so that a published 0.32 or 0.378 is worse than predicting the mean); gradient methods and perceptrons \
         leave errors within 0.1 alone, as the package that the authors used",
    );
    lab.note(
        "where ours is better, the width is: at γ = 1, at which RRF begins, RBP has 0.31 and the forgetron 0.31, near what is \
         published, at the best γ of the paper's grid 0.29. FOGD at γ = 1/128 has 0.28 at η = 0.0001, 0.36 at 0.0005 and 23 at \
         0.001 (2000 frequencies, features of squared length 2000): the published 0.378 is that of steps which are too long",
    );
    Ok(())
}
