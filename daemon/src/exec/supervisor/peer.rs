//! A channel that is never waited for: what cannot be sent at once is kept, in order, and sent when there is room.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use brattice_policy::sys::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::reactor::{Interest, Reactor, Source};
use crate::exec::channel::{Channel, ChannelError, Packet, Received};

/// Messages that are kept for a peer that does not read. Each is an answer to something that the peer asked, so one
/// that lets so many wait is not coming back: it is treated as gone.
const MOST_KEPT: usize = 4096;

/// The other end of a channel.
#[derive(Debug)]
pub(super) struct Peer {
    channel: Channel,
    kept: VecDeque<Packet>,
    /// Whether the loop waits for room to send.
    awaits_room: bool,
}

impl Peer {
    /// Takes a channel and sets it not to wait.
    pub(super) fn new(channel: Channel) -> Result<Self, Errno> {
        channel.set_nonblocking()?;
        Ok(Peer { channel, kept: VecDeque::new(), awaits_room: false })
    }

    /// Sends a message, now or when there is room.
    ///
    /// # Errors
    /// The peer is gone, or as good as gone.
    pub(super) fn send(
        &mut self,
        message: &impl Serialize,
        descriptors: Vec<OwnedFd>,
    ) -> Result<(), ChannelError> {
        let packet = Packet::new(message, descriptors)?;
        if self.kept.len() >= MOST_KEPT {
            return Err(ChannelError::Closed);
        }
        self.kept.push_back(packet);
        self.flush()
    }

    /// Sends what is kept, as far as there is room.
    fn flush(&mut self) -> Result<(), ChannelError> {
        while let Some(packet) = self.kept.front() {
            match self.channel.send_packet(packet) {
                Ok(()) => {
                    self.kept.pop_front();
                }
                Err(ChannelError::Full) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Sends what is kept as far as there is room, and has the loop wait for room exactly while something is left.
    pub(super) fn settle(&mut self, reactor: &Reactor, source: Source) -> Result<(), ChannelError> {
        self.flush()?;
        if self.is_behind() != self.awaits_room {
            let interest = if self.is_behind() { Interest::ReadWrite } else { Interest::Read };
            reactor.rewatch(&*self, source, interest).map_err(ChannelError::Socket)?;
            self.awaits_room = self.is_behind();
        }
        Ok(())
    }

    fn is_behind(&self) -> bool {
        !self.kept.is_empty()
    }

    /// The next message; `Full` when there is none now.
    pub(super) fn receive<T: DeserializeOwned>(&self) -> Result<Received<T>, ChannelError> {
        self.channel.receive()
    }
}

impl AsFd for Peer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_kept_in_order() {
        let (near, far) = Channel::pair().unwrap();
        let mut near = Peer::new(near).unwrap();
        let mut sent = 0u32;
        while !near.is_behind() {
            near.send(&sent, Vec::new()).unwrap();
            sent += 1;
        }
        near.send(&sent, Vec::new()).unwrap();
        for expected in 0..=sent {
            assert_eq!(far.receive::<u32>().unwrap().message, expected);
            near.flush().unwrap();
        }
        assert!(!near.is_behind());
    }
}
