//! K_I, the point detector of the Isolation Distributional Kernel: how similar is a point to all data together?
//!
//! The data set is one vector, the mean of its feature vectors; a point's similarity is its product with that mean,
//! K̂(δ(x), P) = (1/t)·Σ_i m\[i, φ_i(x)\], m\[i, j\] the share of the data in cell j of partitioning i. No learning, one
//! parameter that matters (ψ), and anomalies in the fitting data do little harm: their cells weigh little.
//! Good for anomalies in sparse regions of any density, local ones too with a large ψ; it fails when anomalies form a
//! cluster that is dense at the chosen ψ. The anomaly score is −similarity, from −1 to 0.
//!
//! Cost with d columns: O(n·t·ψ·d) to fit, O(t·ψ·d) per score; memory O(t·ψ) rows and counts. Counts are integers
//! until read, so neither the order of rows nor threads can change a score.
//!
//! # References
//! Paper 3 (Isolation Distributional Kernel), Eq. 5–8 and Algorithm 1.
//!
//! # Examples
//! ```
//! use eyot::{Detector, Idk, IsolationMapParams, Partition, PointsBuf, Run};
//!
//! let points = PointsBuf::from_rows(&[[0.1], [0.2], [0.3], [0.4], [9.0]])?;
//! let params = IsolationMapParams::default().partition(Partition::Sphere).psi(2).check()?;
//! let idk = Idk::fit(&params, points.as_points(), Run::single())?;
//! let scores = idk.score(points.as_points(), Run::single())?;
//! assert!(scores[..4].iter().all(|&score| score < scores[4]));
//! # Ok::<(), eyot::Error>(())
//! ```

use std::sync::Mutex;

use super::Detector;
use crate::backend::Room;
use crate::data::Points;
use crate::error::{Error, Result};
use crate::map::{IsolationMap, IsolationMapParams};
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::parallel::Run;
use crate::params::Checked;
use crate::partition::{CodeRow, Codes};

/// Up to this many codes are kept between fitting and scoring the same rows; beyond, the rows are mapped twice.
const KEEP_CODES: usize = 1 << 28;

/// A fitted K_I detector: a map, and the mean embedding as counts.
#[derive(Debug, Clone)]
pub struct Idk {
    map: IsolationMap,
    embedding: Embedding,
}

/// The mean embedding Φ̂ of a set of points, as integer counts: exact, mergeable, independent of order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedding {
    /// `counts[i·ψ + j]`: points in cell j of partitioning i.
    counts: Vec<u64>,
    points: u64,
}

impl Idk {
    /// Fits map and embedding on the same rows.
    pub fn fit(params: &Checked<IsolationMapParams>, points: Points<'_>, run: Run<'_>) -> Result<Self> {
        Self::with_map(params.fit(points, run)?, points, run)
    }

    /// Embeds rows by a map fitted before, perhaps on other rows.
    pub fn with_map(map: IsolationMap, points: Points<'_>, run: Run<'_>) -> Result<Self> {
        let embedding = Embedding::of(&map, points, run)?;
        Ok(Self { map, embedding })
    }

    /// Fits, and scores the same rows: the numbers of [`Idk::fit`] and [`Detector::score`], but the rows are mapped
    /// only once while t codes a row fit into 256 MB.
    pub fn fit_score(
        params: &Checked<IsolationMapParams>,
        points: Points<'_>,
        run: Run<'_>,
    ) -> Result<(Self, Vec<f64>)> {
        let map = params.fit(points, run)?;
        let mut idk = Self { embedding: Embedding::new(&map), map };
        let scores = idk.extend(points, run)?;
        Ok((idk, scores))
    }

