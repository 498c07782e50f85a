//! Every kind of figure in one report, to look at: `cargo run -p eyot-io --example gallery > gallery.html`.

use std::io::Write as _;

use eyot::{Component, rng_of};
use eyot_io::plot::{Bars, BoxPlot, CellMap, Contour, HeatMap, Histogram, LineChart, Scatter};
use eyot_io::report::{Report, Section, Table};

fn main() -> std::io::Result<()> {
    let mut rng = rng_of(0, Component::Synthetic, 0);
    let normal: Vec<f64> = (0..3000).map(|_| rng.normal()).collect();
    let odd: Vec<f64> = (0..40).map(|_| 4.0 + rng.normal()).collect();
    let pair = |values: &[f64]| values.chunks_exact(2).map(|p| [p[0], p[1]]).collect::<Vec<_>>();
    let curve = |rate: f64, top: f64| -> Vec<[f64; 2]> {
        (0..60).map(|i| 10f64.powf(1.0 + f64::from(i) / 12.0)).map(|n| [n, top - (top - 0.5) * n.powf(-rate)]).collect()
    };
    let methods = ["ik-ogd (voronoi)", "ik-ogd (tree)", "fogd", "nogd", "perceptron with a budget"];

    let lines = LineChart::new("Accuracy while learning")
        .x("points seen")
        .y("accuracy")
        .log_x()
        .series("ik-ogd (voronoi)", &curve(0.45, 0.95))
        .series("ik-ogd (tree)", &curve(0.4, 0.93))
        .series("fogd", &curve(0.3, 0.9))
        .series("nogd", &curve(0.25, 0.88))
        .level(0.9, "goal")
        .about("All methods rise; the isolation kernels rise fastest.")
        .figure();
    let steps = LineChart::new("Receiver operating characteristic")
        .x("false positive rate")
        .y("true positive rate")
        .steps("idk", &[[0.0, 0.0], [0.0, 0.6], [0.1, 0.6], [0.1, 0.9], [0.4, 0.9], [0.4, 1.0], [1.0, 1.0]])
        .series("chance", &[[0.0, 0.0], [1.0, 1.0]])
        .figure();
    let histogram = Histogram::new("Scores of 3,040 rows")
        .x("score")
        .values("normal", &normal)
        .values("anomalies", &odd)
        .threshold(3.1, "threshold 3.1")
        .log_y()
        .figure();
    let one = Histogram::new("One group").x("value").values("", &normal).figure();
    let bars = Bars::new("Accuracy, mean of 20 runs", methods)
        .x("accuracy")
        .lying()
        .with_values()
        .series_with_errors("", &[0.953, 0.941, 0.9, 0.874, 0.731], &[0.004, 0.006, 0.01, 0.012, 0.03])
        .figure();
    let grouped = Bars::new("Seconds by part", ["read", "map", "fit", "score"])
        .y("seconds")
        .series("one thread", &[0.8, 4.1, 1.2, 2.2])
        .series("two threads", &[0.8, 2.2, 0.9, 1.2])
        .with_values()
        .figure();
    let turned = Bars::new("Long names upright, also below zero", methods)
        .y("difference")
        .series("", &[0.3, -0.2, 0.1, -0.45, 0.05])
        .figure();
    let scatter = Scatter::new("Groups by shape and colour")
        .x("first")
        .y("second")
        .group("normal", &pair(&normal[..800]))
        .group("anomalies", &pair(&odd[..20]))
        .group("others", &pair(&odd[20..]).iter().map(|p| [p[0], -p[1]]).collect::<Vec<_>>())
        .name([odd[0], odd[1]], "row 801")
        .figure();
    let contour = Contour::new("Two hills", (-2.0, 2.0), (-2.0, 2.0), 81, 81, |[x, y]| {
        (-((x - 0.7).powi(2) + y * y) * 2.0).exp() + 0.7 * (-((x + 0.9).powi(2) + (y - 0.4).powi(2)) * 3.0).exp()
    })
    .x("x")
    .y("y")
    .points(&pair(&normal[..600]))
    .mark([0.7, 0.0], "the higher top")
    .size(380.0, 300.0)
    .figure();
    let cell = |[x, y]: [f64; 2]| (x.hypot(y) < 1.8).then(|| u32::from(x > 0.3 * y) + 2 * u32::from(y > -0.2));
    let cells = Contour::grid((-2.0, 2.0), (-2.0, 2.0), 101, 101).into_iter().map(cell).collect();
    let cells = CellMap::new("Cells", (-2.0, 2.0), (-2.0, 2.0), 101, 101, cells)
        .name([0.5, 0.5], "A")
        .name([1.7, 1.7], "B")
        .size(380.0, 300.0)
        .figure();
    let confusion =
        HeatMap::confusion("Confusion", &["cat", "dog", "horse"], &[90.0, 8.0, 2.0, 12.0, 80.0, 8.0, 1.0, 3.0, 50.0])
            .size(380.0, 300.0)
            .figure();
    let heat = HeatMap::new(
        "AUC by data set and ψ",
        ["http", "shuttle", "annthyroid", "mammography"],
        (1..=10).map(|power| format!("{}", 1 << power)),
        &(0..40).map(|i| 0.5 + 0.5 * (f64::from(i) * 0.37).sin().abs()).collect::<Vec<_>>(),
    )
    .x("ψ")
    .figure();
    let boxes = BoxPlot::new("Spread of scores")
        .x("score")
        .group("normal", &normal)
        .group("anomalies", &odd)
        .size(440.0, 200.0)
        .figure();
    let empty = LineChart::new("Nothing to show").x("x").y("y").figure();

    let report = Report::new("Every kind of figure, with a title that is long enough to break on a narrow screen")
        .lead("Made-up numbers, real pictures: this page exists to be looked at, in light and dark, wide and narrow.")
        .fact("rows", "3,040")
        .fact("columns", "2")
        .fact("flagged", "38")
        .fact("threshold", "3.1")
        .section(Section::new("Lines").figures([lines, steps]))
        .section(
            Section::new("Histograms")
                .text("Counts on a logarithmic axis show few beside many.")
                .figures([histogram, one]),
        )
        .section(Section::new("Bars").figures([bars, grouped, turned]))
        .section(Section::new("Planes").figures([contour, cells, confusion, scatter]))
        .section(
            Section::new("Tables and the rest")
                .figures([heat, boxes, empty])
                .table(
                    Table::new(["method", "accuracy", "± std", "seconds", "remark"])
                        .caption("A table with more rows than fit")
                        .rows((0..40).map(|i| {
                            [
                                format!("method {i}"),
                                format!("0.{}", 950 - i),
                                "0.004".into(),
                                format!("{}", i * 7),
                                "fine".into(),
                            ]
                        })),
                )
                .code("x = (−0.35, 0)   codes 3 7 1 0 9 4 4 2 8 1 …"),
        )
        .run("command", "eyot gallery --a-rather-long-option 12345 --another /some/path/that/is/long/enough/to/break")
        .run("seed", "0");
    std::io::stdout().write_all(report.to_html().as_bytes())
}
