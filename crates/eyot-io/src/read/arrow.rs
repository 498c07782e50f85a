//! Parquet and Arrow IPC (file and stream).
//!
//! Integers, floats, decimals and booleans (0 and 1) become numbers; timestamps too, in microseconds from 1970, and
//! dates and times of day in the column's own unit. Strings become text; dictionaries become what they hold; null is
//! missing. Lists, structs, maps and raw bytes are refused by name unless the column is ignored. Memory is that of one
//! page per column of Parquet, or of one record batch of Arrow, besides the batch handed out.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema};
use eyot::{Column, Table, TableColumn};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::arrow_columns::{Wrong, kind_of, numbers, texts};
use super::guard::guarded;
use super::{Batches, ColumnKind, Format, PlannedColumn, ReadOptions};
use crate::error::{Error, Place, Result};
use crate::source::prefix;

pub(super) struct ArrowReader {
    file: String,
    format: &'static str,
    columns: Vec<PlannedColumn>,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>,
    pending: VecDeque<RecordBatch>,
    batch_rows: usize,
    total_rows: Option<u64>,
}

impl ArrowReader {
    pub(super) fn open(file: &str, data: File, format: Format, options: &ReadOptions) -> Result<Self> {
        let open = if format == Format::Parquet { Self::parquet } else { Self::ipc };
        let name = if format == Format::Parquet { "Parquet" } else { "Arrow" };
        guarded(|| open(file, data, options)).unwrap_or_else(|| Err(damaged(file, name)))
    }

    fn parquet(file: &str, data: File, options: &ReadOptions) -> Result<Self> {
        let format = "Parquet";
        let fail = |error: parquet::errors::ParquetError| broken(file, format, &error);
        let builder = ParquetRecordBatchReaderBuilder::try_new(data).map_err(fail)?;
        let columns = plan(file, builder.schema(), options)?;
        let mask = ProjectionMask::roots(builder.parquet_schema(), kept(&columns));
        let total_rows = u64::try_from(builder.metadata().file_metadata().num_rows()).ok();
        let batch_rows = options.rows_for(columns.len());
        let batches = builder.with_projection(mask).with_batch_size(batch_rows).build().map_err(fail)?;
        let (file, batches) = (file.into(), Box::new(batches));
        Ok(Self { file, format, columns, batches, pending: VecDeque::new(), batch_rows, total_rows })
    }

    fn ipc(file: &str, mut data: File, options: &ReadOptions) -> Result<Self> {
        let format = "Arrow";
        let io = |error| Error::io(file, error);
        let start = prefix(&mut data, 6).map_err(io)?;
        data.seek(SeekFrom::Start(0)).map_err(io)?;
        let fail = |error: ArrowError| broken(file, format, &error);
        let (columns, batches): (_, Box<dyn Iterator<Item = _> + Send>) = if start == b"ARROW1" {
            let reader = FileReader::try_new_buffered(data, None).map_err(fail)?;
            (plan(file, &reader.schema(), options)?, Box::new(reader))
        } else {
            let reader = StreamReader::try_new(BufReader::new(data), None).map_err(fail)?;
            (plan(file, &reader.schema(), options)?, Box::new(reader))
        };
        let batch_rows = options.rows_for(columns.len());
        let file = file.into();
        Ok(Self { file, format, columns, batches, pending: VecDeque::new(), batch_rows, total_rows: None })
    }

    fn next_record_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.pending.pop_front() {
                if batch.num_rows() > self.batch_rows {
                    self.pending.push_front(batch.slice(self.batch_rows, batch.num_rows() - self.batch_rows));
                    return Ok(Some(batch.slice(0, self.batch_rows)));
                }
                if batch.num_rows() > 0 {
                    return Ok(Some(batch));
                }
            }
            match guarded(|| self.batches.next()) {
                Some(None) => return Ok(None),
                Some(Some(batch)) => {
                    self.pending.push_back(batch.map_err(|error| broken(&self.file, self.format, &error))?);
                }
                None => {
                    self.batches = Box::new(std::iter::empty());
                    return Err(damaged(&self.file, self.format));
                }
            }
        }
    }
}

impl Batches for ArrowReader {
    fn columns(&self) -> &[PlannedColumn] {
        &self.columns
    }

