//! Upper layers of overlays: what is written there shows up in another mount, which is no root.
//!
//! Layers are known from the options that the kernel shows of each overlay, so that only those of the daemon's own mount
//! namespace are. Which paths lead to one file system is for `mounts` to say.

use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, stat};

use super::mounts::{self, Mount, Mounts, is_absence};

/// Where the overlay is mounted whose upper layer a folder is, holds or lies in. `root` is canonical.
pub(super) fn merged_above(mounts: &Mounts, root: &Path) -> Option<PathBuf> {
    // `/` holds everything, and is no root for that reason alone.
    root.parent()?;
    let mut overlays = mounts.iter().filter(|mount| mount.kind == b"overlay");
    let found = overlays.find(|overlay| {
        Upper::of(overlay).iter().any(|upper| upper.is_opened_by(root, overlay, mounts))
    });
    found.map(|overlay| overlay.point.clone())
}

/// An upper layer as an overlay's options name it.
#[derive(Debug, PartialEq, Eq)]
struct Upper {
    /// `upperdir=`
    path: PathBuf,
    /// `workdir=`, which is on the same mount.
    work: PathBuf,
}

impl Upper {
    /// An overlay's upper layer, by each reading of its options: a name that was given to mount(2) has escapes of its
    /// own, one that the kernel has from an open descriptor has none.
    fn of(overlay: &Mount) -> Vec<Upper> {
        let Some(path) = overlay.option("upperdir") else { return Vec::new() };
        let work = overlay.option("workdir").unwrap_or_else(|| path.clone());
        let given = Upper { path: unescape(&path), work: unescape(&work) };
        let plain = Upper { path: mounts::path(path), work: mounts::path(work) };
        if given == plain { vec![given] } else { vec![given, plain] }
    }

    /// Whether a root is, holds or lies in the layer.
    fn is_opened_by(&self, root: &Path, overlay: &Mount, mounts: &Mounts) -> bool {
        if self.path.is_absolute() && may_be_folder(&self.path) {
            return is_opened(&self.path, root, overlay, mounts);
        }
        self.is_named_by(root)
            || self.guesses(root, overlay).any(|path| is_opened(&path, root, overlay, mounts))
    }

    /// Whether a root, or a folder above it, ends as the layer's name does.
    fn is_named_by(&self, root: &Path) -> bool {
        let mut tail = PathBuf::new();
        for component in self.path.components() {
            match component {
                Component::Normal(name) => tail.push(name),
                Component::ParentDir => tail.clear(),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
        tail.parent().is_some() && root.ancestors().any(|folder| folder.ends_with(&tail))
    }

    /// Where a layer may be whose name was given from a folder, or from a root of the file system, that is not known: one
    /// above the mount or the session's root, where both its folders are found.
    fn guesses(&self, root: &Path, overlay: &Mount) -> impl Iterator<Item = PathBuf> {
        let [path, work] =
            [&self.path, &self.work].map(|path| path.strip_prefix("/").unwrap_or(path).to_owned());
        let bases: Vec<PathBuf> =
            overlay.point.ancestors().chain(root.ancestors()).map(Path::to_owned).collect();
        bases
            .into_iter()
            .filter(move |base| may_be_folder(&base.join(&work)))
            .map(move |base| base.join(&path))
            .filter(|path| may_be_folder(path))
    }
}

/// Whether a root is, holds or lies in a folder that is an overlay's upper layer.
fn is_opened(upper: &Path, root: &Path, overlay: &Mount, mounts: &Mounts) -> bool {
    let upper = upper.canonicalize().unwrap_or_else(|_| upper.to_owned());
    // An overlay that is mounted over its own layer hides it, yet not from other mounts of the same file system.
    let place = match mounts.place(&upper) {
        Some(place) if place.device == overlay.device => mounts.place_below(overlay, &upper),
        place => place,
    };
    let Some(place) = place else {
        return root.starts_with(&upper) || upper.starts_with(root);
    };
    let is_in = match mounts.place(root) {
        Some(folder) => folder.is_in(&place),
        None => root.starts_with(&upper),
    };
    is_in || mounts.names(&place).any(|name| name.starts_with(root))
}

/// Whether a path leads to a folder, as far as can be seen.
fn may_be_folder(path: &Path) -> bool {
    match stat(path) {
        Ok(found) => FileType::from_raw_mode(found.st_mode) == FileType::Directory,
        Err(errno) => !is_absence(errno),
    }
}

/// Takes back the escapes of overlay's options: a backslash before any character.
fn unescape(text: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => *rest.next().unwrap_or(byte),
            _ => *byte,
        });
    }
    mounts::path(bytes)
}

#[cfg(test)]
#[path = "overlay_tests.rs"]
mod tests;
