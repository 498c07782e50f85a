//! The same values give the same codes, whatever they come in, on any number of threads, now and later.

use crate::data::{Data, gzip, zstandard};
use crate::program::Room;

/// The name of the label in a format.
fn label_in(format: &str) -> &'static str {
    if format == "npy" { "f3" } else { "label" }
}

#[test]
fn every_format_compressed_or_not_from_a_path_or_stdin_gives_the_same_codes() {
    let room = Room::new();
    let data = Data::new(300);
    room.write("plain.csv", data.csv());
    let expected = room.eyot("map plain.csv --ignore label --psi 16 -t 8").done();
    for (format, extension, bytes) in data.formats() {
        let options = format!("--ignore {} --psi 16 -t 8", label_in(format));
        let packed = [("", bytes.clone()), (".gz", gzip(&bytes)), (".zst", zstandard(&bytes))];
        for (ending, bytes) in packed {
            let name = format!("data.{extension}{ending}");
            room.write(&name, &bytes);
            assert!(room.eyot(&format!("map {name} {options}")).done() == expected, "{name}");
            let from_stdin = room.eyot_on(&format!("map - --format {format} {options}"), &bytes).done();
            assert!(from_stdin == expected, "{name} from stdin");
            let by_content = room.eyot_on(&format!("map - {options}"), &bytes).done();
            assert!(by_content == expected, "{name} from stdin, format not told");
        }
    }
}

#[test]
fn sparse_and_dense_storage_agree_for_every_partition() {
    let room = Room::new();
    for (_, extension, bytes) in Data::new(300).formats() {
        room.write(&format!("data.{extension}"), bytes);
    }
    for partition in
        ["voronoi", "tree", "sphere", "sphere --rule cover", "sphere --radii plain", "voronoi --distance text"]
    {
        let codes =
            |file: &str| room.eyot(&format!("map {file} --ignore label --psi 16 -t 8 --partition {partition}")).done();
        assert!(codes("data.csv") == codes("data.svm"), "{partition}");
    }
}

#[test]
fn two_runs_on_different_threads_write_the_same_bytes() {
    let room = Room::new();
    room.write("data.csv", Data::new(3000).csv());
    for partition in ["voronoi", "tree", "sphere"] {
        let outputs = ["parquet", "csv", "csv.gz", "csv.zst", "npy", "svm"];
        for (threads, run) in [(1, "a"), (2, "b")] {
            for end in outputs {
                let options = format!("--target label --psi 8 -t 5 --partition {partition} --threads {threads}");
                room.eyot(&format!("map data.csv {options} -f {run}.eyot -o {run}.{end}")).done();
            }
        }
        assert!(room.read("a.eyot") == room.read("b.eyot"), "{partition}");
        for end in outputs {
            assert!(room.read(&format!("a.{end}")) == room.read(&format!("b.{end}")), "{partition}, {end}");
        }
    }
}

#[test]
fn a_saved_map_gives_the_codes_it_gave_when_it_was_fitted() {
    let room = Room::new();
    for (_, extension, bytes) in Data::new(400).formats() {
        room.write(&format!("data.{extension}"), bytes);
    }
    for partition in ["voronoi", "tree", "sphere"] {
        for file in ["data.csv", "data.svm"] {
            let options = format!("--target label --psi 16 -t 8 --partition {partition}");
            room.eyot(&format!("map {file} {options} -f map.eyot -o fitted.csv")).done();
            let fitted = room.read("fitted.csv");
            assert!(room.eyot(&format!("map map.eyot {file} --target label")).done() == fitted);
            assert!(room.eyot(&format!("map -i map.eyot {file} --target label")).done() == fitted);
        }
        assert!(room.eyot("map map.eyot data.svm").code == 0, "the label of svmlight needs no role");
    }
}

#[test]
fn codes_of_a_row_do_not_depend_on_the_other_rows_of_its_file() {
    let room = Room::new();
    let text = Data::new(100).csv();
    room.write("all.csv", &text);
    let lines: Vec<&str> = text.lines().collect();
    room.write("last.csv", [lines[0], lines[100], ""].join("\n"));
    let all = room.eyot("map all.csv --ignore label --psi 8 -t 4 -f map.eyot -o all-codes.csv");
    assert_eq!(all.code, 0);
    let all = String::from_utf8(room.read("all-codes.csv")).unwrap();
    let last = room.eyot("map map.eyot last.csv").text();
    assert_eq!(all.lines().last(), last.lines().last());
}

#[test]
fn any_flipped_byte_of_a_model_is_refused() {
    let room = Room::new();
    room.write("data.csv", Data::new(20).csv());
    room.eyot("map data.csv --ignore label --psi 4 -t 2 -f good.eyot -o codes.csv").done();
    let good = room.read("good.eyot");
    // Every byte is covered by the tests of the reader itself; here the program meets a sample of them.
    for at in (0..good.len()).step_by(1 + good.len() / 40) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        room.write("bad.eyot", bad);
        for command in ["inspect bad.eyot", "map bad.eyot data.csv"] {
            let outcome = room.eyot(command);
            assert_eq!((outcome.code, outcome.stdout.len()), (1, 0), "byte {at}: {}", outcome.stderr);
        }
    }
}
