//! Running commands: the processes between the daemon and a program, and the daemon's handle on them.
//!
//! ```text
//! bratticed (tokio)                                     link: one handle a session, one a task
//!  └─ supervisor, one a session                         supervisor: pipes, spools, timers, the lock
//!      ├─ launcher, one a mode, in Landlock domain D1   launcher: sets the sandbox up, once
//!      │   └─ zygote, behind the seccomp filter         launcher::zygote: forks keepers ahead
//!      │       └─ keeper, one a command, in D2          launcher::keeper: a subreaper that can always kill
//!      │           └─ the program, in D3                sys::spawn: vfork and exec
//!      └─ launcher of danger-full-access                the same processes without any layer
//! ```
//!
//! The daemon forks nothing: a supervisor is exec'd by `posix_spawn`, whatever the daemon's size. Everything below
//! a supervisor is described by [`message`]s over socket pairs, large things travel as [`memory`] files. The layers that
//! only a session's own files decide (which folders, which mode) are decided above, in `session`.

mod cgroup;
mod channel;
pub(crate) mod denials;
mod launcher;
mod link;
mod memory;
mod message;
mod process;
pub(crate) mod record;
pub(crate) mod retired;
pub(crate) mod spec;
mod supervisor;
mod terminal;
#[cfg(test)]
mod testing;

use std::sync::OnceLock;

use brattice_policy::Mode;
use brattice_policy::enforce::probe::Machine;
use brattice_policy::layer::LayerReport;

pub(crate) use cgroup::claim as claim_groups;
pub(crate) use launcher::main as launcher_main;
pub(crate) use link::reader::SpoolReader;
pub(crate) use link::{Handing, NotHanded};
pub(crate) use link::{
    Handover, InputEnd, InputError, ReadError, ResumedHandle, RunError, Supervisor,
    SupervisorError, SupervisorSpec, TaskHandle, find_bash,
};
#[cfg(test)]
pub(crate) use message::FailedStep;
pub(crate) use supervisor::{LOCK, main as supervisor_main};

/// What this machine can enforce in a confined mode.
pub(crate) fn machine_layers() -> &'static LayerReport {
    static LAYERS: OnceLock<LayerReport> = OnceLock::new();
    LAYERS.get_or_init(|| machine().report(Mode::WorkspaceWrite))
}

/// What the kernel answered when it was asked, once. (A launcher asks for itself: it is what must not be wrong.)
pub(crate) fn machine() -> &'static Machine {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    MACHINE.get_or_init(Machine::probe)
}
