//! The sparse text of svmlight and LIBSVM: `label index:value …`, one row per line, `#` begins a comment, and
//! `qid:number` may follow the label.
//!
//! The label becomes the column `label`, the query number the column `qid`; all else is the sparse block of the
//! table, where index 1 is column 0. Its width is the largest index so far, so it may grow from batch to batch.
//! Zeros that are written out are left out.

use std::io::Read;

use eyot::{PointsBuf, Table};

use super::column::{Cells, Census, is_missing, number, take_columns};
use super::lines::Lines;
use super::{BATCH_CELLS, Batches, PlannedColumn, ReadOptions, Text};
use crate::error::{Error, Result, shown};

const NO_LABEL: &str = "every row begins with a label; write 0 where there is none";
const FROM_ONE: &str = "if indices count from 0 here, use --zero-based";

pub(super) struct SvmlightReader {
    lines: Lines<Box<dyn Read + Send>>,
    columns: Vec<PlannedColumn>,
    label: Cells,
    /// Query numbers, if the first row has one; else none may have.
    query: Option<Cells>,
    zero_based: bool,
    batch_rows: usize,
    live: bool,
    width: usize,
}

/// Sparse rows under construction.
struct Rows {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// What is wrong with a line.
struct Wrong {
    what: String,
    hint: Option<&'static str>,
}

impl Wrong {
    fn new(what: String) -> Self {
        Self { what, hint: None }
    }
}

/// Whether the first line that says something reads `label index:value`.
pub(super) fn looks_like(start: &[u8]) -> bool {
    let mut lines = start.split(|&byte| byte == b'\n').map(content).filter(|line| !line.is_empty());
    let Some(line) = lines.next() else { return false };
    let mut tokens = line.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
    let label = tokens.next().is_some_and(|label| !label.contains(&b':'));
    label && tokens.next().is_some_and(|token| entry(token).is_some() || token.starts_with(b"qid:"))
}

/// A line without its comment and the blanks around it.
#[inline]
fn content(line: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'#', line).unwrap_or(line.len());
    line[..end].trim_ascii()
}

/// An `index:` at the start of bytes, and its length.
#[inline]
fn index(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    // Eleven digits hold every index and cannot overflow.
    for (at, &byte) in bytes.iter().enumerate().take(12) {
        match byte {
            b'0'..=b'9' => value = 10 * value + u64::from(byte - b'0'),
            b':' if at > 0 => return Some((value, at + 1)),
            _ => return None,
        }
    }
    None
}

/// An `index:value` at the start of bytes, and its length.
#[inline]
fn entry(bytes: &[u8]) -> Option<(u64, f64, usize)> {
    let (index, length) = index(bytes)?;
    let (value, digits) = fast_float2::parse_partial::<f64, _>(&bytes[length..]).ok()?;
    let length = length + digits;
    bytes.get(length).is_none_or(u8::is_ascii_whitespace).then_some((index, value, length))
}

fn split_token(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(u8::is_ascii_whitespace).unwrap_or(bytes.len());
    (&bytes[..end], bytes[end..].trim_ascii_start())
}

fn lossy(token: &[u8]) -> String {
    shown(&String::from_utf8_lossy(token))
}

impl SvmlightReader {
    pub(super) fn open(text: Text, options: &ReadOptions) -> Result<Self> {
        let rows = text.sample_lines().split(|&byte| byte == b'\n').map(content).filter(|line| !line.is_empty());
        let (mut census, mut query, mut n_rows) = (Census::default(), false, 0);
        for row in rows {
            let (label, rest) = split_token(row);
            census.count(label);
            query |= n_rows == 0 && rest.starts_with(b"qid:");
            n_rows += 1;
        }
        if n_rows == 0 && text.complete {
            return Err(Error::Empty { file: text.file, header: false });
        }
        let mut columns = vec![PlannedColumn { name: "label".into(), kind: options.plan("label", census.kind()) }];
        if query {
            columns.push(PlannedColumn { name: "qid".into(), kind: options.plan("qid", super::ColumnKind::Number) });
        }
        let file = text.file.clone();
        Ok(Self {
            lines: Lines::new(&file, Box::new(text.into_reader())),
            label: Cells::new(columns[0].kind),
            query: columns.get(1).map(|column| Cells::new(column.kind)),
            columns,
            zero_based: options.zero_based,
            batch_rows: options.batch_rows,
            live: options.live,
            width: 0,
        })
    }
}

