//! Progress bars and Ctrl-C. Both hang on the same thread: a long call tells its watcher how far it is, and the
//! watcher answers whether to go on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};
use std::{fmt, fs, process};

use eyot::Watch;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::messages;

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Set by Ctrl-C, asked by every watcher.
static STOP: AtomicBool = AtomicBool::new(false);

/// Lets Ctrl-C (and a request to terminate) end long calls in order; the second one ends the program at once.
///
/// Under `nohup` nothing is installed, since a handler would undo the hangup that the user chose to ignore.
pub(crate) fn stop_on_ctrl_c() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        if hangups_are_ignored() {
            return;
        }
        // Without a handler Ctrl-C still ends the program, only less tidily: no reason to refuse to work.
        let _ = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::Relaxed) {
                process::exit(i32::from(messages::STOPPED));
            }
        });
    });
}

fn hangups_are_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// Whether the user has asked to stop.
pub(crate) fn stop_requested() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Asks whether to stop and shows nothing: for calls that are steps of a loop with a bar of its own.
pub(crate) struct Silent;

impl Watch for Silent {
    fn progress(&self, _: &'static str, _: usize, _: usize) -> bool {
        self.goes_on()
    }

    fn goes_on(&self) -> bool {
        !stop_requested()
    }
}

/// A bar on stderr that appears after a second, if somebody can see it.
pub(crate) struct Progress {
    since: Instant,
    shown: bool,
    bar: Mutex<Option<(&'static str, ProgressBar)>>,
}

impl Progress {
    /// Shows nothing if `quiet` or when stderr is not a terminal.
    pub(crate) fn new(quiet: bool) -> Self {
        let shown = !quiet && messages::stderr_is_terminal();
        Self { since: Instant::now(), shown, bar: Mutex::new(None) }
    }

    /// Runs `print` with the bar out of the way.
    pub(crate) fn aside(&self, print: impl FnOnce()) {
        match &*self.bar.lock().expect("no panic while drawing") {
            Some((_, bar)) => bar.suspend(print),
            None => print(),
        }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        if let Some((_, bar)) = self.bar.lock().expect("no panic while drawing").take() {
            bar.finish_and_clear();
        }
    }
}

impl Watch for Progress {
    /// A `total` of 0 means that nobody knows.
    fn progress(&self, stage: &'static str, done: usize, total: usize) -> bool {
        if self.shown && self.since.elapsed() >= PATIENCE {
            let mut bar = self.bar.lock().expect("no panic while drawing");
            if !matches!(&*bar, Some((shown, _)) if *shown == stage) {
                if let Some((_, old)) = bar.take() {
                    old.finish_and_clear();
                }
                *bar = Some((stage, new_bar(stage, total)));
            }
            if let Some((_, bar)) = &*bar {
                bar.set_position(done as u64);
            }
        }
        self.goes_on()
    }

    fn goes_on(&self) -> bool {
        !stop_requested()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn new_bar(stage: &'static str, total: usize) -> ProgressBar {
    let (length, template) = if total == 0 {
        (None, "{msg:>8} {spinner} {human_pos} rows, {elapsed}")
    } else {
        (Some(total as u64), "{msg:>8} {wide_bar} {percent:>3} %{left}")
    };
    let style = ProgressStyle::with_template(template).expect("the template is ours");
    // Nothing is said about the time left until there is something to say.
    let left = |state: &ProgressState, out: &mut dyn fmt::Write| {
        let seconds = state.eta().as_secs();
        let _ = if seconds == 0 { Ok(()) } else { write!(out, ", {} left", HumanDuration(state.eta())) };
    };
    let style = style.with_key("left", left).progress_chars("━╸ ");
    ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr_with_hz(8)).with_style(style).with_message(stage)
}
