//! Codes and the features they stand for, for other tools: Parquet and CSV with a column per partitioning (p0, p1, …,
//! a gap is null or empty), npy with an n × t array (a gap is the largest value of its type), or svmlight with the
//! ones of Φ(x) (feature i·ψ + cell, counted from 1).

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use eyot::{CodeRow, CodeStore, Codes, Column, NONE, TextColumn};

use super::parquet::ParquetSink;
use super::table::push_number;
use super::{AtomicFile, unwritable};
use crate::error::{Error, Place, Result};
use crate::read::Format;

/// Writes codes batch by batch.
pub struct CodesWriter {
    name: String,
    sink: Sink,
    rows: usize,
}

enum Sink {
    Parquet(Box<ParquetSink>),
    Csv {
        file: AtomicFile,
        delimiter: u8,
    },
    Svmlight(AtomicFile),
    /// npy says first how many rows there are, so its numbers wait in a temporary file.
    Npy {
        file: AtomicFile,
        numbers: BufWriter<File>,
        kind: Option<(&'static str, usize)>,
    },
}

impl CodesWriter {
    /// Begins a file in one of the formats parquet, csv, tsv, npy, svmlight.
    pub fn create(path: impl AsRef<Path>, format: Format) -> Result<Self> {
        let file = AtomicFile::create(path)?;
        let name = file.name().to_owned();
        let sink = match format {
            Format::Parquet => Sink::Parquet(Box::new(ParquetSink::new(file)?)),
            Format::Csv => Sink::Csv { file, delimiter: b',' },
            Format::Tsv => Sink::Csv { file, delimiter: b'\t' },
            Format::Svmlight => Sink::Svmlight(file),
            Format::Npy => {
                let numbers = tempfile::tempfile().map_err(|error| Error::io(&name, error))?;
                Sink::Npy { file, numbers: BufWriter::with_capacity(1 << 17, numbers), kind: None }
            }
            Format::Arrow | Format::Ndjson => return Err(unwritable(format, "parquet, csv, tsv, npy or svmlight")),
        };
        Ok(Self { name, sink, rows: 0 })
    }

    /// Adds rows. A label column, if there is one, becomes the label of svmlight and the last column of Parquet and
    /// CSV; npy has no place for it. Every batch must have one, or none.
    pub fn write(&mut self, codes: &Codes, label: Option<&Column>) -> Result<()> {
        let fail = |error| Error::io(&self.name, error);
        match &mut self.sink {
            Sink::Parquet(sink) => sink.write_codes(codes, label)?,
            Sink::Csv { file, delimiter } => {
                write_csv(file, *delimiter, codes, label, self.rows == 0).map_err(fail)?;
            }
            Sink::Svmlight(file) => {
                if let Some(Column::Text(text)) = label {
                    check_labels(text, &self.name, self.rows)?;
                }
                write_svmlight(file, codes, label).map_err(fail)?;
            }
            Sink::Npy { numbers, kind, .. } => {
                *kind = Some((npy_kind(codes.store()), codes.t()));
                match codes.store() {
                    CodeStore::U8(cells) => numbers.write_all(cells),
                    CodeStore::U16(cells) => cells.iter().try_for_each(|cell| numbers.write_all(&cell.to_le_bytes())),
                    CodeStore::U32(cells) => cells.iter().try_for_each(|cell| numbers.write_all(&cell.to_le_bytes())),
                }
                .map_err(fail)?;
            }
        }
        self.rows += codes.n_rows();
        Ok(())
    }

