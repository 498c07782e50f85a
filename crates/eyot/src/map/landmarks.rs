//! Which rows should be the landmarks of a Nyström map: any, or those that the others cannot replace.
//!
//! Recursive ridge leverage scores: a row's leverage λ⁻¹·(κ(x, x) − k(x)ᵀ·(K_SS + λW⁻²)⁻¹·k(x)) says how badly the rows S
//! chosen so far explain it. Rows are halved to about s, all of the smallest level are taken, and each level above is
//! sampled by the leverage of its rows under the sample of the level below. So rare regions get landmarks that a
//! uniform draw would miss; where data is even, both are alike.
//!
//! Cost with s landmarks: O(n·s·(d + s)), like the map itself, against O(s) for a uniform draw.
//!
//! # References
//! Musco and Musco 2017, the reference of paper 3 for K_NG.

use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, MatMut, Par, Side};
use serde::{Deserialize, Serialize};

use crate::data::{Points, PointsBuf};
use crate::error::{Error, Result};
use crate::kernel::{AnyKernel, Kernel, gram};
use crate::parallel::Run;
use crate::rng::{Component, rng_of};

/// How landmarks are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LandmarkDraw {
    /// Every row alike.
    #[default]
    Uniform,
    /// By recursive ridge leverage scores.
    Leverage,
}

/// Rows whose leverage is computed together.
const ROWS: usize = 512;
/// λ where there are no more landmarks than the rank aimed at.
const SMALLEST_RIDGE: f64 = 1e-5;

impl LandmarkDraw {
    /// `s` different rows of the points, or all if there are fewer.
    pub fn choose(
        self,
        kernel: &AnyKernel,
        points: Points<'_>,
        s: usize,
        seed: u64,
        run: Run<'_>,
    ) -> Result<PointsBuf> {
        let mut rows: Vec<usize> = (0..points.n_rows()).collect();
        rng_of(seed, Component::Landmarks, 0).shuffle(&mut rows);
        if self == Self::Leverage && s < rows.len() {
            rows = by_leverage(kernel, points, &rows, s, seed, run)?;
        }
        let mut landmarks = PointsBuf::like(&points);
        rows.iter().take(s).for_each(|&row| landmarks.push(points.row(row)));
        Ok(landmarks)
    }
}

/// Landmarks so far: rows, and the weight of each, 1/√(its chance).
struct Chosen {
    rows: Vec<usize>,
    weights: Vec<f64>,
}

/// `s` of the rows in random order `order`, more than `s`.
fn by_leverage(
    kernel: &AnyKernel,
    points: Points<'_>,
    order: &[usize],
    s: usize,
    seed: u64,
    run: Run<'_>,
) -> Result<Vec<usize>> {
    let oversampling = (s as f64).ln().max(1.0);
    let rank = (s as f64 / (4.0 * oversampling)).ceil() as usize;
    let mut levels = vec![order.len()];
    while levels[levels.len() - 1] > s {
        levels.push(levels[levels.len() - 1].div_ceil(2));
    }
    let smallest = levels.pop().expect("there is at least one level");
    let mut chosen = Chosen { rows: order[..smallest].to_vec(), weights: vec![1.0; smallest] };
    for (level, &size) in levels.iter().enumerate().rev() {
        let mut rng = rng_of(seed, Component::Landmarks, 1 + level as u64);
        let rows = &order[..size];
        let leverage = leverages(kernel, points, rows, &chosen, rank, run)?;
        if level == 0 {
            // The s smallest of Exp(1)/l: a draw without replacement with chances in proportion to l.
            let mut keys: Vec<(f64, usize)> =
                leverage.iter().enumerate().map(|(at, l)| (-rng.open01().ln() / l.min(1.0), at)).collect();
            keys.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            return Ok(keys.iter().take(s).map(|&(_, at)| rows[at]).collect());
        }
        let mut next = Chosen { rows: Vec::new(), weights: Vec::new() };
        for (&row, leverage) in rows.iter().zip(leverage) {
            let chance = (oversampling * leverage).min(1.0);
            if rng.open01() < chance {
                next.rows.push(row);
                next.weights.push(1.0 / chance.sqrt());
            }
        }
        if next.rows.is_empty() {
            // The order is random, so its beginning is a uniform draw.
            next.weights = vec![(size as f64 / s as f64).sqrt(); s];
            next.rows = rows[..s].to_vec();
        }
        chosen = next;
    }
    unreachable!("the lowest level returns")
}

