//! Raw columns as a file or a data frame has them: numbers and text, with holes, plus at most one block of sparse
//! columns. A large file is a sequence of tables, each knowing where it starts.

use super::points::PointsBuf;

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

    /// The text of a row, `None` if it is missing.
    pub fn get(&self, row: usize) -> Option<&str> {
        let code = self.codes[row];
        (code != Self::MISSING).then(|| self.levels[code as usize].as_str())
    }
}

impl Table {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name).map(|column| &column.values)
    }
}
