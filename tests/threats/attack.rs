//! An attempt, made in both confined modes and natively, by a Python program that prints an errno for each of its steps.

use std::process::{Child, Command};

use brattice_protocol::outcome::CommandOutcome;
use brattice_tests::{CONFINED, World};

/// What an attack's program begins with. `IN` is a folder that the mode lets it write; `attempt` makes a step, and at the
/// end each step's name is printed with its outcomes.
const PRELUDE: &str = r#"
import ctypes, errno, os, signal, socket, stat, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
WS, OUT, HOME = (os.environ[name] for name in ("WS", "OUT", "HOME"))
IN = os.environ.get("TMPDIR", WS)
AT_FDCWD = -100
outcomes = {}

def call(number, *arguments):
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(number), *words)
    if result == -1:
        raise OSError(ctypes.get_errno(), "")
    return result

def attempt(name, step, *arguments):
    try:
        step(*arguments)
        outcome = "ok"
    except OSError as error:
        outcome = errno.errorcode.get(error.errno, str(error.errno))
    outcomes.setdefault(name, set()).add(outcome)

def in_child(step):
    """Makes a step in a child, so that its effects or its end stay there."""
    child = os.fork()
    if child == 0:
        code = 0
        try:
            step()
        except OSError as error:
            code = error.errno
        except BaseException:
            code = 255
        os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        raise OSError(1000 + os.WTERMSIG(status), "")
    if os.WEXITSTATUS(status):
        raise OSError(os.WEXITSTATUS(status), "")

def write(path, flags=os.O_WRONLY | os.O_CREAT):
    fd = os.open(path, flags, 0o600)
    os.write(fd, b"OWNED")
    os.close(fd)
"#;

/// What an attack's program ends with.
const EPILOGUE: &str = r#"
for name, seen in outcomes.items():
    print(name, ",".join(sorted(seen)))
"#;

/// An attack.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attack<'a> {
    /// A shell text that prepares the victim, anew before each run.
    pub(crate) setup: &'a str,
    /// The Python program's middle part.
    pub(crate) steps: &'a str,
    /// A shell text that shows the victim's state: the same after a confined run, another after the twin. Empty: there is
    /// no victim but a kernel that says yes.
    pub(crate) victim: &'a str,
    /// The steps' names and outcomes, a line each, when confined. `A|B`: either.
    pub(crate) confined: &'a str,
    /// The same of the twin.
    pub(crate) native: &'a str,
    /// Whether what was refused is on record.
    pub(crate) record: Record,
}

/// What is on record of an attack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Record {
    /// Its refusals.
    #[default]
    Some,
    /// Nothing: it was refused where no observer looks, or was no attack.
    Nothing,
}

impl Attack<'_> {
    /// Makes the attack in a world of its own.
    #[track_caller]
    pub(crate) fn run(&self) {
        let world = World::new();
        self.run_in(&world, "", "");
        world.finish();
    }

    /// Makes the attack with arguments for the program.
    #[track_caller]
    pub(crate) fn run_in(&self, world: &World, confined: &str, native: &str) {
        self.run_by(world, confined, &format!("python3 -B $OUT/attack.py {native}"));
    }

    /// Makes the attack; the twin is the owner of a user namespace, who may do there what only root may do outside.
    #[track_caller]
    pub(crate) fn run_with_twin_in_a_user_namespace(&self) {
        let world = World::new();
        self.run_by(&world, "", "unshare -rmn python3 -B $OUT/attack.py");
        world.finish();
    }

    fn assert_recorded(&self, mode: &str, outcome: &CommandOutcome) {
        let total = outcome.denials_total;
        match self.record {
            Record::Some => assert!(total > Some(0), "{mode}: nothing is on record: {outcome:?}"),
            Record::Nothing => assert_eq!(total, Some(0), "{mode}: {:?}", outcome.denials),
        }
    }

    fn run_by(&self, world: &World, confined: &str, native: &str) {
        let program = world.out().join("attack.py");
        std::fs::write(&program, self::program(self.steps)).unwrap();
        for mode in CONFINED {
            world.setup(self.setup);
            let before = world.native(self.victim).stdout;
            let reply =
                world.session(mode).open().run(&format!("python3 -B $OUT/attack.py {confined}"));
            assert_outcomes(&format!("confined, {mode}"), &reply.printed(), self.confined);
            self.assert_recorded(mode, reply.outcome());
            assert_eq!(world.native(self.victim).stdout, before, "{mode}: the victim is untouched");
        }
        world.setup(self.setup);
        let before = world.native(self.victim).stdout;
        let twin = world.native(native);
        assert_outcomes("native", &(twin.stdout + &twin.stderr), self.native);
        if !self.victim.is_empty() {
            assert_ne!(world.native(self.victim).stdout, before, "the twin must harm the victim");
        }
    }
}

/// The whole program around these steps.
pub(crate) fn program(steps: &str) -> String {
    format!("{PRELUDE}{steps}{EPILOGUE}")
}

/// Asserts that each step had one of its expected outcomes, and that no step is missing.
#[track_caller]
pub(crate) fn assert_outcomes(what: &str, text: &str, expected: &str) {
    let lines: Vec<&str> = text.trim().lines().collect();
    let wanted: Vec<&str> = expected.trim().lines().map(str::trim).collect();
    let fits = lines.len() == wanted.len()
        && lines.iter().zip(&wanted).all(|(line, wanted)| {
            match (line.split_once(' '), wanted.split_once(' ')) {
                (Some((step, outcomes)), Some((name, allowed))) => {
                    step == name
                        && outcomes
                            .split(',')
                            .all(|outcome| allowed.split('|').any(|other| other == outcome))
                }
                _ => false,
            }
        });
    assert!(fits, "{what}: expected\n{}\nnot\n{text}", wanted.join("\n"));
}

/// A process outside every sandbox that does nothing, for commands to attack.
pub(crate) struct Bystander(Child);

impl Bystander {
    /// Starts it.
    pub(crate) fn start() -> Self {
        Bystander(Command::new("sleep").arg("900").spawn().unwrap())
    }

    /// Its number.
    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Asserts that it still runs.
    #[track_caller]
    pub(crate) fn lives(&mut self) {
        assert_eq!(self.0.try_wait().unwrap(), None);
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
