//! Sessions that end with the command that opened them.

use brattice_client::Client;
use brattice_protocol::session::{OpenParams, Session};

use super::interrupt::Interrupts;
use crate::cli::Failure;

/// Opens a session, does `work` in it and closes it, whatever came of the work. The first failure is the one told.
///
/// From here on a signal does not end this program by itself: the work listens for it, and so does the rest, so that
/// a daemon that hangs can be left.
pub(crate) async fn in_session<T>(
    client: &Client,
    params: &OpenParams,
    work: impl AsyncFnOnce(&Session, &mut Interrupts) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut interrupts = Interrupts::listen()?;
    let session = open(client, params, &mut interrupts).await?;
    let outcome = work(&session, &mut interrupts).await;
    close(client, &session, &mut interrupts, outcome).await
}

/// Closes the session, whatever came of the work in it. The first failure is the one told.
pub(super) async fn close<T>(
    client: &Client,
    session: &Session,
    interrupts: &mut Interrupts,
    outcome: Result<T, Failure>,
) -> Result<T, Failure> {
    let closed = interrupts.guard(client.session_close(&session.session)).await;
    let value = outcome?;
    match closed {
        // A daemon that is ending closes the session itself; what the work brought is not lost for that.
        Err(Failure::Client(error)) if error.is_ending() => Ok(value),
        closed => closed.map(|_| value),
    }
}

/// Opens a session. A signal meanwhile does not leave it behind with nobody to close it: it is closed as soon as it
/// is there. A second signal does not wait for that.
pub(super) async fn open(
    client: &Client,
    params: &OpenParams,
    interrupts: &mut Interrupts,
) -> Result<Session, Failure> {
    let opening = client.session_open(params);
    tokio::pin!(opening);
    let interrupt = tokio::select! {
        opened = &mut opening => return Ok(opened?),
        interrupt = interrupts.next() => interrupt,
    };
    let abandoned = async { client.session_close(&opening.await?.session).await };
    // The signal is what is told, whatever came of this.
    drop(interrupts.guard(abandoned).await);
    Err(Failure::Interrupted(interrupt))
}
