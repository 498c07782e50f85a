//! Parquet out, batch by batch. The first batch decides the columns.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::AtomicFile;
use crate::error::{Error, Result};

/// Rows per row group: a writer keeps one group in memory.
const GROUP_ROWS: usize = 1 << 16;

pub(super) struct ParquetSink {
    name: String,
    state: State,
}

enum State {
    /// No batch yet.
    New(Box<Option<AtomicFile>>),
    Open(Box<ArrowWriter<AtomicFile>>, Arc<Schema>),
}

impl ParquetSink {
    pub(super) fn new(file: AtomicFile) -> Self {
        Self { name: file.name().to_owned(), state: State::New(Box::new(Some(file))) }
    }

    pub(super) fn write(&mut self, columns: Vec<(String, ArrayRef)>) -> Result<()> {
        let fail = |error: ParquetError| failed(&self.name, error);
        if let State::New(file) = &mut self.state {
            let field = |(name, array): &(String, ArrayRef)| Field::new(name, array.data_type().clone(), true);
            let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .set_max_row_group_row_count(Some(GROUP_ROWS))
                .build();
            let file = file.take().expect("taken only here, on the way to the open state");
            let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties)).map_err(fail)?;
            self.state = State::Open(Box::new(writer), schema);
        }
        let State::Open(writer, schema) = &mut self.state else { unreachable!("opened above") };
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(|error| fail(error.into()))?;
        writer.write(&batch).map_err(fail)
    }

    pub(super) fn finish(self) -> Result<()> {
        match self.state {
            State::New(_) => Err(Error::Empty { file: self.name, header: false }),
            State::Open(writer, _) => writer.into_inner().map_err(|error| failed(&self.name, error))?.commit(),
        }
    }
}

/// The operating system's own error, if that is what is inside.
fn failed(name: &str, error: ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => Error::io(name, *error),
            Err(other) => Error::io(name, std::io::Error::other(other)),
        },
        other => Error::io(name, std::io::Error::other(other)),
    }
}
