//! The supervisor and its daemon: what it is asked, what it tells, and what becomes of the session between two daemons.
//!
//! ```text
//! attached ──channel closes──► alone ──the next daemon connects──► attached
//!    │ close                     ├── nothing is left to keep ──► retired (`retire_session`)
//!    ▼                           └── detached_ttl ──► expired: everything is stopped, retired
//!  closing
//! ```
//!
//! Alone, what a call waited for is stopped, for nobody can be answered; the background goes on, and nothing new starts.
//! A daemon comes to its listening socket only after it has taken the state folder's lock, so one that comes while another
//! seems to be there replaces it: the end of the old one has not been heard yet.

use std::os::fd::OwnedFd;
use std::time::Instant;

use brattice_policy::Profile;

use super::ending::StopCause;
use super::finished::Unrecorded;
use super::mode::Mode;
use super::peer::Peer;
use super::reactor::Source;
use super::serve::Supervisor;
use crate::exec::channel::ChannelError;
use crate::exec::message::{FailedStep, Failure, FromSupervisor, ToSupervisor};
use crate::exec::retired::Retired;
use crate::exec::spec::{Placement, Urgency};
use crate::exec::terminal;

impl Supervisor {
    pub(super) fn hear_daemon(&mut self) {
        while let Some(daemon) = &self.daemon {
            match daemon.receive::<ToSupervisor>() {
                Ok(received) => self.obey(received.message, received.descriptors),
                Err(ChannelError::Full) => return,
                Err(_) => self.lose_daemon(),
            }
        }
    }

    fn obey(&mut self, message: ToSupervisor, mut descriptors: Vec<OwnedFd>) {
        match message {
            ToSupervisor::Setup { .. } => {}
            ToSupervisor::Prepare { sequence, profile } => self.prepare(sequence, profile),
            ToSupervisor::Run(request) => {
                let task = request.task.clone();
                let started = match descriptors.pop() {
                    Some(text) => self.start(*request, text),
                    None => Err(Failure::new(
                        FailedStep::Descriptors,
                        &"the request came without its text",
                    )),
                };
                if let Err(failure) = started {
                    self.say(&FromSupervisor::StartFailed { task, failure }, Vec::new());
                }
            }
            ToSupervisor::Stop { task, by, urgency } => {
                if let Some(index) = self.index_of(&task) {
                    self.stop(index, StopCause::Asked { by }, urgency);
                }
            }
            ToSupervisor::Close => {
                self.is_closing = true;
                self.stop_all("the session was closed");
            }
            ToSupervisor::CloseInput { task } => {
                if let Some(index) = self.index_of(&task)
                    && let Some(task) = self.tasks.get_mut(&index)
                {
                    task.stdin = None;
                }
            }
            ToSupervisor::Resize { task, rows, cols } => {
                let index = self.index_of(&task);
                let task = index.and_then(|index| self.tasks.get(&index));
                if let Some(pipe) = task.and_then(|task| task.stdout.pipe.as_ref()) {
                    // A terminal that is gone has no size; the task's end says so.
                    terminal::resize(pipe, terminal::Size { rows, cols }).ok();
                }
            }
            ToSupervisor::Measure { sequence, task } => self.measure(sequence, &task),
            ToSupervisor::Inspect { sequence } => self.inspect(sequence),
            ToSupervisor::Notify { task, stdout, stderr } => {
                if let Some(task) =
                    self.index_of(&task).and_then(|index| self.tasks.get_mut(&index))
                {
                    task.await_growth((stdout, stderr));
                }
            }
        }
    }

    /// The daemon is gone: what a call waited for is stopped, the rest waits for the next daemon.
    pub(super) fn lose_daemon(&mut self) {
        if let Some(daemon) = self.daemon.take() {
            // Closing would end the watch as well; a failure leaves nothing behind.
            self.reactor.forget(&daemon).ok();
        }
        self.alone_until = Instant::now().checked_add(self.setup.limits.detached_ttl);
        let of_calls = |(index, task): (&u32, &super::task::Task)| {
            (task.placement == Placement::Foreground).then_some(*index)
        };
        let waited_for: Vec<u32> = self.tasks.iter().filter_map(of_calls).collect();
        for index in waited_for {
            self.stop(
                index,
                StopCause::Asked { by: "the daemon is gone".to_owned() },
                Urgency::Graceful,
            );
        }
    }

