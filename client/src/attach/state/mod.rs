//! What is known and shown, as a value, and the one function by which it changes. Pure: no clock, no terminal, no daemon.
//!
//! ```text
//!  Event ──▶ next ──▶ Model ──▶ view::draw
//!              │        └─ wants() ──▶ watch: which tasks and which output to read
//!              └─ wishes ──▶ watch: answers and kills; the loop: leave, suspend
//! ```
//!
//! A daemon that dies takes its questions with it, so they are forgotten at once; sessions, tasks and output that were read stay
//! on the screen, marked as old, until the next daemon tells them.

mod acts;
mod asked;
mod field;
mod form;
mod list;
mod news;
mod overlay;
mod told;

use brattice_protocol::hello::Peer;
use brattice_protocol::session::SessionSummary;
use brattice_protocol::task::TaskSummary;
use brattice_protocol::tools::Stream;
use brattice_protocol::{SessionId, TaskId};
use ratatui::layout::Size;

use super::keys::{Context, Input};
use super::layout::{self, Areas};
use super::output::{Pane, Which};

pub(super) use asked::{Asked, AskedId};
pub(super) use field::Field;
pub(super) use form::{Draft, Form, Place};
pub(super) use list::{Keyed, List};
pub(super) use news::{Event, Told, Wants, Wish};
pub(super) use overlay::{Answer, Kill, Overlay};

/// All that is known and shown.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Whether a daemon answers.
    pub(super) link: Link,
    /// Whether one may be started.
    pub(super) start: Start,
    /// All sessions, the newest first.
    pub(super) sessions: List<SessionSummary>,
    /// The tasks of the selected one, the newest first.
    pub(super) tasks: List<TaskSummary>,
    /// Whose tasks they are.
    pub(super) tasks_of: Option<SessionId>,
    /// What waits for an answer, the oldest first.
    pub(super) asked: List<Asked>,
    /// How many more approvals do that are not listed, and how many questions.
    pub(super) omitted: [usize; 2],
    /// The part of the screen that keys are for.
    pub(super) focus: Focus,
    /// Whether it has the whole screen.
    pub(super) zoom: Zoom,
    /// The output of the selected task.
    pub(super) pane: Option<Pane>,
    /// The first line that is shown of a question that is longer than its part of the screen.
    pub(super) question_from: usize,
    /// What is shown over all else.
    pub(super) overlay: Option<Overlay>,
    /// What there is to say about the last thing that was done.
    pub(super) note: Option<Note>,
    /// The size of the terminal.
    pub(super) screen: Size,
    /// The time, in milliseconds since 1970.
    pub(super) now: u64,
}

/// Whether a daemon answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// This one does.
    Up(Peer),
    /// None does.
    Down {
        /// Why.
        why: String,
        /// Since when, in milliseconds since 1970.
        since: u64,
    },
}

/// Whether a daemon may be started from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// By a key.
    Allowed,
    /// `--no-start`.
    Refused,
}

/// A part of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focus {
    /// What waits for an answer.
    Asked,
    /// The sessions.
    Sessions,
    /// The tasks of one.
    Tasks,
    /// The output of one.
    Output,
}

/// How much of the screen the part in focus has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zoom {
    /// Its own.
    Parts,
    /// All.
    Whole,
}

/// Something to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    /// In words.
    pub(super) text: String,
    /// Of which kind.
    pub(super) kind: NoteKind,
}

/// What something said is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoteKind {
    /// It was done.
    Done,
    /// It was not.
    Failed,
}

impl Keyed for SessionSummary {
    type Key = SessionId;

    fn key(&self) -> SessionId {
        self.session.clone()
    }
}

impl Keyed for TaskSummary {
    type Key = TaskId;

    fn key(&self) -> TaskId {
        self.task.clone()
    }
}

/// The model after an event, and what is to be done.
pub(super) fn next(mut model: Model, event: Event) -> (Model, Vec<Wish>) {
    let wishes = match event {
        Event::Clock(now) => {
            model.now = now;
            Vec::new()
        }
        Event::Input(Input::Resized(size)) => {
            model.screen = size;
            Vec::new()
        }
        Event::Input(Input::Pasted(text)) => {
            model.paste(&text);
            Vec::new()
        }
        Event::Input(Input::Key(key)) => model.press(key),
        Event::Told(told) => {
            model.hear(told);
            Vec::new()
        }
    };
    (model, wishes)
}

impl Model {
    /// Before anything is known.
    pub(super) fn new(daemon: Peer, start: Start, screen: Size, now: u64) -> Model {
        Model {
            link: Link::Up(daemon),
            start,
            sessions: List::default(),
            tasks: List::default(),
            tasks_of: None,
            asked: List::default(),
            omitted: [0; 2],
            focus: Focus::Tasks,
            zoom: Zoom::Parts,
            pane: None,
            question_from: 0,
            overlay: None,
            note: None,
            screen,
            now,
        }
    }

    /// What is to be known for what is shown.
    pub(super) fn wants(&self) -> Wants {
        let session = self.sessions.selected().map(|(_, summary)| summary.session.clone());
        let area = self.areas().output;
        let read = self.pane.as_ref().and_then(|pane| pane.wants(area.as_size()));
        Wants { session, read }
    }

    /// Which part of the screen is where.
    pub(super) fn areas(&self) -> Areas {
        layout::areas(self)
    }

    /// Where keys go.
    pub(super) fn context(&self) -> Context {
        match (&self.overlay, &self.link, self.focus) {
            (Some(overlay), ..) => overlay.context(),
            (None, Link::Down { .. }, _) => Context::Down,
            (None, Link::Up(_), Focus::Asked) => match self.asked.selected() {
                Some((_, Asked::Questions(_))) => Context::Questions,
                Some((_, Asked::Plan(_))) => Context::Plan,
                Some((_, Asked::Approval(_))) | None => Context::Asked,
            },
            (None, Link::Up(_), Focus::Sessions | Focus::Tasks) => Context::List,
            (None, Link::Up(_), Focus::Output) => Context::Output,
        }
    }

    /// When what is shown was seen: now, or when the daemon went away. How long since then anything ran nobody knows.
    pub(super) fn seen(&self) -> u64 {
        match self.link {
            Link::Up(_) => self.now,
            Link::Down { since, .. } => since,
        }
    }

    /// The task whose output is shown, as the list tells it.
    pub(super) fn shown_task(&self) -> Option<&TaskSummary> {
        let which = self.pane.as_ref()?.which();
        let is_there = self.tasks_of.as_ref() == Some(&which.session);
        self.tasks.items().iter().find(|summary| is_there && summary.task == which.task)
    }

    /// Has the output of the selected task shown, its standard output at first.
    fn show_task(&mut self) {
        let selected = self.tasks.selected().map(|(_, summary)| summary.task.clone());
        let (Some(session), Some(task)) = (self.tasks_of.clone(), selected) else {
            self.pane = None;
            return;
        };
        let is_shown = self.pane.as_ref().is_some_and(|pane| {
            let which = pane.which();
            which.session == session && which.task == task
        });
        if !is_shown {
            self.pane = Some(Pane::new(Which { session, task, stream: Stream::Stdout }));
        }
    }

    fn say(&mut self, kind: NoteKind, text: impl Into<String>) {
        self.note = Some(Note { text: text.into(), kind });
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
