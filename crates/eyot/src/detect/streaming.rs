//! Streaming K_I: score a row, then learn it, for ever, in constant memory.
//!
//! The mean embedding forgets: a row seen k rows ago counts ρ^k. Counters are scaled lazily (a new row counts g, and g
//! grows by 1/ρ per row), so learning a row costs t additions. The most recent rows are kept; every so often the oldest
//! partitioning is replaced by one grown from them, and its counts are made good from the same rows, so there is no
//! blind phase. The threshold follows the recent scores in the same way. Good for streams whose normal state drifts; an
//! anomaly that stays long enough becomes normal, which is the point of forgetting.
//!
//! With ρ = 1 and no refreshing this is K_I on all rows seen since the start. Half-life = ln 2 / −ln ρ rows.
//! Cost with d columns: O(t·ψ·d) per row, plus O(W·ψ·d) per refresh; memory O(t·ψ + W) rows for W recent ones.
//!
//! # References
//! Paper 3, Eq. 5–8, with exponential forgetting.

use serde::{Deserialize, Serialize};

use crate::data::{PointsBuf, Row};
use crate::error::{Error, Result};
use crate::map::{IsolationMap, IsolationMapParams};
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::parallel::Run;
use crate::params::{Checked, in_range, positive};
use crate::partition::{NONE, Partition};
use crate::rng::{Component, rng_of};
use crate::score::{Contamination, Threshold};

/// Counters are brought back to size when a new row counts more than this.
const LARGEST_STEP: f64 = 1e100;

/// What a streaming detector is made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StreamParams {
    psi: usize,
    t: usize,
    seed: u64,
    half_life: Option<f64>,
    window: usize,
    refresh: u64,
    share: Option<f64>,
}

impl Default for StreamParams {
    fn default() -> Self {
        Self { psi: 32, t: 100, seed: 0, half_life: Some(10_000.0), window: 1024, refresh: 64, share: None }
    }
}

impl StreamParams {
    /// Rows per partitioning, ψ; 32 by default.
    #[must_use]
    pub fn psi(mut self, psi: usize) -> Self {
        self.psi = psi;
        self
    }

    /// Partitionings, t; 100 by default.
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

    /// Rows after which a row counts half, infinite for never; 10,000 by default.
    #[must_use]
    pub fn half_life(mut self, half_life: f64) -> Self {
        self.half_life = (half_life != f64::INFINITY).then_some(half_life);
        self
    }

    /// Recent rows kept, and rows before the first score; 1024 by default.
    #[must_use]
    pub fn window(mut self, window: usize) -> Self {
        self.window = window;
        self
    }

    /// Rows between two refreshed partitionings, 0 for none; 64 by default.
    #[must_use]
    pub fn refresh(mut self, refresh: u64) -> Self {
        self.refresh = refresh;
        self
    }

    /// How many of the recent rows the threshold flags.
    #[must_use]
    pub fn contamination(mut self, contamination: Contamination) -> Self {
        self.share = match contamination {
            Contamination::Auto => None,
            Contamination::Share(share) => Some(share),
        };
        self
    }

    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        in_range("psi", self.psi, 2..=1 << 16)?;
        in_range("t", self.t, 1..=1 << 16)?;
        in_range("window", self.window, self.psi..=1 << 24)?;
        if let Some(half_life) = self.half_life {
            positive("half-life", half_life)?;
        }
        self.share.map_or(Contamination::Auto, Contamination::Share).check()?;
        Ok(Checked::new(self))
    }
}

/// A streaming K_I detector.
#[derive(Debug, Clone)]
pub struct StreamingIdk {
    params: StreamParams,
    columns: usize,
    seen: u64,
    /// What a new row counts.
    step: f64,
    parts: Vec<Part>,
    /// A ring of the latest rows; row number k is at k modulo the window.
    recent: Vec<PointsBuf>,
    /// A ring of their scores, from the first one on.
    scores: Vec<f64>,
    threshold: Option<Threshold>,
}

/// One partitioning and what has been counted in it.
#[derive(Debug, Clone)]
struct Part {
    map: IsolationMap,
    counts: Vec<f64>,
    total: f64,
}

/// What a streaming detector says of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StreamScore {
    /// Larger means more anomalous; −similarity, from −1 to 0.
    pub score: f64,
    /// Whether it reaches the threshold.
    pub flagged: bool,
    /// The score on a scale from 0 to 1, 0.5 at the threshold.
    pub probability: f64,
}

