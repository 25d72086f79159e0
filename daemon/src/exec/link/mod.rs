//! The daemon's side of a session's supervisor.
//!
//! [`Supervisor`] is the handle on the process, [`TaskHandle`] on one task. What they ask goes to a `post`, behind which
//! stands one tokio task that owns the channel (`carry`): it sends what there is and hands out what comes back (`deliver`).
//! Handles never touch the channel, so a slow supervisor makes callers wait and nothing else.
//!
//! When the **supervisor** dies its channel closes: every task that had not ended is `lost`, whoever waits is told, and
//! every later request answers [`RunError::Gone`]. When the **daemon** dies the supervisor stops what calls waited for and
//! keeps the rest for the next daemon, which takes it over (`adopt`). Output is read from spools by descriptor, without the
//! supervisor.

mod adopt;
mod carry;
mod deliver;
mod denied;
mod error;
mod input;
mod post;
pub(crate) mod reader;
mod short;
mod start;
mod task;
mod watched;

pub(crate) use error::{RunError, SupervisorError};
pub(crate) use input::{InputEnd, InputError};
pub(crate) use reader::ReadError;
pub(crate) use short::{Handing, NotHanded};
pub(crate) use start::{Supervisor, SupervisorSpec, find_bash};
pub(crate) use task::{Handover, ResumedHandle, TaskHandle};
