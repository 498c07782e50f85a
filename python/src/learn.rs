//! Learners of streams.

use std::sync::{Mutex, MutexGuard};

use eyot::{
    Column, EncodeCounts, Head, KernelChoice, Landmarks, LearnerParams, Method, ModelReader, OnlineLearner as _,
    OnlineLoss, OnlineStream, RawArray, RawRows, RawValues, Refresh, Roles, StreamSettings, TableColumn, Target,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyDict};

use crate::classify::Labels;
use crate::columns::{Columns, Encoding, beside_sparse, warn};
use crate::data::{Count, Data};
use crate::error::to_py;
use crate::map::Cells;
use crate::run::run;

/// The column that stands in front of sparse rows in a file.
pub(crate) fn zero_labels(sparse: bool, n_rows: usize) -> Vec<TableColumn> {
    let labels = || TableColumn { name: "label".into(), values: Column::Numbers(vec![0.0; n_rows]) };
    if sparse { vec![labels()] } else { vec![] }
}

/// What a learner is made with.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    method: String,
    regress: bool,
    loss: Option<String>,
    epsilon: Option<f64>,
    eta: Option<f64>,
    eta_width: Option<f64>,
    lambda: Option<f64>,
    budget: Option<Count>,
    rank: Option<Count>,
    landmarks: String,
    frequencies: Option<Count>,
    c: Option<f64>,
    kernel: String,
    gamma: Option<f64>,
    refresh: Option<Count>,
    drift: bool,
    compat: bool,
    init: Count,
    seed: u64,
}

impl Settings {
    fn stream(
        &self,
        cells: &Cells,
        encoding: &Encoding,
        roles: Roles,
        classes: Vec<String>,
    ) -> PyResult<StreamSettings> {
        let refused = |name, expected: String, got: &str| to_py(eyot::Error::Param { name, expected, got: got.into() });
        let names: Vec<&str> = Method::NAMES.iter().map(|(name, _)| *name).collect();
        let method = Method::NAMES.iter().find(|(name, _)| *name == self.method).map(|(_, method)| *method);
        let method = method.ok_or_else(|| refused("method", format!("one of {}", names.join(", ")), &self.method))?;
        let loss = |name: &String| {
            let known: Vec<&str> = OnlineLoss::NAMES.iter().map(|(name, _)| *name).collect();
            let found = OnlineLoss::NAMES.iter().find(|(known, _)| known == name).map(|(_, loss)| *loss);
            found.ok_or_else(|| refused("loss", format!("one of {}", known.join(", ")), name))
        };
        let landmarks = match self.landmarks.as_str() {
            "first" => Landmarks::FirstViolations,
            "uniform" => Landmarks::Uniform,
            other => return Err(refused("landmarks", "first or uniform".into(), other)),
        };
        let is_default = self.kernel == "gaussian" && self.gamma.is_none();
        let kernel = KernelChoice { name: self.kernel.clone(), gamma: self.gamma };
        let learner = LearnerParams {
            regress: self.regress,
            loss: self.loss.as_ref().map(loss).transpose()?,
            epsilon: self.epsilon,
            eta: self.eta,
            eta_width: self.eta_width,
            lambda: self.lambda,
            budget: self.budget.map(|count| count.get("budget")).transpose()?,
            rank: self.rank.map(|count| count.get("rank")).transpose()?,
            landmarks: Some(landmarks),
            frequencies: self.frequencies.map(|count| count.get("frequencies")).transpose()?,
            c: self.c,
            refresh: match (self.drift, self.refresh) {
                (true, _) => Refresh::OnDrift,
                (false, Some(_)) => Refresh::Steadily,
                (false, None) => Refresh::Never,
            },
            refresh_every: self.refresh.map_or(Ok(1000), |count| count.get("refresh"))? as u64,
            compat: self.compat,
            map: cells.params()?.into_inner(),
            seed: self.seed,
            ..LearnerParams::default().method(method)
        };
        let kernel = (!is_default).then_some(kernel);
        let encoder = encoding.params(roles)?.into_inner();
        Ok(StreamSettings { encoder, learner, kernel, init: self.init.get("init")?, classes })
    }
}

