//! What mi-SVM and MI-SVM share: a Gaussian kernel SVM on instances, found in rounds of guessing labels and fitting, one
//! class against the rest. A bag's score is that of its best instance.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::gaussian::gaussian_builders;
use super::held_out::{Labelled, Verdict};
use super::instances::Sets;
use crate::data::{Points, PointsBuf};
use crate::error::Result;
use crate::kernel::{Gaussian, Kernel};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::{Checked, in_range, positive};
use crate::solve::{KernelMatrix, KernelSvmModel, KernelSvmParams, PointsMatrix, n_scores};

/// Memory for kernel rows that are shared by all rounds, folds and classes.
const CACHE_BYTES: usize = 512 << 20;

/// Parameters of mi-SVM and MI-SVM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WitnessParams {
    pub(super) gamma: f64,
    pub(super) max_rounds: usize,
    pub(super) svm: KernelSvmParams,
}

impl Default for WitnessParams {
    fn default() -> Self {
        Self { gamma: 1.0, max_rounds: 50, svm: KernelSvmParams::default().cache_bytes(64 << 20) }
    }
}

gaussian_builders!(WitnessParams);

impl WitnessParams {
    /// Rounds at the most, 1 to 1000; 50 by default.
    #[must_use]
    pub fn max_rounds(mut self, max_rounds: usize) -> Self {
        self.max_rounds = max_rounds;
        self
    }

    /// Refuses parameters outside their range.
    pub fn check(self) -> Result<Checked<Self>> {
        positive("gamma", self.gamma)?;
        in_range("rounds", self.max_rounds, 1..=1000)?;
        self.svm.clone().check()?;
        Ok(Checked::new(self))
    }
}

/// How rounds go: which instances are positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guess {
    /// Every instance of a positive bag has a label (mi-SVM).
    Labels,
    /// Every positive bag has one witness; it starts as its mean (MI-SVM).
    Witness,
}

/// The kernel between instances, its rows kept while there is room. With `Guess::Witness`, the means of the bags follow
/// the instances.
pub(super) struct Instances<'a> {
    sets: &'a Sets,
    points: PointsBuf,
    kernel: Gaussian,
    rows: Vec<OnceLock<Box<[f64]>>>,
    left: AtomicUsize,
}

impl<'a> Instances<'a> {
    pub(super) fn new(sets: &'a Sets, gamma: f64, guess: Guess) -> Self {
        let mut points = sets.points().to_buf();
        if guess == Guess::Witness {
            sets.means().as_points().rows().for_each(|row| points.push(row));
        }
        let n = points.n_rows();
        let left = AtomicUsize::new(CACHE_BYTES / (8 * n.max(1)));
        Self { sets, points, kernel: Gaussian { gamma }, rows: (0..n).map(|_| OnceLock::new()).collect(), left }
    }

    /// A row that is kept, if there is room for it.
    fn kept(&self, i: usize) -> Option<&[f64]> {
        if let Some(row) = self.rows[i].get() {
            return Some(row);
        }
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).ok()?;
        Some(self.rows[i].get_or_init(|| {
            let mut row = vec![0.0; self.points.n_rows()];
            self.kernel.row_into(self.points.row(i), self.points.as_points(), &mut row);
            row.into()
        }))
    }
}

impl KernelMatrix for Instances<'_> {
    fn n(&self) -> usize {
        self.points.n_rows()
    }
    fn diagonal(&self, _: usize) -> f64 {
        1.0
    }
    fn row_into(&self, i: usize, out: &mut [f64]) {
        match self.kept(i) {
            Some(row) => out.copy_from_slice(row),
            None => self.kernel.row_into(self.points.row(i), self.points.as_points(), out),
        }
    }
    fn entries_into(&self, i: usize, columns: &[u32], out: &mut [f64]) {
        match self.kept(i) {
            Some(row) => out.iter_mut().zip(columns).for_each(|(out, &column)| *out = row[column as usize]),
            None => PointsMatrix { kernel: self.kernel, points: self.points.as_points() }.entries_into(i, columns, out),
        }
    }
}

