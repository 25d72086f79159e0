//! A socket address as the caller wrote it, read once: what is judged is what is used.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::AddressFamily;

use super::caller::{Caller, Look};

/// The longest address (`struct sockaddr_storage`).
const LONGEST: u32 = 128;

/// Before the path of a Unix address: its family.
const FAMILY: usize = 2;

/// The address of a bind(2) or connect(2): behind argument 1, as long as argument 2 says.
#[derive(Debug)]
pub(super) struct Address {
    bytes: Vec<u8>,
}

impl Address {
    pub(super) fn read(caller: Caller<'_>) -> Result<Self, Look> {
        let length = caller.word(2);
        if length > LONGEST {
            return Err(Look::Native(Errno::INVAL));
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        caller.bytes(caller.argument(1), &mut bytes)?;
        Ok(Address { bytes })
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn family(&self) -> Option<u16> {
        Some(u16::from_ne_bytes(self.bytes.get(..FAMILY)?.try_into().ok()?))
    }

    /// What follows a Unix address's family.
    fn name(&self) -> Option<&[u8]> {
        let is_unix = self.family() == Some(AddressFamily::UNIX.as_raw());
        self.bytes.get(FAMILY..).filter(|name| is_unix && !name.is_empty())
    }

    /// The path, where it is a Unix address with one (unix(7)).
    pub(super) fn path(&self) -> Option<Vec<u8>> {
        let name = self.name().filter(|name| name[0] != 0)?;
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        Some(name[..end].to_vec())
    }

    /// The abstract name, where it is a Unix address with one.
    pub(super) fn abstract_name(&self) -> Option<&[u8]> {
        self.name().filter(|name| name[0] == 0).map(|name| &name[1..])
    }
}

/// What a connection could do to whoever makes it for another.
pub(super) fn is_unix(socket: &OwnedFd) -> Result<bool, Errno> {
    Ok(rustix::net::sockopt::socket_domain(socket)? == AddressFamily::UNIX)
}
