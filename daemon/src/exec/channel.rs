//! Messages between Brattice's own processes: JSON in packets over a Unix socket pair, with descriptors beside them.
//!
//! `SOCK_SEQPACKET` keeps a message and its descriptors together and tells a closed peer from an empty message. Large
//! things (a command's text, an environment) never stand in a message: they travel as memory files.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longest message in bytes, well below a socket's default buffer (212,992 bytes).
const MAX_MESSAGE: usize = 128 << 10;

/// Most descriptors of one message.
const MAX_DESCRIPTORS: usize = 4;

/// Why a message could not be sent or received.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChannelError {
    /// The peer does not read, and this side must not wait.
    #[error("the peer's queue is full")]
    Full,
    /// The peer is gone.
    #[error("the peer is gone")]
    Closed,
    /// The kernel's answer.
    #[error("a message between processes failed")]
    Socket(#[source] Errno),
    /// A message that is no message of this version.
    #[error("a message between processes has a wrong shape")]
    Shape(#[source] serde_json::Error),
    /// More than a message may hold.
    #[error("a message between processes is too large")]
    TooLarge,
}

/// One end of a socket pair, held by a descriptor or by a runtime's wrapper of one.
#[derive(Debug)]
pub(crate) struct Channel<F = OwnedFd>(F);

/// A message as it came.
#[derive(Debug)]
pub(crate) struct Received<T> {
    /// The message.
    pub(crate) message: T,
    /// The descriptors beside it.
    pub(crate) descriptors: Vec<OwnedFd>,
}

/// A message ready to be sent, for those that cannot be sent at once.
#[derive(Debug)]
pub(crate) struct Packet {
    bytes: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

impl Packet {
    /// Writes the message down.
    pub(crate) fn new(
        message: &impl Serialize,
        descriptors: Vec<OwnedFd>,
    ) -> Result<Self, ChannelError> {
        let bytes = serde_json::to_vec(message).map_err(ChannelError::Shape)?;
        if bytes.len() > MAX_MESSAGE || descriptors.len() > MAX_DESCRIPTORS {
            return Err(ChannelError::TooLarge);
        }
        Ok(Packet { bytes, descriptors })
    }
}

impl Channel {
    /// Two connected ends, both close-on-exec.
    pub(crate) fn pair() -> Result<(Channel, Channel), Errno> {
        let (one, other) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )?;
        Ok((Channel(one), Channel(other)))
    }

    /// Takes a descriptor that is the end of a socket pair.
    pub(crate) fn from_fd(fd: OwnedFd) -> Channel {
        Channel(fd)
    }

    /// The descriptor.
    pub(crate) fn into_fd(self) -> OwnedFd {
        self.0
    }
}

impl<F: AsFd> Channel<F> {
    /// Takes the end of a socket pair in whatever holds it.
    pub(crate) fn over(holder: F) -> Self {
        Channel(holder)
    }

    /// What holds the descriptor.
    pub(crate) fn holder(&self) -> &F {
        &self.0
    }

    /// From now on neither sending nor receiving waits.
    pub(crate) fn set_nonblocking(&self) -> Result<(), Errno> {
        rustix::io::ioctl_fionbio(&self.0, true)
    }

    /// Sends one message.
    pub(crate) fn send(
        &self,
        message: &impl Serialize,
        descriptors: Vec<OwnedFd>,
    ) -> Result<(), ChannelError> {
        self.send_packet(&Packet::new(message, descriptors)?)
    }

    /// Sends a message that was written down before.
    pub(crate) fn send_packet(&self, packet: &Packet) -> Result<(), ChannelError> {
        let borrowed: Vec<BorrowedFd<'_>> = packet.descriptors.iter().map(AsFd::as_fd).collect();
        let mut space =
            [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !borrowed.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(&borrowed)) {
            return Err(ChannelError::TooLarge);
        }
        loop {
            match rustix::net::sendmsg(
                &self.0,
                &[IoSlice::new(&packet.bytes)],
                &mut ancillary,
                SendFlags::NOSIGNAL,
            ) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(ChannelError::Full),
                Err(Errno::PIPE | Errno::CONNRESET | Errno::NOTCONN) => {
                    return Err(ChannelError::Closed);
                }
                Err(errno) => return Err(ChannelError::Socket(errno)),
            }
        }
    }

    /// Receives one message; waits for it unless the channel was set not to.
    pub(crate) fn receive<T: DeserializeOwned>(&self) -> Result<Received<T>, ChannelError> {
        // Asked first, so that a small message never costs a large buffer.
        let length = self.next_length()?;
        if length > MAX_MESSAGE {
            return Err(ChannelError::TooLarge);
        }
        let mut bytes = vec![0u8; length];
        let mut space =
            [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let answer = loop {
            let mut parts = [IoSliceMut::new(&mut bytes)];
            match rustix::net::recvmsg(&self.0, &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
            {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(ChannelError::Full),
                Err(errno) => return Err(ChannelError::Socket(errno)),
                Ok(answer) => break answer,
            }
        };
        if answer.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
            return Err(ChannelError::TooLarge);
        }
        if answer.bytes == 0 {
            return Err(ChannelError::Closed);
        }
        let descriptors = ancillary
            .drain()
            .filter_map(|message| match message {
                RecvAncillaryMessage::ScmRights(fds) => Some(fds),
                _ => None,
            })
            .flatten()
            .collect();
        let message =
            serde_json::from_slice(&bytes[..answer.bytes]).map_err(ChannelError::Shape)?;
        Ok(Received { message, descriptors })
    }
}

impl<F: AsFd> Channel<F> {
    /// The length of the next message, which stays where it is; waits for it unless the channel was set not to.
    fn next_length(&self) -> Result<usize, ChannelError> {
        loop {
            let flags = RecvFlags::PEEK | RecvFlags::TRUNC;
            match rustix::net::recv(&self.0, &mut [0u8; 1][..], flags) {
                Ok((_, 0)) => return Err(ChannelError::Closed),
                Ok((_, length)) => return Ok(length),
                // A peer that left without reading everything is told once, before what it had sent: that comes next,
                // and the end after it (unix_release_sock in the kernel's net/unix/af_unix.c).
                Err(Errno::INTR | Errno::CONNRESET) => {}
                Err(Errno::AGAIN) => return Err(ChannelError::Full),
                Err(errno) => return Err(ChannelError::Socket(errno)),
            }
        }
    }
}

impl<F: AsFd> AsFd for Channel<F> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn a_message_and_its_descriptors_arrive_together() {
        let (one, other) = Channel::pair().unwrap();
        let (reader, mut writer) = std::io::pipe().unwrap();
        one.send(&"hello", vec![reader.into()]).unwrap();
        writer.write_all(b"through").unwrap();
        drop(writer);
        let mut received = other.receive::<String>().unwrap();
        let mut text = String::new();
        std::fs::File::from(received.descriptors.remove(0)).read_to_string(&mut text).unwrap();
        assert_eq!((received.message.as_str(), text.as_str()), ("hello", "through"));
    }

    #[test]
    fn a_closed_peer_is_told_from_silence() {
        let (one, other) = Channel::pair().unwrap();
        other.set_nonblocking().unwrap();
        assert!(matches!(other.receive::<String>(), Err(ChannelError::Full)));
        drop(one);
        assert!(matches!(other.receive::<String>(), Err(ChannelError::Closed)));
        assert!(matches!(other.send(&1, vec![]), Err(ChannelError::Closed)));
    }

    #[test]
    fn last_words_are_heard_although_the_peer_did_not_read_everything() {
        let (one, other) = Channel::pair().unwrap();
        one.send(&"unread", vec![]).unwrap();
        other.send(&"last words", vec![]).unwrap();
        drop(other);
        assert_eq!(one.receive::<String>().unwrap().message, "last words");
        assert!(matches!(one.receive::<String>(), Err(ChannelError::Closed)));
    }

    #[test]
    fn a_message_that_is_too_large_is_refused_before_it_is_sent() {
        let (one, _other) = Channel::pair().unwrap();
        assert!(matches!(one.send(&"x".repeat(MAX_MESSAGE), vec![]), Err(ChannelError::TooLarge)));
    }
}
