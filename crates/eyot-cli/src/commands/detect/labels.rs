//! Names and truths of rows: the columns of `--id` and `--label`.

use eyot::{Column, ColumnRef, Error, Result, Table};

/// The names of rows, if a column has them.
pub(super) struct Ids {
    column: Option<String>,
    names: Vec<String>,
}

impl Ids {
    pub(super) fn new(column: Option<&str>) -> Self {
        Self { column: column.map(str::to_owned), names: Vec::new() }
    }

    pub(super) fn observe(&mut self, table: &Table) {
        if let Some(values) = self.column.as_deref().and_then(|name| table.column(name)) {
            self.names.extend((0..table.n_rows).map(|row| cell(values, row).unwrap_or_default()));
        }
    }

    /// What the row is called, if rows have names.
    pub(super) fn get(&self, row: usize) -> Option<String> {
        self.names.get(row).cloned()
    }

    /// The name of the column.
    pub(super) fn column(&self) -> Option<&str> {
        self.column.as_deref()
    }
}

/// Usual words for anomalies and for normal rows.
const YES: [&str; 5] = ["1", "true", "yes", "anomaly", "outlier"];
const NO: [&str; 5] = ["0", "false", "no", "normal", "inlier"];

/// The truth about rows.
pub(super) struct Labels {
    column: String,
    /// Up to three distinct values: a third is an error.
    values: Vec<String>,
    second: Vec<bool>,
    anomalous: Vec<bool>,
    anomaly: usize,
}

impl Labels {
    pub(super) fn new(column: Option<&str>) -> Option<Self> {
        let column = column?.to_owned();
        Some(Self { column, values: Vec::new(), second: Vec::new(), anomalous: Vec::new(), anomaly: 0 })
    }

    pub(super) fn observe(&mut self, table: &Table) -> Result<()> {
        let Some(values) = table.column(&self.column) else { return Ok(()) };
        for row in 0..table.n_rows {
            let Some(value) = cell(values, row) else {
                let column = ColumnRef::Name(self.column.clone());
                return Err(Error::MissingRole { row: table.first_row + row, column });
            };
            let code = self.values.iter().position(|known| *known == value).unwrap_or_else(|| {
                self.values.push(value);
                self.values.len() - 1
            });
            if code > 1 {
                return Err(Error::Data(format!(
                    "the labels in `{}` must have two values, but there are `{}`, `{}`, `{}` and perhaps more",
                    self.column, self.values[0], self.values[1], self.values[2]
                )));
            }
            self.second.push(code == 1);
        }
        Ok(())
    }

    /// Decides which value means an anomaly: the positive one of the usual pairs, else the rarer.
    pub(super) fn finish(mut self) -> Result<Self> {
        if self.values.len() < 2 {
            let only = self.values.first().map_or(String::new(), |value| format!(": `{value}`"));
            return Err(Error::Data(format!(
                "the labels in `{}` have one value only{only}, but an evaluation needs normal rows and anomalies",
                self.column
            )));
        }
        let lower: Vec<String> = self.values.iter().map(|value| value.to_lowercase()).collect();
        let usual = |yes: usize| YES.contains(&lower[yes].as_str()) && NO.contains(&lower[1 - yes].as_str());
        let second = self.second.iter().filter(|&&second| second).count();
        self.anomaly = if usual(0) {
            0
        } else if usual(1) {
            1
        } else {
            usize::from(2 * second <= self.second.len())
        };
        self.anomalous = self.second.iter().map(|&second| usize::from(second) == self.anomaly).collect();
        Ok(self)
    }

    pub(super) fn anomalous(&self) -> &[bool] {
        &self.anomalous
    }

    /// Which value was taken for an anomaly.
    pub(super) fn meaning(&self) -> String {
        let count = self.anomalous.iter().filter(|&&is| is).count();
        format!(
            "`{}` = `{}` is taken for an anomaly: {} of {} rows",
            self.column,
            self.values[self.anomaly],
            crate::messages::count(count),
            crate::messages::count(self.anomalous.len())
        )
    }
}

/// A raw cell as text, `None` if it is missing.
pub(super) fn cell(values: &Column, row: usize) -> Option<String> {
    match values {
        Column::Numbers(numbers) => (!numbers[row].is_nan()).then(|| numbers[row].to_string()),
        Column::Text(text) => text.get(row).map(str::to_owned),
    }
}