    fn total_rows(&self) -> Option<u64> {
        self.total_rows
    }

    fn next_batch(&mut self, first_row: usize) -> Result<Option<Table>> {
        let Some(batch) = self.next_record_batch()? else { return Ok(None) };
        let mut columns = Vec::new();
        for column in &self.columns {
            let Some(kind) = column.kind else { continue };
            let array = batch.column_by_name(&column.name).expect("every kept column is in every batch");
            let values = match kind {
                ColumnKind::Number => numbers(array).map(Column::Numbers),
                ColumnKind::Text => texts(array).map(Column::Text),
            };
            let values = values.map_err(|error| match error {
                Wrong::Arrow(error) => broken(&self.file, self.format, &error),
                Wrong::Cell { row, value } => Error::Cell {
                    place: Box::new(Place { file: self.file.clone(), row: (first_row + row) as u64 + 1, line: None }),
                    column: column.name.clone(),
                    value,
                    expected: "a number",
                },
            })?;
            columns.push(TableColumn { name: column.name.clone(), values });
        }
        Ok(Some(Table { first_row, n_rows: batch.num_rows(), columns, sparse: None }))
    }
}

fn broken(file: &str, format: &'static str, error: &dyn std::error::Error) -> Error {
    Error::Format { file: file.into(), format, what: error.to_string() }
}

fn damaged(file: &str, format: &'static str) -> Error {
    Error::Format { file: file.into(), format, what: "its contents are damaged".into() }
}

fn kept(columns: &[PlannedColumn]) -> Vec<usize> {
    (0..columns.len()).filter(|&i| columns[i].kind.is_some()).collect()
}

