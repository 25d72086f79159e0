//! `brattice audit tail`: the newest lines, and those that come.

use std::collections::VecDeque;
use std::process::ExitCode;

use brattice_protocol::audit::FileNumber;

use super::files::{LogError, LogFiles};
use super::follow::{Cursor, Watch};
use super::{log_files, words};
use crate::cli::audit::Tail;
use crate::cli::context::print;
use crate::cli::terminal::{Format, Style};
use crate::cli::{Context, Failure};

/// Shows the newest lines, and with `-f` goes on until a signal ends the program.
pub(super) fn tail(context: &Context, arguments: &Tail) -> Result<ExitCode, Failure> {
    let files = log_files(context, &arguments.log);
    // Before the lines are read, so that none falls between.
    let watch = if arguments.follow { Some(Watch::new(&files)?) } else { None };
    let Newest { lines, mut cursor } = Newest::of(&files, arguments.lines)?;
    let show = |line: &[u8]| shown(context.format, line);
    print(lines.iter().flat_map(|line| show(line)).collect::<Vec<u8>>())?;
    let Some(watch) = watch else {
        return Ok(ExitCode::SUCCESS);
    };
    loop {
        cursor.advance(&files, |line| print(show(line)))?;
        watch.wait()?;
    }
}

/// A line as it is shown: to programs as it stands in the file.
fn shown(format: Format, line: &[u8]) -> Vec<u8> {
    match format {
        Format::Json => line.to_vec(),
        Format::Text => words::line(line, Style::of_stdout()).into_bytes(),
    }
}

/// The newest whole lines, and where the log goes on.
#[derive(Debug, PartialEq, Eq)]
struct Newest {
    lines: VecDeque<Vec<u8>>,
    cursor: Cursor,
}

impl Newest {
    fn of(files: &LogFiles, most: usize) -> Result<Newest, LogError> {
        let mut newest = Newest { lines: VecDeque::new(), cursor: Cursor::START };
        let listed = files.list()?;
        for (age, file) in listed.iter().rev().enumerate() {
            let (mut lines, end) = match last_lines(files, *file, most - newest.lines.len()) {
                // The daemon has just removed it for its age, and those before it, too.
                Err(error) if error.is_gone() => break,
                read => read?,
            };
            if age == 0 {
                newest.cursor = Cursor { file: *file, offset: end };
            }
            lines.append(&mut newest.lines);
            newest.lines = lines;
            if newest.lines.len() >= most {
                break;
            }
        }
        Ok(newest)
    }
}

/// The last whole lines of a file, and where they end.
fn last_lines(
    files: &LogFiles,
    file: FileNumber,
    most: usize,
) -> Result<(VecDeque<Vec<u8>>, u64), LogError> {
    let (mut last, mut end) = (VecDeque::new(), 0);
    for line in files.lines(file, 0)? {
        let line = line?;
        if !line.ends_with(b"\n") {
            break;
        }
        end += line.len() as u64;
        last.push_back(line);
        if last.len() > most {
            last.pop_front();
        }
    }
    Ok((last, end))
}
