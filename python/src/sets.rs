//! Classifiers of bags of rows.

use eyot::{
    BagClassifierModel, BagGrid, CceParams, Classes, Column, Distance, IskParams, IsolationMapParams, MiFvParams,
    MiGraphParams, MiKernelParams, ModelReader, Roles, Scale, SetMethod, Sets, SimpleMiParams, TableColumn, TextColumn,
    WitnessParams,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::classify::Labels;
use crate::columns::{Columns, Encoding, beside_sparse, encode_all, warn};
use crate::data::{Count, Data};
use crate::error::to_py;
use crate::run::run;

/// What the column is called that says which bag a row belongs to.
pub(crate) const BAG: &str = "bag";

/// Which rows belong together: offsets, or the number of each row's bag and the bags' names.
#[derive(FromPyObject)]
pub(crate) enum Membership<'py> {
    Offsets(PyReadonlyArray1<'py, i64>),
    Ids(PyReadonlyArray1<'py, i64>, Vec<String>),
}

impl Membership<'_> {
    pub(crate) fn bags(&self, n_rows: usize) -> PyResult<eyot::Bags> {
        match self {
            Self::Offsets(offsets) => {
                let offset = |&offset: &i64| usize::try_from(offset).unwrap_or(usize::MAX);
                let offsets: Vec<usize> = offsets.as_slice()?.iter().map(offset).collect();
                eyot::Bags::from_offsets(&offsets, n_rows).map_err(to_py)
            }
            Self::Ids(codes, names) => {
                let codes = codes.as_slice()?;
                if codes.len() != n_rows {
                    return Err(to_py(eyot::Error::Shape { what: "bag ids", expected: n_rows, got: codes.len() }));
                }
                let code = |&code: &i64| u32::try_from(code).unwrap_or(TextColumn::MISSING);
                let text = TextColumn { levels: names.clone(), codes: codes.iter().map(code).collect() };
                let column = TableColumn { name: BAG.into(), values: Column::Text(text) };
                eyot::Bags::from_column(&column, 0).map_err(to_py)
            }
        }
    }
}

/// The name of every row's bag.
pub(crate) fn names_of_rows(bags: &eyot::Bags) -> TextColumn {
    let mut codes = vec![0; bags.n_rows()];
    for bag in 0..bags.len() {
        bags.rows(bag).iter().for_each(|&row| codes[row] = bag as u32);
    }
    TextColumn { levels: (0..bags.len()).map(|bag| bags.name(bag).to_owned()).collect(), codes }
}

/// What a bag classifier is made with; lists are chosen from, and `None` is the method's own list.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    method: String,
    metric: String,
    t: Count,
    psi: Option<Vec<Count>>,
    epsilon: Option<Vec<f64>>,
    power: Option<Vec<f64>>,
    gamma: Option<Vec<f64>>,
    tau: Option<Vec<f64>>,
    components: Option<Vec<Count>>,
    energy: Option<Vec<f64>>,
    c: Option<Vec<f64>>,
    scale: Option<String>,
    folds: Count,
    seed: u64,
}

impl Settings {
    fn grid(&self) -> PyResult<BagGrid> {
        let refused = |name, expected: &str, got: &str| {
            to_py(eyot::Error::Param { name, expected: expected.into(), got: got.into() })
        };
        let distance = match self.metric.as_str() {
            "euclidean" => Distance::Euclidean,
            "text" => Distance::Text,
            "text-sum" => Distance::TextSum,
            other => return Err(refused("metric", "euclidean, text or text-sum", other)),
        };
        let seed = self.seed;
        let base = match self.method.as_str() {
            "isk" => {
                let map = IsolationMapParams::default().t(self.t.get("t")?).seed(seed).distance(distance);
                let isk = IskParams::default().map(map);
                SetMethod::Isk(isk.weighted(self.epsilon.is_some(), self.tau.is_some()).map_err(to_py)?)
            }
            "mi-kernel" => SetMethod::MiKernel(MiKernelParams::default()),
            "migraph" => SetMethod::MiGraph(MiGraphParams::default()),
            "mifv" => SetMethod::MiFv(MiFvParams::default().seed(seed)),
            "cce" => SetMethod::Cce(CceParams::default().seed(seed)),
            "mi-svm" => SetMethod::MiSvm(WitnessParams::default()),
            "MI-SVM" => SetMethod::MiSvmBag(WitnessParams::default()),
            "simple-mi" => SetMethod::SimpleMi(SimpleMiParams::default()),
            other => {
                let names: Vec<&str> = SetMethod::all(0).iter().map(SetMethod::name).collect();
                return Err(refused("method", &format!("one of {}", names.join(", ")), other));
            }
        };
        let mut grid = BagGrid::of(base);
        let counts = |list: &Vec<Count>, name| list.iter().map(|count| count.get(name)).collect::<PyResult<_>>();
        grid.psis = self.psi.as_ref().map_or(Ok(grid.psis), |list| counts(list, "psi"))?;
        grid.components = self.components.as_ref().map_or(Ok(grid.components), |list| counts(list, "components"))?;
        grid.epsilons = self.epsilon.clone().unwrap_or(grid.epsilons);
        grid.powers = self.power.clone().unwrap_or(grid.powers);
        grid.gammas = self.gamma.clone().unwrap_or(grid.gammas);
        grid.taus = self.tau.clone().unwrap_or(grid.taus);
        grid.energies = self.energy.clone().unwrap_or(grid.energies);
        grid.costs = self.c.clone().unwrap_or(grid.costs);
        match self.scale.as_deref() {
            Some("minmax") => grid.scales = vec![Scale::MinMax],
            Some("standard") => grid.scales = vec![Scale::Standard],
            Some("none") => grid.scales = vec![Scale::None],
            Some(other) => return Err(refused("scale", "minmax, standard or none", other)),
            None => (),
        }
        grid.folds = self.folds.get("cv")?;
        grid.seed = seed;
        grid.check().map_err(to_py)?;
        Ok(grid)
    }
}

