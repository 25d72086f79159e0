//! What a session is opened on: the workspace, further writable roots and the cwd, resolved and checked.
//!
//! Paths come from a client that runs as the same user, so the checks keep it from hurting itself: every root is an
//! existing folder under its canonical name, none is `/`, none holds (or lies in) what the daemon itself lives on,
//! which a command could then rewrite to leave its sandbox, and none lies where files are the kernel's own state or
//! those of another mount, as [`filesystem`] knows it. The roots are decided here, once: neither the cwd nor a request's
//! `workdir` widens anything. That a root is still the same folder when a command starts is for `exec` to
//! check; which git directories belong to it is for [`gitdir`] to say.

use std::io;
use std::path::{Path, PathBuf};

use brattice_policy::{Root, RootKind};
use brattice_protocol::session::OpenParams;

use super::filesystem::{self, Forbidden};
use super::gitdir;

/// Paths that the daemon lives on, canonical. No root may hold one of them.
#[derive(Clone, Debug)]
pub(crate) struct OwnPaths {
    /// The state folder, private to the daemon with all that is in it.
    pub(crate) state: PathBuf,
    /// The folders of the two sockets.
    pub(crate) sockets: Vec<PathBuf>,
    /// The daemon's program.
    pub(crate) executable: PathBuf,
    /// The configuration files by every path that leads there, whether or not they exist.
    pub(crate) configuration: Vec<PathBuf>,
}

/// The folders of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Workspace {
    /// The workspace, then further writable roots, then git directories; canonical, each once.
    pub(crate) roots: Vec<Root>,
    /// Where relative paths start; canonical.
    pub(crate) cwd: PathBuf,
}

/// What a path was given for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The workspace.
    Workspace,
    /// An extra root.
    Writable,
    /// A root of the configuration.
    Configured,
    /// Where relative paths start.
    Cwd,
    /// A git directory that the workspace belongs to.
    Git,
}

/// A path of the daemon's own that a root would open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    /// The state folder.
    State,
    /// The folder of a socket.
    Sockets,
    /// The program.
    Executable,
    /// A configuration file.
    Configuration,
}

/// Why a session cannot be opened on these folders.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkspaceError {
    /// A relative path, which would depend on where the daemon was started.
    #[error("{role} {path:?} is not an absolute path")]
    Relative { role: Role, path: String },
    /// No path can hold NUL.
    #[error("{role} {path:?} contains a NUL character")]
    Nul { role: Role, path: String },
    /// It is not there.
    #[error("{role} {path:?} does not exist")]
    Missing { role: Role, path: String },
    /// It is there and no folder.
    #[error("{role} {path:?} is not a folder")]
    NotFolder { role: Role, path: String },
    /// It cannot be looked at.
    #[error("{role} {path:?} cannot be resolved")]
    Unresolved { role: Role, path: String, source: io::Error },
    /// Its real name cannot stand in a message.
    #[error("{role} {path:?} leads to a name that is not UTF-8: {}", resolved.display())]
    NotUtf8 { role: Role, path: String, resolved: PathBuf },
    /// Writing everywhere is what `danger-full-access` is for.
    #[error("{role} {path:?} is the root of the file system")]
    FileSystem { role: Role, path: String },
    /// Its files are no data: writing there changes processes, the kernel or devices.
    #[error("{role} {root:?} is on {kind}, which holds the kernel's own state or devices")]
    Kernel { role: Role, root: PathBuf, kind: &'static str },
    /// Commands would write to another mount, which is no root.
    #[error(
        "{role} {root:?} is, holds or lies in the upper layer of the overlay on {merged:?}, where what is written to it shows up"
    )]
    OverlayUpper { role: Role, root: PathBuf, merged: PathBuf },
    /// A root would let commands rewrite the daemon.
    #[error("{role} {:?} would open the daemon's {own} {:?} to commands", root, own_path)]
    HoldsOwn { role: Role, root: PathBuf, own: Own, own_path: PathBuf },
}

impl WorkspaceError {
    /// The way out.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            WorkspaceError::Relative { .. } | WorkspaceError::Nul { .. } => "give an absolute path",
            WorkspaceError::Missing { .. } | WorkspaceError::NotFolder { .. } => {
                "give an existing folder"
            }
            WorkspaceError::Unresolved { .. } => {
                "the daemon's user must be able to reach the folder"
            }
            WorkspaceError::NotUtf8 { .. } => "give a folder whose path is UTF-8",
            WorkspaceError::FileSystem { .. } => {
                "give the folder that the commands work in; mode danger-full-access writes anywhere"
            }
            WorkspaceError::Kernel { .. } => {
                "give a folder on a file system for data; a link in the path may lead elsewhere than expected"
            }
            WorkspaceError::OverlayUpper { .. } => {
                "open the folder that the overlay is mounted on, or one apart from its layers"
            }
            WorkspaceError::HoldsOwn { .. } => {
                "name a folder that does not hold it (--workspace DIR), or start a bratticed from elsewhere or with other --state, --socket and --config"
            }
        }
    }
}

