//! A change of files from what is asked for to what was done: found, planned, asked about where it must be, and made.
//!
//! ```text
//!  wish: not wider, beyond the ceiling ─► refused
//!  paths ─► read before? ─┬─ nobody is to be asked ────────────────────────────────► made in the session's mode
//!                         └─ a dry run, in the session's mode ─► nothing to do: told
//!                                    └► diff, paths, contents ─► permit ─► exactly that, in its mode ─► made, or refused
//! ```
//!
//! Between a question and its answer a command may put a link where a folder was, or another content into a file. So what is made
//! after it goes to the paths that were shown, which lead through no link, and only while each file has the content that its
//! diff was made from.

use std::path::{Path, PathBuf};

use brattice_files::{Apply, EditFault, Edited, Expected, Fault, FileEdits, Links, Written};
use brattice_policy::{DeniedOperation, Mode};
use brattice_protocol::editor::EditorContent;
use brattice_protocol::files::FilesChanged;
use brattice_protocol::tools::Location;

use super::call::{Answer, Caller, Report};
use super::escalate::{self, Asking, NotEscalated};
use super::rejected::Rejected;
use super::unmade::{is_other, other_words};
use super::work::{Work, bounded};
use crate::approval::{Deed, Permit};
use crate::files::{Answer as Answered, Manner, Refused, Request, Standing, Target};
use crate::toolset::render::{
    Before, ChangedFile, Facts, Said, Unread, editor_diffs, render_edited, render_written,
    unread_words, whole_diffs,
};
use crate::toolset::{ReadFirst, Wish};

/// What a call is to do to files.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// Give one a content.
    Write(PathBuf, String),
    /// Edit them.
    Edit(Vec<FileEdits>),
}

/// A call that changes files.
pub(super) struct Changing<'a, 'b> {
    pub(super) work: Work<'a>,
    pub(super) caller: &'a Caller,
    pub(super) report: &'a mut Report<'b>,
    /// The files as the call names them.
    pub(super) named: Vec<String>,
    /// How many edits each of them gets.
    pub(super) edits: Vec<usize>,
}

/// What came of a request.
enum Made {
    Written(Box<Written>),
    Edited(Vec<Edited>),
}

/// By what a change is made.
enum By {
    /// The session's mode.
    Session,
    /// What a person allowed: the mode.
    Permit(Permit, Mode),
}

impl Wanted {
    /// The files.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        match self {
            Wanted::Write(path, _) => vec![path.clone()],
            Wanted::Edit(files) => files.iter().map(|file| file.path.clone()).collect(),
        }
    }

    const fn rejected(&self) -> Rejected {
        match self {
            Wanted::Write(..) => Rejected::Write,
            Wanted::Edit(_) => Rejected::Edit,
        }
    }

    /// The request, where a file that is written must be this.
    fn request(self, expected: Expected, manner: Manner) -> Request {
        match self {
            Wanted::Write(path, content) => Request::Write { path, content, expected, manner },
            Wanted::Edit(files) => Request::Edit { files, manner },
        }
    }

    /// Exactly what was planned: the same, to the very files with the very contents.
    fn exactly(self, plan: &Made, manner: Manner) -> Option<Request> {
        match (self, plan) {
            (Wanted::Write(_, content), Made::Written(written)) => {
                let expected = written.before.map_or(Expected::Absent, Expected::Fingerprint);
                Some(Request::Write { path: written.path.clone(), content, expected, manner })
            }
            (Wanted::Edit(files), Made::Edited(edited)) => {
                let exact = files.into_iter().zip(edited).map(|(file, edited)| FileEdits {
                    path: edited.path.clone(),
                    expected: Expected::Fingerprint(edited.before),
                    ..file
                });
                Some(Request::Edit { files: exact.collect(), manner })
            }
            (Wanted::Write(..), Made::Edited(_)) | (Wanted::Edit(_), Made::Written(_)) => None,
        }
    }
}

