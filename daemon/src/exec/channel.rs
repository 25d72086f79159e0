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
const MAX_DESCRIPTORS: usize = 5;

/// Why a message could not be sent or received.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChannelError {
    /// The peer does not read, and this side must not wait.
    #[error("the peer's queue is full")]
    Full,
    /// As many descriptors are on their way between this user's processes as may be (unix(7), ETOOMANYREFS).
    #[error("too many descriptors are on their way between processes of this user")]
    Crowded,
    /// This process may have no more descriptors (unix(7), MSG_CTRUNC).
    #[error("there is no room for the descriptors that come with a message")]
    NoRoom,
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

    /// The message alone.
    pub(crate) fn strip(&mut self) {
        self.descriptors.clear();
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
                Err(Errno::TOOMANYREFS) => return Err(ChannelError::Crowded),
                Err(Errno::PIPE | Errno::CONNRESET | Errno::NOTCONN) => {
                    return Err(ChannelError::Closed);
                }
                Err(errno) => return Err(ChannelError::Socket(errno)),
            }
        }
    }

    /// Receives one message with what is beside it; waits for it unless the channel was set not to.
    ///
    /// # Errors
    /// Among others `NoRoom`: the message stays where it is, to be received again or bare.
    pub(crate) fn receive<T: DeserializeOwned>(&self) -> Result<Received<T>, ChannelError> {
        // Looked at first, so that a small message never costs a large buffer, and one whose descriptors this process has
        // no room for is not lost with them: a look hands them over, too (unix(7), MSG_PEEK).
        let (length, descriptors) = self.look()?;
        Ok(Received { message: self.take(length)?, descriptors })
    }

    /// Receives one message and lets go of what is beside it.
    pub(crate) fn receive_bare<T: DeserializeOwned>(&self) -> Result<Received<T>, ChannelError> {
        let length = peeked(|| {
            let flags = RecvFlags::PEEK | RecvFlags::TRUNC;
            rustix::net::recv(&self.0, &mut [0u8; 1][..], flags).map(|(_, length)| length)
        })?;
        Ok(Received { message: self.take(length)?, descriptors: Vec::new() })
    }

    /// The length of the next message, and its descriptors; it stays where it is.
    fn look(&self) -> Result<(usize, Vec<OwnedFd>), ChannelError> {
        let mut space =
            [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut is_cut = false;
        let length = peeked(|| {
            let flags = RecvFlags::PEEK | RecvFlags::TRUNC | RecvFlags::CMSG_CLOEXEC;
            let mut byte = [0u8; 1];
            let parts = &mut [IoSliceMut::new(&mut byte)];
            let answer = rustix::net::recvmsg(&self.0, parts, &mut ancillary, flags)?;
            is_cut = answer.flags.contains(ReturnFlags::CTRUNC);
            Ok(answer.bytes)
        })?;
        let descriptors = ancillary.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => Some(fds),
            _ => None,
        });
        let descriptors = descriptors.flatten().collect();
        if is_cut { Err(ChannelError::NoRoom) } else { Ok((length, descriptors)) }
    }

    /// Takes the next message, whose length is known, off the queue.
    fn take<T: DeserializeOwned>(&self, length: usize) -> Result<T, ChannelError> {
        if length > MAX_MESSAGE {
            return Err(ChannelError::TooLarge);
        }
        let mut bytes = vec![0u8; length];
        loop {
            match rustix::net::recv(&self.0, &mut bytes[..], RecvFlags::empty()) {
                Ok(_) => return serde_json::from_slice(&bytes).map_err(ChannelError::Shape),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Err(ChannelError::Full),
                Err(errno) => return Err(ChannelError::Socket(errno)),
            }
        }
    }
}

/// The length that a look at the next message tells.
fn peeked(mut look: impl FnMut() -> Result<usize, Errno>) -> Result<usize, ChannelError> {
    loop {
        match look() {
            Ok(0) => return Err(ChannelError::Closed),
            Ok(length) => return Ok(length),
            // A peer that left without reading everything is told once, before what it had sent: that comes next,
            // and the end after it (unix_release_sock in the kernel's net/unix/af_unix.c).
            Err(Errno::INTR | Errno::CONNRESET) => {}
            Err(Errno::AGAIN) => return Err(ChannelError::Full),
            Err(errno) => return Err(ChannelError::Socket(errno)),
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
    use crate::exec::testing::{limit_descriptors, limit_descriptors_on_their_way};

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

    fn null() -> OwnedFd {
        std::fs::File::open("/dev/null").unwrap().into()
    }

    #[test]
    fn descriptors_that_there_is_no_room_for_cost_neither_the_message_nor_the_channel() {
        let (one, other) = Channel::pair().unwrap();
        one.send(&"first", vec![null(), null()]).unwrap();
        one.send(&"second", vec![null()]).unwrap();
        one.send(&"third", vec![null(), null()]).unwrap();
        let next = null();
        let highest = u64::try_from(std::os::fd::AsRawFd::as_raw_fd(&next)).unwrap();
        // Room for one.
        drop(next);
        limit_descriptors(highest + 1);
        assert!(matches!(other.receive::<String>(), Err(ChannelError::NoRoom)));
        let bare = other.receive_bare::<String>().unwrap();
        assert_eq!((bare.message.as_str(), bare.descriptors.len()), ("first", 0));
        let second = other.receive::<String>().unwrap();
        assert_eq!((second.message.as_str(), second.descriptors.len()), ("second", 1));
        assert!(matches!(other.receive::<String>(), Err(ChannelError::NoRoom)));
        limit_descriptors(highest + 100);
        let third = other.receive::<String>().unwrap();
        assert_eq!((third.message.as_str(), third.descriptors.len()), ("third", 2));
    }

    #[test]
    fn too_many_descriptors_on_their_way_cost_no_channel() {
        limit_descriptors_on_their_way(64, 64_322);
        let (one, other) = Channel::pair().unwrap();
        other.set_nonblocking().unwrap();
        let mut sent = 0;
        let error = loop {
            match one.send(&sent, vec![null()]) {
                Ok(()) => sent += 1,
                Err(error) => break error,
            }
            assert!(sent < 200, "as many as 64 may be on their way");
        };
        assert!(matches!(error, ChannelError::Crowded), "{error:?}");
        one.send(&"bare", vec![]).unwrap();
        for expected in 0..sent {
            assert_eq!(other.receive::<usize>().unwrap().message, expected);
        }
        assert_eq!(other.receive::<String>().unwrap().message, "bare");
        one.send(&"again", vec![null()]).unwrap();
        assert_eq!(other.receive::<String>().unwrap().descriptors.len(), 1);
    }

    #[test]
    fn a_message_that_is_too_large_is_refused_before_it_is_sent() {
        let (one, _other) = Channel::pair().unwrap();
        assert!(matches!(one.send(&"x".repeat(MAX_MESSAGE), vec![]), Err(ChannelError::TooLarge)));
    }
}
