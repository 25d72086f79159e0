//! From a call's JSON arguments to what `bash` is asked to do. A fault is a result of the call, so its text is written
//! for the model: the argument, what was expected and what came. Whether the working directory exists is found out
//! by whoever starts the command.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use super::definition::{Asks, TimeLimits, Toolset, UnknownArguments};
use super::parameter::{COMMAND, DESCRIPTION, Parameter, Presence, TIMEOUT_MS, WORKDIR};

/// The longest command, in bytes.
pub(super) const MAX_COMMAND_BYTES: usize = 1024 * 1024;

/// The longest path that the kernel takes, in bytes without the final NUL (`PATH_MAX`, limits.h).
const MAX_PATH_BYTES: usize = 4095;

/// How many characters of a value a fault repeats.
const REPEATED_CHARS: usize = 60;

/// What a call of `bash` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BashArguments {
    /// The text for bash.
    pub(crate) command: String,
    /// What it is for, in the model's words.
    pub(crate) description: Option<String>,
    /// Its time limit.
    pub(crate) timeout: Timeout,
    /// Where it runs, absolute or relative to the session's cwd; the session's cwd where none is given.
    pub(crate) workdir: Option<String>,
}

/// A command's time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeout {
    /// The limit that applies, in whole milliseconds.
    pub(crate) limit: Duration,
    /// Where it comes from.
    pub(crate) origin: TimeoutOrigin,
}

/// Where a time limit comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeoutOrigin {
    /// The call named none.
    Default,
    /// The call named it.
    AsAsked,
    /// The call named a longer one than the toolset allows.
    Clamped,
}

/// Why arguments are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgumentFault {
    /// No such parameter.
    #[error("argument `{name}`: unknown to this tool, expected only {known}, got {came}")]
    Unknown {
        /// What came, shortened.
        name: String,
        /// The parameters there are.
        known: String,
        /// Its value.
        came: Came,
    },
    /// A parameter of a later version, with a value that asks for its effect.
    #[error(
        "argument `{name}`: not available in this version, expected to be left out, got {came}"
    )]
    Unavailable {
        /// The parameter.
        name: &'static str,
        /// Its value.
        came: Came,
    },
    /// A value that the parameter does not take.
    #[error("argument `{name}`: expected {expected}, got {came}")]
    Unexpected {
        /// The parameter.
        name: &'static str,
        /// What it takes.
        expected: Expected,
        /// What came.
        came: Came,
    },
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Text of any kind.
    Text,
    /// Text with something in it.
    NonBlankText,
    /// Text that can be handed to the kernel.
    TextWithoutNul,
    /// Text up to a length in bytes.
    TextOfAtMost(usize),
    /// A time limit.
    Milliseconds,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Text => f.write_str("text"),
            Expected::NonBlankText => f.write_str("text that is not blank"),
            Expected::TextWithoutNul => f.write_str("text without NUL characters"),
            Expected::TextOfAtMost(bytes) => write!(f, "text of at most {bytes} bytes"),
            Expected::Milliseconds => f.write_str("a positive number of milliseconds"),
        }
    }
}

/// What came instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    /// No such argument.
    Nothing,
    /// A value, shortened to what a fault can repeat.
    Value(String),
    /// Text with a NUL character at this byte.
    NulAt(usize),
    /// Text of this many bytes.
    Bytes(usize),
}

impl Came {
    fn value(value: &Value) -> Self {
        Came::Value(match value {
            Value::Array(_) => "an array".to_owned(),
            Value::Object(_) => "an object".to_owned(),
            Value::String(text) => {
                let shortened = shorten(text);
                Value::String(shortened).to_string()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        })
    }
}

impl fmt::Display for Came {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Came::Nothing => f.write_str("nothing"),
            Came::Value(value) => f.write_str(value),
            Came::NulAt(byte) => write!(f, "one at byte {byte}"),
            Came::Bytes(bytes) => write!(f, "{bytes} bytes"),
        }
    }
}

/// Parses the arguments of a call of `bash`. The first fault is told; undeclared arguments come first, because a
/// misspelt name explains best why another argument is missing.
pub(crate) fn parse_bash(
    toolset: &Toolset,
    arguments: &Map<String, Value>,
) -> Result<BashArguments, ArgumentFault> {
    check_undeclared(toolset, arguments)?;
    for parameter in toolset.bash.parameters {
        if parameter.presence == Presence::Required && !arguments.contains_key(parameter.name) {
            let expected = Expected::Text;
            return Err(unexpected(parameter, expected, Came::Nothing));
        }
    }
    Ok(BashArguments {
        command: command(arguments)?,
        description: text(arguments, &DESCRIPTION)?.map(str::to_owned),
        timeout: timeout(arguments, toolset.limits)?,
        workdir: workdir(arguments)?,
    })
}

