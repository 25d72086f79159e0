//! Making a session again of what an earlier daemon left in its folder.
//!
//! ```text
//! lock held ──► the supervisor lives: taken over, with all that runs           Live
//! lock free, `retired` ──► it ended in order: another can follow               Dormant
//!                     └ expired: nobody came in time                           removed
//! lock free, no word ──► it was killed: what has no end on record is `lost`    Lost
//!                   └ nothing is on record                                     removed
//! `closed` ──► its closing was begun: gone on with                              removed
//! neither that nor `session.json` ──► its opening was not finished             removed
//! ```
//!
//! Nothing is concluded from a number of a process: a held lock is a supervisor that lives, and a free one is none.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use brattice_policy::{Root, RootKind};
use brattice_protocol::SessionId;
use brattice_protocol::audit::{Actor, Event};
use brattice_protocol::session::OpenParams;
use tokio::sync::OwnedSemaphorePermit;

use crate::exec::record::{self, Ended, Record};
use crate::exec::retired::Retired;
use crate::exec::spec::TaskFacts;
use crate::exec::{Handover, ResumedHandle, Supervisor, machine};
use crate::fault::chain;
use crate::toolset::{SessionFacts, Toolset};
use crate::workers::{Interrupted, Lane};

use super::background::task_finished;
use super::ceiling::{Bounds, Ceiling};
use super::denials::denial_events;
use super::folder::{FolderError, Liveness, SessionFolder};
use super::grounds::Grounds;
use super::open;
use super::owner::Owner;
use super::planning::Planning;
use super::reads::Reads;
use super::recovery::is_unfinished;
use super::registry::Shared;
use super::saved::{Saved, SavedSession};
use super::session::{Memory, Parts, Session, Setup};
use super::settings;
use super::standing::Standing;
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
    /// Its session was closed, and changes of files are not put in order.
    #[error("{} holds changes of files that were interrupted in a session that is closed: look at its journals, and remove it", folder.display())]
    Unfinished { folder: std::path::PathBuf },
    /// What is written in it cannot be read.
    #[error("cannot read what is written in {}", folder.display())]
    Read { folder: std::path::PathBuf, source: io::Error },
    /// It cannot be removed.
    #[error(transparent)]
    Remove(#[from] FolderError),
    /// A thread of the daemon's ended early.
    #[error("looking at a session's folder was interrupted")]
    Interrupted(#[from] Interrupted),
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
    let path = folder.path().to_owned();
    let saved =
        shared.workers.run(Lane::State, move || Saved::read(&path)).await?.map_err(fault)?;
    let found = find(&shared, &folder).await?;
    let at = folder.clone();
    let unfinished = shared.workers.run(Lane::State, move || is_unfinished(&at)).await?;
    let saved = match saved {
        Saved::Open(saved) => saved,
        Saved::Closed(_) if unfinished => {
            end_supervisor(&grounds, &shared, found).await;
            return Err(RestoreError::Unfinished { folder: folder.path().to_owned() });
        }
        Saved::Closed(saved) => {
            return go_on_closing(&grounds, &shared, saved, folder, found).await;
        }
        Saved::Nothing => return remove(&shared, folder).await,
    };
    let records = records(&shared, &folder).await?;
    let (link, handover) = match found {
        Found::Live(supervisor, handover) => {
            shared.know(&supervisor);
            (Link::Live(supervisor), handover)
        }
        // Where there is something to put in order it is a session once more, until nobody resumes it.
        Found::Retired(Retired { is_expired: true, .. }) if !unfinished => {
            let told = (saved.session, "nobody has taken it over in time");
            return end(&shared, folder, records, told).await;
        }
        Found::Retired(Retired { highest, .. }) => {
            (Link::Dormant, Handover { highest, ..Handover::default() })
        }
        Found::Killed if records.is_empty() && !unfinished => {
            return end(&shared, folder, records, (saved.session, "its supervisor was killed"))
                .await;
        }
        Found::Killed => (Link::Lost, Handover::default()),
    };
    let (own, at) = (shared.clone(), folder.clone());
    let look = move || {
        let earlier = earlier(&own, &at, handover, records);
        (earlier, Memory::of(&at, own.results))
    };
    let ((earlier, news), memory) = shared.workers.run(Lane::State, look).await?;
    let unfit = unfit(&grounds, &shared, &saved).await?;
    let tasks = Tasks::restored(grounds.limits.max_tasks, shared.space.clone(), earlier);
    let (approval, planning) = (saved.approval, Planning::of(saved.plan));
    let setup = setup(&grounds, saved, folder, place);
    let mode = setup.profile.mode;
    let profile = setup.profile.with_mode(planning.narrow(mode));
    let layers = Arc::new(machine().report_for(&profile, &[]));
    let standing = Standing { mode, planning, layers, approval };
    let session = Session::new(Parts {
        setup,
        grounds,
        shared,
        standing,
        supervision: Supervision::new(link),
        tasks,
        memory,
        owner: Owner::Detached(Instant::now()),
        unfit,
    });
    Ok(Restored::Session { session: Box::new(session), news })
}

/// Why nothing may start in the session any more: its roots were fit for the daemon that opened it, and this one may live
/// elsewhere.
async fn unfit(
    grounds: &Arc<Grounds>,
    shared: &Shared,
    saved: &SavedSession,
) -> Result<Option<WorkspaceError>, Interrupted> {
    let is_extra = |root: &&Root| match root.kind {
        RootKind::Writable | RootKind::Configured | RootKind::Operator | RootKind::Preset(_) => {
            true
        }
        RootKind::Workspace | RootKind::GitDir | RootKind::GitCommonDir => false,
    };
    let extra = saved.profile.roots.iter().filter(is_extra);
    let params = OpenParams {
        workspace: saved.profile.workspace().display().to_string(),
        writable: extra.map(|root| root.path.display().to_string()).collect(),
        ..OpenParams::default()
    };
    let grounds = grounds.clone();
    let resolve = move || match workspace::resolve(&params, &[], &grounds.own) {
        Err(fault @ WorkspaceError::HoldsOwn { .. }) => Some(fault),
        // What else may be wrong with a folder is told by the command that starts in it.
        Ok(_) | Err(_) => None,
    };
    shared.workers.run(Lane::Elsewhere, resolve).await
}

/// Gives the owner back what a command may have taken away: the mode of a folder can be changed from within a sandbox.
fn open_again(folder: &Path) -> io::Result<()> {
    std::fs::set_permissions(folder.join(record::TASKS), Permissions::from_mode(0o700))
}

/// Waits until it is clear what there is of the folder's supervisor.
async fn find(shared: &Shared, folder: &SessionFolder) -> Result<Found, RestoreError> {
    let fault = |source| RestoreError::Read { folder: folder.path().to_owned(), source };
    let mut pause = FIRST_PAUSE;
    loop {
        let own = folder.clone();
        let look = move || match own.liveness()? {
            Liveness::Gone => Ok((Liveness::Gone, Retired::read(own.path())?)),
            Liveness::Alive => Ok((Liveness::Alive, None)),
        };
        match shared.workers.run(Lane::State, look).await?.map_err(fault)? {
            (Liveness::Gone, retired) => return Ok(retired.map_or(Found::Killed, Found::Retired)),
            (Liveness::Alive, _) => {
                match Supervisor::adopt(folder.path(), shared.workers.clone()).await {
                    Ok((supervisor, handover)) => return Ok(Found::Live(supervisor, handover)),
                    // It is about to end, or to listen; or it hangs, and is asked again for as long as it lives.
                    Err(error) => {
                        if pause == LONGEST_PAUSE {
                            tracing::warn!(folder = %folder.path().display(), error = %chain(&error), "a supervisor does not answer");
                        }
                        tokio::time::sleep(pause).await;
                        pause = (pause * 2).min(LONGEST_PAUSE);
                    }
                }
            }
        }
    }
}

async fn remove(shared: &Shared, folder: SessionFolder) -> Result<Restored, RestoreError> {
    shared.workers.run(Lane::Trees, move || folder.remove()).await??;
    Ok(Restored::Nothing)
}

/// The records of its background tasks.
async fn records(shared: &Shared, folder: &SessionFolder) -> Result<Vec<Record>, RestoreError> {
    let path = folder.path().to_owned();
    let read = {
        let path = path.clone();
        move || open_again(&path).and_then(|()| record::read_all(&path))
    };
    let records = shared.workers.run(Lane::State, read).await?;
    records.map_err(|source| RestoreError::Read { folder: path, source })
}

/// Ends a session whose closing an earlier daemon began.
async fn go_on_closing(
    grounds: &Grounds,
    shared: &Shared,
    saved: SavedSession,
    folder: SessionFolder,
    found: Found,
) -> Result<Restored, RestoreError> {
    end_supervisor(grounds, shared, found).await;
    let records = records(shared, &folder).await?;
    end(shared, folder, records, (saved.session, "it was being closed when the daemon ended")).await
}

/// Ends what a session that was closed has left running.
async fn end_supervisor(grounds: &Grounds, shared: &Shared, found: Found) {
    if let Found::Live(supervisor, _) = found {
        shared.know(&supervisor);
        supervisor.close(grounds.limits.kill_grace).await;
    }
}

/// Ends a session that nothing can be made of, for this reason.
async fn end(
    shared: &Shared,
    folder: SessionFolder,
    records: Vec<Record>,
    (session, reason): (SessionId, &'static str),
) -> Result<Restored, RestoreError> {
    let (own, at) = (shared.clone(), folder.clone());
    let tell = move || tell_end(&own, &session, &at, records, reason);
    shared.workers.run(Lane::State, tell).await?;
    remove(shared, folder).await
}

/// Writes down how a session ended that nothing can be made of, and its tasks, as far as that was not written down before.
/// Blocks.
fn tell_end(
    shared: &Shared,
    session: &SessionId,
    folder: &SessionFolder,
    records: Vec<Record>,
    reason: &str,
) {
    let reads = Reads::of(folder.path());
    for Record { facts, end } in records {
        let cursor = facts.task.number().map(|number| reads.get(number)).unwrap_or_default();
        if !cursor.recorded {
            let end = end.unwrap_or_else(|| lost(folder, &facts)).end;
            if let Some(denials) = &end.denials {
                let events = denial_events(session, &facts.task, denials, cursor.noted);
                events.for_each(|event| shared.audit.record(&event));
            }
            shared.audit.record(&task_finished(session, &facts.task, &end));
        }
    }
    let (session, reason) = (session.clone(), Some(reason.to_owned()));
    shared.audit.record(&Event::SessionClosed { session, by: Actor::Daemon, reason });
}

/// The tasks that run and those that have ended; the latter once more, in the order of their ends. Blocks.
fn earlier(
    Shared { space, workers, .. }: &Shared,
    folder: &SessionFolder,
    handover: Handover,
    records: Vec<Record>,
) -> (Earlier<Task>, Vec<Task>) {
    let mut highest = handover.highest;
    let mut running = Vec::new();
    // A worker on files is the last daemon's, and ends with it.
    let is_listed = |resumed: &ResumedHandle| resumed.handle.id().number().is_some();
    for resumed in handover.tasks.into_iter().filter(is_listed) {
        let part = space.part(folder.path(), resumed.handle.id());
        let workers = workers.clone();
        let task = Task::live(resumed.handle, resumed.placement, folder.path(), part, workers);
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
        let ended = end.unwrap_or_else(|| lost(folder, &facts));
        let at = ended.at;
        finished.push((number, at, Task::kept(facts, folder.path(), ended, workers.clone())));
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
    let SavedSession {
        session: id,
        label,
        mut profile,
        cwd,
        toolset,
        mut options,
        opened,
        more,
        approval,
        plan: _,
        ceiling,
    } = saved;
    let ceiling =
        ceiling.map_or(grounds.ceiling.clone(), |saved| Bounds::from(saved).and(&grounds.ceiling));
    open::disable(&mut options, &grounds.disable);
    let toolset = Toolset::of(toolset);
    profile.mode = profile.mode.min(ceiling.mode);
    profile.temp = folder.temp();
    let settings = settings::of_saved(&grounds.settings, &profile, approval, toolset.name);
    let facts = SessionFacts { session: &id, options: &options, home: &grounds.home };
    let variables = toolset.environment(facts);
    Setup {
        id,
        label,
        profile,
        cwd,
        toolset,
        options,
        variables,
        folder,
        ceiling: Ceiling::new(ceiling),
        escalation: grounds.defaults.escalation,
        settings,
        opened,
        more,
        place,
    }
}
