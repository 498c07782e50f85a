//! Stage 4a, point and label: learners that see a stream once. Each predicts, is told the truth, and moves.
//!
//! A method's file holds only what is particular to it. What they share is here: the task and its losses
//! ([`Head`]), weights on explicit features (`Linear`), and sums of kernels over kept points (`Expansion`).

mod loss;
mod ik_ogd;
mod ik_refresh;
mod linear;
mod expansion;
mod perceptron;
mod ogd;
mod rbp;
mod forgetron;
mod projectron;
mod bpas;
mod bsgd_m;
mod bogd;
mod fogd;
mod nogd;
mod dualsgd;
mod rrf;
mod adaraker;
mod any;
mod model;
mod progressive;
mod stream;
mod grid;
#[cfg(test)]
mod checks;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::data::{Points, Row};
use crate::error::{Error, Result};
use crate::kernel::{AnyKernel, Gaussian};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::partition::{Cell, CodeRow, Codes};
use crate::rng::{Component, Rng, rng_of};

pub use adaraker::{AdaRaker, AdaRakerParams};
pub use any::{AnyLearner, LearnerParams, Method};
pub use bogd::{Bogd, BogdParams, Removal};
pub use bpas::{Bpas, BpasParams};
pub use bsgd_m::{BsgdM, BsgdMParams};
pub use dualsgd::{DualSgd, DualSgdParams};
use expansion::Expansion;
pub use fogd::{Fogd, FogdParams};
pub use forgetron::{Forgetron, ForgetronParams};
pub use ik_ogd::{Form, IkOgd, IkOgdParams};
pub use ik_refresh::{IkRefresh, IkRefreshParams, Refresh};
use linear::Linear;
pub use loss::{Head, OnlineLoss, Step, Target};
pub use model::OnlineModel;
pub use nogd::{Landmarks, Nogd, NogdParams};
pub use ogd::{Ogd, OgdParams};
pub use perceptron::{Perceptron, PerceptronParams};
pub use progressive::{
    AHEAD, Tally, Targets, batch, blocks, choose_by_cv, choose_by_pass, evaluate, least, mean_and_deviation,
    permutation, predict, prequential, score_behind, scores,
};
pub use projectron::{Projectron, ProjectronParams};
pub use rbp::{Rbp, RbpParams};
pub use rrf::{Rrf, RrfParams};
pub use stream::{InitialRows, KernelChoice, OnlineStream, StreamSettings};

/// Most points that a budget may allow.
pub(crate) const MAX_BUDGET: usize = 1_000_000;

/// The kernel that learners begin with: Gaussian, γ = 1.
pub(crate) const fn default_kernel() -> AnyKernel {
    AnyKernel::Gaussian(Gaussian { gamma: 1.0 })
}

/// A point as a learner sees it: the row, and its features if they were computed ahead.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The row itself.
    pub row: Row<'a>,
    /// What [`OnlineLearner::map_ahead`] made of it.
    pub mapped: Option<Mapped<'a>>,
}

impl<'a> From<Row<'a>> for Input<'a> {
    fn from(row: Row<'a>) -> Self {
        Self { row, mapped: None }
    }
}

/// The features of one point, computed ahead.
#[derive(Debug, Clone, Copy)]
pub enum Mapped<'a> {
    /// Cells of an isolation map.
    Codes(CodeRow<'a>),
    /// Dense features.
    Dense(&'a [f64]),
}

/// The features of a block of points, computed in parallel before the learner, which is sequential, sees them.
#[derive(Debug, Clone)]
pub enum Ahead {
    /// The learner maps for itself.
    Nothing,
    /// Cells of an isolation map.
    Codes(Codes),
    /// Dense features, row by row.
    Dense {
        /// Features per point.
        width: usize,
        /// Point by point.
        values: Vec<f64>,
    },
}

impl Ahead {
    /// The features of one point of the block.
    pub fn row(&self, row: usize) -> Option<Mapped<'_>> {
        match self {
            Self::Nothing => None,
            Self::Codes(codes) => Some(Mapped::Codes(codes.row(row))),
            Self::Dense { width, values } => Some(Mapped::Dense(&values[row * width..(row + 1) * width])),
        }
    }
}

