//! Columns under construction, shared by all readers: what counts as a number, what as missing, and how texts become
//! levels.

use std::collections::HashMap;

use eyot::{Column, PointsBuf, Table, TableColumn, TextColumn, Values};

use super::{ColumnKind, PlannedColumn};

/// Cells of text formats that stand for no value, besides the empty one.
const MISSING: [&[u8]; 9] = [b"NA", b"N/A", b"NaN", b"nan", b"null", b"NULL", b"None", b"?", b"n/a"];

/// Whether a trimmed cell of a text format is missing.
pub(super) fn is_missing(cell: &[u8]) -> bool {
    cell.is_empty() || MISSING.contains(&cell)
}

/// A trimmed cell of a text format as a number, NaN if it is missing, `None` if it is something else.
#[inline]
pub(super) fn number(cell: &[u8]) -> Option<f64> {
    match fast_float2::parse::<f64, _>(cell) {
        Ok(value) if value.is_nan() => Some(f64::NAN),
        Ok(value) => Some(value),
        Err(_) => is_missing(cell).then_some(f64::NAN),
    }
}

/// How many cells of a sample are numbers and how many are text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Census {
    pub(super) numbers: usize,
    pub(super) texts: usize,
}

impl Census {
    pub(super) fn count(&mut self, cell: &[u8]) {
        match number(cell) {
            Some(value) if value.is_nan() => {}
            Some(_) => self.numbers += 1,
            None => self.texts += 1,
        }
    }

    /// A number column if at least half of what is there are numbers.
    pub(super) fn kind(self) -> ColumnKind {
        if self.numbers >= self.texts { ColumnKind::Number } else { ColumnKind::Text }
    }
}

/// The cells of one column of a batch.
#[derive(Debug)]
pub(super) enum Cells {
    Skip,
    Numbers(Vec<f64>),
    Text(TextCells),
}

impl Cells {
    pub(super) fn new(kind: Option<ColumnKind>) -> Self {
        match kind {
            None => Self::Skip,
            Some(ColumnKind::Number) => Self::Numbers(Vec::new()),
            Some(ColumnKind::Text) => Self::Text(TextCells::default()),
        }
    }

    /// Hands out what was gathered and starts anew.
    pub(super) fn take(&mut self) -> Option<Column> {
        match self {
            Self::Skip => None,
            Self::Numbers(values) => {
                let next = Vec::with_capacity(values.len());
                Some(Column::Numbers(std::mem::replace(values, next)))
            }
            Self::Text(cells) => Some(Column::Text(std::mem::take(cells).finish())),
        }
    }
}

/// Texts under construction.
#[derive(Debug, Default)]
pub(super) struct TextCells {
    column: TextColumn,
    // Only asked, never walked, so its order reaches nothing.
    known: HashMap<String, u32>,
}

impl TextCells {
    pub(super) fn push(&mut self, text: Option<&str>) {
        let code = match text {
            None => TextColumn::MISSING,
            Some(text) => self.known.get(text).copied().unwrap_or_else(|| {
                let code = self.column.levels.len() as u32;
                self.column.levels.push(text.to_owned());
                self.known.insert(text.to_owned(), code);
                code
            }),
        };
        self.column.codes.push(code);
    }

    pub(super) fn finish(self) -> TextColumn {
        self.column
    }
}

/// Numbers in the shortest form that reads back as the same, NaN as missing.
pub(super) fn as_text(numbers: &[f64]) -> TextColumn {
    let mut cells = TextCells::default();
    for number in numbers {
        cells.push((!number.is_nan()).then(|| number.to_string()).as_deref());
    }
    cells.finish()
}

/// The columns of one batch under their names.
pub(super) fn take_columns(plan: &[PlannedColumn], cells: &mut [Cells]) -> Vec<TableColumn> {
    let named = plan.iter().zip(cells);
    named.filter_map(|(column, cells)| Some(TableColumn { name: column.name.clone(), values: cells.take()? })).collect()
}