    /// Counts more rows in the partitionings that are there, and scores them by all rows so far. Pieces of any size, in
    /// any order, give the same counts; a failure leaves them as they were.
    pub fn extend(&mut self, points: Points<'_>, run: Run<'_>) -> Result<Vec<f64>> {
        if points.n_rows().saturating_mul(self.map.t()) > KEEP_CODES {
            self.embedding.merge(&Embedding::of(&self.map, points, run)?)?;
            return self.score(points, run);
        }
        let codes = self.map.encode(points, run)?;
        self.embedding.add(&codes);
        let sums = codes.sums_of(&self.embedding.counts, run)?;
        Ok(sums.into_iter().map(|sum| 0.0 - self.share(sum)).collect())
    }

    /// The similarity of a point from the sum of the counts of its cells.
    fn share(&self, sum: u64) -> f64 {
        self.embedding.share(sum, self.map.t())
    }

    /// The map.
    pub const fn map(&self) -> &IsolationMap {
        &self.map
    }

    /// The embedding of the fitting data.
    pub const fn embedding(&self) -> &Embedding {
        &self.embedding
    }
}

impl Detector for Idk {
    fn n_columns(&self) -> usize {
        self.map.n_columns()
    }

    fn score_chunk(&self, points: Points<'_>, scores: &mut [f64]) -> Result<()> {
        let mut sums = Room::<u64, 1>::new(points.n_rows(), 0);
        self.map.totals_of_few(points, &mut sums, |feature| self.embedding.counts[feature])?;
        scores.iter_mut().zip(sums.iter()).for_each(|(score, &sum)| *score = 0.0 - self.share(sum));
        Ok(())
    }

    fn score(&self, points: Points<'_>, run: Run<'_>) -> Result<Vec<f64>> {
        let sums = self.map.totals(points, run, |feature| self.embedding.counts[feature])?;
        Ok(sums.into_iter().map(|sum| 0.0 - self.share(sum)).collect())
    }
}

impl Embedding {
    /// Of no points yet.
    pub fn new(map: &IsolationMap) -> Self {
        Self { counts: vec![0; map.n_features()], points: 0 }
    }

    /// Of these points.
    fn of(map: &IsolationMap, points: Points<'_>, run: Run<'_>) -> Result<Self> {
        // Counts are integers, so it does not matter who has counted what.
        let parts: Mutex<Vec<Self>> = Mutex::default();
        map.prepare(points, run);
        let rows = run.evenly(points.n_rows(), map.rows_together());
        run.map("map", points.n_rows().div_ceil(rows), |chunk| {
            let first = chunk * rows;
            let codes = map.encode(points.slice(first..points.n_rows().min(first + rows)), run.inner())?;
            let free = parts.lock().expect("no panic while counting").pop();
            let mut part = free.unwrap_or_else(|| Self::new(map));
            part.add(&codes);
            parts.lock().expect("no panic while counting").push(part);
            Ok(())
        })?;
        let mut embedding = Self::new(map);
        for part in parts.into_inner().expect("all threads have ended") {
            embedding.merge(&part)?;
        }
        Ok(embedding)
    }

    /// Counts more points.
    pub fn add(&mut self, codes: &Codes) {
        codes.count_in(&mut self.counts);
        self.points += codes.n_rows() as u64;
    }

    /// Adds the points of another embedding by the same map.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.counts.len() != other.counts.len() {
            return Err(Error::Shape { what: "features", expected: self.counts.len(), got: other.counts.len() });
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.points += other.points;
        Ok(())
    }

    /// Points counted.
    pub const fn n_points(&self) -> u64 {
        self.points
    }

    /// K̂(δ(x), P) of a point x given by its codes, from 0 to 1.
    pub fn similarity(&self, row: CodeRow<'_>) -> f64 {
        self.share(row.sum_of(&self.counts), row.t())
    }

    /// The sum of t counts as a similarity.
    fn share(&self, sum: u64, t: usize) -> f64 {
        sum as f64 / (t as f64 * self.points as f64)
    }

    /// K̂(S, T) = ⟨Φ̂(S), Φ̂(T)⟩ / t, the kernel of two sets; `t` is the number of partitionings.
    pub fn kernel(&self, other: &Self, t: usize) -> f64 {
        let sum: u128 = self.counts.iter().zip(&other.counts).map(|(&a, &b)| u128::from(a) * u128::from(b)).sum();
        sum as f64 / (t as f64 * self.points as f64 * other.points as f64)
    }

    /// MMD²(S, T) = ‖Φ̂(S) − Φ̂(T)‖² / t, the squared distance of two sets.
    pub fn squared_distance(&self, other: &Self, t: usize) -> f64 {
        let (n, m) = (self.points as f64, other.points as f64);
        let squares = self.counts.iter().zip(&other.counts).map(|(&a, &b)| (a as f64 / n - b as f64 / m).powi(2));
        squares.sum::<f64>() / t as f64
    }
}

