//! One JSON object per line. Columns are the keys of the first rows in order of appearance; a key that a row lacks,
//! or null, is missing. `true` and `false` are the numbers 1 and 0. A text that stands in a number column is read as
//! CSV would read it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::io::Read;

use eyot::Table;
use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::column::{Cells, Census, is_missing, number, take_columns};
use super::lines::Lines;
use super::{Batches, PlannedColumn, ReadOptions, Text};
use crate::error::{Error, Place, Result, shown};

pub(super) struct NdjsonReader {
    lines: Lines<Box<dyn Read + Send>>,
    columns: Vec<PlannedColumn>,
    numbers: HashMap<String, usize>,
    cells: Vec<Cells>,
    batch_rows: usize,
    live: bool,
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
enum Value<'a> {
    Missing,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(Cow<'a, str>),
    /// An array or an object, by its first sign.
    Nested(&'static str),
}

/// A row: its keys and values in order.
struct Object<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

impl NdjsonReader {
    pub(super) fn open(text: Text, options: &ReadOptions) -> Result<Self> {
        let mut names: Vec<String> = Vec::new();
        let mut numbers = HashMap::new();
        let mut census: Vec<Census> = Vec::new();
        let mut lines = Lines::new(&text.file, text.sample_lines());
        let mut row = 0;
        while lines.advance()? {
            let line = lines.line();
            if line.trim_ascii().is_empty() {
                continue;
            }
            let Object(entries) = object(line).map_err(|what| wrong_row(lines.place(row), what))?;
            for (key, value) in entries {
                let at = *numbers.entry(key.clone().into_owned()).or_insert_with(|| {
                    names.push(key.into_owned());
                    census.push(Census::default());
                    names.len() - 1
                });
                match value {
                    Value::Missing => {}
                    Value::Text(text) if is_missing(text.trim_ascii().as_bytes()) => {}
                    Value::Text(_) | Value::Nested(_) => census[at].texts += 1,
                    Value::Bool(_) | Value::Integer(_) | Value::Float(_) => census[at].numbers += 1,
                }
            }
            row += 1;
        }
        if row == 0 {
            return Err(Error::Empty { file: text.file, header: false });
        }
        let plan = |(name, census): (String, Census)| {
            let kind = options.plan(&name, census.kind());
            PlannedColumn { name, kind }
        };
        let columns: Vec<_> = names.into_iter().zip(census).map(plan).collect();
        let cells = columns.iter().map(|column| Cells::new(column.kind)).collect();
        let file = text.file.clone();
        let lines = Lines::new(&file, Box::new(text.into_reader()) as Box<dyn Read + Send>);
        let (batch_rows, live) = (options.rows_for(columns.len()), options.live);
        Ok(Self { lines, columns, numbers, cells, batch_rows, live })
    }
}

impl Batches for NdjsonReader {
    fn columns(&self) -> &[PlannedColumn] {
        &self.columns
    }

    fn next_batch(&mut self, first_row: usize) -> Result<Option<Table>> {
        let mut n_rows = 0;
        let mut filled = vec![false; self.columns.len()];
        while n_rows < self.batch_rows {
            if (self.live && n_rows > 0 && !self.lines.has_line()) || !self.lines.advance()? {
                break;
            }
            let line = self.lines.line();
            if line.trim_ascii().is_empty() {
                continue;
            }
            let place = || self.lines.place(first_row + n_rows);
            let entries = match object(line) {
                Ok(Object(entries)) => entries,
                Err(what) => return Err(wrong_row(place(), what)),
            };
            filled.fill(false);
            for (key, value) in entries {
                let Some(&at) = self.numbers.get(&*key) else {
                    let what = format!("the key {} is not among those of the first rows", shown(&key));
                    let hint = Some("give one of the first rows that key too, if only with null");
                    return Err(Error::Row { place: Box::new(place()), what, hint });
                };
                if std::mem::replace(&mut filled[at], true) {
                    return Err(wrong_row(place(), format!("the key {} occurs twice", shown(&key))));
                }
                if let Err((value, expected)) = push(&value, &mut self.cells[at]) {
                    let place = Box::new(place());
                    return Err(Error::Cell { place, column: key.into_owned(), value, expected });
                }
            }
            for (cells, filled) in self.cells.iter_mut().zip(&filled) {
                if !filled {
                    push(&Value::Missing, cells).expect("every column takes a missing value");
                }
            }
            n_rows += 1;
        }
        let columns = take_columns(&self.columns, &mut self.cells);
        Ok((n_rows > 0).then_some(Table { first_row, n_rows, columns, sparse: None }))
    }
}

fn wrong_row(place: Place, what: String) -> Error {
    Error::Row { place: Box::new(place), what, hint: None }
}

/// Adds a value to its column, or says what it is and what it should be.
fn push(value: &Value<'_>, cells: &mut Cells) -> Result<(), (String, &'static str)> {
    match cells {
        Cells::Skip => {}
        Cells::Numbers(values) => values.push(match value {
            Value::Missing => f64::NAN,
            Value::Bool(flag) => f64::from(u8::from(*flag)),
            Value::Integer(integer) => *integer as f64,
            Value::Float(float) => *float,
            Value::Text(text) => number(text.trim_ascii().as_bytes()).ok_or_else(|| (text.to_string(), "a number"))?,
            Value::Nested(sign) => return Err(((*sign).into(), "a number")),
        }),
        Cells::Text(texts) => match value {
            Value::Missing => texts.push(None),
            Value::Bool(flag) => texts.push(Some(if *flag { "true" } else { "false" })),
            Value::Integer(integer) => texts.push(Some(&integer.to_string())),
            Value::Float(float) => texts.push(Some(&float.to_string())),
            Value::Text(text) => texts.push(Some(text)),
            Value::Nested(sign) => return Err(((*sign).into(), "a number or text")),
        },
    }
    Ok(())
}

fn object(line: &[u8]) -> Result<Object<'_>, String> {
    serde_json::from_slice(line).map_err(|error| {
        // It counts lines within this one: only the column says something.
        let text = error.to_string();
        let what = text.split(" at line ").next().unwrap_or_default();
        format!("not a JSON object: {what} at column {}", error.column())
    })
}

struct ObjectVisitor;
struct ValueVisitor;
struct Key<'a>(Cow<'a, str>);
struct KeyVisitor;

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((Key(key), value)) = map.next_entry()? {
            entries.push((key, value));
        }
        Ok(Object(entries))
    }
}

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor).map(Key)
    }
}

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(Value::Missing)
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E: de::Error>(self, integer: i64) -> Result<Self::Value, E> {
        Ok(Value::Integer(integer.into()))
    }

    fn visit_u64<E: de::Error>(self, integer: u64) -> Result<Self::Value, E> {
        Ok(Value::Integer(integer.into()))
    }

    fn visit_f64<E: de::Error>(self, float: f64) -> Result<Self::Value, E> {
        Ok(Value::Float(float))
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Nested("[…]"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Nested("{…}"))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use eyot::Column;
    use proptest::prelude::*;

    use super::super::{Format, read_table};
    use super::*;
    use crate::Source;

    fn read_with(text: &str, options: ReadOptions) -> Result<Table> {
        let mut source = Source::from_reader("t.ndjson", Box::new(Cursor::new(text.as_bytes().to_vec())));
        read_table(&mut source, &options.format(Format::Ndjson))
    }

    fn read(text: &str) -> Result<Table> {
        read_with(text, ReadOptions::default())
    }

    fn cells(table: &Table, name: &str) -> Vec<String> {
        match table.column(name).unwrap() {
            Column::Numbers(values) => values.iter().map(f64::to_string).collect(),
            Column::Text(text) => (0..text.codes.len()).map(|row| text.get(row).unwrap_or("-").to_owned()).collect(),
        }
    }

    #[test]
    fn columns_are_the_union_of_keys_and_holes_are_missing() {
        let table = read(
            "{\"a\": 1, \"s\": \"x\"}\n\n{\"s\": \"\\u00e9\", \"b\": true, \"a\": \"NaN\"}\n{\"a\": -0, \"b\": null}\n",
        );
        let table = table.unwrap();
        let names: Vec<_> = table.columns.iter().map(|column| &*column.name).collect();
        assert_eq!(names, ["a", "s", "b"]);
        assert_eq!(cells(&table, "a"), ["1", "NaN", "-0"]);
        assert_eq!(cells(&table, "s"), ["x", "é", "-"]);
        assert_eq!(cells(&table, "b"), ["NaN", "1", "NaN"]);
    }

    #[test]
    fn large_integers_keep_their_digits_as_text() {
        let text = "{\"id\": 9007199254740993}\n";
        assert_eq!(cells(&read(text).unwrap(), "id"), ["9007199254740992"]);
        let table = read_with(text, ReadOptions::default().text_columns(["id"])).unwrap();
        assert_eq!(cells(&table, "id"), ["9007199254740993"]);
    }

    #[test]
    fn bad_rows_are_named() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(message(""), "t.ndjson: there are no rows");
        let odd = message("{\"a\": 1}\n[1]\n");
        assert!(odd.starts_with("t.ndjson: row 2 (line 2): not a JSON object: "), "{odd}");
        let cut = message("{\"a\": 1}\n{\"a\": \n");
        assert!(cut.starts_with("t.ndjson: row 2 (line 2): not a JSON object: EOF"), "{cut}");
        assert_eq!(
            message("{\"a\": 1}\n{\"a\": 2}\n{\"a\": \"x\"}\n"),
            "t.ndjson: row 3 (line 3), column `a`: `x` is not a number"
        );
        assert_eq!(
            message("{\"a\": 1}\n{\"a\": [1, {}]}\n"),
            "t.ndjson: row 2 (line 2), column `a`: `[…]` is not a number"
        );
        assert_eq!(message("{\"a\": 1, \"a\": 2}\n"), "t.ndjson: row 1 (line 1): the key `a` occurs twice");
        let late = read_with("{\"a\": 1}\n{\"a\": 1}\n{\"b\": 2}\n", ReadOptions::default().sample_bytes(9));
        assert!(late.unwrap_err().to_string().contains("row 3 (line 3): the key `b` is not among"));
        assert!(message(&"[".repeat(100_000)).contains("not a JSON object"));
        assert!(message(&format!("{{\"a\": {}", "[".repeat(100_000))).contains("not a JSON object"));
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_csv(values in prop::collection::vec(any::<f64>(), 1..20), whole in any::<i64>()) {
            let values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).chain([whole as f64]).collect();
            let text: Vec<String> = values.iter().map(|value| format!("{{\"a\": {value:e}}}\n{{\"a\": {value:?}}}\n")).collect();
            let table = read(&text.concat()).unwrap();
            let Some(Column::Numbers(read)) = table.column("a") else { unreachable!() };
            for (two, value) in read.chunks(2).zip(&values) {
                prop_assert_eq!(two[0].to_bits(), value.to_bits());
                prop_assert_eq!(two[1].to_bits(), value.to_bits());
            }
        }

        #[test]
        fn any_text_gives_a_table_or_an_error(text in "[{}\\[\\]\":,a1.\n\\\\ null-]{0,80}") {
            let _ = read(&text);
        }
    }
}
