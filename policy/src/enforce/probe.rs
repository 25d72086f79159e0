//! What this machine can enforce, found by asking the kernel and by nothing else.

use rustix::io::Errno;

use super::cgroup::{self, Controller, Delegation, Standing, Unavailable};
use super::landlock::{LEAST_ABI, NEWEST_ABI, SCOPES_ABI};
use super::namespaces::{self, Unavailable as NoNamespaces};
use super::seccomp::{Observer, Selection};
use crate::layer::{Layer, LayerName, LayerReport, LayerState};
use crate::namespaces::Unheld;
use crate::sys::namespace::Right;
use crate::sys::{self, errno};
use crate::{Mode, Namespaces, Network, Profile};

/// What the kernel answered when it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Landlock's ABI, or why there is none.
    pub landlock: Result<u32, Errno>,
    /// Whether seccomp filters can be installed, or why not.
    pub seccomp: Result<(), Errno>,
    /// How far callers can be looked into, or why they cannot.
    pub observer: Result<Observer, Unobserved>,
    /// The controllers that this process can hand on to its commands' control groups, or why there are no groups.
    pub cgroup: Result<[(Controller, Standing); 3], Unavailable>,
    /// By which right namespaces can be made, or why not.
    pub namespaces: Result<Right, NoNamespaces>,
}

/// What the absence of namespaces costs.
const WITHOUT_NAMESPACES: &str = "/tmp is refused instead of private, /dev/shm is the host's, protected paths such as .git/hooks \
     are not held (changes are told), and neither deny_read nor network = \"loopback\" can be had";

impl Machine {
    /// Asks the running kernel.
    pub fn probe() -> Machine {
        Machine {
            landlock: sys::landlock::abi(),
            seccomp: sys::seccomp::is_available(),
            observer: observer(),
            cgroup: Delegation::find().map(|delegation| delegation.standings()),
            namespaces: namespaces::find(),
        }
    }

    /// Landlock's ABI, 0 where there is none.
    pub fn abi(&self) -> u32 {
        self.landlock.unwrap_or(0)
    }

    /// What a mode's filter is made from.
    pub fn selection(&self, network: Network) -> Selection {
        let scoped = self.abi() >= SCOPES_ABI;
        // Below the scopes a command shares its launcher's domain, and could act on it.
        let observer = match &self.observer {
            Ok(observer) if scoped => *observer,
            Ok(_) | Err(_) => Observer::Off,
        };
        Selection { network, scoped, observer }
    }

    /// Every layer's state for a command in `mode`.
    pub fn report(&self, mode: Mode) -> LayerReport {
        let layers = if mode.is_confined() {
            let mut layers = vec![Layer::on(LayerName::Privileges)];
            layers.extend([self.landlock_layer(), self.scopes_layer(), self.seccomp_layer()]);
            layers.extend([self.observer_layer(), self.namespaces_layer()]);
            layers.push(cgroup::layer(&self.cgroup));
            layers
        } else {
            Vec::new()
        };
        LayerReport { landlock_abi: self.abi(), layers }
    }

    /// Every layer's state for the commands of a profile. `unheld` is what its namespaces were found not to hold.
    pub fn report_for(&self, profile: &Profile, unheld: &[Unheld]) -> LayerReport {
        let mut report = self.report(profile.mode);
        for layer in &mut report.layers {
            if layer.name == LayerName::Namespaces {
                *layer = self.namespaces_layer_for(profile, unheld);
            }
        }
        report
    }

    /// By which right the commands of this profile get namespaces.
    ///
    /// # Errors
    /// Why they get none, and what that costs.
    pub fn namespaces_for(&self, profile: &Profile) -> Result<Right, String> {
        match (&self.namespaces, profile.namespaces) {
            (_, Namespaces::Off) => Err(format!("namespaces = \"off\": {WITHOUT_NAMESPACES}")),
            (Ok(right), Namespaces::Auto) => Ok(*right),
            (Err(why), Namespaces::Auto) => Err(format!("{why}; {WITHOUT_NAMESPACES}")),
        }
    }