/// λ⁻¹·max(0, κ(x, x) − k(x)ᵀ·(K_SS + λW⁻²)⁻¹·k(x)) of rows.
fn leverages(
    kernel: &AnyKernel,
    points: Points<'_>,
    rows: &[usize],
    chosen: &Chosen,
    rank: usize,
    run: Run<'_>,
) -> Result<Vec<f64>> {
    let mut landmarks = PointsBuf::like(&points);
    chosen.rows.iter().for_each(|&row| landmarks.push(points.row(row)));
    let landmarks = landmarks.as_points();
    let b = landmarks.n_rows();
    let values = gram(kernel, landmarks, landmarks, run)?;
    let w = &chosen.weights;
    let failed = |what: &str| Error::Data(format!("the landmarks' kernel matrix cannot be {what}"));
    let ridge = if b <= rank {
        SMALLEST_RIDGE
    } else {
        let weighted = Mat::from_fn(b, b, |i, j| w[i] * values[i * b + j] * w[j]);
        let eigenvalues =
            weighted.self_adjoint_eigenvalues(Side::Lower).map_err(|_| failed("split into eigenvectors"))?;
        // What the first `rank` eigenvalues leave of the trace; equal rows leave nothing.
        (eigenvalues.iter().take(b - rank).sum::<f64>() / rank as f64).max(SMALLEST_RIDGE)
    };
    let regular = Mat::from_fn(b, b, |i, j| values[i * b + j] + if i == j { ridge / (w[i] * w[i]) } else { 0.0 });
    let factor = regular.llt(Side::Lower).map_err(|_| failed("inverted"))?;
    let parts = run.map("landmarks", rows.len().div_ceil(ROWS), |chunk| {
        let rows = &rows[chunk * ROWS..rows.len().min((chunk + 1) * ROWS)];
        let mut k = vec![0.0; rows.len() * b];
        for (k, &row) in k.chunks_exact_mut(b).zip(rows) {
            kernel.row_into(points.row(row), landmarks, k);
        }
        let columns = MatMut::from_column_major_slice_mut(&mut k, b, rows.len());
        solve_lower_triangular_in_place(factor.L(), columns, Par::Seq);
        let leverage = |(k, &row): (&[f64], &usize)| {
            let own = kernel.value(points.row(row), points.row(row));
            (own - k.iter().map(|k| k * k).sum::<f64>()).max(0.0) / ridge
        };
        Ok(k.chunks_exact(b).zip(rows).map(leverage).collect::<Vec<f64>>())
    })?;
    Ok(parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Gaussian;
    use crate::map::NystroemMap;

    const KERNEL: AnyKernel = AnyKernel::Gaussian(Gaussian { gamma: 20.0 });

    /// 2000 rows in one place and 20 spread over a wide region.
    fn uneven() -> PointsBuf {
        let mut rng = rng_of(4, Component::Synthetic, 0);
        let mut rows: Vec<[f64; 2]> = (0..2000).map(|_| [0.05 * rng.normal(), 0.05 * rng.normal()]).collect();
        rows.extend((0..20).map(|_| [1.0 + 5.0 * rng.open01(), 5.0 * rng.open01()]));
        PointsBuf::from_rows(&rows).unwrap()
    }

    fn choose(how: LandmarkDraw, points: &PointsBuf, s: usize, run: Run<'_>) -> PointsBuf {
        how.choose(&KERNEL, points.as_points(), s, 3, run).unwrap()
    }

    #[test]
    fn leverages_follow_their_definition() {
        let points = uneven();
        let chosen = Chosen { rows: vec![0, 1, 2000, 2001, 7], weights: vec![1.0, 2.0, 1.0, 1.5, 3.0] };
        let rows: Vec<usize> = (0..600).chain(2000..2020).collect();
        let fast = leverages(&KERNEL, points.as_points(), &rows, &chosen, 2, Run::threads(2)).unwrap();
        let kernel = |a: usize, b: usize| KERNEL.value(points.row(a), points.row(b));
        let (s, w) = (&chosen.rows, &chosen.weights);
        let weighted = Mat::from_fn(5, 5, |i, j| w[i] * kernel(s[i], s[j]) * w[j]);
        let eigenvalues = weighted.self_adjoint_eigenvalues(Side::Lower).unwrap();
        let trace: f64 = (0..5).map(|i| w[i] * w[i]).sum();
        let ridge = (trace - eigenvalues[4] - eigenvalues[3]) / 2.0;
        let regular = Mat::from_fn(5, 5, |i, j| kernel(s[i], s[j]) + if i == j { ridge / (w[i] * w[i]) } else { 0.0 });
        let inverse = faer::linalg::solvers::DenseSolveCore::inverse(&regular.full_piv_lu());
        for (&row, &fast) in rows.iter().zip(&fast) {
            let k: Vec<f64> = s.iter().map(|&z| kernel(row, z)).collect();
            let explained: f64 =
                (0..5).flat_map(|i| (0..5).map(move |j| (i, j))).map(|(i, j)| k[i] * inverse[(i, j)] * k[j]).sum();
            assert!(((1.0 - explained).max(0.0) / ridge - fast).abs() < 1e-9);
        }
    }

    #[test]
    fn rare_regions_get_landmarks_and_the_kernel_is_met_better() {
        let points = uneven();
        let rare = |landmarks: &PointsBuf| landmarks.as_points().rows().filter(|row| row.get(0) > 0.9).count();
        let [uniform, leverage] =
            [LandmarkDraw::Uniform, LandmarkDraw::Leverage].map(|how| choose(how, &points, 40, Run::single()));
        assert!(rare(&leverage) >= 8 && rare(&uniform) <= 4, "{} {}", rare(&leverage), rare(&uniform));
        let error = |landmarks: PointsBuf| {
            let map = NystroemMap::fit(KERNEL, landmarks, 40, Run::single()).unwrap();
            let features = map.features(points.as_points(), Run::single()).unwrap();
            features.chunks(map.n_features()).map(|x| 1.0 - x.iter().map(|x| x * x).sum::<f64>()).sum::<f64>()
        };
        let (uniform, leverage) = (error(uniform), error(leverage));
        assert!(leverage < 0.5 * uniform, "{leverage} {uniform}");
    }

    #[test]
    fn landmarks_are_distinct_rows_whatever_the_threads() {
        let points = uneven();
        let one = choose(LandmarkDraw::Leverage, &points, 50, Run::single());
        assert_eq!(one, choose(LandmarkDraw::Leverage, &points, 50, Run::threads(2)));
        let mut rows: Vec<[u64; 2]> =
            one.as_points().rows().map(|row| [row.get(0).to_bits(), row.get(1).to_bits()]).collect();
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), 50);
    }

    #[test]
    fn equal_rows_and_few_rows_end_in_landmarks_too() {
        let equal = PointsBuf::from_rows(&vec![[1.0, 2.0]; 100]).unwrap();
        assert_eq!(choose(LandmarkDraw::Leverage, &equal, 10, Run::single()).n_rows(), 10);
        assert_eq!(choose(LandmarkDraw::Leverage, &equal, 1, Run::single()).n_rows(), 1);
        let few = PointsBuf::from_rows(&[[0.0, 1.0], [2.0, 3.0]]).unwrap();
        assert_eq!(choose(LandmarkDraw::Leverage, &few, 10, Run::single()).n_rows(), 2);
    }
}
