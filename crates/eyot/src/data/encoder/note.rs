//! What a user should be told about the columns, without its being an error.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A remark about columns or cells. `Display` gives a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Columns that the model does not use.
    LeftOut {
        /// Their names.
        columns: Vec<String>,
        /// The reason they share.
        why: LeftOut,
    },
    /// Sparse columns that are divided but not shifted.
    NotShifted {
        /// How many.
        columns: usize,
    },
    /// Missing cells were filled in.
    Imputed {
        /// How many.
        cells: u64,
    },
    /// Text that was not in the training data.
    UnseenLevels {
        /// In how many cells.
        cells: u64,
    },
    /// Entries in sparse columns beyond those of the training data.
    UnknownColumns {
        /// How many.
        entries: u64,
    },
}

/// Why a column is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// Text, no two cells alike.
    Distinct,
    /// Integers that count the rows.
    Consecutive,
    /// Named like an identifier, no two cells alike.
    NamedIdentifier,
    /// Text with too many levels.
    ManyLevels,
    /// No cell has a value.
    Empty,
}

impl LeftOut {
    pub(super) const ALL: [Self; 5] =
        [Self::Distinct, Self::Consecutive, Self::NamedIdentifier, Self::ManyLevels, Self::Empty];
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Distinct => "an identifier, since no two rows have the same text",
            Self::Consecutive => "an identifier, since its values count the rows",
            Self::NamedIdentifier => "an identifier, by its name and its distinct values",
            Self::ManyLevels => "text with too many different values",
            Self::Empty => "no row has a value",
        })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        match self {
            Self::LeftOut { columns, why } => {
                let names: Vec<String> = columns.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
                write!(f, "left out {}", names.join(", "))?;
                if columns.len() > SHOWN {
                    write!(f, " and {} more", columns.len() - SHOWN)?;
                }
                write!(f, " ({why})")
            }
            Self::NotShifted { columns } => {
                let columns = count(*columns as u64, "sparse column");
                write!(f, "{columns} scaled but not shifted, so that zeros stay zeros")
            }
            Self::Imputed { cells } => {
                write!(f, "{} filled in from the training data", count(*cells, "missing value"))
            }
            Self::UnseenLevels { cells } => {
                let cells = count(*cells, "cell");
                write!(f, "{cells} with text that is not in the training data, taken as none of its values")
            }
            Self::UnknownColumns { entries } => {
                let entries = count(*entries, "sparse entry");
                write!(f, "{entries} ignored, in columns beyond those of the training data")
            }
        }
    }
}

fn count(n: u64, thing: &str) -> String {
    match (n, thing.strip_suffix('y')) {
        (1, _) => format!("1 {thing}"),
        (n, Some(stem)) => format!("{n} {stem}ies"),
        (n, None) => format!("{n} {thing}s"),
    }
}