    /// Ends the file and gives it its name.
    pub fn finish(self) -> Result<()> {
        match self.sink {
            Sink::Parquet(sink) => sink.finish(),
            Sink::Csv { file, .. } | Sink::Svmlight(file) => file.commit(),
            Sink::Npy { mut file, numbers, kind } => {
                let Some((kind, t)) = kind else { return Err(Error::Empty { file: self.name, header: false }) };
                let copy = |file: &mut AtomicFile| -> io::Result<()> {
                    file.write_all(&npy_header(kind, self.rows, t))?;
                    let mut numbers = numbers.into_inner().map_err(io::IntoInnerError::into_error)?;
                    numbers.seek(SeekFrom::Start(0))?;
                    io::copy(&mut numbers, file).map(drop)
                };
                copy(&mut file).map_err(|error| Error::io(&self.name, error))?;
                file.commit()
            }
        }
    }
}

fn write_csv(
    file: &mut AtomicFile,
    delimiter: u8,
    codes: &Codes,
    label: Option<&Column>,
    header: bool,
) -> io::Result<()> {
    // Numbers are written straight; only a label can need quotes.
    let mut line = Vec::new();
    if header {
        let names: Vec<_> = (0..codes.t()).map(|i| format!("p{i}")).chain(label.map(|_| "label".into())).collect();
        line.extend(names.join(&char::from(delimiter).to_string()).bytes());
        line.push(b'\n');
    }
    for (row, cells) in codes.rows().enumerate() {
        for (i, cell) in cells.cells().enumerate() {
            if i > 0 {
                line.push(delimiter);
            }
            if cell != NONE {
                push_digits(&mut line, cell as usize);
            }
        }
        if let Some(label) = label {
            line.push(delimiter);
            push_label(&mut line, label, row, |line, text| quote(line, text, delimiter));
        }
        line.push(b'\n');
        file.write_all(&line)?;
        line.clear();
    }
    Ok(())
}

fn write_svmlight(file: &mut AtomicFile, codes: &Codes, label: Option<&Column>) -> io::Result<()> {
    let mut line = Vec::new();
    for (row, cells) in codes.rows().enumerate() {
        match label {
            None => line.push(b'0'),
            Some(label) => {
                push_label(&mut line, label, row, |line, text| line.extend(text.bytes()));
                if line.is_empty() {
                    line.extend(b"NaN");
                }
            }
        }
        for feature in CodeRow::features(cells) {
            line.push(b' ');
            push_digits(&mut line, feature + 1);
            line.extend(b":1");
        }
        line.push(b'\n');
        file.write_all(&line)?;
        line.clear();
    }
    Ok(())
}

/// A label of a row; nothing if it is missing.
fn push_label(line: &mut Vec<u8>, label: &Column, row: usize, push_text: impl Fn(&mut Vec<u8>, &str)) {
    match label {
        Column::Numbers(values) => push_number(line, values[row]),
        Column::Text(text) => {
            if let Some(text) = text.get(row) {
                push_text(line, text);
            }
        }
    }
}

/// A text as CSV writes it.
fn quote(line: &mut Vec<u8>, text: &str, delimiter: u8) {
    if text.bytes().any(|byte| byte == delimiter || b"\"\r\n".contains(&byte)) {
        line.push(b'"');
        line.extend(text.replace('"', "\"\"").bytes());
        line.push(b'"');
    } else {
        line.extend(text.bytes());
    }
}

/// svmlight has no quotes: a label must be one word.
fn check_labels(labels: &TextColumn, file: &str, rows: usize) -> Result<()> {
    let odd = |label: &&str| label.is_empty() || label.chars().any(|c| c.is_whitespace() || c == ':' || c == '#');
    let found = (0..labels.codes.len()).find_map(|row| labels.get(row).filter(odd).map(|label| (row, label)));
    match found {
        None => Ok(()),
        Some((row, label)) => Err(Error::Cell {
            place: Box::new(Place { file: file.into(), row: (rows + row) as u64 + 1, line: None }),
            column: "label".into(),
            value: label.into(),
            expected: "a label that svmlight can hold (one word, without `:` and `#`)",
        }),
    }
}

fn push_digits(line: &mut Vec<u8>, mut number: usize) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    line.extend(&digits[at..]);
}

const fn npy_kind(store: &CodeStore) -> &'static str {
    match store {
        CodeStore::U8(_) => "|u1",
        CodeStore::U16(_) => "<u2",
        CodeStore::U32(_) => "<u4",
    }
}

