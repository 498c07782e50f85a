//! Data in: one door, [`open`], for every format. A [`Reader`] hands out batches of rows of bounded size, so files
//! larger than memory stream through; what the columns are is known from the start.
//!
//! Text formats say nothing about their columns, so the first megabytes are looked at ([`ReadOptions::sample_bytes`]):
//! a column is a number column if at least half of its cells there that are not missing are numbers, else it is
//! text. The answer depends on the bytes alone, not on batch sizes or on how the bytes arrive. The same values give
//! the same tables from every format.

#[cfg(feature = "parquet")]
mod arrow;
#[cfg(feature = "arrow")]
mod arrow_columns;
mod column;
mod csv;
#[cfg(feature = "parquet")]
mod guard;
mod lines;
mod ndjson;
mod npy;
mod svmlight;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};
use std::str::FromStr;

use eyot::Table;

use crate::error::{Error, Result};
use crate::source::{Progress, Source};

#[cfg(feature = "arrow")]
pub use arrow_columns::table_of_arrow;

/// Rows per batch, unless asked otherwise.
const BATCH_ROWS: usize = 1 << 16;
/// Cells per batch, so that wide rows come in smaller batches: 8 MB of numbers.
const BATCH_CELLS: usize = 1 << 20;
/// Bytes looked at to tell what the columns of a text format are.
const SAMPLE_BYTES: usize = 1 << 22;
/// Bytes of it asked for at once.
const SAMPLE_BLOCK: usize = 1 << 18;

/// The formats that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Text with a delimiter; which one is found out, or comes with [`ReadOptions::delimiter`].
    Csv,
    /// The same with tabs.
    Tsv,
    /// `label index:value …`, the sparse text of svmlight and LIBSVM.
    Svmlight,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, file or stream (also called Feather version 2).
    Arrow,
    /// One JSON object per line.
    Ndjson,
    /// One NumPy array of one or two dimensions.
    Npy,
}

impl Format {
    /// The names of all formats, as `--format` takes them.
    pub const NAMES: [&'static str; 7] = ["csv", "tsv", "svmlight", "parquet", "arrow", "ndjson", "npy"];

    /// Its name, as `--format` takes it.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The format that an extension stands for.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Some(match extension.to_ascii_lowercase().as_str() {
            "csv" => Self::Csv,
            "tsv" | "tab" => Self::Tsv,
            "svm" | "libsvm" | "svmlight" => Self::Svmlight,
            "parquet" | "pq" => Self::Parquet,
            "arrow" | "arrows" | "ipc" | "feather" => Self::Arrow,
            "ndjson" | "jsonl" => Self::Ndjson,
            "npy" => Self::Npy,
            _ => return None,
        })
    }

    /// The format that bytes look like: the marks of the binary formats, `{` of JSON, the `index:value` of svmlight,
    /// else CSV.
    fn of_bytes(start: &[u8]) -> Self {
        // A stream begins with this mark of a message, a file with a name.
        const ARROW_STREAM: &[u8] = &[0xff; 4];
        if start.starts_with(b"PAR1") {
            Self::Parquet
        } else if start.starts_with(b"ARROW1") || start.starts_with(ARROW_STREAM) {
            Self::Arrow
        } else if start.starts_with(b"\x93NUMPY") {
            Self::Npy
        } else if start.trim_ascii_start().starts_with(b"{") {
            Self::Ndjson
        } else if svmlight::looks_like(start) {
            Self::Svmlight
        } else {
            Self::Csv
        }
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::from_extension(name).ok_or_else(|| Error::UnknownFormat { name: name.into() })
    }
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColumnKind {
    /// Numbers.
    Number,
    /// Text.
    Text,
}

/// A column as the reader found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub kind: ColumnKind,
}

/// What is known about an input beforehand. The default knows nothing.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    format: Option<Format>,
    delimiter: Option<u8>,
    header: Option<bool>,
    text_columns: BTreeSet<String>,
    ignored: BTreeSet<String>,
    kinds: BTreeMap<String, ColumnKind>,
    zero_based: bool,
    batch_rows: usize,
    sample_bytes: usize,
    sample_lines: usize,
    live: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            delimiter: None,
            header: None,
            text_columns: BTreeSet::new(),
            ignored: BTreeSet::new(),
            kinds: BTreeMap::new(),
            zero_based: false,
            batch_rows: BATCH_ROWS,
            sample_bytes: SAMPLE_BYTES,
            sample_lines: usize::MAX,
            live: false,
        }
    }
}

impl ReadOptions {
    /// The format, instead of what the extension or the first bytes say.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// The delimiter of CSV, instead of what the first lines say.
    #[must_use]
    pub fn delimiter(mut self, delimiter: u8) -> Self {
        self.delimiter = Some(delimiter);
        self
    }

    /// Whether CSV begins with the names of the columns, instead of what the first lines say.
    #[must_use]
    pub fn header(mut self, header: bool) -> Self {
        self.header = Some(header);
        self
    }

