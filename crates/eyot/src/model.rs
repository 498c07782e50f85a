//! A fitted thing to bytes and back.
//!
//! The layout is that of safetensors: eight bytes of header length, a JSON header, then the tensors. The header's
//! `__metadata__` has one key, `eyot`, whose value is a JSON object in text form. It begins with `checksum` (so its
//! place in the file never moves), then come `format` and `kind`, then every JSON part in order of its name:
//! `parameters`, `encoder`, `classes`, `trained_on` and whatever else the model's parts put there. The checksum is
//! SHA-256 over the whole file with its own 64 digits read as `0`.
//!
//! The same fit gives the same bytes: parts are ordered by name, tensors by type and name, and neither the program's
//! version nor the time is written. Reading verifies the checksum first, allocates nothing by a size that the bytes
//! merely claim, and refuses in one sentence what is truncated, altered, too new or not a model.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use safetensors::tensor::{Dtype, Metadata, TensorInfo, View};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// The newest model format that this program writes and reads.
pub const MODEL_FORMAT: u64 = 1;

/// Longest header that is written or read, in bytes (the limit of safetensors itself).
const MAX_HEADER: usize = 100_000_000;
/// Bytes of the header length.
const LENGTH: usize = 8;
/// How the header of every model of every format begins, up to the digits of the checksum.
const START: &[u8] = br#"{"__metadata__":{"eyot":"{\"checksum\":\""#;
/// Where the checksum stands.
const CHECKSUM: std::ops::Range<usize> = LENGTH + START.len()..LENGTH + START.len() + 64;
/// What stands in its place while it is computed.
const NO_CHECKSUM: [u8; 64] = [b'0'; 64];

/// Something fitted that can be part of a model file. Names of parts are `{prefix}.{part}`.
pub trait Persist: Sized {
    /// Puts all parts under names that begin with `prefix`.
    fn save(&self, out: &mut ModelWriter, prefix: &str);
    /// Takes the parts back, checking lengths, ranges and finiteness: bytes with a right checksum may still be hostile.
    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self>;
}

/// Collects the parts of a model and writes its bytes.
#[derive(Debug)]
pub struct ModelWriter {
    kind: String,
    parts: BTreeMap<String, String>,
    tensors: BTreeMap<String, Tensor>,
}

#[derive(Debug)]
struct Tensor {
    dtype: Dtype,
    shape: [usize; 1],
    bytes: Vec<u8>,
}

impl View for &Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

impl ModelWriter {
    /// A model of that kind, without parts.
    pub fn new(kind: &str) -> Self {
        Self { kind: kind.to_owned(), parts: BTreeMap::new(), tensors: BTreeMap::new() }
    }

    /// Puts a JSON part. Its bytes must not depend on hash order; floats come back bit for bit if they are finite.
    ///
    /// # Panics
    /// If the name is taken or the value has no JSON form: both are errors of the calling code.
    pub fn put_json(&mut self, name: &str, value: &impl Serialize) {
        let text = serde_json::to_string(value).expect("parts of models have a JSON form");
        let reserved = ["checksum", "format", "kind"].contains(&name);
        let earlier = self.parts.insert(name.to_owned(), text);
        assert!(!reserved && earlier.is_none(), "two parts of a model are called `{name}`");
    }

    /// Puts a tensor.
    ///
    /// # Panics
    /// If the name is taken, as do the other `put_` functions.
    pub fn put_f64(&mut self, name: &str, values: &[f64]) {
        self.put(name, Dtype::F64, values.len(), values.iter().flat_map(|value| value.to_le_bytes()).collect());
    }

    /// Puts a tensor.
    pub fn put_f32(&mut self, name: &str, values: &[f32]) {
        self.put(name, Dtype::F32, values.len(), values.iter().flat_map(|value| value.to_le_bytes()).collect());
    }

    /// Puts a tensor.
    pub fn put_u8(&mut self, name: &str, values: &[u8]) {
        self.put(name, Dtype::U8, values.len(), values.to_vec());
    }

    /// Puts a tensor.
    pub fn put_u16(&mut self, name: &str, values: &[u16]) {
        self.put(name, Dtype::U16, values.len(), values.iter().flat_map(|value| value.to_le_bytes()).collect());
    }

