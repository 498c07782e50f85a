//! Isolation kernels: exact, finite, sparse feature maps, and the learners that stand on them.
//!
//! The Isolation Kernel says how similar two points are by how often random partitionings of the space, grown from
//! the data itself, put them into the same cell. With t partitionings of ψ cells a point is t small integers, its
//! [`Codes`], and everything else follows from those.
//!
//! ```text
//! Table ──► Encoder ──► Points ──► IsolationMap ──► Codes ──► learner, detector, solver ──► score
//! raw       scale,      dense or   t cuts of the     t small                                larger =
//! columns   one-hot     sparse     space             integers                               more anomalous
//! ```
//!
//! The crate computes and does nothing else: no files, no clock, no global state. Long calls take a [`Run`], which
//! says how many threads may work and who hears of progress. The same data, parameters and seed give the same bytes.
//!
//! ```
//! use eyot::{IsolationMapParams, Partition, PointsBuf, Run};
//!
//! let points = PointsBuf::from_rows(&[[0.0, 0.1], [0.1, 0.0], [0.2, 0.1], [9.0, 9.0]])?;
//! let params = IsolationMapParams::default().partition(Partition::Sphere).psi(3).t(100).check()?;
//! let map = params.fit(points.as_points(), Run::threads(2))?;
//! let codes = map.encode(points.as_points(), Run::threads(2))?;
//! assert!(codes.row(0).similarity(codes.row(1)) > codes.row(0).similarity(codes.row(3)));
//! # Ok::<(), eyot::Error>(())
//! ```

mod error;
mod params;
mod rng;
mod parallel;
mod data;
mod backend;
mod partition;
mod kernel;
mod map;
mod solve;
mod tune;
mod classify;
mod learn;
mod detect;
mod sets;
mod score;
mod model;

pub use classify::*;
pub use data::*;
pub use detect::*;
pub use error::*;
pub use kernel::*;
pub use learn::*;
pub use map::*;
pub use model::*;
pub use parallel::*;
pub use params::Checked;
pub use partition::*;
pub use rng::*;
pub use score::*;
pub use sets::*;
pub use solve::*;
pub use tune::*;
