//! A world and the client's binary pointed at its sockets.

use std::process::Command;

use brattice_tests::{Native, World, brattice};

/// A `brattice` command in a world.
pub(crate) fn client(world: &World, arguments: &[&str]) -> Command {
    let mut command = world.command(brattice().to_str().unwrap());
    command
        .args(arguments)
        .env("BRATTICE_SOCKET", world.socket())
        .env("BRATTICE_CONTROL_SOCKET", world.control())
        .env("BRATTICE_STATE", world.state());
    command
}

/// Runs it to its end.
pub(crate) fn brattice_in(world: &World, arguments: &[&str]) -> Native {
    Native::run(&mut client(world, arguments))
}

/// What a command that exits with a code says on its streams.
pub(crate) fn ended(code: i32, stdout: &str, stderr: &str) -> Native {
    Native { code: Some(code), signal: None, stdout: stdout.to_owned(), stderr: stderr.to_owned() }
}
