//! Grids of parameters, and the search over them inside the training bags.
//!
//! What needs no labels (isolation maps, mixtures, clusters, scaling) is fitted once on all training bags of the search;
//! the folds hold out labels only. Bags that accuracy is measured on afterwards are never among them. The search has two
//! steps, which on few bags chooses no worse than the full product and costs a tenth of it: first scale and sharpness,
//! then, at the best of those, what weights the instances. The best is the one with the largest sum of accuracy and
//! clearness, see [`Verdict`]: with a hundred bags many candidates share the highest accuracy by chance. Over eight
//! cross-validations each of musk1, fox and elephant that was as good as accuracy alone or better by up to two points, for
//! ISK and for its rivals.

use super::any::{BagClassifierParams, SetMethod};
use super::held_out::{Labelled, Split, Verdict};
use super::instances::Sets;
use super::isk::IskParams;
use super::scaler::Scaler;
use crate::data::Scale;
use crate::error::{Error, Result};
use crate::parallel::Run;
use crate::partition::Distance;
use crate::tune::{CvEntry, CvTable, powers_of_two, stratified_folds};

/// Up to this ψ a sweep may take several of them at once; a larger one is work enough for a thread.
const SWEPT: usize = 256;

/// What to choose from. Values that a method has no use for are ignored.
#[derive(Debug, Clone, PartialEq)]
pub struct BagGrid {
    /// Method and the parameters that are not searched.
    pub base: SetMethod,
    /// How columns may be scaled.
    pub scales: Vec<Scale>,
    /// ψ of isolation maps; those above the number of instances are left out.
    pub psis: Vec<usize>,
    /// ε of the weights of ISK.
    pub epsilons: Vec<f64>,
    /// Powers that the shares of ISK are raised to.
    pub powers: Vec<f64>,
    /// γ of Gaussian kernels.
    pub gammas: Vec<f64>,
    /// τ of miGraph, and of ISK if its base has one.
    pub taus: Vec<f64>,
    /// Components of the mixture of miFV.
    pub components: Vec<usize>,
    /// Share of the variance that the PCA of miFV keeps; 1 means none.
    pub energies: Vec<f64>,
    /// C of the SVM.
    pub costs: Vec<f64>,
    /// Folds inside the training bags.
    pub folds: usize,
    /// Seed of those folds.
    pub seed: u64,
}

impl BagGrid {
    /// The grids of the paper; it does not say which C it used, so three are tried. Beyond the paper, ISK may raise the
    /// shares of cells to a power, which did as well or better on every benchmark set. On texts zeros stay zeros; if
    /// instances are weighted by a graph, as they should be there, neither ψ nor a power makes much of a difference.
    pub fn of(base: SetMethod) -> Self {
        let (texts, graph) = match &base {
            SetMethod::Isk(params) => (params.map.distance != Distance::Euclidean, params.tau.is_some()),
            _ => (false, false),
        };
        let (scales, psis) = match (texts, graph) {
            (true, true) => (vec![Scale::None, Scale::MinMax], vec![16, 64, 256]),
            (true, false) => (vec![Scale::None, Scale::MinMax], (2..=8).map(|exponent| 1 << exponent).collect()),
            (false, _) => (vec![Scale::MinMax, Scale::Standard], (4..=12).map(|exponent| 1 << exponent).collect()),
        };
        Self {
            base,
            scales,
            psis,
            epsilons: (11..=20).map(|twentieths| f64::from(twentieths) / 20.0).collect(),
            powers: if graph { vec![1.0] } else { vec![1.0, 0.5, 0.0] },
            gammas: powers_of_two(-5..=5),
            taus: powers_of_two(-5..=5),
            components: vec![1, 2, 3, 4],
            energies: vec![1.0, 0.8, 0.9],
            costs: vec![1.0, 10.0, 100.0],
            folds: 5,
            seed: 0,
        }
    }

    /// Refuses candidates outside their range, whatever the data.
    pub fn check(&self) -> Result<()> {
        let numbers = [&self.epsilons, &self.powers, &self.gammas, &self.taus, &self.energies, &self.costs];
        let counts = [self.scales.len(), self.psis.len(), self.components.len()];
        if counts.contains(&0) || numbers.iter().any(|list| list.is_empty()) {
            return Err(Error::Data("there is no candidate to choose from".into()));
        }
        for candidate in self.sharpness(usize::MAX).concat() {
            candidate.clone().check()?;
            self.weighting(&candidate).concat().into_iter().try_for_each(|other| other.check().map(drop))?;
        }
        Ok(())
    }

