//! What is read and what its columns mean.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use eyot::{Checked, Encoder, EncoderParams, Missing, Roles, Scale, Table, TableColumn};
use eyot_io::{Format, ReadOptions};

use crate::messages::Usage;

/// The data and the roles of its columns.
#[derive(Args, Debug, Clone)]
pub(crate) struct DataArgs {
    /// The data: a file, or - for stdin
    ///
    /// CSV, TSV, svmlight/LIBSVM, Parquet, Arrow IPC, NDJSON or npy, each also compressed with gzip (.gz) or
    /// Zstandard (.zst). The format follows from the extension; say --format where there is none.
    pub(crate) data: PathBuf,

    /// Format of the data [default: by extension, else by content]
    ///
    /// One of csv, tsv, svmlight (or libsvm), parquet, arrow, ndjson (or jsonl), npy.
    #[arg(long, value_name = "FORMAT", value_parser = format, help_heading = "Input")]
    format: Option<Format>,

    /// Whether the first line of CSV and TSV holds column names
    ///
    /// `auto` decides by looking: names are text above columns of numbers. Without names, columns are called f0, f1, …
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Input")]
    header: HeaderName,

    /// Character between the cells of CSV [default: found by looking]
    ///
    /// One character, or one of the words comma, semicolon, tab, space, pipe. Example: --delimiter semicolon
    #[arg(long, value_name = "CHAR", value_parser = delimiter, help_heading = "Input")]
    delimiter: Option<u8>,

    /// Indices of svmlight count from 0 instead of 1
    #[arg(long, help_heading = "Input")]
    zero_based: bool,

    /// Columns to treat as text although they look like numbers
    ///
    /// Text columns become one column per level (one-hot). Example: --text zip,branch
    #[arg(long, value_name = "COL,..", value_delimiter = ',', help_heading = "Columns")]
    text: Vec<String>,

    /// Column to predict; never used as a feature
    #[arg(long, value_name = "COL", help_heading = "Columns")]
    pub(crate) target: Option<String>,

    /// Column with the truth, used for evaluation only
    #[arg(long, value_name = "COL", help_heading = "Columns")]
    pub(crate) label: Option<String>,

    /// Column that says which bag (group) a row belongs to; never used as a feature
    #[arg(long, value_name = "COL", help_heading = "Columns")]
    pub(crate) bag: Option<String>,

    /// Column that names the rows in the output; never used as a feature
    #[arg(long, value_name = "COL", help_heading = "Columns")]
    pub(crate) id: Option<String>,

    /// Columns to leave out
    ///
    /// Example: --ignore date,comment
    #[arg(long, value_name = "COL,..", value_delimiter = ',', help_heading = "Columns")]
    ignore: Vec<String>,

    /// How number columns are scaled [default: minmax; mil chooses by cross-validation]
    ///
    /// `minmax`: to 0…1. `standard`: to mean 0 and standard deviation 1. `none`: not at all, where the columns have
    /// the same unit already. Trees do not care.
    #[arg(long, value_name = "HOW", help_heading = "Columns")]
    scale: Option<ScaleName>,

    /// What happens to missing cells
    ///
    /// `error`: the first one ends the program. `impute`: the median of the column, or its most frequent text, takes
    /// their place, and a note says how many there were.
    #[arg(long, value_name = "HOW", default_value = "error", help_heading = "Columns")]
    missing: MissingName,

    /// Whether the label of svmlight is the target where none is named: for commands that need one.
    #[arg(skip)]
    pub(crate) label_is_target: bool,
}

impl DataArgs {
    /// How to read the data.
    pub(crate) fn read_options(&self) -> ReadOptions {
        let mut options =
            ReadOptions::default().text_columns(&self.text).ignored(&self.ignore).zero_based(self.zero_based);
        if let Some(format) = self.format {
            options = options.format(format);
        }
        if let Some(delimiter) = self.delimiter {
            options = options.delimiter(delimiter);
        }
        match self.header {
            HeaderName::Auto => options,
            HeaderName::Yes => options.header(true),
            HeaderName::No => options.header(false),
        }
    }

    /// How number columns are to be scaled, if that was said.
    pub(crate) fn scale(&self) -> Option<Scale> {
        self.scale.map(Scale::from)
    }

    /// The same data, left as it is: something later scales it.
    pub(crate) fn unscaled(&self) -> Self {
        Self { scale: Some(ScaleName::None), ..self.clone() }
    }

