//! IK-OGD: online gradient descent on the exact finite map of the Isolation Kernel. Nonlinear, yet constant in memory
//! and time per point: a point is t cells, its score t look-ups, a step t additions. Good where densities vary; needs
//! an initial set from which the partitionings are drawn, and ψ to suit the data.
//!
//! f(x) = (1/t) Σ_i w\[i, φ_i(x)\]; where the gradient is not 0, w\[i, φ_i(x)\] −= η·g for all i. That is kernel gradient
//! descent, f = Σ β_j K(x_j, x) with K = matches/t, in its primal form. The paper writes f = ⟨w, Φ⟩ without 1/t; its
//! counts of support vectors fit K, and so do we (`raw_scale` gives the other). More classes have one weight each per
//! cell and Crammer–Singer steps; regression with the squared loss needs 0 < η < 2.
//!
//! Three forms give the same decisions, for the paper's ablation: [`Form::Primal`] (t look-ups), [`Form::Naive`] (all
//! t·ψ products) and [`Form::Dual`] (codes of all violators kept, which grows). Cost: the map, then O(t).
//!
//! # References
//! Isolation Kernel for online kernel learning, Algorithm 2, §8.1; hinge trigger m < 1 as in [`super::Ogd`].

use serde::{Deserialize, Serialize};

use super::{
    Ahead, Head, Input, Mapped, OnlineLearner, OnlineLoss, Scratch, Step, Target, head_access, load_head,
    widen_coefficients,
};
use crate::data::{Features, Points, Row, SparseRow};
use crate::error::Result;
use crate::map::{IsolationMap, IsolationMapParams};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::{Checked, not_negative, params, positive};
use crate::partition::{Cell, CodeRow, NONE, Partition};

/// How the model is kept; decisions are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// One weight per cell, looked up.
    Primal,
    /// One weight per cell, all of them multiplied.
    Naive,
    /// The codes of every point that moved the model.
    Dual,
}

params! {
    /// Parameters of [`IkOgd`].
    pub struct IkOgdParams {
        /// What is minimised.
        loss: OnlineLoss = OnlineLoss::Hinge,
        /// Errors of numbers within it count as none.
        epsilon: f64 = 0.0,
        /// The rate η.
        eta: f64 = 0.5,
        /// Scores without the factor 1/t, as the paper writes them.
        raw_scale: bool = false,
        /// Regression: a weight that every point shares, for points in no cell.
        intercept: bool = false,
        /// How the model is kept.
        form: Form = Form::Primal,
    }
}

impl IkOgdParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        not_negative("epsilon", self.epsilon)?;
        positive("eta", self.eta)?;
        Ok(Checked::new(self))
    }
}

/// The learner.
#[derive(Debug, Clone)]
pub struct IkOgd {
    params: Checked<IkOgdParams>,
    head: Head,
    map: IsolationMap,
    /// Weight of cell j of partitioning i for class k at (i·ψ + j)·classes + k; empty in the dual form.
    weights: Vec<f64>,
    /// One per score.
    intercept: Vec<f64>,
    kept: Kept,
}

/// The violators of the dual form: t cells and one coefficient per score each.
#[derive(Debug, Clone, Default)]
struct Kept {
    cells: Vec<Cell>,
    coefficients: Vec<f64>,
}

impl Checked<IkOgdParams> {
    /// A learner whose map is fitted on these points.
    pub fn start(self, map: &Checked<IsolationMapParams>, initial: Points<'_>, run: Run<'_>) -> Result<IkOgd> {
        Ok(self.with_map(map.fit(initial, run)?))
    }

    /// A learner on a map that is fitted already.
    pub fn with_map(mut self, map: IsolationMap) -> IkOgd {
        if self.loss.is_regression() && map.params().partition == Partition::Sphere {
            self = Checked::new(self.into_inner().intercept(true));
        }
        let weights = if self.form == Form::Dual { Vec::new() } else { vec![0.0; map.n_features()] };
        IkOgd {
            head: Head::new(self.loss, self.epsilon, map.n_columns()),
            weights,
            intercept: vec![0.0],
            kept: Kept::default(),
            map,
            params: self,
        }
    }
}

impl IkOgd {
    /// The map.
    pub const fn map(&self) -> &IsolationMap {
        &self.map
    }

    /// Weights of the cells, partitioning by partitioning, classes innermost.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// One over the factor of Σw in f.
    fn divisor(&self) -> f64 {
        if self.params.raw_scale { 1.0 } else { self.map.t() as f64 }
    }