    /// Chooses by cross-validation over the training bags. A single candidate is taken as it is, unless `always`.
    pub fn search(
        &self,
        sets: &Sets,
        labels: &[u32],
        n_classes: usize,
        always: bool,
        run: Run<'_>,
    ) -> Result<(BagClassifierParams, Option<CvTable<BagClassifierParams>>)> {
        if labels.len() != sets.len() {
            return Err(Error::Shape { what: "labels of bags", expected: sets.len(), got: labels.len() });
        }
        self.check()?;
        if let (Some(only), false) = (self.only(sets), always) {
            return Ok((only, None));
        }
        let all: Vec<usize> = (0..sets.len()).collect();
        let judged = self.judge(sets, labels, n_classes, &[self.splits(labels, &all)?], run)?.swap_remove(0);
        let best = clearest(&judged)?;
        let entry = |(parameters, verdicts): Judged| {
            CvEntry::of(parameters, verdicts.iter().map(|verdict| verdict.accuracy).collect())
        };
        let table = CvTable { entries: judged.into_iter().map(entry).collect(), best };
        Ok((table.best().parameters.clone(), Some(table)))
    }

    /// For each split: the parameters chosen, and the classes predicted of the bags held out. Labels are those of the
    /// bags to learn from only, but what needs no labels is fitted on all bags, once.
    pub(super) fn transductive(
        &self,
        sets: &Sets,
        labels: &[u32],
        n_classes: usize,
        splits: &[Split],
        run: Run<'_>,
    ) -> Result<Vec<Predicted>> {
        self.check()?;
        let chosen: Vec<BagClassifierParams> = if let Some(only) = self.only(sets) {
            vec![only; splits.len()]
        } else {
            let judged = self.judge(sets, labels, n_classes, &self.inside(labels, splits)?, run)?;
            judged.iter().map(|judged| Ok(judged[clearest(judged)?].0.clone())).collect::<Result<_>>()?
        };
        let mut predicted: Vec<Option<Predicted>> = vec![None; splits.len()];
        for (of, same) in groups(&chosen) {
            let own: Vec<Split> = of.iter().map(|&at| splits[at].clone()).collect();
            let judged = self.evaluate(&[vec![same.clone()]], sets, labels, n_classes, &own, run)?;
            for (at, verdict) in of.into_iter().zip(judged.into_iter().flat_map(|(_, verdicts)| verdicts)) {
                predicted[at] = Some((same.clone(), verdict.predicted));
            }
        }
        Ok(predicted.into_iter().map(|predicted| predicted.expect("every split is in a group")).collect())
    }

    /// For each value of what paper 4 calls searched, ε, γ and τ: its accuracy on every split, all else being chosen inside
    /// the bags to learn from. What needs no labels is fitted on all bags, once.
    pub(super) fn by_value(
        &self,
        sets: &Sets,
        labels: &[u32],
        n_classes: usize,
        splits: &[Split],
        run: Run<'_>,
    ) -> Result<Vec<(BagClassifierParams, Vec<f64>)>> {
        self.check()?;
        let first = self.sharpness(sets.n_instances());
        let second: Vec<_> = first.iter().flatten().flat_map(|member| self.weighting(member)).collect();
        let candidates = [first, second].concat();
        let values: Vec<BagClassifierParams> = candidates.iter().flatten().map(BagClassifierParams::searched).collect();
        let of_values = groups(&values);
        let inside = if of_values.len() == values.len() { vec![] } else { self.inside(labels, splits)? };
        let all = [splits, &inside.concat()].concat();
        let judged = self.evaluate(&candidates, sets, labels, n_classes, &all, run)?;
        let mut table = Vec::with_capacity(of_values.len());
        for (members, value) in of_values {
            // Per split, the verdicts of the folds inside it are behind those of all splits.
            let mut start = splits.len();
            let mut accuracies = Vec::with_capacity(splits.len());
            for split in 0..splits.len() {
                let end = start + inside.get(split).map_or(0, Vec::len);
                let of = |&member: &usize| (judged[member].0.clone(), judged[member].1[start..end].to_vec());
                let best = members[clearest(&members.iter().map(of).collect::<Vec<Judged>>())?];
                accuracies.push(judged[best].1[split].accuracy);
                start = end;
            }
            table.push((value.clone(), accuracies));
        }
        Ok(table)
    }

