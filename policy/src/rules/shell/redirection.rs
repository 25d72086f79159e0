//! Redirections: what they are of is passed over, what they expand is looked through.

use super::parser::{Parsed, Parser, ends_word};
use super::{Unclear, heredoc};

/// Where a command's standard input comes from, as far as the line tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::rules) enum Input {
    /// What the line itself has.
    #[default]
    Inherited,
    /// This text.
    Text(String),
    /// A here-document, which is read later.
    Document,
    /// A file, a descriptor, a text that is not known.
    Unknown,
}

impl Parser<'_, '_> {
    /// One redirection, at its operator.
    pub(super) fn redirection(&mut self) -> Parsed<Input> {
        if self.looks_at(b"<<<") {
            self.of_bash();
            self.skip(3)?;
            let word = self.target()?;
            return Ok(word.literal().map_or(Input::Unknown, |text| Input::Text(text.to_owned())));
        }
        if self.looks_at(b"<<") {
            self.skip(2)?;
            let tabs =
                if self.accept(b'-')? { heredoc::Tabs::Stripped } else { heredoc::Tabs::Kept };
            self.blanks()?;
            self.heredoc(tabs)?;
            return Ok(Input::Document);
        }
        if self.accept(b'&')? {
            self.of_bash();
        }
        let is_input = self.peek() == Some(b'<');
        self.skip(1)?;
        if matches!(self.peek(), Some(b'>' | b'&' | b'|')) {
            self.skip(1)?;
        }
        self.target()?;
        Ok(if is_input { Input::Unknown } else { Input::Inherited })
    }

    fn target(&mut self) -> Parsed<super::Word> {
        self.blanks()?;
        match self.peek() {
            Some(b'<' | b'>') if self.after(1) == Some(b'(') => self.word(),
            Some(byte) if !ends_word(byte) => self.word(),
            _ => Err(Unclear::Syntax),
        }
    }
}
