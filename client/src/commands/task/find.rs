//! From what people call a task to the one that they mean.
//!
//! A task's number is its session's own, so `bash-1` may be the name of many. Before it may stand the beginning of the
//! session's id, as in `01995d2c/bash-1`; what names more than one task names none.

use brattice_client::Client;
use brattice_protocol::SessionId;
use brattice_protocol::session::SessionSummary;
use brattice_protocol::task::{TaskListParams, TaskSummary};

use super::words::state;
use crate::cli::task::Target;
use crate::cli::{Context, Failure};
use crate::commands::follow::{Door, Link, Task};
use crate::commands::sessions::{self, cut, ids, short};

/// A task that was found, as it stood then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its session.
    pub(super) session: SessionId,
    /// That one's name for people.
    pub(super) label: Option<String>,
    /// What the daemon's list says of it.
    pub(super) summary: TaskSummary,
}

/// The operators' way to the daemon, and to the next one.
pub(super) async fn connect(context: &Context) -> Result<Link, Failure> {
    let client = context.operator().await?;
    Ok(Link::new(context, client, Door::Operator))
}

impl Found {
    /// The task, by that way.
    pub(super) fn by(&self, link: Link) -> Task {
        Task { link, session: self.session.clone(), task: self.summary.task.clone() }
    }
}

/// The one task that the target names.
pub(super) async fn find(link: &Link, target: &Target) -> Result<Found, Failure> {
    let (before, name) = match target.task.rsplit_once('/') {
        Some((before, name)) => (Some(before), name),
        None => (None, target.task.as_str()),
    };
    let all = list_sessions(link).await?;
    let begins = |summary: &&SessionSummary| match before {
        Some(prefix) => !prefix.is_empty() && summary.session.as_str().starts_with(prefix),
        None => true,
    };
    let named: Vec<&SessionSummary> = match &target.session {
        Some(prefix) => [sessions::find(&all, prefix)?].into_iter().filter(begins).collect(),
        None => all.iter().filter(begins).collect(),
    };
    if let (Some(prefix), true) = (before, named.is_empty()) {
        return Err(sessions::unknown(&all, prefix));
    }
    let there = tasks(link, named.into_iter()).await?;
    let is_named = |found: &&Found| found.summary.task.as_str() == name;
    let found: Vec<&Found> = there.iter().filter(is_named).collect();
    let length = short(&ids(&all));
    let candidates =
        |tasks: &[&Found]| tasks.iter().map(|found| candidate(found, length)).collect();
    match found[..] {
        [one] => Ok(one.clone()),
        [] => {
            // The newest are the likeliest to be meant.
            let known = candidates(&there.iter().rev().collect::<Vec<_>>());
            Err(Failure::UnknownTask { name: shown(target), known })
        }
        _ => Err(Failure::AmbiguousTask { name: shown(target), candidates: candidates(&found) }),
    }
}

/// All sessions.
pub(super) async fn list_sessions(link: &Link) -> Result<Vec<SessionSummary>, Failure> {
    link.request(Client::session_list).await
}

/// The tasks of these sessions, in their order. A session that was closed meanwhile has none.
pub(super) async fn tasks(
    link: &Link,
    sessions: impl Iterator<Item = &SessionSummary>,
) -> Result<Vec<Found>, Failure> {
    let mut found = Vec::new();
    for summary in sessions {
        let (session, label) = (&summary.session, sessions::label(summary));
        let params = TaskListParams { session: session.clone() };
        let listed = match link.request(async |client| client.task_list(&params).await).await {
            Err(failure) if failure.is_unknown_session() => continue,
            listed => listed?,
        };
        found.extend(listed.into_iter().map(|summary| {
            let (session, label) = (session.clone(), label.map(str::to_owned));
            Found { session, label, summary }
        }));
    }
    Ok(found)
}

fn candidate(found: &Found, length: usize) -> String {
    let Found { session, summary, .. } = found;
    format!("{}/{} ({})", cut(session, length), summary.task, state(summary))
}

fn shown(target: &Target) -> String {
    match &target.session {
        Some(session) => format!("{session}/{}", target.task),
        None => target.task.clone(),
    }
}