    /// The folds inside the bags to learn from, split by split.
    fn inside(&self, labels: &[u32], splits: &[Split]) -> Result<Vec<Vec<Split>>> {
        splits.iter().map(|split| self.splits(labels, &split.learned)).collect()
    }

    /// The only candidate, if there is but one.
    fn only(&self, sets: &Sets) -> Option<BagClassifierParams> {
        let mut all = self.sharpness(sets.n_instances()).concat();
        (all.len() == 1 && self.weighting(&all[0]).is_empty()).then(|| all.swap_remove(0))
    }

    /// The folds inside some bags, each held out in turn.
    fn splits(&self, labels: &[u32], bags: &[usize]) -> Result<Vec<Split>> {
        let labels: Vec<u32> = bags.iter().map(|&bag| labels[bag]).collect();
        Ok(Split::all(&stratified_folds(&labels, self.folds.min(bags.len()), self.seed)?, bags))
    }

    /// Both steps of a search for each of several lists of splits, side by side: what is costly is prepared once.
    fn judge(
        &self,
        sets: &Sets,
        labels: &[u32],
        n_classes: usize,
        searches: &[Vec<Split>],
        run: Run<'_>,
    ) -> Result<Vec<Vec<Judged>>> {
        let all = searches.concat();
        let first = self.sharpness(sets.n_instances());
        let of_all = self.evaluate(&first, sets, labels, n_classes, &all, run)?;
        let mut judged: Vec<Vec<Judged>> = vec![Vec::with_capacity(of_all.len()); searches.len()];
        for (parameters, verdicts) in of_all {
            let mut verdicts = verdicts.into_iter();
            for (judged, splits) in judged.iter_mut().zip(searches) {
                judged.push((parameters.clone(), verdicts.by_ref().take(splits.len()).collect()));
            }
        }
        let best = judged.iter().map(|judged| Ok(judged[clearest(judged)?].0.clone())).collect::<Result<Vec<_>>>()?;
        for (of, same) in groups(&best) {
            let second = self.weighting(same);
            let splits: Vec<Split> = of.iter().flat_map(|&search| searches[search].clone()).collect();
            for (parameters, verdicts) in self.evaluate(&second, sets, labels, n_classes, &splits, run)? {
                let mut verdicts = verdicts.into_iter();
                for &search in &of {
                    let own = verdicts.by_ref().take(searches[search].len()).collect();
                    judged[search].push((parameters.clone(), own));
                }
            }
        }
        Ok(judged)
    }

    fn evaluate(
        &self,
        groups: &[Vec<BagClassifierParams>],
        sets: &Sets,
        labels: &[u32],
        n_classes: usize,
        splits: &[Split],
        run: Run<'_>,
    ) -> Result<Vec<Judged>> {
        let scaled: Vec<(Scale, Sets)> = self
            .scales
            .iter()
            .map(|&scale| (scale, sets.with_points(Scaler::fit(sets.points(), scale).apply(sets.points()))))
            .collect();
        let of = Labelled { labels, n_classes, splits, run: run.inner() };
        let results = run.map("tune", groups.len(), |group| {
            let group = &groups[group];
            let Some(first) = group.first() else { return Ok(vec![]) };
            let (_, sets) = scaled.iter().find(|(scale, _)| *scale == first.scale).expect("every scale is there");
            let methods: Vec<SetMethod> = group.iter().map(|member| member.method.clone()).collect();
            Ok(group.iter().cloned().zip(SetMethod::held_out(&methods, sets, of)?).collect::<Vec<_>>())
        })?;
        Ok(results.concat())
    }

    /// Step one: scale and sharpness. Candidates of a group share what is costly to prepare.
    fn sharpness(&self, n_instances: usize) -> Vec<Vec<BagClassifierParams>> {
        let mut groups: Vec<Vec<BagClassifierParams>> = Vec::new();
        for &scale in &self.scales {
            for methods in self.sharp_methods(n_instances) {
                groups.push(methods.into_iter().map(|method| BagClassifierParams { scale, method }).collect());
            }
        }
        groups
    }