    /// The same roles of columns in another file.
    pub(crate) fn in_file(&self, path: &std::path::Path) -> Self {
        Self { data: path.to_owned(), ..self.clone() }
    }

    /// How to encode columns such as those of `table`, the first of the input called `name`.
    pub(crate) fn encoder_params(&self, name: &str, table: &Table) -> anyhow::Result<Checked<EncoderParams>> {
        self.check_roles(name, table)?;
        let implied = (self.label_is_target && table.sparse.is_some()).then(|| "label".to_owned());
        let mut roles = Roles {
            target: self.target.clone().or(implied),
            label: self.label.clone(),
            bag: self.bag.clone(),
            id: self.id.clone(),
            ignore: self.ignore.clone(),
        };
        if table.sparse.is_some() {
            // What stands in front of the features of svmlight is none of them.
            let front = ["label", "qid"].into_iter().filter(|name| !roles.contains(name)).map(str::to_owned);
            roles.ignore.extend(front.collect::<Vec<_>>());
        }
        Ok(EncoderParams::default()
            .scale(self.scale().unwrap_or_default())
            .missing(self.missing.into())
            .roles(roles)
            .check()?)
    }

    /// The table without columns that have a role here but are unknown to the encoder, which would refuse them.
    pub(crate) fn without_roles<'a>(&self, table: &'a Table, encoder: &Encoder) -> Cow<'a, Table> {
        let roles = [&self.target, &self.label, &self.bag, &self.id].into_iter().flatten();
        let unknown: Vec<&String> = roles.filter(|role| !encoder.knows(role)).collect();
        if unknown.is_empty() {
            return Cow::Borrowed(table);
        }
        let mut table = table.clone();
        table.columns.retain(|column| !unknown.contains(&&column.name));
        Cow::Owned(table)
    }

    /// What messages call the data.
    pub(crate) fn name(&self) -> String {
        if self.data == Path::new("-") { "stdin".into() } else { self.data.display().to_string() }
    }

    /// The name of the column to predict: the one given, or the label of svmlight.
    pub(crate) fn target_name(&self, table: &Table) -> anyhow::Result<String> {
        match &self.target {
            Some(name) => Ok(name.clone()),
            None if table.sparse.is_some() => Ok("label".into()),
            None => {
                let message = format!("{}: --target must name the column to predict", self.name());
                let known: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).take(20).collect();
                Err(Usage::new(message).hint(format!("the columns are {}", known.join(", "))).into())
            }
        }
    }

    /// The column to predict.
    pub(crate) fn target_column<'t>(&self, table: &'t Table) -> anyhow::Result<&'t TableColumn> {
        let name = self.target_name(table)?;
        let found = table.columns.iter().find(|column| column.name == name);
        let absent = || eyot_io::Error::NoColumn {
            file: self.name(),
            column: name.clone(),
            known: table.columns.iter().map(|column| column.name.clone()).collect(),
        };
        Ok(found.ok_or_else(absent)?)
    }

    /// Refuses roles of columns that are not there.
    pub(crate) fn check_roles(&self, name: &str, table: &Table) -> eyot_io::Result<()> {
        let roles = [&self.target, &self.label, &self.bag, &self.id].into_iter().flatten();
        match roles.into_iter().find(|role| table.column(role).is_none()) {
            None => Ok(()),
            Some(role) => Err(eyot_io::Error::NoColumn {
                file: name.to_owned(),
                column: role.clone(),
                known: table.columns.iter().map(|column| column.name.clone()).collect(),
            }),
        }
    }
}

fn format(name: &str) -> Result<Format, String> {
    name.parse().map_err(|_| format!("the formats are {}", Format::NAMES.join(", ")))
}

/// Whether there is a header.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum HeaderName {
    Auto,
    Yes,
    No,
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "comma" => Ok(b','),
        "semicolon" => Ok(b';'),
        "tab" | "\\t" => Ok(b'\t'),
        "space" => Ok(b' '),
        "pipe" => Ok(b'|'),
        _ => match text.as_bytes() {
            [one] if one.is_ascii() && !one.is_ascii_alphanumeric() => Ok(*one),
            _ => Err("it must be one ASCII character that is neither letter nor digit, or one of comma, semicolon, tab, space, pipe".into()),
        },
    }
}

names! {
    /// Ways to scale.
    ScaleName for Scale { MinMax = "minmax", Standard = "standard", None = "none" }
}
names! {
    /// Ways to treat missing cells.
    MissingName for Missing { Error = "error", Impute = "impute" }
}
