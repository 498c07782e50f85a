//! The space in which centres and rows are compared in `f32`.

use faer::{Mat, Side};

use crate::data::{PointsBuf, Row};

/// Rows from which principal directions are found.
const DIRECTIONS_FROM: usize = 2000;

/// Rows that are asked how much of them is along the directions.
const ASKED_FOR_SHARE: usize = 64;

/// A row longer than this, in units of the longest centre, is left to the exact search: its squares might not fit.
pub(super) const FAR: f64 = 1e15;

/// Centres closer together than this are left to it too: canonical squares would lose digits to underflow.
const TINY: f64 = 1e-130;

/// Where centres and rows are compared in `f32`: moved to the mean of the centres, scaled by a power of two so that
/// the longest centre has a length of at most 1, and, for boxes, rotated.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) d: usize,
    middle: Vec<f64>,
    scale: f64,
    /// The length of the longest centre in the frame.
    pub(super) longest: f64,
    /// Principal directions, d numbers each; none where the columns themselves serve.
    pub(super) directions: Vec<f64>,
    pub(super) k: usize,
}

impl Frame {
    /// A frame for these centres, with up to so many directions for boxes; `None` if squared lengths do not even fit
    /// `f64`, or there is next to no length.
    pub(super) fn new(points: &PointsBuf, directions: usize) -> Option<Self> {
        let (n, d) = (points.n_rows(), points.n_columns());
        let mut middle = vec![0.0; d];
        for row in points.as_points().rows() {
            row.nonzeros().for_each(|(column, value)| middle[column] += value / n as f64);
        }
        let mut frame = Self { d, middle, scale: 1.0, longest: 0.0, directions: Vec::new(), k: d };
        let mut x = vec![0.0; d];
        let mut longest = 0.0f64;
        for row in points.as_points().rows() {
            longest = longest.max(frame.moved(row, &mut x));
        }
        if !longest.is_finite() || longest < TINY {
            return None;
        }
        frame.scale = (-longest.log2().ceil()).exp2();
        frame.longest = longest * frame.scale;
        if directions > 0 && directions + 1 < d {
            frame.directions = frame.principal_directions(points, directions);
            frame.k = frame.directions.len() / d + 1;
        }
        Some(frame)
    }

    /// The squared distance of rows that are 1 apart in the frame: a power of two.
    pub(super) fn unit(&self) -> f64 {
        (self.scale * self.scale).recip()
    }

    /// Moves and scales a row; returns its length.
    pub(super) fn moved(&self, row: Row<'_>, out: &mut [f64]) -> f64 {
        let places = out.iter_mut().zip(&self.middle);
        match row {
            Row::F64(values) => places.zip(values).for_each(|((slot, middle), x)| *slot = (x - middle) * self.scale),
            Row::F32(values) => {
                places.zip(values).for_each(|((slot, middle), &x)| *slot = (f64::from(x) - middle) * self.scale);
            }
            Row::Sparse(_) => {
                places.for_each(|(slot, middle)| *slot = -middle * self.scale);
                row.nonzeros().for_each(|(column, value)| out[column] = (value - self.middle[column]) * self.scale);
            }
        }
        dot(out, out).sqrt()
    }

    /// Box coordinates of a moved row.
    pub(super) fn coordinates(&self, x: &[f64], length: f64, out: &mut [f32]) {
        if self.k == self.d {
            out.iter_mut().zip(x).for_each(|(slot, &value)| *slot = value as f32);
            return;
        }
        let mut left_over = length * length;
        for (slot, along) in out.iter_mut().zip(self.along(x)) {
            left_over -= along * along;
            *slot = along as f32;
        }
        out[self.k - 1] = left_over.max(0.0).sqrt() as f32;
    }

