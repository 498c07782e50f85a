//! `eyot mil` and `eyot predict` on bags.

use std::fmt::Write as _;

use crate::program::Room;

/// Molecules of two to five shapes each; those that smell have a shape near (3, 3).
fn molecules(bags: usize, seed: u64) -> String {
    let mut text = "molecule,label,x1,x2\n".to_owned();
    let mut state = seed.wrapping_mul(2) + 1;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    for bag in 0..bags {
        let smells = bag % 2 == 1;
        for shape in 0..2 + (draw() * 4.0) as usize {
            let centre = if smells && shape == 0 { 3.0 } else { 0.0 };
            let label = if smells { "smells" } else { "plain" };
            let _ = writeln!(text, "m{bag},{label},{:.3},{:.3}", centre + draw(), centre + draw());
        }
    }
    text
}

const FAST: &str = "--bag molecule --target label --scale none --psi 16 --epsilon 1 -t 30 --cv 4";

/// The same, with rows weighted by a graph.
const GRAPH: &str = "--bag molecule --target label --scale none --psi 16 --tau 1 -t 30 --cv 4";

#[test]
fn a_table_of_molecules_gives_an_accuracy_with_its_error() {
    let room = Room::new();
    room.write("m.csv", molecules(40, 1));
    let object = room
        .eyot("mil m.csv --bag molecule --target label -t 20 --psi 8,16 --epsilon 0.6,1 --cv 4 --inner 3 --json")
        .json();
    assert_eq!((&object["command"], &object["method"]), (&"mil".into(), &"isk".into()));
    assert_eq!((&object["bags"], &object["columns"]), (&40.into(), &2.into()));
    assert_eq!(object["classes"], serde_json::json!(["plain", "smells"]));
    assert!(object["accuracy"].as_f64().unwrap() > 0.9);
    assert!(object["standard_error"].as_f64().unwrap() < 0.1);
    assert!(object["instances"].as_u64().unwrap() > 80);
    assert_eq!(object["folds"].as_array().unwrap().len(), 4);
    assert!(object["folds"][0]["parameters"]["psi"].is_u64());
    let runs = room.eyot(&format!("mil m.csv {FAST} --runs 2 --json")).json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2);
    let known = room.eyot(&format!("mil m.csv {GRAPH} --transductive --json")).json();
    assert!(known["accuracy"].as_f64().unwrap() > 0.9);
    assert_eq!(known["folds"][3]["parameters"]["tau"], 1.0);
    assert!(known["folds"][3]["parameters"]["epsilon"].is_null());
}

#[test]
fn every_method_learns_saves_and_predicts_bags_on_any_number_of_threads() {
    let room = Room::new();
    room.write("m.csv", molecules(30, 1));
    room.write("new.csv", molecules(20, 2));
    let others = ["mi-kernel", "migraph", "mifv", "cce", "mi-svm", "MI-SVM", "simple-mi"].map(|method| (method, GRAPH));
    for (method, weights) in [("isk", FAST), ("isk", GRAPH)].into_iter().chain(others) {
        let mil = format!(
            "mil m.csv {weights} --method {method} --gamma 0.5 --components 2 --energy 1 --test new.csv --json"
        );
        let object = room.eyot(&format!("{mil} --threads 1 -f one.eyot")).json();
        assert_eq!((&object["method"], &object["measured_on"]), (&method.into(), &"test".into()));
        assert!(object["accuracy"].as_f64().unwrap() > 0.8, "{method}: {}", object["accuracy"]);
        room.eyot(&format!("{mil} --threads 2 -f two.eyot")).json();
        assert!(room.contents()["one.eyot"] == room.contents()["two.eyot"], "{method}");
        let outcome = room.eyot("predict one.eyot new.csv");
        assert!(outcome.stderr.contains("of the bags are predicted rightly"), "{}", outcome.stderr);
        let text = outcome.text();
        assert_eq!((text.lines().next(), text.lines().count()), (Some("molecule,score,label"), 21));
        let json = room.eyot("predict one.eyot new.csv --json").json();
        assert_eq!((&json["predictions"][0]["bag"], &json["accuracy"]), (&"m0".into(), &object["accuracy"]));
    }
    assert!(room.eyot("inspect one.eyot").text().contains("bags"));
}

#[test]
fn the_report_and_the_table_of_rows_say_which_rows_decided() {
    let room = Room::new();
    room.write("m.csv", molecules(24, 3));
    room.eyot(&format!("mil m.csv {FAST} --report report.html --instances rows.csv")).done();
    let contents = room.contents();
    let html = String::from_utf8(contents["report.html"].clone()).unwrap();
    for part in ["The rows that decided", "Accuracy of each fold held out", "Confusion matrix", "smells"] {
        assert!(html.contains(part), "{part}");
    }
    let rows = String::from_utf8(contents["rows.csv"].clone()).unwrap();
    assert!(rows.starts_with("bag,row,score\nm0,1,"), "{rows}");
    // In every bag that smells the first row is the one near (3, 3), and speaks loudest for it.
    let mut best: Vec<(String, f64, usize)> = vec![];
    for (at, line) in rows.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let score: f64 = cells[2].parse().unwrap();
        match best.last_mut().filter(|(bag, ..)| bag == cells[0]) {
            Some(last) if last.1 >= score => (),
            Some(last) => (last.1, last.2) = (score, at),
            None => best.push((cells[0].to_owned(), score, at)),
        }
    }
    let first_of: Vec<usize> = (0..24)
        .map(|bag| rows.lines().skip(1).position(|line| line.starts_with(&format!("m{bag},"))).unwrap())
        .collect();
    let found = (1..24).step_by(2).filter(|&bag| best[bag].2 == first_of[bag]).count();
    assert!(found >= 11, "{found} of 12");
}

