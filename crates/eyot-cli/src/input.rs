//! The data of a command: read in batches, one ahead of the work, and once more where a second pass is needed.

use std::mem;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use eyot::{Column, Encoder, InputKind, Table, Values};
use eyot_io::{ColumnKind, ReadOptions, Source};

use crate::args::DataArgs;
use crate::job::{Job, Phase};

/// Tables of up to so many bytes are kept in memory for the next pass; what is larger is read again.
const CACHE_BYTES: usize = 256 << 20;

/// How long a wait for input goes on without looking for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// The data of a command.
pub(crate) struct Input {
    name: String,
    options: ReadOptions,
    state: State,
}

/// Where the rows of the next pass come from.
enum State {
    /// To be read. With `again`, what is read is kept, and what can be read only once goes to a temporary file.
    Source { source: Source, again: bool },
    /// In memory.
    Kept(Vec<Table>),
    /// Gone: a stream is read once.
    Spent,
}

impl Input {
    /// Data for a single pass through a fitted encoder: rows go by and nothing is kept.
    pub(crate) fn for_encoder(args: &DataArgs, encoder: &Encoder) -> Self {
        let mut input = Self::new(args, false);
        let kinds = encoder.inputs().map(|(name, kind)| {
            let kind = match kind {
                InputKind::Number => ColumnKind::Number,
                InputKind::Text => ColumnKind::Text,
            };
            (name, kind)
        });
        input.options = input.options.kinds(kinds);
        input
    }

    /// Data for a single pass, row by row as it comes.
    pub(crate) fn live(args: &DataArgs) -> Self {
        let mut input = Self::new(args, false);
        input.options = input.options.batch_rows(1);
        input
    }

    /// Data for a single pass: rows go by and nothing is kept.
    pub(crate) fn once(args: &DataArgs) -> Self {
        Self::new(args, false)
    }

    /// Data for several passes.
    pub(crate) fn again(args: &DataArgs) -> Self {
        Self::new(args, true)
    }

    fn new(args: &DataArgs, again: bool) -> Self {
        let source = Source::new(&args.data);
        Self { name: source.name().to_owned(), options: args.read_options(), state: State::Source { source, again } }
    }

    /// What messages call it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Shows every row to `visit`, batch by batch, in order. The next batch is read meanwhile.
    pub(crate) fn pass(
        &mut self,
        job: &Job,
        stage: &'static str,
        mut visit: impl FnMut(&Table) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (source, again) = match mem::replace(&mut self.state, State::Spent) {
            State::Source { source, again } => (source, again),
            State::Kept(tables) => {
                let total = tables.iter().map(|table| table.n_rows).sum();
                for table in &tables {
                    visit(table)?;
                    job.tick(stage, table.first_row + table.n_rows, total)?;
                }
                self.state = State::Kept(tables);
                return Ok(());
            }
            State::Spent => unreachable!("an input for one pass is read once"),
        };
        let reading = Reading::start(source, self.options.clone(), again);
        let (mut kept, mut kept_bytes) = (Vec::new(), 0);
        while let Some(batch) = reading.next(job)? {
            visit(&batch.table)?;
            match batch.share {
                Some(share) => job.tick(stage, (share * 1000.0) as usize, 1000)?,
                None => job.tick(stage, batch.table.first_row + batch.table.n_rows, 0)?,
            }
            kept_bytes += bytes_of(&batch.table);
            if again && kept_bytes <= CACHE_BYTES {
                kept.push(batch.table);
            } else {
                kept = Vec::new();
            }
        }
        let source = reading.end();
        if again {
            let in_memory = kept_bytes <= CACHE_BYTES;
            self.state = if in_memory { State::Kept(kept) } else { State::Source { source, again } };
        }
        Ok(())
    }
}

/// A thread that reads ahead. It owns the source meanwhile, so a wait for a silent stdin can be left by Ctrl-C.
struct Reading {
    batches: Receiver<eyot_io::Result<Batch>>,
    thread: JoinHandle<Source>,
}

struct Batch {
    table: Table,
    /// How much of the input has been read, 0 to 1, if that is known.
    share: Option<f64>,
}

impl Reading {
    fn start(mut source: Source, options: ReadOptions, again: bool) -> Self {
        let (send, batches) = sync_channel(1);
        let thread = thread::spawn(move || {
            if let Err(error) = read(&mut source, &options, again, &send) {
                // Nobody listens any more if the work has failed meanwhile.
                let _ = send.send(Err(error));
            }
            source
        });
        Self { batches, thread }
    }

    fn next(&self, job: &Job) -> anyhow::Result<Option<Batch>> {
        job.timed(Phase::Read, || {
            loop {
                match self.batches.recv_timeout(PATIENCE) {
                    Ok(batch) => return Ok(Some(batch?)),
                    Err(RecvTimeoutError::Timeout) => job.step().tick("read", 0, 0)?,
                    Err(RecvTimeoutError::Disconnected) => return Ok(None),
                }
            }
        })
    }

    /// The source again, after the last batch.
    fn end(self) -> Source {
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

fn read(
    source: &mut Source,
    options: &ReadOptions,
    again: bool,
    send: &SyncSender<eyot_io::Result<Batch>>,
) -> eyot_io::Result<()> {
    if again {
        source.keep()?;
    }
    let mut reader = eyot_io::open(source, options)?;
    while let Some(table) = reader.next_batch()? {
        let share = reader.progress();
        if send.send(Ok(Batch { table, share })).is_err() {
            break;
        }
    }
    Ok(())
}

/// About how much memory a table takes.
fn bytes_of(table: &Table) -> usize {
    let columns = table.columns.iter().map(|column| match &column.values {
        Column::Numbers(values) => values.len() * size_of::<f64>(),
        Column::Text(text) => {
            let levels: usize = text.levels.iter().map(|level| level.len() + size_of::<String>()).sum();
            text.codes.len() * size_of::<u32>() + levels
        }
    });
    let sparse = table.sparse.as_ref().map_or(0, |points| match points.as_points().values() {
        Values::Sparse { starts, values, .. } => size_of_val(starts) + size_of_val(values) * 3 / 2,
        Values::F32(values) => size_of_val(values),
        Values::F64(values) => size_of_val(values),
    });
    columns.sum::<usize>() + sparse
}
