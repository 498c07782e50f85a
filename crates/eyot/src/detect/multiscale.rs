//! Many scales at once, for when ψ cannot be chosen because there are no labels.
//!
//! A small ψ sees rows far from everything and small far clusters; a large ψ sees rows that are odd among their
//! neighbours. No rule that picks *one* ψ without labels was found to be any good (see `docs/detect.md`), but most
//! normal rows are odd at no scale. So: score at ψ = 2, 4, 8, … up to a limit, put each scale on one footing by how
//! its scores spread over the fitting data, and add up how far each row stands out, small excesses counting little:
//! a_m(x) = (u_m(x) − centre_m) / spread_m, anomaly(x) = √(mean over m of max(0, a_m(x))²), or max a_m(x) if none is
//! above 0.
//!
//! What u_m measures on the balls of scale m is the [`ScaleRule`]. It is insurance against a badly wrong ψ, not a gain
//! everywhere: with labels, one good ψ is better. Clusters of anomalies above 5 % of the data remain difficult.
//!
//! Samples are nested: the sample of scale m is the first 2^m rows of that of the largest, so one sweep over the
//! largest sample answers all scales. Cost with d columns and limit ψ: O(t·ψ²·d) and n scores to fit, O(t·ψ·d) per
//! score; memory O(t·ψ) rows, plus one number per row and scale while fitting. Where a walk over all samples of a scale
//! is faster than its part of the sweep (few columns, many rows, large ψ), the walk is taken. Since it visits
//! partitionings in an order of its own, what a ball is worth is rounded to 2⁻³⁰: sums are then exact in any order.

use serde::{Deserialize, Serialize};

use super::inne::isolation_of;
use super::{CHUNK, Detector};
use crate::data::Points;
use crate::error::{Error, Result};
use crate::map::{Cells, IsolationMap, IsolationMapParams, extent};
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::parallel::Run;
use crate::params::{Checked, in_range};
use crate::partition::{Cell, Centres, Distance, EQUAL, NONE, Next, Others, Want, neighbours};
use crate::score::quantile;

/// What is measured at each scale; x falls into the ball of its nearest centre, or into none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScaleRule {
    /// The ball against its neighbour's, as in iNNE: 1 − min(1, r(η(c))/r(c)), and 1 in no ball; spread is the
    /// standard deviation.
    #[default]
    Ratio,
    /// The share of the data in the same ball, as in K_I; spread is the median similarity, so a = 1 − s/median.
    Similarity,
    /// Whether a ball holds the point, as in ‖Φ(x)‖; spread is the standard deviation.
    Coverage,
}

/// What a multi-scale detector is made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultiScaleParams {
    pub(crate) rule: ScaleRule,
    pub(crate) max_psi: Option<usize>,
    pub(crate) t: usize,
    pub(crate) seed: u64,
}

impl Default for MultiScaleParams {
    fn default() -> Self {
        Self { rule: ScaleRule::Ratio, max_psi: None, t: 100, seed: 0 }
    }
}

impl MultiScaleParams {
    /// What is measured at each scale.
    #[must_use]
    pub fn rule(mut self, rule: ScaleRule) -> Self {
        self.rule = rule;
        self
    }

    /// The largest ψ tried, never more than a quarter of the rows: the knob between speed and local anomalies. By
    /// default 4096, or less where that would take minutes: the power of two at which rows · t · ψ · (columns + 4)
    /// stays below 10¹², about a minute on one core.
    #[must_use]
    pub fn max_psi(mut self, max_psi: Option<usize>) -> Self {
        self.max_psi = max_psi;
        self
    }

    /// Partitionings per scale, t; 100 by default.
    #[must_use]
    pub fn t(mut self, t: usize) -> Self {
        self.t = t;
        self
    }

    /// Where all randomness comes from; 0 by default.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        if let Some(max_psi) = self.max_psi {
            in_range("max-psi", max_psi, 2..=1 << 20)?;
        }
        in_range("t", self.t, 1..=1 << 20)?;
        Ok(Checked::new(self))
    }
}

