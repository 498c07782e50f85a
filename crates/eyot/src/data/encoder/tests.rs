use proptest::prelude::*;

use super::*;
use crate::data::PointsBuf;
use crate::data::table::{Column, TableColumn};
use crate::error::{ColumnRef, Error};
use crate::model::{ModelReader, ModelWriter, Persist};

const NAN: f64 = f64::NAN;

fn numbers(name: &str, values: &[f64]) -> TableColumn {
    TableColumn { name: name.into(), values: Column::Numbers(values.to_vec()) }
}

/// `-` is a missing cell.
fn text(name: &str, values: &[&str]) -> TableColumn {
    let cells = values.iter().map(|&value| (value != "-").then_some(value));
    TableColumn { name: name.into(), values: Column::Text(cells.collect()) }
}

fn table(columns: Vec<TableColumn>) -> Table {
    let n_rows = columns.first().map_or(0, |column| column.values.len());
    Table { first_row: 0, n_rows, columns, sparse: None }
}

/// Sparse columns only, from dense rows.
fn sparse_table<R: AsRef<[f64]>>(rows: &[R]) -> Table {
    let dense = PointsBuf::from_rows(rows).unwrap();
    let mut block = PointsBuf::sparse(dense.n_columns());
    dense.as_points().rows().for_each(|row| block.push(row));
    Table { first_row: 0, n_rows: rows.len(), columns: vec![], sparse: Some(block) }
}

fn fit(params: EncoderParams, table: &Table) -> Result<Encoder> {
    params.check()?.fit(table)
}

fn default_fit(table: &Table) -> Encoder {
    fit(EncoderParams::default(), table).unwrap()
}

fn names(encoder: &Encoder) -> Vec<String> {
    encoder.column_names().collect()
}

fn notes(encoder: &Encoder) -> Vec<String> {
    encoder.notes().iter().map(ToString::to_string).collect()
}

fn dense_rows(points: &PointsBuf) -> Vec<Vec<f64>> {
    points.as_points().rows().map(|row| (0..points.n_columns()).map(|column| row.get(column)).collect()).collect()
}

fn bits(points: &PointsBuf) -> Vec<Vec<u64>> {
    dense_rows(points).iter().map(|row| row.iter().map(|value| value.to_bits()).collect()).collect()
}

/// The rows of a table in a range, as a batch.
fn batch(table: &Table, rows: std::ops::Range<usize>) -> Table {
    let cut = |column: &TableColumn| {
        let values = match &column.values {
            Column::Numbers(values) => Column::Numbers(values[rows.clone()].to_vec()),
            Column::Text(text) => Column::Text(rows.clone().map(|row| text.get(row)).collect()),
        };
        TableColumn { name: column.name.clone(), values }
    };
    Table {
        first_row: table.first_row + rows.start,
        n_rows: rows.len(),
        columns: table.columns.iter().map(cut).collect(),
        sparse: table.sparse.as_ref().map(|block| block.select(&rows.clone().collect::<Vec<_>>())),
    }
}

fn bytes_of(encoder: &Encoder) -> Vec<u8> {
    let mut out = ModelWriter::new("test");
    encoder.save(&mut out, "encoder");
    out.finish().unwrap()
}

fn reload(bytes: &[u8]) -> Result<Encoder> {
    Encoder::load(&ModelReader::parse(bytes)?, "encoder")
}

#[test]
fn min_max_maps_training_data_to_the_unit_interval_and_does_not_clip_later() {
    let encoder = default_fit(&table(vec![numbers("a", &[2.0, 4.0, 3.0]), numbers("constant", &[7.0, 7.0, 7.0])]));
    let later = table(vec![numbers("a", &[4.0, 6.0, 1.0]), numbers("constant", &[7.0, 9.0, 7.0])]);
    let rows = dense_rows(&encoder.encode(&later).unwrap());
    assert_eq!(rows, [[1.0, 0.0], [2.0, 2.0], [-0.5, 0.0]]);
    assert_eq!((encoder.n_columns(), encoder.extent(), encoder.n_rows()), (2, 1.0, 3));
}

#[test]
fn standard_scaling_has_mean_zero_and_deviation_one_of_the_population() {
    let data = table(vec![numbers("a", &[1.0, 2.0, 3.0, 6.0]), numbers("constant", &[5.0; 4])]);
    let encoder = fit(EncoderParams::default().scale(Scale::Standard), &data).unwrap();
    let rows = dense_rows(&encoder.encode(&data).unwrap());
    // Mean 3, variance (4 + 1 + 0 + 9) / 4.
    let sd = 3.5f64.sqrt();
    for (row, x) in rows.iter().zip([-2.0, -1.0, 0.0, 3.0]) {
        assert!((row[0] - x / sd).abs() < 1e-15 && row[1] == 0.0, "{row:?}");
    }
    assert!((encoder.extent() - 5.0 / sd).abs() < 1e-15);
}

