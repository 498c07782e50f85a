//! Arrow's PyCapsule interface: `__arrow_c_stream__` hands over a C stream, whoever made it. The only unsafe lines of
//! the package.

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use eyot::Table;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::error::io_to_py;

/// All rows of an object with Arrow's stream interface.
#[expect(unsafe_code, reason = "the interface is made of C pointers")]
pub(crate) fn table(object: &Bound<'_, PyAny>) -> PyResult<Table> {
    let py = object.py();
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let pointer = capsule.cast::<PyCapsule>()?.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of that name holds a valid FFI_ArrowArrayStream, by the interface. Its contents are moved out
    // and the place is left released, which the capsule's destructor respects.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
    let batches = RecordBatchStreamReader::try_new(stream).map_err(|error| PyValueError::new_err(error.to_string()))?;
    eyot_io::table_of_arrow("frame", batches).map_err(|error| io_to_py(py, error))
}