impl Made {
    fn files(&self) -> Vec<ChangedFile<'_>> {
        match self {
            Made::Written(written) => vec![ChangedFile {
                path: &written.path,
                standing: match written.before {
                    Some(_) => Before::There,
                    None => Before::Absent,
                },
                changes: written.changes.as_ref(),
            }],
            Made::Edited(edited) => edited
                .iter()
                .map(|file| {
                    let changes = Some(&file.changes);
                    ChangedFile { path: &file.path, standing: Before::There, changes }
                })
                .collect(),
        }
    }

    fn changes_nothing(&self) -> bool {
        use brattice_files::Outcome::Unchanged;
        match self {
            Made::Written(written) => written.outcome == Unchanged,
            Made::Edited(edited) => edited.iter().all(|file| file.outcome == Unchanged),
        }
    }
}

impl Changing<'_, '_> {
    /// Makes the change, or tells why not.
    pub(super) async fn run(
        mut self,
        wanted: Wanted,
        apply: Apply,
        wish: Option<Wish>,
    ) -> Result<Answer, Answer> {
        let (from, rejected) = (self.work.mode, wanted.rejected());
        if let Some(wish) = &wish {
            let checked = escalate::check(self.work.session, wish);
            escalate::recorded(self.work.session, self.work.call, (from, wish.mode), &checked);
            checked.map_err(|fault| self.not_allowed(rejected, &fault))?;
        }
        let found = self.find(wanted.paths()).await?;
        let expected = self.expected(&wanted, &found).map_err(|answer| *answer)?;
        let must_ask = apply == Apply::Write
            && (wish.is_some() || escalate::asks(self.work.session, self.caller));
        let (made, by) = if must_ask {
            let plan = Manner::new(Apply::DryRun, Links::Follow);
            let plan =
                self.make(wanted.clone().request(expected, plan), By::Session, &found).await?;
            if plan.changes_nothing() {
                self.remember(&plan);
                return Ok(self.told(&plan, apply, None));
            }
            let manner = Manner::new(Apply::Write, Links::Refuse);
            let exact = wanted.exactly(&plan, manner).ok_or_else(|| self.work.broken())?;
            let permitted = self.permit(&plan, &exact, wish).await;
            let (permit, to) = permitted.map_err(|fault| self.not_allowed(rejected, &fault))?;
            (self.make(exact, By::Permit(permit, to), &found).await?, Some(to))
        } else {
            let manner = Manner::new(apply, Links::Follow);
            (self.make(wanted.request(expected, manner), By::Session, &found).await?, None)
        };
        if apply == Apply::Write {
            self.remember(&made);
        }
        Ok(self.told(&made, apply, by.filter(|to| *to > from).map(|_| from)))
    }

    /// A person's word for exactly this.
    async fn permit(
        &self,
        plan: &Made,
        exact: &Request,
        wish: Option<Wish>,
    ) -> Result<(Permit, Mode), NotEscalated> {
        let work = &self.work;
        let shown = whole_diffs(plan.files().into_iter());
        let diff = shown.map_err(|path| NotEscalated::NotShown(path.display().to_string()));
        let to = wish.as_ref().map_or(work.mode, |wish| wish.mode);
        escalate::recorded(work.session, work.call, (work.mode, to), &diff);
        let change = exact.change().ok_or_else(|| NotEscalated::NotShown(String::new()))?;
        let asking = Asking {
            tool: self.report.tool(),
            deed: Deed::Change(change),
            diff: diff?,
            cwd: &work.session.working_directory(None),
            title: self.report.title(),
        };
        escalate::authorise_change(work.session, work.call, self.caller, asking, wish).await
    }

    async fn find(
        &self,
        paths: Vec<PathBuf>,
    ) -> Result<Vec<Result<Target, Refused<Fault>>>, Answer> {
        match self.work.ask(Request::Find { paths }).await? {
            Answered::Found(found) => Ok(found),
            _ => Err(self.work.broken()),
        }
    }

