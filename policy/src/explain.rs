//! One path's verdict and why, read from the same rules that the kernel was given.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::grant::{Access, GrantReason};
use crate::view::Held;
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
    /// The layer that decides: `landlock`, or `namespaces` where that one refuses; null when the mode is not confined.
    pub layer: Option<String>,
    /// The rule that decides, as `<name> <path>`; null when it is refused because no rule allows it.
    pub rule: Option<String>,
    /// The narrowest mode that would allow it; null when it is allowed already.
    pub mode_needed: Option<Mode>,
}

/// Decides `operation` on `path`, an absolute path without symbolic links or `..` (Landlock judges the file that a
/// path leads to, so the caller resolves it first). `held` is what the namespaces hold.
pub fn explain(profile: &Profile, held: &Held, path: &Path, operation: Operation) -> Verdict {
    if !profile.mode.is_confined() {
        return Verdict { allowed: true, layer: None, rule: None, mode_needed: None };
    }
    let (allowed, layer, rule) = match judge(profile, held, path, operation) {
        Judgement::Allowed(rule) => (true, "landlock", Some(rule)),
        Judgement::Held(rule) => (false, "namespaces", Some(rule)),
        Judgement::Uncovered => (false, "landlock", None),
    };
    let allows = |mode: &Mode| {
        let wider = profile.with_mode(*mode);
        !mode.is_confined() || matches!(judge(&wider, held, path, operation), Judgement::Allowed(_))
    };
    let mut wider = Mode::ALL.into_iter().filter(|mode| *mode > profile.mode);
    let mode_needed = if allowed { None } else { wider.find(allows) };
    Verdict { allowed, layer: Some(layer.to_owned()), rule, mode_needed }
}

/// What becomes of an operation in a confined mode.
enum Judgement {
    /// A rule allows it.
    Allowed(String),
    /// What the namespaces hold is in its way.
    Held(String),
    /// No rule allows it.
    Uncovered,
}

fn judge(profile: &Profile, held: &Held, path: &Path, operation: Operation) -> Judgement {
    if let Some(hidden) = held.hidden.iter().find(|hidden| path.starts_with(hidden)) {
        return Judgement::Held(format!("deny-read {}", hidden.display()));
    }
    match deciding_rule(profile, path, operation) {
        None => Judgement::Uncovered,
        Some(rule) if profile.mode != Mode::WorkspaceWrite => Judgement::Allowed(rule),
        Some(rule) => match held.protected.iter().find(|it| protects(it, path, operation)) {
            Some(protected) => Judgement::Held(format!("protect {}", protected.display())),
            None => Judgement::Allowed(rule),
        },
    }
}

/// A protected path stays as it is, and the names of the folders above it stay theirs.
fn protects(protected: &Path, path: &Path, operation: Operation) -> bool {
    match operation {
        Operation::Read | Operation::Execute => false,
        Operation::Write | Operation::Create => path.starts_with(protected),
        Operation::Remove => path.starts_with(protected) || protected.starts_with(path),
    }
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
        (Access::Connect, _) => false,
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
        let held = Held {
            protected: vec!["/ws/.git/hooks".into()],
            hidden: vec!["/home/a/.ssh".into()],
            ..Held::default()
        };
        let verdict = explain(&profile(mode), &held, Path::new(path), operation);
        (verdict.allowed, verdict.rule, verdict.mode_needed)
    }

    #[test]
    fn names_the_rule_and_the_mode_that_would_allow_it() {
        use Mode::{DangerFullAccess, ReadOnly, WorkspaceWrite};
        let rule = |text: &str| Some(text.to_owned());
        let held = |text: &str| (false, rule(text), Some(DangerFullAccess));
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
            (WorkspaceWrite, "/ws/.git/hooks/x", Operation::Create, held("protect /ws/.git/hooks")),
            (
                WorkspaceWrite,
                "/ws/.git/hooks",
                Operation::Read,
                (true, rule("workspace /ws"), None),
            ),
            (WorkspaceWrite, "/ws/.git", Operation::Remove, held("protect /ws/.git/hooks")),
            (
                WorkspaceWrite,
                "/ws/.git/config",
                Operation::Write,
                (true, rule("workspace /ws"), None),
            ),
            (ReadOnly, "/ws/.git/hooks/x", Operation::Write, (false, None, Some(DangerFullAccess))),
            (ReadOnly, "/home/a/.ssh/id", Operation::Read, held("deny-read /home/a/.ssh")),
            (DangerFullAccess, "/home/a/.ssh/id", Operation::Read, (true, None, None)),
        ];
        for (mode, path, operation, expected) in cases {
            assert_eq!(verdict(mode, path, operation), expected, "{mode} {operation:?} {path}");
        }
    }
}
