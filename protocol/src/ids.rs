//! Identifiers on the wire. Each is opaque text; a newtype keeps one kind from being taken for another.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes the text as it stands.
            pub fn new(text: impl Into<String>) -> Self {
                $name(text.into())
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id! {
    /// A session: a UUID of version 7, never used again.
    SessionId
}
id! {
    /// A call, unique in its session; the client chooses it, or else the daemon.
    CallId
}
id! {
    /// A question to a person: a UUID of version 7, never used again.
    ApprovalId
}
id! {
    /// The model's questions of one call, or its plan: a UUID of version 7, never used again.
    QuestionId
}
id! {
    /// A task, `bash-1`, `bash-2` …, unique in its session and never used again.
    TaskId
}

impl TaskId {
    /// The id of the task of this number.
    pub fn numbered(number: u64) -> TaskId {
        TaskId(format!("bash-{number}"))
    }

    /// Its number; `None` for a text that is no task's id. Only the one spelling is: `bash-01` is none.
    pub fn number(&self) -> Option<u64> {
        let number = self.0.strip_prefix("bash-")?.parse().ok()?;
        (*self == TaskId::numbered(number)).then_some(number)
    }
}
