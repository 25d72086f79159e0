//! `brattice completions`: the script that a shell reads to complete our arguments.

use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Failure;
use crate::cli::arguments::Arguments;
use crate::cli::context::print;

/// Prints the script for `shell`.
pub(crate) fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "brattice", &mut script);
    print(script)?;
    Ok(ExitCode::SUCCESS)
}
