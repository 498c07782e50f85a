//! Contours: a function of two numbers as filled bands between levels, with the data and a reference point above.

use super::axis::{Scale, fixed, linear_ticks, short};
use super::frame::{Axis, Frame, Head, head_methods};
use super::marching::{Grid, rings};
use super::svg::{Anchor, Figure, Marks, dots, polyline};

/// A contour plot of values on an even grid.
#[derive(Debug, Clone)]
pub struct Contour {
    head: Head,
    x_range: (f64, f64),
    y_range: (f64, f64),
    columns: usize,
    rows: usize,
    values: Vec<f64>,
    levels: Option<Vec<f64>>,
    cloud: Vec<[f64; 2]>,
    here: Vec<([f64; 2], String)>,
}

impl Contour {
    /// The values of `f` on a grid of `columns` × `rows` points (at least 2 × 2) that spans two ranges, ends included.
    pub fn new(
        title: impl Into<String>,
        x_range: (f64, f64),
        y_range: (f64, f64),
        columns: usize,
        rows: usize,
        f: impl FnMut([f64; 2]) -> f64,
    ) -> Self {
        let (columns, rows) = (columns.max(2), rows.max(2));
        let values = Self::grid(x_range, y_range, columns, rows).into_iter().map(f).collect();
        Self {
            head: Head::new(title),
            x_range,
            y_range,
            columns,
            rows,
            values,
            levels: None,
            cloud: Vec::new(),
            here: Vec::new(),
        }
    }

    /// The points of such a grid, row by row from the lowest, in the order in which `f` is asked.
    pub fn grid(x_range: (f64, f64), y_range: (f64, f64), columns: usize, rows: usize) -> Vec<[f64; 2]> {
        let along = |(lo, hi): (f64, f64), i: usize, n: usize| lo + (hi - lo) * i as f64 / (n.max(2) - 1) as f64;
        let point = |i| [along(x_range, i % columns, columns), along(y_range, i / columns, rows)];
        (0..columns * rows).map(point).collect()
    }

    head_methods!();

    /// The levels between bands; by default about nine round numbers.
    #[must_use]
    pub fn levels(mut self, levels: &[f64]) -> Self {
        let mut levels: Vec<f64> = levels.iter().copied().filter(|level| level.is_finite()).collect();
        levels.sort_by(f64::total_cmp);
        self.levels = Some(levels);
        self
    }

    /// Lays data points over the bands.
    #[must_use]
    pub fn points(mut self, points: &[[f64; 2]]) -> Self {
        self.cloud.extend_from_slice(points);
        self
    }

    /// Marks a point of reference.
    #[must_use]
    pub fn mark(mut self, point: [f64; 2], name: impl Into<String>) -> Self {
        self.here.push((point, name.into()));
        self
    }

    /// Draws it, with equal units on both axes; the height follows from the width.
    pub fn figure(&self) -> Figure {
        let (x, y) = (Scale::linear(self.x_range.0, self.x_range.1), Scale::linear(self.y_range.0, self.y_range.1));
        let length = |scale: Scale| scale.range().1 - scale.range().0;
        let aspect = (length(y) / length(x)).clamp(0.2, 3.0);
        let levels = self.levels.clone().unwrap_or_else(|| {
            let (lo, hi) = Scale::of(self.values.iter().copied(), false, 0.0).range();
            linear_ticks(lo, hi, 9).into_iter().filter(|&level| level > lo).collect()
        });
        let frame = Frame::new(&self.head, Axis::Numbers(x), Axis::Numbers(y), &[], 52.0, Some(aspect));

        let mut marks = Marks::default();
        let some = self.values.iter().any(|value| value.is_finite());
        if some {
            let [left, top, width, height] = [frame.left, frame.top, frame.width, frame.height];
            marks.rect("band", &ramp_colour(0, levels.len()), [left, top], [width, height], "");
            let grid = Grid::new(self.columns, self.rows, &self.values);
            let pixel = |[column, row]: [f64; 2]| {
                let (dx, dy) = (width / (self.columns - 1) as f64, height / (self.rows - 1) as f64);
                [left + column * dx, top + height - row * dy]
            };
            for (band, &level) in levels.iter().enumerate() {
                let d: String =
                    rings(grid, level).iter().map(|ring| polyline(ring.iter().map(|&at| pixel(at)), true)).collect();
                let fill = format!(" fill-rule=\"evenodd\" fill=\"{}\"", ramp_colour(band + 1, levels.len()));
                marks.path("level", &fill, &d);
            }
            marks.path("cloud", "", &dots(self.cloud.iter().filter_map(|&point| frame.at(point))));
        }
        for (point, name) in &self.here {
            if let Some(at) = frame.at(*point) {
                marks.circle("here", at, 4.5, name);
            }
        }
        let mut over = Marks::default();
        if some {
            ramp(&mut over, &frame, &levels);
        }
        frame.finish(marks, over)
    }
}

