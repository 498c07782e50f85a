//! Long calls: without the interpreter's lock, on as many threads as asked for, stopped by Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use eyot::{Run, Watch};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::to_py;

/// How often the interpreter is asked whether a signal has come.
const PATIENCE: Duration = Duration::from_millis(50);

/// Calls the core. `progress`, if there is one, is called with stage, units done and units in all, now and then.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(Run<'_>) -> eyot::Result<T> + Send,
) -> PyResult<T> {
    let watch = Signals {
        caller: thread::current().id(),
        progress,
        asked: Mutex::new(Instant::now()),
        stop: AtomicBool::new(false),
        raised: Mutex::new(None),
    };
    let outcome = py.detach(|| catch_unwind(AssertUnwindSafe(|| work(Run::threads(threads).watched(&watch)))));
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            let raised = watch.raised.into_inner().unwrap_or_default();
            Err(raised.unwrap_or_else(|| to_py(error)))
        }
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Err(PyRuntimeError::new_err(format!("a bug in eyot, please report it: {text}")))
        }
    }
}

/// Looks for Ctrl-C, on the thread that Python called from; the other threads see what it found.
struct Signals {
    caller: ThreadId,
    progress: Option<Py<PyAny>>,
    asked: Mutex<Instant>,
    stop: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

impl Signals {
    /// Looks for a signal and tells of progress, if there is any, unless that was done just now.
    fn ask(&self, report: Option<(&'static str, usize, usize)>) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            return false;
        }
        if thread::current().id() != self.caller {
            return true;
        }
        let last = report.is_some_and(|(_, done, total)| done >= total) && self.progress.is_some();
        if let Ok(mut asked) = self.asked.lock() {
            if asked.elapsed() < PATIENCE && !last {
                return true;
            }
            *asked = Instant::now();
        }
        let outcome = Python::attach(|py| {
            py.check_signals()?;
            self.progress.as_ref().zip(report).map_or(Ok(()), |(call, report)| call.call1(py, report).map(drop))
        });
        let Err(error) = outcome else { return true };
        self.stop.store(true, Ordering::Relaxed);
        if let Ok(mut raised) = self.raised.lock() {
            *raised = Some(error);
        }
        false
    }
}

impl Watch for Signals {
    fn progress(&self, stage: &'static str, done: usize, total: usize) -> bool {
        self.ask(Some((stage, done, total)))
    }

    fn goes_on(&self) -> bool {
        self.ask(None)
    }
}
