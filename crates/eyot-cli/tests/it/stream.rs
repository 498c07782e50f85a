//! `eyot stream` on generated files.

use std::fmt::Write as _;
use std::process::Stdio;

use crate::program::Room;

/// Clicks that no straight line separates: yes in two opposite quarters of a square.
pub(crate) fn clicks(rows: u64) -> String {
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

#[test]
fn a_saved_stream_predicts_what_the_learner_would_have() {
    let room = Room::new();
    let all = clicks(301);
    room.write("all.csv", &all);
    let (first, last) = all.trim_end().rsplit_once('\n').unwrap();
    room.write("first.csv", format!("{first}\n"));
    let header = all.lines().next().unwrap();
    room.write("last.csv", format!("{header}\n{last}\n"));
    for method in ["ik-ogd", "ik-ogd --refresh 50", "rrf", "nogd", "bsgd-m", "adaraker"] {
        let options = format!("--target clicked --psi 16 -t 20 --init 200 --method {method}");
        room.eyot(&format!("stream first.csv {options} -q -f model.eyot")).done();
        room.eyot(&format!("stream all.csv {options} -q -p predictions.csv")).done();
        let wanted = String::from_utf8(room.read("predictions.csv")).unwrap();
        let wanted = wanted.lines().last().unwrap().strip_prefix("301,").unwrap();
        let got = room.eyot("predict model.eyot last.csv").text();
        assert_eq!(got.lines().collect::<Vec<_>>(), ["row,score,label", &format!("1,{wanted}")], "{method}");
        let json = room.eyot("predict model.eyot last.csv --json").json();
        assert!(json["accuracy"].is_number() && json["predictions"][0]["score"].is_number(), "{json}");
    }
    let options = "--target y --task regress --ignore clicked --psi 16 -t 20 --init 200";
    room.eyot(&format!("stream first.csv {options} -q -f model.eyot")).done();
    room.eyot(&format!("stream all.csv {options} -q -p predictions.csv")).done();
    let wanted = String::from_utf8(room.read("predictions.csv")).unwrap();
    let wanted = wanted.lines().last().unwrap().split(',').nth(1).unwrap().to_owned();
    let got = room.eyot("predict model.eyot last.csv --ignore clicked").text();
    assert_eq!(got.lines().collect::<Vec<_>>(), ["row,value", &format!("1,{wanted}")]);
    let json = room.eyot("predict model.eyot last.csv --ignore clicked --json").json();
    assert!(json["rmse"].is_number() && json["predictions"][0]["value"].is_number(), "{json}");
}

#[test]
fn seconds_of_a_stream_say_how_long_learning_took() {
    let room = Room::new();
    room.write("clicks.csv", clicks(400));
    let json = room.eyot(&format!("{STREAM} --json")).json();
    for phase in ["read", "map", "learn", "total"] {
        assert!(json["seconds"][phase].as_f64().unwrap() > 0.0, "{phase}: {json}");
    }
}

#[test]
fn bad_streams_are_refused_by_row_and_rule() {
    let room = Room::new();
    let good = clicks(300);
    room.write("clicks.csv", &good);
    room.write("wider.csv", format!("{good}0.1,0.2,a,yes,7\n"));
    room.write("narrower.csv", format!("{good}0.1,0.2,yes\n"));
    room.write("unlabelled.csv", format!("{good}0.1,0.2,a,nan\n"));
    room.write("numbers.csv", "x,y\n1,2\n2,nan\n3,4\n");
    let stream = |file: &str, more: &str| format!("stream {file} --target clicked --psi 16 -t 20 --init 100 {more}");
    let commands = [
        stream("clicks.csv", "--method rbp --budget 0"),
        stream("clicks.csv", "--method nogd --budget 0"),
        stream("clicks.csv", "--refresh 0"),
        stream("clicks.csv", "--every 0"),
        stream("clicks.csv", "--task regress --method bpas"),
        stream("wider.csv", "-q"),
        stream("narrower.csv", "-q"),
        stream("unlabelled.csv", "-q"),
        "stream numbers.csv --target y --task regress -q".into(),
        "stream clicks.csv -q".into(),
        "stream clicks.csv --target bought -q".into(),
        "stream clicks.csv --target y --task regress --ignore clicked --method fogd --eta 1e150 -q".into(),
    ];
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    insta::assert_snapshot!("bad-streams", room.refusals(&commands));
}

#[test]
fn a_learner_that_diverges_leaves_the_last_checkpoint() {
    let room = Room::new();
    room.write("clicks.csv", clicks(3000));
    // A rate that makes errors some seven times larger with every point.
    let command = "stream clicks.csv --target y --task regress --ignore clicked --method fogd --eta 0.02 --every 100 \
                   --checkpoint point.eyot";
    let outcome = room.eyot(command);
    assert_eq!(outcome.code, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("fogd with eta 0.02: the learner diverged at step"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("note: point.eyot is as the last checkpoint left it"), "{}", outcome.stderr);
    let facts = room.eyot("inspect point.eyot --json").json();
    assert!(facts["trained_on"]["rows"].as_u64().unwrap() >= 100, "{facts}");
    room.eyot("predict point.eyot clicks.csv --ignore clicked -o out.csv").done();
}

#[test]
fn one_class_is_learned_and_said() {
    let room = Room::new();
    room.write("clicks.csv", clicks(300).replace(",no\n", ",yes\n"));
    for method in ["ik-ogd", "rrf", "forgetron", "nogd", "adaraker"] {
        let outcome = room.eyot(&format!("{STREAM} --method {method}"));
        assert!(outcome.stderr.contains("all rows were of class `yes`"), "{}", outcome.stderr);
        assert!(outcome.text().contains("mistakes  0\n"), "{method}");
    }
}

#[test]
fn killed_at_random_moments_a_stream_still_ends_with_the_same_model() {
    let room = Room::new();
    room.write("clicks.csv", clicks(4000));
    let command = format!("{STREAM} --every 50 -q -p predictions.csv");
    room.eyot(&format!("{command} -f whole.eyot")).done();
    let predictions = room.read("predictions.csv");
    let command = format!("{command} --checkpoint point.eyot -f resumed.eyot");
    let mut state = 99u64;
    for _ in 0..10 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (checkpoints, turns) = ((state >> 62) + 1, (state >> 50) % 4096);
        let mut child = room.command(&command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        for _ in 0..checkpoints {
            let before = std::fs::read(room.path("point.eyot")).ok();
            while child.try_wait().unwrap().is_none() && std::fs::read(room.path("point.eyot")).ok() == before {
                std::thread::yield_now();
            }
        }
        (0..turns).for_each(|_| std::hint::spin_loop());
        let _ = child.kill();
        child.wait().unwrap();
    }
    room.eyot(&command).done();
    assert_eq!(room.read("resumed.eyot"), room.read("whole.eyot"));
    assert_eq!(room.read("predictions.csv"), predictions);
}

#[cfg(target_os = "linux")]
mod live {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::process::Stdio;

    use super::{Room, clicks};
    use crate::stop::press_ctrl_c;

    /// Sends the first rows of a stream, waits for a line of the table, presses Ctrl-C, and returns what was said.
    fn begin_and_stop(room: &Room, options: &str, rows: &str, wait_for: Option<&str>) -> String {
        let mut command = room.command(&format!("stream - --target clicked --psi 16 -t 20 {options}"));
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(rows.as_bytes()).unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut heard = String::new();
        if let Some(count) = wait_for {
            while heard.lines().all(|line| line.split_whitespace().nth(2) != Some(count)) {
                assert!(said.read_line(&mut heard).unwrap() > 0, "{heard}");
            }
        }
        press_ctrl_c(&child);
        said.read_to_string(&mut heard).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{heard}");
        drop(stdin);
        heard
    }

    /// The first rows, header included, and the others with a header of their own.
    fn parts(all: &str, rows: usize) -> (String, String) {
        let lines: Vec<&str> = all.lines().collect();
        let rest = [&lines[..1], &lines[rows + 1..]].concat();
        (lines[..=rows].join("\n") + "\n", rest.join("\n") + "\n")
    }

    #[test]
    fn rows_are_learned_as_they_come_and_ctrl_c_saves_where_it_was() {
        let all = clicks(600);
        for (options, rows, waited) in [("--init 20", 40, "32"), ("--init 20 --block 16", 61, "32")] {
            let room = Room::new();
            room.write("all.csv", &all);
            let (first, rest) = parts(&all, rows);
            let said = begin_and_stop(&room, options, &first, Some(waited));
            assert!(said.contains("--checkpoint eyot-stream.eyot goes on from there"), "{said}");
            let command = format!("stream - --target clicked --psi 16 -t 20 {options} --checkpoint eyot-stream.eyot");
            let resumed = room.eyot_on(&format!("{command} -f resumed.eyot"), rest.as_bytes());
            assert!(resumed.stderr.contains(&format!("skip {rows} rows of the input")), "{}", resumed.stderr);
            resumed.done();
            room.eyot(&format!("stream all.csv --target clicked --psi 16 -t 20 {options} -f whole.eyot")).done();
            assert_eq!(room.read("resumed.eyot"), room.read("whole.eyot"), "{options}");
        }
    }

    #[test]
    fn ctrl_c_before_the_initial_rows_have_come_saves_too() {
        let room = Room::new();
        let (first, rest) = parts(&clicks(200), 30);
        let said = begin_and_stop(&room, "--init 100 -f early.eyot", &first, None);
        // The signal may come before the rows do.
        if said.contains("saved after") {
            assert!(said.contains("made from 30 rows instead of 100"), "{said}");
            room.eyot("inspect early.eyot").done();
            let command = "stream - --target clicked --psi 16 -t 20 --init 100 --checkpoint eyot-stream.eyot --json";
            assert_eq!(room.eyot_on(command, rest.as_bytes()).json()["points"], 200);
        }
    }
}
