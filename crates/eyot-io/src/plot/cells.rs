//! Cells: how a plane is cut into numbered regions, each in its own colour, with places left over where there is none.

use super::axis::Scale;
use super::frame::{Axis, Frame, Head, colour, head_methods};
use super::marching::{Grid, rings};
use super::svg::{Anchor, Figure, Marks, polyline};

/// A picture of the cells of one partitioning of the plane, as seen on an even grid.
#[derive(Debug, Clone)]
pub struct CellMap {
    head: Head,
    x_range: (f64, f64),
    y_range: (f64, f64),
    columns: usize,
    rows: usize,
    cells: Vec<Option<u32>>,
    named: Vec<([f64; 2], String)>,
}

impl CellMap {
    /// The cells of the points of a grid, in the order of [`super::Contour::grid`]; `None` for a point in no cell.
    ///
    /// # Panics
    /// If there are not `columns · rows` cells, or fewer than 2 × 2.
    pub fn new(
        title: impl Into<String>,
        x_range: (f64, f64),
        y_range: (f64, f64),
        columns: usize,
        rows: usize,
        cells: Vec<Option<u32>>,
    ) -> Self {
        assert!(columns >= 2 && rows >= 2 && cells.len() == columns * rows, "a cell for each point of the grid");
        Self { head: Head::new(title), x_range, y_range, columns, rows, cells, named: Vec::new() }
    }

    head_methods!();

    /// Marks a point and writes its name beside it.
    #[must_use]
    pub fn name(mut self, point: [f64; 2], name: impl Into<String>) -> Self {
        self.named.push((point, name.into()));
        self
    }

    /// Draws it, with equal units on both axes; the height follows from the width.
    pub fn figure(&self) -> Figure {
        let (x, y) = (Scale::linear(self.x_range.0, self.x_range.1), Scale::linear(self.y_range.0, self.y_range.1));
        let length = |scale: Scale| scale.range().1 - scale.range().0;
        let aspect = (length(y) / length(x)).clamp(0.2, 3.0);
        let frame = Frame::new(&self.head, Axis::Numbers(x), Axis::Numbers(y), &[], 6.0, Some(aspect));
        let (dx, dy) = (frame.width / (self.columns - 1) as f64, frame.height / (self.rows - 1) as f64);
        let pixel = |[column, row]: [f64; 2]| [frame.left + column * dx, frame.top + frame.height - row * dy];

        let mut marks = Marks::default();
        marks.rect("ground", "none", [frame.left, frame.top], [frame.width, frame.height], "");
        let named: Vec<[f64; 2]> = self.named.iter().filter_map(|(point, _)| frame.at(*point)).collect();
        let mut numbers = Marks::default();
        let mut known: Vec<u32> = self.cells.iter().flatten().copied().collect();
        known.sort_unstable();
        known.dedup();
        for cell in known {
            let inside: Vec<f64> = self.cells.iter().map(|&at| f64::from(u8::from(at == Some(cell)))).collect();
            let smooth = smoothed(&inside, self.columns, self.rows);
            let rings = rings(Grid::new(self.columns, self.rows, &smooth), 0.5);
            let d: String = rings.iter().map(|ring| polyline(ring.iter().map(|&at| pixel(at)), true)).collect();
            marks.path("cell", &format!(" fill-rule=\"evenodd\" fill=\"{}\"", colour(cell as usize)), &d);
            let members = || inside.iter().enumerate().filter(|(_, at)| **at > 0.0).map(|(i, _)| i);
            let n = members().count() as f64;
            let middle = [
                members().map(|i| (i % self.columns) as f64).sum::<f64>() / n,
                members().map(|i| (i / self.columns) as f64).sum::<f64>() / n,
            ];
            let [px, mut py] = pixel(middle);
            // Out of the way of a named point and of its name to the right of it.
            if named.iter().any(|at| (-24.0..10.0).contains(&(at[0] - px)) && (at[1] - py).abs() < 16.0) {
                py += 22.0;
            }
            numbers.text("name", Anchor::Middle, [px, py + 4.0], &cell.to_string());
        }
        marks.raw(&numbers.into_string());
        for (point, name) in &self.named {
            if let Some([px, py]) = frame.at(*point) {
                marks.circle("here", [px, py], 3.6, name);
                marks.text("value halo", Anchor::Start, [px + 5.0, py - 5.0], name);
            }
        }
        frame.finish(marks, Marks::default())
    }
}

/// The mean over each point and its neighbours inside the grid: borders lose the steps of the grid.
fn smoothed(values: &[f64], columns: usize, rows: usize) -> Vec<f64> {
    let mean = |i: usize| {
        let (column, row) = (i % columns, i / columns);
        let (mut sum, mut n) = (0.0, 0.0);
        for row in row.saturating_sub(1)..(row + 2).min(rows) {
            for column in column.saturating_sub(1)..(column + 2).min(columns) {
                sum += values[row * columns + column];
                n += 1.0;
            }
        }
        sum / n
    };
    (0..values.len()).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_drawn_and_numbered_and_gaps_are_not() {
        let cells = (0..100).map(|i| [Some(3), Some(3), None, Some(12)][i % 10 / 3]).collect();
        let svg = CellMap::new("t", (0.0, 2.0), (0.0, 1.0), 10, 10, cells).figure().to_svg();
        assert_eq!(svg.matches("class=\"cell\"").count(), 2);
        assert!(svg.contains(">3</text>") && svg.contains(">12</text>"));
    }
}
