//! Where the anomalies begin: a threshold on scores, from a share or from the scores alone, and a score in \[0, 1\].
//!
//! **A share c** flags the ⌈c·n⌉ rows of highest score; rows that tie with the last of them are flagged too.
//!
//! **Auto** looks at the upper half of the scores. Between median and upper quartile sit normal rows, even if a quarter
//! of all is anomalous; if the tail of normal rows falls off exponentially from there, one row in a hundred has a score
//! above median + 5.64·(upper quartile − median), and that is the threshold: 5.64 = ln 50 / ln 2. Clean data have a few
//! rows beyond (none if bell-shaped, 1 % if exponential, 3 % if log-normal), anomalies stand far beyond.
//!
//! Many scores have an *end* that rows reach as they get far from everything (similarity 0), and crowd below it. They
//! are first unrolled: −ln((end − s)/(end − median)), which for a similarity is minus its logarithm, the scale on which
//! densities are compared. Rows that have come 95 % of the way from the median to the end are flagged in any case,
//! unless a tenth of all have.
//!
//! How it compares with other rules is in `docs/detect.md`. It fails when more than a quarter of the rows are anomalous.
//!
//! **Probability-like score**: p(s) = 1 / (1 + exp(−(s − threshold)/b)), b such that the median row has 0.01. So 0.5
//! is the threshold by construction, p grows with s, and new rows need nothing but the two stored numbers. It is a
//! scale to read, not a frequency: without labels nothing can be.

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

/// ln 50 / ln 2: where an exponential tail that halves between median and upper quartile has 1 % left.
const REACH: f64 = 5.643_856_189_774_724;

/// Remoteness is not told apart beyond 98 % of the way from the median to the end, −ln 0.02.
const MOST_REMOTE: f64 = 3.912_023_005_428_146;

/// Rows this remote, −ln 0.05, are flagged in any case...
const SURELY_REMOTE: f64 = 2.995_732_273_553_991;

/// ... unless one row in this many is.
const TOO_MANY: usize = 10;

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
        Self::fit_with_end(scores, contamination, None)
    }

    /// The threshold for scores that come near `end`, if they have one, as a row gets far from everything.
    pub fn fit_with_end(scores: &[f64], contamination: Contamination, end: Option<f64>) -> Result<Self> {
        if scores.is_empty() {
            return Err(Error::Empty);
        }
        if let Some(row) = scores.iter().position(|score| !score.is_finite()) {
            return Err(Error::Data(format!("row {}: the score {} is not a finite number", row + 1, scores[row])));
        }
        let mut sorted = scores.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let value = match contamination {
            Contamination::Auto => stands_out(&sorted, end),
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
        // Scores that are all 0 leave a difference too small to divide.
        let scale = Some(scale / LOGIT_AT_MEDIAN).filter(|scale| scale.is_normal()).unwrap_or(1.0);
        Ok(Self { value, scale })
    }

    /// A threshold from its two stored numbers.
    pub fn from_parts(value: f64, scale: f64) -> Result<Self> {
        if value.is_finite() && scale.is_finite() && scale > 0.0 {
            return Ok(Self { value, scale });
        }
        Err(Error::Model(format!("the stored threshold {value} with scale {scale} is not usable")))
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

/// The lowest of the sorted scores that stands out from all.
fn stands_out(sorted: &[f64], end: Option<f64>) -> f64 {
    let highest = sorted[sorted.len() - 1];
    if sorted[0] == highest {
        return highest.next_up();
    }
    let median = quantile(sorted, 0.5);
    let Some(end) = end.filter(|&end| end > median) else { return fence(sorted) };
    let remote = |score: f64| (-((end - score) / (end - median)).ln()).min(MOST_REMOTE);
    let remoteness: Vec<f64> = sorted.iter().map(|&score| remote(score)).collect();
    let mut fence = fence(&remoteness);
    if fence > SURELY_REMOTE {
        let there = remoteness.len() - remoteness.partition_point(|&remote| remote < SURELY_REMOTE);
        if TOO_MANY * there <= remoteness.len() {
            fence = SURELY_REMOTE;
        }
    }
    if fence > MOST_REMOTE { end.next_up() } else { end - (end - median) * (-fence).exp() }
}

/// Median + [`REACH`]·(upper quartile − median) of sorted numbers, not all equal.
fn fence(sorted: &[f64]) -> f64 {
    let (median, upper) = (quantile(sorted, 0.5), quantile(sorted, 0.75));
    if upper > median {
        return median + REACH * (upper - median);
    }
    // A quarter of the rows share one score: quartiles say nothing, the spread of all still does.
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let variance = sorted.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / n;
    (mean + 3.0 * variance.sqrt()).max(upper.next_up())
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
    fn auto_flags_few_clean_rows_whatever_their_skew() {
        // Bell, chi-squared, log-normal, and skewed to the left.
        let shapes: [fn(f64) -> f64; 4] = [|z| z, |z| z * z, f64::exp, |z| -(0.5 * z).exp()];
        for (shape, most) in shapes.into_iter().zip([20, 500, 700, 0]) {
            let count = flagged(&draws(20_000, shape), Contamination::Auto);
            assert!(count <= most, "{count} of 20000, at most {most}");
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
            assert!(wrong < 700, "{anomalies}: {wrong}");
        }
    }

    #[test]
    fn scores_that_crowd_below_their_end_are_flagged_there() {
        // Similarities of normal rows around 0.1, of anomalies a twentieth of that: near 0, but not far in numbers.
        let similarities = draws(5_000, |z| 0.1 * (0.3 * z).exp());
        let mut scores: Vec<f64> = similarities.iter().map(|similarity| -similarity).collect();
        scores.extend((0..100).map(|i| -0.004 - 1e-5 * f64::from(i)));
        let flags = |end| {
            let threshold = Threshold::fit_with_end(&scores, Contamination::Auto, end).unwrap();
            let of = |rows: &[f64]| rows.iter().filter(|&&score| threshold.flags(score)).count();
            [of(&scores[..5_000]), of(&scores[5_000..])]
        };
        assert_eq!(flags(None), [0, 0]);
        let [wrong, found] = flags(Some(0.0));
        assert!(wrong <= 50 && found == 100, "{wrong} {found}");
    }

    #[test]
    fn rows_at_the_end_are_flagged_unless_they_are_many() {
        let flagged = |at_end: usize| {
            let mut scores: Vec<f64> = (0..1000).map(|i| -0.0001 * f64::from(i * 7919 % 1009)).collect();
            scores[..at_end].fill(0.0);
            let threshold = Threshold::fit_with_end(&scores, Contamination::Auto, Some(0.0)).unwrap();
            scores.iter().filter(|&&score| threshold.flags(score)).count()
        };
        assert!((10..100).contains(&flagged(10)), "{}", flagged(10));
        assert_eq!(flagged(300), 0);
        assert_eq!(flagged(600), 0);
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
    fn the_median_row_has_one_percent() {
        let scores: Vec<f64> = (0..101).map(f64::from).collect();
        let threshold = Threshold::fit(&scores, Contamination::Share(0.1)).unwrap();
        assert!((threshold.probability(50.0) - 0.01).abs() < 1e-12);
    }
}
