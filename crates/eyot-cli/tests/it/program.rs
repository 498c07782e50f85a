//! The program under test, in a directory of its own.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A temporary directory in which the program runs, so that messages show short, stable paths.
pub(crate) struct Room(TempDir);

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// All files and what is in them.
    pub(crate) fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        let files = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path());
        files
            .filter(|path| path.is_file())
            .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
            .collect()
    }

    /// Runs `eyot` with these words as arguments.
    pub(crate) fn eyot(&self, args: &str) -> Outcome {
        self.eyot_on(args, b"")
    }

    /// The same with bytes on stdin.
    pub(crate) fn eyot_on(&self, args: &str, stdin: &[u8]) -> Outcome {
        let mut child =
            self.command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let bytes = stdin.to_vec();
        // The program may end without reading all of it.
        let writer = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Outcome {
            code: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// A session as a person would see it, for a snapshot: each command with what it prints and its exit code. All of
    /// them must fail, leave stdout empty, and leave the files as they were.
    #[track_caller]
    pub(crate) fn refusals(&self, commands: &[&str]) -> String {
        let before = self.contents();
        let mut session = String::new();
        for &args in commands {
            let outcome = self.eyot(args);
            assert!(outcome.code != 0, "eyot {args} succeeded");
            assert_eq!(String::from_utf8_lossy(&outcome.stdout), "", "eyot {args}");
            assert_eq!(self.contents(), before, "eyot {args} changed files");
            let _ = write!(session, "$ eyot {args}\n{}(exit code {})\n\n", outcome.stderr, outcome.code);
        }
        session
    }

    pub(crate) fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eyot"));
        command.args(args.split_whitespace()).current_dir(self.0.path()).env("COLUMNS", "100");
        command
    }
}

impl Outcome {
    /// Stdout of a run that must have succeeded.
    #[track_caller]
    pub(crate) fn done(self) -> Vec<u8> {
        assert_eq!(self.code, 0, "{}", self.stderr);
        self.stdout
    }

    /// The same as text.
    #[track_caller]
    pub(crate) fn text(self) -> String {
        String::from_utf8(self.done()).unwrap()
    }

    /// The one JSON object on stdout of a run that must have succeeded.
    #[track_caller]
    pub(crate) fn json(self) -> serde_json::Value {
        let text = self.text();
        let object: serde_json::Value = serde_json::from_str(&text).unwrap();
        let quotes = |text: &str| text.matches('"').count();
        assert_eq!(quotes(&text), quotes(&object.to_string()), "a key stands twice");
        object
    }
}
