//! `policy.*`: the rules that hold a session's commands, and what they say of one path. Both are read from the profile
//! that the kernel is given, not from a copy of it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brattice_policy::explain::explain;
use brattice_policy::view::Held;
use brattice_protocol::policy::{ExplainParams, Explanation, Policy, ShowParams};
use brattice_protocol::{ErrorCode, RpcError};

use super::Methods;
use crate::server::{Connection, check_path};
use crate::session::held::{are_namespaces_on, held};
use crate::workers::{Interrupted, Lane};

impl Methods {
    pub(super) async fn policy_show(
        &self,
        from: &Arc<Connection>,
        params: ShowParams,
    ) -> Result<Policy, RpcError> {
        let session = self.session(&params.session, from)?;
        let (profile, layers) = (session.profile(), session.layers());
        let settings = session.settings().to_vec();
        let show = move || {
            let Held { protected, unprotected, hidden } = held(&profile, &layers);
            Policy {
                mode: profile.mode,
                network: profile.network,
                private_temp: are_namespaces_on(&layers) && profile.has_private_temp(),
                grants: profile.grants(),
                protected,
                unprotected,
                hidden,
                settings,
            }
        };
        self.workers.run(Lane::Elsewhere, show).await.map_err(interrupted)
    }

    pub(super) async fn policy_explain(
        &self,
        from: &Arc<Connection>,
        params: ExplainParams,
    ) -> Result<Explanation, RpcError> {
        let session = self.session(&params.session, from)?;
        check_path("params.path", &params.path)?;
        if params.path.is_empty() {
            let text = "params.path: expected a path that is not empty";
            return Err(RpcError::new(ErrorCode::Invalid, text));
        }
        let (profile, layers) = (session.profile(), session.layers());
        let (path, operation) = (session.cwd().join(&params.path), params.operation);
        let explain = move || {
            let seen = match are_namespaces_on(&layers) {
                true => profile.seen_at(&path),
                false => path,
            };
            match real_path(&seen) {
                Ok(path) => {
                    let verdict = explain(&profile, &held(&profile, &layers), &path, operation);
                    Ok(Explanation { path: path.display().to_string(), verdict })
                }
                Err(error) => {
                    let text = format!("{} cannot be resolved: {error}", seen.display());
                    Err(RpcError::new(ErrorCode::Invalid, text))
                }
            }
        };
        self.workers.run(Lane::Elsewhere, explain).await.map_err(interrupted)?
    }
}

fn interrupted(error: Interrupted) -> RpcError {
    RpcError::new(ErrorCode::Unavailable, format!("looking was interrupted: {error}"))
}

/// The path without links and `..`, as far as it exists: Landlock judges the file that a path leads to, and for a name
/// that is not there yet the folder in which it would be made.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match (path.parent(), path.file_name()) {
                // A dangling link is opened through: what would be made is its target.
                (Some(parent), _) if path.is_symlink() => {
                    real_path(&parent.join(path.read_link()?))
                }
                (Some(parent), Some(name)) => Ok(real_path(parent)?.join(name)),
                _ => Err(error),
            }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_path_is_resolved_as_far_as_it_exists() {
        let scratch = Scratch::new();
        let inner = scratch.folder("a/inner");
        symlink(&inner, scratch.path("link")).unwrap();
        symlink("a/inner/new", scratch.path("dangling")).unwrap();
        let real = |name: &str| real_path(&scratch.path(name)).unwrap();
        assert_eq!(real("link/x/y"), inner.join("x/y"));
        assert_eq!(real("link/../z"), scratch.path("a/z"));
        assert_eq!(real("dangling"), inner.join("new"));
        assert_eq!(real_path(Path::new("/")).unwrap(), Path::new("/"));
    }

    #[test]
    fn a_loop_and_a_way_back_from_nowhere_are_errors() {
        let scratch = Scratch::new();
        symlink("loop", scratch.path("loop")).unwrap();
        assert!(real_path(&scratch.path("loop")).is_err());
        assert!(real_path(&scratch.path("gone/../x")).is_err());
    }
}
