//! IK-OGD on a stream that changes: partitionings are renewed from recent points, the oldest first. Good where the
//! points move to places that the initial set did not have, or where what was learned has become wrong; on a stream
//! that stays as it is, renewing throws away what old cells knew and costs a little accuracy.
//!
//! f(x) = (1/t') Σ w\[i, φ_i(x)\] over the t' mature partitionings; all of them, mature or not, get the same steps. Every
//! q points ([`Refresh::Steadily`]) the oldest partitioning is drawn anew from a window of the last 10ψ to 20ψ points, and
//! its weights start at 0; it is mature after 5ψ steps. [`Refresh::OnDrift`] waits for an alarm instead: the mean error of
//! the last q points is more than three standard errors above the mean since the last alarm; then the older half is
//! renewed at once. Never more than half of the partitionings are immature. With all of them mature the formula is
//! that of [`super::IkOgd`]. Cost: that of IK-OGD, plus one partitioning per renewal; memory is constant.
//!
//! # References
//! Beyond the papers: Isolation Kernel for online kernel learning, §7, fixes the map for the whole stream.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::{
    AHEAD, Ahead, Head, Input, Mapped, OnlineLearner, OnlineLoss, Scratch, Stored, Target, head_access, load_head,
    widen_coefficients,
};
use crate::data::{Points, PointsBuf, Row, SparseRow};
use crate::error::{Error, Result};
use crate::map::{IsolationMap, IsolationMapParams};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::{Checked, not_negative, params, positive};
use crate::partition::{Cell, NONE};
use crate::rng::{Component, rng_of};

/// So many rows mapped together are worth making one map of all partitionings.
const WORTH_JOINING: usize = 64;
/// Points of the window, in ψ.
const WINDOW: usize = 10;
/// Steps until a partitioning is mature, in ψ.
const MATURE: u64 = 5;
/// Standard errors that make an alarm.
const ALARM: f64 = 3.0;

/// When partitionings are renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refresh {
    /// The map stays as it is.
    Never,
    /// The oldest, one at a time.
    Steadily,
    /// The older half, when errors say that the stream has changed.
    OnDrift,
}

params! {
    /// Parameters of [`IkRefresh`].
    pub struct IkRefreshParams {
        /// What is minimised.
        loss: OnlineLoss = OnlineLoss::Hinge,
        /// Errors of numbers within it count as none.
        epsilon: f64 = 0.0,
        /// The rate η.
        eta: f64 = 0.5,
        /// When partitionings are renewed.
        refresh: Refresh = Refresh::Steadily,
        /// Points between renewals, or between tests for drift, q.
        every: u64 = 1000,
    }
}

impl IkRefreshParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        not_negative("epsilon", self.epsilon)?;
        positive("eta", self.eta)?;
        if self.every == 0 {
            return Err(Error::Param { name: "refresh", expected: "at least 1".into(), got: "0".into() });
        }
        Ok(Checked::new(self))
    }
}

/// The learner.
#[derive(Debug, Clone)]
pub struct IkRefresh {
    params: Checked<IkRefreshParams>,
    head: Head,
    map: Checked<IsolationMapParams>,
    /// One map of a single partitioning each.
    maps: Vec<IsolationMap>,
    /// All of them as one map, which finds cells faster; made when many rows are mapped, void after a renewal.
    joined: OnceLock<Box<IsolationMap>>,
    /// Weight of cell j of partitioning i for score k at (i·ψ + j)·scores + k.
    weights: Vec<f64>,
    /// One per score, used in regression with hyperspheres, whose points may be in no cell.
    intercept: Vec<f64>,
    /// The last points, at least as many as a window has once they have come.
    recent: PointsBuf,
    state: Stored<State>,
}

/// What is counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct State {
    /// ψ of the first map, the width of a block of weights.
    psi: usize,
    /// Renewals so far.
    renewed: u64,
    /// Of each partitioning: the renewal it comes from.
    born: Vec<u64>,
    /// Of each partitioning: steps it must still get before it has a say.
    unripe: Vec<u64>,
    /// Errors since the last alarm, and of the block under way: count, sum, sum of squares.
    before: [f64; 3],
    block: [f64; 3],
}

