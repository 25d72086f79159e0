//! The client's binary in a world: run to its end, or on a terminal of its own.

use std::process::{Command, Stdio};

use crate::binaries::brattice;
use crate::native::Native;
use crate::world::World;

/// A program in a world, below which `brattice` finds the world's daemon.
pub fn pointed(world: &World, program: &str) -> Command {
    let mut command = world.command(program);
    command
        .env("BRATTICE_SOCKET", world.socket())
        .env("BRATTICE_CONTROL_SOCKET", world.control())
        .env("BRATTICE_STATE", world.state());
    command
}

/// A `brattice` command in a world, with nothing to read.
///
/// # Panics
/// When the binary's path is not UTF-8.
pub fn client(world: &World, arguments: &[&str]) -> Command {
    let mut command = pointed(world, brattice().to_str().expect("the path is UTF-8"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Runs it to its end.
///
/// # Panics
/// When it does not end.
pub fn brattice_in(world: &World, arguments: &[&str]) -> Native {
    Native::run(&mut client(world, arguments))
}

/// Runs a program on a terminal of its own, types the next line each time it asks for one, and prints all that it showed and
/// its status. It fails where more is asked than there are lines.
const TERMINAL: &str = r#"
import os, pty, sys
answers, words = sys.argv[1].split("\n"), sys.argv[2:]
prompts = [b"Allow? [", b"own words): ", b"be different] "]
child, terminal = pty.fork()
if child == 0:
    os.execv(words[0], words)
shown, answered = b"", 0
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    shown += piece
    while answered < sum(map(shown.count, prompts)):
        os.write(terminal, answers[answered].encode() + b"\n")
        answered += 1
_, status = os.waitpid(child, 0)
print(shown.decode().replace("\r\n", "\n"), end="")
print("status", os.waitstatus_to_exitcode(status))
"#;

/// Runs `brattice` on a terminal on which a person answers with these lines. Tells all that was shown, and then its status.
///
/// # Panics
/// When it does not end, or asks for more.
#[track_caller]
pub fn on_a_terminal(world: &World, answers: &[&str], arguments: &[&str]) -> String {
    let brattice = brattice();
    let mut command = pointed(world, "/usr/bin/python3");
    command.args(["-c", TERMINAL, &answers.join("\n")]).arg(brattice).args(arguments);
    let told = Native::run(&mut command);
    told.succeeded();
    told.stdout
}
