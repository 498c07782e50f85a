//! The data of a command: read in batches, one ahead of the work, and once more where a second pass is needed.

use std::io::{self, Read};
use std::mem;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use eyot::{Column, Encoder, InputKind, Table, Values};
use eyot_io::{ColumnKind, ReadOptions, Source};

use crate::args::DataArgs;
use crate::job::{Job, Phase};
use crate::progress::stop_requested;

/// Tables of up to so many bytes are kept in memory for the next pass; what is larger is read again.
const CACHE_BYTES: usize = 256 << 20;

/// How long a wait for input goes on without looking for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// The data of a command.
pub(crate) struct Input {
    name: String,
    options: ReadOptions,
    state: State,
    /// Whether a request to stop ends the input instead of the work.
    ends_on_stop: bool,
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
        Self::new(args, false).with_kinds_of(encoder)
    }

    /// Columns are what the encoder knows them as.
    fn with_kinds_of(mut self, encoder: &Encoder) -> Self {
        let kinds = encoder.inputs().map(|(name, kind)| {
            let kind = match kind {
                InputKind::Number => ColumnKind::Number,
                InputKind::Text => ColumnKind::Text,
            };
            (name, kind)
        });
        self.options = self.options.kinds(kinds);
        self
    }

    /// Data for a single pass, rows handed out as they come. Columns are what the encoder says, or what the first
    /// `lines` lines look like. On stdin a request to stop ends the input, and what has come until then is still
    /// handed out: it could not be had again.
    pub(crate) fn as_it_comes(args: &DataArgs, encoder: Option<&Encoder>, lines: usize) -> Self {
        let mut input = Self::new(args, false);
        if args.data == Path::new("-") {
            let source = Source::from_reader("stdin", Box::new(LiveStdin::start()));
            (input.state, input.ends_on_stop) = (State::Source { source, again: false }, true);
            input.options = input.options.live(true);
        }
        let lines = if encoder.is_some() { 2 } else { lines };
        input.options = input.options.sample_lines(lines);
        match encoder {
            Some(encoder) => input.with_kinds_of(encoder),
            None => input,
        }
    }

    /// Data for a single pass, row by row as it comes.
    pub(crate) fn live(args: &DataArgs) -> Self {
        let mut input = Self::new(args, false);
        input.options = input.options.batch_rows(1);
        input
    }

    /// Data for several passes.
    pub(crate) fn again(args: &DataArgs) -> Self {
        Self::new(args, true)
    }

    fn new(args: &DataArgs, again: bool) -> Self {
        let source = Source::new(&args.data);
        let (name, state) = (source.name().to_owned(), State::Source { source, again });
        Self { name, options: args.read_options(), state, ends_on_stop: false }
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
        while let Some(batch) = reading.next(job, self.ends_on_stop)? {
            visit(&batch.table)?;
            let going_on = match batch.share {
                Some(share) => job.tick(stage, (share * 1000.0) as usize, 1000),
                None => job.tick(stage, batch.table.first_row + batch.table.n_rows, 0),
            };
            if !self.ends_on_stop {
                going_on?;
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

    fn next(&self, job: &Job, ends_on_stop: bool) -> anyhow::Result<Option<Batch>> {
        job.timed(Phase::Read, || {
            loop {
                match self.batches.recv_timeout(PATIENCE) {
                    Ok(batch) => return Ok(Some(batch?)),
                    Err(RecvTimeoutError::Timeout) if ends_on_stop => {}
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

/// Bytes that are read from stdin at once, and how many such blocks wait.
const BLOCK: usize = 1 << 16;
const BLOCKS: usize = 2;

/// Stdin read by a thread of its own, so that a request to stop can end it while it is silent.
struct LiveStdin {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    /// How much of the block has been handed out.
    at: usize,
    /// Blocks that may still be taken once a stop is requested.
    left: usize,
}

impl LiveStdin {
    fn start() -> Self {
        let (send, blocks) = sync_channel(BLOCKS);
        thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            loop {
                let mut block = vec![0; BLOCK];
                let got = match stdin.read(&mut block) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    got => got,
                };
                let ends = !matches!(got, Ok(got) if got > 0);
                let got = got.map(|got| {
                    block.truncate(got);
                    block
                });
                if send.send(got).is_err() || ends {
                    return;
                }
            }
        });
        Self { blocks, block: Vec::new(), at: 0, left: BLOCKS + 1 }
    }
}

impl Read for LiveStdin {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() {
            let stopping = stop_requested();
            if stopping && self.left == 0 {
                return Ok(0);
            }
            match self.blocks.recv_timeout(PATIENCE) {
                Ok(block) => {
                    (self.block, self.at) = (block?, 0);
                    self.left -= usize::from(stopping);
                    if self.block.is_empty() {
                        return Ok(0);
                    }
                }
                Err(RecvTimeoutError::Timeout) if stopping => return Ok(0),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        let got = out.len().min(self.block.len() - self.at);
        out[..got].copy_from_slice(&self.block[self.at..self.at + got]);
        self.at += got;
        Ok(got)
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
