//! The Isolation Kernel's feature map: t partitionings of the space, a point becomes its t cells.
//!
//! K(x, y) is the share of partitionings in which x and y fall into the same cell. Cells are small where the data is
//! dense, so two points at equal distance are less similar in a dense region than in a sparse one. The map is exact
//! and finite: Φ(x) has t·ψ entries, at most t of them 1, so K(x, y) = ⟨Φ(x), Φ(y)⟩ / t.
//! Good when densities vary; ψ sets the sharpness and matters, t only lowers the noise (variance K(1 − K)/t).
//!
//! Cost with d columns: fitting one pass for the samples, plus O(t·ψ²·d) for hyperspheres and O(t·ψ·depth·d) for
//! trees; encoding a row O(t·ψ·d) (Voronoi, spheres) or O(t·depth) (trees); memory O(t·ψ) rows.
//!
//! # References
//! Isolation Kernel for online kernel learning, Eq. 1–3; Isolation Distributional Kernel, Eq. 3–5.
//!
//! # Examples
//! ```
//! use eyot::{IsolationMapParams, PointsBuf, Run};
//!
//! let points = PointsBuf::from_rows(&[[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.0, 5.2]])?;
//! let map = IsolationMapParams::default().psi(2).t(200).check()?.fit(points.as_points(), Run::single())?;
//! let codes = map.encode(points.as_points(), Run::single())?;
//! let near = codes.row(0).similarity(codes.row(1));
//! let far = codes.row(0).similarity(codes.row(2));
//! assert!(near > far);
//! # Ok::<(), eyot::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::data::{Distinct, Points, PointsBuf, Row, Values};
use crate::error::{Error, Result};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part, expect_len};
use crate::parallel::Run;
use crate::params::{Checked, in_range};
use crate::partition::{
    BallRule, Cell, Centres, CodeInt, CodeStore, Codes, Distance, Forest, IsolationTree, NONE, Partition, Radii,
    Sampler, Want, squared_radii, with_codes,
};
use crate::rng::{Component, rng_of};

/// Rows that look for their leaves together: enough to share a tree while it is in the cache.
const CHUNK: usize = 2048;

/// Cells per partitioning at the most.
const MAX_PSI: usize = 1 << 24;

/// Partitionings at the most.
const MAX_T: usize = 1 << 20;

/// What an isolation map is made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IsolationMapParams {
    pub(crate) partition: Partition,
    pub(crate) psi: usize,
    pub(crate) t: usize,
    pub(crate) seed: u64,
    pub(crate) max_height: Option<u32>,
    pub(crate) distance: Distance,
    pub(crate) rule: BallRule,
    pub(crate) radii: Radii,
}

impl Default for IsolationMapParams {
    fn default() -> Self {
        Self {
            partition: Partition::Voronoi,
            psi: 256,
            t: 100,
            seed: 0,
            max_height: None,
            distance: Distance::Euclidean,
            rule: BallRule::Nearest,
            radii: Radii::Distinct,
        }
    }
}

impl IsolationMapParams {
    /// How a sample cuts the space.
    #[must_use]
    pub fn partition(mut self, partition: Partition) -> Self {
        self.partition = partition;
        self
    }

    /// Rows sampled for each partitioning, ψ; 256 by default. More than there are rows means all of them.
    #[must_use]
    pub fn psi(mut self, psi: usize) -> Self {
        self.psi = psi;
        self
    }

    /// Number of partitionings, t; 100 by default.
    #[must_use]
    pub fn t(mut self, t: usize) -> Self {
        self.t = t;
        self
    }

    /// Where all randomness comes from; 0 by default.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Height limit of trees; none by default, so every distinct row gets its own leaf.
    #[must_use]
    pub fn max_height(mut self, max_height: Option<u32>) -> Self {
        self.max_height = max_height;
        self
    }

    /// The distance of Voronoi cells and hyperspheres; Euclidean by default.
    #[must_use]
    pub fn distance(mut self, distance: Distance) -> Self {
        self.distance = distance;
        self
    }

