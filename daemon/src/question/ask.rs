//! Putting an inquiry before whoever is there, and waiting for the first answer.
//!
//! Nothing is held while it waits but its place at the desk: the session's other calls go on. It is on record before anybody
//! sees it, and so is the approval of a plan before it has an effect.

use std::sync::Arc;
use std::time::Duration;

use brattice_protocol::audit::{Actor, Event};
use brattice_protocol::hello::Answerer;
use brattice_protocol::plan::{PlanAnswer, PlanRequest};
use brattice_protocol::question::{
    Question, QuestionAnswer, QuestionOutcome, QuestionRequest, Response,
};
use brattice_protocol::{CallId, QuestionId};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::desk::{Desk, NotOpened};
use super::inquiry::{Ending, Matter, Settlement};
use crate::audit::AuditError;
use crate::server::{Connection, Reply};
use crate::session::{Patience, RunningCall, Session};

/// Characters of a client's reason for asking nobody.
const MOST_REASON: usize = 200;

/// Why nobody was asked. Its words are the result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotAsked {
    /// Nobody could be.
    #[error(
        "nobody can answer: the session's client answers no {what}, and no operator is attached; nobody was asked"
    )]
    Unattended {
        /// What.
        what: &'static str,
    },
    /// The session's client is an MCP client, whose word is not taken for this.
    #[error(
        "nobody can answer: an MCP client's word on {what} is not taken for a person's (`[mcp] trust_elicitation`), and no \
         operator is attached; nobody was asked"
    )]
    Untrusted {
        /// What.
        what: &'static str,
    },
    /// Too much is open.
    #[error("{open} questions and plans of {whose} wait for an answer already; nobody was asked")]
    Full {
        /// How much.
        open: usize,
        /// Of whom.
        whose: &'static str,
    },
    /// It, or its answer, cannot be written down.
    #[error(transparent)]
    Unrecorded(#[from] AuditError),
}

impl Matter {
    /// The questions of a call.
    pub(crate) fn questions(
        session: &Session,
        call: &CallId,
        questions: Vec<Question>,
    ) -> QuestionRequest {
        let (session, call) = (session.id().clone(), call.clone());
        QuestionRequest { id: new_id(), session, call, questions }
    }

    /// The plan of a call.
    pub(crate) fn plan(session: &Session, call: &CallId, plan: String) -> Matter {
        let (session, call) = (session.id().clone(), call.clone());
        Matter::Plan(PlanRequest { id: new_id(), session, call, plan })
    }

    fn asked(&self) -> Event {
        let (session, call) = (self.session().clone(), self.call().clone());
        let question = self.id().clone();
        match self {
            Matter::Questions(request) => {
                let questions = request.questions.len();
                Event::QuestionAsked { session, call, question, questions }
            }
            Matter::Plan(_) => Event::PlanAsked { session, call, question },
        }
    }

    fn settled(&self, settlement: &Settlement) -> Event {
        let Settlement { outcome, by, answers, feedback, ending: _ } = settlement.clone();
        Event::QuestionSettled {
            session: self.session().clone(),
            call: self.call().clone(),
            question: self.id().clone(),
            outcome,
            by,
            answers,
            feedback,
        }
    }

    const fn plural(&self) -> &'static str {
        match self {
            Matter::Questions(_) => "questions",
            Matter::Plan(_) => "plans",
        }
    }
}

fn new_id() -> QuestionId {
    QuestionId::new(uuid::Uuid::now_v7().to_string())
}

/// Asks whoever is there and waits for the first answer. `caller` is the connection that the call came by.
///
/// # Errors
/// Nobody was asked, or what was answered cannot be written down.
pub(crate) async fn ask(
    session: &Session,
    call: &RunningCall,
    caller: &Arc<Connection>,
    matter: Matter,
) -> Result<Settlement, NotAsked> {
    let desk = session.questions();
    let clients = session.clients_that_answer(caller, matter.answers());
    let not_opened = |fault| match fault {
        NotOpened::Unattended
            if caller.answers(matter.answers()) && caller.answerer() == Answerer::McpClient =>
        {
            NotAsked::Untrusted { what: matter.plural() }
        }
        NotOpened::Unattended => NotAsked::Unattended { what: matter.plural() },
        NotOpened::Full { open, whose } => NotAsked::Full { open, whose },
    };
    desk.admits(&matter, &clients).map_err(not_opened)?;
    session.audit().record_before(&matter.asked())?;
    let shared = Arc::new(matter.clone());
    let settled = match desk.put(&shared, clients.clone()) {
        Ok(settled) => settled,
        // Whoever was there has gone since.
        Err(fault) => {
            session.audit().record(&matter.settled(&deserted()));
            return Err(not_opened(fault));
        }
    };
    // Before it was put nothing could end it.
    if matches!(matter, Matter::Plan(_)) && !session.planning().is_on() {
        desk.end(matter.id(), Ending::Over, Actor::Daemon);
    }
    // Dropped at the end, it waits for no answer any more.
    let mut asking = JoinSet::new();
    for client in clients {
        let reply = client.request(matter.request(), &matter);
        asking.spawn(hear(desk.clone(), shared.clone(), client, reply));
    }
    let settlement = wait(session, call, matter.id(), settled).await;
    let event = matter.settled(&settlement);
    match settlement.outcome {
        QuestionOutcome::Approved => session.audit().record_before(&event)?,
        QuestionOutcome::Answered
        | QuestionOutcome::KeptPlanning
        | QuestionOutcome::Dismissed
        | QuestionOutcome::NotAnswered
        | QuestionOutcome::Expired
        | QuestionOutcome::Withdrawn => session.audit().record(&event),
    }
    Ok(settlement)
}

