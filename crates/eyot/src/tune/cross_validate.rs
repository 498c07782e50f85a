//! Cross-validation over candidates, in rounds of one fold each.
//!
//! Candidates come in groups that share costly preparation (say, the isolation map of one ψ for several C). A round runs
//! all groups still alive on one fold, in parallel; between rounds, hopeless candidates are dropped. Rounds make that
//! decision independent of the number of threads. The caller's closure must use the fold's training rows only.
//!
//! The best candidate has the highest mean; of equals the first wins, so list smaller ψ first. All entries are kept.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::parallel::{Run, Watch};

/// How to cross-validate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrossValidation {
    /// Number of folds.
    pub n_folds: usize,
    /// A candidate is dropped after two or more folds in each of which it trails the leader by more than this.
    pub give_up: f64,
    /// Bytes that all jobs at a time may take together.
    pub memory: usize,
    /// Bytes that one job takes, about; limits how many run side by side.
    pub memory_per_job: usize,
}

impl Default for CrossValidation {
    fn default() -> Self {
        Self { n_folds: 5, give_up: 0.05, memory: 4 << 30, memory_per_job: 0 }
    }
}

/// What cross-validation says of one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CvEntry<P> {
    /// The candidate.
    pub parameters: P,
    /// The mean score over the folds that were run.
    pub mean: f64,
    /// The standard error of that mean: sample deviation over the root of the number of folds.
    pub standard_error: f64,
    /// The score of every fold that was run.
    pub folds: Vec<f64>,
    /// Whether it was dropped early as hopeless.
    pub dropped: bool,
}

impl<P> CvEntry<P> {
    /// A candidate whose folds have all been run.
    pub fn of(parameters: P, folds: Vec<f64>) -> Self {
        let mut entry = Self { parameters, mean: 0.0, standard_error: 0.0, folds, dropped: false };
        summarise(&mut entry);
        entry
    }
}

/// All candidates and the best of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CvTable<P> {
    /// Candidates in the order given.
    pub entries: Vec<CvEntry<P>>,
    /// Number of the best entry.
    pub best: usize,
}

impl<P> CvTable<P> {
    /// Candidates whose folds have all been run; the first of the highest mean is the best.
    pub fn of(entries: Vec<CvEntry<P>>) -> Result<Self> {
        let mut best: Option<usize> = None;
        for (number, entry) in entries.iter().enumerate().filter(|(_, entry)| !entry.dropped) {
            if best.is_none_or(|best| entry.mean > entries[best].mean) {
                best = Some(number);
            }
        }
        let best = best.ok_or_else(|| Error::Data("there is no candidate to choose from".into()))?;
        Ok(Self { entries, best })
    }

    /// The best entry.
    pub fn best(&self) -> &CvEntry<P> {
        &self.entries[self.best]
    }
}

impl CrossValidation {
    /// Scores every candidate on every fold (unless dropped). `evaluate(members, fold)` gives one score per member of a
    /// group, higher is better; it runs on one thread.
    pub fn run<P: Clone + Sync>(
        &self,
        groups: &[Vec<P>],
        run: Run<'_>,
        evaluate: impl Fn(&[P], usize) -> Result<Vec<f64>> + Sync,
    ) -> Result<CvTable<P>> {
        self.run_prepared(groups, run, |_, _, _| Ok(()), |(), members, fold| evaluate(members, fold))
    }

    /// As [`CrossValidation::run`], with work that all groups of a fold share: `prepare(fold, alive, run)` is called
    /// once per fold, on all threads, with the candidates that are still alive, and `evaluate` gets what it made.
    pub fn run_prepared<P: Clone + Sync, T: Sync>(
        &self,
        groups: &[Vec<P>],
        run: Run<'_>,
        prepare: impl Fn(usize, &[Vec<P>], Run<'_>) -> Result<T>,
        evaluate: impl Fn(&T, &[P], usize) -> Result<Vec<f64>> + Sync,
    ) -> Result<CvTable<P>> {
        let mut entries: Vec<Vec<CvEntry<P>>> =
            groups.iter().map(|group| group.iter().map(new_entry).collect()).collect();
        if entries.iter().all(Vec::is_empty) {
            return Err(Error::Data("there is no candidate to choose from".into()));
        }
        let side_by_side = (self.memory / self.memory_per_job.max(1)).clamp(1, run.n_threads());
        let (done, total) = (AtomicUsize::new(0), groups.len() * self.n_folds);
        for fold in 0..self.n_folds {
            let alive: Vec<(usize, Vec<usize>)> = entries
                .iter()
                .map(|group| (0..group.len()).filter(|&member| !group[member].dropped).collect())
                .enumerate()
                .filter(|(_, members): &(usize, Vec<usize>)| !members.is_empty())
                .collect();
            let candidates: Vec<Vec<P>> = alive
                .iter()
                .map(|(group, members)| members.iter().map(|&member| groups[*group][member].clone()).collect())
                .collect();
            let whole = Whole { run, done: &done, total };
            let shared = prepare(fold, &candidates, Run::threads(run.n_threads()).watched(&whole))?;
            let scores = Run::threads(side_by_side).map("tune", alive.len(), |job| {
                let scores = evaluate(&shared, &candidates[job], fold)?;
                assert_eq!(scores.len(), candidates[job].len(), "one score per candidate");
                run.tick("tune", done.fetch_add(1, Ordering::Relaxed) + 1, total)?;
                Ok(scores)
            })?;
            for ((group, members), scores) in alive.iter().zip(scores) {
                members.iter().zip(scores).for_each(|(&member, score)| entries[*group][member].folds.push(score));
            }
            if fold + 1 < self.n_folds {
                self.drop_hopeless(&mut entries);
            }
            done.store((fold + 1) * groups.len(), Ordering::Relaxed);
        }
        let mut entries: Vec<CvEntry<P>> = entries.into_iter().flatten().collect();
        entries.iter_mut().for_each(summarise);
        CvTable::of(entries)
    }

    /// Drops candidates that trail the leader of the folds so far by more than the margin in every fold.
    fn drop_hopeless<P>(&self, entries: &mut [Vec<CvEntry<P>>]) {
        let alive = || entries.iter().flatten().filter(|entry| !entry.dropped);
        let mut leader: &[f64] = &[];
        for entry in alive() {
            if leader.is_empty() || mean(&entry.folds) > mean(leader) {
                leader = &entry.folds;
            }
        }
        let leader = leader.to_vec();
        if leader.len() < 2 {
            return;
        }
        for entry in entries.iter_mut().flatten().filter(|entry| !entry.dropped) {
            entry.dropped = entry.folds.iter().zip(&leader).all(|(own, lead)| *own < lead - self.give_up);
        }
    }
}

/// Stands for the whole search while a part of it runs: shows its progress, and asks whether to go on.
struct Whole<'a> {
    run: Run<'a>,
    done: &'a AtomicUsize,
    total: usize,
}

