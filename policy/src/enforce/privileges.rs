//! What a process gives up before it confines itself: descriptors, capabilities, core dumps, and the way back.

use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit,
};
use rustix::thread::{CapabilitySet, CapabilitySets};
use serde::{Deserialize, Serialize};

use crate::sys::errno;

/// Capabilities that root's commands keep, for the files that they own or make inside their roots. The rules on
/// paths bound what they reach.
const FILE_OWNERSHIP: CapabilitySet =
    CapabilitySet::CHOWN.union(CapabilitySet::DAC_OVERRIDE).union(CapabilitySet::FOWNER);

/// The step that could not be taken, and the kernel's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{step}: {}", errno::explain(*errno))]
pub struct PrivilegeError {
    /// What was tried.
    pub step: &'static str,
    /// Why it failed.
    pub errno: Errno,
}

/// Limits of each process of a command, which it inherits and cannot raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessLimits {
    /// `RLIMIT_NOFILE`.
    pub open_files: u64,
    /// `RLIMIT_DATA`, in bytes, where no control group limits the command's memory as a whole: what a process may write to of
    /// its own counts, and what a runtime only reserves does not (setrlimit(2), since Linux 4.7), as it would for
    /// `RLIMIT_AS`. There is none such for processes: `RLIMIT_NPROC` counts all of the user's.
    pub data: Option<u64>,
}

/// Drops privileges for good: what is started from now on can gain none, by set-user-ID programs included.
///
/// # Errors
/// The first step that failed. The process must not go on then.
pub fn drop_all(limits: &ProcessLimits) -> Result<(), PrivilegeError> {
    let at = |step| move |errno| PrivilegeError { step, errno };
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(at("turning off ptrace access"))?;
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, none).map_err(at("turning off core dumps"))?;
    lower(Resource::Nofile, limits.open_files).map_err(at("limiting open files"))?;
    if let Some(data) = limits.data {
        lower(Resource::Data, data).map_err(at("limiting memory"))?;
    }
    drop_capabilities().map_err(at("dropping capabilities"))?;
    rustix::thread::set_no_new_privs(true).map_err(at("setting no_new_privs"))
}

/// Lowers a limit for good, never raises it.
fn lower(resource: Resource, most: u64) -> Result<(), Errno> {
    let Rlimit { current, maximum } = getrlimit(resource);
    setrlimit(resource, Rlimit { current: least(current, most), maximum: least(maximum, most) })
}

fn least(limit: Option<u64>, most: u64) -> Option<u64> {
    Some(limit.map_or(most, |limit| limit.min(most)))
}

/// Raises the soft limit of open files as far as this process may: it holds descriptors for many commands. Theirs is
/// lowered again before they start.
///
/// # Errors
/// The kernel's answer.
pub fn raise_open_files() -> Result<(), Errno> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
}

/// Lowers the soft limits for commands that are not confined; they may raise them again.
///
/// # Errors
/// The kernel's answer.
pub fn lower_softly(limits: &ProcessLimits) -> Result<(), Errno> {
    let soften = |resource, most| {
        let Rlimit { current, maximum } = getrlimit(resource);
        setrlimit(resource, Rlimit { current: least(current, most), maximum })
    };
    soften(Resource::Nofile, limits.open_files)?;
    limits.data.map_or(Ok(()), |data| soften(Resource::Data, data))
}

/// Keeps [`FILE_OWNERSHIP`] of root's, in every set; an ordinary user has some in a user namespace of its own, which open
/// nothing that it may not open itself but would keep its files' modes from counting. The bounding set goes first: root's exec would fill the
/// others from it again (capabilities(7)).
fn drop_capabilities() -> Result<(), Errno> {
    let held = rustix::thread::capabilities(None)?;
    let kept = match rustix::process::geteuid().is_root() {
        true => held.permitted & FILE_OWNERSHIP,
        false => CapabilitySet::empty(),
    };
    if held.permitted.contains(CapabilitySet::SETPCAP) {
        for capability in CapabilitySet::all() - kept {
            if rustix::thread::capability_is_in_bounding_set(capability).unwrap_or(false) {
                rustix::thread::remove_capability_from_bounding_set(capability)?;
            }
        }
    }
    rustix::thread::clear_ambient_capability_set()?;
    let sets =
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    rustix::thread::set_capabilities(None, sets)
}
