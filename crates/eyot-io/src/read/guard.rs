//! A fence around the decoders of Parquet and Arrow, which panic on some damaged files (negative offsets in the
//! metadata, for one). Such a file must end in an error like any other.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder; `None` if it panicked, without a word on stderr. What it worked on must not be used again then.
pub(super) fn guarded<T>(decode: impl FnOnce() -> T) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !INSIDE.get() {
                before(info);
            }
        }));
    });
    INSIDE.set(true);
    let result = catch_unwind(AssertUnwindSafe(decode));
    INSIDE.set(false);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_inside_becomes_none() {
        assert_eq!(guarded(|| 1), Some(1));
        assert_eq!(guarded(|| -> u8 { panic!("damaged") }), None);
        assert!(!INSIDE.get());
    }
}
