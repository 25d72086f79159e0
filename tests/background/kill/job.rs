//! Short tasks of all kinds, each known by its number: what it runs, and what must be told of it.

use brattice_protocol::outcome::Cause;
use serde_json::{Value, json};

use super::random::Random;

/// Signals by which a shell ends itself.
const SIGNALS: [&str; 5] = ["KILL", "TERM", "HUP", "USR1", "ALRM"];

/// Lengths of output: none, some, all around what stays in memory, and more than one read takes.
const LENGTHS: [usize; 8] = [0, 1, 5_000, 63_999, 64_000, 64_001, 150_000, 400_000];

/// A task.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    number: usize,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// It does nothing else.
    Exit(i32),
    /// A program without a shell.
    Program(i32),
    /// A signal ends it.
    Signal(&'static str),
    /// It prints so many bytes on both streams.
    Print { stdout: usize, stderr: usize, code: i32 },
    /// It prints line by line.
    Lines { count: usize, pause_ms: u64, code: i32 },
    /// It takes a while.
    Sleep { ms: u64, code: i32 },
    /// It leaves a process that goes on for a while, and is over with it.
    Tree { ms: u64, code: i32 },
    /// Its time is over before it is.
    Overdue { limit_ms: u64 },
    /// Its client kills it.
    Killed,
    /// There is no such program.
    Missing,
}

/// What must be told of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) cause: Cause,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<String>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Job {
    /// The one of this number.
    pub(crate) fn new(number: usize, random: &mut Random) -> Job {
        let code = i32::try_from(random.between(0, 255)).expect("a code fits");
        let ms = random.between(0, 300);
        let kind = match random.between(1, 100) {
            1..=15 => Kind::Exit(code),
            16..=25 => Kind::Program(code),
            26..=35 => Kind::Signal(random.one_of(&SIGNALS)),
            36..=55 => {
                let (stdout, stderr) = (random.one_of(&LENGTHS), random.one_of(&LENGTHS));
                Kind::Print { stdout, stderr, code }
            }
            56..=65 => Kind::Lines { count: 20, pause_ms: ms / 20, code },
            66..=80 => Kind::Sleep { ms, code },
            81..=87 => Kind::Tree { ms, code },
            88..=92 => Kind::Overdue { limit_ms: ms + 1 },
            93..=97 => Kind::Killed,
            _ => Kind::Missing,
        };
        Job { number, kind }
    }

    /// What tells it from all others in a list of tasks.
    fn mark(&self) -> String {
        format!("job-{}.", self.number)
    }

    /// Whether a command in a list of tasks is this one.
    pub(crate) fn is(&self, command: &str) -> bool {
        command.contains(&self.mark())
    }

    /// Whether its client has to end it.
    pub(crate) fn is_to_be_killed(&self) -> bool {
        matches!(self.kind, Kind::Killed)
    }

    /// Whether it does not start.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.kind, Kind::Missing)
    }

    /// The parameters of `task.start`.
    pub(crate) fn params(&self) -> Value {
        let mark = self.mark();
        match &self.kind {
            Kind::Program(code) => json!({"argv": ["sh", "-c", format!("exit {code}"), mark]}),
            Kind::Missing => json!({"argv": [format!("/nonexistent/{mark}")]}),
            Kind::Overdue { limit_ms } => {
                json!({"command": self.command(), "timeout_ms": limit_ms})
            }
            _ => json!({"command": self.command()}),
        }
    }

    fn command(&self) -> String {
        let number = self.number;
        let seconds = |ms: &u64| format!("{}.{:03}", ms / 1000, ms % 1000);
        let body = match &self.kind {
            Kind::Exit(code) | Kind::Program(code) => format!("exit {code}"),
            Kind::Signal(name) => format!("kill -{name} $$"),
            Kind::Print { stdout, stderr, code } => format!(
                "yes {number} | head -c {stdout}; yes {number} | head -c {stderr} >&2; exit {code}"
            ),
            Kind::Lines { count, pause_ms, code } => {
                let pause = seconds(pause_ms);
                format!(
                    "for i in $(seq {count}); do echo {number}.$i; sleep {pause}; done; exit {code}"
                )
            }
            Kind::Sleep { ms, code } => format!("sleep {}; exit {code}", seconds(ms)),
            Kind::Tree { ms, code } => format!(
                "echo early {number}; (sleep {}; echo late {number}) & exit {code}",
                seconds(ms)
            ),
            Kind::Overdue { .. } | Kind::Killed | Kind::Missing => "exec sleep 600".to_owned(),
        };
        format!(": {}\n{body}", self.mark())
    }

    /// What must be told of it, unless its supervisor was killed.
    pub(crate) fn expected(&self) -> Expected {
        let number = self.number;
        let exited = |code: i32, stdout: Vec<u8>, stderr: Vec<u8>| Expected {
            cause: Cause::Exited,
            exit_code: Some(code),
            signal: None,
            stdout,
            stderr,
        };
        let ended = |cause: Cause, signal: &str| Expected {
            cause,
            exit_code: None,
            signal: Some(format!("SIG{signal}")),
            stdout: Vec::new(),
            stderr: Vec::new(),
        };
        match &self.kind {
            Kind::Exit(code) | Kind::Program(code) | Kind::Sleep { code, .. } => {
                exited(*code, Vec::new(), Vec::new())
            }
            Kind::Signal(name) => ended(Cause::Signaled, name),
            Kind::Print { stdout, stderr, code } => {
                let line = format!("{number}\n").into_bytes();
                let repeated = |bytes: usize| line.iter().copied().cycle().take(bytes).collect();
                exited(*code, repeated(*stdout), repeated(*stderr))
            }
            Kind::Lines { count, code, .. } => {
                let lines: String = (1..=*count).map(|i| format!("{number}.{i}\n")).collect();
                exited(*code, lines.into_bytes(), Vec::new())
            }
            Kind::Tree { code, .. } => {
                let lines = format!("early {number}\nlate {number}\n");
                exited(*code, lines.into_bytes(), Vec::new())
            }
            Kind::Overdue { .. } => ended(Cause::TimedOut, "TERM"),
            Kind::Killed => ended(Cause::Killed, "TERM"),
            Kind::Missing => Expected {
                cause: Cause::FailedToStart,
                exit_code: None,
                signal: None,
                stdout: Vec::new(),
                stderr: Vec::new(),
            },
        }
    }
}
