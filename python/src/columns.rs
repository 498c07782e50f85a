//! What all models share: their columns, rows encoded, roles, notes.

use std::ops::Range;

use eyot::{
    ArrayPlan, Checked, EncodeCounts, Encoded, Encoder, EncoderParams, Missing, Note, PointsBuf, RawRows, Roles, Scale,
};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;

use crate::error::to_py;

/// Rows that are scored together, so that memory does not grow with the rows.
const BATCH: usize = 16_384;

/// The raw columns of a model, and where its encoder finds them in arrays.
#[derive(Clone)]
pub(crate) struct Columns {
    pub(crate) names: Vec<String>,
    pub(crate) plan: Option<ArrayPlan>,
}

impl Columns {
    /// Those of the training data; `None` for a model from a file, which knows names but not all places.
    pub(crate) fn new(encoder: &Encoder, names: Option<Vec<String>>) -> Self {
        let names = names.unwrap_or_else(|| names_of(encoder));
        let plan = encoder.plan(&names);
        Self { names, plan }
    }

    /// Hands the points of all rows to `work`, batch by batch.
    pub(crate) fn batches(
        &self,
        encoder: &Encoder,
        rows: RawRows<'_>,
        mut work: impl FnMut(Range<usize>, Encoded<'_>) -> eyot::Result<()>,
    ) -> eyot::Result<EncodeCounts> {
        let mut counts = EncodeCounts::default();
        let batch = if matches!(rows, RawRows::Array(_)) { BATCH } else { rows.n_rows().max(1) };
        for first in (0..rows.n_rows()).step_by(batch) {
            let part = first..(first + batch).min(rows.n_rows());
            work(part.clone(), rows.encode(encoder, self.plan.as_ref(), part, &mut counts)?)?;
        }
        Ok(counts)
    }
}

/// The columns that arrays must have for a model from a file: all of f0, f1, … if it was made from an array, else those
/// that it uses.
fn names_of(encoder: &Encoder) -> Vec<String> {
    let used: Vec<String> = encoder.inputs().map(|(name, _)| name.to_owned()).collect();
    let all = used.iter().map(String::as_str).chain(encoder.left_out());
    let numbers: Option<Vec<usize>> = all.map(|name| name.strip_prefix('f')?.parse().ok()).collect();
    match numbers {
        Some(mut numbers) if !numbers.is_empty() => {
            numbers.sort_unstable();
            let counts = numbers.iter().enumerate().all(|(at, &number)| at == number);
            if counts { numbers.iter().map(|number| format!("f{number}")).collect() } else { used }
        }
        _ => used,
    }
}

/// All rows encoded, in `f64` as a file would give them.
pub(crate) fn encode_all<'a>(
    encoder: &Encoder,
    names: &[String],
    rows: &RawRows<'a>,
) -> eyot::Result<(Encoded<'a>, EncodeCounts)> {
    let mut counts = EncodeCounts::default();
    let encoded = rows.encode(encoder, encoder.plan(names).as_ref(), 0..rows.n_rows(), &mut counts)?;
    Ok((encoded.widened(), counts))
}

/// Points that own their numbers.
pub(crate) fn owned(encoded: Encoded<'_>) -> PointsBuf {
    match encoded {
        Encoded::View(points) => points.to_buf(),
        Encoded::Owned(points) => points,
    }
}

/// How raw rows are to be encoded, as users say it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Encoding {
    scale: String,
    missing: String,
}

impl Encoding {
    pub(crate) fn params(&self, roles: Roles) -> PyResult<Checked<EncoderParams>> {
        let refused = |name, expected: &str, got: &str| {
            to_py(eyot::Error::Param { name, expected: expected.into(), got: got.into() })
        };
        let scale = match self.scale.as_str() {
            "minmax" => Scale::MinMax,
            "standard" => Scale::Standard,
            "none" => Scale::None,
            other => return Err(refused("scale", "minmax, standard or none", other)),
        };
        let missing = match self.missing.as_str() {
            "error" => Missing::Error,
            "impute" => Missing::Impute,
            other => return Err(refused("missing", "error or impute", other)),
        };
        EncoderParams::default().scale(scale).missing(missing).roles(roles).check().map_err(to_py)
    }
}

/// The roles of a sparse block's neighbours: what stands in front of the features of svmlight is none of them.
pub(crate) fn beside_sparse(mut roles: Roles, sparse: bool) -> Roles {
    if sparse {
        let front = ["label", "qid"].into_iter().filter(|name| !roles.contains(name)).map(str::to_owned);
        roles.ignore.extend(front.collect::<Vec<_>>());
    }
    roles
}

/// Tells the user what was remarkable about the columns and cells.
pub(crate) fn warn(py: Python<'_>, notes: impl IntoIterator<Item = Note>) -> PyResult<()> {
    for note in notes {
        let text = std::ffi::CString::new(note.to_string().replace('\0', " ")).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)?;
    }
    Ok(())
}