impl Checked<IkRefreshParams> {
    /// A learner whose first map is fitted on these points.
    pub fn start(self, map: &Checked<IsolationMapParams>, initial: Points<'_>, run: Run<'_>) -> Result<IkRefresh> {
        let asked = map.psi.min(initial.n_rows().max(2));
        let maps = run.map("fit", map.t, |i| single(map, asked, i as u64, initial))?;
        let psi = maps[0].psi();
        let t = map.t;
        Ok(IkRefresh {
            head: Head::new(self.loss, self.epsilon, initial.n_columns()),
            weights: vec![0.0; t * psi],
            intercept: vec![0.0],
            recent: PointsBuf::like(&initial),
            state: Stored(State {
                psi,
                renewed: 0,
                born: vec![0; t],
                unripe: vec![0; t],
                before: [0.0; 3],
                block: [0.0; 3],
            }),
            maps,
            joined: OnceLock::new(),
            map: map.clone(),
            params: self,
        })
    }
}

/// The n-th partitioning ever drawn, of ψ of these points.
fn single(map: &Checked<IsolationMapParams>, psi: usize, n: u64, points: Points<'_>) -> Result<IsolationMap> {
    let seed = rng_of(map.seed, Component::Reservoir, n).next_u64();
    (**map).clone().t(1).psi(psi).seed(seed).check()?.fit(points, Run::single())
}

impl IkRefresh {
    /// How often a partitioning was renewed.
    pub const fn n_renewed(&self) -> u64 {
        self.state.0.renewed
    }

    fn is_mature(&self, i: usize) -> bool {
        self.state.0.unripe[i] == 0
    }

    fn encode(&self, row: Row<'_>, cells: &mut Vec<Cell>) {
        cells.resize(self.maps.len(), 0);
        // Columns that the map does not know change no nearest centre and no cut.
        let known = match row {
            Row::Sparse(row) => {
                let n = row.columns.partition_point(|&column| (column as usize) < self.head.columns);
                Row::Sparse(SparseRow { columns: &row.columns[..n], values: &row.values[..n] })
            }
            row => row,
        };
        if let Some(joined) = self.joined.get() {
            return joined.encode_row(known, cells);
        }
        for (map, cell) in self.maps.iter().zip(cells) {
            map.encode_row(known, std::slice::from_mut(cell));
        }
    }

    /// The cells of a point, computed ahead or now, into `at`.
    fn cells_into(&self, x: Input<'_>, at: &mut Scratch) {
        match x.mapped {
            Some(Mapped::Codes(codes)) => {
                at.cells.clear();
                at.cells.extend(codes.cells());
            }
            _ => self.encode(x.row, &mut at.cells),
        }
    }

    /// Draws partitioning i anew from the last points.
    fn renew(&mut self, i: usize) -> Result<()> {
        let window = WINDOW * self.state.0.psi;
        let first = self.recent.n_rows().saturating_sub(window);
        let recent = self.recent.as_points().slice(first..self.recent.n_rows());
        let number = self.maps.len() as u64 + self.state.0.renewed;
        self.maps[i] = single(&self.map, self.state.0.psi, number, recent)?;
        self.joined = OnceLock::new();
        let width = self.state.0.psi * self.intercept.len();
        self.weights[i * width..(i + 1) * width].fill(0.0);
        self.state.0.renewed += 1;
        self.state.0.born[i] = self.state.0.renewed;
        self.state.0.unripe[i] = MATURE * self.state.0.psi as u64;
        Ok(())
    }

    /// How many partitionings are due now that a block is complete.
    fn due(&mut self) -> usize {
        match self.params.refresh {
            Refresh::Never => 0,
            Refresh::Steadily => 1,
            Refresh::OnDrift => {
                let state = &mut self.state.0;
                let (before, block) = (state.before, std::mem::take(&mut state.block));
                let mean = before[1] / before[0].max(1.0);
                let variance = (before[2] / before[0].max(1.0) - mean * mean).max(0.0);
                let alarm = before[0] > block[0] && block[1] / block[0] > mean + ALARM * (variance / block[0]).sqrt();
                if alarm {
                    state.before = [0.0; 3];
                    return self.maps.len() / 2;
                }
                state.before.iter_mut().zip(block).for_each(|(sum, more)| *sum += more);
                0
            }
        }
    }

