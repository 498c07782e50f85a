//! One data set in every format, plain and compressed, from a path and from a stream: always the same table.

use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use eyot::{Column, Table};
use eyot_io::{AtomicFile, Format, ReadOptions, Source, open, read_table};

const ROWS: usize = 1500;
const COLUMNS: usize = 5;

/// Numbers of every size, none of them missing or 0 (a dense format writes 0 where a sparse one writes nothing).
fn data() -> Vec<[f64; COLUMNS]> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 11
    };
    let mut row = || {
        let unit = next() as f64 / (1_u64 << 53) as f64 + 1e-9;
        let exponent = i32::try_from(next() % 600).unwrap() - 300;
        [unit, -unit * 1e3, unit * 10_f64.powi(exponent), (next() % 1000 + 1) as f64, f64::from(unit as f32)]
    };
    (0..ROWS).map(|_| row()).collect()
}

fn names() -> Vec<String> {
    (0..COLUMNS).map(|i| format!("f{i}")).collect()
}

/// The bytes of the data in a format. Numbers are written as others would: shortest, or with an exponent.
fn written(rows: &[[f64; COLUMNS]], format: Format) -> Vec<u8> {
    let lines = |row: &dyn Fn(&[f64; COLUMNS]) -> String| rows.iter().map(row).collect::<Vec<_>>().concat();
    let delimited = |by: &str| {
        let cells = |row: &[f64; COLUMNS]| row.map(|value| format!("{value:?}")).join(by) + "\n";
        (names().join(by) + "\n" + &lines(&cells)).into_bytes()
    };
    let batches = || {
        let column = |i: usize| Arc::new(rows.iter().map(|row| Some(row[i])).collect::<Float64Array>()) as ArrayRef;
        let fields: Vec<_> = names().into_iter().map(|name| Field::new(name, DataType::Float64, false)).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), (0..COLUMNS).map(column).collect()).unwrap()
    };
    match format {
        Format::Csv => delimited(","),
        Format::Tsv => delimited("\t"),
        Format::Svmlight => {
            let entries = |row: &[f64; COLUMNS]| {
                let entries: Vec<_> = row.iter().enumerate().map(|(i, value)| format!("{}:{value:e}", i + 1)).collect();
                format!("0 {}\n", entries.join(" "))
            };
            lines(&entries).into_bytes()
        }
        Format::Ndjson => {
            let object = |row: &[f64; COLUMNS]| {
                let cells: Vec<_> =
                    names().iter().zip(row).map(|(name, value)| format!("\"{name}\":{value:?}")).collect();
                format!("{{{}}}\n", cells.join(", "))
            };
            lines(&object).into_bytes()
        }
        Format::Npy => {
            let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({ROWS}, {COLUMNS}), }}\n");
            let length = u16::try_from(header.len()).unwrap().to_le_bytes();
            let numbers: Vec<u8> = rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
            [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), &numbers].concat()
        }
        Format::Parquet => {
            let batch = batches();
            let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
            writer.write(&batch).unwrap();
            writer.into_inner().unwrap()
        }
        Format::Arrow => {
            let batch = batches();
            let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
            writer.write(&batch).unwrap();
            writer.into_inner().unwrap()
        }
    }
}

/// The numbers of a table, row by row, as bits.
fn bits(table: &Table) -> Vec<Vec<u64>> {
    let sparse = table.sparse.as_ref();
    let number = |row: usize, i: usize| match (table.column(&format!("f{i}")), sparse) {
        (Some(Column::Numbers(values)), None) => values[row],
        (None, Some(sparse)) => sparse.row(row).get(i),
        other => panic!("{other:?}"),
    };
    (0..table.n_rows).map(|row| (0..COLUMNS).map(|i| number(row, i).to_bits()).collect()).collect()
}

fn expected(rows: &[[f64; COLUMNS]]) -> Vec<Vec<u64>> {
    rows.iter().map(|row| row.iter().map(|value| value.to_bits()).collect()).collect()
}

const FORMATS: [(Format, &str); 7] = [
    (Format::Csv, "csv"),
    (Format::Tsv, "tsv"),
    (Format::Svmlight, "svm"),
    (Format::Ndjson, "jsonl"),
    (Format::Npy, "npy"),
    (Format::Parquet, "parquet"),
    (Format::Arrow, "arrow"),
];

