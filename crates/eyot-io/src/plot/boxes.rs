//! Box plots: where the middle half of each group lies, how far the rest reaches, and what lies outside.

use super::axis::{Scale, short};
use super::frame::{Axis, Frame, Head, colour, head_methods, tip};
use super::svg::{Figure, Marks, dots};

/// Lying box plots, one per group, names at the left. The box spans the quartiles, the line in it is the median, the
/// whiskers reach the last value within 1.5 box lengths, dots are values beyond.
#[derive(Debug, Clone)]
pub struct BoxPlot {
    head: Head,
    names: Vec<String>,
    groups: Vec<Vec<f64>>,
}

impl BoxPlot {
    /// An empty plot.
    pub fn new(title: impl Into<String>) -> Self {
        Self { head: Head::new(title), names: Vec::new(), groups: Vec::new() }
    }

    head_methods!();

    /// Adds a group; values that are not finite are left out.
    #[must_use]
    pub fn group(mut self, name: impl Into<String>, values: &[f64]) -> Self {
        let mut values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        self.names.push(name.into());
        self.groups.push(values);
        self
    }

    /// Draws it.
    pub fn figure(&self) -> Figure {
        let scale = Scale::of(self.groups.iter().flatten().copied(), false, 0.03);
        let frame = Frame::new(&self.head, Axis::Numbers(scale), Axis::Names(&self.names), &[], 0.0, None);
        let half = (frame.height / self.names.len().max(1) as f64 * 0.32).min(16.0);
        let mut marks = Marks::default();
        for (i, (name, values)) in self.names.iter().zip(&self.groups).enumerate() {
            let Some(five) = five_numbers(values) else { continue };
            let x = |value: f64| frame.x(value).unwrap_or(frame.left);
            let y = frame.y(i as f64).unwrap_or(frame.top);
            let [low, lower, median, upper, high] = five.map(x);
            marks.line("error", [low, y], [lower, y]);
            marks.line("error", [upper, y], [high, y]);
            for end in [low, high] {
                marks.line("error", [end, y - half / 2.0], [end, y + half / 2.0]);
            }
            let written = format!("median {}, half from {} to {}", short(five[2]), short(five[1]), short(five[3]));
            marks.rect("bar", &colour(0), [lower, y - half], [upper - lower, 2.0 * half], &tip(name, &written));
            marks.line("error", [median, y - half], [median, y + half]);
            let outside = values.iter().filter(|&&value| value < five[0] || value > five[4]);
            marks.path("cloud", "", &dots(outside.map(|&value| [x(value), y])));
        }
        frame.finish(marks, Marks::default())
    }
}

/// Low whisker, lower quartile, median, upper quartile, high whisker of sorted values.
fn five_numbers(sorted: &[f64]) -> Option<[f64; 5]> {
    let quantile = |share: f64| {
        let place = share * (sorted.len() as f64 - 1.0);
        let (below, part) = (place.floor() as usize, place.fract());
        let above = sorted[(below + 1).min(sorted.len() - 1)];
        sorted[below] + part * (above - sorted[below])
    };
    if sorted.is_empty() {
        return None;
    }
    let [lower, median, upper] = [0.25, 0.5, 0.75].map(quantile);
    let reach = 1.5 * (upper - lower);
    let low = sorted.iter().copied().find(|&value| value >= lower - reach).unwrap_or(lower).min(lower);
    let high = sorted.iter().rev().copied().find(|&value| value <= upper + reach).unwrap_or(upper).max(upper);
    Some([low, lower, median, upper, high])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_and_whiskers_of_a_small_group() {
        let sorted = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 30.0];
        assert_eq!(five_numbers(&sorted), Some([1.0, 3.0, 5.0, 7.0, 8.0]));
        assert_eq!(five_numbers(&[4.0]), Some([4.0; 5]));
        assert_eq!(five_numbers(&[]), None);
    }
}
