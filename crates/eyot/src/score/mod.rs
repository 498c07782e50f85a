//! Stage 5, how good was it: metrics, thresholds, comparisons.
