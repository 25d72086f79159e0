//! The daemon's configuration files: where they are, whether they may be used, and reading them.
//!
//! There are two, and neither is ever looked for in a workspace: the operator's in `/etc`, and the user's, by
//! `--config`, else `BRATTICE_CONFIG`, else in the user's configuration folder. What they may say is `policy::config`'s.

use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use brattice_policy::config::{self, Author, Faults, Source};
use brattice_protocol::audit::{Digest, Event};
use brattice_protocol::session::ToolsetName;
use rustix::fs::OFlags;

/// The operator's file.
const OPERATORS: &str = "/etc/brattice/config.toml";

/// The user to whom the operator's file belongs.
const ROOT: u32 = 0;

/// The environment variable that names the user's file.
pub(crate) const CONFIG: &str = "BRATTICE_CONFIG";

/// A file longer than this is not read; nobody writes one by hand.
const LONGEST: u64 = 1 << 20;

/// A daemon's configuration.
pub(crate) type Configuration = config::Configuration<ToolsetName>;

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Loaded {
    /// What the files say together.
    pub(crate) configuration: Configuration,
    /// What the audit log tells of them, an event a file.
    pub(crate) events: Vec<Event>,
}

/// Where the files are, whether or not they exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigurationFiles {
    operators: PathBuf,
    /// Whose the operator's file must be.
    operator: u32,
    users: Option<UsersFile>,
    home: String,
}

/// Where the user's file is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum UsersFile {
    /// Somebody named it, so it must be there.
    Named(PathBuf),
    /// Where it would be.
    Default(PathBuf),
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigurationError {
    /// The variable would depend on where the daemon was started.
    #[error("{CONFIG} must be an absolute path, not {}", path.display())]
    Relative { path: PathBuf },
    /// A file is there, or must be, and cannot be read.
    #[error("cannot read the configuration {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A pipe, say, which could not be read again.
    #[error("the configuration {} is no regular file", path.display())]
    NoFile { path: PathBuf },
    /// Anybody could widen what commands may do.
    #[error("everybody may write to the configuration {} (mode {mode:04o}); run chmod o-w on it", path.display())]
    OpenToOthers { path: PathBuf, mode: u32 },
    /// It is something else.
    #[error("the configuration {} is longer than {LONGEST} bytes", path.display())]
    TooLong { path: PathBuf },
    /// It is no text.
    #[error("the configuration {} is not UTF-8", path.display())]
    NotUtf8 { path: PathBuf },
    /// Its text says something that it cannot.
    #[error("the configuration {} is faulty", path.display())]
    Faulty { path: PathBuf, source: Faults },
    /// Somebody else than the operator could say what bounds everybody.
    #[error("the operator's configuration {} is not only root's to change ({found}); run chown root and chmod go-w on it", path.display())]
    NotOnlyRoots { path: PathBuf, found: String },
}

impl ConfigurationFiles {
    /// Finds out where the files are. `flag` is `--config`; `home` is what `~` stands for in them.
    ///
    /// # Errors
    /// The variable holds a relative path.
    pub(crate) fn find(
        flag: Option<&Path>,
        environment: impl Fn(&str) -> Option<OsString>,
        home: &str,
    ) -> Result<Self, ConfigurationError> {
        let folder =
            |name: &str| environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let variable = environment(CONFIG).filter(|value| !value.is_empty()).map(PathBuf::from);
        let users = match (flag, variable) {
            // An empty or unresolvable path stays as it is and is not found.
            (Some(path), _) => Some(UsersFile::Named(
                std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            )),
            (None, Some(path)) if path.is_absolute() => Some(UsersFile::Named(path)),
            (None, Some(path)) => return Err(ConfigurationError::Relative { path }),
            (None, None) => folder("XDG_CONFIG_HOME")
                .or_else(|| folder("HOME").map(|home| home.join(".config")))
                .map(|base| UsersFile::Default(base.join("brattice/config.toml"))),
        };
        let (operators, operator, home) = (OPERATORS.into(), ROOT, home.to_owned());
        Ok(ConfigurationFiles { operators, operator, users, home })
    }

