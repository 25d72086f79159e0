//! What keys and news do to the model.

use brattice_protocol::approval::{
    ApprovalChoice, ApprovalOutcome, ApprovalSettled, RespondParams,
};
use brattice_protocol::audit::Actor;
use brattice_protocol::task::{KillParams, TaskStatus};
use brattice_protocol::{ApprovalId, CallId};

use super::*;
use crate::attach::output::{Side, Sought};
use crate::attach::samples::{Case, NOW, approval, session, task};

fn task_of(case: &Case) -> Option<&str> {
    case.model.pane.as_ref().map(|pane| pane.which().task.as_str())
}

fn note(case: &Case) -> &str {
    case.model.note.as_ref().map_or("", |note| note.text.as_str())
}

fn settled(id: &str, outcome: ApprovalOutcome, by: Actor) -> Told {
    Told::Settled(ApprovalSettled {
        id: ApprovalId::new(id),
        session: SessionId::new("01a2aaaa-0000"),
        call: CallId::new("c"),
        outcome,
        by,
    })
}

#[test]
fn the_newest_session_and_what_runs_in_it_are_shown_first() {
    let case = Case::busy(80, 24);
    let wants = case.model.wants();
    assert_eq!(wants.session, Some(SessionId::new("01a2bbbb-0000")));
    let read = wants.read.unwrap();
    assert_eq!(
        (task_of(&case), read.sought, read.which.stream),
        (Some("bash-2"), Sought::Tail, Stream::Stdout)
    );
}

#[test]
fn another_session_brings_its_own_tasks_and_output() {
    let mut case = Case::busy(80, 24);
    case.press("h");
    case.press("down");
    assert_eq!(
        case.model.wants(),
        Wants { session: Some(SessionId::new("01a2aaaa-0000")), read: None }
    );
    assert_eq!(case.model.tasks.items().len(), 0);
    // What was on its way from the one before is nothing to this one.
    case.tell(Told::Tasks(
        SessionId::new("01a2bbbb-0000"),
        vec![task(2, TaskStatus::Running, "x")].into(),
    ));
    assert_eq!(task_of(&case), None);
    case.tell(Told::Tasks(
        SessionId::new("01a2aaaa-0000"),
        vec![task(7, TaskStatus::Completed, "y")].into(),
    ));
    assert_eq!(task_of(&case), Some("bash-7"));
}

#[test]
fn a_task_that_starts_elsewhere_takes_nobodys_eyes_away() {
    let mut case = Case::busy(80, 24);
    case.print(b"one\n", TaskStatus::Running);
    let tasks: Vec<_> = (1..=3).map(|number| task(number, TaskStatus::Running, "x")).collect();
    case.tell(Told::Tasks(SessionId::new("01a2bbbb-0000"), tasks.into()));
    assert_eq!(task_of(&case), Some("bash-2"));
    case.ask(&[approval("a", "x")]);
    assert_eq!(case.model.focus, Focus::Tasks);
}

#[test]
fn an_approval_is_allowed_by_two_keys_and_what_was_typed_before_does_not_count() {
    let mut case = Case::busy(80, 24);
    case.ask(&[approval("a", "first"), approval("b", "second\nline")]);
    assert_eq!(case.press("y"), []);
    assert_eq!(case.model.overlay, None, "keys are for the tasks");
    case.press("w");
    case.press("down");
    assert_eq!(case.press("y"), [Wish::ShowFirst]);
    let (id, option) = (ApprovalId::new("b"), ApprovalChoice::AllowOnce);
    assert_eq!(
        case.model.overlay,
        Some(Overlay::Answer(Answer { id: id.clone(), choice: option }))
    );
    assert_eq!(case.press("y"), [], "only Enter says yes");
    assert_eq!(case.press("enter"), [Wish::Respond(RespondParams { id, option, reason: None })]);
    case.tell(settled("b", ApprovalOutcome::AllowedOnce, Actor::Operator));
    assert_eq!(note(&case), "allowed once by the operator: second …");
    assert_eq!(case.model.asked.items().len(), 1);
    case.press("a");
    assert_eq!(case.press("esc"), []);
    assert_eq!((case.model.overlay.as_ref(), case.model.asked.items().len()), (None, 1));
}

