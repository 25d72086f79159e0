//! What git runs by itself, later and outside: hooks, and settings that name a program. A command may change most of it, as
//! work with git needs; so a change that happened while a command ran is told with its end.
//!
//! Looked at is each root's own git directory. A file is read again only when its identity, size or times are others.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brattice_policy::{Mode, Profile, RootKind};
use rustix::fs::{FileType, Mode as FileMode, OFlags, Stat};

/// Largest configuration that is read.
const LARGEST: u64 = 256 << 10;

/// Most changes that are told by name.
const MOST: usize = 16;

/// Most hooks that are looked at.
const MOST_HOOKS: usize = 256;

/// What can tell that a file is another one: device, inode, size, mode, and both times.
type Stamp = (u64, u64, i64, u32, (i64, u64), (i64, u64));

/// What is looked at of a file: what it is called in a result, and what it says.
type Entries = Arc<Vec<(String, String)>>;

/// What git would run, at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct GitState {
    /// Where the profile's commands can change it.
    folders: Vec<PathBuf>,
    files: BTreeMap<PathBuf, (Stamp, Entries)>,
}

impl GitState {
    /// As it is now.
    pub(super) fn of(profile: &Profile) -> Self {
        let folders = match profile.mode {
            Mode::ReadOnly => Vec::new(),
            Mode::WorkspaceWrite | Mode::DangerFullAccess => folders(profile),
        };
        GitState { folders, files: BTreeMap::new() }.again()
    }

    /// As it is now, read anew as far as it differs.
    pub(super) fn again(&self) -> Self {
        let mut files = BTreeMap::new();
        for folder in &self.folders {
            for name in ["config", "config.worktree"] {
                self.look(&mut files, folder.join(name), configuration);
            }
            // Names another folder for configuration and hooks (gitrepository-layout(5)).
            self.look(&mut files, folder.join("commondir"), place);
            // Looked at where they are held as well: what nobody can change is never told.
            for path in hooks(&folder.join("hooks")) {
                self.look(&mut files, path, place);
            }
        }
        GitState { folders: self.folders.clone(), files }
    }

    fn look(
        &self,
        files: &mut BTreeMap<PathBuf, (Stamp, Entries)>,
        path: PathBuf,
        read: fn(&Path, &Stat) -> Vec<(String, String)>,
    ) {
        // A link is what stands there: what it leads to may be hidden from commands.
        let Ok(stat) = rustix::fs::lstat(&path) else { return };
        let stamp = stamp(&stat);
        let known = self.files.get(&path).filter(|(known, _)| *known == stamp);
        let entries = match known {
            Some((_, entries)) => entries.clone(),
            None => Arc::new(read(&path, &stat)),
        };
        files.insert(path, (stamp, entries));
    }

    /// What has changed since this moment, by name.
    pub(super) fn changes(&self) -> Vec<String> {
        let now = self.again();
        let entries = |state: &GitState| -> BTreeMap<String, String> {
            state.files.values().flat_map(|(_, entries)| entries.iter().cloned()).collect()
        };
        let stamps = |state: &GitState| -> Vec<Stamp> {
            state.files.values().map(|(stamp, _)| *stamp).collect()
        };
        if stamps(self) == stamps(&now) {
            return Vec::new();
        }
        let (before, now) = (entries(self), entries(&now));
        let gone = before.keys().filter(|name| !now.contains_key(*name));
        let other = now.iter().filter(|(name, text)| before.get(*name) != Some(*text));
        let mut changed: Vec<String> = gone.chain(other.map(|(name, _)| name)).cloned().collect();
        changed.sort();
        if changed.len() > MOST {
            let more = changed.len() - MOST;
            changed.truncate(MOST);
            changed.push(format!("and {more} more"));
        }
        changed
    }
}

/// The git directories of a profile's roots, where they are folders. A linked worktree's are roots themselves.
fn folders(profile: &Profile) -> Vec<PathBuf> {
    let of = |root: &brattice_policy::Root| match root.kind {
        RootKind::GitDir | RootKind::GitCommonDir => root.path.clone(),
        _ if root.path.ends_with(".git") => root.path.clone(),
        _ => root.path.join(".git"),
    };
    let mut folders: Vec<PathBuf> = profile.roots.iter().map(of).collect();
    folders.sort();
    folders.dedup();
    folders
}

fn stamp(stat: &Stat) -> Stamp {
    let times = ((stat.st_mtime, stat.st_mtime_nsec), (stat.st_ctime, stat.st_ctime_nsec));
    (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mode, times.0, times.1)
}

/// The hooks that git would run: its own examples are none.
fn hooks(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| path.extension().is_none_or(|it| it != "sample")).take(MOST_HOOKS).collect()
}

fn place(path: &Path, stat: &Stat) -> Vec<(String, String)> {
    vec![(path.display().to_string(), format!("{:?}", stamp(stat)))]
}

