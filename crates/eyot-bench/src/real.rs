//! Voronoi maps of real data, all rows: with sampling and making the search, and without, beside our own brute force.

use eyot::{Codes, EncoderParams, IsolationMap, IsolationMapParams, PointsBuf, Roles, Run, Scale, Table};
use eyot_io::{ReadOptions, Source, read_table};
use serde_json::json;

use crate::data::write_codes;
use crate::timing::{fastest, result_of};
use crate::{Outcome, Task, map};

/// The files of a set, in order; those after the first are further rows.
const SETS: &[(&str, &[&str])] = &[
    ("covtype", &["online/covtype.parquet"]),
    ("ijcnn1", &["online/ijcnn1.train.parquet", "online/ijcnn1.test.parquet"]),
    ("ijcnn1, training rows", &["online/ijcnn1.train.parquet"]),
    ("mnist", &["online/mnist.train.parquet", "online/mnist.test.parquet"]),
    ("a9a", &["online/a9a.train.svm.zst", "online/a9a.test.svm.zst"]),
    ("http", &["anomaly/http.parquet"]),
    ("forestcover", &["anomaly/forestcover.parquet"]),
    ("eeg_eye", &["anomaly/eeg_eye.parquet"]),
    ("aloi", &["anomaly/aloi.parquet"]),
];

/// Sets whose map is measured beside brute force.
const BESIDE_BRUTE_FORCE: [&str; 6] = ["http", "forestcover", "eeg_eye", "ijcnn1, training rows", "aloi", "covtype"];

/// Rows that are compared with all centres, from everywhere in the set.
const SWEPT: usize = 2048;

/// Two threads at the task's ψ, one thread at it, one thread at ψ = 256, and beside brute force; nothing if the set is
/// not there.
pub(crate) fn run(task: &Task) -> Outcome<()> {
    let (_, files) = SETS.iter().find(|(name, _)| *name == task.set).ok_or("no such set")?;
    if !files.iter().all(|file| task.data.join(file).is_file()) {
        return Ok(());
    }
    let mut points = load(task, files)?;
    if task.n < points.n_rows() {
        points = points.select(&(0..task.n).collect::<Vec<_>>());
    }
    map::write(task, points.as_points())?;
    let work = |psi: usize, run: Run<'static>| {
        let params = IsolationMapParams::default().psi(psi).t(task.t).check()?;
        let encode = |()| {
            let map: IsolationMap = params.fit(points.as_points(), run)?;
            let codes = map.encode(points.as_points(), run)?;
            Ok((codes, map.search()))
        };
        fastest(|| (), encode)
    };
    let shape = |search: &str| json!({ "n": points.n_rows(), "d": points.n_columns(), "search": search });
    let two = work(task.psi, Run::threads(2))?;
    result_of("two threads", &task.set, two.seconds, two.repeats, shape(two.result.1))?;
    let one = work(task.psi, Run::single())?;
    write_codes(&task.folder, &one.result.0)?;
    result_of("eyot", &task.set, one.seconds, one.repeats, shape(one.result.1))?;
    let few = work(256, Run::single())?;
    result_of("psi 256", &task.set, few.seconds, few.repeats, shape(few.result.1))?;
    if BESIDE_BRUTE_FORCE.contains(&&*task.set) { search_alone(task, &points, &one.result.0) } else { Ok(()) }
}

/// One thread, with all that searches use made beforehand: the map of all rows, and brute force on some of them, in the
/// fastest form and in `f32`, scaled up to all. Every code must be the one expected.
fn search_alone(task: &Task, points: &PointsBuf, expected: &Codes) -> Outcome<()> {
    let map = IsolationMapParams::default().psi(task.psi).t(task.t).check()?.fit(points.as_points(), Run::single())?;
    let same = |codes: &Codes, expected: &Codes| {
        if codes == expected { Ok(()) } else { Err(format!("{}: searches do not give the same codes", task.set)) }
    };
    map.encode(points.as_points(), Run::single())?;
    let searched = fastest(|| (), |()| Ok(map.encode(points.as_points(), Run::single())?))?;
    same(&searched.result, expected)?;
    result_of("search alone", &task.set, searched.seconds, searched.repeats, json!({ "search": map.search() }))?;
    let n = points.n_rows();
    let rows: Vec<usize> = (0..n.min(SWEPT)).map(|at| at * n / n.min(SWEPT)).collect();
    let (some, expected) = (points.select(&rows), expected.select(&rows));
    let sweeps = [("brute force", map.sweep(points.as_points())), ("f32", map.sweep_in_f32(points.as_points()))];
    for (who, sweep) in sweeps {
        let sweep = sweep.ok_or("no centres")?;
        let swept = fastest(|| (), |()| Ok(sweep.encode(some.as_points(), Run::single())?))?;
        same(&swept.result, &expected)?;
        let seconds = swept.seconds * n as f64 / rows.len() as f64;
        let more = json!({ "measured": format!("{} rows", rows.len()), "numbers": sweep.numbers() });
        result_of(who, &task.set, seconds, swept.repeats, more)?;
    }
    Ok(())
}

fn load(task: &Task, files: &[&str]) -> Outcome<PointsBuf> {
    let read = |file: &&str| read_table(&mut Source::new(task.data.join(file)), &ReadOptions::default());
    let tables = files.iter().map(read).collect::<Result<Vec<Table>, _>>()?;
    let scale = if tables[0].sparse.is_some() { Scale::None } else { Scale::MinMax };
    // covtype has its seven classes beside the label.
    let roles = Roles { target: Some("label".into()), ignore: vec!["qid".into(), "class".into()], ..Roles::default() };
    let encoder = EncoderParams::default().scale(scale).roles(roles).check()?.fit(&tables[0])?;
    let mut points = encoder.encode(&tables[0])?;
    for table in &tables[1..] {
        for row in encoder.encode(table)?.as_points().rows() {
            points.push(row);
        }
    }
    Ok(points)
}