impl Persist for Idk {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.map.save(out, &format!("{prefix}.map"));
        out.put_u64(&format!("{prefix}.counts"), &self.embedding.counts);
        out.put_json(&format!("{prefix}.points"), &self.embedding.points);
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let map = IsolationMap::load(from, &format!("{prefix}.map"))?;
        let counts = from.u64s(&format!("{prefix}.counts"))?;
        let points: u64 = from.json(&format!("{prefix}.points"))?;
        let fits = counts.len() == map.n_features() && points > 0;
        if !fits || counts.iter().any(|&count| count > points) {
            return Err(Error::Model("the counts of the model do not fit its map".into()));
        }
        Ok(Self { map, embedding: Embedding { counts, points } })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{blob_with_outlier, spheres};
    use super::*;
    use crate::data::PointsBuf;

    fn fitted() -> (PointsBuf, Idk) {
        let points = blob_with_outlier(300, 3);
        let idk = Idk::fit(&spheres(16), points.as_points(), Run::single()).unwrap();
        (points, idk)
    }

    fn embed(map: &IsolationMap, points: Points<'_>) -> Embedding {
        let mut embedding = Embedding::new(map);
        embedding.add(&map.encode(points, Run::single()).unwrap());
        embedding
    }

    #[test]
    fn similarity_is_the_mean_kernel_with_all_points() {
        let (points, idk) = fitted();
        let codes = idk.map.encode(points.as_points(), Run::single()).unwrap();
        let scores = idk.score(points.as_points(), Run::single()).unwrap();
        for x in [0, 17, 300] {
            let mean = codes.rows().map(|y| codes.row(x).similarity(y)).sum::<f64>() / 301.0;
            assert!((mean + scores[x]).abs() < 1e-12);
        }
        let whole = scores.iter().sum::<f64>() / -301.0;
        assert!((whole - idk.embedding.kernel(&idk.embedding, idk.map.t())).abs() < 1e-12);
    }

    #[test]
    fn the_kernel_of_two_sets_is_the_double_mean_of_the_point_kernel() {
        let (points, idk) = fitted();
        let (s, t) = (points.as_points().slice(0..40), points.as_points().slice(40..120));
        let (of_s, of_t) = (embed(&idk.map, s), embed(&idk.map, t));
        let (codes_s, codes_t) = (idk.map.encode(s, Run::single()).unwrap(), idk.map.encode(t, Run::single()).unwrap());
        let pairs = codes_s.rows().flat_map(|x| codes_t.rows().map(move |y| x.similarity(y)));
        let mean = pairs.sum::<f64>() / (40.0 * 80.0);
        let parts = idk.map.t();
        let kernel = of_s.kernel(&of_t, parts);
        assert!((kernel - mean).abs() < 1e-12);
        assert_eq!(kernel, of_t.kernel(&of_s, parts));
        assert!((0.0..=1.0).contains(&kernel));
        assert!(kernel * kernel <= of_s.kernel(&of_s, parts) * of_t.kernel(&of_t, parts) + 1e-15);
        assert!(of_s.squared_distance(&of_t, parts) > 0.0);
        assert_eq!(of_s.squared_distance(&of_s, parts), 0.0);
        // Chunks merge to the whole.
        let mut merged = of_s.clone();
        merged.merge(&of_t).unwrap();
        assert_eq!(merged, embed(&idk.map, points.as_points().slice(0..120)));
    }

