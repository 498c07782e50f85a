//! `eyot map`: rows to codes, for other tools.

use eyot::{Encoder, IsolationMap, IsolationMapParams};
use serde::Serialize;
use serde_json::Value;

use crate::args::{CellArgs, DataArgs, RunArgs};
use crate::fit::{encode, fit_map};
use crate::input::Input;
use crate::job::{Job, Phase, Shared};
use crate::output::CodesOut;

const EXAMPLES: &str = "\
EXAMPLES
  See the codes of a table, one row per line, t cells each:
    eyot map iris.csv --ignore species | head

  Many rows, few cells, only the numbers:
    zcat log.csv.gz | eyot map - --partition sphere --psi 64 --json";

/// Write the isolation codes of rows, or their sparse features
///
/// Fits t random partitionings of the data, each grown from a sample of ψ rows, and writes for every row the cell it
/// falls into in each. Two rows are as similar as the share of cells they have in common.
///
/// Files larger than memory stream through.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
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
    run: RunArgs,
}

/// All that turns raw rows into codes.
struct Model {
    encoder: Encoder,
    map: IsolationMap,
}

#[derive(Serialize)]
struct Parameters<'a> {
    #[serde(flatten)]
    map: &'a IsolationMapParams,
    scale: Value,
    missing: Value,
}

#[derive(Serialize)]
struct Own {
    t: usize,
    psi: usize,
    nonzeros: usize,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let job = Job::start("map", &args.run);
    let params = args.cells.params(args.psi, args.run.seed)?;
    let mut input = Input::again(&args.data);
    let (encoder, map) = fit_map(&mut input, &args.data, &params, &job)?;
    let model = Model { encoder, map };
    let mut out = if job.json() { CodesOut::Nowhere } else { CodesOut::stdout(model.map.t())? };
    let (mut rows, mut nonzeros) = (0, 0);
    encode(&mut input, &model.encoder, &job, "map", |_, points| {
        let codes = job.timed(Phase::Map, || model.map.encode(points.as_points(), job.step()))?;
        rows += codes.n_rows();
        nonzeros += codes.nonzeros();
        job.timed(Phase::Score, || out.write(&codes))
    })?;
    out.finish()?;
    let shared = Shared {
        method: "isolation",
        rows,
        columns: model.encoder.n_columns(),
        seed: model.map.seed(),
        parameters: &model.parameters(),
    };
    let facts: [(&str, String); 0] = [];
    let own = Own { t: model.map.t(), psi: model.map.psi(), nonzeros };
    job.finish(&shared, &own, &facts)
}

impl Model {
    fn parameters(&self) -> Parameters<'_> {
        let mut encoder = serde_json::to_value(self.encoder.params()).unwrap_or_default();
        Parameters { map: self.map.params(), scale: encoder["scale"].take(), missing: encoder["missing"].take() }
    }
}
