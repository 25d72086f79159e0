//! Errors at the daemon's edge: as one line for people, and as errors on the wire with their code and the way out.
//!
//! Each operation has an error type of its own beside its code; this is the one place that says which stable code a
//! client sees for it.

use std::error::Error;

use brattice_protocol::{ErrorCode, RpcError};

use crate::approval::RespondError;
use crate::exec::RunError;
use crate::question;
use crate::session::{AccessError, KillError, OpenError, StartError, UpdateError, WorkspaceError};

/// An error and what caused it, on one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        // A transparent variant tells its source's text as its own.
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

fn wire(code: ErrorCode, error: &dyn Error) -> RpcError {
    RpcError::new(code, chain(error))
}

impl From<AccessError> for RpcError {
    fn from(error: AccessError) -> Self {
        match &error {
            AccessError::Unknown(_) => wire(ErrorCode::UnknownSession, &error),
            AccessError::Detached(_) => {
                wire(ErrorCode::UnknownSession, &error).hint("take it over with session.resume")
            }
            AccessError::Held(_) => wire(ErrorCode::Refused, &error)
                .hint("it can be resumed once that client has gone, or by an operator on the control socket"),
        }
    }
}

impl From<OpenError> for RpcError {
    fn from(error: OpenError) -> Self {
        match &error {
            OpenError::Workspace(fault) => workspace(fault),
            OpenError::BeyondCeiling { ceiling, .. } => wire(ErrorCode::Refused, &error)
                .hint(format!("ask for {ceiling} or a narrower mode")),
            OpenError::NobodyAsked => wire(ErrorCode::Refused, &error),
            OpenError::Namespaces(_) => wire(ErrorCode::Refused, &error)
                .hint("ask for network \"none\" or \"full\", configure no deny_read, or see brattice doctor"),
            OpenError::Hidden { .. } => wire(ErrorCode::Refused, &error)
                .hint("name another folder, or narrow deny_read in the configuration"),
            OpenError::OwnSocket(_) => wire(ErrorCode::Refused, &error)
                .hint("correct [session] unix_sockets in the configuration"),
            OpenError::NoDevice(_) => wire(ErrorCode::Refused, &error)
                .hint("correct [session] devices in the configuration"),
            OpenError::Option(fault) => RpcError::new(ErrorCode::Invalid, fault.to_string()),
            OpenError::Full { .. } => wire(ErrorCode::Busy, &error)
                .hint("close one: session.list, or brattice session list, tells which there are"),
            OpenError::Folder(_) => wire(ErrorCode::Unavailable, &error).hint(NEEDS_ROOM),
            OpenError::Unrecorded(error) => RpcError::from(error),
            OpenError::Supervisor(_) | OpenError::Interrupted(_) => {
                wire(ErrorCode::Unavailable, &error)
            }
        }
    }
}

/// What makes no sense is `invalid`, what could be done and is not is `refused`.
fn workspace(fault: &WorkspaceError) -> RpcError {
    let code = match fault {
        WorkspaceError::FileSystem { .. } | WorkspaceError::HoldsOwn { .. } => ErrorCode::Refused,
        WorkspaceError::Relative { .. }
        | WorkspaceError::Nul { .. }
        | WorkspaceError::Missing { .. }
        | WorkspaceError::NotFolder { .. }
        | WorkspaceError::Kernel { .. }
        | WorkspaceError::OverlayUpper { .. }
        | WorkspaceError::Unresolved { .. }
        | WorkspaceError::NotUtf8 { .. } => ErrorCode::Invalid,
    };
    wire(code, fault).hint(fault.hint())
}

impl From<RespondError> for RpcError {
    fn from(error: RespondError) -> Self {
        let code = match &error {
            RespondError::Unknown(_) | RespondError::Settled(_) => ErrorCode::Refused,
            RespondError::Refused { .. } => ErrorCode::Invalid,
        };
        wire(code, &error).hint("approval.list shows those that are open")
    }
}

impl From<question::RespondError> for RpcError {
    fn from(error: question::RespondError) -> Self {
        let code = match &error {
            question::RespondError::Unknown(_) | question::RespondError::Settled(_) => {
                ErrorCode::Refused
            }
            question::RespondError::Fault { .. } => ErrorCode::Invalid,
        };
        wire(code, &error).hint("question.list shows those that are open")
    }
}