    /// Puts a tensor.
    pub fn put_u32(&mut self, name: &str, values: &[u32]) {
        self.put(name, Dtype::U32, values.len(), values.iter().flat_map(|value| value.to_le_bytes()).collect());
    }

    /// Puts a tensor.
    pub fn put_u64(&mut self, name: &str, values: &[u64]) {
        self.put(name, Dtype::U64, values.len(), values.iter().flat_map(|value| value.to_le_bytes()).collect());
    }

    fn put(&mut self, name: &str, dtype: Dtype, len: usize, bytes: Vec<u8>) {
        let earlier = self.tensors.insert(name.to_owned(), Tensor { dtype, shape: [len], bytes });
        assert!(earlier.is_none() && name != "__metadata__", "two tensors of a model are called `{name}`");
    }

    /// The bytes of the model file. Fails only if the header would exceed 100 MB.
    pub fn finish(self) -> Result<Vec<u8>> {
        let kind = Value::from(self.kind);
        let zeros = "0".repeat(NO_CHECKSUM.len());
        let mut header = format!(r#"{{"checksum":"{zeros}","format":{MODEL_FORMAT},"kind":{kind}"#);
        for (name, text) in self.parts {
            let _ = write!(header, ",{}:{text}", Value::from(name));
        }
        header.push('}');
        let metadata = HashMap::from([("eyot".to_owned(), header)]);
        let mut bytes = safetensors::serialize(&self.tensors, Some(metadata))
            .map_err(|error| Error::Model(format!("the model cannot be written: {error}")))?;
        let checksum = checksum_of(&bytes);
        bytes[CHECKSUM].copy_from_slice(checksum.as_bytes());
        Ok(bytes)
    }
}

/// SHA-256 over all bytes, those of the checksum read as `0`, in lower-case hexadecimal digits.
fn checksum_of(bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(&bytes[..CHECKSUM.start]);
    hash.update(NO_CHECKSUM);
    hash.update(&bytes[CHECKSUM.end..]);
    hash.finalize().iter().fold(String::with_capacity(64), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// The verified parts of a model.
#[derive(Debug)]
pub struct ModelReader<'a> {
    format: u64,
    kind: String,
    checksum: &'a str,
    parts: BTreeMap<String, Value>,
    metadata: Metadata,
    tensors: &'a [u8],
}

/// What `inspect` says of one tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSummary {
    /// Its name.
    pub name: String,
    /// Its element type in the words of safetensors, for example `F64`.
    pub dtype: String,
    /// Its size along each axis.
    pub shape: Vec<usize>,
}

impl<'a> ModelReader<'a> {
    /// Reads and verifies a whole model file.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let header = header_of(bytes)?;
        let checksum = std::str::from_utf8(&bytes[CHECKSUM]).map_err(|_| altered("its checksum is not one"))?;
        let tensors = &bytes[LENGTH + header.len()..];
        let metadata: Result<Metadata, _> = serde_json::from_slice(header);
        if checksum != checksum_of(bytes) {
            // Only for a better word: a file that was cut off in its tensors still has a readable header.
            return Err(match metadata {
                Ok(metadata) if metadata.data_len() > tensors.len() => truncated(),
                _ => altered("its checksum does not match"),
            });
        }
        let metadata = metadata.map_err(|error| altered(&format!("its header is not readable ({error})")))?;
        if metadata.data_len() != tensors.len() {
            return Err(altered("the size of its tensors is not what its header says"));
        }
        let text = metadata.metadata().as_ref().and_then(|metadata| metadata.get("eyot"));
        let mut parts: BTreeMap<String, Value> = text
            .and_then(|text| serde_json::from_str(text).ok())
            .ok_or_else(|| altered("its description is not readable"))?;
        let format = parts.remove("format").and_then(|format| format.as_u64()).unwrap_or(0);
        if format > MODEL_FORMAT {
            return Err(Error::Model(format!(
                "the model has format {format}, but this program reads formats up to {MODEL_FORMAT}: it is older than \
                 the model"
            )));
        }
        let Some(Value::String(kind)) = parts.remove("kind").filter(|_| format > 0) else {
            return Err(altered("it names no format or no kind"));
        };
        parts.remove("checksum");
        Ok(Self { format, kind, checksum, parts, metadata, tensors })
    }

