//! What all files say together, over what holds without any.

use crate::{Limits, Mode, Network};

use super::file::{CeilingSection, File, LimitsSection, SessionSection};

/// A daemon's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration<T> {
    /// The widest mode of any session.
    pub ceiling: Mode,
    /// What a session has that does not ask for something else.
    pub session: SessionDefaults<T>,
    /// Limits of sessions and commands.
    pub limits: Limits,
}

/// Defaults of new sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionDefaults<T> {
    /// The mode; never beyond the ceiling.
    pub mode: Mode,
    /// The toolset.
    pub toolset: T,
    /// The network.
    pub network: Network,
    /// Folders that every session may write to besides its own, absolute.
    pub writable: Vec<String>,
}

impl<T: Default> Default for Configuration<T> {
    fn default() -> Self {
        Configuration {
            ceiling: Mode::DangerFullAccess,
            session: SessionDefaults::default(),
            limits: Limits::default(),
        }
    }
}

impl<T: Default> Configuration<T> {
    /// Puts files together, the operator's first: where two of them have a key, the later one's counts. `home` is
    /// what `~` stands for.
    pub fn of(files: impl IntoIterator<Item = File<T>>, home: &str) -> Self {
        let mut whole = Configuration::default();
        for File { ceiling, session, limits } in files {
            if let Some(ceiling) = ceiling {
                whole.take_ceiling(ceiling.into_inner());
            }
            if let Some(session) = session {
                whole.take_session(session, home);
            }
            if let Some(limits) = limits {
                whole.take_limits(limits);
            }
        }
        whole.session.mode = whole.session.mode.min(whole.ceiling);
        whole
    }

    fn take_ceiling(&mut self, CeilingSection { max_mode, max_sessions }: CeilingSection) {
        set(&mut self.ceiling, max_mode.map(|word| word.0));
        set(&mut self.limits.max_sessions, max_sessions.map(|count| count.0 as usize));
    }

    fn take_session(&mut self, section: SessionSection<T>, home: &str) {
        let SessionSection { mode, toolset, network, writable, detached_ttl, leftovers } = section;
        set(&mut self.session.mode, mode.map(|word| word.0));
        set(&mut self.session.toolset, toolset.map(|word| word.0));
        set(&mut self.session.network, network.map(|word| word.0));
        let writable =
            writable.map(|folders| folders.iter().map(|folder| folder.resolved(home)).collect());
        set(&mut self.session.writable, writable);
        set(&mut self.limits.detached_ttl, detached_ttl.map(|span| span.0));
        set(&mut self.limits.leftovers, leftovers.map(|word| word.0));
    }

    fn take_limits(&mut self, section: LimitsSection) {
        let LimitsSection { open_files, max_tasks, spool, state } = section;
        set(&mut self.limits.open_files, open_files.map(|count| count.0.into()));
        set(&mut self.limits.max_tasks, max_tasks.map(|count| count.0 as usize));
        set(&mut self.limits.spool, spool.map(|size| size.0));
        set(&mut self.limits.state, state.map(|size| size.0));
    }
}

/// A key that a file does not have leaves what was there before.
fn set<V>(place: &mut V, value: Option<V>) {
    if let Some(value) = value {
        *place = value;
    }
}
