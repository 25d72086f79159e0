//! The observer: threads of the launcher that are asked about each call which the filter traps, while the caller waits.
//!
//! ```text
//! command ──trapped call──▶ listener ──▶ receivers ──▶ Judge ──┬─▶ the kernel carries it out      (nothing to refuse)
//!                                                             ├─▶ refused; told to the supervisor (policy is the cause)
//!                                                             └─▶ done here, on pinned files      (nobody else judges it)
//! ```
//!
//! Two rules. **A call that Landlock judges as well** is refused here exactly when Landlock would refuse it *and* it would
//! have succeeded otherwise; in every other case the kernel goes on, and its errno is the native one. What is found out
//! here can be wrong by the time the kernel looks: then a record is missing or idle, and nothing was let through.
//! **A call that nobody else judges** never goes on: what was judged is pinned, and is what the call is carried out on.
//!
//! The launcher is inside the mode's own domain, so that it cannot do for a command what the command may not do. It is
//! above every command's domain: none can signal or trace it. It keeps nothing but which commands have confined
//! themselves further; for those it does nothing on behalf, since their own rules would not bind it.
//!
//! When a **caller** dies, its answer goes nowhere. When the **supervisor** dies, the launcher ends with its channel. When
//! the **launcher** dies, the listener closes: every trapped call fails with `ENOSYS`, and nothing is let through.

mod address;
mod caller;
mod change;
mod confine;
mod connect;
mod guard;
mod host;
mod inside;
mod lineage;
mod moves;
mod names;
mod open;
mod permits;
mod receivers;
mod resolve;
mod signal;
mod verdict;

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

use brattice_policy::enforce::granted::{Granted, Rights};
use brattice_policy::enforce::seccomp::trap::Trap;
use brattice_policy::enforce::seccomp::{self, Action, Rule, Selection};
use brattice_policy::explain::explain;
use brattice_policy::sys::errno;
use brattice_policy::sys::listener::{Listener, Notification};
use brattice_policy::view::Held;
use brattice_policy::{Denial, DeniedOperation, LayerName, Mode, Operation, Profile, ambient};
use rustix::fs::{FileType, Mode as FileMode, OFlags};
use rustix::io::Errno;

use crate::exec::channel::Channel;
use crate::exec::message::FromLauncher;
use caller::{Caller, Look, Seen};
use confine::Further;
use guard::Guard;
use inside::Roots;
use lineage::Lineage;
use receivers::Cover;
use resolve::{File, Found, Last};
use verdict::{Answer, Refusal, path_in, path_of, seen_path};

/// Longest path of a record in characters.
const LONGEST_PATH: usize = 4096;

/// What the calls of a mode are judged by.
pub(super) struct Judge {
    rules: Vec<Rule>,
    granted: Granted,
    guard: Guard,
    roots: Roots,
    profile: Profile,
    zygote: u32,
    further: Further,
    supervisor: Arc<Channel>,
}

/// Starts to answer the calls of a mode. `held` is what its mount namespace keeps as it is.
///
/// # Errors
/// No thread can be made.
pub(super) fn start(
    listener: OwnedFd,
    selection: Selection,
    profile: Profile,
    granted: Granted,
    held: Vec<PathBuf>,
    zygote: u32,
    supervisor: Arc<Channel>,
) -> std::io::Result<()> {
    let judge = Judge {
        rules: seccomp::rules(selection),
        granted,
        guard: Guard::new(held),
        roots: Roots::of(&profile),
        profile,
        zygote,
        further: Further::default(),
        supervisor,
    };
    receivers::start(judge, Listener::new(listener))
}

impl Judge {
    fn answer(&self, cover: Cover<'_>, notification: Notification) {
        let seen = Seen::default();
        let caller = Caller::new(&notification, &seen);
        let rule = seccomp::decide(&self.rules, notification.data());
        let Some((rule, Action::Observe(trap))) = rule.map(|rule| (rule, rule.action)) else {
            // The filter and this table are one; what is not in it is refused.
            return notification.fail(Errno::PERM);
        };
        if let Some(refusal) = self.guard.refused(caller, trap) {
            self.tell(caller, &refusal);
        }
        let answer = self.judge(cover, caller, rule, trap);
        match answer {
            Answer::Continue => notification.carry_on(),
            Answer::Unobserved => {
                self.tell_unobserved(caller);
                notification.carry_on();
            }
            Answer::Unseen => {
                self.tell_unobserved(caller);
                notification.fail(Errno::PERM);
            }
            Answer::Refuse(refusal) => {
                self.tell(caller, &refusal);
                notification.fail(refusal.errno);
            }
            Answer::Fail(errno) => notification.fail(errno),
            Answer::Done(value) => notification.succeed(value),
        }
    }

