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
    /// What the number means that stands at the redirection which follows.
    descriptor: Descriptor,
    /// Where another command begins for shells to which `&>` is `&` and `>`.
    split_at: Option<usize>,
    /// How many here-documents of earlier commands of the line are still to be read.
    documents: usize,
}

/// The descriptor before a redirection.
#[derive(Default)]
enum Descriptor {
    /// None: the operator tells which it is.
    #[default]
    Unsaid,
    StandardInput,
    Other,
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
        match std::mem::take(&mut reading.descriptor) {
            // `0>&3` makes an input of whatever that is.
            Descriptor::StandardInput if input == Input::Inherited => {
                reading.input = Input::Unknown;
            }
            Descriptor::Unsaid if input == Input::Inherited => {}
            Descriptor::Unsaid | Descriptor::StandardInput => reading.input = input,
            Descriptor::Other => {}
        }
        Ok(())
    }

    /// Adds a word, unless it is an assignment or the number of a descriptor.
    fn add(&mut self, reading: &mut Reading, word: Word) {
        let is_redirected = matches!(self.peek(), Some(b'<' | b'>')) && self.after(1) != Some(b'(');
        if let Some(descriptor) = descriptor(&word).filter(|_| is_redirected) {
            // Others know but one digit, and take the rest for a word.
            if word.literal().is_some_and(|text| text.len() > 1) {
                self.of_bash();
            }
            reading.descriptor = descriptor;
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
        let Reading { words, input, split_at, documents, .. } = reading;
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

/// What a word means that a redirection follows without a blank; none if it is a word like others (bash(1), "REDIRECTION").
fn descriptor(word: &Word) -> Option<Descriptor> {
    let text = word.literal().filter(|_| word.is_plain)?;
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let number: i32 = text.parse().ok()?;
        return Some(if number == 0 { Descriptor::StandardInput } else { Descriptor::Other });
    }
    let name = text.strip_prefix('{')?.strip_suffix('}')?;
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_name = name.bytes().next().is_some_and(is_letter)
        && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit());
    is_name.then_some(Descriptor::Other)
}
