//! Marching squares: the regions of a grid where values reach a level, as closed rings.
//!
//! The grid is thought to be surrounded by −∞, so every ring closes, along the border if need be. Between two grid
//! points the value is linear; a square with two high corners on a diagonal is settled by the mean of its four
//! (high: the corners are joined). Each ring has the high side on its left in (column, row) coordinates.
//! Time and memory are linear in the grid.

/// Values on a grid of `columns` × `rows` points, row by row. A value that is not a number counts as −∞.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid<'a> {
    columns: usize,
    rows: usize,
    values: &'a [f64],
}

impl<'a> Grid<'a> {
    /// # Panics
    /// If there are not `columns · rows` values.
    pub(crate) fn new(columns: usize, rows: usize, values: &'a [f64]) -> Self {
        assert_eq!(values.len(), columns * rows, "a grid of {columns} by {rows} values");
        Self { columns, rows, values }
    }

    /// The value at a point of the surrounded grid, whose point (0, 0) lies one step outside.
    fn at(&self, column: usize, row: usize) -> f64 {
        if (1..=self.columns).contains(&column) && (1..=self.rows).contains(&row) {
            let value = self.values[(row - 1) * self.columns + column - 1];
            if value.is_nan() { f64::NEG_INFINITY } else { value }
        } else {
            f64::NEG_INFINITY
        }
    }
}

/// An edge of the surrounded grid: 2·point for the one to the right of its point, 2·point + 1 for the one above.
type Edge = usize;

/// The rings round all regions where the value is at least `level`, in (column, row) coordinates of the grid. Filled
/// by the even-odd rule they give the region.
pub(crate) fn rings(grid: Grid<'_>, level: f64) -> Vec<Vec<[f64; 2]>> {
    const NONE: usize = usize::MAX;
    let width = grid.columns + 2;
    // The edge at which the ring that crosses an edge goes on. Rings never branch: one way in, one way out.
    let mut next: Vec<Edge> = vec![NONE; 2 * width * (grid.rows + 2)];
    for row in 0..=grid.rows {
        for column in 0..=grid.columns {
            let corners = [(column, row), (column + 1, row), (column + 1, row + 1), (column, row + 1)];
            let values = corners.map(|(column, row)| grid.at(column, row));
            let high = values.map(|value| value >= level);
            let point = row * width + column;
            // Sides in the order of corners: side s runs from corner s to corner s + 1, round to the left.
            let sides = [2 * point, 2 * (point + 1) + 1, 2 * (point + width), 2 * point + 1];
            // Going round, a ring enters the square on a side from high to low and leaves it on one from low to high;
            // so the high corners are on its left.
            let joined = values.iter().sum::<f64>() / 4.0 >= level;
            let diagonal = high[0] == high[2] && high[1] == high[3] && high[0] != high[1];
            for enter in 0..4 {
                if !high[enter] || high[(enter + 1) % 4] {
                    continue;
                }
                let exit_of = |step: usize| (enter + step) % 4;
                let leaves = |side: usize| !high[side] && high[(side + 1) % 4];
                let exit = if diagonal && joined {
                    // The high corners hang together: turn round the low corner just after.
                    exit_of(1)
                } else if diagonal {
                    // They are apart: turn round the high corner just before.
                    exit_of(3)
                } else {
                    (1..4).map(exit_of).find(|&side| leaves(side)).expect("what goes low comes high again")
                };
                next[sides[enter]] = sides[exit];
            }
        }
    }
    let mut rings = Vec::new();
    for start in 0..next.len() {
        let mut ring = Vec::new();
        let mut edge = start;
        while next[edge] != NONE {
            ring.push(crossing(grid, level, edge));
            edge = std::mem::replace(&mut next[edge], NONE);
        }
        if !ring.is_empty() {
            rings.push(ring);
        }
    }
    rings
}

