//! Several methods over several data sets: average ranks with the critical difference, in words and as a figure.

use eyot::{RankComparison, compare_ranks};
use eyot_io::plot::Bars;

use super::lab::Lab;

/// Compares methods by their figures, `figures[i]` being those of data set i, larger ones better; data sets on which one
/// is missing are left out. `kind` says what is compared, `name` is the file of the figure.
pub(super) fn compare(
    lab: &mut Lab<'_>,
    name: &str,
    kind: &str,
    methods: &[&str],
    figures: &[Vec<f64>],
) -> Option<RankComparison> {
    let complete: Vec<Vec<f64>> = figures.iter().filter(|row| row.iter().all(|figure| figure.is_finite())).cloned().collect();
    let ranks = compare_ranks(&complete).ok()?;
    let mut order: Vec<usize> = (0..methods.len()).collect();
    order.sort_by(|&a, &b| ranks.mean_ranks[a].total_cmp(&ranks.mean_ranks[b]));
    let names: Vec<&str> = order.iter().map(|&method| methods[method]).collect();
    let means: Vec<f64> = order.iter().map(|&method| ranks.mean_ranks[method]).collect();
    let words: Vec<String> = names.iter().zip(&means).map(|(name, rank)| format!("{name} {rank:.2}")).collect();
    let left_out = figures.len() - complete.len();
    let left_out = if left_out > 0 { format!(" ({left_out} without all figures left out)") } else { String::new() };
    lab.note(format!(
        "Average ranks of {kind} over {} sets{left_out}, the best first: {}; Friedman p = {:.4}; ranks that differ by {:.2} \
         or more differ significantly (Nemenyi, 5 %).",
        complete.len(),
        words.join(", "),
        ranks.p_value,
        ranks.critical_difference
    ));
    let half = vec![ranks.critical_difference / 2.0; names.len()];
    let bars = Bars::new(format!("Average ranks of {kind}"), names)
        .x("average rank, 1 is best")
        .series_with_errors("average rank", &means, &half)
        .size(520.0, 90.0 + 26.0 * means.len() as f64)
        .about(format!(
            "Average ranks over {} data sets, with half the critical difference to both sides: methods whose whiskers do not \
             meet differ significantly.",
            complete.len()
        ))
        .lying();
    lab.figure(name, bars.figure());
    Some(ranks)
}
