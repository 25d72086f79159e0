//! Starting a command in a session: what it may do, its number and its part of the disk, and that it starts is written
//! down before it does.

use std::sync::Arc;

use brattice_policy::LeftoverRule;
use brattice_protocol::audit::{CommandText, Event};
use brattice_protocol::outcome::Cause;
use brattice_protocol::{CallId, TaskId};

use crate::exec::RunError;
use crate::exec::spec::{Placement, Program, TaskSpec, Urgency};
use crate::toolset::Background;

use super::command::{Command, StartError, blame};
use super::session::{Intake, Session};
use super::task::Task;
use super::{environment, layers};

/// A command as the audit log has it: whole, unless its call's line has it whole.
pub(super) fn told(program: &Program, call: Option<&CallId>) -> CommandText {
    match (program, call) {
        (program, Some(_)) => CommandText::Line(program.title()),
        (Program::Bash(line) | Program::Login(line), None) => CommandText::Line(line.clone()),
        (Program::Argv(words), None) => CommandText::Words(words.clone()),
    }
}

impl Session {
    /// Starts a command and returns once its program runs.
    ///
    /// Not to be dropped before it returns: the task would run without anybody who knows it.
    pub(crate) async fn start(self: &Arc<Self>, command: Command) -> Result<Task, StartError> {
        self.admit()?;
        self.permit(&command.program, command.call.as_ref(), &command.authority)?;
        if let Some(fault) = &self.unfit {
            return Err(StartError::Unfit(fault.to_string()));
        }
        let supervisor = self.supervisor().await?;
        let slot = self.tasks.reserve()?;
        let folder = self.setup.folder.path();
        let part = self.shared.space.admit(folder, &slot.id()).await?;
        let Command {
            program,
            cwd,
            stdin,
            streams,
            timeout,
            idle_timeout,
            placement,
            call,
            authority,
        } = command;
        let (profile, leftovers) = self.authorise(authority, &program, &cwd, call.as_ref()).await?;
        let mode = profile.mode;
        let mut environment = environment::of_task(&profile, &slot.id(), stdin);
        environment.extend(self.setup.variables.iter().cloned());
        let at = cwd.clone();
        self.audit().record_before(&Event::TaskStarted {
            session: self.id().clone(),
            task: slot.id(),
            command: told(&program, call.as_ref()),
            call,
            cwd: cwd.display().to_string(),
            mode,
            background: placement == Placement::Background,
        })?;
        let spec = TaskSpec {
            task: slot.id(),
            profile,
            layers: self.layers_of(mode),
            program,
            cwd,
            environment,
            stdin,
            streams,
            timeout,
            idle_timeout,
            grace: self.tools().times().grace,
            placement,
            leftovers,
        };
        match supervisor.run(spec).await {
            Ok(handle) => {
                let workers = self.shared.workers.clone();
                let task = Task::live(handle, placement, folder, part, workers);
                slot.fill(task.clone());
                self.observe(&task);
                // It was on its way while all that ran was stopped: whoever stopped did not find it.
                if let Err(late) = self.admit() {
                    task.stop(late.to_string(), Urgency::Graceful);
                }
                Ok(task)
            }
            Err(RunError::Gone) => {
                self.not_started(&slot.id(), &RunError::Gone);
                self.admit()?;
                Err(StartError::Lost(self.id().clone()))
            }
            Err(source) => {
                let source = blame(&self.shared.workers, source, at).await;
                self.not_started(&slot.id(), &source);
                let layers = layers::after(mode, &source);
                Err(StartError::NotStarted { task: slot.id(), mode, layers, source })
            }
        }
    }

    /// That a task was about to start is written down; so is that it did not.
    fn not_started(&self, task: &TaskId, source: &RunError) {
        self.audit().record(&Event::TaskFinished {
            session: self.id().clone(),
            task: task.clone(),
            cause: Cause::FailedToStart,
            exit_code: None,
            signal: None,
            reason: Some(source.to_string()),
            denials: None,
            git_changes: Vec::new(),
        });
    }

    /// What becomes of processes that a call's command leaves: without the tools to see and stop it nothing goes on.
    pub(super) fn leftover_rule(&self) -> LeftoverRule {
        match self.tools().background() {
            Background::Offered => self.grounds.limits.leftovers,
            Background::Withheld => LeftoverRule::Stop,
        }
    }

    pub(super) fn admit(&self) -> Result<(), StartError> {
        match self.intake() {
            Intake::Open => Ok(()),
            Intake::Stopping => Err(StartError::Stopping),
            Intake::Closing => Err(StartError::Closing(self.id().clone())),
        }
    }
}
