//! ISK, the Isolation Set-Kernel: how similar are two sets of points?
//!
//! K(S, T) is the mean Isolation Kernel between an instance of S and one of T, so it adapts to the density of the data.
//! It has an exact, finite, sparse feature map: a bag of any size becomes the shares of its instances in the ψ cells of
//! each of t partitionings, and a linear classifier on these vectors is the kernel classifier. Half a million instances
//! in a few hundred bags are a few hundred vectors.
//!
//! Plain: v_j(S | H_i) = share of S in cell j of partitioning i; Φ(S) = (v(S | H_1), …, v(S | H_t));
//! K(S, T) = ⟨Φ(S), Φ(T)⟩ / t. Weighted: instances that have many ε-similar ones in their bag count less each,
//! W_x = 1 / #{y ∈ S : K(x, y) > ε}, x itself always counted, divided by their sum over the bag. ε = 1 is the plain
//! kernel. Or, beyond the paper's text, weighted by miGraph's graph: W_x = 1 / #{y ∈ S : ‖x − y‖² < τ}; on texts these
//! weights, not those by ε, give the accuracies that the paper prints. Raised: v_j to a power below 1, so that cells of few
//! instances are heard. Normalised: K(S, T) / √(K(S, S)·K(T, T)), that is Φ(S) / ‖Φ(S)‖.
//!
//! Good where density varies or where a share of the instances decides; a single deciding instance in a large bag is
//! diluted (there mi-SVM looks at the maximum). Weights by ε use codes alone: O(|S|²·t) byte comparisons per bag and O(|S|)
//! memory, never a matrix over instances. Cost otherwise: mapping all instances once.
//!
//! # References
//! Paper 4, Eq. 4–14 with the corrections of the notation: Eq. 9 sums over S, and Eq. 11–13 have the factor 1/|S| twice.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::held_out::{Labelled, Verdict};
use super::instances::Sets;
use super::products::Products;
use super::vectors::{BagMap, VectorClassifier};
use super::weigh::{Weights, bag_vector, common_cells, nearby, neighbours};
use crate::data::{Features, Points, PointsBuf, Row, SparseRow};
use crate::error::{Error, Result};
use crate::map::{IsolationMap, IsolationMapParams};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::{Checked, not_negative};
use crate::partition::{Codes, Distance};
use crate::solve::{KernelSvmParams, LinearModel};

/// Parameters of the feature map of ISK.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IskParams {
    pub(super) map: IsolationMapParams,
    pub(super) epsilon: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tau: Option<f64>,
    pub(super) power: f64,
    pub(super) normalise: bool,
    pub(super) svm: KernelSvmParams,
}

impl Default for IskParams {
    fn default() -> Self {
        Self {
            map: IsolationMapParams::default().t(200),
            epsilon: 1.0,
            tau: None,
            power: 1.0,
            normalise: true,
            svm: KernelSvmParams::default(),
        }
    }
}

impl IskParams {
    /// The isolation map; Voronoi cells with t = 200 by default.
    #[must_use]
    pub fn map(mut self, map: IsolationMapParams) -> Self {
        self.map = map;
        self
    }

    /// Instances of a bag are similar from this share of common cells on, 0 to 1; 1 by default, which weights all
    /// instances alike.
    #[must_use]
    pub fn epsilon(mut self, epsilon: f64) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// Squared distance below which instances of a bag are similar, at least 0, instead of ε; none by default. As the
    /// graph of miGraph.
    #[must_use]
    pub fn tau(mut self, tau: Option<f64>) -> Self {
        self.tau = tau;
        self
    }

    /// Chooses how instances are weighted by what a user has given: by a graph if τ, by cells if ε; if neither, by a graph
    /// on texts and by cells elsewhere, which is what does best there.
    pub fn weighted(self, epsilon_given: bool, tau_given: bool) -> Result<Self> {
        if epsilon_given && tau_given {
            let expected = "left alone where epsilon is given: instances are weighted by one of them".into();
            return Err(Error::Param { name: "tau", expected, got: "given too".into() });
        }
        let texts = self.map.distance != Distance::Euclidean;
        let graph = tau_given || texts && !epsilon_given;
        Ok(self.tau(graph.then_some(1.0)))
    }

