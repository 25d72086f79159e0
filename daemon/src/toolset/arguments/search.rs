//! What calls of `grep` and `glob` ask for. Whether a pattern is one is found out by whoever compiles it.

use brattice_search::{Ignored, LetterCase, Output, Span, Syntax};
use serde_json::{Map, Value};

use super::bash::MAX_PATH_BYTES;
use super::fault::{ArgumentFault, Came, Expected};
use super::given::{Given, bounded, checked, unexpected};
use crate::toolset::parameter::files::{
    AROUND, FIXED_STRING, GLOB, IGNORE_CASE, INCLUDE_IGNORED, MAX_FILES, MAX_MATCHES, MULTILINE,
    NAMES, OUTPUT_MODE, OUTPUT_MODES, PATTERN, ROOT,
};
use crate::toolset::parameter::{Parameter, ParameterKind};
use crate::toolset::tool::{SessionTools, ToolKind};

/// The longest pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 64 * 1024;

/// Most lines that are shown on either side of a match.
const MOST_AROUND: u64 = 50;

/// What a call of `grep` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GrepArguments {
    /// What lines must hold.
    pub(crate) pattern: String,
    /// How it is read.
    pub(crate) syntax: Syntax,
    /// Whether capital and small letters differ.
    pub(crate) letter_case: LetterCase,
    /// Whether a match may go over lines.
    pub(crate) span: Span,
    /// Where, as it was named; the working directory unless given.
    pub(crate) root: Option<String>,
    /// Which files.
    pub(crate) glob: Option<String>,
    /// Whether ignored files are searched.
    pub(crate) ignored: Ignored,
    /// How many results.
    pub(crate) most: usize,
    /// What is told.
    pub(crate) output: Output,
}

/// What a call of `glob` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GlobArguments {
    /// What names must match.
    pub(crate) pattern: String,
    /// Where, as it was named; the working directory unless given.
    pub(crate) root: Option<String>,
    /// Whether ignored files are found.
    pub(crate) ignored: Ignored,
    /// How many.
    pub(crate) most: usize,
}

/// Parses the arguments of a call of `grep`.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_grep(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<GrepArguments, ArgumentFault> {
    let given = Given::check(tools, ToolKind::Grep, arguments)?;
    let glob = given.text(&GLOB)?.map(|text| checked(&GLOB, text, MAX_PATTERN_BYTES));
    Ok(GrepArguments {
        pattern: pattern(&PATTERN, &given)?,
        syntax: if given.flag(&FIXED_STRING)? { Syntax::Literal } else { Syntax::Regex },
        letter_case: match given.flag(&IGNORE_CASE)? {
            true => LetterCase::Insensitive,
            false => LetterCase::Sensitive,
        },
        span: if given.flag(&MULTILINE)? { Span::Lines } else { Span::Line },
        root: root(&given)?,
        glob: glob.transpose()?,
        ignored: ignored(&given)?,
        most: most(&MAX_MATCHES, &given)?,
        output: output(&given)?,
    })
}

/// Parses the arguments of a call of `glob`.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_glob(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<GlobArguments, ArgumentFault> {
    let given = Given::check(tools, ToolKind::Glob, arguments)?;
    Ok(GlobArguments {
        pattern: pattern(&NAMES, &given)?,
        root: root(&given)?,
        ignored: ignored(&given)?,
        most: most(&MAX_FILES, &given)?,
    })
}

/// An empty pattern would be in every line and is a mistake.
fn pattern(parameter: &Parameter, given: &Given<'_>) -> Result<String, ArgumentFault> {
    let text = bounded(parameter, given.required_text(parameter)?, MAX_PATTERN_BYTES)?;
    if text.is_empty() {
        return Err(unexpected(parameter, Expected::NonEmptyText, Came::value(&Value::from(text))));
    }
    Ok(text.to_owned())
}

fn root(given: &Given<'_>) -> Result<Option<String>, ArgumentFault> {
    given.text(&ROOT)?.map(|path| checked(&ROOT, path, MAX_PATH_BYTES)).transpose()
}

fn ignored(given: &Given<'_>) -> Result<Ignored, ArgumentFault> {
    Ok(if given.flag(&INCLUDE_IGNORED)? { Ignored::Include } else { Ignored::Skip })
}

fn most(parameter: &Parameter, given: &Given<'_>) -> Result<usize, ArgumentFault> {
    let ParameterKind::Bounded { least, most, default } = parameter.kind else {
        return Ok(0);
    };
    let asked = given.within(parameter, least, most)?.unwrap_or(default);
    Ok(usize::try_from(asked).unwrap_or(usize::MAX))
}

fn output(given: &Given<'_>) -> Result<Output, ArgumentFault> {
    let around = given.within(&AROUND, 0, MOST_AROUND)?.unwrap_or(0);
    let lines = usize::try_from(around).unwrap_or(0);
    let content = Output::Content { before: lines, after: lines };
    let output = match given.text(&OUTPUT_MODE)? {
        None | Some("content") => return Ok(content),
        Some("files") => Output::Files,
        Some("count") => Output::Count,
        Some(other) => {
            let came = Came::value(&Value::from(other));
            return Err(unexpected(&OUTPUT_MODE, Expected::Word(&OUTPUT_MODES), came));
        }
    };
    match given.value(&AROUND).filter(|_| around > 0) {
        // There are no lines that others could stand around.
        Some(value) => Err(ArgumentFault::Together {
            first: OUTPUT_MODE.name,
            second: AROUND.name,
            came: Came::value(value),
        }),
        None => Ok(output),
    }
}

#[cfg(test)]
#[path = "tests/search.rs"]
mod tests;
