//! How good a learner is on a stream: test each point, or each block, before learning from it.
//!
//! Three protocols of the papers: point by point ([`prequential`], paper 2), blocks predicted by the model as it was
//! before the block ([`blocks`], paper 1), and one training pass followed by a test set ([`batch`], paper 1, Table 5).
//! Parameters are chosen by cross-validation on an initial set ([`choose_by_cv`]) or by one pass over a random part of
//! the stream ([`choose_by_pass`]).

use crate::data::{Classes, Points, PointsBuf, TableColumn, regression_targets};
use crate::error::{Error, Result};
use crate::learn::{AnyLearner, Input, LearnerParams, OnlineLearner, Scratch, Target, check_width};
use crate::parallel::Run;
use crate::rng::{Component, rng_of};

/// Points whose features are computed ahead of the learner.
pub const AHEAD: usize = 1024;

/// What is wanted for every point.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// Classes, by number.
    Classes(Vec<u32>),
    /// Numbers.
    Values(Vec<f64>),
}

impl Targets {
    /// The targets of a column; classes that are new are appended. `first_row` is that of the table.
    pub fn of_column(column: &TableColumn, first_row: usize, regress: bool, classes: &mut Classes) -> Result<Self> {
        if regress {
            return regression_targets(column, first_row).map(Self::Values);
        }
        classes.numbers_or_insert(column, first_row).map(Self::Classes)
    }

    /// Adds the targets of more points of the same kind.
    ///
    /// # Panics
    /// If they are of another kind.
    pub fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::Classes(all), Self::Classes(more)) => all.extend(more),
            (Self::Values(all), Self::Values(more)) => all.extend(more),
            _ => panic!("targets of two kinds"),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Classes(classes) => classes.len(),
            Self::Values(values) => values.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The target of a point.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn get(&self, row: usize) -> Target {
        match self {
            Self::Classes(classes) => Target::Class(classes[row]),
            Self::Values(values) => Target::Value(values[row]),
        }
    }

    /// The targets of the points named, in that order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Classes(classes) => Self::Classes(rows.iter().map(|&row| classes[row]).collect()),
            Self::Values(values) => Self::Values(rows.iter().map(|&row| values[row]).collect()),
        }
    }
}

/// What has been counted so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Tally {
    /// Points predicted.
    pub points: u64,
    /// Wrong classes.
    pub mistakes: u64,
    /// Σ (f − y)² in regression.
    pub squared: f64,
}

impl Tally {
    /// Counts one prediction.
    pub fn add(&mut self, predicted: Target, target: Target) {
        self.points += 1;
        match (predicted, target) {
            (Target::Value(f), Target::Value(y)) => self.squared += (f - y) * (f - y),
            _ => self.mistakes += u64::from(predicted != target),
        }
    }

    /// Share of wrong classes; 0 before the first point.
    pub fn mistake_rate(&self) -> f64 {
        self.mistakes as f64 / self.points.max(1) as f64
    }

    /// Root of the mean squared error; 0 before the first point.
    pub fn rmse(&self) -> f64 {
        (self.squared / self.points.max(1) as f64).sqrt()
    }

    /// The mistake rate, or the RMSE in regression: less is better.
    pub fn error(&self, regress: bool) -> f64 {
        if regress { self.rmse() } else { self.mistake_rate() }
    }

    /// What was counted since an earlier tally of the same stream.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            points: self.points - earlier.points,
            mistakes: self.mistakes - earlier.mistakes,
            squared: self.squared - earlier.squared,
        }
    }
}

