//! Where the map runs hot. Everything here computes the canonical squared distance Σ_k (x_k − z_k)², columns
//! ascending, in `f64`, without fused operations; vector lanes run over *centres*, never over columns, so every
//! instruction set rounds exactly alike and no path can change a code.

mod lanes;
mod simd;

pub(crate) use lanes::{Lanes, Tiles, Winner};
