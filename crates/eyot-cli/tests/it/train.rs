//! `eyot train` and `eyot predict` on generated files.

use std::fmt::Write as _;

use crate::program::Room;

/// Flowers of three kinds that differ in size, the same ones every time; `kinds` of them.
fn flowers(rows: usize, kinds: usize, seed: u64) -> String {
    let mut text = "sepal length,sepal width,petal length,petal width,species\n".to_owned();
    let mut state = seed.wrapping_mul(2) + 1;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as f64 / f64::from(1 << 24) - 0.5) * 0.8
    };
    let species =
        [("setosa", [5.0, 3.4, 1.5, 0.2]), ("versicolor", [5.9, 2.8, 4.3, 1.3]), ("virginica", [6.6, 3.0, 5.6, 2.0])];
    for row in 0..rows {
        let (name, sizes) = species[row % kinds];
        let sizes: Vec<String> = sizes.iter().map(|size| format!("{:.2}", size + noise())).collect();
        let _ = writeln!(text, "{},{name}", sizes.join(","));
    }
    text
}

/// The last cell of every line but the first.
fn labels(csv: &str) -> Vec<&str> {
    csv.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect()
}

#[test]
fn text_labels_are_learned_and_predicted() {
    let room = Room::new();
    room.write("iris-like.csv", flowers(150, 3, 1));
    room.write("new.csv", flowers(60, 3, 2));
    room.eyot("train iris-like.csv --target species -f iris.eyot").done();
    let outcome = room.eyot("predict iris.eyot new.csv");
    assert!(outcome.stderr.contains("predicted rightly"), "{}", outcome.stderr);
    let text = outcome.text();
    assert_eq!(text.lines().next(), Some("row,score,label"));
    let new = flowers(60, 3, 2);
    let right = labels(&text).iter().zip(labels(&new)).filter(|(own, truth)| *own == truth).count();
    assert!(right > 54, "{right} of 60");
}

#[test]
fn the_json_object_has_the_promised_keys() {
    let room = Room::new();
    room.write("flowers.csv", flowers(90, 3, 1));
    let object = room.eyot("train flowers.csv --target species -t 20 --c 0.5,1 --cv 3 --json").json();
    assert_eq!((&object["command"], &object["method"]), (&"train".into(), &"ik-svm".into()));
    assert_eq!((&object["rows"], &object["columns"]), (&90.into(), &4.into()));
    assert_eq!(object["classes"], serde_json::json!(["setosa", "versicolor", "virginica"]));
    assert!(object["accuracy"].as_f64().unwrap() > 0.9);
    let cv = object["cv"].as_array().unwrap();
    // 60 training rows allow ψ of 4, 8, 16 and 32, each with two prices.
    assert_eq!(cv.len(), 8);
    assert_eq!(cv[0]["parameters"], serde_json::json!({ "psi": 4, "c": 0.5 }));
    assert!(cv.iter().all(|line| line["mean"].is_f64() && line["standard_error"].is_f64()));
    assert_eq!(object["per_class"][2]["class"], "virginica");
    let object = room.eyot("train flowers.csv --target species --method linear-svm --bias --json -f m.eyot").json();
    assert_eq!(object["method"], "linear-svm");
    let object = room.eyot("predict m.eyot flowers.csv --json").json();
    assert_eq!(object["predictions"][0]["row"], 1);
    assert_eq!(object["predictions"].as_array().unwrap().len(), 90);
    assert!(object["accuracy"].as_f64().unwrap() > 0.9);
}

#[test]
fn threads_change_neither_model_nor_predictions() {
    let room = Room::new();
    room.write("flowers.csv", flowers(120, 3, 3));
    for method in ["ik-svm --probability", "svm", "svm --kernel isolation", "chi2-svm", "linear-svm"] {
        let train = format!("train flowers.csv --target species --method {method} -t 20 --cv 2 --c 1,2");
        room.eyot(&format!("{train} --threads 1 -f one.eyot")).done();
        room.eyot(&format!("{train} --threads 2 -f two.eyot")).done();
        assert!(room.contents()["one.eyot"] == room.contents()["two.eyot"], "{method}");
        let one = room.eyot("predict one.eyot flowers.csv --threads 1").done();
        assert!(one == room.eyot("predict two.eyot flowers.csv --threads 2").done(), "{method}");
    }
}

#[test]
fn probabilities_are_learned_saved_and_sum_to_one() {
    let room = Room::new();
    room.write("flowers.csv", flowers(150, 3, 1));
    let object = room.eyot("train flowers.csv --target species --psi 8 -t 20 --probability -f m.eyot --json").json();
    assert_eq!(object["probability"], true);
    let text = room.eyot("predict m.eyot flowers.csv").text();
    assert_eq!(text.lines().next(), Some("row,score,label,p_setosa,p_versicolor,p_virginica"));
    let mut certain = 0;
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let p: Vec<f64> = cells[3..].iter().map(|cell| cell.parse().unwrap()).collect();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9 && p.iter().all(|p| (0.0..=1.0).contains(p)), "{line}");
        let likeliest = ["setosa", "versicolor", "virginica"][(0..3).max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap()];
        certain += usize::from(likeliest == cells[2] && p.iter().any(|&p| p > 0.6));
    }
    assert!(certain > 130, "{certain} of 150 rows have a clear class, the predicted one");
    let object = room.eyot("predict m.eyot flowers.csv --json").json();
    let p = &object["predictions"][0]["probabilities"];
    let sum: f64 = ["setosa", "versicolor", "virginica"].iter().map(|class| p[class].as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-9);
}

