//! `eyot stream` on generated files.

use std::fmt::Write as _;
use std::process::Stdio;

use crate::program::Room;

/// Clicks that no straight line separates: yes in two opposite quarters of a square.
fn clicks(rows: u64) -> String {
    let mut text = "x,y,shop,clicked\n".to_owned();
    let mut state = 5u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    for row in 0..rows {
        let (x, y) = (next(), next());
        let clicked = if (x - 0.5) * (y - 0.5) > 0.0 { "yes" } else { "no" };
        let _ = writeln!(text, "{x:.4},{y:.4},{},{clicked}", ["a", "b"][row as usize % 2]);
    }
    text
}

const STREAM: &str = "stream clicks.csv --target clicked --psi 16 -t 20 --init 200";

#[test]
fn a_stream_is_learned_in_one_pass_from_a_file_and_from_a_pipe() {
    let room = Room::new();
    room.write("clicks.csv", clicks(1500));
    let json = room.eyot(&format!("{STREAM} --json -f file.eyot")).json();
    assert_eq!(json["points"], 1500);
    assert!(json["accuracy"].as_f64().unwrap() > 0.85, "{json}");
    let piped = "stream - --format csv --target clicked --psi 16 -t 20 --init 200 -f pipe.eyot";
    room.eyot_on(piped, clicks(1500).as_bytes()).done();
    assert_eq!(room.read("file.eyot"), room.read("pipe.eyot"));
    room.eyot(&format!("{STREAM} --threads 1 -f one.eyot")).done();
    assert_eq!(room.read("file.eyot"), room.read("one.eyot"));
}

#[test]
fn a_killed_stream_goes_on_from_its_checkpoint_to_the_same_model() {
    for method in ["ik-ogd", "rrf", "bogd --budget 50"] {
        let room = Room::new();
        room.write("clicks.csv", clicks(3000));
        let command = format!("{STREAM} --method {method} --every 100 -q");
        room.eyot(&format!("{command} -f whole.eyot")).done();
        let command = format!("{command} --checkpoint point.eyot -f resumed.eyot");
        for _ in 0..3 {
            let before = std::fs::read(room.path("point.eyot")).ok();
            let mut child = room.command(&command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // Killed as soon as a new checkpoint is there, or at the end.
            while child.try_wait().unwrap().is_none() && std::fs::read(room.path("point.eyot")).ok() == before {
                std::thread::yield_now();
            }
            let _ = child.kill();
            child.wait().unwrap();
        }
        room.eyot(&command).done();
        assert_eq!(room.read("resumed.eyot"), room.read("whole.eyot"), "{method}");
    }
}

#[test]
fn every_method_runs_and_numbers_can_be_learned() {
    let room = Room::new();
    room.write("clicks.csv", clicks(400));
    for method in [
        "ik-ogd",
        "rrf",
        "ogd",
        "nogd",
        "fogd",
        "adaraker",
        "perceptron",
        "rbp",
        "forgetron",
        "projectron",
        "projectron++",
        "bpas",
        "bsgd-m",
        "bogd",
        "dualsgd",
    ] {
        let json = room.eyot(&format!("{STREAM} --method {method} --json")).json();
        assert_eq!((&json["method"], &json["points"]), (&method.into(), &400.into()));
    }
    let json = room.eyot("stream clicks.csv --target y --task regress --psi 16 -t 20 --json").json();
    assert!(json["rmse"].as_f64().unwrap() < 1.0, "{json}");
}
