//! Nyström online gradient descent (NOGD): gradient descent on Nyström features whose landmarks are the first margin
//! violators of the stream, or random points of an initial set. Constant memory and time per point; limited by what a
//! few landmarks can tell apart.
//!
//! Phase 1 (fewer than b landmarks): kernel gradient descent, violators become landmarks with β = −η·g. At the first
//! violation after that the map is built and w = Σ β_i x̂_i, then that violation is learned. Phase 2: f = w·x̂, and where
//! the gradient is not 0, w −= η·g·x̂. Cost O(bd + br) per point, O(b³) once.
//!
//! # References
//! Isolation Kernel for online kernel learning, §7 (b = 100, r = 0.2b, landmarks from the initial set);
//! Reparameterized Random Features, §5 (first violators).

use serde::{Deserialize, Serialize};

use super::{
    Expansion, Head, Input, Linear, OnlineLearner, OnlineLoss, Scratch, Target, default_kernel, head_access, load_head,
};
use crate::data::{Points, PointsBuf};
use crate::error::Result;
use crate::kernel::AnyKernel;
use crate::map::NystroemMap;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::{Checked, in_range, not_negative, params, positive};

/// More landmarks would make the eigenvectors cost too much.
const MAX_LANDMARKS: usize = 16_384;

/// Which points are landmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Landmarks {
    /// The first points of the stream whose loss has a gradient.
    FirstViolations,
    /// Random points of the initial set.
    Uniform,
}

params! {
    /// Parameters of [`Nogd`].
    pub struct NogdParams {
        /// The kernel.
        kernel: AnyKernel = default_kernel(),
        /// Number of landmarks, b.
        budget: usize = 100,
        /// Most features, r; 0 stands for a fifth of the landmarks.
        rank: usize = 0,
        /// Which points are landmarks.
        landmarks: Landmarks = Landmarks::FirstViolations,
        /// What is minimised.
        loss: OnlineLoss = OnlineLoss::Hinge,
        /// Errors of numbers within it count as none.
        epsilon: f64 = 0.1,
        /// The rate η before the map is built.
        eta: f64 = 0.5,
        /// The rate after it; 0 stands for the same.
        eta_mapped: f64 = 0.0,
        /// Seed of uniform landmarks.
        seed: u64 = 0,
    }
}

impl NogdParams {
    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        self.kernel.check()?;
        in_range("budget", self.budget, 1..=MAX_LANDMARKS)?;
        in_range("rank", self.rank, 0..=self.budget)?;
        not_negative("epsilon", self.epsilon)?;
        positive("eta", self.eta)?;
        not_negative("eta_mapped", self.eta_mapped)?;
        Ok(Checked::new(self))
    }

    fn rank_or_fifth(&self) -> usize {
        if self.rank == 0 { self.budget.div_ceil(5) } else { self.rank }
    }
}

#[derive(Debug, Clone)]
enum Phase {
    Collecting(Expansion),
    Mapped(NystroemMap, Linear),
}

/// The learner.
#[derive(Debug, Clone)]
pub struct Nogd {
    params: Checked<NogdParams>,
    head: Head,
    phase: Phase,
}

impl Checked<NogdParams> {
    /// A learner that begins with these points: its landmarks are among them if they are uniform.
    pub fn start(self, initial: Points<'_>, run: Run<'_>) -> Result<Nogd> {
        let phase = match self.landmarks {
            Landmarks::FirstViolations => {
                Phase::Collecting(Expansion::new(self.kernel, initial.n_columns(), initial.is_sparse()))
            }
            Landmarks::Uniform => {
                let (b, rank) = (self.budget, self.rank_or_fifth());
                let map = NystroemMap::fit_uniform(self.kernel, initial, b, rank, self.seed, run)?;
                let linear = Linear::new(map.n_features(), 1);
                Phase::Mapped(map, linear)
            }
        };
        Ok(Nogd { head: Head::new(self.loss, self.epsilon, initial.n_columns()), phase, params: self })
    }
}

impl Nogd {
    /// The map of the kept points, and the weights that give the same scores. `None` if no eigenvectors were found.
    fn switch(expansion: &Expansion, rank: usize) -> Option<(NystroemMap, Linear)> {
        let landmarks: PointsBuf = expansion.points().clone();
        let map = NystroemMap::fit(*expansion.kernel(), landmarks, rank, Run::single()).ok()?;
        let (b, width) = (expansion.len(), map.n_features());
        let n_scores = expansion.coefficients().len() / b;
        let features = map.features(expansion.points().as_points(), Run::single()).ok()?;
        let mut weights = vec![0.0; width * n_scores];
        for i in 0..b {
            for (k, beta) in expansion.beta(i).iter().enumerate() {
                let row = &mut weights[k * width..(k + 1) * width];
                row.iter_mut().zip(&features[i * width..]).for_each(|(w, x)| *w += beta * x);
            }
        }
        Some((map, Linear::from_weights(width, weights)))
    }
}

impl OnlineLearner for Nogd {
    head_access!();

    fn widen(&mut self) {
        match &mut self.phase {
            Phase::Collecting(expansion) => expansion.widen(self.head.n_scores()),
            Phase::Mapped(_, linear) => linear.widen(self.head.n_scores()),
        }
    }

