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
//! kernel. Normalised: K(S, T) / √(K(S, S)·K(T, T)), that is Φ(S) / ‖Φ(S)‖.
//!
//! Good where density varies or where a share of the instances decides; a single deciding instance in a large bag is
//! diluted (there mi-SVM looks at the maximum). Weights use codes alone: O(|S|²·t) byte comparisons per bag and O(|S|)
//! memory, never a matrix over instances. Cost otherwise: mapping all instances once.
//!
//! # References
//! Paper 4, Eq. 4–14 with the corrections of the notation: Eq. 9 sums over S, and Eq. 11–13 have the factor 1/|S| twice.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::held_out::Labelled;
use super::instances::Sets;
use crate::data::{Features, Points, PointsBuf, Row, SparseRow};
use crate::error::{Error, Result};
use crate::map::{IsolationMap, IsolationMapParams};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::Checked;
use crate::partition::{Cell, CodeStore, Codes, NONE};
use crate::solve::{LinearModel, LinearSvmParams, Loss};

/// Parameters of the feature map of ISK.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IskParams {
    pub(super) map: IsolationMapParams,
    pub(super) epsilon: f64,
    pub(super) normalise: bool,
    pub(super) svm: LinearSvmParams,
}

impl Default for IskParams {
    fn default() -> Self {
        Self {
            map: IsolationMapParams::default().t(200),
            epsilon: 1.0,
            normalise: true,
            svm: LinearSvmParams::default().loss(Loss::Hinge).bias(true).epsilon(0.01),
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

    /// Whether every bag is as similar to itself as any other is; on by default.
    #[must_use]
    pub fn normalise(mut self, normalise: bool) -> Self {
        self.normalise = normalise;
        self
    }

    /// The classifier; hinge loss with C = 1 by default.
    #[must_use]
    pub fn svm(mut self, svm: LinearSvmParams) -> Self {
        self.svm = svm;
        self
    }

    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        self.map.clone().check()?;
        self.svm.clone().check()?;
        if !(0.0..=1.0).contains(&self.epsilon) {
            let expected = "from 0 to 1".into();
            return Err(Error::Param { name: "epsilon", expected, got: self.epsilon.to_string() });
        }
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
}

impl Checked<IskParams> {
    /// Fits the partitionings on all instances.
    pub fn fit_map(&self, instances: Points<'_>, run: Run<'_>) -> Result<IsolationSetMap> {
        let map = self.map.clone().check()?.fit(instances, run)?;
        Ok(IsolationSetMap { map, epsilon: self.epsilon, normalise: self.normalise })
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
    epsilon: f64,
    normalise: bool,
}

impl IsolationSetMap {
    /// The map of fitted partitionings; ε and normalisation as in [`IskParams`].
    pub fn new(map: IsolationMap, epsilon: f64, normalise: bool) -> Result<Self> {
        IskParams::default().map(map.params().clone()).epsilon(epsilon).check()?;
        Ok(Self { map, epsilon, normalise })
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
        self.vectors_of(sets, &codes, run)
    }

    /// The vectors of bags whose instances are encoded.
    pub(super) fn vectors_of(&self, sets: &Sets, codes: &Codes, run: Run<'_>) -> Result<PointsBuf> {
        let counts = self.neighbours(sets, codes, run)?;
        let parts = run.map("weigh", sets.len(), |bag| {
            let weights = Weights::new(counts.as_ref().map(|counts| &counts[sets.range(bag)]), sets.range(bag).len());
            Ok(self.finish(bag_vector(codes, sets.range(bag), &weights)))
        })?;
        let mut vectors = PointsBuf::sparse(self.n_features());
        for (columns, values) in &parts {
            vectors.push(Row::Sparse(SparseRow { columns, values }));
        }
        Ok(vectors)
    }

    /// How many instances of its bag are similar to each, or `None` if weights are all alike.
    fn neighbours(&self, sets: &Sets, codes: &Codes, run: Run<'_>) -> Result<Option<Vec<u32>>> {
        if self.epsilon >= 1.0 {
            return Ok(None);
        }
        Ok(Some(neighbours(sets, codes, &[self.epsilon], run)?.swap_remove(0)))
    }

    /// Scales a vector so that inner products are kernel values.
    fn finish(&self, (columns, mut values): (Vec<u32>, Vec<f64>)) -> (Vec<u32>, Vec<f64>) {
        let factor = self.factor(&values);
        for value in &mut values {
            *value *= factor;
        }
        (columns, values)
    }

    /// What Φ(S) is multiplied by.
    fn factor(&self, values: &[f64]) -> f64 {
        let squares: f64 = values.iter().map(|value| value * value).sum();
        1.0 / if self.normalise && squares > 0.0 { squares.sqrt() } else { (self.map.t() as f64).sqrt() }
    }

    /// The set kernel of two vectors.
    pub fn kernel(&self, x: Row<'_>, y: Row<'_>) -> f64 {
        x.dot(y)
    }

    /// The kernel between all bags of two lists by its definition, a weighted mean over all pairs of instances, row by
    /// row: what [`IsolationSetMap::vectors`] saves. For comparisons; its time grows with the product of the instances.
    pub fn matrix(&self, a: &Sets, b: &Sets, run: Run<'_>) -> Result<Vec<f64>> {
        let side = |sets: &Sets| -> Result<(Codes, Vec<f64>)> {
            let codes = self.map.encode(sets.points(), run)?;
            let counts = self.neighbours(sets, &codes, run)?;
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
            let own = if self.normalise { mean((codes, weights, range.clone()), (codes, weights, range)) } else { 1.0 };
            if own > 0.0 { own.sqrt() } else { 1.0 }
        };
        let norms_b = run.map("kernel", b.len(), |bag| Ok(norm(&codes_b, &weights_b, b.range(bag))))?;
        let rows = run.map("kernel", a.len(), |bag| {
            let own = norm(&codes_a, &weights_a, a.range(bag));
            let value = |other: usize| {
                let sum = mean((&codes_a, &weights_a, a.range(bag)), (&codes_b, &weights_b, b.range(other)));
                sum / (own * norms_b[other])
            };
            Ok((0..b.len()).map(value).collect::<Vec<f64>>())
        })?;
        Ok(rows.concat())
    }

    /// The squared distance ‖Φ(S) − Φ(T)‖², the squared maximum mean discrepancy between two sets in the space of the
    /// Isolation Kernel (of its unit vectors if the map normalises).
    pub fn squared_mmd(&self, x: Row<'_>, y: Row<'_>) -> f64 {
        x.squared_distance(y)
    }

    /// What each instance adds to a linear score of its bag, without the bias: they sum up to it.
    fn shares(&self, sets: &Sets, model: &LinearModel, run: Run<'_>) -> Result<Vec<f64>> {
        let codes = self.map.encode(sets.points(), run)?;
        let counts = self.neighbours(sets, &codes, run)?;
        let width = model.n_scores();
        let parts = run.map("share", sets.len(), |bag| {
            let range = sets.range(bag);
            let weights = Weights::new(counts.as_ref().map(|counts| &counts[range.clone()]), range.len());
            let factor = self.factor(&bag_vector(&codes, range.clone(), &weights).1);
            let mut shares = Vec::with_capacity(range.len() * width);
            for (at, row) in range.enumerate() {
                let weight = factor * weights.of(at);
                shares.extend((0..width).map(|score| weight * codes.row(row).dot(model.weights(score))));
            }
            Ok(shares)
        })?;
        Ok(parts.concat())
    }
}

impl Persist for IsolationSetMap {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.set"), &(self.epsilon, self.normalise));
        self.map.save(out, &format!("{prefix}.map"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let name = format!("{prefix}.set");
        let (epsilon, normalise): (f64, bool) = from.json(&name)?;
        if !(0.0..=1.0).contains(&epsilon) {
            return Err(bad_part(&name, "has an epsilon outside 0 to 1"));
        }
        let map = IsolationMap::load(from, &format!("{prefix}.map"))?;
        if map.psi().checked_mul(map.t()).is_none_or(|features| features >= u32::MAX as usize) {
            return Err(bad_part(prefix, "has too many features"));
        }
        Ok(Self { map, epsilon, normalise })
    }
}

/// For each ε, how many instances of its bag are ε-similar to each instance, itself included.
fn neighbours(sets: &Sets, codes: &Codes, epsilons: &[f64], run: Run<'_>) -> Result<Vec<Vec<u32>>> {
    let t = codes.t();
    // K > ε from this many common cells on.
    let least: Vec<usize> =
        epsilons.iter().map(|&epsilon| (0..=t).find(|&m| m as f64 / t as f64 > epsilon).unwrap_or(t + 1)).collect();
    let parts = run.map("weigh", sets.len(), |bag| {
        let range = sets.range(bag);
        let mut counts = vec![vec![1u32; range.len()]; least.len()];
        for x in 0..range.len() {
            for y in x + 1..range.len() {
                let common = common_cells(codes, range.start + x, codes, range.start + y);
                for (counts, &least) in counts.iter_mut().zip(&least) {
                    if common >= least {
                        counts[x] += 1;
                        counts[y] += 1;
                    }
                }
            }
        }
        Ok(counts)
    })?;
    Ok((0..least.len()).map(|at| parts.iter().flat_map(|counts| counts[at].iter().copied()).collect()).collect())
}

/// In how many partitionings two points share a cell; gaps match nothing.
fn common_cells(codes: &Codes, x: usize, others: &Codes, y: usize) -> usize {
    let (t, psi) = (codes.t(), codes.psi());
    let (x, y) = (x * t..(x + 1) * t, y * t..(y + 1) * t);
    match (codes.store(), others.store()) {
        (CodeStore::U8(a), CodeStore::U8(b)) => equal(&a[x], &b[y], |cell| usize::from(cell) < psi),
        (CodeStore::U16(a), CodeStore::U16(b)) => equal(&a[x], &b[y], |cell| usize::from(cell) < psi),
        (CodeStore::U32(a), CodeStore::U32(b)) => equal(&a[x], &b[y], |cell| (cell as usize) < psi),
        _ => unreachable!("codes of one map are stored alike"),
    }
}

/// Counts equal places in blocks short enough for sums of a byte, which compile to vector code.
fn equal<C: Copy + PartialEq>(x: &[C], y: &[C], inside: impl Fn(C) -> bool) -> usize {
    const BLOCK: usize = 128;
    let block =
        |(x, y): (&[C], &[C])| usize::from(x.iter().zip(y).map(|(&x, &y)| u8::from(x == y && inside(x))).sum::<u8>());
    x.chunks(BLOCK).zip(y.chunks(BLOCK)).map(block).sum()
}

/// The weights of the instances of a bag, which sum up to 1.
struct Weights<'a> {
    counts: Option<&'a [u32]>,
    /// Instances in the order in which weights are summed: ascending counts, so that the order of instances does not
    /// matter.
    order: Vec<usize>,
    /// Σ 1/count.
    total: f64,
}

impl<'a> Weights<'a> {
    fn new(counts: Option<&'a [u32]>, instances: usize) -> Self {
        let mut order: Vec<usize> = (0..instances).collect();
        let Some(of) = counts else { return Self { counts, order, total: instances as f64 } };
        order.sort_by_key(|&at| of[at]);
        let total = order.iter().map(|&at| 1.0 / f64::from(of[at])).sum();
        Self { counts, order, total }
    }

    /// 1/count.
    fn raw(&self, instance: usize) -> f64 {
        self.counts.map_or(1.0, |counts| 1.0 / f64::from(counts[instance]))
    }

    fn of(&self, instance: usize) -> f64 {
        self.raw(instance) / self.total
    }
}

/// Φ(S): the cells that a bag is in and the sums of its instances' weights there.
fn bag_vector(codes: &Codes, range: Range<usize>, weights: &Weights<'_>) -> (Vec<u32>, Vec<f64>) {
    let (t, psi) = (codes.t(), codes.psi());
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    let mut put = |i: usize, cell: Cell, sum: f64| {
        columns.push((i * psi) as u32 + cell);
        values.push(sum / weights.total);
    };
    // A large bag visits most cells: sums by cell. A small one: its few entries in the order of their cells. Both add
    // in the same order.
    if range.len() * 8 >= psi {
        let mut sums = vec![0.0; psi];
        for i in 0..t {
            sums.fill(0.0);
            for &at in &weights.order {
                let cell = codes.row(range.start + at).cell(i);
                if cell != NONE {
                    sums[cell as usize] += weights.raw(at);
                }
            }
            for (cell, &sum) in sums.iter().enumerate().filter(|(_, sum)| **sum > 0.0) {
                put(i, cell as Cell, sum);
            }
        }
    } else {
        let mut entries: Vec<(Cell, f64)> = Vec::with_capacity(range.len());
        for i in 0..t {
            entries.clear();
            entries.extend(weights.order.iter().map(|&at| (codes.row(range.start + at).cell(i), weights.raw(at))));
            entries.sort_by_key(|&(cell, _)| cell);
            for same in entries.chunk_by(|a, b| a.0 == b.0).filter(|same| same[0].0 != NONE) {
                put(i, same[0].0, same.iter().map(|&(_, weight)| weight).fold(0.0, |sum, weight| sum + weight));
            }
        }
    }
    (columns, values)
}

/// A linear SVM on the vectors of ISK.
#[derive(Debug, Clone)]
pub(super) struct IskClassifier {
    pub(super) map: IsolationSetMap,
    pub(super) model: LinearModel,
}

impl IskClassifier {
    pub(super) fn fit(params: &IskParams, sets: &Sets, labels: &[u32], n_classes: usize, run: Run<'_>) -> Result<Self> {
        let map = params.clone().check()?.fit_map(sets.points(), run)?;
        let vectors = map.vectors(sets, run)?;
        let svm = params.svm.clone().check()?;
        let model = svm.fit(&vectors.as_points(), labels, n_classes, None, run)?.model;
        Ok(Self { map, model })
    }

    pub(super) fn scores(&self, sets: &Sets, run: Run<'_>) -> Result<Vec<f64>> {
        self.model.scores(&self.map.vectors(sets, run)?.as_points(), run)
    }

    pub(super) fn instance_scores(&self, sets: &Sets, run: Run<'_>) -> Result<Vec<f64>> {
        self.map.shares(sets, &self.model, run)
    }

    /// The held-out accuracies of candidates that share their isolation map.
    pub(super) fn held_out(members: &[&IskParams], sets: &Sets, of: Labelled<'_>) -> Result<Vec<Vec<f64>>> {
        let Some(first) = members.first() else { return Ok(vec![]) };
        let map = first.map.clone().check()?.fit(sets.points(), Run::single())?;
        let codes = map.encode(sets.points(), Run::single())?;
        let mut last: Option<(IsolationSetMap, PointsBuf)> = None;
        let mut held_out = Vec::with_capacity(members.len());
        for params in members {
            let known =
                |(map, _): &(IsolationSetMap, _)| map.epsilon == params.epsilon && map.normalise == params.normalise;
            if !last.as_ref().is_some_and(known) {
                let set_map =
                    IsolationSetMap { map: map.clone(), epsilon: params.epsilon, normalise: params.normalise };
                let vectors = set_map.vectors_of(sets, &codes, Run::single())?;
                last = Some((set_map, vectors));
            }
            let (_, vectors) = last.as_ref().expect("made above");
            held_out.push(of.linear(vectors, &params.svm.clone().check()?)?);
        }
        Ok(held_out)
    }
}

impl Persist for IskClassifier {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.map.save(out, &format!("{prefix}.isk"));
        self.model.save(out, &format!("{prefix}.linear"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let map = IsolationSetMap::load(from, &format!("{prefix}.isk"))?;
        let model = LinearModel::load(from, &format!("{prefix}.linear"))?;
        if model.n_features() != map.n_features() {
            return Err(bad_part(prefix, "has weights that do not go with its map"));
        }
        Ok(Self { map, model })
    }
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
                    let similar = |y: &usize| *y == x || map.map.similarity(set.row(x), set.row(*y)) > map.epsilon;
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
        let counts = map.neighbours(&sets, &codes, Run::single()).unwrap().unwrap();
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
        for epsilon in [1.0, 0.4] {
            let params = IskParams::default().map(map.clone()).epsilon(epsilon);
            let fit = IskClassifier::fit(&params, &sets, &[0, 1, 2, 0, 1, 2], 3, Run::single()).unwrap();
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
    fn epsilon_outside_its_range_is_refused() {
        for epsilon in [-0.1, 1.1, f64::NAN] {
            let error = IskParams::default().epsilon(epsilon).check().unwrap_err();
            assert_eq!(error.to_string(), format!("`epsilon` must be from 0 to 1, but is {epsilon}"));
        }
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
