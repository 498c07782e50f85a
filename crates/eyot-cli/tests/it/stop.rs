//! Ctrl-C ends the program in order: it says so, and leaves files as they were.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::data::Data;
use crate::program::Room;

/// Sends the signal of Ctrl-C once the program listens for it.
pub(crate) fn press_ctrl_c(child: &Child) {
    let listens = || {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() & 2 != 0
    };
    while !listens() {
        thread::yield_now();
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn ctrl_c_while_waiting_for_input_leaves_files_as_they_were() {
    let room = Room::new();
    room.write("data.csv", Data::new(30).csv());
    room.eyot("map data.csv --ignore label --psi 4 -t 2 -f model.eyot -o codes.csv").done();
    let before = room.contents();
    for args in [
        "map - --ignore label --psi 4 -t 2 -f model.eyot -o codes.csv",
        "map model.eyot - --ignore label -o codes.csv",
        "map - --ignore label --psi 4 -t 2",
    ] {
        let pipes = room.command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = pipes.unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"label,f0,f1,f2\n1,2,3,4\n").unwrap();
        press_ctrl_c(&child);
        // Stdin is still open: the program must not wait for its end.
        let code = child.wait().unwrap().code();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((code, said.as_str()), (Some(130), "stopped\n"), "{args}");
        assert_eq!(room.contents(), before, "{args}");
        drop(stdin);
    }
}

#[test]
fn ctrl_c_while_computing_leaves_files_as_they_were() {
    let room = Room::new();
    room.write("data.csv", Data::new(60_000).csv());
    let before = room.contents();
    let args = "map data.csv --ignore label --psi 4096 -t 1000 -f model.eyot -o codes.parquet";
    let mut child = room.command(args).stderr(Stdio::piped()).spawn().unwrap();
    press_ctrl_c(&child);
    let code = child.wait().unwrap().code();
    assert_eq!(code, Some(130));
    assert_eq!(room.contents(), before);
}
