//! The compiled half of the Python package `eyot`: it turns Python's values into those of the core, calls one function
//! of the core, and turns the result back. Everything that computes is in the core; everything that speaks
//! scikit-learn, PyOD or River is in Python, beside this folder.

#![expect(clippy::cast_possible_wrap, reason = "sizes and places are far below 2^63")]
#![expect(clippy::needless_pass_by_value, reason = "pyo3 hands arguments over by value")]
#![expect(clippy::too_many_arguments, reason = "each is called from one place in Python, by name or in this order")]
#![expect(clippy::type_complexity, reason = "tuples of arrays are what Python unpacks")]

mod arrow;
mod classify;
mod columns;
mod data;
mod detect;
mod error;
mod groups;
mod learn;
mod map;
mod run;
mod sets;

use eyot::{
    BagClassifierModel, Classes, ClassifierModel, DetectorModel, GroupModel, MapModel, ModelReader, OnlineModel,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use error::{io_to_py, to_py};

/// The compiled half of `eyot`.
#[pymodule(gil_used = false)]
mod _eyot {
    #[pymodule_export]
    use super::classify::Classifier;
    #[pymodule_export]
    use super::data::Frame;
    #[pymodule_export]
    use super::detect::Detector;
    #[pymodule_export]
    use super::groups::Groups;
    #[pymodule_export]
    use super::learn::Learner;
    #[pymodule_export]
    use super::map::Map;
    #[pymodule_export]
    use super::sets::Bags;
    #[pymodule_export]
    use super::{canonical, describe, inspect, load, panic_for_tests, save};
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

/// Writes a model file, whole or not at all.
#[pyfunction]
fn save(py: Python<'_>, path: std::path::PathBuf, bytes: &[u8]) -> PyResult<()> {
    py.detach(|| eyot_io::save_model(path, bytes)).map_err(|error| io_to_py(py, error))
}

/// The bytes of a model file.
#[pyfunction]
fn load(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Bound<'_, PyBytes>> {
    let bytes = py.detach(|| eyot_io::load_model(path)).map_err(|error| io_to_py(py, error))?;
    Ok(PyBytes::new(py, &bytes))
}

/// The kind of a model, its parameters and its encoder, the last two as JSON.
#[pyfunction]
fn inspect(bytes: &[u8]) -> PyResult<(String, String, String)> {
    let from = ModelReader::parse(bytes).map_err(to_py)?;
    let encoder: serde_json::Value = from.json("encoder").map_err(to_py)?;
    Ok((from.kind().to_owned(), from.parameters().to_string(), encoder.to_string()))
}

/// A model of any kind, as the object of its kind.
#[pyfunction]
fn describe<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let kind = ModelReader::parse(bytes).map_err(to_py)?.kind().to_owned();
    match kind.as_str() {
        DetectorModel::KIND => Ok(Bound::new(py, detect::Detector::from_bytes(py, bytes, None)?)?.into_any()),
        MapModel::KIND => Ok(Bound::new(py, map::Map::from_bytes(py, bytes, None)?)?.into_any()),
        ClassifierModel::KIND => Ok(Bound::new(py, classify::Classifier::from_bytes(py, bytes, None)?)?.into_any()),
        OnlineModel::KIND => Ok(Bound::new(py, learn::Learner::from_bytes(py, bytes, None)?)?.into_any()),
        BagClassifierModel::KIND => Ok(Bound::new(py, sets::Bags::from_bytes(py, bytes, None)?)?.into_any()),
        GroupModel::KIND => Ok(Bound::new(py, groups::Groups::from_bytes(py, bytes, None)?)?.into_any()),
        _ => Err(to_py(ModelReader::parse(bytes).map_err(to_py)?.unknown_kind())),
    }
}

/// Labels as models write them: one that reads as a number is that number in its shortest form.
#[pyfunction]
fn canonical(labels: Vec<String>) -> PyResult<Vec<String>> {
    let name = |label: String| Ok(Classes::from_names([label]).map_err(to_py)?.name(0).to_owned());
    labels.into_iter().map(name).collect()
}

/// Fails as only a bug could, so that tests see what becomes of it.
#[pyfunction(name = "_panic_for_tests")]
fn panic_for_tests(py: Python<'_>) -> PyResult<()> {
    run::run(py, 1, None, |_| -> eyot::Result<()> { panic!("on purpose") })
}