impl Batches for SvmlightReader {
    fn columns(&self) -> &[PlannedColumn] {
        &self.columns
    }

    fn next_batch(&mut self, first_row: usize) -> Result<Option<Table>> {
        let mut rows = Rows { starts: vec![0], columns: Vec::new(), values: Vec::new() };
        let mut n_rows = 0;
        while n_rows < self.batch_rows && rows.values.len() < BATCH_CELLS {
            if (self.live && n_rows > 0 && !self.lines.has_line()) || !self.lines.advance()? {
                break;
            }
            let line = content(self.lines.line());
            if line.is_empty() {
                continue;
            }
            let parsed = push_head(line, &mut self.label, self.query.as_mut())
                .and_then(|rest| push_entries(rest, &mut rows, self.zero_based));
            if let Err(Wrong { what, hint }) = parsed {
                return Err(Error::Row { place: Box::new(self.lines.place(first_row + n_rows)), what, hint });
            }
            if let Some(&last) = rows.columns.last() {
                self.width = self.width.max(last as usize + 1);
            }
            n_rows += 1;
        }
        if n_rows == 0 {
            return Ok(None);
        }
        let sparse = PointsBuf::from_sparse(rows.starts, rows.columns, rows.values, self.width)?;
        let mut columns = take_columns(&self.columns[..1], std::slice::from_mut(&mut self.label));
        if let Some(query) = &mut self.query {
            columns.append(&mut take_columns(&self.columns[1..], std::slice::from_mut(query)));
        }
        Ok(Some(Table { first_row, n_rows, columns, sparse: Some(sparse) }))
    }
}

/// Reads label and query number; what is left are the entries.
#[inline]
fn push_head<'a>(line: &'a [u8], label: &mut Cells, query: Option<&mut Cells>) -> Result<&'a [u8], Wrong> {
    let (token, mut rest) = split_token(line);
    if token.contains(&b':') {
        let what = format!("{} stands where the label should be", lossy(token));
        return Err(Wrong { what, hint: Some(NO_LABEL) });
    }
    push_cell("label", token, label)?;
    let has_query = rest.starts_with(b"qid:");
    match query {
        Some(query) if has_query => {
            let (token, after) = split_token(rest);
            push_cell("qid", &token[4..], query)?;
            rest = after;
        }
        None if !has_query => {}
        _ => {
            return Err(Wrong::new(format!(
                "the row has {} `qid:`, unlike the first",
                if has_query { "a" } else { "no" }
            )));
        }
    }
    Ok(rest)
}

fn push_cell(name: &str, token: &[u8], cells: &mut Cells) -> Result<(), Wrong> {
    match cells {
        Cells::Skip => {}
        Cells::Numbers(values) => match number(token) {
            Some(value) => values.push(value),
            None if token.contains(&b',') => {
                return Err(Wrong::new(format!("the {name} {} holds several values, but one is needed", lossy(token))));
            }
            None => return Err(Wrong::new(format!("the {name} {} is not a number", lossy(token)))),
        },
        Cells::Text(texts) if is_missing(token) => texts.push(None),
        Cells::Text(texts) => match std::str::from_utf8(token) {
            Ok(text) => texts.push(Some(text)),
            Err(_) => return Err(Wrong::new(format!("the {name} {} is not text in UTF-8", lossy(token)))),
        },
    }
    Ok(())
}

