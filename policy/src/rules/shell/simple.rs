//! One simple command: words, assignments and redirections, or the reserved word that begins something else.

use super::parser::{Dialect, End, Ended, Parsed, Parser};
use super::redirection::Input;
use super::word::Word;
use super::{FoundCommand, Unclear};
use crate::rules::wrapper;

/// A command that is being read.
#[derive(Default)]
struct Reading {
    words: Vec<Word>,
    /// Whether something stands before the first word, which then is no reserved one.
    is_begun: bool,
    input: Input,
    /// Where another command begins for shells to which `&>` is `&` and `>`.
    split_at: Option<usize>,
    /// How many here-documents of earlier commands of the line are still to be read.
    documents: usize,
}

impl Parser<'_, '_> {
    /// One command, or a reserved word and what belongs to it.
    pub(super) fn command(&mut self, end: End) -> Parsed<Ended> {
        let mut reading = Reading { documents: self.heredocs.len(), ..Reading::default() };
        loop {
            self.blanks()?;
            match self.peek() {
                None | Some(b'\n' | b';' | b'|' | b')') => break,
                Some(b'&') if self.after(1) != Some(b'>') => break,
                Some(b'&') => {
                    reading.split_at = Some(reading.words.len());
                    self.redirected(&mut reading)?;
                }
                Some(b'<' | b'>') if self.after(1) != Some(b'(') => {
                    self.redirected(&mut reading)?
                }
                Some(b'(') => {
                    self.function_brackets(&reading)?;
                    return Ok(Ended::AsMeant);
                }
                Some(b'#') => self.comment()?,
                Some(_) => {
                    let word = self.word()?;
                    let is_first = reading.words.is_empty() && !reading.is_begun;
                    if is_first && word.is_reserved("esac") && end == End::Branch {
                        return Ok(Ended::Esac);
                    }
                    if is_first && self.reserved(&word)? {
                        return Ok(Ended::AsMeant);
                    }
                    self.add(&mut reading, word);
                }
            }
        }
        self.finish(reading);
        Ok(Ended::AsMeant)
    }

    fn redirected(&mut self, reading: &mut Reading) -> Parsed {
        reading.is_begun = true;
        let input = self.redirection()?;
        if input != Input::Inherited {
            reading.input = input;
        }
        Ok(())
    }

    /// Adds a word, unless it is an assignment or the number of a descriptor.
    fn add(&self, reading: &mut Reading, word: Word) {
        let is_redirected = matches!(self.peek(), Some(b'<' | b'>'));
        let is_descriptor = word.is_plain
            && word.literal().is_some_and(|text| {
                let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
                is_number || text.starts_with('{') && text.ends_with('}')
            });
        if is_redirected && is_descriptor && self.after(1) != Some(b'(') {
            return;
        }
        if reading.words.is_empty() && word.is_assignment {
            reading.is_begun = true;
            return;
        }
        reading.words.push(word);
    }

    /// `name ()`, behind which the body of a function stands.
    fn function_brackets(&mut self, reading: &Reading) -> Parsed {
        if reading.words.len() != 1 || reading.is_begun {
            return Err(Unclear::Syntax);
        }
        self.skip(1)?;
        self.blanks()?;
        if self.accept(b')')? { Ok(()) } else { Err(Unclear::Syntax) }
    }

    fn finish(&mut self, reading: Reading) {
        let Reading { words, input, split_at, documents, is_begun: _ } = reading;
        if let Some(rest) = split_at.and_then(|at| words.get(at..)).filter(|rest| !rest.is_empty())
        {
            let command = FoundCommand { words: rest.to_vec(), is_open: false };
            wrapper::found(self.script, command, Input::Inherited, (self.depth, self.dialect));
        }
        if words.is_empty() {
            return;
        }
        // Which of them is standard input depends on numbers: all may be.
        if let Some(dialect) = wrapper::code_from_input(&words) {
            self.heredocs
                .iter_mut()
                .skip(documents)
                .for_each(|pending| pending.is_code_for(dialect));
        }
        let command = FoundCommand { words, is_open: false };
        wrapper::found(self.script, command, input, (self.depth, self.dialect));
    }

    /// What some shells read in another way than bash.
    pub(super) fn of_bash(&mut self) {
        if self.dialect == Dialect::Posix {
            self.script.is_unclear(Unclear::Dialect);
        }
    }
}
