//! How a command runs and how much it says.

use std::thread;

use clap::Args;

/// Seed, threads, and how much is said.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunArgs {
    /// Seed of every random choice
    ///
    /// The same data, options and seed give the same bytes, on any number of threads. Another seed gives another,
    /// equally good, set of random partitionings: use a few of them to see how much a result varies.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// Number of threads [default: all cores]
    ///
    /// Changes the time, never the result.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Also say what was read, how columns were encoded, and how long each step took
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    #[command(flatten)]
    pub(crate) messages: MessageArgs,
}

impl RunArgs {
    /// The number of threads to use.
    pub(crate) fn threads(&self) -> usize {
        self.threads.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), usize::from)
    }
}

/// How much is said, and in which form.
#[derive(Args, Debug, Clone, Copy)]
#[command(next_help_heading = "Run")]
pub(crate) struct MessageArgs {
    /// Print one JSON object on stdout instead of a table
    ///
    /// For programs: exactly one object, whose keys stay as they are from release to release. Notes and errors still
    /// go to stderr.
    #[arg(long)]
    pub(crate) json: bool,

    /// No notes and no progress bar, only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
