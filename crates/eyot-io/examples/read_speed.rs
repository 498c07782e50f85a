//! How fast text becomes numbers, in MB of text per second on one thread:
//! `cargo run --release -p eyot-io --example read_speed [FILE…]`. Without files, on generated CSV, svmlight and NDJSON.

use std::io::{Cursor, Write};
use std::time::Instant;

use eyot_io::{Format, ReadOptions, Result, Source, open};

const ROWS: usize = 200_000;

fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout().lock();
    let mut say = |name: &str, (megabytes, seconds, rows): (f64, f64, usize)| {
        let _ = writeln!(out, "{name:<40} {rows:>9} rows {megabytes:>8.1} MB {:>8.1} MB/s", megabytes / seconds);
    };
    for file in &files {
        let size = std::fs::metadata(file).map_err(|error| eyot_io::Error::io(file, error))?.len();
        say(file, fastest(size as usize, &ReadOptions::default(), || Source::new(file))?);
    }
    if files.is_empty() {
        for (name, format, text) in generated() {
            let options = ReadOptions::default().format(format);
            let source = || Source::from_reader(name, Box::new(Cursor::new(text.clone())));
            say(name, fastest(text.len(), &options, source)?);
        }
    }
    Ok(())
}

/// Megabytes, the fewest seconds of five readings, rows.
fn fastest(size: usize, options: &ReadOptions, source: impl Fn() -> Source) -> Result<(f64, f64, usize)> {
    let (mut best, mut rows) = (f64::INFINITY, 0);
    for _ in 0..5 {
        let mut source = source();
        let start = Instant::now();
        let mut reader = open(&mut source, options)?;
        while reader.next_batch()?.is_some() {}
        best = best.min(start.elapsed().as_secs_f64());
        rows = reader.rows();
    }
    Ok((size as f64 / 1e6, best, rows))
}

fn generated() -> [(&'static str, Format, Vec<u8>); 5] {
    let mut state = 7_u64;
    let mut unit = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut texts: [Vec<u8>; 5] = Default::default();
    for row in 0..ROWS {
        let values: Vec<f64> = (0..20).map(|_| unit()).collect();
        let short: Vec<String> = values.iter().map(|value| format!("{value:.6}")).collect();
        let full: Vec<String> = values.iter().map(f64::to_string).collect();
        let sparse: Vec<String> =
            short.iter().enumerate().map(|(i, value)| format!("{}:{value}", 17 * i + 1)).collect();
        let json: Vec<String> = short.iter().enumerate().map(|(i, value)| format!("\"f{i}\":{value}")).collect();
        let lines = [
            short.join(","),
            full.join(","),
            format!("{},{}", short.join(","), ["red", "green", "blue"][row % 3]),
            format!("{} {}", row % 2, sparse.join(" ")),
            format!("{{{}}}", json.join(",")),
        ];
        for (text, line) in texts.iter_mut().zip(lines) {
            text.extend_from_slice(line.as_bytes());
            text.push(b'\n');
        }
    }
    let [short, full, mixed, sparse, json] = texts;
    [
        ("CSV, 20 numbers of 6 digits", Format::Csv, short),
        ("CSV, 20 numbers of 16 digits", Format::Csv, full),
        ("CSV, 20 numbers and a text", Format::Csv, mixed),
        ("svmlight, 20 entries of 6 digits", Format::Svmlight, sparse),
        ("NDJSON, 20 numbers of 6 digits", Format::Ndjson, json),
    ]
}
