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

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use brattice_policy::RootKind;
use brattice_protocol::SessionId;
use brattice_protocol::audit::{Actor, Event};
use brattice_protocol::session::OpenParams;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::{JoinError, spawn_blocking};

use crate::exec::record::{self, Ended, Record};
use crate::exec::retired::Retired;
use crate::exec::spec::TaskFacts;
use crate::exec::{Handover, Supervisor, machine};
use crate::fault::chain;
use crate::toolset::{SessionFacts, Toolset};

use super::background::task_finished;
use super::folder::{FolderError, Liveness, SessionFolder};
use super::open::Grounds;
use super::owner::Owner;
use super::reads::Reads;
use super::registry::Shared;
use super::saved::SavedSession;
use super::session::{Parts, Session, Setup, Standing};
use super::space::Space;
use super::supervision::{Link, Supervision};
use super::task::Task;
use super::tasks::{Earlier, Tasks};
use super::workspace::{self, WorkspaceError};

/// Between two looks at a supervisor that is neither gone nor to be taken over: short at first, for it may be on its way out.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

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
        spawn_blocking(move || {
            open_again(&path)?;
            record::read_all(&path)
        })
        .await?
        .map_err(fault)?
    };
    let (link, handover) = match found {
        Found::Live(supervisor, handover) => {
            shared.know(&supervisor);
            (Link::Live(supervisor), handover)
        }
        Found::Retired(Retired { is_expired: true, .. }) => {
            tell_end(&shared, &saved.session, &folder, records, "nobody has taken it over in time");
            return remove(folder).await;
        }
        Found::Retired(Retired { highest, .. }) => {
            (Link::Dormant, Handover { highest, ..Handover::default() })
        }
        Found::Killed if records.is_empty() => {
            tell_end(&shared, &saved.session, &folder, records, "its supervisor was killed");
            return remove(folder).await;
        }
        Found::Killed => (Link::Lost, Handover::default()),
    };
    let (earlier, news) = earlier(&folder, &shared.space, handover, records);
    let unfit = unfit(&grounds, &saved).await?;
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
        unfit,
    });
    Ok(Restored::Session { session: Box::new(session), news })
}

/// Why nothing may start in the session any more: its roots were fit for the daemon that opened it, and this one may live
/// elsewhere.
async fn unfit(
    grounds: &Arc<Grounds>,
    saved: &SavedSession,
) -> Result<Option<WorkspaceError>, JoinError> {
    let paths = |kind: RootKind| {
        let roots = saved.profile.roots.iter().filter(move |root| root.kind == kind);
        roots.map(|root| root.path.display().to_string())
    };
    let params = OpenParams {
        workspace: saved.profile.workspace().display().to_string(),
        writable: paths(RootKind::Writable).collect(),
        ..OpenParams::default()
    };
    let grounds = grounds.clone();
    spawn_blocking(move || match workspace::resolve(&params, &grounds.own) {
        Err(fault @ WorkspaceError::HoldsOwn { .. }) => Some(fault),
        // What else may be wrong with a folder is told by the command that starts in it.
        Ok(_) | Err(_) => None,
    })
    .await
}

/// Gives the owner back what a command may have taken away: the mode of a folder can be changed from within a sandbox.
fn open_again(folder: &Path) -> io::Result<()> {
    std::fs::set_permissions(folder.join(record::TASKS), Permissions::from_mode(0o700))
}

/// Waits until it is clear what there is of the folder's supervisor.
async fn find(folder: &SessionFolder) -> Result<Found, RestoreError> {
    let fault = |source| RestoreError::Read { folder: folder.path().to_owned(), source };
    let mut pause = FIRST_PAUSE;
    loop {
        match folder.liveness().map_err(fault)? {
            Liveness::Gone => {
                let retired = Retired::read(folder.path()).map_err(fault)?;
                return Ok(retired.map_or(Found::Killed, Found::Retired));
            }
            Liveness::Alive => match Supervisor::adopt(folder.path()).await {
                Ok((supervisor, handover)) => return Ok(Found::Live(supervisor, handover)),
                // It is about to end, or to listen; or it hangs, and is asked again for as long as it lives.
                Err(error) => {
                    if pause == LONGEST_PAUSE {
                        tracing::warn!(folder = %folder.path().display(), error = %chain(&error), "a supervisor does not answer");
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            },
        }
    }
}

async fn remove(folder: SessionFolder) -> Result<Restored, RestoreError> {
    spawn_blocking(move || folder.remove()).await??;
    Ok(Restored::Nothing)
}

/// Writes down how a session ended that nothing can be made of, and its tasks, as far as that was not written down before.
fn tell_end(
    shared: &Shared,
    session: &SessionId,
    folder: &SessionFolder,
    records: Vec<Record>,
    reason: &str,
) {
    let reads = Reads::of(folder.path());
    for Record { facts, end } in records {
        let is_recorded = facts.task.number().is_some_and(|number| reads.get(number).recorded);
        if !is_recorded {
            let end = end.unwrap_or_else(|| lost(folder, &facts)).end;
            shared.audit.record(&task_finished(session, &facts.task, &end));
        }
    }
    let (session, reason) = (session.clone(), Some(reason.to_owned()));
    shared.audit.record(&Event::SessionClosed { session, by: Actor::Daemon, reason });
}

/// The tasks that run and those that have ended; the latter once more, in the order of their ends.
fn earlier(
    folder: &SessionFolder,
    space: &Arc<Space>,
    handover: Handover,
    records: Vec<Record>,
) -> (Earlier<Task>, Vec<Task>) {
    let mut highest = handover.highest;
    let mut running = Vec::new();
    for resumed in handover.tasks {
        let part = space.part(folder.path(), resumed.handle.id());
        let task = Task::live(resumed.handle, resumed.placement, folder.path(), part);
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

/// The end of a task whose supervisor died before it, which is put on record, once.
fn lost(folder: &SessionFolder, facts: &TaskFacts) -> Ended {
    let ended = record::lost(folder.path(), facts);
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