impl Checked<MultiScaleParams> {
    /// Fits, and scores the same rows.
    pub fn fit_score(&self, points: Points<'_>, run: Run<'_>) -> Result<(MultiScale, Vec<f64>)> {
        let (model, levels) = self.fit_levels(points, run)?;
        let scores = levels.chunks(model.ends.len()).map(|levels| model.combine(levels).score).collect();
        Ok((model, scores))
    }

    /// Fits, and measures the same rows at every scale, as [`MultiScale::levels`] does.
    pub fn fit_levels(&self, points: Points<'_>, run: Run<'_>) -> Result<(MultiScale, Vec<f64>)> {
        let n = points.n_rows();
        if n < 2 {
            return Err(if n == 0 {
                Error::Empty
            } else {
                Error::Data("hyperspheres need at least two rows, but there is one".into())
            });
        }
        let affordable = || MOST_WORK / ((n * self.t) as f64 * (points.n_columns() + 4) as f64);
        let limit = self.max_psi.unwrap_or_else(|| DEFAULT_MAX_PSI.min(affordable() as usize));
        let largest = limit.min(n / 4).max(2);
        let ends: Vec<usize> = (1..=largest.ilog2()).map(|m| 1 << m).collect();
        let largest = *ends.last().expect("2 is always a scale");
        // Balls of all scales are measured below; Voronoi cells are the same centres without radii.
        let map = IsolationMapParams::default().psi(largest).t(self.t).seed(self.seed).check()?.fit(points, run)?;
        let scales = measure(centres_of(&map), &ends, self.rule, extent(points), run)?;
        let fine = fine_centres(&map, &ends);
        let mut model = MultiScale { rule: self.rule, map, ends, scales, fine };
        model.prepare(points, run);
        if self.rule == ScaleRule::Similarity {
            model.count(points, run)?;
        }
        let levels = model.levels(points, run)?;
        model.find_footing(&levels);
        Ok((model, levels))
    }
}

/// A fitted multi-scale detector.
#[derive(Debug, Clone)]
pub struct MultiScale {
    rule: ScaleRule,
    map: IsolationMap,
    /// ψ of each scale, ascending.
    ends: Vec<usize>,
    scales: Vec<Scale>,
    /// The centres of the scales before the last that may be walked; those of the last are the map's.
    fine: Vec<Centres>,
}

/// The balls of one scale, at i·ψ + j, and its footing.
#[derive(Debug, Clone, PartialEq)]
struct Scale {
    squared_radii: Vec<f64>,
    /// What a point in the ball adds to u.
    values: Vec<f64>,
    centre: f64,
    spread: f64,
}

/// Why a multi-scale detector finds a row odd.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaleReason {
    /// The coarsest ψ at which the row is nearly as anomalous as anywhere.
    pub psi: usize,
    /// By how many spreads it is above the middle of the fitting data there.
    pub excess: f64,
    /// What that scale means.
    pub kind: ScaleKind,
}

/// What kind of oddness a scale sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScaleKind {
    /// Coarse scales: even a few balls over all data do not reach the row.
    FarFromEverything,
    /// Fine scales: the row lies where data is, but its surroundings are sparser than those next to it.
    OddAmongNeighbours,
}

impl ScaleKind {
    /// What the scale ψ sees.
    pub const fn of(psi: usize) -> Self {
        if psi <= COARSE { Self::FarFromEverything } else { Self::OddAmongNeighbours }
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::FarFromEverything => "far from everything",
            Self::OddAmongNeighbours => "odd among its neighbours",
        }
    }
}

/// The largest ψ where neither rows nor time forbid it.
const DEFAULT_MAX_PSI: usize = 4096;

/// What all rows may cost by default, in columns of distances.
const MOST_WORK: f64 = 1e12;

/// Scales up to this ψ count as coarse: a ball then stands for about an eighth of the data or more.
const COARSE: usize = 8;

/// A scale speaks for a row if it is this much as odd there as anywhere.
const SPOKE: f64 = 0.85;

/// Scales of more rows than this, in so many columns at most, may be walked instead of swept.
const SWEPT_PSI: usize = 256;
const WALKED_COLUMNS: usize = 32;