    /// The power that shares of cells are raised to, 0 to 1; 1 by default, which is the paper's kernel. At ½ the kernel is
    /// Bhattacharyya's, at 0 it counts common cells: both listen to cells that few instances are in, where a plain mean
    /// is drowned by those that all bags share.
    #[must_use]
    pub fn power(mut self, power: f64) -> Self {
        self.power = power;
        self
    }

    /// Whether every bag is as similar to itself as any other is; on by default.
    #[must_use]
    pub fn normalise(mut self, normalise: bool) -> Self {
        self.normalise = normalise;
        self
    }

    /// The classifier, which is linear in the vectors; C = 1 by default.
    #[must_use]
    pub fn svm(mut self, svm: KernelSvmParams) -> Self {
        self.svm = svm;
        self
    }

    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        self.map.clone().check()?;
        self.svm.clone().check()?;
        for (name, value) in [("epsilon", self.epsilon), ("power", self.power)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(Error::Param { name, expected: "from 0 to 1".into(), got: value.to_string() });
            }
        }
        self.tau.map_or(Ok(()), |tau| not_negative("tau", tau))?;
        let features = self.map.psi.checked_mul(self.map.t).filter(|&n| n < u32::MAX as usize);
        if features.is_none() {
            return Err(Error::Param {
                name: "psi",
                expected: "such that psi times t stays below 4,294,967,295".into(),
                got: self.map.psi.to_string(),
            });
        }
        Ok(Checked::new(self))
    }

    fn shares(&self) -> Shares {
        Shares { epsilon: self.epsilon, tau: self.tau, power: self.power, normalise: self.normalise }
    }
}

impl Checked<IskParams> {
    /// Fits the partitionings on all instances.
    pub fn fit_map(&self, instances: Points<'_>, run: Run<'_>) -> Result<IsolationSetMap> {
        let map = self.map.clone().check()?.fit(instances, run)?;
        Ok(IsolationSetMap { map, shares: self.shares() })
    }
}

/// The feature map of ISK: a set to a sparse vector.
///
/// ```
/// use eyot::{Bags, IskParams, IsolationMapParams, PointsBuf, Run, Sets};
///
/// let points = PointsBuf::from_rows(&[[0.0], [0.1], [5.0], [0.05], [5.1]])?;
/// let sets = Sets::new(points.as_points(), &Bags::from_sizes(&[2, 1, 2])?)?;
/// let params = IskParams::default().map(IsolationMapParams::default().psi(3).t(50)).check()?;
/// let map = params.fit_map(sets.points(), Run::single())?;
/// let vectors = map.vectors(&sets, Run::single())?;
/// let kernel = |a: usize, b: usize| map.kernel(vectors.row(a), vectors.row(b));
/// assert!(kernel(0, 2) > kernel(0, 1), "the third set shares a place with the first");
/// # Ok::<(), eyot::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct IsolationSetMap {
    map: IsolationMap,
    shares: Shares,
}

impl IsolationSetMap {
    /// The map of fitted partitionings; ε and normalisation as in [`IskParams`], shares as they are.
    pub fn new(map: IsolationMap, epsilon: f64, normalise: bool) -> Result<Self> {
        IskParams::default().map(map.params().clone()).epsilon(epsilon).check()?;
        Ok(Self { map, shares: Shares { epsilon, tau: None, power: 1.0, normalise } })
    }

    /// The partitionings.
    pub const fn map(&self) -> &IsolationMap {
        &self.map
    }

    /// Length of a vector.
    pub const fn n_features(&self) -> usize {
        self.map.n_features()
    }

    /// The vectors of bags: their inner product is the kernel.
    pub fn vectors(&self, sets: &Sets, run: Run<'_>) -> Result<PointsBuf> {
        let codes = self.map.encode(sets.points(), run)?;
        let counts = self.shares.neighbours(sets, &codes, run)?;
        self.shares.vectors(sets, &codes, counts.as_deref(), run)
    }

    /// The set kernel of two vectors.
    pub fn kernel(&self, x: Row<'_>, y: Row<'_>) -> f64 {
        x.dot(y)
    }

