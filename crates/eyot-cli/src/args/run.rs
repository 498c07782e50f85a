//! How a command runs and how much it says.

use clap::Args;

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
