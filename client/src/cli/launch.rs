//! From the argument list to the exit status.

use std::process::ExitCode;

use clap::Parser as _;

use super::arguments::Arguments;
use super::failure::Failure;
use super::terminal::Format;
use super::usage;
use crate::commands;

/// Parses the arguments, performs the command, and reports its failure if it has one.
pub(crate) fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage::tell(&error),
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
