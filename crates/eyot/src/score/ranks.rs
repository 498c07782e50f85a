//! Comparing several methods over several data sets: average ranks, Friedman's test, Nemenyi's critical difference.
//!
//! On each data set the methods are ranked, 1 for the best figure, ties averaged. With N data sets, k methods and mean
//! ranks R_j, Friedman's χ² = 12N/(k(k+1))·(Σ R_j² − k(k+1)²/4) tests whether all are alike, and two methods differ
//! significantly at the 5 % level when their mean ranks differ by at least CD = q·√(k(k+1)/(6N)). Good for five or more
//! data sets; it sees ranks only, so a lead of 0.001 counts as much as one of 0.3.
//!
//! # References
//! Demšar 2006, §3.2 and Table 5; paper 3, Figure 3.

use crate::error::{Error, Result};

/// What [`compare_ranks`] finds.
#[derive(Debug, Clone, PartialEq)]
pub struct RankComparison {
    /// Mean rank of each method, 1 being best.
    pub mean_ranks: Vec<f64>,
    /// Friedman's χ².
    pub chi_squared: f64,
    /// Probability of a χ² at least this large if all methods were alike.
    pub p_value: f64,
    /// Nemenyi's critical difference of mean ranks at the 5 % level.
    pub critical_difference: f64,
    /// Runs of methods (their numbers, best first) within which nothing differs significantly, as drawn by bars in a
    /// critical-difference diagram; only runs of two or more that are not part of another.
    pub alike: Vec<Vec<usize>>,
}

/// q₀.₀₅ for k = 2, 3, …: the studentised range statistic for infinite degrees of freedom divided by √2.
const NEMENYI_Q: [f64; 19] = [
    1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164, 3.219, 3.268, 3.313, 3.354, 3.391, 3.426, 3.458,
    3.489, 3.517, 3.544,
];

/// Compares k methods over N data sets; `figures[i][j]` is the figure of method j on data set i, larger being better.
///
/// ```
/// let compared = eyot::compare_ranks(&[vec![0.9, 0.8, 0.8], vec![0.7, 0.6, 0.5]])?;
/// assert_eq!(compared.mean_ranks, [1.0, 2.25, 2.75]);
/// # Ok::<(), eyot::Error>(())
/// ```
pub fn compare_ranks(figures: &[Vec<f64>]) -> Result<RankComparison> {
    let k = figures.first().ok_or(Error::Empty)?.len();
    if k < 2 || k - 2 >= NEMENYI_Q.len() {
        let expected = format!("from 2 to {}", NEMENYI_Q.len() + 1);
        return Err(Error::Param { name: "number of methods", expected, got: k.to_string() });
    }
    let mut sums = vec![0.0; k];
    for figures in figures {
        if figures.len() != k {
            return Err(Error::Shape { what: "figures of a data set", expected: k, got: figures.len() });
        }
        if let Some(bad) = figures.iter().find(|figure| figure.is_nan()) {
            return Err(Error::Data(format!("a figure to be ranked is {bad}")));
        }
        for (sum, &figure) in sums.iter_mut().zip(figures) {
            let better = figures.iter().filter(|&&other| other > figure).count();
            let equal = figures.iter().filter(|&&other| other == figure).count();
            *sum += better as f64 + (equal + 1) as f64 / 2.0;
        }
    }
    let n = figures.len() as f64;
    let mean_ranks: Vec<f64> = sums.iter().map(|sum| sum / n).collect();
    let kf = k as f64;
    let squares: f64 = mean_ranks.iter().map(|rank| rank * rank).sum();
    let chi_squared = (12.0 * n / (kf * (kf + 1.0)) * (squares - kf * (kf + 1.0).powi(2) / 4.0)).max(0.0);
    let critical_difference = NEMENYI_Q[k - 2] * (kf * (kf + 1.0) / (6.0 * n)).sqrt();
    Ok(RankComparison {
        chi_squared,
        p_value: chi_squared_tail(chi_squared, kf - 1.0),
        critical_difference,
        alike: runs_within(&mean_ranks, critical_difference),
        mean_ranks,
    })
}

/// Longest runs of neighbouring ranks that span less than `difference`.
fn runs_within(ranks: &[f64], difference: f64) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by(|&a, &b| ranks[a].total_cmp(&ranks[b]));
    let mut runs: Vec<Vec<usize>> = Vec::new();
    let mut covered_to = 0;
    for start in 0..order.len() {
        let len = order[start..].iter().take_while(|&&j| ranks[j] - ranks[order[start]] < difference).count();
        if len > 1 && start + len > covered_to {
            covered_to = start + len;
            runs.push(order[start..covered_to].to_vec());
        }
    }
    runs
}

