//! Files that a command writes or reads besides its data.

use std::path::PathBuf;

use clap::Args;

/// Saving a model.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Model")]
pub(crate) struct SaveArgs {
    /// Save the fitted model
    ///
    /// The file holds everything needed to treat new rows alike: how columns are scaled and encoded, the parameters,
    /// and what was learned. It is written whole or not at all, so a failure leaves the previous file as it was.
    /// Example: -f model.eyot
    #[arg(short = 'f', long, value_name = "MODEL")]
    pub(crate) save: Option<PathBuf>,
}

/// Where results go.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Write the result to a file, its format chosen by the extension [default: CSV on stdout]
    ///
    /// Written under a temporary name and renamed at the end: a failure or Ctrl-C leaves the previous file as it was.
    /// A further .gz or .zst compresses. Example: -o codes.parquet
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// A picture of what came out.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportArgs {
    /// Write a report with figures, one HTML file that needs nothing else
    ///
    /// Example: --report report.html
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
}
