//! Reading the configuration again while the daemon serves, for SIGHUP and for `daemon.reload`: all of it holds from then
//! on, or nothing does.
//!
//! What a new configuration means to sessions that are open is `session`'s.

use std::sync::{Arc, Mutex, PoisonError};

use brattice_protocol::audit::{Actor, Event};
use brattice_protocol::status::Reloaded;

use crate::audit::Audit;
use crate::configuration::{ConfigurationError, ConfigurationFiles, Loaded};
use crate::fault::chain;
use crate::session::Registry;
use crate::workers::{Interrupted, Lane, Workers};

/// Reads the configuration's files and hands it to the sessions.
#[derive(Debug)]
pub(crate) struct Reloader {
    files: ConfigurationFiles,
    registry: Arc<Registry>,
    audit: Arc<Audit>,
    workers: Workers,
    /// One at a time, so that what was read last is what holds.
    turn: Mutex<()>,
}

/// Why the configuration stays as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReloadError {
    /// A file cannot be used.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// A thread of the daemon's ended early.
    #[error("reading the configuration was interrupted")]
    Interrupted(#[source] Interrupted),
}

impl Reloader {
    /// One of these files, for these sessions.
    pub(crate) fn new(
        files: ConfigurationFiles,
        registry: Arc<Registry>,
        audit: Arc<Audit>,
        workers: Workers,
    ) -> Arc<Self> {
        Arc::new(Reloader { files, registry, audit, workers, turn: Mutex::new(()) })
    }

    /// Reads the files again, for sessions that are opened from now on.
    ///
    /// # Errors
    /// The first file that cannot be used; what held before holds on, and the log says so.
    pub(crate) async fn reload(self: &Arc<Self>) -> Result<Reloaded, ReloadError> {
        let reloader = self.clone();
        let read = self.workers.run(Lane::Elsewhere, move || reloader.read()).await;
        let result = read.map_err(ReloadError::Interrupted).and_then(|read| Ok(read?));
        match &result {
            Ok(_) => tracing::info!("the configuration holds for new sessions"),
            Err(error) => {
                let reason = chain(error);
                tracing::error!(error = %reason, "the configuration stays as it was");
                self.audit.record(&Event::ConfigurationRefused { by: Actor::Operator, reason });
            }
        }
        result
    }

    /// Blocks: files may be on a file system that answers late.
    fn read(&self) -> Result<Reloaded, ConfigurationError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let Loaded { configuration, events } = self.files.read()?;
        self.registry.reconfigure(configuration, &self.files);
        events.iter().for_each(|event| self.audit.record(event));
        let path = |event: Event| match event {
            Event::ConfigurationLoaded { path, .. } => Some(path),
            _ => None,
        };
        Ok(Reloaded { files: events.into_iter().filter_map(path).collect() })
    }
}
