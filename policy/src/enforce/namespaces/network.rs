//! Network namespaces: the loopback and nothing else, or nothing at all.
//!
//! The loopback is a session's: a server that one command started is there for the next, whichever launcher starts that. So
//! the first launcher hands its namespace out, with the user namespace that owns it, and those that follow move in.

use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::sys::namespace::{Right, unshare_network};

/// `RTM_NEWLINK`, linux/rtnetlink.h.
const NEW_LINK: u16 = 16;
/// `NLM_F_REQUEST | NLM_F_ACK`, linux/netlink.h.
const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
/// `NLMSG_ERROR`, which is the acknowledgement as well.
const ERROR: u16 = 2;
/// The loopback is the first interface of every network namespace.
const LOOPBACK: i32 = 1;
/// `IFF_UP`, linux/if.h.
const UP: u32 = 1;

/// Leaves the network for one with nothing in it.
///
/// # Errors
/// The kernel's answer.
pub(super) fn none() -> Result<(), Errno> {
    unshare_network()
}

/// The descriptors of the network that this process is in, for [`Loopback::of`].
pub(super) fn hand_out(right: Right) -> Result<Vec<OwnedFd>, Errno> {
    let names: &[&str] = match right {
        Right::Privileged => &["/proc/self/ns/net"],
        Right::Owner => &["/proc/self/ns/net", "/proc/self/ns/user"],
    };
    names.iter().map(|name| open(*name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())).collect()
}

/// The loopback of a session, as one of its launchers hands it out.
pub(super) struct Loopback {
    network: OwnedFd,
    /// Its owner, where that is not the machine.
    pub(super) user: Option<OwnedFd>,
}

impl Loopback {
    /// Takes what was handed out; `None` where that is nothing.
    pub(super) fn of(handed: Vec<OwnedFd>) -> Option<Self> {
        let mut handed = handed.into_iter();
        Some(Loopback { network: handed.next()?, user: handed.next() })
    }

    /// Moves in.
    pub(super) fn enter(&self) -> Result<(), Errno> {
        let kind = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(self.network.as_fd(), kind)
    }
}

/// Leaves the network for one with a loopback of its own.
pub(super) fn loopback() -> Result<(), Errno> {
    unshare_network()?;
    let flags = SocketFlags::CLOEXEC;
    // No protocol means NETLINK_ROUTE, which is 0.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
    let kernel = SocketAddrNetlink::new(0, 0);
    sendto(&socket, &request(), SendFlags::empty(), &kernel)?;
    let mut answer = [0u8; 1024];
    let (filled, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    acknowledged(answer.get(..filled).unwrap_or_default())
}

/// "Set the loopback up": `struct nlmsghdr`, then `struct ifinfomsg`, in the machine's byte order.
fn request() -> Vec<u8> {
    let mut message = Vec::with_capacity(32);
    message.extend(32u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 8]);
    // Family, padding and type: any.
    message.extend([0; 4]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message
}

/// The errno in an `NLMSG_ERROR` message; 0 acknowledges.
fn acknowledged(answer: &[u8]) -> Result<(), Errno> {
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    let error = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match (kind, error) {
        (Some(ERROR), Some(0)) => Ok(()),
        (Some(ERROR), Some(error)) => Err(Errno::from_raw_os_error(error.saturating_neg())),
        _ => Err(Errno::PROTO),
    }
}
