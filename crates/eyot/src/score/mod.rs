//! Stage 5, how good was it: metrics, thresholds, comparisons.

mod auc;
mod classify;
mod ranks;
mod threshold;

pub use auc::{CurvePoint, average_precision, pr_curve, roc_auc, roc_curve};
pub use classify::{ClassScore, Confusion};
pub use ranks::{RankComparison, compare_ranks};
pub(crate) use threshold::quantile;
pub use threshold::{Contamination, Threshold};
