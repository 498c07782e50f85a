//! A fitted encoder at work.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::note::{LeftOut, Note};
use super::sparse::SparseCoding;
use super::{EncoderParams, Missing, scaled};
use crate::data::points::PointsBuf;
use crate::data::table::{Column, Table, TextColumn};
use crate::data::{Points, Row};
use crate::error::{ColumnRef, Error, Result};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};

/// Turns raw rows into points. Dense unless there is a sparse block; then named columns come first, and everything
/// is stored sparsely.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoder {
    pub(super) rows: usize,
    pub(super) params: EncoderParams,
    pub(super) columns: Vec<EncodedColumn>,
    pub(super) left_out: Vec<(String, LeftOut)>,
    pub(super) roles: Vec<String>,
    pub(super) sparse: Option<SparseCoding>,
    pub(super) extent: f64,
}

/// A raw column that is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct EncodedColumn {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) coding: Coding,
}

/// How its cells become numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Coding {
    /// (x − shift) / divisor; `fill` stands in for missing cells.
    Number { shift: f64, divisor: f64, fill: Option<f64> },
    /// One column per level; `fill` is the level of missing cells.
    Text { levels: Vec<String>, fill: Option<u32> },
}

/// What a raw column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// Numbers.
    Number,
    /// Text.
    Text,
}

/// Cells that were not as the training data would have them, counted over any number of batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EncodeCounts {
    /// Missing cells that were filled in.
    pub imputed: u64,
    /// Cells with text that was not in the training data.
    pub unseen_levels: u64,
    /// Sparse entries in columns beyond those of the training data.
    pub unknown_columns: u64,
}

impl EncodeCounts {
    /// What to tell the user.
    pub fn notes(&self) -> Vec<Note> {
        [
            (self.imputed, Note::Imputed { cells: self.imputed }),
            (self.unseen_levels, Note::UnseenLevels { cells: self.unseen_levels }),
            (self.unknown_columns, Note::UnknownColumns { entries: self.unknown_columns }),
        ]
        .into_iter()
        .filter_map(|(n, note)| (n > 0).then_some(note))
        .collect()
    }
}

/// An error with its row, so that the first of several columns' can be told.
type Fault = (usize, Error);

/// The encoded cells of a raw column: a number each, or the number of a level.
enum Cells {
    Numbers(Vec<f64>),
    Levels(Vec<u32>),
}

/// A cell whose text is none of the levels.
const NO_LEVEL: u32 = u32::MAX;

impl Encoder {
    /// Columns of the points.
    pub fn n_columns(&self) -> usize {
        self.n_named() + self.sparse.as_ref().map_or(0, |sparse| sparse.width)
    }

    /// Columns of the points that come from named ones.
    fn n_named(&self) -> usize {
        self.columns.iter().map(|column| column.coding.width()).sum()
    }

    /// Rows of the training data.
    pub fn n_rows(&self) -> usize {
        self.rows
    }

    /// The parameters it was fitted with.
    pub fn params(&self) -> &EncoderParams {
        &self.params
    }

    /// Whether points are stored sparsely.
    pub fn is_sparse(&self) -> bool {
        self.sparse.is_some()
    }

    /// The names of the points' columns: `size`, `color=red`; sparse ones have their number, from 1.
    pub fn column_names(&self) -> impl Iterator<Item = String> {
        let named = self.columns.iter().flat_map(|EncodedColumn { name, coding }| match coding {
            Coding::Number { .. } => vec![name.clone()],
            Coding::Text { levels, .. } => levels.iter().map(|level| format!("{name}={level}")).collect(),
        });
        let width = self.sparse.as_ref().map_or(0, |sparse| sparse.width);
        named.chain((0..width).map(|column| ColumnRef::Number(column).to_string()))
    }

