//! A bag classifier chosen at run time: scaling, then one of the methods.

use serde::{Deserialize, Serialize};

use super::cce::{CceClassifier, CceParams};
use super::gaussian::SetKernelClassifier;
use super::held_out::{Labelled, Verdict};
use super::instances::Sets;
use super::isk::{IskClassifier, IskParams};
use super::mi_kernel::MiKernelParams;
use super::mifv::{FisherMap, MiFvClassifier, MiFvParams};
use super::migraph::MiGraphParams;
use super::scaler::Scaler;
use super::simple_mi::{SimpleMiClassifier, SimpleMiParams};
use super::vectors::BagMap;
use super::witness::{WitnessClassifier, WitnessParams};
use super::{mi_svm, mi_svm_bag};
use crate::data::Scale;
use crate::error::{Error, Result};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::Checked;
use crate::solve::{class_of_scores, n_scores};

/// Parameters of a bag classifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BagClassifierParams {
    /// How columns are scaled, by the instances of the training bags.
    pub scale: Scale,
    /// The method.
    #[serde(flatten)]
    pub method: SetMethod,
}

/// A method and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method")]
pub enum SetMethod {
    /// The Isolation Set-Kernel.
    #[serde(rename = "isk")]
    Isk(IskParams),
    /// Sums of Gaussian kernels.
    #[serde(rename = "mi-kernel")]
    MiKernel(MiKernelParams),
    /// The same on graphs.
    #[serde(rename = "migraph")]
    MiGraph(MiGraphParams),
    /// Fisher vectors.
    #[serde(rename = "mifv")]
    MiFv(MiFvParams),
    /// Clusters visited.
    #[serde(rename = "cce")]
    Cce(CceParams),
    /// Guessed labels of instances.
    #[serde(rename = "mi-svm")]
    MiSvm(WitnessParams),
    /// Guessed witnesses of bags.
    #[serde(rename = "MI-SVM")]
    MiSvmBag(WitnessParams),
    /// Mean instances.
    #[serde(rename = "simple-mi")]
    SimpleMi(SimpleMiParams),
}

impl SetMethod {
    /// The method's name, as users write it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Isk(_) => "isk",
            Self::MiKernel(_) => "mi-kernel",
            Self::MiGraph(_) => "migraph",
            Self::MiFv(_) => "mifv",
            Self::Cce(_) => "cce",
            Self::MiSvm(_) => "mi-svm",
            Self::MiSvmBag(_) => "MI-SVM",
            Self::SimpleMi(_) => "simple-mi",
        }
    }

    /// All methods with their default parameters and a seed.
    pub fn all(seed: u64) -> Vec<Self> {
        let isk = IskParams::default();
        let map = isk.map.clone().seed(seed);
        vec![
            Self::Isk(isk.map(map)),
            Self::MiKernel(MiKernelParams::default()),
            Self::MiGraph(MiGraphParams::default()),
            Self::MiFv(MiFvParams::default().seed(seed)),
            Self::Cce(CceParams::default().seed(seed)),
            Self::MiSvm(WitnessParams::default()),
            Self::MiSvmBag(WitnessParams::default()),
            Self::SimpleMi(SimpleMiParams::default()),
        ]
    }

    /// Refuses parameters outside their range.
    fn check(&self) -> Result<()> {
        match self {
            Self::Isk(params) => params.clone().check().map(drop),
            Self::MiKernel(params) => params.clone().check().map(drop),
            Self::MiGraph(params) => params.clone().check().map(drop),
            Self::MiFv(params) => params.clone().check().map(drop),
            Self::Cce(params) => params.clone().check().map(drop),
            Self::MiSvm(params) | Self::MiSvmBag(params) => params.clone().check().map(drop),
            Self::SimpleMi(params) => params.clone().check().map(drop),
        }
    }

    /// The verdicts on methods of one kind that share what [`super::BagGrid`] grouped them by.
    pub(super) fn held_out(members: &[Self], sets: &Sets, of: Labelled<'_>) -> Result<Vec<Vec<Verdict>>> {
        /// The parameters of all members, which are of one kind.
        macro_rules! all {
            ($kind:ident) => {
                all!($kind, params => params)
            };
            ($kind:ident, $params:ident => $value:expr) => {
                members
                    .iter()
                    .map(|member| match member {
                        Self::$kind($params) => $value,
                        other => unreachable!("a group of one kind has {}", other.name()),
                    })
                    .collect::<Vec<_>>()
            };
        }
        match members.first() {
            None => Ok(vec![]),
            Some(Self::Isk(_)) => IskClassifier::held_out(&all!(Isk), sets, of),
            Some(Self::MiKernel(_)) => {
                SetKernelClassifier::held_out(&all!(MiKernel, params => (params.kernel(), &params.svm)), sets, of)
            }
            Some(Self::MiGraph(_)) => {
                SetKernelClassifier::held_out(&all!(MiGraph, params => (params.kernel(), &params.svm)), sets, of)
            }
            Some(Self::MiFv(_)) => MiFvClassifier::held_out(&all!(MiFv), sets, of),
            Some(Self::Cce(_)) => CceClassifier::held_out(&all!(Cce), sets, of),
            Some(Self::MiSvm(_)) => WitnessClassifier::held_out(&all!(MiSvm), mi_svm::GUESS, sets, of),
            Some(Self::MiSvmBag(_)) => WitnessClassifier::held_out(&all!(MiSvmBag), mi_svm_bag::GUESS, sets, of),
            Some(Self::SimpleMi(_)) => SimpleMiClassifier::held_out(&all!(SimpleMi), sets, of),
        }
    }
}

