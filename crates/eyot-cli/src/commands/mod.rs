//! One file per verb: `Args`, whose doc is the command's help, and `run`. A new command is its file and one line of
//! the list below.

use clap::Subcommand;

/// Declares the modules, the enum that clap reads, and the dispatch.
macro_rules! commands {
    ($($module:ident => $name:ident,)*) => {
        $(mod $module;)*

        /// What to do.
        #[derive(Subcommand)]
        pub(crate) enum Command {
            $(#[allow(missing_docs, reason = "clap takes the help from the Args of the command")]
              $name(Box<$module::Args>),)*
        }

        impl Command {
            /// Runs the command to its end.
            pub(crate) fn run(&self) -> anyhow::Result<()> {
                match self {
                    $(Self::$name(args) => $module::run(args),)*
                }
            }
        }
    };
}

commands! {
    demo => Demo,
    detect => Detect,
    train => Train,
    mil => Mil,
    predict => Predict,
    map => Map,
    stream => Stream,
    compare => Compare,
    reproduce => Reproduce,
    inspect => Inspect,
    completions => Completions,
    man => Man,
}