#[test]
fn a_rejection_may_say_why() {
    let mut case = Case::busy(80, 24);
    case.ask(&[approval("a", "x")]);
    case.press("w");
    case.press("n");
    case.type_in("not today, q?");
    case.press("backspace");
    case.happen(Event::Input(Input::Pasted("\n (y)".to_owned())));
    let (id, option) = (ApprovalId::new("a"), ApprovalChoice::RejectOnce);
    let reason = Some("not today, q  (y)".to_owned());
    assert_eq!(
        case.press("enter"),
        [Wish::Respond(RespondParams { id: id.clone(), option, reason })]
    );
    case.press("n");
    assert_eq!(case.press("enter"), [Wish::Respond(RespondParams { id, option, reason: None })]);
}

#[test]
fn pasted_text_is_no_key() {
    let mut case = Case::busy(80, 24);
    case.ask(&[approval("a", "x")]);
    case.press("w");
    assert_eq!(case.happen(Event::Input(Input::Pasted("y\r".to_owned()))), []);
    assert_eq!(case.model.overlay, None);
    case.press("y");
    assert_eq!(case.happen(Event::Input(Input::Pasted("\r".to_owned()))), []);
    assert!(case.model.overlay.is_some());
}

#[test]
fn what_somebody_else_settles_is_asked_no_more() {
    let mut case = Case::busy(80, 24);
    case.ask(&[approval("a", "x"), approval("b", "y")]);
    case.press("w");
    case.press("y");
    case.tell(settled("a", ApprovalOutcome::Rejected, Actor::Client));
    assert_eq!((case.model.overlay.as_ref(), note(&case)), (None, "rejected by the client: x"));
    assert_eq!(case.press("enter"), [], "nor is the next one answered");
    case.press("y");
    case.tell(Told::NotSettled(
        AskedId::Approval(ApprovalId::new("b")),
        "b was expired already".to_owned(),
    ));
    assert_eq!((case.model.overlay.as_ref(), note(&case)), (None, "b was expired already"));
    assert_eq!((case.model.focus, case.model.asked.items().len()), (Focus::Tasks, 0));
    // Of what was not shown nothing is said.
    case.press("up");
    case.tell(settled("z", ApprovalOutcome::Rejected, Actor::Client));
    assert_eq!(note(&case), "");
}

#[test]
fn what_is_not_offered_cannot_be_chosen() {
    let mut case = Case::busy(80, 24);
    let mut request = approval("a", "x");
    request.options.retain(|option| option.id != ApprovalChoice::AllowAlways);
    case.ask(&[request]);
    case.press("w");
    assert_eq!(case.press("a"), []);
    assert_eq!(
        (case.model.overlay.as_ref(), note(&case)),
        (None, "this cannot be allowed for the session")
    );
}

#[test]
fn a_task_is_stopped_after_a_question_back() {
    let mut case = Case::busy(80, 24);
    let (session, task) = (SessionId::new("01a2bbbb-0000"), TaskId::new("bash-2"));
    let reason = Some("in brattice attach".to_owned());
    let kill = |force| {
        Wish::Kill(KillParams {
            session: session.clone(),
            task: task.clone(),
            reason: reason.clone(),
            force,
        })
    };
    case.press("x");
    assert_eq!(case.press("esc"), []);
    case.press("x");
    assert_eq!(case.press("enter"), [kill(false)]);
    case.tell(Told::Killed(task.clone(), Ok(())));
    assert_eq!(note(&case), "stopping bash-2");
    case.press("x");
    assert_eq!(case.press("f"), [kill(true)]);
    case.press("down");
    case.press("x");
    assert_eq!((case.model.overlay.as_ref(), note(&case)), (None, "bash-1 has ended already"));
}

#[test]
fn output_is_scrolled_and_followed() {
    let mut case = Case::busy(80, 24);
    let lines: String = (0..100).map(|number| format!("{number}\n")).collect();
    case.print(lines.as_bytes(), TaskStatus::Running);
    case.press("enter");
    let side = |case: &Case| case.model.pane.as_ref().unwrap().side();
    assert_eq!((case.model.focus, side(&case)), (Focus::Output, Side::Following));
    case.press("pgup");
    assert_eq!(side(&case), Side::Reading);
    case.press("G");
    assert_eq!(side(&case), Side::Following);
    case.press("g");
    let area = case.model.areas().output.as_size();
    assert_eq!(case.model.pane.as_ref().unwrap().rows(area)[0][0].text, "0");
    case.press("o");
    assert_eq!(case.model.wants().read.unwrap().which.stream, Stream::Stderr);
}

