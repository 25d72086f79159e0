//! From the argument list to the exit status.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;

use super::arguments::Arguments;
use super::failure::{BRATTICE_FAILED, Failure};
use super::terminal::Format;
use crate::commands;

/// Parses the arguments, performs the command, and reports its failure if it has one.
pub(crate) fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    let format = Format::of(&arguments.global);
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(source) => return Failure::Runtime(source).report(format),
    };
    let outcome = runtime.block_on(commands::perform(arguments));
    // A read of standard input or a write to a full pipe must not keep the process.
    runtime.shutdown_background();
    outcome.unwrap_or_else(|failure| failure.report(format))
}

/// Help and version are answers; every other fault is Brattice's own, so that 2 stays the command's.
fn usage(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    let printed = match text.strip_prefix("error: ") {
        Some(fault) => std::io::stderr().write_all(format!("brattice: {fault}").as_bytes()),
        None => error.print(),
    };
    match printed {
        Ok(()) if !error.use_stderr() => ExitCode::SUCCESS,
        // Where nobody reads what was printed, the exit status still tells.
        Ok(()) | Err(_) => ExitCode::from(BRATTICE_FAILED),
    }
}
