//! Choosing a classifier's parameters by cross-validation.

use std::sync::Mutex;

use super::{ClassifierParams, FeatureBatch};
use crate::data::{Points, PointsBuf};
use crate::error::Result;
use crate::map::IsolationMapParams;
use crate::parallel::Run;
use crate::partition::{Codes, Partition};
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
    /// group and fold, on the fold's training rows only. Groups of Voronoi cells that differ in ψ alone are encoded in
    /// one search over the largest ψ still alive.
    pub fn run(&self, groups: &[Vec<ClassifierParams>], run: Run<'_>) -> Result<TunedClassifier> {
        let (rows, columns) = (self.points.n_rows(), self.points.n_columns().min(4096));
        // Features in f64 and codes of two bytes for a hundred partitionings, about.
        let memory_per_job = rows * (8 * columns + 200);
        let settings = CrossValidation { n_folds: self.folds.n_folds(), memory_per_job, ..CrossValidation::default() };
        let seen: Mutex<Vec<(ClassifierParams, Confusion)>> = Mutex::new(Vec::new());
        let prepare = |fold: usize, alive: &[Vec<ClassifierParams>], run: Run<'_>| Part::new(self, fold, alive, run);
        let table = settings.run_prepared(groups, run, prepare, |part, members, _| {
            let confusions = part.evaluate(members, self.n_classes)?;
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
}

/// One fold: rows to learn from, rows held out, and codes that were found together.
struct Part {
    train: Rows,
    test: Rows,
    nested: Vec<NestedCodes>,
}

struct Rows {
    points: PointsBuf,
    labels: Vec<u32>,
}

/// The codes of the map of these parameters.
struct NestedCodes {
    params: IsolationMapParams,
    train: FeatureBatch<'static>,
    test: FeatureBatch<'static>,
}

impl Part {
    fn new(tuning: &ClassifierTuning<'_>, fold: usize, alive: &[Vec<ClassifierParams>], run: Run<'_>) -> Result<Self> {
        let (train, test) = tuning.folds.split(fold);
        let rows = |rows: &[usize]| Rows {
            points: tuning.points.select(rows),
            labels: rows.iter().map(|&row| tuning.labels[row]).collect(),
        };
        let nested = nested_codes(alive, tuning.points.as_points(), &train, &test, run)?;
        Ok(Self { train: rows(&train), test: rows(&test), nested })
    }

    /// How each member of a group does on the rows held out.
    fn evaluate(&self, members: &[ClassifierParams], n_classes: usize) -> Result<Vec<Confusion>> {
        // The map is that of the first member, whose group shares it.
        let Some(first) = members.first() else { return Ok(vec![]) };
        let params = first.isolation_map();
        if let Some(codes) = self.nested.iter().find(|codes| Some(&codes.params) == params) {
            return self.held_out(members, &codes.train, &codes.test, n_classes);
        }
        let map = first.clone().check()?.fit_map(self.train.points.as_points(), Run::single())?;
        let train = map.encode(self.train.points.as_points(), Run::single())?;
        let test = map.encode(self.test.points.as_points(), Run::single())?;
        self.held_out(members, &train, &test, n_classes)
    }

    fn held_out(
        &self,
        members: &[ClassifierParams],
        train: &FeatureBatch<'_>,
        test: &FeatureBatch<'_>,
        n_classes: usize,
    ) -> Result<Vec<Confusion>> {
        let one = |params: &ClassifierParams| {
            let fit = params.clone().check()?.fit_head(train, &self.train.labels, n_classes, None, Run::single())?;
            let mut scores = vec![0.0; self.test.labels.len() * fit.head.n_scores()];
            fit.head.scores_into(test, &mut scores)?;
            Ok(Confusion::of(n_classes, &self.test.labels, &fit.head.classes_of(&scores, self.test.labels.len())))
        };
        members.iter().map(one).collect()
    }
}

/// The codes of all groups whose maps nest: those like the first group's but for ψ. The maps are made from the rows
/// `train` alone.
fn nested_codes(
    alive: &[Vec<ClassifierParams>],
    points: Points<'_>,
    train: &[usize],
    test: &[usize],
    run: Run<'_>,
) -> Result<Vec<NestedCodes>> {
    let maps: Vec<&IsolationMapParams> =
        alive.iter().filter_map(|group| group.first().and_then(ClassifierParams::isolation_map)).collect();
    let Some(first) = maps.first() else { return Ok(vec![]) };
    let alike = |map: &&IsolationMapParams| map.psi <= train.len() && (*map).clone().psi(first.psi) == **first;
    let mut family: Vec<&IsolationMapParams> = maps.iter().copied().filter(alike).collect();
    family.sort_by_key(|map| map.psi);
    family.dedup();
    let (Some(largest), true) = (family.last(), family.len() > 1 && first.partition == Partition::Voronoi) else {
        return Ok(vec![]);
    };
    let map = {
        let mut rows = PointsBuf::like(&points);
        for &row in train {
            rows.push(points.row(row));
        }
        (*largest).clone().check()?.fit(rows.as_points(), run)?
    };
    let psis: Vec<usize> = family.iter().map(|map| map.psi).collect();
    // All rows at once, because what one search over many rows needs to get started is paid once.
    let Some(codes) = map.encode_nested(points, &psis, run)? else { return Ok(vec![]) };
    let part = |codes: &Codes, rows: &[usize]| FeatureBatch::Codes(codes.select(rows));
    let pairs = family.into_iter().zip(&codes);
    Ok(pairs
        .map(|(params, codes)| NestedCodes {
            params: params.clone(),
            train: part(codes, train),
            test: part(codes, test),
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
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
        // One group at a time shares no codes, and gives the same figures.
        for (number, group) in groups.iter().enumerate().skip(2) {
            let alone = tuning.run(std::slice::from_ref(group), Run::single()).unwrap();
            assert_eq!(alone.table.entries[1], table.entries[2 * number + 1], "group {number}");
        }
    }
}
