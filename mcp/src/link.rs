//! The connection to the daemon, and the one session: opened once, taken up again by way of the next daemon where one goes.
//!
//! ```text
//!           ┌────────────── the connection is over ───────────────┐
//!  open ─► up ◄── session.resume, or a new one where it is gone ── down
//! ```
//!
//! A task of its own holds it all: it passes on what the daemon tells and asks, and connects again. Calls look at how it stands
//! and never hold it.

use std::sync::Arc;
use std::time::Duration;

use brattice_client::protocol::SessionId;
use brattice_client::protocol::hello::Watch;
use brattice_client::protocol::session::{OpenParams, Session};
use brattice_client::start::{self, RootPolicy, StartError, StartOptions};
use brattice_client::{
    Approvals, Client, ClientError, ConnectOptions, LocationError, Locations, Notice,
    Notifications, Questions,
};
use tokio::sync::watch;

use crate::question::Question;
use crate::routes::Routes;

/// How long a call waits for a daemon that went away.
const PATIENCE: Duration = Duration::from_secs(15);

/// The pauses between attempts to reach a daemon grow to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// What to do where no daemon answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// One is started.
    Start,
    /// The bridge fails.
    Fail,
}

/// Where the session is.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where the daemon is.
    pub locations: Locations,
    /// What to do where it is not.
    pub absent: Absent,
    /// The session to open.
    pub session: OpenParams,
}

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    /// It is not known where the daemon would be.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// No daemon can be reached or started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The daemon refuses.
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl BridgeError {
    /// What can be done about it, where something can.
    pub fn hint(&self) -> Option<&str> {
        match self {
            BridgeError::Location(_) => None,
            BridgeError::Start(error) => error.hint(),
            BridgeError::Client(error) => error.hint(),
        }
    }
}

/// A connection with its session.
#[derive(Clone, Debug)]
pub(crate) struct Attached {
    pub(crate) client: Client,
    pub(crate) session: SessionId,
}

/// How it stands.
#[derive(Clone, Debug)]
enum Standing {
    Up(Attached),
    Down(Arc<str>),
}

/// There is no daemon just now.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the daemon went away, and there is none yet: {0}; nothing ran")]
pub(crate) struct Down(Arc<str>);

/// The way to the session.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    standing: watch::Receiver<Standing>,
}

/// What the daemon tells and asks by one connection.
struct Incoming {
    notifications: Notifications,
    approvals: Option<Approvals>,
    questions: Option<Questions>,
}

impl Link {
    /// Opens the session.
    pub(crate) async fn open(
        place: Place,
        routes: Arc<Routes>,
    ) -> Result<(Link, Session), BridgeError> {
        let (client, incoming) = connect(&place).await?;
        let session = client.session_open(&place.session).await?;
        let attached = Attached { client, session: session.session.clone() };
        let (told, standing) = watch::channel(Standing::Up(attached.clone()));
        tokio::spawn(keep(place, attached.session, incoming, routes, told));
        Ok((Link { standing }, session))
    }

    /// The session, waited for where a daemon just went away.
    pub(crate) async fn attached(&self) -> Result<Attached, Down> {
        let mut standing = self.standing.clone();
        let up = standing.wait_for(|standing| matches!(standing, Standing::Up(_)));
        match tokio::time::timeout(PATIENCE, up).await {
            Ok(Ok(standing)) => match &*standing {
                Standing::Up(attached) => Ok(attached.clone()),
                Standing::Down(why) => Err(Down(why.clone())),
            },
            Ok(Err(_)) | Err(_) => match &*self.standing.borrow() {
                Standing::Up(attached) => Ok(attached.clone()),
                Standing::Down(why) => Err(Down(why.clone())),
            },
        }
    }

    /// The session, where there is a connection now.
    pub(crate) fn now(&self) -> Option<Attached> {
        match &*self.standing.borrow() {
            Standing::Up(attached) => Some(attached.clone()),
            Standing::Down(_) => None,
        }
    }
}

/// Holds the session for as long as anybody looks at it.
async fn keep(
    place: Place,
    mut session: SessionId,
    mut incoming: Incoming,
    routes: Arc<Routes>,
    told: watch::Sender<Standing>,
) {
    let keeping = async {
        loop {
            incoming.pass_on(&routes).await;
            told.send_replace(Standing::Down("its connection ended".into()));
            let mut pause = Duration::from_millis(50);
            let attached = loop {
                match again(&place, &session).await {
                    Ok(found) => break found,
                    Err(error) => {
                        told.send_replace(Standing::Down(error.to_string().into()));
                        tokio::time::sleep(pause).await;
                        pause = (pause * 2).min(LONGEST_PAUSE);
                    }
                }
            };
            let (found, next) = attached;
            session = found.session.clone();
            incoming = next;
            told.send_replace(Standing::Up(found));
        }
    };
    tokio::select! {
        () = keeping => {}
        () = told.closed() => {}
    }
}

/// Connects, and starts a daemon where none answers and one may be started.
async fn connect(place: &Place) -> Result<(Client, Incoming), BridgeError> {
    let who = ConnectOptions::new("brattice-mcp", env!("CARGO_PKG_VERSION"))
        .answering_approvals()
        .answering_questions()
        .by_elicitation()
        .watching([Watch::Output]);
    let client = match place.absent {
        Absent::Fail => Client::connect(&place.locations.socket, who).await?,
        Absent::Start => {
            let options = StartOptions {
                program: start::find_daemon(),
                locations: place.locations.clone(),
                root: RootPolicy::of_this_user(),
            };
            start::connect_or_start(&place.locations.socket, who, &options).await?
        }
    };
    let (approvals, questions) = (client.approvals(), client.questions());
    let incoming = Incoming { notifications: client.notifications(), approvals, questions };
    Ok((client, incoming))
}

/// Takes the session up by way of the next daemon; opens another where that knows it no more.
async fn again(place: &Place, session: &SessionId) -> Result<(Attached, Incoming), BridgeError> {
    use brattice_client::protocol::ErrorCode::UnknownSession;
    let (client, incoming) = connect(place).await?;
    let resumed = match client.session_resume(session).await {
        Err(ClientError::Rpc(error)) if error.is(UnknownSession) => {
            client.session_open(&place.session).await?
        }
        resumed => resumed?,
    };
    Ok((Attached { client, session: resumed.session }, incoming))
}

impl Incoming {
    /// Passes all of it on, until the connection is over.
    async fn pass_on(&mut self, routes: &Routes) {
        loop {
            tokio::select! {
                notice = self.notifications.next() => match notice {
                    Some(Notice::CallOutput(output)) => routes.output(output),
                    Some(_) => {}
                    None => return,
                },
                question = next_approval(&mut self.approvals) => match question {
                    Some(question) => hand(routes, question).await,
                    None => self.approvals = None,
                },
                question = next_question(&mut self.questions) => match question {
                    Some(question) => hand(routes, question).await,
                    None => self.questions = None,
                },
            }
        }
    }
}

/// Hands a question to its call.
async fn hand(routes: &Routes, question: Question) {
    if let Err(question) = routes.question(question) {
        question.decline("its call is not made by this client").await;
    }
}

/// The next approval that is asked for; never where there are none.
async fn next_approval(approvals: &mut Option<Approvals>) -> Option<Question> {
    match approvals {
        Some(approvals) => approvals.next().await.map(Question::from),
        None => std::future::pending().await,
    }
}

/// The next questions or plan; never where there are none.
async fn next_question(questions: &mut Option<Questions>) -> Option<Question> {
    match questions {
        Some(questions) => questions.next().await.map(Question::from),
        None => std::future::pending().await,
    }
}