    /// Renews what is due at the end of a block.
    fn refresh(&mut self) {
        let t = self.maps.len();
        let immature = (0..t).filter(|&i| !self.is_mature(i)).count();
        let due = self.due().min((t / 2).saturating_sub(immature));
        if self.recent.n_rows() < self.state.0.psi.max(2) {
            return;
        }
        for _ in 0..due {
            let oldest =
                (0..t).fold(0, |best, i| if self.state.0.born[i] < self.state.0.born[best] { i } else { best });
            // A window that a partitioning cannot be drawn from leaves the old one in its place.
            if self.renew(oldest).is_err() {
                return;
            }
        }
    }

    fn remember(&mut self, row: Row<'_>) {
        let window = WINDOW * self.state.0.psi;
        if self.recent.n_rows() >= 2 * window {
            self.recent = self.recent.select(&(window..2 * window).collect::<Vec<_>>());
        }
        self.recent.push(row);
    }
}

impl OnlineLearner for IkRefresh {
    head_access!();

    fn widen(&mut self) {
        let (from, to) = (self.intercept.len(), self.head.n_scores());
        for coefficients in [&mut self.weights, &mut self.intercept] {
            widen_coefficients(coefficients, from, to);
        }
    }

    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        self.cells_into(x, at);
        let (n, psi) = (self.intercept.len(), self.state.0.psi);
        at.scores.clear();
        at.scores.resize(n, 0.0);
        let mut mature = 0;
        for (i, &cell) in at.cells.iter().enumerate().filter(|&(i, _)| self.is_mature(i)) {
            mature += 1;
            if cell != NONE {
                let weights = &self.weights[(i * psi + cell as usize) * n..][..n];
                at.scores.iter_mut().zip(weights).for_each(|(score, w)| *score += w);
            }
        }
        let divisor = f64::from(mature.max(1));
        at.scores.iter_mut().zip(&self.intercept).for_each(|(score, b)| *score = *score / divisor + b);
    }

    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        let (n, psi, eta) = (self.intercept.len(), self.state.0.psi, self.params.eta);
        let error = match target {
            Target::Value(y) => (at.scores[0] - y).powi(2),
            class @ Target::Class(_) => f64::from(self.head.predict(&at.scores) != class),
        };
        let block = &mut self.state.0.block;
        *block = [block[0] + 1.0, block[1] + error, block[2] + error * error];
        if let Some(step) = self.head.step(&at.scores, target) {
            for (i, &cell) in at.cells.iter().enumerate().filter(|&(_, &cell)| cell != NONE) {
                step.add_to(&mut self.weights[(i * psi + cell as usize) * n..][..n], eta);
            }
            if self.map.partition.has_gaps() && self.head.loss.is_regression() {
                step.add_to(&mut self.intercept, eta);
            }
            self.state.0.unripe.iter_mut().for_each(|left| *left = left.saturating_sub(1));
        }
        self.remember(x.row);
        if (self.head.steps + 1).is_multiple_of(self.params.every) {
            self.refresh();
        }
    }

    fn map_ahead(&self, points: Points<'_>, run: Run<'_>) -> Result<Ahead> {
        if points.n_columns() != self.head.columns {
            return Ok(Ahead::Nothing);
        }
        if points.n_rows() < WORTH_JOINING && self.joined.get().is_none() {
            return Ok(Ahead::Nothing);
        }
        Ok(Ahead::Codes(self.joined.get_or_init(|| Box::new(IsolationMap::joined(&self.maps))).encode(points, run)?))
    }

    fn most_ahead(&self) -> usize {
        let every = self.params.every;
        ((every - self.head.steps % every) as usize).min(AHEAD)
    }
}

