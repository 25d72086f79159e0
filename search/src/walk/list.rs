//! Listing a folder: which of its entries are walked, sorted by name, as work.

use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;

use super::position::Position;
use super::{Stop, Walk};
use crate::pattern::Filter;
use crate::query::{Cause, Ignored, Root, Unreadable};
use crate::rules::{EntryKind, Files, Rules, Verdict};

/// What one system call fills with entries.
const BUFFER_BYTES: usize = 64 * 1024;
/// So many entries are sorted in a few milliseconds.
const RUN_ENTRIES: usize = 16 * 1024;

/// Something that a worker can take.
pub(super) enum Work {
    Folder(Folder),
    Files(Run),
}

/// A folder that was not listed yet.
pub(super) struct Folder {
    /// From the root, without a slash at either end.
    relative: Vec<u8>,
    /// The rules that hold in the folder above.
    above: Option<Arc<Rules>>,
}

/// What of a folder is walked.
struct Listing {
    /// The folder's absolute path and a slash.
    folder: Vec<u8>,
    /// Where in it the part below the root begins.
    below_root: usize,
    names: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    start: u32,
    len: u32,
    kind: EntryKind,
}

impl Entry {
    fn name(self, names: &[u8]) -> &[u8] {
        let start = self.start as usize;
        &names[start..start + self.len as usize]
    }
}

/// Files that follow each other in a listing.
pub(super) struct Run {
    listing: Arc<Listing>,
    from: usize,
    to: usize,
}

/// Files for a job to look at.
pub(crate) struct Batch<'a> {
    run: &'a Run,
    root: &'a Root,
}

/// A file of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<'a> {
    /// Its absolute path.
    pub(crate) path: &'a [u8],
    /// The same from the root; empty where the root is the file.
    pub(crate) relative: &'a [u8],
}

/// The root folder's work.
pub(super) fn first(above: Option<Arc<Rules>>) -> Work {
    Work::Folder(Folder { relative: Vec::new(), above })
}

/// The work where the root is a file, which needs no listing.
pub(super) fn only_file() -> Work {
    let entry = Entry { start: 0, len: 0, kind: EntryKind::File };
    let listing =
        Listing { folder: Vec::new(), below_root: 0, names: Vec::new(), entries: vec![entry] };
    Work::Files(Run { listing: Arc::new(listing), from: 0, to: 1 })
}

impl Run {
    /// Cuts off what is more than a batch.
    pub(super) fn split(&mut self, batch: usize) -> Option<Run> {
        let middle = self.from + batch;
        if middle >= self.to {
            return None;
        }
        let rest = Run { listing: Arc::clone(&self.listing), from: middle, to: self.to };
        self.to = middle;
        Some(rest)
    }

    pub(super) fn batch<'a>(&'a self, root: &'a Root) -> Batch<'a> {
        Batch { run: self, root }
    }
}

impl Batch<'_> {
    /// Shows each file to a function, in order, until that has enough.
    pub(crate) fn each(&self, mut look: impl FnMut(Candidate<'_>) -> super::Flow) {
        let listing = &self.run.listing;
        let mut path = listing.folder.clone();
        for entry in &listing.entries[self.run.from..self.run.to] {
            path.truncate(listing.folder.len());
            path.extend_from_slice(listing.name(*entry));
            let candidate = if path.is_empty() {
                Candidate { path: self.root.real.as_os_str().as_bytes(), relative: &[] }
            } else {
                Candidate { path: &path, relative: &path[listing.below_root..] }
            };
            if look(candidate) == super::Flow::Enough {
                break;
            }
        }
    }
}

impl Listing {
    fn name(&self, entry: Entry) -> &[u8] {
        entry.name(&self.names)
    }

    /// Sorts the entries by name, first in runs between which it can be stopped; the rest is merging those.
    fn sort(&mut self, stop: &Stop<'_>) {
        let names = &self.names;
        for run in self.entries.chunks_mut(RUN_ENTRIES) {
            if stop.is_wanted() {
                return;
            }
            run.sort_unstable_by(|a, b| a.name(names).cmp(b.name(names)));
        }
        self.entries.sort_by(|a, b| a.name(names).cmp(b.name(names)));
    }
}

/// Lists folders, one after the other, with buffers that it keeps.
pub(super) struct Lister<'a> {
    walk: &'a Walk<'a>,
    buffer: Vec<u8>,
}

/// Everything that a folder holds.
#[derive(Default)]
struct Entries {
    names: Vec<u8>,
    entries: Vec<(u32, u32, FileType)>,
    files: Files,
}

impl<'a> Lister<'a> {
    pub(super) fn new(walk: &'a Walk<'a>) -> Self {
        Lister { walk, buffer: Vec::with_capacity(BUFFER_BYTES) }
    }

