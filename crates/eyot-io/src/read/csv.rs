//! CSV and its relatives: any delimiter, quotes, with or without a header.
//!
//! Lines without a quote, nearly all in practice, are cut and parsed in place; a record with quotes goes through the
//! csv crate's own state machine, which may carry it over several lines. Cells are trimmed; blank lines do not count.
//! With a space as delimiter, runs of spaces are one.

use std::io::Read;

use eyot::Table;

use super::column::{Cells, Census, number, take_columns};
use super::lines::{LONGEST, Lines};
use super::{Batches, PlannedColumn, ReadOptions, Text};
use crate::error::{Error, Result};

/// The delimiters that are looked for. A space stands in many texts, so it is taken only if no other fits.
const DELIMITERS: [u8; 5] = [b',', b'\t', b';', b'|', b' '];
/// Records that decide about delimiter and header.
const FIRST_RECORDS: usize = 100;

pub(super) struct CsvReader {
    records: Records<Box<dyn Read + Send>>,
    columns: Vec<PlannedColumn>,
    cells: Vec<Cells>,
    batch_rows: usize,
    live: bool,
}

/// One record after another.
struct Records<R> {
    lines: Lines<R>,
    delimiter: u8,
    quoted: Quoted,
}

/// The state machine for records with quotes, and its last record.
struct Quoted {
    machine: csv_core::Reader,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    n_bytes: usize,
    n_cells: usize,
}

/// A record: a line without quotes, or cells taken out of their quotes.
#[derive(Clone, Copy)]
enum Record<'a> {
    Line { line: &'a [u8], delimiter: u8 },
    Cells { bytes: &'a [u8], ends: &'a [usize], delimiter: u8 },
}

impl<R: Read> Records<R> {
    fn new(file: &str, reader: R, delimiter: u8) -> Self {
        let machine = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
        let quoted = Quoted { machine, bytes: vec![0; 1 << 10], ends: vec![0; 64], n_bytes: 0, n_cells: 0 };
        Self { lines: Lines::new(file, reader), delimiter, quoted }
    }

    /// The next record that is not blank. `row` is its number, for errors.
    #[inline]
    fn next_record(&mut self, row: usize) -> Result<Option<Record<'_>>> {
        let delimiter = self.delimiter;
        loop {
            if !self.lines.advance()? {
                return Ok(None);
            }
            let line = self.lines.line();
            if line.trim_ascii().is_empty() && (delimiter != b'\t' || line.is_empty()) {
                continue;
            }
            if memchr::memchr(b'"', line).is_some() {
                let first = self.quoted.begin(line);
                return self.finish_quoted(first, row).map(Some);
            }
            break;
        }
        Ok(Some(Record::Line { line: self.lines.line(), delimiter }))
    }

    fn finish_quoted(&mut self, mut done: bool, row: usize) -> Result<Record<'_>> {
        let place = Box::new(self.lines.place(row));
        while !done {
            if self.quoted.n_bytes > LONGEST {
                let what = format!("the record is longer than {LONGEST} bytes");
                return Err(Error::Row { place, what, hint: Some("check for a quote that is not closed") });
            }
            done = if self.lines.advance()? { self.quoted.feed(self.lines.line()) } else { self.quoted.end() };
        }
        let Quoted { bytes, ends, n_bytes, n_cells, .. } = &self.quoted;
        Ok(Record::Cells { bytes: &bytes[..*n_bytes], ends: &ends[..*n_cells], delimiter: self.delimiter })
    }
}

impl Quoted {
    /// Starts a record with its first line; true if it is whole.
    fn begin(&mut self, line: &[u8]) -> bool {
        self.machine.reset();
        (self.n_bytes, self.n_cells) = (0, 0);
        self.feed(line)
    }

    /// Adds a line; true if the record is whole.
    fn feed(&mut self, line: &[u8]) -> bool {
        self.run(line) || self.run(b"\n")
    }

