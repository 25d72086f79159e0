//! A channel that is never waited for: what cannot be sent at once is kept, in order, and sent when there is room.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use brattice_policy::sys::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::reactor::{Interest, Reactor, Source};
use crate::exec::channel::{Channel, ChannelError, Packet, Received};

/// Messages that are kept for a peer that does not read. Each is an answer to something that the peer asked, so one
/// that lets so many wait is not coming back: it is treated as gone.
const MOST_KEPT: usize = 4096;

/// How long a message waits while too many descriptors are on their way; then it goes without its own, which fails what it
/// is about and nothing else.
const CROWDED_PATIENCE: Duration = Duration::from_secs(1);

/// Between two attempts at that.
const CROWDED_PAUSE: Duration = Duration::from_millis(20);

/// The other end of a channel.
#[derive(Debug)]
pub(super) struct Peer {
    channel: Channel,
    kept: VecDeque<Packet>,
    /// Whether the loop waits for room to send.
    awaits_room: bool,
    /// Since when too many descriptors are on their way.
    crowded: Option<Instant>,
}

impl Peer {
    /// Takes a channel and sets it not to wait.
    pub(super) fn new(channel: Channel) -> Result<Self, Errno> {
        channel.set_nonblocking()?;
        Ok(Peer { channel, kept: VecDeque::new(), awaits_room: false, crowded: None })
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
        while let Some(packet) = self.kept.front_mut() {
            match self.channel.send_packet(packet) {
                Ok(()) => {
                    self.kept.pop_front();
                    self.crowded = None;
                }
                Err(ChannelError::Full) => return Ok(()),
                Err(ChannelError::Crowded) => {
                    let since = *self.crowded.get_or_insert_with(Instant::now);
                    if since.elapsed() < CROWDED_PATIENCE {
                        return Ok(());
                    }
                    packet.strip();
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Sends what is kept as far as there is room, and has the loop wait for room exactly while something is left.
    pub(super) fn settle(&mut self, reactor: &Reactor, source: Source) -> Result<(), ChannelError> {
        self.flush()?;
        // There is room all the time while too many descriptors are on their way: that is looked at by the clock.
        let awaits_room = self.is_behind() && self.crowded.is_none();
        if awaits_room != self.awaits_room {
            let interest = if awaits_room { Interest::ReadWrite } else { Interest::Read };
            reactor.rewatch(&*self, source, interest).map_err(ChannelError::Socket)?;
            self.awaits_room = awaits_room;
        }
        Ok(())
    }

    /// When what is kept is tried again although nothing has happened.
    pub(super) fn next_attempt(&self, now: Instant) -> Option<Instant> {
        self.crowded.map(|_| now + CROWDED_PAUSE)
    }

    /// Whether something waits to be sent.
    pub(super) fn is_behind(&self) -> bool {
        !self.kept.is_empty()
    }

    /// The next message; `Full` when there is none now. What is beside it is let go where there is no room for it: whoever
    /// asked is told.
    pub(super) fn receive<T: DeserializeOwned>(&self) -> Result<Received<T>, ChannelError> {
        match self.channel.receive() {
            Err(ChannelError::NoRoom) => self.channel.receive_bare(),
            other => other,
        }
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
    use crate::exec::testing::limit_descriptors_on_their_way;

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

    fn null() -> OwnedFd {
        std::fs::File::open("/dev/null").unwrap().into()
    }

    #[test]
    fn while_too_many_descriptors_are_on_their_way_a_message_waits_and_then_goes_without_its_own() {
        limit_descriptors_on_their_way(64, 64_323);
        let (crowd, crowded) = Channel::pair().unwrap();
        let mut on_their_way = 0;
        while crowd.send(&on_their_way, vec![null()]).is_ok() {
            on_their_way += 1;
        }
        let (near, far) = Channel::pair().unwrap();
        far.set_nonblocking().unwrap();
        let mut near = Peer::new(near).unwrap();
        near.send(&"first", vec![null()]).unwrap();
        near.send(&"second", Vec::new()).unwrap();
        assert!(matches!(far.receive::<String>(), Err(ChannelError::Full)), "it waits");
        // One arrives elsewhere, so there is room again.
        crowded.receive::<u32>().unwrap();
        crowded.receive::<u32>().unwrap();
        let now = Instant::now();
        assert_eq!(near.next_attempt(now), Some(now + CROWDED_PAUSE));
        near.flush().unwrap();
        let first = far.receive::<String>().unwrap();
        assert_eq!((first.message.as_str(), first.descriptors.len()), ("first", 1));
        assert_eq!(far.receive::<String>().unwrap().message, "second");
        assert_eq!(near.next_attempt(now), None);
        while crowd.send(&0, vec![null()]).is_ok() {}
        near.send(&"third", vec![null()]).unwrap();
        near.send(&"fourth", Vec::new()).unwrap();
        let begun = Instant::now();
        while near.is_behind() {
            std::thread::sleep(CROWDED_PAUSE);
            near.flush().unwrap();
        }
        assert!(begun.elapsed() >= CROWDED_PATIENCE - CROWDED_PAUSE, "{:?}", begun.elapsed());
        let third = far.receive::<String>().unwrap();
        assert_eq!((third.message.as_str(), third.descriptors.len()), ("third", 0));
        assert_eq!(far.receive::<String>().unwrap().message, "fourth");
    }
}
