//! Stage 2, space into cells: t random cuts of the space, each grown from a sample of ψ rows. The cuts are trees
//! ([`IsolationTree`]), Voronoi cells (nearest of the sampled points) or hyperspheres (nearest, if within its radius).

mod codes;
mod sample;
mod sifting;
mod centres;
mod neighbours;
mod bits;
mod frame;
mod panels;
mod union;
mod postings;
mod hypersphere;
mod isolation_tree;
mod varying;
mod leaf_sweep;
mod forest;

use serde::{Deserialize, Serialize};

pub(crate) use centres::{Centres, Want};
pub use codes::{Cell, CodeRow, CodeStore, Codes, NONE, similarities};
pub(crate) use codes::{CodeInt, with_codes};
pub(crate) use forest::Forest;
pub use hypersphere::{BallRule, Radii};
pub(crate) use hypersphere::{EQUAL, squared_radii};
pub use isolation_tree::{IsolationTree, Leaf};
pub(crate) use neighbours::{Next, Others, neighbours};
pub(crate) use panels::{Numbers, Panels};
pub use sample::Sampler;

/// How a sample of ψ rows cuts the space into cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Partition {
    /// The cell of a point is its nearest sampled row (aNNE).
    #[default]
    Voronoi,
    /// Random axis-parallel cuts until every sampled row is alone (iForest).
    Tree,
    /// A ball around each sampled row, up to its nearest neighbour; outside all balls there is no cell (iNNE).
    Sphere,
}

impl Partition {
    /// Whether a point can be in no cell.
    pub const fn has_gaps(self) -> bool {
        matches!(self, Self::Sphere)
    }
}

/// The distance by which Voronoi cells and hyperspheres are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// √Σ(x_k − y_k)².
    #[default]
    Euclidean,
    /// √(Σ(x_k − y_k)² / |C|), C the columns where one of the two is not 0: differences per relevant word.
    Text,
    /// √Σ(x_k − y_k)² / |C|, the other reading of the formula.
    TextSum,
}

impl Distance {
    /// The squared distance from Σ(x_k − y_k)² and |C|.
    #[inline]
    pub(crate) fn squared(self, sum: f64, support: usize) -> f64 {
        match self {
            Self::Euclidean => sum,
            _ if support == 0 => 0.0,
            Self::Text => sum / support as f64,
            Self::TextSum => sum / (support as f64 * support as f64),
        }
    }

    /// The squared distance between two rows, by the definition.
    pub(crate) fn between(self, x: crate::data::Row<'_>, y: crate::data::Row<'_>) -> f64 {
        let (mut sum, mut support) = (0.0, 0);
        x.pairs(y, |x, y| {
            let difference = x - y;
            sum += difference * difference;
            support += usize::from(x != 0.0 || y != 0.0);
        });
        self.squared(sum, support)
    }
}
