//! A call that asks for a wider mode, or for a command that a rule asks about: what the settings refuse, what was answered
//! before, on which ground it stands, and only then a person. One answer is to both.
//!
//! ```text
//!  forbidden ─► not wider ─► plan mode ─► beyond the ceiling ─► folder gone ─► allowed for the session: runs
//!                                                               └► rejected before ─► no ground ─► asked ─► runs, or why not
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brattice_policy::{Escalation, Mode};
use brattice_protocol::audit::Event;

use super::call::Caller;
use crate::approval::{self, Folder, NotAllowed, Permit, Question, Subject, Why};
use crate::session::{Asked, Authority, RecordedDenial, Ruling, RunningCall, Session, StartError};
use crate::toolset::render::facts;
use crate::toolset::{ArgumentFault, Wish};

/// Denials that a question shows; how many there are beyond these says nothing more.
const MOST_SHOWN: usize = 20;

/// Why a call may not run in the mode that it asks for. Its words are the result.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotEscalated {
    /// Its arguments.
    #[error(transparent)]
    Arguments(#[from] ArgumentFault),
    /// The session only plans.
    #[error(
        "plan mode is on: nothing runs in {to} before the plan is approved, and nobody is asked for it; nothing ran"
    )]
    Planning {
        /// What was asked for.
        to: Mode,
    },
    /// No session on this machine may have it.
    #[error(
        "{to} is beyond this machine's ceiling, {ceiling}, and nobody is asked for it; nothing ran"
    )]
    BeyondCeiling {
        /// What was asked for.
        to: Mode,
        /// The widest there is.
        ceiling: Mode,
    },
    /// Nothing that the sandbox refused speaks for it.
    #[error(
        "the sandbox has refused nothing to this command in this folder that {to} would allow: run it first, without \
         `sandbox_permissions`, and ask once it was denied something; nothing ran"
    )]
    Ungrounded {
        /// What was asked for.
        to: Mode,
    },
    /// There is no folder to run in.
    #[error("working directory {path} {fault}")]
    NoFolder {
        /// The folder.
        path: String,
        /// What is wrong with it.
        fault: String,
    },
    /// Nobody allowed it.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    /// Nobody allowed what a rule asks about.
    #[error("{why} (a rule asks about it: {reason})")]
    NotAllowedByRule {
        /// Why not.
        #[source]
        why: NotAllowed,
        /// The rule's reason.
        reason: String,
    },
    /// It does not start, whoever is asked.
    #[error(transparent)]
    NotStarted(#[from] StartError),
}

impl NotEscalated {
    /// Whether it was refused before anybody was asked, and not for its arguments.
    const fn is_refusal(&self) -> bool {
        match self {
            NotEscalated::Planning { .. }
            | NotEscalated::BeyondCeiling { .. }
            | NotEscalated::Ungrounded { .. } => true,
            NotEscalated::NotAllowed(fault) | NotEscalated::NotAllowedByRule { why: fault, .. } => {
                matches!(
                    fault,
                    NotAllowed::Unattended
                        | NotAllowed::Full { .. }
                        | NotAllowed::TooLong { .. }
                        | NotAllowed::RejectedBefore(_)
                )
            }
            NotEscalated::Arguments(_)
            | NotEscalated::NoFolder { .. }
            | NotEscalated::NotStarted(_) => false,
        }
    }
}

/// A call's command.
pub(super) struct Asking<'a> {
    /// The tool's name.
    pub(super) tool: &'a str,
    /// Its text.
    pub(super) command: &'a str,
    /// Where it is to run.
    pub(super) cwd: &'a Path,
    /// The call in one line.
    pub(super) title: &'a str,
}

/// A command that may start.
pub(super) struct Authorised {
    /// By what it runs.
    pub(super) authority: Authority,
    /// Where: where a person was asked, the very folder that was shown, whatever a link leads to by now.
    pub(super) cwd: PathBuf,
    /// The mode that it would have had, where it has a wider one.
    pub(super) escalated_from: Option<Mode>,
}