    /// Nobody has taken the session over in time.
    pub(super) fn expire_alone(&mut self, now: Instant) {
        if self.alone_until.is_some_and(|until| until <= now) {
            self.alone_until = None;
            self.is_expired = true;
            self.stop_all("nobody has taken the session over in time");
        }
    }

    fn stop_all(&mut self, by: &str) {
        let running: Vec<u32> = self.tasks.keys().copied().collect();
        for index in running {
            self.stop(index, StopCause::Asked { by: by.to_owned() }, Urgency::Graceful);
        }
    }

    /// Lets a daemon in that came to the listening socket, and hands it everything.
    pub(super) fn admit_daemon(&mut self) {
        while let Some(channel) = self.setup.listener.accept() {
            let Ok(peer) = Peer::new(channel) else { continue };
            if self.is_closing
                || self.is_expired
                || self.reactor.watch(&peer, Source::Daemon).is_err()
            {
                continue;
            }
            // What the old one has said is heard before its end.
            self.hear_daemon();
            if self.daemon.is_some() {
                self.lose_daemon();
            }
            self.daemon = Some(peer);
            self.alone_until = None;
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        self.say(&FromSupervisor::Adopted { highest: self.highest }, Vec::new());
        let modes: Vec<u32> = self.modes.keys().copied().collect();
        modes.into_iter().for_each(|mode| self.drain_mode(mode));
        let indices: Vec<u32> = self.tasks.keys().copied().collect();
        for index in indices {
            let Some(task) = self.tasks.get_mut(&index) else { continue };
            let (spools, descriptors) = task.all_spools();
            let message = FromSupervisor::Resumed(Box::new(task.resumed(spools)));
            self.say(&message, descriptors);
        }
        self.record_again();
        let ended: Vec<_> = self.unrecorded.iter().map(Unrecorded::words).collect();
        for (message, descriptors) in ended.into_iter().flatten() {
            self.say(&message, descriptors);
        }
        self.say(&FromSupervisor::Ready, Vec::new());
    }

    pub(super) fn say(&mut self, message: &FromSupervisor, descriptors: Vec<OwnedFd>) {
        match self.daemon.as_mut().map(|daemon| daemon.send(message, descriptors)) {
            // What does not fit a message is not said; every text in one is bounded where it is made.
            None | Some(Ok(()) | Err(ChannelError::TooLarge | ChannelError::Shape(_))) => {}
            Some(Err(_)) => self.lose_daemon(),
        }
    }

    fn prepare(&mut self, sequence: u64, profile: Profile) {
        match self.mode_for(profile) {
            Ok(index) => {
                if let Some(mode) = self.modes.get_mut(&index) {
                    mode.wait_ready(sequence);
                }
            }
            Err(failure) => {
                self.say(&FromSupervisor::Prepared { sequence, result: Err(failure) }, Vec::new());
            }
        }
    }

    /// Tells those who wait for a mode what has become of it.
    pub(super) fn say_prepared(&mut self) {
        let answers: Vec<_> = self.modes.values_mut().flat_map(Mode::answers).collect();
        for (sequence, result) in answers {
            self.say(&FromSupervisor::Prepared { sequence, result }, Vec::new());
        }
    }

    /// Leaves word for the next daemon that this supervisor ended in order, so that another may follow it. A session that
    /// was closed needs none: its folder goes.
    pub(super) fn retire_session(&self) {
        if self.is_closing {
            return;
        }
        let (highest, denied, is_expired) = (self.highest, self.denied, self.is_expired);
        let retired = Retired { highest, denied, is_expired };
        if let Err(error) = retired.write(&self.setup.folder) {
            // Without it the next daemon takes the session for one whose supervisor was killed.
            tracing::error!(%error, "the end of the supervisor is not on record");
        }
    }
}
