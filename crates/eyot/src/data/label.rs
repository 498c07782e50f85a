//! Targets: class names as class numbers `0..C`, and the numbers of a regression.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

use super::table::{Column, TableColumn, TextColumn};
use crate::error::{ColumnRef, Error, Result};
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};

/// The names of classes and their numbers.
///
/// A label that reads as a number *is* that number, whatever its column looks like: `1`, `+1` and `1.0` are one
/// class called `1`. Sorted classes have numbers first, ascending, then text in the order of its bytes; so of two
/// classes −1 and 1, or `no` and `yes`, the second is class 1, the positive one.
///
/// ```
/// use eyot::{Classes, Column, TableColumn};
///
/// let target = TableColumn { name: "y".into(), values: Column::Numbers(vec![1.0, -1.0, 1.0]) };
/// let mut classes = Classes::default();
/// let arrival = classes.numbers_or_insert(&target, 0)?; // in order of arrival: 1 is 0
/// let sorted = classes.sort();
/// assert_eq!(classes.names(), ["-1", "1"]);
/// assert_eq!(arrival.iter().map(|&class| sorted[class as usize]).collect::<Vec<_>>(), [1, 0, 1]);
/// assert_eq!(classes.numbers(&target, 0)?, [1, 0, 1]);
/// # Ok::<(), eyot::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Classes {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Classes {
    /// Most classes there may be. A target with more is a quantity, not a class.
    pub const MAX: usize = 65_536;

    /// Classes in the order given; labels that read as the same number are one class.
    pub fn from_names<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Result<Self> {
        let mut classes = Self::default();
        for name in names {
            classes.number_or_insert(name.as_ref())?;
        }
        Ok(classes)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// All names, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The name of a class.
    ///
    /// # Panics
    /// If there is no such class.
    pub fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }

    /// The number of a class.
    pub fn number(&self, label: &str) -> Option<u32> {
        self.numbers.get(canonical(label).as_ref()).copied()
    }

    /// The number of a class; a new one is appended.
    pub fn number_or_insert(&mut self, label: &str) -> Result<u32> {
        let name = canonical(label);
        if let Some(&number) = self.numbers.get(name.as_ref()) {
            return Ok(number);
        }
        if self.names.len() == Self::MAX {
            return Err(Error::Data(format!("there are more than {} classes: is the target a quantity?", Self::MAX)));
        }
        let number = self.names.len() as u32;
        self.names.push(name.clone().into_owned());
        self.numbers.insert(name.into_owned(), number);
        Ok(number)
    }

    /// Sorts the classes and returns the new number of each old one, for labels that were read before.
    pub fn sort(&mut self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.names.len() as u32).collect();
        order.sort_by(|&a, &b| order_of_labels(self.name(a), self.name(b)));
        let mut new_numbers = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            new_numbers[old as usize] = new as u32;
        }
        self.names = order.iter().map(|&old| std::mem::take(&mut self.names[old as usize])).collect();
        self.numbers = self.names.iter().cloned().zip(0..).collect();
        new_numbers
    }

    /// The class of each row. `first_row` is that of the table. A missing label or one of no known class is an error.
    pub fn numbers(&self, column: &TableColumn, first_row: usize) -> Result<Vec<u32>> {
        each_label(column, first_row, |row, label| {
            self.number(label).ok_or_else(|| {
                let (row, name) = (row + 1, &column.name);
                Error::Data(format!("row {row}, column `{name}`: the model does not know the class `{label}`"))
            })
        })
    }

    /// The class of each row; new classes are appended in order of arrival. A missing label is an error.
    pub fn numbers_or_insert(&mut self, column: &TableColumn, first_row: usize) -> Result<Vec<u32>> {
        each_label(column, first_row, |_, label| self.number_or_insert(label))
    }
}