    /// The raw column that a column of the points comes from.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn source_of(&self, column: usize) -> ColumnRef {
        assert!(column < self.n_columns(), "column {column} of {}", self.n_columns());
        let mut first = 0;
        for raw in &self.columns {
            first += raw.coding.width();
            if column < first {
                return ColumnRef::Name(raw.name.clone());
            }
        }
        ColumnRef::Number(column - first)
    }

    /// The largest range of a column of the encoded training data. 0 if all rows are the same.
    pub fn extent(&self) -> f64 {
        self.extent
    }

    /// The raw columns that are used, and what they hold: what a reader of later data should look for.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, InputKind)> {
        self.columns.iter().map(|column| (column.name.as_str(), column.coding.kind()))
    }

    /// The raw columns that were left out in training.
    pub fn left_out(&self) -> impl Iterator<Item = &str> {
        self.left_out.iter().map(|(name, _)| name.as_str())
    }

    /// What the user should be told about the training data's columns.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = left_out_notes(&self.left_out);
        let not_shifted = self.sparse.as_ref().map_or(0, |sparse| sparse.not_shifted);
        if not_shifted > 0 {
            notes.push(Note::NotShifted { columns: not_shifted });
        }
        notes
    }

    /// The points of a table; see [`Encoder::encode_counting`].
    pub fn encode(&self, table: &Table) -> Result<PointsBuf> {
        self.encode_counting(table, &mut EncodeCounts::default())
    }

    /// The points of a table, counting unusual cells. The table may have its columns in any order; columns that were
    /// left out in training or had a role there may be present or not.
    ///
    /// Time and memory go with the cells; rows are independent of each other.
    ///
    /// # Errors
    /// Columns that are not those of the training data; cells that are missing (unless imputed), infinite, text in
    /// place of a number, or too large to be scaled. Of several, the first row is named.
    pub fn encode_counting(&self, table: &Table, counts: &mut EncodeCounts) -> Result<PointsBuf> {
        table.check()?;
        let found = self.find(table)?;
        let mut batch_counts = EncodeCounts::default();
        let mut fault: Option<Fault> = None;
        let mut cells = Vec::with_capacity(found.len());
        for (column, values) in self.columns.iter().zip(found) {
            match column.encode(values, table.first_row, &mut batch_counts)? {
                Ok(encoded) => cells.push(encoded),
                Err(found) if fault.as_ref().is_none_or(|first| found.0 < first.0) => fault = Some(found),
                Err(_) => {}
            }
        }
        if let Some((_, error)) = fault {
            return Err(error);
        }
        let points = match (&self.sparse, &table.sparse) {
            (None, _) => self.dense(&cells, table.n_rows)?,
            (Some(coding), Some(block)) => {
                self.sparse(coding, &cells, block.as_points(), table.first_row, &mut batch_counts)?
            }
            (Some(_), None) => unreachable!("checked with the columns"),
        };
        counts.imputed += batch_counts.imputed;
        counts.unseen_levels += batch_counts.unseen_levels;
        counts.unknown_columns += batch_counts.unknown_columns;
        Ok(points)
    }

    /// The columns of the table that are used, in the encoder's order.
    fn find<'a>(&self, table: &'a Table) -> Result<Vec<&'a Column>> {
        let by_name: HashMap<&str, &Column> =
            table.columns.iter().map(|column| (column.name.as_str(), &column.values)).collect();
        let found: Vec<&Column> =
            self.columns.iter().filter_map(|column| by_name.get(column.name.as_str()).copied()).collect();
        let missing: Vec<String> = self
            .columns
            .iter()
            .filter(|column| !by_name.contains_key(column.name.as_str()))
            .map(|column| column.name.clone())
            .collect();
        let known: HashSet<&str> = self.known_names().collect();
        let unknown: Vec<String> = table
            .columns
            .iter()
            .filter(|column| !known.contains(column.name.as_str()))
            .map(|column| column.name.clone())
            .collect();
        if !missing.is_empty() || !unknown.is_empty() {
            return Err(Error::Columns { missing, unknown });
        }
        match (self.sparse.is_some(), table.sparse.is_some()) {
            (true, false) => Err(Error::Data("the model needs sparse columns, but the data has none".into())),
            (false, true) => Err(Error::Data("the data has sparse columns, but the model knows none".into())),
            _ => Ok(found),
        }
    }

    /// Whether later data may have a column of that name.
    pub fn knows(&self, name: &str) -> bool {
        self.known_names().any(|known| known == name)
    }

    /// Every column that later data may have: features, those left out, those with a role.
    pub(super) fn known_names(&self) -> impl Iterator<Item = &str> {
        let features = self.columns.iter().map(|column| &column.name);
        let roles = &self.params.roles;
        let named = [&roles.target, &roles.label, &roles.bag, &roles.id].into_iter().flatten();
        features
            .chain(self.left_out.iter().map(|(name, _)| name))
            .chain(&self.roles)
            .chain(named)
            .chain(&roles.ignore)
            .map(String::as_str)
    }

    fn dense(&self, cells: &[Cells], n_rows: usize) -> Result<PointsBuf> {
        let width = self.n_named();
        let mut values = vec![0.0; n_rows * width];
        let mut first = 0;
        for (column, cells) in self.columns.iter().zip(cells) {
            let rows = values.chunks_exact_mut(width);
            match cells {
                Cells::Numbers(numbers) => rows.zip(numbers).for_each(|(row, &number)| row[first] = number),
                Cells::Levels(levels) => rows
                    .zip(levels)
                    .filter(|&(_, &level)| level != NO_LEVEL)
                    .for_each(|(row, &level)| row[first + level as usize] = 1.0),
            }
            first += column.coding.width();
        }
        PointsBuf::from_dense(values, width)
    }

    fn sparse(
        &self,
        coding: &SparseCoding,
        cells: &[Cells],
        block: Points<'_>,
        first_row: usize,
        counts: &mut EncodeCounts,
    ) -> Result<PointsBuf> {
        let named = self.n_named();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for (i, row) in block.rows().enumerate() {
            let mut push = |column: usize, value: f64| {
                if value != 0.0 {
                    columns.push(column as u32);
                    values.push(value);
                }
            };
            let mut first = 0;
            for (column, cells) in self.columns.iter().zip(cells) {
                match cells {
                    Cells::Numbers(numbers) => push(first, numbers[i]),
                    Cells::Levels(levels) if levels[i] != NO_LEVEL => push(first + levels[i] as usize, 1.0),
                    Cells::Levels(_) => {}
                }
                first += column.coding.width();
            }
            let Row::Sparse(row) = row else { return Err(Error::Data("the sparse block is stored densely".into())) };
            let ignored = coding.row(row, |column, value, raw| {
                if value.is_finite() {
                    push(named + column, value);
                    return Ok(());
                }
                Err(too_large(first_row + i, &ColumnRef::Number(column), raw))
            })?;
            counts.unknown_columns += ignored;
            starts.push(values.len());
        }
        PointsBuf::from_sparse(starts, columns, values, self.n_columns())
    }

    /// Refuses an encoder that contradicts itself or has no columns.
    pub(super) fn checked(self) -> Result<Self> {
        if self.n_columns() == 0 {
            let notes: Vec<String> = left_out_notes(&self.left_out).iter().map(ToString::to_string).collect();
            let why = if notes.is_empty() { String::new() } else { format!(": {}", notes.join("; ")) };
            return Err(Error::Data(format!("there is no column left to learn from{why}")));
        }
        if u32::try_from(self.n_columns()).is_err() {
            return Err(Error::Shape { what: "columns", expected: u32::MAX as usize, got: self.n_columns() });
        }
        Ok(self)
    }
}

