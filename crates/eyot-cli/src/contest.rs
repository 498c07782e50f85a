//! Online learners on one stream in memory: tuned over the papers' grids, run over orders of the points, timed.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use eyot::{
    AHEAD, Ahead, AnyKernel, AnyLearner, Gaussian, Head, Input, LearnerParams, Method, OnlineLearner, Points,
    PointsBuf, Run, Scratch, Tally, Target, Targets, Watch, blocks, choose_by_pass, least, permutation, prequential,
};

/// Points of a learning curve.
const CURVE_POINTS: usize = 200;

/// A stream and how it is learned.
pub(crate) struct Course<'a> {
    pub(crate) points: &'a PointsBuf,
    pub(crate) targets: &'a Targets,
    /// Points from which maps and landmarks are made.
    pub(crate) init: usize,
    /// Points that are predicted together; with more than one, the initial points are only learned.
    pub(crate) block: usize,
}

/// What one pass over the stream gave.
pub(crate) struct Pass {
    pub(crate) tally: Tally,
    /// (points, mistake rate or RMSE so far).
    pub(crate) curve: Vec<(u64, f64)>,
    pub(crate) map_seconds: f64,
    pub(crate) learn_seconds: f64,
}

impl Course<'_> {
    /// Number of points.
    pub(crate) fn len(&self) -> usize {
        self.points.n_rows()
    }

    /// The best parameters of a method's grid in one pass over `rows` random points, and how many were tried.
    pub(crate) fn tune(
        &self,
        params: &LearnerParams,
        rows: usize,
        search_psi: bool,
        seed: u64,
        run: Run<'_>,
    ) -> eyot::Result<(LearnerParams, usize)> {
        let mut candidates = params.grid(self.len(), search_psi, self.init.min(rows));
        if candidates.len() == 1 {
            return Ok((candidates.swap_remove(0), 1));
        }
        let order = permutation(self.len(), seed, u64::MAX);
        let order = &order[..rows.min(order.len())];
        let (points, targets) = (self.points.select(order), self.targets.select(order));
        let errors = choose_by_pass(&candidates, points.as_points(), &targets, run)?;
        let tried = candidates.len();
        Ok((candidates.swap_remove(least(&errors)), tried))
    }

    /// One pass over the points in this order.
    pub(crate) fn pass(&self, params: &LearnerParams, order: &[usize], run: Run<'_>) -> eyot::Result<Pass> {
        let started = Instant::now();
        let init = self.init.min(order.len());
        let initial = self.points.select(&order[..init]);
        let wanted = self.targets.select(&order[..init]);
        let learner = params.clone().check()?.begin(initial.as_points(), &wanted, run)?;
        let starting = started.elapsed();
        let mut learner = Timed { learner, mapping: AtomicU64::new(0) };
        let mut curve = Curve::new(order.len(), params.regress);
        if self.block == 1 {
            for rows in order.chunks(AHEAD) {
                let (points, targets) = (self.points.select(rows), self.targets.select(rows));
                prequential(&mut learner, points.as_points(), &targets, run, |row, predicted, _| {
                    curve.add(predicted, targets.get(row));
                })?;
            }
        } else {
            prequential(&mut learner, initial.as_points(), &wanted, run, |_, _, _| ())?;
            for rows in order[init..].chunks(self.block) {
                let (points, targets) = (self.points.select(rows), self.targets.select(rows));
                blocks(&mut learner, points.as_points(), &targets, self.block, run, |tally| curve.add_tally(tally))?;
            }
        }
        let mapping = Duration::from_nanos(learner.mapping.load(Ordering::Relaxed));
        let learning = started.elapsed().saturating_sub(starting + mapping);
        Ok(Pass {
            tally: curve.tally,
            curve: curve.finish(),
            map_seconds: (starting + mapping).as_secs_f64(),
            learn_seconds: learning.as_secs_f64(),
        })
    }

    /// How often a pass over n points tells its watcher that it learns.
    pub(crate) fn ticks(&self) -> usize {
        if self.block == 1 {
            return self.len().div_ceil(AHEAD);
        }
        let init = self.init.min(self.len());
        init.div_ceil(AHEAD) + (self.len() - init).div_ceil(self.block) * self.block.div_ceil(AHEAD)
    }
}

