//! One pass over the training data, then the decisions: which columns are used, and how they are scaled.

use std::borrow::Cow;
use std::collections::HashMap;

use super::apply::{Coding, EncodedColumn, Encoder};
use super::note::LeftOut;
use super::sparse::SparseCoding;
use super::stats::{NumberStats, RowSample, SparseStats, Spread, TextStats};
use super::{EncoderParams, Missing, Scale};
use crate::data::table::{Column, Table, TextColumn};
use crate::error::{ColumnRef, Error, Result};
use crate::params::Checked;

/// An [`Encoder`] in the making: sees the training data batch by batch.
#[derive(Debug, Clone)]
pub struct EncoderFit {
    params: EncoderParams,
    rows: usize,
    /// `None` until the first table.
    layout: Option<Layout>,
}

#[derive(Debug, Clone)]
struct Layout {
    features: Vec<Feature>,
    /// Columns that are there but are no features.
    roles: Vec<String>,
    sparse: Option<SparseStats>,
    sample: Option<RowSample>,
}

#[derive(Debug, Clone)]
struct Feature {
    name: String,
    stats: Stats,
}

#[derive(Debug, Clone)]
enum Stats {
    Numbers(NumberStats),
    Text(TextStats),
}

/// The cells of a feature in one batch.
enum Cells<'a> {
    Numbers(Cow<'a, [f64]>),
    Text(Cow<'a, TextColumn>),
}

impl Cells<'_> {
    fn numbers(&self) -> Option<&[f64]> {
        match self {
            Self::Numbers(values) => Some(values),
            Self::Text(_) => None,
        }
    }
}

impl EncoderFit {
    /// Has seen nothing yet.
    pub fn new(params: Checked<EncoderParams>) -> Self {
        Self { params: params.into_inner(), rows: 0, layout: None }
    }

    /// Rows seen.
    pub fn n_rows(&self) -> usize {
        self.rows
    }

    /// Takes a batch. All batches have the same columns, in any order; how they are cut does not matter.
    ///
    /// # Errors
    /// A table that contradicts itself or the ones before. Missing and infinite cells are reported by
    /// [`EncoderFit::finish`], because they do not matter in columns that are left out.
    pub fn observe(&mut self, table: &Table) -> Result<()> {
        table.check()?;
        let layout = match &mut self.layout {
            Some(layout) => layout,
            None => self.layout.insert(Layout::of(table, &self.params)?),
        };
        layout.observe(table, &self.params)?;
        self.rows += table.n_rows;
        Ok(())
    }

    /// Adds what another fit with the same parameters has seen of other rows of the same input. The result is that
    /// of one pass over all rows.
    ///
    /// # Errors
    /// If the columns differ, or for [`Scale::Standard`], whose sums would depend on the cut in their last bits.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.params != other.params {
            return Err(Error::Data("encoders that are merged must have the same parameters".into()));
        }
        if self.params.scale == Scale::Standard {
            let expected = "minmax or none where parts are fitted apart".into();
            return Err(Error::Param { name: "scale", expected, got: "standard".into() });
        }
        match (&mut self.layout, &other.layout) {
            (_, None) => {}
            (Some(mine), Some(others)) => mine.merge(others, self.params.max_levels)?,
            (mine, Some(others)) => *mine = Some(others.clone()),
        }
        self.rows += other.rows;
        Ok(())
    }

    /// Decides on the columns.
    ///
    /// # Errors
    /// No rows, no column left to use, or (in a column that is used) an infinite or missing cell.
    pub fn finish(self) -> Result<Encoder> {
        let Self { params, rows, layout: Some(mut layout) } = self else { return Err(Error::Empty) };
        if rows == 0 {
            return Err(Error::Empty);
        }
        let mut columns = Vec::new();
        let mut left_out = Vec::new();
        let mut extent = 0.0f64;
        let mut faults = Vec::new();
        for (at, Feature { name, stats }) in layout.features.into_iter().enumerate() {
            if let Some(why) = stats.left_out(params.missing) {
                left_out.push((name, why));
                continue;
            }
            faults.extend(stats.fault(&name, params.missing));
            let coding = match stats {
                Stats::Numbers(stats) => {
                    let (shift, divisor) = scaling(&stats.spread, params.scale, &name)?;
                    extent = extent.max(stats.spread.range() / divisor);
                    let fill = layout.sample.as_mut().and_then(|sample| sample.median(at));
                    Coding::Number { shift, divisor, fill }
                }
                Stats::Text(stats) => {
                    let (levels, most_frequent) = stats.into_levels();
                    extent = extent.max(if levels.len() > 1 { 1.0 } else { 0.0 });
                    let fill = (params.missing == Missing::Impute).then_some(most_frequent);
                    Coding::Text { levels, fill }
                }
            };
            columns.push(EncodedColumn { name, coding });
        }
        // The first faulty row, and in it the first column.
        if let Some((_, fault)) = faults.into_iter().reduce(|a, b| if b.0 < a.0 { b } else { a }) {
            return Err(fault);
        }
        let sparse = match layout.sparse {
            Some(stats) => Some(sparse_coding(stats, rows, params.scale, &mut extent)?),
            None => None,
        };
        Encoder { rows, params, columns, left_out, roles: layout.roles, sparse, extent }.checked()
    }
}

