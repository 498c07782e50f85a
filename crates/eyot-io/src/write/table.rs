//! Tables of results (row or id, scores, labels) as CSV or Parquet, batch by batch.

use std::io::{self, Write};
use std::path::Path;

use eyot::{Column, TextColumn};

use super::parquet::ParquetSink;
use super::{AtomicFile, unwritable};
use crate::error::{Error, Result};
use crate::read::Format;

/// The cells of one column of results.
#[derive(Debug, Clone, Copy)]
pub enum Cells<'a> {
    /// Whole numbers, for example rows.
    Integers(&'a [u64]),
    /// Numbers in the shortest form that reads back as the same; NaN is left empty.
    Numbers(&'a [f64]),
    /// Text; also class labels, with the class names as levels.
    Text(&'a TextColumn),
}

impl<'a> From<&'a Column> for Cells<'a> {
    fn from(column: &'a Column) -> Self {
        match column {
            Column::Numbers(values) => Self::Numbers(values),
            Column::Text(text) => Self::Text(text),
        }
    }
}

impl Cells<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Text(text) => text.codes.len(),
        }
    }
}

/// Writes results batch by batch; the first batch decides the names.
pub struct TableWriter {
    name: String,
    sink: Sink,
}

enum Sink {
    Csv { writer: Box<csv::Writer<AtomicFile>>, names: Vec<String> },
    Parquet(Box<ParquetSink>),
}

impl TableWriter {
    /// Begins a file in one of the formats csv, tsv, parquet.
    pub fn create(path: impl AsRef<Path>, format: Format) -> Result<Self> {
        let delimiter = match format {
            Format::Csv | Format::Parquet => b',',
            Format::Tsv => b'\t',
            _ => return Err(unwritable(format, "csv, tsv or parquet")),
        };
        let file = AtomicFile::create(path)?;
        let name = file.name().to_owned();
        let sink = if format == Format::Parquet {
            Sink::Parquet(Box::new(ParquetSink::new(file)?))
        } else {
            let writer = csv::WriterBuilder::new().delimiter(delimiter).flexible(true).from_writer(file);
            Sink::Csv { writer: Box::new(writer), names: Vec::new() }
        };
        Ok(Self { name, sink })
    }

    /// Adds rows: columns of equal length, the same in every batch.
    pub fn write(&mut self, columns: &[(&str, Cells<'_>)]) -> Result<()> {
        let n_rows = columns.first().map_or(0, |(_, cells)| cells.len());
        if let Some((_, odd)) = columns.iter().find(|(_, cells)| cells.len() != n_rows) {
            return Err(eyot::Error::Shape { what: "rows of a column", expected: n_rows, got: odd.len() }.into());
        }
        match &mut self.sink {
            Sink::Parquet(sink) => sink.write_cells(columns),
            Sink::Csv { writer, names } => {
                write_csv(writer, names, columns, n_rows).map_err(|error| Error::io(&self.name, error))
            }
        }
    }

    /// Hands on to the file what has been written so far; of use when the file is a pipe.
    pub fn flush(&mut self) -> Result<()> {
        match &mut self.sink {
            Sink::Csv { writer, .. } => writer.flush().map_err(|error| Error::io(&self.name, error)),
            Sink::Parquet(_) => Ok(()),
        }
    }

    /// Ends the file and gives it its name.
    pub fn finish(self) -> Result<()> {
        match self.sink {
            Sink::Parquet(sink) => sink.finish(),
            Sink::Csv { writer, .. } => {
                let file = writer.into_inner().map_err(|error| Error::io(&self.name, error.into_error()))?;
                file.commit()
            }
        }
    }
}

fn write_csv<W: Write>(
    writer: &mut csv::Writer<W>,
    names: &mut Vec<String>,
    columns: &[(&str, Cells<'_>)],
    n_rows: usize,
) -> io::Result<()> {
    if names.is_empty() {
        names.extend(columns.iter().map(|&(name, _)| name.to_owned()));
        writer.write_record(&*names)?;
    }
    let mut text = Vec::new();
    for row in 0..n_rows {
        for (_, cells) in columns {
            text.clear();
            match cells {
                Cells::Integers(values) => write!(text, "{}", values[row])?,
                Cells::Numbers(values) => push_number(&mut text, values[row]),
                Cells::Text(column) => text.extend(column.get(row).unwrap_or("").bytes()),
            }
            writer.write_field(&text)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(())
}

/// A number in the shortest form that reads back as the same; nothing for NaN.
pub(super) fn push_number(text: &mut Vec<u8>, value: f64) {
    let written = if value.is_nan() {
        Ok(())
    } else if value == 0.0 || (1e-5..1e16).contains(&value.abs()) {
        write!(text, "{value}")
    } else {
        write!(text, "{value:e}")
    };
    written.expect("memory takes every write");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{ReadOptions, Source, read_table};

    #[test]
    fn results_are_read_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let rows = [1_u64, 2, 3];
        let scores = [0.1 + 0.2, f64::NAN, -1e-300];
        let labels = TextColumn { levels: vec!["a, \"b\"".into(), "c".into()], codes: vec![1, 0, TextColumn::MISSING] };
        for end in ["csv", "tsv", "parquet", "csv.gz"] {
            if end == "parquet" && cfg!(not(feature = "parquet")) {
                continue;
            }
            let path = folder.path().join(format!("r.{end}"));
            let mut writer = TableWriter::create(&path, super::super::output_format(&path).unwrap()).unwrap();
            let columns =
                [("row", Cells::Integers(&rows)), ("score", Cells::Numbers(&scores)), ("label", Cells::Text(&labels))];
            writer.write(&columns).unwrap();
            writer.flush().unwrap();
            writer.write(&columns).unwrap();
            writer.finish().unwrap();
            let table = read_table(&mut Source::new(&path), &ReadOptions::default()).unwrap();
            assert_eq!(table.n_rows, 6);
            assert_eq!(table.column("row"), Some(&Column::Numbers([1.0, 2.0, 3.0].repeat(2))), "{end}");
            let Some(Column::Numbers(read)) = table.column("score") else { panic!("{end}") };
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(read), bits(&scores.repeat(2)), "{end}");
            let Some(Column::Text(read)) = table.column("label") else { panic!("{end}") };
            let read: Vec<_> = (0..3).map(|row| read.get(row)).collect();
            assert_eq!(read, [Some("c"), Some("a, \"b\""), None], "{end}");
        }
    }

    #[test]
    fn columns_of_different_length_and_other_formats_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = TableWriter::create(folder.path().join("x"), Format::Csv).unwrap();
        let columns = [("a", Cells::Integers(&[1])), ("b", Cells::Numbers(&[]))];
        assert!(writer.write(&columns).is_err());
        let error = TableWriter::create(folder.path().join("x"), Format::Npy).err().unwrap();
        assert_eq!(error.to_string(), "`format` must be csv, tsv or parquet, but is `npy`");
    }

    proptest! {
        #[test]
        fn numbers_are_written_to_the_last_bit(value in any::<f64>()) {
            let mut text = Vec::new();
            push_number(&mut text, value);
            let text = String::from_utf8(text).unwrap();
            if value.is_nan() {
                prop_assert_eq!(text, "");
            } else {
                prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
                prop_assert!(text.len() <= 25);
            }
        }
    }
}
