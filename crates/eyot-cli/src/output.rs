//! Where codes go: stdout, a file, or nowhere when only the summary is wanted.

use std::io::{self, BufWriter, Stdout, Write};

use eyot::{Codes, NONE};

use crate::messages;

/// A sink for codes.
pub(crate) enum CodesOut {
    /// Only counted.
    Nowhere,
    /// CSV on stdout.
    Stdout(BufWriter<Stdout>),
}

impl CodesOut {
    /// CSV on stdout, beginning with a header.
    pub(crate) fn stdout(t: usize) -> anyhow::Result<Self> {
        let mut out = messages::stdout();
        write_header(&mut out, t).map_err(messages::stdout_failed)?;
        Ok(Self::Stdout(out))
    }

    /// The codes of the next rows.
    pub(crate) fn write(&mut self, codes: &Codes) -> anyhow::Result<()> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Stdout(out) => write_csv(out, codes).map_err(messages::stdout_failed),
        }
    }

    /// Ends the output; only now does a file get its name.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Stdout(mut out) => out.flush().map_err(messages::stdout_failed),
        }
    }
}

fn write_header(out: &mut impl Write, t: usize) -> io::Result<()> {
    let names: Vec<String> = (0..t).map(|i| format!("c{i}")).collect();
    writeln!(out, "{}", names.join(","))
}

/// A line per row; a gap is an empty cell.
fn write_csv(out: &mut impl Write, codes: &Codes) -> io::Result<()> {
    for row in codes.rows() {
        for (i, cell) in row.cells().enumerate() {
            if i > 0 {
                out.write_all(b",")?;
            }
            if cell != NONE {
                write!(out, "{cell}")?;
            }
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}
