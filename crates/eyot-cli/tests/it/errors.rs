//! Bad input: each case ends with one sentence that names the place, a hint, and the right exit code; files stay as
//! they were. The sentences are snapshots, to be read by a person before they change.

use crate::data::Data;
use crate::program::Room;

#[test]
fn files_without_rows_are_refused() {
    let room = Room::new();
    for (name, contents) in [
        ("empty.csv", ""),
        ("header.csv", "height,weight\n"),
        ("blank.csv", "\n\n"),
        ("empty.svm", ""),
        ("empty.ndjson", ""),
        ("empty.parquet", ""),
        ("empty.arrow", ""),
        ("empty.npy", ""),
        ("empty.csv.gz", ""),
    ] {
        room.write(name, contents);
    }
    let files = room.contents();
    let commands: Vec<String> = files.keys().map(|name| format!("map {name}")).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).chain(["map -"]).collect();
    insta::assert_snapshot!("no-rows", room.refusals(&commands));
}

#[test]
fn odd_cells_and_rows_are_named_with_their_place() {
    let room = Room::new();
    for (name, contents) in [
        ("ragged.csv", "a,b\n1,2\n3\n5,6\n"),
        ("long.csv", "a,b\n1,2\n3,4,5\n"),
        ("text.csv", "a,b\n1,2\n3,tall\n5,6\n7,8\n"),
        ("infinite.csv", "a,b\n1,2\n3,inf\n5,6\n"),
        ("missing.csv", "a,b\n1,2\n3,\n5,6\n"),
        ("nan.csv", "a,b\n1,2\n3,NaN\n5,6\n"),
        ("twice.csv", "a,a\n1,2\n3,4\n"),
        ("ids.csv", "id\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n"),
        ("bad.svm", "1 1:0.5 2:1\n-1 2:1 1:3\n"),
        ("zero.svm", "1 0:0.5 2:1\n"),
        ("bad.ndjson", "{\"a\": 1}\n{\"a\": }\n"),
        ("list.ndjson", "{\"a\": [1, 2]}\n"),
        ("text.parquet", "a,b\n1,2\n"),
        ("text.npy", "a,b\n1,2\n"),
        ("text.arrow", "a,b\n1,2\n"),
        ("text.csv.gz", "a,b\n1,2\n"),
        ("text.csv.zst", "a,b\n1,2\n"),
    ] {
        room.write(name, contents);
    }
    let files = room.contents();
    let commands: Vec<String> = files.keys().map(|name| format!("map {name}")).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    insta::assert_snapshot!("odd-cells", room.refusals(&commands));
}

#[test]
fn columns_and_files_that_are_not_there_are_named() {
    let room = Room::new();
    room.write("data.csv", "height,weight\n1,2\n3,4\n5,7\n");
    let commands = [
        "map absent.csv",
        "map .",
        "map data.csv --ignore hight",
        "map data.csv --text hight",
        "map data.csv --id hight",
        "map data.csv --target hight",
        "map data.csv --ignore height,weight",
        "map data.csv --format parquet",
        "map data.csv --header no",
    ];
    insta::assert_snapshot!("not-there", room.refusals(&commands));
}

#[test]
fn options_outside_their_range_are_wrong_usage() {
    let room = Room::new();
    room.write("data.csv", "height,weight\n1,2\n3,4\n5,7\n");
    room.write("one.csv", "height,weight\n1,2\n");
    let commands = [
        "map",
        "map data.csv --psi 0",
        "map data.csv --psi many",
        "map data.csv --psi 1 --partition sphere",
        "map one.csv --partition sphere",
        "map data.csv -t 0",
        "map data.csv -t 1048577",
        "map data.csv --partition tree --distance text",
        "map data.csv --partition cube",
        "map data.csv --format xlsx",
        "map data.csv --delimiter ,,",
        "map data.csv --threads 0",
        "map data.csv --seed -1",
        "map data.csv --scale log",
        "map data.csv --missing ignore",
        "map data.csv -q -v",
        "map data.csv -o codes.xlsx",
        "map data.csv -o codes.ndjson",
        "map data.csv -o same.csv -f same.csv",
    ];
    insta::assert_snapshot!("wrong-options", room.refusals(&commands));
}

#[test]
fn data_that_does_not_fit_the_model_is_refused() {
    let room = Room::new();
    let data = Data::new(30);
    for (_, extension, bytes) in data.formats() {
        room.write(&format!("data.{extension}"), bytes);
    }
    room.write("more.csv", "label,f0,f1,f2,extra,other\n1,2,3,4,5,6\n");
    room.write("fewer.csv", "label,f0\n1,2\n");
    room.write("renamed.csv", "label,f0,f1,f9\n1,2,3,4\n");
    room.write("word.csv", "label,f0,f1,f2\n1,2,3,tall\n");
    room.write("missing.csv", "label,f0,f1,f2\n1,2,3,\n");
    room.write("huge.csv", "label,f0,f1,f2\n1,2,3,1e308\n1,2,3,-1e308\n");
    room.write("codes.csv", "as before");
    room.eyot("map data.csv --target label --psi 4 -t 2 -f dense.eyot --json").done();
    room.eyot("map data.svm --psi 4 -t 2 -f sparse.eyot --json").done();
    let commands = [
        "map dense.eyot more.csv -o codes.csv",
        "map dense.eyot fewer.csv -o codes.csv",
        "map dense.eyot renamed.csv -o codes.csv",
        "map dense.eyot word.csv -o codes.csv",
        "map dense.eyot missing.csv -o codes.csv",
        "map dense.eyot data.svm -o codes.csv",
        "map sparse.eyot data.csv -o codes.csv",
        "map dense.eyot",
        "map data.csv data.csv -o codes.csv",
        "map dense.eyot data.csv --psi 8",
        "map dense.eyot data.csv -f other.eyot",
        "map -i dense.eyot data.csv --scale none",
        "map dense.eyot data.csv --id nobody",
    ];
    insta::assert_snapshot!("not-of-the-model", room.refusals(&commands));
    assert_eq!(room.eyot("map dense.eyot huge.csv").code, 0, "far away is still a place");
    assert_eq!(room.eyot("map dense.eyot more.csv --ignore extra,other").code, 0);
}

