//! Arithmetic: nothing in it is a command but what it substitutes.

use super::parser::{Parsed, Parser};
use super::word::{Builder, Quoting};
use super::{Unclear, expansion};

/// What ends an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Close {
    /// `))`
    Parentheses,
    /// `]`, of the old `$[…]`.
    Bracket,
}

impl Parser<'_, '_> {
    /// `(…)`, or `((…))` where that is arithmetic, at the first parenthesis.
    pub(super) fn parenthesis(&mut self) -> Parsed {
        if self.after(1) != Some(b'(') {
            self.skip(1)?;
            return self.list(super::parser::End::Parenthesis).map(|_| ());
        }
        self.of_bash();
        self.either(|parser| parser.list(super::parser::End::Parenthesis).map(|_| ()))
    }

    /// `$((…))`, or `$( (…) …)` written without a blank, at the first parenthesis.
    pub(super) fn dollar_parentheses(&mut self) -> Parsed {
        self.either(Parser::substitution)
    }

    /// Arithmetic where the text is that, else commands (bash decides by how the parentheses close).
    fn either(&mut self, commands: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        let (start, found, unclear) = (self.at, self.script.commands.len(), self.script.unclear);
        self.skip(2)?;
        match self.arithmetic(Close::Parentheses) {
            Err(Unclear::Syntax) => {
                self.script.commands.truncate(found);
                self.script.unclear = unclear;
                self.at = start;
                self.skip(1)?;
                commands(self)
            }
            decided => decided,
        }
    }

    /// An expression up to its end, which is passed over.
    pub(super) fn arithmetic(&mut self, close: Close) -> Parsed {
        self.nested(|parser| {
            let mut read = Builder::default();
            let mut open = 0_usize;
            loop {
                match (parser.peek(), close) {
                    (None, _) => return Err(Unclear::Syntax),
                    (Some(b'\\'), _) => parser.skip(2)?,
                    (Some(b'\''), _) => parser.single_quotes(&mut read)?,
                    (Some(b'"'), _) => parser.double_quotes(&mut read)?,
                    (Some(b'$'), _) => parser.dollar(&mut read, Quoting::Quoted)?,
                    (Some(b'`'), _) => {
                        parser.backquotes(&mut read, expansion::Around::Nothing)?;
                    }
                    (Some(b'('), Close::Parentheses) | (Some(b'['), Close::Bracket) => {
                        open += 1;
                        parser.skip(1)?;
                    }
                    (Some(b')'), Close::Parentheses) | (Some(b']'), Close::Bracket) if open > 0 => {
                        open -= 1;
                        parser.skip(1)?;
                    }
                    (Some(b']'), Close::Bracket) => return parser.skip(1),
                    (Some(b')'), Close::Parentheses) if parser.after(1) == Some(b')') => {
                        return parser.skip(2);
                    }
                    (Some(b')'), Close::Parentheses) => return Err(Unclear::Syntax),
                    (Some(_), _) => parser.skip(1)?,
                }
            }
        })
    }
}
