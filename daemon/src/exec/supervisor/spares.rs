//! A mode's spares: which of them a task gets, and which one starts a shell. How one is made is the mode's.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::Instant;

use super::spare::{ForTask, Setting, Spare};
use crate::exec::cgroup::Group;

/// Keepers that wait for a task, each of them forked while nobody waits for it.
const SPARES: usize = 2;

/// The spares of a mode.
#[derive(Debug, Default)]
pub(super) struct Spares {
    waiting: VecDeque<Spare>,
    /// The setting of the last task for which a shell could have been started ahead, unless that was long ago.
    setting: Option<Setting>,
    /// Groups whose last process is about to end.
    emptying: Vec<Group>,
}

impl Spares {
    /// One more.
    pub(super) fn add(&mut self, spare: Spare) {
        self.waiting.push_back(spare);
    }

    /// Whether there should be more of them.
    pub(super) fn are_few(&self) -> bool {
        self.waiting.len() < SPARES
    }

    /// One whose shell stands and could be taken for one that is started now. The next ones are started like it.
    pub(super) fn take_shell(&mut self, setting: Setting, text: &OwnedFd) -> Option<Spare> {
        let mut taken = None;
        for mut spare in std::mem::take(&mut self.waiting) {
            match spare.shell_for(&setting, text) {
                ForTask::Serves if taken.is_none() => taken = Some(spare),
                ForTask::Serves | ForTask::Not => self.waiting.push_back(spare),
                ForTask::Never => self.dismiss(spare),
            }
        }
        self.setting = Some(setting);
        taken
    }

    /// One without a shell.
    pub(super) fn take_bare(&mut self) -> Option<Spare> {
        let bare = self.waiting.iter().position(|spare| !spare.has_shell())?;
        self.waiting.remove(bare)
    }

    /// Dismisses those whose shell is of another setting than the last task's.
    pub(super) fn dismiss_others(&mut self) {
        self.emptying.retain(|group| group.remove().is_err());
        let setting = self.setting.clone();
        self.dismiss_all(|spare| spare.has_shell() && !spare.is_of(setting.as_ref()));
    }

    /// Has one of them start a shell like that of the last task, unless one did.
    pub(super) fn start_shell(&mut self) {
        let Some(setting) = self.setting.clone() else { return };
        if self.waiting.iter().any(|spare| spare.is_of(Some(&setting))) {
            return;
        }
        let Some(mut spare) = self.take_bare() else { return };
        match spare.start_shell(&setting) {
            Ok(()) => self.waiting.push_back(spare),
            Err(error) => {
                tracing::debug!(%error, "no shell is started ahead");
                self.dismiss(spare);
            }
        }
    }

    /// When a shell has stood for long enough.
    pub(super) fn stand_until(&self) -> Option<Instant> {
        self.waiting.iter().filter_map(Spare::until).min()
    }

    /// Dismisses one that has stood for long enough. Whether one was.
    pub(super) fn cool(&mut self, now: Instant) -> bool {
        let is_due = self.stand_until().is_some_and(|until| until <= now);
        if is_due {
            self.setting = None;
            self.dismiss_all(Spare::has_shell);
        }
        is_due
    }

    fn dismiss_all(&mut self, is_dismissed: impl Fn(&Spare) -> bool) {
        for spare in std::mem::take(&mut self.waiting) {
            match is_dismissed(&spare) {
                true => self.dismiss(spare),
                false => self.waiting.push_back(spare),
            }
        }
    }

    /// Ends a keeper and the shell that it has: it does so when its channel closes.
    pub(super) fn dismiss(&mut self, Spare { keeper, group, shell }: Spare) {
        drop((keeper, shell));
        if let Some(group) = group {
            // What cannot be killed so its keeper kills.
            group.kill().ok();
            self.emptying.push(group);
        }
    }
}
