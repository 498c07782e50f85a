//! `eyot detect` on generated files.

use std::fmt::Write as _;

use crate::program::Room;

/// Numbers that depend on each other, a text column, an id; rows 40 and 90 (from 1) are odd, each in its way.
fn orders(rows: usize) -> String {
    let mut text = "order,weight,price,kind,truth\n".to_owned();
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / 2_147_483_648.0
    };
    for row in 1..=rows {
        let weight = 1.0 + next();
        let (weight, price, odd) = match row {
            40 => (weight, 95.0, 1),
            90 => (-30.0, 3.0 * weight, 1),
            _ => (weight, 3.0 * weight + 0.1 * next(), 0),
        };
        let kind = if next() < 0.5 { "book" } else { "toy" };
        let _ = writeln!(text, "o-{row},{weight},{price},{kind},{odd}");
    }
    text
}

fn room() -> Room {
    let room = Room::new();
    room.write("orders.csv", orders(300));
    room
}

#[test]
fn odd_rows_come_first_with_their_columns() {
    let object = room().eyot("detect orders.csv --label truth --id order -t 30 --explain --json").json();
    assert_eq!((&object["command"], &object["method"]), (&"detect".into(), &"idk".into()));
    assert_eq!((&object["rows"], &object["columns"]), (&300.into(), &4.into()));
    assert_eq!(object["psi"], serde_json::json!([2, 4, 8, 16, 32, 64]));
    assert!(object["auc"].as_f64().unwrap() > 0.99 && object["average_precision"].as_f64().unwrap() > 0.9);
    let top = object["top"].as_array().unwrap();
    assert_eq!(top.len(), 10);
    for row in &top[..2] {
        let column = match row["id"].as_str().unwrap() {
            "o-40" => "price",
            "o-90" => "weight",
            other => panic!("{other} came first"),
        };
        assert_eq!((&row["flagged"], &row["why"][0]["column"]), (&true.into(), &column.into()));
        let shares: f64 = row["why"].as_array().unwrap().iter().map(|why| why["share"].as_f64().unwrap()).sum();
        assert!((shares - 1.0).abs() < 1e-9);
        assert!(row["probability"].as_f64().unwrap() >= 0.5);
    }
    assert!(object["flagged"].as_u64().unwrap() >= 2);
}

#[test]
fn people_see_a_table_with_raw_values() {
    let text = room().eyot("detect orders.csv --ignore truth --id order -t 30 --explain --top 3").text();
    let first: Vec<&str> = text.lines().take(4).collect();
    assert!(first[0].starts_with("rank") && first[0].contains("price"), "{text}");
    assert!(first[1].contains("o-40") || first[1].contains("o-90"), "{text}");
    assert!(text.contains("95") && text.contains("flagged"), "{text}");
}

#[test]
fn the_share_asked_for_is_flagged_and_scores_of_all_rows_are_written() {
    let room = room();
    room.eyot("detect orders.csv --ignore truth,order -t 20 --contamination 0.05 -o scores.csv").done();
    let scores = String::from_utf8(room.contents()["scores.csv"].clone()).unwrap();
    let lines: Vec<&str> = scores.lines().collect();
    assert_eq!((lines[0], lines.len()), ("row,score,probability,anomaly", 301));
    let score = |line: &str| line.split(',').nth(1).unwrap().parse::<f64>().unwrap();
    let flagged: Vec<f64> = lines[1..].iter().filter(|line| line.ends_with(",1")).map(|line| score(line)).collect();
    // 5 % of 300 rows, and those that tie with the last of them.
    let lowest = flagged.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(flagged.len() >= 15 && flagged.iter().filter(|&&score| score > lowest).count() < 15, "{flagged:?}");
}

#[test]
fn every_method_runs_and_threads_change_nothing() {
    let room = room();
    for method in ["idk", "inne", "norm", "iforest", "gaussian", "gaussian-nystrom", "ocsvm"] {
        for psi in ["auto", "8"] {
            let args =
                format!("detect orders.csv --ignore truth,order -t 10 --method {method} --psi {psi} -q -o s.csv");
            room.eyot(&format!("{args} --threads 1")).done();
            let one = room.contents()["s.csv"].clone();
            room.eyot(&format!("{args} --threads 2")).done();
            assert!(one == room.contents()["s.csv"], "{method} {psi}");
        }
    }
}

#[test]
fn a_report_is_one_file_that_names_the_odd_rows() {
    let room = room();
    room.eyot("detect orders.csv --label truth --id order -t 20 --report r.html").done();
    let html = String::from_utf8(room.contents()["r.html"].clone()).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("o-40") && html.contains("ROC curve"));
    assert!(!html.contains("src=") && !html.contains("href=\"http"), "a report needs nothing else");
}

