//! One message on the socket between the daemon and a worker: its length, four bytes in the machine's order, and JSON.
//!
//! Both sides are the same program on the same machine. A length beyond the bound ends the conversation: it can only come
//! from something that is not a worker of ours.

use std::io::{self, Read};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Most bytes of a message: a call's arguments (4 MiB on the wire) and a result's diff, each escaped, and room.
const LONGEST: usize = 64 << 20;

/// Bytes before each message.
pub(super) const HEAD: usize = size_of::<u32>();

/// A whole message as it goes out.
///
/// # Errors
/// It is too long, which is the caller's to prevent.
pub(crate) fn frame<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; HEAD];
    serde_json::to_writer(&mut bytes, message)?;
    let length = bytes.len() - HEAD;
    let head = u32::try_from(length).ok().filter(|_| length <= LONGEST).ok_or_else(too_long)?;
    bytes[..HEAD].copy_from_slice(&head.to_ne_bytes());
    Ok(bytes)
}

/// How many bytes follow this head.
///
/// # Errors
/// More than a message has.
pub(super) fn length(head: [u8; HEAD]) -> io::Result<usize> {
    let length = u32::from_ne_bytes(head) as usize;
    if length > LONGEST { Err(too_long()) } else { Ok(length) }
}

/// Reads a message; `None` at the end of the stream.
///
/// # Errors
/// The stream breaks off, or holds something else.
pub(crate) fn receive<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<Option<T>> {
    let mut head = [0; HEAD];
    match stream.read_exact(&mut head) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let mut bytes = vec![0; length(head)?];
    stream.read_exact(&mut bytes)?;
    Ok(Some(serde_json::from_slice(&bytes)?))
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the message is longer than any of ours")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_received_and_the_end_is_no_error() {
        let stream = [frame(&"one").unwrap(), frame(&vec![2, 3]).unwrap()].concat();
        let mut read = &stream[..];
        assert_eq!(receive::<String>(&mut read).unwrap(), Some("one".to_owned()));
        assert_eq!(receive::<Vec<u8>>(&mut read).unwrap(), Some(vec![2, 3]));
        assert_eq!(receive::<String>(&mut read).unwrap(), None);
    }

    #[test]
    fn what_breaks_off_or_is_too_long_is_an_error() {
        let whole = frame(&"text").unwrap();
        let mut cut = &whole[..whole.len() - 1];
        assert_eq!(receive::<String>(&mut cut).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        let mut long = &u32::MAX.to_ne_bytes()[..];
        assert_eq!(receive::<String>(&mut long).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
