//! How the space is cut into cells.

use clap::Args;
use eyot::{BallRule, Checked, Distance, IsolationMapParams, Partition, Radii};

/// The partitionings of an isolation map. ψ is not among them: some commands can choose it themselves.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Isolation map")]
pub(crate) struct CellArgs {
    /// How ψ sampled rows cut the space into cells
    ///
    /// `voronoi`: a row belongs to its nearest sampled row. `tree`: random cuts of single columns until the sampled
    /// rows are apart; fastest, and does not care how columns are scaled. `sphere`: a ball around each sampled row as
    /// far as its neighbour; rows far from all data are in no cell, which is what finds anomalies.
    #[arg(long, value_name = "KIND", default_value = "voronoi")]
    partition: PartitionName,

    /// Number of partitionings, t
    ///
    /// More make the similarity less noisy (its standard error is at most 0.5/√t) and everything slower and larger
    /// in proportion. The first 100 of 200 are the same as with -t 100.
    #[arg(short, value_name = "N", default_value_t = 100)]
    t: usize,

    /// Largest height of a tree [default: none]
    ///
    /// Without a limit every distinct sampled row gets a leaf of its own, as the paper has it. ⌈log₂ ψ⌉ is what
    /// isolation forests use.
    #[arg(long, value_name = "N")]
    max_height: Option<u32>,

    /// Which ball a row belongs to where balls overlap (partition sphere)
    ///
    /// `nearest`: the ball of the nearest sampled row, or none if it ends before the row. `cover`: the nearest of the
    /// balls that reach the row, so fewer rows are in none.
    #[arg(long, value_name = "RULE", default_value = "nearest")]
    rule: RuleName,

    /// How far balls reach where sampled rows are equal (partition sphere)
    ///
    /// `distinct`: as far as the nearest different row. `plain`: balls of radius 0 around duplicates.
    #[arg(long, value_name = "RULE", default_value = "distinct")]
    radii: RadiiName,

    /// How distance is measured (partitions voronoi and sphere)
    ///
    /// `text` divides by the number of columns where one of the two rows is not 0, for word counts and the like.
    #[arg(long, value_name = "KIND", default_value = "euclidean")]
    distance: DistanceName,
}

impl CellArgs {
    /// The parameters of the map, checked.
    pub(crate) fn params(&self, psi: usize, seed: u64) -> eyot::Result<Checked<IsolationMapParams>> {
        IsolationMapParams::default()
            .partition(self.partition.into())
            .psi(psi)
            .t(self.t)
            .seed(seed)
            .max_height(self.max_height)
            .rule(self.rule.into())
            .radii(self.radii.into())
            .distance(self.distance.into())
            .check()
    }
}

names! {
    /// Kinds of partitionings.
    PartitionName for Partition { Voronoi = "voronoi", Tree = "tree", Sphere = "sphere" }
}
names! {
    /// Rules of balls.
    RuleName for BallRule { Nearest = "nearest", Cover = "cover" }
}
names! {
    /// Radii of balls.
    RadiiName for Radii { Distinct = "distinct", Plain = "plain" }
}
names! {
    /// Distances.
    DistanceName for Distance { Euclidean = "euclidean", Text = "text", TextSum = "text-sum" }
}
