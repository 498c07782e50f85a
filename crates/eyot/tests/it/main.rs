//! Tests of the library as its users see it, in one binary.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod golden;
mod papers;
mod properties;
mod shards;