#[test]
fn a_stream_is_scored_row_by_row_and_resumes_from_its_checkpoint() {
    let room = Room::new();
    let all = orders(600);
    room.write("all.csv", &all);
    let options = "--ignore truth,order -t 10 --window 100 --stream -q";
    let whole = room.eyot(&format!("detect all.csv {options}")).text();
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!((lines[0], lines.len()), ("row,score,probability,anomaly", 601));
    assert_eq!((lines[100], lines[101].starts_with("101,-")), ("100,,,", true));
    // The same rows in two runs.
    let cut: Vec<&str> = all.lines().collect();
    room.write("first.csv", cut[..=350].join("\n"));
    room.write("second.csv", [&[cut[0]], &cut[351..]].concat().join("\n"));
    let first = room.eyot(&format!("detect first.csv {options} --checkpoint c.eyot")).text();
    let second = room.eyot(&format!("detect second.csv {options} --checkpoint c.eyot")).text();
    let resumed: Vec<&str> = first.lines().chain(second.lines().skip(1)).collect();
    assert_eq!(resumed, lines);
}

/// 30 shops that sell half small and half large things; shop 17 sells only large ones.
fn shops(first: i32) -> String {
    let mut text = "shop,size,odd\n".to_owned();
    for shop in first..first + 30 {
        for row in 0..12 {
            let large = row % 2 == 0 || shop == 17;
            let size = if large { 9.0 } else { 1.0 } + f64::from((shop * 37 + row * 53) % 101) / 100.0;
            let _ = writeln!(text, "s{shop},{size},{}", i32::from(shop == 17));
        }
    }
    text
}

#[test]
fn a_detector_of_groups_is_measured_reported_saved_and_applied() {
    let room = Room::new();
    room.write("shops.csv", shops(0));
    let args = "detect shops.csv --bag shop --label odd --psi 8 --json -o scores.csv -f shops.eyot --report r.html";
    let object = room.eyot(args).json();
    assert_eq!((&object["groups"], &object["top"][0]["group"]), (&30.into(), &"s17".into()));
    assert_eq!(object["auc"], 1.0);
    let html = String::from_utf8(room.read("r.html")).unwrap();
    assert!(html.contains("s17") && html.contains("ROC curve"));
    let fitted = String::from_utf8(room.read("scores.csv")).unwrap();
    let fitted: Vec<String> = fitted
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .map(|cells| format!("{},{},{}", cells[0], cells[2], if cells[4] == "1" { "anomaly" } else { "normal" }))
        .collect();
    let predicted = room.eyot("predict shops.eyot shops.csv").text();
    assert_eq!(predicted.lines().next(), Some("shop,score,label"));
    assert_eq!(predicted.lines().skip(1).collect::<Vec<_>>(), fitted);
    // New groups, one of them odd; the score of a group does not depend on the others.
    room.write("new.csv", shops(10));
    let object = room.eyot("predict shops.eyot new.csv --json").json();
    let odd = &object["predictions"][7];
    assert_eq!((&odd["group"], &odd["rows"]), (&"s17".into(), &12.into()));
    assert!(predicted.contains(&format!("s17,{},", odd["score"])), "{odd}");
}

#[test]
fn a_file_of_scores_has_the_reasons_of_all_flagged_rows() {
    let room = room();
    room.eyot("detect orders.csv --ignore truth --id order -t 20 --contamination 0.1 --top 3 --explain -o s.csv")
        .done();
    let text = String::from_utf8(room.read("s.csv")).unwrap();
    let mut flagged = 0;
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.splitn(5, ',').collect();
        assert_eq!(cells[3] == "1", !cells[4].is_empty(), "{line}");
        flagged += usize::from(cells[3] == "1");
    }
    assert!(flagged >= 30 && text.starts_with("order,score,probability,anomaly,why\n"), "{flagged}");
}

#[test]
fn a_row_alone_in_a_file_and_on_a_pipe_has_the_score_of_the_batch() {
    let room = room();
    room.eyot("detect orders.csv --ignore truth,order -t 20 -f m.eyot -q").done();
    let all = room.eyot("predict m.eyot orders.csv").text();
    let orders = orders(300);
    let (rows, scores): (Vec<&str>, Vec<&str>) = (orders.lines().collect(), all.lines().collect());
    for row in [1, 40, 90, 300] {
        let alone = format!("{}\n{}\n", rows[0], rows[row]);
        room.write("alone.csv", &alone);
        let score = |line: &str| line.split_once(',').unwrap().1.to_owned();
        let expected = score(scores[row]);
        assert_eq!(score(room.eyot("predict m.eyot alone.csv").text().lines().nth(1).unwrap()), expected);
        let piped = room.eyot_on("predict m.eyot - --format csv", alone.as_bytes()).text();
        assert_eq!(score(piped.lines().nth(1).unwrap()), expected);
    }
}