/// A learning curve at equal distances.
struct Curve {
    tally: Tally,
    regress: bool,
    step: u64,
    points: Vec<(u64, f64)>,
}

impl Curve {
    fn new(n: usize, regress: bool) -> Self {
        Self { tally: Tally::default(), regress, step: n.div_ceil(CURVE_POINTS).max(1) as u64, points: Vec::new() }
    }

    fn add(&mut self, predicted: Target, target: Target) {
        self.tally.add(predicted, target);
        if self.tally.points.is_multiple_of(self.step) {
            self.mark();
        }
    }

    /// The tally of one more block.
    fn add_tally(&mut self, block: &Tally) {
        self.tally.points += block.points;
        self.tally.mistakes += block.mistakes;
        self.tally.squared += block.squared;
        if self.points.last().is_none_or(|(points, _)| self.tally.points >= points + self.step) {
            self.mark();
        }
    }

    fn mark(&mut self) {
        self.points.push((self.tally.points, self.tally.error(self.regress)));
    }

    fn finish(mut self) -> Vec<(u64, f64)> {
        if self.points.last().is_none_or(|(points, _)| *points < self.tally.points) {
            self.mark();
        }
        self.points
    }
}

/// A learner whose mapping is on a clock.
struct Timed {
    learner: AnyLearner,
    /// Nanoseconds.
    mapping: AtomicU64,
}

impl OnlineLearner for Timed {
    fn head(&self) -> &Head {
        self.learner.head()
    }
    fn head_mut(&mut self) -> &mut Head {
        self.learner.head_mut()
    }
    fn widen(&mut self) {
        self.learner.widen();
    }
    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        self.learner.score(x, at);
    }
    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        self.learner.update(x, target, at);
    }
    fn most_ahead(&self) -> usize {
        self.learner.most_ahead()
    }
    fn map_ahead(&self, points: Points<'_>, run: Run<'_>) -> eyot::Result<Ahead> {
        let started = Instant::now();
        let ahead = self.learner.map_ahead(points, run);
        self.mapping.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
        ahead
    }
}

/// Adds up the progress of passes that run side by side.
pub(crate) struct Together<'a> {
    run: Run<'a>,
    done: AtomicUsize,
    total: usize,
}

impl<'a> Together<'a> {
    /// For passes that tick `total` times together.
    pub(crate) fn new(run: Run<'a>, total: usize) -> Self {
        Self { run, done: AtomicUsize::new(0), total }
    }
}

impl Watch for Together<'_> {
    fn progress(&self, stage: &'static str, _: usize, _: usize) -> bool {
        let learned = usize::from(stage == "learn");
        let done = self.done.fetch_add(learned, Ordering::Relaxed) + learned;
        self.run.tick("compare", done, self.total).is_ok()
    }

    fn goes_on(&self) -> bool {
        self.run.inner().tick("", 0, 0).is_ok()
    }
}

/// The parameters that a search may have set.
pub(crate) fn chosen(params: &LearnerParams) -> String {
    let mut words = Vec::new();
    if params.method == Method::IkOgd {
        words.push(format!("psi {}", serde_json::to_value(&params.map).unwrap_or_default()["psi"]));
    }
    if let Some(AnyKernel::Gaussian(Gaussian { gamma })) = params.kernel {
        words.push(format!("gamma {gamma}"));
    }
    let numbers =
        [("eta", params.eta), ("eta of widths", params.eta_width), ("lambda", params.lambda), ("C", params.c)];
    words.extend(numbers.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", value?))));
    words.join(", ")
}
