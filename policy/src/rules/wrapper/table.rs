//! Programs whose words are their options, and then a command.

/// How to find the command in the words of a program.
pub(super) struct Wrapper {
    /// The program.
    pub(super) name: &'static str,
    /// Short options without a value.
    pub(super) flags: &'static str,
    /// Short options whose value follows, in the same word or in the next one.
    pub(super) valued: &'static str,
    /// Long options whose value may be the next word.
    pub(super) long_valued: &'static [&'static str],
    /// Long options without a value, or whose value follows `=`.
    pub(super) long_flags: &'static [&'static str],
    /// Options with which no command follows.
    pub(super) ends: &'static [&'static str],
    /// Words before the command.
    pub(super) operands: usize,
    /// Whether assignments may stand before the command.
    pub(super) assignments: Assignments,
}

/// Whether assignments may stand before the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assignments {
    /// They are passed over.
    PassedOver,
    /// A word with an equals sign is the command.
    None,
}

const PLAIN: Wrapper = Wrapper {
    name: "",
    flags: "",
    valued: "",
    long_valued: &[],
    long_flags: &[],
    ends: &["--help", "--version"],
    operands: 0,
    assignments: Assignments::None,
};

static WRAPPERS: [Wrapper; 28] = [
    Wrapper {
        name: "env",
        flags: "i0v",
        valued: "uCP",
        long_valued: &["unset", "chdir", "argv0"],
        long_flags: &[
            "ignore-environment",
            "null",
            "debug",
            "block-signal",
            "default-signal",
            "ignore-signal",
            "list-signal-handling",
        ],
        assignments: Assignments::PassedOver,
        ..PLAIN
    },
    Wrapper {
        name: "timeout",
        flags: "vpf",
        valued: "ks",
        long_valued: &["kill-after", "signal"],
        long_flags: &["foreground", "preserve-status", "verbose"],
        operands: 1,
        ..PLAIN
    },
    Wrapper { name: "nohup", ..PLAIN },
    Wrapper {
        name: "nice",
        flags: "0123456789",
        valued: "n",
        long_valued: &["adjustment"],
        ..PLAIN
    },
    Wrapper { name: "setsid", flags: "cfw", long_flags: &["ctty", "fork", "wait"], ..PLAIN },
    Wrapper { name: "stdbuf", valued: "ioe", long_valued: &["input", "output", "error"], ..PLAIN },
    Wrapper {
        name: "time",
        flags: "apqv",
        valued: "fo",
        long_valued: &["format", "output"],
        long_flags: &["append", "portability", "quiet", "verbose"],
        ..PLAIN
    },
    Wrapper { name: "command", flags: "p", ends: &["-v", "-V", "-pv", "-pV"], ..PLAIN },
    Wrapper { name: "exec", flags: "cl", valued: "a", ..PLAIN },
    Wrapper { name: "builtin", ..PLAIN },
    Wrapper {
        name: "sudo",
        flags: "ABbEHknPSisN",
        valued: "CDghpRrtTUu",
        long_valued: &[
            "close-from",
            "chdir",
            "group",
            "host",
            "prompt",
            "chroot",
            "role",
            "type",
            "command-timeout",
            "other-user",
            "user",
        ],
        long_flags: &[
            "askpass",
            "background",
            "bell",
            "preserve-env",
            "set-home",
            "non-interactive",
            "preserve-groups",
            "stdin",
            "login",
            "shell",
            "no-update",
        ],
        ends: &["--help", "--version", "-V", "-v", "-K", "-l"],
        assignments: Assignments::PassedOver,
        ..PLAIN
    },
    Wrapper { name: "doas", flags: "nsL", valued: "Cu", ..PLAIN },
    Wrapper {
        name: "ionice",
        flags: "t",
        valued: "cn",
        long_valued: &["class", "classdata"],
        long_flags: &["ignore"],
        ends: &["-p", "-P", "-u"],
        ..PLAIN
    },
    Wrapper {
        name: "chrt",
        flags: "abdfiorRvm",
        valued: "TPD",
        long_valued: &["sched-runtime", "sched-period", "sched-deadline"],
        long_flags: &[
            "all-tasks",
            "batch",
            "deadline",
            "fifo",
            "idle",
            "other",
            "rr",
            "reset-on-fork",
            "verbose",
        ],
        ends: &["--help", "--version", "-p", "--pid"],
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        name: "taskset",
        flags: "ac",
        long_flags: &["all-tasks", "cpu-list"],
        ends: &["--help", "--version", "-p", "--pid"],
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        name: "chroot",
        long_valued: &["groups", "userspec"],
        long_flags: &["skip-chdir"],
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        name: "unshare",
        flags: "imnpuUTCfrc",
        valued: "SGRw",
        long_valued: &[
            "setuid",
            "setgid",
            "root",
            "wd",
            "map-user",
            "map-group",
            "map-users",
            "map-groups",
            "propagation",
            "setgroups",
            "boottime",
            "monotonic",
        ],
        long_flags: &[
            "ipc",
            "mount",
            "net",
            "pid",
            "uts",
            "user",
            "time",
            "cgroup",
            "fork",
            "map-root-user",
            "map-current-user",
            "map-auto",
            "mount-proc",
            "kill-child",
            "keep-caps",
        ],
        ..PLAIN
    },
    Wrapper {
        name: "setpriv",
        long_valued: &[
            "ambient-caps",
            "inh-caps",
            "bounding-set",
            "ruid",
            "euid",
            "reuid",
            "rgid",
            "egid",
            "regid",
            "groups",
            "securebits",
            "pdeathsig",
            "selinux-label",
            "apparmor-profile",
            "landlock-access",
            "landlock-rule",
            "seccomp-filter",
            "ptracer",
        ],
        long_flags: &[
            "clear-groups",
            "keep-groups",
            "init-groups",
            "no-new-privs",
            "nnp",
            "reset-env",
            "dump",
        ],
        ..PLAIN
    },
    Wrapper {
        name: "strace",
        flags: "cCdDfFhiknqrtTvVwxyYzZA",
        valued: "abeEIoOpPsSuUX",
        long_valued: &[
            "trace",
            "output",
            "attach",
            "string-limit",
            "user",
            "env",
            "columns",
            "summary-sort-by",
            "trace-path",
        ],
        long_flags: &[
            "follow-forks",
            "summary",
            "summary-only",
            "decode-fds",
            "seccomp-bpf",
            "no-abbrev",
            "quiet",
            "syscall-times",
            "relative-timestamps",
        ],
        ..PLAIN
    },
    Wrapper { name: "ltrace", flags: "bcCfhiLrStTV", valued: "aAdeDFlnopsuwx", ..PLAIN },
    Wrapper {
        name: "fakeroot",
        flags: "uh",
        valued: "lsifb",
        long_valued: &["lib", "faked", "save-file", "load-file", "fd-base"],
        long_flags: &["unknown-is-real"],
        ..PLAIN
    },
    Wrapper { name: "unbuffer", flags: "p", ..PLAIN },
    Wrapper { name: "chronic", flags: "ev", ..PLAIN },
    Wrapper { name: "linux32", flags: "3BFILRSTXZv", ..PLAIN },
    Wrapper { name: "linux64", flags: "3BFILRSTXZv", ..PLAIN },
    Wrapper { name: "busybox", ..PLAIN },
    Wrapper { name: "toybox", ..PLAIN },
    Wrapper { name: "dbus-run-session", long_valued: &["config-file", "dbus-daemon"], ..PLAIN },
];

impl Wrapper {
    /// The program of that name, where it is one.
    pub(super) fn of(name: &str) -> Option<&'static Wrapper> {
        WRAPPERS.iter().find(|wrapper| wrapper.name == name)
    }
}
