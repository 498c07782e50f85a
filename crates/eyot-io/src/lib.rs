//! The file edges of eyot: readers and writers of tables, model files, figures and reports.

mod error;
mod model_file;
mod source;
mod read;
mod write;
pub mod plot;
pub mod report;

pub use error::{Error, Place, Result};
pub use model_file::{is_model_file, load_model, save_model};
#[cfg(feature = "arrow")]
pub use read::table_of_arrow;
pub use read::{ColumnInfo, ColumnKind, Format, ReadOptions, Reader, open, read_table};
pub use source::Source;
pub use write::{AtomicFile, Cells, CodesWriter, TableWriter, output_format, write_file};