/// The authority to run a call's command once: in the session's mode, or in the one that the call asks for.
pub(super) async fn authorise(
    session: &Arc<Session>,
    call: &RunningCall,
    caller: &Caller,
    asking: Asking<'_>,
    wish: Option<Wish>,
) -> Result<Authorised, NotEscalated> {
    let (from, cwd) = (session.latitude().mode, asking.cwd.to_owned());
    let to = wish.as_ref().map_or(from, |wish| wish.mode);
    let permitted = match (session.ruling(asking.command, call.id())?, wish) {
        (Ruling::Runs, None) => {
            return Ok(Authorised { authority: Authority::Session, cwd, escalated_from: None });
        }
        (Ruling::Asks { reason }, None) => by_rule(session, call, caller, asking, reason).await,
        (ruling, Some(wish)) => escalate(session, call, caller, asking, (wish, ruling)).await,
    };
    if let Some(fault) = permitted.as_ref().err().filter(|fault| fault.is_refusal()) {
        session.audit().record(&Event::EscalationRefused {
            session: session.id().clone(),
            call: call.id().clone(),
            from,
            to,
            reason: fault.to_string(),
        });
    }
    permitted.map(|(permit, Subject { folder, from, to, .. })| Authorised {
        authority: Authority::Permit { permit, to },
        cwd: folder.path().to_owned(),
        escalated_from: (to > from).then_some(from),
    })
}

/// A permit for a command that a rule asks about, in the session's mode.
async fn by_rule(
    session: &Arc<Session>,
    call: &RunningCall,
    caller: &Caller,
    asking: Asking<'_>,
    reason: String,
) -> Result<(Permit, Subject), NotEscalated> {
    let mode = session.latitude().mode;
    let folder = look(session, asking.cwd).await?;
    let subject = Subject { command: asking.command.to_owned(), folder, from: mode, to: mode };
    let permit = match approval::remembered(session, call.id(), &subject) {
        Ok(None) => {
            let why = Why::Rule { reason: reason.clone() };
            approval::ask(session, call, caller, asking.question(&subject, why)).await
        }
        Ok(Some(permit)) => Ok(permit),
        Err(why) => Err(why),
    };
    match permit {
        Ok(permit) => Ok((permit, subject)),
        Err(why) => Err(NotEscalated::NotAllowedByRule { why, reason }),
    }
}

/// A permit for a command in a wider mode.
async fn escalate(
    session: &Arc<Session>,
    call: &RunningCall,
    caller: &Caller,
    asking: Asking<'_>,
    (wish, ruling): (Wish, Ruling),
) -> Result<(Permit, Subject), NotEscalated> {
    let latitude = session.latitude();
    wish.check_against(latitude.mode)?;
    let to = wish.mode;
    if latitude.planning.is_on() {
        return Err(NotEscalated::Planning { to });
    }
    if to > latitude.ceiling {
        return Err(NotEscalated::BeyondCeiling { to, ceiling: latitude.ceiling });
    }
    let folder = look(session, asking.cwd).await?;
    let command = asking.command.to_owned();
    let subject = Subject { command, folder, from: latitude.mode, to };
    if let Some(permit) = approval::remembered(session, call.id(), &subject)? {
        return Ok((permit, subject));
    }
    let records = grounds(session, &subject, asking.cwd);
    if records.is_empty() && latitude.rule == Escalation::Grounded {
        return Err(NotEscalated::Ungrounded { to });
    }
    let denials = facts(records.iter().take(MOST_SHOWN).map(|known| &known.record));
    let rule = match ruling {
        Ruling::Runs => None,
        Ruling::Asks { reason } => Some(reason),
    };
    let why = Why::Escalation { justification: wish.justification, denials, rule };
    let permit = approval::ask(session, call, caller, asking.question(&subject, why)).await?;
    Ok((permit, subject))
}

impl Asking<'_> {
    fn question(&self, subject: &Subject, why: Why) -> Question {
        let (tool, title) = (self.tool.to_owned(), self.title.to_owned());
        Question { subject: subject.clone(), tool, title, why }
    }
}

/// The denials that the command met which the wider mode would lift: when it ran where the call says, or where that is.
fn grounds(session: &Session, subject: &Subject, cwd: &Path) -> Vec<RecordedDenial> {
    let of = |workdir| {
        let command = Some((subject.command.as_str(), workdir));
        session.denials().grounds(&Asked { command, paths: &[], wanted: subject.to })
    };
    let found = of(cwd);
    if found.is_empty() { of(subject.folder.path()) } else { found }
}

/// Looks at the folder that the question is about.
async fn look(session: &Session, cwd: &Path) -> Result<Folder, NotEscalated> {
    session.look(cwd).await.map_err(|error| {
        let fault = match error.kind() {
            io::ErrorKind::NotFound => "does not exist".to_owned(),
            io::ErrorKind::NotADirectory => "is not a directory".to_owned(),
            _ => format!("cannot be looked at: {error}"),
        };
        NotEscalated::NoFolder { path: cwd.display().to_string(), fault }
    })
}
