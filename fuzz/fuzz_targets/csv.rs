//! Any bytes read as CSV give a table or an error, and the same one in batches of one row.

#![no_main]

use std::io::Cursor;

use eyot_io::{Format, ReadOptions, Source, read_table};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let read = |options: &ReadOptions| {
        let mut source = Source::from_reader("fuzz", Box::new(Cursor::new(bytes.to_vec())));
        format!("{:?}", read_table(&mut source, &options.clone().format(Format::Csv)))
    };
    let whole = read(&ReadOptions::default());
    assert_eq!(whole, read(&ReadOptions::default().batch_rows(1)));
    let told = ReadOptions::default().header(false).delimiter(b',').sample_bytes(1);
    assert_eq!(read(&told), read(&told.clone().batch_rows(2)));
});