/// Asks `number_of` once per distinct label, in order of first appearance, and hands its answer to every row.
fn each_label(
    column: &TableColumn,
    first_row: usize,
    mut number_of: impl FnMut(usize, &str) -> Result<u32>,
) -> Result<Vec<u32>> {
    let missing = |row| Error::MissingRole { row, column: ColumnRef::Name(column.name.clone()) };
    let mut known: HashMap<u64, u32> = HashMap::new();
    match &column.values {
        Column::Numbers(values) => (first_row..)
            .zip(values)
            .map(|(row, &value)| {
                let value = finite(value, row, &column.name)?;
                if let Some(&number) = known.get(&value.to_bits()) {
                    return Ok(number);
                }
                let number = number_of(row, &number_text(value))?;
                known.insert(value.to_bits(), number);
                Ok(number)
            })
            .collect(),
        Column::Text(text) => (first_row..)
            .zip(&text.codes)
            .map(|(row, &code)| {
                if code == TextColumn::MISSING {
                    return Err(missing(row));
                }
                if let Some(&number) = known.get(&u64::from(code)) {
                    return Ok(number);
                }
                let number = number_of(row, &text.levels[code as usize])?;
                known.insert(u64::from(code), number);
                Ok(number)
            })
            .collect(),
    }
}

/// The numbers that a regression is to predict. Missing cells, infinities and text are errors.
pub fn regression_targets(column: &TableColumn, first_row: usize) -> Result<Vec<f64>> {
    let values = column.values.as_numbers(&column.name, first_row)?;
    (first_row..).zip(values.iter()).map(|(row, &value)| finite(value, row, &column.name)).collect()
}

fn finite(value: f64, row: usize, column: &str) -> Result<f64> {
    let column = || ColumnRef::Name(column.to_owned());
    match value {
        value if value.is_finite() => Ok(value),
        value if value.is_nan() => Err(Error::MissingRole { row, column: column() }),
        value => Err(Error::NotFinite { row, column: column(), value }),
    }
}

/// How a label that is a number is written: shortest digits that give it back, no sign on zero, no `.0`.
pub(crate) fn number_text(value: f64) -> String {
    let value = if value == 0.0 { 0.0 } else { value };
    value.to_string()
}

/// The number that a label reads as.
fn read_number(label: &str) -> Option<f64> {
    label.parse().ok().filter(|value: &f64| value.is_finite())
}

fn canonical(label: &str) -> Cow<'_, str> {
    read_number(label).map_or(Cow::Borrowed(label), |value| Cow::Owned(number_text(value)))
}

