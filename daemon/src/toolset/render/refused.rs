//! Why nothing was done to files, in words: each fault with its path, and what there is to be done about it.

use std::path::Path;

use brattice_files::edit::{Reason, Refusal};
use brattice_files::{EditFault, Fault, FaultKind, FileType};
use brattice_policy::Mode;
use brattice_policy::layer::LayerReport;
use brattice_protocol::files::FilesRefused;

use super::denied::{DeniedText, denial_lines, facts};
use super::files::shown_path;
use super::lines::push_line;
use super::outcome::sandbox_facts;
use super::task_words::Said;
use crate::toolset::definition::Toolset;
use crate::toolset::tool::{SessionTools, ToolKind};

/// Why a file may not be changed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Nobody has read it.
    Never,
    /// It has another content since.
    Changed,
}

/// What is wrong with a file.
pub(crate) fn fault_words(tools: SessionTools<'_>, fault: &Fault) -> String {
    let path = shown_path(&fault.path);
    match &fault.kind {
        FaultKind::Kernel { .. } | FaultKind::Journal { .. } | FaultKind::NotUndone(_) => {
            format!("{path}: {}", fault.kind)
        }
        FaultKind::Missing { near } if !near.is_empty() => {
            let near: Vec<String> = near.iter().map(|path| shown_path(path)).collect();
            format!("{path} does not exist; close names: {}", near.join(", "))
        }
        FaultKind::NotRegular(FileType::Directory) => {
            let by = tools.name(ToolKind::Glob).unwrap_or("`ls` in bash");
            format!("{path} is a directory, not a regular file; list it with {by}")
        }
        FaultKind::Cancelled(_) => "the call was cancelled; nothing was changed".to_owned(),
        kind => format!("{path} {kind}"),
    }
}

/// What is wrong with the edits of a file, which are so many: a line each.
pub(crate) fn edit_fault_words(tools: SessionTools<'_>, fault: &EditFault, edits: usize) -> String {
    match fault {
        EditFault::File(fault) => fault_words(tools, fault),
        EditFault::Refused { path, refusals } => {
            let path = shown_path(path);
            let line = |refusal| format!("{path}: {}", refusal_words(refusal, edits));
            refusals.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

fn refusal_words(Refusal { edit, reason }: &Refusal, edits: usize) -> String {
    let words = match reason {
        Reason::Empty => "old_string must not be empty".to_owned(),
        reason => reason.to_string().replace("the old text", "old_string"),
    };
    if edits == 1 { words } else { format!("edit {}: {words}", edit + 1) }
}

/// A file that must be read first.
pub(crate) fn unread_words(path: &Path, unread: Unread) -> String {
    let path = shown_path(path);
    match unread {
        Unread::Never => format!(
            "{path} exists and has not been read in this session, or not since the daemon was started: read it first"
        ),
        Unread::Changed => {
            format!("{path} changed since it was read in this session: read it again")
        }
    }
}

/// Adds what is said of a refusal by the sandbox, which is also the facts.
pub(crate) fn render_refused(
    toolset: &Toolset,
    mut text: String,
    denied: &DeniedText<'_>,
    (mode, layers): (Mode, &LayerReport),
) -> Said<FilesRefused> {
    for line in denial_lines(toolset, denied) {
        push_line(&mut text, &line);
    }
    let denials_total = denied.records.iter().map(|record| record.count).sum();
    let sandbox = sandbox_facts(mode, layers);
    Said { text, facts: FilesRefused { denials: facts(denied.records), denials_total, sandbox } }
}
