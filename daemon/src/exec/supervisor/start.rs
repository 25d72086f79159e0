//! Starting a task: its pipes, its spools and its keeper.
//!
//! Nothing is waited for. The request goes into the keeper's channel whether or not the keeper exists yet; what comes
//! of it is heard by the loop (`keepers`).

use std::os::fd::OwnedFd;
use std::path::Path;

use brattice_policy::sys::Errno;
use brattice_policy::sys::errno;
use brattice_policy::sys::spawn::ControllingTerminal;
use brattice_protocol::TaskId;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;

use super::Ahead;
use super::peer::Peer;
use super::reactor::Source;
use super::serve::Supervisor;
use super::spare::{Begun, Setting, Spare};
use super::spool::Spool;
use super::task::{Parts, StreamState, Task};
use crate::exec::cgroup::Group;
use crate::exec::message::{Beginning, FailedStep, Failure, RunRequest, ToKeeper};
use crate::exec::record::{self, RecordFile};
use crate::exec::spec::{Placement, Stdin, Streams, TaskFacts};
use crate::exec::terminal;

/// The ends of a task's streams.
struct Ends {
    near: Near,
    far: Far,
}

/// Those that stay here.
struct Near {
    stdin: Option<OwnedFd>,
    stdout: StreamState,
    stderr: Option<StreamState>,
}

/// Those that the command gets.
struct Far {
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

/// A command's program, as far as it has come.
struct Launched {
    keeper: Peer,
    group: Option<Group>,
    near: Near,
    /// The keeper's process, where the program runs already.
    running: Option<u32>,
}

/// What a keeper is handed.
struct Order {
    run: ToKeeper,
    stdin: Stdin,
    streams: Streams,
    text: OwnedFd,
}

impl Supervisor {
    pub(super) fn start(&mut self, request: RunRequest, text: OwnedFd) -> Result<(), Failure> {
        if self.is_closing || self.daemon.is_none() {
            return Err(Failure::new(FailedStep::Supervisor, &"the session is closing"));
        }
        let setting = Setting::of(&request).filter(|_| self.setup.ahead == Ahead::Allowed);
        let RunRequest {
            task: id,
            profile,
            kind,
            shell,
            title,
            digest,
            started,
            cwd,
            environment,
            stdin,
            streams,
            timeout,
            idle_timeout,
            grace,
            placement,
            leftovers: leftover_rule,
        } = request;
        // Requests of one daemon may overtake each other; that a number is given once is its business.
        self.highest = self.highest.max(id.number().unwrap_or_default());
        let mode_index = self.mode_for(profile)?;
        let index = self.next_index();
        let Some(mode) = self.modes.get_mut(&mode_index) else {
            return Err(Failure::new(FailedStep::Launcher, &"the mode is gone"));
        };
        let facts = TaskFacts {
            task: id,
            kind,
            title,
            digest,
            cwd: Some(cwd.clone()),
            stdin,
            streams,
            mode: mode.profile.mode,
            layers: mode.report.clone(),
            started,
            timeout,
            idle_timeout,
        };
        let git = mode.git().clone();
        let record = begin_record(&self.setup.folder, &facts, placement)?;
        let (beginning, terminal) = (Beginning::Now, controlling_terminal(stdin));
        let run = ToKeeper::Run { kind, shell, beginning, cwd, environment, terminal };
        let ready =
            setting.and_then(|setting| self.begin_shell(mode_index, &facts.task, setting, &text));
        let launched = match ready {
            Some(launched) => Ok(launched),
            None => self.launch(mode_index, &facts.task, Order { run, stdin, streams, text }),
        };
        let Launched { keeper, group, near: Near { stdin, stdout, stderr }, running } =
            launched.inspect_err(|_| record.iter().for_each(RecordFile::withdraw))?;
        let task = Task::new(Parts {
            facts,
            placement,
            leftover_rule,
            record,
            mode: mode_index,
            keeper,
            group,
            stdout,
            stderr,
            stdin,
            grace,
            git,
        });
        self.keep_task(index, task);
        if let Some(keeper) = running {
            self.program_started(index, keeper);
        }
        Ok(())
    }

    /// Gives the task to a shell that was started ahead. `None` where none serves, or it has just ended: nothing of the task
    /// has run.
    fn begin_shell(
        &mut self,
        mode_index: u32,
        task: &TaskId,
        setting: Setting,
        text: &OwnedFd,
    ) -> Option<Launched> {
        let mode = self.modes.get_mut(&mode_index)?;
        let Spare { keeper, group, shell } = mode.take_shell(setting, text)?;
        let begun = shell.map(|shell| shell.begin(task, text));
        let Some(Ok(Begun { keeper: running, stdout, stderr })) = begun else {
            mode.dismiss(Spare { keeper, group, shell: None });
            return None;
        };
        let stdout = self.stream(task, "stdout", stdout);
        let stderr = stderr.map(|stderr| self.stream(task, "stderr", stderr));
        let near = Near { stdin: None, stdout, stderr };
        Some(Launched { keeper, group, near, running: Some(running) })
    }

