//! Folds of cross-validation: which rows are held out together.

use crate::error::{Error, Result};
use crate::rng::{Component, rng_of};

/// The fold of every row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    n_folds: usize,
    fold_of: Vec<u32>,
}

impl Folds {
    /// Number of folds.
    pub const fn n_folds(&self) -> usize {
        self.n_folds
    }

    /// The fold of every row.
    pub fn fold_of(&self) -> &[u32] {
        &self.fold_of
    }

    /// Row numbers to learn from and row numbers held out, both ascending, when `fold` is held out.
    pub fn split(&self, fold: usize) -> (Vec<usize>, Vec<usize>) {
        (0..self.fold_of.len()).partition(|&row| self.fold_of[row] as usize != fold)
    }
}

/// `n` rows in `n_folds` random folds whose sizes differ by at most 1.
pub fn k_folds(n: usize, n_folds: usize, seed: u64) -> Result<Folds> {
    check(n, n_folds)?;
    let mut rows: Vec<usize> = (0..n).collect();
    rng_of(seed, Component::Folds, 0).shuffle(&mut rows);
    let mut fold_of = vec![0; n];
    rows.iter().enumerate().for_each(|(place, &row)| fold_of[row] = (place % n_folds) as u32);
    Ok(Folds { n_folds, fold_of })
}

/// Random folds in which every class is spread evenly: per class the sizes differ by at most 1, and so do the folds'
/// sizes. A class with fewer rows than folds is missing from some of them.
pub fn stratified_folds(labels: &[u32], n_folds: usize, seed: u64) -> Result<Folds> {
    check(labels.len(), n_folds)?;
    let mut rows: Vec<usize> = (0..labels.len()).collect();
    rng_of(seed, Component::Folds, 0).shuffle(&mut rows);
    // Rows of a class follow one another, each in the next fold: classes and folds come out even.
    rows.sort_by_key(|&row| labels[row]);
    let mut fold_of = vec![0; labels.len()];
    rows.iter().enumerate().for_each(|(place, &row)| fold_of[row] = (place % n_folds) as u32);
    Ok(Folds { n_folds, fold_of })
}

fn check(n: usize, n_folds: usize) -> Result<()> {
    if n_folds >= 2 && n_folds <= n {
        return Ok(());
    }
    let expected = format!("from 2 to the number of rows, {n}");
    Err(Error::Param { name: "cv", expected, got: n_folds.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn folds_are_even_in_size_and_in_classes(
            labels in prop::collection::vec(0u32..4, 2..80), n_folds in 2usize..9, seed in 0u64..50
        ) {
            prop_assume!(n_folds <= labels.len());
            let plain = k_folds(labels.len(), n_folds, seed).unwrap();
            let stratified = stratified_folds(&labels, n_folds, seed).unwrap();
            for folds in [&plain, &stratified] {
                let sizes: Vec<usize> = (0..n_folds).map(|fold| folds.split(fold).1.len()).collect();
                prop_assert_eq!(sizes.iter().sum::<usize>(), labels.len());
                prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            }
            for class in 0..4 {
                let held = |fold| stratified.split(fold).1.iter().filter(|&&row| labels[row] == class).count();
                let counts: Vec<usize> = (0..n_folds).map(held).collect();
                prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
            }
        }
    }

    #[test]
    fn a_seed_gives_its_folds_and_another_gives_others() {
        assert_eq!(k_folds(50, 5, 3).unwrap(), k_folds(50, 5, 3).unwrap());
        assert_ne!(k_folds(50, 5, 3).unwrap(), k_folds(50, 5, 4).unwrap());
    }

    #[test]
    fn too_few_rows_are_refused() {
        assert!(k_folds(3, 4, 0).is_err());
        assert!(k_folds(3, 1, 0).is_err());
    }
}
