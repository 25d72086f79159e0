//! F18, P6: terminals of other sessions are neither read nor acquired, and what is no device is read as ever.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use brattice_tests::{CONFINED, World};

use crate::attack::{Attack, Record};

/// Keeps a terminal: `put` types a line into it, `get` reads it as its owner does.
const KEEPER: &str = r#"
import os, pty, select, sys
keyboard, terminal = pty.openpty()
print(os.ttyname(terminal), flush=True)
for word in sys.stdin:
    if word == "put\n":
        os.write(keyboard, b"secret\n")
        answer = "typed"
    elif select.select([terminal], [], [], 10)[0]:
        answer = os.read(terminal, 64).decode().strip()
    else:
        answer = "stolen"
    print(answer, flush=True)
"#;

/// A terminal of somebody outside every sandbox.
struct Terminal {
    keeper: Child,
    words: ChildStdin,
    answers: BufReader<ChildStdout>,
    path: String,
}

impl Terminal {
    fn new() -> Self {
        let mut keeper = Command::new("python3")
            .args(["-B", "-c", KEEPER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let words = keeper.stdin.take().unwrap();
        let answers = BufReader::new(keeper.stdout.take().unwrap());
        let mut terminal = Terminal { keeper, words, answers, path: String::new() };
        terminal.path = terminal.answer();
        terminal
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Somebody types a line.
    fn type_line(&mut self) {
        writeln!(self.words, "put").unwrap();
        assert_eq!(self.answer(), "typed");
    }

    /// What its owner reads.
    fn read_line(&mut self) -> String {
        writeln!(self.words, "get").unwrap();
        self.answer()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.keeper.kill().ok();
        self.keeper.wait().ok();
    }
}

#[test]
fn f18_what_is_typed_into_a_terminal_reaches_its_owner_only() {
    let world = World::new();
    let mut terminal = Terminal::new();
    let steal = format!("timeout 3 cat {}", terminal.path);
    for mode in CONFINED {
        let session = world.session(mode).open();
        terminal.type_line();
        session.run(&steal).exits(1).lacks("secret").holds("Permission denied");
        session.run(&format!("read -t 3 line < {}", terminal.path)).exits(1).lacks("secret");
        assert_eq!(terminal.read_line(), "secret", "{mode}");
    }
    terminal.type_line();
    assert!(world.native(&steal).stdout.contains("secret"), "the twin takes what was typed");
    world.finish();
}

#[test]
fn p6_no_terminal_is_opened_or_acquired() {
    let world = World::new();
    let terminal = Terminal::new();
    Attack {
        steps: r#"
path = sys.argv[1]
attempt("read", os.open, path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
attempt("readwrite", os.open, path, os.O_RDWR | os.O_NOCTTY)
attempt("ptmx", os.open, "/dev/ptmx", os.O_RDONLY | os.O_NOCTTY)
attempt("pts-ptmx", os.open, "/dev/pts/ptmx", os.O_RDONLY | os.O_NOCTTY)
def acquire():
    os.setsid()
    try: os.open(path, os.O_RDONLY)
    except PermissionError: pass
    os.open("/dev/tty", os.O_RDWR)
attempt("acquire", in_child, acquire)
"#,
        confined: "read EACCES\nreadwrite EACCES\nptmx EACCES\npts-ptmx EACCES\nacquire ENXIO",
        native: "read ok\nreadwrite ok\nptmx ok\npts-ptmx ok|EACCES\nacquire ok",
        ..Attack::default()
    }
    .run_in(&world, &terminal.path, &terminal.path);
    world.finish();
}

#[test]
fn f18_what_is_no_terminal_is_read_as_ever() {
    let outcomes = "null ok\nzero ok\nurandom ok\nread ok\nsys ok|ENOENT\nlist ok\nshm ok";
    Attack {
        steps: r#"
for name in ("null", "zero", "urandom"):
    attempt(name, lambda: open("/dev/" + name, "rb", buffering=0).read(1))
for path in ("/etc/passwd", "/usr/bin/env", "/proc/self/status", "/proc/cpuinfo", "/proc/self/fd/0"):
    attempt("read", lambda: open(path, "rb", buffering=0).read(1))
attempt("sys", os.listdir, "/sys/kernel/mm")
for path in ("/", "/dev", "/etc", "/usr", "/proc", WS, HOME, OUT):
    attempt("list", os.listdir, path)
from multiprocessing import shared_memory
def shared():
    memory = shared_memory.SharedMemory(create=True, size=64)
    memory.buf[0] = 7
    again = shared_memory.SharedMemory(name=memory.name)
    if again.buf[0] != 7: raise OSError(errno.EIO, "")
    again.close(); memory.close(); memory.unlink()
attempt("shm", shared)
"#,
        confined: outcomes,
        native: outcomes,
        record: Record::Nothing,
        ..Attack::default()
    }
    .run();
    let world = World::new();
    for mode in CONFINED {
        let session = world.session(mode).open();
        session
            .run("cat /dev/stdin; echo out > /dev/fd/1; echo err > /dev/stderr")
            .exits(0)
            .says("out\n[stderr]\nerr");
        session.run("echo piped | cat /dev/stdin; cat <(echo named) /dev/fd/3 3<<< here").exits(0);
        session.run("/usr/bin/env true && ls /dev | grep -qx null").exits(0);
    }
    world.finish();
}