    /// No more lines.
    fn end(&mut self) -> bool {
        self.run(b"");
        true
    }

    fn run(&mut self, mut input: &[u8]) -> bool {
        use csv_core::ReadRecordResult as Got;
        loop {
            let (got, read, wrote, ended) =
                self.machine.read_record(input, &mut self.bytes[self.n_bytes..], &mut self.ends[self.n_cells..]);
            input = &input[read..];
            self.n_bytes += wrote;
            self.n_cells += ended;
            match got {
                Got::InputEmpty => return false,
                Got::OutputFull => self.bytes.resize(2 * self.bytes.len(), 0),
                Got::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                Got::Record | Got::End => return true,
            }
        }
    }
}

impl<'a> Record<'a> {
    /// The cells, trimmed.
    fn cells(self) -> impl Iterator<Item = &'a [u8]> {
        let (mut at, mut ended) = (0, false);
        std::iter::from_fn(move || {
            while !ended {
                let (cell, delimiter) = match self {
                    Record::Line { line, delimiter } => {
                        let end = memchr::memchr(delimiter, &line[at..]).map_or(line.len(), |length| at + length);
                        let cell = &line[at..end];
                        ended = end == line.len();
                        at = end + 1;
                        (cell, delimiter)
                    }
                    Record::Cells { bytes, ends, delimiter } => {
                        let &end = ends.get(at)?;
                        let start = if at == 0 { 0 } else { ends[at - 1] };
                        at += 1;
                        (&bytes[start..end], delimiter)
                    }
                };
                let cell = cell.trim_ascii();
                if delimiter != b' ' || !cell.is_empty() {
                    return Some(cell);
                }
            }
            None
        })
    }
}

impl CsvReader {
    pub(super) fn open(text: Text, delimiter: Option<u8>, options: &ReadOptions) -> Result<Self> {
        check_text(&text)?;
        let sample = text.sample_lines();
        let delimiter = match delimiter {
            Some(delimiter) => check_delimiter(delimiter)?,
            None => find_delimiter(&text.file, sample)?,
        };
        let first = first_records(&text.file, sample, delimiter)?;
        let Some(names) = first.first() else { return Err(Error::Empty { file: text.file, header: false }) };
        let header = options.header.unwrap_or_else(|| is_header(&first));
        let n_columns = names.len();
        let census = take_census(&text.file, sample, delimiter, header, n_columns)?;
        let columns = (0..n_columns)
            .map(|i| {
                let name = if header { column_name(&text.file, &names[i], i)? } else { format!("f{i}") };
                let kind = options.plan(&name, census[i].kind());
                Ok(PlannedColumn { name, kind })
            })
            .collect::<Result<Vec<_>>>()?;
        if header && text.complete && first.len() == 1 {
            return Err(Error::Empty { file: text.file, header: true });
        }
        let cells = columns.iter().map(|column| Cells::new(column.kind)).collect();
        let file = text.file.clone();
        let mut records = Records::new(&file, Box::new(text.into_reader()) as Box<dyn Read + Send>, delimiter);
        if header {
            records.next_record(0)?;
        }
        Ok(Self { records, columns, cells, batch_rows: options.rows_for(n_columns), live: options.live })
    }
}

impl Batches for CsvReader {
    fn columns(&self) -> &[PlannedColumn] {
        &self.columns
    }

    fn next_batch(&mut self, first_row: usize) -> Result<Option<Table>> {
        let mut n_rows = 0;
        while n_rows < self.batch_rows {
            if self.live && n_rows > 0 && !self.records.lines.has_line() {
                break;
            }
            let row = first_row + n_rows;
            let Some(record) = self.records.next_record(row)? else { break };
            if let Err(wrong) = push_record(record, &mut self.cells) {
                let place = Box::new(self.records.lines.place(row));
                return Err(match wrong {
                    Wrong::Count(got) => Error::Ragged { place, expected: self.columns.len(), got },
                    Wrong::Cell { column, value, expected } => {
                        Error::Cell { place, column: self.columns[column].name.clone(), value, expected }
                    }
                });
            }
            n_rows += 1;
        }
        let columns = take_columns(&self.columns, &mut self.cells);
        Ok((n_rows > 0).then_some(Table { first_row, n_rows, columns, sparse: None }))
    }
}

