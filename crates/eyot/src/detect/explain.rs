//! Why this row: which columns make it odd, as shares that sum to 1, asked of the fitted detector itself.
//!
//! The row x is compared with its nearest ordinary rows y. A column matters in two ways: giving x the value of y makes
//! x less odd, and giving y the value of x makes y odd. The share of a column is the mean of both effects on the score
//! over the ordinary rows, negative ones cut off, divided by their sum. The first way alone is blind when two columns
//! are wrong at once (mending one leaves x odd), the second alone when only the combination is odd.
//!
//! "Nearest" is by Σ_k √|x_k − y_k|: rows that agree in most columns come first, whatever the rest does, so a wild
//! value in one column does not choose the neighbours. All encoded columns of one raw column move together.
//!
//! Cost per row: 2·R·G scores for R ordinary rows and G raw columns, at most 8 and 64 (of more columns, those that
//! differ most are tried); fewer ordinary rows where there are many columns.

use super::{CHUNK, Detector};
use crate::data::{Points, PointsBuf, Row, SparseRow};
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::parallel::Run;
use crate::rng::{Component, rng_of};
use crate::score::quantile;

/// Ordinary rows kept to compare with.
const KEPT: usize = 512;

/// Raw columns tried per row.
const COLUMNS: usize = 64;

/// Ordinary rows compared with, and a bound on rows times columns.
const ROWS: usize = 8;
const PAIRS: usize = 160;

/// Rows above this quantile of the scores are not ordinary.
const ORDINARY: f64 = 0.9;

/// Explains the scores of a detector.
#[derive(Debug, Clone, PartialEq)]
pub struct Explainer {
    ordinary: PointsBuf,
}

/// A column's part in the oddness of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The raw column, as numbered by the caller.
    pub column: usize,
    /// Its part, from 0 to 1; the parts of a row sum to 1.
    pub share: f64,
}

impl Explainer {
    /// Keeps ordinary rows of the fitting data, given their scores.
    pub fn fit(points: Points<'_>, scores: &[f64], seed: u64) -> Self {
        let mut sorted = scores.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let limit = if sorted.is_empty() { 0.0 } else { quantile(&sorted, ORDINARY) };
        let mut rows: Vec<usize> = (0..points.n_rows()).filter(|&row| scores[row] <= limit).collect();
        rng_of(seed, Component::Explain, 0).shuffle(&mut rows);
        rows.truncate(KEPT);
        let mut ordinary = PointsBuf::like(&points);
        for &row in &rows {
            ordinary.push(points.row(row));
        }
        Self { ordinary }
    }

    /// Columns of the rows it keeps.
    pub const fn n_columns(&self) -> usize {
        self.ordinary.n_columns()
    }

    /// The shares of the raw columns for every row, largest first, columns without a part left out; `source[k]` is the
    /// raw column of encoded column k.
    pub fn explain<D: Detector>(
        &self,
        detector: &D,
        points: Points<'_>,
        source: &[u32],
        run: Run<'_>,
    ) -> Result<Vec<Vec<Share>>> {
        run.map("explain", points.n_rows(), |row| self.explain_row(detector, points.row(row), source))
    }