impl BagClassifierParams {
    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        self.method.check()?;
        Ok(Checked::new(self))
    }

    /// The same with everything that paper 4 does not call searched at one value: ε, γ and τ are left.
    pub(super) fn searched(&self) -> Self {
        let method = match self.method.clone() {
            SetMethod::Isk(params) => {
                let (map, svm) = (params.map.clone().psi(1), params.svm.clone().c(1.0));
                SetMethod::Isk(params.map(map).power(1.0).svm(svm))
            }
            SetMethod::MiKernel(params) => SetMethod::MiKernel(params.clone().svm(params.svm.c(1.0))),
            SetMethod::MiGraph(params) => SetMethod::MiGraph(params.clone().svm(params.svm.c(1.0))),
            SetMethod::MiFv(params) => {
                let svm = params.svm.clone().c(1.0);
                SetMethod::MiFv(params.components(1).energy(1.0).svm(svm))
            }
            SetMethod::Cce(params) => SetMethod::Cce(params.clone().svm(params.svm.c(1.0))),
            SetMethod::MiSvm(params) => SetMethod::MiSvm(params.clone().svm(params.svm.c(1.0))),
            SetMethod::MiSvmBag(params) => SetMethod::MiSvmBag(params.clone().svm(params.svm.c(1.0))),
            SetMethod::SimpleMi(params) => SetMethod::SimpleMi(params.clone().svm(params.svm.c(1.0))),
        };
        Self { scale: Scale::None, method }
    }
}

