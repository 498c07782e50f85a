//! Errors of the core as Python's exceptions, in the same words as on the command line.

use eyot::Error;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// Parameters that have another name in Python.
const NAMES: [(&str, &str); 7] = [
    ("psi", "max_samples"),
    ("t", "n_estimators"),
    ("max-psi", "max_samples"),
    ("init", "n_initial"),
    ("c", "C"),
    ("seed", "random_state"),
    ("components", "n_components"),
];

/// An error of the core.
pub(crate) fn to_py(error: Error) -> PyErr {
    match error {
        Error::Param { name, expected, got } => {
            let name = NAMES.iter().find(|(core, _)| *core == name).map_or(name, |(_, python)| python);
            PyValueError::new_err(Error::Param { name, expected, got }.to_string())
        }
        Error::Missing { .. } => {
            PyValueError::new_err(format!("{error} (NaN); hint: missing=\"impute\" fills such values in"))
        }
        Error::Stopped => PyRuntimeError::new_err(error.to_string()),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// An error of the file edges: what the operating system said is an `OSError` with its number.
pub(crate) fn io_to_py(py: Python<'_>, error: eyot_io::Error) -> PyErr {
    match error {
        eyot_io::Error::Io { file, source } => {
            let text = source.to_string();
            // Python chooses the subclass (FileNotFoundError, …) by the number.
            let Some(number) = source.raw_os_error() else { return PyOSError::new_err(format!("{file}: {text}")) };
            let text = text.split(" (os error").next().unwrap_or_default().to_owned();
            let made = py.get_type::<PyOSError>().call1((number, text, file));
            made.map_or_else(|error| error, PyErr::from_value)
        }
        eyot_io::Error::NoFolder { .. } => {
            // 2 is "no such file or directory" everywhere.
            let made = py.get_type::<PyOSError>().call1((2, error.to_string()));
            made.map_or_else(|error| error, PyErr::from_value)
        }
        eyot_io::Error::Core(error) => to_py(error),
        other => PyValueError::new_err(other.to_string()),
    }
}
