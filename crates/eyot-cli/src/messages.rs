//! The only file that prints: data to stdout, words to stderr, one sentence shape for every failure.
//!
//! A failure is an `error:` line that names the place, the value and the rule, and a `hint:` line with the way out.
//! What the hint is depends on the kind of error, never on its text.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use serde::Serialize;

/// Exit code of work that failed.
const FAILED: u8 = 1;
/// Exit code of wrong usage.
const WRONG_USAGE: u8 = 2;
/// Exit code after Ctrl-C, as shells have it: 128 + SIGINT.
pub(crate) const STOPPED: u8 = 130;

/// Options that do not fit together or to what was found, seen only after they were parsed.
#[derive(Debug)]
pub(crate) struct Usage {
    message: String,
    hint: Option<String>,
}

impl Usage {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    /// The way out.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Usage {}

/// Says why the work failed and returns the exit code. A closed pipe is success: whoever read has had enough.
pub(crate) fn failure(error: &anyhow::Error) -> ExitCode {
    if error.chain().any(is_closed_pipe) {
        return ExitCode::SUCCESS;
    }
    if let Some(eyot::Error::Stopped) = core_error(error) {
        complain("stopped");
        return ExitCode::from(STOPPED);
    }
    complain(&format!("error: {}", sentence(error)));
    if let Some(hint) = hint(error) {
        complain(&format!("hint: {hint}"));
    }
    let usage = error.is::<Usage>() || matches!(core_error(error), Some(eyot::Error::Param { .. }));
    ExitCode::from(if usage { WRONG_USAGE } else { FAILED })
}

/// Where it happened and what: the outer places, then the error, which says itself what is behind it.
fn sentence(error: &anyhow::Error) -> String {
    let mut parts = Vec::new();
    for cause in error.chain() {
        parts.push(cause.to_string());
        if cause.is::<eyot_io::Error>() {
            break;
        }
    }
    parts.join(": ")
}

/// The error of the core behind a failure, if there is one.
fn core_error(error: &anyhow::Error) -> Option<&eyot::Error> {
    match error.downcast_ref::<eyot_io::Error>() {
        Some(eyot_io::Error::Core(core) | eyot_io::Error::Data { source: core, .. }) => Some(core),
        _ => error.downcast_ref(),
    }
}

fn is_closed_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The way out of a failure, where there is a general one.
fn hint(error: &anyhow::Error) -> Option<String> {
    if let Some(usage) = error.downcast_ref::<Usage>() {
        return usage.hint.clone();
    }
    let hint = match core_error(error) {
        None => return error.downcast_ref::<eyot_io::Error>().and_then(eyot_io::Error::hint),
        Some(eyot::Error::Missing { .. }) => "drop such rows, or fit with --missing impute, which fills them in".into(),
        Some(eyot::Error::MissingRole { .. }) => "drop such rows: a bag, label or target cannot be filled in".into(),
        Some(eyot::Error::NotFinite { column: eyot::ColumnRef::Name(name), .. }) => {
            format!("drop such rows, or fit without the column: --ignore {name}")
        }
        Some(eyot::Error::NotFinite { .. }) => "drop such rows, or such columns".into(),
        Some(eyot::Error::Model(_)) => {
            "a model is a file that -f has written; if this one was copied, copy it again".into()
        }
        Some(eyot::Error::ModelKind { .. }) => "`eyot inspect` says what is in a model".into(),
        Some(eyot::Error::Columns { missing, unknown }) if missing.is_empty() => {
            format!("leave them out with --ignore {}", unknown.join(","))
        }
        Some(eyot::Error::Columns { .. }) => "the data must have the columns that the model was fitted on".into(),
        Some(eyot::Error::Negative { .. }) => {
            "scale the columns with --scale minmax, or move them to start at 0 with --shift".into()
        }
        Some(eyot::Error::Diverged { .. }) => "take smaller steps: a smaller --eta, or a larger --lambda".into(),
        Some(eyot::Error::Param { .. }) => "`--help` says what each option means".into(),
        Some(_) => return None,
    };
    Some(hint)
}

/// One line to stderr. If even that fails there is nobody left to tell.
fn complain(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Something the user should know although the work goes on.
pub(crate) fn note(text: &str) {
    complain(&format!("note: {text}"));
}

/// A detail for those who asked for it.
pub(crate) fn detail(text: &str) {
    complain(text);
}

/// Bytes to stdout.
pub(crate) fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(stdout_failed)
}

/// Exactly one JSON object to stdout.
pub(crate) fn json(object: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(object)?;
    text.push('\n');
    print(text.as_bytes())
}

/// Two columns for people, names left and values right of them.
pub(crate) fn facts(facts: &[(impl AsRef<str>, String)]) -> anyhow::Result<()> {
    let width = facts.iter().map(|(name, _)| name.as_ref().chars().count()).max().unwrap_or(0);
    let lines: Vec<String> = facts.iter().map(|(name, value)| format!("{:<width$}  {value}", name.as_ref())).collect();
    let text: String = lines.iter().flat_map(|line| [line.trim_end(), "\n"]).collect();
    print(text.as_bytes())
}

/// Names stdout in an error of writing to it.
fn stdout_failed(error: io::Error) -> anyhow::Error {
    anyhow::Error::new(error).context("stdout")
}

/// Whether a progress bar would be seen by somebody.
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// A panic is a bug of ours; it is said so, shortly. Bad input must never end here.
pub(crate) fn explain_panics() {
    std::panic::set_hook(Box::new(|panic| {
        complain(&format!("error: this is a bug in eyot: {panic}"));
        complain("hint: please report the command and the lines above");
    }));
}

/// A count as people read it: 567498 as 567,498.
pub(crate) fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_a_comma_every_three_digits() {
        assert_eq!([count(0), count(999), count(1000), count(567_498)], ["0", "999", "1,000", "567,498"]);
    }
}
