//! What the daemon tells, taken into the model.

use std::sync::Arc;

use brattice_protocol::approval::{ApprovalList, ApprovalRequest, ApprovalSettled};
use brattice_protocol::session::SessionSummary;
use brattice_protocol::task::TaskSummary;
use brattice_protocol::{ApprovalId, SessionId};

use super::{Focus, Link, List, Model, NoteKind, Told};
use crate::attach::output::{Piece, Read};
use crate::commands::task::first_line;

/// Most tasks of a session that are listed; of more, the oldest are left out.
const MOST_TASKS: usize = 1_000;

impl Model {
    pub(super) fn hear(&mut self, told: Told) {
        match told {
            Told::Up(daemon) => {
                self.link = Link::Up(daemon);
                self.note = None;
                if let Some(pane) = &mut self.pane {
                    pane.retry();
                }
            }
            Told::Gone(why) => self.lose(why),
            Told::Sessions(sessions) => self.list_sessions(sessions),
            Told::Tasks(session, tasks) => self.list_tasks(session, &tasks),
            Told::Approvals(list) => self.list_asked(list),
            Told::Pending(request) => self.ask(*request),
            Told::Settled(settled) => self.settle(&settled),
            Told::NotSettled(id, why) => {
                self.forget(&id);
                self.say(NoteKind::Failed, why);
            }
            Told::Killed(task, Ok(())) => self.say(NoteKind::Done, format!("stopping {task}")),
            Told::Killed(task, Err(why)) => {
                self.say(NoteKind::Failed, format!("{task} is not stopped: {why}"));
            }
            Told::Read(read, outcome) => self.read(&read, outcome),
            Told::NotStarted(why) => self.say(NoteKind::Failed, why),
        }
    }

    /// Questions were the daemon's; all else may go on.
    fn lose(&mut self, why: String) {
        let since = match self.link {
            Link::Up(_) => self.now,
            Link::Down { since, .. } => since,
        };
        self.link = Link::Down { why, since };
        self.asked = List::default();
        self.omitted = 0;
        self.leave_asked();
        if self.overlay.as_ref().is_some_and(|overlay| overlay.asked().is_some()) {
            self.overlay = None;
        }
    }

    fn list_sessions(&mut self, mut sessions: Vec<SessionSummary>) {
        sessions.reverse();
        self.sessions.replace(sessions);
        self.meet_selected();
    }

    fn list_tasks(&mut self, session: SessionId, tasks: &Arc<[TaskSummary]>) {
        let is_selected =
            self.sessions.selected().is_some_and(|(_, summary)| summary.session == session);
        if !is_selected {
            return;
        }
        let is_first = self.tasks_of.as_ref() != Some(&session);
        if is_first {
            self.tasks = List::default();
        }
        self.tasks_of = Some(session);
        let nothing_was = self.tasks.items().is_empty();
        self.tasks.replace(tasks.iter().rev().take(MOST_TASKS).cloned().collect());
        if nothing_was {
            self.tasks.select(|summary| !summary.status.is_final());
        }
        self.show_task();
    }

    /// Forgets what belongs to a session that is not selected any more.
    pub(super) fn meet_selected(&mut self) {
        let selected = self.sessions.selected().map(|(_, summary)| &summary.session);
        if self.tasks_of.is_some() && self.tasks_of.as_ref() != selected {
            self.tasks = List::default();
            self.tasks_of = None;
            self.pane = None;
        }
    }

    fn list_asked(&mut self, list: ApprovalList) {
        self.omitted = list.omitted;
        self.asked.replace(list.approvals);
        if self.asked.items().is_empty() {
            self.leave_asked();
        }
    }

    /// Nobody's keys are taken away by it: who is busy elsewhere goes there when it suits.
    fn ask(&mut self, request: ApprovalRequest) {
        self.asked.add(request);
    }

    fn settle(&mut self, settled: &ApprovalSettled) {
        if let Some(subject) = self.forget(&settled.id) {
            let kind = if settled.outcome.is_allowed() { NoteKind::Done } else { NoteKind::Failed };
            let (word, by) = (settled.outcome.as_str(), settled.by.as_str());
            self.say(kind, format!("{word} by the {by}: {subject}"));
        }
    }

    /// Takes a question out, and gives what it was about, if it was there.
    fn forget(&mut self, id: &ApprovalId) -> Option<String> {
        if self.overlay.as_ref().and_then(|overlay| overlay.asked()) == Some(id) {
            self.overlay = None;
        }
        let request = self.asked.remove(id)?;
        self.question_from = 0;
        if self.asked.items().is_empty() {
            self.leave_asked();
        }
        Some(first_line(request.subject()))
    }

    fn leave_asked(&mut self) {
        if self.focus == Focus::Asked {
            self.focus = Focus::Tasks;
        }
    }

    fn read(&mut self, read: &Read, outcome: Result<Piece, String>) {
        let area = self.areas().output.as_size();
        if let Some(pane) = &mut self.pane
            && pane.wants(area).as_ref() == Some(read)
        {
            match outcome {
                Ok(piece) => pane.take(read.sought, piece),
                Err(why) => pane.fail(why),
            }
        }
    }
}
