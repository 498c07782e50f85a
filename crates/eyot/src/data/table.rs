//! Raw columns as a file or a data frame has them: numbers and text, with holes, plus at most one block of sparse
//! columns. A large file is a sequence of tables, each knowing where it starts.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::label::number_text;
use super::points::PointsBuf;
use crate::error::{Error, Result};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};

/// A batch of raw rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Number of the first row within the whole input, from 0: errors and row keys count from the start.
    pub first_row: usize,
    /// Rows in this batch.
    pub n_rows: usize,
    /// Named columns, in the order of the input.
    pub columns: Vec<TableColumn>,
    /// Sparse columns without names (svmlight), always stored sparsely; they come after the named ones.
    pub sparse: Option<PointsBuf>,
}

/// A named column.
#[derive(Debug, Clone, PartialEq)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub values: Column,
}

/// The cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Numbers; NaN stands for a missing cell. Infinities are kept and refused when the column is used.
    Numbers(Vec<f64>),
    /// Text.
    Text(TextColumn),
}

/// Text cells as numbers into a list of levels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextColumn {
    /// The distinct texts of this batch, in order of first appearance.
    pub levels: Vec<String>,
    /// Per row the number of its level, or [`TextColumn::MISSING`].
    pub codes: Vec<u32>,
}

impl TextColumn {
    /// Stands for a missing cell.
    pub const MISSING: u32 = u32::MAX;

    /// The rows named, in that order, with the levels that occur in them.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut new_codes = vec![Self::MISSING; self.levels.len()];
        let mut chosen = Self { levels: Vec::new(), codes: Vec::with_capacity(rows.len()) };
        for code in rows.iter().map(|&row| self.codes[row]) {
            if code == Self::MISSING {
                chosen.codes.push(code);
                continue;
            }
            let new_code = &mut new_codes[code as usize];
            if *new_code == Self::MISSING {
                *new_code = chosen.levels.len() as u32;
                chosen.levels.push(self.levels[code as usize].clone());
            }
            chosen.codes.push(*new_code);
        }
        chosen
    }

    /// Adds the cells of another column, numbering new levels by first appearance.
    pub fn append(&mut self, more: &Self) {
        let new_codes: Vec<u32> = more
            .levels
            .iter()
            .map(|level| {
                let known = self.levels.iter().position(|own| own == level);
                known.unwrap_or_else(|| {
                    self.levels.push(level.clone());
                    self.levels.len() - 1
                }) as u32
            })
            .collect();
        let code = |&code: &u32| if code == Self::MISSING { code } else { new_codes[code as usize] };
        self.codes.extend(more.codes.iter().map(code));
    }

    /// The text of a row, `None` if it is missing.
    pub fn get(&self, row: usize) -> Option<&str> {
        let code = self.codes[row];
        (code != Self::MISSING).then(|| self.levels[code as usize].as_str())
    }
}

impl<S: Into<String> + AsRef<str>> FromIterator<Option<S>> for TextColumn {
    fn from_iter<I: IntoIterator<Item = Option<S>>>(cells: I) -> Self {
        let mut column = Self::default();
        let mut known: HashMap<String, u32> = HashMap::new();
        for cell in cells {
            let code = match cell {
                None => Self::MISSING,
                Some(cell) => known.get(cell.as_ref()).copied().unwrap_or_else(|| {
                    let (code, level) = (column.levels.len() as u32, cell.into());
                    known.insert(level.clone(), code);
                    column.levels.push(level);
                    code
                }),
            };
            column.codes.push(code);
        }
        column
    }
}

impl Column {
    /// How many cells there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Text(text) => text.codes.len(),
        }
    }

    /// The cells of some rows.
    ///
    /// # Panics
    /// If the range leaves the column.
    #[must_use]
    pub fn slice(&self, rows: std::ops::Range<usize>) -> Self {
        match self {
            Self::Numbers(values) => Self::Numbers(values[rows].to_vec()),
            Self::Text(text) => Self::Text(text.select(&rows.collect::<Vec<_>>())),
        }
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cells as numbers, NaN where one is missing. Text is read as numbers; the first cell that is none is an
    /// error that names it.
    pub(crate) fn as_numbers(&self, name: &str, first_row: usize) -> Result<Cow<'_, [f64]>> {
        let text = match self {
            Self::Numbers(values) => return Ok(Cow::Borrowed(values)),
            Self::Text(text) => text,
        };
        let levels: Vec<Option<f64>> = text.levels.iter().map(|level| level.trim().parse().ok()).collect();
        let number = |(row, &code): (usize, &u32)| match code {
            TextColumn::MISSING => Ok(f64::NAN),
            code => levels[code as usize].ok_or_else(|| {
                let (row, level) = (row + 1, &text.levels[code as usize]);
                Error::Data(format!("row {row}, column `{name}`: `{level}` is not a number"))
            }),
        };
        (first_row..).zip(&text.codes).map(number).collect::<Result<Vec<f64>>>().map(Cow::Owned)
    }

    /// The cells as text; numbers in their shortest form.
    pub(crate) fn as_text(&self) -> Cow<'_, TextColumn> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Numbers(values) => {
                Cow::Owned(values.iter().map(|&value| (!value.is_nan()).then(|| number_text(value))).collect())
            }
        }
    }
}

