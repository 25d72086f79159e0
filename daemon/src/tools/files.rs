//! The tools `read`, `write` and `edit`: done by the session's file worker, in the session's mode.
//!
//! A file that exists is changed only after it was read in this session. For `write` the content must still be the one that was
//! read, which the worker checks under its lock; `edit` looks for its places in whatever the file holds by then.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brattice_files::edit::Order;
use brattice_files::{
    Apply, EditFault, Expected, Fault, FaultKind, FileEdits, FileFault, read as reads,
};
use brattice_policy::DeniedOperation;
use brattice_protocol::files::FilesChanged;
use serde_json::{Map, Value};

use super::call::{Answer, Report};
use super::work::{Work, bounded};
use crate::files::{Answer as Answered, Barrier, Refused, Request, Standing, Target};
use crate::session::{RunningCall, Session};
use crate::toolset::render::{
    Facts, Said, Unread, edit_fault_words, fault_words, render_edited, render_read, render_written,
    unread_words,
};
use crate::toolset::{
    EditArguments, EditedFile, ReadArguments, WriteArguments, parse_edit, parse_read, parse_write,
};

/// Reads a window of a file.
pub(super) async fn read(
    session: &Arc<Session>,
    call: &RunningCall,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let work = Work::new(session, call);
    let ReadArguments { path: named, window } = match parse_read(session.tools(), arguments) {
        Ok(arguments) => arguments,
        Err(fault) => return work.refused(&fault.to_string()),
    };
    let path = work.path(&named);
    report.set_title(format!("read {named}"));
    report.begins(std::slice::from_ref(&path), Some(window.first()));
    session.count_file_op();
    let request = Request::Read { path: path.clone(), window, caps: reads::Caps::default() };
    match work.ask(request).await {
        Ok(Answered::Read(Ok(file))) => {
            if let Some(target) = &file.target {
                session.saw(&target.path, file.reading.fingerprint);
            }
            let said = render_read(session.toolset(), &path, window, &file.reading);
            Answer::told(said.text, Facts::File(said.facts))
        }
        // Reads that the sandbox refuses are not on record, whoever makes them.
        Ok(Answered::Read(Err(refused))) => {
            work.refused(&fault_words(session.tools(), &refused.fault))
        }
        Ok(_) => work.broken(),
        Err(answer) => answer,
    }
}

/// Writes a whole file.
pub(super) async fn write(
    session: &Arc<Session>,
    call: &RunningCall,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let work = Work::new(session, call);
    let arguments = match parse_write(session.tools(), arguments) {
        Ok(arguments) => arguments,
        Err(fault) => return work.refused(&fault.to_string()),
    };
    report.set_title(format!("write {}", arguments.path));
    report.begins(&[work.path(&arguments.path)], None);
    session.count_file_op();
    work.write(arguments).await.unwrap_or_else(|answer| answer)
}

/// Edits files.
pub(super) async fn edit(
    session: &Arc<Session>,
    call: &RunningCall,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let work = Work::new(session, call);
    let arguments = match parse_edit(session.tools(), arguments) {
        Ok(arguments) => arguments,
        Err(fault) => return work.refused(&fault.to_string()),
    };
    let named: Vec<&str> = arguments.files.iter().map(|file| file.path.as_str()).collect();
    report.set_title(format!("edit {}", named.join(", ")));
    let paths: Vec<_> = named.iter().map(|named| work.path(named)).collect();
    report.begins(&paths, None);
    session.count_file_op();
    work.edit(arguments).await.unwrap_or_else(|answer| answer)
}