impl Checked<BagClassifierParams> {
    /// Learns from bags and their class numbers, below `n_classes`.
    pub fn fit(&self, sets: &Sets, labels: &[u32], n_classes: usize, run: Run<'_>) -> Result<BagClassifier> {
        if labels.len() != sets.len() {
            return Err(Error::Shape { what: "labels of bags", expected: sets.len(), got: labels.len() });
        }
        let scaler = Scaler::fit(sets.points(), self.scale);
        let sets = &sets.with_points(scaler.apply(sets.points()));
        let set_kernel = |kernel, svm: &crate::solve::KernelSvmParams| {
            SetKernelClassifier::fit(kernel, &svm.clone().check()?, sets, labels, n_classes, run)
        };
        let witness = |params, guess| WitnessClassifier::fit(params, guess, sets, labels, n_classes, run);
        let machine = match &self.method {
            SetMethod::Isk(params) => {
                let map = params.clone().check()?.fit_map(sets.points(), run)?;
                Machine::Isk(IskClassifier::fit(map, &params.svm, sets, labels, n_classes, run)?)
            }
            SetMethod::MiKernel(params) => Machine::SetKernel(set_kernel(params.kernel(), &params.svm)?),
            SetMethod::MiGraph(params) => Machine::SetKernel(set_kernel(params.kernel(), &params.svm)?),
            SetMethod::MiFv(params) => {
                let map = FisherMap::fit(&params.clone().check()?, sets)?;
                Machine::MiFv(MiFvClassifier::fit(map, &params.svm, sets, labels, n_classes, run)?)
            }
            SetMethod::Cce(params) => Machine::Cce(CceClassifier::fit(params, sets, labels, n_classes, run)?),
            SetMethod::MiSvm(params) => Machine::Witness(witness(params, mi_svm::GUESS)?),
            SetMethod::MiSvmBag(params) => Machine::Witness(witness(params, mi_svm_bag::GUESS)?),
            SetMethod::SimpleMi(params) => {
                Machine::SimpleMi(SimpleMiClassifier::fit(params, sets, labels, n_classes, run)?)
            }
        };
        Ok(BagClassifier { n_classes, scaler, machine })
    }
}

/// A fitted classifier of bags into classes `0..n_classes`.
#[derive(Debug, Clone)]
pub struct BagClassifier {
    n_classes: usize,
    scaler: Scaler,
    machine: Machine,
}

#[derive(Debug, Clone)]
enum Machine {
    Isk(IskClassifier),
    SetKernel(SetKernelClassifier),
    MiFv(MiFvClassifier),
    Cce(CceClassifier),
    Witness(WitnessClassifier),
    SimpleMi(SimpleMiClassifier),
}

impl BagClassifier {
    /// Number of classes.
    pub const fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Columns that an instance must have.
    pub fn n_columns(&self) -> usize {
        self.scaler.n_columns()
    }

    /// How many scores a bag gets: one for two classes (class 1 from 0 upwards), else one per class; none for a
    /// single class.
    pub const fn n_scores(&self) -> usize {
        n_scores(self.n_classes)
    }

    fn scaled(&self, sets: &Sets) -> Result<Sets> {
        let (expected, got) = (self.n_columns(), sets.points().n_columns());
        if expected != got {
            return Err(Error::Shape { what: "columns", expected, got });
        }
        Ok(sets.with_points(self.scaler.apply(sets.points())))
    }

    /// The scores of bags, bag by bag.
    pub fn scores(&self, sets: &Sets, run: Run<'_>) -> Result<Vec<f64>> {
        self.scores_of(&self.scaled(sets)?, run)
    }

    fn scores_of(&self, sets: &Sets, run: Run<'_>) -> Result<Vec<f64>> {
        match &self.machine {
            Machine::Isk(machine) => machine.scores(sets, run),
            Machine::SetKernel(machine) => machine.scores(sets, run),
            Machine::MiFv(machine) => machine.scores(sets, run),
            Machine::Cce(machine) => machine.scores(sets, run),
            Machine::Witness(machine) => machine.scores(sets, run),
            Machine::SimpleMi(machine) => Ok(machine.scores(sets)),
        }
    }

    /// How much every instance speaks for each class, as the scores of bags: what it adds to the score of its bag where
    /// that is a sum over instances (`isk`, `mi-kernel`, `migraph`), else the score of the instance alone.
    pub fn instance_scores(&self, sets: &Sets, run: Run<'_>) -> Result<Vec<f64>> {
        let sets = self.scaled(sets)?;
        match &self.machine {
            Machine::Isk(machine) => machine.instance_scores(&sets, run),
            Machine::SetKernel(machine) => machine.instance_scores(&sets, run),
            Machine::Witness(machine) => machine.instance_scores(sets.points(), run),
            Machine::MiFv(_) | Machine::Cce(_) | Machine::SimpleMi(_) => {
                self.scores_of(&Sets::singletons(sets.points().to_buf()), run)
            }
        }
    }

