//! A file that was being overwritten in place when its writer died: is it that file still, and half way?

use std::os::fd::OwnedFd;

use rustix::fs;
use rustix::io::Errno;

/// What the bytes of a file are, given what they were and were to become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Old,
    New,
    /// The beginning is new and the rest old: what a writer leaves that goes from the start to the end and cuts last.
    Between,
    /// Somebody else has written.
    Foreign,
}

/// Tells the stage.
pub(super) fn stage(now: &[u8], old: &[u8], new: &[u8]) -> Stage {
    if now == old {
        return Stage::Old;
    }
    if now == new {
        return Stage::New;
    }
    // So many bytes of the new content may have been written, and so many must have been.
    let most = now.iter().zip(new).take_while(|(now, new)| now == new).count();
    let least = if now.len() > old.len() {
        now.len()
    } else if now.len() == old.len() {
        now.len()
            - now.iter().rev().zip(old.iter().rev()).take_while(|(now, old)| now == old).count()
    } else {
        return Stage::Foreign;
    };
    if least <= most { Stage::Between } else { Stage::Foreign }
}

/// All bytes of an open file.
pub(super) fn all(file: &OwnedFd) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match rustix::io::pread(file, &mut buffer, bytes.len() as u64) {
            Ok(0) => return Ok(bytes),
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Overwrites an open file from the start to the end, cuts what is left over, and puts it on the disk.
pub(crate) fn overwrite(file: &OwnedFd, bytes: &[u8]) -> Result<(), Errno> {
    let mut written = 0;
    while written < bytes.len() {
        match rustix::io::pwrite(file, &bytes[written..], written as u64) {
            Ok(count) => written += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    fs::ftruncate(file, bytes.len() as u64)?;
    fs::fsync(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_an_overwrite_is_known_and_nothing_else() {
        for (old, new) in
            [("abcdef", "ABC"), ("abc", "ABCDEF"), ("aaa", "aab"), ("", "xy"), ("xy", "")]
        {
            let (old, new) = (old.as_bytes(), new.as_bytes());
            for written in 0..=new.len() {
                let mut now = new[..written].to_vec();
                now.extend(old.get(written..).unwrap_or_default());
                let expected = match &now {
                    now if now == old => Stage::Old,
                    now if now == new => Stage::New,
                    _ => Stage::Between,
                };
                assert_eq!(stage(&now, old, new), expected, "{now:?}");
            }
        }
        for now in ["abXdef", "ABCdeX", "ab", "ABCDEFG", "xABCDE"] {
            assert_eq!(stage(now.as_bytes(), b"abcdef", b"ABCDEF"), Stage::Foreign, "{now}");
        }
    }
}
