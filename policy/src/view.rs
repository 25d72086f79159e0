//! What a session's commands see of the file system where they have a mount namespace of their own: `/tmp` is the
//! session's, some paths are hidden, and all else is the machine's.

use std::path::{Path, PathBuf};

use crate::{Access, Mode, Profile};

/// The folder that is private to a session.
pub const SHARED_TEMP: &str = "/tmp";

/// A path below the private `/tmp` at which commands find what the machine has there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The path.
    pub path: PathBuf,
    /// [`Access::Write`] or [`Access::Read`]. Landlock's rules alone would not hold the latter: what opens `/tmp` for
    /// writing opens what is mounted below it.
    pub access: Access,
}

/// What a mount namespace holds at this moment, where a mode has one; else nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Protected paths that are held: they exist.
    pub protected: Vec<PathBuf>,
    /// Protected paths that are not.
    pub unprotected: Vec<PathBuf>,
    /// Hidden paths that exist, under the names that they lead to.
    pub hidden: Vec<PathBuf>,
}

impl Profile {
    /// Whether `/tmp` is private. Not where it is a root itself, or one lies above it.
    pub fn has_private_temp(&self) -> bool {
        self.mode.is_confined()
            && !self.roots.iter().any(|root| Path::new(SHARED_TEMP).starts_with(&root.path))
    }

    /// What stays visible below the private `/tmp`: the roots, and the session's folder by its own name. Outer paths come
    /// first, and none lies in another.
    pub fn kept(&self) -> Vec<Kept> {
        if !self.has_private_temp() {
            return Vec::new();
        }
        let roots = match self.mode {
            Mode::WorkspaceWrite => Access::Write,
            Mode::ReadOnly | Mode::DangerFullAccess => Access::Read,
        };
        let temp = Kept { path: self.temp.clone(), access: Access::Write };
        let mut all: Vec<Kept> =
            self.roots.iter().map(|root| Kept { path: root.path.clone(), access: roots }).collect();
        all.push(temp);
        all.retain(|kept| kept.path.starts_with(SHARED_TEMP));
        all.sort_by(|one, other| one.path.cmp(&other.path));
        all.dedup_by(|later, earlier| later.path.starts_with(&earlier.path));
        all
    }

    /// Paths that are hidden from this profile's commands.
    pub fn hidden(&self) -> &[PathBuf] {
        if self.mode.is_confined() { &self.deny_read } else { &[] }
    }

    /// The machine's name of what commands find at an absolute path, where they have a mount namespace.
    pub fn seen_at(&self, path: &Path) -> PathBuf {
        let is_private =
            self.has_private_temp() && !self.kept().iter().any(|kept| path.starts_with(&kept.path));
        match path.strip_prefix(SHARED_TEMP) {
            Ok(rest) if is_private => self.temp.join(rest),
            Ok(_) | Err(_) => path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::tests::profile;
    use crate::profile::{Root, RootKind};

    fn over(mode: Mode, roots: &[&str]) -> Profile {
        let root = |path: &&str| Root { path: path.into(), kind: RootKind::Writable };
        Profile { roots: roots.iter().map(root).collect(), ..profile(mode) }
    }

    #[test]
    fn roots_below_tmp_stay_where_they_are_with_their_access() {
        let roots = ["/tmp/b/ws", "/tmp/b/ws/sub", "/home/a", "/tmp/a", "/tmpx"];
        for (mode, access) in
            [(Mode::ReadOnly, Access::Read), (Mode::WorkspaceWrite, Access::Write)]
        {
            let kept = |path: &str| Kept { path: path.into(), access };
            assert_eq!(over(mode, &roots).kept(), [kept("/tmp/a"), kept("/tmp/b/ws")]);
        }
    }

    #[test]
    fn the_sessions_folder_below_tmp_is_found_by_its_own_name() {
        let profile = Profile { temp: "/tmp/s/tmp".into(), ..over(Mode::ReadOnly, &["/ws"]) };
        assert_eq!(profile.kept(), [Kept { path: "/tmp/s/tmp".into(), access: Access::Write }]);
    }

    #[test]
    fn a_session_on_tmp_itself_has_the_machines() {
        let profile = over(Mode::WorkspaceWrite, &["/tmp"]);
        assert!(!profile.has_private_temp());
        assert_eq!(profile.kept(), []);
        assert_eq!(profile.seen_at(Path::new("/tmp/x")), Path::new("/tmp/x"));
    }

    #[test]
    fn what_is_at_tmp_is_the_sessions() {
        let profile = over(Mode::WorkspaceWrite, &["/tmp/b/ws"]);
        let cases = [
            ("/tmp", "/state/tmp"),
            ("/tmp/x/y", "/state/tmp/x/y"),
            ("/tmp/b", "/state/tmp/b"),
            ("/tmp/b/ws/f", "/tmp/b/ws/f"),
            ("/tmpx", "/tmpx"),
            ("/var/tmp", "/var/tmp"),
        ];
        for (path, seen) in cases {
            assert_eq!(profile.seen_at(Path::new(path)), Path::new(seen), "{path}");
        }
    }
}
