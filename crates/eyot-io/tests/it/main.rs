//! Tests of the file edges as a whole.

#[cfg(feature = "parquet")]
#[expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]
mod formats;