    fn namespaces_layer_for(&self, profile: &Profile, unheld: &[Unheld]) -> Layer {
        let name = LayerName::Namespaces;
        let held = |unheld: &[Unheld]| {
            let told: Vec<String> = unheld.iter().map(Unheld::to_string).collect();
            Layer::with(name, LayerState::Partial, format!("not protected: {}", told.join("; ")))
        };
        let is_needed = profile.mode.is_confined() && needs_namespaces(profile) != Need::Nothing;
        match self.namespaces_for(profile) {
            Ok(_) if unheld.is_empty() => Layer::on(name),
            Ok(_) => held(unheld),
            Err(why) if is_needed => Layer::with(
                name,
                LayerState::Missing,
                format!("{} needs namespaces: {why}", needs_namespaces(profile).as_str()),
            ),
            Err(why) => Layer::with(name, LayerState::Off, why),
        }
    }

    fn namespaces_layer(&self) -> Layer {
        match &self.namespaces {
            Ok(_) => Layer::on(LayerName::Namespaces),
            Err(why) => Layer::with(
                LayerName::Namespaces,
                LayerState::Off,
                format!("{why}; {WITHOUT_NAMESPACES}"),
            ),
        }
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
            Err(errno) => missing(format!(
                "landlock_create_ruleset: {}; allow the landlock_* calls in the container's profile",
                errno::explain(errno)
            )),
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

    fn observer_layer(&self) -> Layer {
        const COST: &str = "denials are enforced but not recorded, sockets by path are refused as a whole, and file \
                            metadata outside the roots is held by file permissions alone";
        let off = |reason| Layer::with(LayerName::Observer, LayerState::Off, reason);
        match (&self.observer, self.selection(Network::Full).observer) {
            (Err(Unobserved { call, errno }), _) => {
                off(format!("{call}: {}: {COST}", errno::explain(*errno)))
            }
            (Ok(_), Observer::Off) => {
                off(format!("Landlock ABI {} has no scopes: {COST}", self.abi()))
            }
            (Ok(_), Observer::WithoutSockets) => Layer::with(
                LayerName::Observer,
                LayerState::Partial,
                "pidfd_getfd is not allowed here (a container's profile?): sockets by path are refused as a whole",
            ),
            (Ok(_), Observer::On) => Layer::on(LayerName::Observer),
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

/// Why callers cannot be looked into: the call that failed, and the kernel's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unobserved {
    call: &'static str,
    errno: Errno,
}

/// Tries on this process what an observer does to its callers.
fn observer() -> Result<Observer, Unobserved> {
    let failed = |call| move |errno| Unobserved { call, errno };
    sys::listener::is_available().map_err(failed("seccomp with a listener"))?;
    let own = std::process::id();
    let byte = 1u8;
    let mut read = [0u8];
    sys::memory::read(own, &raw const byte as u64, &mut read)
        .map_err(failed("process_vm_readv"))?;
    let duplicate = i32::try_from(own).ok().and_then(rustix::process::Pid::from_raw).map(|own| {
        use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
        let pidfd = pidfd_open(own, PidfdFlags::empty())?;
        let itself = std::os::fd::AsRawFd::as_raw_fd(&pidfd);
        pidfd_getfd(&pidfd, itself, PidfdGetfdFlags::empty())
    });
    Ok(match duplicate {
        Some(Ok(_)) => Observer::On,
        Some(Err(_)) | None => Observer::WithoutSockets,
    })
}

/// The setting of a profile that nothing but namespaces can keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Nothing,
    Hiding,
    Loopback,
}

impl Need {
    fn as_str(self) -> &'static str {
        match self {
            Need::Nothing => "nothing",
            Need::Hiding => "deny_read",
            Need::Loopback => "network = \"loopback\"",
        }
    }
}

fn needs_namespaces(profile: &Profile) -> Need {
    if profile.network == Network::Loopback {
        Need::Loopback
    } else if profile.hidden().is_empty() {
        Need::Nothing
    } else {
        Need::Hiding
    }
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
            let (seccomp, observer) = (Ok(()), Ok(Observer::On));
            let cgroup = Err(Unavailable::NotMounted);
            let namespaces = Err(NoNamespaces::WeakRoot);
            let machine = Machine { landlock, seccomp, observer, cgroup, namespaces };
            assert_eq!(
                states(&machine, Mode::WorkspaceWrite),
                [
                    (LayerName::Privileges, On),
                    (LayerName::Landlock, files),
                    (LayerName::LandlockScopes, scopes),
                    (LayerName::Seccomp, On),
                    (LayerName::Observer, scopes),
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
            observer: Ok(Observer::On),
            cgroup: Err(Unavailable::NotMounted),
            namespaces: Ok(Right::Owner),
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