impl Instances<'_> {
    /// f of one instance.
    fn score(&self, model: &KernelSvmModel, i: usize, room: &mut Vec<f64>) -> f64 {
        room.resize(model.expansion.rows().len(), 0.0);
        self.entries_into(i, model.expansion.rows(), room);
        let mut score = [0.0];
        model.scores_into(room, &mut score);
        score[0]
    }

    /// The best instance of a bag, the first of equals, and its f.
    pub(super) fn best(&self, model: &KernelSvmModel, bag: usize, room: &mut Vec<f64>) -> (usize, f64) {
        let mut best = (usize::MAX, f64::NEG_INFINITY);
        for row in self.sets.range(bag) {
            let score = self.score(model, row, room);
            if score > best.1 {
                best = (row, score);
            }
        }
        best
    }

    /// Separates the bags that are `positive` from the others among those that `takes_part`.
    pub(super) fn solve(
        &self,
        params: &WitnessParams,
        guess: Guess,
        positive: &dyn Fn(usize) -> bool,
        takes_part: &dyn Fn(usize) -> bool,
        run: Run<'_>,
    ) -> Result<KernelSvmModel> {
        let svm = params.svm.clone().check()?;
        let bags = || (0..self.sets.len()).filter(|&bag| takes_part(bag));
        let (mut labels, mut weights) = (vec![0u32; self.n()], vec![0.0; self.n()]);
        for bag in bags() {
            match (positive(bag), guess) {
                (true, Guess::Witness) => {
                    let mean = self.sets.n_instances() + bag;
                    (labels[mean], weights[mean]) = (1, 1.0);
                }
                (is_positive, _) => {
                    for row in self.sets.range(bag) {
                        (labels[row], weights[row]) = (u32::from(is_positive), 1.0);
                    }
                }
            }
        }
        let mut seen: Vec<(Vec<u32>, Vec<f64>)> = vec![];
        let mut room = Vec::new();
        loop {
            let model = svm.fit(self, &labels, 2, Some(&weights), run)?.model;
            seen.push((labels.clone(), weights.clone()));
            for bag in bags().filter(|&bag| positive(bag)) {
                match guess {
                    Guess::Labels => {
                        let (mut any, mut best) = (false, (self.sets.range(bag).start, f64::NEG_INFINITY));
                        for row in self.sets.range(bag) {
                            let score = self.score(&model, row, &mut room);
                            labels[row] = u32::from(score >= 0.0);
                            any |= score >= 0.0;
                            if score > best.1 {
                                best = (row, score);
                            }
                        }
                        if !any {
                            labels[best.0] = 1;
                        }
                    }
                    Guess::Witness => {
                        let mean = self.sets.n_instances() + bag;
                        (labels[mean], weights[mean]) = (0, 0.0);
                        for row in self.sets.range(bag) {
                            (labels[row], weights[row]) = (0, 0.0);
                        }
                        let witness = self.best(&model, bag, &mut room).0;
                        (labels[witness], weights[witness]) = (1, 1.0);
                    }
                }
            }
            // The same guess again, or one of an earlier round: a cycle.
            if seen.len() >= params.max_rounds || seen.iter().any(|(known, of)| *known == labels && *of == weights) {
                return Ok(model);
            }
        }
    }
}

/// Kernel SVMs on instances, one per score.
#[derive(Debug, Clone)]
pub(super) struct WitnessClassifier {
    pub(super) n_classes: usize,
    pub(super) columns: usize,
    kernel: Gaussian,
    /// Support vectors and their sums.
    machines: Vec<(PointsBuf, KernelSvmModel)>,
}