#[test]
fn without_scaling_numbers_stay_as_they_are() {
    let data = table(vec![numbers("a", &[0.1, -3.0, 1e300]), numbers("b", &[1.0, 1.0, 2.0])]);
    let encoder = fit(EncoderParams::default().scale(Scale::None), &data).unwrap();
    assert_eq!(dense_rows(&encoder.encode(&data).unwrap()), [[0.1, 1.0], [-3.0, 1.0], [1e300, 2.0]]);
    assert_eq!(encoder.extent(), 1e300 + 3.0);
}

#[test]
fn text_is_one_hot_and_unseen_text_is_all_zeros() {
    let encoder = default_fit(&table(vec![text("color", &["red", "blue", "red"]), numbers("x", &[0.0, 1.0, 2.0])]));
    assert_eq!(names(&encoder), ["color=blue", "color=red", "x"]);
    assert_eq!(encoder.source_of(1), ColumnRef::Name("color".into()));
    assert_eq!(encoder.source_of(2), ColumnRef::Name("x".into()));
    let inputs: Vec<_> = encoder.inputs().collect();
    assert_eq!(inputs, [("color", InputKind::Text), ("x", InputKind::Number)]);
    let later = table(vec![text("color", &["green", "blue"]), numbers("x", &[2.0, 2.0])]);
    let mut counts = EncodeCounts::default();
    let points = encoder.encode_counting(&later, &mut counts).unwrap();
    assert_eq!(dense_rows(&points), [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]]);
    assert_eq!(counts, EncodeCounts { unseen_levels: 1, ..Default::default() });
    assert_eq!(
        counts.notes()[0].to_string(),
        "1 cell with text that is not in the training data, taken as none of its values"
    );
}

#[test]
fn text_with_too_many_levels_is_left_out() {
    let levels: Vec<String> = (0..130).map(|i| format!("v{}", i / 2)).collect();
    let cells: Vec<&str> = levels.iter().map(String::as_str).collect();
    let x: Vec<f64> = (0..130).map(|i| f64::from(i % 7)).collect();
    let data = table(vec![text("free", &cells), numbers("x", &x)]);
    let encoder = default_fit(&data);
    assert_eq!(names(&encoder), ["x"]);
    assert_eq!(notes(&encoder), ["left out `free` (text with too many different values)"]);
    assert_eq!(fit(EncoderParams::default().max_levels(65), &data).unwrap().n_columns(), 66);
    assert!(fit(EncoderParams::default().max_levels(0), &data).is_err());
}

#[test]
fn identifiers_are_left_out_and_named() {
    let n = 20;
    let strings: Vec<String> = (0..n).map(|i| format!("user{i}")).collect();
    let cells: Vec<&str> = strings.iter().map(String::as_str).collect();
    let count: Vec<f64> = (0..n).map(|i| f64::from(i) + 1.0).collect();
    let shuffled: Vec<f64> = (0..n).map(|i| f64::from(i * 7 % n) + 1000.0).collect();
    let x: Vec<f64> = (0..n).map(|i| f64::from(i).sqrt()).collect();
    let data = table(vec![
        text("user", &cells),
        numbers("number", &count),
        numbers("customer_id", &shuffled),
        numbers("x", &x),
        numbers("y", &shuffled),
    ]);
    let encoder = default_fit(&data);
    assert_eq!(names(&encoder), ["x", "y"]);
    assert_eq!(
        notes(&encoder),
        [
            "left out `user` (an identifier, since no two rows have the same text)",
            "left out `number` (an identifier, since its values count the rows)",
            "left out `customer_id` (an identifier, by its name and its distinct values)",
        ]
    );
    // They may be there later, or not.
    assert!(encoder.encode(&data).is_ok());
    assert!(encoder.encode(&table(data.columns[3..].to_vec())).is_ok());
}