#[test]
fn a_first_try_on_a_messy_file_ends_in_a_way_out_and_then_in_an_answer() {
    let room = Room::new();
    let mut text = "customer_id,joined,country,age,spent,comment\n".to_owned();
    for row in 0..200 {
        let age = if row % 23 == 0 { String::new() } else { (20 + row * 7 % 50).to_string() };
        let spent = if row == 77 { 90_000.0 } else { 10.0 + f64::from(row * 31 % 400) };
        let country = ["FR", "DE", "IT"][row as usize % 3];
        let _ = writeln!(text, "C{row:05},2024-01-{:02},{country},{age},{spent},note no. {row}", row % 28 + 1);
    }
    room.write("customers.csv", text);
    let refused = room.eyot("detect customers.csv --report r.html");
    assert!(refused.stderr.contains("age") && refused.stderr.contains("--missing impute"), "{}", refused.stderr);
    assert!(!room.contents().contains_key("r.html"));
    let done = room.eyot("detect customers.csv --missing impute --report r.html --json");
    for named in ["customer_id", "comment"] {
        assert!(done.stderr.contains(named), "identifiers are left out by name: {}", done.stderr);
    }
    let object = done.json();
    assert_eq!((&object["top"][0]["row"], &object["top"][0]["flagged"]), (&78.into(), &true.into()));
    assert!(room.contents().contains_key("r.html"));
}

#[test]
fn bad_input_is_refused_and_leaves_files_alone() {
    let room = room();
    room.write("empty.csv", "");
    room.write("header.csv", "a,b\n");
    room.write("one-class.csv", "a,y\n1,0\n2,0\n3,0\n");
    room.write("three.csv", "a,y\n1,0\n2,1\n3,2\n");
    room.write("hole.csv", "a,b\n1,2\n,3\n4,5\n");
    room.write("other.csv", "weight,colour\n1,2\n3,4\n");
    room.eyot("detect orders.csv --ignore truth,order -t 5 -f m.eyot -q").done();
    insta::assert_snapshot!(
        "refusals",
        room.refusals(&[
            "detect empty.csv",
            "detect header.csv",
            "detect absent.csv",
            "detect one-class.csv --label y",
            "detect three.csv --label y",
            "detect hole.csv",
            "detect orders.csv --label wrong",
            "detect orders.csv --contamination 0.6",
            "detect orders.csv --contamination 0",
            "detect orders.csv --contamination -0.1",
            "detect orders.csv --contamination nan",
            "predict m.eyot other.csv",
            "detect m.eyot",
            "detect orders.csv --psi 1",
            "detect orders.csv --psi many",
            "detect orders.csv --method lof",
            "detect orders.csv -o scores.xlsx",
            "detect orders.csv --bag kind --explain",
            "detect orders.csv --stream --window 1000",
        ])
    );
}

#[test]
fn few_rows_equal_rows_and_constant_columns_end_in_an_answer() {
    let room = Room::new();
    room.write("few.csv", "a,b\n1,2\n3,4\n9,9\n");
    let outcome = room.eyot("detect few.csv --psi 64 -t 10 --json");
    assert!(outcome.stderr.contains("psi is 3, the number of rows"), "{}", outcome.stderr);
    assert_eq!(outcome.json()["psi"], 3);
    room.write("equal.csv", format!("a,b\n{}", "1,2\n".repeat(40)));
    let outcome = room.eyot("detect equal.csv -t 10 --json");
    assert!(outcome.stderr.contains("same"), "{}", outcome.stderr);
    assert_eq!(outcome.json()["flagged"], 0);
    // A constant column changes nothing.
    let rows: String = (0..60).fold(String::new(), |text, i| text + &format!("{},7,{}\n", i % 13, i * i % 17));
    room.write("constant.csv", format!("a,k,b\n{rows}"));
    let with = room.eyot("detect constant.csv -t 10 --json").json();
    let without = room.eyot("detect constant.csv -t 10 --json --ignore k").json();
    assert_eq!(with["top"], without["top"]);
}

#[test]
fn a_saved_detector_predicts_the_scores_of_the_fit_bit_for_bit() {
    let room = Room::new();
    let mut text = "x,y\n".to_owned();
    for row in 0..300 {
        let _ = writeln!(text, "{},{}", f64::from(row * 37 % 101) / 7.0, f64::from(row * 53 % 89) / 11.0);
    }
    text += "400,-3\n";
    room.write("data.csv", text);
    for method in ["--psi auto", "--psi 16", "--method iforest", "--method inne --psi 16", "--method gaussian"] {
        room.eyot(&format!("detect data.csv {method} -o scores.csv -f odd.eyot --contamination 0.01")).done();
        let fitted = String::from_utf8(room.read("scores.csv")).unwrap();
        let predicted = room.eyot("predict odd.eyot data.csv").text();
        let fitted = fitted.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        let mut rows = 0;
        for (fitted, predicted) in fitted.zip(predicted.lines().skip(1)) {
            let flag = if fitted[3] == "1" { "anomaly" } else { "normal" };
            assert_eq!(format!("{},{},{flag}", fitted[0], fitted[1]), predicted, "{method}");
            rows += 1;
        }
        assert_eq!(rows, 301);
    }
}