/// Tests and learns every point in order. `visit` sees each point's number, prediction and the scores from before the
/// update. Features are computed ahead in parallel; the learner is sequential, so the result is that of one by one.
pub fn prequential(
    learner: &mut impl OnlineLearner,
    points: Points<'_>,
    targets: &Targets,
    run: Run<'_>,
    mut visit: impl FnMut(usize, Target, &[f64]),
) -> Result<Tally> {
    same_length(points, targets)?;
    let (mut tally, mut at) = (Tally::default(), Scratch::default());
    let mut first = 0;
    while first < points.n_rows() {
        let block = points.slice(first..(first + learner.most_ahead()).min(points.n_rows()));
        let ahead = learner.map_ahead(block, run)?;
        for row in 0..block.n_rows() {
            let target = targets.get(first + row);
            let x = Input { row: block.row(row), mapped: ahead.row(row) };
            let predicted = learner.predict_then_learn(x, target, &mut at)?;
            tally.add(predicted, target);
            visit(first + row, predicted, &at.scores);
        }
        first += block.n_rows();
        run.tick("learn", first, points.n_rows())?;
    }
    Ok(tally)
}

/// What the model as it is says of every point: the prediction, and the score behind it.
pub fn predict(learner: &impl OnlineLearner, points: Points<'_>, run: Run<'_>) -> Result<Vec<(Target, f64)>> {
    if points.n_rows() > 0 {
        check_width(learner.head(), points.row(0))?;
    }
    let parts = run.map("predict", points.n_rows().div_ceil(AHEAD), |part| {
        let first = part * AHEAD;
        let block = points.slice(first..(first + AHEAD).min(points.n_rows()));
        let ahead = learner.map_ahead(block, run.inner())?;
        let mut at = Scratch::default();
        let row = |row: usize| {
            learner.score(Input { row: block.row(row), mapped: ahead.row(row) }, &mut at);
            let predicted = learner.head().predict(&at.scores);
            (predicted, score_behind(predicted, &at.scores))
        };
        Ok((0..block.n_rows()).map(row).collect::<Vec<_>>())
    })?;
    Ok(parts.concat())
}

/// All scores of every point, or the number predicted, point by point: as many each as the task has ([`super::Head::n_scores`]).
pub fn scores(learner: &impl OnlineLearner, points: Points<'_>, run: Run<'_>) -> Result<Vec<f64>> {
    if points.n_rows() > 0 {
        check_width(learner.head(), points.row(0))?;
    }
    let width = learner.head().n_scores();
    let mut all = vec![0.0; points.n_rows() * width];
    run.chunks_mut("predict", &mut all, AHEAD * width, |part, out| {
        let first = part * AHEAD;
        let block = points.slice(first..first + out.len() / width);
        let ahead = learner.map_ahead(block, run.inner())?;
        let mut at = Scratch::default();
        for (row, out) in out.chunks_mut(width).enumerate() {
            learner.score(Input { row: block.row(row), mapped: ahead.row(row) }, &mut at);
            out.copy_from_slice(&at.scores[..width]);
            if let Target::Value(value) = learner.head().predict(&at.scores) {
                out[0] = value;
            }
        }
        Ok(())
    })?;
    Ok(all)
}

/// The score behind a prediction: the number itself, the lone score, or the best.
pub fn score_behind(predicted: Target, scores: &[f64]) -> f64 {
    match predicted {
        Target::Value(value) => value,
        Target::Class(_) => scores.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

/// Tests every point with the model as it is.
pub fn evaluate(learner: &impl OnlineLearner, points: Points<'_>, targets: &Targets, run: Run<'_>) -> Result<Tally> {
    same_length(points, targets)?;
    let mut tally = Tally::default();
    for (row, (predicted, _)) in predict(learner, points, run)?.into_iter().enumerate() {
        tally.add(predicted, targets.get(row));
    }
    Ok(tally)
}

/// Predicts a block with the model as it was before, then learns it; and so on. `visit` sees the tally after each
/// block.
pub fn blocks(
    learner: &mut impl OnlineLearner,
    points: Points<'_>,
    targets: &Targets,
    block: usize,
    run: Run<'_>,
    mut visit: impl FnMut(&Tally),
) -> Result<Tally> {
    same_length(points, targets)?;
    let mut tally = Tally::default();
    for first in (0..points.n_rows()).step_by(block.max(1)) {
        let rows: Vec<usize> = (first..(first + block.max(1)).min(points.n_rows())).collect();
        let (part, wanted) = (points.slice(first..first + rows.len()), targets.select(&rows));
        let tested = evaluate(learner, part, &wanted, run)?;
        tally.points += tested.points;
        tally.mistakes += tested.mistakes;
        tally.squared += tested.squared;
        prequential(learner, part, &wanted, run, |_, _, _| ())?;
        visit(&tally);
    }
    Ok(tally)
}

/// One training pass, then the test set.
pub fn batch(
    learner: &mut impl OnlineLearner,
    train: (Points<'_>, &Targets),
    test: (Points<'_>, &Targets),
    run: Run<'_>,
) -> Result<Tally> {
    prequential(learner, train.0, train.1, run, |_, _, _| ())?;
    evaluate(learner, test.0, test.1, run)
}

/// A random order of n points, the one of a numbered run.
pub fn permutation(n: usize, seed: u64, run: u64) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..n).collect();
    rng_of(seed, Component::Permutation, run).shuffle(&mut rows);
    rows
}

/// Mean and population standard deviation.
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt())
}

