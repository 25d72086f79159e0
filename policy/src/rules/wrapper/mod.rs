//! Programs that run another one, which their words name: the command within is looked at as if it stood there alone.

mod options;
mod shells;
mod special;
mod table;

use super::shell::{Dialect, FoundCommand, Input, MAX_DEPTH, Script, Unclear, Word};
use options::Inner;
use table::Wrapper;

pub(super) use shells::code_from_input;

/// How deep in a line something stands, and which shell reads it.
pub(super) type Place = (usize, Dialect);

/// The commands that a program's words come to.
pub(super) fn script_of_words(words: &[String]) -> Script {
    let mut script = Script::with_steps_for(words.iter().map(String::len).sum());
    let words: Vec<Word> = words.iter().map(|word| Word::of(word)).collect();
    if !words.is_empty() {
        let command = FoundCommand { words, is_open: false };
        found(&mut script, command, Input::Inherited, (0, Dialect::Bash));
    }
    script
}

/// Takes note of a command, and of what it runs in turn.
pub(super) fn found(script: &mut Script, command: FoundCommand, input: Input, place: Place) {
    let (depth, dialect) = place;
    // A command within is a copy of these words.
    if depth >= MAX_DEPTH || script.take_steps(1 + 4 * command.words.len()).is_err() {
        script.is_unclear(Unclear::TooComplex);
        return;
    }
    let inner = within(script, &command, input, (depth + 1, dialect));
    script.commands.push(command);
    for command in inner {
        match command.words.is_empty() {
            false => found(script, command, Input::Inherited, (depth + 1, dialect)),
            true if command.is_open => script.is_unclear(Unclear::Command),
            true => {}
        }
    }
}

/// The commands that a command runs; code that it runs is looked through at once.
fn within(
    script: &mut Script,
    command: &FoundCommand,
    input: Input,
    place: Place,
) -> Vec<FoundCommand> {
    let Some(first) = command.words.first() else { return Vec::new() };
    let Some(name) = first.base_name() else {
        script.is_unclear(Unclear::Command);
        // It may come to nothing, and then the next word is the command's name.
        let rest = if first.splits { &command.words[1..] } else { &[] };
        return vec![FoundCommand { words: rest.to_vec(), is_open: false }];
    };
    if shells::run(script, name, command, input, place)
        || special::run(script, name, command, place)
    {
        return Vec::new();
    }
    if let Some(inner) = special::inner(name, command) {
        return inner;
    }
    match Wrapper::of(name) {
        None => Vec::new(),
        Some(wrapper) => match options::inner(wrapper, command) {
            Inner::Command(command) => vec![command],
            Inner::None => Vec::new(),
            Inner::Perhaps(commands) => {
                script.is_unclear(Unclear::Command);
                commands
            }
        },
    }
}
