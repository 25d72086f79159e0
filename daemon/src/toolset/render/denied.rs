//! What a command was denied, in words and as data: the line that says so, some of it, and what there is to be done about it.
//!
//! A path in it is the command's to choose: it stays on its line, whatever it holds.

use brattice_policy::{Denial, DeniedOperation, Mode};
use brattice_protocol::outcome;

use crate::exec::denials::{DenialRecord, Denials};
use crate::exec::spec::TaskEnd;
use crate::toolset::definition::Toolset;
use crate::toolset::wording::DenialHint;

/// Most characters of a path in a text.
const PATH_CHARS: usize = 300;

/// What there is to be done about denials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escalation {
    /// A call may ask for this mode, as it was made.
    Repeat(Mode),
    /// A call of `bash` may ask for it, which is not how the task came to be.
    CallBash(Mode),
    /// A call of `bash` may ask for it; this tool cannot.
    UseBash(Mode),
    /// Nothing.
    Final(Refusal),
}

/// Why no wider mode is to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The session asks nobody.
    Disabled,
    /// The session only plans.
    PlanMode,
    /// The operator does not allow it.
    Ceiling,
}

/// What a text tells of denials.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeniedText<'a> {
    /// The mode that refused.
    pub(crate) mode: Mode,
    /// What it refused: of a task that runs, what was not told before.
    pub(crate) records: &'a [DenialRecord],
    /// Refusals of kinds beyond those that are listed.
    pub(crate) unlisted: u64,
    /// What there is to be done.
    pub(crate) escalation: Option<Escalation>,
}

impl<'a> DeniedText<'a> {
    /// All that a task was denied, once it has ended.
    pub(crate) fn of_end(end: &'a TaskEnd, escalation: Option<Escalation>) -> Self {
        let denials = end.denials.as_ref();
        DeniedText {
            mode: end.mode,
            records: denials.map_or(&[], |denials| denials.records.as_slice()),
            unlisted: denials.map_or(0, Denials::unlisted),
            escalation,
        }
    }
}

/// The closing lines about denials; none where there is none.
pub(super) fn denial_lines(toolset: &Toolset, denied: &DeniedText<'_>) -> Vec<String> {
    let DeniedText { mode, records, unlisted, escalation } = *denied;
    if records.is_empty() && unlisted == 0 {
        return Vec::new();
    }
    let is_of_files =
        records.is_empty() || records.iter().any(|record| is_of_files(&record.denial));
    let what = if is_of_files { "file access denied" } else { "denied" };
    let mut lines = vec![format!("[sandbox: {what} under {mode} mode]")];
    if toolset.listed_denials > 0 {
        let shown = records.iter().take(toolset.listed_denials);
        lines.extend(shown.map(|record| format!("denied: {}", words(&record.denial))));
        let more = records.len().saturating_sub(toolset.listed_denials) as u64 + unlisted;
        if more > 0 {
            lines.push(format!("denied: and {more} more"));
        }
    }
    // Why a session may suddenly write nothing is told whatever a toolset's calls can ask for.
    let is_told = |escalation: &Escalation| {
        toolset.command.hint == DenialHint::Told
            || *escalation == Escalation::Final(Refusal::PlanMode)
    };
    lines.extend(escalation.filter(is_told).map(hint));
    lines
}

/// Whether a file was what the command was denied, a socket's included.
const fn is_of_files(denial: &Denial) -> bool {
    match denial.operation {
        DeniedOperation::Write
        | DeniedOperation::Create
        | DeniedOperation::Remove
        | DeniedOperation::Rename
        | DeniedOperation::Link
        | DeniedOperation::Metadata
        | DeniedOperation::Connect => true,
        DeniedOperation::Signal | DeniedOperation::Limit | DeniedOperation::Call => false,
    }
}

fn words(denial: &Denial) -> String {
    let operation = denial.operation.as_str();
    match &denial.second_path {
        Some(to) => format!("{operation} {} to {}", quoted(&denial.path), quoted(to)),
        None => format!("{operation} {}", quoted(&denial.path)),
    }
}

/// A path without signs that a terminal acts on, that begin a line, or that are not to be seen.
fn quoted(path: &str) -> String {
    let mut shown = String::new();
    for sign in path.chars().take(PATH_CHARS) {
        match sign {
            '"' | '\'' => shown.push(sign),
            other => shown.extend(other.escape_debug()),
        }
    }
    if path.chars().nth(PATH_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// The line that says what there is to be done.
pub(crate) fn hint(escalation: Escalation) -> String {
    match escalation {
        Escalation::Repeat(mode) => format!(
            "[sandbox: to ask, repeat this call once with sandbox_permissions \"{mode}\" and justification]"
        ),
        Escalation::CallBash(mode) => format!(
            "[sandbox: to ask, run the same command with bash, not in the background, with sandbox_permissions \"{mode}\" \
             and justification]"
        ),
        Escalation::UseBash(mode) => format!(
            "[sandbox: to ask, make this change with bash, with sandbox_permissions \"{mode}\" and justification]"
        ),
        Escalation::Final(Refusal::Disabled) => {
            "[sandbox: final: approval prompts are disabled]".to_owned()
        }
        Escalation::Final(Refusal::PlanMode) => "[sandbox: final: plan mode]".to_owned(),
        Escalation::Final(Refusal::Ceiling) => {
            "[sandbox: final: beyond this machine's ceiling]".to_owned()
        }
    }
}

/// Denials as data.
pub(crate) fn facts<'a>(
    records: impl IntoIterator<Item = &'a DenialRecord>,
) -> Vec<outcome::Denial> {
    let fact = |DenialRecord { denial, count, .. }: &DenialRecord| outcome::Denial {
        operation: denial.operation.as_str().to_owned(),
        path: denial.path.clone(),
        second_path: denial.second_path.clone(),
        layer: denial.layer.as_str().to_owned(),
        needs: denial.needs.to_string(),
        grant: denial.grant.clone(),
        count: *count,
    };
    records.into_iter().take(outcome::MOST_DENIALS).map(fact).collect()
}

#[cfg(test)]
#[path = "tests/denied.rs"]
mod tests;
