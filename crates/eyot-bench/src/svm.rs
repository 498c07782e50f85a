//! The linear SVM on isolation codes; each result has the primal objective reached.

use eyot::{Codes, IsolationMapParams, LinearModel, LinearSvmParams, Loss, Run};
use serde_json::json;

use crate::data::{waves, write_codes, write_labels, write_task};
use crate::timing::{fastest, result};
use crate::{Outcome, Task};

/// Writes codes and labels, times both losses at three C.
pub(crate) fn run(task: &Task) -> Outcome<()> {
    let (points, labels) = waves(task.n, task.d);
    let params = IsolationMapParams::default().psi(task.psi).t(task.t).check()?;
    let map = params.fit(points.as_points(), Run::single())?;
    let codes = map.encode(points.as_points(), Run::threads(2))?;
    write_codes(&task.folder, &codes)?;
    write_labels(&task.folder, &labels)?;
    write_task(task, task.n, task.d, json!({}))?;
    for (loss, name) in [(Loss::SquaredHinge, "squared hinge"), (Loss::Hinge, "hinge")] {
        for c in [0.01, 1.0, 100.0] {
            let params = LinearSvmParams::default().loss(loss).c(c).check()?;
            let timed = fastest(|| (), |()| Ok(params.fit(&codes, &labels, 2, None, Run::single())?))?;
            let objective = primal(&codes, &labels, &timed.result.model, loss, c)?;
            let cell = format!("{name} C={c}");
            result(&cell, timed.seconds, timed.repeats, json!({ "objective": objective }))?;
        }
    }
    Ok(())
}

/// ½‖w‖² + C Σ loss on Φ/√t, whose weights are the stored ones times √t.
fn primal(codes: &Codes, labels: &[u32], model: &LinearModel, loss: Loss, c: f64) -> Outcome<f64> {
    let scores = model.scores(codes, Run::single())?;
    let slack = |(score, &label): (&f64, &u32)| (1.0 - if label == 1 { *score } else { -score }).max(0.0);
    let slacks = scores.iter().zip(labels).map(slack);
    let cost: f64 = slacks.map(|slack| if loss == Loss::Hinge { slack } else { slack * slack }).sum();
    Ok(0.5 * codes.t() as f64 * model.weights(0).iter().map(|w| w * w).sum::<f64>() + c * cost)
}
