//! What a session's calls may ask for beyond its mode, who is asked, and what a command that was allowed more may do.

use std::io;
use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use brattice_policy::{Approval, Escalation, LeftoverRule, Mode, Profile};
use brattice_protocol::CallId;
use brattice_protocol::audit::{Actor, Event};
use brattice_protocol::hello::Answers;

use super::ceiling::Bounds;
use super::command::{Authority, StartError, UpdateError};
use super::denials::DenialStore;
use super::layers;
use super::planning::Planning;
use super::session::{Intake, Session};
use super::standing::Standing;
use crate::approval::{ClaimRefused, Deed, Desk, Ending, Folder, Memory, Permit, Subject};
use crate::exec::spec::Program;
use crate::files::Request;
use crate::question;
use crate::toolset::EscalationOffer;
use crate::workers::Lane;

/// What a session's calls may ask for. This is the one place that says it, of all settings together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Latitude {
    /// The mode of commands that start now.
    pub(crate) mode: Mode,
    /// The widest that may be asked for.
    pub(crate) ceiling: Mode,
    /// Whether a person may be asked.
    pub(crate) approval: Approval,
    /// Whether it only plans: then nothing wider may be asked for, whatever the rest says.
    pub(crate) planning: Planning,
    /// What an escalation needs before.
    pub(crate) rule: Escalation,
}

impl Latitude {
    /// How the tools of the session offer it.
    pub(crate) const fn offered(self) -> EscalationOffer {
        match self.approval {
            Approval::Ask => EscalationOffer::Offered { ceiling: self.ceiling },
            Approval::Never => EscalationOffer::Withheld,
        }
    }
}

/// What `session.update` changes; the rest stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// The mode of commands that start from now on.
    pub(crate) mode: Option<Mode>,
    /// Whether its calls may ask a person.
    pub(crate) approval: Option<Approval>,
    /// Whether it only plans.
    pub(crate) planning: Option<Planning>,
}

impl Session {
    /// What its calls may ask for.
    pub(crate) fn latitude(&self) -> Latitude {
        let (mode, ceiling) = (self.bounded().mode, self.ceiling().mode);
        let (approval, planning) = (self.approval(), self.planning());
        Latitude { mode, ceiling, approval, planning, rule: self.setup.escalation }
    }

    /// How long a person has to answer.
    pub(crate) fn approval_ttl(&self) -> Duration {
        self.grounds.limits.approval_ttl
    }

    /// The open questions of all sessions.
    pub(crate) fn desk(&self) -> &Arc<Desk> {
        &self.shared.desk
    }

    /// What was answered in it before.
    pub(crate) fn answers(&self) -> MutexGuard<'_, Memory> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the sandbox refused in it.
    pub(crate) fn denials(&self) -> &DenialStore {
        &self.denials
    }

    /// Changes what holds for commands and calls that start from now on; running ones keep theirs.
    pub(crate) async fn update(&self, changes: Changes, by: Actor) -> Result<(), UpdateError> {
        let _one_at_a_time = self.updating.lock().await;
        let Bounds { mode: ceiling, approval: asking, .. } = self.ceiling();
        if let Some(mode) = changes.mode.filter(|mode| *mode > ceiling) {
            return Err(UpdateError::BeyondCeiling { mode, ceiling });
        }
        if changes.approval.is_some_and(|approval| approval > asking) {
            return Err(UpdateError::NobodyAsked);
        }
        let latitude = self.latitude();
        let before = self.standing().clone();
        let mode = changes.mode.unwrap_or(before.mode);
        let approval = changes.approval.unwrap_or(before.approval);
        let planning = changes.planning.unwrap_or(before.planning);
        let effective = planning.narrow(mode);
        let layers = match changes.mode.is_some() || effective != before.effective() {
            false => before.layers,
            true => {
                let lost = || UpdateError::Lost(self.id().clone());
                let supervisor = self.supervisor().await.map_err(UpdateError::Supervisor)?;
                let profile = self.setup.profile.with_mode(effective);
                Arc::new(layers::set_up(&supervisor, &profile).await.map_err(|_gone| lost())?)
            }
        };
        let standing = Standing { mode, planning, layers, approval };
        let session = self.id().clone();
        let _saving = self.saving.lock().await;
        if self.intake() == Intake::Closing {
            return Err(UpdateError::Closing(session));
        }
        let plan = changes.planning.map(Planning::is_on);
        let event = Event::SessionUpdated { session, by, mode, approval: changes.approval, plan };
        self.audit().record_before(&event)?;
        let (saved, path) = (self.setup.saved(&standing), self.setup.folder.path().to_owned());
        let writing = self.shared.workers.run(Lane::State, move || saved.write(&path)).await;
        writing.map_err(io::Error::other).and_then(|saved| saved).map_err(UpdateError::Save)?;
        *self.standing() = standing;
        self.answers().forget_rejections();
        self.heed(latitude, by);
        Ok(())
    }

