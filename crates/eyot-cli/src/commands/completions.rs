//! `eyot completions`: shell completions from the definitions of the commands themselves.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::{Cli, messages};

const EXAMPLES: &str = "\
EXAMPLES
  bash:  eyot completions bash > ~/.local/share/bash-completion/completions/eyot
  zsh:   eyot completions zsh > ~/.zfunc/_eyot      (with ~/.zfunc in fpath)
  fish:  eyot completions fish > ~/.config/fish/completions/eyot.fish";

/// Print shell completions
///
/// The script completes commands, options and their values. It goes to stdout.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell to complete for
    shell: Shell,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "eyot", &mut script);
    messages::print(&script)
}
