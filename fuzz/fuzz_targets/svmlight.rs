//! Any bytes read as svmlight give a table or an error, and the same one in batches of one row.

#![no_main]

use std::io::Cursor;

use eyot_io::{Format, ReadOptions, Source, read_table};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let read = |options: ReadOptions| {
        let mut source = Source::from_reader("fuzz", Box::new(Cursor::new(bytes.to_vec())));
        format!("{:?}", read_table(&mut source, &options.format(Format::Svmlight)))
    };
    let whole = read(ReadOptions::default());
    assert_eq!(whole, read(ReadOptions::default().batch_rows(1)));
    let from_zero = read(ReadOptions::default().zero_based(true));
    assert_eq!(from_zero, read(ReadOptions::default().zero_based(true).batch_rows(2)));
});
