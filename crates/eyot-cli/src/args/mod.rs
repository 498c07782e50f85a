//! Options that several commands share, each declared once with the help that teaches it.

mod run;

pub(crate) use run::MessageArgs;