/// The error of every candidate, less being better: mean over `folds` of one pass over the other folds, tested on the
/// fold. Maps and landmarks come from the training folds only. More than `cap` points are cut to a random `cap`.
/// A candidate that diverges has infinite error.
pub fn choose_by_cv(
    candidates: &[LearnerParams],
    points: Points<'_>,
    targets: &Targets,
    folds: usize,
    cap: usize,
    seed: u64,
    run: Run<'_>,
) -> Result<Vec<f64>> {
    same_length(points, targets)?;
    let mut rows: Vec<usize> = (0..points.n_rows()).collect();
    rng_of(seed, Component::Folds, 0).shuffle(&mut rows);
    rows.truncate(cap.max(folds));
    if rows.len() < folds {
        let message =
            format!("{folds}-fold cross-validation needs at least {folds} points, but there are {}", rows.len());
        return Err(Error::Data(message));
    }
    let split = |fold: usize| {
        let (mut training, mut testing) = (Vec::new(), Vec::new());
        for (i, &row) in rows.iter().enumerate() {
            if i % folds == fold { testing.push(row) } else { training.push(row) }
        }
        [training, testing].map(|rows| (pick(points, &rows), targets.select(&rows)))
    };
    let parts: Vec<[(PointsBuf, Targets); 2]> = (0..folds).map(split).collect();
    let errors = run.map("cross-validate", candidates.len() * folds, |i| {
        let (params, [train, test]) = (&candidates[i / folds], &parts[i % folds]);
        let mut learner = params.clone().check()?.begin(train.0.as_points(), &train.1, run.inner())?;
        let sets = ((train.0.as_points(), &train.1), (test.0.as_points(), &test.1));
        finite_error(batch(&mut learner, sets.0, sets.1, run.inner()), params.regress)
    })?;
    Ok(errors.chunks_exact(folds).map(|errors| errors.iter().sum::<f64>() / folds as f64).collect())
}

/// The error of every candidate in one prequential pass over these points, less being better; infinite if it diverges.
pub fn choose_by_pass(
    candidates: &[LearnerParams],
    points: Points<'_>,
    targets: &Targets,
    run: Run<'_>,
) -> Result<Vec<f64>> {
    run.map("tune", candidates.len(), |i| {
        let mut learner: AnyLearner = candidates[i].clone().check()?.begin(points, targets, Run::single())?;
        let tally = prequential(&mut learner, points, targets, Run::single(), |_, _, _| ());
        finite_error(tally, candidates[i].regress)
    })
}

/// The first of the least, so that ties go to the earlier candidate.
pub fn least(errors: &[f64]) -> usize {
    (0..errors.len()).fold(0, |best, i| if errors[i] < errors[best] { i } else { best })
}

fn finite_error(tally: Result<Tally>, regress: bool) -> Result<f64> {
    match tally {
        Err(Error::Diverged { .. }) => Ok(f64::INFINITY),
        tally => tally.map(|tally| tally.error(regress)),
    }
}

