//! What an editor shows of a call, in the shapes of the Agent Client Protocol: an agent forwards it as it stands, in a
//! tool call or its update. A result has it in its [`crate::tools::CallMeta`], and `call.started` has the same fields.

use serde::{Deserialize, Serialize};

use crate::tools::{CallStatus, Location};

/// The most bytes of each side of a [`EditorContent::Diff`].
pub const MOST_DIFF_BYTES: usize = 64 << 10;

/// What an editor shows of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditorFacts {
    /// What the call does.
    pub kind: EditorKind,
    /// One line for people.
    pub title: String,
    /// How it stands.
    pub status: EditorStatus,
    /// Files that it concerns.
    pub locations: Vec<Location>,
    /// What it changes. The text of a result is not in it: that is the result's own `content`.
    pub content: Vec<EditorContent>,
}

/// What a call does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditorKind {
    /// It looks at something.
    Read,
    /// It changes files.
    Edit,
    /// It searches files.
    Search,
    /// It runs or stops a command.
    Execute,
    /// It plans.
    Think,
    /// It reads from the network.
    Fetch,
    /// Anything else, and what a newer daemon knows.
    #[default]
    #[serde(other)]
    Other,
}

impl EditorKind {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            EditorKind::Read => "read",
            EditorKind::Edit => "edit",
            EditorKind::Search => "search",
            EditorKind::Execute => "execute",
            EditorKind::Think => "think",
            EditorKind::Fetch => "fetch",
            EditorKind::Other => "other",
        }
    }
}

/// How a call stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditorStatus {
    /// It runs.
    #[default]
    InProgress,
    /// It ran, whatever its exit code.
    Completed,
    /// `isError`.
    Failed,
}

impl From<CallStatus> for EditorStatus {
    fn from(status: CallStatus) -> Self {
        match status {
            CallStatus::Completed => EditorStatus::Completed,
            CallStatus::Failed => EditorStatus::Failed,
        }
    }
}

/// Something that an editor shows with a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum EditorContent {
    /// A file that is changed.
    Diff {
        /// The absolute path.
        path: String,
        /// The text before, at most [`MOST_DIFF_BYTES`]; null for a new file.
        old_text: Option<String>,
        /// The text after, at most as much.
        new_text: String,
    },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn facts_are_written_as_editors_read_them() {
        let facts = EditorFacts {
            kind: EditorKind::Edit,
            title: "Change a".to_owned(),
            status: EditorStatus::InProgress,
            locations: vec![Location { path: "/ws/a".to_owned(), line: Some(3) }],
            content: vec![EditorContent::Diff {
                path: "/ws/a".to_owned(),
                old_text: None,
                new_text: "x".to_owned(),
            }],
        };
        let written = json!({
            "kind": "edit", "title": "Change a", "status": "in_progress",
            "locations": [{"path": "/ws/a", "line": 3}],
            "content": [{"type": "diff", "path": "/ws/a", "oldText": null, "newText": "x"}],
        });
        assert_eq!(serde_json::to_value(&facts).unwrap(), written);
        assert_eq!(serde_json::from_value::<EditorFacts>(written).unwrap(), facts);
    }

    #[test]
    fn a_kind_has_its_name_on_the_wire() {
        let kinds = [
            EditorKind::Read,
            EditorKind::Edit,
            EditorKind::Search,
            EditorKind::Execute,
            EditorKind::Think,
            EditorKind::Fetch,
            EditorKind::Other,
        ];
        for kind in kinds {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
