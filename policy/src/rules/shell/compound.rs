//! Reserved words and what belongs to each: after most of them a command stands, and after some a few words do not.

use super::Unclear;
use super::arithmetic::Close;
use super::parser::{End, Ended, Parsed, Parser, ends_word};
use super::word::Word;

/// Reserved words behind which a command stands, or which close one.
const PASSED_OVER: [&str; 13] =
    ["!", "{", "}", "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "esac"];

/// What begins a compound command, and so does not stand behind the name of a simple one.
const COMPOUND: [&[u8]; 9] =
    [b"{", b"if", b"while", b"until", b"for", b"case", b"select", b"[[", b"("];

impl Parser<'_, '_> {
    /// Reads what belongs to a reserved word; false where it is none.
    pub(super) fn reserved(&mut self, word: &Word) -> Parsed<bool> {
        if PASSED_OVER.iter().any(|reserved| word.is_reserved(reserved)) {
            return Ok(true);
        }
        for (reserved, rest) in [
            ("time", Self::time as fn(&mut Self) -> Parsed),
            ("coproc", Self::coprocess),
            ("function", Self::function),
            ("for", Self::loop_header),
            ("select", Self::loop_header),
            ("case", Self::case),
            ("[[", Self::condition),
        ] {
            if word.is_reserved(reserved) {
                if !matches!(reserved, "for" | "case") {
                    self.of_bash();
                }
                rest(self)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether this word comes next.
    fn comes(&self, word: &[u8]) -> bool {
        let behind = self.text.get(self.at + word.len());
        self.looks_at(word) && behind.is_none_or(|byte| ends_word(*byte))
    }

    fn time(&mut self) -> Parsed {
        self.blanks()?;
        for option in [b"-p".as_slice(), b"--"] {
            if self.comes(option) {
                self.skip(option.len())?;
                self.blanks()?;
            }
        }
        Ok(())
    }

    /// `coproc [NAME] compound`, or `coproc` and a simple command, which has no name.
    fn coprocess(&mut self) -> Parsed {
        self.blanks()?;
        let name = self.text[self.at..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count();
        let start = self.at;
        self.skip(name)?;
        self.blanks()?;
        let is_named = COMPOUND.iter().any(|begin| match begin {
            [b'('] => self.peek() == Some(b'('),
            begin => self.comes(begin),
        });
        if !is_named {
            self.at = start;
        }
        Ok(())
    }

    fn function(&mut self) -> Parsed {
        self.blanks()?;
        self.word()?;
        self.blanks()?;
        if self.peek() == Some(b'(') && self.after(1) == Some(b')') {
            self.skip(2)?;
        }
        Ok(())
    }

    /// `NAME [in WORDS]` or `((…))` of a loop.
    fn loop_header(&mut self) -> Parsed {
        self.blanks()?;
        if self.looks_at(b"((") {
            self.of_bash();
            self.skip(2)?;
            return self.arithmetic(Close::Parentheses);
        }
        self.word()?;
        self.blank_lines()?;
        if !self.comes(b"in") {
            return Ok(());
        }
        self.skip(2)?;
        loop {
            self.blanks()?;
            match self.peek() {
                None | Some(b';' | b'\n' | b'#') => return Ok(()),
                Some(b'<' | b'>') if self.after(1) == Some(b'(') => self.word()?,
                Some(byte) if ends_word(byte) => return Err(Unclear::Syntax),
                Some(_) => self.word()?,
            };
        }
    }

    fn case(&mut self) -> Parsed {
        self.blanks()?;
        self.word()?;
        self.blank_lines()?;
        if !self.comes(b"in") {
            return Err(Unclear::Syntax);
        }
        self.skip(2)?;
        loop {
            self.blank_lines()?;
            if self.comes(b"esac") {
                return self.skip(4);
            }
            self.accept(b'(')?;
            self.case_patterns()?;
            if self.list(End::Branch)? == Ended::Esac {
                return Ok(());
            }
        }
    }

    fn case_patterns(&mut self) -> Parsed {
        loop {
            self.blanks()?;
            match self.peek() {
                Some(b')') => return self.skip(1),
                Some(b'|') => self.skip(1)?,
                None => return Err(Unclear::Syntax),
                Some(byte) if ends_word(byte) => return Err(Unclear::Syntax),
                Some(_) => {
                    self.word()?;
                }
            }
        }
    }

    /// `[[ … ]]`, in which nothing is a command but what is expanded.
    fn condition(&mut self) -> Parsed {
        loop {
            self.blanks()?;
            match self.peek() {
                None | Some(b';') => return Err(Unclear::Syntax),
                Some(b'\n') => self.newline()?,
                Some(b'<' | b'>') if self.after(1) == Some(b'(') => {
                    self.word()?;
                }
                Some(byte) if ends_word(byte) => self.skip(1)?,
                Some(_) => {
                    if self.word()?.is_reserved("]]") {
                        return Ok(());
                    }
                }
            }
        }
    }
}
