//! Nyström features: r numbers per point whose products approximate a kernel, exactly so between the b landmarks when
//! r = b. Good when the data lie near a few landmarks' span; with few landmarks it misses what is local.
//!
//! K_ZZ = VΛVᵀ with eigenvalues descending; x̂ = Λ_r^{−1/2} V_rᵀ k(x), k(x) = (κ(x, z_1) … κ(x, z_b)). Eigenvalues
//! up to 1e-10 of the largest are dropped (duplicated landmarks give zeros), so the map may be shorter than asked.
//! Signs are fixed so that the largest entry of each eigenvector is positive. Cost O(b²d + b³) once, O(bd + br) per
//! point.
//!
//! # References
//! Isolation Kernel for online kernel learning, §7 (NOGD, b = 100, r = 0.2b); Isolation Distributional Kernel, §5.

use faer::{Mat, Side};

use super::LandmarkDraw;
use super::fourier::dot;
use crate::data::{Points, PointsBuf, Row};
use crate::error::{Error, Result};
use crate::kernel::{AnyKernel, Kernel, gram};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};
use crate::parallel::Run;

/// Rows mapped by one thread at a time.
const ROWS: usize = 256;
/// Eigenvalues up to this share of the largest count as 0.
const SMALLEST_SHARE: f64 = 1e-10;

/// The map x ↦ x̂.
#[derive(Debug, Clone, PartialEq)]
pub struct NystroemMap {
    kernel: AnyKernel,
    landmarks: PointsBuf,
    /// Λ_r^{−1/2} V_rᵀ, row by row.
    projection: Vec<f64>,
}

impl NystroemMap {
    /// The map of these landmarks with at most `rank` features.
    pub fn fit(kernel: AnyKernel, landmarks: PointsBuf, rank: usize, run: Run<'_>) -> Result<Self> {
        let b = landmarks.n_rows();
        if b == 0 {
            return Err(Error::Empty);
        }
        let points = landmarks.as_points();
        let values = gram(&kernel, points, points, run)?;
        let matrix = Mat::from_fn(b, b, |i, j| values[i * b + j]);
        let eigen = matrix
            .self_adjoint_eigen(Side::Lower)
            .map_err(|error| Error::Data(format!("the landmarks' kernel matrix has no eigenvectors: {error:?}")))?;
        let (vectors, lambda) = (eigen.U(), eigen.S().column_vector());
        let largest = lambda[b - 1].max(0.0);
        let kept = (0..b).rev().take(rank).filter(|&k| lambda[k] > SMALLEST_SHARE * largest);
        let mut projection = Vec::with_capacity(rank.min(b) * b);
        for k in kept {
            let entries = (0..b).map(|i| vectors[(i, k)]);
            let extreme = entries.clone().fold(0.0, |most: f64, v| if v.abs() > most.abs() { v } else { most });
            let scale = extreme.signum() / lambda[k].sqrt();
            projection.extend(entries.map(|v| scale * v));
        }
        Ok(Self { kernel, landmarks, projection })
    }

    /// The map of `b` landmarks drawn uniformly from the points without replacement.
    pub fn fit_uniform(
        kernel: AnyKernel,
        points: Points<'_>,
        b: usize,
        rank: usize,
        seed: u64,
        run: Run<'_>,
    ) -> Result<Self> {
        let landmarks = LandmarkDraw::Uniform.choose(&kernel, points, b, seed, run)?;
        Self::fit(kernel, landmarks, rank, run)
    }

    /// Number of features, at most the rank asked for.
    pub fn n_features(&self) -> usize {
        self.projection.len() / self.landmarks.n_rows()
    }

    /// The landmarks.
    pub const fn landmarks(&self) -> &PointsBuf {
        &self.landmarks
    }

    /// x̂; `k` is room for the kernel values.
    pub fn features_into(&self, x: Row<'_>, out: &mut Vec<f64>, k: &mut Vec<f64>) {
        k.resize(self.landmarks.n_rows(), 0.0);
        self.kernel.row_into(x, self.landmarks.as_points(), k);
        self.project_into(k, out);
    }

    /// x̂ from k(x).
    pub(crate) fn project_into(&self, k: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.projection.chunks_exact(k.len()).map(|row| dot(row, k)));
    }

    /// x̂ of every row, one after the other, in parallel.
    pub fn features(&self, points: Points<'_>, run: Run<'_>) -> Result<Vec<f64>> {
        let width = self.n_features();
        let mut values = vec![0.0; points.n_rows() * width];
        if width > 0 {
            run.chunks_mut("map", &mut values, ROWS * width, |chunk, out| {
                let (mut features, mut k) = (Vec::new(), Vec::new());
                for (i, out) in out.chunks_exact_mut(width).enumerate() {
                    self.features_into(points.row(chunk * ROWS + i), &mut features, &mut k);
                    out.copy_from_slice(&features);
                }
                Ok(())
            })?;
        }
        Ok(values)
    }
}

