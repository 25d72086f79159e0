//! What this machine can enforce, found by asking the kernel and by nothing else.

use rustix::io::Errno;

use super::cgroup::{self, Controller, Delegation, Standing, Unavailable};
use super::landlock::{LEAST_ABI, NEWEST_ABI, SCOPES_ABI};
use crate::Mode;
use crate::layer::{Layer, LayerName, LayerReport, LayerState};
use crate::sys::{self, errno};

/// What the kernel answered when it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Landlock's ABI, or why there is none.
    pub landlock: Result<u32, Errno>,
    /// Whether seccomp filters can be installed, or why not.
    pub seccomp: Result<(), Errno>,
    /// The controllers that this process can hand on to its commands' control groups, or why there are no groups.
    pub cgroup: Result<[(Controller, Standing); 3], Unavailable>,
}

impl Machine {
    /// Asks the running kernel.
    pub fn probe() -> Machine {
        Machine {
            landlock: sys::landlock::abi(),
            seccomp: sys::seccomp::is_available(),
            cgroup: Delegation::find().map(|delegation| delegation.standings()),
        }
    }

    /// Landlock's ABI, 0 where there is none.
    pub fn abi(&self) -> u32 {
        self.landlock.unwrap_or(0)
    }

    /// Every layer's state for a command in `mode`.
    pub fn report(&self, mode: Mode) -> LayerReport {
        let layers = if mode.is_confined() {
            let mut layers = vec![Layer::on(LayerName::Privileges)];
            layers.extend([self.landlock_layer(), self.scopes_layer(), self.seccomp_layer()]);
            layers.extend(not_in_this_version());
            layers.push(cgroup::layer(&self.cgroup));
            layers
        } else {
            Vec::new()
        };
        LayerReport { landlock_abi: self.abi(), layers }
    }

    fn landlock_layer(&self) -> Layer {
        let missing =
            |reason: String| Layer::with(LayerName::Landlock, LayerState::Missing, reason);
        match self.landlock {
            Err(Errno::NOSYS) => missing(
                "landlock_create_ruleset: ENOSYS: the kernel was built without Landlock, or a container's seccomp \
                 profile hides it; use a kernel with CONFIG_SECURITY_LANDLOCK, or allow the landlock_* calls"
                    .to_owned(),
            ),
            Err(Errno::OPNOTSUPP) => missing(
                "landlock_create_ruleset: EOPNOTSUPP: Landlock is switched off; add landlock to the lsm= boot parameter"
                    .to_owned(),
            ),
            Err(errno) => missing(format!("landlock_create_ruleset: {}", errno::explain(errno))),
            Ok(abi) if abi < LEAST_ABI => missing(format!(
                "Landlock ABI {abi} cannot keep files from being truncated; Linux 6.2 (ABI {LEAST_ABI}) is the least"
            )),
            Ok(abi) if abi > NEWEST_ABI => Layer::with(
                LayerName::Landlock,
                LayerState::Partial,
                format!("this kernel's Landlock ABI {abi} is newer than this version knows; rights beyond ABI {NEWEST_ABI} are not handled"),
            ),
            Ok(_) => Layer::on(LayerName::Landlock),
        }
    }

    fn scopes_layer(&self) -> Layer {
        match self.landlock {
            Ok(abi) if abi >= SCOPES_ABI => Layer::on(LayerName::LandlockScopes),
            Ok(abi) => Layer::with(
                LayerName::LandlockScopes,
                LayerState::Off,
                format!(
                    "Landlock ABI {abi} has no scopes: commands can signal the user's other processes, and trees are \
                     killed process by process; Linux 6.12 has them"
                ),
            ),
            Err(_) => {
                Layer::with(LayerName::LandlockScopes, LayerState::Off, "there is no Landlock here")
            }
        }
    }

    fn seccomp_layer(&self) -> Layer {
        match self.seccomp {
            Ok(()) if super::seccomp::is_supported() => Layer::on(LayerName::Seccomp),
            Ok(()) => Layer::with(
                LayerName::Seccomp,
                LayerState::Missing,
                "there is no table of system calls for this architecture; x86_64 and aarch64 have one",
            ),
            Err(errno) => Layer::with(
                LayerName::Seccomp,
                LayerState::Missing,
                format!(
                    "seccomp: {}: use a kernel with CONFIG_SECCOMP_FILTER, or allow the call in the container's profile",
                    errno::explain(errno)
                ),
            ),
        }
    }
}

/// Layers of the contract that this version does not have, each with what its absence costs.
fn not_in_this_version() -> [Layer; 2] {
    [
        Layer::with(
            LayerName::Observer,
            LayerState::Off,
            "not in this version: denials are enforced but not recorded, sockets by path are refused as a whole, and \
             file metadata outside the roots is held by file permissions alone",
        ),
        Layer::with(
            LayerName::Namespaces,
            LayerState::Off,
            "not in this version: /tmp is refused instead of private, /dev/shm is the host's, .git/hooks is not protected, \
             network = \"loopback\" cannot be had",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(machine: &Machine, mode: Mode) -> Vec<(LayerName, LayerState)> {
        machine.report(mode).layers.into_iter().map(|layer| (layer.name, layer.state)).collect()
    }

    /// The ABI under test is a variable: every kernel's answer has its row.
    #[test]
    fn each_abi_has_its_layers() {
        use LayerState::{Missing, Off, On};
        let cases = [
            (Err(Errno::NOSYS), Missing, Off),
            (Err(Errno::OPNOTSUPP), Missing, Off),
            (Ok(2), Missing, Off),
            (Ok(3), On, Off),
            (Ok(5), On, Off),
            (Ok(6), On, On),
            (Ok(10), On, On),
            (Ok(99), LayerState::Partial, On),
        ];
        for (landlock, files, scopes) in cases {
            let machine =
                Machine { landlock, seccomp: Ok(()), cgroup: Err(Unavailable::NotMounted) };
            assert_eq!(
                states(&machine, Mode::WorkspaceWrite),
                [
                    (LayerName::Privileges, On),
                    (LayerName::Landlock, files),
                    (LayerName::LandlockScopes, scopes),
                    (LayerName::Seccomp, On),
                    (LayerName::Observer, Off),
                    (LayerName::Namespaces, Off),
                    (LayerName::Cgroup, Off),
                ],
                "{landlock:?}"
            );
            assert_eq!(states(&machine, Mode::DangerFullAccess), []);
        }
    }

    #[test]
    fn a_missing_layer_is_found_and_says_what_to_do() {
        let machine = Machine {
            landlock: Err(Errno::OPNOTSUPP),
            seccomp: Ok(()),
            cgroup: Err(Unavailable::NotMounted),
        };
        let report = machine.report(Mode::ReadOnly);
        let missing = report.missing().and_then(|layer| layer.reason.as_deref());
        assert!(
            missing
                .is_some_and(|reason| reason.ends_with("add landlock to the lsm= boot parameter"))
        );
    }

    #[test]
    fn this_machine_has_what_the_tests_need() {
        assert_eq!(Machine::probe().report(Mode::WorkspaceWrite).missing(), None);
    }
}
