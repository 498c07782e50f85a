//! A stream of raw rows, taken as they come, in pieces of any size.
//!
//! Scaling and map are made from the first `init` rows; then these rows are learned, in order, and every row after
//! them. Until they have come there is a provisional model, made anew whenever the rows so far have doubled (1, 2, 4,
//! …), so that there is something to predict with. Learning rows one by one or in pieces gives the same bytes.
//!
//! Every row is predicted before it is learned, and the tally counts these predictions.

use serde::{Deserialize, Serialize};

use super::{LearnerParams, OnlineModel, Tally, Target, Targets, prequential};
use crate::data::{
    ArrayPlan, Classes, EncodeCounts, Encoder, EncoderParams, Points, PointsBuf, RawRows, Table, TableColumn,
};
use crate::error::{Error, Result};
use crate::kernel::AnyKernel;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;
use crate::params::Checked;

/// Raw rows from which a stream begins, encoded.
#[derive(Debug)]
pub struct InitialRows {
    /// Fitted on them.
    pub encoder: Encoder,
    /// The classes among them, sorted.
    pub classes: Classes,
    /// The rows.
    pub points: PointsBuf,
    /// What is wanted for each.
    pub targets: Targets,
}

impl InitialRows {
    /// Fits the encoder and encodes. `known` are classes that will come, even if not among these rows; the target is
    /// the column that the parameters name.
    pub fn of(params: Checked<EncoderParams>, known: Classes, tables: &[Table], regress: bool) -> Result<Self> {
        let target = params.target().map(str::to_owned);
        let column = |table: &'_ Table| -> Result<TableColumn> {
            let found = table.columns.iter().find(|column| Some(&column.name) == target.as_ref());
            found.cloned().ok_or_else(|| Error::Data("there is no column to be the target".into()))
        };
        let mut fit = crate::data::EncoderFit::new(params);
        let mut classes = known;
        for table in tables {
            fit.observe(table)?;
            Targets::of_column(&column(table)?, table.first_row, regress, &mut classes)?;
        }
        classes.sort();
        let encoder = fit.finish()?;
        let (mut points, mut targets): (Option<PointsBuf>, Option<Targets>) = (None, None);
        for table in tables {
            let part = encoder.encode(table)?;
            let wanted = Targets::of_column(&column(table)?, table.first_row, regress, &mut classes)?;
            match &mut points {
                None => points = Some(part),
                Some(points) => part.as_points().rows().for_each(|row| points.push(row)),
            }
            match &mut targets {
                None => targets = Some(wanted),
                Some(targets) => targets.append(wanted),
            }
        }
        let (Some(points), Some(targets)) = (points, targets) else { return Err(Error::Empty) };
        Ok(Self { encoder, classes, points, targets })
    }
}

/// A kernel by name; what it leaves open depends on the columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelChoice {
    /// One of [`AnyKernel::NAMES`].
    pub name: String,
    /// Its sharpness, if it was given.
    pub gamma: Option<f64>,
}

/// How a stream begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamSettings {
    /// How rows are encoded; it names the target.
    pub encoder: EncoderParams,
    /// The learner, but for its kernel.
    pub learner: LearnerParams,
    /// Its kernel, if it is not the default one.
    pub kernel: Option<KernelChoice>,
    /// First rows, from which scaling, map and landmarks are made.
    pub init: usize,
    /// Classes that are known to come.
    pub classes: Vec<String>,
}

/// A learner of raw rows.
#[derive(Debug, Clone)]
pub struct OnlineStream {
    /// Rows before there is a model for good, and how it will be made.
    warm: Option<Box<Warm>>,
    model: Option<OnlineModel>,
    params: LearnerParams,
    rows: u64,
    tally: Tally,
}

#[derive(Debug, Clone)]
struct Warm {
    settings: StreamSettings,
    rows: Option<Table>,
}

