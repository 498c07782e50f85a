//! Where the anomalies begin: a threshold on scores, from a share or from the scores alone, and a score in \[0, 1\].
//!
//! **A share c** flags the ⌈c·n⌉ rows of highest score; rows that tie with the last of them are flagged too.
//!
//! **Auto** is the upper fence of the adjusted boxplot, Q₃ + 1.5·e^(3·M)·(Q₃ − Q₁) for a medcouple M ≥ 0 (e^(4·M) for
//! M < 0). Anomaly scores are skewed by nature, differently for each method and data set, so rules that assume a bell
//! (mean + 3 σ, median + 3 MAD, the plain boxplot) flag whole tails of normal rows. The medcouple measures the skew
//! from the middle of the data, and the fence flags about 0.4 to 1.3 % of clean rows, be they bell-shaped,
//! exponential or log-normal. Quartiles and medcouple do not notice up to a quarter of anomalies. It fails when more
//! rows than that are anomalous, and it flags nothing if the scores have no tail, which is a fair answer.
//!
//! **Probability-like score**: p(s) = 1 / (1 + exp(−(s − threshold)/b)), b such that the median row has 0.01. So 0.5
//! is the threshold by construction, p grows with s, and new rows need nothing but the two stored numbers. It is a
//! scale to read, not a frequency: without labels nothing can be.
//!
//! # References
//! Hubert and Vandervieren 2008 (adjusted boxplot); Brys, Hubert and Struyf 2004 (medcouple).

use crate::error::{Error, Result};

/// How many rows to flag.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Contamination {
    /// Let the distribution of the scores decide.
    Auto,
    /// This share, in (0, 0.5].
    Share(f64),
}

/// A threshold, and the scale of the probability-like score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    value: f64,
    scale: f64,
}

/// At the median of the fitting scores the probability-like score is 0.01: ln(0.99 / 0.01).
const LOGIT_AT_MEDIAN: f64 = 4.595_119_850_134_59;

/// The medcouple is computed on at most this many quantiles, evenly spaced; all scores if there are fewer. It costs
/// a quarter of the square; 400 leave it within 0.01 of the full one.
const MEDCOUPLE_QUANTILES: usize = 400;

impl Threshold {
    /// The threshold for these scores, larger meaning more anomalous.
    ///
    /// ```
    /// use eyot::{Contamination, Threshold};
    /// let scores = [0.1, 0.9, 0.2, 0.9, 0.3];
    /// let threshold = Threshold::fit(&scores, Contamination::Share(0.2))?;
    /// let flagged: Vec<bool> = scores.iter().map(|&score| threshold.flags(score)).collect();
    /// assert_eq!(flagged, [false, true, false, true, false]); // the two tie
    /// # Ok::<(), eyot::Error>(())
    /// ```
    pub fn fit(scores: &[f64], contamination: Contamination) -> Result<Self> {
        if scores.is_empty() {
            return Err(Error::Empty);
        }
        if let Some(row) = scores.iter().position(|score| !score.is_finite()) {
            return Err(Error::Data(format!("row {}: the score {} is not a finite number", row + 1, scores[row])));
        }
        let mut sorted = scores.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let value = match contamination {
            Contamination::Auto => fence(&sorted),
            Contamination::Share(share) => {
                check_share(share)?;
                sorted[sorted.len() - share_of(share, sorted.len())]
            }
        };
        let below = value - quantile(&sorted, 0.5);
        let range = value - sorted[0];
        let scale = if below > 0.0 {
            below
        } else if range > 0.0 {
            range
        } else {
            1.0
        };
        Ok(Self { value, scale: scale / LOGIT_AT_MEDIAN })
    }

    /// A threshold from its two stored numbers.
    pub fn from_parts(value: f64, scale: f64) -> Result<Self> {
        if value.is_finite() && scale.is_finite() && scale > 0.0 {
            return Ok(Self { value, scale });
        }
        Err(Error::Model(format!("the stored threshold {value} with scale {scale} is not usable")))
    }

    /// The same, but never above `highest`: for scores that cannot exceed it.
    #[must_use]
    pub fn at_most(self, highest: f64) -> Self {
        Self { value: self.value.min(highest), ..self }
    }

    /// The lowest score that is flagged.
    pub const fn value(&self) -> f64 {
        self.value
    }