/// Where on an edge the value is `level`.
fn crossing(grid: Grid<'_>, level: f64, edge: Edge) -> [f64; 2] {
    let width = grid.columns + 2;
    let (column, row) = (edge / 2 % width, edge / 2 / width);
    let (to_column, to_row) = if edge.is_multiple_of(2) { (column + 1, row) } else { (column, row + 1) };
    let (from, to) = (grid.at(column, row), grid.at(to_column, to_row));
    let share = match (from.is_finite(), to.is_finite()) {
        (true, true) => ((level - from) / (to - from)).clamp(0.0, 1.0),
        (true, false) => f64::from(u8::from(to == f64::INFINITY)) * 0.5,
        (false, true) => 1.0 - f64::from(u8::from(from == f64::INFINITY)) * 0.5,
        (false, false) => {
            if from > to {
                0.0
            } else {
                1.0
            }
        }
    };
    let along = |from: usize, to: usize| from as f64 - 1.0 + share * (to as f64 - from as f64);
    [along(column, to_column), along(row, to_row)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn field(columns: usize, rows: usize, f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        (0..columns * rows).map(|i| f((i % columns) as f64, (i / columns) as f64)).collect()
    }

    /// Twice the signed area: positive if the ring runs to the left (counter-clockwise).
    fn area(ring: &[[f64; 2]]) -> f64 {
        let next = ring.iter().cycle().skip(1);
        ring.iter().zip(next).map(|(a, b)| a[0] * b[1] - b[0] * a[1]).sum::<f64>() / 2.0
    }

    #[test]
    fn the_contour_of_a_slope_is_a_straight_line_at_its_level() {
        let values = field(11, 7, |x, _| 2.0 * x);
        let rings = rings(Grid::new(11, 7, &values), 7.0);
        assert_eq!(rings.len(), 1);
        // Inside the grid the ring is at x = 3.5; elsewhere it follows the border.
        for [x, y] in &rings[0] {
            assert!(*x == 3.5 || *x == 10.0 || *y == 0.0 || *y == 6.0, "{x} {y}");
        }
        assert_eq!(area(&rings[0]), 6.5 * 6.0);
    }

    #[test]
    fn the_contour_of_a_cone_is_a_circle() {
        let values = field(81, 81, |x, y| -(x - 40.0).hypot(y - 40.0));
        let rings = rings(Grid::new(81, 81, &values), -25.0);
        assert_eq!(rings.len(), 1);
        for [x, y] in &rings[0] {
            // Linear between points one apart: the cone sags by at most 1/(8·25).
            assert!(((x - 40.0).hypot(y - 40.0) - 25.0).abs() < 0.01);
        }
        assert!((area(&rings[0]) / (std::f64::consts::PI * 625.0) - 1.0).abs() < 0.002);
    }

    #[test]
    fn a_hole_has_a_ring_of_its_own_that_runs_the_other_way() {
        let values = field(41, 41, |x, y| -((x - 20.0).hypot(y - 20.0) - 12.0).abs());
        let mut areas: Vec<f64> = rings(Grid::new(41, 41, &values), -4.0).iter().map(|ring| area(ring)).collect();
        areas.sort_by(f64::total_cmp);
        assert_eq!(areas.len(), 2);
        assert!(areas[0] < -150.0 && areas[1] > 750.0, "{areas:?}");
    }

    #[test]
    fn a_saddle_is_settled_by_its_mean() {
        let joined = rings(Grid::new(2, 2, &[1.0, 0.2, 0.2, 1.0]), 0.5);
        let apart = rings(Grid::new(2, 2, &[1.0, 0.0, 0.0, 0.8]), 0.5);
        assert_eq!((joined.len(), apart.len()), (1, 2));
    }

    #[test]
    fn nothing_and_everything_above_the_level() {
        let flat = [1.0; 12];
        assert!(rings(Grid::new(4, 3, &flat), 2.0).is_empty());
        let all = rings(Grid::new(4, 3, &flat), 1.0);
        assert_eq!((all.len(), area(&all[0])), (1, 6.0));
        assert!(rings(Grid::new(2, 2, &[f64::NAN; 4]), 0.0).is_empty());
        assert!(rings(Grid::new(0, 0, &[]), 0.0).is_empty());
    }

    /// Plain oracle: is a point inside, by counting the rings' crossings to its right.
    fn inside(rings: &[Vec<[f64; 2]>], [x, y]: [f64; 2]) -> bool {
        let mut odd = false;
        for ring in rings {
            for (a, b) in ring.iter().zip(ring.iter().cycle().skip(1)) {
                if (a[1] > y) != (b[1] > y) && x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]) {
                    odd = !odd;
                }
            }
        }
        odd
    }

    proptest! {
        #[test]
        fn a_grid_point_is_inside_exactly_when_its_value_reaches_the_level(
            columns in 2usize..9, rows in 2usize..9, seed in proptest::collection::vec(0u8..10, 64)
        ) {
            // Levels between the values, so that no grid point lies on a ring.
            let values: Vec<f64> = (0..columns * rows).map(|i| f64::from(seed[i])).collect();
            for level in [0.5, 3.5, 7.5] {
                let rings = rings(Grid::new(columns, rows, &values), level);
                for row in 1..rows - 1 {
                    for column in 1..columns - 1 {
                        let got = inside(&rings, [column as f64, row as f64 + 1e-9]);
                        prop_assert_eq!(got, values[row * columns + column] > level);
                    }
                }
            }
        }
    }
}