    /// The classes that scores speak for.
    pub fn classes_of(&self, scores: &[f64], n_bags: usize) -> Vec<u32> {
        match self.n_scores() {
            0 => vec![0; n_bags],
            width => scores.chunks_exact(width).map(class_of_scores).collect(),
        }
    }

    /// The classes of bags.
    pub fn predict(&self, sets: &Sets, run: Run<'_>) -> Result<Vec<u32>> {
        Ok(self.classes_of(&self.scores(sets, run)?, sets.len()))
    }
}

/// Which machine a model file holds.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Isk,
    SetKernel,
    MiFv,
    Cce,
    Witness,
    SimpleMi,
}

impl Persist for BagClassifier {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.scaler.save(out, &format!("{prefix}.scaler"));
        let kind = match &self.machine {
            Machine::Isk(machine) => {
                machine.save(out, prefix);
                Kind::Isk
            }
            Machine::SetKernel(machine) => {
                machine.save(out, prefix);
                Kind::SetKernel
            }
            Machine::MiFv(machine) => {
                machine.save(out, prefix);
                Kind::MiFv
            }
            Machine::Cce(machine) => {
                machine.save(out, prefix);
                Kind::Cce
            }
            Machine::Witness(machine) => {
                machine.save(out, prefix);
                Kind::Witness
            }
            Machine::SimpleMi(machine) => {
                machine.save(out, prefix);
                Kind::SimpleMi
            }
        };
        out.put_json(&format!("{prefix}.machine"), &(kind, self.n_classes));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let name = format!("{prefix}.machine");
        let (kind, n_classes): (Kind, usize) = from.json(&name)?;
        let scaler = Scaler::load(from, &format!("{prefix}.scaler"))?;
        let machine = match kind {
            Kind::Isk => Machine::Isk(IskClassifier::load(from, prefix)?),
            Kind::SetKernel => Machine::SetKernel(SetKernelClassifier::load(from, prefix)?),
            Kind::MiFv => Machine::MiFv(MiFvClassifier::load(from, prefix)?),
            Kind::Cce => Machine::Cce(CceClassifier::load(from, prefix)?),
            Kind::Witness => Machine::Witness(WitnessClassifier::load(from, prefix)?),
            Kind::SimpleMi => Machine::SimpleMi(SimpleMiClassifier::load(from, prefix)?),
        };
        let (classes, columns) = match &machine {
            Machine::Isk(machine) => (machine.model.n_classes(), machine.map.n_columns()),
            Machine::SetKernel(machine) => (machine.n_classes(), machine.support().points().n_columns()),
            Machine::MiFv(machine) => (machine.model.n_classes(), machine.map.n_columns()),
            Machine::Cce(machine) => (machine.n_classes, machine.members[0].0.n_columns()),
            Machine::Witness(machine) => (machine.n_classes, machine.columns),
            Machine::SimpleMi(machine) => (machine.model.n_classes, machine.support.n_columns()),
        };
        if classes != n_classes || columns != scaler.n_columns() {
            return Err(bad_part(&name, "has parts that do not go together"));
        }
        Ok(Self { n_classes, scaler, machine })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::testing::{blobs, turned};

    /// All methods with parameters that suit the blobs.
    fn suited() -> Vec<SetMethod> {
        let small = |method| match method {
            SetMethod::Isk(params) => {
                let map = params.map.clone().psi(16).t(40);
                SetMethod::Isk(params.map(map).epsilon(0.8))
            }
            SetMethod::Cce(params) => SetMethod::Cce(params.clusters(vec![2, 4, 6])),
            other => other,
        };
        SetMethod::all(1).into_iter().map(small).collect()
    }

    fn fit(method: SetMethod, sets: &Sets, labels: &[u32], n_classes: usize, run: Run<'_>) -> BagClassifier {
        let params = BagClassifierParams { scale: Scale::Standard, method };
        params.check().unwrap().fit(sets, labels, n_classes, run).unwrap()
    }

