//! Bags: rows grouped into sets, each with at least one row.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use super::label::number_text;
use super::table::{Column, TableColumn};
use crate::error::{ColumnRef, Error, Result};

/// Which rows belong to which bag. Bags are in order of first appearance, rows within a bag in theirs; the rows of a
/// bag need not follow each other.
///
/// ```
/// let bags = eyot::Bags::from_ids(&["b", "a", "b"])?;
/// assert_eq!((bags.len(), bags.name(0), bags.rows(0)), (2, "b", &[0, 2][..]));
/// # Ok::<(), eyot::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bags {
    names: Vec<String>,
    /// Bag i has `rows[starts[i]..starts[i + 1]]`.
    starts: Vec<usize>,
    rows: Vec<usize>,
}

impl Bags {
    /// Rows with the same id are a bag.
    pub fn from_ids<I: Eq + Hash + ToString>(ids: &[I]) -> Result<Self> {
        let mut numbers: HashMap<&I, usize> = HashMap::new();
        let mut names = Vec::new();
        let bag_of_row: Vec<usize> = ids
            .iter()
            .map(|id| {
                *numbers.entry(id).or_insert_with(|| {
                    names.push(id.to_string());
                    names.len() - 1
                })
            })
            .collect();
        let mut members = vec![Vec::new(); names.len()];
        for (row, &bag) in bag_of_row.iter().enumerate() {
            members[bag].push(row);
        }
        Self::new(names, &members)
    }

    /// Rows with the same cell are a bag. A missing cell is an error; `first_row` is that of the table.
    pub fn from_column(column: &TableColumn, first_row: usize) -> Result<Self> {
        let missing =
            |row: usize| Error::MissingRole { row: first_row + row, column: ColumnRef::Name(column.name.clone()) };
        match &column.values {
            Column::Text(text) => {
                let ids: Result<Vec<&str>> =
                    (0..text.codes.len()).map(|row| text.get(row).ok_or_else(|| missing(row))).collect();
                Self::from_ids(&ids?)
            }
            Column::Numbers(values) => {
                let id = |(row, &value): (usize, &f64)| {
                    if value.is_nan() { Err(missing(row)) } else { Ok(number_text(value)) }
                };
                Self::from_ids(&values.iter().enumerate().map(id).collect::<Result<Vec<String>>>()?)
            }
        }
    }

    /// Bag i has rows `offsets[i]..offsets[i + 1]`; the first offset is 0, the last the number of rows. Bags are called
    /// by their number, from 1.
    pub fn from_offsets(offsets: &[usize], n_rows: usize) -> Result<Self> {
        let last = offsets.last().copied().unwrap_or(0);
        if last != n_rows {
            return Err(Error::Shape { what: "rows of the bags", expected: n_rows, got: last });
        }
        if offsets.first().is_some_and(|&first| first != 0) || !offsets.is_sorted() {
            return Err(Error::Data("offsets of bags must begin with 0 and ascend".into()));
        }
        let members: Vec<Vec<usize>> = offsets.windows(2).map(|pair| (pair[0]..pair[1]).collect()).collect();
        Self::new((1..=members.len()).map(|number| number.to_string()).collect(), &members)
    }

    /// Bags of these sizes, one after another. They are called by their number, from 1.
    pub fn from_sizes(sizes: &[usize]) -> Result<Self> {
        let mut offsets = vec![0];
        for &size in sizes {
            let last: usize = offsets[offsets.len() - 1];
            let next = last.checked_add(size);
            offsets.push(next.ok_or_else(|| Error::Data("the sizes of the bags are too large".into()))?);
        }
        Self::from_offsets(&offsets, offsets[sizes.len()])
    }

    fn new(names: Vec<String>, members: &[Vec<usize>]) -> Result<Self> {
        if let Some(empty) = members.iter().position(Vec::is_empty) {
            return Err(Error::Data(format!("bag `{}` is empty", names[empty])));
        }
        if members.is_empty() {
            return Err(Error::Empty);
        }
        let mut starts = vec![0];
        starts.extend(members.iter().scan(0, |end, rows| {
            *end += rows.len();
            Some(*end)
        }));
        Ok(Self { names, starts, rows: members.concat() })
    }

    /// How many bags there are; at least one.
    #[expect(clippy::len_without_is_empty, reason = "there is always a bag")]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// How many rows there are in all bags.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// What a bag is called.
    ///
    /// # Panics
    /// If there is no such bag, as does [`Bags::rows`].
    pub fn name(&self, bag: usize) -> &str {
        &self.names[bag]
    }

    /// The rows of a bag, ascending.
    pub fn rows(&self, bag: usize) -> &[usize] {
        &self.rows[self.places(bag)]
    }

    /// Where the rows of a bag stand when all rows are put in the order of their bags.
    pub fn places(&self, bag: usize) -> Range<usize> {
        self.starts[bag]..self.starts[bag + 1]
    }

    /// All rows in the order of their bags.
    pub fn ordered_rows(&self) -> &[usize] {
        &self.rows
    }