impl Checked<StreamParams> {
    /// A detector that has seen nothing.
    pub fn start(&self, columns: usize) -> StreamingIdk {
        StreamingIdk {
            params: (**self).clone(),
            columns,
            seen: 0,
            step: 1.0,
            parts: Vec::new(),
            recent: Vec::new(),
            scores: Vec::new(),
            threshold: None,
        }
    }
}

impl StreamingIdk {
    /// Rows seen.
    pub const fn seen(&self) -> u64 {
        self.seen
    }

    /// Columns that a row must have.
    pub const fn n_columns(&self) -> usize {
        self.columns
    }

    /// The parameters.
    pub const fn params(&self) -> &StreamParams {
        &self.params
    }

    /// Scores a row by what was seen before it; `None` while too little was.
    pub fn score(&self, row: Row<'_>) -> Option<StreamScore> {
        let score = 0.0 - self.similarity(row)?;
        // Until a threshold is known nothing is flagged.
        let threshold = self.threshold;
        Some(StreamScore {
            score,
            flagged: threshold.is_some_and(|threshold| threshold.flags(score)),
            probability: threshold.map_or(0.0, |threshold| threshold.probability(score)),
        })
    }

    /// Scores a row by what was seen before it, then learns it.
    pub fn score_then_learn(&mut self, row: Row<'_>) -> Result<Option<StreamScore>> {
        let scored = self.score(row);
        self.learn(row)?;
        if let Some(scored) = scored {
            self.note_score(scored.score)?;
        }
        Ok(scored)
    }

    fn similarity(&self, row: Row<'_>) -> Option<f64> {
        if self.parts.is_empty() {
            return None;
        }
        let shares = self.parts.iter().map(|part| match part.cell(row) {
            NONE => 0.0,
            cell => part.counts[cell as usize] / part.total,
        });
        Some(shares.sum::<f64>() / self.parts.len() as f64)
    }

    fn learn(&mut self, row: Row<'_>) -> Result<()> {
        self.step /= self.decay();
        for part in &mut self.parts {
            part.count(row, self.step);
        }
        let mut kept = match row {
            Row::Sparse(_) => PointsBuf::sparse(self.columns),
            Row::F32(_) => PointsBuf::dense_f32(self.columns),
            Row::F64(_) => PointsBuf::dense(self.columns),
        };
        kept.push(row);
        let at = (self.seen % self.params.window as u64) as usize;
        if at == self.recent.len() {
            self.recent.push(kept);
        } else {
            self.recent[at] = kept;
        }
        self.seen += 1;
        if self.parts.is_empty() && self.recent.len() == self.params.window {
            self.parts = (0..self.params.t).map(|i| self.grow(i as u64)).collect::<Result<_>>()?;
        } else if !self.parts.is_empty() && self.params.refresh > 0 && self.seen.is_multiple_of(self.params.refresh) {
            let number = self.seen / self.params.refresh;
            let oldest = (number % self.parts.len() as u64) as usize;
            self.parts[oldest] = self.grow(self.params.t as u64 + number)?;
        }
        if self.step > LARGEST_STEP {
            for part in &mut self.parts {
                part.counts.iter_mut().for_each(|count| *count /= self.step);
                part.total /= self.step;
            }
            self.step = 1.0;
        }
        Ok(())
    }

    fn decay(&self) -> f64 {
        self.params.half_life.map_or(1.0, |half_life| (-std::f64::consts::LN_2 / half_life).exp())
    }

    /// A partitioning of the recent rows, with their counts.
    fn grow(&self, number: u64) -> Result<Part> {
        let mut order: Vec<usize> = (0..self.recent.len()).collect();
        rng_of(self.params.seed, Component::Reservoir, number).shuffle(&mut order);
        let mut sample = PointsBuf::like(&self.recent[0].as_points());
        order.iter().take(self.params.psi).for_each(|&at| sample.push(self.recent[at].row(0)));
        let params = IsolationMapParams::default().partition(Partition::Sphere).psi(self.params.psi).t(1);
        let map = params.check()?.fit(sample.as_points(), Run::single())?;
        let mut part = Part { counts: vec![0.0; map.psi()], map, total: 0.0 };
        // From the oldest recent row to the latest.
        let window = self.recent.len() as u64;
        for number in self.seen - window..self.seen {
            let age = self.seen - 1 - number;
            let weight = self.step * self.decay().powf(age as f64);
            part.count(self.recent[(number % self.params.window as u64) as usize].row(0), weight);
        }
        Ok(part)
    }

