//! What the experiments of paper 3 share: its data sets with the published AUC, and AUC over the grids of ψ.

use eyot::{
    Component, Idk, Inne, IsolationForest, IsolationMapParams, MultiScaleParams, Norm, Partition, Points, PointsBuf, Run, Scale,
    ScaleRule, Detector as _, rng_of, roc_auc,
};

use super::lab::{Lab, Targets};

/// Partitionings and trees, as in the paper.
pub(super) const T: usize = 100;

/// Rows of a data set for a short answer.
pub(super) const QUICK_ROWS: usize = 50_000;

/// A data set of the paper.
pub(super) struct Set {
    /// As the paper writes it.
    pub(super) name: &'static str,
    /// The file in the folder `anomaly`.
    pub(super) file: &'static str,
    /// Published AUC of K_I, K_G, K_NG, OCSVM, ‖Φ‖, iNNE and isolation forest.
    pub(super) published: [f64; 7],
    /// Whether the file holds another random draw of anomalies than the paper's, which is not known.
    pub(super) other_draw: bool,
}

/// Tables 2 and 4.
pub(super) const SETS: [Set; 14] = [
    set("speech", "speech", [0.76, 0.46, 0.47, 0.65, 0.75, 0.75, 0.46]),
    drawn("EEG_eye", "eeg_eye", [0.88, 0.55, 0.47, 0.54, 0.87, 0.87, 0.58]),
    drawn("PenDigits", "pendigits", [0.98, 0.98, 0.95, 0.98, 0.96, 0.96, 0.93]),
    drawn("MNIST_230", "mnist_230", [0.98, 0.97, 0.97, 0.96, 0.97, 0.97, 0.88]),
    drawn("MNIST_479", "mnist_479", [0.86, 0.69, 0.60, 0.59, 0.60, 0.86, 0.45]),
    set("mammography", "mammography", [0.88, 0.85, 0.86, 0.84, 0.86, 0.84, 0.87]),
    set("electron", "electron", [0.80, 0.65, 0.57, 0.64, 0.78, 0.79, 0.80]),
    set("shuttle", "shuttle", [0.98, 0.98, 0.99, 0.98, 0.98, 0.98, 0.99]),
    set("ALOI", "aloi", [0.82, 0.60, 0.54, 0.53, 0.82, 0.82, 0.55]),
    set("muon", "muon", [0.82, 0.63, 0.55, 0.75, 0.81, 0.82, 0.74]),
    set("smtp", "smtp", [0.95, 0.81, 0.77, 0.91, 0.92, 0.94, 0.92]),
    set("IoT_botnet", "iot_botnet", [0.99, 0.83, 0.68, 0.93, 0.99, 0.99, 0.94]),
    set("ForestCover", "forestcover", [0.97, 0.85, 0.86, 0.96, 0.96, 0.96, 0.93]),
    set("http", "http", [0.99, 0.99, 0.98, 0.97, 0.99, 0.99, 0.99]),
];

const fn set(name: &'static str, file: &'static str, published: [f64; 7]) -> Set {
    Set { name, file, published, other_draw: false }
}

const fn drawn(name: &'static str, file: &'static str, published: [f64; 7]) -> Set {
    Set { other_draw: true, ..set(name, file, published) }
}

/// Rows scaled to 0…1, and which of them are anomalies.
pub(super) struct Data {
    pub(super) points: PointsBuf,
    pub(super) anomalous: Vec<bool>,
}

impl Data {
    /// The data set of this file name, if it is there.
    pub(super) fn load(lab: &mut Lab<'_>, file: &str) -> anyhow::Result<Option<Self>> {
        let Some(labelled) = lab.classes(&format!("anomaly/{file}"), Scale::MinMax)? else { return Ok(None) };
        let Targets::Classes(numbers, classes) = labelled.targets else { unreachable!("classes were asked for") };
        let anomalous = numbers.iter().map(|&class| classes.name(class) == "1").collect();
        let data = Self { points: labelled.points, anomalous };
        Ok(Some(if lab.quick() { data.part(QUICK_ROWS) } else { data }))
    }