/// Room for one step, so that a step allocates nothing; it also carries what scoring found to the update after it.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    /// The scores of the last point: one for two classes and for regression, else one per class.
    pub scores: Vec<f64>,
    /// κ(x, x_i) for every kept point.
    pub(crate) kernel: Vec<f64>,
    /// Features of the point.
    pub(crate) features: Vec<f64>,
    /// Cells of the point.
    pub(crate) cells: Vec<Cell>,
    pub(crate) theta: Vec<f64>,
    pub(crate) spare: Vec<f64>,
}

/// A learner over a stream. Same data, parameters and seed give the same state, and learning many points at once is
/// learning them one by one.
pub trait OnlineLearner: Sync {
    /// The task.
    fn head(&self) -> &Head;

    /// The task, to be changed by [`OnlineLearner::learn`] only.
    fn head_mut(&mut self) -> &mut Head;

    /// Makes room for as many scores as the task now has.
    fn widen(&mut self);

    /// Writes the scores of a point into `at`; numbers in units of the task.
    fn score(&self, x: Input<'_>, at: &mut Scratch);

    /// Moves towards the target, a number being in units of the task, given what [`OnlineLearner::score`] left in `at` for this point.
    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch);

    /// Computes features of a block ahead, in parallel; of no effect on what is learned.
    fn map_ahead(&self, points: Points<'_>, run: Run<'_>) -> Result<Ahead> {
        let _ = (points, run);
        Ok(Ahead::Nothing)
    }

    /// Most points that may be mapped ahead now: what [`OnlineLearner::map_ahead`] gives is good for no more.
    fn most_ahead(&self) -> usize {
        AHEAD
    }

    /// How many points the learner keeps, for those that keep points.
    fn n_kept(&self) -> Option<usize> {
        None
    }

    /// One point: scores it, then learns from it. The scores from before the update stay in `at`. A class never seen
    /// before is taken in.
    fn learn(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) -> Result<()> {
        self.head().check_target(target)?;
        check_width(self.head(), x.row)?;
        if let Target::Class(class) = target
            && class as usize >= self.head().classes
        {
            let before = self.head().n_scores();
            self.head_mut().classes = class as usize + 1;
            if self.head().n_scores() > before {
                self.widen();
            }
        }
        self.score(x, at);
        let step = self.head().steps;
        if let Some(&score) = at.scores.iter().find(|score| !score.is_finite()) {
            return Err(Error::Diverged { step, score });
        }
        self.update(x, self.head().inward(target), at);
        self.head_mut().steps = step + 1;
        Ok(())
    }

    /// Predicts a point from what was known before, its class not among it if it is new, then learns from it.
    fn predict_then_learn(&mut self, x: Input<'_>, target: Target, at: &mut Scratch) -> Result<Target> {
        if matches!(target, Target::Class(class) if class as usize >= self.head().classes) {
            check_width(self.head(), x.row)?;
            self.score(x, at);
            let predicted = self.head().predict(&at.scores);
            self.learn(x, target, at)?;
            return Ok(predicted);
        }
        self.learn(x, target, at)?;
        Ok(self.head().predict(&at.scores))
    }
}

/// Refuses a dense row of another width; sparse rows may bring new columns.
pub(crate) fn check_width(head: &Head, row: Row<'_>) -> Result<()> {
    let width = match row {
        Row::F32(values) => values.len(),
        Row::F64(values) => values.len(),
        Row::Sparse(_) => return Ok(()),
    };
    if width == head.columns {
        return Ok(());
    }
    Err(Error::Shape { what: "columns", expected: head.columns, got: width })
}

