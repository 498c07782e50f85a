//! Stage 4a, point and label: learners that see a stream once. Each predicts, is told the truth, and moves.
//!
//! A method's file holds only what is particular to it. What they share is here: the task and its losses
//! ([`Head`]), weights on explicit features (`Linear`), and sums of kernels over kept points (`Expansion`).

mod expansion;
mod linear;
mod loss;

use crate::data::{Points, Row};
use crate::error::{Error, Result};
use crate::parallel::Run;
use crate::partition::{Cell, CodeRow, Codes};

pub(crate) use expansion::Expansion;
pub(crate) use linear::Linear;
pub use loss::{Head, Loss, Step, Target};

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

    /// Writes the scores of a point into `at`.
    fn score(&self, x: Input<'_>, at: &mut Scratch);

    /// Moves towards the target, given what [`OnlineLearner::score`] left in `at` for this point.
    fn update(&mut self, x: Input<'_>, target: Target, at: &mut Scratch);

    /// Computes features of a block ahead, in parallel; of no effect on what is learned.
    fn map_ahead(&self, points: Points<'_>, run: Run<'_>) -> Result<Ahead> {
        let _ = (points, run);
        Ok(Ahead::Nothing)
    }

    /// Whether features computed ahead before this call are still right. False only after the map itself has changed.
    fn still_ahead(&self, since: u64) -> bool {
        let _ = since;
        true
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
        self.update(x, target, at);
        self.head_mut().steps = step + 1;
        Ok(())
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
