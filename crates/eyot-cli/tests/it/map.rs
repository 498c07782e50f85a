//! `eyot map` on generated files.

use std::fmt::Write as _;

use crate::program::Room;

/// A small table with a header: `rows` rows, the same ones every time.
fn table(rows: usize) -> String {
    let mut text = "height,weight,age\n".to_owned();
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / 1024.0
    };
    for _ in 0..rows {
        let _ = writeln!(text, "{},{},{}", next(), next(), next());
    }
    text
}

#[test]
fn codes_are_csv_on_stdout() {
    let room = Room::new();
    room.write("people.csv", table(50));
    let text = room.eyot("map people.csv --psi 4 -t 3").text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines.len()), ("p0,p1,p2", 51));
    let cells = lines[1..].iter().flat_map(|line| line.split(','));
    assert!(cells.map(|cell| cell.parse::<u32>().unwrap()).all(|cell| cell < 4));
}

#[test]
fn the_json_object_has_the_promised_keys() {
    let room = Room::new();
    room.write("people.csv", table(50));
    let object = room.eyot("map people.csv --psi 4 -t 3 --seed 7 --json").json();
    assert_eq!((&object["command"], &object["method"]), (&"map".into(), &"isolation".into()));
    assert_eq!((&object["rows"], &object["columns"], &object["seed"]), (&50.into(), &3.into(), &7.into()));
    assert_eq!((&object["t"], &object["psi"], &object["nonzeros"]), (&3.into(), &4.into(), &150.into()));
    assert_eq!(object["parameters"]["partition"], "voronoi");
    let seconds = object["seconds"].as_object().unwrap();
    assert_eq!(seconds.keys().collect::<Vec<_>>(), ["fit", "map", "read", "score", "total"]);
}

#[test]
fn threads_change_nothing() {
    let room = Room::new();
    room.write("people.csv", table(3000));
    let one = room.eyot("map people.csv --psi 8 -t 5 --threads 1").done();
    assert!(one == room.eyot("map people.csv --psi 8 -t 5 --threads 2").done());
}

#[test]
fn a_sample_larger_than_the_data_is_said() {
    let room = Room::new();
    room.write("few.csv", table(5));
    let outcome = room.eyot("map few.csv -t 2 --json");
    assert_eq!(outcome.stderr, "note: psi is 5, the number of rows, because there are no more\n");
    assert_eq!(outcome.json()["psi"], 5);
    assert_eq!(room.eyot("map few.csv -t 2 --json --quiet").stderr, "");
}
