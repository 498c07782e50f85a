//! Lines of text in a growing buffer: memory is that of the longest line, and no line is longer than 256 MiB.

use std::io::Read;
use std::ops::Range;

use crate::error::{Error, Place, Result};

/// Longest line, 256 MiB: a file without line ends must not fill the memory.
pub(super) const LONGEST: usize = 1 << 28;
/// The buffer doubles from its first size to this with every reading, so short inputs stay cheap.
const BLOCK: usize = 1 << 18;
const FIRST: usize = 1 << 12;

/// Reads line by line; the mark of UTF-8 at the start of a file is left out.
pub(super) struct Lines<R> {
    file: String,
    reader: R,
    buffer: Vec<u8>,
    /// The part of the buffer not yet handed out.
    pending: Range<usize>,
    /// How much of it is known to hold no line end.
    searched: usize,
    /// The line gone on to.
    last: Range<usize>,
    ended: bool,
    number: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(file: &str, reader: R) -> Self {
        let file = file.to_owned();
        Self { file, reader, buffer: Vec::new(), pending: 0..0, searched: 0, last: 0..0, ended: false, number: 0 }
    }

    /// Goes on to the next line; false after the last.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<bool> {
        let mut range = loop {
            let from = self.pending.start + self.searched;
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[from..self.pending.end]) {
                let range = self.pending.start..from + at;
                self.pending.start = range.end + 1;
                break range;
            }
            self.searched = self.pending.len();
            if self.ended {
                if self.pending.is_empty() {
                    return Ok(false);
                }
                let range = self.pending.clone();
                self.pending.start = self.pending.end;
                break range;
            }
            self.fill()?;
        };
        self.searched = 0;
        if self.number == 0 && self.buffer[range.clone()].starts_with(b"\xef\xbb\xbf") {
            range.start += 3;
        }
        self.number += 1;
        if self.buffer[range.clone()].ends_with(b"\r") {
            range.end -= 1;
        }
        self.last = range;
        Ok(true)
    }

    /// Whether the next line is here already, so that going on to it need not wait.
    pub(super) fn has_line(&mut self) -> bool {
        let from = self.pending.start + self.searched;
        if memchr::memchr(b'\n', &self.buffer[from..self.pending.end]).is_some() {
            return true;
        }
        self.searched = self.pending.len();
        self.ended
    }

    #[cold]
    fn fill(&mut self) -> Result<()> {
        self.buffer.copy_within(self.pending.clone(), 0);
        self.pending = 0..self.pending.len();
        if self.pending.end > LONGEST {
            let (row, line) = (self.number + 1, Some(self.number + 1));
            let place = Box::new(Place { file: self.file.clone(), row, line });
            let what = format!("the line is longer than {LONGEST} bytes");
            return Err(Error::Row { place, what, hint: Some("check that this is a text file with line ends") });
        }
        let size = self.buffer.len();
        if size < BLOCK || self.pending.end > size / 2 {
            self.buffer.resize((2 * size).max(FIRST), 0);
        }
        let got = loop {
            match self.reader.read(&mut self.buffer[self.pending.end..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                got => break got.map_err(|error| Error::io(&self.file, error))?,
            }
        };
        self.pending.end += got;
        self.ended = got == 0;
        Ok(())
    }

    /// The line that was gone on to, without its end (`\n` or `\r\n`).
    #[inline]
    pub(super) fn line(&self) -> &[u8] {
        &self.buffer[self.last.clone()]
    }

    /// This line as the place of a row.
    pub(super) fn place(&self, row: usize) -> Place {
        Place { file: self.file.clone(), row: row as u64 + 1, line: Some(self.number) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out one byte at a time, the worst a pipe can do.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let got = self.0.len().min(buffer.len()).min(1);
            buffer[..got].copy_from_slice(&self.0[..got]);
            self.0 = &self.0[got..];
            Ok(got)
        }
    }

    fn lines<R: Read>(reader: R) -> Vec<String> {
        let mut lines = Lines::new("x", reader);
        let mut all = Vec::new();
        while lines.advance().unwrap() {
            all.push(String::from_utf8(lines.line().to_vec()).unwrap());
        }
        assert_eq!(lines.number, all.len() as u64);
        all
    }

    #[test]
    fn lines_are_the_same_however_the_bytes_arrive() {
        for text in ["", "a", "a\n", "a\r\nb\n\nc", "\n\n", "\u{feff}a\nb"] {
            let expected: Vec<_> = text.trim_start_matches('\u{feff}').lines().collect();
            assert_eq!(lines(text.as_bytes()), expected, "{text:?}");
            assert_eq!(lines(Drip(text.as_bytes())), expected, "{text:?}");
        }
    }

    #[test]
    fn long_lines_grow_the_buffer() {
        let long = "x".repeat(3 * BLOCK + 7);
        assert_eq!(lines(format!("{long}\n1\n{long}").as_bytes()), [&long, "1", &long]);
    }
}
