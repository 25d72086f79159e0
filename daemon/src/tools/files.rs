//! The tools that read, write and edit files: done by the session's file worker.
//!
//! Where the toolset asks for it, a file that exists is changed only after it was read in this session. For a write the content must
//! still be the one that was read, which the worker checks under its lock; an edit looks for its places in whatever the file holds
//! by then. What a change goes through is in `change`.

use std::sync::Arc;

use brattice_files::{Apply, Expected, FileEdits};
use serde_json::{Map, Value};

use super::call::{Answer, Caller, Report};
use super::change::{Changing, Wanted};
use super::work::Work;
use crate::files::{Answer as Answered, Request};
use crate::session::{RunningCall, Session};
use crate::toolset::render::{Facts, caps, fault_words, render_read};
use crate::toolset::{
    EditArguments, EditedFile, ReadArguments, Wish, WriteArguments, parse_edit, parse_read,
    parse_write,
};

/// Reads a window of a file.
pub(super) async fn read(
    session: &Arc<Session>,
    call: &RunningCall,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let work = Work::new(session, call);
    let ReadArguments { path: named, window, numbers } =
        match parse_read(session.tools(), arguments) {
            Ok(arguments) => arguments,
            Err(fault) => return work.refused(&fault.to_string()),
        };
    let path = work.path(&named);
    report.set_title(format!("read {named}"));
    report.begins(std::slice::from_ref(&path), Some(window.first()));
    session.count_file_op();
    let request = Request::Read { path: path.clone(), window, caps: caps(session.tools()) };
    match work.ask(request).await {
        Ok(Answered::Read(Ok(file))) => {
            if let Some(target) = &file.target {
                session.saw(&target.path, file.reading.fingerprint);
            }
            let tools = session.tools();
            let said = render_read(tools, &path, (window, numbers), &file.reading);
            Answer::told(said.text, Facts::File(said.facts))
        }
        // Reads that the sandbox refuses are not on record, whoever makes them; they are only told.
        Ok(Answered::Read(Err(refused))) => {
            let words = fault_words(session.tools(), &named, &refused.fault);
            work.hidden(&path, &words).unwrap_or_else(|| work.refused(&words))
        }
        Ok(_) => work.broken(),
        Err(answer) => answer,
    }
}

/// Writes a whole file.
pub(super) async fn write(
    session: &Arc<Session>,
    call: &RunningCall,
    caller: &Caller,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let work = Work::new(session, call);
    let WriteArguments { path, content, wish } = match parse_write(session.tools(), arguments) {
        Ok(arguments) => arguments,
        Err(fault) => return work.refused(&fault.to_string()),
    };
    report.set_title(format!("write {path}"));
    let wanted = Wanted::Write(work.path(&path), content);
    let (named, edits) = (vec![path], vec![0]);
    change(Changing { work, caller, report, named, edits }, wanted, Apply::Write, wish).await
}

/// Edits files.
pub(super) async fn edit(
    session: &Arc<Session>,
    call: &RunningCall,
    caller: &Caller,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let work = Work::new(session, call);
    let EditArguments { files, apply, wish } = match parse_edit(session.tools(), arguments) {
        Ok(arguments) => arguments,
        Err(fault) => return work.refused(&fault.to_string()),
    };
    let named: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    report.set_title(format!("edit {}", named.join(", ")));
    let edits = files.iter().map(|file| file.edits.len()).collect();
    let order = session.toolset().files.order;
    let files = files.into_iter().map(|EditedFile { path, edits }| FileEdits {
        path: work.path(&path),
        edits,
        order,
        expected: Expected::Any,
    });
    let wanted = Wanted::Edit(files.collect());
    change(Changing { work, caller, report, named, edits }, wanted, apply, wish).await
}

async fn change(
    changing: Changing<'_, '_>,
    wanted: Wanted,
    apply: Apply,
    wish: Option<Wish>,
) -> Answer {
    changing.report.begins(&wanted.paths(), None);
    changing.work.session.count_file_op();
    changing.run(wanted, apply, wish).await.unwrap_or_else(|answer| answer)
}