    /// How many bytes [`ModelReader::check_start`] looks at.
    pub const START_BYTES: usize = CHECKSUM.end;

    /// Refuses what does not begin like a model, given the first bytes of a file; returns the length of the header.
    pub fn check_start(bytes: &[u8]) -> Result<usize> {
        let Some((length, rest)) = bytes.split_first_chunk::<LENGTH>() else {
            return Err(foreign(if bytes.is_empty() { "it is empty" } else { "it is too short" }));
        };
        let length = u64::from_le_bytes(*length);
        if !rest.starts_with(START) {
            let cut_off = !rest.is_empty() && START.starts_with(rest);
            return Err(if cut_off { truncated() } else { foreign("it does not begin like one") });
        }
        if bytes.len() < CHECKSUM.end {
            return Err(truncated());
        }
        match usize::try_from(length) {
            Ok(length) if (CHECKSUM.end - LENGTH..=MAX_HEADER).contains(&length) => Ok(length),
            _ => Err(altered(&format!("a header of {length} bytes is not possible"))),
        }
    }

    /// What the model is, for example `isolation-map`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Its format number.
    pub fn format(&self) -> u64 {
        self.format
    }

    /// SHA-256 of the file, verified.
    pub fn checksum(&self) -> &str {
        self.checksum
    }

    /// The parameters it was fitted with; null if it stores none.
    pub fn parameters(&self) -> &Value {
        self.parts.get("parameters").unwrap_or(&Value::Null)
    }

    /// What it was fitted on; null if it does not say.
    pub fn trained_on(&self) -> &Value {
        self.parts.get("trained_on").unwrap_or(&Value::Null)
    }

    /// All tensors, by name.
    pub fn tensors(&self) -> Vec<TensorSummary> {
        let by_name: BTreeMap<String, &TensorInfo> = self.metadata.tensors().into_iter().collect();
        by_name
            .into_iter()
            .map(|(name, info)| TensorSummary { name, dtype: info.dtype.to_string(), shape: info.shape.clone() })
            .collect()
    }

    /// Refuses a model of another kind.
    pub fn expect_kind(&self, expected: &'static str) -> Result<()> {
        if self.kind == expected {
            return Ok(());
        }
        Err(Error::ModelKind { expected, got: self.kind.clone() })
    }

    /// The error for a kind that the program does not know.
    pub fn unknown_kind(&self) -> Error {
        Error::Model(format!("this program does not know models of kind `{}`", self.kind))
    }

    /// Whether there is a JSON part of that name.
    pub fn has_json(&self, name: &str) -> bool {
        self.parts.contains_key(name)
    }

    /// A JSON part.
    pub fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let value = self.parts.get(name).ok_or_else(|| bad_part(name, "is missing"))?;
        T::deserialize(value).map_err(|error| bad_part(name, &format!("is not as it should be: {error}")))
    }

    /// A tensor.
    pub fn f64s(&self, name: &str) -> Result<Vec<f64>> {
        Ok(self.elements(name, Dtype::F64)?.into_iter().map(f64::from_le_bytes).collect())
    }

    /// A tensor of exactly `len` finite numbers.
    pub fn finite_f64s(&self, name: &str, len: usize) -> Result<Vec<f64>> {
        let values = expect_len(name, self.f64s(name)?, len)?;
        if values.iter().all(|value| value.is_finite()) {
            return Ok(values);
        }
        Err(bad_part(name, "has a value that is not a finite number"))
    }

    /// A tensor.
    pub fn f32s(&self, name: &str) -> Result<Vec<f32>> {
        Ok(self.elements(name, Dtype::F32)?.into_iter().map(f32::from_le_bytes).collect())
    }

    /// A tensor.
    pub fn u8s(&self, name: &str) -> Result<Vec<u8>> {
        Ok(self.elements(name, Dtype::U8)?.into_iter().map(u8::from_le_bytes).collect())
    }

    /// A tensor.
    pub fn u16s(&self, name: &str) -> Result<Vec<u16>> {
        Ok(self.elements(name, Dtype::U16)?.into_iter().map(u16::from_le_bytes).collect())
    }

    /// A tensor.
    pub fn u32s(&self, name: &str) -> Result<Vec<u32>> {
        Ok(self.elements(name, Dtype::U32)?.into_iter().map(u32::from_le_bytes).collect())
    }

    /// A tensor.
    pub fn u64s(&self, name: &str) -> Result<Vec<u64>> {
        Ok(self.elements(name, Dtype::U64)?.into_iter().map(u64::from_le_bytes).collect())
    }

    fn elements<const N: usize>(&self, name: &str, dtype: Dtype) -> Result<Vec<[u8; N]>> {
        let info = self.metadata.info(name).ok_or_else(|| bad_part(name, "is missing"))?;
        if info.dtype != dtype {
            return Err(bad_part(name, &format!("has elements of type {}, but should have {dtype}", info.dtype)));
        }
        let (start, end) = info.data_offsets;
        Ok(self.tensors[start..end].as_chunks().0.to_vec())
    }
}

