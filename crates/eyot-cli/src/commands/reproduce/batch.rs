//! What the batch experiments of paper 1 share: its data sets split into training and test rows, the choice of ψ, and
//! one cell of a table.

use std::time::Instant;

use anyhow::Context;
use eyot::{
    AnyKernel, Classes, ClassifierParams, ClassifierTuning, Component, Confusion, CvEntry, CvTable, EncoderParams, IsolationMapParams,
    KernelSvmParams, Laplacian, LinearSvmParams, PointsBuf, Roles, Scale, Table, psi_grid, rng_of, stratified_folds,
};

use super::lab::Lab;
use super::results::{Ours, Published};

/// Memory for kernel rows.
const CACHE: usize = 1 << 30;

/// A data set: its name, how its columns become comparable, and where its test rows come from.
pub(super) struct Set {
    pub(super) name: &'static str,
    scale: Scale,
    /// Whether rows become dense, every value multiplied by this.
    dense: Option<f64>,
    /// Training rows to draw from a single file; 0 if there is a test file.
    drawn: usize,
    /// Labels that make up the positive class, where the task is one of two groups of classes.
    positive: &'static [&'static str],
    /// Whether it stands in for another set of the paper.
    pub(super) stand_in: bool,
}

const fn set(name: &'static str, scale: Scale, dense: Option<f64>, drawn: usize) -> Set {
    Set { name, scale, dense, drawn, positive: &[], stand_in: false }
}

/// The data sets of paper 1 that are at hand, and phishing.
pub(super) const SETS: &[Set] = &[
    set("a9a", Scale::None, Some(1.0), 0),
    set("ijcnn1", Scale::MinMax, None, 0),
    set("phishing", Scale::None, None, 8844),
    set("covtype", Scale::MinMax, None, 464_810),
    Set { stand_in: true, ..set("news20b", Scale::None, None, 0) },
    Set { positive: &["3", "4", "6", "7", "9"], ..set("mnist", Scale::None, Some(1.0 / 255.0), 0) },
    // By their public names only.
    set("news20", Scale::None, None, 0),
    set("rcv1", Scale::None, None, 0),
    set("real-sim", Scale::None, None, 0),
    Set { positive: &["0", "2", "3", "4", "5"], ..set("cifar10", Scale::None, Some(1.0 / 255.0), 0) },
];

/// More sets for the comparison of all methods.
pub(super) const GRID_SETS: &[Set] = &[
    set("higgs_small", Scale::MinMax, None, 0),
    set("susy_30k", Scale::MinMax, None, 24_000),
    set("codrna_30k_rowz", Scale::MinMax, None, 24_000),
    set("reuters_moneyfx", Scale::None, None, 0),
    set("rcv1_small", Scale::None, None, 0),
    Set { positive: &["0"], ..set("poker", Scale::MinMax, None, 0) },
    Set { positive: &["0", "2", "3", "4", "5"], ..set("cifar10_small", Scale::None, Some(1.0 / 255.0), 0) },
];

/// The method of Table 7 whose ψ Table 8 takes over.
const WITH_PSI: (&str, &str) = ("p1-table7", "IK_a-SVM, C = 1");

/// Rows to learn from and rows to be right on.
pub(super) struct Split {
    train: Rows,
    test: Rows,
}

struct Rows {
    points: PointsBuf,
    labels: Vec<u32>,
}

impl Rows {
    fn select(&self, rows: &[usize]) -> Self {
        Self { points: self.points.select(rows), labels: rows.iter().map(|&row| self.labels[row]).collect() }
    }

    /// So many rows, drawn at random; all if there are no more.
    fn sample(&self, n: usize, seed: u64) -> Self {
        self.select(&sorted(&shuffled(self.labels.len(), seed)[..n.min(self.labels.len())]))
    }
}

fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..n).collect();
    rng_of(seed, Component::Subset, 0).shuffle(&mut rows);
    rows
}

fn sorted(rows: &[usize]) -> Vec<usize> {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows
}

