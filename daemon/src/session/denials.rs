//! What a session's commands were denied: the newest records, each with the command that met it. An escalation is grounded
//! by one of them.
//!
//! Nothing is written to disk for it: a record is its task's, and a daemon that takes a session over learns them again from
//! the tasks that run and the records of those that ended.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_policy::explain::{Operation, explain};
use brattice_policy::{Approval, Denial, DeniedOperation, LayerName, Mode};
use brattice_protocol::audit::Event;
use brattice_protocol::task::TaskKind;
use brattice_protocol::{CallId, SessionId, TaskId};

use super::escalation::Latitude;
use super::held::held;
use super::session::Session;
use super::task::Task;
use super::tasks::Entry as _;
use crate::exec::denials::{DenialRecord, Denials, bounded, is_observed};
use crate::exec::spec::{KnownLine, Placement, TaskFacts, Timestamp};
use crate::toolset::render::{Escalation, Refusal};

/// Records that are remembered of all tasks of a session.
const MOST: usize = 512;

/// Something that a command was denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordedDenial {
    /// The task that the command was, or the call that worked on files.
    pub(crate) task: TaskId,
    /// What it ran.
    kind: TaskKind,
    /// The line or the arguments.
    line: KnownLine,
    /// Where it ran; `None` of tasks of earlier versions.
    workdir: Option<PathBuf>,
    /// The mode that it ran in.
    pub(crate) mode: Mode,
    /// What was denied, and how often when this was learnt.
    pub(crate) record: DenialRecord,
}

/// What the sandbox refused to do with a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused<'a> {
    /// What was tried.
    pub(crate) operation: DeniedOperation,
    /// On this file, without links as far as that is known.
    pub(crate) path: &'a Path,
}

/// What an escalation is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// The line for bash and the folder that it is to run in, where it is a command.
    pub(crate) command: Option<(&'a str, &'a Path)>,
    /// The canonical paths that are to be changed, where it is a change of files.
    pub(crate) paths: &'a [PathBuf],
    /// The mode that it is to run in.
    pub(crate) wanted: Mode,
}

/// The records of one session, each list in the order of its numbers.
#[derive(Debug, Default)]
pub(crate) struct DenialStore {
    of_tasks: Mutex<VecDeque<RecordedDenial>>,
    /// Of calls that work on files; their numbers are their own.
    of_calls: Mutex<VecDeque<RecordedDenial>>,
}

/// The number of the newest record of a task that its session has taken note of. Locked while it does, so that the lines
/// of the audit log stand in their order.
#[derive(Debug, Default)]
pub(super) struct Noted(Mutex<u64>);

impl Session {
    /// Takes note of what a task is denied while it runs.
    pub(super) fn observe(self: &Arc<Self>, task: &Task) {
        if !is_observed(&task.facts().layers) {
            return;
        }
        let (session, task) = (self.clone(), task.clone());
        tokio::spawn(async move {
            let mut newest = 0;
            loop {
                tokio::select! {
                    biased;
                    // Whoever takes note of the end takes note of the rest.
                    _ = task.ended() => return,
                    () = task.denied_beyond(newest) => newest = session.note_denials(&task),
                }
            }
        });
    }

    /// Takes note of what a task was denied so far: for the grounds of escalations, and in the audit log what it does not
    /// have yet. Tells the number of the newest.
    pub(crate) fn note_denials(&self, task: &Task) -> u64 {
        let Some(denials) = task.denials().filter(|denials| !denials.records.is_empty()) else {
            return 0;
        };
        self.denials.learn(task.facts(), &denials.records);
        let newest = denials.newest();
        let mut noted = task.noted().0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.cursor(task).noted.max(*noted);
        for event in denial_events(self.id(), task.id(), &denials, before) {
            self.audit().record(&event);
        }
        *noted = newest.max(before);
        // A task of a call ends with its daemon: nobody will ask what was written of it.
        if newest > before && task.placement() == Placement::Background {
            self.mark_noted(task, newest);
        }
        newest
    }

    /// Takes note of what the sandbox refused a call that works on files: for the grounds of escalations, and in the audit log.
    pub(crate) fn note_call_denial(
        &self,
        call: &CallId,
        mode: Mode,
        refused: Refused<'_>,
    ) -> Denials {
        let Refused { operation, path } = refused;
        let asked = match operation {
            DeniedOperation::Create => Operation::Create,
            DeniedOperation::Remove | DeniedOperation::Rename => Operation::Remove,
            _ => Operation::Write,
        };
        let profile = self.profile().with_mode(mode);
        let verdict = explain(&profile, &held(&profile, &self.layers()), path, asked);
        let right = match operation {
            DeniedOperation::Create => "make_reg",
            DeniedOperation::Remove | DeniedOperation::Rename => "remove_file",
            _ => "write_file",
        };
        let denial = Denial {
            operation,
            path: bounded(path.to_string_lossy().into_owned()),
            second_path: None,
            layer: LayerName::Landlock,
            errno: "EACCES".to_owned(),
            right: right.to_owned(),
            // What no wider confined mode is known to allow, only no confinement does.
            needs: verdict.mode_needed.unwrap_or(Mode::DangerFullAccess),
            grant: None,
            pid: std::process::id(),
            program: "bratticed".to_owned(),
            ambient: None,
        };
        let record = self.denials.learn_of_call(call, mode, denial.clone());
        let (session, call) = (self.id().clone(), call.clone());
        self.audit().record(&Event::CallDenial { session, call, denial });
        Denials { records: vec![record], total: 1, ..Denials::default() }
    }