    /// The kernel between all bags of two lists by its definition, a weighted mean over all pairs of instances, row by
    /// row: what [`IsolationSetMap::vectors`] saves. For comparisons; its time grows with the product of the instances.
    /// Powers other than 1 are no means over pairs and are refused.
    pub fn matrix(&self, a: &Sets, b: &Sets, run: Run<'_>) -> Result<Vec<f64>> {
        if self.shares.power < 1.0 {
            let expected = "1 for a kernel over pairs of instances".into();
            return Err(Error::Param { name: "power", expected, got: self.shares.power.to_string() });
        }
        let side = |sets: &Sets| -> Result<(Codes, Vec<f64>)> {
            let codes = self.map.encode(sets.points(), run)?;
            let counts = self.shares.neighbours(sets, &codes, run)?;
            let of_bag = |bag: usize| {
                let range = sets.range(bag);
                let weights = Weights::new(counts.as_ref().map(|counts| &counts[range.clone()]), range.len());
                (0..range.len()).map(|at| weights.of(at)).collect::<Vec<f64>>()
            };
            let weights = (0..sets.len()).flat_map(of_bag).collect();
            Ok((codes, weights))
        };
        let ((codes_a, weights_a), (codes_b, weights_b)) = (side(a)?, side(b)?);
        let t = self.map.t() as f64;
        let mean = |x: (&Codes, &[f64], Range<usize>), y: (&Codes, &[f64], Range<usize>)| {
            let mut sum = 0.0;
            for row in x.2 {
                let of_row: f64 = y.2.clone().map(|other| y.1[other] * common_cells(x.0, row, y.0, other) as f64).sum();
                sum += x.1[row] * of_row;
            }
            sum / t
        };
        let norm = |codes: &Codes, weights: &[f64], range: Range<usize>| {
            let own = if self.shares.normalise {
                mean((codes, weights, range.clone()), (codes, weights, range))
            } else {
                1.0
            };
            if own > 0.0 { own.sqrt() } else { 1.0 }
        };
        let norms_b = run.map("kernel", b.len(), |bag| Ok(norm(&codes_b, &weights_b, b.range(bag))))?;
        // A list against itself is half the work.
        let same = std::ptr::eq(a, b);
        let rows = run.map("kernel", a.len(), |bag| {
            let own = norm(&codes_a, &weights_a, a.range(bag));
            let value = |other: usize| {
                let sum = mean((&codes_a, &weights_a, a.range(bag)), (&codes_b, &weights_b, b.range(other)));
                sum / (own * norms_b[other])
            };
            Ok((0..if same { bag + 1 } else { b.len() }).map(value).collect::<Vec<f64>>())
        })?;
        if !same {
            return Ok(rows.concat());
        }
        let entry = |bag: usize, other: usize| if other <= bag { rows[bag][other] } else { rows[other][bag] };
        Ok((0..a.len()).flat_map(|bag| (0..a.len()).map(move |other| (bag, other))).map(|(i, j)| entry(i, j)).collect())
    }

    /// The squared distance ‖Φ(S) − Φ(T)‖², the squared maximum mean discrepancy between two sets in the space of the
    /// Isolation Kernel (of its unit vectors if the map normalises).
    pub fn squared_mmd(&self, x: Row<'_>, y: Row<'_>) -> f64 {
        x.squared_distance(y)
    }

    /// What each instance adds to a linear score of its bag, without the bias: they sum up to it.
    fn shares(&self, sets: &Sets, model: &LinearModel, run: Run<'_>) -> Result<Vec<f64>> {
        let codes = self.map.encode(sets.points(), run)?;
        let counts = self.shares.neighbours(sets, &codes, run)?;
        let width = model.n_scores();
        let parts = run.map("share", sets.len(), |bag| {
            let range = sets.range(bag);
            let weights = Weights::new(counts.as_ref().map(|counts| &counts[range.clone()]), range.len());
            let (columns, values) = bag_vector(&codes, range.clone(), &weights);
            let mut raised = values.clone();
            let factor = self.shares.raise(&mut raised, codes.t());
            let mut shares = vec![0.0; range.len() * width];
            let mut of_cells = vec![0.0; self.n_features()];
            for score in 0..width {
                // An instance has that part of a cell's raised share that it has of the share.
                for ((&column, raised), value) in columns.iter().zip(&raised).zip(&values) {
                    of_cells[column as usize] = model.weights(score)[column as usize] * (raised / value);
                }
                for (at, row) in range.clone().enumerate() {
                    shares[at * width + score] = factor * weights.of(at) * codes.row(row).dot(&of_cells);
                }
            }
            Ok(shares)
        })?;
        Ok(parts.concat())
    }
}

