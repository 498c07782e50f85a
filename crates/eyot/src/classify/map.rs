//! The maps of classifiers: how points become features.

use serde::{Deserialize, Serialize};

use super::floor::Floor;
use crate::data::{Points, PointsBuf};
use crate::error::Result;
use crate::map::{AdditiveMapParams, IsolationMap};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::Checked;
use crate::partition::Codes;

/// A fitted feature map.
#[derive(Debug, Clone)]
pub enum ClassifierMap {
    /// Isolation codes.
    Isolation(Box<IsolationMap>),
    /// Additive-kernel features of columns that start at 0.
    Additive {
        /// The map.
        map: Checked<AdditiveMapParams>,
        /// Where columns start.
        floor: Floor,
        /// Columns of a row.
        columns: usize,
    },
    /// The columns themselves, made to start at 0.
    NotNegative {
        /// Where columns start.
        floor: Floor,
        /// Columns of a row.
        columns: usize,
    },
    /// The columns themselves.
    Identity {
        /// Columns of a row.
        columns: usize,
    },
}

/// The features of some rows.
#[derive(Debug)]
pub enum FeatureBatch<'a> {
    /// Isolation codes.
    Codes(Codes),
    /// Computed features.
    Owned(PointsBuf),
    /// The points themselves.
    Borrowed(Points<'a>),
}

impl FeatureBatch<'_> {
    /// The codes, if that is what they are.
    pub const fn codes(&self) -> Option<&Codes> {
        match self {
            Self::Codes(codes) => Some(codes),
            _ => None,
        }
    }

    /// The numbers, if that is what they are.
    pub fn points(&self) -> Option<Points<'_>> {
        match self {
            Self::Codes(_) => None,
            Self::Owned(points) => Some(points.as_points()),
            Self::Borrowed(points) => Some(*points),
        }
    }
}

/// Which map a model file holds.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum MapKind {
    Isolation,
    Additive { map: AdditiveMapParams, shifted: bool, columns: usize },
    NotNegative { shifted: bool, columns: usize },
    Identity { columns: usize },
}

impl ClassifierMap {
    /// Columns that a row must have.
    pub fn n_columns(&self) -> usize {
        match self {
            Self::Isolation(map) => map.n_columns(),
            Self::Additive { columns, .. } | Self::NotNegative { columns, .. } | Self::Identity { columns } => *columns,
        }
    }

    /// Length of a feature vector.
    pub fn n_features(&self) -> usize {
        match self {
            Self::Isolation(map) => map.n_features(),
            Self::Additive { map, columns, .. } => map.features_per_column() * columns,
            Self::NotNegative { columns, .. } | Self::Identity { columns } => *columns,
        }
    }

    /// The features of rows.
    pub fn encode<'a>(&self, points: Points<'a>, run: Run<'_>) -> Result<FeatureBatch<'a>> {
        match self {
            Self::Isolation(map) => Ok(FeatureBatch::Codes(map.encode(points, run)?)),
            Self::Identity { .. } => Ok(FeatureBatch::Borrowed(points)),
            Self::NotNegative { floor, .. } => {
                Ok(floor.raise(points).map_or(FeatureBatch::Borrowed(points), FeatureBatch::Owned))
            }
            Self::Additive { map, floor, .. } => {
                let raised = floor.raise(points);
                Ok(FeatureBatch::Owned(map.encode(raised.as_ref().map_or(points, PointsBuf::as_points))?))
            }
        }
    }
}

impl Persist for ClassifierMap {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        let kind = match self {
            Self::Isolation(_) => MapKind::Isolation,
            Self::Additive { map, floor, columns } => {
                MapKind::Additive { map: (**map).clone(), shifted: floor.is_shifted(), columns: *columns }
            }
            Self::NotNegative { floor, columns } => {
                MapKind::NotNegative { shifted: floor.is_shifted(), columns: *columns }
            }
            Self::Identity { columns } => MapKind::Identity { columns: *columns },
        };
        out.put_json(&format!("{prefix}.kind"), &kind);
        match self {
            Self::Isolation(map) => map.save(out, &format!("{prefix}.isolation")),
            Self::Additive { floor, .. } | Self::NotNegative { floor, .. } => floor.save(out, prefix),
            Self::Identity { .. } => (),
        }
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let name = format!("{prefix}.kind");
        Ok(match from.json(&name)? {
            MapKind::Isolation => Self::Isolation(IsolationMap::load(from, &format!("{prefix}.isolation"))?.into()),
            MapKind::Identity { columns } => Self::Identity { columns },
            MapKind::Additive { map, shifted, columns } => {
                let map = map.check()?;
                if map.features_per_column().checked_mul(columns).is_none() {
                    return Err(bad_part(&name, "has too many columns"));
                }
                Self::Additive { map, floor: Floor::load(from, prefix, shifted, columns)?, columns }
            }
            MapKind::NotNegative { shifted, columns } => {
                Self::NotNegative { floor: Floor::load(from, prefix, shifted, columns)?, columns }
            }
        })
    }
}
