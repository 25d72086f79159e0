//! What keys do to the model.

use brattice_protocol::QuestionId;
use brattice_protocol::approval::{ApprovalChoice, MAX_REASON, RespondParams};
use brattice_protocol::plan::{PlanAnswer, PlanDecision};
use brattice_protocol::question::{QuestionRespond, Response};
use brattice_protocol::task::KillParams;
use brattice_protocol::tools::Stream;
use ratatui::crossterm::event::KeyEvent;

use super::form::Done;
use super::{Answer, Asked, Field, Focus, Form, Kill, Model, NoteKind, Overlay, Start, Wish, Zoom};
use crate::attach::keys::{self, Action};
use crate::attach::output::{Pane, Which};

/// What a kill from here is recorded with.
const KILL_REASON: &str = "in brattice attach";

/// Longest feedback on a plan that is typed here, in bytes.
const MOST_FEEDBACK: usize = 4 << 10;

/// How far a step goes.
#[derive(Clone, Copy)]
enum Distance {
    Line,
    Screen,
    All,
}

/// Which way.
#[derive(Clone, Copy)]
enum Way {
    Up,
    Down,
}

impl Model {
    pub(super) fn press(&mut self, key: KeyEvent) -> Vec<Wish> {
        self.note = None;
        match keys::action(self.context(), key) {
            Some(action) => self.act(action),
            None => {
                self.edit(key);
                Vec::new()
            }
        }
    }

    /// Text that was pasted goes where text is typed, and nowhere else.
    pub(super) fn paste(&mut self, text: &str) {
        match &mut self.overlay {
            Some(Overlay::Reason(_, field) | Overlay::Feedback(_, field)) => {
                text.chars().for_each(|sign| field.push(sign));
            }
            Some(Overlay::Form(form)) => form.paste(text),
            Some(_) | None => {}
        }
    }

    fn edit(&mut self, key: KeyEvent) {
        match &mut self.overlay {
            Some(Overlay::Reason(_, field) | Overlay::Feedback(_, field)) => field.press(key),
            Some(Overlay::Form(form)) => form.press(key),
            Some(_) | None => {}
        }
    }

    fn act(&mut self, action: Action) -> Vec<Wish> {
        match action {
            Action::Quit => return vec![Wish::Quit],
            Action::Suspend => return vec![Wish::Suspend],
            Action::Redraw => return vec![Wish::Redraw],
            Action::Start => return self.start(),
            Action::Enter => return self.enter(),
            Action::Force => return self.kill(Urgency::AtOnce),
            Action::AllowOnce => return self.choose(ApprovalChoice::AllowOnce),
            Action::Approve => return self.approve(),
            Action::AllowAlways => return self.choose(ApprovalChoice::AllowAlways),
            Action::Reject => self.reject(),
            Action::Answer => return self.answer(),
            Action::Help => self.overlay = Some(Overlay::Help(0)),
            Action::Next => self.turn(Way::Down),
            Action::Previous => self.turn(Way::Up),
            Action::Waiting => self.show_asked(),
            Action::Zoom => {
                self.zoom = match self.zoom {
                    Zoom::Parts => Zoom::Whole,
                    Zoom::Whole => Zoom::Parts,
                };
            }
            Action::Up => self.step(Way::Up, Distance::Line),
            Action::Down => self.step(Way::Down, Distance::Line),
            Action::PageUp => self.step(Way::Up, Distance::Screen),
            Action::PageDown => self.step(Way::Down, Distance::Screen),
            Action::First => self.step(Way::Up, Distance::All),
            Action::Last => self.step(Way::Down, Distance::All),
            Action::Back => self.back(),
            Action::OtherStream => self.turn_stream(),
            Action::Stop => self.stop(),
        }
        Vec::new()
    }

    fn start(&mut self) -> Vec<Wish> {
        match self.start {
            Start::Allowed => {
                self.say(NoteKind::Done, "starting a daemon");
                vec![Wish::Start]
            }
            Start::Refused => {
                self.say(NoteKind::Failed, "--no-start refuses to start a daemon");
                Vec::new()
            }
        }
    }