    /// The cells of a row. Columns that the map does not know are left out: no sample has them, so they change no
    /// nearest centre and no cut.
    fn encode(&self, row: Row<'_>, cells: &mut Vec<Cell>) {
        cells.resize(self.map.t(), 0);
        let known = match row {
            Row::Sparse(row) => {
                let n = row.columns.partition_point(|&column| (column as usize) < self.map.n_columns());
                Row::Sparse(SparseRow { columns: &row.columns[..n], values: &row.values[..n] })
            }
            row => row,
        };
        self.map.encode_row(known, cells);
    }

    /// Σ of the weights of a point's cells into the scores.
    fn sum_cells(&self, features: impl Iterator<Item = usize>, scores: &mut [f64]) {
        let n = scores.len();
        for feature in features {
            let weights = &self.weights[feature * n..(feature + 1) * n];
            scores.iter_mut().zip(weights).for_each(|(score, w)| *score += w);
        }
    }

    /// All t·ψ products with the expanded vector.
    fn sum_all(&self, features: impl Iterator<Item = usize>, at: &mut Scratch) {
        at.features.clear();
        at.features.resize(self.map.n_features(), 0.0);
        features.for_each(|feature| at.features[feature] = 1.0);
        let n = at.scores.len();
        for (k, score) in at.scores.iter_mut().enumerate() {
            *score = self.weights.iter().skip(k).step_by(n).zip(&at.features).map(|(w, x)| w * x).sum();
        }
    }

    /// Σ β_j · matches with every kept point.
    fn sum_kept(&self, cells: &[Cell], scores: &mut [f64]) {
        let kept = self.kept.cells.chunks_exact(self.map.t());
        for (kept, beta) in kept.zip(self.kept.coefficients.chunks_exact(scores.len())) {
            let matches = kept.iter().zip(cells).filter(|&(x, y)| x == y && *x != NONE).count() as f64;
            scores.iter_mut().zip(beta).for_each(|(score, beta)| *score += beta * matches);
        }
    }

    fn add_cells(&mut self, features: impl Iterator<Item = usize>, step: Step, rate: f64) {
        let n = self.intercept.len();
        for feature in features {
            step.add_to(&mut self.weights[feature * n..(feature + 1) * n], rate);
        }
    }
}

/// Positions of the ones in Φ(x).
fn features_of(cells: &[Cell], psi: usize) -> impl Iterator<Item = usize> {
    cells.iter().enumerate().filter(|&(_, &cell)| cell != NONE).map(move |(i, &cell)| i * psi + cell as usize)
}

/// The codes of a point that were computed ahead.
fn codes_of(x: Input<'_>) -> Option<CodeRow<'_>> {
    if let Some(Mapped::Codes(codes)) = x.mapped { Some(codes) } else { None }
}

impl OnlineLearner for IkOgd {
    head_access!();

    fn widen(&mut self) {
        let (from, to) = (self.intercept.len(), self.head.n_scores());
        for coefficients in [&mut self.weights, &mut self.intercept, &mut self.kept.coefficients] {
            widen_coefficients(coefficients, from, to);
        }
    }

    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        let n = self.intercept.len();
        at.scores.clear();
        at.scores.resize(n, 0.0);
        let mut cells = std::mem::take(&mut at.cells);
        let codes = codes_of(x);
        if codes.is_none() || self.params.form != Form::Primal {
            match codes {
                Some(codes) => {
                    cells.clear();
                    cells.extend(codes.cells());
                }
                None => self.encode(x.row, &mut cells),
            }
        }
        match (self.params.form, codes) {
            (Form::Primal, Some(codes)) if n == 1 => at.scores[0] = codes.dot(&self.weights),
            (Form::Primal, Some(codes)) => self.sum_cells(codes.features(), &mut at.scores),
            (Form::Primal, None) => self.sum_cells(features_of(&cells, self.map.psi()), &mut at.scores),
            (Form::Naive, _) => self.sum_all(features_of(&cells, self.map.psi()), at),
            (Form::Dual, _) => self.sum_kept(&cells, &mut at.scores),
        }
        at.cells = cells;
        let divisor = self.divisor();
        at.scores.iter_mut().zip(&self.intercept).for_each(|(score, b)| *score = *score / divisor + b);
    }

    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        let Some(step) = self.head.step(&at.scores, target) else { return };
        let eta = self.params.eta;
        match (self.params.form, codes_of(x)) {
            (Form::Dual, _) => {
                self.kept.cells.extend_from_slice(&at.cells);
                let start = self.kept.coefficients.len();
                self.kept.coefficients.resize(start + self.intercept.len(), 0.0);
                step.add_to(&mut self.kept.coefficients[start..], eta);
            }
            (_, Some(codes)) if self.intercept.len() == 1 => codes.add_to(&mut self.weights, eta * step.amount),
            (_, Some(codes)) => self.add_cells(codes.features(), step, eta),
            (_, None) => self.add_cells(features_of(&at.cells, self.map.psi()), step, eta),
        }
        if self.params.intercept {
            step.add_to(&mut self.intercept, eta);
        }
    }

    fn map_ahead(&self, points: Points<'_>, run: Run<'_>) -> Result<Ahead> {
        if points.n_columns() > self.map.n_columns() {
            return Ok(Ahead::Nothing);
        }
        Ok(Ahead::Codes(self.map.encode(points, run)?))
    }

    fn n_kept(&self) -> Option<usize> {
        (self.params.form == Form::Dual).then(|| self.kept.cells.len() / self.map.t())
    }
}

