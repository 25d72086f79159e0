//! File workers: the processes that read, write, edit and search files for a session, held by the same rules as its commands.
//!
//! ```text
//! bratticed ── Client ══ socket (its standard input) ══ bratticed files   an ordinary task of the session: keeper, D1 to D3,
//!    │                                                                     filter, observer, control group, end and all
//!    └─ session::files: one worker for each mode that a tool was called in, started when it is first needed
//! ```
//!
//! The daemon itself touches no file of a workspace. What a tool may do is decided by the kernel in the worker, links and races
//! included, exactly as for a command; a worker that is taken over by a hostile file can do what a command can.
//!
//! | dies | then |
//! |---|---|
//! | the worker | its socket closes: calls fail with [`crate::line::WorkerGone`], the next one starts another, which first puts in order what the dead one left |
//! | the daemon | the socket closes, the worker ends; it is a task that a call waits for, so its supervisor stops it, too |
//! | the supervisor | the keeper kills the worker, as it kills any command |
//!
//! What is in the middle of a write then is put back from the journal by the next worker of the same mode. Each mode has its own
//! (`Session::journal`); only that of `read-only` is in the session's private temporary folder.

mod message;
mod worker;

pub(crate) use message::{
    Answer, Barrier, Manner, QueryArgument, QueryFault, Refused, Request, Standing, Target,
};
pub(crate) use worker::main as worker_main;

/// The line to a file worker.
pub(crate) type Client = crate::line::Client<Request, Answer>;
