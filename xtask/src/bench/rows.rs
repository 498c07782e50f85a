//! The rows of the benchmark: which work, on which sizes, against whom.

use anyhow::Result;
use serde_json::{Value, json};

use super::machine;
use super::results::{Results, failure};
use super::run::{Bench, Peer};
use crate::say;

/// Seconds after which ikpykit is given up.
const IKPYKIT: u64 = 300;

type Row = fn(&Bench, &mut Results) -> Result<()>;

/// In the order of the report.
pub(super) const ROWS: [(&str, Row); 12] = [
    ("peak", machine::peak),
    ("map", map),
    ("ikpykit", ikpykit),
    ("forest", forest),
    ("idk", idk),
    ("stream", stream),
    ("svm", svm),
    ("latency", latency),
    ("threads", threads),
    ("memory", memory),
    ("scaling", scaling),
    ("real", real),
];

/// How large the work is.
pub(super) struct Sizes {
    map: usize,
    columns: [usize; 3],
    cells: [usize; 3],
    ikpykit: usize,
    forest: usize,
    stream: usize,
    svm: usize,
    threads: usize,
    memory: usize,
    scaling: usize,
    real: usize,
    t: usize,
}

impl Sizes {
    /// Those of the report.
    pub(super) const FULL: Self = Self {
        map: 20_000,
        columns: [10, 54, 784],
        cells: [16, 256, 4096],
        ikpykit: 100_000,
        forest: 100_000,
        stream: 200_000,
        svm: 50_000,
        threads: 50_000,
        // More than the buffers for reading hold, so that these are full.
        memory: 800_000,
        scaling: 20_000,
        real: usize::MAX,
        t: 100,
    };

    /// Only to see that everything works.
    pub(super) const SMALL: Self = Self {
        map: 600,
        columns: [3, 10, 40],
        cells: [4, 64, 300],
        ikpykit: 600,
        forest: 2000,
        stream: 3000,
        svm: 1000,
        threads: 1000,
        memory: 3000,
        scaling: 400,
        real: 2000,
        t: 10,
    };
}

const fn peer(who: &'static str, package: &'static str, script: &'static str) -> Peer {
    Peer { who, package, script }
}

const SEARCHES: [Peer; 4] = [
    peer("numpy", "numpy", "maps.py"),
    peer("faiss", "faiss-cpu", "maps.py"),
    peer("scikit-learn", "scikit-learn", "maps.py"),
    peer("scipy", "scipy", "maps.py"),
];

fn map(bench: &Bench, results: &mut Results) -> Result<()> {
    results.forget("map");
    for d in bench.sizes.columns {
        for psi in bench.sizes.cells {
            bench.side_by_side(
                results,
                "map",
                &bench.task(bench.sizes.map, d, psi, bench.sizes.t),
                "map",
                &SEARCHES,
            )?;
        }
    }
    Ok(())
}

fn ikpykit(bench: &Bench, results: &mut Results) -> Result<()> {
    results.forget("ikpykit");
    for d in bench.sizes.columns {
        for psi in bench.sizes.cells {
            let task = bench.task(bench.sizes.ikpykit, d, psi, bench.sizes.t);
            let cells = bench.ours(results, "ikpykit", &task, "map")?;
            // A partitioning at a time in a process of its own: the one may fail where the other does not.
            for cell in cells {
                bench.theirs(results, "ikpykit", &[cell], &peer("ikpykit", "ikpykit", "toolkit.py"), IKPYKIT);
            }
        }
    }
    Ok(())
}

fn forest(bench: &Bench, results: &mut Results) -> Result<()> {
    results.forget("forest");
    let task = bench.task(bench.sizes.forest, 10, 256, 100);
    let peers = [peer("isotree", "isotree", "forests.py"), peer("scikit-learn", "scikit-learn", "forests.py")];
    bench.side_by_side(results, "forest", &task, "forest", &peers)
}

fn idk(bench: &Bench, results: &mut Results) -> Result<()> {
    results.forget("idk");
    let task = bench.task(bench.sizes.forest, 10, 256, 100);
    let peers = [peer("isotree", "isotree", "forests.py"), peer("PyOD INNE", "pyod", "forests.py")];
    bench.side_by_side(results, "idk", &task, "idk", &peers)
}