#[test]
fn a_daemon_that_dies_takes_its_questions_along() {
    let mut case = Case::busy(80, 24);
    case.print(b"kept\n", TaskStatus::Running);
    case.ask(&[approval("a", "x")]);
    case.press("w");
    case.press("y");
    case.tell(Told::Gone("it went away".to_owned()));
    assert_eq!((case.model.overlay.as_ref(), case.model.asked.items().len()), (None, 0));
    assert_eq!(case.model.link, Link::Down { why: "it went away".to_owned(), since: NOW });
    case.happen(Event::Clock(NOW + 5_000));
    case.tell(Told::Gone("none answers".to_owned()));
    assert_eq!(case.model.seen(), NOW);
    assert_eq!((case.model.tasks.items().len(), task_of(&case)), (2, Some("bash-2")));
    assert_eq!(case.press("S"), [Wish::Start]);
    case.tell(Told::NotStarted("cannot run bratticed".to_owned()));
    assert_eq!(note(&case), "cannot run bratticed");
    let daemon = Peer { name: "bratticed".to_owned(), version: "1".to_owned() };
    case.tell(Told::Up(daemon.clone()));
    assert_eq!((case.model.link.clone(), note(&case)), (Link::Up(daemon), ""));
    // What was shown goes on where it was.
    assert_eq!(case.model.wants().read.unwrap().sought, Sought::From(5));
    assert_eq!(case.press("S"), [], "one is there");
}

#[test]
fn no_start_starts_nothing() {
    let mut case = Case::busy(80, 24);
    case.model.start = Start::Refused;
    case.tell(Told::Gone("it went away".to_owned()));
    assert_eq!(case.press("S"), []);
    assert_eq!(note(&case), "--no-start refuses to start a daemon");
}

#[test]
fn what_cannot_be_read_is_said_and_tried_again_with_the_next_daemon() {
    let mut case = Case::busy(80, 24);
    let read = case.model.wants().read.unwrap();
    case.tell(Told::Read(read.clone(), Err("no task bash-2 in this session".to_owned())));
    assert_eq!(case.model.wants().read, None);
    case.tell(Told::Up(Peer { name: "bratticed".to_owned(), version: "1".to_owned() }));
    assert_eq!(case.model.wants().read, Some(read));
}

#[test]
fn keys_lead_out_again_and_quit_everywhere() {
    let mut case = Case::busy(80, 24);
    for name in ["?", "z", "enter", "esc", "esc", "esc", "esc", "esc"] {
        assert_eq!(case.press(name), [], "{name}");
    }
    assert_eq!((case.model.focus, case.model.zoom), (Focus::Sessions, Zoom::Parts));
    let parts: Vec<Focus> = (0..4)
        .map(|_| {
            case.press("tab");
            case.model.focus
        })
        .collect();
    assert_eq!(parts, [Focus::Tasks, Focus::Output, Focus::Sessions, Focus::Tasks]);
    assert_eq!(case.press("ctrl-z"), [Wish::Suspend]);
    for name in ["q", "ctrl-c"] {
        assert_eq!(case.press(name), [Wish::Quit]);
    }
    case.press("x");
    assert_eq!(case.press("q"), []);
    assert_eq!(case.press("ctrl-c"), [Wish::Quit]);
}

#[test]
fn nothing_is_selected_where_nothing_is() {
    let mut case = Case::new(80, 24);
    for name in
        ["up", "down", "pgdn", "g", "G", "enter", "x", "o", "w", "y", "tab", "tab", "z", "esc"]
    {
        case.press(name);
    }
    assert_eq!(case.model.wants(), Wants::default());
    case.tell(Told::Sessions(vec![session("01a2aaaa-0000", 0)]));
    case.tell(Told::Sessions(Vec::new()));
    assert_eq!(case.model.wants(), Wants::default());
}