fn configuration(path: &Path, stat: &Stat) -> Vec<(String, String)> {
    let place = path.display();
    match small_file(path) {
        Some(text) => programs(&String::from_utf8_lossy(&text))
            .into_iter()
            .map(|(key, value)| (format!("{key} in {place}"), value))
            .collect(),
        // Whatever stands there.
        None => vec![(place.to_string(), format!("{:?}", stamp(stat)))],
    }
}

/// The content of a small regular file. A command can have put anything there, and put another thing there by now: no link
/// is followed, nothing is waited for, and no more is read than was asked for.
fn small_file(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let pinned = rustix::fs::open(
        path,
        OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        FileMode::empty(),
    );
    let is_file = |fd: &OwnedFd| {
        rustix::fs::fstat(fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file())
    };
    pinned.ok().filter(is_file)?;
    let file = rustix::fs::open(path, flags | OFlags::CLOEXEC, FileMode::empty()).ok();
    let mut text = Vec::new();
    File::from(file.filter(is_file)?).take(LARGEST + 1).read_to_end(&mut text).ok()?;
    (text.len() as u64 <= LARGEST).then_some(text)
}

/// The settings of a configuration that name a program, or another configuration (git-config(1)). Values of one name are
/// put together.
fn programs(text: &str) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut section = String::new();
    let mut is_continued = None;
    for line in text.lines() {
        let mut rest = line.trim();
        let key = match is_continued.take() {
            Some(key) => key,
            None => {
                if let Some((name, after)) = header(rest) {
                    (section, rest) = (name, after);
                }
                let end = rest.find(|sign: char| !sign.is_alphanumeric() && sign != '-');
                let name = rest[..end.unwrap_or(rest.len())].to_lowercase();
                (!name.is_empty()).then(|| format!("{section}.{name}"))
            }
        };
        if let Some(key) = key.as_ref().filter(|key| is_program(key)) {
            let value = found.entry(key.clone()).or_default();
            value.push_str(rest);
            value.push('\n');
        }
        is_continued = rest.ends_with('\\').then_some(key);
    }
    found
}

/// The section that a line opens, and what follows on the line.
fn header(line: &str) -> Option<(String, &str)> {
    let inner = line.strip_prefix('[')?;
    let mut is_quoted = false;
    let mut is_escaped = false;
    let end = inner.find(|sign: char| {
        let is_end = sign == ']' && !is_quoted;
        is_quoted ^= sign == '"' && !is_escaped;
        is_escaped = sign == '\\' && !is_escaped;
        is_end
    })?;
    let (name, below) = inner[..end].split_once(char::is_whitespace).unwrap_or((&inner[..end], ""));
    let below = below.trim().trim_matches('"');
    let mut section = name.to_lowercase();
    if !below.is_empty() {
        section = format!("{section}.{below}");
    }
    Some((section, inner[end + 1..].trim()))
}

/// Whether git starts what a setting says, or reads on there.
fn is_program(key: &str) -> bool {
    const SECTIONS: [&str; 6] = ["alias", "credential", "filter", "include", "includeif", "pager"];
    const CORE: [&str; 8] = [
        "hookspath",
        "fsmonitor",
        "sshcommand",
        "askpass",
        "editor",
        "pager",
        "gitproxy",
        "alternaterefscommand",
    ];
    const LAST: [&str; 17] = [
        "textconv",
        "command",
        "driver",
        "program",
        "external",
        "cmd",
        "packobjectshook",
        "difffilter",
        "defaultkeycommand",
        "recentobjectshook",
        "uploadpack",
        "receivepack",
        "vcs",
        "update",
        "path",
        "templatedir",
        "smtpserver",
    ];
    let section = key.split('.').next().unwrap_or_default();
    let name = key.rsplit('.').next().unwrap_or_default();
    SECTIONS.contains(&section)
        || (section == "core" && CORE.contains(&name))
        || key == "sequence.editor"
        || LAST.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_name_a_program_are_told_from_others() {
        let text = "[core]\n\tbare = false\n\thooksPath = /x\n[Core] FSMonitor = ./evil \\\n  more\n\
                    [filter \"a]b\"]\n\tclean = cat\n[alias]\n\tst = !sh\n[user]\n\tname = A\n\
                    [remote \"o\"]\n\turl = x\n[diff \"p\"]\n\ttextconv = y\n[include]\n\tpath = z\n# [alias]\n";
        let found: Vec<String> = programs(text).into_keys().collect();
        assert_eq!(
            found,
            [
                "alias.st",
                "core.fsmonitor",
                "core.hookspath",
                "diff.p.textconv",
                "filter.a]b.clean",
                "include.path"
            ]
        );
        assert_eq!(programs(text)["core.fsmonitor"], "FSMonitor = ./evil \\\nmore\n");
    }

    #[test]
    fn a_text_that_is_no_configuration_names_nothing() {
        for text in ["", "[", "[core", "]\n=\n", "[core]\n\\\n", "é = ü\n[é]x"] {
            assert_eq!(programs(text), BTreeMap::new(), "{text}");
        }
    }
}