#[inline]
fn push_entries(mut rest: &[u8], rows: &mut Rows, zero_based: bool) -> Result<(), Wrong> {
    // 0 is below every index in both ways of counting once it has been shifted.
    let shift = u64::from(zero_based);
    let mut before = 0;
    while !rest.is_empty() {
        let Some((index, value, length)) = entry(rest) else { return Err(odd_entry(rest)) };
        let place = index + shift;
        if place <= before || place > u64::from(u32::MAX) || !value.is_finite() {
            return Err(wrong_entry(index, value, (before > 0).then(|| before - shift)));
        }
        before = place;
        if value != 0.0 {
            rows.columns.push((place - 1) as u32);
            rows.values.push(value);
        }
        rest = match &rest[length..] {
            [b' ', next @ ..] if next.first().is_some_and(u8::is_ascii_digit) => next,
            blanks => blanks.trim_ascii_start(),
        };
    }
    rows.starts.push(rows.values.len());
    Ok(())
}

#[cold]
fn odd_entry(rest: &[u8]) -> Wrong {
    let (token, _) = split_token(rest);
    Wrong::new(format!("{} is not `index:value`", lossy(token)))
}

#[cold]
fn wrong_entry(index: u64, value: f64, before: Option<u64>) -> Wrong {
    if !value.is_finite() {
        return Wrong::new(format!("index {index}: {value} is not a finite number"));
    }
    match before {
        _ if index > u64::from(u32::MAX) - 1 => Wrong::new(format!("index {index} is too large")),
        Some(before) => Wrong {
            what: format!("index {index} comes after {before}, but indices must ascend"),
            hint: Some("sort the entries of each row, and keep one per index"),
        },
        None => Wrong { what: format!("index {index} is below 1"), hint: Some(FROM_ONE) },
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use eyot::{Column, Values};
    use proptest::prelude::*;

    use super::super::{ColumnKind, Format, open, read_table};
    use super::*;
    use crate::Source;

    fn source(text: &[u8]) -> Source {
        Source::from_reader("t.svm", Box::new(Cursor::new(text.to_vec())))
    }

    fn options() -> ReadOptions {
        ReadOptions::default().format(Format::Svmlight)
    }

    fn read(text: &str) -> Result<Table> {
        read_table(&mut source(text.as_bytes()), &options())
    }

    fn entries(table: &Table) -> Vec<Vec<(usize, f64)>> {
        table.sparse.as_ref().unwrap().as_points().rows().map(|row| row.nonzeros().collect()).collect()
    }

    #[test]
    fn labels_entries_comments_and_zeros_are_read() {
        let table = read("# file\n+1 1:0.5 3:-2 # note\n\n-1 2:0 4:1e2\t5:1 \r\n0\n").unwrap();
        assert_eq!(table.n_rows, 3);
        assert_eq!(table.column("label"), Some(&Column::Numbers(vec![1.0, -1.0, 0.0])));
        assert_eq!(entries(&table), [vec![(0, 0.5), (2, -2.0)], vec![(3, 100.0), (4, 1.0)], vec![]]);
        assert_eq!(table.sparse.unwrap().n_columns(), 5);
    }

    #[test]
    fn text_labels_and_query_numbers_become_columns() {
        let table = read("spam qid:3 1:1\nham qid:4 2:1\n").unwrap();
        assert_eq!(table.column("qid"), Some(&Column::Numbers(vec![3.0, 4.0])));
        assert!(matches!(table.column("label"), Some(Column::Text(text)) if text.levels == ["spam", "ham"]));
        let table = read_table(&mut source(b"1 1:1\n2 2:1\n"), &options().text_columns(["label"])).unwrap();
        assert!(matches!(table.column("label"), Some(Column::Text(text)) if text.levels == ["1", "2"]));
    }

    #[test]
    fn indices_from_zero_need_the_option() {
        let error = read("1 0:1 2:1\n").unwrap_err();
        assert_eq!(error.to_string(), "t.svm: row 1 (line 1): index 0 is below 1");
        assert_eq!(error.hint().unwrap(), FROM_ONE);
        let table = read_table(&mut source(b"1 0:1 2:1\n"), &options().zero_based(true)).unwrap();
        assert_eq!(entries(&table), [[(0, 1.0), (2, 1.0)]]);
    }

    #[test]
    fn bad_rows_are_named() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(message(""), "t.svm: there are no rows");
        assert_eq!(message("# nothing\n\n"), "t.svm: there are no rows");
        for (text, what) in [
            ("1 1:1\n1 3:1 2:1\n", "index 2 comes after 3, but indices must ascend"),
            ("1 1:1\n1 3:1 3:1\n", "index 3 comes after 3, but indices must ascend"),
            ("1 1:1\n1 3:x\n", "`3:x` is not `index:value`"),
            ("1 1:1\n1 3\n", "`3` is not `index:value`"),
            ("1 1:1\n1 3: 4\n", "`3:` is not `index:value`"),
            ("1 1:1\n1 3:1x 4:1\n", "`3:1x` is not `index:value`"),
            ("1 1:1\n1 3:nan\n", "index 3: NaN is not a finite number"),
            ("1 1:1\n1 3:1e999\n", "index 3: inf is not a finite number"),
            ("1 1:1\n1 99999999999:1\n", "index 99999999999 is too large"),
            ("1 1:1\n1 999999999999999999999:1\n", "`999999999999999999999:1` is not `index:value`"),
            ("1 1:1\n3:1 4:1\n", "`3:1` stands where the label should be"),
            ("1 1:1\n1,2 4:1\n", "the label `1,2` holds several values, but one is needed"),
            ("1 1:1\nx 4:1\n", "the label `x` is not a number"),
            ("1 1:1\n1 qid:1 4:1\n", "the row has a `qid:`, unlike the first"),
            ("1 qid:1 1:1\n1 4:1\n", "the row has no `qid:`, unlike the first"),
        ] {
            assert_eq!(message(text), format!("t.svm: row 2 (line 2): {what}"), "{text:?}");
        }
    }

    #[test]
    fn width_grows_with_the_batches() {
        let mut reader = open(&mut source(b"1 1:1\n1 7:1\n1 3:1\n"), &options().batch_rows(1)).unwrap();
        assert!(reader.is_sparse());
        assert_eq!(reader.columns()[0].kind, ColumnKind::Number);
        let widths: Vec<_> = reader.by_ref().map(|batch| batch.unwrap().sparse.unwrap().n_columns()).collect();
        assert_eq!(widths, [1, 7, 7]);
    }

    #[test]
    fn svmlight_is_recognised_by_its_look() {
        for (text, yes) in
            [("1 2:3\n", true), ("\n# x\n-1 qid:3 1:1", true), ("1,2\n", false), ("1:2 3\n", false), ("a b\n", false)]
        {
            assert_eq!(looks_like(text.as_bytes()), yes, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(rows in prop::collection::vec((any::<i8>(), prop::collection::btree_map(1_u32..=u32::MAX, any::<f64>(), 0..6)), 1..20)) {
            let mut text = String::new();
            let mut expected = Vec::new();
            for (label, row) in &rows {
                let row: Vec<_> = row.iter().filter(|(_, value)| value.is_finite() && **value != 0.0).collect();
                let entries: Vec<_> = row.iter().map(|(index, value)| format!("{index}:{value:e}")).collect();
                text.push_str(&[label.to_string(), entries.join(" "), "\n".into()].join(" "));
                expected.push(row.iter().map(|&(&index, &value)| (index as usize - 1, value)).collect::<Vec<_>>());
            }
            let table = read(&text).unwrap();
            prop_assert_eq!(entries(&table), expected);
            let single = read_table(&mut source(text.as_bytes()), &options().batch_rows(1)).unwrap();
            prop_assert_eq!(&single, &table);
            let sparse = matches!(table.sparse.as_ref().unwrap().as_points().values(), Values::Sparse { .. });
            prop_assert!(sparse);
        }

        #[test]
        fn any_bytes_give_a_table_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), near in "[0-9:. #\nqide-]{0,60}") {
            let _ = read_table(&mut source(&bytes), &options());
            let whole = read_table(&mut source(near.as_bytes()), &options());
            let single = read_table(&mut source(near.as_bytes()), &options().batch_rows(1));
            prop_assert_eq!(format!("{whole:?}"), format!("{single:?}"));
        }
    }
}