fn check_undeclared(
    toolset: &Toolset,
    arguments: &Map<String, Value>,
) -> Result<(), ArgumentFault> {
    let rules = &toolset.bash;
    for unavailable in rules.unavailable {
        if let Some(value) = arguments.get(unavailable.name)
            && unavailable.asks.for_something(value)
        {
            let (name, came) = (unavailable.name, Came::value(value));
            return Err(ArgumentFault::Unavailable { name, came });
        }
    }
    let is_declared = |name: &str| rules.parameters.iter().any(|known| known.name == name);
    match (rules.unknown, arguments.iter().find(|(name, _)| !is_declared(name))) {
        (UnknownArguments::Refuse, Some((name, value))) => Err(ArgumentFault::Unknown {
            name: shorten(name),
            known: names(rules.parameters),
            came: Came::value(value),
        }),
        (UnknownArguments::Refuse, None) | (UnknownArguments::Ignore, _) => Ok(()),
    }
}

impl Asks {
    fn for_something(self, value: &Value) -> bool {
        match self {
            Asks::Always => !value.is_null(),
            Asks::UnlessFalse => !matches!(value, Value::Null | Value::Bool(false)),
        }
    }
}

fn command(arguments: &Map<String, Value>) -> Result<String, ArgumentFault> {
    let command = text(arguments, &COMMAND)?
        .ok_or_else(|| unexpected(&COMMAND, Expected::Text, Came::Nothing))?;
    checked(&COMMAND, command, MAX_COMMAND_BYTES)
}

fn workdir(arguments: &Map<String, Value>) -> Result<Option<String>, ArgumentFault> {
    text(arguments, &WORKDIR)?.map(|path| checked(&WORKDIR, path, MAX_PATH_BYTES)).transpose()
}

/// Text that goes to the kernel: some of it, no NUL in it, and no more than it takes.
fn checked(parameter: &Parameter, text: &str, limit: usize) -> Result<String, ArgumentFault> {
    if text.len() > limit {
        let expected = Expected::TextOfAtMost(limit);
        return Err(unexpected(parameter, expected, Came::Bytes(text.len())));
    }
    if let Some(byte) = text.find('\0') {
        return Err(unexpected(parameter, Expected::TextWithoutNul, Came::NulAt(byte)));
    }
    if text.trim().is_empty() {
        let came = Came::value(&Value::from(text));
        return Err(unexpected(parameter, Expected::NonBlankText, came));
    }
    Ok(text.to_owned())
}

fn timeout(arguments: &Map<String, Value>, limits: TimeLimits) -> Result<Timeout, ArgumentFault> {
    let Some(value) = arguments.get(TIMEOUT_MS.name) else {
        return Ok(Timeout { limit: limits.default, origin: TimeoutOrigin::Default });
    };
    // JSON has no NaN; a number too large for f64 was refused when the message was read.
    let asked = value
        .as_f64()
        .filter(|milliseconds| *milliseconds > 0.0)
        .ok_or_else(|| unexpected(&TIMEOUT_MS, Expected::Milliseconds, Came::value(value)))?;
    if asked > limits.max.as_secs_f64() * 1000.0 {
        return Ok(Timeout { limit: limits.max, origin: TimeoutOrigin::Clamped });
    }
    // Below the cap, so the whole number fits.
    let limit = Duration::from_millis(asked.ceil() as u64);
    Ok(Timeout { limit, origin: TimeoutOrigin::AsAsked })
}

fn text<'a>(
    arguments: &'a Map<String, Value>,
    parameter: &Parameter,
) -> Result<Option<&'a str>, ArgumentFault> {
    match arguments.get(parameter.name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(unexpected(parameter, Expected::Text, Came::value(other))),
    }
}

fn unexpected(parameter: &Parameter, expected: Expected, came: Came) -> ArgumentFault {
    ArgumentFault::Unexpected { name: parameter.name, expected, came }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(REPEATED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn names(parameters: &[Parameter]) -> String {
    let quoted: Vec<String> =
        parameters.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
    quoted.join(", ")
}

#[cfg(test)]
#[path = "tests/arguments.rs"]
mod tests;
