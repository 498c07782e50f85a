//! Heat maps: a table of numbers as shades, with the numbers in it; also the confusion matrix of a classifier.

use super::axis::{fixed, short};
use super::frame::{Axis, Frame, Head, TICK_FONT, head_methods, tip};
use super::svg::{Anchor, Figure, Marks, text_width};

/// A heat map; values that are not finite leave their place empty.
#[derive(Debug, Clone)]
pub struct HeatMap {
    head: Head,
    rows: Vec<String>,
    columns: Vec<String>,
    values: Vec<f64>,
    by_row: bool,
}

impl HeatMap {
    /// A table of `rows` × `columns`, values row by row from the top; missing ones count as not finite.
    pub fn new<S: Into<String>, T: Into<String>>(
        title: impl Into<String>,
        rows: impl IntoIterator<Item = S>,
        columns: impl IntoIterator<Item = T>,
        values: &[f64],
    ) -> Self {
        let rows = rows.into_iter().map(Into::into).collect();
        let columns = columns.into_iter().map(Into::into).collect();
        Self { head: Head::new(title), rows, columns, values: values.to_vec(), by_row: false }
    }

    /// How often a true class (row) was taken for a class (column): shades are shares of each true class.
    pub fn confusion<S: Into<String> + Clone>(title: impl Into<String>, classes: &[S], counts: &[f64]) -> Self {
        let map = Self::new(title, classes.to_vec(), classes.to_vec(), counts).x("predicted").y("true");
        Self { by_row: true, ..map }
    }

    head_methods!();

    /// Draws it.
    pub fn figure(&self) -> Figure {
        let frame = Frame::new(&self.head, Axis::Names(&self.columns), Axis::Names(&self.rows), &[], 0.0, None);
        let (rows, columns) = (self.rows.len(), self.columns.len());
        let (width, height) = (frame.width / columns.max(1) as f64, frame.height / rows.max(1) as f64);
        let value = |row: usize, column: usize| {
            self.values.get(row * columns + column).copied().filter(|value| value.is_finite())
        };
        let all = || (0..rows * columns).filter_map(|i| value(i / columns, i % columns));
        let (lo, hi) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
        // The longest way of writing that fits for all, so that the table reads evenly; none if none fits.
        let fits = |text: &str| height >= 13.0 && text_width(text, TICK_FONT) + 4.0 <= width;
        let ways: [fn(f64) -> String; 3] = [|value| fixed(value, 2), |value| fixed(value, 1), short];
        let ways =
            if lo > -100.0 && hi < 100.0 && all().any(|value| value.fract() != 0.0) { &ways[..] } else { &ways[2..] };
        let way = ways.iter().copied().find(|write| all().all(|value| fits(&write(value))));
        let write = way.unwrap_or(short);
        let mut marks = Marks::default();
        for row in 0..rows {
            let row_sum: f64 = (0..columns).filter_map(|column| value(row, column)).sum();
            for column in 0..columns {
                let Some(value) = value(row, column) else { continue };
                let share = if self.by_row {
                    if row_sum > 0.0 { value / row_sum } else { 0.0 }
                } else if hi > lo {
                    (value - lo) / (hi - lo)
                } else {
                    0.5
                };
                let shade = (share.clamp(0.0, 1.0) * 9.0).round() as usize;
                let corner = [frame.left + column as f64 * width, frame.top + row as f64 * height];
                let text = write(value);
                let name = format!("{}, {}", self.rows[row], self.columns[column]);
                marks.rect("bar", &format!("var(--s{shade})"), corner, [width, height], &tip(&name, &text));
                if way.is_some() {
                    let class = if shade >= 5 { "value on-high" } else { "value" };
                    marks.text(class, Anchor::Middle, [corner[0] + width / 2.0, corner[1] + height / 2.0 + 4.0], &text);
                }
            }
        }
        frame.finish(marks, Marks::default())
    }
}