impl WitnessClassifier {
    pub(super) fn fit(
        params: &WitnessParams,
        guess: Guess,
        sets: &Sets,
        labels: &[u32],
        n_classes: usize,
        run: Run<'_>,
    ) -> Result<Self> {
        let instances = Instances::new(sets, params.gamma, guess);
        let machines = run.map("solve", n_scores(n_classes), |score| {
            let class = class_of_score(n_classes, score);
            let model = instances.solve(params, guess, &|bag| labels[bag] == class, &|_| true, run.inner())?;
            let rows: Vec<usize> = model.expansion.rows().iter().map(|&row| row as usize).collect();
            Ok((instances.points.select(&rows), model))
        })?;
        Ok(Self { n_classes, columns: sets.points().n_columns(), kernel: instances.kernel, machines })
    }

    /// f of every instance, for every score.
    pub(super) fn instance_scores(&self, points: Points<'_>, run: Run<'_>) -> Result<Vec<f64>> {
        let width = self.machines.len();
        let mut scores = vec![0.0; points.n_rows() * width];
        if width == 0 {
            return Ok(scores);
        }
        run.chunks_mut("score", &mut scores, 64 * width, |chunk, out| {
            let mut values = Vec::new();
            for (i, out) in out.chunks_exact_mut(width).enumerate() {
                let row = points.row(chunk * 64 + i);
                for ((support, model), out) in self.machines.iter().zip(out) {
                    values.resize(support.n_rows(), 0.0);
                    self.kernel.row_into(row, support.as_points(), &mut values);
                    model.scores_into(&values, std::slice::from_mut(out));
                }
            }
            Ok(())
        })?;
        Ok(scores)
    }

    /// The best instance's f, for every score.
    pub(super) fn scores(&self, sets: &Sets, run: Run<'_>) -> Result<Vec<f64>> {
        let (width, of_instances) = (self.machines.len(), self.instance_scores(sets.points(), run)?);
        let best = |bag: usize| {
            let of_instances = &of_instances;
            (0..width).map(move |score| {
                sets.range(bag).map(|row| of_instances[row * width + score]).fold(f64::NEG_INFINITY, f64::max)
            })
        };
        Ok((0..sets.len()).flat_map(best).collect())
    }

    /// The verdicts on candidates that share γ.
    pub(super) fn held_out(
        members: &[&WitnessParams],
        guess: Guess,
        sets: &Sets,
        of: Labelled<'_>,
    ) -> Result<Vec<Vec<Verdict>>> {
        let Some(first) = members.first() else { return Ok(vec![]) };
        let instances = Instances::new(sets, first.gamma, guess);
        let one = |params: &&WitnessParams| {
            of.each_split(|weights, held| {
                let models = (0..n_scores(of.n_classes)).map(|score| {
                    let class = class_of_score(of.n_classes, score);
                    let takes_part = |bag: usize| weights[bag] > 0.0;
                    instances.solve(params, guess, &|bag| of.labels[bag] == class, &takes_part, of.run)
                });
                let models = models.collect::<Result<Vec<_>>>()?;
                let mut room = Vec::new();
                let mut scores = |&bag: &usize| -> Vec<f64> {
                    models.iter().map(|model| instances.best(model, bag, &mut room).1).collect()
                };
                Ok(held.iter().map(&mut scores).collect())
            })
        };
        members.iter().map(one).collect()
    }
}

/// The class that a score speaks for: with two classes the one score is that of class 1.
const fn class_of_score(n_classes: usize, score: usize) -> u32 {
    if n_classes == 2 { 1 } else { score as u32 }
}

impl Persist for WitnessClassifier {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.witness"), &(self.n_classes, self.columns, self.kernel.gamma));
        for (at, (support, model)) in self.machines.iter().enumerate() {
            support.save(out, &format!("{prefix}.support{at}"));
            model.save(out, &format!("{prefix}.sums{at}"));
        }
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let name = format!("{prefix}.witness");
        let (n_classes, columns, gamma): (usize, usize, f64) = from.json(&name)?;
        positive("gamma", gamma).map_err(|error| bad_part(&name, &error.to_string()))?;
        let mut machines = Vec::new();
        for at in 0..n_scores(n_classes) {
            let name = format!("{prefix}.support{at}");
            let support = PointsBuf::load(from, &name)?;
            let model = KernelSvmModel::load(from, &format!("{prefix}.sums{at}"))?;
            let fits = support.n_rows() == model.expansion.rows().len() && support.n_columns() == columns;
            if !fits || model.n_scores() != 1 {
                return Err(bad_part(&name, "does not go with its sums"));
            }
            machines.push((support, model));
        }
        Ok(Self { n_classes, columns, kernel: Gaussian { gamma }, machines })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets::testing::{blobs, doubled, turned};

