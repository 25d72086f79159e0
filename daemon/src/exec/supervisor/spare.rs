//! What stands ready for a mode's next task: a keeper, and a shell that was started ahead.
//!
//! ```text
//!  keeper waits ── a task with another setting ─────────────────────────────────► it is the task's
//!       │                                                                            ▲
//!       │ the setting of the task before                                             │ the text, and the task's id
//!       ▼                                                                            │
//!  shell starts ── it has started ──► shell stands ── a task of that very setting ───┘
//!                                          │ a minute, another setting, its end
//!                                          ▼
//!                                      dismissed
//! ```
//!
//! To start bash is most of what a short command takes, and most commands of a session come in the setting of the one before: so
//! that is done while nobody waits. A shell is taken only where a command cannot tell it from one that is started now: kind,
//! variables and streams are the same, and the folder in which it stands is the one that the path leads to by now, in its
//! own namespaces. In every other case it is passed by, and the keeper's way is the one without it.
//!
//! The shell is held by the mode's sandbox and by a domain of its own, as every command. It reads the task's id from a pipe that the
//! supervisor alone can write to, and then the text. When the **supervisor** dies the pipe ends and so does the shell;
//! the keeper, which does not know that its program has not begun, kills what is left as it always does. When the **shell** or
//! the **keeper** dies, that is seen before a task is given to it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use brattice_policy::environment::TASK_ID;
use brattice_protocol::TaskId;
use brattice_protocol::task::TaskKind;
use rustix::pipe::PipeFlags;

use super::peer::Peer;
use crate::exec::cgroup::Group;
use crate::exec::channel::ChannelError;
use crate::exec::memory;
use crate::exec::message::{Beginning, Failure, FromKeeper, RunRequest, ToKeeper};
use crate::exec::spec::{Shell, Stdin, Streams};
use brattice_policy::sys::spawn::ControllingTerminal;

/// How long a shell stands: an idle session holds no folder and no memory for one.
const STANDS_FOR: Duration = Duration::from_secs(60);

/// The longest text that is given to a shell that stands; copying a longer one takes as long as starting a shell.
const LONGEST_TEXT: u64 = 64 << 10;

/// A keeper that waits for a task.
#[derive(Debug)]
pub(super) struct Spare {
    pub(super) keeper: Peer,
    /// The group that its command's process has entered.
    pub(super) group: Option<Group>,
    /// The shell that it was given ahead.
    pub(super) shell: Option<SpareShell>,
}

/// All in which a shell's start can differ from another's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    cwd: PathBuf,
    /// Variables beyond the base environment, less the one that holds the task's id.
    environment: Vec<(String, String)>,
    streams: Streams,
}

/// A shell that was started ahead.
#[derive(Debug)]
pub(super) struct SpareShell {
    setting: Setting,
    /// Where it finds its text.
    text: File,
    /// Where it waits for the task's id.
    begin: File,
    stdout: OwnedFd,
    stderr: Option<OwnedFd>,
    /// Its keeper and itself, once it stands.
    processes: Option<(u32, u32)>,
    until: Instant,
}

/// What a shell is for a task.
pub(super) enum ForTask {
    /// It could be taken for one that is started now.
    Serves,
    /// It could not, or not yet.
    Not,
    /// It will serve for nothing any more.
    Never,
}

/// A shell that begins its task.
pub(super) struct Begun {
    /// The keeper's process.
    pub(super) keeper: u32,
    /// The reading ends of its streams.
    pub(super) stdout: OwnedFd,
    /// `None` where they are merged.
    pub(super) stderr: Option<OwnedFd>,
}

/// The ends of a spare shell's streams: those that stay, and those that it gets.
type Pipe = (OwnedFd, OwnedFd);

impl Setting {
    /// The setting of a request, where a shell of it can be started ahead. What a login shell reads at its start may have
    /// changed, and what reads from its caller is somebody's to feed.
    pub(super) fn of(request: &RunRequest) -> Option<Setting> {
        let RunRequest { kind, shell, cwd, environment, stdin, streams, .. } = request;
        if (*kind, *shell, *stdin) != (TaskKind::Bash, Shell::Plain, Stdin::Null) {
            return None;
        }
        let shared = environment.iter().filter(|(name, _)| name != TASK_ID).cloned();
        Some(Setting { cwd: cwd.clone(), environment: shared.collect(), streams: *streams })
    }
}

impl Spare {
    /// A keeper that has no shell.
    pub(super) fn new(keeper: Peer, group: Option<Group>) -> Spare {
        Spare { keeper, group, shell: None }
    }