fn plan(file: &str, schema: &Schema, options: &ReadOptions) -> Result<Vec<PlannedColumn>> {
    let column = |field: &arrow_schema::FieldRef| {
        let name = field.name().clone();
        let kind = match kind_of(field.data_type()) {
            Some(found) => options.plan(&name, found),
            None if options.plan(&name, ColumnKind::Text).is_none() => None,
            None => {
                let kind = field.data_type().to_string();
                return Err(Error::ColumnType { file: file.into(), column: name, kind });
            }
        };
        Ok(PlannedColumn { name, kind })
    };
    schema.fields().iter().map(column).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Arc;

    use arrow_array::*;
    use arrow_schema::{DataType, Field, TimeUnit};

    use super::super::read_table;
    use super::*;
    use crate::Source;

    fn batch() -> RecordBatch {
        let decimals = Decimal128Array::from(vec![Some(12_345), None, Some(-5)]).with_precision_and_scale(10, 2);
        let words: DictionaryArray<types::Int8Type> = vec![Some("x"), Some("y"), Some("x")].into_iter().collect();
        let arrays: Vec<(&str, ArrayRef)> = vec![
            ("float", Arc::new(Float64Array::from(vec![Some(0.1), None, Some(f64::NAN)]))),
            ("single", Arc::new(Float32Array::from(vec![0.1_f32, 2.0, 3.0]))),
            ("int", Arc::new(Int64Array::from(vec![1, -2, 9_007_199_254_740_993]))),
            ("byte", Arc::new(UInt8Array::from(vec![1, 2, 255]))),
            ("flag", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
            ("decimal", Arc::new(decimals.unwrap())),
            ("day", Arc::new(Date32Array::from(vec![0, 1, -1]))),
            ("instant", Arc::new(TimestampMillisecondArray::from(vec![Some(5), None, Some(7)]))),
            ("text", Arc::new(StringArray::from(vec![Some("b"), None, Some("a")]))),
            ("large", Arc::new(LargeStringArray::from(vec!["p", "q", "p"]))),
            ("words", Arc::new(words)),
        ];
        let fields: Vec<_> =
            arrays.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays.into_iter().map(|(_, array)| array).collect())
            .unwrap()
    }

    fn three_files(batch: &RecordBatch) -> [(Format, Vec<u8>); 3] {
        let mut parquet = parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
        parquet.write(batch).unwrap();
        let mut file = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        file.write(batch).unwrap();
        let mut stream = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        stream.write(batch).unwrap();
        [
            (Format::Parquet, parquet.into_inner().unwrap()),
            (Format::Arrow, file.into_inner().unwrap()),
            (Format::Arrow, stream.into_inner().unwrap()),
        ]
    }

    fn source(bytes: &[u8]) -> Source {
        Source::from_reader("t.bin", Box::new(Cursor::new(bytes.to_vec())))
    }

    #[test]
    fn every_type_becomes_numbers_or_text() {
        let numbers = |table: &Table, name: &str| match table.column(name) {
            Some(Column::Numbers(values)) => values.iter().map(f64::to_string).collect::<Vec<_>>(),
            Some(Column::Text(text)) => (0..3).map(|row| text.get(row).unwrap_or("-").to_owned()).collect(),
            None => panic!("{name}"),
        };
        for (format, bytes) in three_files(&batch()) {
            for rows in [1, 2, 100] {
                let table = read_table(&mut source(&bytes), &ReadOptions::default().batch_rows(rows)).unwrap();
                assert_eq!(table.n_rows, 3, "{format:?}");
                for (name, expected) in [
                    ("float", ["0.1", "NaN", "NaN"]),
                    ("single", ["0.10000000149011612", "2", "3"]),
                    ("int", ["1", "-2", "9007199254740992"]),
                    ("byte", ["1", "2", "255"]),
                    ("flag", ["1", "0", "NaN"]),
                    ("decimal", ["123.45", "NaN", "-0.05"]),
                    ("day", ["0", "1", "-1"]),
                    ("instant", ["5000", "NaN", "7000"]),
                    ("text", ["b", "-", "a"]),
                    ("large", ["p", "q", "p"]),
                    ("words", ["x", "y", "x"]),
                ] {
                    assert_eq!(numbers(&table, name), expected, "{format:?} {name}");
                }
            }
            let forced = ReadOptions::default().text_columns(["int", "float", "single"]);
            let table = read_table(&mut source(&bytes), &forced).unwrap();
            assert_eq!(numbers(&table, "int"), ["1", "-2", "9007199254740993"]);
            assert_eq!(numbers(&table, "single")[1], "2");
            let forced = ReadOptions::default().kinds([("text", ColumnKind::Number)]);
            let error = read_table(&mut source(&bytes), &forced).unwrap_err();
            assert_eq!(error.to_string(), "t.bin: row 1, column `text`: `b` is not a number");
        }
    }

    #[test]
    fn nested_columns_are_refused_by_name_unless_ignored() {
        let mut lists = builder::ListBuilder::new(builder::Int32Builder::new());
        lists.append_value([Some(1), Some(2)]);
        let lists: ArrayRef = Arc::new(lists.finish());
        let plain: ArrayRef = Arc::new(Int32Array::from(vec![7]));
        let fields = vec![
            Field::new("plain", DataType::Int32, false),
            Field::new("list", lists.data_type().clone(), true),
            Field::new("time", DataType::Timestamp(TimeUnit::Second, Some("UTC".into())), true),
        ];
        let time: ArrayRef = Arc::new(TimestampSecondArray::from(vec![9]).with_timezone("UTC"));
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![plain, lists, time]).unwrap();
        for (_, bytes) in three_files(&batch) {
            let error = read_table(&mut source(&bytes), &ReadOptions::default()).unwrap_err();
            assert!(error.to_string().starts_with("t.bin: column `list` holds List("), "{error}");
            let table = read_table(&mut source(&bytes), &ReadOptions::default().ignored(["list"])).unwrap();
            assert_eq!(table.column("plain"), Some(&Column::Numbers(vec![7.0])));
            assert_eq!(table.column("time"), Some(&Column::Numbers(vec![9e6])));
        }
    }

    #[test]
    fn cut_and_altered_files_are_errors_not_panics() {
        for (format, bytes) in three_files(&batch()) {
            let options = ReadOptions::default().format(format);
            for cut in (0..bytes.len() - 1).step_by(37) {
                let _ = read_table(&mut source(&bytes[..cut]), &options);
            }
            assert!(read_table(&mut source(&bytes[..bytes.len() / 2]), &options).is_err());
            for at in (0..bytes.len()).step_by(7) {
                let mut altered = bytes.clone();
                altered[at] ^= 0x55;
                let _ = read_table(&mut source(&altered), &options);
            }
        }
    }
}
