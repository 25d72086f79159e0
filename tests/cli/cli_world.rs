//! What tests of the command line need besides the client's binary in a world: configurations and ends.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use brattice_tests::{Native, World};
pub(crate) use brattice_tests::{brattice_in, client};

/// Another configuration of the world's user, for whatever reads it next.
pub(crate) fn configure(world: &World, text: &str) -> PathBuf {
    let path = world.home().join(".config/brattice/config.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    path
}

/// What a command that exits with a code says on its streams.
pub(crate) fn ended(code: i32, stdout: &str, stderr: &str) -> Native {
    Native { code: Some(code), signal: None, stdout: stdout.to_owned(), stderr: stderr.to_owned() }
}
