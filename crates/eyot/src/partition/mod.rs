//! Stage 2, space into cells.

mod codes;

pub use codes::{Cell, CodeRow, CodeStore, Codes, NONE};