/// Rows that are swept together, or walked together where neighbours share a walk. No score depends on it.
const WALK_CHUNK: usize = 4096;

/// A spread below this is none: all rows have the same score at that scale.
const NO_SPREAD: f64 = 1e-12;

impl MultiScale {
    /// The ψ of each scale, ascending.
    pub fn scales(&self) -> &[usize] {
        &self.ends
    }

    /// What is measured at each scale.
    pub const fn rule(&self) -> ScaleRule {
        self.rule
    }

    /// Partitionings per scale.
    pub const fn t(&self) -> usize {
        self.map.t()
    }

    /// The score of a row infinitely far away: in no ball at any scale.
    pub(super) fn highest(&self) -> f64 {
        let outside = if self.rule == ScaleRule::Similarity { 0.0 } else { 1.0 };
        self.combine(&vec![outside; self.ends.len()]).score
    }

    /// The scale that spoke for each row: the coarsest of those at which it is nearly as odd as anywhere, since what
    /// is far from everything is also odd among its neighbours.
    pub fn reasons(&self, points: Points<'_>, run: Run<'_>) -> Result<Vec<ScaleReason>> {
        let levels = self.levels(points, run)?;
        let reason = |levels| {
            let Combined { psi, excess, .. } = self.combine(levels);
            ScaleReason { psi, excess, kind: ScaleKind::of(psi) }
        };
        Ok(levels.chunks(self.ends.len()).map(reason).collect())
    }

    /// u of every row and scale, row by row, before any footing.
    pub fn levels(&self, points: Points<'_>, run: Run<'_>) -> Result<Vec<f64>> {
        let n_scales = self.ends.len();
        self.prepare(points, run);
        let rows = if self.n_swept() < n_scales { WALK_CHUNK } else { CHUNK };
        let mut levels = vec![0.0; points.n_rows() * n_scales];
        run.chunks_mut("score", &mut levels, rows * n_scales, |chunk, levels| {
            let first = chunk * rows;
            self.levels_of_chunk(points.slice(first..first + levels.len() / n_scales), levels);
            Ok(())
        })?;
        Ok(levels)
    }

    fn levels_of_chunk(&self, points: Points<'_>, levels: &mut [f64]) {
        let n_scales = self.ends.len();
        let outside = if self.rule == ScaleRule::Similarity { 0.0 } else { 1.0 };
        levels.fill(0.0);
        self.balls(points, |row, m, ball| {
            levels[row * n_scales + m] += ball.map_or(outside, |ball| self.scales[m].values[ball]);
        });
        for level in levels {
            *level /= self.map.t() as f64;
        }
    }

    /// Calls `found(row, scale, ball)` for every row, scale and partitioning, in no particular order, with the place of
    /// the ball that holds the row, if any does.
    fn balls(&self, points: Points<'_>, mut found: impl FnMut(usize, usize, Option<usize>)) {
        let mut cell = |row: usize, i: usize, m: usize, cell: Cell| {
            found(row, m, (cell != NONE).then(|| i * self.ends[m] + cell as usize));
        };
        let swept = self.n_swept();
        let radii: Vec<&[f64]> = self.scales.iter().map(|scale| scale.squared_radii.as_slice()).collect();
        centres_of(&self.map).cells_nested(points, &self.ends[..swept], Some(&radii), &mut cell);
        let fine = self.walkable().skip(swept + self.fine.len() + 1 - self.ends.len());
        for (m, centres) in (swept..).zip(fine) {
            centres.cells(points, Want::Ball(radii[m]), |row, i, found| cell(row, i, m, found));
        }
    }

    /// The centres of the scales that may be walked, up to the last scale.
    fn walkable(&self) -> impl DoubleEndedIterator<Item = &Centres> {
        self.fine.iter().chain([centres_of(&self.map)])
    }

