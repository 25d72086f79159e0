//! `brattice task input`: types a line into a task, or passes standard input on to it.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use super::find::{connect, find};
use crate::cli::task::Input;
use crate::cli::{Context, Failure};
use crate::commands::follow::{InputEnd, PIECE, Passed, Task, read_stdin};

/// Writes to the task; returns once its command has taken it all.
pub(super) async fn input(context: &Context, arguments: Input) -> Result<ExitCode, Failure> {
    let Input { target, text, eof } = arguments;
    let link = connect(context).await?;
    let task = find(&link, &target).await?.by(link);
    let mut passed = match text {
        Some(line) => pass_line(&task, line + "\n").await?,
        // A person who wants nothing but the end need not type it.
        None if eof && io::stdin().is_terminal() => Passed::Once,
        None => pass_stdin(&task).await?,
    };
    if eof {
        passed = passed.and(task.input(&[], InputEnd::Eof).await?);
    }
    match passed {
        Passed::Once => Ok(ExitCode::SUCCESS),
        Passed::PerhapsTwice => Err(Failure::DoubtfulInput),
    }
}

async fn pass_line(task: &Task, line: String) -> Result<Passed, Failure> {
    let mut passed = Passed::Once;
    for piece in line.as_bytes().chunks(PIECE) {
        passed = passed.and(task.input(piece, InputEnd::More).await?);
    }
    Ok(passed)
}

async fn pass_stdin(task: &Task) -> Result<Passed, Failure> {
    let mut pieces = read_stdin();
    let mut passed = Passed::Once;
    while let Some(piece) = pieces.recv().await {
        let piece = piece.map_err(Failure::Input)?;
        passed = passed.and(task.input(&piece, InputEnd::More).await?);
    }
    Ok(passed)
}
