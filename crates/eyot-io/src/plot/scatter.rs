//! Points on two axes, one or several groups, told apart by shape and colour, with a few of them named.

use super::axis::Scale;
use super::frame::{Axis, Frame, Head, KeyShape, head_methods, marker, marker_style, named_group};
use super::svg::{Anchor, Figure, Marks};

/// A scatter plot. Points that are not finite are left out.
#[derive(Debug, Clone)]
pub struct Scatter {
    head: Head,
    groups: Vec<(String, Vec<[f64; 2]>)>,
    named: Vec<([f64; 2], String)>,
    radii: Vec<f64>,
}

impl Scatter {
    /// An empty plot.
    pub fn new(title: impl Into<String>) -> Self {
        Self { head: Head::new(title), groups: Vec::new(), named: Vec::new(), radii: Vec::new() }
    }

    head_methods!();

    /// Adds a group of points `[x, y]`; later groups lie above earlier ones.
    #[must_use]
    pub fn group(mut self, name: impl Into<String>, points: &[[f64; 2]]) -> Self {
        self.groups.push((name.into(), points.to_vec()));
        self
    }

    /// Writes a name beside a point.
    #[must_use]
    pub fn name(mut self, point: [f64; 2], name: impl Into<String>) -> Self {
        self.named.push((point, name.into()));
        self
    }

    /// The radius of the points of each group in pixels; 2.6 for groups that are not listed.
    #[must_use]
    pub fn radii(mut self, pixels: &[f64]) -> Self {
        self.radii =
            pixels.iter().map(|radius| if radius.is_finite() { radius.clamp(0.4, 20.0) } else { 2.6 }).collect();
        self
    }

    /// Draws it.
    pub fn figure(&self) -> Figure {
        let points = || {
            let all = self.groups.iter().flat_map(|(_, points)| points.iter().copied());
            all.filter(|point| point.iter().all(|v| v.is_finite()))
        };
        let x = Scale::of(points().map(|p| p[0]), false, 0.04);
        let y = Scale::of(points().map(|p| p[1]), false, 0.04);
        let keys: Vec<_> = self.groups.iter().map(|(name, _)| (name.as_str(), KeyShape::Dot)).collect();
        let frame = Frame::new(&self.head, Axis::Numbers(x), Axis::Numbers(y), &keys, 0.0, None);
        let mut marks = Marks::default();
        for (i, (name, points)) in self.groups.iter().enumerate() {
            let radius = self.radii.get(i).copied().unwrap_or(2.6);
            let d: String =
                points.iter().filter_map(|&point| frame.at(point)).map(|at| marker(i, at, radius)).collect();
            let mut one = Marks::default();
            one.path("dots", &(marker_style(i, radius) + " opacity=\".75\""), &d);
            let one = one.into_string();
            if !one.is_empty() {
                marks.raw(&named_group(name, &one));
            }
        }
        for (point, name) in &self.named {
            if let Some([px, py]) = frame.at(*point) {
                let right = px < frame.left + frame.width / 2.0;
                let (anchor, dx) = if right { (Anchor::Start, 6.0) } else { (Anchor::End, -6.0) };
                marks.text("value halo", anchor, [px + dx, (py - 5.0).max(frame.top + 11.0)], name);
            }
        }
        frame.finish(marks, Marks::default())
    }
}