    fn sharp_methods(&self, n_instances: usize) -> Vec<Vec<SetMethod>> {
        let costs = || self.costs.iter().copied();
        let gammas = || self.gammas.iter().flat_map(|&gamma| costs().map(move |c| (gamma, c)));
        match &self.base {
            SetMethod::Isk(base) => {
                let fits: Vec<usize> = self.psis.iter().copied().filter(|&psi| psi <= n_instances).collect();
                // With one ψ or too few instances there is nothing to leave out: a ψ that is too large is clamped.
                let psis = if fits.is_empty() || self.psis.len() == 1 { self.psis[..1].to_vec() } else { fits };
                // Weights by ε come in step two. Those by a graph decide more than ψ does, and cost no codes.
                let weighted: Vec<IskParams> = match base.tau {
                    Some(_) => self.taus.iter().map(|&tau| base.clone().tau(Some(tau))).collect(),
                    None => vec![base.clone().epsilon(self.epsilons.iter().copied().fold(f64::NEG_INFINITY, f64::max))],
                };
                let of_psi = |&psi: &usize| {
                    let powers = || self.powers.iter().flat_map(|&power| costs().map(move |c| (power, c)));
                    let of = |params: &IskParams| {
                        let params = params.clone().map(base.map.clone().psi(psi));
                        let one = |(power, c)| SetMethod::Isk(params.clone().power(power).svm(base.svm.clone().c(c)));
                        powers().map(one).collect::<Vec<_>>()
                    };
                    weighted.iter().flat_map(of).collect::<Vec<_>>()
                };
                // Words are found by inverted lists, whose codes of all small ψ come out of one sweep. Otherwise each ψ
                // has its own search, which knows better than a sweep.
                let swept = base.map.distance != Distance::Euclidean && psis.is_sorted_by(|a, b| a < b);
                let small = psis.iter().take_while(|&&psi| swept && psi <= SWEPT).count();
                let (small, large) = psis.split_at(small);
                let groups = [small].into_iter().filter(|small| !small.is_empty()).chain(large.chunks(1));
                groups.map(|psis| psis.iter().flat_map(of_psi).collect()).collect()
            }
            SetMethod::MiKernel(base) => {
                let one = |(gamma, c)| SetMethod::MiKernel(base.clone().gamma(gamma).svm(base.svm.clone().c(c)));
                vec![gammas().map(one).collect()]
            }
            SetMethod::MiGraph(base) => {
                let base = base.clone().tau(self.taus[0]);
                let one = |(gamma, c)| SetMethod::MiGraph(base.clone().gamma(gamma).svm(base.svm.clone().c(c)));
                vec![gammas().map(one).collect()]
            }
            SetMethod::SimpleMi(base) => {
                let one = |(gamma, c)| SetMethod::SimpleMi(base.clone().gamma(gamma).svm(base.svm.clone().c(c)));
                vec![gammas().map(one).collect()]
            }
            SetMethod::MiSvm(base) => {
                let one = |gamma, c| SetMethod::MiSvm(base.clone().gamma(gamma).svm(base.svm.clone().c(c)));
                self.gammas.iter().map(|&gamma| costs().map(|c| one(gamma, c)).collect()).collect()
            }
            SetMethod::MiSvmBag(base) => {
                let one = |gamma, c| SetMethod::MiSvmBag(base.clone().gamma(gamma).svm(base.svm.clone().c(c)));
                self.gammas.iter().map(|&gamma| costs().map(|c| one(gamma, c)).collect()).collect()
            }
            SetMethod::MiFv(base) => {
                let base = base.clone().energy(self.energies[0]);
                let one = |m, c| SetMethod::MiFv(base.clone().components(m).svm(base.svm.clone().c(c)));
                self.components.iter().map(|&m| costs().map(|c| one(m, c)).collect()).collect()
            }
            SetMethod::Cce(base) => {
                vec![costs().map(|c| SetMethod::Cce(base.clone().svm(base.svm.clone().c(c)))).collect()]
            }
        }
    }

