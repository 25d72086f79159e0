//! A world's folder: short, since a socket's path has 107 bytes (unix(7)), and gone with the world.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where worlds are: not in `/tmp`, of which a confined command has one of its own.
const BASE: &str = "/var/tmp";

/// A folder for temporary files.
pub(crate) struct Root {
    path: PathBuf,
}

impl Root {
    /// Makes a new one, for this user only.
    pub(crate) fn new() -> Self {
        Root::below(Path::new(BASE))
    }

    /// The same in another folder.
    pub(crate) fn below(base: &Path) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let path = base.join(format!(
                "bt-{:x}-{:x}",
                process::id(),
                NEXT.fetch_add(1, Ordering::Relaxed)
            ));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Root { path },
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => panic!("cannot create {}: {error}", path.display()),
            }
        }
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A folder in it, made where it is missing.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let path = self.path.join(name);
        fs::DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(&path)
            .expect("a folder can be made");
        path
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        if fs::remove_dir_all(&self.path).is_err() {
            // A case may have taken its owner's rights from a folder.
            open_up(&self.path);
            if let Err(error) = fs::remove_dir_all(&self.path) {
                eprintln!("left behind {}: {error}", self.path.display());
            }
        }
    }
}

fn open_up(folder: &Path) {
    if let Err(error) = fs::set_permissions(folder, fs::Permissions::from_mode(0o700)) {
        eprintln!("{}: {error}", folder.display());
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}
