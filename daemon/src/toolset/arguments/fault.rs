//! Why arguments are refused, in words for the model.

use std::fmt;

use brattice_policy::Mode;
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
    /// A call for a wider mode in a session in which nobody is asked.
    #[error(
        "argument `{name}`: escalation is refused: approval prompts are disabled in this session; expected to be left \
         out, got {came}; nothing ran"
    )]
    NobodyIsAsked {
        /// The parameter.
        name: &'static str,
        /// Its value.
        came: Came,
    },
    /// One of two arguments that come together or not at all.
    #[error("argument `{missing}`: expected beside `{given}`, got nothing")]
    Alone {
        /// The one that came.
        given: &'static str,
        /// The one that did not.
        missing: &'static str,
    },
    /// A mode that the session has anyway.
    #[error("argument `{name}`: expected a mode wider than the session's, {mode}, got \"{came}\"")]
    NotWider {
        /// The parameter.
        name: &'static str,
        /// The session's mode.
        mode: Mode,
        /// What was asked for.
        came: Mode,
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
    /// A value inside another that is not what must stand there.
    #[error("argument `{place}`: expected {expected}, got {came}")]
    Inside {
        /// Where it stands, such as `files[0].edits[1].old_string`.
        place: String,
        /// What must stand there.
        expected: Expected,
        /// What came.
        came: Came,
    },
    /// A value that stands at an earlier place as well.
    #[error("argument `{place}`: expected another value than that of `{first}`, got {came}")]
    Repeated {
        /// Where it stands.
        place: String,
        /// Where it stood first.
        first: String,
        /// The value.
        came: Came,
    },
    /// A to-do list of which two items are in progress.
    #[error("argument `todos`: expected at most one item in progress, got {first} and {second}")]
    TwoInProgress {
        /// The one.
        first: Came,
        /// The other.
        second: Came,
    },
    /// Neither of two ways to say what a call is about.
    #[error("argument `{first}`: expected it or `{second}`, got neither")]
    Neither {
        /// The one.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// Nothing that is to be replaced.
    #[error(
        "argument `{place}`: old_string must not be empty: expected the text that is to be replaced, got \"\""
    )]
    NoOldString {
        /// Where it stands.
        place: String,
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
    /// A whole number within bounds.
    WholeNumberWithin(u64, u64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Text with something in it, be it blank.
    NonEmptyText,
    /// A list.
    Array,
    /// A list with something in it.
    NonEmptyArray,
    /// A list of at most so many.
    EntriesOfAtMost(usize),
    /// A plan.
    Heading,
    /// Named values.
    Object,
    /// No such value.
    Nothing,
}

impl Expected {
    /// What a parameter of this type takes, as far as the type says it.
    pub(super) const fn of(kind: ParameterKind) -> Self {
        match kind {
            ParameterKind::Text => Expected::Text,
            ParameterKind::Number => Expected::Number,
            ParameterKind::Integer => Expected::WholeNumber(0),
            ParameterKind::Flag => Expected::Flag,
            ParameterKind::Bounded { least, most, default: _ } => {
                Expected::WholeNumberWithin(least, most)
            }
            ParameterKind::Word(words) => Expected::Word(words),
            ParameterKind::FileEdits | ParameterKind::Questions | ParameterKind::PlainQuestions => {
                Expected::NonEmptyArray
            }
            ParameterKind::Todos => Expected::Array,
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
            Expected::WholeNumberWithin(least, most) => {
                write!(f, "a whole number from {least} to {most}")
            }
            Expected::Word(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                write!(f, "one of {}", quoted.join(", "))
            }
            Expected::NonEmptyText => f.write_str("text that is not empty"),
            Expected::Array => f.write_str("an array"),
            Expected::Heading => {
                f.write_str("Markdown that begins with a heading, such as `# Plan`")
            }
            Expected::NonEmptyArray => f.write_str("an array that is not empty"),
            Expected::EntriesOfAtMost(most) => write!(f, "an array of at most {most} entries"),
            Expected::Object => f.write_str("an object"),
            Expected::Nothing => f.write_str("no such key"),
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
    /// A list of so many.
    Entries(usize),
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
            Came::Entries(entries) => write!(f, "{entries}"),
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