    fn judge(&self, cover: Cover<'_>, caller: Caller<'_>, rule: &Rule, trap: Trap) -> Answer {
        let is_inside = |place| self.roots.hold(caller, place);
        match trap {
            Trap::Open(place, _) | Trap::Truncate(place) if is_inside(place) => Answer::Continue,
            Trap::MakeFolder(place) | Trap::MakeNode(place, _) | Trap::MakeLink(place)
                if is_inside(place) =>
            {
                Answer::Continue
            }
            Trap::Rename(from, to, _) | Trap::Link(from, to, _)
                if is_inside(from) && is_inside(to) =>
            {
                Answer::Continue
            }
            Trap::Open(place, flags) => open::open(self, caller, place, caller.value(flags)),
            Trap::Truncate(place) => open::truncate(self, caller, place),
            Trap::MakeFolder(place) => names::make_folder(self, caller, place),
            Trap::MakeNode(place, mode) => names::make_node(self, caller, place, caller.word(mode)),
            Trap::MakeLink(place) => names::make_link(self, caller, place),
            Trap::Remove(place, flags) => names::remove(self, caller, place, caller.value(flags)),
            Trap::Rename(from, to, flags) => {
                moves::rename(self, caller, from, to, caller.value(flags))
            }
            Trap::Link(from, to, flags) => moves::link(self, caller, from, to, caller.value(flags)),
            Trap::Bind => names::bind(self, caller),
            Trap::Change(target, change) => {
                // An inode may be locked by a long write. Where no other thread can be had, this one does it all the same.
                cover.keep_receiving().ok();
                change::change(self, caller, target, change)
            }
            Trap::Connect => connect::connect(self, cover, caller),
            Trap::Datagram => connect::datagram(),
            Trap::Signal => signal::kill(self, caller),
            Trap::Process(argument) => signal::another(self, caller, argument),
            Trap::Confine => match self.lineage(caller.thread()) {
                // Who cannot be placed cannot be known to have done so.
                Lineage::Outside | Lineage::Gone => Answer::Unseen,
                at => {
                    self.further.note(at, caller.thread());
                    Answer::Continue
                }
            },
            Trap::Refused(errno) => refused(rule, errno),
        }
    }

    /// Where a process or thread stands.
    fn lineage(&self, process: u32) -> Lineage {
        lineage::of(process, self.zygote)
    }

    /// Whether the caller's command has put itself behind rules of its own.
    fn is_below_another_domain(&self, caller: Caller<'_>) -> bool {
        // Who stands nowhere is in a chain of processes too long to be followed, and may be anywhere.
        let stands = |lineage| match lineage {
            Lineage::Command { .. } => self.further.holds(lineage),
            Lineage::Gone | Lineage::Keeping | Lineage::Outside => true,
        };
        !self.further.is_empty() && stands(self.lineage(caller.thread()))
    }

    /// Whether a socket is listed in the session's settings: by the name that it has where it is, which no link changes. A
    /// service that was started again has another socket of the same name.
    fn is_listed_socket(&self, socket: &File) -> bool {
        let listed = &self.profile.unix_sockets;
        !listed.is_empty() && listed.contains(&path_of(&socket.fd))
    }

    /// The rights in a folder.
    fn granted_in(&self, folder: impl AsFd, wanted: Rights) -> Result<Rights, Look> {
        self.granted.below(folder, wanted).map_err(|_| Look::Blind)
    }

    /// The rights on a file, found by its path or by a descriptor.
    fn granted_on(
        &self,
        file: &File,
        found: Option<&Found>,
        wanted: Rights,
    ) -> Result<Rights, Look> {
        if file.kind() == FileType::Directory {
            return self.granted_in(&file.fd, wanted);
        }
        let own = self.granted.on(&file.stat);
        if own.contains(wanted) {
            return Ok(own);
        }
        if let Some(found) = found.filter(|found| found.last == Last::Name) {
            return Ok(own | self.granted_in(&found.folder, wanted)?);
        }
        match self.folder_of(file)? {
            Some(folder) => Ok(own | self.granted_in(folder, wanted)?),
            // A pipe, a socket, a memory file: no rule is about those.
            None => Ok(wanted),
        }
    }

