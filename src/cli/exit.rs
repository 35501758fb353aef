//! The exit codes: the same in every output format.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// Nothing at or above `--fail-on`.
    Clean,
    /// There is.
    Findings,
    /// Usage, configuration, I/O, or a file that could not be parsed.
    Trouble,
    /// No Istio resource to check in the inputs.
    Nothing,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::Trouble => 2,
            Exit::Nothing => 3,
        })
    }
}