/// Resolves and checks the folders of a session. Configured ones are roots as far as they are there: a cache that no tool
/// has made yet keeps nobody from working.
///
/// # Errors
/// See [`WorkspaceError`]. Nothing has been done then.
pub(crate) fn resolve(
    params: &OpenParams,
    configured: &[(String, RootKind)],
    own: &OwnPaths,
) -> Result<Workspace, WorkspaceError> {
    let workspace = root(Role::Workspace, &params.workspace)?;
    let cwd = match &params.cwd {
        None => workspace.clone(),
        Some(cwd) => folder(Role::Cwd, cwd, &workspace.join(cwd))?,
    };
    let mut roots = vec![Root { path: workspace, kind: RootKind::Workspace }];
    for path in &params.writable {
        roots.push(Root { path: root(Role::Writable, path)?, kind: RootKind::Writable });
    }
    for (path, kind) in configured {
        match root(Role::Configured, path) {
            Ok(path) => roots.push(Root { path, kind: *kind }),
            Err(WorkspaceError::Missing { .. }) => {
                tracing::warn!(path, "a configured folder is not there and is not opened");
            }
            Err(fault) => return Err(fault),
        }
    }
    roots.extend(roots.first().map(|root| gitdir::find(&root.path)).unwrap_or_default());
    let mut once: Vec<Root> = Vec::with_capacity(roots.len());
    for root in roots {
        own.check(&root)?;
        is_for_data(&root)?;
        if !once.iter().any(|earlier| earlier.path == root.path) {
            once.push(root);
        }
    }
    Ok(Workspace { roots: once, cwd })
}

fn root(role: Role, path: &str) -> Result<PathBuf, WorkspaceError> {
    if !Path::new(path).is_absolute() {
        return Err(WorkspaceError::Relative { role, path: path.to_owned() });
    }
    let resolved = folder(role, path, Path::new(path))?;
    match resolved.parent() {
        Some(_) => Ok(resolved),
        None => Err(WorkspaceError::FileSystem { role, path: path.to_owned() }),
    }
}

/// The canonical name of an existing folder. `given` is what the client wrote, for messages.
fn folder(role: Role, given: &str, path: &Path) -> Result<PathBuf, WorkspaceError> {
    let path_text = given.to_owned();
    if given.contains('\0') {
        return Err(WorkspaceError::Nul { role, path: path_text });
    }
    let resolved = match path.canonicalize() {
        Ok(resolved) => resolved,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(WorkspaceError::Missing { role, path: path_text });
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(WorkspaceError::NotFolder { role, path: path_text });
        }
        Err(source) => {
            return Err(WorkspaceError::Unresolved { role, path: path_text, source });
        }
    };
    if !resolved.is_dir() {
        return Err(WorkspaceError::NotFolder { role, path: path_text });
    }
    if resolved.to_str().is_none() {
        return Err(WorkspaceError::NotUtf8 { role, path: path_text, resolved });
    }
    Ok(resolved)
}

/// Refuses a root that is no place for data.
fn is_for_data(root: &Root) -> Result<(), WorkspaceError> {
    let role = root.kind.into();
    match filesystem::forbidden(&root.path) {
        Ok(None) => Ok(()),
        Ok(Some(Forbidden::Kernel(kind))) => {
            Err(WorkspaceError::Kernel { role, root: root.path.clone(), kind })
        }
        Ok(Some(Forbidden::OverlayUpper { merged })) => {
            Err(WorkspaceError::OverlayUpper { role, root: root.path.clone(), merged })
        }
        Err(error) => Err(WorkspaceError::Unresolved {
            role,
            path: root.path.display().to_string(),
            source: error.into(),
        }),
    }
}

impl OwnPaths {
    /// Refuses a root that holds a path of the daemon's, or lies in its state folder, where spools of other
    /// sessions are.
    fn check(&self, root: &Root) -> Result<(), WorkspaceError> {
        let sockets = self.sockets.iter().map(|path| (Own::Sockets, path));
        let configuration = self.configuration.iter().map(|path| (Own::Configuration, path));
        let held = [(Own::State, &self.state), (Own::Executable, &self.executable)]
            .into_iter()
            .chain(sockets)
            .chain(configuration)
            .find(|(own, path)| {
                path.starts_with(&root.path) || (*own == Own::State && root.path.starts_with(path))
            });
        match held {
            None => Ok(()),
            Some((own, path)) => Err(WorkspaceError::HoldsOwn {
                role: root.kind.into(),
                root: root.path.clone(),
                own,
                own_path: path.clone(),
            }),
        }
    }
}

impl From<RootKind> for Role {
    fn from(kind: RootKind) -> Self {
        match kind {
            RootKind::Workspace => Role::Workspace,
            RootKind::Writable => Role::Writable,
            RootKind::Configured | RootKind::Operator | RootKind::Preset(_) => Role::Configured,
            RootKind::GitDir | RootKind::GitCommonDir => Role::Git,
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Role::Workspace => "workspace",
            Role::Writable => "writable root",
            Role::Configured => "configured root",
            Role::Cwd => "cwd",
            Role::Git => "git directory",
        })
    }
}

impl std::fmt::Display for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Own::State => "state folder",
            Own::Sockets => "socket folder",
            Own::Executable => "executable",
            Own::Configuration => "configuration",
        })
    }
}

#[cfg(test)]
#[path = "workspace_tests.rs"]
mod tests;
