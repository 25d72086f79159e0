//! Worlds with a configuration.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use brattice_protocol::RpcError;
use brattice_protocol::audit::{Event, Line, Tail};
use brattice_tests::{Wire, World, WorldBuilder};
use serde_json::{Value, json};

/// Where the user's configuration of a world is.
pub(crate) fn users(root: &Path) -> PathBuf {
    root.join("home/.config/brattice/config.toml")
}

/// Where the operator's configuration of a world is that was made by [`with_operator`].
pub(crate) fn operators(root: &Path) -> PathBuf {
    root.join("etc/brattice/config.toml")
}

/// The folder of a world.
pub(crate) fn root(world: &World) -> PathBuf {
    world.ws().parent().unwrap().to_owned()
}

/// Writes a configuration that nobody else may write to.
pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::set_permissions(path.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

/// A world to be started whose user has this configuration.
pub(crate) fn configured(text: &str) -> WorldBuilder {
    let builder = World::builder();
    write(&users(builder.root()), text);
    builder
}

/// The same with an operator's configuration: the daemon sees another `/etc`.
pub(crate) fn with_operator(builder: WorldBuilder, text: &str) -> WorldBuilder {
    let etc = builder.root().join("etc");
    write(&operators(builder.root()), text);
    fs::copy("/etc/passwd", etc.join("passwd")).unwrap();
    let mount = format!("mount --bind '{}' /etc && exec {{}}", etc.display());
    builder.wrapper(&["unshare", "-rm", "sh", "-c", &mount])
}

/// An operator's request.
pub(crate) fn operator(world: &World, method: &str) -> Result<Value, RpcError> {
    Wire::open(&world.control()).request(method, json!({}))
}

/// The audit log's events.
pub(crate) fn events(world: &World) -> Vec<Event> {
    let answer = Wire::open(&world.control()).request("audit.tail", json!({"lines": 1000}));
    let tail: Tail = serde_json::from_value(answer.unwrap()).unwrap();
    let event = |line| serde_json::from_value::<Line>(line).unwrap().event;
    tail.lines.into_iter().map(event).collect()
}