/// The colour of band `band` of `levels + 1`, as the style sheet's ramp has it.
fn ramp_colour(band: usize, levels: usize) -> String {
    format!("var(--s{})", (band * 9 + levels / 2) / levels.max(1))
}

/// The key: one box per band, the levels between them.
fn ramp(marks: &mut Marks, frame: &Frame<'_>, levels: &[f64]) {
    let (x, n) = (frame.left + frame.width + 10.0, levels.len() + 1);
    let step = frame.height / n as f64;
    let y = |band: usize| frame.top + frame.height - step * band as f64;
    for band in 0..n {
        marks.rect("band", &ramp_colour(band, levels.len()), [x, y(band + 1)], [11.0, step], "");
    }
    let every = (13.0 / step).ceil().max(1.0) as usize;
    let decimals = (0..=3).find(|&d| levels.iter().all(|&level| is_decimal(level, d)));
    for (i, &level) in levels.iter().enumerate().step_by(every) {
        let label = match decimals {
            Some(decimals) if level.abs() < 1e4 => fixed(level, decimals as usize),
            _ => short(level),
        };
        marks.text("tick", Anchor::Start, [x + 15.0, y(i + 1) + 4.0], &label);
    }
}

fn is_decimal(value: f64, decimals: i32) -> bool {
    let scaled = value * 10f64.powi(decimals);
    (scaled - scaled.round()).abs() < 1e-9 * scaled.abs().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_spans_its_ranges_row_by_row() {
        let grid = Contour::grid((0.0, 1.0), (-1.0, 1.0), 3, 2);
        assert_eq!(grid, [[0.0, -1.0], [0.5, -1.0], [1.0, -1.0], [0.0, 1.0], [0.5, 1.0], [1.0, 1.0]]);
    }

    #[test]
    fn bands_run_through_the_whole_ramp() {
        let colours: Vec<String> = (0..=9).map(|band| ramp_colour(band, 9)).collect();
        assert_eq!((colours[0].as_str(), colours[9].as_str()), ("var(--s0)", "var(--s9)"));
        assert_eq!(ramp_colour(1, 1), "var(--s9)");
        assert_eq!(ramp_colour(0, 0), "var(--s0)");
    }

    #[test]
    fn the_level_line_of_a_slope_is_where_it_should_be() {
        let contour = Contour::new("t", (0.0, 10.0), (0.0, 5.0), 21, 11, |[x, _]| x).levels(&[5.0]);
        let svg = contour.figure().to_svg();
        let d = svg.split("class=\"level\"").nth(1).unwrap().split("d=\"").nth(1).unwrap().split('"').next().unwrap();
        let xs: Vec<f64> =
            d.trim_matches(['M', 'Z']).split('L').map(|p| p.split(' ').next().unwrap().parse().unwrap()).collect();
        let (lo, hi) = xs.iter().fold((f64::MAX, f64::MIN), |(lo, hi), &x| (lo.min(x), hi.max(x)));
        let frame_of = |name: &str| -> f64 {
            let rect = svg.split("class=\"band\"").nth(1).unwrap();
            rect.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        let (left, width) = (frame_of("x"), frame_of("width"));
        assert!((lo - (left + width / 2.0)).abs() < 0.11 && (hi - left - width).abs() < 0.11, "{lo} {hi}");
    }
}
