//! Making a session again of what an earlier daemon left in its folder.
//!
//! ```text
//! lock held ──► the supervisor lives: taken over, with all that runs           Live
//! lock free, `retired` ──► it ended in order: another can follow               Dormant
//!                     └ expired: nobody came in time                           removed
//! lock free, no word ──► it was killed: what has no end on record is `lost`    Lost
//!                   └ nothing is on record                                     removed
//! no `session.json` ──► its opening was not finished                           removed
//! ```
//!
//! Nothing is concluded from a number of a process: a held lock is a supervisor that lives, and a free one is none.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use brattice_protocol::outcome::Cause;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::{JoinError, spawn_blocking};

use crate::exec::record::{self, Ended, Record};
use crate::exec::retired::Retired;
use crate::exec::spec::{StreamEnd, Streams, TaskEnd, TaskFacts, Timestamp};
use crate::exec::{AdoptError, Handover, Supervisor, machine};
use crate::toolset::{SessionFacts, Toolset};

use super::folder::{FolderError, Liveness, SessionFolder};
use super::open::Grounds;
use super::owner::Owner;
use super::registry::Shared;
use super::saved::SavedSession;
use super::session::{Parts, Session, Setup, Standing};
use super::supervision::{Link, Supervision};
use super::task::Task;
use super::tasks::{Earlier, Tasks};

/// How long a supervisor may be neither gone nor to be taken over: it may be on its way out.
const PATIENCE: Duration = Duration::from_secs(15);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// What became of a folder.
pub(super) enum Restored {
    /// A session that nobody holds, and its background tasks that have ended, in the order of their ends.
    Session { session: Box<Session>, news: Vec<Task> },
    /// There was nothing to go on with, and it is removed.
    Nothing,
}