impl Persist for IkOgd {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.parameters"), &*self.params);
        out.put_json(&format!("{prefix}.head"), &self.head);
        self.map.save(out, &format!("{prefix}.map"));
        out.put_f64(&format!("{prefix}.weights"), &self.weights);
        out.put_f64(&format!("{prefix}.intercept"), &self.intercept);
        if self.params.form == Form::Dual {
            out.put_u32(&format!("{prefix}.kept"), &self.kept.cells);
            out.put_f64(&format!("{prefix}.coefficients"), &self.kept.coefficients);
        }
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let params: IkOgdParams = from.json(&format!("{prefix}.parameters"))?;
        let params = params.check().map_err(|error| bad_part(prefix, &error.to_string()))?;
        let head = load_head(from, prefix)?;
        let map = IsolationMap::load(from, &format!("{prefix}.map"))?;
        let n = head.n_scores();
        let dual = params.form == Form::Dual;
        let weights = from.finite_f64s(&format!("{prefix}.weights"), if dual { 0 } else { map.n_features() * n })?;
        let intercept = from.finite_f64s(&format!("{prefix}.intercept"), n)?;
        let mut kept = Kept::default();
        if dual {
            kept.cells = from.u32s(&format!("{prefix}.kept"))?;
            if kept.cells.len() % map.t() != 0 {
                return Err(bad_part(prefix, "has kept points that do not fit its map"));
            }
            let len = kept.cells.len() / map.t() * n;
            kept.coefficients = from.finite_f64s(&format!("{prefix}.coefficients"), len)?;
        }
        if head.columns != map.n_columns() {
            return Err(bad_part(prefix, "does not fit its map"));
        }
        Ok(Self { params, head, map, weights, intercept, kept })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PointsBuf;
    use crate::rng::{Component, rng_of};

    fn stream(n: usize) -> PointsBuf {
        let mut rng = rng_of(6, Component::Synthetic, 0);
        PointsBuf::from_dense((0..2 * n).map(|_| rng.open01()).collect(), 2).unwrap()
    }

    /// Chequered: not separable by any straight line.
    fn class_of(x: Row<'_>, classes: usize) -> u32 {
        ((x.get(0) * 3.0) as usize + (x.get(1) * 3.0) as usize).rem_euclid(classes) as u32
    }

    fn start(params: IkOgdParams, partition: Partition, points: &PointsBuf) -> IkOgd {
        let map = IsolationMapParams::default().partition(partition).psi(32).t(40).check().unwrap();
        params.check().unwrap().start(&map, points.as_points(), Run::single()).unwrap()
    }

    #[test]
    fn primal_dual_and_naive_agree_exactly() {
        let points = stream(1000);
        for partition in [Partition::Voronoi, Partition::Tree, Partition::Sphere] {
            for classes in [2, 3] {
                let forms = [Form::Primal, Form::Dual, Form::Naive];
                let mut learners = forms.map(|form| start(IkOgdParams::default().form(form), partition, &points));
                let mut at = Scratch::default();
                for x in points.as_points().rows() {
                    let scores = learners.each_mut().map(|learner| {
                        learner.learn(x.into(), Target::Class(class_of(x, classes)), &mut at).unwrap();
                        at.scores.clone()
                    });
                    assert!(scores[0] == scores[1] && scores[0] == scores[2], "{scores:?}");
                }
            }
        }
    }

