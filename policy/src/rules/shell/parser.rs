//! Lists of commands: what stands between two separators, and what brackets hold.

use super::heredoc::Pending;
use super::{MAX_DEPTH, Script, Unclear};

/// Which shell reads the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Dialect {
    /// bash.
    Bash,
    /// A shell that may be another: what they read in different ways is unclear.
    Posix,
}

/// What ends a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The end of the text.
    Text,
    /// A closing parenthesis.
    Parenthesis,
    /// `;;` or one of its kin, or `esac`.
    Branch,
}

/// What did end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// What was to end it.
    AsMeant,
    /// `esac`, and with it the last branch.
    Esac,
}

/// A place in a text, and what is found on the way.
pub(in crate::rules) struct Parser<'t, 's> {
    pub(super) text: &'t [u8],
    pub(super) at: usize,
    pub(super) script: &'s mut Script,
    pub(super) depth: usize,
    pub(super) dialect: Dialect,
    pub(super) heredocs: Vec<Pending>,
}

/// A step that may find the text unclear.
pub(super) type Parsed<T = ()> = Result<T, Unclear>;

impl<'t, 's> Parser<'t, 's> {
    /// At the beginning of a text that stands in so many constructs.
    pub(in crate::rules) fn new(
        text: &'t [u8],
        script: &'s mut Script,
        depth: usize,
        dialect: Dialect,
    ) -> Self {
        Parser { text, at: 0, script, depth, dialect, heredocs: Vec::new() }
    }

    /// Looks through the whole text.
    pub(in crate::rules) fn run(mut self) {
        if let Err(unclear) = self.list(End::Text) {
            self.script.is_unclear(unclear);
        }
    }

    /// Commands up to an end.
    pub(super) fn list(&mut self, end: End) -> Parsed<Ended> {
        self.nested(|parser| {
            loop {
                parser.blanks()?;
                match (parser.peek(), end) {
                    (None, End::Text) => return Ok(Ended::AsMeant),
                    (None, End::Parenthesis | End::Branch) => return Err(Unclear::Syntax),
                    (Some(b'\n'), _) => parser.newline()?,
                    (Some(b'#'), _) => parser.comment()?,
                    (Some(b';'), End::Branch) if matches!(parser.after(1), Some(b';' | b'&')) => {
                        parser.skip(2)?;
                        parser.accept(b'&')?;
                        return Ok(Ended::AsMeant);
                    }
                    (Some(b'&'), _) if parser.after(1) == Some(b'>') => {
                        parser.command(end)?.ignore()
                    }
                    (Some(b';' | b'|' | b'&'), _) => parser.skip(1)?,
                    (Some(b')'), End::Parenthesis) => {
                        parser.skip(1)?;
                        return Ok(Ended::AsMeant);
                    }
                    (Some(b')'), End::Text | End::Branch) => return Err(Unclear::Syntax),
                    (Some(b'('), _) => parser.parenthesis()?,
                    (Some(_), _) => {
                        if parser.command(end)? == Ended::Esac {
                            return Ok(Ended::Esac);
                        }
                    }
                }
            }
        })
    }

    /// Does something one level deeper.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(Unclear::TooComplex);
        }
        self.depth += 1;
        let done = inner(self);
        self.depth -= 1;
        done
    }

    /// A list in parentheses of which the opening one was read, with here-documents of its own where it is substituted.
    pub(super) fn substitution(&mut self) -> Parsed {
        let outer = std::mem::take(&mut self.heredocs);
        let inner = self.list(End::Parenthesis);
        let pending = std::mem::replace(&mut self.heredocs, outer);
        // Whether a document that has not begun by then ever does differs by version.
        if pending.is_empty() { inner.map(|_| ()) } else { Err(Unclear::Syntax) }
    }

    /// Looks through a text of its own: a word that is code, what stands in backquotes, a here-document.
    pub(super) fn within(&mut self, text: &[u8], dialect: Dialect) -> Parsed {
        self.nested(|outer| {
            let mut inner = Parser::new(text, outer.script, outer.depth, dialect);
            inner.list(End::Text).map(|_| ())
        })
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// The byte that is so many ahead.
    pub(super) fn after(&self, bytes: usize) -> Option<u8> {
        self.text.get(self.at + bytes).copied()
    }

    pub(super) fn looks_at(&self, text: &[u8]) -> bool {
        self.text[self.at..].starts_with(text)
    }

    pub(super) fn skip(&mut self, bytes: usize) -> Parsed {
        self.script.step()?;
        self.at = (self.at + bytes).min(self.text.len());
        Ok(())
    }

    /// The next byte.
    pub(super) fn take(&mut self) -> Parsed<Option<u8>> {
        let byte = self.peek();
        self.skip(usize::from(byte.is_some()))?;
        Ok(byte)
    }

    /// Passes over this byte where it comes next.
    pub(super) fn accept(&mut self, byte: u8) -> Parsed<bool> {
        let comes = self.peek() == Some(byte);
        if comes {
            self.skip(1)?;
        }
        Ok(comes)
    }

    /// Spaces, tabs and newlines that a backslash takes away.
    pub(super) fn blanks(&mut self) -> Parsed {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.skip(1)?,
                Some(b'\\') if self.after(1) == Some(b'\n') => self.skip(2)?,
                _ => return Ok(()),
            }
        }
    }

    /// Whatever may stand between two words of a construct that goes over lines.
    pub(super) fn blank_lines(&mut self) -> Parsed {
        loop {
            self.blanks()?;
            match self.peek() {
                Some(b'\n') => self.newline()?,
                Some(b'#') => self.comment()?,
                _ => return Ok(()),
            }
        }
    }

    /// The end of a line, behind which the bodies of here-documents stand.
    pub(super) fn newline(&mut self) -> Parsed {
        self.skip(1)?;
        self.read_heredocs()
    }

    /// The rest of a line.
    pub(super) fn comment(&mut self) -> Parsed {
        while self.peek().is_some_and(|byte| byte != b'\n') {
            self.skip(1)?;
        }
        Ok(())
    }
}

impl Ended {
    /// It does not matter here.
    pub(super) fn ignore(self) {}
}

/// Whether a byte outside of quotes ends a word.
pub(super) const fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
}
