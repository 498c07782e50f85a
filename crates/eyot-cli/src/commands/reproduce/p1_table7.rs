//! Paper 1, Table 7: a kernel SVM with the Laplacian kernel beside a linear SVM on isolation features.

use std::cell::OnceCell;

use super::batch::{SETS, Split, ik_svms, laplacian_svm};
use super::lab::Lab;
use super::results::{Ours, Published};
use super::{Experiment, Measure};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "p1-table7",
    title: "batch accuracy of a Laplacian-kernel SVM and of IK-SVM; seconds are without the feature map",
    measure: Measure::share("accuracy"),
    run,
};

/// Training rows from which on a kernel SVM does not end in the hours that the paper allows either.
const MOST_ROWS: usize = 100_000;

/// Accuracy of SVM (Laplacian) and IK-SVM, as printed.
const fn published(set: &str) -> (Option<f64>, Option<f64>) {
    match set.as_bytes() {
        b"news20b" | b"news20" => (Some(0.50), Some(0.92)),
        b"rcv1" => (Some(0.54), Some(0.96)),
        b"real-sim" => (Some(0.75), Some(0.96)),
        b"cifar10" => (Some(0.51), Some(0.71)),
        b"mnist" => (Some(0.98), Some(0.99)),
        b"a9a" => (Some(0.85), Some(0.84)),
        b"covtype" => (None, Some(0.93)),
        b"ijcnn1" => (Some(0.99), Some(0.98)),
        _ => (None, None),
    }
}

fn run(lab: &mut Lab<'_>) -> anyhow::Result<()> {
    let mut pairs = Vec::new();
    for set in SETS {
        let Some(split) = Split::load(lab, set)? else { continue };
        let (svm, ik) = published(set.name);
        let [svm, ik] = [svm, ik].map(|mean| if set.stand_in { Published::from(mean).on_other_data() } else { mean.into() });
        let chosen = OnceCell::new();
        let ik_svm = |lab: &Lab<'_>, number: usize| -> anyhow::Result<_> {
            if chosen.get().is_none() {
                let _ = chosen.set(ik_svms(&split, lab, [1.0, 100.0])?);
            }
            Ok(chosen.get().expect("set just now")[number].clone())
        };
        let first = split.cell(lab, set.name, "IK_a-SVM, C = 1", ik, |lab| ik_svm(lab, 0))?;
        split.cell(lab, set.name, "IK_a-SVM, C = 100", None, |lab| ik_svm(lab, 1))?;
        if split.training_rows() <= MOST_ROWS {
            let laplacian = split.cell(lab, set.name, "SVM, Laplacian", svm, |lab| laplacian_svm(&split, lab))?;
            if laplacian.mean().is_finite() {
                pairs.push((set.name, first, laplacian));
            }
        }
    }
    let level = pairs.iter().filter(|(_, ik, svm)| ik.mean() + 0.02 >= svm.mean()).count();
    let seconds = |ours: &Ours| ours.seconds.unwrap_or(f64::NAN);
    let faster: Vec<f64> = pairs.iter().map(|(_, ik, svm)| seconds(svm) / seconds(ik)).filter(|ratio| ratio.is_finite()).collect();
    lab.claim(
        "IK-SVM is as accurate as an SVM with the Laplacian kernel or better, and one to four orders of magnitude faster",
        level == pairs.len() && faster.iter().all(|&ratio| ratio >= 10.0),
        format!(
            "not more than 0.02 below on {level} of {} sets; faster by {} (without the feature map, as in the paper)",
            pairs.len(),
            pairs.iter().zip(&faster).map(|((name, ..), ratio)| format!("{ratio:.0} times on {name}")).collect::<Vec<_>>().join(", ")
        ),
    );
    lab.explain(&["ijcnn1"], &[], "the paper names neither C nor its stopping rule; C = 100 comes nearer");
    lab.note("C = 100 on the kernel K is C = 1 on the features 0 and 1, LIBLINEAR's default; the paper names no C");
    lab.note("psi is chosen by 5-fold cross-validation on 10,000 training rows at most (Laplacian: 2,000)");
    lab.note(
        "news20b is built from the 20 Newsgroups by date: other rows, columns and split than the paper's file. The split \
         matters: eyot train at psi 4096 and C = 1 has 0.878 by date and 0.941 when all rows are shuffled first",
    );
    lab.note("no kernel SVM on covtype: more than 12 hours in the paper too. phishing is not in the paper");
    Ok(())
}
