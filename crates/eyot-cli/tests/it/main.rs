//! Runs the real program on generated files.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod data;
mod program;

mod compare;
mod demo;
mod errors;
mod detect;
mod help;
mod inspect;
mod map;
mod mil;
mod parity;
mod reproduce;
mod stop;
mod stream;
mod train;
