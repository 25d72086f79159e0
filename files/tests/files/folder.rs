//! A workspace and a journal in a folder of their own, taken away with it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use brattice_files::edit::{Edit, Order, Rule};
use brattice_files::read::Caps;
use brattice_files::{
    Apply, Cancel, Context, Edited, Expected, Fault, FaultKind, FileEdits, FileFault, Links,
    Reading, Window, Written,
};

pub(crate) struct Folder {
    root: PathBuf,
    pub(crate) cancel: Cancel,
}

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let root =
            std::env::temp_dir().join(format!("brattice-files-{}-{number}", std::process::id()));
        fs::create_dir_all(root.join("ws")).unwrap();
        fs::create_dir_all(root.join("journal")).unwrap();
        Folder { root: root.canonicalize().unwrap(), cancel: Cancel::default() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join("ws").join(name)
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.root.join("journal")
    }

    /// Makes a file.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn content(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.path(name)).unwrap()).into_owned()
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    pub(crate) fn context<'a>(&'a self, journal: &'a Path) -> Context<'a> {
        Context {
            journal,
            cancel: &self.cancel,
            lock_wait: Duration::from_secs(30),
            links: Links::Follow,
        }
    }

    pub(crate) fn read(&self, name: &str, window: Window) -> Result<Reading, Fault> {
        brattice_files::read(&self.path(name), window, Caps::default(), &self.cancel)
    }

    /// The lines that a read from `offset` shows, with their numbers.
    pub(crate) fn lines(&self, name: &str, offset: u64, limit: u64) -> Vec<(u64, String)> {
        let reading = self.read(name, Window::lines(offset, limit).unwrap()).unwrap();
        reading.lines.into_iter().map(|line| (line.number, line.text)).collect()
    }

    pub(crate) fn write(
        &self,
        name: &str,
        content: &str,
        expected: Expected,
    ) -> Result<Written, Fault> {
        let journal = self.journal();
        let context = self.context(&journal);
        brattice_files::write(&self.path(name), content, expected, Apply::Write, context)
    }

    pub(crate) fn edit(
        &self,
        files: &[FileEdits],
        apply: Apply,
    ) -> Result<Vec<Edited>, Vec<FileFault>> {
        let journal = self.journal();
        brattice_files::edit(files, apply, self.context(&journal))
    }

    /// One edit of one file.
    pub(crate) fn replace(
        &self,
        name: &str,
        old: &str,
        new: &str,
    ) -> Result<Edited, Vec<FileFault>> {
        let edited = self.edit(&[self.edits(name, old, new)], Apply::Write);
        edited.map(|mut edited| edited.remove(0))
    }

    pub(crate) fn edits(&self, name: &str, old: &str, new: &str) -> FileEdits {
        let edit = Edit { old: old.to_owned(), new: new.to_owned(), rule: Rule::Once };
        FileEdits {
            path: self.path(name),
            edits: vec![edit],
            order: Order::Original,
            expected: Expected::Any,
        }
    }

    /// Names in the workspace and below, sorted; folders end with a slash. The journal must be empty.
    pub(crate) fn names(&self) -> Vec<String> {
        assert_eq!(fs::read_dir(self.journal()).unwrap().count(), 0, "the journal is empty");
        let mut names = Vec::new();
        let mut folders = vec![self.root.join("ws")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.root.join("ws")).unwrap();
                let name = name.to_str().unwrap().to_owned();
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                    names.push(name + "/");
                } else {
                    names.push(name);
                }
            }
        }
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.root).unwrap();
    }
}

pub(crate) fn first(limit: u64) -> Window {
    Window::lines(1, limit).unwrap()
}

pub(crate) fn kind<T: std::fmt::Debug>(result: Result<T, Fault>) -> FaultKind {
    result.unwrap_err().kind
}
