//! The simple commands of a line for bash, wherever they stand in it.
//!
//! This is no validating parser: it finds every place where bash would run something, and takes whatever separates two
//! commands for a separator. Where bash and other shells differ, or where a quote, a bracket or a here-document does not
//! end, it says that the line is unclear, with all that was found before.
//!
//! Whoever writes the line is the adversary. So there is no backtracking but in one place (`((`), the depth of recursion
//! is bounded ([`MAX_DEPTH`]), and the number of steps by the length of the text ([`Script::step`]).

mod arithmetic;
mod compound;
mod expansion;
mod heredoc;
mod parser;
mod redirection;
mod simple;
mod word;

use std::fmt;

pub(super) use parser::{Dialect, Parser};
pub(super) use redirection::Input;
pub(super) use word::Word;

/// A longer text is not looked at.
pub(super) const MAX_LENGTH: usize = 1 << 20;

/// Constructs within constructs; each level is a few frames of the stack.
pub(super) const MAX_DEPTH: usize = 40;

/// A simple command that was found: its words, without assignments and redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundCommand {
    /// Its words; never empty.
    pub(super) words: Vec<Word>,
    /// Whether more words follow that are not known.
    pub(super) is_open: bool,
}

/// Why it is not known what a line runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unclear {
    /// It cannot be parsed.
    Syntax,
    /// It is longer or deeper than is looked at.
    TooComplex,
    /// The name of a command is known only when it runs.
    Command,
    /// Code comes from a variable, a pipe or a file descriptor.
    Code,
    /// Shells read it in different ways.
    Dialect,
}

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unclear::Syntax => "the line cannot be parsed",
            Unclear::TooComplex => "the line is too long or too deeply nested",
            Unclear::Command => "the name of a command is only known when it runs",
            Unclear::Code => "a shell would run code that is only known when it runs",
            Unclear::Dialect => "shells other than bash may read the line differently",
        })
    }
}

/// What was found in a text.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// Every simple command, and what it runs in turn.
    pub(super) commands: Vec<FoundCommand>,
    /// Why there may be more.
    pub(super) unclear: Option<Unclear>,
    steps: usize,
}

impl Script {
    /// Looks through a line for bash.
    pub(super) fn of(line: &str) -> Script {
        let mut script = Script::with_steps_for(line.len());
        if line.len() > MAX_LENGTH {
            script.is_unclear(Unclear::TooComplex);
            return script;
        }
        Parser::new(line.as_bytes(), &mut script, 0, Dialect::Bash).run();
        script
    }

    /// An empty one that may take as many steps as a text of this length deserves.
    pub(super) fn with_steps_for(length: usize) -> Script {
        // Each level of `eval` and of backquotes reads its text once more.
        Script { steps: 8 * length.min(MAX_LENGTH) + 4096, ..Script::default() }
    }

    /// Takes note that something is not known. The first reason is told.
    pub(super) fn is_unclear(&mut self, why: Unclear) {
        self.unclear.get_or_insert(why);
    }

    /// Takes a step, unless there were too many.
    pub(super) fn step(&mut self) -> Result<(), Unclear> {
        self.take_steps(1)
    }

    /// Takes so many steps, unless there were too many.
    pub(super) fn take_steps(&mut self, steps: usize) -> Result<(), Unclear> {
        self.steps = self.steps.checked_sub(steps).ok_or(Unclear::TooComplex)?;
        Ok(())
    }
}