    /// The label of each bag, from those of its rows, which must agree. `show` is how a label is written.
    pub fn labels<L: Copy + PartialEq>(&self, labels: &[L], show: impl Fn(L) -> String) -> Result<Vec<L>> {
        if labels.len() != self.n_rows() {
            return Err(Error::Shape { what: "labels of rows", expected: self.n_rows(), got: labels.len() });
        }
        (0..self.len())
            .map(|bag| {
                let (first, label) = (self.rows(bag)[0], labels[self.rows(bag)[0]]);
                match self.rows(bag).iter().find(|&&row| labels[row] != label) {
                    None => Ok(label),
                    Some(&row) => Err(Error::Data(format!(
                        "bag `{}` has two labels: `{}` in row {} and `{}` in row {}",
                        self.name(bag),
                        show(label),
                        first + 1,
                        show(labels[row]),
                        row + 1
                    ))),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_offsets_and_sizes_of_the_same_bags_agree() {
        let by_id = Bags::from_ids(&[1, 1, 2, 3, 3, 3]).unwrap();
        assert_eq!(Bags::from_offsets(&[0, 2, 3, 6], 6).unwrap(), by_id);
        assert_eq!(Bags::from_sizes(&[2, 1, 3]).unwrap(), by_id);
        let column = TableColumn { name: "bag".into(), values: Column::Numbers(vec![1.0, 1.0, 2.0, 3.0, 3.0, 3.0]) };
        assert_eq!(Bags::from_column(&column, 0).unwrap(), by_id);
        let cells = ["1", "1", "2", "3", "3", "3"].map(Some).into_iter().collect();
        assert_eq!(
            Bags::from_column(&TableColumn { name: "bag".into(), values: Column::Text(cells) }, 0).unwrap(),
            by_id
        );
        assert_eq!((by_id.len(), by_id.n_rows(), by_id.rows(2), by_id.places(2)), (3, 6, &[3, 4, 5][..], 3..6));
    }

    #[test]
    fn rows_of_a_bag_need_not_follow_each_other() {
        let bags = Bags::from_ids(&["b", "a", "b", "a"]).unwrap();
        assert_eq!((bags.name(0), bags.rows(0), bags.name(1), bags.rows(1)), ("b", &[0, 2][..], "a", &[1, 3][..]));
        assert_eq!(bags.ordered_rows(), [0, 2, 1, 3]);
        assert_eq!(bags.labels(&[5, 6, 5, 6], |label| label.to_string()).unwrap(), [5, 6]);
    }

    #[test]
    fn empty_bags_and_no_bags_are_refused() {
        assert_eq!(Bags::from_sizes(&[2, 0, 1]).unwrap_err().to_string(), "bag `2` is empty");
        assert_eq!(Bags::from_offsets(&[0, 2, 2], 2).unwrap_err().to_string(), "bag `2` is empty");
        assert_eq!(Bags::from_sizes(&[]).unwrap_err(), Error::Empty);
        assert_eq!(Bags::from_ids::<u8>(&[]).unwrap_err(), Error::Empty);
        assert!(Bags::from_offsets(&[1, 2], 2).is_err() && Bags::from_offsets(&[0, 3, 2], 2).is_err());
        let error = Bags::from_offsets(&[0, usize::MAX], 9).unwrap_err().to_string();
        assert_eq!(error, format!("rows of the bags: expected 9, but there are {}", usize::MAX));
        assert!(Bags::from_sizes(&[usize::MAX, 2]).is_err());
    }

    #[test]
    fn a_row_without_a_bag_is_refused_with_its_row() {
        let column = TableColumn { name: "bag".into(), values: Column::Numbers(vec![1.0, f64::NAN]) };
        assert_eq!(Bags::from_column(&column, 7).unwrap_err().to_string(), "row 9, column `bag`: the value is missing");
        let cells = [Some("a"), None].into_iter().collect();
        assert!(Bags::from_column(&TableColumn { name: "bag".into(), values: Column::Text(cells) }, 0).is_err());
    }

    #[test]
    fn a_bag_with_two_labels_is_refused_with_both_rows() {
        let bags = Bags::from_ids(&["a", "b", "a"]).unwrap();
        let error = bags.labels(&[0, 1, 1], |label| ["no", "yes"][label].to_owned()).unwrap_err();
        assert_eq!(error.to_string(), "bag `a` has two labels: `no` in row 1 and `yes` in row 3");
        assert!(matches!(bags.labels(&[0], |label: u8| label.to_string()), Err(Error::Shape { .. })));
    }

    proptest! {
        #[test]
        fn every_row_is_in_exactly_its_bag(ids in prop::collection::vec(0u8..6, 1..40)) {
            let bags = Bags::from_ids(&ids).unwrap();
            let mut seen = vec![false; ids.len()];
            for bag in 0..bags.len() {
                for &row in bags.rows(bag) {
                    prop_assert_eq!(ids[row].to_string(), bags.name(bag));
                    prop_assert!(!std::mem::replace(&mut seen[row], true));
                }
            }
            prop_assert!(seen.iter().all(|&row| row));
        }
    }
}
