//! Whether namespaces can be made here, found by making them in a child.

use rustix::io::Errno;
use rustix::thread::CapabilitySet;

use crate::sys::errno;
use crate::sys::namespace::{self, Right, Step};

use super::words;

/// Why there are no namespaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The kernel refused a step.
    Refused {
        /// Which step.
        step: Step,
        /// Its answer.
        errno: Errno,
        /// The setting of the machine that is behind it, where one was found.
        setting: Option<&'static str>,
    },
    /// Root that may not mount. In a user namespace of its own it would own only its own files.
    WeakRoot,
}

/// Settings that refuse user namespaces, each with the value that does.
const SETTINGS: [(&str, &str, &str); 3] = [
    ("/proc/sys/user/max_user_namespaces", "0", "the sysctl user.max_user_namespaces is 0"),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "the sysctl kernel.unprivileged_userns_clone is 0",
    ),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "the sysctl kernel.apparmor_restrict_unprivileged_userns is 1: give bratticed an AppArmor profile with \"userns,\"",
    ),
];

/// By which right this process can make namespaces.
///
/// # Errors
/// Why it cannot.
pub fn find() -> Result<Right, Unavailable> {
    let right = right()?;
    match namespace::try_in_child(right) {
        Ok(()) => Ok(right),
        Err((step, errno)) => {
            let setting = if right == Right::Owner { refusing_setting() } else { None };
            Err(Unavailable::Refused { step, errno, setting })
        }
    }
}

/// A process that may mount keeps the users that it has: in a user namespace root's commands would lose the files of all
/// others.
fn right() -> Result<Right, Unavailable> {
    let held = rustix::thread::capabilities(None).map(|sets| sets.effective);
    match held {
        Ok(held) if held.contains(CapabilitySet::SYS_ADMIN) => Ok(Right::Privileged),
        _ if rustix::process::geteuid().is_root() => Err(Unavailable::WeakRoot),
        _ => Ok(Right::Owner),
    }
}

fn refusing_setting() -> Option<&'static str> {
    let says = |(file, value, _): &&(&str, &str, &str)| {
        std::fs::read_to_string(file).is_ok_and(|text| text.trim() == *value)
    };
    SETTINGS.iter().find(says).map(|(_, _, text)| *text)
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unavailable::Refused { step, errno, setting } => {
                let setting = setting.unwrap_or(
                    "user namespaces are refused here, as containers' profiles do",
                );
                write!(f, "{}: {}: {setting}", words(*step), errno::explain(*errno))
            }
            Unavailable::WeakRoot => f.write_str(
                "this is root without CAP_SYS_ADMIN, as in most containers; grant the capability, or run as an ordinary user",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_call_the_answer_and_what_is_behind_it() {
        let refused =
            |setting| Unavailable::Refused { step: Step::Unshare, errno: Errno::PERM, setting };
        assert_eq!(
            refused(Some(SETTINGS[0].2)).to_string(),
            "unshare: EPERM (Operation not permitted): the sysctl user.max_user_namespaces is 0"
        );
        assert_eq!(
            refused(None).to_string(),
            "unshare: EPERM (Operation not permitted): user namespaces are refused here, as containers' profiles do"
        );
    }

    #[test]
    fn this_machine_has_what_the_tests_need() {
        let right =
            if rustix::process::geteuid().is_root() { Right::Privileged } else { Right::Owner };
        assert_eq!(find(), Ok(right));
    }
}
