//! The command-line program `eyot`. This file only dispatches: options are read in `args/`, each verb is one file of
//! `commands/`, a [`job::Job`] runs it, and everything a person or program reads is printed by `messages.rs`.

mod args;
mod commands;
mod contest;
mod fit;
mod input;
mod job;
mod messages;
mod progress;

use std::process::ExitCode;

use clap::Parser;

/// Kernel learning with the Isolation Kernel.
///
/// A row becomes t small integers, its cell in each of t random partitionings of the data; two rows are as similar as
/// the share of cells they have in common. No bandwidth, no distance matrix, and similarity adapts to the local
/// density of the data.
#[derive(Parser)]
#[command(name = "eyot", version, subcommand_required = true, arg_required_else_help = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    messages::explain_panics();
    match Cli::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => messages::failure(&error),
    }
}