    /// What a file that is written must be; and whether all that are there were read, where they must have been.
    fn expected(
        &self,
        wanted: &Wanted,
        found: &[Result<Target, Refused<Fault>>],
    ) -> Result<Expected, Box<Answer>> {
        let session = self.work.session;
        let must_read = session.toolset().files.read_first == ReadFirst::Required;
        let mut unread = Vec::new();
        for (path, found) in wanted.paths().iter().zip(found) {
            match (wanted, found) {
                (Wanted::Write(..), Err(refused)) => {
                    let mode = self.work.mode;
                    let fault = self.fault(mode, refused, DeniedOperation::Write, None);
                    return Err(Box::new(fault));
                }
                // What is wrong with a file of several is told with what is wrong with the others.
                (Wanted::Edit(_), Err(_)) => {}
                (_, Ok(_)) if !must_read => {}
                (Wanted::Write(..), Ok(Target { standing: Standing::Absent, .. })) => {
                    return Ok(Expected::Absent);
                }
                (Wanted::Edit(_), Ok(Target { standing: Standing::Absent, .. })) => {}
                (_, Ok(Target { path: real, standing: Standing::There })) => {
                    match (session.seen_content(real), wanted) {
                        (None, _) => unread.push(unread_words(path, Unread::Never)),
                        (Some(seen), Wanted::Write(..)) => return Ok(Expected::Fingerprint(seen)),
                        (Some(_), Wanted::Edit(_)) => {}
                    }
                }
            }
        }
        match unread.is_empty() {
            true => Ok(Expected::Any),
            false => Err(Box::new(self.work.refused(&unread.join("\n")))),
        }
    }

    async fn make(
        &self,
        request: Request,
        by: By,
        found: &[Result<Target, Refused<Fault>>],
    ) -> Result<Made, Answer> {
        let (mode, is_permitted) = match &by {
            By::Session => (self.work.mode, false),
            By::Permit(_, to) => (*to, true),
        };
        let answered = match by {
            By::Session => self.work.ask(request).await?,
            By::Permit(permit, to) => self.work.ask_permitted((permit, to), request).await?,
        };
        match answered {
            Answered::Written(Ok(written)) => Ok(Made::Written(written)),
            Answered::Edited(Ok(edited)) => Ok(Made::Edited(edited)),
            Answered::Written(Err(refused)) if is_permitted && is_other(&refused.fault) => {
                Err(self.work.refused(&other_words(&refused.fault)))
            }
            Answered::Written(Err(refused)) => Err(self.write_fault(mode, &refused, found)),
            Answered::Edited(Err(faults)) => {
                let other = faults.iter().find_map(|refused| match &refused.fault.fault {
                    EditFault::File(fault) if is_permitted && is_other(fault) => Some(fault),
                    EditFault::File(_) | EditFault::Refused { .. } => None,
                });
                Err(match other {
                    Some(fault) => self.work.refused(&other_words(fault)),
                    None => self.edit_faults(mode, &faults, found),
                })
            }
            _ => Err(self.work.broken()),
        }
    }

    /// What was changed has been seen.
    fn remember(&self, made: &Made) {
        let saw = |path: &Path, print| self.work.session.saw(path, print);
        match made {
            Made::Written(written) => saw(&written.path, written.fingerprint),
            Made::Edited(edited) => {
                edited.iter().for_each(|file| saw(&file.path, file.fingerprint));
            }
        }
    }

    fn told(&mut self, made: &Made, apply: Apply, escalated_from: Option<Mode>) -> Answer {
        let tools = self.work.session.tools();
        let Said { text, facts } = match made {
            Made::Written(written) => {
                let named = self.named.first().map_or("", String::as_str);
                render_written(tools, named, written)
            }
            Made::Edited(edited) => render_edited(tools, apply, &self.named, edited),
        };
        let files = made.files();
        let location = |file: &ChangedFile<'_>| Location {
            path: file.path.to_string_lossy().into_owned(),
            line: file.changes.and_then(|changes| changes.first_line),
        };
        let content: Vec<EditorContent> = match apply {
            Apply::Write if !made.changes_nothing() => editor_diffs(files.iter().copied()),
            Apply::Write | Apply::DryRun => Vec::new(),
        };
        self.report.changed(files.iter().map(location).collect(), content);
        let facts = FilesChanged { escalated_from, ..facts };
        Answer::told(bounded(text), Facts::Changed(facts))
    }
}