    #[test]
    fn every_method_tells_the_blobs_apart() {
        let ((sets, labels), (others, truth)) = (blobs(60, 1), blobs(60, 2));
        for method in suited() {
            let name = method.name();
            let classifier = fit(method, &sets, &labels, 2, Run::single());
            let predicted = classifier.predict(&others, Run::single()).unwrap();
            let right = predicted.iter().zip(&truth).filter(|(a, b)| a == b).count();
            assert!(right >= 54, "{name}: {right} of 60");
        }
    }

    #[test]
    fn the_order_of_instances_does_not_matter() {
        let (sets, labels) = blobs(20, 3);
        for method in suited() {
            let name = method.name();
            let classifier = fit(method, &sets, &labels, 2, Run::single());
            let scores = classifier.scores(&sets, Run::single()).unwrap();
            for (own, other) in classifier.scores(&turned(&sets), Run::single()).unwrap().iter().zip(&scores) {
                assert!((own - other).abs() < 1e-9, "{name}");
            }
        }
    }

    #[test]
    fn a_saved_classifier_scores_the_same_bits_and_threads_change_nothing() {
        let (sets, _) = blobs(24, 4);
        let labels: Vec<u32> = (0..24).map(|bag| bag % 3).collect();
        for method in suited() {
            let name = method.name();
            let bytes = |run| {
                let mut out = ModelWriter::new("test");
                fit(method.clone(), &sets, &labels, 3, run).save(&mut out, "bags");
                out.finish().unwrap()
            };
            let saved = bytes(Run::single());
            assert_eq!(saved, bytes(Run::threads(3)), "{name}");
            let back = BagClassifier::load(&ModelReader::parse(&saved).unwrap(), "bags").unwrap();
            let fresh = fit(method.clone(), &sets, &labels, 3, Run::single());
            for threads in [1, 3] {
                let run = Run::threads(threads);
                assert_eq!(back.scores(&sets, run).unwrap(), fresh.scores(&sets, Run::single()).unwrap(), "{name}");
                let shares = fresh.instance_scores(&sets, Run::single()).unwrap();
                assert_eq!(back.instance_scores(&sets, run).unwrap(), shares, "{name}");
                assert_eq!(shares.len(), 3 * sets.n_instances());
            }
        }
    }

    #[test]
    fn dense_and_sparse_storage_agree_without_a_shift() {
        let (sets, labels) = blobs(16, 5);
        let mut sparse = crate::data::PointsBuf::sparse(2);
        sets.points().rows().for_each(|row| sparse.push(row));
        let sparse = sets.with_points(sparse);
        for method in suited() {
            let name = method.name();
            let params = BagClassifierParams { scale: Scale::None, method }.check().unwrap();
            let fit =
                |sets: &Sets| params.fit(sets, &labels, 2, Run::single()).unwrap().scores(sets, Run::single()).unwrap();
            for (a, b) in fit(&sets).iter().zip(fit(&sparse)) {
                assert!((a - b).abs() < 1e-9, "{name}: {a} {b}");
            }
        }
    }

    #[test]
    fn one_class_predicts_itself_and_other_columns_are_refused() {
        let (sets, _) = blobs(8, 6);
        for method in suited() {
            let name = method.name();
            let classifier = fit(method, &sets, &[0; 8], 1, Run::single());
            assert_eq!(classifier.predict(&sets, Run::single()).unwrap(), [0; 8], "{name}");
            let wide = crate::data::PointsBuf::from_rows(&[[1.0, 2.0, 3.0]]).unwrap();
            let error = classifier.scores(&Sets::singletons(wide), Run::single()).unwrap_err();
            assert_eq!(error.to_string(), "columns: expected 2, but there are 3", "{name}");
        }
    }

    #[test]
    fn parameters_survive_json() {
        for method in SetMethod::all(3) {
            let params = BagClassifierParams { scale: Scale::MinMax, method };
            let text = serde_json::to_string(&params).unwrap();
            assert_eq!(serde_json::from_str::<BagClassifierParams>(&text).unwrap(), params, "{text}");
        }
    }
}