    /// Step two: how instances are weighted or reduced, at the best of step one.
    fn weighting(&self, best: &BagClassifierParams) -> Vec<Vec<BagClassifierParams>> {
        let with = |method: SetMethod| BagClassifierParams { scale: best.scale, method };
        let groups: Vec<Vec<BagClassifierParams>> = match &best.method {
            SetMethod::Isk(params) if params.tau.is_none() => {
                let others = self.epsilons.iter().filter(|&&epsilon| epsilon != params.epsilon);
                vec![others.map(|&epsilon| with(SetMethod::Isk(params.clone().epsilon(epsilon)))).collect()]
            }
            SetMethod::MiGraph(params) => {
                let others = self.taus.iter().filter(|&&tau| tau != params.tau);
                vec![others.map(|&tau| with(SetMethod::MiGraph(params.clone().tau(tau)))).collect()]
            }
            SetMethod::MiFv(params) => {
                let others = self.energies.iter().filter(|&&energy| energy != params.energy);
                others.map(|&energy| vec![with(SetMethod::MiFv(params.clone().energy(energy)))]).collect()
            }
            _ => vec![],
        };
        groups.into_iter().filter(|group| !group.is_empty()).collect()
    }
}

/// The parameters chosen and the classes predicted of bags held out.
pub(super) type Predicted = (BagClassifierParams, Vec<u32>);

/// A candidate and what was made of it in every split.
type Judged = (BagClassifierParams, Vec<Verdict>);

/// Equal parameters together: the numbers of those that have them, in the order in which they first appear.
fn groups(all: &[BagClassifierParams]) -> Vec<(Vec<usize>, &BagClassifierParams)> {
    let mut groups: Vec<(Vec<usize>, &BagClassifierParams)> = Vec::new();
    for (number, parameters) in all.iter().enumerate() {
        match groups.iter_mut().find(|(_, known)| *known == parameters) {
            Some((members, _)) => members.push(number),
            None => groups.push((vec![number], parameters)),
        }
    }
    groups
}