/// The JSON header, after the checks that need no hash.
fn header_of(bytes: &[u8]) -> Result<&[u8]> {
    let length = ModelReader::check_start(bytes)?;
    bytes.get(LENGTH..LENGTH + length).ok_or_else(truncated)
}

/// The error for a part of a model that is not as it should be; `why` continues the name.
pub fn bad_part(name: &str, why: &str) -> Error {
    Error::Model(format!("the model cannot be used: its part `{name}` {why}"))
}

/// Passes on a tensor of the right length.
pub fn expect_len<T>(name: &str, values: Vec<T>, len: usize) -> Result<Vec<T>> {
    if values.len() == len {
        return Ok(values);
    }
    Err(bad_part(name, &format!("has {} elements, but should have {len}", values.len())))
}

fn foreign(why: &str) -> Error {
    Error::Model(format!("this is not an eyot model: {why}"))
}

fn truncated() -> Error {
    Error::Model("the model is truncated: it ends before its contents do".into())
}

fn altered(why: &str) -> Error {
    Error::Model(format!("the model is damaged or has been altered: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small model with one part of each type.
    fn sample() -> Vec<u8> {
        let mut out = ModelWriter::new("sample");
        out.put_json("parameters", &serde_json::json!({"psi": 16, "name": "a \"quoted\" name", "rate": 0.1}));
        out.put_json("classes", &["no", "yes"]);
        out.put_f64("part.f64", &[0.1, -0.0, f64::MIN_POSITIVE]);
        out.put_f32("part.f32", &[0.1, 2.0]);
        out.put_u8("part.u8", &[1, 2, 255]);
        out.put_u16("part.u16", &[256]);
        out.put_u32("part.u32", &[70_000]);
        out.put_u64("part.u64", &[u64::MAX]);
        out.put_u32("part.empty", &[]);
        out.finish().unwrap()
    }

    /// Rewrites part of the header and seals the result with a right checksum, as an attacker would.
    fn forged(from: &str, to: &str) -> Vec<u8> {
        let bytes = sample();
        let length = u64::from_le_bytes(bytes[..LENGTH].try_into().unwrap()) as usize;
        let header = std::str::from_utf8(&bytes[LENGTH..LENGTH + length]).unwrap();
        assert!(header.contains(from), "{header}");
        let header = header.replacen(from, to, 1);
        sealed(
            (header.len() as u64)
                .to_le_bytes()
                .into_iter()
                .chain(header.bytes())
                .chain(bytes[LENGTH + length..].iter().copied())
                .collect(),
        )
    }

    fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
        let checksum = checksum_of(&bytes);
        bytes[CHECKSUM].copy_from_slice(checksum.as_bytes());
        bytes
    }

    fn refusal(bytes: &[u8]) -> String {
        match ModelReader::parse(bytes) {
            Err(Error::Model(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn parts_come_back_bit_for_bit() {
        let bytes = sample();
        let model = ModelReader::parse(&bytes).unwrap();
        assert_eq!((model.kind(), model.format()), ("sample", 1));
        assert_eq!(model.parameters()["name"], "a \"quoted\" name");
        assert_eq!(model.parameters()["rate"], 0.1);
        assert_eq!(model.trained_on(), &Value::Null);
        assert_eq!(model.json::<Vec<String>>("classes").unwrap(), ["no", "yes"]);
        let f64s = model.f64s("part.f64").unwrap();
        assert_eq!(
            f64s.iter().map(|value| value.to_bits()).collect::<Vec<_>>(),
            [0.1, -0.0, f64::MIN_POSITIVE].map(f64::to_bits)
        );
        assert_eq!(model.f32s("part.f32").unwrap(), [0.1, 2.0]);
        assert_eq!(model.u8s("part.u8").unwrap(), [1, 2, 255]);
        assert_eq!(model.u16s("part.u16").unwrap(), [256]);
        assert_eq!(model.u32s("part.u32").unwrap(), [70_000]);
        assert_eq!(model.u64s("part.u64").unwrap(), [u64::MAX]);
        assert!(model.u32s("part.empty").unwrap().is_empty());
        assert!(model.has_json("classes") && !model.has_json("encoder"));
    }

    #[test]
    fn the_same_parts_give_the_same_bytes_in_any_order() {
        let write = |turned: bool| {
            let mut out = ModelWriter::new("order");
            for i in 0..20u32 {
                let i = if turned { 19 - i } else { i };
                out.put_json(&format!("part{i}"), &i);
                out.put_u32(&format!("tensor{i}"), &[i]);
            }
            out.finish().unwrap()
        };
        assert_eq!(write(false), write(true));
    }

    #[test]
    fn a_foreign_reader_of_safetensors_understands_the_file() {
        let bytes = sample();
        let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(file.tensor("part.u8").unwrap().data(), [1, 2, 255]);
        // Eight-byte elements come first, at a multiple of eight, so a mapped file can be read in place.
        let length = u64::from_le_bytes(bytes[..LENGTH].try_into().unwrap());
        assert!(length.is_multiple_of(8));
    }

    #[test]
    fn the_checksum_can_be_computed_without_this_program() {
        let mut bytes = sample();
        let stored = ModelReader::parse(&bytes).unwrap().checksum().to_owned();
        assert_eq!(&bytes[CHECKSUM], stored.as_bytes());
        bytes[CHECKSUM].fill(b'0');
        let digest: Vec<String> = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest.concat(), stored);
    }

    #[test]
    fn any_flipped_bit_is_refused() {
        let mut bytes = sample();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                bytes[at] ^= 1 << bit;
                refusal(&bytes);
                bytes[at] ^= 1 << bit;
            }
        }
        assert!(ModelReader::parse(&bytes).is_ok());
    }

    #[test]
    fn truncation_at_any_length_is_refused_and_called_so() {
        let bytes = sample();
        for length in 0..bytes.len() {
            let message = refusal(&bytes[..length]);
            if length > LENGTH {
                assert!(message.contains("truncated"), "{length}: {message}");
            }
        }
        let longer = [&bytes[..], b"x"].concat();
        assert!(refusal(&longer).contains("altered"));
    }

    #[test]
    fn what_is_not_a_model_is_refused() {
        assert_eq!(refusal(b""), "this is not an eyot model: it is empty");
        assert_eq!(refusal(b"a,b\n"), "this is not an eyot model: it is too short");
        assert_eq!(refusal(b"name,value\n1,2\n"), "this is not an eyot model: it does not begin like one");
        let foreign = safetensors::serialize(
            [("weights", &Tensor { dtype: Dtype::U8, shape: [2], bytes: vec![1, 2] })],
            Some(HashMap::from([("format".to_owned(), "pt".to_owned())])),
        );
        assert_eq!(refusal(&foreign.unwrap()), "this is not an eyot model: it does not begin like one");
    }

    #[test]
    fn claimed_sizes_are_never_believed() {
        let mut bytes = sample();
        for length in [0, 50, MAX_HEADER as u64 + 1, u64::MAX, u64::MAX - 7] {
            bytes[..LENGTH].copy_from_slice(&length.to_le_bytes());
            assert!(refusal(&sealed(bytes.clone())).contains("is not possible"), "{length}");
        }
        bytes[..LENGTH].copy_from_slice(&(MAX_HEADER as u64).to_le_bytes());
        assert!(refusal(&bytes).contains("truncated"));

        let huge = u64::MAX / 8;
        let again = r#""part.u64":{"dtype":"U64","shape":[0],"data_offsets":[0,0]},"part.u8""#;
        for (from, to) in [
            (r#""data_offsets":[8,32]"#, &*format!(r#""data_offsets":[8,{}]"#, u64::MAX)),
            (r#""shape":[3]"#, &*format!(r#""shape":[{huge}]"#)),
            (r#""shape":[3]"#, &*format!(r#""shape":[{},8,{huge}]"#, u64::MAX)),
            (r#""part.u8""#, again),
        ] {
            assert!(refusal(&forged(from, to)).contains("altered"), "{to}");
        }
    }

    #[test]
    fn tensors_that_together_overflow_are_refused() {
        // Nine tensors that follow each other, each of 2^61 bytes or nearly: their ends reach the limit of u64.
        let step = 1u64 << 60;
        let mut header = String::from_utf8(START.to_vec()).unwrap();
        header += &"0".repeat(64);
        header += r#"\",\"format\":1,\"kind\":\"x\"}"}"#;
        for i in 0..16 {
            let (start, end) = (i * step, (i * step).wrapping_add(step - u64::from(i == 15)));
            let _ = write!(
                header,
                r#","t{i:02}":{{"dtype":"U8","shape":[{}],"data_offsets":[{start},{end}]}}"#,
                end - start
            );
        }
        header.push('}');
        let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
        assert!(refusal(&sealed(bytes)).contains("altered"));
    }

    #[test]
    fn a_newer_format_is_refused_as_such() {
        let message = refusal(&forged(r#"\"format\":1"#, r#"\"format\":2"#));
        assert!(message.starts_with("the model has format 2, but this program reads formats up to 1"), "{message}");
        for format in ["0", "-1", "1.5", r#"\"1\""#, "null"] {
            assert!(refusal(&forged(r#"\"format\":1"#, &format!(r#"\"format\":{format}"#))).contains("altered"));
        }
        assert!(refusal(&forged(r#"\"kind\":\"sample\""#, r#"\"kind\":7"#)).contains("no kind"));
    }

    #[test]
    fn kinds_are_told_apart() {
        let bytes = sample();
        let model = ModelReader::parse(&bytes).unwrap();
        assert!(model.expect_kind("sample").is_ok());
        assert_eq!(
            model.expect_kind("detector").unwrap_err().to_string(),
            "this is a model of kind `sample`, but `detector` is needed"
        );
        assert_eq!(model.unknown_kind().to_string(), "this program does not know models of kind `sample`");
    }

    #[test]
    fn parts_of_another_type_length_or_name_are_refused() {
        let bytes = sample();
        let model = ModelReader::parse(&bytes).unwrap();
        let message = |error: Error| error.to_string();
        assert!(message(model.f64s("absent").unwrap_err()).ends_with("`absent` is missing"));
        assert!(message(model.json::<u32>("absent").unwrap_err()).ends_with("`absent` is missing"));
        assert!(message(model.f64s("part.f32").unwrap_err()).contains("type F32, but should have F64"));
        assert!(message(model.json::<Vec<u32>>("classes").unwrap_err()).contains("`classes` is not as it should be"));
        assert!(message(model.finite_f64s("part.f64", 4).unwrap_err()).contains("has 3 elements, but should have 4"));
        let mut out = ModelWriter::new("x");
        out.put_f64("w", &[f64::NAN]);
        let bytes = out.finish().unwrap();
        assert!(ModelReader::parse(&bytes).unwrap().finite_f64s("w", 1).is_err());
    }

    #[test]
    fn deep_json_does_not_exhaust_the_stack() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(refusal(&forged(r#"\"format\":1"#, &format!(r#"\"format\":1,\"deep\":{deep}"#))).contains("altered"));
    }
}
