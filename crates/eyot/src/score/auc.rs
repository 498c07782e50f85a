//! How well a ranking separates two kinds of rows: area under the ROC curve, average precision, and both curves.
//!
//! All of them depend on the order of the scores alone; rows of equal score are taken together. The area under the
//! ROC curve is the rank statistic P(score of an anomaly > score of a normal row) + ½·P(equal), computed exactly from
//! integer counts. Average precision is Σ (recall_k − recall_{k−1})·precision_k over the distinct scores, falling; it
//! is the better figure when anomalies are rare. Cost O(n log n).
//!
//! # References
//! Fawcett 2006 (ROC analysis); Davis and Goadrich 2006 (precision and recall).

use crate::error::{Error, Result};

/// One point of a ROC or precision–recall curve: what holds when every row of at least this score is flagged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// False positive rate (ROC) or recall (precision–recall).
    pub x: f64,
    /// True positive rate (ROC) or precision (precision–recall).
    pub y: f64,
    /// The lowest score that is flagged; infinite at the start of a ROC curve.
    pub score: f64,
}

/// Area under the ROC curve, ties counted ½; `anomalous[i]` says whether row i truly is one.
///
/// ```
/// let auc = eyot::roc_auc(&[0.1, 0.4, 0.4, 0.9], &[false, false, true, true])?;
/// assert_eq!(auc, 3.5 / 4.0);
/// # Ok::<(), eyot::Error>(())
/// ```
pub fn roc_auc(scores: &[f64], anomalous: &[bool]) -> Result<f64> {
    let groups = Groups::new(scores, anomalous)?;
    // Twice the number of (anomaly, normal) pairs in the right order, so that ties are whole numbers too.
    let mut twice_right: u128 = 0;
    let mut anomalies_above: u128 = 0;
    for group in &groups.by_score {
        let (anomalies, normals) = (u128::from(group.anomalies), u128::from(group.normals));
        twice_right += normals * (2 * anomalies_above + anomalies);
        anomalies_above += anomalies;
    }
    Ok(twice_right as f64 / (2.0 * groups.anomalies as f64 * groups.normals as f64))
}

/// Σ (recall_k − recall_{k−1})·precision_k over the distinct scores, highest first.
pub fn average_precision(scores: &[f64], anomalous: &[bool]) -> Result<f64> {
    let groups = Groups::new(scores, anomalous)?;
    let (mut anomalies, mut flagged, mut sum) = (0, 0, 0.0);
    for group in &groups.by_score {
        anomalies += group.anomalies;
        flagged += group.anomalies + group.normals;
        sum += group.anomalies as f64 * (anomalies as f64 / flagged as f64);
    }
    Ok(sum / groups.anomalies as f64)
}

/// The ROC curve from (0, 0) to (1, 1), one point per distinct score, highest first.
pub fn roc_curve(scores: &[f64], anomalous: &[bool]) -> Result<Vec<CurvePoint>> {
    let groups = Groups::new(scores, anomalous)?;
    let mut curve = vec![CurvePoint { x: 0.0, y: 0.0, score: f64::INFINITY }];
    let (mut anomalies, mut normals) = (0, 0);
    for group in &groups.by_score {
        anomalies += group.anomalies;
        normals += group.normals;
        let (x, y) = (normals as f64 / groups.normals as f64, anomalies as f64 / groups.anomalies as f64);
        curve.push(CurvePoint { x, y, score: group.score });
    }
    Ok(curve)
}

/// The precision–recall curve, one point per distinct score, highest first.
pub fn pr_curve(scores: &[f64], anomalous: &[bool]) -> Result<Vec<CurvePoint>> {
    let groups = Groups::new(scores, anomalous)?;
    let (mut anomalies, mut flagged) = (0, 0);
    let point = |group: &Group| {
        anomalies += group.anomalies;
        flagged += group.anomalies + group.normals;
        let (x, y) = (anomalies as f64 / groups.anomalies as f64, anomalies as f64 / flagged as f64);
        CurvePoint { x, y, score: group.score }
    };
    Ok(groups.by_score.iter().map(point).collect())
}

/// Rows counted by distinct score, highest score first.
struct Groups {
    by_score: Vec<Group>,
    anomalies: u64,
    normals: u64,
}

struct Group {
    score: f64,
    anomalies: u64,
    normals: u64,
}