impl Layout {
    fn of(table: &Table, params: &EncoderParams) -> Result<Self> {
        if let Some((name, role)) = params.roles.required().find(|(name, _)| table.column(name).is_none()) {
            return Err(Error::Data(format!("there is no column `{name}` to be the {role}")));
        }
        let (roles, features): (Vec<_>, Vec<_>) =
            table.columns.iter().partition(|column| params.roles.contains(&column.name));
        let features: Vec<Feature> = features
            .into_iter()
            .map(|column| {
                let stats = match column.values {
                    Column::Numbers(_) => Stats::Numbers(NumberStats::new(&column.name)),
                    Column::Text(_) => Stats::Text(TextStats::new(&column.name)),
                };
                Feature { name: column.name.clone(), stats }
            })
            .collect();
        Ok(Self {
            sample: (params.missing == Missing::Impute).then(|| RowSample::new(features.len())),
            features,
            roles: roles.into_iter().map(|column| column.name.clone()).collect(),
            sparse: table.sparse.as_ref().map(|_| SparseStats::default()),
        })
    }

    fn observe(&mut self, table: &Table, params: &EncoderParams) -> Result<()> {
        let moments = params.scale == Scale::Standard;
        let cells = self.cells(table)?;
        for (feature, cells) in self.features.iter_mut().zip(&cells) {
            match (&mut feature.stats, cells) {
                (Stats::Numbers(stats), Cells::Numbers(values)) => stats.observe(table.first_row, values, moments),
                (Stats::Text(stats), Cells::Text(text)) => stats.observe(table.first_row, text, params.max_levels),
                _ => unreachable!("cells are of the kind of their column"),
            }
        }
        if let Some(sample) = &mut self.sample {
            let numbers: Vec<_> = cells.iter().map(Cells::numbers).collect();
            sample.observe(table.first_row, table.n_rows, &numbers);
        }
        match (&mut self.sparse, &table.sparse) {
            (Some(stats), Some(block)) => stats.observe(block, moments),
            (None, None) => {}
            _ => return Err(Error::Data("some batches have sparse columns and some have none".into())),
        }
        Ok(())
    }