impl From<UpdateError> for RpcError {
    fn from(error: UpdateError) -> Self {
        match &error {
            UpdateError::BeyondCeiling { ceiling, .. } => wire(ErrorCode::Refused, &error)
                .hint(format!("ask for {ceiling} or a narrower mode")),
            UpdateError::NobodyAsked => wire(ErrorCode::Refused, &error),
            UpdateError::Closing(_) => wire(ErrorCode::UnknownSession, &error),
            UpdateError::Lost(_) => wire(ErrorCode::Unavailable, &error).hint(OPEN_A_NEW_ONE),
            UpdateError::Supervisor(error) => RpcError::from(error),
            UpdateError::Unrecorded(error) => RpcError::from(error),
            UpdateError::Save(_) => wire(ErrorCode::Unavailable, &error).hint(NEEDS_ROOM),
        }
    }
}

impl From<KillError> for RpcError {
    fn from(error: KillError) -> Self {
        match &error {
            KillError::Late { .. } => wire(ErrorCode::Unavailable, &error),
            KillError::Left => wire(ErrorCode::ShuttingDown, &error),
        }
    }
}

impl From<StartError> for RpcError {
    fn from(error: StartError) -> Self {
        RpcError::from(&error)
    }
}

impl From<&StartError> for RpcError {
    fn from(error: &StartError) -> Self {
        match error {
            StartError::Busy(_) => {
                wire(ErrorCode::Busy, error).hint("wait for one of them to end, or stop one")
            }
            StartError::Full(_) => {
                wire(ErrorCode::Busy, error).hint("stop a task, or close a session that has some")
            }
            StartError::NotPermitted(_)
            | StartError::BeyondCeiling { .. }
            | StartError::Planning { .. } => wire(ErrorCode::Refused, error),
            StartError::Rule(_) => wire(ErrorCode::Refused, error),
            StartError::Unfit(_) => wire(ErrorCode::Refused, error).hint(OPEN_A_NEW_ONE),
            StartError::Unrecorded(error) => RpcError::from(error),
            StartError::Supervisor(_) => wire(ErrorCode::Unavailable, error),
            StartError::Lost(_) => wire(ErrorCode::Unavailable, error).hint(OPEN_A_NEW_ONE),
            StartError::Closing(_) => wire(ErrorCode::UnknownSession, error),
            StartError::Stopping => wire(ErrorCode::ShuttingDown, error),
            StartError::NotStarted { source: RunError::Setup { .. }, .. } => {
                wire(ErrorCode::Unavailable, error)
                    .hint("`brattice doctor` says what this machine can enforce")
            }
            StartError::NotStarted { source: RunError::Start { .. }, .. } => {
                wire(ErrorCode::Invalid, error)
            }
            StartError::NotStarted { source: RunError::Record { .. }, .. } => {
                wire(ErrorCode::Unavailable, error).hint(NEEDS_ROOM)
            }
            StartError::NotStarted { .. } => wire(ErrorCode::Unavailable, error),
        }
    }
}

/// The way out of a session that has lost its supervisor.
const OPEN_A_NEW_ONE: &str = "close the session and open a new one";

/// The way out where something cannot be written down.
const NEEDS_ROOM: &str = "the daemon's state folder must be writable and have room";

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[derive(Debug, thiserror::Error)]
    enum Sample {
        #[error("cannot open the door")]
        Door(#[source] io::Error),
        #[error(transparent)]
        Through(#[from] io::Error),
    }

    #[test]
    fn a_chain_tells_each_cause_once() {
        let kernel = || io::Error::from_raw_os_error(13);
        assert_eq!(
            chain(&Sample::Door(kernel())),
            "cannot open the door: Permission denied (os error 13)"
        );
        assert_eq!(chain(&Sample::Through(kernel())), "Permission denied (os error 13)");
    }

    #[test]
    fn a_session_of_another_client_is_not_told_from_none() {
        let id = brattice_protocol::SessionId::new("x");
        let error = RpcError::from(AccessError::Unknown(id.clone()));
        assert_eq!((error.is(ErrorCode::UnknownSession), error.data.hint), (true, None));
        assert!(RpcError::from(AccessError::Held(id)).is(ErrorCode::Refused));
    }
}