/// The first of the candidates that tell bags apart best: most often and most clearly.
fn clearest(judged: &[Judged]) -> Result<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (number, (_, verdicts)) in judged.iter().enumerate() {
        let sum: f64 = verdicts.iter().map(|verdict| verdict.accuracy + verdict.clearness).sum();
        if best.is_none_or(|(_, most)| sum > most) {
            best = Some((number, sum));
        }
    }
    best.map(|(number, _)| number).ok_or_else(|| Error::Data("there is no candidate to choose from".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::testing::blobs;
    use crate::sets::{BagValidation, BagValidationParams, CceParams, MiGraphParams};

    fn small(method: SetMethod) -> BagGrid {
        let mut grid = BagGrid::of(method);
        grid.psis = vec![2, 16, 4096];
        (grid.epsilons, grid.powers) = (vec![0.7, 1.0], vec![1.0, 0.0]);
        grid.gammas = vec![0.25, 1.0];
        grid.taus = vec![0.5, 2.0];
        grid.components = vec![1, 2];
        (grid.costs, grid.folds) = (vec![1.0], 3);
        grid
    }

    fn isk() -> SetMethod {
        let params = IskParams::default();
        let map = params.map.clone().t(20);
        SetMethod::Isk(params.map(map))
    }

    #[test]
    fn both_steps_are_searched_on_any_number_of_threads() {
        let (sets, labels) = blobs(40, 1);
        let mut sizes = vec![];
        for method in SetMethod::all(0) {
            let method = if matches!(method, SetMethod::Isk(_)) { isk() } else { method };
            let grid = small(method);
            let (best, table) = grid.search(&sets, &labels, 2, false, Run::single()).unwrap();
            let (again, _) = grid.search(&sets, &labels, 2, false, Run::threads(3)).unwrap();
            assert_eq!(best, again);
            sizes.push(table.map_or(1, |table| {
                assert!(table.best().mean > 0.85, "{}", best.method.name());
                table.entries.len()
            }));
        }
        // Two scales: isk 2·2 ψ (4096 is more than there are)·2 powers + 1 ε; mi-kernel 2·2; migraph 2·2 + 1; mifv 2·2 + 2;
        // cce 2; the two SVMs on instances and simple-mi 2·2.
        assert_eq!(sizes, [9, 4, 5, 6, 2, 4, 4, 4]);
    }

    #[test]
    fn a_single_candidate_needs_no_search_and_an_empty_list_is_refused() {
        let (sets, labels) = blobs(10, 2);
        let mut grid = small(isk());
        (grid.scales, grid.psis, grid.epsilons, grid.powers) = (vec![Scale::None], vec![8], vec![1.0], vec![1.0]);
        assert!(grid.search(&sets, &labels, 2, false, Run::single()).unwrap().1.is_none());
        grid.costs.clear();
        assert!(grid.check().is_err());
    }

    #[test]
    fn a_search_can_be_stopped_inside_a_candidate_of_every_method() {
        struct Inside;
        impl crate::parallel::Watch for Inside {
            fn progress(&self, _: &'static str, _: usize, _: usize) -> bool {
                true
            }

            fn goes_on(&self) -> bool {
                false
            }
        }
        let (sets, labels) = blobs(10, 4);
        for method in SetMethod::all(0) {
            let name = method.name();
            let stopped = small(method).search(&sets, &labels, 2, false, Run::threads(2).watched(&Inside));
            assert_eq!(stopped.unwrap_err(), crate::error::Error::Stopped, "{name}");
        }
    }

    #[test]
    fn folds_held_out_are_predicted_by_what_was_chosen_without_them() {
        let (sets, labels) = blobs(40, 3);
        for transductive in [false, true] {
            let params = BagValidationParams { n_folds: 5, seed: 0, transductive };
            let run = |run: Run<'_>| BagValidation::run(params, &small(isk()), &sets, &labels, 2, run).unwrap();
            let validation = run(Run::single());
            assert_eq!((validation.folds.len(), validation.confusion.rows()), (5, 40));
            assert!(validation.accuracy() > 0.85 && validation.standard_error() < 0.1);
            let mut seen: Vec<usize> = validation.folds.iter().flat_map(|fold| fold.bags.clone()).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..40).collect::<Vec<_>>());
            assert_eq!(validation, run(Run::threads(2)));
        }
    }

    #[test]
    fn a_value_has_the_accuracy_of_a_grid_that_holds_it_alone() {
        let (sets, labels) = blobs(40, 5);
        let accuracies = |grid: &BagGrid, run: Run<'_>| {
            let table = BagValidation::by_hindsight(5, 0, grid, &sets, &labels, 2, run).unwrap();
            table.entries.into_iter().map(|entry| entry.folds).collect::<Vec<_>>()
        };
        let alone = |grid: BagGrid| {
            let params = BagValidationParams { n_folds: 5, seed: 0, transductive: true };
            let validation = BagValidation::run(params, &grid, &sets, &labels, 2, Run::single()).unwrap();
            validation.folds.iter().map(|fold| fold.accuracy).collect::<Vec<_>>()
        };
        let isk = small(isk());
        let expected = [1.0, 0.7].map(|epsilon| alone(BagGrid { epsilons: vec![epsilon], ..isk.clone() }));
        assert_eq!(accuracies(&isk, Run::single()), expected);
        assert_eq!(accuracies(&isk, Run::threads(2)), expected);
        let graph = BagGrid { scales: vec![Scale::None], ..small(SetMethod::MiGraph(MiGraphParams::default())) };
        let expected = [(0.25, 0.5), (1.0, 0.5), (0.25, 2.0), (1.0, 2.0)]
            .map(|(gamma, tau)| alone(BagGrid { gammas: vec![gamma], taus: vec![tau], ..graph.clone() }));
        assert_eq!(accuracies(&graph, Run::single()), expected);
        // Nothing of CCE is searched: one value, everything else chosen inside.
        let cce = small(SetMethod::Cce(CceParams::default().clusters(vec![2, 4])));
        assert_eq!(accuracies(&cce, Run::single()), [alone(cce)]);
    }

    #[test]
    fn what_is_held_out_transductively_lends_its_instances_but_not_its_labels() {
        let (sets, labels) = blobs(40, 4);
        let split = |fold: usize| {
            let (learned, held) = (0..40).partition(|bag| bag % 4 != fold);
            Split { learned, held }
        };
        let outer: Vec<Split> = (0..4).map(split).collect();
        for method in SetMethod::all(0) {
            let method = if matches!(method, SetMethod::Isk(_)) { isk() } else { method };
            let grid = small(method);
            let right = grid.transductive(&sets, &labels, 2, &outer, Run::single()).unwrap();
            for (split, expected) in outer.iter().zip(&right) {
                let mut turned = labels.clone();
                for &bag in &split.held {
                    turned[bag] = 1 - turned[bag];
                }
                let again = grid.transductive(&sets, &turned, 2, std::slice::from_ref(split), Run::single()).unwrap();
                assert_eq!(&again[0], expected, "{}", grid.base.name());
            }
        }
    }
}
