//! A session's skills: where they are looked for, and which were found last.
//!
//! They are read by the session's file worker, so that they are found where its commands can read them and nowhere else.
//! What was found last stands in for what cannot be looked at just now.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use brattice_skills::{Catalogue, Root, Skill, Unreadable};

use super::session::Session;
use crate::fault::chain;
use crate::files::{Answer, Request};
use crate::workers::Lane;

/// How long a list of tools waits for the folders of skills.
const PATIENCE: Duration = Duration::from_secs(5);

impl Session {
    /// Where skills are looked for, in the order in which they claim names.
    pub(crate) fn skill_roots(&self) -> Vec<Root> {
        let own = self.setup.options.skills.iter().map(|path| self.setup.cwd.join(path));
        let (configured, home) = (&self.grounds.skills, &self.grounds.home);
        self.toolset().skills.roots(own, configured, self.workspace(), home)
    }

    /// The skills that were found last.
    pub(crate) fn skills_seen(&self) -> Arc<Catalogue> {
        self.skills.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks for its skills.
    pub(crate) async fn find_skills(self: &Arc<Self>) -> Arc<Catalogue> {
        match tokio::time::timeout(PATIENCE, self.look_for_skills()).await {
            Ok(Some(found)) => self.note_skills(found),
            Ok(None) => {}
            Err(_) => tracing::warn!(session = %self.id(), "folders of skills answer late"),
        }
        self.skills_seen()
    }

    async fn look_for_skills(self: &Arc<Self>) -> Option<Catalogue> {
        let roots = self.skill_roots();
        let paths: Vec<PathBuf> = roots.iter().map(|root| root.path.clone()).collect();
        let look = move || paths.iter().any(|path| path.is_dir());
        // A worker is not started for nothing.
        if !self.shared.workers.run(Lane::Elsewhere, look).await.unwrap_or(true) {
            return Some(Catalogue::default());
        }
        match self.on_files(self.profile().mode, Request::Skills { roots }).await {
            Ok(Answer::Skills(found)) => Some(found),
            Ok(_) => None,
            Err(error) => {
                tracing::warn!(session = %self.id(), error = %chain(&error), "skills cannot be looked for");
                None
            }
        }
    }

    /// Remembers them. What is wrong with one is logged when it is new.
    fn note_skills(&self, found: Catalogue) {
        let mut seen = self.skills.lock().unwrap_or_else(PoisonError::into_inner);
        if **seen == found {
            return;
        }
        for Skill { path, header, .. } in &found.skills {
            for fault in &header.faults {
                tracing::warn!(session = %self.id(), %path, %fault, "a skill's header has a fault");
            }
        }
        for Unreadable { path, why } in &found.unreadable {
            tracing::warn!(session = %self.id(), %path, %why, "a skill cannot be read");
        }
        *seen = Arc::new(found);
    }
}
