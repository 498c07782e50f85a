//! Lines: one or several series of points, joined in order, straight or as steps.

use super::axis::Scale;
use super::frame::{Axis, Frame, Head, KeyShape, head_methods, named_group, stroke};
use super::svg::{Figure, Marks, polyline};

/// A line chart. A point that is not finite (or not positive on a logarithmic axis) breaks its line.
#[derive(Debug, Clone)]
pub struct LineChart {
    head: Head,
    log_x: bool,
    log_y: bool,
    series: Vec<Series>,
    rules: Vec<(f64, String)>,
    levels: Vec<(f64, String)>,
    y_range: Option<(f64, f64)>,
}

#[derive(Debug, Clone)]
struct Series {
    name: String,
    points: Vec<[f64; 2]>,
    steps: bool,
}

impl LineChart {
    /// An empty chart.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            head: Head::new(title),
            log_x: false,
            log_y: false,
            series: Vec::new(),
            rules: Vec::new(),
            levels: Vec::new(),
            y_range: None,
        }
    }

    head_methods!();

    /// A logarithmic horizontal axis.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        self.log_x = true;
        self
    }

    /// A logarithmic vertical axis.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        self.log_y = true;
        self
    }

    /// Adds a line through points `[x, y]`.
    #[must_use]
    pub fn series(mut self, name: impl Into<String>, points: &[[f64; 2]]) -> Self {
        self.series.push(Series { name: name.into(), points: points.to_vec(), steps: false });
        self
    }

    /// Adds a line of steps: each value holds until the next point.
    #[must_use]
    pub fn steps(mut self, name: impl Into<String>, points: &[[f64; 2]]) -> Self {
        self.series.push(Series { name: name.into(), points: points.to_vec(), steps: true });
        self
    }

    /// Adds a dashed vertical line at a value of x.
    #[must_use]
    pub fn rule(mut self, x: f64, name: impl Into<String>) -> Self {
        self.rules.push((x, name.into()));
        self
    }

    /// Adds a dashed horizontal line at a value of y.
    #[must_use]
    pub fn level(mut self, y: f64, name: impl Into<String>) -> Self {
        self.levels.push((y, name.into()));
        self
    }

    /// Fixes the range of the vertical axis.
    #[must_use]
    pub fn y_range(mut self, lo: f64, hi: f64) -> Self {
        self.y_range = Some((lo, hi));
        self
    }

    /// Draws it.
    pub fn figure(&self) -> Figure {
        let drawable = |p: &[f64; 2]| {
            p.iter().all(|v| v.is_finite()) && !(self.log_x && p[0] <= 0.0) && !(self.log_y && p[1] <= 0.0)
        };
        let points = || self.series.iter().flat_map(|one| &one.points).filter(|point| drawable(point));
        let x = Scale::of(points().map(|p| p[0]), self.log_x, 0.0);
        let y = match self.y_range {
            Some((lo, hi)) if self.log_y => Scale::log(lo, hi),
            Some((lo, hi)) => Scale::linear(lo, hi),
            None => Scale::of(points().map(|p| p[1]).chain(self.levels.iter().map(|(y, _)| *y)), self.log_y, 0.05),
        };
        let keys: Vec<_> = self.series.iter().map(|one| (one.name.as_str(), KeyShape::Line)).collect();
        let frame = Frame::new(&self.head, Axis::Numbers(x), Axis::Numbers(y), &keys, 4.0, None);

        let mut marks = Marks::default();
        for (i, Series { name, points, steps }) in self.series.iter().enumerate() {
            let mut one = Marks::default();
            for run in points.split(|point| !drawable(point)) {
                let pixels: Vec<[f64; 2]> = run.iter().filter_map(|&point| frame.at(point)).collect();
                one.path("line", &stroke(i), &path_of(&pixels, *steps));
            }
            let one = one.into_string();
            if !one.is_empty() {
                marks.raw(&named_group(name, &one));
            }
        }
        for (x, name) in &self.rules {
            frame.rule_x(&mut marks, *x, name);
        }
        for (y, name) in &self.levels {
            frame.rule_y(&mut marks, *y, name);
        }
        frame.finish(marks, Marks::default())
    }
}

/// A lone point becomes a dot: a line of no length with round ends.
fn path_of(pixels: &[[f64; 2]], step: bool) -> String {
    match pixels {
        [] => String::new(),
        [only] => polyline([*only], false) + "h0",
        _ if step => {
            let corners = pixels.windows(2).flat_map(|pair| [pair[0], [pair[1][0], pair[0][1]]]);
            polyline(corners.chain(pixels.last().copied()), false)
        }
        _ => polyline(pixels.iter().copied(), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_holds_its_value_until_the_next_point() {
        assert_eq!(path_of(&[[0.0, 5.0], [10.0, 3.0]], true), "M0 5L10 5L10 3");
        assert_eq!(path_of(&[[0.0, 5.0], [10.0, 3.0]], false), "M0 5L10 3");
        assert_eq!(path_of(&[[4.0, 5.0]], false), "M4 5h0");
    }

    #[test]
    fn a_missing_value_breaks_the_line() {
        let points = [[0.0, 1.0], [1.0, 2.0], [2.0, f64::NAN], [3.0, 1.0], [4.0, 2.0]];
        let svg = LineChart::new("t").series("a", &points).figure().to_svg();
        assert_eq!(svg.matches("class=\"line\"").count(), 2);
    }
}