    #[test]
    fn far_away_the_similarity_is_zero_and_nowhere_above_its_bound() {
        let (points, idk) = fitted();
        let far = PointsBuf::from_rows(&[[1e6, -1e6, 1e6]]).unwrap();
        assert_eq!(idk.score(far.as_points(), Run::single()).unwrap(), [0.0]);
        let largest = idk.embedding.counts.chunks(idk.map.psi()).map(|block| *block.iter().max().unwrap());
        let bound = largest.sum::<u64>() as f64 / (idk.map.t() as f64 * 301.0);
        let scores = idk.score(points.as_points(), Run::single()).unwrap();
        assert!(scores.iter().all(|&score| -score <= bound));
    }

    #[test]
    fn doubling_the_data_changes_no_score_given_the_same_partitionings() {
        let (points, idk) = fitted();
        let mut twice = points.clone();
        points.as_points().rows().for_each(|row| twice.push(row));
        let doubled = Idk::with_map(idk.map.clone(), twice.as_points(), Run::single()).unwrap();
        let score = |idk: &Idk| idk.score(points.as_points(), Run::single()).unwrap();
        assert_eq!(score(&idk), score(&doubled));
    }

    #[test]
    fn fitting_and_scoring_at_once_gives_the_same_numbers() {
        let (points, idk) = fitted();
        let (other, scores) = Idk::fit_score(&spheres(16), points.as_points(), Run::single()).unwrap();
        assert_eq!(other.embedding, idk.embedding);
        assert_eq!(scores, idk.score(points.as_points(), Run::single()).unwrap());
    }

    #[test]
    fn more_rows_in_pieces_of_any_size_and_order_are_the_embedding_of_all_rows() {
        let (points, idk) = fitted();
        let more = blob_with_outlier(90, 3);
        let mut all = points.clone();
        more.as_points().rows().for_each(|row| all.push(row));
        let whole = Idk::with_map(idk.map.clone(), all.as_points(), Run::single()).unwrap();
        let mut backwards = idk.clone();
        for piece in [70..91, 1..70, 0..1] {
            let rows = more.as_points().slice(piece);
            let scores = backwards.extend(rows, Run::single()).unwrap();
            assert_eq!(scores, backwards.score(rows, Run::single()).unwrap());
        }
        assert_eq!(backwards.embedding, whole.embedding);
        assert_ne!(backwards.embedding, idk.embedding);
    }

    /// Paper 3, Figure 4: three clusters of different spread, and 20 clustered anomalies to the right.
    #[test]
    fn clustered_anomalies_are_less_similar_than_the_fringes_of_clusters() {
        let mut rng = crate::rng::rng_of(4, crate::rng::Component::Synthetic, 0);
        let mut line = Vec::new();
        for (centre, spread) in [(0.0, 0.2), (3.0, 0.5), (8.0, 1.0)] {
            line.extend((0..500).map(|_| [centre + spread * rng.normal()]));
        }
        line.extend((0..20).map(|_| [14.0 + 0.1 * rng.normal()]));
        let points = PointsBuf::from_rows(&line).unwrap();
        let params = IsolationMapParams::default().partition(crate::partition::Partition::Sphere).psi(8).t(400);
        let (_, scores) = Idk::fit_score(&params.check().unwrap(), points.as_points(), Run::single()).unwrap();
        let highest = scores.iter().map(|score| -score).fold(0.0, f64::max);
        let anomalies = scores[1500..].iter().map(|score| -score / highest).fold(0.0, f64::max);
        assert!(anomalies < 0.25, "{anomalies}");
        let anomalous: Vec<bool> = (0..1520).map(|i| i >= 1500).collect();
        assert!(crate::roc_auc(&scores, &anomalous).unwrap() > 0.98);
    }
}
