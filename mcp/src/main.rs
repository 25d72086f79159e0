//! The `brattice-mcp` command, which `brattice mcp` runs: one session over standard input and output, to the end of the input.
//!
//! Standard output is the protocol's alone; what people should know goes to standard error.

mod arguments;

use std::error::Error as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use brattice_mcp::{Bridge, BridgeError, Ended, Handler, Opened, Place, Transport};
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::signal::unix::{SignalKind, signal};

use crate::arguments::Unresolved;

/// The exit status when the bridge itself failed, as `brattice` has it.
const FAILED: u8 = 125;

/// How long calls go on whose client has closed its end: it may still read their results.
const GRACE: Duration = Duration::from_millis(500);

/// Why the bridge ends with a failure.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Arguments(#[from] Unresolved),
    #[error(transparent)]
    Bridge(#[from] BridgeError),
    #[error("cannot start the runtime")]
    Runtime(#[source] std::io::Error),
    #[error("cannot listen for signals")]
    Signals(#[source] std::io::Error),
    #[error("the client sent what is no message: {0}")]
    Garbled(String),
    #[error("the client did not read for 30 s")]
    Unread,
    #[error("the connection to the client broke: {0}")]
    Broken(String),
    #[error("the client began with something else than a request")]
    NoBeginning(#[source] Box<ServerInitializeError>),
}

fn main() -> ExitCode {
    let place = match arguments::read() {
        Ok(place) => place,
        Err(Ok(told)) => return told,
        Err(Err(unresolved)) => return report(&unresolved.into()),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(source) => return report(&Failure::Runtime(source)),
    };
    let served = runtime.block_on(serve(place));
    // A read of standard input, or a write that nobody takes, must not keep the process.
    runtime.shutdown_background();
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => report(&failure),
    }
}

/// Serves one client.
async fn serve(place: Place) -> Result<(), Failure> {
    let mut signals = Vec::new();
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        signals.push(signal(kind).map_err(Failure::Signals)?);
    }
    let [terminate, interrupt, hangup] = signals.as_mut_slice() else { return Ok(()) };
    let bridge = Arc::new(Bridge::open(place).await?);
    let transport = Transport::over(tokio::io::stdin(), tokio::io::stdout());
    let (input_over, end) = (transport.input_over(), transport.end());
    let leaving = async {
        tokio::select! {
            () = input_over.cancelled() => tokio::time::sleep(GRACE).await,
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
        bridge.abandon();
        // Results that are there by now are still written.
        tokio::time::sleep(GRACE).await;
    };
    let serving = async {
        match Handler(bridge.clone()).serve(transport).await {
            Ok(service) => {
                // It ends with its transport, and does not panic.
                drop(service.waiting().await);
                Ok(())
            }
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(Failure::NoBeginning(Box::new(error))),
        }
    };
    let served = tokio::select! {
        served = serving => served,
        () = leaving => Ok(()),
    };
    match bridge.close().await {
        Ok(Opened::Left(count)) if count > 0 => {
            let session = &bridge.session().session;
            note(&format!(
                "session {session} goes on without its client: {count} background tasks run in it"
            ));
        }
        Ok(_) => {}
        Err(error) => note(&format!("the session was not closed: {error}")),
    }
    served?;
    match tokio::time::timeout(Duration::ZERO, end).await {
        Ok(Ended::Garbled(why)) => Err(Failure::Garbled(why)),
        Ok(Ended::Unread) => Err(Failure::Unread),
        Ok(Ended::Broken(why)) => Err(Failure::Broken(why)),
        Ok(Ended::Closed) | Err(_) => Ok(()),
    }
}

fn report(failure: &Failure) -> ExitCode {
    let mut text = failure.to_string();
    let mut cause = failure.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    note(&text);
    if let Failure::Bridge(error) = failure
        && let Some(hint) = error.hint()
    {
        note(&format!("hint: {hint}"));
    }
    ExitCode::from(FAILED)
}

fn note(text: &str) {
    use std::io::Write as _;
    // Where standard error cannot be written there is nobody left to tell.
    drop(writeln!(
        std::io::stderr(),
        "brattice mcp: {}",
        text.escape_debug().to_string().replace("\\'", "'").replace("\\\"", "\"")
    ));
}
