//! IDK²: which groups of rows are odd?
//!
//! A group is the mean of its rows' feature vectors (level 1, hyperspheres over all rows); a second detector then looks
//! for odd ones among these vectors (level 2). So a group can be odd although none of its rows is: too many of a kind,
//! or a missing kind. Two groups of the same rows in any order have the same score.
//!
//! Level 2 is any detector of points, many scales by default. Cost: one map of all rows, then level 2 on as many sparse
//! vectors as there are groups, each with at most t·(rows of the group) entries.
//!
//! # References
//! Paper 3, Eq. 5–8, applied twice.

use serde_json::json;

use super::{AnyDetector, Detector, DetectorParams};
use crate::data::{Encoder, Points, PointsBuf, Row, SparseRow};
use crate::error::{Error, Result};
use crate::map::{IsolationMap, IsolationMapParams};
use crate::model::{ModelReader, ModelWriter, Persist};
use crate::parallel::Run;
use crate::params::Checked;
use crate::partition::Partition;
use crate::score::{Contamination, Threshold};

/// A fitted detector of odd groups.
#[derive(Debug, Clone)]
pub struct GroupDetector {
    map: IsolationMap,
    detector: AnyDetector,
}

impl GroupDetector {
    /// Fits, and scores the same groups; `groups[i]` is the group of row i, from 0 to `n_groups` − 1, none empty.
    pub fn fit_score(
        level1: &Checked<IsolationMapParams>,
        level2: &Checked<DetectorParams>,
        points: Points<'_>,
        groups: &[u32],
        n_groups: usize,
        run: Run<'_>,
    ) -> Result<(Self, Vec<f64>)> {
        if n_groups < 2 {
            return Err(Error::Data(format!("there must be at least two groups to compare, but there are {n_groups}")));
        }
        let map = level1.fit(points, run)?;
        let vectors = embed(&map, points, groups, n_groups, run)?;
        let (detector, scores) = level2.fit_score(vectors.as_points(), run)?;
        Ok((Self { map, detector }, scores))
    }

    /// The scores of groups, perhaps new ones, larger meaning more anomalous.
    pub fn score(&self, points: Points<'_>, groups: &[u32], n_groups: usize, run: Run<'_>) -> Result<Vec<f64>> {
        self.detector.score(embed(&self.map, points, groups, n_groups, run)?.as_points(), run)
    }

    /// Level 1.
    pub const fn map(&self) -> &IsolationMap {
        &self.map
    }

    /// Level 2.
    pub const fn detector(&self) -> &AnyDetector {
        &self.detector
    }
}

/// The mean feature vectors of groups, as sparse rows.
fn embed(map: &IsolationMap, points: Points<'_>, groups: &[u32], n_groups: usize, run: Run<'_>) -> Result<PointsBuf> {
    if groups.len() != points.n_rows() {
        return Err(Error::Shape { what: "group numbers", expected: points.n_rows(), got: groups.len() });
    }
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); n_groups];
    for (row, &group) in groups.iter().enumerate() {
        let of_group = members.get_mut(group as usize);
        of_group.ok_or_else(|| Error::Data(format!("row {}: there is no group {group}", row + 1)))?.push(row);
    }
    let codes = map.encode(points, run)?;
    let mut vectors = PointsBuf::sparse(map.n_features());
    for (group, members) in members.iter().enumerate() {
        if members.is_empty() {
            return Err(Error::Data(format!("group {} has no rows", group + 1)));
        }
        let mut features: Vec<u32> =
            members.iter().flat_map(|&row| codes.row(row).features()).map(|feature| feature as u32).collect();
        features.sort_unstable();
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for run in features.chunk_by(|a, b| a == b) {
            columns.push(run[0]);
            values.push(run.len() as f64 / members.len() as f64);
        }
        vectors.push(Row::Sparse(SparseRow { columns: &columns, values: &values }));
    }
    Ok(vectors)
}

/// A detector of groups as users keep it: from raw rows in their own columns to scores and flags of their groups.
#[derive(Debug, Clone)]
pub struct GroupModel {
    /// What level 2 was made with.
    pub params: DetectorParams,
    /// The column that said which group a row belongs to.
    pub bag: String,
    /// Raw rows to points.
    pub encoder: Encoder,
    /// Points to scores of groups.
    pub detector: GroupDetector,
    /// Scores to flags and probabilities.
    pub threshold: Threshold,
}

/// ψ of the first level when none is given: enough balls to tell a group's kinds of rows apart.
const LEVEL_1_PSI: usize = 64;

impl GroupModel {
    /// Fits on all rows, encoded, and scores their groups; see [`GroupDetector::fit_score`]. Level 1 has the ψ, t and
    /// seed of level 2.
    pub fn fit(
        level2: &Checked<DetectorParams>,
        contamination: Contamination,
        bag: String,
        encoder: Encoder,
        points: Points<'_>,
        groups: (&[u32], usize),
        run: Run<'_>,
    ) -> Result<(Self, Vec<f64>)> {
        let psi = level2.psi.unwrap_or(LEVEL_1_PSI);
        let level1 = IsolationMapParams::default().partition(Partition::Sphere).psi(psi).t(level2.t).seed(level2.seed);
        let (detector, scores) = GroupDetector::fit_score(&level1.check()?, level2, points, groups.0, groups.1, run)?;
        let threshold = detector.detector().threshold(&scores, contamination)?;
        Ok((Self { params: level2.clone().into_inner(), bag, encoder, detector, threshold }, scores))
    }

