//! Any bytes read as a model give a model or an error, also when their checksum is right; so do any parts of an
//! encoder, and an encoder that loads is written as it was read and encodes without a panic.

#![no_main]

use eyot::{Classes, Column, Encoder, ModelReader, ModelWriter, Persist, Table, TableColumn};
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};

/// How every model begins, between the length of the header and the checksum.
const START: &[u8] = br#"{"__metadata__":{"eyot":"{\"checksum\":\""#;

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    read(&sealed(bytes));
    if let Some(model) = with_parts(bytes) {
        read(&model);
    }
});

fn read(bytes: &[u8]) {
    let Ok(model) = ModelReader::parse(bytes) else { return };
    model.tensors();
    let _ = Classes::load(&model, "classes");
    let Ok(encoder) = Encoder::load(&model, "encoder") else { return };
    let mut out = ModelWriter::new("again");
    encoder.save(&mut out, "encoder");
    let again = out.finish().expect("what was read can be written");
    let again = ModelReader::parse(&again).expect("what was written can be read");
    assert_eq!(Encoder::load(&again, "encoder").as_ref(), Ok(&encoder));
    let column = |name: &str| TableColumn { name: name.into(), values: Column::Numbers(vec![0.5, -1e300]) };
    let columns = encoder.inputs().map(|(name, _)| column(name)).collect();
    let _ = encoder.encode(&Table { first_row: 0, n_rows: 2, columns, sparse: None });
    encoder.notes();
}

/// The bytes as what follows the checksum, with a right one.
fn sealed(rest: &[u8]) -> Vec<u8> {
    let header = rest.iter().rposition(|&byte| byte == b'}').map_or(rest.len(), |last| last + 1);
    let length = (START.len() + 64 + header) as u64;
    let mut file = [&length.to_le_bytes()[..], START, &[b'0'; 64], rest].concat();
    let digits: String = Sha256::digest(&file).iter().map(|byte| format!("{byte:02x}")).collect();
    file[8 + START.len()..][..64].copy_from_slice(digits.as_bytes());
    file
}

/// A model whose encoder is the JSON before the first zero byte, with the rest as its tensors.
fn with_parts(bytes: &[u8]) -> Option<Vec<u8>> {
    let (json, rest) = bytes.split_at(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
    let json: serde_json::Value = serde_json::from_slice(json).ok()?;
    let mut out = ModelWriter::new("parts");
    out.put_json("classes", &json);
    out.put_json("encoder", &json);
    let floats: Vec<f64> = rest.as_chunks().0.iter().map(|&eight| f64::from_le_bytes(eight)).collect();
    out.put_u64("encoder.sparse.not_shifted", &[0]);
    out.put_u32("encoder.sparse.columns", &(0..floats.len() as u32).collect::<Vec<_>>());
    out.put_f64("encoder.sparse.shifts", &floats);
    out.put_f64("encoder.sparse.divisors", &vec![2.0; floats.len()]);
    out.finish().ok()
}
