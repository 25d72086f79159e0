//! Passing over the options of a program that runs another.

use super::table::{Assignments, Wrapper};
use crate::rules::shell::{FoundCommand, Word};

/// What the words of such a program run.
pub(super) enum Inner {
    /// This.
    Command(FoundCommand),
    /// Nothing.
    None,
    /// One of these, or something else: an option is not known.
    Perhaps(Vec<FoundCommand>),
}

/// What comes of one word among options.
enum Passed {
    /// It is an option, with so many words.
    Words(usize),
    /// Options end before it.
    End,
    /// Nothing runs.
    Nothing,
    /// It is not known.
    Unknown,
}

/// The command in the words of a program.
pub(super) fn inner(wrapper: &Wrapper, command: &FoundCommand) -> Inner {
    let words = &command.words;
    let from = |at: usize| {
        let words = words.get(at..).unwrap_or_default().to_vec();
        FoundCommand { words, is_open: command.is_open }
    };
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match passed(wrapper, word) {
            Passed::Words(count) => at += count,
            Passed::End => break,
            Passed::Nothing => return Inner::None,
            Passed::Unknown => return Inner::Perhaps(vec![from(at + 1), from(at + 2)]),
        }
        if words.get(at - 1).and_then(Word::literal) == Some("--") {
            break;
        }
    }
    at += wrapper.operands;
    let is_assignment = |word: &&Word| word.is_assignment;
    if wrapper.assignments == Assignments::PassedOver {
        at += words.iter().skip(at).take_while(is_assignment).count();
    }
    Inner::Command(from(at))
}

fn passed(wrapper: &Wrapper, word: &Word) -> Passed {
    let Some(text) = word.literal() else {
        // Before the command's own name nothing may be unknown, unless it is an operand or an assignment.
        let is_fit = wrapper.operands > 0 && !word.splits || word.is_assignment;
        return if is_fit { Passed::End } else { Passed::Unknown };
    };
    if wrapper.ends.contains(&text) {
        return Passed::Nothing;
    }
    match text.strip_prefix("--") {
        Some("") => Passed::Words(1),
        Some(long) => match long.split_once('=') {
            Some((name, _)) => known(wrapper, name, 1),
            None if wrapper.long_valued.contains(&long) => Passed::Words(2),
            None => known(wrapper, long, 1),
        },
        None => match text.strip_prefix('-') {
            // `env -` is `env -i`.
            Some("") if wrapper.name == "env" => Passed::Words(1),
            Some("") | None => Passed::End,
            Some(letters) => short(wrapper, letters),
        },
    }
}

fn known(wrapper: &Wrapper, name: &str, words: usize) -> Passed {
    let is_known = wrapper.long_valued.contains(&name) || wrapper.long_flags.contains(&name);
    if is_known { Passed::Words(words) } else { Passed::Unknown }
}

fn short(wrapper: &Wrapper, letters: &str) -> Passed {
    for (place, letter) in letters.char_indices() {
        if wrapper.valued.contains(letter) {
            let is_last = place + letter.len_utf8() == letters.len();
            return Passed::Words(if is_last { 2 } else { 1 });
        }
        if !wrapper.flags.contains(letter) {
            return Passed::Unknown;
        }
    }
    Passed::Words(1)
}
