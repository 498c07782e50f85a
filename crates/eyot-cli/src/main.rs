//! The command-line program `eyot`.

fn main() {}