/// Batches put together to one table.
#[derive(Default)]
pub(super) struct Gathered {
    first_row: Option<usize>,
    n_rows: usize,
    columns: Vec<(String, Cells)>,
    sparse: Option<SparseParts>,
}

struct SparseParts {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    width: usize,
}

impl Gathered {
    pub(super) fn push(&mut self, batch: Table) {
        if self.first_row.is_none() {
            self.first_row = Some(batch.first_row);
            self.columns = (batch.columns.iter())
                .map(|column| {
                    let kind = match column.values {
                        Column::Numbers(_) => ColumnKind::Number,
                        Column::Text(_) => ColumnKind::Text,
                    };
                    (column.name.clone(), Cells::new(Some(kind)))
                })
                .collect();
        }
        self.n_rows += batch.n_rows;
        for ((_, cells), column) in self.columns.iter_mut().zip(batch.columns) {
            match (cells, column.values) {
                (Cells::Numbers(all), Column::Numbers(mut values)) => all.append(&mut values),
                (Cells::Text(all), Column::Text(text)) => (0..text.codes.len()).for_each(|row| all.push(text.get(row))),
                _ => unreachable!("a reader keeps the kinds of its columns"),
            }
        }
        if let Some(batch) = batch.sparse {
            let all = self.sparse.get_or_insert_with(|| SparseParts {
                starts: vec![0],
                columns: Vec::new(),
                values: Vec::new(),
                width: 0,
            });
            let Values::Sparse { starts, columns, values } = batch.as_points().values() else {
                unreachable!("the sparse block of a table is stored sparsely")
            };
            let before = all.values.len();
            all.starts.extend(starts[1..].iter().map(|start| before + start));
            all.columns.extend_from_slice(columns);
            all.values.extend_from_slice(values);
            all.width = all.width.max(batch.n_columns());
        }
    }

    pub(super) fn finish(self) -> eyot::Result<Table> {
        let named = self.columns.into_iter();
        let columns = named.filter_map(|(name, mut cells)| Some(TableColumn { name, values: cells.take()? })).collect();
        let sparse = self.sparse.map(|all| PointsBuf::from_sparse(all.starts, all.columns, all.values, all.width));
        Ok(Table { first_row: self.first_row.unwrap_or(0), n_rows: self.n_rows, columns, sparse: sparse.transpose()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_to_the_last_bit_and_missing_cells_are_nan() {
        for text in ["0.1", "-0", "+3", "1e-320", "1.7976931348623157e308", "9007199254740993", "inf", "-1e999"] {
            let expected: f64 = text.parse().unwrap();
            assert_eq!(number(text.as_bytes()).unwrap().to_bits(), expected.to_bits(), "{text}");
        }
        for text in ["", "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "null", "NULL", "None", "?"] {
            assert_eq!(number(text.as_bytes()).unwrap().to_bits(), f64::NAN.to_bits(), "{text}");
        }
        for text in ["x", "1x", "1,5", "0x10", "--1", "1 2", "na"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn levels_are_numbered_by_first_appearance_and_start_anew_per_batch() {
        let mut cells = Cells::new(Some(ColumnKind::Text));
        for batch in [["b", "a", "b"], ["a", "c", "a"]] {
            let Cells::Text(text) = &mut cells else { unreachable!() };
            for cell in batch {
                text.push(Some(cell));
            }
            text.push(None);
            let Some(Column::Text(column)) = cells.take() else { unreachable!() };
            assert_eq!(column.codes, [0, 1, 0, TextColumn::MISSING]);
            assert_eq!(column.levels, [batch[0], batch[1]]);
        }
    }

    #[test]
    fn half_numbers_make_a_number_column() {
        let kind = |cells: &[&str]| {
            let mut census = Census::default();
            for cell in cells {
                census.count(cell.as_bytes());
            }
            census.kind()
        };
        assert_eq!(kind(&["1", "x", "", "?"]), ColumnKind::Number);
        assert_eq!(kind(&["1", "x", "y"]), ColumnKind::Text);
        assert_eq!(kind(&["", ""]), ColumnKind::Number);
    }
}