/// P(χ² with `freedom` degrees ≥ `x`): the upper incomplete gamma function Q(freedom/2, x/2).
fn chi_squared_tail(x: f64, freedom: f64) -> f64 {
    let (a, x) = (freedom / 2.0, x / 2.0);
    if x <= 0.0 {
        return 1.0;
    }
    // Γ(a) for a = k/2 by Γ(a + 1) = a·Γ(a) from Γ(1) = 1 or Γ(½) = √π.
    let mut gamma = if freedom.rem_euclid(2.0) == 0.0 { 1.0 } else { std::f64::consts::PI.sqrt() };
    let mut step = if freedom.rem_euclid(2.0) == 0.0 { 1.0 } else { 0.5 };
    while step < a {
        gamma *= step;
        step += 1.0;
    }
    // Lower part by its series: x^a e^{−x} Σ x^k / (a(a+1)…(a+k)) / Γ(a); it converges for every x, and the loss of
    // digits in 1 − P does not matter for a printed probability.
    let mut term = 1.0 / a;
    let mut sum = term;
    let mut k = 1.0;
    while term > sum * 1e-17 {
        term *= x / (a + k);
        sum += term;
        k += 1.0;
    }
    (1.0 - (a * x.ln() - x).exp() * sum / gamma).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paper 3, Table 2: K_I, K_G, K_NG, OCSVM.
    const TABLE_2: [[f64; 4]; 14] = [
        [0.76, 0.46, 0.47, 0.65],
        [0.88, 0.55, 0.47, 0.54],
        [0.98, 0.98, 0.95, 0.98],
        [0.98, 0.97, 0.97, 0.96],
        [0.86, 0.69, 0.60, 0.59],
        [0.88, 0.85, 0.86, 0.84],
        [0.80, 0.65, 0.57, 0.64],
        [0.98, 0.98, 0.99, 0.98],
        [0.82, 0.60, 0.54, 0.53],
        [0.82, 0.63, 0.55, 0.75],
        [0.95, 0.81, 0.77, 0.91],
        [0.99, 0.83, 0.68, 0.93],
        [0.97, 0.85, 0.86, 0.96],
        [0.99, 0.99, 0.98, 0.97],
    ];

    /// Paper 3, Table 4: K_I, ‖Φ‖, iNNE, iForest.
    const TABLE_4: [[f64; 4]; 14] = [
        [0.76, 0.75, 0.75, 0.46],
        [0.88, 0.87, 0.87, 0.58],
        [0.98, 0.96, 0.96, 0.93],
        [0.98, 0.97, 0.97, 0.88],
        [0.86, 0.60, 0.86, 0.45],
        [0.88, 0.86, 0.84, 0.87],
        [0.80, 0.78, 0.79, 0.80],
        [0.98, 0.98, 0.98, 0.99],
        [0.82, 0.82, 0.82, 0.55],
        [0.82, 0.81, 0.82, 0.74],
        [0.95, 0.92, 0.94, 0.92],
        [0.99, 0.99, 0.99, 0.94],
        [0.97, 0.96, 0.96, 0.93],
        [0.99, 0.99, 0.99, 0.99],
    ];

    fn compare(table: &[[f64; 4]; 14]) -> RankComparison {
        compare_ranks(&table.iter().map(|row| row.to_vec()).collect::<Vec<_>>()).unwrap()
    }

    fn rounded(ranks: &[f64]) -> Vec<f64> {
        ranks.iter().map(|rank| (rank * 100.0).round() / 100.0).collect()
    }

    #[test]
    fn ranks_of_paper_3_and_their_significance() {
        let kernels = compare(&TABLE_2);
        assert_eq!(rounded(&kernels.mean_ranks), [1.25, 2.64, 3.18, 2.93]);
        assert!((kernels.critical_difference - 1.2535).abs() < 5e-5);
        assert!(kernels.p_value < 0.001, "{}", kernels.p_value);
        assert_eq!(kernels.alike, [vec![1, 3, 2]], "K_I stands alone");

        let isolation = compare(&TABLE_4);
        assert_eq!(rounded(&isolation.mean_ranks), [1.5, 2.75, 2.43, 3.32]);
        assert_eq!(isolation.alike, [vec![0, 2, 1], vec![2, 1, 3]], "only iForest is beyond the difference");
    }

    #[test]
    fn equal_figures_give_equal_ranks_and_no_significance() {
        let compared = compare_ranks(&vec![vec![0.5; 3]; 6]).unwrap();
        assert_eq!(compared.mean_ranks, [2.0; 3]);
        assert_eq!((compared.chi_squared, compared.p_value), (0.0, 1.0));
        assert_eq!(compared.alike, [vec![0, 1, 2]]);
    }

    #[test]
    fn tail_of_chi_squared_at_known_places() {
        // 5 % points of the χ² table for 1, 2, 3, 6 and 10 degrees.
        for (x, freedom) in
            [(3.841_459, 1.0), (5.991_465, 2.0), (7.814_728, 3.0), (12.591_587, 6.0), (18.307_038, 10.0)]
        {
            assert!((chi_squared_tail(x, freedom) - 0.05).abs() < 1e-6, "{freedom}");
        }
        assert!(chi_squared_tail(500.0, 3.0) < 1e-12);
    }

    #[test]
    fn what_cannot_be_ranked_is_refused() {
        assert!(compare_ranks(&[]).is_err());
        assert!(compare_ranks(&[vec![1.0]]).is_err());
        assert!(compare_ranks(&[vec![1.0, 2.0], vec![1.0]]).is_err());
        assert!(compare_ranks(&[vec![1.0, f64::NAN]]).is_err());
    }
}