/// What is wanted of rows: classes or numbers.
#[derive(FromPyObject)]
pub(crate) enum Wanted<'py> {
    Classes(Labels<'py>),
    Values(PyReadonlyArray1<'py, f64>),
}

/// A learner in the middle of its stream.
#[pyclass(frozen, module = "eyot._eyot")]
pub(crate) struct Learner {
    state: Mutex<State>,
}

struct State {
    stream: OnlineStream,
    target: String,
    columns: Columns,
    /// The columns of a stream before its first row.
    sparse: bool,
}

impl Learner {
    /// The state; the interpreter goes on while another thread has it.
    fn state(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, State>> {
        self.state.lock_py_attached(py).map_err(|_| PyRuntimeError::new_err("a bug in eyot ended this learner"))
    }
}

impl State {
    fn learn(&mut self, rows: RawRows<'_>, target: &TableColumn, run: eyot::Run<'_>) -> eyot::Result<EncodeCounts> {
        let mut counts = EncodeCounts::default();
        let warming = self.stream.is_warming();
        let outcome = self.stream.learn(rows, target, self.columns.plan.as_ref(), &mut counts, run);
        if warming {
            // The encoder may be another one now.
            let plan = self.stream.model().and_then(|model| model.encoder.plan(&self.columns.names));
            self.columns.plan = plan;
        }
        outcome.map(|()| counts)
    }

    /// The values of a row given by names, in the order of the columns: absent ones are 0.
    fn row(&self, x: &Bound<'_, PyDict>) -> PyResult<Vec<f64>> {
        let value = |name: &String| match x.get_item(name)? {
            Some(value) => value.extract().map_err(|_| {
                let kind = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
                PyTypeError::new_err(format!("feature `{name}` must be a number, but is of type {kind}"))
            }),
            None => Ok(0.0),
        };
        self.columns.names.iter().map(value).collect()
    }

    fn scores(&self, rows: RawRows<'_>, run: eyot::Run<'_>) -> eyot::Result<(Vec<f64>, EncodeCounts)> {
        let Some(model) = self.stream.model() else { return Err(eyot::Error::Empty) };
        let mut all = Vec::new();
        let counts = self.columns.batches(&model.encoder, rows, |_, points| {
            all.extend(eyot::scores(&model.learner, points.as_points(), run)?);
            Ok(())
        })?;
        Ok((all, counts))
    }

    fn head(&self) -> PyResult<&Head> {
        self.stream.model().map(|model| model.learner.head()).ok_or_else(|| to_py(eyot::Error::Empty))
    }
}

#[pymethods]
impl Learner {
    /// A learner that has seen nothing; `classes` are labels that are known to come.
    #[new]
    #[pyo3(signature = (names, target, sparse, classes, cells, settings, encoding))]
    fn new(
        py: Python<'_>,
        names: Vec<String>,
        target: String,
        sparse: bool,
        classes: Vec<String>,
        cells: Cells,
        settings: Settings,
        encoding: Encoding,
    ) -> PyResult<Self> {
        let target = if sparse { "label".to_owned() } else { target };
        let roles = beside_sparse(Roles { target: Some(target.clone()), ..Roles::default() }, sparse);
        let settings = settings.stream(&cells, &encoding, roles, classes)?;
        let stream = run(py, 1, None, |_| OnlineStream::new(settings))?;
        let columns = Columns { names, plan: None };
        Ok(Self { state: Mutex::new(State { stream, target, columns, sparse }) })
    }

    /// A learner from the bytes of its file.
    #[staticmethod]
    #[pyo3(signature = (bytes, names=None))]
    pub(crate) fn from_bytes(py: Python<'_>, bytes: &[u8], names: Option<Vec<String>>) -> PyResult<Self> {
        let stream = run(py, 1, None, |_| OnlineStream::load(&ModelReader::parse(bytes)?))?;
        let Some(model) = stream.model() else { return Err(to_py(eyot::Error::Empty)) };
        let columns = Columns::new(&model.encoder, names);
        let target = model.encoder.params().target().unwrap_or("y").to_owned();
        let sparse = model.encoder.is_sparse();
        Ok(Self { state: Mutex::new(State { stream, target, columns, sparse }) })
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = run(py, 1, None, |_| match self.state.lock() {
            Ok(state) => state.stream.to_bytes(),
            Err(_) => Err(eyot::Error::Empty),
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>, Vec<String>))> {
        let maker = py.get_type::<Self>().getattr("from_bytes")?;
        let bytes = self.to_bytes(py)?;
        Ok((maker, (bytes, self.state(py)?.columns.names.clone())))
    }

    /// Learns rows in order.
    #[pyo3(signature = (data, wanted, threads, progress=None))]
    fn learn<'py>(
        &self,
        py: Python<'py>,
        data: Data<'py>,
        wanted: Wanted<'py>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let (names, target, sparse) = {
            let state = self.state(py)?;
            (state.columns.names.clone(), state.target.clone(), state.sparse)
        };
        let rows = data.rows(&names)?;
        let values = match &wanted {
            Wanted::Classes(labels) => labels.column(sparse)?.values,
            Wanted::Values(values) => Column::Numbers(values.as_slice()?.to_vec()),
        };
        let target = TableColumn { name: target, values };
        let (counts, notes) = run(py, threads, progress, |run| {
            let mut state = self.state.lock().map_err(|_| eyot::Error::Empty)?;
            let began = state.stream.model().is_none();
            let counts = state.learn(rows, &target, run)?;
            let notes = state.stream.model().filter(|_| began).map(|model| model.encoder.notes());
            Ok((counts, notes.unwrap_or_default()))
        })?;
        warn(py, notes.into_iter().chain(counts.notes()))
    }

    /// Ends the gathering of first rows: what has come must do.
    fn settle(&self, py: Python<'_>, threads: usize) -> PyResult<()> {
        run(py, threads, None, |run| {
            let mut state = self.state.lock().map_err(|_| eyot::Error::Empty)?;
            state.stream.settle(run)?;
            let plan = state.stream.model().and_then(|model| model.encoder.plan(&state.columns.names));
            state.columns.plan = plan;
            Ok(())
        })
    }

    /// Learns one row of named numbers.
    fn learn_one(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyDict>,
        label: Option<String>,
        value: Option<f64>,
    ) -> PyResult<()> {
        let (values, names, target) = {
            let state = self.state(py)?;
            (state.row(x)?, state.columns.names.clone(), state.target.clone())
        };
        let wanted = match (label, value) {
            (Some(label), _) => Column::Text([Some(label)].into_iter().collect()),
            (None, value) => Column::Numbers(vec![value.unwrap_or(f64::NAN)]),
        };
        let target = TableColumn { name: target, values: wanted };
        run(py, 1, None, |run| {
            let mut state = self.state.lock().map_err(|_| eyot::Error::Empty)?;
            let array = RawArray::new(RawValues::F64(&values), &names)?;
            state.learn(RawRows::Array(array), &target, run).map(drop)
        })
    }

    /// The scores of one row of named numbers, the number of its class if it is one, and the shares of all classes;
    /// `None` before the first row was learned.
    fn score_one(&self, py: Python<'_>, x: &Bound<'_, PyDict>) -> PyResult<Option<(Vec<f64>, Option<u32>, Vec<f64>)>> {
        let values = {
            let state = self.state(py)?;
            if state.stream.model().is_none() {
                return Ok(None);
            }
            state.row(x)?
        };
        run(py, 1, None, |run| {
            let state = self.state.lock().map_err(|_| eyot::Error::Empty)?;
            let array = RawArray::new(RawValues::F64(&values), &state.columns.names)?;
            let (scores, _) = state.scores(RawRows::Array(array), run)?;
            let Some(model) = state.stream.model() else { return Ok(None) };
            let head = model.learner.head();
            let class = match head.predict(&scores) {
                Target::Class(class) => Some(class),
                Target::Value(_) => None,
            };
            Ok(Some((scores.clone(), class, head.shares(&scores))))
        })
    }

    /// The scores of rows: one for up to two classes and for numbers, else one per class; with the number of each row's
    /// class (0 for numbers).
    fn score<'py>(
        &self,
        py: Python<'py>,
        data: Data<'py>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<u32>>)> {
        let names = self.state(py)?.columns.names.clone();
        let rows = data.rows(&names)?;
        let (scores, counts) =
            run(py, threads, None, |run| self.state.lock().map_err(|_| eyot::Error::Empty)?.scores(rows, run))?;
        warn(py, counts.notes())?;
        let state = self.state(py)?;
        let head = state.head()?;
        let width = head.n_scores();
        let class = |scores: &[f64]| match head.predict(scores) {
            Target::Class(class) => class,
            Target::Value(_) => 0,
        };
        let classes: Vec<u32> = scores.chunks(width).map(class).collect();
        Ok((scores.into_pyarray(py).reshape([rows.n_rows(), width])?, classes.into_pyarray(py)))
    }

    /// The share of every class seen so far, from scores.
    fn shares<'py>(
        &self,
        py: Python<'py>,
        scores: numpy::PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let state = self.state(py)?;
        let head = state.head()?;
        let n = scores.as_array().nrows();
        let all: Vec<f64> = scores.as_slice()?.chunks(head.n_scores()).flat_map(|scores| head.shares(scores)).collect();
        let width = all.len().checked_div(n).unwrap_or(head.classes);
        all.into_pyarray(py).reshape([n, width])
    }

    /// The names of the classes, by number.
    #[getter]
    fn classes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.state(py)?.stream.model().map(|model| model.classes.names().to_vec()).unwrap_or_default())
    }

    /// Rows learned.
    #[getter]
    fn n_rows(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.state(py)?.stream.n_rows())
    }

    /// Predictions made before learning, wrong ones among them, and the sum of squared errors.
    #[getter]
    fn tally(&self, py: Python<'_>) -> PyResult<(u64, u64, f64)> {
        let state = self.state(py)?;
        let tally = state.stream.tally();
        Ok((tally.points, tally.mistakes, tally.squared))
    }

    /// Points that the learner keeps, if it keeps points.
    #[getter]
    fn n_kept(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        Ok(self.state(py)?.stream.model().and_then(|model| model.learner.n_kept()))
    }

    /// Whether it learns numbers.
    #[getter]
    fn regress(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.state(py)?.stream.params().regress)
    }

    /// The method's name.
    #[getter]
    fn method(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.state(py)?.stream.params().method.name().to_owned())
    }

    /// The raw columns, in the order of arrays.
    #[getter]
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.state(py)?.columns.names.clone())
    }

    /// Whether it needs sparse columns.
    #[getter]
    fn is_sparse(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.state(py)?.sparse)
    }
}
