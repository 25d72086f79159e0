//! A connection that outlives its daemon: where one ends, the next is made to whatever daemon serves by then.
//!
//! ```text
//!        lost           made again
//!   Up ───────▶ Down ───────────────▶ Up
//!                 └── in vain ──▶ Over
//! ```
//!
//! Requests wait while it is down. One that was not answered is asked again, unless its asker has to know.

use std::sync::Arc;
use std::time::Duration;

use brattice_client::start::StartError;
use brattice_client::{Client, ClientError};
use brattice_protocol::{DaemonExit, ErrorCode, SessionId};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use crate::cli::{Context, Failure};

/// How long a connection may take to be made again.
const PATIENCE: Duration = Duration::from_secs(30);

/// The first pause between two attempts, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(200)];

/// By which socket the connection is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// The agents'. The session is this program's, and each new connection resumes it.
    Agent(SessionId),
    /// The operators', who may name any session without holding it.
    Operator,
}

/// A connection that is made again when it ends. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Link(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    context: Context,
    door: Door,
    state: watch::Sender<State>,
}

#[derive(Clone, Debug)]
enum State {
    Up(Up),
    Down,
    Over(Arc<Failure>),
}

#[derive(Clone, Debug)]
struct Up {
    client: Client,
    /// Counts the connections from 1.
    number: u64,
}

/// Why a request that is sent once has no answer.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// The daemon refused it because it is ending: nothing was done.
    Turned,
    /// The connection ended before the answer: whether it was done is not known.
    Unanswered,
    /// It failed, or no connection can be had any more.
    Failed(Failure),
}

impl Link {
    /// Over a connection that was made at that door.
    pub(crate) fn new(context: &Context, client: Client, door: Door) -> Self {
        let state = watch::Sender::new(State::Up(Up { client, number: 1 }));
        Link(Arc::new(Shared { context: context.clone(), door, state }))
    }

    /// Asks until there is an answer. For requests that may be done twice.
    pub(crate) async fn request<T>(
        &self,
        ask: impl AsyncFn(&Client) -> Result<T, ClientError>,
    ) -> Result<T, Failure> {
        loop {
            match self.attempt(&ask).await {
                Ok(answer) => return Ok(answer),
                Err(Attempt::Turned | Attempt::Unanswered) => {}
                Err(Attempt::Failed(failure)) => return Err(failure),
            }
        }
    }

    /// Asks once, over the connection of now or the next one.
    pub(crate) async fn attempt<T>(
        &self,
        ask: impl AsyncFn(&Client) -> Result<T, ClientError>,
    ) -> Result<T, Attempt> {
        let up = self.up().await.map_err(Attempt::Failed)?;
        let error = match ask(&up.client).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        if !error.is_lost() {
            return Err(Attempt::Failed(error.into()));
        }
        self.lose(&up);
        Err(if error.is_answer() { Attempt::Turned } else { Attempt::Unanswered })
    }

    async fn up(&self) -> Result<Up, Failure> {
        let mut state = self.0.state.subscribe();
        match state.wait_for(|state| !matches!(state, State::Down)).await.as_deref() {
            Ok(State::Up(up)) => Ok(up.clone()),
            Ok(State::Over(failure)) => Err(Failure::DaemonGone(failure.clone())),
            // The sender is this link's own.
            Ok(State::Down) | Err(_) => Err(ClientError::Closed.into()),
        }
    }

    /// Takes note that a connection is over. Whoever finds out first has the next one made.
    fn lose(&self, lost: &Up) {
        let first = self.0.state.send_if_modified(|state| {
            let is_current = matches!(state, State::Up(up) if up.number == lost.number);
            if is_current {
                *state = State::Down;
            }
            is_current
        });
        if first {
            if lost.number == 1 {
                self.0.context.note("the daemon went away, its tasks go on: connecting again");
            }
            tokio::spawn(self.clone().restore(lost.number + 1));
        }
    }

    async fn restore(self, number: u64) {
        let state = match self.reconnect(Instant::now() + PATIENCE).await {
            Ok(client) => State::Up(Up { client, number }),
            Err(failure) => State::Over(Arc::new(failure)),
        };
        self.0.state.send_replace(state);
    }

    async fn reconnect(&self, deadline: Instant) -> Result<Client, Failure> {
        let [mut pause, longest] = PAUSES;
        loop {
            let failure = match timeout_at(deadline, self.connect()).await {
                Ok(Ok(client)) => return Ok(client),
                Ok(Err(failure)) => failure,
                Err(_) => return Err(Failure::NoDaemon { seconds: PATIENCE.as_secs() }),
            };
            if !may_pass(&failure) || Instant::now() + pause > deadline {
                return Err(failure);
            }
            sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
    }

    async fn connect(&self) -> Result<Client, Failure> {
        let Shared { context, door, .. } = &*self.0;
        match door {
            Door::Operator => context.operator().await,
            Door::Agent(session) => {
                let client = context.agent().await?;
                client.session_resume(session).await?;
                Ok(client)
            }
        }
    }
}

/// Whether another attempt may end better: daemons come and go, and the one before may not be wholly gone.
fn may_pass(failure: &Failure) -> bool {
    match failure {
        Failure::Client(error) | Failure::Start(StartError::Client(error)) => match error {
            ClientError::Connect { .. } | ClientError::Silent { .. } => true,
            // The daemon has not yet noticed that this session's connection ended.
            ClientError::Rpc(refusal) if refusal.is(ErrorCode::Refused) => true,
            error => error.is_lost(),
        },
        Failure::Start(error) => error.exit() == Some(DaemonExit::Taken),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use brattice_protocol::RpcError;

    use super::*;

    #[test]
    fn what_may_pass_is_tried_again_and_what_is_settled_is_not() {
        let rpc = |code| Failure::Client(ClientError::Rpc(RpcError::new(code, "")));
        let absent = std::io::Error::from(std::io::ErrorKind::NotFound);
        let cases = [
            (Failure::Client(ClientError::Closed), true),
            (Failure::Client(ClientError::Connect { path: "/s".into(), source: absent }), true),
            (Failure::Start(StartError::Client(ClientError::Closed)), true),
            (rpc(ErrorCode::ShuttingDown), true),
            (rpc(ErrorCode::Refused), true),
            (rpc(ErrorCode::UnknownSession), false),
            (Failure::Client(ClientError::Protocol { theirs: 2 }), false),
            (Failure::Start(StartError::Silent { seconds: 1 }), false),
            (Failure::Lost, false),
        ];
        for (failure, expected) in cases {
            assert_eq!(may_pass(&failure), expected, "{failure:?}");
        }
    }
}