    /// How far a moved row reaches along each direction.
    pub(super) fn along<'a>(&'a self, x: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.directions.chunks_exact(self.d).map(|direction| dot(direction, x))
    }

    /// How much of the squared length of a few rows is along the directions.
    pub(super) fn share_along(&self, points: &PointsBuf) -> f64 {
        let step = points.n_rows().div_ceil(ASKED_FOR_SHARE);
        let (mut x, mut y) = (vec![0.0; self.d], vec![0.0; self.k]);
        let (mut along, mut all) = (0.0, 0.0);
        for at in (step / 2..points.n_rows()).step_by(step) {
            let length = self.moved(points.row(at), &mut x);
            self.coordinates(&x, length, &mut y);
            all += length * length;
            along += length * length - f64::from(y[self.k - 1]).powi(2);
        }
        if all > 0.0 { along / all } else { 0.0 }
    }

    /// About the directions in which the points vary most, orthonormal, from some of the points: a few steps of
    /// subspace iteration, far cheaper than all eigenvectors. Any orthonormal directions give the same winners.
    fn principal_directions(&self, points: &PointsBuf, k: usize) -> Vec<f64> {
        let d = self.d;
        let step = points.n_rows().div_ceil(DIRECTIONS_FROM);
        let n = points.n_rows().div_ceil(step);
        let mut sample = Mat::<f64>::zeros(n, d);
        let mut x = vec![0.0; d];
        for at in 0..n {
            self.moved(points.row(at * step), &mut x);
            (0..d).for_each(|column| sample[(at, column)] = x[column]);
        }
        // A few more than asked for, so that the last of those kept are good too; to start with, rows of the sample.
        let wide = (k + 8).min(n).min(d);
        let mut basis: Vec<Vec<f64>> =
            (0..wide).map(|i| (0..d).map(|column| sample[(i * n / wide, column)]).collect()).collect();
        for _ in 0..ITERATIONS {
            orthonormalise(&mut basis);
            if basis.is_empty() {
                break;
            }
            let q = Mat::from_fn(d, basis.len(), |row, i| basis[i][row]);
            let image = sample.transpose() * (&sample * &q);
            basis = (0..basis.len()).map(|i| (0..d).map(|row| image[(row, i)]).collect()).collect();
        }
        orthonormalise(&mut basis);
        if basis.is_empty() {
            return Vec::new();
        }
        // Within the subspace, its own principal directions, largest first.
        let q = Mat::from_fn(d, basis.len(), |row, i| basis[i][row]);
        let seen = &sample * &q;
        let Ok(eigen) = (seen.transpose() * &seen).self_adjoint_eigen(Side::Lower) else { return Vec::new() };
        let turned = &q * eigen.U();
        let kept = basis.len().min(k);
        let mut directions: Vec<Vec<f64>> =
            (0..kept).map(|i| (0..d).map(|row| turned[(row, basis.len() - 1 - i)]).collect()).collect();
        orthonormalise(&mut directions);
        directions.concat()
    }
}

/// Steps of subspace iteration.
const ITERATIONS: usize = 3;

/// Makes the rows orthonormal, twice over for exactness; rows that depend on those before are dropped.
fn orthonormalise(rows: &mut Vec<Vec<f64>>) {
    let mut done: Vec<Vec<f64>> = Vec::with_capacity(rows.len());
    for mut row in rows.drain(..) {
        let before = dot(&row, &row).sqrt();
        for _ in 0..2 {
            for other in &done {
                let along = dot(other, &row);
                row.iter_mut().zip(other).for_each(|(value, other)| *value -= along * other);
            }
        }
        let length = dot(&row, &row).sqrt();
        if length > 1e-10 * before {
            for value in &mut row {
                *value /= length;
            }
            done.push(row);
        }
    }
    *rows = done;
}

/// A product of two rows in eight sums, which the compiler can keep in vectors.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a_chunks, a_rest) = a.as_chunks::<8>();
    let (b_chunks, b_rest) = b.as_chunks::<8>();
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>() + sums.iter().sum::<f64>()
}
