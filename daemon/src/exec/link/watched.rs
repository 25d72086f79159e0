//! Descriptors that the runtime knows no type for: a process, a terminal, a pipe.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A descriptor whose readiness the runtime tells. It must be one that epoll(7) takes, set not to wait.
#[expect(
    deprecated,
    reason = "it is unsound for types whose descriptor changes; that of an `OwnedFd` never does"
)]
pub(super) fn watched(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(fd, interest)
}
