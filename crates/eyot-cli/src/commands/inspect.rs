//! `eyot inspect`: what is in a model file.

use std::path::PathBuf;

use anyhow::Context;
use eyot::{Encoder, ModelReader, Persist, TensorSummary};
use eyot_io::load_model;
use serde::Serialize;
use serde_json::Value;

use crate::args::MessageArgs;
use crate::messages;

const EXAMPLES: &str = "\
EXAMPLES
  What is this model?           eyot inspect model.eyot
  Its psi, for a script:        eyot inspect --json model.eyot | jq .parameters.psi
  Is it whole and unaltered?    eyot inspect -q model.eyot && echo yes";

/// Show what is in a model file
///
/// The whole file is read and its checksum verified first: a model that is truncated, altered, made by a newer
/// program, or no model at all is refused with one sentence and exit code 1. Nothing in the file is executed.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The model file
    model: PathBuf,

    #[command(flatten)]
    messages: MessageArgs,
}

#[derive(Serialize)]
struct Report<'a> {
    command: &'a str,
    kind: &'a str,
    format: u64,
    parameters: &'a Value,
    trained_on: &'a Value,
    /// Raw columns that rows must have; none are named for sparse data.
    inputs: Vec<String>,
    tensors: Vec<Tensor>,
    checksum: &'a str,
    verified: bool,
}

#[derive(Serialize)]
struct Tensor {
    name: String,
    #[serde(rename = "type")]
    dtype: String,
    shape: Vec<usize>,
}

impl From<TensorSummary> for Tensor {
    fn from(tensor: TensorSummary) -> Self {
        Self { name: tensor.name, dtype: tensor.dtype, shape: tensor.shape }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let bytes = load_model(&args.model)?;
    let model = ModelReader::parse(&bytes).with_context(|| args.model.display().to_string())?;
    let encoder = model.has_json("encoder").then(|| Encoder::load(&model, "encoder"));
    let encoder = encoder.transpose().with_context(|| args.model.display().to_string())?;
    let report = Report {
        command: "inspect",
        kind: model.kind(),
        format: model.format(),
        parameters: model.parameters(),
        trained_on: model.trained_on(),
        inputs: encoder.iter().flat_map(Encoder::inputs).map(|(name, _)| name.to_owned()).collect(),
        tensors: model.tensors().into_iter().map(Tensor::from).collect(),
        checksum: model.checksum(),
        verified: true,
    };
    if args.messages.json {
        messages::json(&report)
    } else if args.messages.quiet {
        Ok(())
    } else {
        messages::facts(&facts(&report, bytes.len()))
    }
}

fn facts(report: &Report<'_>, bytes: usize) -> Vec<(String, String)> {
    let mut facts = vec![
        ("kind".to_owned(), report.kind.to_owned()),
        ("format".to_owned(), report.format.to_string()),
        ("size".to_owned(), format!("{} bytes", messages::count(bytes))),
        ("checksum".to_owned(), format!("verified, sha256 {}", report.checksum)),
    ];
    add_value(&mut facts, "parameters", report.parameters, 0);
    add_value(&mut facts, "trained on", report.trained_on, 0);
    if !report.inputs.is_empty() {
        facts.push(("columns".to_owned(), first_of(report.inputs.iter().cloned())));
    }
    facts.push(("tensors".to_owned(), report.tensors.len().to_string()));
    for tensor in &report.tensors {
        let shape: Vec<String> = tensor.shape.iter().map(|&size| messages::count(size)).collect();
        facts.push((format!("  {}", tensor.name), format!("{} [{}]", tensor.dtype, shape.join(" × "))));
    }
    facts
}

/// A JSON value as indented lines; long lists are cut.
fn add_value(facts: &mut Vec<(String, String)>, name: &str, value: &Value, depth: usize) {
    let name = format!("{}{name}", "  ".repeat(depth));
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            facts.push((name, String::new()));
            fields.iter().for_each(|(name, value)| add_value(facts, name, value, depth + 1));
        }
        Value::Array(items) => facts.push((name, first_of(items.iter().map(plain)))),
        value => facts.push((name, plain(value))),
    }
}

/// The first items of a list, and how many more there are.
fn first_of(items: impl ExactSizeIterator<Item = String>) -> String {
    const SHOWN: usize = 12;
    let more = items.len().saturating_sub(SHOWN);
    let shown = items.take(SHOWN).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {} more", messages::count(more)) }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
