//! The environment of a session's commands: what all of them share, and what is each one's own.
//!
//! What is kept of the daemon's own environment is `policy`'s decision; what a toolset adds is the toolset's.

use brattice_policy::environment::{Environment, EnvironmentRules, TASK_ID};
use brattice_policy::{Mode, Profile};
use brattice_protocol::{SessionId, TaskId};

use crate::exec::spec::Stdin;

/// `TERM` of a command that has a terminal.
const TERMINAL: &str = "xterm-256color";

/// Switched off, `git status` does not try to write what it learned about the files into the index (git(1)). In `read-only` that would
/// be refused, which a model would be told as a denial of a command that did all it was asked for.
const GIT_LOCKS: &str = "GIT_OPTIONAL_LOCKS";

/// What every command of a session gets, from the daemon's own environment by the configured rules.
///
/// `TMPDIR` stays the host's here: only a command that is confined gets the private one.
pub(super) fn of_session(
    rules: &EnvironmentRules,
    ambient: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>,
    session: &SessionId,
    profile: &Profile,
) -> Environment {
    let mut environment = rules.base(ambient);
    let workspace = profile.workspace().as_os_str().as_encoded_bytes();
    environment.insert(b"BRATTICE_SESSION_ID".to_vec(), session.as_str().into());
    environment.insert(b"BRATTICE_WORKSPACE".to_vec(), workspace.to_vec());
    environment
}

/// What one command gets besides: who it is, how it is confined, its session's private folder for temporary files where it
/// is confined, and the kind of its terminal where it has one.
pub(super) fn of_task(profile: &Profile, task: &TaskId, stdin: Stdin) -> Vec<(String, String)> {
    let mut environment = vec![
        (TASK_ID.to_owned(), task.as_str().to_owned()),
        ("BRATTICE_SANDBOX_MODE".to_owned(), profile.mode.as_str().to_owned()),
    ];
    if stdin == Stdin::Terminal {
        environment.push(("TERM".to_owned(), TERMINAL.to_owned()));
    }
    if profile.mode.is_confined() {
        environment.push(("TMPDIR".to_owned(), profile.temp.display().to_string()));
    }
    if profile.mode == Mode::ReadOnly {
        environment.push((GIT_LOCKS.to_owned(), "0".to_owned()));
    }
    environment
}

#[cfg(test)]
mod tests {
    use super::*;
    use brattice_policy::{Namespaces, Network, Root, RootKind};

    fn profile(mode: Mode) -> Profile {
        Profile {
            mode,
            network: Network::Full,
            roots: vec![Root { path: "/ws".into(), kind: RootKind::Workspace }],
            temp: "/state/tmp".into(),
            protect: Vec::new(),
            deny_read: Vec::new(),
            namespaces: Namespaces::Auto,
            devices: Vec::new(),
            unix_sockets: Vec::new(),
        }
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn a_session_is_named_and_secrets_are_not_passed_on() {
        let ambient =
            [("HOME", "/root"), ("API_KEY", "x"), ("BRATTICE_SOCKET", "/s"), ("TMPDIR", "/tmp/x")]
                .map(|(name, value)| (name.into(), value.into()));
        let (rules, profile) = (EnvironmentRules::default(), profile(Mode::ReadOnly));
        let environment = of_session(&rules, ambient, &SessionId::new("id"), &profile);
        let get = |name: &str| {
            environment.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value))
        };
        assert_eq!(get("HOME").as_deref(), Some("/root"));
        assert_eq!(get("BRATTICE_SESSION_ID").as_deref(), Some("id"));
        assert_eq!(get("BRATTICE_WORKSPACE").as_deref(), Some("/ws"));
        assert_eq!(get("TMPDIR").as_deref(), Some("/tmp/x"));
        assert_eq!((get("API_KEY"), get("BRATTICE_SOCKET")), (None, None));
    }

    #[test]
    fn b008_git_takes_no_optional_locks_where_nothing_may_be_written() {
        let task = TaskId::new("bash-1");
        assert_eq!(
            of_task(&profile(Mode::ReadOnly), &task, Stdin::Null),
            [
                pair("BRATTICE_TASK_ID", "bash-1"),
                pair("BRATTICE_SANDBOX_MODE", "read-only"),
                pair("TMPDIR", "/state/tmp"),
                pair("GIT_OPTIONAL_LOCKS", "0"),
            ]
        );
    }

    #[test]
    fn a_confined_task_has_the_private_temp_and_an_unconfined_one_the_hosts() {
        let task = TaskId::new("bash-1");
        assert_eq!(
            of_task(&profile(Mode::WorkspaceWrite), &task, Stdin::Null),
            [
                pair("BRATTICE_TASK_ID", "bash-1"),
                pair("BRATTICE_SANDBOX_MODE", "workspace-write"),
                pair("TMPDIR", "/state/tmp"),
            ]
        );
        assert_eq!(
            of_task(&profile(Mode::DangerFullAccess), &task, Stdin::Terminal),
            [
                pair("BRATTICE_TASK_ID", "bash-1"),
                pair("BRATTICE_SANDBOX_MODE", "danger-full-access"),
                pair("TERM", "xterm-256color"),
            ]
        );
    }
}
