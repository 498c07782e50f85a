//! The tour.

use std::fs;

use crate::program::Room;

#[test]
fn the_tour_prints_one_object_and_writes_a_page_with_all_pictures() {
    let room = Room::new();
    let object = room.eyot("demo --json -o made/for/it").json();
    assert_eq!(object["report"], "made/for/it/report.html");
    let names: Vec<_> = object["sections"].as_array().unwrap().iter().map(|section| &section["name"]).collect();
    assert_eq!(names, ["codes", "density", "contours", "bags"]);

    // Theorem 1 of the paper on the distributional kernel, with the reference values of the specification (0.06 and
    // 0.80 for Voronoi cells, 0.18 and 0.96 for trees); kernels of the distance alone see no difference.
    let rows = object["sections"][1]["rows"].as_array().unwrap();
    let expected = [("voronoi", Some([0.06, 0.80])), ("tree", Some([0.18, 0.96])), ("sphere", None)];
    for ((name, reference), row) in expected.iter().zip(rows) {
        let found = ["K dense pair", "K sparse pair"].map(|column| row[column].as_f64().unwrap());
        assert!(row["kernel"] == *name && found[1] > found[0], "{row}");
        for (found, expected) in found.iter().zip(reference.iter().flatten()) {
            assert!((found - expected).abs() < 0.06, "{row}");
        }
    }
    for row in &rows[3..] {
        let found = ["K dense pair", "K sparse pair"].map(|column| row[column].as_f64().unwrap());
        assert!((found[0] - found[1]).abs() < 1e-12, "{row}");
    }

    // Cells of three kinds; contours of three kinds on two data sets and of two kernels; three of bags; four others.
    let page = fs::read_to_string(room.path("made/for/it/report.html")).unwrap();
    assert_eq!(page.matches("<figure").count(), 3 + 8 + 3 + 4);
}

#[test]
fn a_folder_that_cannot_be_made_is_refused() {
    let room = Room::new();
    room.write("file", "in the way");
    let outcome = room.eyot("demo -o file");
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.starts_with("error: file: "), "{}", outcome.stderr);
    assert_eq!(fs::read_to_string(room.path("file")).unwrap(), "in the way");
}