fn order_of_labels(a: &str, b: &str) -> Ordering {
    match (read_number(a), read_number(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

impl Persist for Classes {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_json(prefix, &self.names);
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let names: Vec<String> = from.json(prefix)?;
        let classes = Self::from_names(&names).map_err(|error| bad_part(prefix, &format!("is too long: {error}")))?;
        if classes.names == names { Ok(classes) } else { Err(bad_part(prefix, "names a class twice")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers(values: &[f64]) -> TableColumn {
        TableColumn { name: "y".into(), values: Column::Numbers(values.to_vec()) }
    }

    fn text(values: &[&str]) -> TableColumn {
        TableColumn { name: "y".into(), values: Column::Text(values.iter().map(|&value| Some(value)).collect()) }
    }

    #[test]
    fn numbers_sort_by_value_and_text_by_letters() {
        let mut classes = Classes::from_names(["b", "10", "9", "a", "-1"]).unwrap();
        classes.sort();
        assert_eq!(classes.names(), ["-1", "9", "10", "a", "b"]);
        assert_eq!((classes.number("10"), classes.number("c"), classes.name(3)), (Some(2), None, "a"));
        assert_eq!((classes.len(), classes.is_empty()), (5, false));
    }

    #[test]
    fn a_label_that_reads_as_a_number_is_that_number() {
        let classes = Classes::from_names(["+1", "1", "1.0", "-1", "0", "-0", "0.50"]).unwrap();
        assert_eq!(classes.names(), ["1", "-1", "0", "0.5"]);
        assert_eq!(classes.numbers(&text(&["1", "+1", "-1.0"]), 0).unwrap(), [0, 0, 1]);
        assert_eq!(classes.numbers(&numbers(&[1.0, -0.0, 0.5]), 0).unwrap(), [0, 2, 3]);
        assert_eq!(Classes::from_names(["nan", "inf"]).unwrap().names(), ["nan", "inf"]);
    }

    #[test]
    fn unknown_and_missing_labels_are_named_with_their_row() {
        let classes = Classes::from_names(["a"]).unwrap();
        let message = |column: &TableColumn, row| classes.numbers(column, row).unwrap_err().to_string();
        assert_eq!(message(&text(&["a", "z"]), 10), "row 12, column `y`: the model does not know the class `z`");
        assert_eq!(message(&numbers(&[f64::NAN]), 4), "row 5, column `y`: the value is missing");
        assert_eq!(message(&numbers(&[f64::INFINITY]), 4), "row 5, column `y`: inf is not a finite number");
        let hole = TableColumn { name: "y".into(), values: Column::Text([None::<String>].into_iter().collect()) };
        assert_eq!(message(&hole, 0), "row 1, column `y`: the value is missing");
    }

    #[test]
    fn a_target_with_too_many_classes_is_refused() {
        let many: Vec<f64> = (0..=Classes::MAX).map(|i| i as f64).collect();
        let error = Classes::default().numbers_or_insert(&numbers(&many), 0).unwrap_err();
        assert!(error.to_string().contains("more than 65536 classes"));
    }

    #[test]
    fn regression_needs_numbers() {
        assert_eq!(regression_targets(&numbers(&[1.5, -2.0]), 0).unwrap(), [1.5, -2.0]);
        assert_eq!(regression_targets(&text(&["1.5", "-2"]), 0).unwrap(), [1.5, -2.0]);
        let error = regression_targets(&text(&["1", "x"]), 5).unwrap_err();
        assert_eq!(error.to_string(), "row 7, column `y`: `x` is not a number");
        let error = regression_targets(&numbers(&[1.0, f64::NAN]), 5).unwrap_err();
        assert_eq!(error.to_string(), "row 7, column `y`: the value is missing");
    }

    #[test]
    fn classes_come_back_from_a_model() {
        let load = |names: &[&str]| {
            let mut out = ModelWriter::new("x");
            out.put_json("classes", &names);
            let bytes = out.finish().unwrap();
            Classes::load(&ModelReader::parse(&bytes).unwrap(), "classes")
        };
        let classes = Classes::from_names(["-1", "1", "other"]).unwrap();
        assert_eq!(load(&["-1", "1", "other"]).unwrap(), classes);
        let mut out = ModelWriter::new("x");
        classes.save(&mut out, "classes");
        let bytes = out.finish().unwrap();
        assert_eq!(Classes::load(&ModelReader::parse(&bytes).unwrap(), "classes").unwrap(), classes);
        assert!(load(&["a", "a"]).is_err() && load(&["1", "+1"]).is_err());
    }

    proptest! {
        #[test]
        fn sorting_renumbers_and_batches_do_not_matter(labels in prop::collection::vec(0u8..20, 1..60), cut in 0usize..60) {
            let labels: Vec<f64> = labels.iter().map(|&label| f64::from(label) - 10.0).collect();
            let cut = cut.min(labels.len());
            let mut classes = Classes::default();
            let mut read = classes.numbers_or_insert(&numbers(&labels[..cut]), 0).unwrap();
            read.extend(classes.numbers_or_insert(&numbers(&labels[cut..]), cut).unwrap());
            let new = classes.sort();
            let renumbered: Vec<u32> = read.iter().map(|&class| new[class as usize]).collect();
            prop_assert_eq!(&renumbered, &classes.numbers(&numbers(&labels), 0).unwrap());
            for (x, &a) in labels.iter().zip(&renumbered) {
                for (y, &b) in labels.iter().zip(&renumbered) {
                    prop_assert_eq!(x.total_cmp(y), a.cmp(&b));
                }
            }
        }
    }
}