    /// Whether its calls may ask has changed, maybe, since it was this: what is open and what is declared follows.
    pub(super) fn heed(&self, before: Latitude, by: Actor) {
        let now = self.latitude();
        if now.planning.is_on() {
            self.desk().end_all(self.id(), Ending::Planning, by);
        }
        if !now.planning.is_on() {
            self.questions().end_all(self.id(), Answers::Plan, (question::Ending::Over, by));
        }
        if now.approval == Approval::Never {
            self.desk().end_all(self.id(), Ending::Silenced, by);
        }
        if now != before {
            self.standing_changed();
        }
        if now.offered() != before.offered() || now.planning != before.planning {
            self.tools_changed();
        }
    }

    /// Looks at a folder that a person is asked about. It may be on a file system that answers late.
    pub(crate) async fn look(&self, cwd: &Path) -> io::Result<Folder> {
        let path = cwd.to_owned();
        let looked = self.shared.workers.run(Lane::Elsewhere, move || Folder::look(&path)).await;
        looked.unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// What a command may do, and what becomes of what it leaves. A permit is used up by this.
    pub(super) async fn authorise(
        &self,
        authority: Authority,
        program: &Program,
        cwd: &Path,
        call: Option<&CallId>,
    ) -> Result<(Profile, LeftoverRule), StartError> {
        let (permit, to) = match authority {
            Authority::Session => return Ok((self.profile(), self.leftover_rule())),
            Authority::Permit { permit, to } => (permit, to),
        };
        let (Program::Bash(command) | Program::Login(command), Some(call)) = (program, call) else {
            return Err(StartError::NotPermitted(ClaimRefused::Other));
        };
        let deed = Deed::Command(command.clone());
        let Claimed { from, mode } = self.claim(permit, to, call, deed, cwd).await?;
        // What a person allowed beyond the session's mode is this command and nothing that outlives it.
        let leftovers = if mode > from { LeftoverRule::Stop } else { self.leftover_rule() };
        Ok((self.profile().with_mode(mode), leftovers))
    }

    /// The mode in which a request to the file worker is carried out that a person allowed. The permit is used up by this.
    pub(super) async fn authorise_change(
        &self,
        (permit, to): (Permit, Mode),
        request: &Request,
        call: &CallId,
    ) -> Result<Mode, StartError> {
        let change = request.change().ok_or(StartError::NotPermitted(ClaimRefused::Other))?;
        let cwd = self.working_directory(None);
        Ok(self.claim(permit, to, call, Deed::Change(change), &cwd).await?.mode)
    }

    async fn claim(
        &self,
        permit: Permit,
        to: Mode,
        call: &CallId,
        deed: Deed,
        cwd: &Path,
    ) -> Result<Claimed, StartError> {
        let folder = self.look(cwd).await;
        let folder = folder.map_err(|_gone| StartError::NotPermitted(ClaimRefused::Other))?;
        let (from, ceiling) = (self.bounded().mode, self.ceiling().mode);
        self.admit_mode(to)?;
        if to > ceiling {
            return Err(StartError::BeyondCeiling { to, ceiling });
        }
        let subject = Subject { deed, folder, from, to };
        let mode = permit.claim(self.id(), call, &subject).map_err(StartError::NotPermitted)?;
        Ok(Claimed { from, mode })
    }
}

/// A permit that was used.
struct Claimed {
    /// The session's mode.
    from: Mode,
    /// The one that was allowed.
    mode: Mode,
}