    fn score(&self, x: Input<'_>, at: &mut Scratch) {
        match &self.phase {
            Phase::Collecting(expansion) => expansion.score(x.row, at),
            Phase::Mapped(map, linear) => {
                map.features_into(x.row, &mut at.features, &mut at.kernel);
                linear.score(None, at);
            }
        }
    }

    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) {
        let Some(step) = self.head.step(&at.scores, target) else { return };
        if let Phase::Collecting(expansion) = &mut self.phase {
            if expansion.len() < self.params.budget {
                return expansion.add(x.row, step, self.params.eta);
            }
            let Some((map, linear)) = Self::switch(expansion, self.params.rank_or_fifth()) else { return };
            map.project_into(&at.kernel, &mut at.features);
            self.phase = Phase::Mapped(map, linear);
        }
        if let Phase::Mapped(_, linear) = &mut self.phase {
            let eta = if self.params.eta_mapped > 0.0 { self.params.eta_mapped } else { self.params.eta };
            linear.add(&at.features, step, eta);
        }
    }

    fn n_kept(&self) -> Option<usize> {
        Some(match &self.phase {
            Phase::Collecting(expansion) => expansion.len(),
            Phase::Mapped(map, _) => map.landmarks().n_rows(),
        })
    }
}

impl Persist for Nogd {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.parameters"), &*self.params);
        out.put_json(&format!("{prefix}.head"), &self.head);
        out.put_json(&format!("{prefix}.mapped"), &matches!(self.phase, Phase::Mapped(..)));
        match &self.phase {
            Phase::Collecting(expansion) => expansion.save(out, &format!("{prefix}.expansion")),
            Phase::Mapped(map, linear) => {
                map.save(out, &format!("{prefix}.map"));
                linear.save(out, &format!("{prefix}.linear"));
            }
        }
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let params: NogdParams = from.json(&format!("{prefix}.parameters"))?;
        let params = params.check().map_err(|error| bad_part(prefix, &error.to_string()))?;
        let head = load_head(from, prefix)?;
        let (phase, fits) = if from.json(&format!("{prefix}.mapped"))? {
            let map = NystroemMap::load(from, &format!("{prefix}.map"))?;
            let linear = Linear::load(from, &format!("{prefix}.linear"))?;
            let fits = linear.fits(map.n_features(), head.n_scores());
            (Phase::Mapped(map, linear), fits)
        } else {
            let expansion = Expansion::load(from, &format!("{prefix}.expansion"))?;
            let fits = expansion.fits(head.n_scores(), params.budget);
            (Phase::Collecting(expansion), fits)
        };
        if fits { Ok(Self { params, head, phase }) } else { Err(bad_part(prefix, "does not fit together")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Gaussian;
    use crate::rng::{Component, rng_of};

    fn points(n: usize) -> PointsBuf {
        let mut rng = rng_of(5, Component::Synthetic, 0);
        PointsBuf::from_dense((0..2 * n).map(|_| 3.0 * rng.open01()).collect(), 2).unwrap()
    }

    fn params() -> NogdParams {
        NogdParams::default().kernel(AnyKernel::Gaussian(Gaussian { gamma: 4.0 })).budget(15).rank(15)
    }

    #[test]
    fn the_switch_changes_no_score_at_full_rank() {
        let points = points(300);
        let mut learner = params().check().unwrap().start(points.as_points(), Run::single()).unwrap();
        let mut at = Scratch::default();
        for (i, x) in points.as_points().rows().enumerate() {
            learner.learn(x.into(), Target::Class(i as u32 % 2), &mut at).unwrap();
            if learner.n_kept() == Some(15) {
                break;
            }
        }
        let Phase::Collecting(expansion) = &learner.phase else { panic!("still collecting") };
        let (map, linear) = Nogd::switch(expansion, 15).unwrap();
        assert_eq!(map.n_features(), 15);
        for x in points.as_points().rows() {
            expansion.score(x, &mut at);
            let before = at.scores[0];
            map.features_into(x, &mut at.features, &mut at.kernel);
            linear.score(None, &mut at);
            assert!((before - at.scores[0]).abs() < 1e-7);
        }
    }

    #[test]
    fn given_landmarks_make_it_linear_descent_on_the_map() {
        let points = points(200);
        let params = params().landmarks(Landmarks::Uniform).rank(4);
        let mut learner = params.clone().check().unwrap().start(points.as_points(), Run::single()).unwrap();
        let map = NystroemMap::fit_uniform(params.kernel, points.as_points(), 15, 4, 0, Run::single()).unwrap();
        let features = map.features(points.as_points(), Run::single()).unwrap();
        let mut w = [0.0; 4];
        let mut at = Scratch::default();
        for (i, x) in points.as_points().rows().enumerate() {
            let (y, z) = (f64::from(i as u32 % 2) * 2.0 - 1.0, &features[i * 4..i * 4 + 4]);
            let f: f64 = w.iter().zip(z).map(|(w, z)| w * z).sum();
            learner.learn(x.into(), Target::Class(i as u32 % 2), &mut at).unwrap();
            assert!((at.scores[0] - f).abs() < 1e-9);
            if y * f < 1.0 {
                w.iter_mut().zip(z).for_each(|(w, z)| *w += 0.5 * y * z);
            }
        }
    }
}
