//! Work in fixed chunks over plain scoped threads. The caller says how many threads; chunk boundaries never depend
//! on it, so neither do results. Threads live only as long as the call, which keeps the core free of global state and
//! safe after a fork; starting two costs about 30 µs, against calls of milliseconds and more.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::error::{Error, Result};

/// How a long call may run and whom it tells.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    threads: usize,
    watch: Option<&'a dyn Watch>,
    /// Whether the watcher is told of progress; otherwise it is only asked whether to go on.
    reports: bool,
}

/// Told about the progress of a long call, about once per chunk, from any thread.
pub trait Watch: Sync {
    /// `done` of `total` units of `stage` are finished. Returns whether to go on; `false` ends the call with
    /// [`Error::Stopped`].
    fn progress(&self, stage: &'static str, done: usize, total: usize) -> bool;

    /// Whether to go on: asked inside a unit of work, which has no progress of its own to report.
    fn goes_on(&self) -> bool {
        true
    }
}

impl Default for Run<'_> {
    fn default() -> Self {
        Self::single()
    }
}

impl<'a> Run<'a> {
    /// On the calling thread alone.
    pub const fn single() -> Self {
        Self { threads: 1, watch: None, reports: true }
    }

    /// On `threads` threads, the calling one among them (0 counts as 1).
    pub const fn threads(threads: usize) -> Self {
        Self { threads: if threads == 0 { 1 } else { threads }, watch: None, reports: true }
    }

    /// Reports progress to `watch`, which may stop the call.
    #[must_use]
    pub const fn watched(self, watch: &'a dyn Watch) -> Self {
        Self { threads: self.threads, watch: Some(watch), reports: true }
    }

    /// On the calling thread alone, for work inside an outer parallel loop, which reports for it. It can be stopped.
    #[must_use]
    pub const fn inner(self) -> Self {
        Self { threads: 1, watch: self.watch, reports: false }
    }

    /// How many threads may work.
    pub const fn n_threads(&self) -> usize {
        self.threads
    }

    /// Tells the watcher; an error if it wants to stop.
    pub fn tick(&self, stage: &'static str, done: usize, total: usize) -> Result<()> {
        match self.watch {
            Some(watch) if self.reports && !watch.progress(stage, done, total) => Err(Error::Stopped),
            Some(watch) if !self.reports && !watch.goes_on() => Err(Error::Stopped),
            _ => Ok(()),
        }
    }

    /// Calls `work(i)` for every `i` in `0..n`, in parallel, and returns the results in order.
    pub fn map<R: Send>(
        &self,
        stage: &'static str,
        n: usize,
        work: impl Fn(usize) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let mut results: Vec<Option<R>> = (0..n).map(|_| None).collect();
        self.chunks_mut(stage, &mut results, 1, |i, slot| {
            slot[0] = Some(work(i)?);
            Ok(())
        })?;
        Ok(results.into_iter().map(|result| result.expect("every chunk has run")).collect())
    }

    /// Both results, side by side if there is a second thread.
    pub(crate) fn both<A, B: Send>(&self, a: impl FnOnce() -> A, b: impl FnOnce() -> B + Send) -> (A, B) {
        if self.threads == 1 {
            return (a(), b());
        }
        thread::scope(|scope| {
            let other = scope.spawn(b);
            let own = a();
            (own, other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }

    /// The length of chunks of `n` items, at most `most`, that keeps all threads equally busy.
    pub(crate) fn evenly(&self, n: usize, most: usize) -> usize {
        let chunks = n.div_ceil(most).next_multiple_of(self.threads);
        n.div_ceil(chunks.max(1)).max(1)
    }

    /// Cuts `out` into chunks of `chunk` items (the last may be shorter) and calls `work(chunk number, chunk)` for
    /// each, in parallel. The first error in chunk order of those that occurred is returned.
    ///
    /// # Panics
    /// If `chunk` is 0.
    pub fn chunks_mut<T: Send>(
        &self,
        stage: &'static str,
        out: &mut [T],
        chunk: usize,
        work: impl Fn(usize, &mut [T]) -> Result<()> + Sync,
    ) -> Result<()> {
        let total = out.len().div_ceil(chunk);
        if self.threads == 1 || total <= 1 {
            for (i, part) in out.chunks_mut(chunk).enumerate() {
                work(i, part)?;
                self.tick(stage, i + 1, total)?;
            }
            return Ok(());
        }
        let todo = Mutex::new(out.chunks_mut(chunk).enumerate());
        let done = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        let worker = || {
            while !stop.load(Ordering::Relaxed) {
                let Some((i, part)) = todo.lock().expect("no panic while handing out chunks").next() else { return };
                let outcome =
                    work(i, part).and_then(|()| self.tick(stage, done.fetch_add(1, Ordering::Relaxed) + 1, total));
                if let Err(error) = outcome {
                    stop.store(true, Ordering::Relaxed);
                    let mut failure = failure.lock().expect("no panic while noting an error");
                    if failure.as_ref().is_none_or(|(first, _)| i < *first) {
                        *failure = Some((i, error));
                    }
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..self.threads.min(total) {
                scope.spawn(worker);
            }
            worker();
        });
        match failure.into_inner().expect("all threads have ended") {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_on_any_number_of_threads() {
        for threads in [1, 2, 5] {
            let squares = Run::threads(threads).map("test", 100, |i| Ok(i * i)).unwrap();
            assert!(squares.iter().enumerate().all(|(i, &square)| square == i * i));
        }
    }

    #[test]
    fn two_results_come_in_order_on_any_number_of_threads() {
        for threads in [1, 2] {
            assert_eq!(Run::threads(threads).both(|| 1, || "two"), (1, "two"));
        }
    }

    #[test]
    fn all_threads_get_as_many_chunks() {
        for (threads, n, most) in
            [(1, 0, 4096), (2, 0, 4096), (2, 1, 4096), (2, 1342, 4096), (3, 19_418, 4096), (2, 8192, 4096)]
        {
            let chunk = Run::threads(threads).evenly(n, most);
            assert!(chunk >= 1 && chunk <= most);
            let chunks = n.div_ceil(chunk);
            assert!(n < threads || chunks.is_multiple_of(threads), "{n} rows in {chunks} chunks on {threads} threads");
        }
    }

    #[test]
    fn an_error_ends_the_call() {
        let outcome = Run::threads(2).map("test", 50, |i| if i == 20 { Err(Error::Empty) } else { Ok(i) });
        assert_eq!(outcome.unwrap_err(), Error::Empty);
    }

    #[test]
    fn a_watcher_can_stop_the_call() {
        struct StopAtThree;
        impl Watch for StopAtThree {
            fn progress(&self, _: &'static str, done: usize, _: usize) -> bool {
                done < 3
            }
        }
        let outcome = Run::threads(2).watched(&StopAtThree).map("test", 1000, Ok);
        assert_eq!(outcome.unwrap_err(), Error::Stopped);
    }

    #[test]
    fn work_inside_a_unit_reports_nothing_and_can_be_stopped() {
        struct StopInside(AtomicUsize);
        impl Watch for StopInside {
            fn progress(&self, stage: &'static str, _: usize, _: usize) -> bool {
                assert_eq!(stage, "outer");
                true
            }

            fn goes_on(&self) -> bool {
                self.0.fetch_add(1, Ordering::Relaxed) < 25
            }
        }
        let watch = StopInside(AtomicUsize::new(0));
        let run = Run::threads(2).watched(&watch);
        let outcome = run.map("outer", 10, |_| run.inner().map("inner", 10, Ok));
        assert_eq!(outcome.unwrap_err(), Error::Stopped);
    }
}
