//! A thread that stands where a keeper does, and one that has used up what a user may have on its way between processes.

use std::os::fd::{AsFd, OwnedFd};

use brattice_policy::enforce::probe::Machine;
use brattice_policy::enforce::seccomp::{Observer, Selection};
use brattice_policy::enforce::{landlock, seccomp};
use brattice_policy::profile::{Root, RootKind};
use brattice_policy::{Mode, Namespaces, Network, Profile, sys};
use rustix::process::{Resource, Rlimit, Uid, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

/// Puts the calling thread, without capabilities, below D1 and D2 and behind the filter; returns the ruleset of D3.
pub(super) fn confine() -> OwnedFd {
    let folder = std::env::temp_dir();
    let profile = Profile {
        mode: Mode::WorkspaceWrite,
        network: Network::Full,
        roots: vec![Root { path: folder.canonicalize().unwrap(), kind: RootKind::Workspace }],
        temp: folder,
        protect: Vec::new(),
        deny_read: Vec::new(),
        namespaces: Namespaces::Off,
        devices: Vec::new(),
        unix_sockets: Vec::new(),
    };
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets).unwrap();
    rustix::thread::set_no_new_privs(true).unwrap();
    let domain = landlock::mode_ruleset(&profile, Machine::probe().abi()).unwrap().ruleset;
    let command = landlock::command_ruleset().unwrap();
    sys::landlock::restrict_self(domain.as_fd()).unwrap();
    let selection = Selection { network: Network::Full, scoped: true, observer: Observer::Off };
    sys::seccomp::install(&seccomp::filter(selection)).unwrap();
    sys::landlock::restrict_self(command.as_fd()).unwrap();
    command
}

/// Sets how many descriptors this process may have; each test has a process of its own.
pub(super) fn limit_descriptors(most: u64) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum }).unwrap();
}

/// Lets so many descriptors be on their way from the calling thread. They are counted for the whole user, and whoever may do
/// all is not bound: a thread of root's becomes a user who has nothing else.
pub(super) fn limit_descriptors_on_their_way(most: u64, uid: u32) {
    if rustix::process::geteuid().is_root() {
        rustix::thread::set_thread_uid(Uid::from_raw(uid)).unwrap();
    }
    limit_descriptors(most);
}