impl Groups {
    fn new(scores: &[f64], anomalous: &[bool]) -> Result<Self> {
        if scores.len() != anomalous.len() {
            return Err(Error::Shape { what: "labels", expected: scores.len(), got: anomalous.len() });
        }
        if let Some(row) = scores.iter().position(|score| score.is_nan()) {
            return Err(Error::Data(format!("row {}: the score is not a number", row + 1)));
        }
        let anomalies = anomalous.iter().filter(|&&is| is).count();
        if anomalies == 0 || anomalies == anomalous.len() {
            let only = if anomalies == 0 { "normal rows" } else { "anomalies" };
            return Err(Error::Data(format!("the labels name {only} only, but an evaluation needs both kinds")));
        }
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let mut groups: Vec<Group> = Vec::new();
        for row in order {
            // 0 and −0 are one score.
            if groups.last().is_none_or(|group| group.score != scores[row]) {
                groups.push(Group { score: scores[row], anomalies: 0, normals: 0 });
            }
            let group = groups.last_mut().expect("pushed just now at the latest");
            if anomalous[row] {
                group.anomalies += 1;
            } else {
                group.normals += 1;
            }
        }
        Ok(Self { by_score: groups, anomalies: anomalies as u64, normals: (anomalous.len() - anomalies) as u64 })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn auc_by_pairs(scores: &[f64], anomalous: &[bool]) -> f64 {
        let (mut sum, mut pairs) = (0.0, 0.0);
        for (i, _) in anomalous.iter().enumerate().filter(|(_, is)| **is) {
            for (j, _) in anomalous.iter().enumerate().filter(|(_, is)| !**is) {
                pairs += 1.0;
                sum += if scores[i] > scores[j] {
                    1.0
                } else if scores[i] == scores[j] {
                    0.5
                } else {
                    0.0
                };
            }
        }
        sum / pairs
    }

    proptest! {
        #[test]
        fn auc_is_the_share_of_ordered_pairs(rows in prop::collection::vec((0u8..6, any::<bool>()), 2..40)) {
            let scores: Vec<f64> = rows.iter().map(|row| f64::from(row.0)).collect();
            let anomalous: Vec<bool> = rows.iter().map(|row| row.1).collect();
            prop_assume!(anomalous.contains(&true) && anomalous.contains(&false));
            let auc = roc_auc(&scores, &anomalous).unwrap();
            prop_assert!((auc - auc_by_pairs(&scores, &anomalous)).abs() < 1e-12);
            // The trapezoids under the curve are the same area.
            let curve = roc_curve(&scores, &anomalous).unwrap();
            let area: f64 = curve.windows(2).map(|p| (p[1].x - p[0].x) * (p[1].y + p[0].y) / 2.0).sum();
            prop_assert!((auc - area).abs() < 1e-12);
            // Turning the order round turns the area round.
            let turned: Vec<f64> = scores.iter().map(|score| -score).collect();
            prop_assert!((roc_auc(&turned, &anomalous).unwrap() - (1.0 - auc)).abs() < 1e-12);
        }
    }

    #[test]
    fn average_precision_of_a_small_case_by_hand() {
        // Ranked: anomaly, normal, anomaly, normal: precision 1 at recall ½, 2/3 at recall 1.
        let (scores, anomalous) = ([4.0, 3.0, 2.0, 1.0], [true, false, true, false]);
        let expected = 0.5 * 1.0 + 0.5 * (2.0 / 3.0);
        assert!((average_precision(&scores, &anomalous).unwrap() - expected).abs() < 1e-15);
        let curve = pr_curve(&scores, &anomalous).unwrap();
        assert_eq!(curve.iter().map(|p| p.x).collect::<Vec<_>>(), [0.5, 0.5, 1.0, 1.0]);
        // All equal: precision is the share of anomalies.
        assert_eq!(average_precision(&[1.0; 4], &anomalous).unwrap(), 0.5);
    }

    #[test]
    fn one_kind_only_is_refused() {
        let error = roc_auc(&[1.0, 2.0], &[false, false]).unwrap_err();
        assert_eq!(error.to_string(), "the labels name normal rows only, but an evaluation needs both kinds");
        assert!(roc_auc(&[1.0, 2.0], &[true, true]).is_err());
        assert!(roc_auc(&[1.0], &[true, false]).is_err());
        assert!(roc_auc(&[1.0, f64::NAN], &[true, false]).is_err());
    }

    #[test]
    fn minus_zero_ties_with_zero() {
        assert_eq!(roc_auc(&[0.0, -0.0], &[true, false]).unwrap(), 0.5);
    }
}
