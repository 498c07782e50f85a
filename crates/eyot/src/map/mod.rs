//! Stage 3, x into φ(x): feature maps.

mod additive;
mod isolation;
mod joined;
mod landmarks;
mod model;
mod nested;
mod nystroem;
mod fourier;
mod orthogonal;
mod rrf;
mod sweep;

pub use additive::{AdditiveKernel, AdditiveMapParams};
pub(crate) use fourier::dot;
pub use fourier::{FourierMap, Law, MAX_FREQUENCIES, Noise};
pub(crate) use isolation::Cells;
pub use isolation::{IsolationMap, IsolationMapParams, extent};
pub use landmarks::LandmarkDraw;
pub use model::{MapModel, MapParameters};
pub use nystroem::NystroemMap;
pub use orthogonal::{MAX_ORTHOGONAL_COLUMNS, RowLength, orthogonal_noise};
pub use rrf::{MAX_LOG_WIDTH, RrfMap};
pub use sweep::Sweep;
