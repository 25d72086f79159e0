//! Sessions: what each may do, what it runs, whose it is, and what becomes of it when somebody dies.
//!
//! ```text
//!  methods, tools
//!      │ find, open, resume, close            start, profile, calls, tasks
//!      ▼                                            │
//!  registry ──owns──► session ◄─────────────────────┘
//!      │ open            ├── owner      whose it is: attached, detached, resumed
//!      ├── workspace     ├── calls      a call id runs once
//!      │     │           ├── denials    what its commands were denied
//!      │     ├ filesystem├── tasks      numbers, how many run, which can be read
//!      │     └ gitdir    │     └ task   a running one's handle, or what is `kept` of an ended one
//!      │                 ├── escalation what calls may ask for, on the ground of denials; asking is `approval`'s
//!      ├── folder        ├── layers     what holds its commands
//!      │                 ├── people     who can answer its questions; asking is `question`'s
//!      │                 ├── skills     where its skills are looked for
//!      │                 ├── todos      its to-do list
//!      │                 ├── standing   the mode of what starts now, of `planning`, `ceiling` and what it is set to
//!      │     └ removal   ├── environment
//!      │                 ├── attention  who waits, so that it is not closed
//!      └── supervisors   └── exec::Supervisor, the process below which its commands are
//! ```
//!
//! | thing | owner | when it ends |
//! |---|---|---|
//! | a session | the registry | `session.close`, `detached_ttl` without a client |
//! | its folder | the session; who writes which file is `folder`'s to say | with the session |
//! | its supervisor | itself; the session has the line to it | with the session; without a daemon when it keeps nothing |
//! | a task | the supervisor; the session knows its name | when nothing of it is left |
//! | an ended task's facts | the session | 100 later ends of calls' tasks, 10,000 of the background's, the session's end |
//! | its output on disk | the session | with its facts, or earlier where all tasks take more than `state` |
//!
//! When a neighbour dies:
//!
//! - **The client.** Nothing is cancelled: running calls go to their end and their results stay in the ledger. The
//!   session is detached, and whoever resumes it within the hour finds all of it; then it is closed, unless an operator
//!   waits for something of it.
//! - **The supervisor.** What it ran ends as `lost`, never with a made-up code. The session stays, says `unavailable` to
//!   whatever would start something, and can be closed.
//! - **The daemon.** Its supervisors stop what calls waited for and keep the rest. The next daemon makes every session again
//!   of what it finds in the folders (`restore`): nobody holds it then, and it is closed when nobody has resumed it in time.
//!
//! No lock on what a session is made of is held across an await, and none while a second one is taken, but for the one that keeps a
//! task's denials in their order (`denials::Noted`), which nobody takes while holding another. Held across awaits are only
//! those that let one at a time do what takes several steps, all of them `tokio`'s and each for one thing: a change of the session
//! (`updating`) and what is written down of it (`saving`, taken last), the to-do list (`todos`), the start of its supervisor
//! (`supervision`), of the file worker of a mode (`files`) and of the web worker (`web`), so that none is started twice; and the
//! wait for room on disk (`space`), which one task takes. They are taken in the order change or worker, supervisor, `saving`.

mod attention;
mod background;
mod calls;
mod ceiling;
mod command;
mod denials;
mod environment;
mod escalation;
mod files;
mod filesystem;
mod folder;
mod gitdir;
mod grounds;
pub(crate) mod held;
mod held_by;
mod holding;
mod kept;
mod layers;
mod leaving;
mod open;
mod owner;
mod people;
mod planning;
mod reads;
mod recovery;
mod registry;
mod removal;
mod restore;
mod roles;
mod rules;
mod saved;
#[expect(clippy::module_inception, reason = "the file is named for the thing it holds")]
mod session;
mod settings;
mod skills;
mod space;
mod stage;
mod standing;
mod start;
mod supervision;
mod supervisors;
mod taken;
mod task;
mod tasks;
#[cfg(test)]
pub(crate) mod testing;
mod todos;
mod turn;
mod web;
mod workspace;

pub(crate) use background::KillError;
pub(crate) use calls::{Admission, Patience, RunningCall};
pub(crate) use command::{Authority, Command, StartError, UpdateError};
pub(crate) use denials::{Asked, RecordedDenial, Refused};
pub(crate) use escalation::{Changes, Latitude};
pub(crate) use files::FilesError;
pub(crate) use folder::FolderError;
pub(crate) use grounds::Grounds;
pub(crate) use open::OpenError;
pub(crate) use planning::Planning;
pub(crate) use reads::Cursor;
pub(crate) use registry::{AccessError, Registry};
pub(crate) use rules::Ruling;
pub(crate) use session::Session;
pub(crate) use stage::{Stage, Stages};
pub(crate) use taken::Digest as CallDigest;
pub(crate) use task::{OutputError, Task};
pub(crate) use turn::CallFacts;
pub(crate) use web::WebError;
pub(crate) use workspace::{OwnPaths, WorkspaceError};
