//! The daemon, watched: what is told, what is looked up again and again, what of an output is read, and what is asked of it. All
//! of it comes back as [`Told`]; the model says what is wanted ([`Wants`]).
//!
//! ```text
//!  link ──connects, again and again──▶ notices: approvals, and that something happened
//!    └── survey: sessions and tasks ◀── nudged by what happens
//!  read: one part of one output at a time
//! ```
//!
//! A daemon that dies is told as [`Told::Gone`], and looked for until one is there; none is started unasked, for somebody may
//! have stopped it. Dropping the watch ends its connection, and with it this program's being somebody who can be asked.

mod link;
mod reading;
mod survey;

use std::time::Duration;

use brattice_client::{Client, ClientError};
use brattice_protocol::SessionId;
use brattice_protocol::approval::RespondParams;
use brattice_protocol::question::QuestionRespond;
use brattice_protocol::task::KillParams;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::output::Read;
use super::state::{AskedId, Told, Wants};
use crate::cli::Context;

/// What was heard and waits to be taken; whoever has more to tell waits.
const QUEUE: usize = 64;

/// The shortest time between two reads of an output.
const PACE: Duration = Duration::from_millis(30);

/// How long a connection that nobody holds takes to be closed.
const CLOSE: Duration = Duration::from_millis(20);

/// What is heard.
enum Heard {
    /// A connection was made.
    Up(Client),
    /// All else.
    Told(Told),
}

/// A watch on whatever daemon serves.
pub(super) struct Watch {
    context: Context,
    heard: mpsc::Receiver<Heard>,
    teller: mpsc::Sender<Heard>,
    client: Option<Client>,
    session: watch::Sender<Option<SessionId>>,
    reading: Option<(Read, Running)>,
    last_read: Instant,
    link: Option<Running>,
}

/// A task that ends with its owner.
struct Running(JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Watch {
    /// One that has no connection yet.
    pub(super) fn new(context: &Context) -> Watch {
        let (teller, heard) = mpsc::channel(QUEUE);
        Watch {
            context: context.clone(),
            heard,
            teller,
            client: None,
            session: watch::Sender::new(None),
            reading: None,
            last_read: Instant::now(),
            link: None,
        }
    }

    /// Watches by this connection, or by the first that can be made.
    pub(super) fn connect(&mut self, client: Option<Client>) {
        let wanted = self.session.subscribe();
        let link = link::run(self.context.clone(), client, wanted, self.teller.clone());
        self.link = Some(Running(tokio::spawn(link)));
    }

    /// Ends the connection and forgets what was heard by it. Returns once it is closed.
    pub(super) async fn leave(&mut self) {
        let mut left = std::mem::replace(self, Watch::new(&self.context));
        let reading = left.reading.take().map(|(_, running)| running);
        for mut running in [left.link.take(), reading].into_iter().flatten() {
            running.0.abort();
            // That it was aborted is what was to be.
            drop((&mut running.0).await);
        }
        drop(left);
        // What writes to the socket ends by itself, now that nobody is left who would have it write.
        tokio::time::sleep(CLOSE).await;
    }

    /// What is told next.
    pub(super) async fn next(&mut self) -> Told {
        // This watch holds a sender, so that the channel does not end.
        match self.heard.recv().await {
            Some(Heard::Up(client)) => {
                let daemon = client.hello().daemon.clone();
                self.client = Some(client);
                Told::Up(daemon)
            }
            Some(Heard::Told(told)) => {
                match &told {
                    Told::Gone(_) => (self.client, self.reading) = (None, None),
                    Told::Read(..) => self.reading = None,
                    _ => {}
                }
                told
            }
            None => std::future::pending().await,
        }
    }

    /// Sees to it that this will be known.
    pub(super) fn want(&mut self, wants: Wants) {
        self.session.send_if_modified(|session| {
            let is_other = *session != wants.session;
            *session = wants.session;
            is_other
        });
        let is_on_its_way = self.reading.as_ref().map(|(read, _)| read) == wants.read.as_ref();
        if is_on_its_way {
            return;
        }
        self.reading = None;
        if let (Some(read), Some(client)) = (wants.read, &self.client) {
            let (client, teller, wanted) = (client.clone(), self.teller.clone(), read.clone());
            self.last_read = Instant::now().max(self.last_read + PACE);
            let begin = self.last_read;
            let work = async move {
                tokio::time::sleep_until(begin).await;
                let outcome = reading::read(&client, &wanted).await;
                // A connection that ended is told as such, and the read begins anew over the next one.
                if !outcome.as_ref().is_err_and(ClientError::is_lost) {
                    let outcome = outcome.map_err(|error| words(&error));
                    tell(&teller, Told::Read(wanted, outcome)).await;
                }
            };
            self.reading = Some((read, Running(tokio::spawn(work))));
        }
    }

    /// Answers an approval.
    pub(super) fn respond(&self, params: RespondParams) {
        let (client, teller) = (self.client.clone(), self.teller.clone());
        tokio::spawn(async move {
            let answered = match &client {
                Some(client) => {
                    client.approval_respond(&params).await.map_err(|error| words(&error))
                }
                None => Err(NO_DAEMON.to_owned()),
            };
            let told = match answered {
                Ok(settled) => Told::Settled(settled),
                Err(why) => Told::NotSettled(AskedId::Approval(params.id), why),
            };
            tell(&teller, told).await;
        });
    }

    /// Answers questions or a plan.
    pub(super) fn reply(&self, params: QuestionRespond) {
        let (client, teller) = (self.client.clone(), self.teller.clone());
        tokio::spawn(async move {
            let answered = match &client {
                Some(client) => {
                    client.question_respond(&params).await.map_err(|error| words(&error))
                }
                None => Err(NO_DAEMON.to_owned()),
            };
            let told = match answered {
                Ok(settled) => Told::QuestionSettled(settled),
                Err(why) => Told::NotSettled(AskedId::Question(params.id), why),
            };
            tell(&teller, told).await;
        });
    }

    /// Stops a task.
    pub(super) fn kill(&self, params: KillParams) {
        let (client, teller) = (self.client.clone(), self.teller.clone());
        tokio::spawn(async move {
            let killed = match &client {
                Some(client) => client.task_kill(&params).await.map_err(|error| words(&error)),
                None => Err(NO_DAEMON.to_owned()),
            };
            tell(&teller, Told::Killed(params.task, killed.map(|_| ()))).await;
        });
    }

    /// Starts a daemon, which is then found as any other is.
    pub(super) fn start(&self) {
        let (context, teller) = (self.context.clone(), self.teller.clone());
        tokio::spawn(async move {
            if let Err(error) = context.start_unheard().await {
                tell(&teller, Told::NotStarted(error.to_string())).await;
            }
        });
    }
}

/// Said of what needs a daemon.
const NO_DAEMON: &str = "no daemon is there";

async fn tell(teller: &mpsc::Sender<Heard>, told: Told) {
    // Whoever would have heard it is gone.
    drop(teller.send(Heard::Told(told)).await);
}

/// An error on one line.
fn words(error: &ClientError) -> String {
    match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}
