//! Why a change of files was not made: what is wrong with the files, what the sandbox refused, and what a person did not allow.
//! What a change goes through is in `change`.

use std::path::Path;

use brattice_files::{EditFault, Fault, FaultKind, FileFault};
use brattice_policy::{DeniedOperation, Mode};

use super::call::{Answer, Keeping};
use super::change::Changing;
use super::escalate::NotEscalated;
use super::rejected::{Rejected, change_words};
use super::work::Denied;
use crate::approval::NotAllowed;
use crate::files::{Refused, Standing, Target};
use crate::toolset::render::{Unread, edit_fault_words, fault_words, shown_path, unread_words};

impl Changing<'_, '_> {
    pub(super) fn write_fault(
        &self,
        mode: Mode,
        refused: &Refused<Fault>,
        found: &[Result<Target, Refused<Fault>>],
    ) -> Answer {
        let target = found.first().and_then(|found| found.as_ref().ok());
        let operation = match target.map(|target| target.standing) {
            Some(Standing::Absent) => DeniedOperation::Create,
            Some(Standing::There) | None => DeniedOperation::Write,
        };
        match refused.fault.kind {
            // It came into being since it was looked for.
            FaultKind::Exists => {
                self.work.refused(&unread_words(&refused.fault.path, Unread::Never))
            }
            FaultKind::Changed => {
                self.work.refused(&unread_words(&refused.fault.path, Unread::Changed))
            }
            _ => self.fault(mode, refused, operation, target.map(|target| target.path.as_path())),
        }
    }

    pub(super) fn fault(
        &self,
        mode: Mode,
        refused: &Refused<Fault>,
        operation: DeniedOperation,
        path: Option<&Path>,
    ) -> Answer {
        let named = self.named.first().map_or("", String::as_str);
        let text = fault_words(self.work.session.tools(), named, &refused.fault);
        let path = path.unwrap_or(&refused.fault.path);
        self.work.refused_by(&text, mode, refused.barrier, Denied { operation, path })
    }

    /// All that is wrong; the first that the sandbox refused is put on record.
    pub(super) fn edit_faults(
        &self,
        mode: Mode,
        faults: &[Refused<FileFault>],
        found: &[Result<Target, Refused<Fault>>],
    ) -> Answer {
        let words = |Refused { fault: FileFault { file, fault }, .. }: &Refused<FileFault>| {
            let named = self.named.get(*file).map_or("", String::as_str);
            let edits = self.edits.get(*file).copied().unwrap_or_default();
            edit_fault_words(self.work.session.tools(), named, fault, edits)
        };
        let mut lines: Vec<String> = faults.iter().map(words).collect();
        lines.extend(self.aftermath(faults));
        let text = lines.join("\n");
        let operation = DeniedOperation::Write;
        let denied = faults.iter().find_map(|refused| {
            let path = match (found.get(refused.fault.file), &refused.fault.fault) {
                (Some(Ok(target)), _) => target.path.as_path(),
                (_, EditFault::File(fault)) => fault.path.as_path(),
                (_, EditFault::Refused { path, .. }) => path.as_path(),
            };
            let denied = Denied { operation, path };
            self.work.is_denied(mode, refused.barrier, denied).then_some((refused.barrier, denied))
        });
        match denied {
            Some((barrier, denied)) => self.work.refused_by(&text, mode, barrier, denied),
            None => self.work.refused(&text),
        }
    }

    /// How a set of files stands after one of them could not be edited.
    fn aftermath(&self, faults: &[Refused<FileFault>]) -> Option<String> {
        let is_left = |refused: &Refused<FileFault>| {
            let fault = &refused.fault.fault;
            matches!(fault, EditFault::File(Fault { kind: FaultKind::NotUndone(_), .. }))
        };
        if faults.iter().any(is_left) {
            let words = "files of this call may have been changed: they are put back before the session's next call";
            return Some(words.to_owned());
        }
        (self.named.len() > 1).then(|| "nothing was written".to_owned())
    }

    /// A person has not allowed it, or was not asked.
    pub(super) fn not_allowed(&self, rejected: Rejected, fault: &NotEscalated) -> Answer {
        let toolset = self.work.session.toolset();
        let mut text = change_words(toolset, rejected, fault);
        let kept = match fault {
            NotEscalated::NotAllowed(why) if why.passes() => Keeping::MayRunAgain,
            NotEscalated::NotStarted(_) => Keeping::MayRunAgain,
            _ => Keeping::Kept,
        };
        if matches!(fault, NotEscalated::NotAllowed(NotAllowed::Withdrawn)) {
            text.push_str("\n[cancelled]");
        }
        let answer = Answer { kept, ..self.work.refused(&text) };
        match fault {
            NotEscalated::NotAllowed(NotAllowed::Required(required, _)) => {
                answer.needing(required.clone())
            }
            _ => answer,
        }
    }
}

/// Whether a file, or the way to it, is another than the one that was shown.
pub(super) const fn is_other(fault: &Fault) -> bool {
    matches!(
        fault.kind,
        FaultKind::Link | FaultKind::Unexpected | FaultKind::Changed | FaultKind::Exists
    )
}

pub(super) fn other_words(fault: &Fault) -> String {
    format!(
        "{} is no longer what it was when the change was shown: nothing was written; read it again",
        shown_path(&fault.path)
    )
}