    /// The work that a folder holds, each with its position, and what of it could not be read.
    pub(super) fn list(
        &mut self,
        folder: Folder,
        position: &Position,
        stop: &Stop<'_>,
    ) -> (Vec<(Position, Work)>, Vec<Unreadable>) {
        let mut path = self.walk.root.real.as_os_str().as_bytes().to_vec();
        if !path.ends_with(b"/") {
            path.push(b'/');
        }
        let below_root = path.len();
        if !folder.relative.is_empty() {
            path.extend_from_slice(&folder.relative);
            path.push(b'/');
        }
        let mut unreadable = Vec::new();
        let mut all = Entries::default();
        if let Err(errno) = all.read(&path, &mut self.buffer, stop)
            && gone(errno) == Gone::No
        {
            let path = self.walk.root.show(&folder.relative);
            unreadable.push(Unreadable { path, cause: Cause::Errno(errno.raw_os_error()) });
        }
        let own = Path::new(std::ffi::OsStr::from_bytes(&path));
        let rules = self.walk.ruleset.enter(own, all.files, folder.above, &mut unreadable);
        let mut listing =
            Listing { folder: path, below_root, names: all.names, entries: Vec::new() };
        self.choose(&mut listing, &all.entries, rules.as_ref(), stop);
        listing.sort(stop);
        (work(Arc::new(listing), rules.as_ref(), position), unreadable)
    }

    /// Keeps the entries that are walked.
    fn choose(
        &self,
        listing: &mut Listing,
        all: &[(u32, u32, FileType)],
        rules: Option<&Arc<Rules>>,
        stop: &Stop<'_>,
    ) {
        let mut path = listing.folder.clone();
        for (count, &(start, len, kind)) in all.iter().enumerate() {
            if count % 1024 == 0 && stop.is_wanted() {
                return;
            }
            let name = &listing.names[start as usize..(start + len) as usize];
            path.truncate(listing.folder.len());
            path.extend_from_slice(name);
            let Some(kind) = entry_kind(&path, kind) else { continue };
            if name != b".git" && self.is_walked(&path, listing.below_root, name, kind, rules) {
                listing.entries.push(Entry { start, len, kind });
            }
        }
    }

    fn is_walked(
        &self,
        path: &[u8],
        below_root: usize,
        name: &[u8],
        kind: EntryKind,
        rules: Option<&Arc<Rules>>,
    ) -> bool {
        let relative = &path[below_root..];
        let filter: &Filter = self.walk.filter;
        let wanted = match kind {
            EntryKind::File => filter.takes(relative),
            EntryKind::Folder => filter.enters(relative),
        };
        if !wanted {
            return false;
        }
        match self.walk.ruleset.verdict(rules, path, kind) {
            Verdict::Skipped => false,
            Verdict::BroughtBack => true,
            Verdict::Unnamed => {
                let plain = !name.starts_with(b".") || self.walk.ignored == Ignored::Include;
                plain || filter.names_hidden(relative, kind)
            }
        }
    }
}

/// Consecutive files become one piece of work, each folder one of its own.
fn work(
    listing: Arc<Listing>,
    rules: Option<&Arc<Rules>>,
    position: &Position,
) -> Vec<(Position, Work)> {
    let mut work = Vec::new();
    let mut from = 0;
    let files = |from, to| {
        let run = Run { listing: Arc::clone(&listing), from, to };
        (from < to).then(|| (position.below(from), Work::Files(run)))
    };
    for (index, entry) in listing.entries.iter().enumerate() {
        if entry.kind == EntryKind::Folder {
            work.extend(files(from, index));
            from = index + 1;
            let mut relative = listing.folder[listing.below_root..].to_vec();
            relative.extend_from_slice(listing.name(*entry));
            let folder = Folder { relative, above: rules.cloned() };
            work.push((position.below(index), Work::Folder(folder)));
        }
    }
    work.extend(files(from, listing.entries.len()));
    work
}

impl Entries {
    fn read(&mut self, path: &[u8], buffer: &mut Vec<u8>, stop: &Stop<'_>) -> Result<(), Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // A slash at the end would follow a link.
        let name = if path.len() > 1 { path.strip_suffix(b"/").unwrap_or(path) } else { path };
        let folder = rustix::fs::open(name, flags, Mode::empty())?;
        let spare: &mut [MaybeUninit<u8>] = buffer.spare_capacity_mut();
        let mut entries = RawDir::new(folder, spare);
        loop {
            if entries.is_buffer_empty() && stop.is_wanted() {
                return Ok(());
            }
            let Some(entry) = entries.next() else { return Ok(()) };
            let entry = entry?;
            self.add(entry.file_name().to_bytes(), entry.file_type());
        }
    }

    fn add(&mut self, name: &[u8], kind: FileType) {
        if name == b"." || name == b".." {
            return;
        }
        self.files.note(name);
        // A folder whose names fill four gigabytes is listed up to there.
        let (Ok(start), Ok(len)) = (u32::try_from(self.names.len()), u32::try_from(name.len()))
        else {
            return;
        };
        if start.checked_add(len).is_some() {
            self.names.extend_from_slice(name);
            self.entries.push((start, len, kind));
        }
    }
}

/// What an entry is, where it is anything that is walked. Some file systems leave it to be asked.
fn entry_kind(path: &[u8], kind: FileType) -> Option<EntryKind> {
    let kind = match kind {
        FileType::Unknown => FileType::from_raw_mode(rustix::fs::lstat(path).ok()?.st_mode),
        known => known,
    };
    match kind {
        FileType::Directory => Some(EntryKind::Folder),
        FileType::RegularFile => Some(EntryKind::File),
        _ => None,
    }
}

/// Whether an error only says that something is no more what it was when it was listed, which is no failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    Yes,
    No,
}

pub(crate) fn gone(errno: Errno) -> Gone {
    match errno {
        // ESRCH is what the files of a process that ended answer.
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NXIO | Errno::SRCH => Gone::Yes,
        _ => Gone::No,
    }
}