impl Warm {
    fn add(&mut self, table: Table) -> Result<()> {
        match &mut self.rows {
            Some(rows) => rows.append(&table),
            rows => {
                *rows = Some(table);
                Ok(())
            }
        }
    }
}

impl OnlineStream {
    /// Has seen nothing yet.
    pub fn new(settings: StreamSettings) -> Result<Self> {
        if settings.init == 0 {
            return Err(Error::Param { name: "init", expected: "at least 1".into(), got: "0".into() });
        }
        let params = settings.learner.clone().check()?.into_inner();
        // Parameters that are wrong in themselves are refused before any row has come.
        let two = PointsBuf::from_rows(&[[0.0], [1.0]])?;
        settings.params(1)?.check()?.start(two.as_points(), Run::single())?;
        settings.encoder.clone().check()?;
        let warm = Some(Box::new(Warm { settings, rows: None }));
        Ok(Self { warm, model: None, params, rows: 0, tally: Tally::default() })
    }

    /// What has been learned; `None` before the first row.
    pub const fn model(&self) -> Option<&OnlineModel> {
        self.model.as_ref()
    }

    /// The parameters in use.
    pub const fn params(&self) -> &LearnerParams {
        &self.params
    }

    /// Rows learned.
    pub const fn n_rows(&self) -> u64 {
        self.rows
    }

    /// How the predictions before learning did.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Whether the first rows are still being gathered.
    pub const fn is_warming(&self) -> bool {
        self.warm.is_some()
    }

    /// Learns rows in order; `target` has one cell per row. `plan` is [`Encoder::plan`] of this stream's encoder for
    /// the columns of an array. A failure leaves everything as it was, except for rows before one at which a
    /// learner diverges.
    pub fn learn(
        &mut self,
        rows: RawRows<'_>,
        target: &TableColumn,
        plan: Option<&ArrayPlan>,
        counts: &mut EncodeCounts,
        run: Run<'_>,
    ) -> Result<()> {
        let n = rows.n_rows();
        if target.values.len() != n {
            return Err(Error::Shape { what: "targets", expected: n, got: target.values.len() });
        }
        let mut first = 0;
        if let Some(warm) = &self.warm {
            let have = self.rows as usize;
            let taken = n.min(warm.settings.init - have);
            let mut table = rows.table(0..taken, std::slice::from_ref(target));
            table.first_row = have;
            let now = have + taken;
            let due = now == warm.settings.init || have == 0 || prev_power_of_two(now) > have;
            if due {
                let mut next = warm.clone();
                next.add(table)?;
                self.restart(next, now, run)?;
            } else {
                self.learn_table(&table, target, counts, run)?;
                if let Some(warm) = &mut self.warm {
                    warm.add(table)?;
                }
            }
            first = taken;
        }
        if first == n {
            return Ok(());
        }
        let Some(model) = &mut self.model else { return Err(Error::Empty) };
        // The plan may be that of a provisional encoder.
        let plan = if first == 0 { plan } else { None };
        let points = rows.encode(&model.encoder, plan, first..n, counts)?;
        let column = TableColumn { name: target.name.clone(), values: target.values.slice(first..n) };
        let targets = Targets::of_column(&column, first, self.params.regress, &mut model.classes)?;
        learn_points(model, points.as_points(), &targets, &mut self.tally, run)?;
        self.rows += (n - first) as u64;
        Ok(())
    }

    /// Ends the gathering of first rows: what has come must do.
    pub fn settle(&mut self, run: Run<'_>) -> Result<()> {
        let Some(warm) = self.warm.clone() else { return Ok(()) };
        let now = self.rows as usize;
        // At a power of two the provisional model was made from all rows.
        if !now.is_power_of_two() {
            self.restart(warm, now, run)?;
        }
        self.warm = None;
        Ok(())
    }

