//! Scaling inside the training bags. How columns are scaled decides much of the accuracy of a bag classifier and the
//! paper does not state it, so it is a parameter like any other, chosen inside the training folds.

use crate::data::{Points, PointsBuf, Row, Scale, SparseRow};
use crate::error::Result;
use crate::model::{ModelReader, ModelWriter, Persist, bad_part};

/// (x − shift) / divisor, column by column. Sparse columns are only divided, so that zeros stay zeros.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaler {
    shifts: Vec<f64>,
    divisors: Vec<f64>,
}

impl Scaler {
    /// Fits on the instances of the training bags. A divisor of 0 is taken as 1.
    pub fn fit(points: Points<'_>, scale: Scale) -> Self {
        let (n, columns) = (points.n_rows() as f64, points.n_columns());
        let (mut shifts, mut divisors) = (vec![0.0; columns], vec![1.0; columns]);
        match scale {
            Scale::None => (),
            Scale::MinMax => {
                // A column with a zero somewhere has 0 among its values, whatever the storage.
                let (mut low, mut high) = (vec![f64::INFINITY; columns], vec![f64::NEG_INFINITY; columns]);
                let mut entries = vec![0; columns];
                for row in points.rows() {
                    for (column, value) in row.nonzeros() {
                        low[column] = low[column].min(value);
                        high[column] = high[column].max(value);
                        entries[column] += 1;
                    }
                }
                for column in 0..columns {
                    if entries[column] < points.n_rows() {
                        low[column] = low[column].min(0.0);
                        high[column] = high[column].max(0.0);
                    }
                    divisors[column] = high[column] - low[column];
                }
                shifts = low;
            }
            Scale::Standard => {
                let (mut sums, mut squares) = (vec![0.0; columns], vec![0.0; columns]);
                for row in points.rows() {
                    row.nonzeros().for_each(|(column, value)| sums[column] += value);
                }
                for sum in &mut sums {
                    *sum /= n;
                }
                let mut entries = vec![0.0; columns];
                for row in points.rows() {
                    for (column, value) in row.nonzeros() {
                        squares[column] += (value - sums[column]).powi(2);
                        entries[column] += 1.0;
                    }
                }
                for column in 0..columns {
                    let zeros = (n - entries[column]) * sums[column].powi(2);
                    divisors[column] = ((squares[column] + zeros) / n).sqrt();
                }
                shifts = sums;
            }
        }
        if points.is_sparse() {
            shifts.fill(0.0);
        }
        divisors.iter_mut().filter(|divisor| **divisor == 0.0).for_each(|divisor| *divisor = 1.0);
        Self { shifts, divisors }
    }

    /// Columns that a row must have.
    pub fn n_columns(&self) -> usize {
        self.shifts.len()
    }

    /// Scaled points.
    pub fn apply(&self, points: Points<'_>) -> PointsBuf {
        if points.is_sparse() {
            let mut scaled = PointsBuf::sparse(points.n_columns());
            for row in points.rows() {
                let (columns, values): (Vec<u32>, Vec<f64>) = row
                    .nonzeros()
                    .map(|(column, value)| (column as u32, value / self.divisors[column]))
                    .filter(|&(_, value)| value != 0.0)
                    .unzip();
                scaled.push(Row::Sparse(SparseRow { columns: &columns, values: &values }));
            }
            return scaled;
        }
        let mut scaled = PointsBuf::dense(points.n_columns());
        let mut values = vec![0.0; points.n_columns()];
        for row in points.rows() {
            for (column, value) in values.iter_mut().enumerate() {
                // −0.0 becomes 0.0, the same zero in every storage.
                *value = (row.get(column) - self.shifts[column]) / self.divisors[column] + 0.0;
            }
            scaled.push(Row::F64(&values));
        }
        scaled
    }
}

impl Persist for Scaler {
    fn save(&self, out: &mut ModelWriter, prefix: &str) {
        out.put_f64(&format!("{prefix}.shifts"), &self.shifts);
        out.put_f64(&format!("{prefix}.divisors"), &self.divisors);
    }

    fn load(from: &ModelReader<'_>, prefix: &str) -> Result<Self> {
        let name = format!("{prefix}.divisors");
        let divisors = from.f64s(&name)?;
        let shifts = from.finite_f64s(&format!("{prefix}.shifts"), divisors.len())?;
        if divisors.iter().any(|divisor| !divisor.is_finite() || *divisor <= 0.0) {
            return Err(bad_part(&name, "has a divisor that is not a number above 0"));
        }
        Ok(Self { shifts, divisors })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, EncoderParams, Table, TableColumn};

    #[test]
    fn scaling_is_that_of_the_encoder() {
        let values = [vec![1.0, 5.0, 2.5, 0.0], vec![0.0, -2.0, 0.0, 4.0], vec![7.0; 4]];
        let columns =
            (0..3).map(|i| TableColumn { name: format!("x{i}"), values: Column::Numbers(values[i].clone()) }).collect();
        let table = Table { first_row: 0, n_rows: 4, columns, sparse: None };
        let rows: Vec<Vec<f64>> = (0..4).map(|row| values.iter().map(|column| column[row]).collect()).collect();
        let points = PointsBuf::from_rows(&rows).unwrap();
        for scale in [Scale::MinMax, Scale::Standard, Scale::None] {
            let encoder = EncoderParams::default().scale(scale).check().unwrap().fit(&table).unwrap();
            let expected = encoder.encode(&table).unwrap();
            let ours = Scaler::fit(points.as_points(), scale).apply(points.as_points());
            for (own, expected) in ours.as_points().rows().zip(expected.as_points().rows()) {
                for column in 0..3 {
                    assert!((own.get(column) - expected.get(column)).abs() < 1e-12, "{scale:?}");
                }
            }
        }
    }

    #[test]
    fn zeros_of_sparse_rows_stay() {
        let mut points = PointsBuf::sparse(3);
        points.push(Row::F64(&[4.0, 0.0, 0.0]));
        points.push(Row::F64(&[2.0, 0.0, 1.0]));
        let scaled = Scaler::fit(points.as_points(), Scale::MinMax).apply(points.as_points());
        assert!(scaled.as_points().is_sparse());
        assert_eq!((scaled.row(0).get(0), scaled.row(1).get(2), scaled.row(0).get(1)), (2.0, 1.0, 0.0));
    }
}