impl Split {
    /// Loads a set; `None` if it is not there or not asked for. Scaling is that of the training rows.
    pub(super) fn load(lab: &mut Lab<'_>, set: &Set) -> anyhow::Result<Option<Self>> {
        let seed = lab.seeds(1, 1).start;
        let path = format!("online/{}", set.name);
        let (train, test) = if set.drawn > 0 {
            let Some(mut table) = lab.table(&path)? else { return Ok(None) };
            // covtype has its seven classes beside the two of the task.
            table.columns.retain(|column| column.name != "class" && column.name != "arr_delay");
            let rows = shuffled(table.n_rows, seed);
            let (train, test) = rows.split_at(set.drawn.min(rows.len()));
            (table.select(&sorted(train)), table.select(&sorted(test)))
        } else {
            let Some(train) = lab.table(&format!("{path}.train"))? else { return Ok(None) };
            let Some(test) = lab.table(&format!("{path}.test"))? else { return Ok(None) };
            (train, test)
        };
        let roles = Roles { target: Some("label".into()), ignore: vec!["qid".into()], ..Roles::default() };
        let encoder = EncoderParams::default().scale(set.scale).roles(roles).check()?.fit(&train)?;
        let mut classes = Classes::default();
        let mut rows = |table: &Table| -> anyhow::Result<Rows> {
            let column = table.columns.iter().find(|column| column.name == "label").context("no column `label`")?;
            let mut labels = classes.numbers_or_insert(column, 0)?;
            if !set.positive.is_empty() {
                let positive = |label: u32| set.positive.contains(&classes.name(label));
                labels = labels.into_iter().map(|label| u32::from(positive(label))).collect();
            }
            let points = match set.dense {
                Some(factor) => times(&encoder.encode(table)?, factor)?,
                None => encoder.encode(table)?,
            };
            Ok(Rows { points, labels })
        };
        let (mut train, mut test) = (rows(&train)?, rows(&test)?);
        if lab.quick() {
            (train, test) = (train.sample(5000, seed), test.sample(5000, seed));
        }
        Ok(Some(Self { train, test }))
    }

    pub(super) fn columns(&self) -> usize {
        self.train.points.n_columns()
    }

    pub(super) fn training_rows(&self) -> usize {
        self.train.labels.len()
    }

    /// Cross-validates groups of candidates, which depend on how many rows a fold learns from, on at most `rows`
    /// training rows.
    fn tune(
        &self,
        lab: &Lab<'_>,
        rows: usize,
        groups: impl Fn(usize) -> Vec<Vec<ClassifierParams>>,
    ) -> anyhow::Result<CvTable<ClassifierParams>> {
        let seed = lab.seeds(1, 1).start;
        let sample = self.train.sample(if lab.quick() { rows.min(2000) } else { rows }, seed);
        let folds = stratified_folds(&sample.labels, if lab.quick() { 3 } else { 5 }, seed)?;
        let tuning =
            ClassifierTuning { points: &sample.points, labels: &sample.labels, n_classes: 2, folds: &folds };
        Ok(tuning.run(&groups(tuning.training_rows()), lab.run())?.table)
    }

    /// Accuracy on the test rows, and the seconds of learning and predicting without those of the feature map.
    fn measure(&self, lab: &Lab<'_>, params: &ClassifierParams) -> anyhow::Result<(f64, f64, f64)> {
        let params = params.clone().check()?;
        let start = Instant::now();
        let map = params.fit_map(self.train.points.as_points(), lab.run())?;
        let train = map.encode(self.train.points.as_points(), lab.run())?;
        let test = map.encode(self.test.points.as_points(), lab.run())?;
        let mapping = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let fit = params.fit_head(&train, &self.train.labels, 2, None, lab.run())?;
        let mut scores = vec![0.0; self.test.labels.len() * fit.head.n_scores()];
        fit.head.scores_into(&test, &mut scores)?;
        let learning = start.elapsed().as_secs_f64();
        let predicted = fit.head.classes_of(&scores, self.test.labels.len());
        Ok((Confusion::of(2, &self.test.labels, &predicted).accuracy(), learning, mapping))
    }

    /// Learns, and is right on a share of the test rows.
    pub(super) fn accuracy(&self, lab: &Lab<'_>, params: &ClassifierParams) -> anyhow::Result<Ours> {
        let (accuracy, learning, mapping) = self.measure(lab, params)?;
        let psi = params.isolation_map().map_or(String::new(), |map| format!("psi {}, ", psi_of(map)));
        Ok(Ours::of(vec![accuracy]).took(learning).with(format!("{psi}map {mapping:.1} s")))
    }

