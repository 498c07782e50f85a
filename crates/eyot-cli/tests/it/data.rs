//! The same small table in every format.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;

/// Number columns named f0, f1, …, as the formats without names call them, and a column `label` before them.
pub(crate) struct Data {
    pub(crate) rows: Vec<[f64; 3]>,
}

impl Data {
    /// So many rows, the same ones every time; about a quarter of the cells are 0, which sparse formats leave out.
    pub(crate) fn new(rows: usize) -> Self {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = (state >> 40) as f64 / 1024.0 - 4096.0;
            if number < 0.0 { 0.0 } else { number / 3.0 }
        };
        Self { rows: (0..rows).map(|_| [next(), next(), next()]).collect() }
    }

    pub(crate) fn csv(&self) -> String {
        self.delimited(',')
    }

    fn delimited(&self, delimiter: char) -> String {
        let mut text = format!("label{delimiter}f0{delimiter}f1{delimiter}f2\n");
        for (i, [a, b, c]) in self.rows.iter().enumerate() {
            let _ = writeln!(text, "{}{delimiter}{a}{delimiter}{b}{delimiter}{c}", label(i));
        }
        text
    }

    fn svmlight(&self) -> String {
        let mut text = String::new();
        for (i, row) in self.rows.iter().enumerate() {
            let _ = write!(text, "{}", label(i));
            for (column, value) in (1..).zip(row).filter(|(_, value)| **value != 0.0) {
                let _ = write!(text, " {column}:{value}");
            }
            text.push('\n');
        }
        text
    }

    fn ndjson(&self) -> String {
        let mut text = String::new();
        for (i, [a, b, c]) in self.rows.iter().enumerate() {
            let _ = writeln!(text, "{{\"label\": {}, \"f0\": {a}, \"f1\": {b}, \"f2\": {c}}}", label(i));
        }
        text
    }

    /// npy has no names, so here the label is the last column, f3.
    fn npy(&self) -> Vec<u8> {
        let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, 4), }}", self.rows.len());
        while (header.len() + 11) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        for (i, row) in self.rows.iter().enumerate() {
            row.iter().chain([&label(i)]).for_each(|value| bytes.extend(value.to_le_bytes()));
        }
        bytes
    }

    fn batch(&self) -> RecordBatch {
        let names = ["label", "f0", "f1", "f2"];
        let column = |at: usize| -> ArrayRef {
            let values = self.rows.iter().enumerate().map(|(i, row)| if at == 0 { label(i) } else { row[at - 1] });
            Arc::new(Float64Array::from_iter_values(values))
        };
        let fields = names.map(|name| Field::new(name, DataType::Float64, false));
        RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), (0..4).map(column).collect()).unwrap()
    }

    fn parquet(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, self.batch().schema(), None).unwrap();
        writer.write(&self.batch()).unwrap();
        writer.close().unwrap();
        bytes
    }

    fn arrow_file(&self) -> Vec<u8> {
        let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &self.batch().schema()).unwrap();
        writer.write(&self.batch()).unwrap();
        writer.into_inner().unwrap()
    }

    fn arrow_stream(&self) -> Vec<u8> {
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &self.batch().schema()).unwrap();
        writer.write(&self.batch()).unwrap();
        writer.into_inner().unwrap()
    }

    /// Every format as (name of `--format`, extension, bytes).
    pub(crate) fn formats(&self) -> Vec<(&'static str, &'static str, Vec<u8>)> {
        vec![
            ("csv", "csv", self.csv().into()),
            ("csv", "txt", self.delimited(';').into()),
            ("tsv", "tsv", self.delimited('\t').into()),
            ("svmlight", "svm", self.svmlight().into()),
            ("parquet", "parquet", self.parquet()),
            ("arrow", "arrow", self.arrow_file()),
            ("arrow", "arrows", self.arrow_stream()),
            ("ndjson", "ndjson", self.ndjson().into()),
            ("npy", "npy", self.npy()),
        ]
    }
}

fn label(row: usize) -> f64 {
    if row.is_multiple_of(3) { 1.0 } else { -1.0 }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstandard(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 0).unwrap()
}