    fn note_score(&mut self, score: f64) -> Result<()> {
        let window = self.params.window;
        let at = (self.seen % window as u64) as usize;
        if self.scores.len() < window {
            self.scores.push(score);
        } else {
            self.scores[at] = score;
        }
        // As often as a fiftieth of the window has changed.
        let due = self.seen.is_multiple_of((window as u64 / 50).max(1));
        if due && self.scores.len() >= window / 4 {
            let contamination = self.params.share.map_or(Contamination::Auto, Contamination::Share);
            // A row in no cell at all is odd, wherever the fence is.
            self.threshold = Some(Threshold::fit_with_end(&self.scores, contamination, Some(0.0))?);
        }
        Ok(())
    }
}

impl Part {
    fn cell(&self, row: Row<'_>) -> u32 {
        let mut cell = [0];
        self.map.encode_row(row, &mut cell);
        cell[0]
    }

    fn count(&mut self, row: Row<'_>, weight: f64) {
        let cell = self.cell(row);
        if cell != NONE {
            self.counts[cell as usize] += weight;
        }
        self.total += weight;
    }
}

impl Persist for StreamingIdk {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.parameters"), &self.params);
        out.put_json(&format!("{prefix}.state"), &(self.columns, self.seen, self.recent.len(), self.parts.len()));
        out.put_f64(&format!("{prefix}.step"), &[self.step]);
        out.put_f64(&format!("{prefix}.scores"), &self.scores);
        let threshold = self.threshold.map_or(vec![], |threshold| vec![threshold.value(), threshold.scale()]);
        out.put_f64(&format!("{prefix}.threshold"), &threshold);
        if let Some(first) = self.recent.first() {
            let mut recent = PointsBuf::like(&first.as_points());
            self.recent.iter().for_each(|row| recent.push(row.row(0)));
            recent.save(out, &format!("{prefix}.recent"));
        }
        for (i, part) in self.parts.iter().enumerate() {
            part.map.save(out, &format!("{prefix}.part{i}"));
            out.put_f64(&format!("{prefix}.part{i}.counts"), &part.counts);
            out.put_f64(&format!("{prefix}.part{i}.total"), &[part.total]);
        }
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let bad = || Error::Model("the state of the streaming detector does not fit its parameters".into());
        let params: StreamParams = from.json(&format!("{prefix}.parameters"))?;
        let params = params.check().map_err(|error| Error::Model(error.to_string()))?.into_inner();
        let (columns, seen, n_recent, n_parts): (usize, u64, usize, usize) = from.json(&format!("{prefix}.state"))?;
        let step = from.finite_f64s(&format!("{prefix}.step"), 1)?[0];
        let scores = from.f64s(&format!("{prefix}.scores"))?;
        let threshold = match from.f64s(&format!("{prefix}.threshold"))?[..] {
            [] => None,
            [value, scale] => Some(Threshold::from_parts(value, scale)?),
            _ => return Err(bad()),
        };
        let grown = n_parts == params.t && n_recent == params.window || n_parts == 0 && n_recent < params.window;
        let sizes = n_recent as u64 == seen.min(params.window as u64) && scores.len() <= params.window;
        if !grown || !sizes || scores.iter().any(|score| !score.is_finite()) || step <= 0.0 {
            return Err(bad());
        }
        let mut recent = Vec::new();
        if n_recent > 0 {
            let rows = PointsBuf::load(from, &format!("{prefix}.recent"))?;
            if rows.n_rows() != n_recent || rows.n_columns() != columns {
                return Err(bad());
            }
            recent = rows.as_points().rows().enumerate().map(|(at, _)| rows.select(&[at])).collect();
        }
        let part = |i: usize| {
            let map = IsolationMap::load(from, &format!("{prefix}.part{i}"))?;
            let counts = from.finite_f64s(&format!("{prefix}.part{i}.counts"), map.psi())?;
            let total = from.finite_f64s(&format!("{prefix}.part{i}.total"), 1)?[0];
            let fits = map.t() == 1 && map.n_columns() == columns && map.params().partition == Partition::Sphere;
            if !fits || total <= 0.0 || counts.iter().any(|&count| count < 0.0) {
                return Err(bad());
            }
            Ok(Part { map, counts, total })
        };
        let parts = (0..n_parts).map(part).collect::<Result<_>>()?;
        Ok(Self { params, columns, seen, step, parts, recent, scores, threshold })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Detector, Idk};

    fn rows(n: usize, centre: f64, stream: u64) -> PointsBuf {
        let mut rng = rng_of(3, Component::Synthetic, stream);
        PointsBuf::from_dense((0..2 * n).map(|_| centre + rng.normal()).collect(), 2).unwrap()
    }

    fn watch(stream: &mut StreamingIdk, points: &PointsBuf) {
        for row in points.as_points().rows() {
            stream.score_then_learn(row).unwrap();
        }
    }

    fn small() -> StreamParams {
        StreamParams::default().psi(8).t(20).window(64)
    }

    #[test]
    fn without_forgetting_and_refreshing_it_is_k_i() {
        let params = small().half_life(f64::INFINITY).refresh(0).check().unwrap();
        let points = rows(500, 0.0, 0);
        let mut stream = params.start(2);
        watch(&mut stream, &points);
        let mut expected = vec![0.0; 500];
        for part in &stream.parts {
            let idk = Idk::with_map(part.map.clone(), points.as_points(), Run::single()).unwrap();
            let scores = idk.score(points.as_points(), Run::single()).unwrap();
            expected.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score / 20.0);
        }
        for (row, expected) in points.as_points().rows().zip(expected) {
            assert!((stream.score(row).unwrap().score - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn forgetting_equals_a_weighted_embedding() {
        let half_life = 40.0;
        let params = small().half_life(half_life).refresh(0).check().unwrap();
        let points = rows(3000, 0.0, 1);
        let mut stream = params.start(2);
        watch(&mut stream, &points);
        for part in stream.parts.iter().take(3) {
            let mut counts = vec![0.0; part.counts.len()];
            let mut total = 0.0;
            for (at, row) in points.as_points().rows().enumerate() {
                let weight = 0.5f64.powf((2999 - at) as f64 / half_life);
                total += weight;
                if part.cell(row) != NONE {
                    counts[part.cell(row) as usize] += weight;
                }
            }
            for (mine, theirs) in part.counts.iter().zip(&counts) {
                assert!((mine / part.total - theirs / total).abs() < 1e-9);
            }
            assert!(part.counts.iter().sum::<f64>() <= part.total * (1.0 + 1e-12));
        }
    }

    #[test]
    fn after_a_drift_the_new_place_is_normal_and_the_old_one_is_not() {
        let params = small().half_life(200.0).refresh(4).check().unwrap();
        let mut stream = params.start(2);
        let (before, after) = (rows(1000, 0.0, 2), rows(2000, 30.0, 3));
        watch(&mut stream, &before);
        let jump = stream.score(after.row(0)).unwrap();
        assert!(jump.flagged && jump.probability >= 0.5, "{jump:?}");
        watch(&mut stream, &after);
        let score = |row| stream.score(row).unwrap().score;
        assert!(score(after.row(1999)) < score(before.row(0)));
        assert_eq!(score(before.row(0)), 0.0);
    }

    #[test]
    fn a_checkpoint_continues_bit_for_bit() {
        for cut in [10, 64, 300] {
            let params = small().half_life(100.0).refresh(5).check().unwrap();
            let points = rows(600, 0.0, 4);
            let mut stream = params.start(2);
            let mut copy = None;
            for (at, row) in points.as_points().rows().enumerate() {
                if at == cut {
                    let mut out = ModelWriter::new("stream");
                    stream.save(&mut out, "stream");
                    let bytes = out.finish().unwrap();
                    copy = Some(StreamingIdk::load(&ModelReader::parse(&bytes).unwrap(), "stream").unwrap());
                }
                let expected = stream.score_then_learn(row).unwrap();
                if let Some(copy) = &mut copy {
                    assert_eq!(copy.score_then_learn(row).unwrap(), expected, "cut at {cut}, row {at}");
                }
            }
        }
    }

    #[test]
    fn a_stream_of_any_length_stays_finite() {
        let params = small().half_life(0.5).refresh(16).check().unwrap();
        let points = rows(2000, 0.0, 5);
        let mut stream = params.start(2);
        for row in points.as_points().rows() {
            if let Some(scored) = stream.score_then_learn(row).unwrap() {
                assert!((-1.0..=0.0).contains(&scored.score));
            }
        }
        assert!(stream.step.is_finite() && stream.recent.len() == 64 && stream.scores.len() == 64);
    }

    #[test]
    fn parameters_out_of_range_are_refused() {
        assert!(StreamParams::default().psi(1).check().is_err());
        assert!(StreamParams::default().window(8).check().is_err());
        assert!(StreamParams::default().half_life(0.0).check().is_err());
        assert!(StreamParams::default().contamination(Contamination::Share(0.9)).check().is_err());
    }
}
