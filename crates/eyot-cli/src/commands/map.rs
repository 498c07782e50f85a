//! `eyot map`: rows to codes, for other tools.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use eyot::{MapModel, ModelReader};
use eyot_io::{AtomicFile, CodesWriter, Format, is_model_file, load_model, output_format};
use serde::Serialize;

use crate::args::{CellArgs, DataArgs, OutputArgs, RunArgs, SaveArgs};
use crate::fit::{encode, fit_map};
use crate::input::Input;
use crate::job::{Job, Phase, Shared};
use crate::messages::{Usage, count};

mod bags;

const EXAMPLES: &str = "\
EXAMPLES
  See the codes of a table, one row per line, t cells each:
    eyot map iris.csv --ignore species | head

  Keep the map, and use it on other rows later:
    eyot map train.csv -f map.eyot -o train-codes.parquet
    eyot map map.eyot new.csv -o new-codes.parquet

  Features for LIBLINEAR or scikit-learn, with the class in front:
    eyot map train.csv --target class -o train.svm

  One sparse vector per bag of rows, whose products are the set kernel:
    eyot map molecules.csv --bag molecule --ignore label --psi 64 -t 200 -o bags.svm

  Many rows, few cells, only the numbers:
    zcat log.csv.gz | eyot map - --partition sphere --psi 64 --json";

/// Options that say how to fit, which a saved map has done already.
const FITTING: [&str; 11] = [
    "save",
    "psi",
    "t",
    "partition",
    "max_height",
    "rule",
    "radii",
    "distance",
    "seed",
    "scale",
    "missing",
];

/// Write the isolation codes of rows, or their sparse features
///
/// Fits t random partitionings of the data, each grown from a sample of ψ rows, and writes for every row the cell it
/// falls into in each. Two rows are as similar as the share of cells they have in common. With MODEL, a map saved
/// with -f treats the new rows exactly as it treated the old ones.
///
/// With --bag, a bag of rows becomes one sparse vector: the shares of its rows in each cell, over √t, so that products of
/// vectors are the Isolation Set-Kernel. They are written as svmlight (.svm), or as lines of bag, feature and value.
///
/// Files larger than memory stream through.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, allow_missing_positional = true)]
pub(crate) struct Args {
    /// A saved map to use instead of fitting one
    ///
    /// The same as --load.
    #[arg(conflicts_with = "load", conflicts_with_all = FITTING)]
    model: Option<PathBuf>,

    #[command(flatten)]
    data: DataArgs,

    /// Rows sampled for each partitioning, ψ: the sharpness
    ///
    /// Few cells are wide, so that distant rows are similar; many are narrow. If there are fewer rows, all are taken,
    /// and a note says so. Powers of two from 2 to 4096 are usual.
    #[arg(long, value_name = "N", default_value_t = 256, help_heading = "Isolation map")]
    psi: usize,

    #[command(flatten)]
    cells: CellArgs,

    #[command(flatten)]
    save: SaveArgs,

    /// Use a saved map instead of fitting one
    ///
    /// Seed, parameters and the treatment of columns are those of the model. Example: -i map.eyot
    #[arg(short = 'i', long, value_name = "MODEL", conflicts_with_all = FITTING, help_heading = "Model")]
    load: Option<PathBuf>,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    run: RunArgs,
}

