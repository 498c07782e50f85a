//! Isolation maps: rows to codes.

use eyot::{
    BallRule, Checked, CodeStore, Codes, Distance, IsolationMapParams, MapModel, ModelReader, NONE, Partition, Radii,
    Roles, similarities,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::columns::{Columns, Encoding, beside_sparse, encode_all, warn};
use crate::data::{Count, Data};
use crate::error::to_py;
use crate::run::run;

/// What a map is made with.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Cells {
    partition: String,
    pub(crate) psi: Count,
    t: Count,
    metric: String,
    seed: u64,
}

impl Cells {
    pub(crate) fn params(&self) -> PyResult<Checked<IsolationMapParams>> {
        let refused = |name, expected: &str, got: &str| {
            to_py(eyot::Error::Param { name, expected: expected.into(), got: got.into() })
        };
        let partition = match self.partition.as_str() {
            "voronoi" => Partition::Voronoi,
            "tree" => Partition::Tree,
            "sphere" => Partition::Sphere,
            other => return Err(refused("partition", "voronoi, tree or sphere", other)),
        };
        let distance = match self.metric.as_str() {
            "euclidean" => Distance::Euclidean,
            "text" => Distance::Text,
            "text-sum" => Distance::TextSum,
            other => return Err(refused("metric", "euclidean, text or text-sum", other)),
        };
        let params = IsolationMapParams::default()
            .partition(partition)
            .psi(self.psi.get("psi")?)
            .t(self.t.get("t")?)
            .seed(self.seed);
        params.max_height(None).rule(BallRule::Nearest).radii(Radii::Distinct).distance(distance).check().map_err(to_py)
    }
}

/// A fitted map.
#[pyclass(frozen, module = "eyot._eyot")]
pub(crate) struct Map {
    model: MapModel,
    columns: Columns,
}

impl Map {
    fn codes(&self, py: Python<'_>, data: &Data<'_>, threads: usize) -> PyResult<Codes> {
        let rows = data.rows(&self.columns.names)?;
        let (codes, counts) = run(py, threads, None, |run| {
            let mut counts = eyot::EncodeCounts::default();
            let plan = self.columns.plan.as_ref();
            let points = rows.encode(&self.model.encoder, plan, 0..rows.n_rows(), &mut counts)?;
            Ok((self.model.map.encode(points.as_points(), run)?, counts))
        })?;
        warn(py, counts.notes())?;
        Ok(codes)
    }
}

#[pymethods]
impl Map {
    /// Fits on rows.
    #[staticmethod]
    #[pyo3(signature = (data, names, cells, encoding, threads, progress=None))]
    fn fit<'py>(
        py: Python<'py>,
        data: Data<'py>,
        names: Vec<String>,
        cells: Cells,
        encoding: Encoding,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let params = cells.params()?;
        let names = data.names(names);
        let sparse = matches!(&data, Data::Frame(frame) if frame.get().is_sparse());
        let encoding = encoding.params(beside_sparse(Roles::default(), sparse))?;
        let rows = data.rows(&names)?;
        let (model, counts) = run(py, threads, progress, |run| {
            let encoder = rows.fit_encoder(encoding, &crate::learn::zero_labels(sparse, rows.n_rows()))?;
            let (points, counts) = encode_all(&encoder, &names, &rows)?;
            Ok((MapModel::fit(&params, encoder, points.as_points(), run)?, counts))
        })?;
        warn(py, model.encoder.notes().into_iter().chain(counts.notes()))?;
        let columns = Columns::new(&model.encoder, Some(names));
        Ok(Self { model, columns })
    }

    /// A map from the bytes of its file.
    #[staticmethod]
    #[pyo3(signature = (bytes, names=None))]
    pub(crate) fn from_bytes(py: Python<'_>, bytes: &[u8], names: Option<Vec<String>>) -> PyResult<Self> {
        let model = run(py, 1, None, |_| MapModel::load(&ModelReader::parse(bytes)?))?;
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

    /// The cells of rows, n × t; 65535 where a row is in none.
    fn encode<'py>(&self, py: Python<'py>, data: Data<'py>, threads: usize) -> PyResult<Bound<'py, PyArray2<u16>>> {
        let codes = self.codes(py, &data, threads)?;
        let cells: Vec<u16> = match codes.store() {
            CodeStore::U8(_) => codes
                .rows()
                .flat_map(eyot::CodeRow::cells)
                .map(|cell| if cell == NONE { u16::MAX } else { cell as u16 })
                .collect(),
            CodeStore::U16(cells) => cells.clone(),
            CodeStore::U32(_) => {
                let (expected, got) = ("at most 65535 to encode in 16 bits".into(), codes.psi().to_string());
                return Err(to_py(eyot::Error::Param { name: "psi", expected, got }));
            }
        };
        cells.into_pyarray(py).reshape([codes.n_rows(), codes.t()])
    }

    /// The sparse features of rows: starts and columns of compressed rows, whose values are all 1.
    fn features<'py>(
        &self,
        py: Python<'py>,
        data: Data<'py>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)> {
        let codes = self.codes(py, &data, threads)?;
        let mut starts = Vec::with_capacity(codes.n_rows() + 1);
        let mut features: Vec<i64> = Vec::with_capacity(codes.n_rows() * codes.t());
        starts.push(0);
        for row in codes.rows() {
            features.extend(row.features().map(|feature| feature as i64));
            starts.push(features.len() as i64);
        }
        Ok((starts.into_pyarray(py), features.into_pyarray(py)))
    }

    /// K(x, y) for all rows of `x` and `y`.
    fn similarity<'py>(
        &self,
        py: Python<'py>,
        x: Data<'py>,
        y: Option<Data<'py>>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = self.codes(py, &x, threads)?;
        let y = y.map(|y| self.codes(py, &y, threads)).transpose()?;
        let y = y.as_ref().unwrap_or(&x);
        let all = run(py, threads, None, |run| similarities(&x, y, run))?;
        all.into_pyarray(py).reshape([x.n_rows(), y.n_rows()])
    }

    /// Number of features, t·ψ.
    #[getter]
    fn n_features(&self) -> usize {
        self.model.map.n_features()
    }

    /// Cells per partitioning in use.
    #[getter]
    fn psi(&self) -> usize {
        self.model.map.psi()
    }

    /// Number of partitionings.
    #[getter]
    fn t(&self) -> usize {
        self.model.map.t()
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