    fn enter(&mut self) -> Vec<Wish> {
        let overlay = self.overlay.take();
        match overlay {
            Some(Overlay::Answer(Answer { id, choice })) => {
                vec![Wish::Respond(RespondParams { id, option: choice, reason: None })]
            }
            Some(Overlay::Reason(id, field)) => {
                let (option, reason) = (ApprovalChoice::RejectOnce, field.said());
                vec![Wish::Respond(RespondParams { id, option, reason })]
            }
            Some(Overlay::Form(mut form)) => match form.enter() {
                Done::All(answers) => reply(form.id().clone(), Response::Answered(answers)),
                Done::Not => {
                    self.overlay = Some(Overlay::Form(form));
                    Vec::new()
                }
            },
            Some(Overlay::Dismiss(id)) => reply(id, Response::Dismissed),
            Some(Overlay::Approve(id)) => {
                let (decision, feedback) = (PlanDecision::Approve, None);
                reply(id, Response::Decided(PlanAnswer { decision, feedback }))
            }
            Some(Overlay::Feedback(id, field)) => {
                let (decision, feedback) = (PlanDecision::KeepPlanning, field.said());
                reply(id, Response::Decided(PlanAnswer { decision, feedback }))
            }
            Some(Overlay::Kill(kill)) => {
                self.overlay = Some(Overlay::Kill(kill));
                self.kill(Urgency::Graceful)
            }
            Some(Overlay::Help(_)) | None => {
                self.focus = match self.focus {
                    Focus::Sessions => Focus::Tasks,
                    Focus::Tasks | Focus::Output => Focus::Output,
                    Focus::Asked => Focus::Asked,
                };
                Vec::new()
            }
        }
    }

    /// Out of what is over the screen, of the whole screen, or of the output.
    fn back(&mut self) {
        if let Some(Overlay::Form(form)) = &mut self.overlay
            && form.back()
        {
            return;
        }
        if self.overlay.take().is_some() {
            return;
        }
        match (self.zoom, self.focus) {
            (Zoom::Whole, _) => self.zoom = Zoom::Parts,
            (Zoom::Parts, Focus::Output) => self.focus = Focus::Tasks,
            (Zoom::Parts, Focus::Tasks | Focus::Asked) => self.focus = Focus::Sessions,
            (Zoom::Parts, Focus::Sessions) => {}
        }
    }

    fn turn(&mut self, way: Way) {
        let mut parts = vec![Focus::Sessions, Focus::Tasks, Focus::Output];
        if !self.asked.items().is_empty() {
            parts.insert(0, Focus::Asked);
        }
        let here = parts.iter().position(|part| *part == self.focus).unwrap_or(0);
        let by = match way {
            Way::Down => 1,
            Way::Up => parts.len() - 1,
        };
        self.focus = parts[(here + by) % parts.len()];
    }

    fn show_asked(&mut self) {
        match self.asked.items().is_empty() {
            true => self.say(NoteKind::Done, "nothing waits for an answer"),
            false => self.focus = Focus::Asked,
        }
    }

    fn step(&mut self, way: Way, distance: Distance) {
        match &mut self.overlay {
            Some(Overlay::Help(from)) => {
                *from = from.saturating_add_signed(rows(way, distance, 5));
                return;
            }
            Some(Overlay::Form(form)) => return form.step(rows(way, distance, 1)),
            Some(_) | None => {}
        }
        let areas = self.areas();
        match self.focus {
            Focus::Output => self.scroll(way, distance),
            Focus::Asked => {
                // A question that is longer than its part of the screen is read by screens, the list gone through by lines.
                match distance {
                    Distance::Screen => {
                        let screen = usize::from(areas.output.height).saturating_sub(1).max(1);
                        let by = rows(way, distance, screen);
                        self.question_from = self.question_from.saturating_add_signed(by);
                    }
                    Distance::Line | Distance::All => {
                        self.asked.step(rows(way, distance, 1));
                        self.question_from = 0;
                    }
                }
            }
            Focus::Sessions => {
                self.sessions.step(rows(way, distance, usize::from(areas.sessions.height)));
                self.meet_selected();
            }
            Focus::Tasks => {
                self.tasks.step(rows(way, distance, usize::from(areas.tasks.height)));
                self.show_task();
            }
        }
    }

