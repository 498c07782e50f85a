//! Detectors of anomalous groups of rows.

use eyot::{Bags, Column, GroupModel, ModelReader, Roles, TableColumn};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::columns::{Columns, Encoding, beside_sparse, encode_all, warn};
use crate::data::Data;
use crate::detect::Settings;
use crate::run::run;
use crate::sets::{BAG, Membership};

/// A fitted detector of groups.
#[pyclass(frozen, module = "eyot._eyot")]
pub(crate) struct Groups {
    model: GroupModel,
    columns: Columns,
}

/// The number of every row's group.
fn numbers(bags: &Bags) -> Vec<u32> {
    let mut numbers = vec![0; bags.n_rows()];
    for bag in 0..bags.len() {
        bags.rows(bag).iter().for_each(|&row| numbers[row] = bag as u32);
    }
    numbers
}

#[pymethods]
impl Groups {
    /// Fits, and scores the same groups.
    #[staticmethod]
    #[pyo3(signature = (data, names, groups, settings, encoding, threads, progress=None))]
    fn fit<'py>(
        py: Python<'py>,
        data: Data<'py>,
        names: Vec<String>,
        groups: Membership<'py>,
        settings: Settings,
        encoding: Encoding,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Self, Bound<'py, PyArray1<f64>>)> {
        let (params, contamination) = (settings.params()?, settings.contamination()?);
        let names = data.names(names);
        let sparse = matches!(&data, Data::Frame(frame) if frame.get().is_sparse());
        let roles = Roles { bag: Some(BAG.into()), ..Roles::default() };
        let encoding = encoding.params(beside_sparse(roles, sparse))?;
        let rows = data.rows(&names)?;
        let bags = groups.bags(rows.n_rows())?;
        let column = TableColumn { name: BAG.into(), values: Column::Text(crate::sets::names_of_rows(&bags)) };
        let ((model, scores), counts) = run(py, threads, progress, |run| {
            let mut more = crate::learn::zero_labels(sparse, rows.n_rows());
            more.push(column);
            let encoder = rows.fit_encoder(encoding, &more)?;
            let (points, counts) = encode_all(&encoder, &names, &rows)?;
            let groups = numbers(&bags);
            let groups = (&groups[..], bags.len());
            let fit = GroupModel::fit(&params, contamination, BAG.into(), encoder, points.as_points(), groups, run);
            Ok((fit?, counts))
        })?;
        warn(py, model.encoder.notes().into_iter().chain(counts.notes()))?;
        let columns = Columns::new(&model.encoder, Some(names));
        Ok((Self { model, columns }, scores.into_pyarray(py)))
    }

    /// A detector from the bytes of its file.
    #[staticmethod]
    #[pyo3(signature = (bytes, names=None))]
    pub(crate) fn from_bytes(py: Python<'_>, bytes: &[u8], names: Option<Vec<String>>) -> PyResult<Self> {
        let model = run(py, 1, None, |_| GroupModel::load(&ModelReader::parse(bytes)?))?;
        let columns = Columns::new(&model.encoder, names);
        Ok(Self { model, columns })
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &run(py, 1, None, |_| self.model.to_bytes())?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>, Vec<String>))> {
        let maker = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((maker, (self.to_bytes(py)?, self.columns.names.clone())))
    }

    /// The scores of groups, larger meaning more anomalous.
    fn score<'py>(
        &self,
        py: Python<'py>,
        data: Data<'py>,
        groups: Membership<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = data.rows(&self.columns.names)?;
        let bags = groups.bags(rows.n_rows())?;
        let (scores, counts) = run(py, threads, None, |run| {
            let (points, counts) = encode_all(&self.model.encoder, &self.columns.names, &rows)?;
            Ok((self.model.detector.score(points.as_points(), &numbers(&bags), bags.len(), run)?, counts))
        })?;
        warn(py, counts.notes())?;
        Ok(scores.into_pyarray(py))
    }

    /// Probability-like scores from 0 to 1, 0.5 at the threshold.
    fn probability<'py>(
        &self,
        py: Python<'py>,
        scores: numpy::PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let probability = |&score: &f64| self.model.threshold.probability(score);
        Ok(scores.as_slice()?.iter().map(probability).collect::<Vec<f64>>().into_pyarray(py))
    }

    /// The lowest score that is flagged.
    #[getter]
    fn threshold(&self) -> f64 {
        self.model.threshold.value()
    }

    /// The raw columns, in the order of arrays.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.columns.names.clone()
    }

    /// Whether it needs sparse columns.
    #[getter]
    fn is_sparse(&self) -> bool {
        self.model.encoder.is_sparse()
    }
}