    /// Begins anew from the first rows of a power of two, or from all if that is the end of the beginning.
    fn restart(&mut self, warm: Box<Warm>, now: usize, run: Run<'_>) -> Result<()> {
        let settings = &warm.settings;
        let settled = now == settings.init || now == self.rows as usize;
        let from = if settled { now } else { prev_power_of_two(now) };
        let rows = RawRows::Table(warm.rows.as_ref().ok_or(Error::Empty)?);
        let (begin, rest) = (rows.table(0..from, &[]), rows.table(from..now, &[]));
        let known = Classes::from_names(&settings.classes)?;
        let initial = InitialRows::of(settings.encoder.clone().check()?, known, &[begin], self.params.regress)?;
        let InitialRows { encoder, classes, points, targets } = initial;
        let params = settings.params(encoder.n_columns())?;
        let learner = params.clone().check()?.begin(points.as_points(), &targets, run)?;
        let mut model = OnlineModel { encoder, classes, learner };
        let mut tally = Tally::default();
        learn_points(&mut model, points.as_points(), &targets, &mut tally, run)?;
        let mut next = Self { warm: None, model: Some(model), params, rows: from as u64, tally };
        let target = settings.encoder.target().map(str::to_owned);
        if rest.n_rows > 0 {
            let column = rest.columns.iter().find(|column| Some(&column.name) == target.as_ref());
            next.learn_table(&rest, column.ok_or(Error::Empty)?, &mut EncodeCounts::default(), run)?;
        }
        next.warm = (now < settings.init).then_some(warm);
        *self = next;
        Ok(())
    }

    /// Learns rows of a table that has the target among its columns.
    fn learn_table(
        &mut self,
        table: &Table,
        target: &TableColumn,
        counts: &mut EncodeCounts,
        run: Run<'_>,
    ) -> Result<()> {
        let Some(model) = &mut self.model else { return Err(Error::Empty) };
        let points = model.encoder.encode_counting(table, counts)?;
        let column = table.columns.iter().find(|column| column.name == target.name).ok_or(Error::Empty)?;
        let targets = Targets::of_column(column, table.first_row, self.params.regress, &mut model.classes)?;
        learn_points(model, points.as_points(), &targets, &mut self.tally, run)?;
        self.rows += table.n_rows as u64;
        Ok(())
    }

    /// The bytes of the model file. As long as first rows are being gathered, they are in it too.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let model = self.model.as_ref().ok_or(Error::Empty)?;
        let mut out = ModelWriter::new(OnlineModel::KIND);
        model.describe(&mut out, &self.params, self.rows, &self.tally);
        if let Some(warm) = &self.warm {
            out.put_json("warm", &warm.settings);
            out.put_f64("warm.squared", &[self.tally.squared]);
            warm.rows.as_ref().ok_or(Error::Empty)?.save(&mut out, "warm.rows");
        }
        out.finish()
    }

    /// A stream from the parts of its file.
    pub fn load(from: &ModelReader<'_>) -> Result<Self> {
        from.expect_kind(OnlineModel::KIND)?;
        let model = OnlineModel::read(from)?;
        let params: LearnerParams = from.json("parameters")?;
        let params = params.check().map_err(|error| bad_part("parameters", &error.to_string()))?.into_inner();
        let count = |name: &str| from.trained_on()[name].as_u64().unwrap_or(0);
        let mut tally = Tally { points: count("tested"), mistakes: count("mistakes"), squared: 0.0 };
        let mut warm = None;
        if from.has_json("warm") {
            let settings: StreamSettings = from.json("warm")?;
            tally.squared = from.finite_f64s("warm.squared", 1)?[0];
            let rows = Table::load(from, "warm.rows")?;
            if rows.n_rows as u64 != count("rows") || rows.n_rows >= settings.init {
                return Err(bad_part("warm.rows", "does not go with the rest"));
            }
            warm = Some(Box::new(Warm { settings, rows: Some(rows) }));
        }
        Ok(Self { warm, model: Some(model), params, rows: count("rows"), tally })
    }
}

