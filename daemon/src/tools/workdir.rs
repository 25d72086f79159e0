//! Where a command runs: the session's cwd, or a folder named from there. It widens nothing.

use std::io;
use std::path::{Path, PathBuf};

/// Why a command cannot run there. Nothing ran.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkdirError {
    /// No path can hold NUL.
    #[error("working directory {0:?} contains a NUL character")]
    Nul(PathBuf),
    /// It is not there.
    #[error("working directory {} does not exist", .0.display())]
    Missing(PathBuf),
    /// It is there and no folder.
    #[error("working directory {} is not a directory", .0.display())]
    NotDirectory(PathBuf),
    /// It cannot be looked at.
    #[error("working directory {} cannot be reached", path.display())]
    Unreachable {
        /// The folder.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A thread of the daemon's ended early.
    #[error("working directory {} was not looked at", path.display())]
    Interrupted {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: tokio::task::JoinError,
    },
}

/// Resolves a working directory against the session's cwd, and sees that it is there.
pub(crate) async fn resolve(cwd: &Path, workdir: Option<&str>) -> Result<PathBuf, WorkdirError> {
    let path = workdir.map_or_else(|| cwd.to_owned(), |workdir| cwd.join(workdir));
    let looked = path.clone();
    // A file system that answers late must not hold up other clients.
    match tokio::task::spawn_blocking(move || check(looked)).await {
        Ok(checked) => checked,
        Err(source) => Err(WorkdirError::Interrupted { path, source }),
    }
}

fn check(path: PathBuf) -> Result<PathBuf, WorkdirError> {
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(WorkdirError::Nul(path));
    }
    match path.metadata() {
        Ok(found) if found.is_dir() => Ok(path),
        Ok(_) => Err(WorkdirError::NotDirectory(path)),
        Err(error) => Err(match error.kind() {
            io::ErrorKind::NotFound => WorkdirError::Missing(path),
            io::ErrorKind::NotADirectory => WorkdirError::NotDirectory(path),
            _ => WorkdirError::Unreachable {
                path,
                source: error,
            },
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    #[tokio::test]
    async fn a_relative_one_starts_at_the_sessions_cwd() {
        let scratch = Scratch::new();
        let inner = scratch.folder("a/b");
        let cwd = scratch.path("a");
        assert_eq!(resolve(&cwd, None).await.unwrap(), cwd);
        assert_eq!(resolve(&cwd, Some("b")).await.unwrap(), inner);
        assert_eq!(
            resolve(&cwd, Some("/usr")).await.unwrap(),
            Path::new("/usr")
        );
    }

    #[tokio::test]
    async fn a_fault_names_the_folder() {
        let scratch = Scratch::new();
        let file = scratch.file("file", "");
        let root = scratch.path("");
        let root = root.as_path();
        let cases = [
            (
                "gone".to_owned(),
                format!(
                    "working directory {} does not exist",
                    scratch.path("gone").display()
                ),
            ),
            (
                "file".to_owned(),
                format!("working directory {} is not a directory", file.display()),
            ),
            (
                "file/x".to_owned(),
                format!("working directory {}/x is not a directory", file.display()),
            ),
            (
                "/a\0".to_owned(),
                "working directory \"/a\\0\" contains a NUL character".to_owned(),
            ),
        ];
        for (workdir, expected) in cases {
            assert_eq!(
                resolve(root, Some(&workdir)).await.unwrap_err().to_string(),
                expected
            );
        }
    }
}
