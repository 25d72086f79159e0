//! Asking a person about one call, and waiting for the answer.
//!
//! Nothing is held while it waits but the question's place at the desk: the session's other calls go on. The question is on
//! record before anybody sees it, and an answer that allows something before the command starts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use brattice_policy::{Approval as Asking, Mode};
use brattice_protocol::approval::{ApprovalAnswer, ApprovalOutcome, ApprovalRequest, MAX_REASON};
use brattice_protocol::audit::{Actor, Event};
use brattice_protocol::hello::Answers;
use brattice_protocol::outcome::Denial;
use brattice_protocol::{ApprovalId, CallId, SessionId};
use tokio::task::JoinSet;

use super::desk::Desk;
use super::memory::Remembered;
use super::refusal::NotAllowed;
use super::state::{Approval, Choices, ClaimRefused, Ending, Settlement};
use super::subject::Subject;
use crate::exec::spec::Timestamp;
use crate::server::{Connection, Reply};
use crate::session::{RunningCall, Session};

/// Longest command that a person is asked about, in bytes: all of it must be shown.
pub(super) const MOST_SHOWN: usize = 32 << 10;

/// Something to ask a person.
#[derive(Debug)]
pub(crate) struct Question {
    /// What it is about.
    pub(crate) subject: Subject,
    /// The tool's name.
    pub(crate) tool: String,
    /// The call in one line.
    pub(crate) title: String,
    /// Why it is asked.
    pub(crate) why: Why,
}

/// Why a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The call asks for a wider mode.
    Escalation {
        /// The model's words.
        justification: String,
        /// The recorded denials that it would lift.
        denials: Vec<Denial>,
        /// Why a command rule asks as well, where one does: the one answer is to both.
        rule: Option<String>,
    },
    /// A command rule says so; the mode stays.
    Rule {
        /// Its reason.
        reason: String,
    },
}

/// The right to run one command once. It cannot be copied, and is used up by its claim.
#[derive(Debug)]
pub(crate) struct Permit {
    approval: Approval,
}

impl Permit {
    /// Uses it for a command that is about to start. Gives the mode.
    ///
    /// # Errors
    /// The command, its folder or the session's mode is not what was asked about.
    pub(crate) fn claim(
        mut self,
        session: &SessionId,
        call: &CallId,
        subject: &Subject,
    ) -> Result<Mode, ClaimRefused> {
        self.approval.claim(&(session.clone(), call.clone()), subject)?;
        Ok(subject.to)
    }
}

/// What was answered to the same before: nobody is asked then.
///
/// # Errors
/// It was rejected, or that it is allowed again cannot be written down.
pub(crate) fn remembered(
    session: &Session,
    call: &CallId,
    subject: &Subject,
) -> Result<Option<Permit>, NotAllowed> {
    // Bound first: the memory is not held while something is written.
    let recalled = session.answers().recall(subject);
    match recalled {
        Remembered::Nothing => Ok(None),
        Remembered::Rejected { reason } => Err(NotAllowed::RejectedBefore(reason)),
        Remembered::Allowed(approval) => {
            session.audit().record_before(&Event::ApprovalReused {
                session: session.id().clone(),
                call: call.clone(),
                approval,
                from: subject.from,
                to: subject.to,
            })?;
            let asker = (session.id().clone(), call.clone());
            let approval = Approval::repeated(asker, subject.clone(), Actor::Daemon);
            Ok(Some(Permit { approval }))
        }
    }
}