    /// Which hypersphere a point belongs to.
    #[must_use]
    pub fn rule(mut self, rule: BallRule) -> Self {
        self.rule = rule;
        self
    }

    /// How hyperspheres treat equal rows.
    #[must_use]
    pub fn radii(mut self, radii: Radii) -> Self {
        self.radii = radii;
        self
    }

    /// Checks the ranges.
    pub fn check(self) -> Result<Checked<Self>> {
        let least = if self.partition == Partition::Sphere { 2 } else { 1 };
        in_range("psi", self.psi, least..=MAX_PSI)?;
        in_range("t", self.t, 1..=MAX_T)?;
        if self.partition == Partition::Tree && self.distance != Distance::Euclidean {
            let expected = "`euclidean` with trees, which use no distance".into();
            return Err(Error::Param { name: "distance", expected, got: "a text distance".into() });
        }
        Ok(Checked::new(self))
    }
}

impl Checked<IsolationMapParams> {
    /// Chooses the rows to keep while reading: see [`Sampler`].
    pub fn sampler(&self) -> Sampler {
        Sampler::new(self.seed, self.t, self.psi)
    }

    /// Fits on rows in memory, numbered from 0.
    pub fn fit(&self, points: Points<'_>, run: Run<'_>) -> Result<IsolationMap> {
        let mut sampler = self.sampler();
        sampler.offer(0, points.n_rows() as u64, run)?;
        let samples = sampler.finish_on(run);
        let mut wanted = vec![false; points.n_rows()];
        for &row in samples.iter().flatten() {
            wanted[row as usize] = true;
        }
        let rows: Vec<u64> = (0..points.n_rows() as u64).filter(|&row| wanted[row as usize]).collect();
        let mut kept = PointsBuf::like(&points);
        for &row in &rows {
            kept.push(points.row(row as usize));
        }
        // Only balls ask how far apart rows are.
        let extent = if self.partition == Partition::Sphere { extent(points) } else { 0.0 };
        self.fit_sample(&samples, &rows, kept, extent, run)
    }

    /// Fits on samples that a [`Sampler`] chose while reading: `rows` are the sampled row numbers, ascending, `points`
    /// those rows in that order, and `extent` the largest range of a column over all rows read (it tells equal rows
    /// from close ones; see [`extent`]). Any chunks or shards of the same rows give the same map.
    pub fn fit_sample(
        &self,
        samples: &[Vec<u64>],
        rows: &[u64],
        points: PointsBuf,
        extent: f64,
        run: Run<'_>,
    ) -> Result<IsolationMap> {
        let psi = samples.first().map_or(0, Vec::len);
        if psi == 0 {
            return Err(Error::Empty);
        }
        if points.n_columns() == 0 {
            return Err(Error::Data("there are no columns to measure by".into()));
        }
        if rows.len() != points.n_rows() {
            return Err(Error::Shape { what: "sampled rows", expected: rows.len(), got: points.n_rows() });
        }
        if psi < 2 && self.partition == Partition::Sphere {
            return Err(Error::Data("hyperspheres need at least two rows, but there is one".into()));
        }
        let members = Run::threads(run.n_threads()).map("sample", samples.len(), |i| {
            let at = |row| match rows.binary_search(row) {
                Ok(at) => Ok(at as u32),
                Err(_) => Err(Error::Data(format!("sampled row {row} is not among the rows"))),
            };
            samples[i].iter().map(at).collect::<Result<Vec<u32>>>()
        })?;
        let members = members.concat();
        let cells = self.cells(points, members, psi, extent, run)?;
        Ok(IsolationMap { params: (**self).clone(), psi, cells })
    }

