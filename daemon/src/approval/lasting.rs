//! Questions that outlive their call: a caller with little patience is told which approval is missing, the question stays open, and
//! the same call, sent again, finds it or what was answered.
//!
//! ```text
//!  call ──► left open by an equal call? ──no──► put, with a task that waits for its end
//!               └─yes─┐                            │
//!                     ▼                            ▼ settled: written down, then allowed to an equal call, or refused
//!        clients are asked (again) ──► waits, but not longer than its patience; not at all where nobody is there
//! ```
//!
//! Of equal calls the latest waits, and the others are told at once. The answer is bound to the session, the tool, all its arguments,
//! what is shown of its files, the folder and the modes; it is taken once (`memory`). A call that is cancelled while it waits withdraws the question.

use std::sync::Arc;
use std::time::{Duration, Instant};

use brattice_protocol::CallId;
use brattice_protocol::approval::{ApprovalOutcome, ApprovalRequest, ApprovalRequired};
use brattice_protocol::audit::Actor;
use brattice_protocol::hello::Answers;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use super::ask::{self, Permit, Question};
use super::desk::{Lasting, Stay};
use super::hearing;
use super::refusal::NotAllowed;
use super::state::{Approval, Ending, Settlement};
use super::subject::{Likeness, Subject};
use crate::server::Connection;
use crate::session::{RunningCall, Session};

/// What was granted to this very call by an answer that it had not waited for.
///
/// # Errors
/// That it is used cannot be written down.
pub(super) fn granted(
    session: &Session,
    call: &RunningCall,
    subject: &Subject,
    like: Likeness,
) -> Result<Option<Permit>, NotAllowed> {
    let taken = session.answers().take(like, subject, Instant::now());
    taken.map(|approval| ask::reuse(session, call.id(), subject, approval)).transpose()
}

/// Asks whoever is there, and waits so long at most.
///
/// # Errors
/// It was not allowed, or not yet.
pub(super) async fn ask(
    session: &Arc<Session>,
    call: &RunningCall,
    caller: &Arc<Connection>,
    question: Question,
    patience: Duration,
) -> Result<Permit, NotAllowed> {
    let (desk, ttl) = (session.desk().clone(), session.approval_ttl());
    let subject = question.subject.clone();
    let like = Likeness::of(call.digest(), &question.diff);
    let left = desk.left(session.id(), like, &subject);
    let (request, lasting) = match left {
        Some(left) => left,
        None => {
            // It may have been answered since this call looked: what was is remembered before the question goes.
            let recalled = match ask::recalled(session, call.id(), &subject)? {
                None => granted(session, call, &subject, like)?,
                recalled => recalled,
            };
            match recalled {
                Some(permit) => return Ok(permit),
                None => open(session, call.id(), question, like)?,
            }
        }
    };
    let (mut end, mut latest) = (lasting.end, lasting.latest.subscribe());
    lasting.latest.send_replace(call.id().clone());
    let clients = session.clients_that_answer(caller, Answers::Approval);
    // Who is asked again is asked for this call.
    let asked = ApprovalRequest { call: call.id().clone(), ..(*request).clone() };
    // Dropped at the end, it waits for no answer any more.
    let mut asking = hearing::put_to(&desk, &Arc::new(asked), clients);
    let settlement = tokio::select! {
        biased;
        settled = settled(&mut end) => settled,
        () = call.cancelled() => {
            desk.end(&request.id, Ending::Withdrawn, Actor::Client);
            return Err(NotAllowed::Withdrawn);
        }
        () = superseded(&mut latest, call.id()) => None,
        () = deserted(&mut asking, desk.attended()) => {
            // Where the last one has answered, that is about to be written down.
            if desk.is_open(&request.id) { None } else { settled(&mut end).await }
        }
        () = tokio::time::sleep(patience) => None,
    };
    match settlement {
        None => Err(NotAllowed::Required(ApprovalRequired::from(&*request), ttl)),
        Some(settled) if settled.outcome == ApprovalOutcome::AllowedForSession => {
            ask::recalled(session, call.id(), &subject)?.ok_or(NotAllowed::Taken)
        }
        Some(settled) if settled.outcome.is_allowed() => {
            granted(session, call, &subject, like)?.ok_or(NotAllowed::Taken)
        }
        Some(settled) => Err(ask::refused(&settled, ttl)),
    }
}

/// Resolves when an equal call waits instead.
async fn superseded(latest: &mut watch::Receiver<CallId>, call: &CallId) {
    if latest.wait_for(|latest| latest != call).await.is_err() {
        std::future::pending().await
    }
}

/// How it was settled, once that is written down.
async fn settled(end: &mut watch::Receiver<Option<Settlement>>) -> Option<Settlement> {
    end.wait_for(Option::is_some).await.ok().and_then(|settled| settled.clone())
}

/// Resolves when no client that was asked can answer, and no operator is there.
async fn deserted(asking: &mut JoinSet<()>, mut operators: watch::Receiver<usize>) {
    loop {
        if asking.is_empty() && *operators.borrow_and_update() == 0 {
            return;
        }
        tokio::select! {
            _ = asking.join_next(), if !asking.is_empty() => {}
            changed = operators.changed() => if changed.is_err() { return },
        }
    }
}

/// Opens a question that stays.
fn open(
    session: &Arc<Session>,
    call: &CallId,
    question: Question,
    like: Likeness,
) -> Result<(Arc<ApprovalRequest>, Lasting), NotAllowed> {
    let (told, end) = watch::channel(None);
    let subject = question.subject.clone();
    let latest = watch::Sender::new(call.clone());
    let lasting = Lasting { like, subject, end, latest };
    let stay = Stay::Lasting(lasting.clone());
    let (request, settled) = ask::open(session, call, question, stay, Vec::new())?;
    let task = tend(session.clone(), request.clone(), lasting.clone(), settled, told);
    tokio::spawn(task);
    Ok((request, lasting))
}

/// Waits for the question's end, writes it down, and remembers what it allows.
async fn tend(
    session: Arc<Session>,
    request: Arc<ApprovalRequest>,
    lasting: Lasting,
    settled: oneshot::Receiver<Approval>,
    told: watch::Sender<Option<Settlement>>,
) {
    let Lasting { like, subject, .. } = lasting;
    let (desk, ttl) = (session.desk().clone(), session.approval_ttl());
    let withdrawn = std::future::pending();
    if let Ok(approval) = ask::wait(&session, withdrawn, &request.id, ttl, settled).await
        && let Some(settlement) = approval.settlement()
    {
        let allowed = ask::conclude(&session, &request, &subject, settlement, ttl);
        match allowed {
            Ok(()) if settlement.outcome == ApprovalOutcome::AllowedOnce => {
                let until = Instant::now() + ttl;
                session.answers().grant(like, &subject, request.id.clone(), until);
            }
            Ok(()) | Err(_) => {}
        }
        told.send_replace(Some(settlement.clone()));
    }
    desk.written(&request.id);
}
