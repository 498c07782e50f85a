//! NumPy's `.npy`: one array of one or two dimensions, of integers, floats or booleans, in either byte order, by rows
//! or by columns (Fortran order). Columns are named f0, f1, …; an array of one dimension is one column. NaN is
//! missing, as everywhere.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use eyot::{Column, Table, TableColumn};

use super::column::as_text;
use super::{Batches, ColumnKind, PlannedColumn, ReadOptions};
use crate::error::{Error, Result};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header that is read, 1 MiB; real ones have a few hundred bytes.
const LONGEST_HEADER: usize = 1 << 20;

pub(super) struct NpyReader {
    file: String,
    data: File,
    /// Where the numbers begin.
    start: u64,
    array: Array,
    columns: Vec<PlannedColumn>,
    batch_rows: usize,
}

/// What a header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Array {
    item: Item,
    big_endian: bool,
    by_columns: bool,
    rows: usize,
    columns: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    Bool,
    Signed(usize),
    Unsigned(usize),
    Float(usize),
}

impl Item {
    const fn size(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Signed(size) | Self::Unsigned(size) | Self::Float(size) => size,
        }
    }

    /// The number in `size` bytes, least significant first.
    fn number(self, bytes: [u8; 8]) -> f64 {
        let bits = u64::from_le_bytes(bytes);
        match self {
            Self::Bool => f64::from(u8::from(bits != 0)),
            Self::Unsigned(_) => bits as f64,
            Self::Signed(size) => {
                let unused = 64 - 8 * size as u32;
                ((bits << unused).cast_signed() >> unused) as f64
            }
            Self::Float(4) => f64::from(f32::from_bits(bits as u32)),
            Self::Float(_) => f64::from_bits(bits),
        }
    }
}

impl NpyReader {
    pub(super) fn open(file: &str, mut data: File, options: &ReadOptions) -> Result<Self> {
        let fail = |what: String| Error::Format { file: file.into(), format: "npy", what };
        let (header, start) = read_header(&mut data).map_err(|error| match error {
            HeaderError::Io(error) => Error::io(file, error),
            HeaderError::Bad(what) => fail(what.into()),
        })?;
        let array = parse_header(&header).map_err(fail)?;
        if array.rows == 0 || array.columns == 0 {
            return Err(Error::Empty { file: file.into(), header: false });
        }
        // Checked against the file before anything is allocated by it.
        let expected = (array.rows as u128 * array.columns as u128).saturating_mul(array.item.size() as u128);
        let there = data.metadata().map_err(|error| Error::io(file, error))?.len().saturating_sub(start);
        if u128::from(there) < expected {
            return Err(fail(format!("{expected} bytes of numbers are announced, but there are {there}")));
        }
        let plan = |i| {
            let name = format!("f{i}");
            PlannedColumn { kind: options.plan(&name, ColumnKind::Number), name }
        };
        let columns = (0..array.columns).map(plan).collect();
        let batch_rows = options.rows_for(array.columns);
        Ok(Self { file: file.into(), data, start, array, columns, batch_rows })
    }

    /// The items from number `first` on, in the order of the file.
    fn read_items(&mut self, first: usize, bytes: &mut [u8]) -> Result<()> {
        let at = self.start + (first * self.array.item.size()) as u64;
        let read = self.data.seek(SeekFrom::Start(at)).and_then(|_| self.data.read_exact(bytes));
        read.map_err(|error| Error::io(&self.file, error))
    }

    fn number(&self, item: &[u8]) -> f64 {
        let mut bytes = [0; 8];
        bytes[..item.len()].copy_from_slice(item);
        if self.array.big_endian {
            bytes[..item.len()].reverse();
        }
        let value = self.array.item.number(bytes);
        if value.is_nan() { f64::NAN } else { value }
    }
}

impl Batches for NpyReader {
    fn columns(&self) -> &[PlannedColumn] {
        &self.columns
    }

    fn total_rows(&self) -> Option<u64> {
        Some(self.array.rows as u64)
    }

