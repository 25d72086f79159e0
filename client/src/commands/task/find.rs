//! From what people call a session or a task to the one that they mean.
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

/// The least of an id that is shown: the first group of a UUID.
const SHORTEST: usize = 8;

/// A task that was found, as it stood then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Its session.
    pub(super) session: SessionId,
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
        Some((before, name)) => (before, name),
        None => ("", target.task.as_str()),
    };
    let all = sessions(link).await?;
    let wanted = |id: &str| {
        id.starts_with(before) && target.session.as_ref().is_none_or(|other| id.starts_with(other))
    };
    let candidates = all.iter().filter(|summary| wanted(summary.session.as_str()));
    let mut found = tasks(link, candidates).await?;
    found.retain(|found| found.summary.task.as_str() == name);
    match <[Found; 1]>::try_from(found) {
        Ok([found]) => Ok(found),
        Err(found) if found.is_empty() => Err(Failure::UnknownTask(shown(target))),
        Err(found) => {
            let length = short(&ids(&all));
            let candidates = found.iter().map(|found| candidate(found, length)).collect();
            Err(Failure::AmbiguousTask { name: shown(target), candidates })
        }
    }
}

/// The one session whose id begins so.
pub(super) async fn find_session(link: &Link, prefix: &str) -> Result<SessionId, Failure> {
    let all = sessions(link).await?;
    let mut found = ids(&all);
    found.retain(|id| id.as_str().starts_with(prefix));
    match <[SessionId; 1]>::try_from(found) {
        Ok([session]) => Ok(session),
        Err(found) if found.is_empty() => Err(Failure::UnknownSession(prefix.to_owned())),
        Err(found) => {
            let length = short(&found);
            let candidates = found.iter().map(|id| cut(id, length).to_owned()).collect();
            Err(Failure::AmbiguousSession { name: prefix.to_owned(), candidates })
        }
    }
}

/// All sessions.
pub(super) async fn sessions(link: &Link) -> Result<Vec<SessionSummary>, Failure> {
    link.request(Client::session_list).await
}

/// The tasks of these sessions, in their order. A session that was closed meanwhile has none.
pub(super) async fn tasks(
    link: &Link,
    sessions: impl Iterator<Item = &SessionSummary>,
) -> Result<Vec<Found>, Failure> {
    let mut found = Vec::new();
    for SessionSummary { session, .. } in sessions {
        let params = TaskListParams { session: session.clone() };
        let listed = match link.request(async |client| client.task_list(&params).await).await {
            Err(failure) if failure.is_unknown_session() => continue,
            listed => listed?,
        };
        found.extend(listed.into_iter().map(|summary| Found { session: session.clone(), summary }));
    }
    Ok(found)
}

/// The ids of sessions.
pub(super) fn ids(sessions: &[SessionSummary]) -> Vec<SessionId> {
    sessions.iter().map(|summary| summary.session.clone()).collect()
}

/// How much of these ids tells them apart: ids of sessions that were opened one after the other begin alike.
pub(super) fn short(ids: &[SessionId]) -> usize {
    let is_enough = |length: &usize| {
        let mut cuts: Vec<&str> = ids.iter().map(|id| cut(id, *length)).collect();
        cuts.sort_unstable();
        cuts.windows(2).all(|pair| pair[0] != pair[1])
    };
    let longest = ids.iter().map(|id| id.as_str().len()).max().unwrap_or(SHORTEST);
    (SHORTEST..longest).find(is_enough).unwrap_or(longest)
}

/// The beginning of an id.
pub(super) fn cut(id: &SessionId, length: usize) -> &str {
    let text = id.as_str();
    text.get(..length).unwrap_or(text).trim_end_matches('-')
}

fn candidate(found: &Found, length: usize) -> String {
    let Found { session, summary } = found;
    format!("{}/{} ({})", cut(session, length), summary.task, state(summary))
}

fn shown(target: &Target) -> String {
    match &target.session {
        Some(session) => format!("{session}/{}", target.task),
        None => target.task.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_cut_to_what_tells_them_apart() {
        let cases: [(&[&str], usize, &[&str]); 4] = [
            (&[], 8, &[]),
            (&["01995d2c-0000-7000"], 8, &["01995d2c"]),
            (&["01995d2c-0000-7000", "01995d2d-0000-7000"], 8, &["01995d2c", "01995d2d"]),
            (&["01995d2c-0010-7000", "01995d2c-0020-7000"], 12, &["01995d2c-001", "01995d2c-002"]),
        ];
        for (texts, length, cuts) in cases {
            let ids: Vec<SessionId> = texts.iter().copied().map(SessionId::new).collect();
            assert_eq!(short(&ids), length, "{texts:?}");
            assert_eq!(ids.iter().map(|id| cut(id, length)).collect::<Vec<_>>(), cuts);
        }
        let twice = [SessionId::new("s"), SessionId::new("s")];
        assert_eq!(short(&twice), 1, "ids that are equal are shown whole");
    }
}
