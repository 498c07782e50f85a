//! Bars: one value per name, grouped if there are several series, upright or lying, with error bars if wanted.

use super::axis::{Scale, short};
use super::frame::{Axis, Frame, Head, KeyShape, TICK_FONT, colour, head_methods, tip};
use super::svg::{Anchor, Figure, Marks, text_width};

/// A bar chart. Bars start at zero; values that are not finite leave a gap.
#[derive(Debug, Clone)]
pub struct Bars {
    head: Head,
    names: Vec<String>,
    series: Vec<Series>,
    lying: bool,
    written: bool,
}

#[derive(Debug, Clone)]
struct Series {
    name: String,
    values: Vec<f64>,
    errors: Vec<f64>,
}

impl Bars {
    /// A chart with one group of bars for each name.
    pub fn new<S: Into<String>>(title: impl Into<String>, names: impl IntoIterator<Item = S>) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self { head: Head::new(title), names, series: Vec::new(), lying: false, written: false }
    }

    head_methods!();

    /// Adds a bar to every group: value i belongs to name i.
    #[must_use]
    pub fn series(self, name: impl Into<String>, values: &[f64]) -> Self {
        self.series_with_errors(name, values, &[])
    }

    /// Adds a bar to every group, with half the length of its error bar (a standard deviation, say).
    #[must_use]
    pub fn series_with_errors(mut self, name: impl Into<String>, values: &[f64], errors: &[f64]) -> Self {
        self.series.push(Series { name: name.into(), values: values.to_vec(), errors: errors.to_vec() });
        self
    }

    /// Lying bars, with the names at the left: for long names.
    #[must_use]
    pub fn lying(mut self) -> Self {
        self.lying = true;
        self
    }

    /// Writes each value at the end of its bar.
    #[must_use]
    pub fn with_values(mut self) -> Self {
        self.written = true;
        self
    }

    /// Draws it.
    pub fn figure(&self) -> Figure {
        let shown = |value: f64, error: f64| [value - error, value + error];
        let ends = self.series.iter().flat_map(|one| {
            let error = |i: usize| one.errors.get(i).copied().filter(|e| e.is_finite()).unwrap_or(0.0).abs();
            one.values.iter().enumerate().filter(|(_, v)| v.is_finite()).flat_map(move |(i, &v)| shown(v, error(i)))
        });
        let (lo, hi) = Scale::of(ends.chain([0.0]), false, 0.0).range();
        let text = if self.written { 0.16 } else { 0.05 };
        let room = |end: f64| if end == 0.0 { 0.0 } else { (hi - lo) * text };
        let scale = Scale::linear(lo - room(lo.min(0.0)), hi + room(hi.max(0.0)));
        let (numbers, names) = (Axis::Numbers(scale), Axis::Names(&self.names));
        let (x, y) = if self.lying { (numbers, names) } else { (names, numbers) };
        let keys: Vec<_> = self.series.iter().map(|one| (one.name.as_str(), KeyShape::Box)).collect();
        let frame = Frame::new(&self.head, x, y, &keys, 0.0, None);

        let mut marks = Marks::default();
        let slot = if self.lying { frame.height } else { frame.width } / self.names.len().max(1) as f64;
        let thick = (slot * 0.76 / self.series.len().max(1) as f64).min(46.0);
        for (i, one) in self.series.iter().enumerate() {
            for (group, &value) in one.values.iter().enumerate().take(self.names.len()) {
                let offset = (i as f64 - self.series.len() as f64 / 2.0 + 0.5) * thick;
                let error = one.errors.get(group).copied().filter(|error| error.is_finite() && *error > 0.0);
                self.bar(&mut marks, &frame, Bar { series: i, group, offset, thick, value, error });
            }
        }
        frame.finish(marks, Marks::default())
    }

    fn bar(&self, marks: &mut Marks, frame: &Frame<'_>, bar: Bar) {
        let Bar { series, group, offset, thick, value, error } = bar;
        // Along the bar, and across it.
        let along = |v: f64| if self.lying { frame.x(v) } else { frame.y(v) };
        let across = if self.lying { frame.y(group as f64) } else { frame.x(group as f64) };
        let (Some(from), Some(to), Some(middle)) = (along(0.0), along(value), across.map(|at| at + offset)) else {
            return;
        };
        let turn = |along: f64, across: f64| if self.lying { [along, across] } else { [across, along] };
        let name = match self.series.len() {
            1 => self.names[group].clone(),
            _ => format!("{}, {}", self.names[group], self.series[series].name),
        };
        let mut written = short(value);
        if let Some(error) = error {
            written = format!("{written} ± {}", short(error));
        }
        let corner = turn(from.min(to), middle - thick / 2.0);
        let length = (to - from).abs();
        let size = if self.lying { [length, thick - 1.0] } else { [thick - 1.0, length] };
        marks.rect("bar", &colour(series), corner, size, &tip(&name, &written));
        let mut end = to;
        if let Some((Some(lo), Some(hi))) = error.map(|error| (along(value - error), along(value + error))) {
            marks.line("error", turn(lo, middle), turn(hi, middle));
            let cap = (thick / 5.0).clamp(1.5, 5.0);
            for at in [lo, hi] {
                marks.line("error", turn(at, middle - cap), turn(at, middle + cap));
            }
            end = if value >= 0.0 { hi } else { lo };
        }
        if !self.written {
            return;
        }
        let text = short(value);
        if self.lying && thick >= 9.0 {
            let (anchor, gap) = if value >= 0.0 { (Anchor::Start, 5.0) } else { (Anchor::End, -5.0) };
            marks.text("value halo", anchor, [end + gap, middle + 4.0], &text);
        } else if !self.lying && text_width(&text, TICK_FONT) <= thick + 6.0 {
            let gap = if value >= 0.0 { -4.0 } else { 12.0 };
            marks.text("value halo", Anchor::Middle, [middle, end + gap], &text);
        }
    }
}

#[derive(Clone, Copy)]
struct Bar {
    series: usize,
    group: usize,
    offset: f64,
    thick: f64,
    value: f64,
    error: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_the_value_is_twice_the_bar() {
        for lying in [false, true] {
            let mut bars = Bars::new("t", ["a", "b"]).series("s", &[20.0, 40.0]);
            bars.lying = lying;
            let svg = bars.figure().to_svg();
            let attribute = if lying { " width=\"" } else { " height=\"" };
            let lengths: Vec<f64> = svg
                .split("class=\"bar\"")
                .skip(1)
                .map(|rest| rest.split(attribute).nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
                .collect();
            assert!((lengths[1] - 2.0 * lengths[0]).abs() < 0.21, "{lengths:?}");
        }
    }
}
