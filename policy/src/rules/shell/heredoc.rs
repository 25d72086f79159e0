//! Here-documents: their bodies are no commands, but for what they expand and for those that a shell reads.
//!
//! Where a body ends decides what is code and what is not, so it is found exactly as bash finds it
//! (`read_secondary_line` in its parser): where the delimiter is not quoted, a backslash before a newline joins lines first.

use super::parser::{Dialect, Parsed, Parser, ends_word};
use super::word::{Builder, Quoting};
use super::{Unclear, expansion};

/// A document that begins behind the end of the line.
#[derive(Debug)]
pub(super) struct Pending {
    delimiter: Vec<u8>,
    quoting: Quoting,
    tabs: Tabs,
    code: Option<Dialect>,
}

/// What becomes of tabs at the beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tabs {
    /// `<<`
    Kept,
    /// `<<-`
    Stripped,
}

impl Pending {
    /// A shell reads it.
    pub(super) fn is_code_for(&mut self, dialect: Dialect) {
        self.code = Some(dialect);
    }
}

impl Parser<'_, '_> {
    /// The delimiter of a document, at its first byte.
    pub(super) fn heredoc(&mut self, tabs: Tabs) -> Parsed {
        let mut delimiter = Vec::new();
        let mut quoting = Quoting::Bare;
        let start = self.at;
        while let Some(byte) = self.peek().filter(|byte| !ends_word(*byte)) {
            match byte {
                b'\\' if self.after(1) == Some(b'\n') => self.skip(2)?,
                b'\\' => {
                    self.skip(1)?;
                    delimiter.extend(self.take()?);
                    quoting = Quoting::Quoted;
                }
                b'\'' | b'"' => {
                    self.skip(1)?;
                    quoting = Quoting::Quoted;
                    self.quoted_delimiter(byte, &mut delimiter)?;
                }
                // What these stand for in a delimiter is nobody's to guess.
                b'$' | b'`' => return Err(Unclear::Syntax),
                byte => {
                    self.skip(1)?;
                    delimiter.push(byte);
                }
            }
        }
        if self.at == start || delimiter.contains(&b'\n') {
            return Err(Unclear::Syntax);
        }
        self.heredocs.push(Pending { delimiter, quoting, tabs, code: None });
        Ok(())
    }

    fn quoted_delimiter(&mut self, quote: u8, delimiter: &mut Vec<u8>) -> Parsed {
        loop {
            match self.take()? {
                None => return Err(Unclear::Syntax),
                Some(byte) if byte == quote => return Ok(()),
                Some(b'\\' | b'$' | b'`') if quote == b'"' => return Err(Unclear::Syntax),
                Some(byte) => delimiter.push(byte),
            }
        }
    }

    /// The bodies of the documents of the line that has just ended.
    pub(super) fn read_heredocs(&mut self) -> Parsed {
        for pending in std::mem::take(&mut self.heredocs) {
            let body = self.body(&pending)?;
            let is_literal = pending.quoting == Quoting::Quoted || self.expand_body(&body)?;
            match pending.code {
                Some(dialect) if is_literal => self.within(&body, dialect)?,
                Some(_) => self.script.is_unclear(Unclear::Code),
                None => {}
            }
        }
        Ok(())
    }

    fn body(&mut self, pending: &Pending) -> Parsed<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let mut line = Vec::new();
            if pending.tabs == Tabs::Stripped {
                while self.accept(b'\t')? {}
            }
            let is_last = loop {
                match self.take()? {
                    None => break true,
                    Some(b'\n') => break false,
                    Some(b'\\') if pending.quoting == Quoting::Bare => {
                        if !self.accept(b'\n')? {
                            line.push(b'\\');
                            line.extend(self.take()?);
                        }
                    }
                    Some(byte) => line.push(byte),
                }
            };
            if line == pending.delimiter {
                return Ok(body);
            }
            body.extend(&line);
            if is_last {
                return Ok(body);
            }
            body.push(b'\n');
        }
    }

    /// Looks through the expansions of a body; tells whether there are none.
    fn expand_body(&mut self, body: &[u8]) -> Parsed<bool> {
        self.nested(|outer| {
            let mut inner = Parser::new(body, outer.script, outer.depth, outer.dialect);
            let mut read = Builder::default();
            while let Some(byte) = inner.peek() {
                match byte {
                    b'\\' => {
                        inner.skip(2)?;
                        // It may be taken away, so that the text is another.
                        read.expanded(Quoting::Quoted);
                    }
                    b'$' => inner.dollar(&mut read, Quoting::Quoted)?,
                    b'`' => inner.backquotes(&mut read, expansion::Around::Document)?,
                    _ => inner.skip(1)?,
                }
            }
            Ok(read.build().literal().is_some())
        })
    }
}
