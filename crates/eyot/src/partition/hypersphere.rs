//! Hyperspheres: ball j of a partitioning reaches from sampled row j to the nearest other row of the same sample. Far
//! away from all data there is no ball, so the Isolation Kernel of an outlier with everything is 0.

use serde::{Deserialize, Serialize};

use super::centres::Centres;
use super::neighbours::{Others, neighbours};
use crate::error::Result;
use crate::parallel::Run;

/// Which ball a point belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BallRule {
    /// The ball of the nearest centre, if it contains the point.
    #[default]
    Nearest,
    /// Of the balls that contain the point, the one with the nearest centre.
    Cover,
}

/// How far a ball reaches when the sample holds equal rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Radii {
    /// To the nearest row that differs: at a squared distance above 1e-9 of the squared extent of the data.
    #[default]
    Distinct,
    /// To the nearest other row, even an equal one: radius 0, a ball that holds exactly the copies.
    Plain,
}

/// Rows closer than this share of the squared extent count as equal under [`Radii::Distinct`]: the absolute 1e-9 of
/// the authors' code on data scaled to [0, 1].
pub(crate) const EQUAL: f64 = 1e-9;

/// The squared radius of ball j of partitioning i, at i·ψ + j. A ball without a distinct neighbour covers everything.
pub(crate) fn squared_radii(centres: &Centres, radii: Radii, extent: f64, run: Run<'_>) -> Result<Vec<f64>> {
    let others = match radii {
        Radii::Plain => Others::All,
        Radii::Distinct => Others::Beyond(EQUAL * extent * extent),
    };
    let next = neighbours(centres, &[centres.psi()], others, run)?;
    Ok(next.concat().into_iter().map(|next| next.squared_distance).collect())
}

#[cfg(test)]
mod tests {
    use super::super::Distance;
    use super::*;
    use crate::data::PointsBuf;

    fn radii_of(line: &[f64], radii: Radii) -> Vec<f64> {
        let points = PointsBuf::from_dense(line.to_vec(), 1).unwrap();
        let members = (0..line.len() as u32).collect();
        let centres = Centres::new(points, members, line.len(), Distance::Euclidean);
        squared_radii(&centres, radii, 10.0, Run::single()).unwrap()
    }

    #[test]
    fn a_ball_reaches_to_the_nearest_other_centre() {
        assert_eq!(radii_of(&[0.0, 1.0, 4.0], Radii::Distinct), [1.0, 1.0, 9.0]);
    }

    #[test]
    fn copies_have_radius_zero_only_under_plain() {
        assert_eq!(radii_of(&[2.0, 2.0, 5.0], Radii::Plain), [0.0, 0.0, 9.0]);
        assert_eq!(radii_of(&[2.0, 2.0, 5.0], Radii::Distinct), [9.0, 9.0, 9.0]);
    }

    #[test]
    fn a_ball_without_a_distinct_neighbour_covers_everything() {
        assert_eq!(radii_of(&[2.0, 2.0], Radii::Distinct), [f64::INFINITY; 2]);
    }
}