#[test]
fn rows_of_a_bag_need_not_follow_each_other_and_the_order_of_bags_is_that_of_arrival() {
    let room = Room::new();
    let sorted = molecules(24, 4);
    let mut lines: Vec<&str> = sorted.lines().skip(1).collect();
    room.write("sorted.csv", &sorted);
    room.eyot(&format!("mil sorted.csv {FAST} -f m.eyot")).done();
    // The second rows of all bags at the end: bags keep the order of their first rows.
    let (mut firsts, mut rest) = (vec![], vec![]);
    lines.drain(..).for_each(|line| {
        let bag = line.split(',').next().unwrap();
        let known = firsts.iter().any(|first: &&str| first.split(',').next() == Some(bag));
        if known { rest.push(line) } else { firsts.push(line) }
    });
    room.write("mixed.csv", format!("molecule,label,x1,x2\n{}\n{}\n", firsts.join("\n"), rest.join("\n")));
    let one = room.eyot("predict m.eyot sorted.csv -q").done();
    assert!(one == room.eyot("predict m.eyot mixed.csv -q").done());
}

#[test]
fn refusals_are_as_reviewed() {
    let room = Room::new();
    room.write("m.csv", molecules(12, 1));
    room.write("two-labels.csv", "molecule,label,x\na,yes,1\nb,no,2\na,no,3\nb,no,4\n");
    room.write("one-bag.csv", "molecule,label,x\na,yes,1\na,yes,2\n");
    room.write("one-class.csv", "molecule,label,x\na,yes,1\nb,yes,2\nc,yes,2\n");
    room.write("one-each.csv", "molecule,label,x\na,yes,1\nb,no,2\na,yes,3\n");
    room.write("hole.csv", "molecule,label,x\na,yes,1\n,no,2\n");
    room.write("ragged.csv", "molecule,label,x\na,yes,1\nb,no,2,3\n");
    room.write("other.csv", "molecule,label,x1,x3\na,plain,1,2\n");
    room.eyot(&format!("mil m.csv {FAST} -f m.eyot")).done();
    insta::assert_snapshot!(
        "mil-refusals",
        room.refusals(&[
            "mil m.csv --target label",
            "mil m.csv --bag molecule",
            "mil m.csv --bag nothing --target label",
            "mil two-labels.csv --bag molecule --target label",
            "mil one-bag.csv --bag molecule --target label",
            "mil one-class.csv --bag molecule --target label",
            "mil one-each.csv --bag molecule --target label",
            "mil hole.csv --bag molecule --target label",
            "mil ragged.csv --bag molecule --target label",
            "mil m.csv --bag molecule --target label --cv 13",
            "mil m.csv --bag molecule --target label --epsilon 1.2",
            "mil m.csv --bag molecule --target label --epsilon 0.5,-0.1",
            "mil m.csv --bag molecule --target label --epsilon -1",
            "mil m.csv --bag molecule --target label --epsilon 0.9 --tau 1",
            "mil m.csv --bag molecule --target label --tau -1",
            "mil m.csv --bag molecule --target label --transductive --test other.csv",
            "mil m.csv --bag molecule --target label --power 2",
            "mil m.csv --bag molecule --target label --method mi-kernel --gamma 0",
            "mil m.csv --bag molecule --target label --method mifv --energy 2",
            "mil m.csv --bag molecule --target label --method knn",
            "mil m.csv --bag molecule --target label --instances rows.docx",
            "mil m.csv --bag molecule --target label --psi 8 --epsilon 1 --scale none --test other.csv",
            "predict m.eyot other.csv",
        ])
    );
}

#[test]
fn map_writes_one_vector_per_bag_whose_products_are_the_kernel() {
    let room = Room::new();
    room.write("m.csv", molecules(6, 5).replace("smells", "1").replace("plain", "0"));
    let map = "map m.csv --bag molecule --target label --psi 8 -t 20";
    let object = room.eyot(&format!("{map} -o bags.svm --json")).json();
    assert_eq!((&object["bags"], &object["t"], &object["psi"]), (&6.into(), &20.into(), &8.into()));
    let text = String::from_utf8(room.read("bags.svm")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[1].split(' ').next(), lines[1].ends_with("# m1")), (6, Some("1"), true));
    // Shares over √20 in each of 20 partitionings: they sum up to √20.
    let values = lines[0].split(" # ").next().unwrap().split(' ').skip(1);
    let sum: f64 = values.map(|entry| entry.split(':').nth(1).unwrap().parse::<f64>().unwrap()).sum();
    assert!((sum - 20f64.sqrt()).abs() < 1e-9, "{sum}");
    // The same from a saved map, as a long table.
    room.eyot(&format!("{map} -f map.eyot -o one.csv")).done();
    room.eyot("map map.eyot m.csv --bag molecule --target label -o two.csv").done();
    assert!(room.read("one.csv") == room.read("two.csv"));
    assert!(String::from_utf8(room.read("one.csv")).unwrap().starts_with("bag,feature,value\nm0,"));
    room.write("words.csv", molecules(6, 5));
    insta::assert_snapshot!(
        "map-bag-refusals",
        room.refusals(&[
            "map words.csv --bag molecule --target label -o bags2.svm",
            "map words.csv --bag molecule -o bags2.npy",
            "map words.csv --bag nothing -o bags2.svm",
        ])
    );
}