/// How codes of instances become vectors of bags; as in [`IskParams`].
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shares {
    epsilon: f64,
    tau: Option<f64>,
    power: f64,
    normalise: bool,
}

impl Shares {
    /// How many instances of its bag are similar to each, or `None` if weights are all alike.
    fn neighbours(self, sets: &Sets, codes: &Codes, run: Run<'_>) -> Result<Option<Vec<u32>>> {
        Ok(match self.tau {
            Some(tau) => Some(nearby(sets, &[tau], run)?.swap_remove(0)),
            None if self.epsilon >= 1.0 => None,
            None => Some(neighbours(sets, codes, &[self.epsilon], run)?.swap_remove(0)),
        })
    }

    /// The vectors of bags whose instances are encoded and their neighbours counted.
    fn vectors(self, sets: &Sets, codes: &Codes, counts: Option<&[u32]>, run: Run<'_>) -> Result<PointsBuf> {
        let parts = run.map("weigh", sets.len(), |bag| {
            let range = sets.range(bag);
            let weights = Weights::new(counts.map(|counts| &counts[range.clone()]), range.len());
            let (columns, mut values) = bag_vector(codes, range, &weights);
            let factor = self.raise(&mut values, codes.t());
            for value in &mut values {
                *value *= factor;
            }
            Ok((columns, values))
        })?;
        let mut vectors = PointsBuf::sparse(codes.n_features());
        for (columns, values) in &parts {
            vectors.push(Row::Sparse(SparseRow { columns, values }));
        }
        Ok(vectors)
    }

    /// Raises shares to the power, and says what they are to be multiplied by so that inner products are kernel values.
    fn raise(self, values: &mut [f64], t: usize) -> f64 {
        for value in values.iter_mut().filter(|_| self.power < 1.0) {
            *value = if self.power == 0.5 { value.sqrt() } else { value.powf(self.power) };
        }
        let squares: f64 = values.iter().map(|value| value * value).sum();
        1.0 / if self.normalise && squares > 0.0 { squares.sqrt() } else { (t as f64).sqrt() }
    }
}

impl BagMap for IsolationSetMap {
    const PART: &'static str = "isk";

    fn n_columns(&self) -> usize {
        self.map.n_columns()
    }

    fn n_features(&self) -> usize {
        self.n_features()
    }

    fn vectors(&self, sets: &Sets, run: Run<'_>) -> Result<PointsBuf> {
        self.vectors(sets, run)
    }
}

impl Persist for IsolationSetMap {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.set"), &(self.shares.epsilon, self.shares.normalise));
        if self.shares.power < 1.0 {
            out.put_json(&format!("{prefix}.power"), &self.shares.power);
        }
        if let Some(tau) = self.shares.tau {
            out.put_json(&format!("{prefix}.tau"), &tau);
        }
        self.map.save(out, &format!("{prefix}.map"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let name = format!("{prefix}.set");
        let (epsilon, normalise): (f64, bool) = from.json(&name)?;
        let place = format!("{prefix}.power");
        let power: f64 = if from.has_json(&place) { from.json(&place)? } else { 1.0 };
        if !(0.0..=1.0).contains(&epsilon) || !(0.0..=1.0).contains(&power) {
            return Err(bad_part(&name, "has an epsilon or a power outside 0 to 1"));
        }
        let place = format!("{prefix}.tau");
        let tau: Option<f64> = if from.has_json(&place) { Some(from.json(&place)?) } else { None };
        tau.map_or(Ok(()), |tau| not_negative("tau", tau)).map_err(|error| bad_part(&place, &error.to_string()))?;
        let map = IsolationMap::load(from, &format!("{prefix}.map"))?;
        if map.psi().checked_mul(map.t()).is_none_or(|features| features >= u32::MAX as usize) {
            return Err(bad_part(prefix, "has too many features"));
        }
        Ok(Self { map, shares: Shares { epsilon, tau, power, normalise } })
    }
}

/// A linear SVM on the vectors of ISK.
pub(super) type IskClassifier = VectorClassifier<IsolationSetMap>;

impl IskClassifier {
    pub(super) fn instance_scores(&self, sets: &Sets, run: Run<'_>) -> Result<Vec<f64>> {
        self.map.shares(sets, &self.model, run)
    }