fn pick(points: Points<'_>, rows: &[usize]) -> PointsBuf {
    let mut picked = PointsBuf::like(&points);
    for &row in rows {
        picked.push(points.row(row));
    }
    picked
}

fn same_length(points: Points<'_>, targets: &Targets) -> Result<()> {
    if points.n_rows() == targets.len() {
        return Ok(());
    }
    Err(Error::Shape { what: "targets", expected: points.n_rows(), got: targets.len() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Method;
    use crate::map::IsolationMapParams;

    fn stream(n: usize) -> (PointsBuf, Targets) {
        let mut rng = rng_of(6, Component::Synthetic, 0);
        let points = PointsBuf::from_dense((0..2 * n).map(|_| rng.open01()).collect(), 2).unwrap();
        let classes = points.as_points().rows().map(|x| u32::from((x.get(0) > 0.5) != (x.get(1) > 0.5))).collect();
        (points, Targets::Classes(classes))
    }

    fn params() -> LearnerParams {
        LearnerParams::default().map(IsolationMapParams::default().psi(32).t(50))
    }

    fn start(points: &PointsBuf) -> AnyLearner {
        params().check().unwrap().start(points.as_points(), Run::single()).unwrap()
    }

    #[test]
    fn blocks_of_one_are_prequential_and_all_blocks_teach_alike() {
        let (points, targets) = stream(400);
        let run = Run::threads(2);
        let mut one = start(&points);
        let tally = prequential(&mut one, points.as_points(), &targets, run, |_, _, _| ()).unwrap();
        for block in [1, 64, 1000] {
            let mut other = start(&points);
            let blocked = blocks(&mut other, points.as_points(), &targets, block, run, |_| ()).unwrap();
            assert!(block > 1 || blocked == tally);
            let all = |learner: &AnyLearner| predict(learner, points.as_points(), run).unwrap();
            assert_eq!(all(&one), all(&other));
        }
    }

    #[test]
    fn random_labels_cannot_be_foreseen() {
        let (points, _) = stream(3000);
        let mut rng = rng_of(9, Component::Synthetic, 0);
        let targets = Targets::Classes((0..3000).map(|_| rng.below(2) as u32).collect());
        let tally =
            prequential(&mut start(&points), points.as_points(), &targets, Run::single(), |_, _, _| ()).unwrap();
        // 0.5 with a standard error of 0.009: a harness that leaks labels would be far below.
        assert!((tally.mistake_rate() - 0.5).abs() < 0.05, "{}", tally.mistake_rate());
    }

    #[test]
    fn cross_validation_prefers_cells_that_suit_the_data() {
        let (points, targets) = stream(1000);
        let with_psi = |psi| params().map(IsolationMapParams::default().psi(psi).t(50));
        let candidates = [with_psi(1), with_psi(64)];
        let errors = choose_by_cv(&candidates, points.as_points(), &targets, 5, 600, 0, Run::single()).unwrap();
        assert!(least(&errors) == 1 && errors[1] < 0.2 && errors[0] > 0.3, "{errors:?}");
        let again = choose_by_cv(&candidates, points.as_points(), &targets, 5, 600, 0, Run::threads(2)).unwrap();
        assert_eq!(errors, again);
    }

    #[test]
    fn a_diverging_candidate_loses() {
        let (points, _) = stream(300);
        let targets = Targets::Values((0..300).map(f64::from).collect());
        let base = LearnerParams::default().method(Method::Fogd).regress(true).frequencies(Some(20));
        let candidates = [base.clone().eta(Some(1e150)), base.eta(Some(0.01))];
        let errors = choose_by_pass(&candidates, points.as_points(), &targets, Run::threads(2)).unwrap();
        assert!(errors[0].is_infinite() && errors[1].is_finite() && least(&errors) == 1);
    }

    #[test]
    fn deviation_is_that_of_the_population() {
        assert_eq!(mean_and_deviation(&[1.0, 3.0]), (2.0, 1.0));
        assert_eq!(least(&[2.0, 1.0, 1.0]), 1);
    }
}
