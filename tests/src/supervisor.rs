//! The supervisors of a world's sessions: who they are is told by what they hold, since they may outlive their daemon.

use std::path::Path;

use crate::process::Process;

/// A supervisor that lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supervisor {
    /// Its session.
    pub session: String,
    /// Its process.
    pub process: Process,
}

impl Supervisor {
    /// Those that hold a file in the folder of a session below this folder: each holds its session's lock for life.
    pub(crate) fn below(sessions: &Path) -> Vec<Supervisor> {
        let supervises =
            |process: &Process| process.state != 'Z' && process.arguments.ends_with(" supervise");
        let all = Process::all().into_iter().filter(supervises);
        all.filter_map(|process| {
            let files = process.open_files();
            let mut held = files.iter().filter_map(|file| file.strip_prefix(sessions).ok());
            let session = held.next()?.iter().next()?.to_str()?.to_owned();
            Some(Supervisor { session, process })
        })
        .collect()
    }
}
