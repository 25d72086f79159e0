//! Why nothing was done to files, in words: each fault with its path, and what there is to be done about it.

use std::path::Path;

use brattice_files::edit::{MOST_PLACES, Reason, Refusal};
use brattice_files::{EditFault, Fault, FaultKind, FileType};
use brattice_policy::Mode;
use brattice_policy::layer::LayerReport;
use brattice_protocol::files::FilesRefused;

use super::denied::{DeniedText, denial_lines, facts};
use super::files::{shown_name, shown_path};
use super::lines::push_line;
use super::outcome::sandbox_facts;
use super::task_words::Said;
use crate::toolset::definition::Toolset;
use crate::toolset::file_rules::{EditWords, MissingWords};
use crate::toolset::tool::{SessionTools, ToolKind};

/// Why a file may not be changed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Nobody has read it.
    Never,
    /// It has another content since.
    Changed,
}

/// What is wrong with a file. `named` is its path as the call has it.
pub(crate) fn fault_words(tools: SessionTools<'_>, named: &str, fault: &Fault) -> String {
    let path = shown_path(&fault.path);
    match &fault.kind {
        FaultKind::Missing { .. } if tools.toolset().files.missing == MissingWords::Maker => {
            let maker = tools.name(ToolKind::Write);
            let maker = maker.map_or_else(String::new, |name| format!(". Create it with {name}"));
            format!("{} does not exist{maker}", shown_name(named))
        }
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
pub(crate) fn edit_fault_words(
    tools: SessionTools<'_>,
    named: &str,
    fault: &EditFault,
    edits: usize,
) -> String {
    match fault {
        EditFault::File(fault) => fault_words(tools, named, fault),
        EditFault::Refused { path, refusals } => {
            let path = shown_path(path);
            let words = tools.toolset().files.edits;
            let line = |refusal| format!("{path}: {}", refusal_words(words, refusal, edits));
            refusals.iter().map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

fn refusal_words(
    EditWords { old, ways_out }: EditWords,
    Refusal { edit, reason }: &Refusal,
    edits: usize,
) -> String {
    let words = match reason {
        Reason::Empty => format!("{old} must not be empty"),
        Reason::Ambiguous { places } => format!("{old} occurs {places}; {ways_out}"),
        Reason::NotFound { hint } => {
            let hint = hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
            format!("{old} was not found{hint}")
        }
        Reason::TooMany => format!("{old} occurs more than {MOST_PLACES} times"),
        Reason::Identical | Reason::Overlap { .. } | Reason::Repeated { .. } => reason.to_string(),
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

#[cfg(test)]
mod tests {
    use brattice_files::edit::{Difference, Hint};

    use super::*;

    #[test]
    fn the_words_of_a_toolset_are_not_put_into_a_line_of_the_file() {
        let words = |reason| refusal_words(EditWords::ONCE, &Refusal { edit: 1, reason }, 2);
        let hint = Hint { difference: Difference::Near, line: 3, text: "the old text".to_owned() };
        assert_eq!(
            words(Reason::NotFound { hint: Some(hint) }),
            "edit 2: old was not found; the nearest is line 3: the old text"
        );
        assert_eq!(words(Reason::NotFound { hint: None }), "edit 2: old was not found");
        assert_eq!(
            words(Reason::TooMany),
            format!("edit 2: old occurs more than {MOST_PLACES} times")
        );
        assert_eq!(words(Reason::Repeated { first: 0 }), "edit 2: has the same old text as edit 1");
    }
}