    fn cells(&self, points: PointsBuf, members: Vec<u32>, psi: usize, extent: f64, run: Run<'_>) -> Result<Cells> {
        if self.partition == Partition::Tree {
            let columns = points.n_columns();
            let trees = run.map("grow trees", members.len() / psi, |i| {
                let members = &members[i * psi..(i + 1) * psi];
                let mut rng = rng_of(self.seed, Component::Tree, i as u64);
                Ok(IsolationTree::grow(points.as_points(), members, self.max_height, &mut rng))
            })?;
            return Ok(Cells::Trees(Forest::new(trees, columns)));
        }
        let centres = Centres::new(points, members, psi, self.distance);
        if self.partition == Partition::Voronoi {
            return Ok(Cells::Voronoi(centres));
        }
        let squared_radii = squared_radii(&centres, self.radii, extent, run)?;
        Ok(Cells::Spheres { centres, squared_radii })
    }
}

/// The largest range of a column, 0 for no rows; absent entries of sparse rows count as 0.
pub fn extent(points: Points<'_>) -> f64 {
    let columns = points.n_columns();
    let (mut min, mut max) = (vec![f64::INFINITY; columns], vec![f64::NEG_INFINITY; columns]);
    let mut entries = vec![0; columns];
    for row in points.rows() {
        for (column, value) in row.nonzeros() {
            min[column] = min[column].min(value);
            max[column] = max[column].max(value);
            entries[column] += 1;
        }
    }
    let range = |column: usize| {
        if entries[column] == 0 {
            0.0
        } else if entries[column] < points.n_rows() {
            max[column].max(0.0) - min[column].min(0.0)
        } else {
            max[column] - min[column]
        }
    };
    (0..columns).map(range).fold(0.0, f64::max)
}

/// A fitted map.
#[derive(Debug, Clone)]
pub struct IsolationMap {
    params: IsolationMapParams,
    psi: usize,
    pub(crate) cells: Cells,
}

/// The cells of all partitionings.
#[derive(Debug, Clone)]
pub(crate) enum Cells {
    Voronoi(Centres),
    /// `squared_radii[i·ψ + j]` belongs to ball j of partitioning i.
    Spheres {
        centres: Centres,
        squared_radii: Vec<f64>,
    },
    Trees(Forest),
}

impl IsolationMap {
    pub(super) const fn from_parts(params: IsolationMapParams, psi: usize, cells: Cells) -> Self {
        Self { params, psi, cells }
    }

    /// The parameters it was made with; ψ there is the one asked for.
    pub const fn params(&self) -> &IsolationMapParams {
        &self.params
    }

    /// Cells per partitioning: the ψ asked for, or the number of rows if that is less.
    pub const fn psi(&self) -> usize {
        self.psi
    }

    /// The ψ asked for, which may be more than the rows there were.
    pub const fn asked_psi(&self) -> usize {
        self.params.psi
    }

    /// The seed it was made with.
    pub const fn seed(&self) -> u64 {
        self.params.seed
    }

    /// Number of partitionings.
    pub const fn t(&self) -> usize {
        self.params.t
    }

    /// Columns that a row must have.
    pub const fn n_columns(&self) -> usize {
        match &self.cells {
            Cells::Voronoi(centres) | Cells::Spheres { centres, .. } => centres.points().n_columns(),
            Cells::Trees(forest) => forest.n_columns(),
        }
    }

    /// Length of Φ(x).
    pub const fn n_features(&self) -> usize {
        self.psi * self.params.t
    }

    pub(super) fn check_width(&self, points: Points<'_>) -> Result<()> {
        if points.n_columns() == self.n_columns() {
            return Ok(());
        }
        Err(Error::Shape { what: "columns", expected: self.n_columns(), got: points.n_columns() })
    }

    /// The codes of all rows; where many repeat, each is searched for once, save in trees, where that costs no more than
    /// noticing it.
    pub fn encode(&self, points: Points<'_>, run: Run<'_>) -> Result<Codes> {
        self.check_width(points)?;
        let distinct = if matches!(self.cells, Cells::Trees(_)) { None } else { Distinct::of(points) };
        match distinct {
            Some(distinct) => Ok(self.encode_each(distinct.rows(), run)?.gather(distinct.of_row())),
            None => self.encode_each(points, run),
        }
    }

