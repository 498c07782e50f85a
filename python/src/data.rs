//! What Python hands over: arrays as they are, and everything else as a frame of columns.

use eyot::{Column, PointsBuf, RawArray, RawRows, RawValues, Table, TableColumn, TextColumn};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::to_py;

/// A whole number as users give it.
#[derive(Clone, Copy, FromPyObject)]
#[pyo3(transparent)]
pub(crate) struct Count(i64);

impl Count {
    /// The number, which must be at least 0; `name` is the parameter's in the core.
    pub(crate) fn get(self, name: &'static str) -> PyResult<usize> {
        let (expected, got) = ("at least 0".to_owned(), self.0.to_string());
        usize::try_from(self.0).map_err(|_| to_py(eyot::Error::Param { name, expected, got }))
    }
}

/// Raw rows: an array of numbers in C order, or a frame.
pub(crate) enum Data<'py> {
    F64(PyReadonlyArray2<'py, f64>),
    F32(PyReadonlyArray2<'py, f32>),
    Frame(Bound<'py, Frame>),
}

impl<'py> FromPyObject<'_, 'py> for Data<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = object.extract() {
            return Ok(Self::F64(array));
        }
        if let Ok(array) = object.extract() {
            return Ok(Self::F32(array));
        }
        match object.cast::<Frame>() {
            Ok(frame) => Ok(Self::Frame(frame.to_owned())),
            Err(_) => Err(PyTypeError::new_err("rows must be an array of float64 or float32, or a frame")),
        }
    }
}

impl Data<'_> {
    /// The rows, an array's columns having these names.
    pub(crate) fn rows<'a>(&'a self, names: &'a [String]) -> PyResult<RawRows<'a>> {
        let (values, width) = match self {
            Self::F64(array) => (RawValues::F64(array.as_slice()?), array.shape()[1]),
            Self::F32(array) => (RawValues::F32(array.as_slice()?), array.shape()[1]),
            Self::Frame(frame) => return Ok(RawRows::Table(&frame.get().table)),
        };
        if width != names.len() {
            return Err(to_py(eyot::Error::Shape { what: "columns", expected: names.len(), got: width }));
        }
        RawArray::new(values, names).map(RawRows::Array).map_err(to_py)
    }

    /// The names of the columns: those given for an array, a frame's own.
    pub(crate) fn names(&self, given: Vec<String>) -> Vec<String> {
        match self {
            Self::Frame(frame) => frame.get().table.columns.iter().map(|column| column.name.clone()).collect(),
            _ => given,
        }
    }
}

/// Raw columns, named numbers and text, or a sparse block.
#[pyclass(frozen, module = "eyot._eyot")]
pub(crate) struct Frame {
    table: Table,
}

#[pymethods]
impl Frame {
    /// Anything with Arrow's PyCapsule interface.
    #[staticmethod]
    fn from_arrow(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { table: crate::arrow::table(object)? })
    }

    /// Named columns: an array of float64, or the codes of text (−1 where it is missing) and its levels.
    #[staticmethod]
    fn from_columns(columns: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let columns: Vec<TableColumn> = columns
            .into_iter()
            .map(|(name, values)| Ok(TableColumn { name, values: column(&values)? }))
            .collect::<PyResult<_>>()?;
        let n_rows = columns.first().map_or(0, |column| column.values.len());
        Ok(Self { table: Table { first_row: 0, n_rows, columns, sparse: None } })
    }

    /// Compressed sparse rows, column numbers ascending within a row, no entry 0.
    #[staticmethod]
    fn from_csr(
        starts: PyReadonlyArray1<'_, i64>,
        columns: PyReadonlyArray1<'_, i64>,
        values: PyReadonlyArray1<'_, f64>,
        width: Count,
    ) -> PyResult<Self> {
        let starts: Vec<usize> = starts.as_slice()?.iter().map(|&start| start as usize).collect();
        let columns: Vec<u32> = columns.as_slice()?.iter().map(|&column| column as u32).collect();
        let sparse =
            PointsBuf::from_sparse(starts, columns, values.as_slice()?.to_vec(), width.get("width")?).map_err(to_py)?;
        Ok(Self { table: Table { first_row: 0, n_rows: sparse.n_rows(), columns: vec![], sparse: Some(sparse) } })
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.table.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Whether a column holds text, by column.
    #[getter]
    fn is_text(&self) -> Vec<bool> {
        self.table.columns.iter().map(|column| matches!(column.values, Column::Text(_))).collect()
    }

    fn __len__(&self) -> usize {
        self.table.n_rows
    }
}

impl Frame {
    pub(crate) fn is_sparse(&self) -> bool {
        self.table.sparse.is_some()
    }
}

/// A column of numbers or of text.
pub(crate) fn column(values: &Bound<'_, PyAny>) -> PyResult<Column> {
    if let Ok(numbers) = values.extract::<PyReadonlyArray1<'_, f64>>() {
        return Ok(Column::Numbers(numbers.as_slice()?.to_vec()));
    }
    let (codes, levels): (PyReadonlyArray1<'_, i64>, Vec<String>) = values.extract()?;
    let code = |&code: &i64| u32::try_from(code).unwrap_or(TextColumn::MISSING);
    let codes: Vec<u32> = codes.as_slice()?.iter().map(code).collect();
    // Levels are numbered by first appearance, as a reader of files does.
    let text = TextColumn { levels, codes };
    Ok(Column::Text(text.select(&(0..text.codes.len()).collect::<Vec<_>>())))
}
