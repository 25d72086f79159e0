//! Sessions and tasks, looked up when something happens, and now and then for what changes by itself: bytes, time, processes.

use std::time::Duration;

use brattice_client::{Client, ClientError};
use brattice_protocol::task::TaskListParams;
use brattice_protocol::{ErrorCode, SessionId};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::Instant;

use super::{Heard, tell};
use crate::attach::state::Told;

/// The pause where something runs, and where nothing does.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];

/// The shortest time between two looks, however much happens.
const LEAST: Duration = Duration::from_millis(200);

/// Looking takes at most this part of the time: long lists are looked up less often.
const SHARE: u32 = 10;

/// Looks for as long as it is polled, or until the connection fails.
pub(super) async fn survey(
    client: &Client,
    mut session: watch::Receiver<Option<SessionId>>,
    nudge: &Notify,
    teller: &mpsc::Sender<Heard>,
) -> Result<(), ClientError> {
    loop {
        let begun = Instant::now();
        let wanted = session.borrow_and_update().clone();
        let sessions = client.session_list().await?;
        let runs = sessions.iter().any(|summary| summary.running > 0);
        tell(teller, Told::Sessions(sessions)).await;
        if let Some(session) = wanted {
            look(client, session, teller).await?;
        }
        let least = LEAST.max(begun.elapsed() * SHARE);
        let pause = least.max(if runs { PAUSES[0] } else { PAUSES[1] });
        tokio::select! {
            () = tokio::time::sleep_until(begun + pause) => {}
            Ok(()) = session.changed() => {}
            () = async {
                nudge.notified().await;
                tokio::time::sleep_until(begun + least).await;
            } => {}
        }
    }
}

async fn look(
    client: &Client,
    session: SessionId,
    teller: &mpsc::Sender<Heard>,
) -> Result<(), ClientError> {
    match client.task_list(&TaskListParams { session: session.clone() }).await {
        Ok(tasks) => tell(teller, Told::Tasks(session, tasks.into())).await,
        // It was closed meanwhile, which the next list of sessions tells.
        Err(ClientError::Rpc(error)) if error.is(ErrorCode::UnknownSession) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}
