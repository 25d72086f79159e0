//! Starting a process of the daemon's own program as a task of the session that no list shows: held as a command is, with a
//! socket to the daemon as its standard input. What it does is its role's.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use brattice_policy::{LeftoverRule, Profile};
use brattice_protocol::TaskId;

use super::session::Session;
use crate::exec::spec::{Placement, Program, Stdin, Streams, TaskSpec};
use crate::exec::{RunError, Supervisor, TaskHandle};

/// Between SIGTERM and SIGKILL: a worker undoes what it has begun when its socket closes, before any signal.
const GRACE: Duration = Duration::from_secs(2);

impl Session {
    /// Starts a role. The socket is there unless somebody took it already.
    pub(super) async fn start_role(
        &self,
        supervisor: &Supervisor,
        task: TaskId,
        role: &str,
        profile: Profile,
    ) -> Result<(TaskHandle, Option<OwnedFd>), RunError> {
        let spec = TaskSpec {
            task,
            layers: self.layers_of(profile.mode),
            profile,
            program: Program::Argv(["/proc/self/exe", role].map(str::to_owned).into()),
            cwd: PathBuf::from("/"),
            environment: Vec::new(),
            stdin: Stdin::Socket,
            streams: Streams::Merged,
            timeout: None,
            idle_timeout: None,
            grace: GRACE,
            placement: Placement::Foreground,
            leftovers: LeftoverRule::Stop,
        };
        let task = supervisor.run(spec).await?;
        let socket = task.take_socket();
        Ok((task, socket))
    }
}
