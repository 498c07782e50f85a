//! Stage 5, how good was it: metrics, thresholds, comparisons.

mod auc;
mod classify;
mod progressive;
mod ranks;
mod threshold;

pub use auc::{CurvePoint, average_precision, pr_curve, roc_auc, roc_curve};
pub use classify::{ClassScore, Confusion};
pub use progressive::{
    AHEAD, Tally, Targets, batch, blocks, choose_by_cv, choose_by_pass, evaluate, least, mean_and_deviation,
    permutation, prequential,
};
pub use ranks::{RankComparison, compare_ranks};
pub(crate) use threshold::quantile;
pub use threshold::{Contamination, Threshold};
