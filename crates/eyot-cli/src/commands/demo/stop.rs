//! A stop of the tour, and its three ways of being told.

use eyot_io::plot::Figure;
use eyot_io::report::{Section, Table};
use serde_json::{Map, Value, json};

/// What a stop shows: words, one table, figures.
pub(in crate::commands) struct Stop {
    /// The name of the section in JSON.
    pub(super) name: &'static str,
    pub(super) heading: &'static str,
    /// What is done, and why.
    pub(super) intro: String,
    /// What came out, in a sentence or two with the numbers in it.
    pub(in crate::commands) finding: String,
    pub(super) columns: Vec<&'static str>,
    /// One value per column.
    pub(in crate::commands) rows: Vec<Vec<Value>>,
    /// Figures with a paragraph before them.
    pub(in crate::commands) figures: Vec<(String, Vec<Figure>)>,
    /// What of it belongs to the key facts of the whole report.
    pub(super) facts: Vec<(&'static str, String)>,
}

impl Stop {
    /// For the terminal: heading, table, finding.
    pub(super) fn to_text(&self) -> String {
        let cells: Vec<Vec<String>> = self.rows.iter().map(|row| row.iter().map(written).collect()).collect();
        let width = |column: usize| {
            let texts = cells.iter().map(|row| row[column].chars().count());
            texts.chain([self.columns[column].chars().count()]).max().unwrap_or(0)
        };
        let line = |texts: &[&str]| {
            let mut line = String::from(" ");
            for (column, text) in texts.iter().enumerate() {
                let room = width(column) - text.chars().count();
                let (before, after) = if self.is_number(column) { (room, 0) } else { (0, room) };
                line = format!("{line} {:before$}{text}{:after$} ", "", "");
            }
            line.trim_end().to_owned() + "\n"
        };
        let mut text = format!("{}\n{}", self.heading, line(&self.columns));
        for row in &cells {
            text += &line(&row.iter().map(String::as_str).collect::<Vec<_>>());
        }
        format!("{text}{}\n\n", wrapped(&self.finding, 100))
    }

    /// For the report: everything.
    pub(super) fn to_section(&self) -> Section {
        let rows = self.rows.iter().map(|row| row.iter().map(written).collect::<Vec<_>>());
        let table = Table::new(self.columns.iter().copied()).rows(rows);
        let section = Section::new(self.heading).text(&self.intro).text(&self.finding).table(table);
        self.figures.iter().fold(section, |section, (text, figures)| section.text(text).figures(figures.iter().cloned()))
    }

    /// For programs: each row as an object.
    pub(super) fn to_json(&self) -> Value {
        let object = |row: &Vec<Value>| -> Map<String, Value> {
            self.columns.iter().map(|&name| name.to_owned()).zip(row.iter().cloned()).collect()
        };
        let rows: Vec<_> = self.rows.iter().map(object).collect();
        json!({ "name": self.name, "title": self.heading, "finding": self.finding, "rows": rows })
    }

    fn is_number(&self, column: usize) -> bool {
        self.rows.iter().all(|row| row[column].is_number() || row[column].is_null())
    }
}

/// A value for people: three decimals, lists as words.
fn written(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(written).collect::<Vec<_>>().join(" "),
        Value::Number(number) if number.is_f64() => minus(&format!("{:.3}", number.as_f64().unwrap_or(f64::NAN))),
        value => value.to_string(),
    }
}

/// A number in a sentence: two decimals.
pub(super) fn decimal(value: f64) -> String {
    minus(&format!("{value:.2}"))
}

/// A minus sign that is one.
fn minus(number: &str) -> String {
    number.replace('-', "−")
}

/// Lines of at most `width` letters.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop() -> Stop {
        Stop {
            name: "test",
            heading: "Heading",
            intro: String::new(),
            finding: "found".into(),
            columns: vec!["name", "K", "codes"],
            rows: vec![
                vec![json!("first"), json!(0.5), json!([1, 2])],
                vec![json!("x"), json!(-12.0), json!([10, 20])],
            ],
            figures: vec![],
            facts: vec![],
        }
    }

    #[test]
    fn text_columns_are_aligned() {
        let expected = "Heading\n  name         K  codes\n  first    0.500  1 2\n  x      −12.000  10 20\nfound\n\n";
        assert_eq!(stop().to_text(), expected);
    }

    #[test]
    fn json_rows_are_objects() {
        let value = stop().to_json();
        assert_eq!(value["rows"][1], json!({ "name": "x", "K": -12.0, "codes": [10, 20] }));
    }

    #[test]
    fn long_findings_wrap() {
        let text = wrapped("one two three four", 9);
        assert_eq!(text, "one two\nthree\nfour");
    }
}
