//! connect(2), always on the caller's behalf: no filter sees an address, and the kernel would read it again after any
//! verdict. The socket is the caller's own open file; the address was read once; a path was resolved to a pinned socket.

use std::os::fd::{AsRawFd as _, OwnedFd};

use brattice_policy::enforce::granted::{AccessFs, Rights};
use brattice_policy::enforce::seccomp::trap::{Folder, Place};
use brattice_policy::sys::file::{self, Permission, permits};
use brattice_policy::{DeniedOperation, LayerName};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::Judge;
use super::address::{self, Address};
use super::caller::{Caller, Look};
use super::receivers::Cover;
use super::resolve::{self, File, LastLink};
use super::verdict::{Answer, Refusal, path_of, refuse};

pub(super) fn connect(judge: &Judge, cover: Cover<'_>, caller: Caller<'_>) -> Answer {
    if judge.is_below_another_domain(caller) {
        return Answer::Unseen;
    }
    decide(judge, cover, caller).unwrap_or_else(refuse)
}

fn decide(judge: &Judge, cover: Cover<'_>, caller: Caller<'_>) -> Result<Answer, Look> {
    let socket = caller.duplicate(caller.word(0))?;
    let is_unix = address::is_unix(&socket).map_err(Look::Native)?;
    let address = Address::read(caller)?;
    let pinned = match address.path().filter(|_| is_unix) {
        None => None,
        Some(path) => match pin(judge, caller, &path)? {
            Ok(file) => Some(file),
            Err(answer) => return Ok(answer),
        },
    };
    if !caller.is_waiting() {
        return Ok(Answer::Fail(Errno::SRCH));
    }
    let bytes = match &pinned {
        Some(file) => unix_address(&file.fd),
        None => address.bytes().to_vec(),
    };
    // It may take long, whatever the socket's flags said a moment ago: the caller's other threads can change them. Others are
    // received meanwhile; where they could not be, nobody may wait.
    let connected = cover.keep_receiving().and_then(|()| file::connect(&socket, &bytes));
    Ok(match connected {
        Ok(()) => Answer::Done(0),
        Err(Errno::PERM) if is_unix && address.abstract_name().is_some() => {
            abstract_refusal(&address)
        }
        Err(errno) => Answer::Fail(errno),
    })
}

/// Pins the socket behind a path, or answers.
fn pin(judge: &Judge, caller: Caller<'_>, path: &[u8]) -> Result<Result<File, Answer>, Look> {
    let place = Place { folder: Folder::Current, path: 1 };
    let base = caller.base(place, path)?;
    let mut found = resolve::walk(caller, base, path, LastLink::Follow)?;
    let file = found.file.take().ok_or(Look::Native(Errno::NOENT))?;
    if !permits(&file.fd, Permission::Write) {
        return Ok(Err(Answer::Fail(Errno::ACCESS)));
    }
    if file.kind() != FileType::Socket {
        return Ok(Err(Answer::Fail(Errno::CONNREFUSED)));
    }
    let wanted = Rights::from(AccessFs::MakeSock);
    if judge.is_listed_socket(&file)
        || judge.granted_on(&file, Some(&found), wanted)?.contains(wanted)
    {
        return Ok(Ok(file));
    }
    let path = path_of(&file.fd);
    let grant = format!("unix_sockets = [{:?}]", path.display().to_string());
    Ok(Err(Refusal {
        operation: DeniedOperation::Connect,
        path,
        second_path: None,
        layer: LayerName::Observer,
        errno: Errno::ACCESS,
        right: "connect".to_owned(),
        grant: Some(grant),
    }
    .into()))
}

/// An address that leads to a pinned socket and nowhere else.
fn unix_address(socket: &OwnedFd) -> Vec<u8> {
    let mut address = rustix::net::AddressFamily::UNIX.as_raw().to_ne_bytes().to_vec();
    address.extend(format!("/proc/self/fd/{}\0", socket.as_raw_fd()).into_bytes());
    address
}

fn abstract_refusal(address: &Address) -> Answer {
    let name = String::from_utf8_lossy(address.abstract_name().unwrap_or_default()).into_owned();
    Refusal {
        operation: DeniedOperation::Connect,
        path: format!("@{}", name.trim_end_matches('\0')).into(),
        second_path: None,
        layer: LayerName::LandlockScopes,
        errno: Errno::PERM,
        right: "scope_abstract_unix_socket".to_owned(),
        grant: None,
    }
    .into()
}

/// Datagram sockets of the Unix family, and raw ones, which are the same: an address in any later message reaches any path.
pub(super) fn datagram() -> Answer {
    Refusal {
        operation: DeniedOperation::Connect,
        path: "unix datagram socket".into(),
        second_path: None,
        layer: LayerName::Seccomp,
        errno: Errno::ACCESS,
        right: "socket".to_owned(),
        grant: None,
    }
    .into()
}
