//! Asking a person about one call, and waiting for the answer.
//!
//! Nothing is held while it waits but the question's place at the desk: the session's other calls go on. The question is on
//! record before anybody sees it, and an answer that allows something before the command starts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use brattice_policy::{Approval as Asking, Mode};
use brattice_protocol::approval::{
    ApprovalChoice, ApprovalOption, ApprovalOutcome, ApprovalRequest,
};
use brattice_protocol::audit::{Actor, Event};
use brattice_protocol::editor::{EditorContent, EditorKind};
use brattice_protocol::hello::Answers;
use brattice_protocol::outcome::Denial;
use brattice_protocol::{ApprovalId, CallId, SessionId};
use tokio::sync::oneshot;

use super::desk::Stay;
use super::hearing;
use super::lasting;
use super::memory::Remembered;
use super::refusal::NotAllowed;
use super::state::{Approval, Choices, ClaimRefused, Ending, Settlement};
use super::subject::{Deed, Likeness, Subject};
use crate::exec::spec::Timestamp;
use crate::server::Connection;
use crate::session::{Patience, RunningCall, Session};

/// Longest command that a person is asked about, in bytes: all of it must be shown.
pub(super) const MOST_SHOWN: usize = 32 << 10;

/// Longest diff that a person is asked about, in bytes as it is sent.
const MOST_DIFF: usize = 1 << 20;

/// Something to ask a person.
#[derive(Debug)]
pub(crate) struct Question {
    /// What it is about.
    pub(crate) subject: Subject,
    /// What a change does to its files, all of it.
    pub(crate) diff: Vec<EditorContent>,
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
    /// The session asks before whatever it does; the mode stays.
    Session,
}

/// The right to do one thing once. It cannot be copied, and is used up by its claim.
#[derive(Debug)]
pub(crate) struct Permit {
    approval: Box<Approval>,
}