/// A header of version 1, padded so that the numbers begin at a multiple of 64 bytes.
fn npy_header(kind: &str, rows: usize, columns: usize) -> Vec<u8> {
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let unpadded = 10 + text.len() + 1;
    text.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    text.push('\n');
    let length = (text.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use eyot::Cell;

    use super::*;
    use crate::{ReadOptions, Source, read_table};

    /// Codes by hand: gaps are any value that is no cell.
    fn codes(rows: &[[Cell; 2]], psi: usize) -> Codes {
        let flat = rows.concat();
        let store = if psi < 256 {
            CodeStore::U8(flat.iter().map(|&cell| cell as u8).collect())
        } else if psi < 65_536 {
            CodeStore::U16(flat.iter().map(|&cell| cell as u16).collect())
        } else {
            CodeStore::U32(flat)
        };
        Codes::from_store(store, 2, psi).unwrap()
    }

    fn numbers(table: &eyot::Table, name: &str) -> Vec<f64> {
        match table.column(name) {
            Some(Column::Numbers(values)) => values.clone(),
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn what_is_written_in_any_format_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let label = Column::Numbers(vec![1.0, -1.0]);
        for psi in [200, 300, 70_000] {
            let first = codes(&[[0, psi as Cell - 1], [7, NONE]], psi);
            let second = codes(&[[3, 4], [NONE, NONE]], psi);
            for end in ["parquet", "csv", "tsv.gz", "npy", "npy.zst", "svm"] {
                if end == "parquet" && cfg!(not(feature = "parquet")) {
                    continue;
                }
                let path = folder.path().join(format!("c{psi}.{end}"));
                let format = super::super::output_format(&path).unwrap();
                let mut writer = CodesWriter::create(&path, format).unwrap();
                writer.write(&first, Some(&label)).unwrap();
                writer.write(&second, Some(&label)).unwrap();
                writer.finish().unwrap();
                let table = read_table(&mut Source::new(&path), &ReadOptions::default()).unwrap();
                assert_eq!(table.n_rows, 4, "{end}");
                if format == Format::Svmlight {
                    let rows: Vec<Vec<usize>> = (table.sparse.as_ref().unwrap().as_points().rows())
                        .map(|row| row.nonzeros().map(|(column, value)| (column, assert_eq!(value, 1.0)).0).collect())
                        .collect();
                    assert_eq!(rows, [vec![0, 2 * psi - 1], vec![7], vec![3, psi + 4], vec![]]);
                } else {
                    let gap = match (format, psi) {
                        (Format::Npy, 200) => 255.0,
                        (Format::Npy, 300) => 65_535.0,
                        (Format::Npy, _) => f64::from(u32::MAX),
                        _ => f64::NAN,
                    };
                    let (a, b) = if format == Format::Npy { ("f0", "f1") } else { ("p0", "p1") };
                    let same = |x: &[f64], y: &[f64]| x.iter().zip(y).all(|(x, y)| x.to_bits() == y.to_bits());
                    assert!(same(&numbers(&table, a), &[0.0, 7.0, 3.0, gap]), "{end}");
                    assert!(same(&numbers(&table, b), &[psi as f64 - 1.0, gap, 4.0, gap]), "{end}");
                }
                if format != Format::Npy {
                    assert_eq!(numbers(&table, "label"), [1.0, -1.0, 1.0, -1.0]);
                }
            }
        }
    }

    #[test]
    fn svmlight_and_csv_look_as_others_expect() {
        let folder = tempfile::tempdir().unwrap();
        let codes = codes(&[[0, 9], [7, NONE]], 10);
        let label = Column::Text(TextColumn { levels: vec!["a,b".into()], codes: vec![0, TextColumn::MISSING] });
        for (format, label, expected) in [
            (Format::Svmlight, None, "0 1:1 20:1\n0 8:1\n"),
            (Format::Csv, None, "p0,p1\n0,9\n7,\n"),
            (Format::Csv, Some(&label), "p0,p1,label\n0,9,\"a,b\"\n7,,\n"),
            (Format::Svmlight, Some(&label), "a,b 1:1 20:1\nNaN 8:1\n"),
        ] {
            let path = folder.path().join("x");
            let mut writer = CodesWriter::create(&path, format).unwrap();
            writer.write(&codes, label).unwrap();
            writer.finish().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        }
        let odd = Column::Text(TextColumn { levels: vec!["a b".into()], codes: vec![0, 0] });
        let mut writer = CodesWriter::create(folder.path().join("y"), Format::Svmlight).unwrap();
        assert!(writer.write(&codes, Some(&odd)).unwrap_err().to_string().contains("`a b` is not a label"));
        assert!(CodesWriter::create(folder.path().join("y"), Format::Ndjson).is_err());
    }

    #[test]
    fn the_header_of_npy_ends_at_a_multiple_of_64() {
        for rows in [1, 99_999, 123_456_789_012] {
            assert_eq!(npy_header("<u2", rows, 100).len() % 64, 0);
        }
    }
}
