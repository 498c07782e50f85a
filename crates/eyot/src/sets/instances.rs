//! Bags with their instances: the rows of each bag stand side by side.

use std::ops::Range;

use crate::data::{Bags, Points, PointsBuf, Row, SparseRow};
use crate::error::{Error, Result};

/// Bags of points, each with at least one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Sets {
    points: PointsBuf,
    /// Bag i has rows `starts[i]..starts[i + 1]`.
    starts: Vec<usize>,
}

impl Sets {
    /// Puts the rows of points in the order of their bags.
    pub fn new(points: Points<'_>, bags: &Bags) -> Result<Self> {
        if points.n_rows() != bags.n_rows() {
            return Err(Error::Shape { what: "rows of the bags", expected: points.n_rows(), got: bags.n_rows() });
        }
        let mut ordered = PointsBuf::like(&points);
        bags.ordered_rows().iter().for_each(|&row| ordered.push(points.row(row)));
        let starts = (0..bags.len()).map(|bag| bags.places(bag).start).chain([bags.n_rows()]).collect();
        Ok(Self { points: ordered, starts })
    }

    /// Takes over rows that stand in the order of their bags already.
    pub(crate) fn from_parts(points: PointsBuf, starts: Vec<usize>) -> Result<Self> {
        let whole = starts.first() == Some(&0) && starts.last() == Some(&points.n_rows());
        if !whole || starts.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(Error::Data("bags must not be empty and must cover all rows".into()));
        }
        Ok(Self { points, starts })
    }

    /// Every row a bag of its own.
    pub(crate) fn singletons(points: PointsBuf) -> Self {
        let starts = (0..=points.n_rows()).collect();
        Self { points, starts }
    }

    /// The same bags with other points for their instances.
    pub(crate) fn with_points(&self, points: PointsBuf) -> Self {
        debug_assert_eq!(points.n_rows(), self.n_instances(), "one point per instance");
        Self { points, starts: self.starts.clone() }
    }

    /// How many bags there are.
    #[expect(clippy::len_without_is_empty, reason = "there is always a bag, except in the support of a constant model")]
    pub const fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many instances all bags have together.
    pub const fn n_instances(&self) -> usize {
        self.points.n_rows()
    }

    /// All instances, bag by bag.
    pub fn points(&self) -> Points<'_> {
        self.points.as_points()
    }

    /// Where the instances of a bag stand among all.
    pub fn range(&self, bag: usize) -> Range<usize> {
        self.starts[bag]..self.starts[bag + 1]
    }

    /// The instances of a bag.
    pub fn bag(&self, bag: usize) -> Points<'_> {
        self.points().slice(self.range(bag))
    }

    /// Where each bag starts, and the number of instances.
    pub(crate) fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The bags named, in that order.
    #[must_use]
    pub fn select(&self, bags: &[usize]) -> Self {
        let mut points = PointsBuf::like(&self.points());
        let mut starts = vec![0];
        for &bag in bags {
            self.bag(bag).rows().for_each(|row| points.push(row));
            starts.push(points.n_rows());
        }
        Self { points, starts }
    }

    /// The bag of every instance.
    pub(crate) fn bag_of_instances(&self) -> Vec<u32> {
        (0..self.len()).flat_map(|bag| self.range(bag).map(move |_| bag as u32)).collect()
    }

    /// The mean instance of every bag, stored as the instances are.
    pub(crate) fn means(&self) -> PointsBuf {
        let columns = self.points.n_columns();
        let sparse = self.points().is_sparse();
        let mut means = if sparse { PointsBuf::sparse(columns) } else { PointsBuf::dense(columns) };
        for bag in 0..self.len() {
            let points = self.bag(bag);
            let n = points.n_rows() as f64;
            if sparse {
                let mut entries: Vec<(usize, f64)> = points.rows().flat_map(Row::nonzeros).collect();
                entries.sort_by_key(|&(column, _)| column);
                let sums = entries.chunk_by(|a, b| a.0 == b.0);
                let sums = sums.map(|same| (same[0].0 as u32, same.iter().map(|&(_, value)| value).sum::<f64>() / n));
                let (columns, values): (Vec<u32>, Vec<f64>) = sums.filter(|&(_, value)| value != 0.0).unzip();
                means.push(Row::Sparse(SparseRow { columns: &columns, values: &values }));
            } else {
                let mut mean = vec![0.0; columns];
                for row in points.rows() {
                    row.nonzeros().for_each(|(column, value)| mean[column] += value);
                }
                for value in &mut mean {
                    *value /= n;
                }
                means.push(Row::F64(&mean));
            }
        }
        means
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_put_in_the_order_of_their_bags() {
        let points = PointsBuf::from_rows(&[[1.0], [2.0], [3.0], [4.0]]).unwrap();
        let sets = Sets::new(points.as_points(), &Bags::from_ids(&["b", "a", "b", "a"]).unwrap()).unwrap();
        assert_eq!((sets.len(), sets.n_instances()), (2, 4));
        assert_eq!(sets.bag(0).to_buf(), PointsBuf::from_rows(&[[1.0], [3.0]]).unwrap());
        assert_eq!(sets.select(&[1]).points().to_buf(), PointsBuf::from_rows(&[[2.0], [4.0]]).unwrap());
        assert_eq!(sets.means(), PointsBuf::from_rows(&[[2.0], [3.0]]).unwrap());
        assert_eq!(sets.bag_of_instances(), [0, 0, 1, 1]);
        assert!(Sets::new(points.as_points(), &Bags::from_sizes(&[2]).unwrap()).is_err());
        assert!(Sets::from_parts(points, vec![0, 2, 2, 4]).is_err());
    }
}
