//! Why arguments are refused, in words for the model.

use std::fmt;

use serde_json::Value;

use crate::toolset::parameter::ParameterKind;

/// How many characters of a value a fault repeats.
const REPEATED_CHARS: usize = 60;

/// Why arguments are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgumentFault {
    /// No such parameter.
    #[error("argument `{name}`: unknown to this tool, expected {known}, got {came}")]
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
    /// A call for the background in a session that lacks the tools for it.
    #[error(
        "argument `{name}`: not available in this session, which does not have all of `task_output`, `task_kill` \
         and `task_list`, expected to be left out, got {came}"
    )]
    Withheld {
        /// The parameter.
        name: &'static str,
        /// Its value.
        came: Came,
    },
    /// Two arguments of which each makes the other meaningless.
    #[error("argument `{second}`: expected to be left out beside `{first}`, got {came}")]
    Together {
        /// The one.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// The other's value.
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
    /// A number of any kind.
    Number,
    /// A time limit.
    Milliseconds,
    /// A whole number that is at least this.
    WholeNumber(u64),
    /// True or false.
    Flag,
}

impl Expected {
    /// What a parameter of this type takes, as far as the type says it.
    pub(super) const fn of(kind: ParameterKind) -> Self {
        match kind {
            ParameterKind::Text => Expected::Text,
            ParameterKind::Number => Expected::Number,
            ParameterKind::Integer => Expected::WholeNumber(0),
            ParameterKind::Flag => Expected::Flag,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Text => f.write_str("text"),
            Expected::NonBlankText => f.write_str("text that is not blank"),
            Expected::TextWithoutNul => f.write_str("text without NUL characters"),
            Expected::TextOfAtMost(bytes) => write!(f, "text of at most {bytes} bytes"),
            Expected::Number => f.write_str("a number"),
            Expected::Milliseconds => f.write_str("a positive number of milliseconds"),
            Expected::WholeNumber(least) => write!(f, "a whole number from {least} on"),
            Expected::Flag => f.write_str("true or false"),
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
    pub(super) fn value(value: &Value) -> Self {
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

/// A text as a fault repeats it.
pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(REPEATED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
