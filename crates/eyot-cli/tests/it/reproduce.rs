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

#[test]
fn a_cell_that_was_stopped_is_tried_again_only_with_more_time() {
    let room = Room::new();
    let stopped = "reproduce cost --quick --json -q --most-seconds 0";
    let cells = || fs::read_to_string(room.path("eyot-results/cells.jsonl")).unwrap();
    let first = room.eyot(stopped).json();
    assert_eq!(first["rows"].as_array().unwrap().len(), 0);
    let kept = cells();
    let n_cells = kept.lines().count();
    assert!(n_cells > 0 && kept.lines().all(|line| line.contains("\"stopped\":0")), "{kept}");

    // Neither another run with as little time nor the page alone computes anything.
    for again in [stopped, "reproduce cost --quick --json -q --cached"] {
        assert_eq!(room.eyot(again).json()["rows"], first["rows"]);
        let page = fs::read_to_string(room.path("eyot-results/results.md")).unwrap();
        assert_eq!(page.matches("no figure, stopped after 0 s").count(), n_cells, "{page}");
        assert_eq!(cells(), kept);
    }
    // With more time each is tried once more, whether it ends or not.
    room.eyot("reproduce cost --quick --json -q --most-seconds 1").json();
    let tried = cells();
    let tried = tried.strip_prefix(&kept).unwrap();
    assert_eq!((tried.lines().count(), tried.matches("\"stopped\":0").count()), (n_cells, 0), "{tried}");
}

#[test]
fn cells_of_another_folder_make_the_same_page_without_computing() {
    let room = Room::new();
    let first = room.eyot("reproduce p1-figure2 --json -q -o one").json();
    let none = room.eyot("reproduce p1-figure2 --json -q -o two --cached").json();
    assert_eq!(none["rows"].as_array().unwrap().len(), 0);
    let page = fs::read_to_string(room.path("two/results.md")).unwrap();
    assert!(page.contains("8 cells are not computed yet.") && !page.contains("The paper says"), "{page}");

    let taken = room.eyot("reproduce p1-figure2 --json -q -o two --cached --cells one").json();
    assert_eq!(taken["rows"], first["rows"]);
    // The folder now has them itself.
    let kept = room.eyot("reproduce p1-figure2 --json -q -o two --cached").json();
    assert_eq!(kept["rows"], first["rows"]);
    let pages = ["one", "two"].map(|folder| fs::read_to_string(room.path(&format!("{folder}/results.md"))).unwrap());
    assert_eq!(pages[0], pages[1]);
}

#[test]
fn a_set_that_cannot_be_read_is_a_note_and_the_others_go_on() {
    let room = Room::new();
    fs::write(room.path("a9a"), "+1 3:1\n-1 oops\n").unwrap();
    fs::write(room.path("a9a.t"), "+1 3:1\n").unwrap();
    let outcome = room.eyot("reproduce p1-table6 p1-figure2 --data . --json -q --quick");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert_eq!(outcome.json()["rows"].as_array().unwrap().len(), 8);
    let page = fs::read_to_string(room.path("eyot-results/results.md")).unwrap();
    assert!(page.contains("skipped a9a.train: "), "{page}");
    assert!(page.contains("Not in --data: ijcnn1.train, mnist.train, covtype."), "{page}");
}

#[test]
fn the_page_says_what_the_paper_claims_and_how_to_run_each_experiment() {
    let room = Room::new();
    assert_eq!(room.eyot("reproduce p1-figure2 p4-figure2 --quick -q").code, 0);
    let page = fs::read_to_string(room.path("eyot-results/results.md")).unwrap();
    assert!(page.contains("## Paper 1") && page.contains("## Paper 4") && !page.contains("## Paper 3"), "{page}");
    assert!(page.contains("`eyot reproduce p4-figure2 --quick`"), "{page}");
    assert!(
        page.contains("- The paper says: two sets at the same distance are more similar where data is sparse"),
        "{page}"
    );
    let html = fs::read_to_string(room.path("eyot-results/results.html")).unwrap();
    assert!(html.contains("<a href=\"#p4-figure2\">") && html.contains("<section id=\"p4-figure2\">"));
}