/// A fitted classifier of bags.
#[pyclass(frozen, module = "eyot._eyot")]
pub(crate) struct Bags {
    model: BagClassifierModel,
    columns: Columns,
}

impl Bags {
    fn sets(&self, py: Python<'_>, data: &Data<'_>, bags: &Membership<'_>) -> PyResult<Sets> {
        let rows = data.rows(&self.columns.names)?;
        let bags = bags.bags(rows.n_rows())?;
        let (sets, counts) = run(py, 1, None, |_| {
            let (points, counts) = encode_all(&self.model.encoder, &self.columns.names, &rows)?;
            Ok((Sets::new(points.as_points(), &bags)?, counts))
        })?;
        warn(py, counts.notes())?;
        Ok(sets)
    }
}

#[pymethods]
impl Bags {
    /// Fits on bags; `labels` has one entry per bag.
    #[staticmethod]
    #[pyo3(signature = (data, names, bags, labels, settings, encoding, threads, progress=None))]
    fn fit<'py>(
        py: Python<'py>,
        data: Data<'py>,
        names: Vec<String>,
        bags: Membership<'py>,
        labels: Labels<'py>,
        settings: Settings,
        encoding: Encoding,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let grid = settings.grid()?;
        let names = data.names(names);
        let sparse = matches!(&data, Data::Frame(frame) if frame.get().is_sparse());
        let rows = data.rows(&names)?;
        let bags = bags.bags(rows.n_rows())?;
        let wanted = labels.column(sparse)?;
        if wanted.values.len() != bags.len() {
            let (expected, got) = (bags.len(), wanted.values.len());
            return Err(to_py(eyot::Error::Shape { what: "labels of bags", expected, got }));
        }
        let mut classes = Classes::default();
        classes.numbers_or_insert(&wanted, 0).map_err(to_py)?;
        classes.sort();
        let labels = classes.numbers(&wanted, 0).map_err(to_py)?;
        BagClassifierModel::check_bags(&bags, &classes, BAG).map_err(to_py)?;
        let of_rows = names_of_rows(&bags);
        let of_row = |&bag: &u32| Some(classes.name(labels[bag as usize]));
        let target =
            TableColumn { name: wanted.name.clone(), values: Column::Text(of_rows.codes.iter().map(of_row).collect()) };
        let bag = TableColumn { name: BAG.into(), values: Column::Text(of_rows) };
        let roles = Roles { bag: Some(BAG.into()), target: Some(wanted.name), ..Roles::default() };
        let encoding = encoding.params(beside_sparse(roles, sparse))?;
        let (model, counts) = run(py, threads, progress, |run| {
            let encoder = rows.fit_encoder(encoding, &[bag, target])?;
            let (points, counts) = encode_all(&encoder, &names, &rows)?;
            let sets = Sets::new(points.as_points(), &bags)?;
            drop(points);
            let (model, _) = BagClassifierModel::fit(&grid, encoder, classes, (&sets, &labels), run)?;
            Ok((model, counts))
        })?;
        warn(py, model.encoder.notes().into_iter().chain(counts.notes()))?;
        let columns = Columns::new(&model.encoder, Some(names));
        Ok(Self { model, columns })
    }

    /// A classifier from the bytes of its file.
    #[staticmethod]
    #[pyo3(signature = (bytes, names=None))]
    pub(crate) fn from_bytes(py: Python<'_>, bytes: &[u8], names: Option<Vec<String>>) -> PyResult<Self> {
        let model = run(py, 1, None, |_| BagClassifierModel::load(&ModelReader::parse(bytes)?))?;
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

    /// The scores of bags: one for two classes, else one per class; with the number of each bag's class.
    fn score<'py>(
        &self,
        py: Python<'py>,
        data: Data<'py>,
        bags: Membership<'py>,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<u32>>)> {
        let sets = self.sets(py, &data, &bags)?;
        let scores = run(py, threads, None, |run| self.model.classifier.scores(&sets, run))?;
        let classes = self.model.classifier.classes_of(&scores, sets.len());
        let scores = scores.into_pyarray(py).reshape([sets.len(), self.model.classifier.n_scores()])?;
        Ok((scores, classes.into_pyarray(py)))
    }

    /// How much every row speaks for each class, in the order of the rows.
    fn instance_scores<'py>(
        &self,
        py: Python<'py>,
        data: Data<'py>,
        bags: Membership<'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let sets = self.sets(py, &data, &bags)?;
        let ordered = bags.bags(sets.n_instances())?;
        let scores = run(py, threads, None, |run| self.model.classifier.instance_scores(&sets, run))?;
        let width = self.model.classifier.n_scores();
        let mut in_order = vec![0.0; scores.len()];
        for (own, &row) in scores.chunks(width.max(1)).zip(ordered.ordered_rows()) {
            in_order[row * width..(row + 1) * width].copy_from_slice(own);
        }
        in_order.into_pyarray(py).reshape([sets.n_instances(), width])
    }

    /// The parameters that were chosen, as JSON.
    #[getter]
    fn parameters(&self) -> String {
        serde_json::to_string(&self.model.params).unwrap_or_default()
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
