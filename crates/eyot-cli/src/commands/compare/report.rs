//! The report and the picture of `eyot compare`.

use eyot_io::plot::{Bars, Figure, LineChart};
use eyot_io::report::{Report, Section, Table};

use super::{Args, Outcome, figure, ranked};
use crate::contest::{Course, chosen};
use crate::messages;

/// Learning curves of all methods.
pub(super) fn curves(outcomes: &[Outcome], regress: bool) -> Figure {
    let y = if regress { "root of the mean squared error" } else { "share of mistakes" };
    let mut chart = LineChart::new("Learning curves").x("points seen").y(y).log_x().size(720.0, 420.0);
    for outcome in ranked(outcomes) {
        let points: Vec<[f64; 2]> = outcome.curve.iter().map(|point| [point.points as f64, point.mean]).collect();
        chart = chart.series(&outcome.method, &points);
    }
    chart.figure()
}

/// The whole report.
pub(super) fn html(args: &Args, name: &str, course: &Course<'_>, outcomes: &[Outcome]) -> Report {
    let regress = args.learner.regress();
    let order = ranked(outcomes);
    let metric = if regress { "rmse" } else { "mistakes %" };
    let mut table = Table::new(["method", metric, "map seconds", "learn seconds", "parameters"]);
    for outcome in &order {
        table = table.row([
            outcome.method.clone(),
            figure(outcome, regress, args.runs),
            format!("{:.2}", outcome.map_seconds),
            format!("{:.2}", outcome.learn_seconds),
            chosen(&outcome.parameters),
        ]);
    }
    let lead = order.first().filter(|best| best.mean.is_some()).map_or_else(
        || "No method got through the stream.".to_owned(),
        |best| format!("{} is best with {} ({metric}).", best.method, figure(best, regress, args.runs)),
    );
    let text = "Every point was predicted first and learned afterwards. Deviations are over random orders of the points.";
    Report::new(format!("Online learners on {name}"))
        .lead(lead)
        .fact("points", messages::count(course.len()))
        .fact("columns", messages::count(course.points.n_columns()))
        .fact("runs", args.runs.to_string())
        .section(Section::new("Results").text(text).table(table))
        .section(Section::new("While learning").figures([curves(outcomes, regress), seconds(&order)]))
        .run("data", name)
        .run("tuned", if args.tune { "yes, over the grids of the papers" } else { "no" })
        .run("initial points", args.init.to_string())
        .run("block", args.block.to_string())
        .run("seed", args.run.seed.to_string())
        .run("program", concat!("eyot ", env!("CARGO_PKG_VERSION")))
}

/// What each method spends its time on.
fn seconds(order: &[&Outcome]) -> Figure {
    let of = |seconds: fn(&Outcome) -> f64| order.iter().map(|outcome| seconds(outcome)).collect::<Vec<_>>();
    Bars::new("Seconds for one pass", order.iter().map(|outcome| outcome.method.as_str()))
        .x("seconds")
        .series("mapping", &of(|outcome| outcome.map_seconds))
        .series("learning", &of(|outcome| outcome.learn_seconds))
        .lying()
        .with_values()
        .size(720.0, 80.0 + 40.0 * order.len() as f64)
        .figure()
}