    fn encode_each(&self, points: Points<'_>, run: Run<'_>) -> Result<Codes> {
        let mut codes = Codes::zeros(points.n_rows(), self.t(), self.psi, self.params.partition.has_gaps());
        self.prepare(points, run);
        let together = run.evenly(points.n_rows(), self.rows_together());
        with_codes!(CodeStore, codes.store_mut(), cells => {
            run.chunks_mut("map", cells, together * self.t(), |chunk, out| {
                let first = chunk * together;
                self.encode_chunk(points.slice(first..first + out.len() / self.t()), out);
                Ok(())
            })?;
        });
        Ok(codes)
    }

    /// Σ of `worth(feature)` over the ones of Φ(x), for every row, without keeping codes.
    pub(crate) fn totals(
        &self,
        points: Points<'_>,
        run: Run<'_>,
        worth: impl Fn(usize) -> u64 + Sync,
    ) -> Result<Vec<u64>> {
        self.check_width(points)?;
        self.prepare(points, run);
        let mut totals = vec![0; points.n_rows()];
        let together = run.evenly(points.n_rows(), self.rows_together());
        run.chunks_mut("score", &mut totals, together, |chunk, totals| {
            let first = chunk * together;
            self.add_up(points.slice(first..first + totals.len()), totals, &worth);
            Ok(())
        })?;
        Ok(totals)
    }

    /// The same for few rows on the calling thread; a single row asks for no memory, save where it is nearly as far from
    /// two centres.
    pub(crate) fn totals_of_few(
        &self,
        points: Points<'_>,
        totals: &mut [u64],
        worth: impl Fn(usize) -> u64,
    ) -> Result<()> {
        self.check_width(points)?;
        self.prepare(points, Run::single());
        totals.fill(0);
        self.add_up(points, totals, worth);
        Ok(())
    }

    fn add_up(&self, points: Points<'_>, totals: &mut [u64], worth: impl Fn(usize) -> u64) {
        self.cells_of(points, |row, i, cell| {
            if cell != NONE {
                totals[row] += worth(i * self.psi + cell as usize);
            }
        });
    }

    /// Rows that are best mapped together.
    pub(crate) fn rows_together(&self) -> usize {
        match &self.cells {
            Cells::Voronoi(centres) | Cells::Spheres { centres, .. } => centres.rows_together(),
            Cells::Trees(_) => CHUNK,
        }
    }

    /// Makes what finds the cells of rows faster, where that pays for these rows and those before.
    pub(crate) fn prepare(&self, points: Points<'_>, run: Run<'_>) {
        match (&self.cells, self.params.rule) {
            (Cells::Voronoi(centres) | Cells::Spheres { centres, .. }, BallRule::Nearest) => {
                centres.prepare(points, run);
            }
            (Cells::Spheres { .. } | Cells::Voronoi(_), BallRule::Cover) => {}
            (Cells::Trees(forest), _) => forest.prepare(points, run),
        }
    }