    fn next_batch(&mut self, first_row: usize) -> Result<Option<Table>> {
        let Array { rows, columns: width, item, by_columns, .. } = self.array;
        let n_rows = self.batch_rows.min(rows - first_row);
        if n_rows == 0 {
            return Ok(None);
        }
        let size = item.size();
        let mut bytes = vec![0; n_rows * width * size];
        if by_columns {
            for (column, part) in bytes.chunks_exact_mut(n_rows * size).enumerate() {
                self.read_items(column * rows + first_row, part)?;
            }
        } else {
            self.read_items(first_row * width, &mut bytes)?;
        }
        let (row_step, column_step) = if by_columns { (size, n_rows * size) } else { (width * size, size) };
        let mut columns = Vec::new();
        for (i, column) in self.columns.iter().enumerate() {
            let Some(kind) = column.kind else { continue };
            let items = (0..n_rows).map(|row| &bytes[row * row_step + i * column_step..][..size]);
            let numbers: Vec<f64> = items.map(|item| self.number(item)).collect();
            let values = match kind {
                ColumnKind::Number => Column::Numbers(numbers),
                ColumnKind::Text => Column::Text(as_text(&numbers)),
            };
            columns.push(TableColumn { name: column.name.clone(), values });
        }
        Ok(Some(Table { first_row, n_rows, columns, sparse: None }))
    }
}

enum HeaderError {
    Io(std::io::Error),
    Bad(&'static str),
}

/// The text of the header, and where the numbers begin.
fn read_header(data: &mut File) -> Result<(String, u64), HeaderError> {
    let mut fixed = [0; 8];
    let read = |data: &mut File, bytes: &mut [u8]| {
        data.read_exact(bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => HeaderError::Bad("it ends within its header"),
            _ => HeaderError::Io(error),
        })
    };
    read(data, &mut fixed)?;
    if !fixed.starts_with(MAGIC) {
        return Err(HeaderError::Bad("it does not begin like one"));
    }
    let mut length = [0; 4];
    let digits = match fixed[6] {
        1 => 2,
        2 | 3 => 4,
        _ => return Err(HeaderError::Bad("its version is not 1, 2 or 3")),
    };
    read(data, &mut length[..digits])?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST_HEADER {
        return Err(HeaderError::Bad("its header is too long"));
    }
    let mut header = vec![0; length];
    read(data, &mut header)?;
    let header = String::from_utf8(header).map_err(|_| HeaderError::Bad("its header is not text"))?;
    Ok((header, (fixed.len() + digits + length) as u64))
}

/// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }`, keys in any order.
fn parse_header(header: &str) -> Result<Array, String> {
    let value = |key: &str| {
        let quoted = [format!("'{key}'"), format!("\"{key}\"")];
        let at = quoted.iter().find_map(|quoted| Some(header.find(quoted)? + quoted.len()));
        let rest = at.and_then(|at| header[at..].trim_start().strip_prefix(':')).map(str::trim_start);
        rest.ok_or_else(|| format!("its header has no `{key}`"))
    };
    let descr = value("descr")?;
    if descr.starts_with('[') {
        return Err("it holds records of several fields".into());
    }
    let descr = descr.trim_start_matches(['\'', '"']).split(['\'', '"']).next().unwrap_or_default();
    let (order, kind) = descr.split_at_checked(1).unwrap_or_default();
    let item = match kind {
        "b1" => Item::Bool,
        "i1" => Item::Signed(1),
        "i2" => Item::Signed(2),
        "i4" => Item::Signed(4),
        "i8" => Item::Signed(8),
        "u1" => Item::Unsigned(1),
        "u2" => Item::Unsigned(2),
        "u4" => Item::Unsigned(4),
        "u8" => Item::Unsigned(8),
        "f4" => Item::Float(4),
        "f8" => Item::Float(8),
        _ => return Err(format!("its items are `{descr}`, not integers, f4, f8 or b1")),
    };
    let big_endian = match order {
        "<" | "|" => false,
        ">" => true,
        "=" => cfg!(target_endian = "big"),
        _ => return Err(format!("its byte order `{order}` is not known")),
    };
    let order = value("fortran_order")?;
    let by_columns = order.starts_with("True");
    if !by_columns && !order.starts_with("False") {
        return Err("its `fortran_order` is neither True nor False".into());
    }
    let shape = value("shape")?.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(inside, _)| inside);
    let shape = shape.ok_or("its `shape` is not a tuple")?.split(',').map(str::trim).filter(|size| !size.is_empty());
    let shape = shape.map(str::parse::<usize>).collect::<Result<Vec<_>, _>>();
    let (rows, columns) = match shape.map_err(|_| "its `shape` is not a tuple of sizes")?[..] {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        ref shape => return Err(format!("it has {} dimensions, but 1 or 2 can be read", shape.len())),
    };
    Ok(Array { item, big_endian, by_columns, rows, columns })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::super::{Format, read_table};
    use super::*;
    use crate::Source;

    fn file(version: u8, descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
        let fortran = if fortran { "True" } else { "False" };
        let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let length = header.len() as u32;
        let length = if version == 1 { length.to_le_bytes()[..2].to_vec() } else { length.to_le_bytes().to_vec() };
        [MAGIC, &[version, 0], &length, header.as_bytes(), data].concat()
    }

    fn read(bytes: Vec<u8>) -> Result<Table> {
        let options = ReadOptions::default().format(Format::Npy).batch_rows(2);
        read_table(&mut Source::from_reader("t.npy", Box::new(Cursor::new(bytes))), &options)
    }

    fn rows(table: &Table) -> Vec<Vec<f64>> {
        let column = |at: usize| match &table.columns[at].values {
            Column::Numbers(values) => values.clone(),
            Column::Text(_) => unreachable!(),
        };
        (0..table.n_rows).map(|row| (0..table.columns.len()).map(|at| column(at)[row]).collect()).collect()
    }

    #[test]
    fn both_orders_and_all_types_give_the_same_rows() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 100.0];
        let expected = [vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0, 100.0]];
        macro_rules! check {
            ($($kind:literal $int:ty),*) => {$(
                for (order, bytes) in [
                    ('<', values.map(|value| (value as $int).to_le_bytes()).concat()),
                    ('>', values.map(|value| (value as $int).to_be_bytes()).concat()),
                ] {
                    let by_rows = file(1, &format!("{order}{}", $kind), false, "(3, 2)", &bytes);
                    assert_eq!(rows(&read(by_rows).unwrap()), expected, "{order}{}", $kind);
                    let size = std::mem::size_of::<$int>();
                    let item = |at: usize| bytes[at * size..(at + 1) * size].to_vec();
                    let turned = [0, 2, 4, 1, 3, 5].map(item).concat();
                    let by_columns = file(2, &format!("{order}{}", $kind), true, "(3, 2)", &turned);
                    assert_eq!(rows(&read(by_columns).unwrap()), expected, "{order}{}", $kind);
                }
            )*};
        }
        check!("i1" i8, "i2" i16, "i4" i32, "i8" i64, "u1" u8, "u2" u16, "u4" u32, "u8" u64, "f4" f32, "f8" f64);
    }

    #[test]
    fn one_dimension_is_one_column_and_signs_survive() {
        assert_eq!(rows(&read(file(3, "|b1", false, "(2,)", &[0, 1])).unwrap()), [[0.0], [1.0]]);
        let bytes = [-3_i16, 7, i16::MIN].map(i16::to_be_bytes).concat();
        assert_eq!(rows(&read(file(1, ">i2", false, "(3,)", &bytes)).unwrap()), [[-3.0], [7.0], [-32768.0]]);
    }

    #[test]
    fn bad_files_are_refused_before_anything_large_is_allocated() {
        let message = |bytes: Vec<u8>| read(bytes).unwrap_err().to_string();
        assert!(message(b"PK".to_vec()).contains("ends within its header"));
        assert!(message(b"PK345678901234567890".to_vec()).contains("does not begin like one"));
        assert!(message(file(9, "<f8", false, "(1,)", &[0; 8])).contains("version"));
        assert!(message(file(1, "<c8", false, "(1,)", &[0; 8])).contains("`<c8`"));
        assert!(message(file(1, "<f8", false, "(1, 1, 1)", &[0; 8])).contains("3 dimensions"));
        assert!(message(file(1, "<f8", false, "(-1,)", &[0; 8])).contains("shape"));
        let huge = "(18446744073709551615, 18446744073709551615)";
        assert!(message(file(1, "<f8", false, huge, &[0; 8])).contains("announced, but there are 8"));
        assert!(message(file(1, "<f8", true, "(2, 1)", &[0; 8])).contains("16 bytes"));
        assert!(message(file(1, "<f8", true, "(0, 3)", &[])).contains("no rows"));
        let mut long = file(2, "<f8", false, "(1,)", &[0; 8]);
        long[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(message(long).contains("too long"));
    }

    proptest! {
        #[test]
        fn any_header_gives_an_array_or_an_error(header in "[{}'(),:a-z_<|0-9 ]{0,80}", bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = parse_header(&header);
            let _ = parse_header(&format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {header}"));
            let _ = read(bytes.clone());
            let _ = read([MAGIC, &[1, 0], &bytes].concat());
        }
    }
}
