//! From the flags that confine a session to the parameters that open it.

use std::path::Path;

use brattice_protocol::session::OpenParams;

use super::arguments::Confinement;
use super::failure::Failure;

impl Confinement {
    /// Parameters of a session with these flags.
    ///
    /// Commands run in the current folder where it lies in the workspace, else in the workspace.
    pub(crate) fn open_params(&self, label: &str) -> Result<OpenParams, Failure> {
        let here = std::env::current_dir().map_err(Failure::CurrentFolder)?;
        let workspace = self.workspace.as_deref().unwrap_or(&here);
        let inside = std::fs::canonicalize(workspace).is_ok_and(|found| here.starts_with(found));
        let cwd =
            if inside && self.workspace.is_some() { Some(absolute_text(&here)?) } else { None };
        Ok(OpenParams {
            workspace: absolute_text(workspace)?,
            cwd,
            mode: self.mode,
            network: self.network,
            writable: self
                .writable
                .iter()
                .map(|path| absolute_text(path))
                .collect::<Result<_, _>>()?,
            label: Some(label.to_owned()),
            ..OpenParams::default()
        })
    }
}

/// A path as the wire wants it: absolute, and UTF-8.
pub(crate) fn absolute_text(path: &Path) -> Result<String, Failure> {
    let absolute = std::path::absolute(path)
        .map_err(|source| Failure::Path { path: path.to_owned(), source })?;
    absolute.into_os_string().into_string().map_err(Failure::NotUtf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(workspace: Option<&str>) -> (String, Option<String>) {
        let confinement =
            Confinement { workspace: workspace.map(Into::into), ..Confinement::default() };
        let params = confinement.open_params("test").unwrap();
        (params.workspace, params.cwd)
    }

    #[test]
    fn a_command_runs_where_it_was_asked_for_if_the_workspace_holds_that_place() {
        let here = std::env::current_dir().unwrap().into_os_string().into_string().unwrap();
        assert_eq!(opened(None), (here.clone(), None));
        assert_eq!(opened(Some("/")), ("/".to_owned(), Some(here)));
        assert_eq!(opened(Some("/proc/self")), ("/proc/self".to_owned(), None));
    }
}