    fn explain_row<D: Detector>(&self, detector: &D, x: Row<'_>, source: &[u32]) -> Result<Vec<Share>> {
        let near = self.nearest(x);
        let mut groups = differing(x, &near, source);
        groups.truncate(COLUMNS);
        if groups.is_empty() {
            return Ok(vec![Share { column: source.first().map_or(0, |&column| column as usize), share: 1.0 }]);
        }
        let near = &near[..near.len().min((PAIRS / groups.len()).max(1))];
        // x and the ordinary rows themselves, then every pair of mixtures.
        let mut rows = PointsBuf::like(&self.ordinary.as_points());
        rows.push(x);
        for &y in near {
            rows.push(y);
        }
        for &group in &groups {
            for &y in near {
                push_mixture(&mut rows, x, y, |column| source[column] == group);
                push_mixture(&mut rows, y, x, |column| source[column] == group);
            }
        }
        let mut scores = vec![0.0; rows.n_rows()];
        for (chunk, scores) in scores.chunks_mut(CHUNK).enumerate() {
            detector.score_chunk(rows.as_points().slice(chunk * CHUNK..chunk * CHUNK + scores.len()), scores)?;
        }
        let (own, rest) = scores.split_at(1);
        let (ordinary, mixtures) = rest.split_at(near.len());
        let effect = |pairs: &[f64]| {
            let effects = pairs.chunks(2).zip(ordinary).map(|(pair, &of_y)| (own[0] - pair[0]) + (pair[1] - of_y));
            effects.sum::<f64>().max(0.0)
        };
        let effects: Vec<f64> = mixtures.chunks(2 * near.len()).map(effect).collect();
        Ok(shares(&groups, &effects))
    }

    /// The ordinary rows that agree with x in most columns.
    fn nearest(&self, x: Row<'_>) -> Vec<Row<'_>> {
        let distance = |y: Row<'_>| {
            let mut sum = 0.0;
            x.pairs(y, |x, y| sum += (x - y).abs().sqrt());
            sum
        };
        let mut rows: Vec<(f64, usize)> =
            self.ordinary.as_points().rows().map(distance).enumerate().map(|(at, distance)| (distance, at)).collect();
        rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        rows.iter().take(ROWS).map(|&(_, at)| self.ordinary.row(at)).collect()
    }
}

/// Raw columns in which x differs from the rows, those that differ most first.
fn differing(x: Row<'_>, near: &[Row<'_>], source: &[u32]) -> Vec<u32> {
    let mut columns: Vec<usize> =
        x.nonzeros().chain(near.iter().flat_map(|y| y.nonzeros())).map(|(column, _)| column).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut gaps: Vec<(u32, f64)> = Vec::new();
    for column in columns {
        let gap: f64 = near.iter().map(|y| (x.get(column) - y.get(column)).abs()).sum();
        match gaps.iter_mut().find(|(group, _)| *group == source[column]) {
            Some((_, sum)) => *sum += gap,
            None => gaps.push((source[column], gap)),
        }
    }
    gaps.retain(|&(_, gap)| gap > 0.0);
    gaps.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    gaps.into_iter().map(|(group, _)| group).collect()
}

/// Appends `base` with the columns chosen by `take` from `other`.
fn push_mixture(rows: &mut PointsBuf, base: Row<'_>, other: Row<'_>, take: impl Fn(usize) -> bool) {
    let mut entries: Vec<(usize, f64)> = base.nonzeros().filter(|&(column, _)| !take(column)).collect();
    entries.extend(other.nonzeros().filter(|&(column, _)| take(column)));
    entries.sort_unstable_by_key(|&(column, _)| column);
    let columns: Vec<u32> = entries.iter().map(|&(column, _)| column as u32).collect();
    let values: Vec<f64> = entries.iter().map(|&(_, value)| value).collect();
    rows.push(Row::Sparse(SparseRow { columns: &columns, values: &values }));
}

/// Effects as shares; where no column has any, all that differ share alike.
fn shares(groups: &[u32], effects: &[f64]) -> Vec<Share> {
    let total: f64 = effects.iter().sum();
    let part = |effect: f64| if total > 0.0 { effect / total } else { 1.0 / groups.len() as f64 };
    let mut shares: Vec<Share> = groups
        .iter()
        .zip(effects)
        .map(|(&group, &effect)| Share { column: group as usize, share: part(effect) })
        .filter(|share| share.share > 0.0)
        .collect();
    shares.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.column.cmp(&b.column)));
    shares
}