impl Work<'_> {
    async fn write(
        &self,
        WriteArguments { path, content }: WriteArguments,
    ) -> Result<Answer, Answer> {
        let path = self.path(&path);
        let mut found = self.find(vec![path.clone()]).await?;
        let target = match found.pop() {
            Some(Ok(target)) => target,
            Some(Err(refused)) => {
                return Err(self.fault(&refused, DeniedOperation::Write, &refused.fault.path));
            }
            None => return Err(self.broken()),
        };
        let seen = self.session.seen_content(&target.path);
        let expected = match (seen, target.standing) {
            (Some(content), Standing::There) => Expected::Fingerprint(content),
            (_, Standing::Absent) => Expected::Absent,
            (None, Standing::There) => {
                return Err(self.refused(&unread_words(&path, Unread::Never)));
            }
        };
        let request = Request::Write {
            path: path.clone(),
            content,
            expected,
            apply: Apply::Write,
            journal: self.session.journal(self.mode),
        };
        match self.ask(request).await? {
            Answered::Written(Ok(written)) => {
                self.session.saw(&written.path, written.fingerprint);
                let said = render_written(self.session.toolset(), &written);
                Ok(changed(said))
            }
            Answered::Written(Err(refused)) => Err(match refused.fault.kind {
                // It came into being since it was looked for.
                FaultKind::Exists => self.refused(&unread_words(&path, Unread::Never)),
                FaultKind::Changed => self.refused(&unread_words(&path, Unread::Changed)),
                _ => self.fault(&refused, operation(&target), &target.path),
            }),
            _ => Err(self.broken()),
        }
    }

    async fn edit(&self, EditArguments { files, apply }: EditArguments) -> Result<Answer, Answer> {
        let paths: Vec<_> = files.iter().map(|file| self.path(&file.path)).collect();
        let found = self.find(paths.clone()).await?;
        let mut unread = Vec::new();
        for (path, found) in paths.iter().zip(&found) {
            if let Ok(Target { path: real, standing: Standing::There }) = found
                && self.session.seen_content(real).is_none()
            {
                unread.push(unread_words(path, Unread::Never));
            }
        }
        if !unread.is_empty() {
            return Err(self.refused(&unread.join("\n")));
        }
        let counts: Vec<usize> = files.iter().map(|file| file.edits.len()).collect();
        let files = files.into_iter().zip(paths).map(|(EditedFile { edits, .. }, path)| {
            FileEdits { path, edits, order: Order::Original }
        });
        let journal = self.session.journal(self.mode);
        let request = Request::Edit { files: files.collect(), apply, journal };
        match self.ask(request).await? {
            Answered::Edited(Ok(edited)) => {
                if apply == Apply::Write {
                    for file in &edited {
                        self.session.saw(&file.path, file.fingerprint);
                    }
                }
                Ok(changed(render_edited(self.session.toolset(), apply, &edited)))
            }
            Answered::Edited(Err(faults)) => Err(self.edit_faults(&faults, &found, &counts)),
            _ => Err(self.broken()),
        }
    }

    async fn find(
        &self,
        paths: Vec<PathBuf>,
    ) -> Result<Vec<Result<Target, Refused<Fault>>>, Answer> {
        match self.ask(Request::Find { paths }).await? {
            Answered::Found(found) => Ok(found),
            _ => Err(self.broken()),
        }
    }

    fn fault(&self, refused: &Refused<Fault>, operation: DeniedOperation, path: &Path) -> Answer {
        let text = fault_words(self.session.tools(), &refused.fault);
        self.refused_by(&text, refused.barrier, operation, path)
    }

    /// All that is wrong; the first that the sandbox refused is put on record.
    fn edit_faults(
        &self,
        faults: &[Refused<FileFault>],
        found: &[Result<Target, Refused<Fault>>],
        counts: &[usize],
    ) -> Answer {
        let words = |refused: &Refused<FileFault>| {
            let edits = counts.get(refused.fault.file).copied().unwrap_or_default();
            edit_fault_words(self.session.tools(), &refused.fault.fault, edits)
        };
        let mut lines: Vec<String> = faults.iter().map(words).collect();
        if counts.len() > 1 {
            lines.push("nothing was written".to_owned());
        }
        let text = lines.join("\n");
        let denied = faults.iter().find(|refused| refused.barrier == Barrier::Sandbox);
        let Some(denied) = denied else {
            return self.refused(&text);
        };
        let path = match (found.get(denied.fault.file), &denied.fault.fault) {
            (Some(Ok(target)), _) => target.path.as_path(),
            (_, EditFault::File(fault)) => fault.path.as_path(),
            (_, EditFault::Refused { path, .. }) => path.as_path(),
        };
        self.refused_by(&text, denied.barrier, DeniedOperation::Write, path)
    }
}

const fn operation(target: &Target) -> DeniedOperation {
    match target.standing {
        Standing::There => DeniedOperation::Write,
        Standing::Absent => DeniedOperation::Create,
    }
}

fn changed(said: Said<FilesChanged>) -> Answer {
    Answer::told(bounded(said.text), Facts::Changed(said.facts))
}