/// Waits for what one client answers.
async fn hear(desk: Arc<Desk>, matter: Arc<Matter>, client: Arc<Connection>, reply: Option<Reply>) {
    let answered = match reply {
        Some(reply) => reply.answer().await,
        None => None,
    };
    let response = match answered {
        Some(Ok(value)) => read(&matter, value).map_err(|fault| (fault, Ending::Deserted)),
        Some(Err(error)) => Err((error.to_string(), Ending::Unasked(shorten(&error.message)))),
        None => Err(("it has gone".to_owned(), Ending::Deserted)),
    };
    let by = Actor::from(client.role());
    let refused = match response {
        // Somebody may have been faster.
        Ok(response) => desk
            .answer(matter.id(), response, by)
            .map(drop)
            .map_err(|fault| (fault.to_string(), Ending::Deserted)),
        Err(refused) => Err(refused),
    };
    if let Err((reason, ending)) = refused {
        tracing::info!(connection = %client.id(), question = %matter.id(), %reason, "a client did not answer");
        desk.declined(matter.id(), client.id(), ending);
    }
}

/// A reason on one line, as long as a result should tell it.
fn shorten(reason: &str) -> String {
    reason.chars().take(MOST_REASON).flat_map(char::escape_debug).collect()
}

/// What a client answered. Who closes a dialog may say so of a plan, too.
fn read(matter: &Matter, value: Value) -> Result<Response, String> {
    let dismissed = value.get("dismissed") == Some(&Value::Bool(true));
    let read = match matter {
        Matter::Plan(_) if dismissed => return Ok(Response::Dismissed),
        Matter::Plan(_) => serde_json::from_value::<PlanAnswer>(value).map(Response::Decided),
        Matter::Questions(_) => serde_json::from_value(value).map(|answer| match answer {
            QuestionAnswer::Answered(answers) => Response::Answered(answers),
            QuestionAnswer::Dismissed => Response::Dismissed,
        }),
    };
    read.map_err(|fault| fault.to_string())
}

/// Waits until it is settled, by whatever comes first.
async fn wait(
    session: &Session,
    call: &RunningCall,
    id: &QuestionId,
    mut settled: oneshot::Receiver<Settlement>,
) -> Settlement {
    let (ending, by) = tokio::select! {
        biased;
        settled = &mut settled => return settled.unwrap_or_else(|_| deserted()),
        () = call.cancelled() => (Ending::Withdrawn, Actor::Client),
        _ = session.refusing() => (Ending::Closed, Actor::Daemon),
        patience = lost(call.patience()) => (Ending::Expired(patience), Actor::Daemon),
    };
    // An answer that came in this very moment stands.
    session.questions().end(id, ending, by);
    settled.await.unwrap_or_else(|_| deserted())
}

/// Resolves when a call does not wait for a person any longer, with how long that was.
async fn lost(patience: Patience) -> Duration {
    match patience {
        Patience::Limited(patience) => {
            tokio::time::sleep(patience).await;
            patience
        }
        Patience::Question => std::future::pending().await,
    }
}

/// The end of what nobody could answer.
const fn deserted() -> Settlement {
    Settlement {
        outcome: QuestionOutcome::NotAnswered,
        by: Actor::Daemon,
        ending: Some(Ending::Deserted),
        answers: Vec::new(),
        feedback: None,
    }
}

#[cfg(test)]
mod tests {
    use brattice_protocol::SessionId;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_or_an_empty_answer_is_no_decision_on_a_plan() {
        let plan = Matter::Plan(PlanRequest {
            id: QuestionId::new("p"),
            session: SessionId::new("s"),
            call: CallId::new("c"),
            plan: "# Plan".to_owned(),
        });
        for value in [
            json!("approve"),
            json!({}),
            json!(null),
            json!({"feedback": "yes, go on"}),
            json!({"decision": "yes"}),
            json!({"decision": true}),
            json!({"decision": "approve", "dismissed": false}),
            json!({"answers": [{"id": "p", "selected": ["approve"]}]}),
        ] {
            assert!(read(&plan, value.clone()).is_err(), "{value}");
        }
        assert_eq!(read(&plan, json!({"dismissed": true})), Ok(Response::Dismissed));
    }
}
