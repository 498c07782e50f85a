//! Histograms: how often values fall between two borders, for one group or several laid over each other.

use super::axis::{Scale, round_step, short};
use super::frame::{Axis, Frame, Head, KeyShape, colour, head_methods, tip};
use super::svg::{Figure, Marks};

/// A histogram with equal bins, and a marked threshold if wanted.
#[derive(Debug, Clone)]
pub struct Histogram {
    head: Head,
    groups: Vec<(String, Vec<f64>)>,
    bins: Option<usize>,
    log_y: bool,
    threshold: Option<(f64, String)>,
}

/// Never more bins than this, whatever the data say.
const MOST_BINS: usize = 80;

impl Histogram {
    /// An empty histogram; the vertical axis is the number of values.
    pub fn new(title: impl Into<String>) -> Self {
        let mut head = Head::new(title);
        head.y = "count".into();
        Self { head, groups: Vec::new(), bins: None, log_y: false, threshold: None }
    }

    head_methods!();

    /// Adds a group of values; those that are not finite are left out.
    #[must_use]
    pub fn values(mut self, name: impl Into<String>, values: &[f64]) -> Self {
        self.groups.push((name.into(), values.iter().copied().filter(|v| v.is_finite()).collect()));
        self
    }

    /// About so many bins (their borders are round numbers); by default the rule of Freedman and Diaconis decides.
    #[must_use]
    pub fn bins(mut self, bins: usize) -> Self {
        self.bins = Some(bins);
        self
    }

    /// A logarithmic vertical axis, so that a few outliers are seen beside thousands.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        self.log_y = true;
        self
    }

    /// Marks a value by a dashed line.
    #[must_use]
    pub fn threshold(mut self, value: f64, name: impl Into<String>) -> Self {
        self.threshold = Some((value, name.into()));
        self
    }

    /// Draws it.
    pub fn figure(&self) -> Figure {
        let all: Vec<f64> = self.groups.iter().flat_map(|(_, values)| values.iter().copied()).collect();
        let borders = borders(&all, self.bins);
        let counts: Vec<Vec<usize>> = self.groups.iter().map(|(_, values)| count(values, &borders)).collect();
        let most = counts.iter().flatten().copied().max().unwrap_or(0) as f64;
        let [first, last] = [borders[0], borders[borders.len() - 1]];
        let x =
            Scale::of([first, last].into_iter().chain(self.threshold.as_ref().map(|(value, _)| *value)), false, 0.01);
        let y =
            if self.log_y { Scale::log(0.6, (most * 1.5).max(10.0)) } else { Scale::linear(0.0, most.max(1.0) * 1.06) };
        let keys: Vec<_> = self.groups.iter().map(|(name, _)| (name.as_str(), KeyShape::Box)).collect();
        let frame = Frame::new(&self.head, Axis::Numbers(x), Axis::Numbers(y), &keys, 0.0, None);

        let mut marks = Marks::default();
        let ground = frame.top + frame.height;
        for (i, ((name, _), counts)) in self.groups.iter().zip(&counts).enumerate() {
            let fill = if i == 0 { colour(i) } else { format!("{}\" fill-opacity=\".7", colour(i)) };
            for (bin, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                let (lo, hi) = (borders[bin], borders[bin + 1]);
                if let (Some(from), Some(to), Some(top)) = (frame.x(lo), frame.x(hi), frame.y(count as f64)) {
                    let tip = tip(name, &format!("{count} from {} to {}", short(lo), short(hi)));
                    marks.rect("bar", &fill, [from, top], [to - from, ground - top], &tip);
                }
            }
        }
        if let Some((value, name)) = &self.threshold {
            frame.rule_x(&mut marks, *value, name);
        }
        frame.finish(marks, Marks::default())
    }
}

/// Bin borders at round numbers, ascending, at least two.
fn borders(values: &[f64], bins: Option<usize>) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(&lo), Some(&hi)) = (sorted.first(), sorted.last()) else { return vec![0.0, 1.0] };
    let (lo, hi) = if hi - lo > 1e-9 * hi.abs().max(lo.abs()) { (lo, hi) } else { Scale::linear(lo, lo).range() };
    let span = (hi.clamp(-1e300, 1e300)) - lo.clamp(-1e300, 1e300);
    let quarter = |part: usize| sorted[(sorted.len() - 1) * part / 4];
    // Freedman–Diaconis: 2 · interquartile range / n^(1/3), if that is any use.
    let wanted = 2.0 * (quarter(3) - quarter(1)) / (sorted.len() as f64).cbrt();
    let bins = match bins {
        Some(bins) => bins.clamp(1, MOST_BINS) as f64,
        None if wanted > 0.0 => (span / wanted).clamp(8.0, MOST_BINS as f64 * 0.6),
        None => 20.0,
    };
    let step = round_step(span / bins);
    let (first, last) = ((lo / step).floor(), (hi / step).floor() + 1.0);
    let n = ((last - first) as usize).clamp(1, MOST_BINS + 2);
    (0..=n).map(|i| (first + i as f64) * step).collect()
}

/// How many values lie in each bin, lower border included.
fn count(values: &[f64], borders: &[f64]) -> Vec<usize> {
    let mut counts = vec![0; borders.len() - 1];
    for value in values {
        let bin = borders.partition_point(|border| border <= value).clamp(1, counts.len()) - 1;
        counts[bin] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_counted_once_between_its_borders() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i * i) / 1e4).collect();
        let borders = borders(&values, None);
        let counts = count(&values, &borders);
        assert_eq!(counts.iter().sum::<usize>(), values.len());
        for (bin, &n) in counts.iter().enumerate() {
            let inside = values.iter().filter(|v| (borders[bin]..borders[bin + 1]).contains(v)).count();
            assert_eq!(n, inside);
        }
    }

    #[test]
    fn constant_and_wild_values_have_few_bins() {
        for values in [vec![3.0; 50], vec![-1e308, 1e308], vec![0.0], vec![], vec![1.0, 1.0 + 1e-15]] {
            let borders = borders(&values, None);
            assert!((2..=MOST_BINS + 3).contains(&borders.len()));
            assert_eq!(count(&values, &borders).iter().sum::<usize>(), values.len());
        }
    }
}
