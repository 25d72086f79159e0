//! A command line that says nothing that can be done: help and version, which are answers, and faults, which are told like
//! any other failure.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::error::ErrorKind;

use super::failure::{BRATTICE_FAILED, data};
use super::plain::plain_lines;
use super::terminal::Format;

/// Tells it. Every fault is Brattice's own, so that 2 stays the command's.
pub(super) fn tell(error: &clap::Error) -> ExitCode {
    let format = format(std::env::args_os().skip(1));
    let text = error.render().to_string();
    let told = match (error.use_stderr(), format) {
        (false, _) => error.print(),
        (true, Format::Json) => to_stderr(&format!("{}\n", as_data(error.kind(), &text))),
        (true, Format::Text) => match text.strip_prefix("error: ") {
            Some(fault) => to_stderr(&plain_lines(&format!("brattice: {fault}"))),
            None => error.print(),
        },
    };
    match told {
        Ok(()) if !error.use_stderr() => ExitCode::SUCCESS,
        // Where nobody reads what was printed, the exit status still tells.
        Ok(()) | Err(_) => ExitCode::from(BRATTICE_FAILED),
    }
}

fn to_stderr(text: &str) -> io::Result<()> {
    io::stderr().write_all(text.as_bytes())
}

/// What a command line that cannot be parsed asks for, as far as it can be told: what comes after `--` is the command's.
fn format(words: impl Iterator<Item = OsString>) -> Format {
    let mut own = words.take_while(|word| word != OsStr::new("--"));
    if own.any(|word| word == OsStr::new("--json")) { Format::Json } else { Format::Text }
}

/// The first paragraph says what is wrong, the others what would be right.
fn as_data(kind: ErrorKind, text: &str) -> serde_json::Value {
    if kind == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return data("a command is missing", &[], Some("`--help` lists those there are"));
    }
    let paragraphs = text.split("\n\n").map(|text| text.split_whitespace().collect::<Vec<_>>());
    let mut paragraphs = paragraphs.map(|words| words.join(" "));
    let fault = paragraphs.next().unwrap_or_default();
    let hints: Vec<String> = paragraphs
        .filter(|text| !text.is_empty() && !text.starts_with("For more information"))
        .map(|text| text.strip_prefix("tip: ").map(str::to_owned).unwrap_or(text))
        .collect();
    let hint = (!hints.is_empty()).then(|| hints.join("; "));
    data(fault.strip_prefix("error: ").unwrap_or(&fault), &[], hint.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::arguments::Arguments;
    use clap::Parser as _;
    use serde_json::json;

    fn told(words: &[&str]) -> serde_json::Value {
        let error = Arguments::try_parse_from([&["brattice"], words].concat()).unwrap_err();
        as_data(error.kind(), &error.render().to_string())
    }

    #[test]
    fn a_fault_has_the_form_of_every_failure() {
        assert_eq!(
            told(&["session", "shwo", "--json"]),
            json!({"error": {
                "message": "unrecognized subcommand 'shwo'",
                "causes": [],
                "hint": "a similar subcommand exists: 'show'; Usage: brattice session [OPTIONS] <COMMAND>",
            }})
        );
        assert_eq!(
            told(&["run", "--json"])["error"]["message"],
            "the following required arguments were not provided: <COMMAND>..."
        );
        assert_eq!(told(&[])["error"]["message"], "a command is missing");
    }

    #[test]
    fn the_commands_own_flags_ask_for_nothing() {
        let of = |words: &[&str]| format(words.iter().map(OsString::from));
        assert_eq!(of(&["run", "--json", "--", "ls"]), Format::Json);
        assert_eq!(of(&["run", "--", "ls", "--json"]), Format::Text);
    }
}
