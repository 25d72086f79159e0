//! Which of a session's processes are Brattice's own, and what each is there for: by their place below the supervisor.

use std::collections::HashMap;
use std::fmt;

use brattice_tests::Process;

/// What a process is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Supervisor,
    Launcher,
    Zygote,
    Keeper,
    /// What a keeper that waits has forked ahead, and a program will be.
    Program,
}

impl Role {
    pub(super) const ALL: [Role; 5] =
        [Role::Supervisor, Role::Launcher, Role::Zygote, Role::Keeper, Role::Program];

    /// The supervisor and all of its kind below it. What has become a command's is none.
    pub(super) fn all_of(supervisor: &Process) -> Vec<(Role, Process)> {
        let mut depths = HashMap::from([(supervisor.pid, 0)]);
        let mut found = vec![(Role::Supervisor, supervisor.clone())];
        // Parents come before their children.
        for process in Process::below(supervisor.pid) {
            let depth = depths[&process.parent] + 1;
            depths.insert(process.pid, depth);
            if process.arguments.ends_with(" launch") && process.state != 'Z' {
                let role = *Role::ALL.get(depth).expect("no more than five generations");
                found.push((role, process));
            }
        }
        found
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Supervisor => "supervisor",
            Role::Launcher => "launcher",
            Role::Zygote => "zygote",
            Role::Keeper => "keepers",
            Role::Program => "programs to be",
        })
    }
}