#[test]
fn every_format_compression_and_way_in_gives_the_same_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let rows = data();
    for (format, end) in FORMATS {
        let bytes = written(&rows, format);
        for compression in ["", ".gz", ".zst"] {
            let path = folder.path().join(format!("x.{end}{compression}"));
            let mut file = AtomicFile::create(&path).unwrap();
            file.write_all(&bytes).unwrap();
            file.commit().unwrap();
            let packed = std::fs::read(&path).unwrap();
            let stream = || Source::from_reader("stdin", Box::new(Cursor::new(packed.clone())));

            let options = ReadOptions::default();
            let mut from_path = Source::new(&path);
            assert_eq!(bits(&read_table(&mut from_path, &options).unwrap()), expected(&rows), "{path:?}");
            assert_eq!(bits(&read_table(&mut from_path, &options).unwrap()), expected(&rows), "{path:?} again");
            // A stream has no extension: its format is told, or found out.
            assert_eq!(bits(&read_table(&mut stream(), &options).unwrap()), expected(&rows), "{path:?} as stream");
            let mut kept = stream();
            kept.keep().unwrap();
            let told = ReadOptions::default().format(format).batch_rows(64);
            for _ in 0..2 {
                assert_eq!(bits(&read_table(&mut kept, &told).unwrap()), expected(&rows), "{path:?} kept");
            }
        }
    }
}

#[test]
fn batches_are_bounded_numbered_and_progress_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let rows = data();
    for (format, end) in FORMATS {
        let path = folder.path().join(format!("x.{end}"));
        std::fs::write(&path, written(&rows, format)).unwrap();
        let mut reader = open(&mut Source::new(&path), &ReadOptions::default().batch_rows(100)).unwrap();
        let mut next = 0;
        while let Some(batch) = reader.next_batch().unwrap() {
            assert_eq!(batch.first_row, next, "{end}");
            assert!((1..=100).contains(&batch.n_rows), "{end}");
            next += batch.n_rows;
            assert_eq!(reader.rows(), next);
        }
        assert_eq!(next, ROWS, "{end}");
        assert!(reader.next_batch().unwrap().is_none(), "{end}");
        assert!(reader.progress().is_none_or(|share| (share - 1.0).abs() < 1e-12), "{end}");
        assert_eq!(reader.is_sparse(), format == Format::Svmlight);
    }
}

#[test]
fn empty_inputs_are_refused_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for (_, end) in FORMATS {
        let path = folder.path().join(format!("x.{end}"));
        std::fs::write(&path, "").unwrap();
        let error = read_table(&mut Source::new(&path), &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().contains(&*path.display().to_string()), "{end}: {error}");
    }
}

/// Rows and columns of real files, where they are at hand.
#[test]
fn real_files_have_the_sizes_their_sources_name() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !shared.is_dir() {
        println!("skipped: no real data at hand");
        return;
    }
    for (file, rows, columns, nonzeros) in [
        ("online/a9a.test.svm.zst", 16_281, 123, 225_731),
        ("online/rcv1_small.train.svm.zst", 1000, 47_236, 77_739),
        ("online/reuters_moneyfx.test.svm.zst", 3299, 8315, 136_821),
        ("online/abalone.parquet", 4177, 8, 0),
        ("online/phishing.parquet", 11_055, 68, 0),
        ("anomaly/mammography.parquet", 11_183, 6, 0),
    ] {
        let mut reader = open(&mut Source::new(shared.join(file)), &ReadOptions::default().batch_rows(1000)).unwrap();
        let (mut width, mut found) = (0, 0);
        for batch in reader.by_ref() {
            let batch = batch.unwrap();
            match &batch.sparse {
                Some(sparse) => {
                    width = width.max(sparse.n_columns());
                    found += sparse.as_points().rows().map(|row| row.nonzeros().count()).sum::<usize>();
                }
                None => width = batch.columns.iter().filter(|column| column.name.starts_with('f')).count(),
            }
        }
        assert_eq!(reader.rows(), rows, "{file}");
        // The last columns of a sparse file may be empty in all rows.
        let fits = if reader.is_sparse() { width <= columns } else { width == columns };
        assert!(fits, "{file}: {width}");
        assert_eq!(found, nonzeros, "{file}");
    }
}
