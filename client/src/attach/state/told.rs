//! What the daemon tells, taken into the model.

use std::sync::Arc;

use brattice_protocol::SessionId;
use brattice_protocol::approval::{ApprovalList, ApprovalSettled};
use brattice_protocol::question::{QuestionList, QuestionOutcome, QuestionSettled};
use brattice_protocol::session::SessionSummary;
use brattice_protocol::task::TaskSummary;

use super::{Asked, AskedId, Focus, Link, List, Model, NoteKind, Told};
use crate::attach::output::{Piece, Read};

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
            Told::Approvals(list) => self.list_approvals(list),
            Told::Questions(list) => self.list_questions(list),
            // Nobody's keys are taken away by it: who is busy elsewhere goes there when it suits.
            Told::Pending(asked) => self.asked.add(asked),
            Told::Settled(settled) => self.settle(&settled),
            Told::QuestionSettled(settled) => self.settle_question(&settled),
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
        self.omitted = [0; 2];
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

    fn list_approvals(&mut self, list: ApprovalList) {
        self.omitted[0] = list.omitted;
        let approvals = list.approvals.into_iter().map(Box::new).map(Asked::Approval);
        let others = self.asked.items().iter().filter(|asked| !matches!(asked, Asked::Approval(_)));
        self.list_asked(approvals.chain(others.cloned()).collect());
    }

    fn list_questions(&mut self, list: QuestionList) {
        self.omitted[1] = list.omitted;
        let others = self.asked.items().iter().filter(|asked| matches!(asked, Asked::Approval(_)));
        let questions = list.questions.into_iter().map(Asked::Questions);
        let plans = list.plans.into_iter().map(Asked::Plan);
        self.list_asked(others.cloned().chain(questions).chain(plans).collect());
    }

    fn list_asked(&mut self, asked: Vec<Asked>) {
        self.asked.replace(asked);
        if self.asked.items().is_empty() {
            self.leave_asked();
        }
    }

    fn settle(&mut self, settled: &ApprovalSettled) {
        if let Some(subject) = self.forget(&AskedId::Approval(settled.id.clone())) {
            let kind = if settled.outcome.is_allowed() { NoteKind::Done } else { NoteKind::Failed };
            let (word, by) = (settled.outcome.as_str(), settled.by.as_str());
            self.say(kind, format!("{word} by the {by}: {subject}"));
        }
    }

    fn settle_question(&mut self, settled: &QuestionSettled) {
        if let Some(subject) = self.forget(&AskedId::Question(settled.id.clone())) {
            let kind = match settled.outcome {
                QuestionOutcome::Answered | QuestionOutcome::Approved => NoteKind::Done,
                QuestionOutcome::KeptPlanning
                | QuestionOutcome::Dismissed
                | QuestionOutcome::NotAnswered
                | QuestionOutcome::Expired
                | QuestionOutcome::Withdrawn => NoteKind::Failed,
            };
            let (word, by) = (settled.outcome.as_str(), settled.by.as_str());
            self.say(kind, format!("{word} by the {by}: {subject}"));
        }
    }

    /// Takes a question out, and gives what it was about, if it was there.
    fn forget(&mut self, id: &AskedId) -> Option<String> {
        if self.overlay.as_ref().and_then(|overlay| overlay.asked()).as_ref() == Some(id) {
            self.overlay = None;
        }
        let asked = self.asked.remove(id)?;
        self.question_from = 0;
        if self.asked.items().is_empty() {
            self.leave_asked();
        }
        Some(asked.subject())
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
