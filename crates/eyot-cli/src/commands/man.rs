//! `eyot man`: manual pages from the definitions of the commands themselves.

use clap::CommandFactory;
use clap_mangen::Man;

use crate::messages::{self, Usage};
use crate::Cli;

const EXAMPLES: &str = "\
EXAMPLES
  Read a page now:             eyot man map | man -l -
  Install the overview page:   eyot man > /usr/local/share/man/man1/eyot.1";

/// Print a manual page
///
/// Without COMMAND the overview, eyot(1); with one, the page of that command, eyot-COMMAND(1). The page is roff text
/// on stdout.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The command to describe
    command: Option<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let mut cli = Cli::command();
    cli.build();
    let page = match &args.command {
        None => cli,
        Some(name) => {
            let known: Vec<&str> = 
                cli.get_subcommands().map(clap::Command::get_name).filter(|&name| name != "help").collect();
            let Some(command) = cli.find_subcommand(name) else {
                let hint = format!("the commands are: {}", known.join(", "));
                return Err(Usage::new(format!("there is no command `{name}`")).hint(hint).into());
            };
            command.clone()
        }
    };
    let mut roff = Vec::new();
    Man::new(page).render(&mut roff)?;
    messages::print(&roff)
}
