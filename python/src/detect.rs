//! Detectors of anomalous rows.

use eyot::{
    Checked, Contamination, DetectMethod, Detector as _, DetectorModel, DetectorParams, LandmarkDraw, ModelReader,
    Roles,
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::columns::{Columns, Encoding, beside_sparse, encode_all, warn};
use crate::data::{Count, Data};
use crate::error::to_py;
use crate::run::run;

/// What a detector is made with.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    method: String,
    psi: Option<Count>,
    max_psi: Option<Count>,
    t: Count,
    sigma: Option<f64>,
    nu: f64,
    landmarks: String,
    contamination: Option<f64>,
    seed: u64,
}

impl Settings {
    pub(crate) fn params(&self) -> PyResult<Checked<DetectorParams>> {
        let method: DetectMethod = self.method.parse().map_err(to_py)?;
        let landmarks = if self.landmarks == "leverage" { LandmarkDraw::Leverage } else { LandmarkDraw::Uniform };
        let params = DetectorParams::default()
            .method(method)
            .psi(self.psi.map(|count| count.get("psi")).transpose()?)
            .t(self.t.get("t")?);
        let params =
            params.max_psi(self.max_psi.map(|count| count.get("max-psi")).transpose()?).sigma(self.sigma).nu(self.nu);
        params.landmarks(landmarks).seed(self.seed).check().map_err(to_py)
    }

    pub(crate) fn contamination(&self) -> PyResult<Contamination> {
        let contamination = self.contamination.map_or(Contamination::Auto, Contamination::Share);
        contamination.check().map_err(to_py)?;
        Ok(contamination)
    }
}

/// A fitted detector.
#[pyclass(frozen, module = "eyot._eyot")]
pub(crate) struct Detector {
    model: DetectorModel,
    columns: Columns,
}

#[pymethods]
impl Detector {
    /// Fits, and scores the same rows.
    #[staticmethod]
    #[pyo3(signature = (data, names, settings, encoding, threads, progress=None))]
    fn fit<'py>(
        py: Python<'py>,
        data: Data<'py>,
        names: Vec<String>,
        settings: Settings,
        encoding: Encoding,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Self, Bound<'py, PyArray1<f64>>)> {
        let (params, contamination) = (settings.params()?, settings.contamination()?);
        let names = data.names(names);
        let sparse = matches!(&data, Data::Frame(frame) if frame.get().is_sparse());
        let encoding = encoding.params(beside_sparse(Roles::default(), sparse))?;
        let rows = data.rows(&names)?;
        let ((model, scores), counts) = run(py, threads, progress, |run| {
            let encoder = rows.fit_encoder(encoding, &crate::learn::zero_labels(sparse, rows.n_rows()))?;
            let (points, counts) = encode_all(&encoder, &names, &rows)?;
            Ok((DetectorModel::fit(&params, contamination, encoder, points.as_points(), run)?, counts))
        })?;
        warn(py, model.encoder.notes().into_iter().chain(counts.notes()))?;
        let columns = Columns::new(&model.encoder, Some(names));
        Ok((Self { model, columns }, scores.into_pyarray(py)))
    }

    /// The same detector with more rows taken in, and the scores of these rows.
    #[pyo3(signature = (data, threads, progress=None))]
    fn extended<'py>(
        &self,
        py: Python<'py>,
        data: Data<'py>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Self, Bound<'py, PyArray1<f64>>)> {
        let rows = data.rows(&self.columns.names)?;
        let (model, scores, counts) = run(py, threads, progress, |run| {
            let (points, counts) = encode_all(&self.model.encoder, &self.columns.names, &rows)?;
            let mut model = self.model.clone();
            let scores = model.extend(points.as_points(), run)?;
            Ok((model, scores, counts))
        })?;
        warn(py, counts.notes())?;
        Ok((Self { model, columns: self.columns.clone() }, scores.into_pyarray(py)))
    }

    /// A detector from the bytes of its file.
    #[staticmethod]
    #[pyo3(signature = (bytes, names=None))]
    pub(crate) fn from_bytes(py: Python<'_>, bytes: &[u8], names: Option<Vec<String>>) -> PyResult<Self> {
        let model = run(py, 1, None, |_| DetectorModel::load(&ModelReader::parse(bytes)?))?;
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

    /// The scores of rows, larger meaning more anomalous.
    fn score<'py>(&self, py: Python<'py>, data: Data<'py>, threads: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rows = data.rows(&self.columns.names)?;
        let (scores, counts) = run(py, threads, None, |run| {
            let mut scores = Vec::with_capacity(rows.n_rows());
            let counts = self.columns.batches(&self.model.encoder, rows, |_, points| {
                scores.extend(self.model.detector.score(points.as_points(), run)?);
                Ok(())
            })?;
            Ok((scores, counts))
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

    /// Why rows are odd: row, raw column and share of every part, and the names of the raw columns.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        data: Data<'py>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Vec<String>)> {
        let rows = data.rows(&self.columns.names)?;
        let (rows, columns, shares, names) = run(py, threads, None, |run| {
            let (mut of_rows, mut columns, mut shares, mut names) = (vec![], vec![], vec![], vec![]);
            self.columns.batches(&self.model.encoder, rows, |part, points| {
                let (raw, explained) = self.model.explain(points.as_points(), run)?;
                names = raw;
                for (row, parts) in part.zip(explained) {
                    for share in parts {
                        of_rows.push(row as i64);
                        columns.push(share.column as i64);
                        shares.push(share.share);
                    }
                }
                Ok(())
            })?;
            Ok((of_rows, columns, shares, names))
        })?;
        Ok((rows.into_pyarray(py), columns.into_pyarray(py), shares.into_pyarray(py), names))
    }

    /// The lowest score that is flagged.
    #[getter]
    fn threshold(&self) -> f64 {
        self.model.threshold.value()
    }

    /// Rows per partitioning in use, where there is one number.
    #[getter]
    fn psi(&self) -> Option<usize> {
        self.model.detector.psi()
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