fn left_out_notes(left_out: &[(String, LeftOut)]) -> Vec<Note> {
    let note = |why| {
        let columns: Vec<String> =
            left_out.iter().filter(|(_, reason)| *reason == why).map(|(name, _)| name.clone()).collect();
        (!columns.is_empty()).then_some(Note::LeftOut { columns, why })
    };
    LeftOut::ALL.into_iter().filter_map(note).collect()
}

fn too_large(row: usize, column: &ColumnRef, value: f64) -> Error {
    let row = row + 1;
    Error::Data(format!("row {row}, column {column}: {value:e} is too far from the training data to be scaled"))
}

impl Coding {
    fn width(&self) -> usize {
        match self {
            Self::Number { .. } => 1,
            Self::Text { levels, .. } => levels.len(),
        }
    }

    fn kind(&self) -> InputKind {
        match self {
            Self::Number { .. } => InputKind::Number,
            Self::Text { .. } => InputKind::Text,
        }
    }
}

impl EncodedColumn {
    /// The outer error is about the column, the inner one about its first faulty cell.
    fn encode(&self, column: &Column, first_row: usize, counts: &mut EncodeCounts) -> Result<Result<Cells, Fault>> {
        Ok(match &self.coding {
            Coding::Number { shift, divisor, fill } => {
                let values = column.as_numbers(&self.name, first_row)?;
                let encoded = (first_row..)
                    .zip(values.iter())
                    .map(|(row, &value)| {
                        let value = match (value.is_nan(), fill) {
                            (false, _) => value,
                            (true, &Some(fill)) => {
                                counts.imputed += 1;
                                fill
                            }
                            (true, None) => return Err((row, Error::Missing { row, column: self.reference() })),
                        };
                        let encoded = scaled(value, *shift, *divisor);
                        if encoded.is_finite() {
                            Ok(encoded)
                        } else if value.is_finite() {
                            Err((row, too_large(row, &self.reference(), value)))
                        } else {
                            Err((row, Error::NotFinite { row, column: self.reference(), value }))
                        }
                    })
                    .collect::<Result<Vec<f64>, Fault>>();
                encoded.map(Cells::Numbers)
            }
            Coding::Text { levels, fill } => {
                let text = column.as_text();
                let known: Vec<u32> = text
                    .levels
                    .iter()
                    .map(|level| levels.binary_search(level).map_or(NO_LEVEL, |level| level as u32))
                    .collect();
                let encoded = (first_row..)
                    .zip(&text.codes)
                    .map(|(row, &code)| match (code, fill) {
                        (TextColumn::MISSING, &Some(fill)) => {
                            counts.imputed += 1;
                            Ok(fill)
                        }
                        (TextColumn::MISSING, None) => Err((row, Error::Missing { row, column: self.reference() })),
                        (code, _) => {
                            let level = known[code as usize];
                            counts.unseen_levels += u64::from(level == NO_LEVEL);
                            Ok(level)
                        }
                    })
                    .collect::<Result<Vec<u32>, Fault>>();
                encoded.map(Cells::Levels)
            }
        })
    }