    #[test]
    fn codes_computed_ahead_teach_the_same() {
        let points = stream(500);
        for classes in [2, 3] {
            let mut one = start(IkOgdParams::default(), Partition::Voronoi, &points);
            let mut ahead = one.clone();
            let codes = ahead.map_ahead(points.as_points(), Run::threads(2)).unwrap();
            let (mut a, mut b) = (Scratch::default(), Scratch::default());
            for (i, x) in points.as_points().rows().enumerate() {
                let target = Target::Class(class_of(x, classes));
                one.learn(x.into(), target, &mut a).unwrap();
                ahead.learn(Input { row: x, mapped: codes.row(i) }, target, &mut b).unwrap();
                assert_eq!(a.scores, b.scores);
            }
            assert_eq!(one.weights, ahead.weights);
        }
    }

    #[test]
    fn every_partitioning_has_the_same_sum_of_weights() {
        let points = stream(500);
        for partition in [Partition::Voronoi, Partition::Tree] {
            let mut learner = start(IkOgdParams::default(), partition, &points);
            let mut at = Scratch::default();
            for x in points.as_points().rows() {
                learner.learn(x.into(), Target::Class(class_of(x, 2)), &mut at).unwrap();
            }
            let sums: Vec<f64> = learner.weights.chunks_exact(32).map(|block| block.iter().sum()).collect();
            assert!(sums.iter().all(|&sum| sum == sums[0]), "{sums:?}");
        }
    }

    #[test]
    fn a_point_in_no_cell_scores_zero() {
        let points = stream(300);
        let mut learner = start(IkOgdParams::default(), Partition::Sphere, &points);
        let mut at = Scratch::default();
        for x in points.as_points().rows() {
            learner.learn(x.into(), Target::Class(class_of(x, 2)), &mut at).unwrap();
        }
        learner.score(Row::F64(&[1e9, 1e9]).into(), &mut at);
        assert_eq!(at.scores, [0.0]);
    }

    #[test]
    fn two_of_three_classes_follow_the_binary_learner_at_twice_the_rate() {
        let points = stream(400);
        let mut binary = start(IkOgdParams::default().eta(0.5), Partition::Voronoi, &points);
        let mut multi = start(IkOgdParams::default().eta(0.25), Partition::Voronoi, &points);
        // Three classes, the third never met: it stays at 0 while the other two are each other's runner-up only if
        // they lie above it, so a third score of −∞ is emulated by comparing differences where that holds.
        multi.head.classes = 3;
        multi.widen();
        let far_below = -1e6;
        multi.intercept[2] = far_below;
        let (mut a, mut b) = (Scratch::default(), Scratch::default());
        for x in points.as_points().rows() {
            let target = Target::Class(class_of(x, 2));
            binary.learn(x.into(), target, &mut a).unwrap();
            multi.learn(x.into(), target, &mut b).unwrap();
            assert!((a.scores[0] - (b.scores[1] - b.scores[0])).abs() < 1e-9);
        }
    }

    #[test]
    fn regression_on_a_constant_converges_geometrically() {
        let points = stream(50);
        let params = IkOgdParams::default().loss(OnlineLoss::Squared).eta(0.3);
        let mut learner = start(params, Partition::Voronoi, &points);
        let mut at = Scratch::default();
        for step in 0..20 {
            learner.learn(points.row(0).into(), Target::Value(5.0), &mut at).unwrap();
            assert!((5.0 - at.scores[0] - 5.0 * 0.7f64.powi(step)).abs() < 1e-9);
        }
    }

    #[test]
    fn learns_what_no_line_separates() {
        let points = stream(6000);
        for partition in [Partition::Voronoi, Partition::Tree, Partition::Sphere] {
            let mut learner = start(IkOgdParams::default(), partition, &points);
            let mut at = Scratch::default();
            let mut late_mistakes = 0;
            for (i, x) in points.as_points().rows().enumerate() {
                let target = Target::Class(class_of(x, 2));
                learner.learn(x.into(), target, &mut at).unwrap();
                late_mistakes += usize::from(i >= 5000 && learner.head.predict(&at.scores) != target);
            }
            assert!(late_mistakes < 200, "{partition:?}: {late_mistakes} of 1000");
        }
    }

    #[test]
    fn unknown_sparse_columns_change_nothing() {
        let points = stream(300);
        let learner = start(IkOgdParams::default(), Partition::Voronoi, &points);
        let (mut known, mut wide) = (Vec::new(), Vec::new());
        learner.encode(Row::Sparse(SparseRow { columns: &[0, 1], values: &[0.3, 0.4] }), &mut known);
        learner.encode(Row::Sparse(SparseRow { columns: &[0, 1, 70], values: &[0.3, 0.4, 9.0] }), &mut wide);
        assert_eq!(known, wide);
    }
}