#[derive(Serialize)]
struct Own {
    t: usize,
    psi: usize,
    nonzeros: usize,
    /// How cells were found; it changes the time, never the codes.
    search: &'static str,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let job = Job::start("map", &args.run);
    let bag = args.data.bag.clone();
    let mut out = match bag {
        Some(_) => bags::format(args).map(|_| None)?,
        None => args.codes_writer()?,
    };
    let mut model_file = args.save.save.as_ref().map(AtomicFile::create).transpose()?;
    let (mut input, model) = if let Some(path) = args.model.as_ref().or(args.load.as_ref()) {
        let model = load(path)?;
        (Input::for_encoder(&args.data, &model.encoder), model)
    } else {
        if is_model_file(&args.data.data) {
            let message = format!("{}: this is a model, not data", args.data.data.display());
            return Err(Usage::new(message).hint("name the data after it: eyot map MODEL DATA").into());
        }
        let params = args.cells.params(args.psi, args.run.seed)?;
        let mut input = Input::again(&args.data);
        let (encoder, map) = fit_map(&mut input, &args.data, &params, &job)?;
        (input, MapModel { encoder, map })
    };
    if let Some(file) = &mut model_file {
        let bytes = model.to_bytes()?;
        file.write_all(&bytes).and_then(|()| file.flush()).map_err(|error| eyot_io::Error::io(file.name(), error))?;
    }

    if let Some(bag) = bag {
        bags::run(args, &bag, input, &model, job)?;
        return Ok(model_file.map_or(Ok(()), AtomicFile::commit)?);
    }
    let (mut rows, mut nonzeros) = (0, 0);
    encode(&mut input, &args.data, &model.encoder, &job, "map", |table, points| {
        let codes = job.timed(Phase::Map, || model.map.encode(points.as_points(), job.step()))?;
        rows += codes.n_rows();
        nonzeros += codes.nonzeros();
        let label = args.data.target.as_ref().or(args.data.label.as_ref()).and_then(|name| table.column(name));
        job.timed(Phase::Score, || out.as_mut().map_or(Ok(()), |out| out.write(&codes, label)))?;
        Ok(())
    })?;
    // Both files are complete by now; they take their names together.
    out.map_or(Ok(()), CodesWriter::finish)?;
    model_file.map_or(Ok(()), AtomicFile::commit)?;

    let own = Own { t: model.map.t(), psi: model.map.psi(), nonzeros, search: model.map.search() };
    job.detail(|| format!("cells found by: {}", own.search));
    let mut facts = Vec::new();
    if let Some(path) = &args.output.output {
        facts = vec![
            ("rows", count(rows)),
            ("columns", count(model.encoder.n_columns())),
            ("cells", format!("{} partitionings of {} cells", own.t, own.psi)),
            ("covered", format!("{:.1} % of all rows and partitionings", 100.0 * nonzeros as f64 / (rows * own.t) as f64)),
            ("output", path.display().to_string()),
        ];
        facts.extend(args.save.save.as_ref().map(|path| ("model", path.display().to_string())));
    }
    let (columns, seed) = (model.encoder.n_columns(), model.map.seed());
    let shared = Shared { method: "isolation", rows, columns, seed, parameters: &model.parameters() };
    job.finish(&shared, &own, &facts)
}

impl Args {
    /// Where codes go: the file named, else CSV on stdout, but nowhere if stdout is for JSON.
    fn codes_writer(&self) -> anyhow::Result<Option<CodesWriter>> {
        let Some(path) = &self.output.output else {
            let wanted = !self.run.messages.json;
            return Ok(wanted.then(|| CodesWriter::create("-", Format::Csv)).transpose()?);
        };
        if self.save.save.as_ref() == Some(path) {
            return Err(Usage::new("--output and --save name the same file").into());
        }
        let written = [Format::Parquet, Format::Csv, Format::Tsv, Format::Npy, Format::Svmlight];
        let Some(format) = output_format(path).filter(|format| written.contains(format)) else {
            let message = format!("{}: codes cannot be written in the format of this extension", path.display());
            let hint = "use .parquet, .csv, .tsv or .npy for codes, .svm for sparse features; .gz or .zst may follow";
            return Err(Usage::new(message).hint(hint).into());
        };
        Ok(Some(CodesWriter::create(path, format)?))
    }
}

fn load(path: &Path) -> anyhow::Result<MapModel> {
    let bytes = load_model(path)?;
    let read = || MapModel::load(&ModelReader::parse(&bytes)?);
    read().with_context(|| path.display().to_string())
}