    /// Reads what there is, the operator's file first. May be called again when a file has changed.
    ///
    /// # Errors
    /// The first fault; nothing of either file counts then.
    pub(crate) fn read(&self) -> Result<Loaded, ConfigurationError> {
        let (mut files, mut events) = (Vec::new(), Vec::new());
        let operators = self.operators.as_path();
        if let Some(text) = if_there(operators, &|found, path| self.is_operators(found, path))? {
            files.push(self.parsed(&self.operators, &text, Author::Operator)?);
            events.push(loaded(&self.operators, &text));
        }
        let users = match &self.users {
            Some(UsersFile::Named(path)) => Some((path, Some(read(path, &is_users)?))),
            Some(UsersFile::Default(path)) => Some((path, if_there(path, &is_users)?)),
            None => None,
        };
        if let Some((path, Some(text))) = users {
            files.push(self.parsed(path, &text, Author::User)?);
            events.push(loaded(path, &text));
        }
        Ok(Loaded { configuration: Configuration::of(files), events })
    }

    /// Whether a file can be the operator's. Whoever may write to its folder can take it away, and the ceiling with it.
    fn is_operators(&self, found: &Metadata, path: &Path) -> Result<(), ConfigurationError> {
        only_by(self.operator, found, path)?;
        let folder = path.parent().unwrap_or(path);
        let held = folder.metadata();
        let held =
            held.map_err(|source| ConfigurationError::Read { path: folder.into(), source })?;
        only_by(self.operator, &held, folder)
    }

    fn parsed(
        &self,
        path: &Path,
        text: &str,
        author: Author,
    ) -> Result<config::File<ToolsetName>, ConfigurationError> {
        let name = path.display().to_string();
        let file = config::File::parse(text, Source { author, path: &name, home: &self.home })
            .map_err(|source| ConfigurationError::Faulty { path: path.to_owned(), source })?;
        tracing::info!(path = %path.display(), ?author, "configuration read");
        Ok(file)
    }

    /// Every path by which a file is reached, existing or not: whoever may write there says what the next daemon does.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let users = self.users.as_ref().map(|file| match file {
            UsersFile::Named(path) | UsersFile::Default(path) => path,
        });
        let mut paths = Vec::new();
        for named in [Some(&self.operators), users].into_iter().flatten() {
            let real = named.canonicalize().ok();
            for path in [Some(named.clone()), in_real_folder(named), real].into_iter().flatten() {
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        paths
    }
}

/// The path by the real name of its folder, as far as that exists.
fn in_real_folder(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find_map(|folder| {
        let rest = path.strip_prefix(folder).ok()?;
        Some(folder.canonicalize().ok()?.join(rest))
    })
}

fn loaded(path: &Path, text: &str) -> Event {
    Event::ConfigurationLoaded {
        path: path.display().to_string(),
        sha256: Digest::of(text.as_bytes()),
    }
}

/// Reads a file that need not be there.
fn if_there(path: &Path, is_fit: Fitness<'_>) -> Result<Option<String>, ConfigurationError> {
    match read(path, is_fit) {
        Ok(text) => Ok(Some(text)),
        Err(ConfigurationError::Read { source, .. }) if is_missing(&source) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn read(path: &Path, is_fit: Fitness<'_>) -> Result<String, ConfigurationError> {
    let fault = |source| ConfigurationError::Read { path: path.to_owned(), source };
    // Not to be held up by a pipe that nobody writes to.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(fault)?;
    let found = file.metadata().map_err(fault)?;
    if !found.is_file() {
        return Err(ConfigurationError::NoFile { path: path.to_owned() });
    }
    is_fit(&found, path)?;
    let path = path.to_owned();
    let bytes = up_to_longest(&file).map_err(fault)?;
    if bytes.len() as u64 > LONGEST {
        return Err(ConfigurationError::TooLong { path });
    }
    String::from_utf8(bytes).map_err(|_| ConfigurationError::NotUtf8 { path })
}

/// Whether a file may be used, by who can change it.
type Fitness<'a> = &'a dyn Fn(&Metadata, &Path) -> Result<(), ConfigurationError>;

/// Whether a file can be the user's.
fn is_users(found: &Metadata, path: &Path) -> Result<(), ConfigurationError> {
    match found.mode() & 0o7777 {
        mode if mode & 0o002 == 0 => Ok(()),
        mode => Err(ConfigurationError::OpenToOthers { path: path.to_owned(), mode }),
    }
}

/// Refuses what somebody else than this user may change.
fn only_by(user: u32, found: &Metadata, path: &Path) -> Result<(), ConfigurationError> {
    let (uid, mode) = (found.uid(), found.mode() & 0o7777);
    if uid == user && mode & 0o022 == 0 {
        return Ok(());
    }
    let found = format!("owner {uid}, mode {mode:04o}");
    Err(ConfigurationError::NotOnlyRoots { path: path.to_owned(), found })
}

/// One byte more than may be, where there are more.
fn up_to_longest(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
#[path = "configuration_tests.rs"]
mod tests;