    /// The cells of every feature, once the table is known to have the right columns.
    fn cells<'a>(&self, table: &'a Table) -> Result<Vec<Cells<'a>>> {
        let by_name: HashMap<&str, &Column> =
            table.columns.iter().map(|column| (column.name.as_str(), &column.values)).collect();
        let names = || self.features.iter().map(|feature| &feature.name).chain(&self.roles);
        let missing: Vec<String> = names().filter(|name| !by_name.contains_key(name.as_str())).cloned().collect();
        if !missing.is_empty() || names().count() != table.columns.len() {
            let unknown =
                table.columns.iter().map(|column| &column.name).filter(|&name| names().all(|own| own != name));
            return Err(Error::Columns { missing, unknown: unknown.cloned().collect() });
        }
        let cells = |feature: &Feature| {
            let column = by_name[feature.name.as_str()];
            Ok(match &feature.stats {
                Stats::Numbers(_) => Cells::Numbers(column.as_numbers(&feature.name, table.first_row)?),
                Stats::Text(_) => Cells::Text(column.as_text()),
            })
        };
        self.features.iter().map(cells).collect()
    }

    fn merge(&mut self, other: &Self, max_levels: usize) -> Result<()> {
        let differ = || Error::Data("encoders that are merged must have seen the same columns".into());
        let names = |layout: &Self| layout.features.iter().map(|feature| feature.name.clone()).collect::<Vec<_>>();
        if names(self) != names(other) || self.sparse.is_some() != other.sparse.is_some() {
            return Err(differ());
        }
        for (mine, others) in self.features.iter_mut().zip(&other.features) {
            match (&mut mine.stats, &others.stats) {
                (Stats::Numbers(mine), Stats::Numbers(others)) => mine.merge(others),
                (Stats::Text(mine), Stats::Text(others)) => mine.merge(others, max_levels),
                _ => return Err(differ()),
            }
        }
        if let (Some(mine), Some(others)) = (&mut self.sample, &other.sample) {
            mine.merge(others);
        }
        if let (Some(mine), Some(others)) = (&mut self.sparse, &other.sparse) {
            mine.merge(others);
        }
        Ok(())
    }
}

impl Stats {
    fn left_out(&self, missing: Missing) -> Option<LeftOut> {
        let why = match self {
            Self::Numbers(stats) => stats.left_out(),
            Self::Text(stats) => stats.left_out(),
        };
        // A column without any value is an error as long as holes are.
        why.filter(|&why| why != LeftOut::Empty || missing == Missing::Impute)
    }

    /// The first cell that cannot be used, with its row.
    fn fault(&self, name: &str, missing: Missing) -> Option<(usize, Error)> {
        let column = || ColumnRef::Name(name.to_owned());
        let (hole, infinite) = match self {
            Self::Numbers(stats) => (stats.hole, stats.infinite),
            Self::Text(stats) => (stats.hole, None),
        };
        let hole = hole.filter(|_| missing == Missing::Error);
        let hole = hole.map(|row| (row, Error::Missing { row, column: column() }));
        let infinite = infinite.map(|(row, value)| (row, Error::NotFinite { row, column: column(), value }));
        hole.into_iter().chain(infinite).min_by_key(|&(row, _)| row)
    }
}

/// Shift and divisor of a column.
fn scaling(spread: &Spread, scale: Scale, name: &str) -> Result<(f64, f64)> {
    let one_if_zero = |divisor: f64| if divisor == 0.0 { 1.0 } else { divisor };
    let (shift, divisor) = match scale {
        _ if spread.n == 0 => (0.0, 1.0), // a fault or an empty column, dealt with elsewhere
        Scale::MinMax => (spread.min, one_if_zero(spread.range())),
        Scale::Standard => (spread.mean(), one_if_zero(spread.standard_deviation())),
        Scale::None => (0.0, 1.0),
    };
    let range = if spread.n == 0 { 0.0 } else { spread.range() / divisor };
    if shift.is_finite() && divisor.is_finite() && range.is_finite() {
        return Ok((shift, divisor));
    }
    let (min, max) = (spread.min, spread.max);
    Err(Error::Data(format!("column `{name}`: values from {min:e} to {max:e} are too far apart to compute with")))
}

fn sparse_coding(stats: SparseStats, rows: usize, scale: Scale, extent: &mut f64) -> Result<SparseCoding> {
    let width = stats.width;
    let (mut columns, mut shifts, mut divisors, mut not_shifted) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for (column, entries) in stats.into_columns() {
        let zeros = rows as u64 - entries.n;
        let spread = entries.with_zeros(zeros);
        let (wanted, divisor) = scaling(&spread, scale, &(column as usize + 1).to_string())?;
        *extent = extent.max(spread.range() / divisor);
        let shift = if zeros == 0 { wanted } else { 0.0 };
        not_shifted += usize::from(shift != wanted);
        // A column that is not listed is passed on as it is.
        if (shift, divisor) != (0.0, 1.0) {
            columns.push(column);
            shifts.push(shift);
            divisors.push(divisor);
        }
    }
    Ok(SparseCoding::new(width, not_shifted, columns, shifts, divisors))
}
