//! A fitted thing to bytes and back.
