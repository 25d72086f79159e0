//! Why something was not done to a file: one value with the path and the reason, apart from the words of a toolset.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

use rustix::fs::FileType as Raw;
use rustix::io::Errno;

use crate::cancel::Cancelled;
use crate::text::Binary;

/// A file that could not be read or changed. Unless the kind says otherwise nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{}: {kind}", path.display())]
pub struct Fault {
    /// As the caller named it, or the very file or folder that the kernel refused.
    #[serde(serialize_with = "crate::shown::path")]
    pub path: PathBuf,
    /// Why.
    pub kind: FaultKind,
}

/// The reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum FaultKind {
    /// The kernel refused. Whether that was a sandbox is for the caller to find out.
    #[error("cannot {operation}: {errno}")]
    Kernel {
        /// What was asked of the kernel.
        operation: Operation,
        /// Its answer.
        #[serde(with = "crate::shown::errno")]
        errno: Errno,
    },
    /// The journal's folder refused; the path is that of the folder. Whatever had been done was undone.
    #[error("cannot {operation} in the journal: {errno}")]
    Journal {
        /// What was asked of the kernel.
        operation: Operation,
        /// Its answer.
        #[serde(with = "crate::shown::errno")]
        errno: Errno,
    },
    /// There is no such file. Names in the deepest folder of the path that exists, nearest first, at most three.
    #[error("does not exist")]
    Missing {
        /// Absolute paths.
        #[serde(serialize_with = "crate::shown::paths")]
        near: Vec<PathBuf>,
    },
    /// The path is not absolute, is empty, or holds a NUL.
    #[error("is no absolute path")]
    NoPath,
    /// It is there and no file with content of its own.
    #[error("is {0}, not a regular file")]
    NotRegular(FileType),
    /// A regular file that holds no text.
    #[error("is a binary file ({}, {} bytes)", .0.kind, .0.size)]
    Binary(Binary),
    /// Only for edits: a byte that belongs to no UTF-8 text. Reading shows such files.
    #[error("is not UTF-8 text (line {line})")]
    NotUtf8 {
        /// The first line that has one, from 1.
        line: u64,
    },
    /// Only for edits: UTF-16, which is read and never edited.
    #[error("is UTF-16 text, which can be read and not edited")]
    Utf16,
    /// Only for edits: the file has more bytes than are held in memory.
    #[error("has {size} bytes, more than {limit}")]
    TooLarge {
        /// Bytes of the file, as far as it was looked at.
        size: u64,
        /// Bytes that are allowed.
        limit: u64,
    },
    /// The content is not the one that was expected.
    #[error("changed since it was read")]
    Changed,
    /// Only for edits: the same.
    #[error("is not what the edits were made for")]
    Unexpected,
    /// A link is on the way, or is the name itself, where none may be.
    #[error("leads through a link")]
    Link,
    /// A file is there where none was expected.
    #[error("exists already")]
    Exists,
    /// One call names the same file twice.
    #[error("is named twice")]
    NamedTwice,
    /// Another writer held the folder or the file for longer than the caller would wait.
    #[error("is being changed by another writer")]
    Busy,
    /// Others changed the file each time between reading and writing.
    #[error("keeps changing")]
    Unstable,
    /// Some file of the set could not be put back after a failure; the journal keeps what is needed, and the next recovery tries
    /// again.
    #[error("could not be put back: {0}")]
    NotUndone(Box<FaultKind>),
    /// The caller's flag was raised.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// What was asked of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// Walk to it.
    Find,
    /// Open for reading, or read.
    Read,
    /// List a folder.
    List,
    /// Open for writing, or write.
    Write,
    /// Create a file.
    Create,
    /// Create a folder.
    MakeFolder,
    /// Set mode, owner or attributes.
    SetAttributes,
    /// Put on the disk for good.
    Sync,
    /// Give another name.
    Rename,
    /// Take a name away.
    Remove,
    /// Lock.
    Lock,
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Operation::Find => "find",
            Operation::Read => "read",
            Operation::List => "list",
            Operation::Write => "write",
            Operation::Create => "create",
            Operation::MakeFolder => "create the folder",
            Operation::SetAttributes => "set attributes",
            Operation::Sync => "sync",
            Operation::Rename => "rename",
            Operation::Remove => "remove",
            Operation::Lock => "lock",
        })
    }
}

/// What is no regular file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileType {
    /// A folder.
    Directory,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character device.
    CharacterDevice,
    /// A block device.
    BlockDevice,
    /// Something that this program does not know.
    Unknown,
}

impl FileType {
    pub(crate) fn of(mode: rustix::fs::RawMode) -> Result<(), FileType> {
        Err(match Raw::from_raw_mode(mode) {
            Raw::RegularFile => return Ok(()),
            Raw::Directory => FileType::Directory,
            Raw::Fifo => FileType::Fifo,
            Raw::Socket => FileType::Socket,
            Raw::CharacterDevice => FileType::CharacterDevice,
            Raw::BlockDevice => FileType::BlockDevice,
            Raw::Symlink | Raw::Unknown => FileType::Unknown,
        })
    }
}

impl std::fmt::Display for FileType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            FileType::Directory => "a directory",
            FileType::Fifo => "a FIFO",
            FileType::Socket => "a socket",
            FileType::CharacterDevice => "a character device",
            FileType::BlockDevice => "a block device",
            FileType::Unknown => "something unknown",
        })
    }
}

impl Fault {
    pub(crate) fn new(path: &Path, kind: FaultKind) -> Self {
        Fault { path: path.to_owned(), kind }
    }

    pub(crate) fn kernel(path: &Path, operation: Operation, errno: Errno) -> Self {
        Fault::new(path, FaultKind::Kernel { operation, errno })
    }
}

/// Turns an errno into a fault about this path.
pub(crate) trait At<T> {
    fn at(self, path: &Path, operation: Operation) -> Result<T, Fault>;
}

impl<T> At<T> for Result<T, Errno> {
    fn at(self, path: &Path, operation: Operation) -> Result<T, Fault> {
        self.map_err(|errno| Fault::kernel(path, operation, errno))
    }
}

/// The same for the caller's flag.
pub(crate) trait On<T> {
    fn on(self, path: &Path) -> Result<T, Fault>;
}

impl<T> On<T> for Result<T, Cancelled> {
    fn on(self, path: &Path) -> Result<T, Fault> {
        self.map_err(|cancelled| Fault::new(path, cancelled.into()))
    }
}
