//! Tests of the library as its users see it, in one binary.

mod golden;
mod papers;
mod properties;
mod shards;