    /// Scales that are swept together because walking the others, each alone, is the least work.
    fn n_swept(&self) -> usize {
        let n_scales = self.ends.len();
        let Some(sweep) = centres_of(&self.map).costs().0 else { return n_scales };
        let (mut best, mut least, mut walks) = (n_scales, sweep, 0.0);
        for (swept, centres) in (0..n_scales).rev().zip(self.walkable().rev()) {
            let Some(walk) = centres.costs().1 else { break };
            walks += walk;
            let before = if swept == 0 { 0 } else { self.ends[swept - 1] };
            let cost = walks + sweep * before as f64 / self.ends[n_scales - 1] as f64;
            if cost < least {
                (best, least) = (swept, cost);
            }
        }
        best
    }

    /// Finds out whether walks pay for these rows.
    fn prepare(&self, points: Points<'_>, run: Run<'_>) {
        self.fine.iter().for_each(|centres| centres.prepare(points, run));
        centres_of(&self.map).prepare_nested(points, run);
    }

    /// Fills in the values of [`ScaleRule::Similarity`]: minus the share of the data in each ball.
    fn count(&mut self, points: Points<'_>, run: Run<'_>) -> Result<()> {
        let n = points.n_rows();
        let chunks = n.div_ceil(CHUNK);
        // A part per thread would depend on threads; integer counts do not, whatever the parts are.
        let parts = run.map("count", chunks.min(run.n_threads()), |part| {
            let mut counts: Vec<Vec<u32>> = self.scales.iter().map(|scale| vec![0; scale.values.len()]).collect();
            for chunk in (part..chunks).step_by(run.n_threads()) {
                let rows = points.slice(chunk * CHUNK..n.min((chunk + 1) * CHUNK));
                self.balls(rows, |_, m, ball| {
                    if let Some(ball) = ball {
                        counts[m][ball] += 1;
                    }
                });
            }
            Ok(counts)
        })?;
        for (m, scale) in self.scales.iter_mut().enumerate() {
            for (ball, value) in scale.values.iter_mut().enumerate() {
                let count: u64 = parts.iter().map(|counts| u64::from(counts[m][ball])).sum();
                *value = rounded(-(count as f64 / n as f64));
            }
        }
        Ok(())
    }

    fn find_footing(&mut self, levels: &[f64]) {
        let n_scales = self.ends.len();
        let n = (levels.len() / n_scales) as f64;
        for (m, scale) in self.scales.iter_mut().enumerate() {
            let of_scale = || levels.iter().skip(m).step_by(n_scales);
            (scale.centre, scale.spread) = if self.rule == ScaleRule::Similarity {
                let mut sorted: Vec<f64> = of_scale().copied().collect();
                sorted.sort_unstable_by(f64::total_cmp);
                let median = quantile(&sorted, 0.5);
                let typical = if median == 0.0 { sorted[0] } else { median };
                (typical, -typical)
            } else {
                let mean = of_scale().sum::<f64>() / n;
                let variance = of_scale().map(|level| (level - mean).powi(2)).sum::<f64>() / n;
                (mean, variance.sqrt())
            };
        }
    }

    /// The score of a row from its u at every scale, and the scale that spoke.
    fn combine(&self, levels: &[f64]) -> Combined {
        let excess = |(level, scale): (&f64, &Scale)| {
            if scale.spread < NO_SPREAD { 0.0 } else { (level - scale.centre) / scale.spread }
        };
        let (mut most, mut squares) = (f64::NEG_INFINITY, 0.0);
        for excess in levels.iter().zip(&self.scales).map(excess) {
            most = most.max(excess);
            squares += excess.max(0.0).powi(2);
        }
        let score = if most > 0.0 { (squares / self.scales.len() as f64).sqrt() } else { most };
        let spoke = levels.iter().zip(&self.scales).map(excess).enumerate().find(|(_, excess)| *excess >= SPOKE * most);
        let (at, excess) = spoke.unwrap_or((0, most));
        Combined { score, psi: self.ends[at], excess }
    }
}

/// What all scales together say of a row.
struct Combined {
    score: f64,
    psi: usize,
    excess: f64,
}

impl Detector for MultiScale {
    fn n_columns(&self) -> usize {
        self.map.n_columns()
    }