    /// The score difference over which the odds of the probability-like score grow e-fold.
    pub const fn scale(&self) -> f64 {
        self.scale
    }

    /// Whether a row of this score is an anomaly.
    pub fn flags(&self, score: f64) -> bool {
        score >= self.value
    }

    /// The score on a scale from 0 to 1, growing with the raw score, 0.5 at the threshold.
    pub fn probability(&self, score: f64) -> f64 {
        1.0 / (1.0 + (-(score - self.value) / self.scale).exp())
    }
}

impl Contamination {
    /// Refuses a share outside (0, 0.5].
    pub fn check(self) -> Result<()> {
        match self {
            Self::Auto => Ok(()),
            Self::Share(share) => check_share(share),
        }
    }
}

fn check_share(share: f64) -> Result<()> {
    if share > 0.0 && share <= 0.5 {
        return Ok(());
    }
    Err(Error::Param { name: "contamination", expected: "above 0 and at most 0.5".into(), got: share.to_string() })
}

/// ⌈c·n⌉, where a product that is whole but for rounding counts as whole (0.07 · 100 is 7, not 8).
fn share_of(share: f64, n: usize) -> usize {
    let wanted = share * n as f64;
    let nearest = wanted.round();
    let whole = if (wanted - nearest).abs() <= 1e-9 * nearest.max(1.0) { nearest } else { wanted.ceil() };
    (whole as usize).clamp(1, n)
}

/// The upper fence of the adjusted boxplot of sorted scores.
fn fence(sorted: &[f64]) -> f64 {
    let (lower, upper) = (quantile(sorted, 0.25), quantile(sorted, 0.75));
    let highest = sorted[sorted.len() - 1];
    if sorted[0] == highest {
        return highest.next_up();
    }
    if upper <= lower {
        // More than half of the rows share one score: the quartiles say nothing, the spread of all still does.
        let n = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / n;
        let variance = sorted.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / n;
        return (mean + 3.0 * variance.sqrt()).max(upper.next_up());
    }
    let skew = medcouple(sorted);
    let exponent = if skew >= 0.0 { 3.0 * skew } else { 4.0 * skew };
    upper + 1.5 * exponent.exp() * (upper - lower)
}

/// The medcouple of sorted scores: the median of ((b − m) − (m − a)) / (b − a) over pairs a ≤ m ≤ b, m the median.
fn medcouple(sorted: &[f64]) -> f64 {
    let thin: Vec<f64>;
    let scores = if sorted.len() > MEDCOUPLE_QUANTILES {
        let part = |k: usize| (k as f64 + 0.5) / MEDCOUPLE_QUANTILES as f64;
        thin = (0..MEDCOUPLE_QUANTILES).map(|k| quantile(sorted, part(k))).collect();
        &thin
    } else {
        sorted
    };
    let middle = quantile(scores, 0.5);
    let below: Vec<f64> = scores.iter().copied().filter(|&score| score <= middle).collect();
    let above: Vec<f64> = scores.iter().copied().filter(|&score| score >= middle).collect();
    let mut pairs: Vec<f64> = below
        .iter()
        .flat_map(|&a| above.iter().map(move |&b| (a, b)))
        .map(|(a, b)| if b > a { ((b - middle) - (middle - a)) / (b - a) } else { 0.0 })
        .collect();
    let half = pairs.len() / 2;
    *pairs.select_nth_unstable_by(half, f64::total_cmp).1
}