impl Persist for NystroemMap {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(&format!("{prefix}.kernel"), &self.kernel);
        out.put_f64(&format!("{prefix}.projection"), &self.projection);
        self.landmarks.save(out, &format!("{prefix}.landmarks"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let kernel: AnyKernel = from.json(&format!("{prefix}.kernel"))?;
        kernel.check().map_err(|error| bad_part(prefix, &error.to_string()))?;
        let landmarks = PointsBuf::load(from, &format!("{prefix}.landmarks"))?;
        let projection = from.f64s(&format!("{prefix}.projection"))?;
        let b = landmarks.n_rows();
        let whole = b > 0 && projection.len() % b == 0 && projection.len() <= b * b;
        if whole && projection.iter().all(|value| value.is_finite()) {
            return Ok(Self { kernel, landmarks, projection });
        }
        Err(bad_part(prefix, "is not a map of its landmarks"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Gaussian;
    use crate::rng::{Component, rng_of};

    fn kernel() -> AnyKernel {
        AnyKernel::Gaussian(Gaussian { gamma: 2.0 })
    }

    fn landmarks(n: usize) -> PointsBuf {
        let mut rng = rng_of(1, Component::Synthetic, 0);
        PointsBuf::from_dense((0..3 * n).map(|_| rng.open01()).collect(), 3).unwrap()
    }

    #[test]
    fn full_rank_gives_the_kernel_between_landmarks() {
        let points = landmarks(20);
        let map = NystroemMap::fit(kernel(), points.clone(), 20, Run::single()).unwrap();
        let features = map.features(points.as_points(), Run::single()).unwrap();
        let width = map.n_features();
        for i in 0..20 {
            for j in 0..20 {
                let product = dot(&features[i * width..(i + 1) * width], &features[j * width..(j + 1) * width]);
                assert!((product - kernel().value(points.row(i), points.row(j))).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn lower_rank_gives_the_best_approximation_of_that_rank() {
        let points = landmarks(20);
        let map = NystroemMap::fit(kernel(), points.clone(), 5, Run::single()).unwrap();
        let features = map.features(points.as_points(), Run::single()).unwrap();
        let (low, values) = (map.n_features(), gram(&kernel(), points.as_points(), points.as_points(), Run::single()));
        let values = values.unwrap();
        let rest = Mat::from_fn(20, 20, |i, j| {
            values[i * 20 + j] - dot(&features[i * low..(i + 1) * low], &features[j * low..(j + 1) * low])
        });
        let all = Mat::from_fn(20, 20, |i, j| values[i * 20 + j]).self_adjoint_eigenvalues(Side::Lower).unwrap();
        // The residual of the best rank-5 approximation has the 6th eigenvalue as its largest, and no negative one.
        let residual = rest.self_adjoint_eigenvalues(Side::Lower).unwrap();
        assert!((residual[19] - all[14]).abs() < 1e-9 && residual[0] > -1e-9);
    }

    #[test]
    fn duplicated_landmarks_shorten_the_map() {
        let points = landmarks(6);
        let doubled = points.select(&[0, 1, 2, 3, 4, 5, 0, 1]);
        let map = NystroemMap::fit(kernel(), doubled, 8, Run::single()).unwrap();
        assert_eq!(map.n_features(), 6);
    }

    #[test]
    fn a_point_far_from_all_landmarks_maps_to_zero() {
        let map = NystroemMap::fit(kernel(), landmarks(6), 6, Run::single()).unwrap();
        let (mut features, mut k) = (Vec::new(), Vec::new());
        map.features_into(Row::F64(&[1e6, 0.0, 0.0]), &mut features, &mut k);
        assert!(features.iter().all(|&value| value == 0.0));
    }

    #[test]
    fn threads_change_nothing_and_landmarks_are_distinct_rows() {
        let points = landmarks(700);
        let map = NystroemMap::fit_uniform(kernel(), points.as_points(), 30, 6, 3, Run::single()).unwrap();
        let one = map.features(points.as_points(), Run::single()).unwrap();
        assert_eq!(one, map.features(points.as_points(), Run::threads(2)).unwrap());
        let mut rows: Vec<Vec<u64>> =
            map.landmarks().as_points().rows().map(|row| (0..3).map(|c| row.get(c).to_bits()).collect()).collect();
        rows.sort();
        rows.dedup();
        assert_eq!(rows.len(), 30);
    }
}