impl StreamSettings {
    /// The parameters for points of so many columns.
    fn params(&self, columns: usize) -> Result<LearnerParams> {
        let mut params = self.learner.clone();
        if let Some(KernelChoice { name, gamma }) = &self.kernel {
            params.kernel = Some(AnyKernel::named(name, *gamma, self.learner.map.psi, columns)?);
        }
        Ok(params)
    }
}

/// Learns points in order. They are counted one by one, so that pieces of any size give the same sums.
fn learn_points(
    model: &mut OnlineModel,
    points: Points<'_>,
    targets: &Targets,
    tally: &mut Tally,
    run: Run<'_>,
) -> Result<()> {
    let count = |row: usize, predicted: Target, _: &[f64]| tally.add(predicted, targets.get(row));
    prequential(&mut model.learner, points, targets, run, count).map(drop)
}

/// The largest power of two that is not above n.
fn prev_power_of_two(n: usize) -> usize {
    1 << n.max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, RawArray, RawValues, Roles};

    fn settings(init: usize, regress: bool) -> StreamSettings {
        let roles = Roles { target: Some("y".into()), ..Roles::default() };
        let learner = LearnerParams { regress, ..LearnerParams::default() };
        let map = learner.map.clone().psi(8).t(10);
        let learner = learner.map(map);
        StreamSettings { encoder: EncoderParams::default().roles(roles), learner, kernel: None, init, classes: vec![] }
    }

    fn rows(n: usize) -> (Vec<f64>, Vec<f64>) {
        let values: Vec<f64> = (0..2 * n).map(|i| (i * i % 31) as f64 * 0.3).collect();
        let targets = values.chunks(2).map(|row| f64::from(u8::from(row[0] > row[1]))).collect();
        (values, targets)
    }

    /// Learns the rows in pieces of these sizes.
    fn stream(settings: &StreamSettings, pieces: &[usize], n: usize) -> OnlineStream {
        let names = ["a".to_owned(), "b".to_owned()];
        let (values, targets) = rows(n);
        let mut stream = OnlineStream::new(settings.clone()).unwrap();
        let mut first = 0;
        for &piece in pieces.iter().cycle() {
            let end = (first + piece).min(n);
            let array = RawArray::new(RawValues::F64(&values[2 * first..2 * end]), &names).unwrap();
            let target = TableColumn { name: "y".into(), values: Column::Numbers(targets[first..end].to_vec()) };
            let plan = stream.model().and_then(|model| model.encoder.plan(&names));
            let mut counts = EncodeCounts::default();
            stream.learn(RawRows::Array(array), &target, plan.as_ref(), &mut counts, Run::single()).unwrap();
            first = end;
            // What is written and read back goes on as if nothing had happened.
            let bytes = stream.to_bytes().unwrap();
            stream = OnlineStream::load(&ModelReader::parse(&bytes).unwrap()).unwrap();
            assert_eq!(stream.to_bytes().unwrap(), bytes);
            if first == n {
                return stream;
            }
        }
        stream
    }

    #[test]
    fn pieces_of_any_size_give_the_same_bytes() {
        for regress in [false, true] {
            for (init, n) in [(20, 60), (50, 41), (16, 16)] {
                let settings = settings(init, regress);
                let whole = stream(&settings, &[n], n);
                assert_eq!(whole.is_warming(), n < init);
                for pieces in [&[1][..], &[7, 1, 30], &[15]] {
                    let other = stream(&settings, pieces, n);
                    assert!(other.to_bytes().unwrap() == whole.to_bytes().unwrap(), "{pieces:?} of {n}");
                }
            }
        }
    }

    #[test]
    fn settling_is_as_if_no_more_rows_had_been_waited_for() {
        let mut early = stream(&settings(1000, false), &[9], 41);
        early.settle(Run::single()).unwrap();
        let exact = stream(&settings(41, false), &[41], 41);
        assert!(early.to_bytes().unwrap() == exact.to_bytes().unwrap());
        assert_eq!((early.n_rows(), early.tally().points), (41, 41));
    }
}
