//! A world and the client's binary pointed at its sockets.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use brattice_tests::{Native, World, brattice};

/// Another configuration of the world's user, for whatever reads it next.
pub(crate) fn configure(world: &World, text: &str) -> PathBuf {
    let path = world.home().join(".config/brattice/config.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    path
}

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
