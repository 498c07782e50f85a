//! Data out. Everything goes through [`AtomicFile`], so a run that fails or is stopped leaves what was there before;
//! writers take batch after batch and keep no more than one.

mod atomic;
mod codes;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet;
mod table;

use std::path::Path;

use crate::error::Error;
use crate::read::Format;

pub use atomic::{AtomicFile, write_file};
pub use codes::CodesWriter;
pub use table::{Cells, TableWriter};

/// The format an output name stands for, by its extension before any `.gz` or `.zst`.
pub fn output_format(path: impl AsRef<Path>) -> Option<Format> {
    Format::from_extension(crate::Source::new(path).extension())
}

/// That a format cannot be written.
fn unwritable(format: Format, able: &str) -> Error {
    Error::Core(eyot::Error::Param { name: "format", expected: able.into(), got: format!("`{}`", format.name()) })
}