    /// One cell: chooses parameters, learns, and is right on a share of the test rows.
    pub(super) fn cell(
        &self,
        lab: &mut Lab<'_>,
        set: &str,
        method: &str,
        published: impl Into<Published>,
        choose: impl FnOnce(&Lab<'_>) -> anyhow::Result<ClassifierParams>,
    ) -> anyhow::Result<Ours> {
        lab.cell(set, method, published, |lab| {
            let params = choose(lab)?;
            self.accuracy(lab, &params)
        })
    }
}

/// Linear SVMs on isolation features, Voronoi cells, t = 100: of each price the ψ that does best by cross-validation.
pub(super) fn ik_svms<const N: usize>(
    split: &Split,
    lab: &Lab<'_>,
    prices: [f64; N],
) -> anyhow::Result<[ClassifierParams; N]> {
    let seed = lab.seeds(1, 1).start;
    let exponents = || if lab.quick() { 2..=8 } else { 2..=12 };
    let candidate = |psi: usize, c: f64| ClassifierParams::IkSvm {
        map: IsolationMapParams::default().psi(psi).seed(seed),
        svm: LinearSvmParams::default().c(c).seed(seed),
    };
    let group = |psi: usize| prices.iter().map(|&c| candidate(psi, c)).collect();
    let table = split.tune(lab, 10_000, |rows| psi_grid(exponents(), rows).into_iter().map(group).collect())?;
    let best = |number: usize| {
        let of_price = table.entries.iter().skip(number).step_by(N).filter(|entry| !entry.dropped);
        // Of equals the first, which has the smallest psi.
        of_price.fold(None, |best: Option<&CvEntry<_>>, entry| match best {
            Some(best) if entry.mean <= best.mean => Some(best),
            _ => Some(entry),
        })
    };
    // A price whose candidates were all given up takes the best psi of all.
    let chosen = |number: usize| best(number).unwrap_or_else(|| table.best()).parameters.clone();
    Ok(std::array::from_fn(|number| match (chosen(number), prices[number]) {
        (ClassifierParams::IkSvm { map, svm }, c) => ClassifierParams::IkSvm { map, svm: svm.c(c) },
        (other, _) => other,
    }))
}

/// The isolation map of Table 7, with C = 1: taken from there if it is finished, else chosen anew.
pub(super) fn chosen_map(split: &Split, lab: &Lab<'_>, set: &str) -> anyhow::Result<IsolationMapParams> {
    let seed = lab.seeds(1, 1).start;
    let known = lab.recall(WITH_PSI.0, set, WITH_PSI.1);
    let psi = known.and_then(|ours| ours.setting.strip_prefix("psi ")?.split(',').next()?.parse().ok());
    if let Some(psi) = psi {
        return Ok(IsolationMapParams::default().psi(psi).seed(seed));
    }
    let [params] = ik_svms(split, lab, [1.0])?;
    Ok(params.isolation_map().expect("IK-SVM has a map").clone())
}

/// Kernel SVM with a kernel that needs no choice.
pub(super) fn svm(kernel: AnyKernel) -> ClassifierParams {
    ClassifierParams::Svm { kernel, shift: true, svm: kernel_svm() }
}

/// The solver of kernel machines, C = 1.
pub(super) fn kernel_svm() -> KernelSvmParams {
    KernelSvmParams::default().cache_bytes(CACHE)
}

/// Kernel SVM with the Laplacian kernel ψ^(−‖x−y‖₁/d), ψ by cross-validation.
pub(super) fn laplacian_svm(split: &Split, lab: &Lab<'_>) -> anyhow::Result<ClassifierParams> {
    let exponents = if lab.quick() { 4..=8 } else { 2..=12 };
    let kernels = psi_grid(exponents, usize::MAX).into_iter().map(|psi| Laplacian::of_psi(psi as f64, split.columns()));
    let params: Vec<ClassifierParams> = kernels.map(|kernel| svm(AnyKernel::Laplacian(kernel))).collect();
    let groups: Vec<Vec<ClassifierParams>> = params.into_iter().map(|params| vec![params]).collect();
    Ok(split.tune(lab, 2000, |_| groups.clone())?.best().parameters.clone())
}

/// The ψ of the paper's grid, or every other one for a short answer, that does best by cross-validation on at most `rows`
/// training rows.
pub(super) fn choose(split: &Split, lab: &Lab<'_>, rows: usize, of: impl Fn(usize) -> ClassifierParams) -> anyhow::Result<ClassifierParams> {
    let step = if lab.quick() { 2 } else { 1 };
    let groups = |rows: usize| psi_grid(2..=12, rows).into_iter().step_by(step).map(|psi| vec![of(psi)]).collect();
    Ok(split.tune(lab, rows, groups)?.best().parameters.clone())
}

fn psi_of(map: &IsolationMapParams) -> usize {
    let json = serde_json::to_value(map).unwrap_or_default();
    json["psi"].as_u64().unwrap_or_default() as usize
}

/// Dense rows, all values times a factor.
fn times(points: &PointsBuf, factor: f64) -> eyot::Result<PointsBuf> {
    let columns = points.n_columns();
    let mut values = vec![0.0; points.n_rows() * columns];
    for (row, out) in points.as_points().rows().zip(values.chunks_mut(columns.max(1))) {
        row.nonzeros().for_each(|(column, value)| out[column] = value * factor);
    }
    PointsBuf::from_dense(values, columns)
}
