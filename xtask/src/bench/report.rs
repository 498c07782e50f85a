//! The report: Markdown from the results, nothing else.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

use super::results::Results;
use super::rows::{FASTER, SETS};

/// Asked of the hypersphere and Voronoi maps: in every cell, and in the geometric mean.
const EVERY: f64 = 1.5;
const MEAN: f64 = 4.0;

/// Whether something asked for was reached; `None` if it was not measured.
type Met = Option<bool>;

/// A column of a table: its head, and what our result has to say there.
type Column<'a> = (&'a str, &'a dyn Fn(&Value) -> String);

/// One line of the first table.
struct Line {
    work: Cow<'static, str>,
    against: &'static str,
    asked: Cow<'static, str>,
    measured: String,
    met: Met,
}

/// The first table as lines for a terminal.
pub(super) fn lines(results: &Results) -> Vec<String> {
    let line = |Line { work, against, asked, measured, met }: Line| {
        let measured = if measured.is_empty() { String::new() } else { format!(" {measured};") };
        format!("{work}; against {against}: asked {asked};{measured} met: {}", word(met).trim_matches('*'))
    };
    summary(results).into_iter().map(line).collect()
}

/// The whole page.
pub(super) fn markdown(results: &Results) -> String {
    let mut page = String::from(HEAD);
    let machine = &results.machine;
    let text = |name: &str| machine[name].as_str().unwrap_or("?").to_owned();
    let packages: Vec<String> = machine["packages"]
        .as_object()
        .map(|all| all.iter().map(|(name, version)| format!("{name} {}", version.as_str().unwrap_or("?"))).collect())
        .unwrap_or_default();
    if !machine.is_null() {
        let _ = writeln!(
            page,
            "Machine: {}, {} cores, {} GB. {}, {}; {}.\n",
            text("processor"),
            machine["cores"],
            machine["memory_gb"],
            text("rustc"),
            text("python"),
            packages.join(", ")
        );
        for (row, processor) in machine["elsewhere"].as_object().into_iter().flatten() {
            let _ = writeln!(
                page,
                "The row `{row}` was measured on another machine: {}.\n",
                processor.as_str().unwrap_or("?")
            );
        }
    }
    page.push_str("## Asked and measured\n\n| work | against | asked | measured | met |\n|---|---|---|---|---|\n");
    for Line { work, against, asked, measured, met } in summary(results) {
        let _ = writeln!(page, "| {work} | {against} | {asked} | {measured} | {} |", word(met));
    }
    page.push('\n');
    for section in [peak, map, ikpykit, forest, idk, stream, svm, latency, threads, memory, scaling, real] {
        page.push_str(&section(results));
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

const HEAD: &str = "\
# Benchmarks

`cargo xtask bench` measures everything on this page and writes it, from generated data and, with `--data DIR`, from real
data; `cargo xtask bench ROW..` measures some rows anew. The figures are in [benchmarks.json](benchmarks.json).

Ours and theirs run one after the other on the same data, each in a process of its own, one thread unless said otherwise. The
clock runs only while the work is done: not while a program starts, reads or makes data, or converts it to what it likes best.
Seconds are the minimum of 5 repeats, of 2 where one takes more than 10 s, and of 1 where it takes more than a minute. Ratios
are their seconds over ours: above 1 we are faster. A program that failed is shown with its own words.

";

fn word(met: Met) -> &'static str {
    match met {
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "not measured",
    }
}

fn summary(results: &Results) -> Vec<Line> {
    let grid = ratios(results, "map", &["numpy", "faiss", "scikit-learn", "scipy"]);
    let mut lines = vec![Line {
        work: "Voronoi and hypersphere map, every cell of the grid".into(),
        against: "the best of numpy, faiss, scikit-learn, SciPy",
        asked: "1.5 × in every cell, 4 × in the geometric mean".into(),
        measured: range(&grid),
        met: least(&grid).map(|worst| worst >= EVERY && geometric_mean(&grid) >= MEAN),
    }];
    let toolkit = ratios(results, "ikpykit", &["ikpykit"]);
    let failed = results.row("ikpykit").filter(|line| line["error"].is_string()).count();
    lines.push(Line {
        work: "the same, n = 100,000".into(),
        against: "ikpykit",
        asked: "50 ×, and it finishes where that does not".into(),
        measured: match failed {
            0 => range(&toolkit),
            _ => format!("{}; it failed in {failed} of {} cells", range(&toolkit), results.cells("ikpykit").len()),
        },
        met: least(&toolkit).map(|worst| worst >= 50.0),
    });
    let forests = ratios(results, "forest", &["isotree", "scikit-learn"]);
    lines.push(Line {
        work: "tree map and isolation forest, n = 100,000, d = 10, ψ = 256".into(),
        against: "the faster of isotree and scikit-learn",
        asked: "1.5 ×".into(),
        measured: range(&forests),
        met: least(&forests).map(|worst| worst >= 1.5),
    });
    for (who, asked, words) in [("isotree", 1.0, "1 ×"), ("PyOD INNE", 50.0, "50 ×")] {
        let ratio = ratios(results, "idk", &[who]);
        let against = if who == "isotree" { "isotree's forest" } else { "PyOD's INNE" };
        let met = least(&ratio).map(|worst| worst >= asked);
        let work = "IDK fit + score, same size";
        lines.push(Line { work: work.into(), against, asked: words.into(), measured: range(&ratio), met });
    }
    lines.push(stream_line(results, "Vowpal Wabbit"));
    lines.push(stream_line(results, "Vowpal Wabbit, one core"));
    lines.push(stream_line(results, "River"));
    let svm = ratios(results, "svm", &["LIBLINEAR"]);
    lines.push(Line {
        work: "linear SVM on codes, n = 50,000, t = 100, ψ = 256".into(),
        against: "LIBLINEAR, dual coordinate descent, same stop rule",
        asked: "3 ×".into(),
        measured: range(&svm),
        met: least(&svm).map(|worst| worst >= 3.0),
    });
    lines.extend(latency_lines(results));
    let two = ratios(results, "threads", &["one thread"]);
    lines.push(Line {
        work: "two threads instead of one: map, fit, score".into(),
        against: "itself",
        asked: "1.8 ×".into(),
        measured: range(&two),
        met: least(&two).map(|worst| worst >= 1.8),
    });
    let growth: Vec<f64> = results.cells("memory").iter().filter_map(|cell| growth(results, cell)).collect();
    let most = growth.iter().copied().reduce(f64::max);
    lines.push(Line {
        work: "peak memory of scoring 4n rows of a file".into(),
        against: "of scoring n rows",
        asked: "flat: at most 1.1 times".into(),
        measured: most.map(|most| format!("{most:.2} times at the most")).unwrap_or_default(),
        met: most.map(|most| most <= 1.1),
    });
    for (set, seconds) in SETS {
        let Some([_, _, asked]) = seconds else { continue };
        let Some(ours) = results.seconds("real", set, "two threads") else { continue };
        let (work, words) = match set {
            "covtype" => ("Voronoi map of covtype, ψ = 4096, all rows, two threads", "10 s"),
            "ijcnn1" => ("Voronoi map of ijcnn1, likewise", "1 s"),
            "mnist" => ("Voronoi map of mnist, likewise", "20 s"),
            _ => ("Voronoi map of a9a, likewise", "3 s"),
        };
        let measured = format!("{} s", figure(ours));
        let met = Some(ours < asked);
        lines.push(Line { work: work.into(), against: "a bound", asked: words.into(), measured, met });
    }
    lines.extend(FASTER.iter().filter_map(|&(set, asked)| brute_force_line(results, set, asked)));
    let growths = SETS.iter().filter_map(|(set, _)| growth_of(results, set));
    if let Some(most) = growths.reduce(f64::max) {
        lines.push(Line {
            work: "the same maps at ψ = 4096, one thread, sampling and making the search included".into(),
            against: "ψ = 256",
            asked: "less than 3 times the seconds".into(),
            measured: format!("{} times at the most", figure(most)),
            met: Some(most < 3.0),
        });
    }
    lines
}

/// How many times faster than our own brute force a set is searched.
fn brute_force_line(results: &Results, set: &str, asked: f64) -> Option<Line> {
    let search = results.seconds("real", set, "search alone")?;
    let ratio = |who: &str| Some(results.seconds("real", set, who)? / search);
    let (fastest, single) = (ratio("brute force")?, ratio("f32")?);
    Some(Line {
        work: format!("search alone on {set}, ψ = 4096, one thread").into(),
        against: "our own brute force",
        asked: times(asked).into(),
        measured: format!("{}; {} in f32", times(fastest), times(single)),
        met: Some(fastest >= asked),
    })
}

/// Seconds at ψ = 4096 over those at ψ = 256.
fn growth_of(results: &Results, set: &str) -> Option<f64> {
    Some(results.seconds("real", set, "eyot")? / results.seconds("real", set, "psi 256")?)
}

fn stream_line(results: &Results, who: &'static str) -> Line {
    let ours = results.get("stream", "clumps", "eyot");
    let theirs = results.get("stream", "clumps", who);
    let of = |line: &Value, name: &str| line[name].as_f64();
    let ratio = of(ours, "points_per_second").zip(of(theirs, "points_per_second")).map(|(a, b)| a / b);
    let accuracy = of(ours, "accuracy").zip(of(theirs, "accuracy"));
    let measured = match (ratio, accuracy) {
        (Some(ratio), Some((a, b))) => format!("{}; accuracy {a:.3}, theirs {b:.3}", times(ratio)),
        _ => error_of(theirs),
    };
    Line {
        work: "IK-OGD (trees, t = 100, ψ = 256, d = 22), points per second".into(),
        against: match who {
            "River" => "River's Hoeffding tree",
            "Vowpal Wabbit" => "Vowpal Wabbit, linear, on two cores",
            _ => "Vowpal Wabbit, linear, on one core",
        },
        asked: "2 ×, and better accuracy".into(),
        measured,
        met: ratio.zip(accuracy).map(|(ratio, (a, b))| ratio >= 2.0 && a > b),
    }
}

fn latency_lines(results: &Results) -> Vec<Line> {
    let slowest = |who: &str| {
        let cells = results.cells("latency");
        cells.iter().filter_map(|cell| results.seconds("latency", cell, who)).reduce(f64::max)
    };
    let micro = |seconds: Option<f64>| seconds.map(|seconds| format!("{:.1} µs", 1e6 * seconds)).unwrap_or_default();
    let (rust, python) = (slowest("eyot"), slowest("eyot from Python"));
    let theirs = results.seconds("latency", "isolation forest", "scikit-learn");
    let ratio = theirs.zip(python).map(|(theirs, ours)| theirs / ours);
    let line = |against: &'static str, asked: &'static str, measured: String, met: Met| Line {
        work: "one row scored (t = 100, ψ = 256, d = 10), slower of two detectors".into(),
        against,
        asked: asked.into(),
        measured,
        met,
    };
    vec![
        line("a bound", "5 µs in Rust", micro(rust), rust.map(|s| s <= 5e-6)),
        line("a bound", "25 µs from Python", micro(python), python.map(|s| s <= 25e-6)),
        line(
            "scikit-learn's isolation forest, both from Python",
            "50 ×",
            ratio.map(times).unwrap_or_default(),
            ratio.map(|ratio| ratio >= 50.0),
        ),
    ]
}

/// The best of these over ours, cell by cell, where both have done the work.
fn ratios(results: &Results, row: &str, peers: &[&str]) -> Vec<f64> {
    results.cells(row).iter().filter_map(|cell| ratio(results, row, cell, peers)).collect()
}

fn ratio(results: &Results, row: &str, cell: &str, peers: &[&str]) -> Option<f64> {
    let best = peers.iter().filter_map(|who| results.seconds(row, cell, who)).reduce(f64::min)?;
    Some(best / results.seconds(row, cell, "eyot")?)
}

fn least(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::min)
}

fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

/// The worst and the mean of ratios.
fn range(values: &[f64]) -> String {
    match (values, least(values)) {
        (_, None) => String::new(),
        ([one], _) => times(*one),
        (_, Some(worst)) => format!("worst {}, geometric mean {}", times(worst), times(geometric_mean(values))),
    }
}

fn times(ratio: f64) -> String {
    format!("{} ×", figure(ratio))
}

/// Three digits, never an exponent.
fn figure(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let decimals = (2 - value.abs().log10().floor() as i32).max(0) as usize;
    format!("{value:.decimals$}")
}

fn error_of(line: &Value) -> String {
    line["error"].as_str().map(|error| format!("failed: {}", error.replace('|', "/"))).unwrap_or_default()
}

/// Seconds of one program, with what must be known of them, or its message.
fn seconds(line: &Value) -> String {
    match line["seconds"].as_f64() {
        None => error_of(line),
        Some(seconds) if line["measured"].is_string() => format!("{} (scaled)", figure(seconds)),
        Some(seconds) => figure(seconds),
    }
}

/// A table of the seconds of all, cell by cell, with ratios to these; `more` makes further columns of our result.
fn table(results: &Results, row: &str, peers: &[&str], more: &[Column<'_>]) -> String {
    let whos = results.whos(row);
    if whos.is_empty() {
        return "Not measured yet.\n\n".into();
    }
    let mut head: Vec<String> = vec![String::new()];
    head.extend(whos.iter().map(|who| format!("{who} s")));
    if !peers.is_empty() {
        head.push("ratio".into());
    }
    head.extend(more.iter().map(|(name, _)| (*name).to_owned()));
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for cell in results.cells(row) {
        let mut line = vec![cell.to_owned()];
        line.extend(whos.iter().map(|who| seconds(results.get(row, cell, who))));
        if !peers.is_empty() {
            line.push(ratio(results, row, cell, peers).map(times).unwrap_or_default());
        }
        line.extend(more.iter().map(|(_, of)| of(results.get(row, cell, "eyot"))));
        let _ = writeln!(text, "| {} |", line.join(" | "));
    }
    text + "\n"
}

fn share_of(results: &Results, cell: &'static str, name: &'static str) -> impl Fn(&Value) -> String {
    let peak = results.get("peak", cell, "machine")["per_second"].as_f64();
    move |line| match (line[name].as_f64(), peak) {
        (Some(value), Some(peak)) => format!("{} %", figure(100.0 * value / peak)),
        _ => String::new(),
    }
}

fn search(line: &Value) -> String {
    line["search"].as_str().unwrap_or_default().to_owned()
}

fn peak(results: &Results) -> String {
    let mut text = String::from(
        "## What the machine can do\n\nMeasured by a small program on one thread: multiply-adds that stay in registers, \
         reading 512 MB once, and reading 512 KB again and again, which stay in the second-level cache.\n\n| | per second |\n|---|---|\n",
    );
    for line in results.row("peak") {
        let unit = if line["unit"] == "flops" { "GFLOP" } else { "GB" };
        let giga = line["per_second"].as_f64().map(|value| figure(value / 1e9)).unwrap_or_default();
        let _ = writeln!(text, "| {} | {giga} {unit} |", line["cell"].as_str().unwrap_or_default());
    }
    text + "\n"
}

fn map(results: &Results) -> String {
    let (flops, bytes) = (share_of(results, "fma f32", "flops"), share_of(results, "read memory", "bytes"));
    let agree = results.row("map").filter_map(|line| line["same_codes"].as_f64()).reduce(f64::min);
    let scaled = results.row("map").any(|line| line["measured"].is_string());
    let mut text = String::from(
        "## Maps\n\nVoronoi and hypersphere maps of n = 20,000 rows of normal noise in single precision, t = 100; noise \
         is the hardest case, since nothing can be skipped by structure. The others look for the nearest centre of each \
         partitioning, with the same samples: numpy by blocked matrix products and argmax (block size by trial), faiss \
         by IndexFlatL2, scikit-learn by `pairwise_distances_argmin`, SciPy by cKDTree (leaf size by trial). Ours \
         includes making whatever it searches with. \"FMA\" is the rate at which brute force would have to compute, as a \
         share of the peak above: beyond 100 % distances were avoided; \"bandwidth\" are rows in and codes out.\n\n",
    );
    if let Some(agree) = agree {
        let _ = writeln!(text, "Their codes are ours in at least {:.3} % of all places of a cell.", 100.0 * agree);
    }
    if scaled {
        text.push_str("\"Scaled\" was measured on some partitionings, where all take more than five seconds.\n");
    }
    text.push('\n');
    let grid = ["numpy", "faiss", "scikit-learn", "scipy"];
    let more: [Column<'_>; 3] = [("search", &search), ("FMA", &flops), ("bandwidth", &bytes)];
    text.push_str(&table(results, "map", &grid, &more));
    let all = ratios(results, "map", &grid);
    if let Some(worst) = least(&all) {
        let mean = geometric_mean(&all);
        let below = all.iter().filter(|&&ratio| ratio < EVERY).count();
        let _ = writeln!(
            text,
            "Geometric mean {}, worst cell {}; {below} of {} cells are below {EVERY} ×.\n",
            times(mean),
            times(worst),
            all.len()
        );
    }
    text
}

fn ikpykit(results: &Results) -> String {
    let text = "## ikpykit\n\nThe same maps at n = 100,000 beside the kernel's Python toolkit, `fit` and `transform` of \
                `IsoKernel` (`anne` for Voronoi cells, `inne` for hyperspheres), with no more memory than \
                the machine has free. Ours is the map alone, theirs also draws the samples. \"Scaled\" was measured \
                on some partitionings.\n\n";
    text.to_owned() + &table(results, "ikpykit", &["ikpykit"], &[("search", &search)])
}

fn forest(results: &Results) -> String {
    let text = "## Trees\n\nn = 100,000, d = 10, t = 100 trees of ψ = 256 rows. The tree map finds the leaf of every row \
                in every tree; the isolation forest is grown and scores all rows.\n\n";
    text.to_owned() + &table(results, "forest", &["isotree", "scikit-learn"], &[])
}

fn idk(results: &Results) -> String {
    let text = "## IDK\n\nThe same data and sizes: hyperspheres are fitted, all rows embedded and scored. The ratio is to \
                the faster of the two.\n\n";
    text.to_owned() + &table(results, "idk", &["isotree", "PyOD INNE"], &[("search", &search)])
}

fn stream(results: &Results) -> String {
    let mut text = String::from(
        "## Streams\n\nEvery point is predicted, then learned, from memory. `clumps` is generated: 64 Gaussian clumps in 22 \
         columns, each of one of two classes, one label in twenty wrong. Ours is IK-OGD with its defaults on trees \
         (t = 100, ψ = 256) made of the first 1,000 rows; growing them is included. Vowpal Wabbit is linear with \
         logistic loss, run by its own driver from its own binary cache, with a second thread for its parser, on two cores \
         and on one; River is `HoeffdingTreeClassifier` on ready dictionaries. Accuracy is that of predictions before learning, from row \
         1,000 on.\n\n| stream | program | points per second | accuracy |\n|---|---|---|---|\n",
    );
    for line in results.row("stream") {
        let cell = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let rate = line["points_per_second"].as_f64();
        let rate = rate.map_or_else(|| error_of(line), |rate| format!("{rate:.0}"));
        let accuracy = line["accuracy"].as_f64().map(|share| format!("{share:.4}")).unwrap_or_default();
        let _ = writeln!(text, "| {} | {} | {rate} | {accuracy} |", cell("cell"), cell("who"));
    }
    text + "\n"
}

fn svm(results: &Results) -> String {
    let of = |who: &'static str| {
        move |line: &Value| {
            let cell = line["cell"].as_str().unwrap_or_default();
            let objective = results.get("svm", cell, who)["objective"].as_f64();
            objective.map(|objective| format!("{objective:.2}")).unwrap_or_default()
        }
    };
    let (ours, theirs) = (of("eyot"), of("LIBLINEAR"));
    let text = "## Linear SVM on codes\n\n50,000 rows, t = 100, ψ = 256. LIBLINEAR's dual coordinate descent at the same \
                stop rule (ε = 0.1), on the same features as a sparse matrix; the solver alone. The objective is what \
                both minimise: lower is better.\n\n";
    text.to_owned() + &table(results, "svm", &["LIBLINEAR"], &[("objective", &ours), ("theirs", &theirs)])
}

fn latency(results: &Results) -> String {
    let mut text = String::from(
        "## One row\n\nThe mean of 2,000 calls with one row each, t = 100, ψ = 256, d = 10, on models fitted beforehand. \
         From Python: `score_samples` of the wheel's detectors.\n\n",
    );
    let bytes = results.get("latency", "idk", "eyot")["bytes"].as_f64();
    let rate = results.get("peak", "read second-level cache", "machine")["per_second"].as_f64();
    if let Some((bytes, rate)) = bytes.zip(rate) {
        let _ = writeln!(
            text,
            "What limits IDK is the second-level cache: a row passes all 25,600 centres, {} KB in steps of 16 bits, which \
             take {} µs at the {} GB per second that it delivers, before anything is computed.\n",
            figure(bytes / 1e3),
            figure(1e6 * bytes / rate),
            figure(rate / 1e9)
        );
    }
    text.push_str("| detector | program | µs a row |\n|---|---|---|\n");
    for line in results.row("latency") {
        let cell = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let micro = line["seconds"].as_f64().map_or_else(|| error_of(line), |seconds| figure(1e6 * seconds));
        let _ = writeln!(text, "| {} | {} | {micro} |", cell("cell"), cell("who"));
    }
    text + "\n"
}

fn threads(results: &Results) -> String {
    let text = "## Two threads\n\n50,000 rows of noise, d = 54, t = 100, ψ = 256; one and two threads turn by turn. The \
                column eyot has two threads.\n\n";
    text.to_owned() + &table(results, "threads", &["one thread"], &[])
}

/// Peak memory of scoring 4n rows over that of n rows.
fn growth(results: &Results, cell: &str) -> Option<f64> {
    let peak = |who| results.get("memory", cell, who)["peak_bytes"].as_f64();
    Some(peak("4n rows")? / peak("n rows")?)
}

fn memory(results: &Results) -> String {
    let mut text = String::from(
        "## Memory\n\nPeak memory of `eyot predict MODEL FILE.csv` with one thread, 10 columns, t = 100, ψ = 256. Codes \
         take one byte per partitioning up to ψ = 256 (hyperspheres, which leave gaps: 255), else two.\n\n\
         | method | rows | file MB | peak MB | seconds |\n|---|---|---|---|---|\n",
    );
    for line in results.row("memory") {
        let mega = |name: &str| line[name].as_f64().map(|bytes| figure(bytes / 1e6)).unwrap_or_default();
        let cell = line["cell"].as_str().unwrap_or_default();
        let (file, peak) = (mega("input_bytes"), mega("peak_bytes"));
        let _ = writeln!(text, "| {cell} | {} | {file} | {peak} | {} |", line["rows"], seconds(line));
    }
    text + "\n"
}

fn scaling(results: &Results) -> String {
    let mut text = String::from(
        "## Growth\n\nSeconds of the maps of noise as one size grows; the others stay at n = 20,000, d = 10, ψ = 256, \
         t = 100, one thread.\n\n",
    );
    let cells = results.cells("scaling");
    if cells.is_empty() {
        return text + "Not measured yet.\n\n";
    }
    for cell in cells {
        let _ = writeln!(text, "![{cell}](benchmarks/{cell}.svg)");
    }
    text.push_str("\n| against | map | seconds at each size |\n|---|---|---|\n");
    for line in results.row("scaling") {
        let curve: Vec<[f64; 2]> = serde_json::from_value(line["curve"].clone()).unwrap_or_default();
        let steps: Vec<String> = curve.iter().map(|[x, y]| format!("{x}: {}", figure(*y))).collect();
        let name = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let _ = writeln!(text, "| {} | {} | {} |", name("cell"), name("who"), steps.join(", "));
    }
    text + "\n"
}

fn real(results: &Results) -> String {
    let mut text = String::from(
        "## Real data\n\n`cargo xtask bench real --data DIR`: Voronoi maps of all rows at ψ = 4096, t = 100, sampling and \
         making the search included. Paper seconds are those of *Isolation Kernel for \
         online kernel learning*, Table 6 (whose times contain the learning, a small part, and whose ψ is one of 4 to 4096). The other \
         programs have one thread, the column ψ = 256 too; \"growth\" is one thread at ψ = 4096 over ψ = 256. With `--alone` \
         the other programs, which take hours, are left out.\n\nThe second table has the search alone, one thread, with all that it \
         uses made beforehand, beside our own brute force with its certificate, likewise: the fastest form that a few rows \
         show, and the fastest in `f32`. Brute force is measured on 2,048 rows from everywhere and scaled up; all codes \
         must be those of the search. Where many rows repeat (http), the search looks for each once, brute force does not. \
         What is asked are the factors of a prototype, whose brute force was in `f32`.\n\n",
    );
    if results.cells("real").is_empty() {
        return text + "Not measured yet.\n\n";
    }
    text.push_str(
        "| set | rows × columns | search | two threads s | paper CPU s | paper GPU s | one thread s | numpy s | faiss s | \
         ratio | ψ = 256 s | growth |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (set, paper) in SETS {
        let get = |who: &str| results.get("real", set, who);
        let ours = get("eyot");
        if ours.is_null() {
            continue;
        }
        let cells = [
            set.to_owned(),
            format!("{} × {}", ours["n"], ours["d"]),
            search(ours),
            seconds(get("two threads")),
            paper.map(|[cpu, ..]| cpu.to_string()).unwrap_or_default(),
            paper.map(|[_, gpu, _]| gpu.to_string()).unwrap_or_default(),
            seconds(ours),
            seconds(get("numpy")),
            seconds(get("faiss")),
            ratio(results, "real", set, &["numpy", "faiss"]).map(times).unwrap_or_default(),
            seconds(get("psi 256")),
            growth_of(results, set).map(times).unwrap_or_default(),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text.push_str(
        "\n| set | search alone s | brute force s | in | ratio | asked | brute force in f32 s | in | ratio |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for (set, asked) in FASTER {
        let get = |who: &str| results.get("real", set, who);
        let Some(search) = get("search alone")["seconds"].as_f64() else { continue };
        let mut cells = vec![set.to_owned(), figure(search)];
        for who in ["brute force", "f32"] {
            let ratio = results.seconds("real", set, who).map(|seconds| times(seconds / search));
            cells.push(results.seconds("real", set, who).map(figure).unwrap_or_default());
            cells.push(get(who)["numbers"].as_str().unwrap_or_default().to_owned());
            cells.push(ratio.unwrap_or_default());
            if who == "brute force" {
                cells.push(times(asked));
            }
        }
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_have_three_digits() {
        assert_eq!(
            [0.001_234_5, 1.234, 12.34, 123.4, 12_340.0].map(figure),
            ["0.00123", "1.23", "12.3", "123", "12340"]
        );
    }

    #[test]
    fn the_worst_cell_and_the_best_peer_decide() {
        let mut results = Results::open(std::path::Path::new("there is no such file")).unwrap();
        for (cell, who, seconds) in [("a", "eyot", 1.0), ("a", "numpy", 4.0), ("a", "faiss", 2.0), ("b", "eyot", 1.0)] {
            results.add("map", json!({ "cell": cell, "who": who, "seconds": seconds }));
        }
        results.add("map", json!({ "cell": "b", "who": "numpy", "error": "MemoryError" }));
        results.add("map", json!({ "cell": "b", "who": "faiss", "seconds": 32.0 }));
        assert_eq!(ratios(&results, "map", &["numpy", "faiss"]), [2.0, 32.0]);
        let page = markdown(&results);
        assert!(page.contains("Geometric mean 8.00 ×, worst cell 2.00 ×; 0 of 2 cells are below 1.5 ×."), "{page}");
        assert!(page.contains("failed: MemoryError"), "{page}");
    }

    #[test]
    fn brute_force_is_compared_with_the_search_alone() {
        let mut results = Results::open(std::path::Path::new("there is no such file")).unwrap();
        for (who, seconds) in
            [("eyot", 2.0), ("psi 256", 1.0), ("search alone", 1.5), ("brute force", 9.0), ("f32", 18.0)]
        {
            results.add("real", json!({ "cell": "http", "who": who, "seconds": seconds, "numbers": "f32 products" }));
        }
        let page = markdown(&results);
        assert!(page.contains("| our own brute force | 7.00 × | 6.00 ×; 12.0 × in f32 | **no** |"), "{page}");
        assert!(
            page.contains("| http | 1.50 | 9.00 | f32 products | 6.00 × | 7.00 × | 18.0 | f32 products | 12.0 × |")
        );
        assert!(page.contains("| less than 3 times the seconds | 2.00 times at the most | yes |"), "{page}");
    }
}
