//! A call that asks for a wider mode, for a command that a rule asks about, or in a session that asks before whatever it does:
//! what the settings refuse, what was answered before, on which ground it stands, and only then a person. One answer is to all.
//!
//! ```text
//!  forbidden ─► not wider ─► plan mode ─► beyond the ceiling ─► folder gone ─► allowed for the session: runs
//!                                                               └► rejected before ─► no ground ─► asked ─► runs, or why not
//! ```
//!
//! A change of files is worked out between the ceiling and what was answered (`change`): what a person is asked shows it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brattice_policy::{Escalation, Mode};
use brattice_protocol::audit::Event;
use brattice_protocol::editor::EditorContent;
use brattice_protocol::session::AskRule;

use super::call::Caller;
use crate::approval::{self, Deed, Folder, NotAllowed, Permit, Question, Subject, Why};
use crate::session::{
    Asked, Authority, Latitude, RecordedDenial, Ruling, RunningCall, Session, StartError,
};
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
    /// A person cannot be shown what it does to this file.
    #[error("what this change does to {0} cannot be shown to a person, whole and as text")]
    NotShown(String),
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
            | NotEscalated::Ungrounded { .. }
            | NotEscalated::NotShown(_) => true,
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

/// What a call is to do.
pub(super) struct Asking<'a> {
    /// The tool's name.
    pub(super) tool: &'a str,
    /// What it is.
    pub(super) deed: Deed,
    /// What a change does to its files.
    pub(super) diff: Vec<EditorContent>,
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
    (command, asking): (&str, Asking<'_>),
    wish: Option<Wish>,
) -> Result<Authorised, NotEscalated> {
    let (from, cwd) = (session.latitude().mode, asking.cwd.to_owned());
    let to = wish.as_ref().map_or(from, |wish| wish.mode);
    let permitted = match (session.ruling(command, call.id())?, wish) {
        (Ruling::Runs, None) if !asks(session, caller) => {
            return Ok(Authorised { authority: Authority::Session, cwd, escalated_from: None });
        }
        (Ruling::Runs, None) => within(session, call, caller, asking, Why::Session).await,
        (Ruling::Asks { reason }, None) => {
            let why = Why::Rule { reason: reason.clone() };
            let permitted = within(session, call, caller, asking, why).await;
            permitted.map_err(|fault| match fault {
                NotEscalated::NotAllowed(why) => NotEscalated::NotAllowedByRule { why, reason },
                other => other,
            })
        }
        (ruling, Some(wish)) => escalate(session, call, caller, asking, (wish, ruling)).await,
    };
    recorded(session, call, (from, to), &permitted);
    permitted.map(|(permit, Subject { folder, from, to, .. })| Authorised {
        authority: Authority::Permit { permit, to },
        cwd: folder.path().to_owned(),
        escalated_from: (to > from).then_some(from),
    })
}

/// A permit for a change of files once: in the mode that the call asks for, or in the session's, where it asks before whatever
/// it does.
pub(super) async fn authorise_change(
    session: &Arc<Session>,
    call: &RunningCall,
    caller: &Caller,
    asking: Asking<'_>,
    wish: Option<Wish>,
) -> Result<(Permit, Mode), NotEscalated> {
    let from = session.latitude().mode;
    let to = wish.as_ref().map_or(from, |wish| wish.mode);
    let permitted = match wish {
        None => within(session, call, caller, asking, Why::Session).await,
        Some(wish) => escalate(session, call, caller, asking, (wish, Ruling::Runs)).await,
    };
    recorded(session, call, (from, to), &permitted);
    permitted.map(|(permit, subject)| (permit, subject.to))
}

/// Whether the session asks before whatever it does.
pub(super) fn asks(session: &Session, caller: &Caller) -> bool {
    match session.tools().asks() {
        AskRule::Never => false,
        AskRule::Always => true,
        AskRule::Auto => approval::is_attended(session, caller),
    }
}

/// Writes down what was refused before anybody was asked.
pub(super) fn recorded<T>(
    session: &Session,
    call: &RunningCall,
    (from, to): (Mode, Mode),
    permitted: &Result<T, NotEscalated>,
) {
    let Some(fault) = permitted.as_ref().err().filter(|fault| fault.is_refusal()) else {
        return;
    };
    session.audit().record(&Event::EscalationRefused {
        session: session.id().clone(),
        call: call.id().clone(),
        from,
        to,
        reason: fault.to_string(),
    });
}

/// A permit within the session's mode.
async fn within(
    session: &Arc<Session>,
    call: &RunningCall,
    caller: &Caller,
    asking: Asking<'_>,
    why: Why,
) -> Result<(Permit, Subject), NotEscalated> {
    let mode = session.latitude().mode;
    let folder = look(session, asking.cwd).await?;
    let subject = Subject { deed: asking.deed.clone(), folder, from: mode, to: mode };
    let permit = match approval::remembered(session, call, &subject, &asking.diff)? {
        None => approval::ask(session, call, caller, asking.question(&subject, why)).await?,
        Some(permit) => permit,
    };
    Ok((permit, subject))
}

/// Whether the session may have the mode at all.
///
/// # Errors
/// It is not wider than its own, or beyond what any may have.
pub(super) fn check(session: &Session, wish: &Wish) -> Result<Latitude, NotEscalated> {
    let latitude = session.latitude();
    wish.check_against(latitude.mode)?;
    if latitude.planning.is_on() {
        return Err(NotEscalated::Planning { to: wish.mode });
    }
    if wish.mode > latitude.ceiling {
        let (to, ceiling) = (wish.mode, latitude.ceiling);
        return Err(NotEscalated::BeyondCeiling { to, ceiling });
    }
    Ok(latitude)
}

/// A permit in a wider mode.
async fn escalate(
    session: &Arc<Session>,
    call: &RunningCall,
    caller: &Caller,
    asking: Asking<'_>,
    (wish, ruling): (Wish, Ruling),
) -> Result<(Permit, Subject), NotEscalated> {
    let (latitude, to) = (check(session, &wish)?, wish.mode);
    let folder = look(session, asking.cwd).await?;
    let subject = Subject { deed: asking.deed.clone(), folder, from: latitude.mode, to };
    if let Some(permit) = approval::remembered(session, call, &subject, &asking.diff)? {
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
    fn question(self, subject: &Subject, why: Why) -> Question {
        let (tool, title) = (self.tool.to_owned(), self.title.to_owned());
        Question { subject: subject.clone(), diff: self.diff, tool, title, why }
    }
}

/// The denials that the command met which the wider mode would lift, when it ran where the call says, or where that is; or those
/// of the files that are to be changed.
fn grounds(session: &Session, subject: &Subject, cwd: &Path) -> Vec<RecordedDenial> {
    let (denials, wanted) = (session.denials(), subject.to);
    match &subject.deed {
        Deed::Change(change) => {
            denials.grounds(&Asked { command: None, paths: change.paths(), wanted })
        }
        Deed::Command(command) => {
            let of = |workdir| {
                let command = Some((command.as_str(), workdir));
                denials.grounds(&Asked { command, paths: &[], wanted })
            };
            let found = of(cwd);
            if found.is_empty() { of(subject.folder.path()) } else { found }
        }
    }
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
