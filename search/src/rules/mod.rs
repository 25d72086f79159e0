//! Ignore rules: which entries of a folder they skip. Reading the files is `file`'s business, finding a repository's
//! own folder `repository`'s.
//!
//! Precedence is ripgrep's: any `.ignore` before any `.gitignore`, before `.git/info/exclude`, before the user's own
//! rules; within a kind the nearest folder decides, within a file the last line. A `.gitignore` above a repository's top
//! does not reach into it, an `.ignore` does.

mod file;
mod repository;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::Gitignore;

use crate::query::{Ignored, Unreadable, UserRules};

pub(crate) use file::Files;

/// What the rules say about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is skipped, and all below it.
    Skipped,
    /// It was brought back by name, which a hidden one needs.
    BroughtBack,
    /// Nothing names it.
    Unnamed,
}

/// What an entry is, as far as rules care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Folder,
    File,
}

/// The rules that hold in a folder: its own and those of the folders above. Folders without any share their parent's.
#[derive(Debug)]
pub(crate) struct Rules {
    above: Option<Arc<Rules>>,
    ignore: Gitignore,
    gitignore: Gitignore,
    exclude: Gitignore,
    /// Where the part of a path begins that these files' patterns speak of.
    prefix: usize,
    top: Top,
}

/// Whether a folder is the top of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Top {
    OfRepository,
    No,
}

/// The rules of a whole search.
#[derive(Debug)]
pub(crate) struct Ruleset {
    user: Gitignore,
    user_prefix: usize,
    /// Those that hold in the folder above the root.
    pub(crate) above: Option<Arc<Rules>>,
    /// Rule files that could not be read.
    pub(crate) unreadable: Vec<Unreadable>,
    ignored: Ignored,
}

impl Ruleset {
    /// Reads what applies above a root, which is a folder's path without links.
    pub(crate) fn above(root: &Path, ignored: Ignored, user: UserRules) -> Ruleset {
        let mut unreadable = Vec::new();
        let mut above = None;
        let mut top = root;
        if ignored == Ignored::Skip {
            let mut parents: Vec<&Path> = root.ancestors().skip(1).collect();
            parents.reverse();
            for parent in parents {
                above = Rules::of(parent, Files::look(parent), above, &mut unreadable);
            }
            let is_top = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
            top = root.ancestors().find(is_top).unwrap_or(root);
        }
        let user = match (ignored, user) {
            (Ignored::Skip, UserRules::Apply) => ignore::gitignore::gitconfig_excludes_path(),
            (Ignored::Include, _) | (_, UserRules::Leave) => None,
        };
        let user = user.map_or_else(Gitignore::empty, |path| file::read(&path, &mut unreadable));
        Ruleset { user, user_prefix: prefix_of(top), above, unreadable, ignored }
    }

    /// The rules that hold in a folder, given which rule files it has.
    pub(crate) fn enter(
        &self,
        folder: &Path,
        files: Files,
        above: Option<Arc<Rules>>,
        unreadable: &mut Vec<Unreadable>,
    ) -> Option<Arc<Rules>> {
        match self.ignored {
            Ignored::Skip => Rules::of(folder, files, above, unreadable),
            Ignored::Include => None,
        }
    }

    /// What the rules of its folder say about an entry, by its absolute path.
    pub(crate) fn verdict(
        &self,
        rules: Option<&Arc<Rules>>,
        path: &[u8],
        kind: EntryKind,
    ) -> Verdict {
        let mut found = Decision { path, kind, ignore: None, gitignore: None, exclude: None };
        let mut inside = true;
        let mut next = rules;
        while let Some(rules) = next {
            found.look(rules, inside);
            inside &= rules.top == Top::No;
            next = rules.above.as_ref();
        }
        let named = found.ignore.or(found.gitignore).or(found.exclude);
        named.or_else(|| ask(&self.user, self.user_prefix, path, kind)).unwrap_or(Verdict::Unnamed)
    }
}

/// What each kind of file said so far, from the nearest folder upwards.
struct Decision<'a> {
    path: &'a [u8],
    kind: EntryKind,
    ignore: Option<Verdict>,
    gitignore: Option<Verdict>,
    exclude: Option<Verdict>,
}

impl Decision<'_> {
    fn look(&mut self, rules: &Rules, inside: bool) {
        let ask = |matcher| ask(matcher, rules.prefix, self.path, self.kind);
        self.ignore = self.ignore.or_else(|| ask(&rules.ignore));
        if inside {
            self.gitignore = self.gitignore.or_else(|| ask(&rules.gitignore));
            self.exclude = self.exclude.or_else(|| ask(&rules.exclude));
        }
    }
}

fn ask(matcher: &Gitignore, prefix: usize, path: &[u8], kind: EntryKind) -> Option<Verdict> {
    if matcher.is_empty() {
        return None;
    }
    let relative = Path::new(OsStr::from_bytes(path.get(prefix..)?));
    match matcher.matched(relative, kind == EntryKind::Folder) {
        Match::None => None,
        Match::Ignore(_) => Some(Verdict::Skipped),
        Match::Whitelist(_) => Some(Verdict::BroughtBack),
    }
}

fn prefix_of(folder: &Path) -> usize {
    let bytes = folder.as_os_str().as_bytes();
    bytes.len() + usize::from(!bytes.ends_with(b"/"))
}

impl Rules {
    fn of(
        folder: &Path,
        files: Files,
        above: Option<Arc<Rules>>,
        unreadable: &mut Vec<Unreadable>,
    ) -> Option<Arc<Rules>> {
        if files == Files::default() {
            return above;
        }
        let none = Gitignore::empty;
        let mut read = |name: &str| file::read(&folder.join(name), unreadable);
        let ignore = if files.ignore { read(".ignore") } else { none() };
        let gitignore = if files.gitignore { read(".gitignore") } else { none() };
        let (exclude, top) = if files.git {
            let exclude = repository::exclude_file(&folder.join(".git"));
            let rules = exclude.map_or_else(none, |path| file::read(&path, unreadable));
            (rules, Top::OfRepository)
        } else {
            (none(), Top::No)
        };
        let prefix = prefix_of(folder);
        Some(Arc::new(Rules { above, ignore, gitignore, exclude, prefix, top }))
    }
}