/// Why nothing could be made of a folder, which is left as it is.
#[derive(Debug, thiserror::Error)]
pub(super) enum RestoreError {
    /// What is written in it cannot be read.
    #[error("cannot read what is written in {}", folder.display())]
    Read { folder: std::path::PathBuf, source: io::Error },
    /// It has a supervisor that cannot be taken over.
    #[error("cannot take over the supervisor in {}", folder.display())]
    Adopt { folder: std::path::PathBuf, source: AdoptError },
    /// It cannot be removed.
    #[error(transparent)]
    Remove(#[from] FolderError),
    /// A thread of the daemon's ended early.
    #[error("looking at a session's folder was interrupted")]
    Interrupted(#[from] JoinError),
}

/// What there is of a supervisor.
enum Found {
    Live(Supervisor, Handover),
    Retired(Retired),
    Killed,
}

/// Makes a session of a folder again.
pub(super) async fn restore(
    grounds: Arc<Grounds>,
    shared: Shared,
    folder: SessionFolder,
    place: Option<OwnedSemaphorePermit>,
) -> Result<Restored, RestoreError> {
    let fault = |source| RestoreError::Read { folder: folder.path().to_owned(), source };
    let saved = SavedSession::read(folder.path()).map_err(fault)?;
    let found = find(&folder).await?;
    let Some(saved) = saved else { return remove(folder).await };
    let records = {
        let path = folder.path().to_owned();
        spawn_blocking(move || record::read_all(&path)).await?.map_err(fault)?
    };
    let (link, handover) = match found {
        Found::Live(supervisor, handover) => {
            shared.know(&supervisor);
            (Link::Live(supervisor), handover)
        }
        Found::Retired(Retired { is_expired: true, .. }) => return remove(folder).await,
        Found::Retired(Retired { highest, .. }) => {
            (Link::Dormant, Handover { highest, ..Handover::default() })
        }
        Found::Killed if records.is_empty() => return remove(folder).await,
        Found::Killed => (Link::Lost, Handover::default()),
    };
    let (earlier, news) = earlier(&folder, handover, records);
    let tasks = Tasks::restored(grounds.limits.max_tasks, shared.space.clone(), earlier);
    let setup = setup(&grounds, saved, folder, place);
    let mode = setup.profile.mode;
    let standing = Standing { mode, layers: machine().report(mode) };
    let session = Session::new(Parts {
        setup,
        grounds,
        shared,
        standing,
        supervision: Supervision::new(link),
        tasks,
        owner: Owner::Detached(Instant::now()),
    });
    Ok(Restored::Session { session: Box::new(session), news })
}

/// Waits until it is clear what there is of the folder's supervisor.
async fn find(folder: &SessionFolder) -> Result<Found, RestoreError> {
    let fault = |source| RestoreError::Read { folder: folder.path().to_owned(), source };
    let until = Instant::now() + PATIENCE;
    loop {
        match folder.liveness().map_err(fault)? {
            Liveness::Gone(_held) => {
                let retired = Retired::read(folder.path()).map_err(fault)?;
                return Ok(retired.map_or(Found::Killed, Found::Retired));
            }
            Liveness::Alive => match Supervisor::adopt(folder.path()).await {
                Ok((supervisor, handover)) => return Ok(Found::Live(supervisor, handover)),
                // It is about to end, or to listen.
                Err(_) if Instant::now() < until => tokio::time::sleep(PAUSE).await,
                Err(source) => {
                    return Err(RestoreError::Adopt { folder: folder.path().to_owned(), source });
                }
            },
        }
    }
}

async fn remove(folder: SessionFolder) -> Result<Restored, RestoreError> {
    spawn_blocking(move || folder.remove()).await??;
    Ok(Restored::Nothing)
}

/// The tasks that run and those that have ended; the latter once more, in the order of their ends.
fn earlier(
    folder: &SessionFolder,
    handover: Handover,
    records: Vec<Record>,
) -> (Earlier<Task>, Vec<Task>) {
    let mut highest = handover.highest;
    let mut running = Vec::new();
    for resumed in handover.tasks {
        let task = Task::live(resumed.handle, resumed.placement, folder.path(), None);
        if resumed.is_stopping {
            task.set_stopping();
        }
        running.push((task.number(), task));
    }
    let mut finished = Vec::new();
    for Record { facts, end } in records {
        let Some(number) = facts.task.number() else { continue };
        highest = highest.max(number);
        if running.iter().any(|(known, _)| *known == number) {
            continue;
        }
        let Ended { at, end } = end.unwrap_or_else(|| lost(folder, &facts));
        finished.push((number, at, Task::kept(facts, folder.path(), at, end)));
    }
    finished.sort_by_key(|(number, at, _)| (*at, *number));
    let news = finished.iter().map(|(_, _, task)| task.clone()).collect();
    let finished = finished.into_iter().map(|(number, _, task)| (number, task)).collect();
    (Earlier { highest, running, finished }, news)
}

/// The end of a task whose supervisor died before it: nobody knows it. That is put on record, once.
fn lost(folder: &SessionFolder, facts: &TaskFacts) -> Ended {
    let stream = |name: &str| {
        let path = record::path(folder.path(), &facts.task, name);
        match path.metadata() {
            Ok(file) => StreamEnd { bytes: file.len(), file: Some(path), ..StreamEnd::default() },
            // It never outgrew the memory of the process that died.
            Err(_) => StreamEnd::default(),
        }
    };
    let end = TaskEnd {
        cause: Cause::Lost,
        exit_code: None,
        signal: None,
        reason: Some("the session's supervisor died".to_owned()),
        duration: facts.started.elapsed(),
        user: Duration::ZERO,
        sys: Duration::ZERO,
        max_rss: 0,
        stdout: stream("stdout"),
        stderr: (facts.streams == Streams::Separate).then(|| stream("stderr")),
        leftovers: None,
        unkillable: Vec::new(),
        mode: facts.mode,
        layers: facts.layers.clone(),
    };
    let ended = Ended { at: Timestamp::now(), end };
    if let Err(error) = record::end_of_lost(folder.path(), &facts.task, &ended) {
        tracing::warn!(task = %facts.task, %error, "that a task is lost is not on record");
    }
    ended
}

fn setup(
    grounds: &Grounds,
    saved: SavedSession,
    folder: SessionFolder,
    place: Option<OwnedSemaphorePermit>,
) -> Setup {
    let SavedSession { session: id, label, mut profile, cwd, toolset, options, opened, more } =
        saved;
    let toolset = Toolset::of(toolset);
    profile.mode = profile.mode.min(grounds.ceiling);
    profile.temp = folder.temp();
    let facts = SessionFacts { session: &id, options: &options, home: &grounds.home };
    let variables = toolset.environment(facts);
    let ceiling = grounds.ceiling;
    Setup {
        id,
        label,
        profile,
        cwd,
        toolset,
        options,
        variables,
        folder,
        ceiling,
        opened,
        more,
        place,
    }
}