    fn score_chunk(&self, points: Points<'_>, scores: &mut [f64]) -> Result<()> {
        let n_scales = self.ends.len();
        let mut levels = vec![0.0; scores.len() * n_scales];
        self.levels_of_chunk(points, &mut levels);
        scores.iter_mut().zip(levels.chunks(n_scales)).for_each(|(score, levels)| *score = self.combine(levels).score);
        Ok(())
    }

    fn score(&self, points: Points<'_>, run: Run<'_>) -> Result<Vec<f64>> {
        if points.n_columns() != self.n_columns() {
            return Err(Error::Shape { what: "columns", expected: self.n_columns(), got: points.n_columns() });
        }
        let levels = self.levels(points, run)?;
        Ok(levels.chunks(self.ends.len()).map(|levels| self.combine(levels).score).collect())
    }
}

/// To a multiple of 2⁻³⁰, so that a million of them have an exact sum.
fn rounded(value: f64) -> f64 {
    const PARTS: f64 = (1u32 << 30) as f64;
    (value * PARTS).round() / PARTS
}

/// The centres of every scale but the last that may be walked.
fn fine_centres(map: &IsolationMap, ends: &[usize]) -> Vec<Centres> {
    let centres = centres_of(map);
    if centres.points().as_points().is_sparse() || map.n_columns() > WALKED_COLUMNS {
        return Vec::new();
    }
    let fine = ends[..ends.len() - 1].iter().filter(|&&end| end > SWEPT_PSI);
    fine.map(|&end| {
        let members = (0..centres.t()).flat_map(|i| centres.members_of(i)[..end].iter().copied()).collect();
        Centres::new(centres.points().clone(), members, end, Distance::Euclidean)
    })
    .collect()
}

fn centres_of(map: &IsolationMap) -> &Centres {
    let Cells::Voronoi(centres) = &map.cells else { unreachable!("the map is made of Voronoi cells") };
    centres
}

/// The balls of all scales: radii to the nearest distinct centre of the same scale, and what each ball is worth.
fn measure(centres: &Centres, ends: &[usize], rule: ScaleRule, extent: f64, run: Run<'_>) -> Result<Vec<Scale>> {
    let next = neighbours(centres, ends, Others::Beyond(EQUAL * extent * extent), run)?;
    let scale = |(next, &psi): (Vec<Next>, &usize)| {
        let value = |(ball, neighbour): (usize, &Next)| {
            let (own, of) = (next[ball].squared_distance, ball / psi * psi + neighbour.number as usize);
            if rule == ScaleRule::Ratio { rounded(isolation_of(next[of].squared_distance, own)) } else { 0.0 }
        };
        let values = next.iter().enumerate().map(value).collect();
        Scale {
            squared_radii: next.iter().map(|next| next.squared_distance).collect(),
            values,
            centre: 0.0,
            spread: 0.0,
        }
    };
    Ok(next.into_iter().zip(ends).map(scale).collect())
}

impl Persist for MultiScale {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.map.save(out, &format!("{prefix}.map"));
        out.put_json(&format!("{prefix}.rule"), &self.rule);
        for (m, scale) in self.scales.iter().enumerate() {
            out.put_f64(&format!("{prefix}.{m}.squared_radii"), &scale.squared_radii);
            out.put_f64(&format!("{prefix}.{m}.values"), &scale.values);
            out.put_f64(&format!("{prefix}.{m}.footing"), &[scale.centre, scale.spread]);
        }
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let map = IsolationMap::load(from, &format!("{prefix}.map"))?;
        let bad = || Error::Model("the scales of the model do not fit its map".into());
        let Cells::Voronoi(_) = &map.cells else { return Err(bad()) };
        if !map.psi().is_power_of_two() || map.psi() < 2 || map.params().distance != Distance::Euclidean {
            return Err(bad());
        }
        let ends: Vec<usize> = (1..=map.psi().ilog2()).map(|m| 1 << m).collect();
        let scale = |(m, &psi): (usize, &usize)| {
            let squared_radii = from.f64s(&format!("{prefix}.{m}.squared_radii"))?;
            let values = from.finite_f64s(&format!("{prefix}.{m}.values"), map.t() * psi)?;
            let footing = from.finite_f64s(&format!("{prefix}.{m}.footing"), 2)?;
            // A radius may be infinite, when a sample holds one distinct row only.
            if squared_radii.len() != values.len()
                || squared_radii.iter().any(|radius| radius.is_nan() || *radius < 0.0)
            {
                return Err(bad());
            }
            Ok(Scale { squared_radii, values, centre: footing[0], spread: footing[1] })
        };
        let scales = ends.iter().enumerate().map(scale).collect::<Result<_>>()?;
        let fine = fine_centres(&map, &ends);
        Ok(Self { rule: from.json(&format!("{prefix}.rule"))?, map, ends, scales, fine })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{blob_with_outlier, clumps};
    use super::*;
    use crate::data::PointsBuf;
    use crate::detect::{Idk, Norm};
    use crate::partition::Partition;
    use crate::rng::{Component, rng_of};

