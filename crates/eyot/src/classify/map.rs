//! The maps of classifiers: how points become features.

use serde::{Deserialize, Serialize};

use crate::data::{Points, PointsBuf, Row, SparseRow};
use crate::error::{Error, Result};
use crate::kernel::check_not_negative;
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
    /// Additive-kernel features of columns shifted to start at 0.
    Additive {
        /// The map.
        map: Checked<AdditiveMapParams>,
        /// What is subtracted from each column, if anything.
        shift: Option<Vec<f64>>,
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
    Identity { columns: usize },
}

impl ClassifierMap {
    /// An additive map; with `shift`, columns with negative values are moved by their minimum.
    pub(super) fn additive(map: Checked<AdditiveMapParams>, shift: bool, points: Points<'_>) -> Result<Self> {
        let columns = points.n_columns();
        let mut lowest = vec![0.0f64; columns];
        if shift {
            for row in points.rows() {
                row.nonzeros().for_each(|(column, value)| lowest[column] = lowest[column].min(value));
            }
        } else {
            check_not_negative(points)?;
        }
        let negative = lowest.iter().any(|&value| value < 0.0);
        if negative && points.is_sparse() {
            return Err(Error::Data("a shift of negative values would make sparse rows dense".into()));
        }
        Ok(Self::Additive { map, shift: negative.then_some(lowest), columns })
    }

    /// Columns that a row must have.
    pub fn n_columns(&self) -> usize {
        match self {
            Self::Isolation(map) => map.n_columns(),
            Self::Additive { columns, .. } | Self::Identity { columns } => *columns,
        }
    }

    /// Length of a feature vector.
    pub fn n_features(&self) -> usize {
        match self {
            Self::Isolation(map) => map.n_features(),
            Self::Additive { map, columns, .. } => map.features_per_column() * columns,
            Self::Identity { columns } => *columns,
        }
    }

    /// The features of rows.
    pub fn encode<'a>(&self, points: Points<'a>, run: Run<'_>) -> Result<FeatureBatch<'a>> {
        match self {
            Self::Isolation(map) => Ok(FeatureBatch::Codes(map.encode(points, run)?)),
            Self::Identity { .. } => Ok(FeatureBatch::Borrowed(points)),
            Self::Additive { map, shift, .. } => {
                if shift.is_none() && check_not_negative(points).is_ok() {
                    return Ok(FeatureBatch::Owned(map.encode(points)?));
                }
                Ok(FeatureBatch::Owned(map.encode(raised(points, shift.as_deref()).as_points())?))
            }
        }
    }
}

/// Points moved by the training minimum. What is lower still counts as that minimum.
fn raised(points: Points<'_>, shift: Option<&[f64]>) -> PointsBuf {
    let sparse = shift.is_none() && points.is_sparse();
    let mut moved = if sparse { PointsBuf::sparse(points.n_columns()) } else { PointsBuf::dense(points.n_columns()) };
    for row in points.rows() {
        if sparse {
            let (columns, values): (Vec<u32>, Vec<f64>) =
                row.nonzeros().filter(|&(_, value)| value > 0.0).map(|(column, value)| (column as u32, value)).unzip();
            moved.push(Row::Sparse(SparseRow { columns: &columns, values: &values }));
        } else {
            let low = |column: usize| shift.map_or(0.0, |shift| shift[column]);
            let values: Vec<f64> =
                (0..points.n_columns()).map(|column| (row.get(column) - low(column)).max(0.0)).collect();
            moved.push(Row::F64(&values));
        }
    }
    moved
}

impl Persist for ClassifierMap {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        let kind = match self {
            Self::Isolation(_) => MapKind::Isolation,
            Self::Additive { map, shift, columns } => {
                MapKind::Additive { map: (**map).clone(), shifted: shift.is_some(), columns: *columns }
            }
            Self::Identity { columns } => MapKind::Identity { columns: *columns },
        };
        out.put_json(&format!("{prefix}.kind"), &kind);
        match self {
            Self::Isolation(map) => map.save(out, &format!("{prefix}.isolation")),
            Self::Additive { shift: Some(shift), .. } => out.put_f64(&format!("{prefix}.shift"), shift),
            _ => (),
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
                let shift = if shifted { Some(from.finite_f64s(&format!("{prefix}.shift"), columns)?) } else { None };
                Self::Additive { map, shift, columns }
            }
        })
    }
}
