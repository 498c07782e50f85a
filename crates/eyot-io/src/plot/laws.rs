//! Laws that every kind of figure obeys; a new kind joins by a line in `figures_of`.

use roxmltree::{Document, Node};

use super::svg::text_width;
use super::*;

/// One figure of each kind over the same numbers, with hostile words.
fn figures_of(values: &[f64], words: &str) -> Vec<(&'static str, Figure)> {
    let points: Vec<[f64; 2]> = values.iter().enumerate().map(|(i, &v)| [i as f64, v]).collect();
    let names: Vec<String> = (0..values.len()).map(|i| format!("{words} {i}")).collect();
    let third = values.len() / 3;
    let mut square = values.to_vec();
    square.resize(values.len().next_multiple_of(3).max(6), f64::NAN);
    let (columns, rows) = (3, square.len() / 3);
    let cells = square.iter().map(|&value| (value > 0.0).then_some(value as u32)).collect();
    let mut next = square.iter();
    vec![
        (
            "line",
            LineChart::new(words)
                .x(words)
                .y(words)
                .series(words, &points)
                .series("b", &points[third..])
                .rule(1.0, words)
                .figure(),
        ),
        ("log", LineChart::new(words).log_x().log_y().steps(words, &points).figure()),
        (
            "histogram",
            Histogram::new(words)
                .x(words)
                .values(words, values)
                .values("b", &values[third..])
                .threshold(0.5, words)
                .figure(),
        ),
        ("log histogram", Histogram::new(words).log_y().values("", values).figure()),
        (
            "bars",
            Bars::new(words, names.clone())
                .y(words)
                .series_with_errors(words, values, values)
                .series("b", values)
                .with_values()
                .figure(),
        ),
        ("lying bars", Bars::new(words, names.clone()).lying().with_values().series("a", values).figure()),
        (
            "scatter",
            Scatter::new(words).group(words, &points).group("b", &points[third..]).name([0.0, 0.0], words).figure(),
        ),
        (
            "contour",
            Contour::new(words, (-1.0, 1.0), (0.0, 1.0), columns, rows, |_| next.next().copied().unwrap_or(0.0))
                .points(&points)
                .mark([0.0, 0.0], words)
                .figure(),
        ),
        (
            "cells",
            CellMap::new(words, (0.0, 1.0), (0.0, 1.0), columns, rows, cells).x(words).name([0.5, 0.5], words).figure(),
        ),
        ("heat map", HeatMap::new(words, names.clone(), ["x", words], values).figure()),
        ("confusion", HeatMap::confusion(words, &["a", words], values).figure()),
        ("boxes", BoxPlot::new(words).x(words).group(words, values).group("b", &values[third..]).figure()),
    ]
}

fn cases() -> Vec<Vec<f64>> {
    vec![
        vec![],
        vec![1.0],
        vec![3.0; 7],
        vec![0.0; 4],
        vec![f64::NAN; 5],
        vec![f64::NAN, 1.0, f64::INFINITY, -2.0, f64::NEG_INFINITY, 0.5],
        vec![-1e308, 1e308, 0.0, 1e-308],
        vec![1e15, 1e15 + 1.0, 1e15 + 2.0],
        (0..40).map(|i| f64::from(i * 37 % 40) - 11.5).collect(),
    ]
}

const HOSTILE: &str = "a<b> & \"quotes\" 'n' ]]> <script>alert(1)</script> \u{0}\u{1b}[31m ψ→∞ 漢字";

#[test]
fn every_figure_is_well_formed_whatever_data_and_words() {
    for values in cases() {
        for (kind, figure) in figures_of(&values, HOSTILE) {
            let svg = figure.to_svg();
            let document = Document::parse(&svg).unwrap_or_else(|e| panic!("{kind} of {values:?}: {e}\n{svg}"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{kind} of {values:?}: {svg}");
            assert!(document.descendants().all(|node| node.tag_name().name() != "script"), "{kind}");
            assert!(document.descendants().any(|node| node.tag_name().name() == "title"), "{kind}");
        }
    }
}

#[test]
fn a_figure_without_data_says_so() {
    for values in [vec![], vec![f64::NAN; 6]] {
        for (kind, figure) in figures_of(&values, "words") {
            // A threshold or a marked point is something to see.
            if !matches!(kind, "line" | "histogram" | "contour" | "scatter" | "cells") {
                assert!(figure.to_svg().contains("no data"), "{kind} of {values:?}");
            }
        }
    }
}

#[test]
fn the_same_data_give_the_same_bytes() {
    for values in cases() {
        assert_eq!(figures_of(&values, HOSTILE), figures_of(&values, HOSTILE));
    }
}

/// Left, right, top, bottom of an upright text, by the estimate that the layout uses.
fn extent(node: Node<'_, '_>) -> Option<[f64; 4]> {
    let number = |name| node.attribute(name)?.parse::<f64>().ok();
    if node.tag_name().name() != "text" || node.attribute("transform").is_some() {
        return None;
    }
    let size = match node.attribute("class")?.split(' ').next()? {
        "title" => 13.5,
        "tick" | "value" => 11.0,
        _ => 12.0,
    };
    let (x, y, width) = (number("x")?, number("y")?, text_width(node.text()?, size));
    let left = match node.attribute("text-anchor") {
        None => x,
        Some("middle") => x - width / 2.0,
        Some(_) => x - width,
    };
    Some([left, left + width, y - 0.75 * size, y])
}

#[test]
fn no_text_leaves_the_picture_and_no_two_ticks_overlap() {
    let values: Vec<f64> = (0..40).map(|i| f64::from(i * 37 % 40) * 1000.0 - 11_000.0).collect();
    for words in ["short", "a rather long name of a method that someone may well have"] {
        for (kind, figure) in figures_of(&values, words) {
            let svg = figure.to_svg();
            let document = Document::parse(&svg).unwrap();
            let view: Vec<f64> =
                document.root_element().attribute("viewBox").unwrap().split(' ').map(|v| v.parse().unwrap()).collect();
            let outside_plot =
                |node: &Node<'_, '_>| node.ancestors().filter(|up| up.tag_name().name() == "svg").count() == 1;
            let texts: Vec<_> =
                document.descendants().filter(outside_plot).filter_map(|node| Some((node, extent(node)?))).collect();
            assert!(texts.len() > 3, "{kind}");
            for (node, [left, right, top, bottom]) in &texts {
                let inside = *left >= -0.5 && *right <= view[2] + 0.5 && *top >= 0.0 && *bottom <= view[3];
                assert!(inside, "{kind}: {:?} at {left} {right} {top} {bottom} of {view:?}", node.text());
            }
            for (i, (a, [left, right, top, bottom])) in texts.iter().enumerate() {
                for (b, other) in &texts[i + 1..] {
                    let apart = right <= &other[0] || &other[1] <= left || bottom <= &other[2] || &other[3] <= top;
                    assert!(apart, "{kind}: {:?} over {:?}", a.text(), b.text());
                }
            }
        }
    }
}
