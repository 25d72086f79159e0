//! The parameters of the tools, as they are declared. What a value must be beyond its type is checked in `arguments`.

use brattice_policy::Mode;
use serde_json::{Value, json};

/// A declared parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// The argument's name.
    pub(crate) name: &'static str,
    /// The type of its value.
    pub(crate) kind: ParameterKind,
    /// Whether a call must have it.
    pub(crate) presence: Presence,
    /// What it means, for the model.
    pub(crate) words: &'static str,
}

/// The type of a parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterKind {
    /// Text.
    Text,
    /// A number, whole or not.
    Number,
    /// A whole number.
    Integer,
    /// True or false.
    Flag,
    /// A whole number within bounds, which may be left out.
    Bounded {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
        /// What it is unless given.
        default: u64,
    },
    /// One of these words.
    Word(&'static [&'static str]),
    /// Files with the edits of each.
    FileEdits,
    /// Questions with ids.
    Questions,
    /// Questions of a text and options.
    PlainQuestions,
    /// A to-do list.
    Todos,
}

/// Whether a call must have an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It must.
    Required,
    /// It may.
    Optional,
}

impl Parameter {
    const fn optional(name: &'static str, kind: ParameterKind, words: &'static str) -> Self {
        Parameter { name, kind, presence: Presence::Optional, words }
    }

    /// The same parameter, required.
    pub(super) const fn required(self) -> Self {
        Parameter { presence: Presence::Required, ..self }
    }

    /// Its JSON schema.
    pub(super) fn schema(&self) -> Value {
        let mut schema = self.kind.schema();
        schema["description"] = self.words.into();
        schema
    }
}

impl ParameterKind {
    fn schema(self) -> Value {
        match self {
            ParameterKind::Text => json!({"type": "string"}),
            ParameterKind::Number => json!({"type": "number"}),
            ParameterKind::Integer => json!({"type": "integer"}),
            ParameterKind::Flag => json!({"type": "boolean"}),
            ParameterKind::Bounded { least, most, default } => {
                json!({"type": "integer", "minimum": least, "maximum": most, "default": default})
            }
            ParameterKind::Word(words) => json!({"type": "string", "enum": words}),
            ParameterKind::FileEdits => file_edits(),
            ParameterKind::Questions => people::questions(),
            ParameterKind::PlainQuestions => people::plain_questions(),
            ParameterKind::Todos => people::todos(),
        }
    }
}

fn file_edits() -> Value {
    let edit = json!({
        "type": "object",
        "properties": {
            "old_string": {"type": "string", "minLength": 1},
            "new_string": {"type": "string"},
            "replace_all": {"type": "boolean"},
        },
        "required": ["old_string", "new_string"],
    });
    let file = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "edits": {"type": "array", "items": edit, "minItems": 1},
        },
        "required": ["path", "edits"],
    });
    json!({"type": "array", "items": file, "minItems": 1})
}

/// The parameters of the tools for files and for searches.
pub(super) mod files;
/// Those of the tools that have to do with people.
pub(super) mod people;

/// The command.
pub(super) const COMMAND: Parameter = Parameter::optional(
    "command",
    ParameterKind::Text,
    "The command, as bash takes it after `-c`: any number of lines, here-documents included.",
);

/// What the command is for.
pub(super) const DESCRIPTION: Parameter = Parameter::optional(
    "description",
    ParameterKind::Text,
    "What the command does, in a few words, for the person who watches.",
);

/// A command's time limit.
pub(super) const TIMEOUT_MS: Parameter = Parameter::optional(
    "timeoutMs",
    ParameterKind::Number,
    "The time limit in milliseconds, above 0. The tool's description names the default and the cap.",
);

/// The working directory.
pub(super) const WORKDIR: Parameter = Parameter::optional(
    "workdir",
    ParameterKind::Text,
    "The folder to run in. A relative path starts at the session's working directory, which is also the default.",
);

/// Whether the call waits for the command. Declared only where what runs on can be read, ended and listed.
pub(super) const RUN_IN_BACKGROUND: Parameter = Parameter::optional(
    "run_in_background",
    ParameterKind::Flag,
    "True: return at once with a task's id while the command runs on. False, the default: wait for its end.",
);

/// The wider mode that a call asks for. Declared only where a person may be asked.
pub(super) const SANDBOX_PERMISSIONS: Parameter = Parameter::optional(
    "sandbox_permissions",
    ParameterKind::Word(&[Mode::WorkspaceWrite.as_str(), Mode::DangerFullAccess.as_str()]),
    "Ask a person to allow this one command this wider sandbox mode. `justification` must come with it.",
);

/// Why it asks; likewise.
pub(super) const JUSTIFICATION: Parameter = Parameter::optional(
    "justification",
    ParameterKind::Text,
    "Why the wider mode is needed, in a sentence, for the person who decides. Only with `sandbox_permissions`.",
);

/// Whether the command gets a pipe for its standard input.
pub(super) const STDIN: Parameter = Parameter::optional(
    "stdin",
    ParameterKind::Flag,
    "True: standard input is a pipe that stays open for input sent later. False, the default: it is empty.",
);

/// Whether the command runs on a terminal.
pub(super) const TTY: Parameter = Parameter::optional(
    "tty",
    ParameterKind::Flag,
    "True: run on a terminal of the command's own, which input is typed into; it includes `stdin`.",
);

/// A task.
pub(super) const TASK_ID: Parameter =
    Parameter::optional("task_id", ParameterKind::Text, "The task's id, such as `bash-1`.");

/// Whether a read waits for the end.
pub(super) const WAIT: Parameter = Parameter::optional(
    "wait",
    ParameterKind::Flag,
    "True: return when the task has ended or `timeout_ms` is over. False, the default: return at once.",
);

/// How long a read waits.
pub(super) const WAIT_MS: Parameter = Parameter::optional(
    "timeout_ms",
    ParameterKind::Number,
    "With `wait`: the longest wait in milliseconds, above 0. The tool's description names the default and the cap.",
);

/// Where a read begins that is to be repeated.
pub(super) const OFFSET: Parameter = Parameter::optional(
    "offset",
    ParameterKind::Integer,
    "Read again from this byte of each stream on, from 0, instead of what is new.",
);

/// How much of the end is read.
pub(super) const TAIL_LINES: Parameter = Parameter::optional(
    "tail_lines",
    ParameterKind::Integer,
    "Read the last so many lines of each stream, at least 1, instead of what is new.",
);

/// Why a task is ended.
pub(super) const REASON: Parameter = Parameter::optional(
    "reason",
    ParameterKind::Text,
    "Why, in a few words. It is recorded with the task's end.",
);

/// What a task is sent.
pub(super) const TEXT: Parameter = Parameter::optional(
    "text",
    ParameterKind::Text,
    "The text to send, as it stands: a line needs its newline. It may be empty where `eof` is true.",
);

/// Whether a task's input ends.
pub(super) const EOF: Parameter = Parameter::optional(
    "eof",
    ParameterKind::Flag,
    "True: the input ends after this text. False, the default: more may follow.",
);
