//! The connection: made, and made again when it ends, to whatever daemon serves by then.

use std::time::Duration;

use brattice_client::{Client, ClientError, Notice, Notifications};
use brattice_protocol::SessionId;
use brattice_protocol::events::WatchParams;
use tokio::sync::{Notify, mpsc, watch};

use super::{Heard, survey, tell, words};
use crate::attach::state::{Asked, Told};
use crate::cli::{Context, Failure};

/// The first pause between two attempts to connect, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];

/// Events after which sessions or tasks are not what they were.
const EVENTS: [&str; 9] = [
    "session_opened",
    "session_resumed",
    "session_updated",
    "session_closed",
    "session_lost",
    "session_restored",
    "task_started",
    "task_finished",
    "kill",
];

/// Connects, and stays connected, for as long as it is polled.
pub(super) async fn run(
    context: Context,
    first: Option<Client>,
    session: watch::Receiver<Option<SessionId>>,
    teller: mpsc::Sender<Heard>,
) {
    let mut first = first;
    loop {
        let client = match first.take() {
            Some(client) => client,
            None => connect(&context, &teller).await,
        };
        let ended = stay(client, session.clone(), &teller).await;
        tell(&teller, Told::Gone(ended)).await;
    }
}

async fn connect(context: &Context, teller: &mpsc::Sender<Heard>) -> Client {
    let [mut pause, longest] = PAUSES;
    loop {
        let why = match context.attending().await {
            Ok(Some(client)) => return client,
            Ok(None) => "none answers".to_owned(),
            Err(Failure::Client(error)) => words(&error),
            Err(failure) => failure.to_string(),
        };
        tell(teller, Told::Gone(why)).await;
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(longest);
    }
}

/// Hears what one daemon has to tell, until it ends; gives why.
async fn stay(
    client: Client,
    session: watch::Receiver<Option<SessionId>>,
    teller: &mpsc::Sender<Heard>,
) -> String {
    let notices = client.notifications();
    drop(teller.send(Heard::Up(client.clone())).await);
    let nudge = Notify::new();
    let ended = tokio::select! {
        ended = listen(&client, notices, &nudge, teller) => ended,
        ended = survey::survey(&client, session, &nudge, teller) => ended,
    };
    match ended {
        Ok(()) => "it went away".to_owned(),
        Err(error) if error.is_lost() => "it went away".to_owned(),
        Err(error) => words(&error),
    }
}

/// Tells what the daemon tells. Whatever happens is a reason to look at sessions and tasks again.
async fn listen(
    client: &Client,
    mut notices: Notifications,
    nudge: &Notify,
    teller: &mpsc::Sender<Heard>,
) -> Result<(), ClientError> {
    let events = Some(EVENTS.map(str::to_owned).to_vec());
    client.events_watch(&WatchParams { events, ..WatchParams::default() }).await?;
    // What is asked while the list is on its way is in both.
    list(client, teller).await?;
    while let Some(notice) = notices.next().await {
        match notice {
            Notice::ApprovalPending(request) => ask(teller, Asked::Approval(request)).await,
            Notice::QuestionPending(request) => ask(teller, Asked::Questions(*request)).await,
            Notice::PlanPending(request) => ask(teller, Asked::Plan(*request)).await,
            Notice::ApprovalSettled(settled) => tell(teller, Told::Settled(settled)).await,
            Notice::QuestionSettled(settled) => {
                tell(teller, Told::QuestionSettled(settled)).await;
            }
            Notice::Event(_) => nudge.notify_one(),
            Notice::Skipped(_) => {
                nudge.notify_one();
                list(client, teller).await?;
            }
            Notice::CallStarted(_)
            | Notice::CallOutput(_)
            | Notice::CallFinished(_)
            | Notice::TaskStarted(_)
            | Notice::TaskFinished(_)
            | Notice::ToolsChanged(_)
            | Notice::SessionChanged(_)
            | Notice::TodoChanged(_)
            | Notice::Other(_) => {}
        }
    }
    Ok(())
}

/// Tells all that is open.
async fn list(client: &Client, teller: &mpsc::Sender<Heard>) -> Result<(), ClientError> {
    tell(teller, Told::Approvals(client.approval_list().await?)).await;
    tell(teller, Told::Questions(client.question_list().await?)).await;
    Ok(())
}

async fn ask(teller: &mpsc::Sender<Heard>, asked: Asked) {
    tell(teller, Told::Pending(asked)).await;
}