    /// Columns that are text whatever their cells look like. Naming one that does not exist is an error.
    #[must_use]
    pub fn text_columns<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.text_columns.extend(names.into_iter().map(Into::into));
        self
    }

    /// Columns that are not read at all, whatever they hold. Naming one that does not exist is an error.
    #[must_use]
    pub fn ignored<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.ignored.extend(names.into_iter().map(Into::into));
        self
    }

    /// What columns are by name, for example in a saved model. Names that do not occur are ignored here.
    #[must_use]
    pub fn kinds<S: Into<String>>(mut self, kinds: impl IntoIterator<Item = (S, ColumnKind)>) -> Self {
        self.kinds.extend(kinds.into_iter().map(|(name, kind)| (name.into(), kind)));
        self
    }

    /// Whether the indices of svmlight count from 0 instead of 1.
    #[must_use]
    pub fn zero_based(mut self, zero_based: bool) -> Self {
        self.zero_based = zero_based;
        self
    }

    /// Most rows per batch (65,536); wide rows come in smaller batches anyway.
    #[must_use]
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = rows.max(1);
        self
    }

    /// How much of a text format is looked at to find out its columns (4 MiB). A live stream is waited for until so
    /// much has come, so take less there.
    #[must_use]
    pub fn sample_bytes(mut self, bytes: usize) -> Self {
        self.sample_bytes = bytes.max(1);
        self
    }

    /// No more lines than this are looked at to find out the columns of a text format (at least two: a header and a
    /// row). A live stream is waited for until so many have come.
    #[must_use]
    pub fn sample_lines(mut self, lines: usize) -> Self {
        self.sample_lines = lines.max(2);
        self
    }

    /// Whether a batch of a text format ends where the next line has not come yet, instead of waiting for it.
    #[must_use]
    pub fn live(mut self, live: bool) -> Self {
        self.live = live;
        self
    }

    /// What to read a column as: as told, else as found; `None` if not at all.
    fn plan(&self, name: &str, found: ColumnKind) -> Option<ColumnKind> {
        if self.ignored.contains(name) {
            None
        } else if self.text_columns.contains(name) {
            Some(ColumnKind::Text)
        } else {
            Some(self.kinds.get(name).copied().unwrap_or(found))
        }
    }

    /// Rows per batch for rows of so many cells.
    fn rows_for(&self, columns: usize) -> usize {
        (BATCH_CELLS / columns.max(1)).clamp(1, self.batch_rows)
    }
}

/// Bytes of a text format with the sample taken from their start, which will be read again.
struct Text {
    file: String,
    sample: Vec<u8>,
    /// Most lines of the sample that may be looked at.
    lines: usize,
    /// Whether the sample is all there is.
    complete: bool,
    rest: Box<dyn Read + Send>,
}

impl Text {
    /// The sample again, then the rest.
    fn into_reader(self) -> impl Read + Send {
        Cursor::new(self.sample).chain(self.rest)
    }

    /// The whole lines of the sample.
    fn sample_lines(&self) -> &[u8] {
        if let Some(end) = memchr::memchr_iter(b'\n', &self.sample).nth(self.lines - 1) {
            return &self.sample[..=end];
        }
        if self.complete {
            return &self.sample;
        }
        let end = memchr::memrchr(b'\n', &self.sample).map_or(self.sample.len(), |at| at + 1);
        &self.sample[..end]
    }

    /// Takes as many bytes as the options say, or more until there are two whole lines (a header and a row), but not
    /// more than come with the last line that may be looked at.
    fn sample(file: &str, mut rest: Box<dyn Read + Send>, options: &ReadOptions) -> Result<Self> {
        let (mut sample, mut wanted, mut seen) = (Vec::new(), options.sample_bytes, 0);
        let complete = loop {
            if sample.len() == wanted {
                if seen >= 2 || wanted > lines::LONGEST {
                    break false;
                }
                wanted *= 2;
            }
            let start = sample.len();
            sample.resize(wanted.min(start + SAMPLE_BLOCK), 0);
            let got = match rest.read(&mut sample[start..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(0),
                Ok(0) => {
                    sample.truncate(start);
                    break true;
                }
                got => got,
            };
            let got = got.map_err(|error| Error::io(file, error))?;
            sample.truncate(start + got);
            seen += memchr::memchr_iter(b'\n', &sample[start..]).count();
            if seen >= options.sample_lines {
                break false;
            }
        };
        Ok(Self { file: file.into(), sample, lines: options.sample_lines, complete, rest })
    }
}

/// What a format's reader does: names its columns and cuts off batches.
trait Batches: Send {
    /// The columns of the file in order, ignored ones too.
    fn columns(&self) -> &[PlannedColumn];

    /// The next rows, the first of them with this number, or `None` at the end.
    fn next_batch(&mut self, first_row: usize) -> Result<Option<Table>>;