    /// Hands the task to a keeper that waits, or to one that is about to be made.
    fn launch(
        &mut self,
        mode_index: u32,
        task: &TaskId,
        Order { run, stdin, streams, text }: Order,
    ) -> Result<Launched, Failure> {
        let Ends { near, far } = self.open_streams(task, stdin, streams)?;
        let Some(mode) = self.modes.get_mut(&mode_index) else {
            return Err(Failure::new(FailedStep::Launcher, &"the mode is gone"));
        };
        let Spare { mut keeper, group, shell: _ } = mode.take_keeper(&self.setup, &self.reactor)?;
        let descriptors = vec![far.stdin, far.stdout, far.stderr, text];
        if let Err(error) = keeper.send(&run, descriptors) {
            // A launcher that failed has said why before its keepers' channels closed.
            mode.hear(&self.reactor);
            let failure = Failure::new(FailedStep::Fork, &error);
            return Err(mode.failure().unwrap_or(failure));
        }
        Ok(Launched { keeper, group, near, running: None })
    }

    /// A task that cannot be watched is ended.
    fn keep_task(&mut self, index: u32, task: Task) {
        let watched = self.watch_task(index, &task);
        if let Some(mode) = self.modes.get_mut(&task.mode) {
            mode.running += 1;
        }
        self.tasks.insert(index, task);
        if let Err(errno) = watched {
            let failure = Failure::new(FailedStep::Descriptors, &errno::explain(errno));
            self.end_unstarted(index, failure);
        }
    }

    /// The pipes of a task, or its terminal.
    fn open_streams(&self, task: &TaskId, kind: Stdin, streams: Streams) -> Result<Ends, Failure> {
        if kind == Stdin::Terminal {
            return self.open_terminal(task);
        }
        let (input, stdin) = open_stdin(kind)?;
        let (stdout, stdout_end) = self.open_stream(task, "stdout")?;
        let (stderr, stderr_end) = match streams {
            Streams::Merged => (None, stdout_end.try_clone().map_err(descriptors)?),
            Streams::Separate => {
                let (stream, end) = self.open_stream(task, "stderr")?;
                (Some(stream), end)
            }
        };
        let near = Near { stdin, stdout, stderr };
        Ok(Ends { near, far: Far { stdin: input, stdout: stdout_end, stderr: stderr_end } })
    }

    /// One terminal for all three.
    fn open_terminal(&self, task: &TaskId) -> Result<Ends, Failure> {
        let pair = terminal::open(terminal::Size::default())
            .map_err(|error| Failure::caused(FailedStep::Descriptors, &error))?;
        let slave = || pair.slave.try_clone().map_err(descriptors);
        let far = Far { stdin: slave()?, stdout: slave()?, stderr: slave()? };
        let stdin = Some(pair.master.try_clone().map_err(descriptors)?);
        let stdout = self.stream(task, "stdout", pair.master);
        Ok(Ends { near: Near { stdin, stdout, stderr: None }, far })
    }

    fn open_stream(&self, task: &TaskId, name: &str) -> Result<(StreamState, OwnedFd), Failure> {
        let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
            .map_err(|errno| Failure::new(FailedStep::Descriptors, &errno::explain(errno)))?;
        // Only the reading end must not wait: the writing end is the command's, and blocks as commands expect.
        rustix::io::ioctl_fionbio(&reader, true)
            .map_err(|errno| Failure::new(FailedStep::Descriptors, &errno::explain(errno)))?;
        Ok((self.stream(task, name, reader), writer))
    }

    fn stream(&self, task: &TaskId, name: &str, reader: OwnedFd) -> StreamState {
        let path = record::path(&self.setup.folder, task, name);
        let spool = Spool::new(path, self.setup.limits.spool);
        StreamState { pipe: Some(reader), spool }
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
        Stdin::Null | Stdin::Terminal => {
            std::fs::File::open("/dev/null").map(|file| (file.into(), None)).map_err(descriptors)
        }
        Stdin::Socket => rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .map(|(far, near)| (far, Some(near)))
        .map_err(|errno| Failure::new(FailedStep::Descriptors, &errno::explain(errno))),
        Stdin::Pipe => rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
            .map(|(reader, writer)| (reader, Some(writer)))
            .map_err(|errno| Failure::new(FailedStep::Descriptors, &errno::explain(errno))),
    }
}

/// Nothing runs in the background without its record.
fn begin_record(
    folder: &Path,
    facts: &TaskFacts,
    placement: Placement,
) -> Result<Option<RecordFile>, Failure> {
    if placement == Placement::Foreground {
        return Ok(None);
    }
    RecordFile::begin(folder, facts).map(Some).map_err(|error| {
        let folder = folder.display();
        let detail = format!("the record of {} cannot be written in {folder}: {error}", facts.task);
        Failure::new(FailedStep::Record, &detail)
    })
}

fn controlling_terminal(stdin: Stdin) -> ControllingTerminal {
    match stdin {
        Stdin::Terminal => ControllingTerminal::StandardInput,
        Stdin::Null | Stdin::Pipe | Stdin::Socket => ControllingTerminal::None,
    }
}

fn descriptors(error: std::io::Error) -> Failure {
    Failure::new(FailedStep::Descriptors, &error)
}
