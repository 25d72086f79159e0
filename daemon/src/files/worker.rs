//! The worker role: what each call asks is done by the engines. Hearing, withdrawing and answering is the line's part.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use brattice_files::{
    self as files, Cancel, Context, EditFault, Errno, Fault, FaultKind, FileFault, Operation,
};
use brattice_search as search;
use brattice_skills as skills;
use rustix::fs::{Access, AtFlags, CWD};

use super::message::{
    Answer, Barrier, Manner, QueryFault, ReadFile, Refused, Request, Standing, Target,
};
use crate::line::{self, Work};

/// Calls that are worked on at the same time; the next one waits.
const MOST_CALLS: usize = 16;

/// How long another writer of the same folder is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// What stops a call: each engine has a flag of its own kind.
#[derive(Clone, Default)]
struct Flags {
    files: Cancel,
    search: search::Cancel,
}

impl line::Flag for Flags {
    fn raise(&self) {
        self.files.cancel();
        self.search.cancel();
    }

    fn is_raised(&self) -> bool {
        self.search.is_cancelled()
    }
}

/// The engines.
struct Engines;

impl Work for Engines {
    type Request = Request;
    type Answer = Answer;
    type Flag = Flags;

    const MOST_CALLS: usize = MOST_CALLS;

    fn answer(&self, request: Request, flags: &Flags) -> Answer {
        answer(request, flags)
    }

    fn broken() -> Answer {
        Answer::Broken
    }
}

/// Runs the worker role; its socket is standard input.
pub(crate) fn main() -> ExitCode {
    line::serve(Engines)
}

fn answer(request: Request, flags: &Flags) -> Answer {
    match request {
        Request::Recover { journal } => Answer::Recovered(recover(&journal)),
        Request::Find { paths } => Answer::Found(paths.iter().map(|path| find(path)).collect()),
        Request::Read { path, window, caps } => {
            let reading = files::read(&path, window, caps, &flags.files);
            let target =
                || Some(Target { path: files::resolved(&path).ok()?, standing: Standing::There });
            let read = |reading| Box::new(ReadFile { target: target(), reading });
            Answer::Read(reading.map(read).map_err(|fault| refused(fault, Access::READ_OK)))
        }
        Request::Write { path, content, expected, manner } => {
            let written =
                files::write(&path, &content, expected, manner.apply, context(&manner, flags));
            Answer::Written(written.map(Box::new).map_err(|fault| refused(fault, Access::WRITE_OK)))
        }
        Request::Edit { files: edits, manner } => {
            let edited = files::edit(&edits, manner.apply, context(&manner, flags));
            Answer::Edited(edited.map_err(|faults| faults.into_iter().map(refused_edit).collect()))
        }
        Request::Grep(query) => {
            Answer::Grepped(search::grep(&query, &flags.search).map_err(QueryFault::from))
        }
        Request::Glob(query) => {
            Answer::Listed(search::glob(&query, &flags.search).map_err(QueryFault::from))
        }
        Request::Skills { roots } => Answer::Skills(skills::list(&roots)),
        Request::Skill { roots, name } => Answer::Skill(skills::read(&roots, &name).map(Box::new)),
    }
}

fn context<'a>(manner: &'a Manner, flags: &'a Flags) -> Context<'a> {
    let (journal, links) = (manner.journal(), manner.links);
    Context { journal, cancel: &flags.files, lock_wait: LOCK_WAIT, links }
}

fn find(path: &Path) -> Result<Target, Refused<Fault>> {
    let path = files::resolved(path).map_err(|fault| refused(fault, Access::READ_OK))?;
    let standing = match path.symlink_metadata() {
        Ok(_) => Standing::There,
        Err(_) => Standing::Absent,
    };
    Ok(Target { path, standing })
}

fn recover(journal: &Path) -> Result<files::Recovery, Fault> {
    match std::fs::create_dir_all(journal) {
        // Where it can neither be made nor listed, the recovery says so.
        Ok(()) | Err(_) => files::recover(journal),
    }
}

fn refused_edit(fault: FileFault) -> Refused<FileFault> {
    let barrier = match &fault.fault {
        EditFault::File(file) => barrier(file, Access::WRITE_OK),
        EditFault::Refused { .. } => Barrier::Ordinary,
    };
    Refused { fault, barrier }
}

fn refused(fault: Fault, access: Access) -> Refused<Fault> {
    let barrier = barrier(&fault, access);
    Refused { fault, barrier }
}

/// Landlock does not judge access(2), so that what it answers is what permissions and mounts alone allow.
fn barrier(fault: &Fault, access: Access) -> Barrier {
    let FaultKind::Kernel { errno, operation } = fault.kind else { return Barrier::Ordinary };
    if errno == Errno::ROFS {
        return Barrier::ReadOnly;
    }
    if ![Errno::ACCESS, Errno::XDEV].contains(&errno) {
        return Barrier::Ordinary;
    }
    let path = files::resolved(&fault.path).unwrap_or_else(|_| fault.path.clone());
    let permits =
        |path: &Path, access| rustix::fs::accessat(CWD, path, access, AtFlags::EACCESS).is_ok();
    let is_permitted = match operation {
        Operation::Read | Operation::Write | Operation::List => permits(&path, access),
        // What is about a name is the business of the folder that has it, or of the last one on the way to it.
        _ => {
            let folder = path.ancestors().find(|folder| folder.is_dir());
            folder.is_some_and(|folder| permits(folder, Access::WRITE_OK | Access::EXEC_OK))
        }
    };
    if is_permitted { Barrier::Sandbox } else { Barrier::Ordinary }
}
