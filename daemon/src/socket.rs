//! A stream socket that is watched for what somebody waits for, and for nothing else.
//!
//! ```text
//!  split ──► Reader: watched for bytes to read, for life
//!       └──► Writer: written to at once; watched for room only while a write waits for some
//! ```
//!
//! The runtime's own sockets are watched for both all the time. Then each time that the other side reads, it has made room
//! and wakes a thread here, which finds nothing to do, and on the way the other side waits for that waking: an answer comes
//! that much later. Both ends are of one open file, which is non-blocking; the writer has a descriptor of its own, because a
//! descriptor can be watched once only (epoll_ctl(2), EEXIST).

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::net::{RecvFlags, SendFlags, Shutdown};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, Interest, ReadBuf};

/// What can be read of it.
#[derive(Debug)]
pub(crate) struct Reader(AsyncFd<OwnedFd>);

/// What can be written to it. Dropped, the other side reads to an end.
#[derive(Debug)]
pub(crate) struct Writer(OwnedFd);

/// Both ends of a socket. Called inside the runtime.
///
/// # Errors
/// This daemon may have no more descriptors, or watch no more of them.
pub(crate) fn split(stream: UnixStream) -> io::Result<(Reader, Writer)> {
    stream.set_nonblocking(true)?;
    let writer = Writer(stream.try_clone()?.into());
    Ok((Reader(watch(stream.into(), Interest::READABLE)?), writer))
}

/// Returns once a socket takes bytes again. It is watched by a descriptor that nobody watches yet.
///
/// # Errors
/// It cannot be watched.
pub(crate) async fn room(socket: impl AsFd) -> io::Result<()> {
    let watched = watch(socket.as_fd().try_clone_to_owned()?, Interest::WRITABLE)?;
    watched.writable().await.map(drop)
}

/// Watches a descriptor for one thing. Called inside the runtime.
///
/// # Errors
/// There may be no more that are watched.
pub(crate) fn watch(socket: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    #[expect(
        deprecated,
        reason = "its successor is unsafe for what may lend another descriptor later; this lends its own for life"
    )]
    AsyncFd::with_interest(socket, interest)
}

impl AsyncRead for Reader {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut readiness = ready!(self.0.poll_read_ready(context))?;
            let room = buffer.initialize_unfilled();
            let wanted = room.len();
            let read = readiness.try_io(|socket| {
                let (read, _) = rustix::net::recv(socket, room, RecvFlags::empty())?;
                Ok(read)
            });
            match read {
                Ok(Ok(read)) => {
                    // There was no more, and what comes later is told anew (epoll(7), question 9): spares the call that
                    // would find nothing.
                    if 0 < read && read < wanted {
                        readiness.clear_ready();
                    }
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Poll::Ready(Err(error)),
                Err(_would_block) => {}
            }
        }
    }
}

impl Writer {
    /// Writes as much as there is room for.
    ///
    /// # Errors
    /// `WouldBlock` where there is none; else the kernel's answer.
    pub(crate) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        // No signal for a peer that is gone: the runtime's own sockets ask for the same.
        Ok(rustix::io::retry_on_intr(|| rustix::net::send(&self.0, bytes, SendFlags::NOSIGNAL))?)
    }

    /// Writes some of the bytes, once there is room. Cancel safe.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => room(&self.0).await?,
                other => return other,
            }
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // A peer that is gone needs not be told.
        rustix::net::shutdown(&self.0, Shutdown::Write).ok();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::time::Duration;

    use tokio::io::AsyncReadExt as _;

    use super::*;

    const LARGE: usize = 4 << 20;

    #[tokio::test]
    async fn a_write_waits_for_room_and_the_end_is_told() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let (_reader, writer) = split(near).unwrap();
        let sent: Vec<u8> = (0..LARGE).map(|at| (at / 7) as u8).collect();
        let reading = tokio::task::spawn_blocking(move || {
            std::thread::sleep(Duration::from_millis(50));
            let mut all = Vec::new();
            far.read_to_end(&mut all).unwrap();
            all
        });
        let mut left = &sent[..];
        while !left.is_empty() {
            left = &left[writer.write(left).await.unwrap()..];
        }
        drop(writer);
        assert!(reading.await.unwrap() == sent, "the bytes are others");
    }

    #[tokio::test]
    async fn what_comes_in_pieces_is_read_to_its_end() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let (mut reader, _writer) = split(near).unwrap();
        let sending = tokio::task::spawn_blocking(move || {
            for piece in 0..40u8 {
                far.write_all(&vec![piece; 1 + usize::from(piece) * 997]).unwrap();
                std::thread::sleep(Duration::from_millis(u64::from(piece % 3)));
            }
        });
        let mut all = Vec::new();
        reader.read_to_end(&mut all).await.unwrap();
        sending.await.unwrap();
        let expected: Vec<u8> =
            (0..40u8).flat_map(|piece| vec![piece; 1 + usize::from(piece) * 997]).collect();
        assert!(all == expected, "the bytes are others");
    }

    #[tokio::test]
    async fn a_peer_that_is_gone_is_an_error_and_no_signal() {
        let (near, far) = UnixStream::pair().unwrap();
        let (_reader, writer) = split(near).unwrap();
        drop(far);
        assert_eq!(writer.write(b"x").await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
