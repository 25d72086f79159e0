//! From a pattern's text to a matcher, or to what is wrong with it and where.

use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ParserBuilder;

use super::{GrepQuery, LetterCase, Span, Syntax};

/// What a compiled pattern may take; a larger one is an error. It also bounds how slow a step can be.
const SIZE_LIMIT: usize = 10 * 1024 * 1024;
/// What each thread may take for states that it computes as it goes.
const CACHE_LIMIT: usize = 16 * 1024 * 1024;

/// Why a pattern cannot be searched for.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// It is no regular expression; the text is of several lines and points at the fault.
    #[error(transparent)]
    Syntax(Box<regex_syntax::Error>),
    /// It could only match a line's end or beyond, while matches are kept within lines.
    #[error("the pattern holds a line break, which matches only where matches may span lines")]
    LineBreak,
    /// It could only match a NUL byte, which no text file has.
    #[error("the pattern holds a NUL byte, and files with one are taken for binary and skipped")]
    Nul,
    /// It is too large when compiled.
    #[error("the pattern is too large: compiled it takes more than {SIZE_LIMIT} bytes")]
    TooLarge,
}

/// Compiles a query's pattern. `^` and `$` are about lines; a line's end may be LF or CRLF.
pub(super) fn compile(query: &GrepQuery) -> Result<RegexMatcher, PatternError> {
    let insensitive = query.letter_case == LetterCase::Insensitive;
    let crlf = !names_carriage_return(&query.pattern);
    if query.syntax == Syntax::Regex {
        // Parsed as it was written, or faults would be shown in a text that the user never saw.
        let parsed = ParserBuilder::new()
            .utf8(false)
            .multi_line(true)
            .crlf(crlf)
            .case_insensitive(insensitive)
            .build()
            .parse(&query.pattern);
        parsed.map_err(|error| PatternError::Syntax(Box::new(error)))?;
    }
    let line_break = match query.span {
        Span::Line => Some(b'\n'),
        Span::Lines => None,
    };
    RegexMatcherBuilder::new()
        .multi_line(true)
        .case_insensitive(insensitive)
        .fixed_strings(query.syntax == Syntax::Literal)
        .crlf(crlf)
        .line_terminator(line_break)
        .ban_byte(Some(b'\0'))
        .size_limit(SIZE_LIMIT)
        .dfa_size_limit(CACHE_LIMIT)
        .build(&query.pattern)
        .map_err(|error| match error.kind() {
            ErrorKind::NotAllowed(_) | ErrorKind::InvalidLineTerminator(_) => {
                PatternError::LineBreak
            }
            ErrorKind::Banned(_) => PatternError::Nul,
            _ => PatternError::TooLarge,
        })
}

/// Whether a pattern speaks of carriage returns itself. Only then are they characters like any other; else one before
/// the line's end belongs to that end, so that `;$` finds lines of either kind of file.
fn names_carriage_return(pattern: &str) -> bool {
    ["\r", r"\r", r"\x0d", r"\x0D", r"\x{d}", r"\x{D}"].iter().any(|name| pattern.contains(name))
}
