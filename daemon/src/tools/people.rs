//! The tools `ask_user_question` or `ask_user`, `exit_plan_mode` and `todo_write`: what has to do with people, and runs nothing.
//!
//! Asking and waiting are `question`'s, words are the toolset's. A plan that was approved ends plan mode here, after it was
//! recorded that it was; whatever else comes of it leaves plan mode on.

use std::sync::Arc;

use brattice_protocol::question::{QuestionOutcome, QuestionRequest};
use brattice_protocol::todo::TodoCounts;
use serde_json::{Map, Value};

use super::call::{Answer, Caller, Keeping, Report};
use crate::fault::chain;
use crate::question::{Ending, Matter, NotAsked, Settlement, ask as put};
use crate::session::{RunningCall, Session};
use crate::toolset::render::{
    Facts, Unheard, approved, not_approved, question_facts, render_answers, render_todos,
    unanswered,
};
use crate::toolset::{PlanArguments, parse_plan, parse_questions, parse_todos};

/// What a call says that was withdrawn.
const CANCELLED: &str = "[cancelled]";

/// Asks a person questions.
pub(super) async fn ask(
    session: &Arc<Session>,
    call: &RunningCall,
    caller: &Caller,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let questions = match parse_questions(session.tools(), arguments) {
        Ok(questions) => questions,
        Err(fault) => return refused(session, &fault.to_string()),
    };
    let first = questions.first().map_or("", |question| question.question.as_str());
    report.set_title(first.trim().lines().next().unwrap_or_default().to_owned());
    report.begins(&[], None);
    let request = Matter::questions(session, call.id(), questions);
    let QuestionRequest { id, questions, .. } = &request;
    let settlement = match put(session, call, caller, Matter::Questions(request.clone())).await {
        Ok(settlement) => settlement,
        Err(fault) => return not_asked(session, &fault),
    };
    let Settlement { outcome, answers, .. } = &settlement;
    let facts = Facts::Question(question_facts(id, *outcome, answers, None));
    match outcome {
        QuestionOutcome::Answered => {
            Answer::told(render_answers(session.tools(), questions, answers), facts)
        }
        QuestionOutcome::Dismissed => {
            Answer::told(unanswered(*outcome, unheard(&settlement)), facts)
        }
        QuestionOutcome::Withdrawn
        | QuestionOutcome::NotAnswered
        | QuestionOutcome::Expired
        | QuestionOutcome::Approved
        | QuestionOutcome::KeptPlanning => {
            let text = unanswered(*outcome, unheard(&settlement));
            came_to_nothing(session, &settlement, &text, facts)
        }
    }
}

/// Shows a person the plan, and ends plan mode if they approve it.
pub(super) async fn exit_plan_mode(
    session: &Arc<Session>,
    call: &RunningCall,
    caller: &Caller,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let PlanArguments { plan, title } = match parse_plan(session.tools(), arguments) {
        Ok(arguments) => arguments,
        Err(fault) => return refused(session, &fault.to_string()),
    };
    report.set_title(title);
    if !session.planning().is_on() {
        return refused(session, "no plan mode is active, so that there is nothing to approve");
    }
    report.begins(&[], None);
    let matter = Matter::plan(session, call.id(), plan);
    let id = matter.id().clone();
    let settlement = match put(session, call, caller, matter).await {
        Ok(settlement) => settlement,
        Err(fault) => return not_asked(session, &fault),
    };
    let Settlement { outcome, feedback, by, .. } = &settlement;
    let feedback = feedback.as_deref();
    let facts = Facts::Question(question_facts(&id, *outcome, &[], feedback));
    if *outcome != QuestionOutcome::Approved {
        let text = not_approved(*outcome, unheard(&settlement), feedback);
        return came_to_nothing(session, &settlement, &text, facts);
    }
    match session.end_planning(*by).await {
        Ok(()) => Answer::told(approved(session.profile().mode, feedback), facts),
        Err(error) => {
            let why = chain(&error);
            refused(session, &format!("the plan was approved, and plan mode goes on: {why}"))
        }
    }
}

/// Replaces the to-do list.
pub(super) async fn write_todos(
    session: &Arc<Session>,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let todos = match parse_todos(session.tools(), arguments) {
        Ok(todos) => todos,
        Err(fault) => return refused(session, &fault.to_string()),
    };
    let counts = TodoCounts::of(&todos);
    report.set_title(render_todos(counts));
    match session.replace_todos(todos).await {
        Ok(()) => Answer::told(render_todos(counts), Facts::Todos(counts)),
        Err(error) => refused(session, &chain(&error)),
    }
}

fn refused(session: &Session, text: &str) -> Answer {
    Answer::refused(session.toolset().error(text))
}

/// Nobody was asked, for a reason that may pass.
fn not_asked(session: &Session, fault: &NotAsked) -> Answer {
    Answer::turned_away(session.toolset().error(&fault.to_string()))
}

/// Why nobody said anything, where nobody did.
fn unheard(settlement: &Settlement) -> Unheard<'_> {
    match &settlement.ending {
        Some(Ending::Unasked(reason)) => Unheard::Unasked(reason),
        Some(Ending::Expired(patience)) => Unheard::Late(*patience),
        Some(Ending::Deserted | Ending::Withdrawn | Ending::Closed | Ending::Over) | None => {
            Unheard::Gone
        }
    }
}

/// Nobody answered, or not as it was hoped.
fn came_to_nothing(session: &Session, settlement: &Settlement, text: &str, facts: Facts) -> Answer {
    let mut text = session.toolset().error(text);
    if settlement.ending == Some(Ending::Withdrawn) {
        text = format!("{text}\n{CANCELLED}");
    }
    let kept = match settlement.ending {
        Some(Ending::Closed) => Keeping::MayRunAgain,
        Some(
            Ending::Deserted
            | Ending::Unasked(_)
            | Ending::Expired(_)
            | Ending::Withdrawn
            | Ending::Over,
        )
        | None => Keeping::Kept,
    };
    Answer { facts: Some(facts), kept, ..Answer::refused(text) }
}