    fn accuracy(fit: &WitnessClassifier, sets: &Sets, labels: &[u32]) -> f64 {
        let scores = fit.scores(sets, Run::single()).unwrap();
        let right = scores.iter().zip(labels).filter(|(score, label)| (**score >= 0.0) == (**label == 1)).count();
        right as f64 / labels.len() as f64
    }

    #[test]
    fn the_instances_that_make_a_bag_positive_are_found() {
        let ((sets, labels), (others, truth)) = (blobs(40, 10), blobs(40, 11));
        for guess in [Guess::Labels, Guess::Witness] {
            let params = WitnessParams::default().gamma(0.5);
            let fit = WitnessClassifier::fit(&params, guess, &sets, &labels, 2, Run::single()).unwrap();
            assert!(accuracy(&fit, &others, &truth) > 0.94, "{guess:?}");
            let scores = fit.instance_scores(others.points(), Run::threads(2)).unwrap();
            let right =
                scores.iter().zip(others.points().rows()).filter(|(score, row)| (**score >= 0.0) == (row.get(0) > 1.5));
            assert!(right.count() as f64 > 0.94 * others.n_instances() as f64, "{guess:?}");
            let bags = fit.scores(&others, Run::single()).unwrap();
            assert_eq!(fit.scores(&turned(&others), Run::single()).unwrap(), bags);
            assert_eq!(fit.scores(&doubled(&others), Run::single()).unwrap(), bags);
        }
    }

    #[test]
    fn bags_of_one_instance_are_an_ordinary_svm() {
        let (sets, labels) = blobs(24, 12);
        let singletons = Sets::singletons(sets.means());
        let svm = KernelSvmParams::default().check().unwrap();
        let matrix = PointsMatrix { kernel: Gaussian { gamma: 1.0 }, points: singletons.points() };
        let expected = svm.fit(&matrix, &labels, 2, None, Run::single()).unwrap().model;
        let fit = |guess| {
            WitnessClassifier::fit(&WitnessParams::default(), guess, &singletons, &labels, 2, Run::single()).unwrap()
        };
        let witness = fit(Guess::Witness);
        let scores = witness.scores(&singletons, Run::single()).unwrap();
        let mut room = Vec::new();
        let instances = Instances::new(&singletons, 1.0, Guess::Labels);
        for (bag, score) in scores.iter().enumerate() {
            assert!((instances.score(&expected, bag, &mut room) - score).abs() < 1e-2);
        }
        // mi-SVM may not turn a positive bag of one instance: its only instance stays positive.
        let labels_fit = fit(Guess::Labels).scores(&singletons, Run::single()).unwrap();
        assert!(labels_fit.iter().zip(&scores).all(|(a, b)| (a - b).abs() < 1e-2));
    }

    #[test]
    fn three_classes_and_a_single_one_have_answers() {
        let (sets, _) = blobs(30, 13);
        let labels: Vec<u32> = (0..30).map(|bag| bag % 3).collect();
        for guess in [Guess::Labels, Guess::Witness] {
            let fit =
                WitnessClassifier::fit(&WitnessParams::default(), guess, &sets, &labels, 3, Run::threads(2)).unwrap();
            assert_eq!(fit.scores(&sets, Run::single()).unwrap().len(), 90);
            let one =
                WitnessClassifier::fit(&WitnessParams::default(), guess, &sets, &[0; 30], 1, Run::single()).unwrap();
            assert!(one.scores(&sets, Run::single()).unwrap().is_empty());
        }
    }
}
