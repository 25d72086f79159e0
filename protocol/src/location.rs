//! Where a daemon's sockets and state are: one rule, so that a client and its daemon never disagree.
//!
//! Pure functions over an environment; making the folders is the daemon's part, connecting the client's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The environment variable that names the agents' socket.
pub const SOCKET: &str = "BRATTICE_SOCKET";

/// The environment variable that names the operators' socket.
pub const CONTROL_SOCKET: &str = "BRATTICE_CONTROL_SOCKET";

/// The environment variable that names the state folder.
pub const STATE: &str = "BRATTICE_STATE";

/// The paths of one daemon, all absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locations {
    /// The agents' socket: `$BRATTICE_SOCKET`, else `$XDG_RUNTIME_DIR/brattice/brattice.sock`, else
    /// `brattice.sock` in the state folder.
    pub socket: PathBuf,
    /// The operators' socket: `$BRATTICE_CONTROL_SOCKET`, else `control.sock` beside the first.
    pub control_socket: PathBuf,
    /// The state folder: `$BRATTICE_STATE`, else `$XDG_STATE_HOME/brattice`, else `~/.local/state/brattice`.
    pub state: PathBuf,
}

/// Why the environment does not say where a daemon is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    /// One of Brattice's own variables holds a relative path.
    #[error("{variable} must be an absolute path, not {}", path.display())]
    Relative {
        /// The variable.
        variable: &'static str,
        /// What it holds.
        path: PathBuf,
    },
    /// Neither of the variables that the state folder follows from is set.
    #[error(
        "no state folder: none of BRATTICE_STATE, XDG_STATE_HOME and HOME holds an absolute path"
    )]
    NoState,
}

impl Locations {
    /// Finds the paths in an environment, given as a lookup such as `|name| std::env::var_os(name)`.
    ///
    /// An empty variable counts as unset. A relative path in an `XDG_` variable is ignored, as the XDG base
    /// directory specification asks.
    ///
    /// # Errors
    /// See [`LocationError`].
    pub fn from_env(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Locations, LocationError> {
        let state = match own(&lookup, STATE)? {
            Some(state) => state,
            None => foreign(&lookup, "XDG_STATE_HOME")
                .or_else(|| foreign(&lookup, "HOME").map(|home| home.join(".local/state")))
                .map(|base| base.join("brattice"))
                .ok_or(LocationError::NoState)?,
        };
        let socket = own(&lookup, SOCKET)?.unwrap_or_else(|| {
            let runtime = foreign(&lookup, "XDG_RUNTIME_DIR").map(|dir| dir.join("brattice"));
            runtime.as_ref().unwrap_or(&state).join("brattice.sock")
        });
        let control_socket =
            own(&lookup, CONTROL_SOCKET)?.unwrap_or_else(|| socket.with_file_name("control.sock"));
        Ok(Locations { socket, control_socket, state })
    }
}

/// A variable of Brattice's own: what it says counts, so a faulty value is an error.
fn own(
    lookup: impl Fn(&str) -> Option<OsString>,
    variable: &'static str,
) -> Result<Option<PathBuf>, LocationError> {
    match lookup(variable).filter(|value| !value.is_empty()).map(PathBuf::from) {
        Some(path) if !path.is_absolute() => Err(LocationError::Relative { variable, path }),
        path => Ok(path),
    }
}

/// A variable that others set: a value that cannot be used counts as none.
fn foreign(lookup: impl Fn(&str) -> Option<OsString>, variable: &str) -> Option<PathBuf> {
    lookup(variable).map(PathBuf::from).filter(|path| Path::is_absolute(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locate(environment: &[(&str, &str)]) -> Result<[String; 3], LocationError> {
        let lookup = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        Locations::from_env(lookup).map(|found| {
            [found.socket, found.control_socket, found.state].map(|path| path.display().to_string())
        })
    }

    fn paths(
        socket: &str,
        control_socket: &str,
        state: &str,
    ) -> Result<[String; 3], LocationError> {
        Ok([socket, control_socket, state].map(str::to_owned))
    }

    #[test]
    fn the_home_folder_suffices() {
        let state = "/home/a/.local/state/brattice";
        let socket = "/home/a/.local/state/brattice/brattice.sock";
        let control = "/home/a/.local/state/brattice/control.sock";
        assert_eq!(locate(&[("HOME", "/home/a")]), paths(socket, control, state));
    }

    #[test]
    fn xdg_folders_come_before_the_home_folder() {
        let environment =
            [("HOME", "/home/a"), ("XDG_STATE_HOME", "/var/a"), ("XDG_RUNTIME_DIR", "/run/user/1")];
        assert_eq!(
            locate(&environment),
            paths(
                "/run/user/1/brattice/brattice.sock",
                "/run/user/1/brattice/control.sock",
                "/var/a/brattice"
            )
        );
    }

    #[test]
    fn brattice_variables_come_first_and_the_control_socket_follows_the_socket() {
        let environment = [
            ("HOME", "/home/a"),
            ("XDG_RUNTIME_DIR", "/run/user/1"),
            ("BRATTICE_SOCKET", "/s/b.sock"),
            ("BRATTICE_STATE", "/st"),
        ];
        assert_eq!(locate(&environment), paths("/s/b.sock", "/s/control.sock", "/st"));
        let with_control = [&environment[..], &[("BRATTICE_CONTROL_SOCKET", "/c/o.sock")]].concat();
        assert_eq!(locate(&with_control), paths("/s/b.sock", "/c/o.sock", "/st"));
    }

    #[test]
    fn empty_variables_and_relative_xdg_folders_count_as_unset() {
        let environment = [
            ("BRATTICE_SOCKET", ""),
            ("BRATTICE_STATE", ""),
            ("XDG_STATE_HOME", "var"),
            ("XDG_RUNTIME_DIR", ""),
            ("HOME", "/h"),
        ];
        let state = "/h/.local/state/brattice";
        assert_eq!(
            locate(&environment),
            paths(
                "/h/.local/state/brattice/brattice.sock",
                "/h/.local/state/brattice/control.sock",
                state
            )
        );
    }

    #[test]
    fn a_relative_path_of_ours_and_a_missing_state_are_faults() {
        let relative = LocationError::Relative { variable: SOCKET, path: "b.sock".into() };
        assert_eq!(relative.to_string(), "BRATTICE_SOCKET must be an absolute path, not b.sock");
        assert_eq!(locate(&[("HOME", "/h"), ("BRATTICE_SOCKET", "b.sock")]), Err(relative));
        assert_eq!(locate(&[("XDG_RUNTIME_DIR", "/run/user/1")]), Err(LocationError::NoState));
    }
}