impl Permit {
    /// Uses it for what is about to be done. Gives the mode.
    ///
    /// # Errors
    /// The command or the change, its folder or the session's mode is not what was asked about.
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

/// What was answered to the same before, which shows these diffs: nobody is asked then.
///
/// # Errors
/// It was rejected, or that it is allowed again cannot be written down.
pub(crate) fn remembered(
    session: &Session,
    call: &RunningCall,
    subject: &Subject,
    diff: &[EditorContent],
) -> Result<Option<Permit>, NotAllowed> {
    let like = Likeness::of(call.digest(), diff);
    match lasting::granted(session, call, subject, like)? {
        Some(permit) => Ok(Some(permit)),
        None => recalled(session, call.id(), subject),
    }
}

/// What was answered for the session, or rejected.
pub(super) fn recalled(
    session: &Session,
    call: &CallId,
    subject: &Subject,
) -> Result<Option<Permit>, NotAllowed> {
    // Bound first: the memory is not held while something is written.
    let recalled = session.answers().recall(subject);
    match recalled {
        Remembered::Nothing => Ok(None),
        Remembered::Rejected { reason } => Err(NotAllowed::RejectedBefore(reason)),
        Remembered::Allowed(approval) => reuse(session, call, subject, approval).map(Some),
    }
}

/// The right to do what was allowed to an equal call before.
pub(super) fn reuse(
    session: &Session,
    call: &CallId,
    subject: &Subject,
    approval: ApprovalId,
) -> Result<Permit, NotAllowed> {
    session.audit().record_before(&Event::ApprovalReused {
        session: session.id().clone(),
        call: call.clone(),
        approval,
        from: subject.from,
        to: subject.to,
    })?;
    let asker = (session.id().clone(), call.clone());
    let approval = Approval::repeated(asker, subject.clone(), Actor::Daemon);
    Ok(Permit { approval: Box::new(approval) })
}

/// Asks whoever is there and waits for the first answer, as long as the call has patience. `caller` is the connection that the
/// call came by.
///
/// Callers look at what is [`remembered`] first.
///
/// # Errors
/// It was not allowed, and why.
pub(crate) async fn ask(
    session: &Arc<Session>,
    call: &RunningCall,
    caller: &Arc<Connection>,
    question: Question,
) -> Result<Permit, NotAllowed> {
    let (bytes, most) = match &question.subject.deed {
        Deed::Command(command) => (command.len(), MOST_SHOWN),
        Deed::Change(_) => {
            (serde_json::to_string(&question.diff).map_or(usize::MAX, |diff| diff.len()), MOST_DIFF)
        }
    };
    if bytes > most {
        return Err(NotAllowed::TooLong { bytes });
    }
    if let Patience::Limited(patience) = call.patience() {
        return lasting::ask(session, call, caller, question, patience).await;
    }
    let clients = session.clients_that_answer(caller, Answers::Approval);
    let ttl = session.approval_ttl();
    let subject = question.subject.clone();
    let (request, settled) = open(session, call.id(), question, Stay::Attended, clients.clone())?;
    // Dropped at the end, it waits for no answer any more.
    let _asking = hearing::put_to(session.desk(), &request, clients);
    let approval = wait(session, call.cancelled(), &request.id, ttl, settled).await?;
    let Some(settlement) = approval.settlement().cloned() else {
        return Err(NotAllowed::Deserted);
    };
    conclude(session, &request, &subject, &settlement, ttl)?;
    Ok(Permit { approval: Box::new(approval) })
}

/// Whether somebody is there who could be asked.
pub(crate) fn is_attended(session: &Session, caller: &Arc<Connection>) -> bool {
    session.desk().is_attended(&session.clients_that_answer(caller, Answers::Approval))
}

/// Puts a question on record, and then before the operators.
pub(super) fn open(
    session: &Session,
    call: &CallId,
    question: Question,
    stay: Stay,
    clients: Vec<Arc<Connection>>,
) -> Result<(Arc<ApprovalRequest>, oneshot::Receiver<Approval>), NotAllowed> {
    let (desk, ttl) = (session.desk(), session.approval_ttl());
    desk.admits(session.id(), &stay, &clients)?;
    let choices = session.toolset().approvals;
    let subject = question.subject.clone();
    let request = Arc::new(request(session, call, question, choices, ttl));
    session.audit().record_before(&asked(&request))?;
    let asker = (session.id().clone(), call.clone());
    let approval = Approval::asked(asker, subject, choices, Instant::now() + ttl);
    let settled = desk.put(request.clone(), approval, stay, clients);
    let settled = settled.inspect_err(|_| session.audit().record(&unopened(&request)))?;
    // Since it was looked for, approvals may have been switched off, or plan mode on: before the question was put, nothing
    // ended it.
    let now = session.latitude();
    for (is_so, ending) in [
        (now.approval == Asking::Never, Ending::Silenced),
        (now.planning.is_on(), Ending::Planning),
    ] {
        if is_so && ending.concerns(&request) {
            desk.end(&request.id, ending, Actor::Daemon);
        }
    }
    Ok((request, settled))
}

fn request(
    session: &Session,
    call: &CallId,
    question: Question,
    choices: Choices,
    ttl: Duration,
) -> ApprovalRequest {
    let Question { subject, diff, tool, title, why } = question;
    let (justification, denials, rule) = match why {
        Why::Escalation { justification, denials, rule } => (Some(justification), denials, rule),
        Why::Rule { reason } => (None, Vec::new(), Some(reason)),
        Why::Session => (None, Vec::new(), None),
    };
    let (kind, command, option): (_, _, fn(ApprovalChoice) -> ApprovalOption) = match subject.deed {
        Deed::Command(command) => (EditorKind::Execute, Some(command), ApprovalOption::from),
        Deed::Change(_) => (EditorKind::Edit, None, ApprovalOption::of_change),
    };
    let ttl = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
    ApprovalRequest {
        id: ApprovalId::new(uuid::Uuid::now_v7().to_string()),
        session: session.id().clone(),
        call: call.clone(),
        tool,
        title,
        kind: kind.as_str().to_owned(),
        command,
        diff,
        workdir: subject.folder.path().display().to_string(),
        from: subject.from,
        to: subject.to,
        justification,
        rule,
        denials,
        options: choices.all().iter().copied().map(option).collect(),
        expires: Timestamp::now().0.saturating_add(ttl),
    }
}

/// Waits until it is settled, by whatever comes first; `withdrawn` is the call's wish.
pub(super) async fn wait(
    session: &Session,
    withdrawn: impl Future<Output = ()>,
    id: &ApprovalId,
    ttl: Duration,
    mut settled: oneshot::Receiver<Approval>,
) -> Result<Approval, NotAllowed> {
    let (ending, by) = tokio::select! {
        biased;
        settled = &mut settled => return settled.map_err(|_| NotAllowed::Deserted),
        () = withdrawn => (Ending::Withdrawn, Actor::Client),
        _ = session.refusing() => (Ending::Closed, Actor::Daemon),
        () = tokio::time::sleep(ttl) => (Ending::Expired, Actor::Daemon),
    };
    // An answer that came in this very moment stands.
    session.desk().end(id, ending, by);
    settled.await.map_err(|_| NotAllowed::Deserted)
}

/// Writes down how it was settled, and remembers what is to be remembered.
pub(super) fn conclude(
    session: &Session,
    request: &ApprovalRequest,
    subject: &Subject,
    settlement: &Settlement,
    ttl: Duration,
) -> Result<(), NotAllowed> {
    let Settlement { outcome, by, ending: _, reason } = settlement.clone();
    let event = Event::ApprovalSettled {
        session: session.id().clone(),
        call: request.call.clone(),
        approval: request.id.clone(),
        outcome,
        by,
        reason: reason.clone(),
    };
    match outcome {
        ApprovalOutcome::AllowedOnce | ApprovalOutcome::AllowedForSession => {
            session.audit().record_before(&event)?;
            if outcome == ApprovalOutcome::AllowedForSession {
                session.answers().allow(subject, request.id.clone());
            }
            return Ok(());
        }
        ApprovalOutcome::Rejected => session.answers().reject(subject, reason),
        ApprovalOutcome::Cancelled | ApprovalOutcome::Expired | ApprovalOutcome::Withdrawn => {}
    }
    session.audit().record(&event);
    Err(refused(settlement, ttl))
}

/// Why something is not allowed that was settled so.
pub(super) fn refused(settlement: &Settlement, ttl: Duration) -> NotAllowed {
    match settlement.ending {
        None => NotAllowed::Rejected(settlement.reason.clone()),
        Some(Ending::Dismissed) => NotAllowed::Dismissed,
        Some(Ending::Deserted) => NotAllowed::Deserted,
        Some(Ending::Expired) => NotAllowed::Expired(ttl),
        Some(Ending::Withdrawn) => NotAllowed::Withdrawn,
        Some(Ending::Closed) => NotAllowed::Closed,
        Some(Ending::Silenced) => NotAllowed::Silenced,
        Some(Ending::Planning) => NotAllowed::Planning,
    }
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
