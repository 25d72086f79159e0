//! A thread that stands where a keeper does.

use std::os::fd::{AsFd, OwnedFd};

use brattice_policy::enforce::probe::Machine;
use brattice_policy::enforce::seccomp::Selection;
use brattice_policy::enforce::{landlock, seccomp};
use brattice_policy::profile::{Root, RootKind};
use brattice_policy::{Mode, Network, Profile, sys};
use rustix::thread::{CapabilitySet, CapabilitySets};

/// Puts the calling thread, without capabilities, below D1 and D2 and behind the filter; returns the ruleset of D3.
pub(super) fn confine() -> OwnedFd {
    let folder = std::env::temp_dir();
    let profile = Profile {
        mode: Mode::WorkspaceWrite,
        network: Network::Full,
        roots: vec![Root { path: folder.canonicalize().unwrap(), kind: RootKind::Workspace }],
        temp: folder,
    };
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets).unwrap();
    rustix::thread::set_no_new_privs(true).unwrap();
    let domain = landlock::mode_ruleset(&profile, Machine::probe().abi()).unwrap();
    let command = landlock::command_ruleset().unwrap();
    sys::landlock::restrict_self(domain.as_fd()).unwrap();
    let selection = Selection { network: Network::Full, scoped: true };
    sys::seccomp::install(&seccomp::filter(selection)).unwrap();
    sys::landlock::restrict_self(command.as_fd()).unwrap();
    command
}
