//! Choosing a classifier's parameters by cross-validation.

use std::sync::Mutex;

use super::ClassifierParams;
use crate::data::PointsBuf;
use crate::error::Result;
use crate::parallel::Run;
use crate::score::Confusion;
use crate::tune::{CrossValidation, CvTable, Folds};

/// What is tuned on.
#[derive(Debug, Clone, Copy)]
pub struct ClassifierTuning<'a> {
    /// The rows.
    pub points: &'a PointsBuf,
    /// Their classes.
    pub labels: &'a [u32],
    /// Number of classes.
    pub n_classes: usize,
    /// Which rows are held out together.
    pub folds: &'a Folds,
}

/// What tuning found.
#[derive(Debug, Clone, PartialEq)]
pub struct TunedClassifier {
    /// All candidates.
    pub table: CvTable<ClassifierParams>,
    /// How the best one did on the rows held out, all folds together.
    pub confusion: Confusion,
}

impl ClassifierTuning<'_> {
    /// Rows that the smallest training part of a fold has: no ψ may exceed it.
    pub fn training_rows(&self) -> usize {
        (0..self.folds.n_folds()).map(|fold| self.folds.split(fold).0.len()).min().unwrap_or(0)
    }

    /// The held-out accuracy of every candidate. Candidates of a group must share their map; it is fitted once per
    /// group and fold, on the fold's training rows only.
    pub fn run(&self, groups: &[Vec<ClassifierParams>], run: Run<'_>) -> Result<TunedClassifier> {
        let (rows, columns) = (self.points.n_rows(), self.points.n_columns().min(4096));
        // Selected rows in f64 and codes of two bytes for a hundred partitionings, about.
        let memory_per_job = rows * (8 * columns + 200);
        let settings = CrossValidation { n_folds: self.folds.n_folds(), memory_per_job, ..CrossValidation::default() };
        let seen: Mutex<Vec<(ClassifierParams, Confusion)>> = Mutex::new(Vec::new());
        let table = settings.run(groups, run, |members, fold| {
            let confusions = self.evaluate(members, fold)?;
            let accuracies = confusions.iter().map(Confusion::accuracy).collect();
            seen.lock().expect("no panic while noting").extend(members.iter().cloned().zip(confusions));
            Ok(accuracies)
        })?;
        // Counts add up to the same sum in whatever order the folds came.
        let mut confusion = Confusion::new(self.n_classes);
        for (params, part) in seen.into_inner().expect("all threads have ended") {
            if params == table.best().parameters {
                confusion.merge(&part);
            }
        }
        Ok(TunedClassifier { table, confusion })
    }

    fn evaluate(&self, members: &[ClassifierParams], fold: usize) -> Result<Vec<Confusion>> {
        let (train, test) = self.folds.split(fold);
        let pick = |rows: &[usize]| rows.iter().map(|&row| self.labels[row]).collect::<Vec<u32>>();
        let (train_points, train_labels) = (self.points.select(&train), pick(&train));
        let (test_points, test_labels) = (self.points.select(&test), pick(&test));
        // The map is that of the first member, whose group shares it.
        let Some(first) = members.first() else { return Ok(vec![]) };
        let map = first.clone().check()?.fit_map(train_points.as_points(), Run::single())?;
        let features = map.encode(train_points.as_points(), Run::single())?;
        let test_features = map.encode(test_points.as_points(), Run::single())?;
        let held_out = |params: &ClassifierParams| {
            let params = params.clone().check()?;
            let fit = params.fit_head(&features, &train_labels, self.n_classes, None, Run::single())?;
            let mut scores = vec![0.0; test.len() * fit.head.n_scores()];
            fit.head.scores_into(&test_features, &mut scores)?;
            let predicted = fit.head.classes_of(&scores, test.len());
            Ok(Confusion::of(self.n_classes, &test_labels, &predicted))
        };
        members.iter().map(held_out).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::IsolationMapParams;
    use crate::solve::LinearSvmParams;
    use crate::tune::{psi_grid, stratified_folds};

    #[test]
    fn a_useful_psi_beats_a_useless_one_and_threads_change_nothing() {
        let (points, labels) = super::super::tests::checkers(200, 5);
        let folds = stratified_folds(&labels, 4, 0).unwrap();
        let tuning = ClassifierTuning { points: &points, labels: &labels, n_classes: 2, folds: &folds };
        let groups: Vec<Vec<ClassifierParams>> = psi_grid(0..=9, tuning.training_rows())
            .into_iter()
            .map(|psi| {
                let map = IsolationMapParams::default().psi(psi).t(50);
                [0.1, 1.0]
                    .map(|c| ClassifierParams::IkSvm { map: map.clone(), svm: LinearSvmParams::default().c(c) })
                    .to_vec()
            })
            .collect();
        assert_eq!(groups.len(), 8, "2^0 to 2^7 of 150 training rows");
        let tuned = tuning.run(&groups, Run::single()).unwrap();
        let table = &tuned.table;
        assert!((tuned.confusion.accuracy() - table.best().mean).abs() < 0.01 && tuned.confusion.rows() == 200);
        assert!(table.best().mean > 0.95);
        assert!(table.entries[0].dropped && table.entries[0].mean < 0.7);
        assert_eq!(tuned, tuning.run(&groups, Run::threads(2)).unwrap());
    }
}