    /// Has its keeper start a shell.
    pub(super) fn start_shell(&mut self, setting: &Setting) -> io::Result<()> {
        let (stdout, far_stdout) = pipe(Reader::Here)?;
        let (stderr, far_stderr) = match setting.streams {
            Streams::Merged => (None, far_stdout.try_clone()?),
            Streams::Separate => pipe(Reader::Here).map(|(near, far)| (Some(near), far))?,
        };
        let (far_begin, begin) = pipe(Reader::There)?;
        let text = memory::file("text", b"")?;
        let run = ToKeeper::Run {
            kind: TaskKind::Bash,
            shell: Shell::Plain,
            beginning: Beginning::WhenTold,
            cwd: setting.cwd.clone(),
            environment: setting.environment.clone(),
            terminal: ControllingTerminal::None,
        };
        let null = File::open("/dev/null")?.into();
        let far = vec![null, far_stdout, far_stderr, text.try_clone()?, far_begin];
        self.keeper.send(&run, far).map_err(io::Error::other)?;
        self.shell = Some(SpareShell {
            setting: setting.clone(),
            text: text.into(),
            begin: begin.into(),
            stdout,
            stderr,
            processes: None,
            until: Instant::now() + STANDS_FOR,
        });
        Ok(())
    }

    /// Hears what its keeper says before it has a task: that its shell stands, or that neither serves any more.
    ///
    /// # Errors
    /// It does not serve; the keeper's own words, where it has said why.
    pub(super) fn hear(&mut self) -> Result<(), Option<Failure>> {
        loop {
            match self.keeper.receive::<FromKeeper>().map(|received| received.message) {
                Err(ChannelError::Full) => return Ok(()),
                Ok(FromKeeper::Started { keeper, program }) => match &mut self.shell {
                    Some(shell) => shell.processes = Some((keeper, program)),
                    None => return Err(None),
                },
                Ok(FromKeeper::Failed(failure)) => return Err(Some(failure)),
                Ok(_) | Err(_) => return Err(None),
            }
        }
    }

    /// Whether its shell serves for a task.
    pub(super) fn shell_for(&mut self, setting: &Setting, text: &OwnedFd) -> ForTask {
        if self.shell.is_none() {
            return ForTask::Not;
        }
        if self.hear().is_err() {
            return ForTask::Never;
        }
        let Some(shell) = self.shell.as_ref().filter(|shell| shell.setting == *setting) else {
            return ForTask::Not;
        };
        let Some((_, program)) = shell.processes else { return ForTask::Not };
        let is_short = rustix::fs::fstat(text).is_ok_and(|it| it.st_size as u64 <= LONGEST_TEXT);
        let is_fit = || Ok(is_untouched(program)? && stands_in(program, &setting.cwd)?);
        match is_fit() {
            Ok(true) if is_short => ForTask::Serves,
            Ok(true) => ForTask::Not,
            io::Result::<bool>::Ok(false) | Err(_) => ForTask::Never,
        }
    }

    /// Whether its shell is of this setting, standing or about to.
    pub(super) fn is_of(&self, setting: Option<&Setting>) -> bool {
        self.shell.as_ref().map(|shell| &shell.setting) == setting
    }

    /// Whether it was given a shell.
    pub(super) fn has_shell(&self) -> bool {
        self.shell.is_some()
    }

    /// When its shell is to be dismissed.
    pub(super) fn until(&self) -> Option<Instant> {
        self.shell.as_ref().map(|shell| shell.until)
    }
}

impl SpareShell {
    /// Gives it its text and tells it its task.
    ///
    /// # Errors
    /// It has just ended, or the text cannot be copied; nothing of it has run.
    pub(super) fn begin(mut self, task: &TaskId, text: &OwnedFd) -> io::Result<Begun> {
        let Some((keeper, _)) = self.processes else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let given = File::from(text.try_clone()?);
        let mut bytes = vec![0; given.metadata()?.len() as usize];
        // By position: the shell reads from where the description stands.
        given.read_exact_at(&mut bytes, 0)?;
        self.text.write_all_at(&bytes, 0)?;
        self.begin.write_all(format!("{task}\0").as_bytes())?;
        let SpareShell { stdout, stderr, .. } = self;
        Ok(Begun { keeper, stdout, stderr })
    }
}

/// Whether nobody has stopped the process or sent it a signal that it is yet to take: a command that ends it could not be told
/// from one that it was given (proc_pid_status(5)).
fn is_untouched(process: u32) -> io::Result<bool> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let is_none = |mask: &str| mask.trim().bytes().all(|digit| digit == b'0');
    Ok(status.lines().all(|line| match line.split_once(':') {
        Some(("State", state)) => !state.trim().starts_with(['T', 't', 'Z', 'X']),
        Some(("SigPnd" | "ShdPnd", mask)) => is_none(mask),
        _ => true,
    }))
}

/// Whether the path leads, in the process's own namespaces, to the folder in which the process stands.
fn stands_in(process: u32, path: &Path) -> io::Result<bool> {
    let own = PathBuf::from(format!("/proc/{process}"));
    let there = path.strip_prefix("/").unwrap_or(path);
    let led_to = fs::metadata(own.join("root").join(there))?;
    let stood_in = fs::metadata(own.join("cwd"))?;
    Ok((led_to.dev(), led_to.ino()) == (stood_in.dev(), stood_in.ino()))
}

/// On whose side a pipe is read.
enum Reader {
    /// Here, where nobody may wait for it.
    Here,
    /// By the shell.
    There,
}

fn pipe(side: Reader) -> io::Result<Pipe> {
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    match side {
        Reader::Here => rustix::io::ioctl_fionbio(&reader, true)?,
        Reader::There => {}
    }
    Ok((reader, writer))
}
