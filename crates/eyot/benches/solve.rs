//! The linear SVM on isolation codes, one thread, minimum of five repeats; one line `work seconds objective` each, with
//! the primal objective reached. With a folder as argument, the codes and labels go there as bytes, for peers to learn
//! from the same features.
#![expect(clippy::print_stdout, reason = "the figures are the result")]

use std::path::Path;
use std::time::Instant;

use eyot::{
    CodeStore, Codes, Component, IsolationMapParams, LinearFit, LinearModel, LinearSvmParams, Loss, PointsBuf, Run,
    rng_of,
};

const REPEATS: usize = 5;
const ROWS: usize = 50_000;
const COLUMNS: usize = 10;

fn main() {
    let (points, labels) = waves();
    let params = IsolationMapParams::default().check().expect("defaults are in range");
    let map = params.fit(points.as_points(), Run::single()).expect("there are rows");
    let codes = map.encode(points.as_points(), Run::threads(2)).expect("the rows fit the map");
    if let Some(folder) = std::env::args().nth(1).filter(|argument| !argument.starts_with('-')) {
        write(Path::new(&folder), &codes, &labels).expect("the folder can be written to");
    }
    for loss in [Loss::SquaredHinge, Loss::Hinge] {
        for c in [0.01, 1.0, 100.0] {
            let params = LinearSvmParams::default().loss(loss).c(c).check().expect("in range");
            let fit = || params.fit(&codes, &labels, 2, None, Run::single()).expect("labels and codes go together");
            let (seconds, fit) = fastest(fit);
            let name = format!("{loss:?} C={c}");
            let objective = primal(&codes, &labels, &fit.model, loss, c);
            println!("{name} {seconds:.4} {objective:.4}");
        }
    }
}

/// Rows in the unit cube; the class follows a wave over several columns, and one label in twenty is wrong.
fn waves() -> (PointsBuf, Vec<u32>) {
    let mut rng = rng_of(0, Component::Synthetic, 0);
    let values: Vec<f64> = (0..ROWS * COLUMNS).map(|_| rng.open01()).collect();
    let label = |x: &[f64]| (6.0 * x[0]).sin() + (5.0 * x[1] * x[2]).cos() + x[3] * x[4] > 1.0;
    let labels = values.chunks(COLUMNS).map(|x| u32::from(label(x) != (rng.below(20) == 0))).collect();
    (PointsBuf::from_dense(values, COLUMNS).expect("finite numbers"), labels)
}

fn fastest(work: impl Fn() -> LinearFit) -> (f64, LinearFit) {
    let time = || {
        let start = Instant::now();
        let fit = work();
        (start.elapsed().as_secs_f64(), fit)
    };
    (0..REPEATS).map(|_| time()).min_by(|a, b| a.0.total_cmp(&b.0)).expect("several repeats")
}

/// ½‖w‖² + C Σ loss on Φ/√t, whose weights are the stored ones times √t.
fn primal(codes: &Codes, labels: &[u32], model: &LinearModel, loss: Loss, c: f64) -> f64 {
    let scores = model.scores(codes, Run::single()).expect("the codes are those it learned from");
    let slack = |(score, &label): (&f64, &u32)| (1.0 - if label == 1 { *score } else { -score }).max(0.0);
    let slacks = scores.iter().zip(labels).map(slack);
    let cost: f64 = slacks.map(|slack| if loss == Loss::Hinge { slack } else { slack * slack }).sum();
    0.5 * codes.t() as f64 * model.weights(0).iter().map(|w| w * w).sum::<f64>() + c * cost
}

/// codes.u8 (row by row) and labels.u8.
fn write(folder: &Path, codes: &Codes, labels: &[u32]) -> std::io::Result<()> {
    let CodeStore::U8(cells) = codes.store() else { unreachable!("256 cells fit a byte") };
    std::fs::write(folder.join("codes.u8"), cells)?;
    std::fs::write(folder.join("labels.u8"), labels.iter().map(|&label| label as u8).collect::<Vec<_>>())
}
