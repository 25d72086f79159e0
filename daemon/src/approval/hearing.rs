//! What clients answer to a question. Each is asked for itself and heard by a task of its own, which ends with whoever asked; what
//! it answers goes to the desk, where the first answer settles.

use std::sync::Arc;

use brattice_protocol::approval::{ApprovalAnswer, ApprovalRequest, MAX_REASON};
use brattice_protocol::audit::Actor;
use tokio::task::JoinSet;

use super::desk::Desk;
use super::state::Ending;
use crate::server::{Connection, Reply};

/// Asks the clients.
pub(super) fn put_to(
    desk: &Arc<Desk>,
    request: &Arc<ApprovalRequest>,
    clients: Vec<Arc<Connection>>,
) -> JoinSet<()> {
    let mut asking = JoinSet::new();
    for client in clients {
        let reply = client.request("approval.request", request);
        asking.spawn(hear(desk.clone(), request.clone(), client, reply));
    }
    asking
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