impl Persist for IkRefresh {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.parameters"), &*self.params);
        out.put_json(&format!("{prefix}.head"), &self.head);
        out.put_json(&format!("{prefix}.map"), &*self.map);
        for (i, map) in self.maps.iter().enumerate() {
            map.save(out, &format!("{prefix}.map.{i}"));
        }
        out.put_f64(&format!("{prefix}.weights"), &self.weights);
        out.put_f64(&format!("{prefix}.intercept"), &self.intercept);
        self.recent.save(out, &format!("{prefix}.recent"));
        self.state.save(out, &format!("{prefix}.state"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let wrong = |error: Error| bad_part(prefix, &error.to_string());
        let params = from.json::<IkRefreshParams>(&format!("{prefix}.parameters"))?.check().map_err(wrong)?;
        let map = from.json::<IsolationMapParams>(&format!("{prefix}.map"))?.check().map_err(wrong)?;
        let head = load_head(from, prefix)?;
        let maps: Vec<IsolationMap> =
            (0..map.t).map(|i| IsolationMap::load(from, &format!("{prefix}.map.{i}"))).collect::<Result<_>>()?;
        let state = Stored::<State>::load(from, &format!("{prefix}.state"))?;
        let recent = PointsBuf::load(from, &format!("{prefix}.recent"))?;
        let (t, n) = (maps.len(), head.n_scores());
        let finite = state.0.before.iter().chain(&state.0.block).all(|sum| sum.is_finite());
        let fits = maps.iter().all(|map| map.t() == 1 && map.psi() == state.0.psi && map.n_columns() == head.columns);
        let sizes = state.0.born.len() == t && state.0.unripe.len() == t && recent.n_columns() == head.columns;
        let Some(n_weights) = t.checked_mul(state.0.psi).and_then(|n_cells| n_cells.checked_mul(n)) else {
            return Err(bad_part(prefix, "has more weights than there can be"));
        };
        if !(finite && fits && sizes) {
            return Err(bad_part(prefix, "does not fit together"));
        }
        let weights = from.finite_f64s(&format!("{prefix}.weights"), n_weights)?;
        let intercept = from.finite_f64s(&format!("{prefix}.intercept"), n)?;
        Ok(Self { params, head, map, maps, joined: OnceLock::new(), weights, intercept, recent, state })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::prequential;
    use crate::learn::{IkOgdParams, Targets};
    use crate::partition::Partition;

    /// Two classes left and right of a line; from the middle on, points are elsewhere and the sides are swapped.
    fn stream(n: usize, changes: bool) -> (PointsBuf, Targets) {
        let mut rng = rng_of(3, Component::Synthetic, 0);
        let (mut values, mut classes) = (Vec::new(), Vec::new());
        for i in 0..n {
            let (x, y) = (rng.open01(), rng.open01());
            let later = changes && i >= n / 2;
            let shift = if later { 3.0 } else { 0.0 };
            values.extend([x + shift, y]);
            classes.push(u32::from(((x - 0.5) * (y - 0.5) > 0.0) != later));
        }
        (PointsBuf::from_dense(values, 2).unwrap(), Targets::Classes(classes))
    }

    fn map(partition: Partition) -> Checked<IsolationMapParams> {
        IsolationMapParams::default().partition(partition).psi(16).t(20).check().unwrap()
    }

    fn start(params: IkRefreshParams, partition: Partition, points: &PointsBuf) -> IkRefresh {
        let initial = points.select(&(0..200).collect::<Vec<_>>());
        params.check().unwrap().start(&map(partition), initial.as_points(), Run::single()).unwrap()
    }

    #[test]
    fn a_changed_stream_is_learned_better_than_on_a_map_that_stays() {
        let (points, targets) = stream(12_000, true);
        for partition in [Partition::Voronoi, Partition::Tree, Partition::Sphere] {
            let late = |learner: &mut dyn FnMut(usize, Target) -> Target| {
                (8000..12_000).filter(|&row| learner(row, targets.get(row)) != targets.get(row)).count()
            };
            let all = |mut learner: crate::learn::AnyLearner| {
                let mut predicted = Vec::new();
                prequential(&mut learner, points.as_points(), &targets, Run::single(), |_, class, _| {
                    predicted.push(class);
                })
                .unwrap();
                late(&mut |row, _| predicted[row])
            };
            let initial = points.select(&(0..200).collect::<Vec<_>>());
            let frozen = IkOgdParams::default().check().unwrap();
            let frozen = frozen.start(&map(partition), initial.as_points(), Run::single()).unwrap();
            let frozen = all(crate::learn::AnyLearner::IkOgd(frozen));
            for refresh in [Refresh::Steadily, Refresh::OnDrift] {
                let params = IkRefreshParams::default().refresh(refresh).every(100);
                let renewed = all(crate::learn::AnyLearner::IkRefresh(start(params, partition, &points)));
                assert!(renewed < frozen, "{partition:?} {refresh:?}: {renewed} {frozen}");
            }
        }
    }

    #[test]
    fn a_stream_that_stays_raises_few_alarms_and_none_changes_nothing() {
        let (points, targets) = stream(6000, false);
        let params = IkRefreshParams::default().refresh(Refresh::OnDrift).every(500);
        let mut learner = start(params, Partition::Voronoi, &points);
        prequential(&mut learner, points.as_points(), &targets, Run::single(), |_, _, _| ()).unwrap();
        // Learning lowers the error, so that an alarm is rarer than chance would have it.
        assert!(learner.n_renewed() <= 10, "{}", learner.n_renewed());
    }

    #[test]
    fn one_by_one_ahead_and_resumed_learn_the_same() {
        let (points, targets) = stream(3000, true);
        for refresh in [Refresh::Steadily, Refresh::OnDrift] {
            let params = IkRefreshParams::default().refresh(refresh).every(70);
            let mut ahead = start(params.clone(), Partition::Tree, &points);
            prequential(&mut ahead, points.as_points(), &targets, Run::threads(2), |_, _, _| ()).unwrap();
            let mut single = start(params, Partition::Tree, &points);
            let mut at = Scratch::default();
            for row in 0..points.n_rows() {
                if row == 1234 {
                    let mut out = ModelWriter::new("test");
                    single.save(&mut out, "learner");
                    let bytes = out.finish().unwrap();
                    single = IkRefresh::load(&ModelReader::parse(&bytes).unwrap(), "learner").unwrap();
                }
                single.learn(points.row(row).into(), targets.get(row), &mut at).unwrap();
            }
            assert!(single.n_renewed() > 0);
            assert_eq!(single.state, ahead.state);
            assert_eq!(single.weights, ahead.weights);
        }
    }

    #[test]
    fn a_map_that_is_never_renewed_is_that_of_ik_ogd() {
        let (points, targets) = stream(800, true);
        for partition in [Partition::Voronoi, Partition::Tree, Partition::Sphere] {
            let mut learner = start(IkRefreshParams::default().every(u64::MAX), partition, &points);
            let map = IsolationMap::joined(&learner.maps);
            let mut fixed = IkOgdParams::default().check().unwrap().with_map(map);
            let (mut a, mut b) = (Scratch::default(), Scratch::default());
            for row in 0..points.n_rows() {
                learner.learn(points.row(row).into(), targets.get(row), &mut a).unwrap();
                fixed.learn(points.row(row).into(), targets.get(row), &mut b).unwrap();
                assert_eq!(a.scores, b.scores, "{partition:?} at {row}");
            }
            assert_eq!(learner.weights, fixed.weights());
        }
    }

    #[test]
    fn a_renewed_partitioning_is_as_large_as_the_first_whatever_psi_was_asked_for() {
        let (points, targets) = stream(3000, true);
        let initial = points.select(&(0..10).collect::<Vec<_>>());
        let params = IkRefreshParams::default().every(20).check().unwrap();
        let mut learner = params.start(&map(Partition::Voronoi), initial.as_points(), Run::single()).unwrap();
        prequential(&mut learner, points.as_points(), &targets, Run::single(), |_, _, _| ()).unwrap();
        assert!(learner.n_renewed() > 20);
        assert!(learner.maps.iter().all(|map| map.psi() == 10));
    }

    #[test]
    fn memory_stays_and_half_of_the_map_is_always_mature() {
        let (points, targets) = stream(5000, true);
        let mut learner = start(IkRefreshParams::default().every(1), Partition::Voronoi, &points);
        let mut at = Scratch::default();
        for row in 0..points.n_rows() {
            learner.learn(points.row(row).into(), targets.get(row), &mut at).unwrap();
            assert!(learner.state.0.unripe.iter().filter(|&&left| left > 0).count() <= 10);
            assert!(learner.recent.n_rows() <= 2 * WINDOW * 16);
        }
    }
}