/// The quantile of sorted numbers, linear between neighbours.
pub(crate) fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let low = sorted[place.floor() as usize];
    let high = sorted[place.ceil() as usize];
    low + (high - low) * place.fract()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::{Component, rng_of};

    fn draws(n: usize, shape: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut rng = rng_of(1, Component::Synthetic, 0);
        (0..n).map(|_| shape(rng.normal())).collect()
    }

    fn flagged(scores: &[f64], contamination: Contamination) -> usize {
        let threshold = Threshold::fit(scores, contamination).unwrap();
        scores.iter().filter(|&&score| threshold.flags(score)).count()
    }

    proptest! {
        #[test]
        fn a_share_flags_that_share(n in 1usize..300, share in 0.001f64..0.5) {
            let scores: Vec<f64> = (0..n).map(|i| ((i * 7919) % 1009) as f64 + i as f64 * 1e-6).collect();
            prop_assert_eq!(flagged(&scores, Contamination::Share(share)), (share * n as f64).ceil() as usize);
        }

        #[test]
        fn the_probability_grows_with_the_score_and_is_half_at_the_threshold(
            scores in prop::collection::vec(-1e3f64..1e3, 1..60), share in 0.01f64..0.5,
        ) {
            let threshold = Threshold::fit(&scores, Contamination::Share(share)).unwrap();
            prop_assert_eq!(threshold.probability(threshold.value()), 0.5);
            let mut sorted = scores;
            sorted.sort_unstable_by(f64::total_cmp);
            let probabilities: Vec<f64> = sorted.iter().map(|&score| threshold.probability(score)).collect();
            prop_assert!(probabilities.is_sorted());
            prop_assert!(probabilities.iter().all(|p| (0.0..=1.0).contains(p)));
        }
    }

    #[test]
    fn rows_that_tie_are_flagged_together() {
        let scores = [1.0, 5.0, 5.0, 5.0, 0.0, 2.0, 3.0, 4.0, 0.5, 0.2];
        assert_eq!(flagged(&scores, Contamination::Share(0.1)), 3);
    }

    #[test]
    fn a_whole_product_is_not_rounded_up() {
        assert_eq!([share_of(0.07, 100), share_of(0.1, 30), share_of(0.001, 10)], [7, 3, 1]);
    }

    #[test]
    fn a_share_outside_its_range_is_refused() {
        for share in [0.0, -0.1, 0.51, f64::NAN] {
            assert!(Threshold::fit(&[1.0, 2.0], Contamination::Share(share)).is_err(), "{share}");
        }
        assert!(Threshold::fit(&[], Contamination::Auto).is_err());
    }

    #[test]
    fn auto_spares_clean_rows_of_any_skew() {
        // Bell, exponential-like, log-normal, and skewed to the left.
        let shapes: [fn(f64) -> f64; 4] = [|z| z, |z| z * z, |z| z.exp(), |z| -(0.5 * z).exp()];
        for (i, shape) in shapes.into_iter().enumerate() {
            let scores = draws(20_000, shape);
            let count = flagged(&scores, Contamination::Auto);
            assert!(count <= 300, "shape {i}: {count} of 20000");
        }
    }

    #[test]
    fn auto_finds_a_separate_tail_of_up_to_a_fifth() {
        for anomalies in [100u32, 1000, 5000] {
            let mut scores = draws(20_000, f64::exp);
            scores.extend((0..anomalies).map(|i| 200.0 + f64::from(i) * 0.01));
            let threshold = Threshold::fit(&scores, Contamination::Auto).unwrap();
            let found = scores[20_000..].iter().filter(|&&score| threshold.flags(score)).count();
            assert_eq!(found, anomalies as usize);
            let wrong = scores[..20_000].iter().filter(|&&score| threshold.flags(score)).count();
            assert!(wrong < 400, "{anomalies}: {wrong}");
        }
    }

    #[test]
    fn equal_scores_flag_nothing() {
        assert_eq!(flagged(&[3.0; 50], Contamination::Auto), 0);
        assert_eq!(flagged(&[0.0; 50], Contamination::Auto), 0);
    }

    #[test]
    fn a_few_rows_apart_from_equal_ones_are_flagged() {
        let mut scores = vec![1.0; 200];
        scores.extend([9.0, 9.5]);
        assert_eq!(flagged(&scores, Contamination::Auto), 2);
    }

    #[test]
    fn the_medcouple_is_zero_for_symmetric_and_known_for_exponential_scores() {
        let symmetric: Vec<f64> = (-500..=500).map(f64::from).collect();
        assert!(medcouple(&symmetric).abs() < 1e-9);
        let exponential: Vec<f64> = (0..4000).map(|k| -((f64::from(k) + 0.5) / 4000.0).ln()).rev().collect();
        // The medcouple of the exponential law is 0.3333 (Brys, Hubert and Struyf 2004, Table 1).
        assert!((medcouple(&exponential) - 0.333).abs() < 0.01, "{}", medcouple(&exponential));
    }

    #[test]
    fn the_median_row_has_one_percent() {
        let scores: Vec<f64> = (0..101).map(f64::from).collect();
        let threshold = Threshold::fit(&scores, Contamination::Share(0.1)).unwrap();
        assert!((threshold.probability(50.0) - 0.01).abs() < 1e-12);
    }
}
