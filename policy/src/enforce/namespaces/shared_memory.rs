//! A private `/dev/shm`.

use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::io::Errno;

use super::NamespaceError;
use super::mounts::{memory, pin, put};
use crate::profile::SHARED_MEMORY;

/// As the machine's own: open to all of the namespace, and half of the memory at most.
const OPTIONS: [(&str, &str); 2] = [("mode", "1777"), ("size", "50%")];

/// Mounts it where the machine has one.
pub(super) fn place() -> Result<(), NamespaceError> {
    let path = Path::new(SHARED_MEMORY);
    let at = match pin(path) {
        Err(Errno::NOENT) => return Ok(()),
        other => other,
    };
    at.and_then(|at| put(memory(&OPTIONS)?.as_fd(), at.as_fd())).map_err(|errno| {
        NamespaceError::Mount { what: "mount a private", path: path.to_owned(), errno }
    })
}