impl Table {
    /// Refuses a table that contradicts itself: columns of different lengths, two of one name, text without a level.
    pub(crate) fn check(&self) -> Result<()> {
        let lengths = self.columns.iter().map(|column| column.values.len());
        let lengths = lengths.chain(self.sparse.iter().map(PointsBuf::n_rows));
        if let Some(got) = lengths.into_iter().find(|&length| length != self.n_rows) {
            return Err(Error::Shape { what: "cells of a column", expected: self.n_rows, got });
        }
        let mut names = HashSet::with_capacity(self.columns.len());
        for column in &self.columns {
            if !names.insert(column.name.as_str()) {
                return Err(Error::Data(format!("two columns are called `{}`", column.name)));
            }
            let Column::Text(text) = &column.values else { continue };
            let levels = text.levels.len();
            let stray = text.codes.iter().find(|&&code| code != TextColumn::MISSING && code as usize >= levels);
            if let Some(&code) = stray {
                return Err(Error::Shape { what: "levels of a text column", expected: code as usize + 1, got: levels });
            }
        }
        Ok(())
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.values)
    }

    /// Adds the rows of a table with the same columns, in the same order.
    ///
    /// # Errors
    /// If the columns differ; then nothing is added.
    pub fn append(&mut self, more: &Self) -> Result<()> {
        let kind = |column: &TableColumn| (column.name.clone(), matches!(column.values, Column::Text(_)));
        let kinds = |table: &Self| (table.columns.iter().map(kind).collect::<Vec<_>>(), table.sparse.is_some());
        if kinds(self) != kinds(more) {
            return Err(Error::Data("rows that are put together must have the same columns".into()));
        }
        for (column, more) in self.columns.iter_mut().zip(&more.columns) {
            match (&mut column.values, &more.values) {
                (Column::Numbers(all), Column::Numbers(more)) => all.extend_from_slice(more),
                (Column::Text(all), Column::Text(more)) => all.append(more),
                _ => unreachable!("the kinds are the same"),
            }
        }
        if let (Some(all), Some(more)) = (&mut self.sparse, &more.sparse) {
            more.as_points().rows().for_each(|row| all.push(row));
        }
        self.n_rows += more.n_rows;
        Ok(())
    }

    /// A new table with the rows named (counted within this table), in that order. It keeps the number of the first
    /// row, although its rows are no longer consecutive.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let columns = self.columns.iter().map(|column| TableColumn {
            name: column.name.clone(),
            values: match &column.values {
                Column::Numbers(values) => Column::Numbers(rows.iter().map(|&row| values[row]).collect()),
                Column::Text(text) => Column::Text(text.select(rows)),
            },
        });
        Self {
            first_row: self.first_row,
            n_rows: rows.len(),
            columns: columns.collect(),
            sparse: self.sparse.as_ref().map(|sparse| sparse.select(rows)),
        }
    }
}

/// The JSON part of a stored table; cells are tensors.
#[derive(Serialize, Deserialize)]
struct Stored {
    first_row: usize,
    n_rows: usize,
    sparse: bool,
    /// Names, and the levels of text.
    columns: Vec<(String, Option<Vec<String>>)>,
}

impl Persist for Table {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        let levels = |column: &Column| match column {
            Column::Numbers(_) => None,
            Column::Text(text) => Some(text.levels.clone()),
        };
        let columns = self.columns.iter().map(|column| (column.name.clone(), levels(&column.values))).collect();
        let Self { first_row, n_rows, sparse, .. } = self;
        out.put_json(prefix, &Stored { first_row: *first_row, n_rows: *n_rows, sparse: sparse.is_some(), columns });
        for (at, column) in self.columns.iter().enumerate() {
            match &column.values {
                Column::Numbers(values) => out.put_f64(&format!("{prefix}.{at}"), values),
                Column::Text(text) => out.put_u32(&format!("{prefix}.{at}"), &text.codes),
            }
        }
        if let Some(sparse) = sparse {
            sparse.save(out, &format!("{prefix}.sparse"));
        }
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let Stored { first_row, n_rows, sparse, columns } = from.json(prefix)?;
        let column = |(at, (name, levels)): (usize, (String, Option<Vec<String>>))| {
            let part = format!("{prefix}.{at}");
            let values = match levels {
                None => Column::Numbers(from.f64s(&part)?),
                Some(levels) => Column::Text(TextColumn { levels, codes: from.u32s(&part)? }),
            };
            Ok(TableColumn { name, values })
        };
        let columns = columns.into_iter().enumerate().map(column).collect::<Result<_>>()?;
        let sparse = sparse.then(|| PointsBuf::load(from, &format!("{prefix}.sparse"))).transpose()?;
        let table = Self { first_row, n_rows, columns, sparse };
        table.check().map_err(|error| bad_part(prefix, &error.to_string()))?;
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_rows_keep_their_values_and_only_their_levels() {
        let text = TextColumn {
            levels: vec!["a".into(), "b".into(), "c".into()],
            codes: vec![0, 2, TextColumn::MISSING, 1, 2],
        };
        let table = Table {
            first_row: 10,
            n_rows: 5,
            columns: vec![
                TableColumn { name: "x".into(), values: Column::Numbers(vec![0.0, 1.0, 2.0, 3.0, 4.0]) },
                TableColumn { name: "s".into(), values: Column::Text(text) },
            ],
            sparse: None,
        };
        let chosen = table.select(&[4, 2, 1]);
        assert_eq!((chosen.first_row, chosen.n_rows), (10, 3));
        assert_eq!(chosen.column("x"), Some(&Column::Numbers(vec![4.0, 2.0, 1.0])));
        let expected = TextColumn { levels: vec!["c".into()], codes: vec![0, TextColumn::MISSING, 0] };
        assert_eq!(chosen.column("s"), Some(&Column::Text(expected)));
        let mut twice = chosen.clone();
        twice.append(&table.select(&[3])).unwrap();
        assert_eq!(twice, table.select(&[4, 2, 1, 3]));
        let mut out = ModelWriter::new("test");
        chosen.save(&mut out, "rows");
        let bytes = out.finish().unwrap();
        assert_eq!(Table::load(&ModelReader::parse(&bytes).unwrap(), "rows").unwrap(), chosen);
    }
}
