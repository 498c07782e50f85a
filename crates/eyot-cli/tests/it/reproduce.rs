//! Experiments of the papers: the frame, on the one that needs no data.

use std::fs;

use crate::program::Room;

#[test]
fn the_list_names_every_experiment() {
    let outcome = Room::new().eyot("reproduce list");
    assert_eq!(outcome.code, 0);
    assert!(String::from_utf8(outcome.stdout).unwrap().contains("p1-figure2"));
}

#[test]
fn an_unknown_experiment_is_refused_with_the_way_to_the_list() {
    let outcome = Room::new().eyot("reproduce p9-table1");
    assert_eq!(outcome.code, 2);
    assert_eq!(
        outcome.stderr,
        "error: there is no experiment `p9-table1`\nhint: `eyot reproduce list` names the experiments\n"
    );
}

#[test]
fn data_must_be_a_folder() {
    let outcome = Room::new().eyot("reproduce p1-figure2 --data nowhere");
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.starts_with("error: nowhere is not a folder\nhint: "), "{}", outcome.stderr);
}

#[test]
fn finished_cells_are_taken_from_the_folder_even_after_a_cut() {
    let room = Room::new();
    let first = room.eyot("reproduce p1-figure2 --json -q").json();
    let cells = first["rows"].as_array().unwrap();
    assert_eq!(cells.len(), 8);
    let page = fs::read_to_string(room.path("eyot-results/results.html")).unwrap();
    assert_eq!(page.matches("<figure").count(), 8);
    assert!(room.path("eyot-results/p1-figure2-voronoi-uniform.svg").exists());

    // The first cell gets a value that no run gives, and the last line is cut as by a kill.
    let path = room.path("eyot-results/cells.jsonl");
    let lines: Vec<String> =
        fs::read_to_string(&path).unwrap().lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let value = cells[0]["ours"]["runs"][0].to_string();
    let altered = lines[0].replace(&value, "42.5");
    let cut = &lines[7][..lines[7].len() / 2];
    fs::write(&path, format!("{altered}\n{}\n{cut}", lines[1..7].join("\n"))).unwrap();
    let second = room.eyot("reproduce p1-figure2 --json -q").json();
    assert_eq!(second["rows"][0]["ours"]["runs"][0], 42.5);
    assert_eq!(second["rows"].as_array().unwrap()[1..], cells[1..]);

    let fresh = room.eyot("reproduce p1-figure2 --json -q --fresh").json();
    assert_eq!(fresh["rows"], first["rows"]);
}
