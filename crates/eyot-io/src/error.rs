//! The one error type of the file edges. Like the core's, its variants carry values; the sentence is made in
//! `Display` and the way out in [`Error::hint`], which front ends print on a line of its own.

use std::fmt;
use std::io;

/// A result at the file edges.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong with files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused (no such file, no permission, full disk, broken compression).
    #[error("{file}: {source}")]
    Io {
        /// The file, or `stdin`.
        file: String,
        /// What it said.
        source: io::Error,
    },
    /// The folder of a file that is to be written does not exist.
    #[error("{file}: there is no folder `{folder}`")]
    NoFolder {
        /// The file.
        file: String,
        /// Its folder.
        folder: String,
    },
    /// No bytes, or no rows.
    #[error("{file}: {}", if *header { "there is a header but no rows" } else { "there are no rows" })]
    Empty {
        /// The file.
        file: String,
        /// Whether there was at least a header.
        header: bool,
    },
    /// A cell that does not fit its column.
    #[error("{place}, column `{column}`: {} is not {expected}", shown(value))]
    Cell {
        /// File, row and line.
        place: Box<Place>,
        /// Name of the column.
        column: String,
        /// The cell as it stands in the file.
        value: String,
        /// What it should be, in words that continue "is not".
        expected: &'static str,
    },
    /// A row with too few or too many cells.
    #[error("{place}: there are {got} cells, but {expected} columns")]
    Ragged {
        /// File, row and line.
        place: Box<Place>,
        /// Columns of the file.
        expected: usize,
        /// Cells of the row.
        got: usize,
    },
    /// A row that breaks the rules of its format.
    #[error("{place}: {what}")]
    Row {
        /// File, row and line.
        place: Box<Place>,
        /// The rule and the value.
        what: String,
        /// The way out, if there is one.
        hint: Option<&'static str>,
    },
    /// Two columns of one name.
    #[error("{file}: two columns are named `{column}`")]
    DuplicateColumn {
        /// The file.
        file: String,
        /// The name.
        column: String,
    },
    /// A column that was named but is not there.
    #[error("{file}: there is no column `{column}`")]
    NoColumn {
        /// The file.
        file: String,
        /// The name asked for.
        column: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A column of a type that holds neither numbers nor text.
    #[error("{file}: column `{column}` holds {kind}, not numbers or text")]
    ColumnType {
        /// The file.
        file: String,
        /// Name of the column.
        column: String,
        /// The type, in the words of its format.
        kind: String,
    },
    /// Bytes that are not the format they should be.
    #[error("{file}: not a readable {format} file: {what}")]
    Format {
        /// The file.
        file: String,
        /// The format expected.
        format: &'static str,
        /// What is wrong.
        what: String,
    },
    /// A format name that is not known.
    #[error("`{name}` is not a known format")]
    UnknownFormat {
        /// The name given.
        name: String,
    },
    /// A format that this build of the program leaves out.
    #[error("{file}: this program was built without {format}")]
    NotBuilt {
        /// The file.
        file: String,
        /// The format.
        format: &'static str,
    },
    /// A second reading of an input that can be read only once.
    #[error("{file}: can be read only once")]
    ReadTwice {
        /// The file, or `stdin`.
        file: String,
    },
    /// An error of the core about the contents of a file.
    #[error("{file}: {source}")]
    Data {
        /// The file.
        file: String,
        /// What the core said.
        source: eyot::Error,
    },
    /// An error of the core that concerns no file.
    #[error(transparent)]
    Core(#[from] eyot::Error),
}

/// A row of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, or `stdin`.
    pub file: String,
    /// Row of data, from 1; a header does not count.
    pub row: u64,
    /// Line of text, from 1, where the format has lines.
    pub line: Option<u64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: row {}", self.file, self.row)?;
        self.line.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

impl Error {
    /// An error of the operating system about a file.
    pub fn io(file: impl Into<String>, source: io::Error) -> Self {
        Self::Io { file: file.into(), source }
    }

    /// An error of the core about a file.
    pub fn data(file: impl Into<String>, source: eyot::Error) -> Self {
        Self::Data { file: file.into(), source }
    }

    /// Whether the reader of a pipe went away, which is no failure.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The way out, if there is one to name.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                "check the path; `-` reads stdin".into()
            }
            Self::NoFolder { folder, .. } => format!("create it first: mkdir -p {folder}"),
            Self::Empty { header: true, .. } => "if the first line is data, use --header no".into(),
            Self::Cell { place, column, .. } if place.row == 1 => format!(
                "if the first line holds column names, use --header yes; if `{column}` is text, use --text {column}"
            ),
            Self::Cell { column, .. } => format!(
                "if `{column}` is text, use --text {column}; a missing number is an empty cell, NA, NaN, null, None or ?"
            ),
            Self::Ragged { .. } => "check the delimiter (--delimiter) and the quotes around cells that hold it".into(),
            Self::Row { hint, .. } => (*hint)?.into(),
            Self::DuplicateColumn { .. } => "rename one; if the first line is data, use --header no".into(),
            Self::NoColumn { known, .. } => format!("the columns are {}", list(known)),
            Self::ColumnType { column, .. } => format!("leave it out of the file, or flatten `{column}` into columns"),
            Self::Format { .. } => "if the file is of another format, name it with --format".into(),
            Self::UnknownFormat { .. } => format!("known formats are {}", crate::Format::NAMES.join(", ")),
            _ => return None,
        })
    }
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let text = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(SHOWN);
    if more == 0 { text } else { format!("{text} and {more} more") }
}

/// A cell in backticks, shortened if it is long.
pub(crate) fn shown(value: &str) -> String {
    const LONGEST: usize = 60;
    match value.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}…`", &value[..end]),
        None => format!("`{value}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_named_with_file_row_line_column_and_value() {
        let place = Box::new(Place { file: "a.csv".into(), row: 7, line: Some(8) });
        let error = Error::Cell { place, column: "age".into(), value: "old".into(), expected: "a number" };
        assert_eq!(error.to_string(), "a.csv: row 7 (line 8), column `age`: `old` is not a number");
        assert!(error.hint().unwrap().contains("--text age"));
    }

    #[test]
    fn long_values_are_cut_at_a_character() {
        assert_eq!(shown("é"), "`é`");
        assert_eq!(shown(&"é".repeat(100)).chars().count(), 63);
    }
}
