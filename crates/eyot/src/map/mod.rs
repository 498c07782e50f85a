//! Stage 3, x into φ(x): feature maps.

mod isolation;

pub use isolation::{IsolationMap, IsolationMapParams, extent};
