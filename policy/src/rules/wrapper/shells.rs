//! Shells, and whatever else reads words or its input as code.

use super::{Place, found};
use crate::rules::shell::{Dialect, FoundCommand, Input, Parser, Script, Unclear, Word};

/// Shells whose code is looked through.
const KNOWN: [(&str, Dialect); 4] = [
    ("bash", Dialect::Bash),
    ("sh", Dialect::Posix),
    ("dash", Dialect::Posix),
    ("ash", Dialect::Posix),
];

/// Shells with a language of their own.
const FOREIGN: [&str; 9] = ["zsh", "ksh", "ksh93", "mksh", "fish", "csh", "tcsh", "rbash", "pwsh"];

/// Where a shell's code comes from.
enum Code<'w> {
    /// This word.
    Word(&'w Word),
    /// A file, which is not looked at: its name, and the arguments that it is run with.
    File(&'w [Word]),
    /// Nowhere: it runs none.
    Nowhere,
    /// Standard input.
    Input,
    /// Nobody knows.
    Unknown,
}

/// The shell that reads its code from standard input by these words.
pub(in crate::rules) fn code_from_input(words: &[Word]) -> Option<Dialect> {
    let name = words.first()?.base_name()?;
    let (_, dialect) = KNOWN.iter().find(|(known, _)| *known == name)?;
    matches!(code(words), Code::Input).then_some(*dialect)
}

/// Looks through the code of a shell; false where the command is none.
pub(super) fn run(
    script: &mut Script,
    name: &str,
    command: &FoundCommand,
    input: Input,
    place: Place,
) -> bool {
    let known = KNOWN.iter().find(|(known, _)| *known == name).map(|(_, dialect)| *dialect);
    if known.is_none() && !FOREIGN.contains(&name) {
        return false;
    }
    match (code(&command.words), known, input) {
        // It runs as it would by its own name.
        (Code::File(words), _, _) => {
            let script_file = FoundCommand { words: words.to_vec(), is_open: command.is_open };
            found(script, script_file, Input::Inherited, place);
            return true;
        }
        (Code::Nowhere, _, _) => {}
        (Code::Word(word), Some(dialect), _) => {
            look_through(script, word.literal(), (place.0, dialect))
        }
        (Code::Input, Some(dialect), Input::Text(text)) => {
            look_through(script, Some(&text), (place.0, dialect));
        }
        // It is read where the document stands.
        (Code::Input, Some(_), Input::Document) => {}
        (Code::Word(_) | Code::Input | Code::Unknown, _, _) => script.is_unclear(Unclear::Code),
    }
    if command.is_open {
        script.is_unclear(Unclear::Code);
    }
    true
}

/// Looks through code, where it is known.
pub(super) fn look_through(script: &mut Script, code: Option<&str>, (depth, dialect): Place) {
    match code {
        Some(code) => Parser::new(code.as_bytes(), script, depth, dialect).run(),
        None => script.is_unclear(Unclear::Code),
    }
}

/// Where the code comes from, by the shell's words (bash(1), "OPTIONS").
fn code(words: &[Word]) -> Code<'_> {
    let mut at = 1;
    let mut is_line = false;
    let mut is_input = false;
    while let Some(word) = words.get(at) {
        let Some(text) = word.literal() else { return Code::Unknown };
        match text.as_bytes() {
            b"--version" | b"--help" => return Code::Nowhere,
            b"--rcfile" | b"--init-file" => at += 2,
            b"-" | b"--" => {
                at += 1;
                break;
            }
            [b'-', b'-', ..] => at += 1,
            [b'-' | b'+', letters @ ..] => {
                is_line |= text.starts_with('-') && letters.contains(&b'c');
                is_input |= letters.contains(&b's');
                let values = letters.iter().filter(|letter| matches!(letter, b'o' | b'O')).count();
                at += 1 + values;
            }
            _ => break,
        }
    }
    match words.get(at) {
        Some(word) if is_line => Code::Word(word),
        None if is_line => Code::Nowhere,
        Some(word) if !is_input => match word.literal() {
            Some(file) if !file.starts_with("/dev/") && !file.starts_with("/proc/") => {
                Code::File(&words[at..])
            }
            _ => Code::Unknown,
        },
        _ => Code::Input,
    }
}