/// Asks whoever is there and waits for the first answer. `caller` is the connection that the call came by.
///
/// Callers look at what is [`remembered`] first.
///
/// # Errors
/// It was not allowed, and why.
pub(crate) async fn ask(
    session: &Session,
    call: &RunningCall,
    caller: &Arc<Connection>,
    question: Question,
) -> Result<Permit, NotAllowed> {
    let bytes = question.subject.command.len();
    if bytes > MOST_SHOWN {
        return Err(NotAllowed::TooLong { bytes });
    }
    let desk = session.desk();
    let clients = answering(session, caller);
    desk.admits(session.id(), &clients)?;
    let ttl = session.approval_ttl();
    let choices = session.toolset().approvals;
    let subject = question.subject.clone();
    let request = Arc::new(request(session, call.id(), question, choices, ttl));
    session.audit().record_before(&asked(&request))?;
    let asker = (session.id().clone(), call.id().clone());
    let approval = Approval::asked(asker, subject.clone(), choices, Instant::now() + ttl);
    let settled = desk.put(request.clone(), approval, clients.clone());
    let settled = settled.inspect_err(|_| session.audit().record(&unopened(&request)))?;
    // Since it was looked for, approvals may have been switched off: before the question was put, nothing ended it.
    if session.latitude().approval == Asking::Never {
        desk.end(&request.id, Ending::Silenced, Actor::Daemon);
    }
    // The same with plan mode.
    if session.planning().is_on() && subject.to > Mode::ReadOnly {
        desk.end(&request.id, Ending::Planning, Actor::Daemon);
    }
    // Dropped at the end, it waits for no answer any more.
    let mut asking = JoinSet::new();
    for client in clients {
        let reply = client.request("approval.request", &request);
        asking.spawn(hear(desk.clone(), request.clone(), client, reply));
    }
    let approval = wait(session, call, &request.id, ttl, settled).await?;
    let Some(settlement) = approval.settlement().cloned() else {
        return Err(NotAllowed::Deserted);
    };
    conclude(session, &request, &subject, &settlement, ttl)?;
    Ok(Permit { approval })
}

/// The clients that can be asked: whose session it is, and who called.
fn answering(session: &Session, caller: &Arc<Connection>) -> Vec<Arc<Connection>> {
    let mut clients: Vec<Arc<Connection>> = session.audience().into_iter().collect();
    if clients.iter().all(|client| client.id() != caller.id()) {
        clients.push(caller.clone());
    }
    clients.retain(|client| client.answers(Answers::Approval) && client.is_open());
    clients
}

fn request(
    session: &Session,
    call: &CallId,
    question: Question,
    choices: Choices,
    ttl: Duration,
) -> ApprovalRequest {
    let Question { subject, tool, title, why } = question;
    let (justification, denials, rule) = match why {
        Why::Escalation { justification, denials, rule } => (Some(justification), denials, rule),
        Why::Rule { reason } => (None, Vec::new(), Some(reason)),
    };
    let ttl = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
    ApprovalRequest {
        id: ApprovalId::new(uuid::Uuid::now_v7().to_string()),
        session: session.id().clone(),
        call: call.clone(),
        tool,
        title,
        kind: "execute".to_owned(),
        command: Some(subject.command),
        workdir: subject.folder.path().display().to_string(),
        from: subject.from,
        to: subject.to,
        justification,
        rule,
        denials,
        options: choices.all().iter().map(|choice| (*choice).into()).collect(),
        expires: Timestamp::now().0.saturating_add(ttl),
    }
}

/// Waits for what one client answers.
async fn hear(
    desk: Arc<Desk>,
    request: Arc<ApprovalRequest>,
    client: Arc<Connection>,
    reply: Option<Reply>,
) {
    let answered = match reply {
        Some(reply) => reply.answer().await,
        None => None,
    };
    let by = Actor::from(client.role());
    let answer = match answered {
        Some(Ok(answer)) => serde_json::from_value(answer).ok(),
        Some(Err(error)) => {
            tracing::info!(connection = %client.id(), %error, "a client could not ask for an approval");
            None
        }
        None => None,
    };
    match answer {
        Some(ApprovalAnswer::Selected { option, reason }) if request.offers(option) => {
            // Somebody may have been faster.
            desk.answer(&request.id, option, by, reason.map(shorten)).ok();
        }
        Some(ApprovalAnswer::Cancelled) => desk.end(&request.id, Ending::Dismissed, by),
        Some(ApprovalAnswer::Selected { .. }) | None => desk.declined(&request.id, client.id()),
    }
}

