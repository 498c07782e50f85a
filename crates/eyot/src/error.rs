//! The one error type of the core. Variants carry values, not sentences, so that every front end can map them
//! without reading text; the sentence is made once, in `Display`.

use std::fmt;

/// A result of the core.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong while computing. Bad input always ends here, never in a panic.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter outside its range.
    #[error("`{name}` must be {expected}, but is {got}")]
    Param {
        /// The parameter, as users write it.
        name: &'static str,
        /// The rule, in words that continue "must be".
        expected: String,
        /// The value found.
        got: String,
    },
    /// No rows at all.
    #[error("there are no rows")]
    Empty,
    /// NaN or an infinity where a number is needed. Rows count from 1 in `Display`.
    #[error("row {}, column {column}: {value} is not a finite number", row + 1)]
    NotFinite {
        /// Row, from 0.
        row: usize,
        /// Column name, or its number when there are no names.
        column: ColumnRef,
        /// The offending value.
        value: f64,
    },
    /// A value below 0 where the method is defined for values of at least 0 only.
    #[error("row {}, column {column}: {value} is negative, but the method needs values of at least 0", row + 1)]
    Negative {
        /// Row, from 0.
        row: usize,
        /// Column name, or its number when there are no names.
        column: ColumnRef,
        /// The offending value.
        value: f64,
    },
    /// An empty cell in the column of bags, labels or targets, which nothing can fill in.
    #[error("row {}, column {column}: the value is missing", row + 1)]
    MissingRole {
        /// Row, from 0.
        row: usize,
        /// Column name, or its number when there are no names.
        column: ColumnRef,
    },
    /// An empty cell where a value is needed.
    #[error("row {}, column {column}: the value is missing", row + 1)]
    Missing {
        /// Row, from 0.
        row: usize,
        /// Column name, or its number when there are no names.
        column: ColumnRef,
    },
    /// Two things that must have the same size do not.
    #[error("{what}: expected {expected}, but there are {got}")]
    Shape {
        /// What was counted, for example "columns".
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// Columns that the model knows and the data lacks, or the other way round.
    #[error("{}", columns_message(missing, unknown))]
    Columns {
        /// Known to the model, absent from the data.
        missing: Vec<String>,
        /// In the data, unknown to the model.
        unknown: Vec<String>,
    },
    /// The data cannot serve the purpose (one class only, all rows identical, …).
    #[error("{0}")]
    Data(String),
    /// A sparse row whose column numbers are not strictly ascending, or leave the width.
    #[error("row {}: column numbers must ascend and stay below {columns}", row + 1)]
    SparseRow {
        /// Row, from 0.
        row: usize,
        /// Number of columns.
        columns: usize,
    },
    /// Bytes that are not a model this program can use.
    #[error("{0}")]
    Model(String),
    /// A model of another kind than the one asked for.
    #[error("this is a model of kind `{got}`, but `{expected}` is needed")]
    ModelKind {
        /// The kind needed.
        expected: &'static str,
        /// The kind found.
        got: String,
    },
    /// A learner left the finite numbers.
    #[error("the learner diverged at step {step}: its score is {score}")]
    Diverged {
        /// Points seen before, from 0.
        step: u64,
        /// The non-finite score.
        score: f64,
    },
    /// The caller asked to stop (Ctrl-C, a deadline).
    #[error("stopped before the end")]
    Stopped,
}

/// How an error names a column: by name where there is one, else by number from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnRef {
    /// A column with a name.
    Name(String),
    /// A column known only by its position, from 0.
    Number(usize),
}

impl fmt::Display for ColumnRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Number(number) => write!(f, "{}", number + 1),
        }
    }
}

fn columns_message(missing: &[String], unknown: &[String]) -> String {
    let list = |names: &[String]| {
        let shown: Vec<String> = names.iter().take(8).map(|name| format!("`{name}`")).collect();
        let more = names.len().saturating_sub(8);
        if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
    };
    match (missing.is_empty(), unknown.is_empty()) {
        (false, true) => format!("the data lacks columns of the model: {}", list(missing)),
        (true, false) => format!("the data has columns that the model does not know: {}", list(unknown)),
        _ => format!(
            "the data lacks columns of the model: {}; and has columns that the model does not know: {}",
            list(missing),
            list(unknown)
        ),
    }
}
