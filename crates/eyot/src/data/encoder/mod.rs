//! Raw rows to points: scaling, one-hot coding, missing values. An [`Encoder`] is fitted on training data, is stored
//! in the model, and takes rows in their original columns ever after.
//!
//! - **Numbers** are scaled column by column, (x − shift) / divisor: by [`Scale::MinMax`] with the smallest training
//!   value and the range, by [`Scale::Standard`] with mean and standard deviation (of the population). A divisor of 0
//!   is taken as 1, so a constant column becomes 0. Later values are not clipped.
//! - **Text** is one-hot coded, 0 or 1 and not scaled further, levels in the order of their bytes; a level that was
//!   not in the training data is all zeros. A text column with more than `max_levels` levels is left out.
//! - **Identifiers** are left out, for they say nothing about other rows: text columns whose values are all distinct,
//!   integers that count the rows (1, 2, 3 …; both from 10 rows on), and columns named like an identifier (`id`,
//!   `user_id`, `index` …) with distinct integers or texts. Distinct means in the first 65,536 rows, so that a
//!   stream of any length needs bounded memory.
//! - **Missing** cells are an error, or are filled in with the median (numbers) or the most frequent level (text) of
//!   the training data. The median is exact up to 100,000 rows; beyond, it is that of 100,000 rows chosen by keys
//!   (fewer for more than 167 columns, so that no more than 128 MB are kept).
//! - **Sparse columns** stay sparse. One is shifted only if every training row has an entry in it; all others keep
//!   their zeros and are only divided: for columns without negative values that *is* min-max scaling, bit for bit.
//!
//! Fitting is one pass over batches of any size; for min-max scaling, shards can be fitted apart and merged, with the
//! same result.

mod apply;
mod array;
mod fit;
mod note;
mod sparse;
mod stats;

use serde::{Deserialize, Serialize};

pub use apply::{EncodeCounts, Encoder, InputKind};
pub use array::{ArrayPlan, Encoded, RawArray, RawRows, RawValues};
pub use fit::EncoderFit;
pub use note::{LeftOut, Note};

use super::table::Table;
use crate::error::Result;
use crate::params::{Checked, in_range};

/// How number columns are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// To [0, 1] on the training data.
    #[default]
    MinMax,
    /// To mean 0 and standard deviation 1 on the training data.
    Standard,
    /// Not at all.
    None,
}

/// What happens to missing cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// They are an error.
    #[default]
    Error,
    /// They are filled in from the training data.
    Impute,
}

/// Columns that are not features.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Roles {
    /// What is to be learned.
    pub target: Option<String>,
    /// Ground truth for evaluation only.
    pub label: Option<String>,
    /// Which bag a row belongs to.
    pub bag: Option<String>,
    /// What a row is called.
    pub id: Option<String>,
    /// What is to be left out.
    pub ignore: Vec<String>,
}

impl Roles {
    /// Columns that must exist, with the word for their role.
    fn required(&self) -> impl Iterator<Item = (&str, &'static str)> {
        [(&self.target, "target"), (&self.label, "label"), (&self.bag, "bag"), (&self.id, "id")]
            .into_iter()
            .filter_map(|(name, role)| Some((name.as_deref()?, role)))
    }

    /// Whether a column has a role, and thus is no feature.
    pub fn contains(&self, name: &str) -> bool {
        self.required().any(|(column, _)| column == name) || self.ignore.iter().any(|column| column == name)
    }
}

/// How an [`Encoder`] is fitted.
///
/// ```
/// use eyot::{Column, EncoderParams, Table, TableColumn};
///
/// let columns = vec![
///     TableColumn { name: "size".into(), values: Column::Numbers(vec![10.0, 20.0, 15.0]) },
///     TableColumn { name: "color".into(), values: Column::Text(["red", "blue", "red"].map(Some).into_iter().collect()) },
/// ];
/// let table = Table { first_row: 0, n_rows: 3, columns, sparse: None };
/// let encoder = EncoderParams::default().check()?.fit(&table)?;
/// assert_eq!(encoder.column_names().collect::<Vec<_>>(), ["size", "color=blue", "color=red"]);
/// let points = encoder.encode(&table)?;
/// assert_eq!(points, eyot::PointsBuf::from_rows(&[[0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.5, 0.0, 1.0]])?);
/// # Ok::<(), eyot::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EncoderParams {
    scale: Scale,
    missing: Missing,
    roles: Roles,
    max_levels: usize,
}

impl Default for EncoderParams {
    fn default() -> Self {
        Self { scale: Scale::default(), missing: Missing::default(), roles: Roles::default(), max_levels: 64 }
    }
}

impl EncoderParams {
    /// Most levels that `max_levels` may allow.
    const MAX_LEVELS: usize = 65_536;

    /// How number columns are scaled; min-max by default.
    #[must_use]
    pub fn scale(mut self, scale: Scale) -> Self {
        self.scale = scale;
        self
    }

    /// What happens to missing cells; an error by default.
    #[must_use]
    pub fn missing(mut self, missing: Missing) -> Self {
        self.missing = missing;
        self
    }

    /// Columns that are not features; none by default.
    #[must_use]
    pub fn roles(mut self, roles: Roles) -> Self {
        self.roles = roles;
        self
    }

    /// Most levels of a text column that is used, 1 to 65,536; 64 by default.
    #[must_use]
    pub fn max_levels(mut self, max_levels: usize) -> Self {
        self.max_levels = max_levels;
        self
    }

    /// The column that is to be learned, if one was named.
    pub fn target(&self) -> Option<&str> {
        self.roles.target.as_deref()
    }

    /// The column that says which bag a row belongs to, if one was named.
    pub fn bag(&self) -> Option<&str> {
        self.roles.bag.as_deref()
    }

    /// Checks the parameters.
    pub fn check(self) -> Result<Checked<Self>> {
        in_range("max_levels", self.max_levels, 1..=Self::MAX_LEVELS)?;
        Ok(Checked::new(self))
    }
}

impl Checked<EncoderParams> {
    /// Fits on a single table.
    pub fn fit(self, table: &Table) -> Result<Encoder> {
        let mut fit = EncoderFit::new(self);
        fit.observe(table)?;
        fit.finish()
    }
}

/// One scaled value. −0.0 becomes 0.0, so that a zero is the same zero in every storage.
fn scaled(value: f64, shift: f64, divisor: f64) -> f64 {
    (value - shift) / divisor + 0.0
}

#[cfg(test)]
mod tests;