    /// What the model file says it is.
    pub const KIND: &'static str = "group-detector";

    /// The bytes of a model file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut out = ModelWriter::new(Self::KIND);
        out.put_json("parameters", &self.params);
        out.put_json("bag", &self.bag);
        out.put_json("trained_on", &json!({ "rows": self.encoder.n_rows(), "columns": self.encoder.n_columns() }));
        self.encoder.save(&mut out, "encoder");
        self.detector.save(&mut out, "groups");
        out.put_f64("threshold", &[self.threshold.value(), self.threshold.scale()]);
        out.finish()
    }

    /// A detector from verified bytes.
    pub fn load(from: &ModelReader<'_>) -> Result<Self> {
        from.expect_kind(Self::KIND)?;
        let params: DetectorParams = from.json("parameters")?;
        let params = params.check().map_err(|error| Error::Model(error.to_string()))?.into_inner();
        let encoder = Encoder::load(from, "encoder")?;
        let detector = GroupDetector::load(from, "groups")?;
        let threshold = from.finite_f64s("threshold", 2)?;
        if detector.map.n_columns() != encoder.n_columns() {
            return Err(Error::Model("the parts of the detector have different columns".into()));
        }
        let threshold = Threshold::from_parts(threshold[0], threshold[1])?;
        Ok(Self { params, bag: from.json("bag")?, encoder, detector, threshold })
    }
}

impl Persist for GroupDetector {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        self.map.save(out, &format!("{prefix}.level1"));
        self.detector.save(out, &format!("{prefix}.level2"));
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let map = IsolationMap::load(from, &format!("{prefix}.level1"))?;
        let detector = AnyDetector::load(from, &format!("{prefix}.level2"))?;
        if detector.n_columns() != map.n_features() {
            return Err(Error::Model("the two levels of the group detector do not fit together".into()));
        }
        Ok(Self { map, detector })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Component, rng_of};

    /// 40 groups of 20 rows, half of each at −2 and half at 2; the last group has all its rows at 2, every one normal.
    fn lopsided() -> (PointsBuf, Vec<u32>) {
        let mut rng = rng_of(6, Component::Synthetic, 0);
        let (mut values, mut groups) = (Vec::new(), Vec::new());
        for group in 0..40 {
            for row in 0..20 {
                let centre = if group == 39 || row % 2 == 0 { 2.0 } else { -2.0 };
                values.push(centre + 0.3 * rng.normal());
                groups.push(group);
            }
        }
        (PointsBuf::from_dense(values, 1).unwrap(), groups)
    }

    fn fit(psi: Option<usize>) -> (GroupDetector, Vec<f64>) {
        let (points, groups) = lopsided();
        let level1 = IsolationMapParams::default().partition(Partition::Sphere).psi(16).t(50).check().unwrap();
        let level2 = DetectorParams::default().psi(psi).t(50).check().unwrap();
        GroupDetector::fit_score(&level1, &level2, points.as_points(), &groups, 40, Run::single()).unwrap()
    }

    #[test]
    fn a_group_of_normal_rows_in_the_wrong_proportion_comes_to_the_top() {
        for psi in [None, Some(4)] {
            let (_, scores) = fit(psi);
            // With 40 groups another one may be as odd by chance, at one scale.
            let above = scores[..39].iter().filter(|&&score| score >= scores[39]).count();
            assert!(above <= 1, "{psi:?}: {scores:?}");
        }
    }

    #[test]
    fn the_order_of_rows_does_not_matter_and_bytes_keep_the_scores() {
        let (detector, scores) = fit(Some(4));
        let (points, groups) = lopsided();
        let order: Vec<usize> = (0..800).rev().collect();
        let turned: Vec<u32> = order.iter().map(|&row| groups[row]).collect();
        let mut out = ModelWriter::new("test");
        detector.save(&mut out, "groups");
        let bytes = out.finish().unwrap();
        let back = GroupDetector::load(&ModelReader::parse(&bytes).unwrap(), "groups").unwrap();
        assert_eq!(back.score(points.select(&order).as_points(), &turned, 40, Run::threads(2)).unwrap(), scores);
    }

    #[test]
    fn one_group_and_empty_groups_are_refused() {
        let (points, groups) = lopsided();
        let level1 = IsolationMapParams::default().partition(Partition::Sphere).psi(8).t(10).check().unwrap();
        let level2 = DetectorParams::default().check().unwrap();
        let fit = |groups: &[u32], n| {
            GroupDetector::fit_score(&level1, &level2, points.as_points(), groups, n, Run::single())
        };
        assert!(fit(&vec![0; 800], 1).is_err());
        assert!(fit(&groups, 41).unwrap_err().to_string().contains("group 41 has no rows"));
        assert!(fit(&groups, 30).is_err());
    }
}
