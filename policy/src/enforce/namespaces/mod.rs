//! The namespaces layer: what a mode's commands see of the file system and the network.
//!
//! ```text
//! user and mount namespace ─▶ hidden paths, /tmp, protected paths, /dev/shm ─▶ network namespace
//! ```
//!
//! A launcher enters once, while it has one thread, before it drops privileges and before Landlock (which forbids mounts,
//! and whose rules hold on to what is seen here). All that its mode ever starts inherits the view and cannot change it:
//! seccomp refuses mounts and namespaces, and no capability is left.
//!
//! Nothing is ever made in a workspace, and on the machine only empty folders in the session's own temporary one: a mount
//! exists in memory, and ends with the last process that sees it, however that ends.
//!
//! Who may make namespaces is `available`'s to find out, what goes where `Profile`'s to say (`view`, `protect`); below
//! stands a file for each part of the view.

mod available;
mod cover;
mod mounts;
mod network;
mod protect;
mod shared_memory;
mod temp;

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;

use rustix::io::Errno;

use crate::namespaces::Unheld;
use crate::sys::errno;
use crate::sys::namespace::{self, Right, Step};
use crate::{Access, Network, Profile};

pub use available::{Unavailable, find};
use network::Loopback;

/// Why the view could not be made. The process must not go on: it may have a part of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NamespaceError {
    /// A namespace that could be made before cannot be now.
    #[error("{}: {}", words(*.0), errno::explain(*.1))]
    Enter(Step, Errno),
    /// A path could not be put in its place.
    #[error("cannot {what} {}: {}", path.display(), errno::explain(*errno))]
    Mount {
        /// What was to be done.
        what: &'static str,
        /// To what.
        path: PathBuf,
        /// The kernel's answer.
        errno: Errno,
    },
    /// The network that was asked for cannot be had.
    #[error("network namespace: {}", errno::explain(*.0))]
    Network(Errno),
}

/// A step in words.
fn words(step: Step) -> &'static str {
    match step {
        Step::Clone => "clone",
        Step::Unshare => "unshare",
        Step::Map => "mapping user and group",
        Step::Mount => "mount",
    }
}

/// A process that has its view.
#[derive(Debug)]
pub struct Entered {
    /// What it keeps as it is: protected paths, and roots that the mode does not write to where a mount must say so.
    pub held: Vec<PathBuf>,
    /// Protected paths that it does not hold.
    pub unheld: Vec<Unheld>,
    /// The session's loopback, for the launchers that follow; empty where it has none.
    pub loopback: Vec<OwnedFd>,
}

/// Gives this process, and all that it starts, the profile's view. `loopback` is what the first of a session's launchers
/// handed out.
///
/// # Errors
/// The first step that failed.
pub fn enter(
    profile: &Profile,
    right: Right,
    loopback: Vec<OwnedFd>,
) -> Result<Entered, NamespaceError> {
    let loopback = Loopback::of(loopback);
    match loopback.as_ref().and_then(|loopback| loopback.user.as_ref()) {
        Some(user) => namespace::enter_beside(user.as_fd()),
        None => namespace::enter(right),
    }
    .map_err(|(step, errno)| NamespaceError::Enter(step, errno))?;
    let cover = cover::Cover::make(profile)?;
    temp::place(profile)?;
    if let Some(cover) = cover {
        cover.hide(profile)?;
    }
    let unheld = protect::hold(&profile.protected())?;
    shared_memory::place()?;
    let loopback = match (profile.network, loopback) {
        (Network::Full, _) => Ok(Vec::new()),
        (Network::None, _) => network::none().map(|()| Vec::new()),
        (Network::Loopback, Some(loopback)) => loopback.enter().map(|()| Vec::new()),
        (Network::Loopback, None) => network::loopback().and_then(|()| network::hand_out(right)),
    };
    let loopback = loopback.map_err(NamespaceError::Network)?;
    Ok(Entered { held: held(profile, &unheld), unheld, loopback })
}

/// What a profile's view keeps as it is.
fn held(profile: &Profile, unheld: &[Unheld]) -> Vec<PathBuf> {
    let is_held = |path: &PathBuf| !unheld.iter().any(|unheld| unheld.path == *path);
    let protected = profile.protected().into_iter().map(|protected| protected.path());
    let kept = profile.kept().into_iter().filter(|kept| kept.access == Access::Read);
    protected.filter(is_held).chain(kept.map(|kept| kept.path)).collect()
}