    const RULES: [ScaleRule; 3] = [ScaleRule::Ratio, ScaleRule::Similarity, ScaleRule::Coverage];

    fn fit(rule: ScaleRule, points: &PointsBuf) -> (MultiScale, Vec<f64>) {
        let params = MultiScaleParams::default().rule(rule).t(40).max_psi(Some(64)).check().unwrap();
        params.fit_score(points.as_points(), Run::single()).unwrap()
    }

    #[test]
    fn each_scale_is_the_single_scale_detector_on_the_same_sample() {
        for points in [blob_with_outlier(300, 2), clumps(300, 4), {
            let mut sparse = PointsBuf::sparse(4);
            clumps(300, 4).as_points().rows().for_each(|row| sparse.push(row));
            sparse
        }] {
            for rule in [ScaleRule::Similarity, ScaleRule::Coverage] {
                let (model, _) = fit(rule, &points);
                let levels = model.levels(points.as_points(), Run::single()).unwrap();
                assert_eq!(model.scales(), [2, 4, 8, 16, 32, 64]);
                for (m, &psi) in model.ends.iter().enumerate() {
                    let params = IsolationMapParams::default().partition(Partition::Sphere).psi(psi).t(40);
                    let params = params.check().unwrap();
                    let expected: Vec<f64> = if rule == ScaleRule::Similarity {
                        Idk::fit_score(&params, points.as_points(), Run::single()).unwrap().1
                    } else {
                        let norm = Norm::fit(&params, points.as_points(), Run::single()).unwrap();
                        let covered = norm.score(points.as_points(), Run::single()).unwrap();
                        covered.iter().map(|score| (40.0 + score) / 40.0).collect()
                    };
                    for (row, expected) in expected.iter().enumerate() {
                        let level = levels[row * model.ends.len() + m];
                        assert!((level - expected).abs() < 1e-9, "psi {psi}: {level} {expected}");
                    }
                }
            }
        }
    }

    /// u of the ratio rule at one scale, by its definition.
    fn ratio_oracle(model: &MultiScale, points: &PointsBuf, row: usize, psi: usize) -> f64 {
        let centres = centres_of(&model.map);
        let floor = crate::partition::EQUAL * extent(points.as_points()).powi(2);
        let x = points.row(row);
        let mut sum = 0.0;
        for i in 0..model.t() {
            let centre = |j: usize| centres.points().row(centres.members_of(i)[j] as usize);
            let nearest = |j: usize| {
                let others = (0..psi).map(|k| (centre(j).squared_distance(centre(k)), k));
                others.filter(|&(distance, _)| distance > floor).min_by(|a, b| a.0.total_cmp(&b.0))
            };
            let c = (0..psi)
                .min_by(|&a, &b| centre(a).squared_distance(x).total_cmp(&centre(b).squared_distance(x)))
                .unwrap();
            sum += match nearest(c) {
                None => 0.0,
                Some((radius, _)) if centre(c).squared_distance(x) > radius => 1.0,
                Some((radius, k)) => nearest(k).map_or(0.0, |(other, _)| 1.0 - (other.sqrt() / radius.sqrt()).min(1.0)),
            };
        }
        sum / model.t() as f64
    }

