//! `brattice man`: the manual pages, made of what the command line declares, so that they tell what `--help` tells.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use serde_json::json;

use crate::cli::arguments::Arguments;
use crate::cli::context::print;
use crate::cli::{Context, Failure};

/// Prints the page of `brattice`, or writes one for each command into a folder.
pub(crate) fn man(context: &Context, folder: Option<&Path>) -> Result<ExitCode, Failure> {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = folder else {
        print(page(&command).map_err(Failure::output("output"))?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut written = Vec::new();
    write(&command, folder, &mut written)?;
    context.show("the pages", &json!({"pages": written}), |_| written.join("\n") + "\n")
}

/// Writes the page of a command and those of the commands below it, and gives their files' names.
fn write(command: &Command, folder: &Path, written: &mut Vec<String>) -> Result<(), Failure> {
    let name = Man::new(command.clone()).get_filename();
    let path = folder.join(&name);
    let made = page(command).and_then(|page| File::create(&path)?.write_all(&page));
    made.map_err(|source| Failure::Write { path, source })?;
    written.push(name);
    let mut below = command.get_subcommands().filter(|below| !below.is_hide_set());
    below.try_for_each(|below| write(below, folder, written))
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}