    fn scroll(&mut self, way: Way, distance: Distance) {
        let area = self.areas().output.as_size();
        let Some(pane) = &mut self.pane else { return };
        match (distance, way) {
            (Distance::All, Way::Up) => pane.show_start(),
            (Distance::All, Way::Down) => pane.show_end(),
            (Distance::Line | Distance::Screen, _) => {
                let screen = usize::from(area.height).saturating_sub(1).max(1);
                pane.scroll(rows(way, distance, screen), area);
            }
        }
    }

    fn turn_stream(&mut self) {
        if let Some(pane) = &self.pane {
            let Which { session, task, stream } = pane.which().clone();
            let stream = match stream {
                Stream::Stdout => Stream::Stderr,
                Stream::Stderr => Stream::Stdout,
            };
            self.pane = Some(Pane::new(Which { session, task, stream }));
        }
    }

    fn choose(&mut self, choice: ApprovalChoice) -> Vec<Wish> {
        let Some((_, Asked::Approval(request))) = self.asked.selected() else { return Vec::new() };
        if !request.offers(choice) {
            self.say(NoteKind::Failed, "this cannot be allowed for the session");
            return Vec::new();
        }
        self.overlay = Some(Overlay::Answer(Answer { id: request.id.clone(), choice }));
        vec![Wish::ShowFirst]
    }

    fn approve(&mut self) -> Vec<Wish> {
        let Some((_, Asked::Plan(request))) = self.asked.selected() else { return Vec::new() };
        self.overlay = Some(Overlay::Approve(request.id.clone()));
        vec![Wish::ShowFirst]
    }

    fn answer(&mut self) -> Vec<Wish> {
        let Some((_, Asked::Questions(request))) = self.asked.selected() else { return Vec::new() };
        self.overlay = Some(Overlay::Form(Form::new(request.clone())));
        vec![Wish::ShowFirst]
    }

    fn reject(&mut self) {
        let Some((_, asked)) = self.asked.selected() else { return };
        self.overlay = Some(match asked {
            Asked::Approval(request) => Overlay::Reason(request.id.clone(), Field::new(MAX_REASON)),
            Asked::Questions(request) => Overlay::Dismiss(request.id.clone()),
            Asked::Plan(request) => {
                Overlay::Feedback(request.id.clone(), Field::new(MOST_FEEDBACK))
            }
        });
    }

    fn stop(&mut self) {
        let Some(summary) = self.shown_task() else { return };
        if summary.status.is_final() {
            let text = format!("{} has ended already", summary.task);
            self.say(NoteKind::Failed, text);
            return;
        }
        if let Some(session) = self.tasks_of.clone() {
            let (task, command) = (summary.task.clone(), summary.command.clone());
            self.overlay = Some(Overlay::Kill(Kill { session, task, command }));
        }
    }

    fn kill(&mut self, urgency: Urgency) -> Vec<Wish> {
        let Some(Overlay::Kill(Kill { session, task, .. })) = self.overlay.take() else {
            return Vec::new();
        };
        let (reason, force) = (Some(KILL_REASON.to_owned()), urgency == Urgency::AtOnce);
        vec![Wish::Kill(KillParams { session, task, reason, force })]
    }
}

fn reply(id: QuestionId, response: Response) -> Vec<Wish> {
    vec![Wish::Reply(QuestionRespond { id, response })]
}

/// Whether a kill leaves its command the grace.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Urgency {
    Graceful,
    AtOnce,
}

/// A distance in rows, up where it is negative.
fn rows(way: Way, distance: Distance, screen: usize) -> isize {
    let rows = match distance {
        Distance::Line => 1,
        Distance::Screen => isize::try_from(screen).unwrap_or(isize::MAX).max(1),
        Distance::All => isize::MAX,
    };
    match way {
        Way::Up => -rows,
        Way::Down => rows,
    }
}
