//! Batch classifiers of rows.

use eyot::{
    Checked, Classes, ClassifierModel, ClassifierParams, Column, LinearSvmParams, Loss, ModelReader, Roles,
    TableColumn, TextColumn, stratified_folds,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::columns::{Columns, Encoding, beside_sparse, encode_all, owned, warn};
use crate::data::{Count, Data};
use crate::error::to_py;
use crate::map::Cells;
use crate::run::run;

/// The classes of rows: the number of each row's label, the labels as text, and what the column is called.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
#[expect(clippy::struct_field_names, reason = "these are the keys of a dict")]
pub(crate) struct Labels<'py> {
    codes: PyReadonlyArray1<'py, i64>,
    labels: Vec<String>,
    name: String,
}

impl Labels<'_> {
    /// As a column of a table.
    pub(crate) fn column(&self, sparse: bool) -> PyResult<TableColumn> {
        let codes: Vec<u32> = self.codes.as_slice()?.iter().map(|&code| code as u32).collect();
        let text = TextColumn { levels: self.labels.clone(), codes };
        // Levels are numbered by first appearance, as a reader of files does.
        let text = text.select(&(0..text.codes.len()).collect::<Vec<_>>());
        let name = if sparse { "label".to_owned() } else { self.name.clone() };
        Ok(TableColumn { name, values: Column::Text(text) })
    }
}

/// What a classifier is made with.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    c: f64,
    loss: String,
    bias: bool,
    balance: bool,
    /// Factors of C, by the labels as they are given.
    weights: Option<Vec<f64>>,
    /// Folds that probabilities are learned on; none without them.
    folds: Option<Count>,
    seed: u64,
}

impl Settings {
    fn params(&self, cells: &Cells, weights: Option<Vec<f64>>) -> PyResult<Checked<ClassifierParams>> {
        let loss = match self.loss.as_str() {
            "hinge" => Loss::Hinge,
            "squared_hinge" => Loss::SquaredHinge,
            other => {
                let (expected, got) = ("hinge or squared_hinge".into(), other.into());
                return Err(to_py(eyot::Error::Param { name: "loss", expected, got }));
            }
        };
        let svm = LinearSvmParams::default().c(self.c).loss(loss).bias(self.bias).seed(self.seed);
        let svm = svm.class_weights(weights);
        ClassifierParams::IkSvm { map: cells.params()?.into_inner(), svm }.check().map_err(to_py)
    }
}

/// A fitted classifier.
#[pyclass(frozen, module = "eyot._eyot")]
pub(crate) struct Classifier {
    model: ClassifierModel,
    columns: Columns,
}

#[pymethods]
impl Classifier {
    /// Fits on rows; also says whether the solver met its stop rule.
    #[staticmethod]
    #[pyo3(signature = (data, names, labels, cells, settings, encoding, threads, progress=None))]
    fn fit<'py>(
        py: Python<'py>,
        data: Data<'py>,
        names: Vec<String>,
        labels: Labels<'py>,
        cells: Cells,
        settings: Settings,
        encoding: Encoding,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Self, bool)> {
        let names = data.names(names);
        let sparse = matches!(&data, Data::Frame(frame) if frame.get().is_sparse());
        let target = labels.column(sparse)?;
        let roles = Roles { target: Some(target.name.clone()), ..Roles::default() };
        let encoding = encoding.params(beside_sparse(roles, sparse))?;
        let rows = data.rows(&names)?;
        let mut classes = Classes::default();
        classes.numbers_or_insert(&target, 0).map_err(to_py)?;
        classes.sort();
        let numbers = classes.numbers(&target, 0).map_err(to_py)?;
        let folds = settings.folds.map(|folds| folds.get("cv")).transpose()?;
        let mut weights = settings.balance.then(|| eyot::balanced_weights(&numbers, classes.len()));
        if let Some(given) = &settings.weights {
            let mut by_class = vec![1.0; classes.len()];
            for (label, &weight) in labels.labels.iter().zip(given) {
                if let Some(class) = classes.number(label) {
                    by_class[class as usize] = weight;
                }
            }
            weights = Some(by_class);
        }
        let params = settings.params(&cells, weights)?;
        let (model, converged, counts) = run(py, threads, progress, |run| {
            let encoder = rows.fit_encoder(encoding, std::slice::from_ref(&target))?;
            let (points, counts) = encode_all(&encoder, &names, &rows)?;
            let points = owned(points);
            let folds = folds.map(|folds| stratified_folds(&numbers, folds, settings.seed)).transpose()?;
            let fit = ClassifierModel::fit(&params, encoder, classes, (&points, &numbers), folds.as_ref(), run)?;
            Ok((fit.0, fit.1, counts))
        })?;
        warn(py, model.encoder.notes().into_iter().chain(counts.notes()))?;
        let columns = Columns::new(&model.encoder, Some(names));
        Ok((Self { model, columns }, converged))
    }

    /// A classifier from the bytes of its file.
    #[staticmethod]
    #[pyo3(signature = (bytes, names=None))]
    pub(crate) fn from_bytes(py: Python<'_>, bytes: &[u8], names: Option<Vec<String>>) -> PyResult<Self> {
        let model = run(py, 1, None, |_| ClassifierModel::load(&ModelReader::parse(bytes)?))?;
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

    /// The scores of rows: one for two classes, else one per class; with the number of each row's class.
    fn score<'py>(
        &self,
        py: Python<'py>,
        data: Data<'py>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<u32>>)> {
        let rows = data.rows(&self.columns.names)?;
        let width = self.model.classifier.n_scores();
        let (scores, counts) = run(py, threads, None, |run| {
            let mut scores = Vec::with_capacity(rows.n_rows() * width);
            let counts = self.columns.batches(&self.model.encoder, rows, |_, points| {
                scores.extend(self.model.classifier.scores(points.as_points(), run)?);
                Ok(())
            })?;
            Ok((scores, counts))
        })?;
        warn(py, counts.notes())?;
        let classes = self.model.classifier.head().classes_of(&scores, rows.n_rows());
        Ok((scores.into_pyarray(py).reshape([rows.n_rows(), width])?, classes.into_pyarray(py)))
    }

    /// The probability of every class from scores, if it has learned any.
    fn probability<'py>(
        &self,
        py: Python<'py>,
        scores: numpy::PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let n = scores.as_array().nrows();
        let Some(all) = self.model.classifier.probabilities_of(scores.as_slice()?, n) else { return Ok(None) };
        Ok(Some(all.into_pyarray(py).reshape([n, self.model.classes.len()])?))
    }

    /// The names of the classes, by number.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.classes.names().to_vec()
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