    /// How the cells of rows are found: `bits`, `walk`, `sieve`, `certified brute force`, `brute force`,
    /// `inverted lists`, `descent` or `all cuts`. What [`Self::encode`] has chosen changes the time and nothing else.
    pub fn search(&self) -> &'static str {
        match &self.cells {
            Cells::Voronoi(centres) | Cells::Spheres { centres, .. } => centres.search(),
            Cells::Trees(forest) => forest.search(),
        }
    }

    /// The codes of one row.
    ///
    /// # Panics
    /// If `out` does not have t places, or a dense row has another width.
    pub fn encode_row(&self, row: Row<'_>, out: &mut [Cell]) {
        assert_eq!(out.len(), self.t(), "one place per partitioning");
        match row {
            Row::F32(values) => self.encode_alone(Points::trusted(1, values.len(), Values::F32(values)), out),
            Row::F64(values) => self.encode_alone(Points::trusted(1, values.len(), Values::F64(values)), out),
            Row::Sparse(row) => {
                let starts = [0, row.values.len()];
                let values = Values::Sparse { starts: &starts, columns: row.columns, values: row.values };
                self.encode_alone(Points::trusted(1, self.n_columns(), values), out);
            }
        }
    }

    fn encode_alone(&self, point: Points<'_>, out: &mut [Cell]) {
        self.prepare(point, Run::single());
        self.encode_chunk(point, out);
    }

    fn encode_chunk<C: CodeInt>(&self, points: Points<'_>, out: &mut [C]) {
        let t = self.t();
        self.cells_of(points, |row, i, cell| out[row * t + i] = C::from_cell(cell));
    }

    /// Calls `put(row, i, cell)` for every row and partitioning, in no particular order.
    fn cells_of(&self, points: Points<'_>, put: impl FnMut(usize, usize, Cell)) {
        match &self.cells {
            Cells::Voronoi(centres) | Cells::Spheres { centres, .. } => centres.cells(points, self.want(), put),
            Cells::Trees(forest) => forest.cells(points, put),
        }
    }

    /// Which centre a row belongs to.
    pub(super) fn want(&self) -> Want<'_> {
        match (&self.cells, self.params.rule) {
            (Cells::Spheres { squared_radii, .. }, BallRule::Nearest) => Want::Ball(squared_radii),
            (Cells::Spheres { squared_radii, .. }, BallRule::Cover) => Want::Cover(squared_radii),
            (Cells::Voronoi(_) | Cells::Trees(_), _) => Want::Nearest,
        }
    }

    /// The Isolation Kernel of two rows.
    pub fn similarity(&self, x: Row<'_>, y: Row<'_>) -> f64 {
        let (mut of_x, mut of_y) = (vec![0; self.t()], vec![0; self.t()]);
        self.encode_row(x, &mut of_x);
        self.encode_row(y, &mut of_y);
        let matches = of_x.iter().zip(&of_y).filter(|(x, y)| x == y && **x != NONE).count();
        matches as f64 / self.t() as f64
    }
}

