//! Reading a glob: where its faults stand, what its braces write out to, and from where it speaks.

use std::fmt;
use std::path::{Path, PathBuf};

/// More than anyone writes, and few enough to match quickly.
const MOST_ALTERNATIVES: usize = 1000;

/// A glob that is none, or that speaks of what is not below the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobError {
    /// The glob as it was given.
    pub glob: String,
    /// Where in it the fault stands, in characters from 0.
    pub at: usize,
    /// What it is.
    pub fault: GlobFault,
}

/// What is wrong with a glob.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobFault {
    /// It is empty.
    #[error("nothing to match")]
    Empty,
    /// `[` without `]`.
    #[error("unclosed character class; write `[[]` for a bracket")]
    UnclosedClass,
    /// `{` without `}`.
    #[error("unclosed brace; write `[{{]` for a brace")]
    UnclosedBrace,
    /// `}` without `{`.
    #[error("closing brace without an opening one; write `[}}]` for a brace")]
    UnopenedBrace,
    /// A range whose end comes before its start.
    #[error("invalid range: `{0}` comes after `{1}`")]
    Range(char, char),
    /// `\` at the end.
    #[error("nothing follows the backslash")]
    DanglingEscape,
    /// Braces that write out to too many.
    #[error("braces stand for more than {MOST_ALTERNATIVES} globs")]
    Alternatives,
    /// `..` leads out of the root.
    #[error("a glob cannot lead upwards; search another folder instead")]
    Upwards,
    /// An absolute glob that does not begin with the root.
    #[error("not below {}; search another folder instead", .0.display())]
    Elsewhere(PathBuf),
    /// It takes more memory than a glob may.
    #[error("too large")]
    TooLarge,
}

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = " ".repeat(self.at);
        write!(f, "glob parse error:\n    {}\n    {indent}^\nerror: {}", self.glob, self.fault)
    }
}

impl std::error::Error for GlobError {}

/// What a glob says of the files that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sense {
    Only,
    Except,
}

/// A glob without braces, each alternative as its components.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    pub(super) sense: Sense,
    pub(super) alternatives: Vec<Vec<String>>,
}

/// Reads a glob. `roots` are the names by which an absolute one may begin.
pub(super) fn parse(glob: &str, roots: &[&Path]) -> Result<Parsed, GlobError> {
    let fail = |(at, fault)| GlobError { glob: glob.to_owned(), at, fault };
    let chars: Vec<char> = glob.chars().collect();
    let (sense, at) =
        if chars.first() == Some(&'!') { (Sense::Except, 1) } else { (Sense::Only, 0) };
    let mut reader = Reader { chars: &chars, at };
    let written_out = reader.sequence(Depth::Outside).map_err(fail)?;
    let alternatives = written_out
        .iter()
        .map(|text| components(text, roots).map_err(|fault| fail((place(glob, &fault), fault))))
        .collect::<Result<_, _>>()?;
    Ok(Parsed { sense, alternatives })
}

/// What the matcher's own fault is, for those that `parse` leaves to it.
pub(super) fn fault_of(glob: &str, error: &globset::Error) -> GlobError {
    let (at, fault) = match error.kind() {
        globset::ErrorKind::InvalidRange(from, to) => {
            let range = glob.find(&format!("{from}-{to}")).unwrap_or(0);
            (glob[..range].chars().count(), GlobFault::Range(*from, *to))
        }
        _ => (0, GlobFault::TooLarge),
    };
    GlobError { glob: glob.to_owned(), at, fault }
}

/// Where a fault stands that was found after braces were written out.
fn place(glob: &str, fault: &GlobFault) -> usize {
    let byte = match fault {
        GlobFault::Upwards => glob.find(".."),
        _ => None,
    };
    byte.map_or(0, |byte| glob[..byte].chars().count())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Outside,
    InBraces,
}

struct Reader<'a> {
    chars: &'a [char],
    at: usize,
}

type Fault = (usize, GlobFault);

impl Reader<'_> {
    /// What is left, or a branch of braces, written out.
    fn sequence(&mut self, depth: Depth) -> Result<Vec<String>, Fault> {
        let mut written = vec![String::new()];
        while let Some(&sign) = self.chars.get(self.at) {
            let start = self.at;
            match sign {
                ',' | '}' if depth == Depth::InBraces => break,
                '}' => return Err((start, GlobFault::UnopenedBrace)),
                '{' => {
                    let branches = self.braces()?;
                    if written.len() * branches.len() > MOST_ALTERNATIVES {
                        return Err((start, GlobFault::Alternatives));
                    }
                    written = written
                        .iter()
                        .flat_map(|head| branches.iter().map(move |tail| format!("{head}{tail}")))
                        .collect();
                    continue;
                }
                '\\' if self.at + 1 == self.chars.len() => {
                    return Err((start, GlobFault::DanglingEscape));
                }
                '\\' => self.at += 2,
                '[' => self.class()?,
                _ => self.at += 1,
            }
            let piece: String = self.chars[start..self.at].iter().collect();
            written.iter_mut().for_each(|text| text.push_str(&piece));
        }
        Ok(written)
    }

    /// Steps over a character class. In it nothing is special but the bracket that ends it, and that only after the
    /// first character.
    fn class(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let negated = matches!(self.chars.get(start + 1), Some('!' | '^'));
        let first = start + 1 + usize::from(negated);
        let end = (first + 1..self.chars.len()).find(|&at| self.chars[at] == ']');
        self.at = end.ok_or((start, GlobFault::UnclosedClass))? + 1;
        Ok(())
    }

    /// The branches of braces, written out, one after the other.
    fn braces(&mut self) -> Result<Vec<String>, Fault> {
        let start = self.at;
        let mut branches = Vec::new();
        loop {
            self.at += 1;
            branches.extend(self.sequence(Depth::InBraces)?);
            match self.chars.get(self.at) {
                Some(',') => {}
                Some(_) => {
                    self.at += 1;
                    return Ok(branches);
                }
                None => return Err((start, GlobFault::UnclosedBrace)),
            }
        }
    }
}

/// The components of a glob without braces, from the root.
fn components(text: &str, roots: &[&Path]) -> Result<Vec<String>, GlobFault> {
    let below = if text.starts_with('/') {
        let below = roots.iter().find_map(|root| {
            let rest = text.strip_prefix(root.to_str()?.trim_end_matches('/'))?;
            rest.starts_with('/').then_some(rest)
        });
        let root = || roots.first().map(|root| root.to_path_buf()).unwrap_or_default();
        below.ok_or_else(|| GlobFault::Elsewhere(root()))?
    } else {
        text
    };
    let mut components: Vec<String> = below
        .split('/')
        .filter(|component| !component.is_empty() && *component != ".")
        .map(str::to_owned)
        .collect();
    if components.iter().any(|component| component == "..") {
        return Err(GlobFault::Upwards);
    }
    if components.is_empty() && text.is_empty() {
        return Err(GlobFault::Empty);
    }
    if !text.contains('/') {
        components.insert(0, "**".to_owned());
    }
    // A folder stands for what it holds.
    if below.ends_with('/') || components.is_empty() {
        components.push("**".to_owned());
    }
    Ok(components)
}