fn stream(bench: &Bench, results: &mut Results) -> Result<()> {
    results.forget("stream");
    let peers = [
        peer("Vowpal Wabbit", "vowpalwabbit", "stream.py"),
        peer("Vowpal Wabbit, one core", "vowpalwabbit", "stream.py"),
        peer("River", "river", "stream.py"),
    ];
    let mut task = bench.task(bench.sizes.stream, 22, 256, 100);
    task["set"] = "clumps".into();
    bench.side_by_side(results, "stream", &task, "stream", &peers)?;
    if let Some(data) = bench.data.as_ref().filter(|data| data.join("online/ijcnn1.train.parquet").is_file()) {
        task["set"] = "ijcnn1".into();
        task["data"] = json!(data);
        bench.side_by_side(results, "stream", &task, "stream", &peers)?;
    }
    Ok(())
}

fn svm(bench: &Bench, results: &mut Results) -> Result<()> {
    results.forget("svm");
    let task = bench.task(bench.sizes.svm, 10, 256, 100);
    bench.side_by_side(results, "svm", &task, "svm", &[peer("LIBLINEAR", "liblinear-official", "svm.py")])
}

fn latency(bench: &Bench, results: &mut Results) -> Result<()> {
    results.forget("latency");
    let task = bench.task(bench.sizes.svm, 10, 256, 100);
    let cells = bench.ours(results, "latency", &task, "latency")?;
    let from_python = peer("eyot from Python", "eyot", "latency.py");
    match bench.install_wheel() {
        Ok(()) => bench.theirs(results, "latency", &cells, &from_python, 600),
        Err(error) => {
            let message = format!("{error:#}");
            say(&format!("bench: {message}"));
            for cell in &cells {
                results.add("latency", failure(cell, from_python.who, &message));
            }
        }
    }
    bench.theirs(results, "latency", &cells[1..], &peer("scikit-learn", "scikit-learn", "latency.py"), 600);
    Ok(())
}

fn threads(bench: &Bench, results: &mut Results) -> Result<()> {
    results.forget("threads");
    bench.ours(results, "threads", &bench.task(bench.sizes.threads, 54, 256, 100), "threads").map(drop)
}

fn memory(bench: &Bench, results: &mut Results) -> Result<()> {
    results.forget("memory");
    let mut task = bench.task(bench.sizes.memory, 10, 256, 100);
    task["program"] = json!(bench.root.join("target/release/eyot"));
    bench.ours(results, "memory", &task, "memory").map(drop)
}

fn scaling(bench: &Bench, results: &mut Results) -> Result<()> {
    results.forget("scaling");
    let task = bench.task(bench.sizes.scaling, 10, if bench.sizes.t < 100 { 16 } else { 256 }, bench.sizes.t);
    bench.ours(results, "scaling", &task, "scaling").map(drop)
}

/// Sets and the seconds that paper 1 has for them in Table 6, on a processor and on a GPU, and those asked of us.
pub(super) const SETS: [(&str, Option<[f64; 3]>); 9] = [
    ("covtype", Some([100_081.0, 42.0, 10.0])),
    ("ijcnn1", Some([11_999.0, 3.0, 1.0])),
    ("ijcnn1, training rows", None),
    ("mnist", Some([56_774.0, 45.0, 20.0])),
    ("a9a", Some([5_589.0, 3.0, 3.0])),
    ("http", None),
    ("forestcover", None),
    ("eeg_eye", None),
    ("aloi", None),
];

/// How many times faster than brute force the search is asked to be.
pub(super) const FASTER: [(&str, f64); 6] = [
    ("http", 7.0),
    ("forestcover", 4.6),
    ("eeg_eye", 34.2),
    ("ijcnn1, training rows", 34.2),
    ("aloi", 23.5),
    ("covtype", 9.7),
];

fn real(bench: &Bench, results: &mut Results) -> Result<()> {
    let Some(data) = &bench.data else {
        say("bench: no --data, so no real data");
        return Ok(());
    };
    results.forget("real");
    for (set, _) in SETS {
        let psi = bench.sizes.cells[2];
        let mut task: Value = bench.task(bench.sizes.real, 0, psi, bench.sizes.t);
        task["set"] = set.into();
        task["data"] = json!(data);
        let cells = bench.ours(results, "real", &task, "real")?;
        // The two that are best at these sizes. A set that is not there has no cell.
        for peer in SEARCHES.iter().take(2 * cells.len()) {
            bench.theirs(results, "real", &cells, peer, 900);
        }
    }
    Ok(())
}