#[test]
fn the_label_of_svmlight_is_the_target_then_and_later() {
    let room = Room::new();
    let lines: String = (0..60)
        .map(|i| if i % 2 == 0 { format!("+1 1:{}\n", 1 + i % 5) } else { format!("-1 2:{}\n", 1 + i % 7) })
        .collect();
    room.write("data.svm", lines);
    room.eyot("train data.svm --psi 4 -t 20 -f m.eyot").done();
    let outcome = room.eyot("predict m.eyot data.svm");
    assert!(outcome.stderr.contains("1.0000 of the rows are predicted rightly"), "{}", outcome.stderr);
    assert_eq!(labels(&outcome.text())[..2], ["1", "-1"]);
}

#[test]
fn a_class_with_fewer_rows_than_folds_is_said() {
    let room = Room::new();
    let rare = flowers(60, 2, 1) + "9,9,9,9,virginica\n9,9.1,9,9,virginica\n";
    room.write("rare.csv", rare);
    let outcome = room.eyot("train rare.csv --target species --psi 8 -t 10 --probability");
    let note = "class `virginica` has 2 rows, fewer than the 5 folds: some folds are without it";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    outcome.done();
}

#[test]
fn negative_values_are_shifted_on_request_by_both_chi2_methods() {
    let room = Room::new();
    let line = |i: i32| format!("{},{},{}", i % 7 - 3, i % 5, if i % 7 > 3 { "a" } else { "b" });
    let lines: Vec<String> = (0..40).map(line).collect();
    room.write("signed.csv", format!("x,y,class\n{}\n", lines.join("\n")));
    for method in ["chi2-svm", "svm --kernel chi2", "svm --kernel intersection"] {
        let object =
            room.eyot(&format!("train signed.csv --target class --scale none --method {method} --bias --shift --json"));
        assert!(object.json()["accuracy"].as_f64().unwrap() > 0.9, "{method}");
    }
}

#[test]
fn an_unseen_class_counts_as_an_error_and_is_said() {
    let room = Room::new();
    room.write("two.csv", flowers(80, 2, 1));
    room.write("three.csv", flowers(30, 3, 2));
    let outcome = room.eyot("train two.csv --target species --psi 8 -t 20 --test three.csv --json");
    assert!(outcome.stderr.contains("10 rows are of classes that the training data lacks (`virginica`)"));
    let object = outcome.json();
    assert_eq!(object["unseen"], 10);
    assert!(object["accuracy"].as_f64().unwrap() < 0.7);
}

#[test]
fn a_report_shows_the_search_and_the_confusion() {
    let room = Room::new();
    room.write("flowers.csv", flowers(60, 3, 1));
    room.eyot("train flowers.csv --target species -t 10 --cv 2 --report report.html").done();
    let html = String::from_utf8(room.contents()["report.html"].clone()).unwrap();
    for part in ["Held-out accuracy against psi", "Confusion matrix", "Seconds by step", "virginica"] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn ids_name_the_rows_and_files_are_written() {
    let room = Room::new();
    room.write("flowers.csv", flowers(60, 3, 1));
    room.eyot("train flowers.csv --target species --psi 8 -t 10 -f m.eyot").done();
    let named: String = flowers(60, 3, 1)
        .lines()
        .enumerate()
        .map(|(row, line)| if row == 0 { format!("plant,{line}\n") } else { format!("p{row},{line}\n") })
        .collect();
    room.write("named.csv", named);
    room.eyot("predict m.eyot named.csv --id plant -o out.csv").done();
    let out = String::from_utf8(room.contents()["out.csv"].clone()).unwrap();
    assert!(out.starts_with("plant,score,label\np1,"), "{out}");
}

#[test]
fn refusals_are_as_reviewed() {
    let room = Room::new();
    room.write("flowers.csv", flowers(12, 3, 1));
    room.write("one.csv", flowers(12, 1, 1));
    room.write("signed.csv", "x,y,class\n1,-2,a\n2,3,b\n1,-1,a\n2,4,b\n");
    insta::assert_snapshot!(
        "train-refusals",
        room.refusals(&[
            "train flowers.csv",
            "train flowers.csv --target colour",
            "train one.csv --target species",
            "train flowers.csv --target species --c 0",
            "train flowers.csv --target species --psi many",
            "train flowers.csv --target species --cv 13",
            "train signed.csv --target class --scale none --method chi2-svm --cv 2",
            "train signed.csv --target class --scale none --method svm --kernel chi2 --cv 2",
            "train flowers.csv --target species --method svm --kernel isolation --one-vs-one",
            "train flowers.csv --target species --method chi2-svm --kernel gaussian",
            "predict flowers.csv flowers.csv",
        ])
    );
}
