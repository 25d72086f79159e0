//! Opening files of the state folder: regular ones only, never through a link, and without waiting.
//!
//! Another process of the user's can put anything in a file's place. A FIFO would hold up whoever opens it, for ever, and
//! a device acts; so every file there is opened here. What is none is an error like any other, of that one file.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// Opens a file with these flags. One that is made is private.
///
/// # Errors
/// It cannot be opened, or is no regular file (`InvalidInput`).
pub(crate) fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let always = OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags | always, Mode::RUSR | Mode::WUSR)?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")),
    }
}

/// Makes a file that is not there yet, to write to.
///
/// # Errors
/// There is something of that name, or it cannot be made.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    open(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)
}

/// All that is in a file.
///
/// # Errors
/// It cannot be opened or read.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open(path, OFlags::RDONLY)?.read_to_end(&mut content)?;
    Ok(content)
}

/// Puts a file with this content in the place of whatever is there, whole or not at all; it can be written on.
///
/// # Errors
/// It cannot be made or written; what was there stays.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<File> {
    let beside = beside(path);
    match std::fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = create(&beside)?;
    file.write_all(content)?;
    std::fs::rename(&beside, path)?;
    Ok(file)
}

/// `name.new`.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;
    use std::time::{Duration, Instant};

    use rustix::fs::{CWD, FileType};

    use super::*;
    use crate::session::testing::Scratch;

    #[test]
    fn what_is_no_regular_file_is_told_and_not_waited_for() {
        let scratch = Scratch::new();
        let fifo = scratch.path("fifo");
        rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let link = scratch.path("link");
        std::os::unix::fs::symlink(scratch.file("file", "secret"), &link).unwrap();
        scratch.folder("folder");
        let begun = Instant::now();
        for name in ["fifo", "folder", "link", "nothing"] {
            for flags in [OFlags::RDONLY, OFlags::WRONLY, OFlags::RDWR] {
                assert!(open(&scratch.path(name), flags).is_err(), "{name} {flags:?}");
            }
            assert!(read(&scratch.path(name)).is_err(), "{name}");
        }
        assert_eq!(read(&fifo).unwrap_err().to_string(), "it is no regular file");
        assert!(read(Path::new("/dev/null")).is_err(), "a device");
        assert!(begun.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_file_takes_the_place_of_whatever_is_there() {
        let scratch = Scratch::new();
        for name in ["at", "at.new"] {
            rustix::fs::mknodat(CWD, scratch.path(name), FileType::Fifo, Mode::RWXU, 0).unwrap();
        }
        let path = scratch.path("at");
        let mut file = replace(&path, b"one").unwrap();
        file.write_all(b" two").unwrap();
        assert_eq!(read(&path).unwrap(), b"one two");
        assert_eq!(path.metadata().unwrap().mode() & 0o7777, 0o600);
        assert!(!scratch.path("at.new").exists());
    }
}
