//! Starting a task: its pipes, its spools and its keeper.
//!
//! Nothing is waited for. The request goes into the keeper's channel whether or not the keeper exists yet; what comes
//! of it is heard by the loop (`keepers`).

use std::io::PipeReader;
use std::os::fd::OwnedFd;

use brattice_policy::sys::Errno;
use brattice_policy::sys::errno;
use brattice_protocol::TaskId;
use rustix::pipe::PipeFlags;

use super::reactor::Source;
use super::serve::Supervisor;
use super::spool::Spool;
use super::task::{Parts, StreamState, Task};
use crate::exec::message::{FailedStep, Failure, RunRequest, ToKeeper};
use crate::exec::spec::{Stdin, Streams};

impl Supervisor {
    pub(super) fn start(&mut self, request: RunRequest, text: OwnedFd) -> Result<(), Failure> {
        let RunRequest {
            task: id,
            profile,
            kind,
            cwd,
            environment,
            stdin,
            streams,
            timeout,
            grace,
        } = request;
        if self.is_closing || self.daemon.is_none() {
            return Err(Failure::new(FailedStep::Supervisor, &"the session is closing"));
        }
        let mode_index = self.mode_for(profile)?;
        let index = self.next_index();
        let (input, stdin) = open_stdin(stdin)?;
        let (stdout, stdout_end) = self.open_stream(&id, "stdout")?;
        let (stderr, stderr_end) = match streams {
            Streams::Merged => (
                None,
                stdout_end
                    .try_clone()
                    .map_err(|error| Failure::new(FailedStep::Descriptors, &error))?,
            ),
            Streams::Separate => {
                let (stream, end) = self.open_stream(&id, "stderr")?;
                (Some(stream), end)
            }
        };
        let Some(mode) = self.modes.get_mut(&mode_index) else {
            return Err(Failure::new(FailedStep::Launcher, &"the mode is gone"));
        };
        let mut keeper = mode.take_keeper(&self.reactor)?;
        let run = ToKeeper::Run { kind, cwd, environment };
        keeper
            .send(&run, vec![input, stdout_end, stderr_end, text])
            .map_err(|error| Failure::new(FailedStep::Fork, &error))?;
        mode.running += 1;
        let task = Task::new(Parts {
            id,
            mode: mode_index,
            keeper,
            stdout,
            stderr,
            stdin,
            timeout,
            grace,
        });
        let watched = self.watch_task(index, &task);
        self.tasks.insert(index, task);
        if let Err(errno) = watched {
            self.end_unstarted(
                index,
                Failure::new(FailedStep::Descriptors, &errno::explain(errno)),
            );
        }
        Ok(())
    }

    fn open_stream(&self, task: &TaskId, name: &str) -> Result<(StreamState, OwnedFd), Failure> {
        let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
            .map_err(|errno| Failure::new(FailedStep::Descriptors, &errno::explain(errno)))?;
        // Only the reading end must not wait: the writing end is the command's, and blocks as commands expect.
        rustix::io::ioctl_fionbio(&reader, true)
            .map_err(|errno| Failure::new(FailedStep::Descriptors, &errno::explain(errno)))?;
        let path = self.setup.folder.join(format!("{task}.{name}"));
        let spool = Spool::new(path, self.setup.limits.spool);
        Ok((StreamState { pipe: Some(PipeReader::from(reader)), spool }, writer))
    }

    fn watch_task(&self, index: u32, task: &Task) -> Result<(), Errno> {
        self.reactor.watch(&task.keeper, Source::Keeper(index))?;
        if let Some(pipe) = &task.stdout.pipe {
            self.reactor.watch(pipe, Source::Stdout(index))?;
        }
        if let Some(pipe) = task.stderr.as_ref().and_then(|stream| stream.pipe.as_ref()) {
            self.reactor.watch(pipe, Source::Stderr(index))?;
        }
        Ok(())
    }
}

/// The reading end of a command's standard input, and the writing end where there is one.
fn open_stdin(stdin: Stdin) -> Result<(OwnedFd, Option<OwnedFd>), Failure> {
    match stdin {
        Stdin::Null => std::fs::File::open("/dev/null")
            .map(|file| (file.into(), None))
            .map_err(|error| Failure::new(FailedStep::Descriptors, &error)),
        Stdin::Pipe => rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
            .map(|(reader, writer)| (reader, Some(writer)))
            .map_err(|errno| Failure::new(FailedStep::Descriptors, &errno::explain(errno))),
    }
}