#[test]
fn models_that_are_not_whole_are_refused() {
    let room = Room::new();
    room.write("data.csv", Data::new(30).csv());
    room.eyot("map data.csv --ignore label --psi 4 -t 2 -f good.eyot --json").done();
    let good = room.read("good.eyot");
    room.write("truncated.eyot", &good[..good.len() / 2]);
    room.write("start.eyot", &good[..20]);
    room.write("longer.eyot", [&good[..], b"x"].concat());
    let mut altered = good.clone();
    altered[good.len() - 1] ^= 1;
    room.write("altered.eyot", &altered);
    room.write("empty.eyot", "");
    room.write("foreign.eyot", "label,f0\n1,2\n");
    room.write("picture.eyot", b"\x89PNG\r\n\x1a\n0000000000000000");
    room.write("newer.eyot", resealed(&good, r#"\"format\":1"#, r#"\"format\":9"#));
    room.write("kind.eyot", resealed(&good, r#"\"kind\":\"map\""#, r#"\"kind\":\"new\""#));
    let names = ["truncated", "start", "longer", "altered", "empty", "foreign", "picture", "newer", "absent"];
    let commands: Vec<String> =
        names.iter().flat_map(|name| [format!("inspect {name}.eyot"), format!("map {name}.eyot data.csv")]).collect();
    let mut commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    commands.push("map kind.eyot data.csv");
    insta::assert_snapshot!("not-whole", room.refusals(&commands));
}

/// Changes the header of a model and gives it a right checksum, as a program of another version would.
fn resealed(model: &[u8], from: &str, to: &str) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let at = model.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    let mut bytes = model.to_vec();
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    let key = br#"\"checksum\":\""#;
    let digits = model.windows(key.len()).position(|window| window == key).unwrap() + key.len();
    bytes[digits..digits + 64].fill(b'0');
    let checksum: Vec<String> = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    bytes[digits..digits + 64].copy_from_slice(checksum.concat().as_bytes());
    bytes
}

#[test]
fn what_cannot_be_written_leaves_everything_as_it_was() {
    let room = Room::new();
    room.write("data.csv", Data::new(30).csv());
    room.write("codes.csv", "as before");
    room.write("model.eyot", "as before");
    room.write("bad.csv", "label,f0\n1,2\n3,inf\n");
    let commands = [
        "map data.csv --psi 4 -t 2 -o no/such/folder/codes.csv",
        "map data.csv --psi 4 -t 2 -f no/such/folder/model.eyot",
        "map data.csv --psi 4 -t 2 -o codes.csv -f no/such/folder/model.eyot",
        "map data.csv --psi 4 -t 2 -f model.eyot -o no/such/folder/codes.csv",
        "map data.csv --psi 4 -t 2 -f /dev/full -o codes.csv",
        "map bad.csv --psi 4 -t 2 -f model.eyot -o codes.csv",
        "map data.csv --psi 4 -t 2 --ignore nothing -f model.eyot -o codes.csv",
        "map data.csv --psi 4 -t 2 -f model.eyot -o .",
    ];
    insta::assert_snapshot!("not-written", room.refusals(&commands));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    let room = Room::new();
    room.write("data.csv", Data::new(300).csv());
    room.eyot("map data.csv --ignore label --psi 4 -t 2 -f model.eyot --json").done();
    for args in ["map data.csv --psi 4 -t 2", "map data.csv --psi 4 -t 2 --json", "inspect model.eyot", "man"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = room.command(args).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(message, "error: stdout: No space left on device (os error 28)\n", "{args}");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_success() {
    let room = Room::new();
    room.write("data.csv", Data::new(30_000).csv());
    for args in ["map data.csv --ignore label --psi 2 -t 50", "completions bash", "--help"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = room.command(args).stdout(writer).output().unwrap();
        assert_eq!(
            (output.status.code(), String::from_utf8(output.stderr).unwrap()),
            (Some(0), String::new()),
            "{args}"
        );
    }
}

#[test]
fn odd_but_usable_data_is_used_and_said() {
    let room = Room::new();
    room.write("same.csv", "a,b\n1,2\n1,2\n1,2\n1,2\n");
    room.write("holes.csv", "a,b\n1,2\n3,\n5,6\n,8\n");
    room.write("named.csv", Data::new(30).csv().replace("label", "user_id"));
    let said = |args: &str| {
        let outcome = room.eyot(args);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        format!("$ eyot {args}\n{}{}\n", String::from_utf8(outcome.stdout).unwrap(), outcome.stderr)
    };
    let session: String = [
        "map same.csv --psi 2 -t 3",
        "map same.csv --psi 2 -t 3 --partition sphere",
        "map same.csv --psi 2 -t 3 --partition tree",
        "map holes.csv --psi 2 -t 3 --missing impute",
        "map holes.csv --psi 9 -t 3 --missing impute",
    ]
    .map(said)
    .concat();
    insta::assert_snapshot!("odd-but-usable", session);
}