impl Persist for Explainer {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.ordinary.save(out, &format!("{prefix}.ordinary"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        Ok(Self { ordinary: PointsBuf::load(from, &format!("{prefix}.ordinary"))? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{DetectMethod, DetectorParams};

    /// Six columns that depend on two hidden numbers, and 20 rows with known columns corrupted.
    fn corrupted() -> (PointsBuf, Vec<Vec<usize>>) {
        let mut rng = rng_of(8, Component::Synthetic, 0);
        let mut rows = Vec::new();
        let mut wrong = Vec::new();
        for i in 0..620 {
            let (a, b) = (rng.open01(), rng.open01());
            let clean = [a, b, f64::midpoint(a, b), a * b, 1.0 - a, 0.5 * b];
            let mut row: Vec<f64> = clean.iter().map(|x| x + 0.01 * rng.normal()).collect();
            if i >= 600 {
                let columns = if i % 2 == 0 { vec![i % 6] } else { vec![i % 6, (i + 3) % 6] };
                for &column in &columns {
                    row[column] += if row[column] > 0.5 { -1.0 } else { 1.0 };
                }
                wrong.push(columns);
            }
            rows.push(row);
        }
        (PointsBuf::from_rows(&rows).unwrap(), wrong)
    }

    #[test]
    fn the_corrupted_columns_come_first_and_shares_sum_to_one() {
        let (points, wrong) = corrupted();
        let source: Vec<u32> = (0..6).collect();
        for params in [
            DetectorParams::default().max_psi(Some(128)).t(50),
            DetectorParams::default().psi(Some(32)).t(50),
            DetectorParams::default().method(DetectMethod::Inne).psi(Some(32)).t(50),
            DetectorParams::default().method(DetectMethod::Gaussian).sigma(Some(0.1)),
        ] {
            let (detector, scores) =
                params.clone().check().unwrap().fit_score(points.as_points(), Run::single()).unwrap();
            let explainer = Explainer::fit(points.as_points(), &scores, 0);
            let odd = points.as_points().slice(600..620);
            let explained = explainer.explain(&detector, odd, &source, Run::single()).unwrap();
            assert_eq!(explained, explainer.explain(&detector, odd, &source, Run::threads(2)).unwrap());
            let mut right = 0;
            for (shares, wrong) in explained.iter().zip(&wrong) {
                assert!((shares.iter().map(|share| share.share).sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(shares.iter().all(|share| share.share > 0.0));
                right += usize::from(shares.iter().take(wrong.len()).all(|share| wrong.contains(&share.column)));
            }
            assert!(right >= 18, "{params:?}: {right} of 20");
        }
    }

    #[test]
    fn columns_of_one_source_move_together() {
        let (points, wrong) = corrupted();
        let params = DetectorParams::default().psi(Some(32)).t(50).check().unwrap();
        let (detector, scores) = params.fit_score(points.as_points(), Run::single()).unwrap();
        let explainer = Explainer::fit(points.as_points(), &scores, 0);
        // Columns 0, 1, 2 are one raw column, 3, 4, 5 another.
        let explained = explainer
            .explain(&detector, points.as_points().slice(600..620), &[7, 7, 7, 4, 4, 4], Run::single())
            .unwrap();
        for (shares, wrong) in explained.iter().zip(&wrong).filter(|(_, wrong)| wrong.len() == 1) {
            assert_eq!(shares[0].column, if wrong[0] < 3 { 7 } else { 4 });
        }
    }

    #[test]
    fn a_row_equal_to_ordinary_ones_is_still_explained() {
        let points = PointsBuf::from_rows(&vec![[1.0, 2.0]; 30]).unwrap();
        let params = DetectorParams::default().psi(Some(4)).check().unwrap();
        let (detector, scores) = params.fit_score(points.as_points(), Run::single()).unwrap();
        let explainer = Explainer::fit(points.as_points(), &scores, 0);
        let explained = explainer.explain(&detector, points.as_points().slice(0..1), &[0, 1], Run::single()).unwrap();
        assert_eq!(explained[0].iter().map(|share| share.share).sum::<f64>(), 1.0);
    }
}
