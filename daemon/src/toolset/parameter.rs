//! The parameters of `bash`, as they are declared. What a value must be beyond its type is checked in `arguments`.

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
        let kind = match self.kind {
            ParameterKind::Text => "string",
            ParameterKind::Number => "number",
        };
        json!({"type": kind, "description": self.words})
    }
}

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

/// The time limit.
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
