//! `eyot detect - --stream`: score and learn row by row, for ever.

use std::path::Path;

use anyhow::Context;
use eyot::{Encoder, EncoderFit, ModelReader, ModelWriter, Persist, PointsBuf, StreamParams, StreamScore, StreamingIdk, Table, TextColumn};
use eyot_io::{Cells, Format, TableWriter, load_model, save_model};
use serde::Serialize;

use super::labels::cell;
use super::{Args, Psi, refuse};
use crate::input::Input;
use crate::job::{Job, Phase, Shared};
use crate::messages;

/// What a checkpoint says it is.
const KIND: &str = "detector-stream";

/// ψ when none is given: streams have one scale.
const PSI: usize = 32;

/// Everything that a checkpoint keeps.
struct State {
    encoder: Encoder,
    detector: StreamingIdk,
}

/// Where rows go: into the first fit, then into the detector.
enum Stage {
    Warm { fit: Option<Box<EncoderFit>>, tables: Vec<Table>, rows: usize },
    Live(Box<State>),
}

#[derive(Serialize)]
struct Own {
    psi: usize,
    t: usize,
    flagged: u64,
    seen: u64,
}

pub(super) fn run(args: &Args, job: Job) -> anyhow::Result<()> {
    let psi = match args.psi {
        Psi::Auto => PSI,
        Psi::Fixed(psi) => psi,
    };
    if args.method != eyot::DetectMethod::Idk {
        return Err(refuse("a stream is watched with the method idk", "leave out --method, or --stream"));
    }
    let params = StreamParams::default().psi(psi).t(args.t).seed(args.run.seed).half_life(args.half_life);
    let params = params.window(args.window).contamination(args.contamination).check()?;
    let mut stage = Stage::Warm { fit: None, tables: Vec::new(), rows: 0 };
    if let Some(state) = args.checkpoint.as_deref().filter(|path| path.exists()).map(resume).transpose()? {
        job.note(format!("resumed after {} rows", messages::count(state.detector.seen() as usize)));
        stage = Stage::Live(Box::new(state));
    }
    let mut input = Input::live(&args.data);
    let name = input.name().to_owned();
    let mut out = TableWriter::create("-", Format::Csv)?;
    let (mut rows, mut flagged) = (0usize, 0u64);
    input.pass(&job, "watch", |table| {
        rows += table.n_rows;
        let ready = match &mut stage {
            Stage::Live(state) => vec![(table.clone(), state.encode(table).with_context(|| name.clone())?)],
            Stage::Warm { fit, tables, rows } => {
                let fit = match fit {
                    Some(fit) => fit,
                    None => fit.insert(Box::new(EncoderFit::new(args.data.encoder_params(&name, table)?))),
                };
                fit.observe(table).with_context(|| name.clone())?;
                tables.push(table.clone());
                *rows += table.n_rows;
                if *rows < args.window {
                    return Ok(());
                }
                let encoder = fit.clone().finish().with_context(|| name.clone())?;
                encoder.notes().iter().for_each(|note| job.note(note.to_string()));
                let detector = params.start(encoder.n_columns());
                let state = State { encoder, detector };
                let tables = std::mem::take(tables);
                let ready = tables
                    .into_iter()
                    .map(|table| {
                        let points = state.encode(&table)?;
                        Ok((table, points))
                    })
                    .collect::<eyot::Result<Vec<_>>>()
                    .with_context(|| name.clone())?;
                stage = Stage::Live(Box::new(state));
                ready
            }
        };
        let Stage::Live(state) = &mut stage else { unreachable!("the window is full") };
        for (table, points) in ready {
            for row in 0..table.n_rows {
                let scored =
                    job.timed(Phase::Score, || state.detector.score_then_learn(points.row(row)))?;
                flagged += u64::from(scored.is_some_and(|scored| scored.flagged));
                let seen = state.detector.seen();
                if !args.run.messages.json {
                    write_row(&mut out, args, &table, row, seen, scored)?;
                }
                if let Some(path) = args.checkpoint.as_deref().filter(|_| seen.is_multiple_of(args.every.max(1))) {
                    state.save(path)?;
                }
            }
        }
        Ok(out.flush()?)
    })?;
    let Stage::Live(state) = stage else {
        let hint = "lower --window, or omit --stream to score all rows at once";
        return Err(refuse(format!("{name}: a stream needs {} rows before its first score, but there are {rows}", args.window), hint));
    };
    if let Some(path) = &args.checkpoint {
        state.save(path)?;
    }
    if !args.run.messages.json {
        out.finish()?;
    }
    let shared = Shared {
        method: args.method.name(),
        rows,
        columns: state.encoder.n_columns(),
        seed: args.run.seed,
        parameters: state.detector.params(),
    };
    let facts: [(&str, String); 0] = [];
    job.finish(&shared, &Own { psi, t: args.t, flagged, seen: state.detector.seen() }, &facts)
}

/// One row of the result; rows that only teach have no score.
fn write_row(
    out: &mut TableWriter,
    args: &Args,
    table: &Table,
    row: usize,
    seen: u64,
    scored: Option<StreamScore>,
) -> eyot_io::Result<()> {
    let number = [seen];
    let named = args.data.id.as_deref().and_then(|id| Some((id, table.column(id)?)));
    let name: TextColumn;
    let first = match named {
        None => ("row", Cells::Integers(&number)),
        Some((id, values)) => {
            name = [cell(values, row)].into_iter().collect();
            (id, Cells::Text(&name))
        }
    };
    let [score, probability, flag] = scored.map_or([f64::NAN; 3], |scored| {
        [scored.score, scored.probability, f64::from(u8::from(scored.flagged))]
    });
    let numbers = [("score", score), ("probability", probability), ("anomaly", flag)];
    let cells = numbers.each_ref().map(|(name, number)| (*name, Cells::Numbers(std::slice::from_ref(number))));
    out.write(&[first, cells[0], cells[1], cells[2]])
}

fn resume(path: &Path) -> anyhow::Result<State> {
    let name = path.display().to_string();
    let bytes = load_model(path)?;
    let load = || -> eyot::Result<State> {
        let model = ModelReader::parse(&bytes)?;
        model.expect_kind(KIND)?;
        let (encoder, detector) = (Encoder::load(&model, "encoder")?, StreamingIdk::load(&model, "stream")?);
        if encoder.n_columns() != detector.n_columns() {
            return Err(eyot::Error::Model("encoder and detector of the checkpoint have different columns".into()));
        }
        Ok(State { encoder, detector })
    };
    load().context(name)
}

impl State {
    fn encode(&self, table: &Table) -> eyot::Result<PointsBuf> {
        self.encoder.encode(table)
    }

    fn save(&self, path: &Path) -> anyhow::Result<()> {
        let mut out = ModelWriter::new(KIND);
        out.put_json("parameters", self.detector.params());
        self.encoder.save(&mut out, "encoder");
        self.detector.save(&mut out, "stream");
        Ok(save_model(path, &out.finish()?)?)
    }
}