    /// What there is to be done about what a command was denied; `None` where a wider mode would not help.
    /// `ask` is how it is asked for.
    pub(crate) fn escalation(
        &self,
        mode: Mode,
        denials: &Denials,
        ask: fn(Mode) -> Escalation,
    ) -> Option<Escalation> {
        let needed = denials.records.iter().map(|record| record.denial.needs).max()?;
        if needed <= mode {
            return None;
        }
        let Latitude { ceiling, approval, planning, .. } = self.latitude();
        Some(match approval {
            _ if needed > ceiling => Escalation::Final(Refusal::Ceiling),
            _ if planning.is_on() => Escalation::Final(Refusal::PlanMode),
            Approval::Never => Escalation::Final(Refusal::Disabled),
            Approval::Ask => ask(needed),
        })
    }
}

/// What the audit log is told of a task's denials after the one of this number.
pub(super) fn denial_events<'a>(
    session: &'a SessionId,
    task: &'a TaskId,
    denials: &'a Denials,
    number: u64,
) -> impl Iterator<Item = Event> + 'a {
    denials.beyond(number).map(|record| {
        let DenialRecord { number, denial, .. } = record.clone();
        Event::Denial { session: session.clone(), task: task.clone(), number, denial }
    })
}

impl DenialStore {
    /// Remembers the records of a task that it does not have yet. The oldest of all give way.
    pub(super) fn learn<'a>(
        &self,
        facts: &TaskFacts,
        records: impl IntoIterator<Item = &'a DenialRecord>,
    ) {
        let mut kept = self.locked();
        for record in records {
            let at = match kept.binary_search_by_key(&record.number, |known| known.record.number) {
                Ok(known) => {
                    kept[known].record = record.clone();
                    continue;
                }
                Err(at) => at,
            };
            let line = KnownLine { title: facts.title.clone(), digest: facts.digest };
            let (task, kind) = (facts.task.clone(), facts.kind);
            let (workdir, mode, record) = (facts.cwd.clone(), facts.mode, record.clone());
            kept.insert(at, RecordedDenial { task, kind, line, workdir, mode, record });
            if kept.len() > MOST {
                kept.pop_front();
            }
        }
    }

    /// Remembers what a call that works on files was denied, under the next number. The oldest gives way.
    fn learn_of_call(&self, call: &CallId, mode: Mode, denial: Denial) -> DenialRecord {
        let mut kept = lock(&self.of_calls);
        let number = kept.back().map_or(0, |known| known.record.number) + 1;
        let (task, now) = (TaskId::new(call.as_str()), Timestamp::now());
        let record = DenialRecord { number, first: now, last: now, count: 1, denial };
        let (kind, line) = (TaskKind::Argv, KnownLine::of(""));
        let known = record.clone();
        kept.push_back(RecordedDenial { task, kind, line, workdir: None, mode, record: known });
        if kept.len() > MOST {
            kept.pop_front();
        }
        record
    }

    fn locked(&self) -> MutexGuard<'_, VecDeque<RecordedDenial>> {
        lock(&self.of_tasks)
    }
}

fn lock(kept: &Mutex<VecDeque<RecordedDenial>>) -> MutexGuard<'_, VecDeque<RecordedDenial>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DenialStore {
    /// The denials that the wanted mode would lift: of the same line in the same folder, or of one of the paths. The oldest
    /// first; none where the escalation has no ground.
    pub(crate) fn grounds(&self, asked: &Asked<'_>) -> Vec<RecordedDenial> {
        let line = asked.command.map(|(line, workdir)| (KnownLine::of(line), workdir));
        let paths: Vec<String> =
            asked.paths.iter().map(|path| bounded(path.to_string_lossy().into_owned())).collect();
        let kept = self.locked();
        let of_command = |known: &RecordedDenial| {
            line.as_ref().is_some_and(|(line, workdir)| {
                known.kind == TaskKind::Bash
                    && known.line == *line
                    && known.workdir.as_deref() == Some(*workdir)
            })
        };
        let of_path = |known: &RecordedDenial| {
            let denial = &known.record.denial;
            paths
                .iter()
                .any(|path| *path == denial.path || denial.second_path.as_ref() == Some(path))
        };
        let of_calls = lock(&self.of_calls);
        kept.iter()
            .chain(of_calls.iter())
            .filter(|known| known.lifted_by(asked.wanted) && (of_command(known) || of_path(known)))
            .cloned()
            .collect()
    }
}

impl RecordedDenial {
    /// Whether it would not have happened in that mode.
    fn lifted_by(&self, wanted: Mode) -> bool {
        self.mode < wanted && self.record.denial.needs <= wanted
    }
}

#[cfg(test)]
#[path = "denials_tests.rs"]
mod tests;
