//! `eyot compare` on generated files.

use crate::program::Room;
use crate::stream::clicks;

#[test]
fn methods_are_compared_on_the_same_stream() {
    let room = Room::new();
    room.write("clicks.csv", clicks(600));
    let command = "compare clicks.csv --target clicked --psi 16 -t 20 --init 200 --runs 2 --frequencies 50 --budget 50 \
                   --methods ik-ogd:voronoi,ik-ogd:tree,rrf:hinge,rrf:logistic,fogd,nogd,perceptron";
    let json = room.eyot(&format!("{command} --json --report report.html --plot curves.svg")).json();
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 7);
    for result in results {
        let mean = result["mean"].as_f64().unwrap();
        assert!((0.0..0.7).contains(&mean) && result["std"].is_number() && result["seconds"].is_number(), "{result}");
        assert_eq!(result["runs"].as_array().unwrap().len(), 2);
        assert_eq!(result["curve"].as_array().unwrap().last().unwrap()["points"], 600);
    }
    assert!(results[0]["mean"].as_f64().unwrap() < 0.35, "{}", results[0]);
    assert!(String::from_utf8(room.read("curves.svg")).unwrap().contains("ik-ogd:tree"));
    assert!(String::from_utf8(room.read("report.html")).unwrap().contains("Learning curves"));
    // Threads change the time, never the figures.
    let figures = |json: &serde_json::Value| {
        json["results"].as_array().unwrap().iter().map(|result| result["runs"].clone()).collect::<Vec<_>>()
    };
    let single = room.eyot(&format!("{command} --json --threads 1")).json();
    assert_eq!(figures(&single), figures(&json));
    let table = room.eyot(command).text();
    assert!(table.starts_with("method ") && table.lines().count() == 8 && table.contains(" ± "), "{table}");
}

#[test]
fn all_methods_learn_classes_numbers_and_several_classes() {
    let room = Room::new();
    let rows = clicks(200).replace(",a,yes", ",c,yes");
    room.write("clicks.csv", rows);
    let small = "--psi 8 -t 10 --init 100 --frequencies 20 --budget 20 --methods all --json";
    let count = |args: &str| {
        room.eyot(&format!("compare clicks.csv {args} {small}")).json()["results"].as_array().unwrap().len()
    };
    assert_eq!(count("--target clicked --block 50"), 16);
    assert_eq!(count("--target shop"), 16);
    assert_eq!(count("--target y --task regress --ignore clicked"), 13);
}

#[test]
fn tuning_finds_better_parameters_than_bad_ones() {
    let room = Room::new();
    room.write("clicks.csv", clicks(800));
    let mean = |args: &str| {
        let command = format!("compare clicks.csv --target clicked -t 20 --init 200 --methods ik-ogd --json {args}");
        room.eyot(&command).json()["results"][0]["mean"].as_f64().unwrap()
    };
    assert!(mean("--tune --tune-rows 300") < mean("--psi 1"));
}

#[test]
fn wrong_names_are_refused() {
    let room = Room::new();
    room.write("clicks.csv", clicks(20));
    let commands = [
        "compare clicks.csv --target clicked --methods boosting",
        "compare clicks.csv --target clicked --methods ik-ogd:cubes",
        "compare clicks.csv --target clicked --methods rrf,rrf",
        "compare clicks.csv --target clicked --methods rrf:squared",
        "compare clicks.csv --target clicked --runs 0",
        "compare clicks.csv --target clicked --psi auto",
        "compare clicks.csv",
        "compare clicks.csv --target clicked --methods rbp --budget 0",
    ];
    insta::assert_snapshot!("compare-refused", room.refusals(&commands));
}