    /// A random part of so many rows, in their order; all if there are no more.
    pub(super) fn part(self, most: usize) -> Self {
        let n = self.points.n_rows();
        if n <= most {
            return self;
        }
        let mut rows: Vec<usize> = (0..n).collect();
        rng_of(0, Component::Subset, 2).shuffle(&mut rows);
        rows.truncate(most);
        rows.sort_unstable();
        Self { points: self.points.select(&rows), anomalous: rows.iter().map(|&row| self.anomalous[row]).collect() }
    }

    pub(super) fn points(&self) -> Points<'_> {
        self.points.as_points()
    }

    pub(super) fn auc(&self, scores: &[f64]) -> eyot::Result<f64> {
        roc_auc(scores, &self.anomalous)
    }

    /// The ψ of the paper's grid, 2 to 4096, below the number of rows and within the work allowed.
    pub(super) fn grid(&self, most_work: usize) -> Vec<usize> {
        let n = self.points.n_rows();
        (1..=12).map(|m| 1 << m).filter(|&psi| psi < n && n * psi <= most_work).collect()
    }

    /// AUC of K_I (`Similarity`) or ‖Φ‖ (`Coverage`) at every ψ of the grid: one sweep over nested samples answers up
    /// to a quarter of the rows, the rest is fitted one by one.
    pub(super) fn auc_of_balls(&self, rule: ScaleRule, grid: &[usize], seed: u64, run: Run<'_>) -> eyot::Result<Vec<f64>> {
        let largest = grid.last().copied().unwrap_or(2);
        let params = MultiScaleParams::default().rule(rule).t(T).seed(seed).max_psi(Some(largest)).check()?;
        let (model, levels) = params.fit_levels(self.points(), run)?;
        let n_scales = model.scales().len();
        let one = |psi: usize| -> eyot::Result<f64> {
            if let Some(m) = model.scales().iter().position(|&scale| scale == psi) {
                return self.auc(&levels.iter().skip(m).step_by(n_scales).copied().collect::<Vec<f64>>());
            }
            let map = IsolationMapParams::default().partition(Partition::Sphere).psi(psi).t(T).seed(seed).check()?;
            self.auc(&match rule {
                ScaleRule::Coverage => Norm::fit(&map, self.points(), run)?.score(self.points(), run)?,
                _ => Idk::fit_score(&map, self.points(), run)?.1,
            })
        };
        grid.iter().map(|&psi| one(psi)).collect()
    }

    /// AUC of iNNE at every ψ of the grid.
    pub(super) fn auc_of_inne(&self, grid: &[usize], seed: u64, run: Run<'_>) -> eyot::Result<Vec<f64>> {
        let one = |&psi| self.auc(&Inne::fit(psi, T, seed, self.points(), run)?.score(self.points(), run)?);
        grid.iter().map(one).collect()
    }

    /// AUC of isolation forests at every ψ of the grid.
    pub(super) fn auc_of_forests(&self, grid: &[usize], seed: u64, run: Run<'_>) -> eyot::Result<Vec<f64>> {
        let one = |&psi| self.auc(&IsolationForest::fit(psi, T, seed, self.points(), run)?.score(self.points(), run)?);
        grid.iter().map(one).collect()
    }
}

/// The setting of highest mean over the runs, `runs[i][k]` being setting k in run i: its number and its values.
pub(super) fn best(runs: &[Vec<f64>]) -> (usize, Vec<f64>) {
    let of = |k: usize| -> Vec<f64> { runs.iter().map(|run| run[k]).collect() };
    let sum = |k: usize| of(k).iter().sum::<f64>();
    let settings = runs.first().map_or(0, Vec::len);
    let best = (0..settings).max_by(|&a, &b| sum(a).total_cmp(&sum(b)).then(b.cmp(&a))).unwrap_or(0);
    (best, if settings == 0 { Vec::new() } else { of(best) })
}