impl Persist for IsolationMap {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.parameters"), &self.params);
        match &self.cells {
            Cells::Voronoi(centres) => centres.save(out, prefix),
            Cells::Spheres { centres, squared_radii } => {
                centres.save(out, prefix);
                out.put_f64(&format!("{prefix}.squared_radii"), squared_radii);
            }
            Cells::Trees(forest) => {
                out.put_json(&format!("{prefix}.shape"), &(self.psi, forest.n_columns()));
                forest.save(out, prefix);
            }
        }
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let name = format!("{prefix}.parameters");
        let params: IsolationMapParams = from.json(&name)?;
        let params = params.check().map_err(|error| bad_part(&name, &error.to_string()))?.into_inner();
        let (psi, cells) = if params.partition == Partition::Tree {
            let (psi, columns): (usize, usize) = from.json(&format!("{prefix}.shape"))?;
            (psi, Cells::Trees(Forest::load(from, prefix, params.t, psi, columns)?))
        } else {
            let centres = Centres::load(from, prefix, params.t, params.distance)?;
            let psi = centres.psi();
            let cells = if params.partition == Partition::Voronoi {
                Cells::Voronoi(centres)
            } else {
                let name = format!("{prefix}.squared_radii");
                let squared_radii = expect_len(&name, from.f64s(&name)?, params.t * psi)?;
                if squared_radii.iter().any(|radius| radius.is_nan() || *radius < 0.0) {
                    return Err(bad_part(&name, "a squared radius is negative or no number"));
                }
                Cells::Spheres { centres, squared_radii }
            };
            (psi, cells)
        };
        if psi == 0 || psi > params.psi {
            return Err(bad_part(&name, "psi does not fit the sample"));
        }
        Ok(Self { params, psi, cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_repeat_have_the_codes_they_have_alone() {
        let rows: Vec<[f64; 2]> = (0..1500).map(|i| [f64::from(i % 400), f64::from(i % 400 % 17)]).collect();
        let points = PointsBuf::from_rows(&rows).unwrap();
        for partition in [Partition::Voronoi, Partition::Sphere, Partition::Tree] {
            let params = IsolationMapParams::default().partition(partition).psi(16).t(5).check().unwrap();
            let map = params.fit(points.as_points(), Run::single()).unwrap();
            assert!(Distinct::of(points.as_points()).is_some());
            let codes = map.encode(points.as_points(), Run::threads(2)).unwrap();
            let mut alone = vec![0; 5];
            for row in 0..1500 {
                map.encode_row(points.row(row), &mut alone);
                let together: Vec<Cell> = (0..5).map(|i| codes.row(row).cell(i)).collect();
                assert_eq!(together, alone, "{partition:?}, row {row}");
            }
        }
    }

    /// The cell of a row by the definition alone: samples by sorting all keys, plain loops, no blocks, no bounds.
    fn oracle(params: &IsolationMapParams, points: Points<'_>, x: Row<'_>, i: usize) -> Cell {
        let keys = crate::rng::RowKeys::new(params.seed, i as u64);
        let mut sample: Vec<usize> = (0..points.n_rows()).collect();
        sample.sort_by_key(|&row| keys.key(row as u64));
        sample.truncate(params.psi);
        let between = |a: Row<'_>, b: Row<'_>| {
            let columns = points.n_columns();
            let (mut sum, mut support) = (0.0, 0.0);
            for k in 0..columns {
                let (a, b) = (a.get(k), b.get(k));
                sum += (a - b) * (a - b);
                support += f64::from(u8::from(a != 0.0 || b != 0.0));
            }
            match params.distance {
                Distance::Euclidean => sum,
                _ if support == 0.0 => 0.0,
                Distance::Text => sum / support,
                Distance::TextSum => sum / (support * support),
            }
        };
        let distance = |j: usize| between(x, points.row(sample[j]));
        let first_smallest = |of: &dyn Fn(usize) -> f64, among: Vec<usize>| {
            among.into_iter().reduce(|best, j| if of(j) < of(best) { j } else { best })
        };
        let all: Vec<usize> = (0..sample.len()).collect();
        if params.partition == Partition::Voronoi {
            return first_smallest(&distance, all).unwrap() as Cell;
        }
        let floor = match params.radii {
            Radii::Distinct => 1e-9 * extent(points) * extent(points),
            Radii::Plain => -1.0,
        };
        let radius = |j: usize| {
            let others = (0..sample.len()).filter(|&other| other != j);
            let distances = others.map(|other| between(points.row(sample[j]), points.row(sample[other])));
            distances.filter(|&distance| distance > floor).fold(f64::INFINITY, f64::min)
        };
        let covering = |j: &usize| distance(*j) <= radius(*j);
        let ball = match params.rule {
            BallRule::Nearest => first_smallest(&distance, all).filter(covering),
            BallRule::Cover => first_smallest(&distance, all.into_iter().filter(covering).collect()),
        };
        ball.map_or(NONE, |j| j as Cell)
    }

    /// Sparse-looking lattice data full of exact ties and duplicates, or smooth noise.
    fn data(lattice: bool, n: usize, d: usize) -> PointsBuf {
        let mut rng = rng_of(21, Component::Synthetic, u64::from(lattice));
        let values = (0..n * d).map(|_| match (lattice, rng.below(3)) {
            (true, 0) => rng.below(3) as f64,
            (true, _) => 0.0,
            (false, _) => rng.normal(),
        });
        PointsBuf::from_dense(values.collect(), d).unwrap()
    }

    fn stored(points: &PointsBuf) -> [PointsBuf; 3] {
        let mut single = PointsBuf::dense_f32(points.n_columns());
        let mut rounded = PointsBuf::dense(points.n_columns());
        let mut sparse = PointsBuf::sparse(points.n_columns());
        for row in points.as_points().rows() {
            single.push(row);
        }
        for row in single.as_points().rows() {
            rounded.push(row);
            sparse.push(row);
        }
        [rounded, single, sparse]
    }

    fn all_params() -> Vec<IsolationMapParams> {
        let base = IsolationMapParams::default().psi(13).t(7).seed(3);
        let mut all = vec![base.clone().partition(Partition::Tree)];
        for distance in [Distance::Euclidean, Distance::Text, Distance::TextSum] {
            let base = base.clone().distance(distance);
            all.push(base.clone());
            for rule in [BallRule::Nearest, BallRule::Cover] {
                for radii in [Radii::Distinct, Radii::Plain] {
                    all.push(base.clone().partition(Partition::Sphere).rule(rule).radii(radii));
                }
            }
        }
        all
    }

    #[test]
    fn codes_are_those_of_the_definition() {
        for lattice in [false, true] {
            let [points, ..] = stored(&data(lattice, 150, 6));
            for params in all_params().into_iter().filter(|params| params.partition != Partition::Tree) {
                let map = params.clone().check().unwrap().fit(points.as_points(), Run::single()).unwrap();
                let codes = map.encode(points.as_points(), Run::single()).unwrap();
                for (row, x) in points.as_points().rows().enumerate() {
                    let expected: Vec<Cell> = (0..7).map(|i| oracle(&params, points.as_points(), x, i)).collect();
                    assert_eq!(codes.row(row).cells().collect::<Vec<_>>(), expected, "{params:?}, row {row}");
                }
            }
        }
    }

    #[test]
    fn storage_threads_and_batches_change_no_code() {
        for lattice in [false, true] {
            let kinds = stored(&data(lattice, 1300, 5));
            for params in all_params() {
                let params = params.check().unwrap();
                let expected = {
                    let map = params.fit(kinds[0].as_points(), Run::single()).unwrap();
                    map.encode(kinds[0].as_points(), Run::single()).unwrap()
                };
                for fitted in &kinds {
                    let map = params.fit(fitted.as_points(), Run::threads(2)).unwrap();
                    for asked in &kinds {
                        let codes = map.encode(asked.as_points(), Run::threads(3)).unwrap();
                        assert_eq!(codes, expected, "{params:?}");
                        let mut one = vec![0; 7];
                        map.encode_row(asked.row(1250), &mut one);
                        assert_eq!(one, expected.row(1250).cells().collect::<Vec<_>>());
                    }
                }
            }
        }
    }

    #[test]
    fn a_map_survives_a_model_file() {
        for points in &stored(&data(true, 120, 6)) {
            for params in all_params() {
                let map = params.check().unwrap().fit(points.as_points(), Run::single()).unwrap();
                let bytes = |map: &IsolationMap| {
                    let mut out = ModelWriter::new("test");
                    map.save(&mut out, "map");
                    out.finish().unwrap()
                };
                let saved = bytes(&map);
                let loaded = IsolationMap::load(&ModelReader::parse(&saved).unwrap(), "map").unwrap();
                assert_eq!(bytes(&loaded), saved);
                let encode = |map: &IsolationMap| map.encode(points.as_points(), Run::single()).unwrap();
                assert_eq!(encode(&loaded), encode(&map));
            }
        }
    }

    #[test]
    fn fewer_partitionings_are_a_prefix_of_more() {
        let points = data(false, 300, 4);
        for partition in [Partition::Voronoi, Partition::Tree, Partition::Sphere] {
            let params = IsolationMapParams::default().partition(partition).psi(16);
            let encode = |t| {
                let map = params.clone().t(t).check().unwrap().fit(points.as_points(), Run::single()).unwrap();
                map.encode(points.as_points(), Run::single()).unwrap()
            };
            let (few, many) = (encode(10), encode(20));
            for (few, many) in few.rows().zip(many.rows()) {
                assert!(few.cells().zip(many.cells()).all(|(a, b)| a == b));
            }
        }
    }

    #[test]
    fn fast_searches_change_no_code() {
        let mut rng = rng_of(8, Component::Synthetic, 0);
        let mut clumps = |n: usize, d: u32, spread: f64| {
            let mut points = PointsBuf::dense(d as usize);
            for _ in 0..n {
                let group = rng.below(40) as f64;
                let row: Vec<f64> = (1..=d).map(|k| (group * f64::from(k)).sin() + spread * rng.normal()).collect();
                points.push(Row::F64(&row));
            }
            points
        };
        let (narrow, wide, loose) = (clumps(4000, 16, 0.01), clumps(1500, 300, 0.1), clumps(1500, 300, 5.0));
        for (points, partition, psi, search) in [
            (&narrow, Partition::Voronoi, 256, "walk"),
            (&narrow, Partition::Sphere, 256, "walk"),
            (&narrow, Partition::Voronoi, 16, "certified brute force"),
            (&narrow, Partition::Sphere, 16, "certified brute force"),
            (&wide, Partition::Voronoi, 512, "sieve"),
            (&wide, Partition::Sphere, 512, "sieve"),
            (&loose, Partition::Voronoi, 512, "sieve"),
            (&loose, Partition::Sphere, 512, "sieve"),
        ] {
            let params = IsolationMapParams::default().partition(partition).psi(psi).check().unwrap();
            let fit = || params.fit(points.as_points(), Run::threads(2)).unwrap();
            let (fast, exact) = (fit(), fit());
            let codes = fast.encode(points.as_points(), Run::threads(2)).unwrap();
            assert_eq!((fast.search(), exact.search()), (search, "brute force"));
            let mut one = vec![0; 100];
            for row in (0..points.n_rows()).step_by(97) {
                exact.encode_row(points.row(row), &mut one);
                assert_eq!(codes.row(row).cells().collect::<Vec<_>>(), one);
                fast.encode_row(points.row(row), &mut one);
                assert_eq!(codes.row(row).cells().collect::<Vec<_>>(), one);
            }
        }
    }

    #[test]
    fn psi_is_clamped_to_the_rows() {
        let points = data(false, 5, 2);
        let map =
            IsolationMapParams::default().psi(64).check().unwrap().fit(points.as_points(), Run::single()).unwrap();
        assert_eq!((map.psi(), map.params().psi), (5, 64));
        let codes = map.encode(points.as_points(), Run::single()).unwrap();
        for a in 0..5 {
            for b in 0..5 {
                assert_eq!(codes.row(a).similarity(codes.row(b)), f64::from(u8::from(a == b)));
            }
        }
    }

    #[test]
    fn bad_parameters_and_data_are_refused() {
        let points = data(false, 5, 2);
        assert!(IsolationMapParams::default().psi(0).check().is_err());
        assert!(IsolationMapParams::default().t(0).check().is_err());
        assert!(IsolationMapParams::default().partition(Partition::Sphere).psi(1).check().is_err());
        let params = IsolationMapParams::default().check().unwrap();
        assert_eq!(params.fit(PointsBuf::dense(2).as_points(), Run::single()).unwrap_err(), Error::Empty);
        let map = params.fit(points.as_points(), Run::single()).unwrap();
        assert!(map.encode(data(false, 5, 3).as_points(), Run::single()).is_err());
    }

    #[test]
    fn a_far_point_is_in_no_ball() {
        let points = data(false, 200, 3);
        let params = IsolationMapParams::default().partition(Partition::Sphere).psi(32).check().unwrap();
        let map = params.fit(points.as_points(), Run::single()).unwrap();
        let far = [1e6, 0.0, 0.0];
        assert_eq!(map.similarity(Row::F64(&far), Row::F64(&far)), 0.0);
        assert_eq!(map.similarity(Row::F64(&far), points.row(0)), 0.0);
    }

    #[test]
    fn identical_rows_are_one_cell() {
        let points = PointsBuf::from_rows(&[[1.0, 2.0]; 20]).unwrap();
        for partition in [Partition::Voronoi, Partition::Tree, Partition::Sphere] {
            let params = IsolationMapParams::default().partition(partition).psi(8).check().unwrap();
            let map = params.fit(points.as_points(), Run::single()).unwrap();
            assert_eq!(map.similarity(points.row(0), points.row(7)), 1.0, "{partition:?}");
        }
    }
}