    /// How many rows there are, where the format says so.
    fn total_rows(&self) -> Option<u64> {
        None
    }
}

/// A column of a file and what to read it as; `None` if it is ignored.
struct PlannedColumn {
    name: String,
    kind: Option<ColumnKind>,
}

/// An open input: batches of rows, and what is known about its columns.
pub struct Reader {
    file: String,
    columns: Vec<ColumnInfo>,
    sparse: bool,
    progress: Progress,
    rows: usize,
    batches: Box<dyn Batches>,
}

/// Opens an input for reading. The format is the one of `options`, else that of the extension, else what the first
/// bytes look like.
pub fn open(source: &mut Source, options: &ReadOptions) -> Result<Reader> {
    let file = source.name().to_owned();
    let bytes = source.bytes()?;
    let (mut rest, progress) = (bytes.reader, bytes.progress);
    let known = options.format.or_else(|| Format::from_extension(source.extension()));
    let format = if let Some(format) = known {
        format
    } else {
        let text = Text::sample(&file, rest, options)?;
        let format = Format::of_bytes(&text.sample);
        rest = Box::new(text.into_reader());
        format
    };
    let batches: Box<dyn Batches> = match format {
        Format::Csv | Format::Tsv => {
            let delimiter = options.delimiter.or((format == Format::Tsv).then_some(b'\t'));
            Box::new(csv::CsvReader::open(Text::sample(&file, rest, options)?, delimiter, options)?)
        }
        Format::Svmlight => Box::new(svmlight::SvmlightReader::open(Text::sample(&file, rest, options)?, options)?),
        Format::Npy => Box::new(npy::NpyReader::open(&file, seekable(source, rest)?, options)?),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet | Format::Arrow => return Err(Error::NotBuilt { file, format: format.name() }),
        #[cfg(feature = "parquet")]
        Format::Parquet | Format::Arrow => {
            Box::new(arrow::ArrowReader::open(&file, seekable(source, rest)?, format, options)?)
        }
        Format::Ndjson => Box::new(ndjson::NdjsonReader::open(Text::sample(&file, rest, options)?, options)?),
    };
    check_names(&file, batches.columns(), options)?;
    let kept = batches.columns().iter().filter_map(|column| Some((&column.name, column.kind?)));
    let columns = kept.map(|(name, kind)| ColumnInfo { name: name.clone(), kind }).collect();
    // Formats that seek are not read through the counter.
    let seeks = matches!(format, Format::Parquet | Format::Arrow | Format::Npy);
    let progress = if seeks { Progress::default() } else { progress };
    Ok(Reader { file, columns, sparse: format == Format::Svmlight, progress, rows: 0, batches })
}

/// The bytes as a file that can seek; what can be read only once is put aside.
fn seekable(source: &mut Source, rest: Box<dyn Read + Send>) -> Result<std::fs::File> {
    if !source.is_repeatable()? {
        source.keep_rest(rest)?;
    }
    source.file()
}

/// Reads a whole input into one table.
pub fn read_table(source: &mut Source, options: &ReadOptions) -> Result<Table> {
    open(source, options)?.read_all()
}

fn check_names(file: &str, columns: &[PlannedColumn], options: &ReadOptions) -> Result<()> {
    let mut names = BTreeSet::new();
    for column in columns {
        if !names.insert(&column.name) {
            return Err(Error::DuplicateColumn { file: file.into(), column: column.name.clone() });
        }
    }
    match options.text_columns.union(&options.ignored).find(|name| !names.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Error::NoColumn {
            file: file.into(),
            column: name.clone(),
            known: columns.iter().map(|column| column.name.clone()).collect(),
        }),
    }
}

impl Reader {
    /// What errors call the input.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The named columns that every batch has, in order.
    pub fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    /// Whether batches carry sparse columns besides. Their number may grow from batch to batch, as higher indices
    /// turn up: the largest counts.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// Rows handed out so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The share of the input read so far, 0 to 1, where it is known.
    pub fn progress(&self) -> Option<f64> {
        match self.batches.total_rows() {
            Some(total) => Some(self.rows as f64 / total.max(1) as f64),
            None => self.progress.share(),
        }
    }

    /// The next rows, at least one, or `None` at the end. An input without any rows is an error.
    pub fn next_batch(&mut self) -> Result<Option<Table>> {
        let batch = self.batches.next_batch(self.rows)?;
        match &batch {
            Some(table) => self.rows += table.n_rows,
            None if self.rows == 0 => return Err(Error::Empty { file: self.file.clone(), header: false }),
            None => {}
        }
        Ok(batch)
    }

    /// All remaining rows as one table.
    pub fn read_all(mut self) -> Result<Table> {
        let mut all = column::Gathered::default();
        while let Some(batch) = self.next_batch()? {
            all.push(batch);
        }
        all.finish().map_err(|source| Error::data(self.file, source))
    }
}

impl Iterator for Reader {
    type Item = Result<Table>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}
