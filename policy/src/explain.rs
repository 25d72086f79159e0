//! One path's verdict and why, read from the same rules that the kernel was given.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::grant::{Access, GrantReason};
use crate::{Mode, Profile};

/// What somebody wants to do with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Read or list it.
    Read,
    /// Execute it.
    Execute,
    /// Change its content.
    Write,
    /// Make a new file or folder of that name.
    Create,
    /// Remove or rename it.
    Remove,
}

/// The answer to "may this session do that?".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether the sandbox lets it through. File permissions still apply.
    pub allowed: bool,
    /// The layer that decides: `landlock`, or null when the mode is not confined.
    pub layer: Option<String>,
    /// The rule that allows it, as `<name> <path>`; null when nothing does.
    pub rule: Option<String>,
    /// The narrowest mode that would allow it; null when it is allowed already.
    pub mode_needed: Option<Mode>,
}

/// Decides `operation` on `path`, an absolute path without symbolic links or `..` (Landlock judges the file that a
/// path leads to, so the caller resolves it first).
pub fn explain(profile: &Profile, path: &Path, operation: Operation) -> Verdict {
    if !profile.mode.is_confined() {
        return Verdict { allowed: true, layer: None, rule: None, mode_needed: None };
    }
    let rule = deciding_rule(profile, path, operation);
    let mode_needed = match rule {
        Some(_) => None,
        None => Mode::ALL.into_iter().filter(|mode| *mode > profile.mode).find(|mode| {
            !mode.is_confined()
                || deciding_rule(&profile.with_mode(*mode), path, operation).is_some()
        }),
    };
    Verdict { allowed: rule.is_some(), layer: Some("landlock".to_owned()), rule, mode_needed }
}

/// The most specific rule that allows the operation. Landlock unites the rights along the path's ancestors, so any
/// rule that covers the path and carries the right suffices.
fn deciding_rule(profile: &Profile, path: &Path, operation: Operation) -> Option<String> {
    profile
        .grants()
        .iter()
        .filter(|grant| {
            carries(grant.access, operation) && covers(&grant.path, grant.reason, path, operation)
        })
        .max_by_key(|grant| grant.path.components().count())
        .map(|grant| format!("{} {}", grant.reason.as_str(), grant.path.display()))
}

fn carries(access: Access, operation: Operation) -> bool {
    match (access, operation) {
        (_, Operation::Read) | (Access::Read | Access::Write, Operation::Execute) => true,
        (Access::Write, _) | (Access::Device, Operation::Write) => true,
        (Access::Read | Access::Device, _) => false,
    }
}

/// Creating or removing a name needs the right on its parent, so a root's own name is not covered by the root.
fn covers(rule: &Path, reason: GrantReason, path: &Path, operation: Operation) -> bool {
    let names = matches!(operation, Operation::Create | Operation::Remove)
        && reason != GrantReason::ReadAll;
    // Everything is read but devices, which have rules of their own.
    let is_device =
        reason == GrantReason::ReadAll && path.starts_with("/dev") && path != Path::new("/dev");
    path.starts_with(rule) && !(names && path == rule) && !is_device
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::tests::profile;

    fn verdict(
        mode: Mode,
        path: &str,
        operation: Operation,
    ) -> (bool, Option<String>, Option<Mode>) {
        let verdict = explain(&profile(mode), Path::new(path), operation);
        (verdict.allowed, verdict.rule, verdict.mode_needed)
    }

    #[test]
    fn names_the_rule_and_the_mode_that_would_allow_it() {
        use Mode::{DangerFullAccess, ReadOnly, WorkspaceWrite};
        let rule = |text: &str| Some(text.to_owned());
        let cases = [
            (ReadOnly, "/etc/hosts", Operation::Read, (true, rule("read-all /"), None)),
            (ReadOnly, "/ws/a", Operation::Write, (false, None, Some(WorkspaceWrite))),
            (ReadOnly, "/etc/hosts", Operation::Write, (false, None, Some(DangerFullAccess))),
            (ReadOnly, "/state/tmp/x", Operation::Create, (true, rule("temp /state/tmp"), None)),
            (WorkspaceWrite, "/ws/a", Operation::Write, (true, rule("workspace /ws"), None)),
            (WorkspaceWrite, "/ws", Operation::Remove, (false, None, Some(DangerFullAccess))),
            (WorkspaceWrite, "/wsx/a", Operation::Create, (false, None, Some(DangerFullAccess))),
            (ReadOnly, "/dev", Operation::Read, (true, rule("read-all /"), None)),
            (ReadOnly, "/dev/pts/3", Operation::Read, (false, None, Some(DangerFullAccess))),
            (ReadOnly, "/dev/zero", Operation::Read, (true, rule("device /dev/zero"), None)),
            (WorkspaceWrite, "/dev/null", Operation::Write, (true, rule("device /dev/null"), None)),
            (WorkspaceWrite, "/dev/null", Operation::Remove, (false, None, Some(DangerFullAccess))),
            (DangerFullAccess, "/etc/hosts", Operation::Write, (true, None, None)),
        ];
        for (mode, path, operation, expected) in cases {
            assert_eq!(verdict(mode, path, operation), expected, "{mode} {operation:?} {path}");
        }
    }
}
