//! Files of ignore rules, read with care: one that is a FIFO or a device does not hold the search, one without end does
//! not fill memory, and a line that is no rule spoils no other.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::query::{Cause, Unreadable};

/// No rule file that people write comes near this.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// Which names that matter to rules a folder has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    pub(crate) ignore: bool,
    pub(crate) gitignore: bool,
    pub(crate) git: bool,
}

impl Files {
    /// Asks the file system; who has listed the folder knows already.
    pub(crate) fn look(folder: &Path) -> Files {
        let has = |name| folder.join(name).symlink_metadata().is_ok();
        Files { ignore: has(".ignore"), gitignore: has(".gitignore"), git: has(".git") }
    }

    /// Takes note of a name of the folder.
    pub(crate) fn note(&mut self, name: &[u8]) {
        match name {
            b".ignore" => self.ignore = true,
            b".gitignore" => self.gitignore = true,
            b".git" => self.git = true,
            _ => {}
        }
    }
}

/// The rules in a file, about paths relative to wherever its patterns apply. One that is not there, or no regular file,
/// has none.
pub(super) fn read(path: &Path, unreadable: &mut Vec<Unreadable>) -> Gitignore {
    match content(path) {
        Ok(bytes) => parse(&bytes),
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(Errno::IO.raw_os_error());
            let absent = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP].map(Errno::raw_os_error);
            if !absent.contains(&errno) {
                unreadable.push(Unreadable { path: path.to_owned(), cause: Cause::Errno(errno) });
            }
            Gitignore::empty()
        }
    }
}

/// What a small regular file holds; nothing where it is something else.
pub(super) fn content(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Looked at before it is opened, for opening a device may have effects, and after, for it may have changed.
    if path.metadata()?.file_type().is_file() {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        }
    }
    Ok(bytes)
}

fn parse(bytes: &[u8]) -> Gitignore {
    // With the root `.` the matcher takes paths as they are, so that nothing is stripped twice.
    let mut builder = GitignoreBuilder::new(".");
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for line in bytes.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Ok(line) = std::str::from_utf8(line) else { continue };
        if builder.add_line(None, line).is_err() {
            continue;
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