    /// The folder in which a file has the name by which it was reached; `None` for what never had a name.
    fn folder_of(&self, file: &File) -> Result<Option<OwnedFd>, Look> {
        // What has no path that can be seen may have one all the same.
        let path = seen_path(&file.fd).map_err(|_| Look::Blind)?;
        let is_memory = file.stat.st_nlink == 0 && path.starts_with("/") && {
            path.as_os_str().as_encoded_bytes().starts_with(b"/memfd:")
        };
        if !path.is_absolute() || is_memory {
            return Ok(None);
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Look::Blind);
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(folder, flags, FileMode::empty()).map_err(|_| Look::Blind)?;
        if file.stat.st_nlink == 0 {
            return Ok(Some(folder));
        }
        let there = rustix::fs::statat(&folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
        match there {
            Ok(there) if (there.st_dev, there.st_ino) == (file.stat.st_dev, file.stat.st_ino) => {
                Ok(Some(folder))
            }
            _ => Err(Look::Blind),
        }
    }

    /// A name that is made: refused where the folder lacks a right and nothing else stands in the way.
    fn make(
        &self,
        found: &Found,
        wanted: Rights,
        operation: DeniedOperation,
    ) -> Result<Answer, Look> {
        if found.last != Last::Name || found.file.is_some() {
            return Ok(Answer::Continue);
        }
        let missing = wanted & !self.granted_in(&found.folder, wanted)?;
        let folder = rustix::fs::fstat(&found.folder).map_err(Look::Native)?;
        if missing.is_empty()
            || !permits::can_create(&found.folder, &folder)
            || resolve::is_procfs(&found.folder)?
        {
            return Ok(Answer::Continue);
        }
        Ok(Refusal::of_files(operation, path_in(&found.folder, &found.name), missing).into())
    }

    /// Puts a refusal on record, before its caller can go on.
    fn tell(&self, caller: Caller<'_>, refusal: &Refusal) {
        let Lineage::Command { keeper, .. } = self.lineage(caller.thread()) else { return };
        let path = text(&refusal.path);
        let program = caller.program();
        let denial = Denial {
            operation: refusal.operation,
            second_path: refusal.second_path.as_deref().map(text),
            layer: refusal.layer,
            errno: errno::name(refusal.errno),
            right: refusal.right.clone(),
            needs: self.needs(refusal),
            grant: refusal.grant.clone(),
            pid: caller.numbers().map_or(caller.thread(), |(process, _)| process),
            ambient: ambient::reason(&program, refusal.operation, &path).map(str::to_owned),
            program,
            path,
        };
        let message = FromLauncher::Denied { keeper, denial: Box::new(denial) };
        // A supervisor that is gone ends this process by its closed channel.
        self.supervisor.send(&message, Vec::new()).ok();
    }

    fn tell_unobserved(&self, caller: Caller<'_>) {
        if let Lineage::Command { keeper, .. } = self.lineage(caller.thread()) {
            self.supervisor.send(&FromLauncher::Unobserved { keeper }, Vec::new()).ok();
        }
    }

    /// The narrowest mode in which the call would have passed.
    fn needs(&self, refusal: &Refusal) -> Mode {
        let operation = match refusal.operation {
            DeniedOperation::Write | DeniedOperation::Metadata => Operation::Write,
            DeniedOperation::Create => Operation::Create,
            DeniedOperation::Remove | DeniedOperation::Rename => Operation::Remove,
            DeniedOperation::Link
            | DeniedOperation::Connect
            | DeniedOperation::Signal
            | DeniedOperation::Limit
            | DeniedOperation::Call => return Mode::DangerFullAccess,
        };
        // What is protected or hidden was refused elsewhere.
        let held = Held::default();
        let needed = |path, operation| explain(&self.profile, &held, path, operation).mode_needed;
        let first = needed(&refusal.path, operation);
        let second =
            refusal.second_path.as_deref().and_then(|path| needed(path, Operation::Create));
        first.into_iter().chain(second).max().unwrap_or(Mode::DangerFullAccess)
    }
}

fn refused(rule: &Rule, errno: i32) -> Answer {
    Refusal {
        operation: DeniedOperation::Call,
        path: rule.name.into(),
        second_path: None,
        layer: LayerName::Seccomp,
        errno: Errno::from_raw_os_error(errno),
        right: rule.reason.to_owned(),
        grant: None,
    }
    .into()
}

/// A path as it is told.
fn text(path: &std::path::Path) -> String {
    path.to_string_lossy().chars().take(LONGEST_PATH).collect()
}