#[test]
fn what_merely_resembles_an_identifier_is_kept() {
    let nine: Vec<f64> = (0..9).map(f64::from).collect();
    let steps: Vec<f64> = (0..9).map(|i| f64::from(i) * 2.0).collect();
    let halves: Vec<f64> = (0..9).map(|i| f64::from(i) * 1.5).collect();
    let columns = vec![
        numbers("count of nine rows", &nine),
        numbers("by two", &steps),
        numbers("body_mass_index", &halves),
        numbers("index", &halves),
        numbers("plan_id", &[1.0, 2.0, 1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
        text("city", &["a", "b", "c", "d", "e", "f", "g", "h", "i"]),
    ];
    let encoder = default_fit(&table(columns));
    assert!(encoder.notes().is_empty(), "{:?}", notes(&encoder));
    assert_eq!(encoder.n_columns(), 14);
}

#[test]
fn names_of_identifiers_are_recognised() {
    let ids = ["id", "ID", "user_id", "userId", "userID", "UUID", "Index", "row", "Unnamed: 0", "order-id", ""];
    let others = ["covid", "COVID", "grid", "rows", "body_mass_index", "acid", "x", "row_height", "Id_of_colour"];
    let left_out = |name: &str| {
        let data = table(vec![numbers(name, &[5.0, 3.0, 9.0]), numbers("other", &[1.0, 1.0, 2.0])]);
        default_fit(&data).n_columns() == 1
    };
    assert_eq!(ids.map(left_out), [true; 11]);
    assert_eq!(others.map(left_out), [false; 9]);
}

#[test]
fn columns_with_a_role_are_no_features_and_may_be_absent_later() {
    let data = table(vec![
        numbers("y", &[0.0, 1.0]),
        numbers("truth", &[0.0, 1.0]),
        text("bag", &["a", "b"]),
        text("name", &["x", "-"]),
        numbers("noise", &[NAN, f64::INFINITY]),
        numbers("a", &[1.0, 2.0]),
    ]);
    let roles = Roles {
        target: Some("y".into()),
        label: Some("truth".into()),
        bag: Some("bag".into()),
        id: Some("name".into()),
        ignore: vec!["noise".into(), "not in the file".into()],
    };
    let encoder = fit(EncoderParams::default().roles(roles.clone()), &data).unwrap();
    assert_eq!(names(&encoder), ["a"]);
    assert!(encoder.notes().is_empty());
    assert!(encoder.encode(&data).is_ok());
    assert!(encoder.encode(&table(vec![numbers("a", &[1.0])])).is_ok());
    assert!(encoder.encode(&table(vec![numbers("not in the file", &[1.0]), numbers("a", &[1.0])])).is_ok());
    let error = fit(EncoderParams::default().roles(roles), &table(vec![numbers("a", &[1.0])])).unwrap_err();
    assert_eq!(error.to_string(), "there is no column `y` to be the target");
}

#[test]
fn missing_cells_are_an_error_that_names_the_first_row_and_column() {
    let mut data = table(vec![numbers("a", &[1.0, 2.0, NAN, NAN]), text("b", &["u", "-", "v", "-"])]);
    data.first_row = 100;
    let error = fit(EncoderParams::default(), &data).unwrap_err();
    assert_eq!(error, Error::Missing { row: 101, column: ColumnRef::Name("b".into()) });
    assert_eq!(error.to_string(), "row 102, column `b`: the value is missing");

    let encoder = default_fit(&table(vec![numbers("a", &[1.0, 2.0]), text("b", &["u", "v"])]));
    assert_eq!(encoder.encode(&data).unwrap_err(), error);
    let error = encoder.encode(&table(vec![numbers("a", &[NAN]), text("b", &["-"])])).unwrap_err();
    assert_eq!(error.to_string(), "row 1, column `a`: the value is missing");
}

#[test]
fn infinity_is_an_error_even_when_missing_cells_are_filled_in() {
    let params = EncoderParams::default().missing(Missing::Impute);
    let data = table(vec![numbers("a", &[1.0, NAN, f64::NEG_INFINITY]), numbers("b", &[1.0, 2.0, 3.0])]);
    let error = fit(params.clone(), &data).unwrap_err();
    assert_eq!(error.to_string(), "row 3, column `a`: -inf is not a finite number");
    let encoder = fit(params, &batch(&data, 0..2)).unwrap();
    assert_eq!(encoder.encode(&data).unwrap_err(), error);
    let all = table(vec![numbers("a", &[f64::INFINITY; 3])]);
    assert_eq!(
        fit(EncoderParams::default(), &all).unwrap_err().to_string(),
        "row 1, column `a`: inf is not a finite number"
    );
}

#[test]
fn missing_cells_are_filled_with_median_and_most_frequent_level() {
    let params = EncoderParams::default().scale(Scale::None).missing(Missing::Impute);
    let data = table(vec![
        numbers("odd", &[9.0, NAN, 1.0, 2.0]),
        numbers("even", &[4.0, 1.0, 100.0, 2.0]),
        text("tie", &["b", "a", "-", "-"]),
        text("most", &["b", "b", "a", "-"]),
        numbers("empty", &[NAN; 4]),
        text("blank", &["-"; 4]),
    ]);
    let encoder = fit(params, &data).unwrap();
    assert_eq!(notes(&encoder), ["left out `empty`, `blank` (no row has a value)"]);
    let mut counts = EncodeCounts::default();
    let rows = dense_rows(&encoder.encode_counting(&data, &mut counts).unwrap());
    assert_eq!(rows[1], [2.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!(rows[3], [2.0, 2.0, 1.0, 0.0, 0.0, 1.0]);
    assert_eq!(counts.imputed, 4);
    assert_eq!(counts.notes()[0].to_string(), "4 missing values filled in from the training data");
    let later = table(vec![numbers("odd", &[0.0]), numbers("even", &[NAN]), text("tie", &["a"]), text("most", &["a"])]);
    assert_eq!(dense_rows(&encoder.encode(&later).unwrap()), [[0.0, 3.0, 1.0, 0.0, 1.0, 0.0]]);
}

#[test]
fn the_median_of_a_long_column_is_that_of_a_sample() {
    let n = 300_000u64;
    let values: Vec<f64> = (0..n).map(|i| (i * 7919 % n) as f64).collect();
    let params = EncoderParams::default().scale(Scale::None).missing(Missing::Impute);
    let whole = table(vec![numbers("a", &values)]);
    let encoder = fit(params.clone(), &whole).unwrap();
    let hole = table(vec![numbers("a", &[NAN])]);
    let median = dense_rows(&encoder.encode(&hole).unwrap())[0][0];
    // Standard error of the median of 100,000 of 300,000 uniform values: n / 2 · √(2/3 / 100,000) ≈ 387.
    assert!((median - 150_000.0).abs() < 5.0 * 387.0, "{median}");

    let mut parts = [0, 2, 1].map(|part| {
        let mut fit = EncoderFit::new(params.clone().check().unwrap());
        fit.observe(&batch(&whole, part * 100_000..(part + 1) * 100_000)).unwrap();
        fit
    });
    let [first, rest @ ..] = &mut parts;
    for part in rest {
        first.merge(part).unwrap();
    }
    assert_eq!(bytes_of(&first.clone().finish().unwrap()), bytes_of(&encoder));
}

#[test]
fn columns_are_matched_by_name_and_strangers_refused() {
    let encoder = default_fit(&table(vec![numbers("a", &[0.0, 2.0]), numbers("b", &[0.0, 4.0])]));
    let turned = table(vec![numbers("b", &[4.0]), numbers("a", &[1.0])]);
    assert_eq!(dense_rows(&encoder.encode(&turned).unwrap()), [[0.5, 1.0]]);
    let error = encoder.encode(&table(vec![numbers("a", &[1.0]), numbers("c", &[1.0])])).unwrap_err();
    assert_eq!(error, Error::Columns { missing: vec!["b".into()], unknown: vec!["c".into()] });
    let twice = table(vec![numbers("a", &[1.0]), numbers("b", &[1.0]), numbers("a", &[1.0])]);
    assert_eq!(encoder.encode(&twice).unwrap_err().to_string(), "two columns are called `a`");
    let ragged = table(vec![numbers("a", &[1.0]), numbers("b", &[1.0, 2.0])]);
    assert!(matches!(encoder.encode(&ragged).unwrap_err(), Error::Shape { .. }));
    assert_eq!(encoder.encode(&table(vec![numbers("a", &[]), numbers("b", &[])])).unwrap().n_rows(), 0);
}

#[test]
fn columns_that_change_their_kind_are_read_as_before_or_refused_with_the_value() {
    let encoder = default_fit(&table(vec![numbers("a", &[0.0, 2.0]), text("b", &["1", "x"])]));
    let later = table(vec![text("a", &["1", "2.0"]), numbers("b", &[1.0, 3.0])]);
    assert_eq!(dense_rows(&encoder.encode(&later).unwrap()), [[0.5, 1.0, 0.0], [1.0, 0.0, 0.0]]);
    let later = table(vec![text("a", &["1", "two"]), numbers("b", &[1.0, 1.0])]);
    assert_eq!(encoder.encode(&later).unwrap_err().to_string(), "row 2, column `a`: `two` is not a number");
    // The same while fitting.
    let mut fit = EncoderFit::new(EncoderParams::default().check().unwrap());
    fit.observe(&table(vec![numbers("a", &[0.0])])).unwrap();
    assert!(fit.observe(&table(vec![text("a", &["zero"])])).is_err());
}

#[test]
fn batches_must_agree_on_their_columns() {
    let mut fit = EncoderFit::new(EncoderParams::default().check().unwrap());
    fit.observe(&table(vec![numbers("a", &[0.0]), numbers("b", &[0.0])])).unwrap();
    let error = fit.observe(&table(vec![numbers("a", &[0.0]), numbers("c", &[0.0])])).unwrap_err();
    assert_eq!(error, Error::Columns { missing: vec!["b".into()], unknown: vec!["c".into()] });
    assert!(fit.observe(&table(vec![numbers("a", &[0.0])])).is_err());
    let mut with_block = table(vec![numbers("a", &[0.0]), numbers("b", &[0.0])]);
    with_block.sparse = sparse_table(&[[1.0]]).sparse;
    assert!(fit.observe(&with_block).is_err());
    assert_eq!(fit.n_rows(), 1);
}

#[test]
fn no_rows_and_no_columns_are_refused() {
    let new = || EncoderFit::new(EncoderParams::default().check().unwrap());
    assert_eq!(new().finish().unwrap_err(), Error::Empty);
    let mut header_only = new();
    header_only.observe(&table(vec![numbers("a", &[])])).unwrap();
    assert_eq!(header_only.finish().unwrap_err(), Error::Empty);
    let count: Vec<f64> = (0..12).map(f64::from).collect();
    let error = fit(EncoderParams::default(), &table(vec![numbers("n", &count)])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no column left to learn from: left out `n` (an identifier, since its values count the rows)"
    );
    let roles = Roles { target: Some("y".into()), ..Default::default() };
    let error = fit(EncoderParams::default().roles(roles), &table(vec![numbers("y", &[1.0])])).unwrap_err();
    assert_eq!(error.to_string(), "there is no column left to learn from");
}

#[test]
fn values_that_leave_the_finite_numbers_are_refused() {
    let data = table(vec![numbers("a", &[f64::MIN, f64::MAX])]);
    for scale in [Scale::MinMax, Scale::Standard, Scale::None] {
        let error = fit(EncoderParams::default().scale(scale), &data).unwrap_err();
        assert!(error.to_string().starts_with("column `a`: values from -1.79"), "{error}");
    }
    let tiny = default_fit(&table(vec![numbers("a", &[0.0, f64::MIN_POSITIVE])]));
    let error = tiny.encode(&table(vec![numbers("a", &[1e10])])).unwrap_err();
    assert_eq!(error.to_string(), "row 1, column `a`: 1e10 is too far from the training data to be scaled");
    let tiny = default_fit(&sparse_table(&[[f64::MIN_POSITIVE], [0.0]]));
    let error = tiny.encode(&sparse_table(&[[1e10]])).unwrap_err();
    assert_eq!(error.to_string(), "row 1, column 1: 1e10 is too far from the training data to be scaled");
}

#[test]
fn a_sparse_column_is_shifted_only_if_every_row_has_an_entry() {
    // Full, with zeros, negative with zeros, never an entry.
    let rows = [[5.0, 0.0, -1.0, 0.0], [9.0, 4.0, 0.0, 0.0], [7.0, 2.0, 3.0, 0.0]];
    let encoder = default_fit(&sparse_table(&rows));
    let points = encoder.encode(&sparse_table(&rows)).unwrap();
    assert!(points.as_points().is_sparse() && encoder.is_sparse());
    assert_eq!(dense_rows(&points), [[0.0, 0.0, -0.25, 0.0], [1.0, 1.0, 0.0, 0.0], [0.5, 0.5, 0.75, 0.0]]);
    assert_eq!(notes(&encoder), ["1 sparse column scaled but not shifted, so that zeros stay zeros"]);
    assert_eq!((encoder.extent(), encoder.source_of(2)), (1.0, ColumnRef::Number(2)));
    assert_eq!(names(&encoder), ["1", "2", "3", "4"]);
    // A later row without an entry in the full column: (0 − 5) / 4. A column without entries passes as it is.
    let later = sparse_table(&[[0.0, 0.0, 0.0, 3.0, 1.0, 1.0]]);
    let mut counts = EncodeCounts::default();
    assert_eq!(dense_rows(&encoder.encode_counting(&later, &mut counts).unwrap()), [[-1.25, 0.0, 0.0, 3.0]]);
    assert_eq!(counts.unknown_columns, 2);
    assert_eq!(counts.notes()[0].to_string(), "2 sparse entries ignored, in columns beyond those of the training data");
}

#[test]
fn standard_scaling_keeps_sparse_zeros() {
    let rows = [[3.0, 4.0], [5.0, 0.0]];
    let encoder = fit(EncoderParams::default().scale(Scale::Standard), &sparse_table(&rows)).unwrap();
    // Column 1 is full: mean 4, deviation 1. Column 2 has mean 2 and deviation 2 with its zero.
    assert_eq!(dense_rows(&encoder.encode(&sparse_table(&rows)).unwrap()), [[-1.0, 2.0], [1.0, 0.0]]);
}

#[test]
fn named_columns_come_before_sparse_ones() {
    let mut data = sparse_table(&[[0.0, 2.0], [1.0, 0.0]]);
    data.columns = vec![numbers("y", &[0.0, 1.0]), numbers("a", &[3.0, 5.0]), text("t", &["u", "v"])];
    let roles = Roles { target: Some("y".into()), ..Default::default() };
    let encoder = fit(EncoderParams::default().roles(roles), &data).unwrap();
    assert_eq!(names(&encoder), ["a", "t=u", "t=v", "1", "2"]);
    let points = encoder.encode(&data).unwrap();
    assert!(points.as_points().is_sparse());
    assert_eq!(dense_rows(&points), [[0.0, 1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 1.0, 1.0, 0.0]]);
    assert_eq!(encoder.source_of(3), ColumnRef::Number(0));
    data.sparse = None;
    assert_eq!(encoder.encode(&data).unwrap_err().to_string(), "the model needs sparse columns, but the data has none");
    let dense = default_fit(&table(vec![numbers("a", &[1.0, 2.0])]));
    data = sparse_table(&[[1.0], [2.0]]);
    data.columns = vec![numbers("a", &[1.0, 2.0])];
    assert_eq!(dense.encode(&data).unwrap_err().to_string(), "the data has sparse columns, but the model knows none");
}

#[test]
fn width_costs_nothing_in_sparse_data() {
    let width = u32::MAX as usize;
    let block = PointsBuf::from_sparse(vec![0, 2, 3], vec![7, u32::MAX - 1, 7], vec![2.0, 3.0, 4.0], width).unwrap();
    let data = Table { first_row: 0, n_rows: 2, columns: vec![], sparse: Some(block) };
    let encoder = default_fit(&data);
    assert_eq!(encoder.n_columns(), width);
    let points = encoder.encode(&data).unwrap();
    assert_eq!((points.row(0).get(width - 1), points.row(1).get(7)), (1.0, 1.0));
    assert_eq!(reload(&bytes_of(&encoder)).unwrap(), encoder);
    let mut too_wide = data;
    too_wide.columns = vec![numbers("a", &[0.5, 1.0])];
    assert!(matches!(fit(EncoderParams::default(), &too_wide).unwrap_err(), Error::Shape { .. }));
}

#[test]
fn an_encoder_comes_back_from_its_bytes() {
    let mut data = sparse_table(&[[0.0, 2.0, 0.0], [-1.0, 3.0, 0.0], [0.3, 1.0, 0.0]]);
    data.columns = vec![
        numbers("y", &[0.0, 1.0, 1.0]),
        numbers("a", &[0.1, 0.7, NAN]),
        text("t", &["u", "v", "-"]),
        numbers("user_id", &[3.0, 4.0, 1.0]),
    ];
    let roles = Roles { target: Some("y".into()), ..Default::default() };
    for scale in [Scale::MinMax, Scale::Standard, Scale::None] {
        let params = EncoderParams::default().scale(scale).missing(Missing::Impute).roles(roles.clone());
        let encoder = fit(params, &data).unwrap();
        let bytes = bytes_of(&encoder);
        let loaded = reload(&bytes).unwrap();
        assert_eq!(loaded, encoder);
        assert_eq!(bytes_of(&loaded), bytes);
        assert_eq!(bits(&loaded.encode(&data).unwrap()), bits(&encoder.encode(&data).unwrap()));
        assert_eq!(loaded.notes(), encoder.notes());
    }
}

#[test]
fn a_stored_encoder_that_contradicts_itself_is_refused() {
    let sound = r#"{"rows":2,"params":{},"columns":[{"name":"a","number":{"shift":0.0,"divisor":1.0,"fill":null}},
        {"name":"t","text":{"levels":["u","v"],"fill":null}}],"left_out":[],"roles":[],"extent":1.0,"width":3}"#;
    let load = |json: &str, columns: &[u32], divisors: &[f64]| {
        let mut out = ModelWriter::new("test");
        out.put_json("encoder", &serde_json::from_str::<serde_json::Value>(json).unwrap());
        out.put_u64("encoder.sparse.not_shifted", &[0]);
        out.put_u32("encoder.sparse.columns", columns);
        out.put_f64("encoder.sparse.shifts", &vec![0.0; columns.len()]);
        out.put_f64("encoder.sparse.divisors", divisors);
        reload(&out.finish().unwrap())
    };
    assert_eq!(load(sound, &[0, 2], &[1.0, 2.0]).unwrap().n_columns(), 6);
    for (from, to) in [
        (r#""rows":2"#, r#""rows":0"#),
        (r#""rows":2"#, r#""rows":-2"#),
        (r#""divisor":1.0"#, r#""divisor":0.0"#),
        (r#""divisor":1.0"#, r#""divisor":null"#),
        (r#""fill":null}},"#, r#""fill":1.0}},"#),
        (r#"["u","v"]"#, r#"["v","u"]"#),
        (r#"["u","v"]"#, "[]"),
        (r#""name":"t""#, r#""name":"a""#),
        (r#""extent":1.0"#, r#""extent":-1.0"#),
        (r#""width":3"#, r#""width":2"#),
        (r#""width":3"#, r#""width":18446744073709551615"#),
        (r#""params":{}"#, r#""params":{"max_levels":0}"#),
        (r#""params":{}"#, r#""params":{"missing":"impute"}"#),
        (r#""params":{}"#, r#""params":{"scale":"other"}"#),
    ] {
        assert!(sound.contains(from), "{from}");
        let error = load(&sound.replacen(from, to, 1), &[0, 2], &[1.0, 2.0]).unwrap_err();
        assert!(matches!(&error, Error::Model(message) if message.contains("its part `encoder")), "{to}: {error}");
    }
    assert!(load(sound, &[2, 0], &[1.0, 2.0]).is_err());
    assert!(load(sound, &[0, 2], &[1.0]).is_err());
    assert!(load(sound, &[0, 2], &[1.0, f64::NAN]).is_err());
    assert!(load(sound, &[0, 2], &[1.0, -1.0]).is_err());
}

#[test]
fn merging_needs_equal_parameters_columns_and_exact_sums() {
    let new = |params: EncoderParams| EncoderFit::new(params.check().unwrap());
    let mut one = new(EncoderParams::default());
    one.observe(&table(vec![numbers("a", &[0.0])])).unwrap();
    let mut other = new(EncoderParams::default());
    other.observe(&table(vec![numbers("b", &[0.0])])).unwrap();
    assert!(one.merge(&other).is_err());
    assert!(one.merge(&new(EncoderParams::default().max_levels(3))).is_err());
    let mut standard = new(EncoderParams::default().scale(Scale::Standard));
    let error = standard.merge(&standard.clone()).unwrap_err();
    assert_eq!(error.to_string(), "`scale` must be minmax or none where parts are fitted apart, but is standard");
}

/// Tables with everything in them: holes, constants, text, identifiers, a sparse block.
fn any_table() -> impl Strategy<Value = Table> {
    (1usize..40).prop_flat_map(|n| {
        let number = prop_oneof![Just(NAN), -5.0..5.0f64, (0i32..4).prop_map(f64::from)];
        let cell = prop_oneof![Just("-"), Just("red"), Just("blue"), Just("green")];
        let entry = prop_oneof![3 => Just(0.0), 1 => -2.0..3.0f64, 1 => 1.0..2.0f64];
        let columns = prop::collection::vec(prop::collection::vec(number, n), 0..3);
        let texts = prop::collection::vec(cell, n);
        let block = prop::option::of(prop::collection::vec(prop::collection::vec(entry, 5), n));
        (columns, texts, block, 0usize..9).prop_map(move |(columns, texts, block, first_row)| {
            let mut data = block.map_or_else(|| table(vec![]), |rows| sparse_table(&rows));
            data.columns = columns.iter().enumerate().map(|(i, values)| numbers(&format!("x{i}"), values)).collect();
            data.columns.push(numbers("constant", &vec![0.1; n]));
            data.columns.push(text("color", &texts));
            data.columns.push(numbers("count", &(0..n).map(|i| i as f64 + 3.0).collect::<Vec<_>>()));
            data.first_row = first_row;
            data.n_rows = n;
            data
        })
    })
}

fn any_params() -> impl Strategy<Value = EncoderParams> {
    let scale = prop_oneof![Just(Scale::MinMax), Just(Scale::Standard), Just(Scale::None)];
    let missing = prop_oneof![Just(Missing::Error), Just(Missing::Impute)];
    (scale, missing, 1usize..4).prop_map(|(scale, missing, max_levels)| {
        EncoderParams::default().scale(scale).missing(missing).max_levels(max_levels)
    })
}

/// Bytes of the fitted encoder, or its error.
fn outcome(fit: EncoderFit) -> Result<Vec<u8>, Error> {
    fit.finish().map(|encoder| bytes_of(&encoder))
}

proptest! {
    #[test]
    fn batch_sizes_never_matter(data in any_table(), params in any_params(), size in 1usize..12) {
        let params = params.check().unwrap();
        let mut whole = EncoderFit::new(params.clone());
        whole.observe(&data).unwrap();
        let mut in_batches = EncoderFit::new(params);
        let starts = (0..data.n_rows).step_by(size);
        for start in starts.clone() {
            in_batches.observe(&batch(&data, start..(start + size).min(data.n_rows))).unwrap();
        }
        prop_assert_eq!(outcome(whole.clone()), outcome(in_batches));
        // Encoding batch by batch gives the rows of encoding at once.
        if let Ok(encoder) = whole.finish() {
            let at_once = bits(&encoder.encode(&data).unwrap());
            let by_batch = starts.flat_map(|start| {
                bits(&encoder.encode(&batch(&data, start..(start + size).min(data.n_rows))).unwrap())
            });
            prop_assert_eq!(at_once, by_batch.collect::<Vec<_>>());
        }
    }

    #[test]
    fn merged_shards_equal_one_pass(data in any_table(), params in any_params(), shards in prop_oneof![Just(1usize), Just(2), Just(7)], turned in any::<bool>()) {
        prop_assume!(params.scale != Scale::Standard);
        let params = params.check().unwrap();
        let mut whole = EncoderFit::new(params.clone());
        whole.observe(&data).unwrap();
        let size = data.n_rows.div_ceil(shards);
        let mut parts: Vec<EncoderFit> = (0..data.n_rows).step_by(size).map(|start| {
            let mut part = EncoderFit::new(params.clone());
            part.observe(&batch(&data, start..(start + size).min(data.n_rows))).unwrap();
            part
        }).collect();
        if turned {
            parts.reverse();
        }
        let mut merged = EncoderFit::new(params);
        for part in &parts {
            merged.merge(part).unwrap();
        }
        prop_assert_eq!(outcome(whole), outcome(merged));
    }

    #[test]
    fn dense_and_sparse_storage_give_the_same_bits(rows in prop::collection::vec(prop::collection::vec(prop_oneof![2 => Just(0.0), 3 => 1e-3..1e3f64], 4), 1..30), later in prop::collection::vec(prop_oneof![Just(0.0), -2e3..2e3f64], 4)) {
        // No negative values, and whole numbers are avoided, lest a column counts the rows.
        let as_columns = |rows: &[Vec<f64>]| {
            table((0..4).map(|j| numbers(&format!("c{j}"), &rows.iter().map(|row| row[j]).collect::<Vec<_>>())).collect())
        };
        let dense = default_fit(&as_columns(&rows));
        let sparse = default_fit(&sparse_table(&rows));
        prop_assert_eq!(dense.extent(), sparse.extent());
        prop_assert!(sparse.notes().is_empty());
        for rows in [&rows, &vec![later]] {
            let (dense, sparse) = (dense.encode(&as_columns(rows)).unwrap(), sparse.encode(&sparse_table(rows)).unwrap());
            prop_assert_eq!(bits(&dense), bits(&sparse));
        }
    }

    #[test]
    fn training_data_is_encoded_within_the_extent(data in any_table(), params in any_params()) {
        if let Ok(encoder) = fit(params, &data) {
            let rows = dense_rows(&encoder.encode(&data).unwrap());
            let mut widest = 0.0f64;
            for column in 0..encoder.n_columns() {
                let values = rows.iter().map(|row| row[column]);
                let (min, max) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
                widest = widest.max(max - min);
            }
            prop_assert!((widest - encoder.extent()).abs() <= 1e-12 * widest, "{} {}", widest, encoder.extent());
            prop_assert_eq!(encoder.column_names().count(), encoder.n_columns());
        }
    }
}