/// What is wrong with a record.
enum Wrong {
    Count(usize),
    Cell { column: usize, value: String, expected: &'static str },
}

#[inline]
fn push_record(record: Record<'_>, columns: &mut [Cells]) -> std::result::Result<(), Wrong> {
    if let Record::Line { line, delimiter } = record
        && delimiter != b' '
    {
        return push_line(line, delimiter, columns);
    }
    let mut cells = record.cells();
    for (i, column) in columns.iter_mut().enumerate() {
        let Some(cell) = cells.next() else { return Err(Wrong::Count(i)) };
        push_cell(cell, i, column)?;
    }
    match cells.count() {
        0 => Ok(()),
        more => Err(Wrong::Count(columns.len() + more)),
    }
}

/// The fast path: a number that ends at a delimiter needs no search for it.
fn push_line(line: &[u8], delimiter: u8, columns: &mut [Cells]) -> std::result::Result<(), Wrong> {
    let mut rest = Some(line);
    for (i, column) in columns.iter_mut().enumerate() {
        let Some(left) = rest else { return Err(Wrong::Count(i)) };
        if let Cells::Numbers(values) = column
            && let Ok((value, length)) = fast_float2::parse_partial::<f64, _>(left)
            && left.get(length).is_none_or(|&next| next == delimiter)
            && !value.is_nan()
        {
            values.push(value);
            rest = left.get(length + 1..);
            continue;
        }
        let end = memchr::memchr(delimiter, left).unwrap_or(left.len());
        push_cell(left[..end].trim_ascii(), i, column)?;
        rest = left.get(end + 1..);
    }
    match rest {
        None => Ok(()),
        Some(left) => Err(Wrong::Count(columns.len() + 1 + memchr::memchr_iter(delimiter, left).count())),
    }
}

fn push_cell(cell: &[u8], i: usize, column: &mut Cells) -> std::result::Result<(), Wrong> {
    let wrong = |expected| {
        let value = String::from_utf8_lossy(cell).into_owned();
        Err(Wrong::Cell { column: i, value, expected })
    };
    match column {
        Cells::Skip => {}
        Cells::Numbers(values) => match number(cell) {
            Some(value) => values.push(value),
            None => return wrong("a number"),
        },
        Cells::Text(texts) if super::column::is_missing(cell) => texts.push(None),
        Cells::Text(texts) => match std::str::from_utf8(cell) {
            Ok(text) => texts.push(Some(text)),
            Err(_) => return wrong("text in UTF-8"),
        },
    }
    Ok(())
}

/// Refuses what is no text, or text that would come out as one endless line.
fn check_text(text: &Text) -> Result<()> {
    let sample = &text.sample;
    let what = if sample.starts_with(&[0xff, 0xfe]) || sample.starts_with(&[0xfe, 0xff]) {
        "it is UTF-16; save it as UTF-8"
    } else if sample.contains(&0) {
        "there are zero bytes, so it is not text"
    } else if sample.contains(&b'\r') && !sample.contains(&b'\n') {
        "its lines end in carriage returns only; save it with line feeds"
    } else {
        return Ok(());
    };
    Err(Error::Format { file: text.file.clone(), format: "CSV", what: what.into() })
}

/// Any byte that cannot be part of a number.
fn check_delimiter(delimiter: u8) -> Result<u8> {
    if delimiter.is_ascii() && !delimiter.is_ascii_alphanumeric() && !b"\"\n\r.+-".contains(&delimiter) {
        return Ok(delimiter);
    }
    Err(Error::Core(eyot::Error::Param {
        name: "delimiter",
        expected: "one character that no number contains, and no quote".into(),
        got: format!("`{}`", char::from(delimiter).escape_default()),
    }))
}

fn first_records(file: &str, sample: &[u8], delimiter: u8) -> Result<Vec<Vec<Vec<u8>>>> {
    let mut records = Records::new(file, sample, delimiter);
    let mut first = Vec::new();
    while first.len() < FIRST_RECORDS
        && let Some(record) = records.next_record(first.len())?
    {
        first.push(record.cells().map(<[u8]>::to_vec).collect());
    }
    Ok(first)
}

/// The delimiter with which most of the first records have equally many cells, more than one; then the one that gives
/// most cells.
fn find_delimiter(file: &str, sample: &[u8]) -> Result<u8> {
    let mut best = (0, 0, b',');
    for delimiter in DELIMITERS {
        let counts: Vec<usize> = first_records(file, sample, delimiter)?.iter().map(Vec::len).collect();
        let Some(&first) = counts.first().filter(|&&first| first > 1) else { continue };
        let agreeing = counts.iter().filter(|&&count| count == first).count();
        let better = if delimiter == b' ' { agreeing > best.0 } else { (agreeing, first) > (best.0, best.1) };
        if better {
            best = (agreeing, first, delimiter);
        }
    }
    Ok(best.2)
}

/// A first record without any number is a header, unless it is all blank.
fn is_header(first: &[Vec<Vec<u8>>]) -> bool {
    first.first().is_some_and(|names| {
        names.iter().all(|name| number(name).is_none_or(|_| name.is_empty()))
            && names.iter().any(|name| !name.is_empty())
    })
}

fn column_name(file: &str, name: &[u8], i: usize) -> Result<String> {
    match std::str::from_utf8(name) {
        Ok("") => Ok(format!("f{i}")),
        Ok(name) => Ok(name.to_owned()),
        Err(_) => Err(Error::Format {
            file: file.into(),
            format: "CSV",
            what: format!("the name of column {} is not UTF-8", i + 1),
        }),
    }
}

fn take_census(file: &str, sample: &[u8], delimiter: u8, header: bool, n_columns: usize) -> Result<Vec<Census>> {
    let mut census = vec![Census::default(); n_columns];
    let mut records = Records::new(file, sample, delimiter);
    if header {
        records.next_record(0)?;
    }
    while let Some(record) = records.next_record(0)? {
        census.iter_mut().zip(record.cells()).for_each(|(census, cell)| census.count(cell));
    }
    Ok(census)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use eyot::Column;
    use proptest::prelude::*;

    use super::super::{Format, Reader, open, read_table};
    use super::*;
    use crate::Source;

    fn source(text: &[u8]) -> Source {
        Source::from_reader("t.csv", Box::new(Cursor::new(text.to_vec())))
    }

    fn options() -> ReadOptions {
        ReadOptions::default().format(Format::Csv)
    }

    fn read(text: &str) -> Result<Table> {
        read_table(&mut source(text.as_bytes()), &options())
    }

    fn numbers<'a>(table: &'a Table, name: &str) -> &'a [f64] {
        match table.column(name) {
            Some(Column::Numbers(values)) => values,
            other => panic!("{name}: {other:?}"),
        }
    }

    fn texts<'a>(table: &'a Table, name: &str) -> Vec<Option<&'a str>> {
        match table.column(name) {
            Some(Column::Text(text)) => (0..text.codes.len()).map(|row| text.get(row)).collect(),
            other => panic!("{name}: {other:?}"),
        }
    }

    fn names(table: &Table) -> Vec<&str> {
        table.columns.iter().map(|column| column.name.as_str()).collect()
    }

    #[test]
    fn header_numbers_text_and_holes_are_told_apart() {
        let table = read("a,b,c\n1,x,\n?, y ,2.5\r\n\n1e3,NA,3\n").unwrap();
        assert_eq!(names(&table), ["a", "b", "c"]);
        assert_eq!(numbers(&table, "a")[0], 1.0);
        assert!(numbers(&table, "a")[1].is_nan());
        assert_eq!(texts(&table, "b"), [Some("x"), Some("y"), None]);
        assert_eq!(numbers(&table, "c")[1..], [2.5, 3.0]);
        assert_eq!(table.n_rows, 3);
    }

    #[test]
    fn a_first_row_with_a_number_is_data() {
        let table = read("5.1,setosa\n4.9,virginica\n").unwrap();
        assert_eq!(names(&table), ["f0", "f1"]);
        assert_eq!(table.n_rows, 2);
        let forced = read_table(&mut source(b"0,1\n5,6\n"), &options().header(true)).unwrap();
        assert_eq!(names(&forced), ["0", "1"]);
        let forced = read_table(&mut source(b"a,b\nc,d\n"), &options().header(false)).unwrap();
        assert_eq!(forced.n_rows, 2);
    }

    #[test]
    fn delimiters_are_found() {
        for (text, width) in [
            ("a;b;c\n1;2;3\n", 3),
            ("a\tb c\n1\t2\n", 2),
            ("a|b\n1|2\n", 2),
            ("1 2 3\n 4   5 6 \n", 3),
            ("name,n\nAda Lovelace,1\nAlan Turing,2\n", 2),
            ("x\n1\n2\n", 1),
            ("a,b\n\"1;2;3\",4\n\"1;2;3\",4\n", 2),
        ] {
            assert_eq!(read(text).unwrap().columns.len(), width, "{text:?}");
        }
    }

    #[test]
    fn quotes_hold_delimiters_quotes_and_line_ends() {
        let table = read("name,n\n\"Doe, \"\"J\"\"\",1\n\"two\nlines\",2\nplain,3\n\"end\",\"4\"").unwrap();
        assert_eq!(texts(&table, "name"), [Some("Doe, \"J\""), Some("two\nlines"), Some("plain"), Some("end")]);
        assert_eq!(numbers(&table, "n"), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn an_odd_cell_is_named_with_row_line_column_and_value() {
        let error = read("a,b\n1,2\n\n3,x7\n4,5\n").unwrap_err();
        assert_eq!(error.to_string(), "t.csv: row 2 (line 4), column `b`: `x7` is not a number");
        assert!(error.hint().unwrap().contains("--text b"));
        let table = read_table(&mut source(b"a,b\n1,2\n3,x7\n"), &options().text_columns(["b"])).unwrap();
        assert_eq!(texts(&table, "b"), [Some("2"), Some("x7")]);
        let table = read_table(&mut source(b"a,b\n1,2\n3,x7\n"), &options().ignored(["b"])).unwrap();
        assert_eq!(names(&table), ["a"]);
    }

    #[test]
    fn kinds_of_a_model_overrule_the_sample() {
        let kinds = [("a", super::super::ColumnKind::Text), ("zzz", super::super::ColumnKind::Number)];
        let table = read_table(&mut source(b"a,b\n1,2\n"), &options().kinds(kinds)).unwrap();
        assert_eq!(texts(&table, "a"), [Some("1")]);
    }

    #[test]
    fn bad_files_are_refused_in_words() {
        let message = |text: &[u8]| read_table(&mut source(text), &options()).unwrap_err().to_string();
        assert_eq!(message(b""), "t.csv: there are no rows");
        assert_eq!(message(b"\n \n"), "t.csv: there are no rows");
        assert_eq!(message(b"a,b\n"), "t.csv: there is a header but no rows");
        assert_eq!(message(b"a,b\n1,2\n3\n"), "t.csv: row 2 (line 3): there are 1 cells, but 2 columns");
        assert_eq!(message(b"a,b\n1,2\n3,4,5,\n"), "t.csv: row 2 (line 3): there are 4 cells, but 2 columns");
        assert_eq!(message(b"a,b\n1,2\n\"3\",4,5\n"), "t.csv: row 2 (line 3): there are 3 cells, but 2 columns");
        assert_eq!(message(b"a,a\n1,2\n"), "t.csv: two columns are named `a`");
        assert_eq!(
            message(b"a,b\n1,\xff\xfe!\n"),
            "t.csv: row 1 (line 2), column `b`: `\u{fffd}\u{fffd}!` is not text in UTF-8"
        );
        assert!(message(b"\xff\xfea\0,\0").contains("UTF-16"));
        assert!(message(b"a,b\r1,2\r").contains("carriage"));
        let none = read_table(&mut source(b"a,b\n1,2\n"), &options().text_columns(["c"])).unwrap_err();
        assert_eq!(none.to_string(), "t.csv: there is no column `c`");
        assert_eq!(none.hint().unwrap(), "the columns are `a`, `b`");
        assert!(open(&mut source(b"a\n1\n"), &options().delimiter(b'e')).is_err());
    }

    #[test]
    fn batches_know_where_they_start_and_their_size_changes_nothing() {
        let text: String =
            std::iter::once("a,b\n".to_owned()).chain((0..1000).map(|i| format!("{i},t{}\n", i % 7))).collect();
        let whole = read(&text).unwrap();
        for rows in [1, 7, 999, 5000] {
            let mut reader: Reader = open(&mut source(text.as_bytes()), &options().batch_rows(rows)).unwrap();
            let mut next = 0;
            while let Some(batch) = reader.next_batch().unwrap() {
                assert_eq!(batch.first_row, next);
                assert!(batch.n_rows <= rows);
                next += batch.n_rows;
            }
            assert_eq!(next, 1000);
            let again = read_table(&mut source(text.as_bytes()), &options().batch_rows(rows)).unwrap();
            assert_eq!(again, whole);
        }
    }

    #[test]
    fn a_column_that_turns_to_text_after_the_sample_is_an_error_with_its_row() {
        let text: String = (0..200).map(|i| format!("{i}\n")).chain(["oops\n".into()]).collect();
        let small = options().sample_bytes(100);
        let error = read_table(&mut source(text.as_bytes()), &small).unwrap_err();
        assert_eq!(error.to_string(), "t.csv: row 201 (line 201), column `f0`: `oops` is not a number");
    }

    /// The plain way: the csv crate's records and the standard library's numbers.
    fn oracle(text: &[u8]) -> Vec<Vec<f64>> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(text);
        let row = |record: csv::StringRecord| record.iter().map(|cell| cell.parse().unwrap()).collect();
        reader.records().map(|record| row(record.unwrap())).collect()
    }

    proptest! {
        #[test]
        fn numbers_agree_with_the_csv_crate_and_the_standard_parser(
            rows in prop::collection::vec((any::<f64>(), any::<i32>(), any::<f32>(), any::<bool>()), 1..20)
        ) {
            let mut text = String::new();
            for &(a, b, c, quote) in &rows {
                let a = if a.is_finite() { a } else { 0.5 };
                let c = if c.is_finite() { c } else { 0.25 };
                let line = if quote { format!("\"{a:e}\", {b} ,{c}\r\n") } else { format!("{a},{b},{c:?}\n") };
                text.push_str(&line);
            }
            let table = read(&text).unwrap();
            for (row, expected) in oracle(text.as_bytes()).iter().enumerate() {
                for (i, expected) in expected.iter().enumerate() {
                    prop_assert_eq!(numbers(&table, &format!("f{i}"))[row].to_bits(), expected.to_bits());
                }
            }
        }

        #[test]
        fn any_bytes_give_a_table_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), space in "[ ,;\"\n1a.-]{0,60}") {
            let _ = read_table(&mut source(&bytes), &options());
            let whole = read_table(&mut source(space.as_bytes()), &options());
            let single = read_table(&mut source(space.as_bytes()), &options().batch_rows(1));
            prop_assert_eq!(format!("{whole:?}"), format!("{single:?}"));
        }
    }
}