impl Watch for Whole<'_> {
    fn progress(&self, _: &'static str, _: usize, _: usize) -> bool {
        self.run.tick("tune", self.done.load(Ordering::Relaxed), self.total).is_ok()
    }

    fn goes_on(&self) -> bool {
        self.run.inner().tick("", 0, 0).is_ok()
    }
}

fn new_entry<P: Clone>(parameters: &P) -> CvEntry<P> {
    CvEntry { parameters: parameters.clone(), mean: 0.0, standard_error: 0.0, folds: vec![], dropped: false }
}

fn mean(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len() as f64
}

fn summarise<P>(entry: &mut CvEntry<P>) {
    let k = entry.folds.len() as f64;
    entry.mean = mean(&entry.folds);
    let squares: f64 = entry.folds.iter().map(|score| (score - entry.mean).powi(2)).sum();
    entry.standard_error = if k > 1.0 { (squares / (k - 1.0) / k).sqrt() } else { 0.0 };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Scores that depend on candidate and fold only.
    fn score(candidate: i32, fold: usize) -> f64 {
        let noise = [0.0, 0.02, -0.02, 0.01, -0.01][fold];
        match candidate {
            0 => 0.5 + noise,
            9 => 0.91 - noise,
            _ => 0.9 + noise,
        }
    }

    #[test]
    fn the_best_mean_wins_and_of_equals_the_first() {
        let groups = [vec![1, 2], vec![3]];
        let table = CrossValidation::default()
            .run(&groups, Run::single(), |members, fold| Ok(members.iter().map(|&m| score(m, fold)).collect()))
            .unwrap();
        assert_eq!(table.best().parameters, 1);
        assert_eq!(table.entries.len(), 3);
        assert!((table.best().mean - 0.9).abs() < 1e-12);
        // Deviation of the five noises is √(0.001/4); over √5 that is 0.00707.
        assert!((table.best().standard_error - 0.005f64.sqrt() / 10.0).abs() < 1e-12);
    }

    #[test]
    fn the_hopeless_are_dropped_after_two_folds_whatever_the_threads() {
        let groups = [vec![0, 1], vec![0, 9]];
        let mut tables = vec![];
        for threads in [1, 3] {
            let calls = Mutex::new(vec![]);
            let table = CrossValidation::default()
                .run(&groups, Run::threads(threads), |members, fold| {
                    calls.lock().unwrap().push((members.to_vec(), fold));
                    Ok(members.iter().map(|&m| score(m, fold)).collect())
                })
                .unwrap();
            assert_eq!(table.best().parameters, 9);
            assert!(table.entries[0].dropped && table.entries[0].folds.len() == 2);
            let calls = calls.into_inner().unwrap();
            assert_eq!(calls.iter().filter(|(members, _)| members.contains(&0)).count(), 4);
            tables.push(table);
        }
        assert_eq!(tables[0], tables[1]);
    }

    #[test]
    fn a_fold_is_prepared_once_for_those_still_alive() {
        let groups = [vec![0, 1], vec![9]];
        let prepared = Mutex::new(vec![]);
        let table = CrossValidation::default().run_prepared(
            &groups,
            Run::threads(2),
            |fold, alive, _| {
                prepared.lock().unwrap().push(alive.to_vec());
                Ok(fold)
            },
            |&shared, members, fold| {
                assert_eq!(shared, fold);
                Ok(members.iter().map(|&m| score(m, fold)).collect())
            },
        );
        assert_eq!(table.unwrap().best().parameters, 9);
        let prepared = prepared.into_inner().unwrap();
        assert_eq!(prepared.len(), 5);
        assert_eq!((&prepared[1][0], &prepared[2][0]), (&vec![0, 1], &vec![1]));
    }

    #[test]
    fn no_candidate_is_an_error() {
        let groups: [Vec<i32>; 1] = [vec![]];
        assert!(CrossValidation::default().run(&groups, Run::single(), |_, _| Ok(vec![])).is_err());
    }
}
