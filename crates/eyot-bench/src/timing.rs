//! Clocks, and the lines that results are written as.

use std::time::Instant;

use serde_json::{Value, json};

use crate::{Outcome, say};

/// Repeats of work that takes up to ten seconds; longer work is repeated less often.
const REPEATS: usize = 5;

/// The quickest of several repeats.
pub(crate) struct Timed<T> {
    pub(crate) seconds: f64,
    pub(crate) repeats: usize,
    pub(crate) result: T,
}

/// Times `work` on what `prepare` makes anew for each repeat outside the clock.
pub(crate) fn fastest<S, T>(prepare: impl Fn() -> S, work: impl Fn(S) -> Outcome<T>) -> Outcome<Timed<T>> {
    let once = || -> Outcome<(f64, T)> {
        let prepared = prepare();
        let start = Instant::now();
        let result = work(prepared)?;
        Ok((start.elapsed().as_secs_f64(), result))
    };
    let (mut seconds, mut result) = once()?;
    let repeats = repeats_after(seconds);
    for _ in 1..repeats {
        let (again, same) = once()?;
        seconds = seconds.min(again);
        result = same;
    }
    Ok(Timed { seconds, repeats, result })
}

/// Repeats in all, if the first took so long.
fn repeats_after(seconds: f64) -> usize {
    match seconds {
        ..=10.0 => REPEATS,
        ..=60.0 => 2,
        _ => 1,
    }
}

/// Prints one result of ours; `more` has further keys.
pub(crate) fn result(cell: &str, seconds: f64, repeats: usize, more: Value) -> Outcome<()> {
    result_of("eyot", cell, seconds, repeats, more)
}

/// The same under another name.
pub(crate) fn result_of(who: &str, cell: &str, seconds: f64, repeats: usize, more: Value) -> Outcome<()> {
    let mut line = json!({ "cell": cell, "who": who, "seconds": seconds, "repeats": repeats });
    if let (Some(line), Value::Object(more)) = (line.as_object_mut(), more) {
        line.extend(more);
    }
    say(&line)
}