    fn reference(&self) -> ColumnRef {
        ColumnRef::Name(self.name.clone())
    }
}

/// The JSON part of a stored encoder; the lists of sparse columns are tensors.
#[derive(Serialize, Deserialize)]
struct Stored {
    rows: usize,
    params: EncoderParams,
    columns: Vec<EncodedColumn>,
    left_out: Vec<(String, LeftOut)>,
    roles: Vec<String>,
    extent: f64,
    /// Of the sparse block, if there is one.
    width: Option<usize>,
}

impl Persist for Encoder {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        let Self { rows, params, columns, left_out, roles, sparse, extent } = self.clone();
        let width = sparse.as_ref().map(|sparse| sparse.width);
        out.put_json(prefix, &Stored { rows, params, columns, left_out, roles, extent, width });
        if let Some(sparse) = &sparse {
            sparse.save(out, &format!("{prefix}.sparse"));
        }
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let Stored { rows, params, columns, left_out, roles, extent, width } = from.json(prefix)?;
        let bad = |why: &str| bad_part(prefix, why);
        let params = params.check().map_err(|error| bad(&format!("is not possible: {error}")))?.into_inner();
        let sparse = width.map(|width| SparseCoding::load(from, &format!("{prefix}.sparse"), width)).transpose()?;
        if !columns.iter().all(|column| column.coding.is_sound(params.missing)) {
            return Err(bad("has a column that cannot be computed"));
        }
        let mut names = HashSet::new();
        if !columns.iter().all(|column| names.insert(&column.name)) {
            return Err(bad("has two columns of one name"));
        }
        if !(extent.is_finite() && extent >= 0.0) || rows == 0 {
            return Err(bad("says impossible things about its training data"));
        }
        let encoder = Self { rows, params, columns, left_out, roles, sparse, extent };
        encoder.checked().map_err(|error| bad(&format!("is not possible: {error}")))
    }
}

impl Coding {
    fn is_sound(&self, missing: Missing) -> bool {
        let (filled, sound) = match self {
            Self::Number { shift, divisor, fill } => (
                fill.is_some(),
                shift.is_finite() && divisor.is_finite() && *divisor > 0.0 && fill.is_none_or(f64::is_finite),
            ),
            Self::Text { levels, fill } => (
                fill.is_some(),
                !levels.is_empty()
                    && levels.windows(2).all(|pair| pair[0] < pair[1])
                    && fill.is_none_or(|level| (level as usize) < levels.len()),
            ),
        };
        sound && filled == (missing == Missing::Impute)
    }
}
