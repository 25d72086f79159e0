//! Words: quotes, and the expansions in which commands may stand.

use super::Unclear;
use super::arithmetic::Close;
use super::parser::{Parsed, Parser, ends_word};
use super::word::{Builder, Quoting, Word, is_assignment};

/// What backquotes stand in, which decides what a backslash takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    Nothing,
    DoubleQuotes,
    Document,
}

/// What was seen of braces and brackets that a word may be expanded by.
#[derive(Debug, Default)]
struct Patterns {
    bracket: bool,
    brace: bool,
    is_list: bool,
}

impl Parser<'_, '_> {
    /// One word, at its first byte.
    pub(super) fn word(&mut self) -> Parsed<Word> {
        let start = self.at;
        let mut read = Builder::default();
        let mut patterns = Patterns::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'<' | b'>' if self.after(1) == Some(b'(') => {
                    self.of_bash();
                    self.skip(2)?;
                    self.substitution()?;
                    read.expanded(Quoting::Quoted);
                }
                b'(' if self.is_array(start) => {
                    self.of_bash();
                    self.array()?;
                    read.expanded(Quoting::Quoted);
                }
                b'(' if matches!(self.before(start), Some(b'?' | b'*' | b'+' | b'@' | b'!')) => {
                    // A pattern, or `!` and a command: both are looked through.
                    self.skip(1)?;
                    self.list(super::parser::End::Parenthesis)?;
                    read.expanded(Quoting::Bare);
                }
                byte if ends_word(byte) => break,
                b'\\' => self.escaped(&mut read)?,
                b'\'' => self.single_quotes(&mut read)?,
                b'"' => self.double_quotes(&mut read)?,
                b'$' => self.dollar(&mut read, Quoting::Bare)?,
                b'`' => self.backquotes(&mut read, Around::Nothing)?,
                b'~' if self.at == start => {
                    self.skip(1)?;
                    read.expanded(Quoting::Quoted);
                }
                byte => {
                    self.skip(1)?;
                    if patterns.expands(byte, self.peek()) {
                        read.expanded(Quoting::Bare);
                    }
                    read.push(byte);
                }
            }
        }
        Ok(read.word(&self.text[start..self.at]))
    }

    /// The byte before this one, in a word that began there.
    fn before(&self, start: usize) -> Option<u8> {
        self.text[start..self.at].last().copied()
    }

    fn is_array(&self, start: usize) -> bool {
        self.before(start) == Some(b'=') && is_assignment(&self.text[start..self.at])
    }

    fn array(&mut self) -> Parsed {
        self.skip(1)?;
        self.nested(|parser| {
            loop {
                parser.blank_lines()?;
                match parser.peek() {
                    None => return Err(Unclear::Syntax),
                    Some(b')') => return parser.skip(1),
                    Some(b'<' | b'>') if parser.after(1) == Some(b'(') => {
                        parser.word()?;
                    }
                    Some(byte) if ends_word(byte) => return Err(Unclear::Syntax),
                    Some(_) => {
                        parser.word()?;
                    }
                }
            }
        })
    }

    fn escaped(&mut self, read: &mut Builder) -> Parsed {
        self.skip(1)?;
        match self.take()? {
            Some(b'\n') => {}
            Some(byte) => {
                read.quoted();
                read.push(byte);
            }
            None => {
                read.quoted();
                read.push(b'\\');
            }
        }
        Ok(())
    }

    pub(super) fn single_quotes(&mut self, read: &mut Builder) -> Parsed {
        self.skip(1)?;
        read.quoted();
        loop {
            match self.take()? {
                None => return Err(Unclear::Syntax),
                Some(b'\'') => return Ok(()),
                Some(byte) => read.push(byte),
            }
        }
    }

    pub(super) fn double_quotes(&mut self, read: &mut Builder) -> Parsed {
        self.skip(1)?;
        read.quoted();
        self.nested(|parser| {
            loop {
                match parser.peek() {
                    None => return Err(Unclear::Syntax),
                    Some(b'"') => return parser.skip(1),
                    Some(b'$') => parser.dollar(read, Quoting::Quoted)?,
                    Some(b'`') => parser.backquotes(read, Around::DoubleQuotes)?,
                    Some(b'\\') => {
                        parser.skip(1)?;
                        match parser.take()? {
                            Some(b'\n') | None => {}
                            Some(byte @ (b'$' | b'`' | b'"' | b'\\')) => read.push(byte),
                            Some(byte) => {
                                read.push(b'\\');
                                read.push(byte);
                            }
                        }
                    }
                    Some(byte) => {
                        parser.skip(1)?;
                        read.push(byte);
                    }
                }
            }
        })
    }

    /// Whatever a dollar sign begins.
    pub(super) fn dollar(&mut self, read: &mut Builder, quoting: Quoting) -> Parsed {
        self.skip(1)?;
        match self.peek() {
            Some(b'(') if self.after(1) == Some(b'(') => self.dollar_parentheses()?,
            Some(b'(') => {
                self.skip(1)?;
                self.substitution()?;
            }
            Some(b'{') => self.parameter(quoting)?,
            Some(b'[') => {
                self.skip(1)?;
                self.of_bash();
                self.arithmetic(Close::Bracket)?;
            }
            Some(b'\'') if quoting == Quoting::Bare => {
                self.of_bash();
                return self.ansi_c(read);
            }
            Some(b'"') if quoting == Quoting::Bare => {
                self.of_bash();
                return self.double_quotes(read);
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                    self.skip(1)?;
                }
            }
            Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => self.skip(1)?,
            // What stands on the next line may belong to it.
            Some(b'\\') if self.after(1) == Some(b'\n') => return Err(Unclear::Syntax),
            _ => {
                read.push(b'$');
                return Ok(());
            }
        }
        read.expanded(quoting);
        Ok(())
    }

    /// `${…}`, at its brace.
    fn parameter(&mut self, quoting: Quoting) -> Parsed {
        self.skip(1)?;
        // Since bash 5.3 a command can stand there.
        if matches!(self.peek(), None | Some(b' ' | b'\t' | b'\n' | b'|')) {
            return Err(Unclear::Syntax);
        }
        self.nested(|parser| {
            let mut read = Builder::default();
            loop {
                match parser.peek() {
                    None => return Err(Unclear::Syntax),
                    Some(b'}') => return parser.skip(1),
                    // `${x@P}` is expanded once more, as a prompt is.
                    Some(b'@') if parser.after(1) == Some(b'P') => {
                        parser.script.is_unclear(Unclear::Code);
                        parser.skip(2)?;
                    }
                    // Taken away before anything is read: what stands around it is one.
                    Some(b'\\') if parser.after(1) == Some(b'\n') => return Err(Unclear::Syntax),
                    Some(b'\\') => parser.skip(2)?,
                    // Within double quotes it depends on the operator whether this is a quote.
                    Some(b'\'') if quoting == Quoting::Quoted => return Err(Unclear::Syntax),
                    Some(b'\'') => parser.single_quotes(&mut read)?,
                    Some(b'"') => parser.double_quotes(&mut read)?,
                    Some(b'$') => parser.dollar(&mut read, quoting)?,
                    Some(b'`') => parser.backquotes(&mut read, Around::Nothing)?,
                    Some(b'<' | b'>') if parser.after(1) == Some(b'(') => {
                        parser.skip(2)?;
                        parser.substitution()?;
                    }
                    Some(_) => parser.skip(1)?,
                }
            }
        })
    }

    /// Backquotes; what they hold is read once they are taken off, with the backslashes that hid them.
    pub(super) fn backquotes(&mut self, read: &mut Builder, around: Around) -> Parsed {
        self.skip(1)?;
        read.expanded(if around == Around::Nothing { Quoting::Bare } else { Quoting::Quoted });
        let mut code = Vec::new();
        loop {
            match self.take()? {
                None => return Err(Unclear::Syntax),
                Some(b'`') => break,
                Some(b'\\') => match self.take()? {
                    Some(byte @ (b'$' | b'`' | b'\\')) => code.push(byte),
                    Some(b'"') if around == Around::DoubleQuotes => code.push(b'"'),
                    other => {
                        code.push(b'\\');
                        code.extend(other);
                    }
                },
                Some(byte) => code.push(byte),
            }
        }
        self.within(&code, self.dialect)
    }

    /// `$'…'`, at its quote.
    fn ansi_c(&mut self, read: &mut Builder) -> Parsed {
        self.skip(1)?;
        read.quoted();
        let mut is_cut = false;
        let mut push = |read: &mut Builder, text: &[u8]| {
            // A NUL ends the text.
            is_cut |= text == [0];
            if !is_cut {
                text.iter().for_each(|byte| read.push(*byte));
            }
        };
        loop {
            match self.take()? {
                None => return Err(Unclear::Syntax),
                Some(b'\'') => return Ok(()),
                Some(b'\\') => {
                    let escaped = self.ansi_c_escape()?;
                    push(read, &escaped);
                }
                Some(byte) => push(read, &[byte]),
            }
        }
    }

    /// What an escape of `$'…'` stands for, behind its backslash (bash(1), "QUOTING").
    fn ansi_c_escape(&mut self) -> Parsed<Vec<u8>> {
        let byte = match self.take()? {
            None => return Err(Unclear::Syntax),
            Some(b'a') => 0x07,
            Some(b'b') => 0x08,
            Some(b'e' | b'E') => 0x1b,
            Some(b'f') => 0x0c,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'v') => 0x0b,
            Some(byte @ (b'\\' | b'\'' | b'"' | b'?')) => byte,
            Some(b'0'..=b'7') => {
                self.at -= 1;
                (self.digits(8, 3)? & 0xff) as u8
            }
            Some(b'x') if self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) => {
                self.digits(16, 2)? as u8
            }
            Some(kind @ (b'u' | b'U'))
                if self.peek().is_some_and(|byte| byte.is_ascii_hexdigit()) =>
            {
                let code = self.digits(16, if kind == b'u' { 4 } else { 8 })?;
                let sign = char::from_u32(code).ok_or(Unclear::Syntax)?;
                return Ok(sign.to_string().into_bytes());
            }
            // A control character: rare, and with odd rules of its own.
            Some(b'c' | b'x' | b'u' | b'U') => return Err(Unclear::Syntax),
            Some(other) => return Ok(vec![b'\\', other]),
        };
        Ok(vec![byte])
    }

    fn digits(&mut self, radix: u32, most: usize) -> Parsed<u32> {
        let mut number = 0_u32;
        for _ in 0..most {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(radix));
            let Some(digit) = digit else { break };
            self.skip(1)?;
            number = number.wrapping_mul(radix) | digit;
        }
        Ok(number)
    }
}

impl Patterns {
    /// Whether the word may become others by this byte, before that one.
    fn expands(&mut self, byte: u8, next: Option<u8>) -> bool {
        match byte {
            b'*' | b'?' => return true,
            b'[' => self.bracket = true,
            b']' => return self.bracket,
            b'{' => self.brace = true,
            b',' => self.is_list |= self.brace,
            b'.' => self.is_list |= self.brace && next == Some(b'.'),
            b'}' => return self.is_list,
            _ => {}
        }
        false
    }
}
