//! Changes as editors and people are shown them.

use std::path::Path;

use brattice_protocol::editor::EditorContent;

/// A file's change; one that was not there before has no old text.
pub fn diff(path: impl AsRef<Path>, old: Option<&str>, new: &str) -> EditorContent {
    EditorContent::Diff {
        path: path.as_ref().display().to_string(),
        old_text: old.map(str::to_owned),
        new_text: new.to_owned(),
    }
}