/// One step of class growth for coefficients with the class innermost: from `from` to `to` per item. A lone score of
/// two classes is shared out as −½ and +½, so that the difference of the two stays what the score was.
pub(crate) fn widen_coefficients(coefficients: &mut Vec<f64>, from: usize, to: usize) {
    let mut wide = Vec::with_capacity(coefficients.len() / from * to);
    for item in coefficients.chunks_exact(from) {
        let start = wide.len();
        if from == 1 {
            wide.extend([-0.5 * item[0], 0.5 * item[0]]);
        } else {
            wide.extend_from_slice(item);
        }
        wide.resize(start + to, 0.0);
    }
    *coefficients = wide;
}

/// Implements what all learners of the shape { params, head, parts… } have in common: access to the task, and bytes.
/// `fits` says whether parts read from a file belong together.
macro_rules! learner_parts {
    ($learner:ident, $params:ident, [$($part:ident),*], $fits:expr) => {
        impl $crate::model::Persist for $learner {
            fn save(&self, out: &mut $crate::model::ModelWriter, prefix: &str) {
                out.put_json(&format!("{prefix}.parameters"), &*self.params);
                out.put_json(&format!("{prefix}.head"), &self.head);
                $(self.$part.save(out, &format!(concat!("{}.", stringify!($part)), prefix));)*
            }

            fn load(from: &$crate::model::ModelReader<'_>, prefix: &str) -> $crate::error::Result<Self> {
                let params: $params = from.json(&format!("{prefix}.parameters"))?;
                let params = params.check().map_err(|error| $crate::model::bad_part(prefix, &error.to_string()))?;
                let head = $crate::learn::load_head(from, prefix)?;
                let learner = Self {
                    params,
                    head,
                    $($part: Persist::load(from, &format!(concat!("{}.", stringify!($part)), prefix))?,)*
                };
                let fits: fn(&Self) -> bool = $fits;
                if fits(&learner) { Ok(learner) } else { Err($crate::model::bad_part(prefix, "does not fit together")) }
            }
        }
    };
}
pub(crate) use learner_parts;

/// Access to the field `head`.
macro_rules! head_access {
    () => {
        fn head(&self) -> &Head {
            &self.head
        }
        fn head_mut(&mut self) -> &mut Head {
            &mut self.head
        }
    };
}
pub(crate) use head_access;

/// Classes a model file may claim: more would let it ask for any amount of memory.
const MAX_CLASSES: usize = 1 << 20;

pub(crate) fn load_head(from: &ModelReader<'_>, prefix: &str) -> Result<Head> {
    let name = format!("{prefix}.head");
    let head: Head = from.json(&name)?;
    let classes_fit = head.classes <= MAX_CLASSES && (head.classes == 0 || !head.loss.is_regression());
    let scale_fits = head.centre.is_finite() && head.unit.is_finite() && head.unit > 0.0;
    if classes_fit && scale_fits && head.epsilon.is_finite() {
        Ok(head)
    } else {
        Err(bad_part(&name, "is out of range"))
    }
}

/// A small state kept in a model file as JSON.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stored<T>(pub(crate) T);

impl<T: Serialize + DeserializeOwned> Persist for Stored<T> {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(prefix, &self.0);
    }
    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        from.json(prefix).map(Self)
    }
}

/// Random choices of a learner, resumable: the stream and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    seed: u64,
    rng: Rng,
}

impl Draws {
    /// The choices whom to remove from a budget.
    pub(crate) fn removals(seed: u64) -> Self {
        Self { seed, rng: rng_of(seed, Component::Removal, 0) }
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.rng.below(n)
    }
}

impl Persist for Draws {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        let position = self.rng.position();
        out.put_json(prefix, &(self.seed, (position >> 64) as u64, position as u64));
    }
    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let (seed, high, low): (u64, u64, u64) = from.json(prefix)?;
        let mut draws = Self::removals(seed);
        draws.rng.set_position((u128::from(high) << 64) | u128::from(low));
        Ok(draws)
    }
}
