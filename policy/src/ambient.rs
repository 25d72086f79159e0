//! Denials that successful commands have: programs try, are refused, shrug and go on. They are counted apart, for they
//! would mark every build as denied and ground an escalation for nothing.
//!
//! A row is a program's known habit, as narrow as it can be said, with its reason.

use crate::denial::DeniedOperation;

/// A habit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ambient {
    /// The program's name as the kernel tells it (`comm`); `None` for any.
    pub program: Option<&'static str>,
    /// What it tries.
    pub operation: DeniedOperation,
    /// The end of the path, from a slash on, or a call's name; a `*` at the end of a name stands for its rest.
    pub path: &'static str,
    /// What for, and why its refusal says nothing.
    pub reason: &'static str,
}

use DeniedOperation::{Call, Create, Link, Remove, Rename, Write};

const fn row(
    program: Option<&'static str>,
    operation: DeniedOperation,
    path: &'static str,
    reason: &'static str,
) -> Ambient {
    Ambient { program, operation, path, reason }
}

const CARGO: &str = "cargo notes when its cache was used, and does without";
const CARGO_HOME: &str = "cargo makes its home where it can, and builds from a workspace without";
const GIT_CLONE: &str =
    "git clone links the objects of a repository beside it, and copies them where it may not";
const IO_URING: &str = "a runtime asks whether there is io_uring, and takes another way";
const JVM: &str = "a JVM tells its tools about itself, and does without";
const NPM: &str = "npm keeps a log and asks for news where it can, and runs a script without";
const SCORE: &str = "a program names itself or its worth to the kernel; a refusal changes nothing";
const PYTHON: &str = "Python keeps compiled modules beside their source where it can";

/// The table.
pub const TABLE: &[Ambient] = &[
    row(Some("cargo"), Create, "/.package-cache", CARGO),
    row(Some("cargo"), Write, "/.package-cache", CARGO),
    row(Some("cargo"), Create, "/.package-cache-mutate", CARGO),
    row(Some("cargo"), Write, "/.package-cache-mutate", CARGO),
    row(Some("cargo"), Create, "/.global-cache*", CARGO),
    row(Some("cargo"), Write, "/.global-cache*", CARGO),
    row(Some("cargo"), Write, "/.crates.toml", CARGO),
    row(Some("cargo"), Write, "/.crates2.json", CARGO),
    row(Some("cargo"), Create, "/.cargo", CARGO_HOME),
    row(Some("git"), Link, "/objects/*/*", GIT_CLONE),
    row(None, Write, "/proc/*/coredump_filter", JVM),
    row(None, Create, "/hsperfdata_*", JVM),
    row(None, Remove, "/hsperfdata_*", JVM),
    row(None, Create, "/hsperfdata_*/*", JVM),
    row(None, Remove, "/hsperfdata_*/*", JVM),
    row(None, Call, "/io_uring_setup", IO_URING),
    row(None, Write, "/proc/*/oom_score_adj", SCORE),
    row(None, Write, "/proc/*/comm", SCORE),
    row(None, Write, "/proc/*/task/*/comm", SCORE),
    row(Some("python3"), Create, "/__pycache__", PYTHON),
    row(Some("python"), Create, "/__pycache__", PYTHON),
    row(None, Create, "/.npm", NPM),
    row(None, Create, "/.npm/_logs", NPM),
    row(None, Create, "/.npm/_logs/*", NPM),
    row(None, Create, "/.npm/_update-notifier-last-checked", NPM),
    row(None, Write, "/.npm/_update-notifier-last-checked", NPM),
    row(Some("cargo"), Rename, "/.global-cache*", CARGO),
];

/// The reason why a denial is ambient, if it is.
pub fn reason(program: &str, operation: DeniedOperation, path: &str) -> Option<&'static str> {
    TABLE
        .iter()
        .find(|row| {
            row.operation == operation
                && row.program.is_none_or(|name| name == program)
                && ends_with(path, row.path)
        })
        .map(|row| row.reason)
}

fn ends_with(path: &str, end: &str) -> bool {
    let mut names = path.rsplit('/');
    end[1..].rsplit('/').all(|wanted| {
        names.next().is_some_and(|name| match wanted.strip_suffix('*') {
            None => name == wanted,
            Some(begin) => name.starts_with(begin),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_habit_is_known_by_program_operation_and_name() {
        let known = |program, operation, path| reason(program, operation, path).is_some();
        assert!(known("cargo", Write, "/home/u/.cargo/.package-cache"));
        assert!(known("cargo", Create, "/home/u/.cargo/.global-cache-journal"));
        assert!(known("java", Create, "/tmp/hsperfdata_u"));
        assert!(known("node", Call, "io_uring_setup"));
        assert!(known("git", Link, "/srv/origin/.git/objects/bb/d6229c"));
        assert!(!known("git", Link, "/srv/origin/.git/hooks"));
        assert!(!known("cargo", Create, "/home/u/my.cargo"));
        assert!(!known("bash", Write, "/home/u/.cargo/.package-cache"));
        assert!(!known("cargo", Remove, "/home/u/.cargo/.package-cache"));
        assert!(known("java", Create, "/tmp/hsperfdata_u/17"));
        assert!(!known("java", Create, "/tmp/hsperfdata_u/17/x"));
        assert!(!known("cargo", Write, "/home/u/.cargo/config.toml"));
        assert!(known("node", Write, "/proc/17/task/18/comm"));
        assert!(!known("bash", Write, "/usr/local/bin/comm"));
        assert!(known("npm test", Create, "/home/u/.npm/_logs"));
        assert!(known(
            "npm run build",
            Create,
            "/home/u/.npm/_logs/2026-12-01T00_00_00_000Z-debug-0.log"
        ));
        assert!(!known("npm install", Create, "/home/u/.npm/_cacache/tmp/x"));
    }
}
