//! `brattice policy check`: what a daemon would say of a configuration's text. No daemon is asked, and none need run.

use std::path::Path;
use std::process::ExitCode;

use brattice_protocol::config::{Author, Fault, Faults, File, Source};
use brattice_protocol::session::ToolsetName;
use serde::Serialize;

use crate::cli::terminal::Style;
use crate::cli::{Context, Failure};

/// The operator's file, which alone may bound what users do.
const OPERATORS: &str = "/etc/brattice/config.toml";

/// What was found, for programs.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Checked<'a> {
    file: &'a str,
    ok: bool,
    faults: Vec<Found>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Found {
    line: usize,
    column: usize,
    message: String,
}

/// Whose file a path is taken for.
pub(super) fn author(path: &Path, is_operators: bool) -> Author {
    if is_operators || path == Path::new(OPERATORS) { Author::Operator } else { Author::User }
}

/// Checks a file; exits with 1 where it has faults.
pub(super) fn check(context: &Context, path: &Path, author: Author) -> Result<ExitCode, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| Failure::Read { path: path.to_owned(), source })?;
    let name = path.display().to_string();
    let home = std::env::var("HOME").ok().filter(|home| Path::new(home).is_absolute());
    let home = home.as_deref().unwrap_or("/");
    let read = File::<ToolsetName>::parse(&text, Source { author, path: &name, home });
    let checked = Checked {
        file: &name,
        ok: read.is_ok(),
        faults: read.err().iter().flat_map(Faults::iter).map(Found::from).collect(),
    };
    context.show("the faults", &checked, |style| lines(&checked, style))?;
    Ok(if checked.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn lines(checked: &Checked<'_>, style: Style) -> String {
    let Checked { file, ok, faults } = checked;
    if *ok {
        return format!("{file}: {}\n", style.green("ok"));
    }
    let line = |Found { line, column, message }: &Found| {
        format!("{}: {message}\n", style.bold(&format!("{file}:{line}:{column}")))
    };
    faults.iter().map(line).collect()
}

impl From<&Fault> for Found {
    fn from(Fault { at, kind }: &Fault) -> Self {
        Found { line: at.line, column: at.column, message: kind.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operators_file_is_known_by_its_place() {
        let asked = [
            author(Path::new(OPERATORS), false),
            author(Path::new("/srv/config.toml"), false),
            author(Path::new("/srv/config.toml"), true),
        ];
        assert_eq!(asked, [Author::Operator, Author::User, Author::Operator]);
    }
}