    /// The verdicts on candidates that differ in ψ, ascending, and in what is made of the codes.
    pub(super) fn held_out(members: &[&IskParams], sets: &Sets, of: Labelled<'_>) -> Result<Vec<Vec<Verdict>>> {
        let of_psi: Vec<&[&IskParams]> = members.chunk_by(|a, b| a.map.psi == b.map.psi).collect();
        let psis: Vec<usize> = of_psi.iter().map(|members| members[0].map.psi).collect();
        let Some(first) = members.first() else { return Ok(vec![]) };
        let taus = distinct(members.iter().filter_map(|params| params.tau));
        let by_tau = nearby(sets, &taus, of.run)?;
        let mut held_out = Vec::with_capacity(members.len());
        for (members, codes) in of_psi.iter().zip(codes_of(&first.map, &psis, sets.points(), of.run)?) {
            let weighted = members.iter().filter(|params| params.tau.is_none() && params.epsilon < 1.0);
            let epsilons = distinct(weighted.map(|params| params.epsilon));
            let by_epsilon = neighbours(sets, &codes, &epsilons, of.run)?;
            for same in members.chunk_by(|a, b| a.shares() == b.shares()) {
                let place = |list: &[f64], value: f64| list.iter().position(|&known| known == value);
                let counts = match same[0].tau {
                    Some(tau) => place(&taus, tau).map(|at| &by_tau[at]),
                    None => place(&epsilons, same[0].epsilon).map(|at| &by_epsilon[at]),
                };
                let vectors = same[0].shares().vectors(sets, &codes, counts.map(Vec::as_slice), of.run)?;
                let svms = same.iter().map(|params| params.svm.clone().check()).collect::<Result<Vec<_>>>()?;
                held_out.extend(of.kernel(&Products::new(&vectors), &svms)?);
            }
        }
        Ok(held_out)
    }
}

/// The same numbers in the same order, each once.
fn distinct(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut distinct = Vec::new();
    for number in numbers {
        if !distinct.contains(&number) {
            distinct.push(number);
        }
    }
    distinct
}

/// The codes of maps that differ in ψ, which ascends: in one sweep where that can be.
fn codes_of(params: &IsolationMapParams, psis: &[usize], points: Points<'_>, run: Run<'_>) -> Result<Vec<Codes>> {
    let map = |psi: usize| params.clone().psi(psi).check()?.fit(points, run);
    if let [_, .., largest] = psis {
        let map = map(*largest)?;
        if map.psi() == *largest
            && let Some(codes) = map.encode_nested(points, psis, run)?
        {
            return Ok(codes);
        }
    }
    psis.iter().map(|&psi| map(psi)?.encode(points, run)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Bags;
    use crate::map::IsolationMapParams;
    use crate::partition::Partition;
    use crate::rng::{Component, rng_of};
    use proptest::prelude::*;

    /// Bags of these sizes in three columns; instances of a bag are near each other, a few are copies.
    fn some_sets(sizes: &[usize], seed: u64) -> Sets {
        let mut rng = rng_of(seed, Component::Synthetic, 0);
        let mut rows: Vec<[f64; 3]> = Vec::new();
        for &size in sizes {
            let centre = [rng.normal(), rng.normal(), rng.normal()];
            for instance in 0..size {
                if instance % 4 == 3 {
                    rows.push(rows[rows.len() - 1]);
                } else {
                    rows.push(centre.map(|value| value + 0.7 * rng.normal()));
                }
            }
        }
        Sets::new(PointsBuf::from_rows(&rows).unwrap().as_points(), &Bags::from_sizes(sizes).unwrap()).unwrap()
    }

    fn map_of(sets: &Sets, epsilon: f64, normalise: bool) -> IsolationSetMap {
        let map = IsolationMapParams::default().psi(8).t(40);
        let params = IskParams::default().map(map).epsilon(epsilon).normalise(normalise).check().unwrap();
        params.fit_map(sets.points(), Run::single()).unwrap()
    }

    /// Eq. 4 and 5 with weights, by the definition: all pairs.
    fn by_definition(map: &IsolationSetMap, s: Points<'_>, t: Points<'_>) -> f64 {
        let weights = |set: Points<'_>| -> Vec<f64> {
            let raw: Vec<f64> = (0..set.n_rows())
                .map(|x| {
                    let similar =
                        |y: &usize| *y == x || map.map.similarity(set.row(x), set.row(*y)) > map.shares.epsilon;
                    1.0 / (0..set.n_rows()).filter(similar).count() as f64
                })
                .collect();
            let total: f64 = raw.iter().sum();
            raw.iter().map(|weight| weight / total).collect()
        };
        let (of_s, of_t) = (weights(s), weights(t));
        let mut sum = 0.0;
        for (x, of_x) in s.rows().zip(of_s) {
            for (y, of_y) in t.rows().zip(&of_t) {
                sum += of_x * of_y * map.map.similarity(x, y);
            }
        }
        sum
    }

    #[test]
    fn the_kernel_is_the_weighted_mean_of_k_over_pairs() {
        let sets = some_sets(&[1, 5, 9, 2], 1);
        for epsilon in [1.0, 0.55, 0.2, 0.0] {
            let map = map_of(&sets, epsilon, false);
            let vectors = map.vectors(&sets, Run::threads(2)).unwrap();
            let matrix = map.matrix(&sets, &sets, Run::threads(2)).unwrap();
            for a in 0..4 {
                for b in 0..4 {
                    let expected = by_definition(&map, sets.bag(a), sets.bag(b));
                    let ours = map.kernel(vectors.row(a), vectors.row(b));
                    assert!((ours - expected).abs() < 1e-12, "{epsilon}: {ours} {expected}");
                    assert!((matrix[a * 4 + b] - expected).abs() < 1e-12, "{epsilon}: {expected}");
                }
            }
        }
    }

    #[test]
    fn weights_by_a_graph_are_those_of_migraph_and_vanish_at_its_limits() {
        let sets = some_sets(&[1, 5, 9, 2], 9);
        let with = |tau: Option<f64>| {
            let map = IsolationMapParams::default().psi(8).t(40);
            let params = IskParams::default().map(map).tau(tau).normalise(false).check().unwrap();
            let map = params.fit_map(sets.points(), Run::single()).unwrap();
            (map.vectors(&sets, Run::single()).unwrap(), map)
        };
        let (plain, map) = with(None);
        for tau in [0.0, 1e9] {
            let (limit, _) = with(Some(tau));
            for bag in 0..4 {
                assert!(limit.row(bag).squared_distance(plain.row(bag)) < 1e-24, "{tau}: all alone, or all alike");
            }
        }
        let (ours, graph) = with(Some(0.9));
        let weights = |bag: usize| -> Vec<f64> {
            let points = sets.bag(bag);
            let near =
                |u: usize| (0..points.n_rows()).filter(move |&v| points.row(u).squared_distance(points.row(v)) < 0.9);
            let raw: Vec<f64> = (0..points.n_rows()).map(|u| 1.0 / near(u).count() as f64).collect();
            raw.iter().map(|weight| weight / raw.iter().sum::<f64>()).collect()
        };
        let differ = weights(2).iter().any(|&weight| (weight - 1.0 / 9.0).abs() > 0.01);
        assert!(differ, "some instances have more neighbours than others");
        let matrix = graph.matrix(&sets, &sets, Run::single()).unwrap();
        for a in 0..4 {
            for b in 0..4 {
                let mut expected = 0.0;
                for (x, of_x) in sets.bag(a).rows().zip(weights(a)) {
                    for (y, of_y) in sets.bag(b).rows().zip(weights(b)) {
                        expected += of_x * of_y * map.map.similarity(x, y);
                    }
                }
                assert!((graph.kernel(ours.row(a), ours.row(b)) - expected).abs() < 1e-12);
                assert!((matrix[a * 4 + b] - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn texts_are_weighted_by_a_graph_unless_epsilon_is_given() {
        let of = |distance, epsilon, tau| {
            let map = IsolationMapParams::default().distance(distance);
            IskParams::default().map(map).weighted(epsilon, tau).map(|params| params.tau.is_some())
        };
        assert_eq!(of(Distance::Text, false, false), Ok(true));
        assert_eq!(of(Distance::Text, true, false), Ok(false));
        assert_eq!(of(Distance::Euclidean, false, false), Ok(false));
        assert_eq!(of(Distance::Euclidean, false, true), Ok(true));
        assert!(of(Distance::Text, true, true).is_err());
    }

    #[test]
    fn singletons_have_the_isolation_kernel() {
        let sets = some_sets(&[1; 12], 2);
        for normalise in [false, true] {
            let map = map_of(&sets, 0.55, normalise);
            let vectors = map.vectors(&sets, Run::single()).unwrap();
            for a in 0..12 {
                for b in 0..12 {
                    let expected = map.map.similarity(sets.points().row(a), sets.points().row(b));
                    assert!((map.kernel(vectors.row(a), vectors.row(b)) - expected).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn shares_of_cells_sum_to_one_per_partitioning_and_norms_to_one() {
        let sets = some_sets(&[3, 60, 7], 3);
        let map = map_of(&sets, 0.6, false);
        let vectors = map.vectors(&sets, Run::single()).unwrap();
        for row in vectors.as_points().rows() {
            let mut sums = [0.0; 40];
            row.nonzeros().for_each(|(column, value)| sums[column / 8] += value * 40f64.sqrt());
            assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-12), "{sums:?}");
        }
        let unit = map_of(&sets, 0.6, true).vectors(&sets, Run::single()).unwrap();
        assert!(unit.as_points().rows().all(|row| (row.squared_norm() - 1.0).abs() < 1e-12));
    }

    #[test]
    fn large_and_small_bags_are_summed_alike() {
        let sets = some_sets(&[200, 3], 4);
        let map = map_of(&sets, 0.5, false);
        let codes = map.map.encode(sets.points(), Run::single()).unwrap();
        let counts = map.shares.neighbours(&sets, &codes, Run::single()).unwrap().unwrap();
        let weights = Weights::new(Some(&counts[..200]), 200);
        let fast = bag_vector(&codes, 0..200, &weights);
        let mut plain = vec![0.0; 40 * 8];
        for &at in &weights.order {
            codes.row(at).features().for_each(|feature| plain[feature] += weights.raw(at));
        }
        let columns: Vec<u32> = (0..320).filter(|&feature| plain[feature as usize] > 0.0).collect();
        let values: Vec<f64> = columns.iter().map(|&feature| plain[feature as usize] / weights.total).collect();
        assert_eq!(fast, (columns, values));
    }

    #[test]
    fn gaps_of_hyperspheres_are_left_out() {
        let sets = some_sets(&[6, 6], 5);
        let map = IsolationMapParams::default().partition(Partition::Sphere).psi(4).t(30);
        let map = IskParams::default().map(map).epsilon(0.3).normalise(false).check().unwrap();
        let map = map.fit_map(sets.points(), Run::single()).unwrap();
        let vectors = map.vectors(&sets, Run::single()).unwrap();
        let expected = by_definition(&map, sets.bag(0), sets.bag(1));
        assert!((map.kernel(vectors.row(0), vectors.row(1)) - expected).abs() < 1e-12);
    }

    #[test]
    fn the_mmd_of_a_set_with_itself_is_zero_and_with_others_is_that_of_the_kernel() {
        let sets = some_sets(&[4, 5], 6);
        let map = map_of(&sets, 1.0, false);
        let vectors = map.vectors(&sets, Run::single()).unwrap();
        let (x, y) = (vectors.row(0), vectors.row(1));
        assert_eq!(map.squared_mmd(x, x), 0.0);
        let expected = map.kernel(x, x) + map.kernel(y, y) - 2.0 * map.kernel(x, y);
        assert!((map.squared_mmd(x, y) - expected).abs() < 1e-12);
    }

    #[test]
    fn shares_of_instances_sum_up_to_the_score() {
        let sets = some_sets(&[3, 8, 5, 4, 6, 1], 7);
        let map = IsolationMapParams::default().psi(8).t(40);
        for (epsilon, power) in [(1.0, 1.0), (0.4, 1.0), (0.4, 0.5), (1.0, 0.0), (0.4, 0.3)] {
            let params = IskParams::default().map(map.clone()).epsilon(epsilon).power(power);
            let map = params.clone().check().unwrap().fit_map(sets.points(), Run::single()).unwrap();
            let fit = IskClassifier::fit(map, &params.svm, &sets, &[0, 1, 2, 0, 1, 2], 3, Run::single()).unwrap();
            let scores = fit.scores(&sets, Run::single()).unwrap();
            let shares = fit.instance_scores(&sets, Run::single()).unwrap();
            for bag in 0..6 {
                for score in 0..3 {
                    let sum: f64 = sets.range(bag).map(|row| shares[row * 3 + score]).sum();
                    assert!((sum + fit.model.bias(score) - scores[bag * 3 + score]).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn epsilon_and_power_outside_their_range_are_refused() {
        for value in [-0.1, 1.1, f64::NAN] {
            let error = IskParams::default().epsilon(value).check().unwrap_err();
            assert_eq!(error.to_string(), format!("`epsilon` must be from 0 to 1, but is {value}"));
            let error = IskParams::default().power(value).check().unwrap_err();
            assert_eq!(error.to_string(), format!("`power` must be from 0 to 1, but is {value}"));
        }
    }

    #[test]
    fn a_power_of_a_half_is_the_bhattacharyya_kernel_and_0_counts_common_cells() {
        let sets = some_sets(&[6, 9], 8);
        let plain = map_of(&sets, 1.0, false);
        let shares = plain.vectors(&sets, Run::single()).unwrap();
        let t = 40f64;
        let expected = |of_pair: &dyn Fn(f64, f64) -> f64| -> f64 {
            let pair = |feature| of_pair(shares.row(0).get(feature) * t.sqrt(), shares.row(1).get(feature) * t.sqrt());
            (0..plain.n_features()).map(pair).sum::<f64>() / t
        };
        let with = |power: f64| {
            let map = IsolationSetMap { shares: Shares { power, ..plain.shares }, ..plain.clone() };
            let vectors = map.vectors(&sets, Run::single()).unwrap();
            assert!(power == 1.0 || map.matrix(&sets, &sets, Run::single()).is_err(), "no mean over pairs");
            map.kernel(vectors.row(0), vectors.row(1))
        };
        assert!((with(0.5) - expected(&|a, b| (a * b).sqrt())).abs() < 1e-12);
        let common = |a: f64, b: f64| f64::from(u8::from(a > 0.0 && b > 0.0));
        assert!((with(0.0) - expected(&common)).abs() < 1e-12);
        assert!((with(1.0) - expected(&|a, b| a * b)).abs() < 1e-12);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn order_and_duplicates_of_instances_change_nothing(seed in 0u64..1000, epsilon in prop::sample::select(vec![1.0, 0.7, 0.3])) {
            let sets = some_sets(&[7, 4], seed);
            let map = map_of(&sets, epsilon, true);
            let plain = map.vectors(&sets, Run::single()).unwrap();
            let turned: Vec<usize> = (0..7).rev().chain(7..11).collect();
            let turned = sets.with_points(sets.points().to_buf().select(&turned));
            prop_assert_eq!(&map.vectors(&turned, Run::single()).unwrap(), &plain);
            let twice: Vec<usize> = (0..11).flat_map(|row| [row, row]).collect();
            let twice = Sets::from_parts(sets.points().to_buf().select(&twice), vec![0, 14, 22]).unwrap();
            let doubled = map.vectors(&twice, Run::single()).unwrap();
            for (a, b) in doubled.as_points().rows().zip(plain.as_points().rows()) {
                prop_assert!(a.squared_distance(b) < 1e-24);
            }
        }
    }
}