/// A reason as long as it may be.
fn shorten(mut reason: String) -> String {
    let ends = reason.char_indices().map(|(at, sign)| at + sign.len_utf8());
    let end = ends.take_while(|end| *end <= MAX_REASON).last().unwrap_or(0);
    reason.truncate(end);
    reason
}

/// Waits until it is settled, by whatever comes first.
async fn wait(
    session: &Session,
    call: &RunningCall,
    id: &ApprovalId,
    ttl: Duration,
    mut settled: tokio::sync::oneshot::Receiver<Approval>,
) -> Result<Approval, NotAllowed> {
    let (ending, by) = tokio::select! {
        biased;
        settled = &mut settled => return settled.map_err(|_| NotAllowed::Deserted),
        () = call.cancelled() => (Ending::Withdrawn, Actor::Client),
        _ = session.refusing() => (Ending::Closed, Actor::Daemon),
        () = tokio::time::sleep(ttl) => (Ending::Expired, Actor::Daemon),
    };
    // An answer that came in this very moment stands.
    session.desk().end(id, ending, by);
    settled.await.map_err(|_| NotAllowed::Deserted)
}

/// Writes down how it was settled, and remembers what is to be remembered.
fn conclude(
    session: &Session,
    request: &ApprovalRequest,
    subject: &Subject,
    settlement: &Settlement,
    ttl: Duration,
) -> Result<(), NotAllowed> {
    let Settlement { outcome, by, ending, reason } = settlement.clone();
    let event = Event::ApprovalSettled {
        session: session.id().clone(),
        call: request.call.clone(),
        approval: request.id.clone(),
        outcome,
        by,
        reason: reason.clone(),
    };
    match (outcome, ending) {
        (ApprovalOutcome::AllowedOnce | ApprovalOutcome::AllowedForSession, _) => {
            session.audit().record_before(&event)?;
            if outcome == ApprovalOutcome::AllowedForSession {
                session.answers().allow(subject, request.id.clone());
            }
            return Ok(());
        }
        (ApprovalOutcome::Rejected, _) => session.answers().reject(subject, reason.clone()),
        (ApprovalOutcome::Cancelled | ApprovalOutcome::Expired | ApprovalOutcome::Withdrawn, _) => {
        }
    }
    session.audit().record(&event);
    Err(match ending {
        None => NotAllowed::Rejected(reason),
        Some(Ending::Dismissed) => NotAllowed::Dismissed,
        Some(Ending::Deserted) => NotAllowed::Deserted,
        Some(Ending::Expired) => NotAllowed::Expired(ttl),
        Some(Ending::Withdrawn) => NotAllowed::Withdrawn,
        Some(Ending::Closed) => NotAllowed::Closed,
        Some(Ending::Silenced) => NotAllowed::Silenced,
        Some(Ending::Planning) => NotAllowed::Planning,
    })
}

fn asked(request: &ApprovalRequest) -> Event {
    Event::ApprovalAsked {
        session: request.session.clone(),
        call: request.call.clone(),
        approval: request.id.clone(),
        workdir: request.workdir.clone(),
        from: request.from,
        to: request.to,
        denials: request.denials.len(),
    }
}

/// Whoever was there has gone before the question was put.
fn unopened(request: &ApprovalRequest) -> Event {
    Event::ApprovalSettled {
        session: request.session.clone(),
        call: request.call.clone(),
        approval: request.id.clone(),
        outcome: ApprovalOutcome::Cancelled,
        by: Actor::Daemon,
        reason: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let cut = shorten(format!("x{}", "é".repeat(MAX_REASON)));
        assert_eq!(cut, format!("x{}", "é".repeat(511)));
        assert_eq!(shorten("no".to_owned()), "no");
    }
}