    #[test]
    fn the_ratio_follows_its_definition() {
        for points in [blob_with_outlier(120, 2), clumps(120, 3)] {
            let (model, _) = fit(ScaleRule::Ratio, &points);
            let levels = model.levels(points.as_points(), Run::single()).unwrap();
            for row in [0, 7, 50, 119] {
                for (m, &psi) in model.ends.iter().enumerate() {
                    let level = levels[row * model.ends.len() + m];
                    assert!((level - ratio_oracle(&model, &points, row, psi)).abs() < 1e-9, "row {row}, psi {psi}");
                }
            }
        }
    }

    #[test]
    fn far_and_local_anomalies_come_first_and_say_which_they_are() {
        // A dense and a sparse cluster; one point far out, one point just outside the dense cluster.
        let mut rng = rng_of(9, Component::Synthetic, 0);
        let mut rows: Vec<[f64; 2]> = (0..1000).map(|_| [rng.normal() * 0.01, rng.normal() * 0.01]).collect();
        rows.extend((0..1000).map(|_| [3.0 + rng.normal(), rng.normal()]));
        rows.push([40.0, -40.0]);
        rows.push([0.12, 0.0]);
        let points = PointsBuf::from_rows(&rows).unwrap();
        for rule in RULES {
            let params = MultiScaleParams::default().rule(rule).t(50).max_psi(Some(256)).check().unwrap();
            let (model, scores) = params.fit_score(points.as_points(), Run::single()).unwrap();
            let above = |row: usize| scores.iter().filter(|&&score| score >= scores[row]).count();
            assert!(above(2000) <= 3, "{rule:?}: rank {} of the far point", above(2000));
            assert!(above(2001) <= 40, "{rule:?}: rank {} of the local point", above(2001));
            // Similarity is zero, hence equally odd, at many scales.
            if rule != ScaleRule::Similarity {
                let reasons = model.reasons(points.as_points().slice(2000..2002), Run::single()).unwrap();
                let kinds = [ScaleKind::FarFromEverything, ScaleKind::OddAmongNeighbours];
                assert_eq!([reasons[0].kind, reasons[1].kind], kinds, "{rule:?}: {reasons:?}");
            }
        }
    }

    #[test]
    fn walked_scales_give_the_numbers_of_swept_ones_bit_for_bit() {
        // Enough rows, partitionings and balls for a walk to be worth it.
        let points = blob_with_outlier(8200, 2);
        let params = MultiScaleParams::default().t(128).max_psi(Some(2048)).check().unwrap();
        let (model, scores) = params.fit_score(points.as_points(), Run::threads(2)).unwrap();
        assert!(model.n_swept() < model.scales().len(), "no scale was walked");
        let mut out = ModelWriter::new("test");
        model.save(&mut out, "model");
        let bytes = out.finish().unwrap();
        let fresh = MultiScale::load(&ModelReader::parse(&bytes).unwrap(), "model").unwrap();
        // Nothing is prepared when a chunk is scored, so this is the exact sweep.
        let mut plain = vec![0.0; 500];
        fresh.score_chunk(points.as_points().slice(0..500), &mut plain).unwrap();
        assert_eq!(fresh.n_swept(), model.scales().len());
        assert_eq!(plain, scores[..500]);
    }

    #[test]
    fn equal_rows_score_equally_and_few_rows_still_fit() {
        let same = PointsBuf::from_rows(&vec![[1.0, 1.0]; 40]).unwrap();
        for rule in RULES {
            let (_, scores) = fit(rule, &same);
            assert!(scores.iter().all(|&score| score == 0.0), "{rule:?}: {scores:?}");
        }
        let few = PointsBuf::from_rows(&[[0.0], [1.0], [9.0]]).unwrap();
        let (model, scores) = fit(ScaleRule::Ratio, &few);
        assert_eq!(model.scales(), [2]);
        assert!(scores.iter().all(|score| score.is_finite()));
        let one = PointsBuf::from_rows(&[[0.0]]).unwrap();
        assert!(MultiScaleParams::default().check().unwrap().fit_score(one.as_points(), Run::single()).is_err());
    }
}
