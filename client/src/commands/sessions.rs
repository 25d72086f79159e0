//! From what people call a session to the one that they mean: its id, or as much of the beginning as no other session has.

use brattice_protocol::SessionId;
use brattice_protocol::session::SessionSummary;

use crate::cli::Failure;

/// The least of an id that is shown: the first group of a UUID.
const SHORTEST: usize = 8;

/// The one session whose id begins so. Nothing begins with nothing: a variable that is empty in a script names no session.
pub(super) fn find<'a>(
    all: &'a [SessionSummary],
    prefix: &str,
) -> Result<&'a SessionSummary, Failure> {
    let begins = |summary: &&SessionSummary| summary.session.as_str().starts_with(prefix);
    let found: Vec<&SessionSummary> =
        all.iter().filter(begins).filter(|_| !prefix.is_empty()).collect();
    match found[..] {
        [one] => Ok(one),
        [] => Err(unknown(all, prefix)),
        _ => {
            let ids: Vec<&SessionId> = found.iter().map(|summary| &summary.session).collect();
            let length = short(&ids);
            let candidates = found.iter().map(|summary| named(summary, length)).collect();
            Err(Failure::AmbiguousSession { name: prefix.to_owned(), candidates })
        }
    }
}

/// The failure that says that there is no such session, and which there are.
pub(super) fn unknown(all: &[SessionSummary], name: &str) -> Failure {
    let length = short(&ids(all));
    let known = all.iter().map(|summary| named(summary, length)).collect();
    Failure::UnknownSession { name: name.to_owned(), known }
}

fn named(summary: &SessionSummary, length: usize) -> String {
    let id = cut(&summary.session, length);
    match label(summary) {
        Some(label) => format!("{id} ({label})"),
        None => id.to_owned(),
    }
}

/// A session's name for people, if it has one that says something.
pub(crate) fn label(summary: &SessionSummary) -> Option<&str> {
    summary.label.as_deref().filter(|label| !label.trim().is_empty())
}

/// The ids of sessions.
pub(crate) fn ids(sessions: &[SessionSummary]) -> Vec<&SessionId> {
    sessions.iter().map(|summary| &summary.session).collect()
}

/// How much of these ids tells them apart: ids of sessions that were opened one after the other begin alike.
pub(crate) fn short(ids: &[&SessionId]) -> usize {
    let is_enough = |length: &usize| {
        let mut cuts: Vec<&str> = ids.iter().map(|id| cut(id, *length)).collect();
        cuts.sort_unstable();
        cuts.windows(2).all(|pair| pair[0] != pair[1])
    };
    let longest = ids.iter().map(|id| id.as_str().len()).max().unwrap_or(SHORTEST);
    (SHORTEST..longest).find(is_enough).unwrap_or(longest)
}

/// The beginning of an id.
pub(crate) fn cut(id: &SessionId, length: usize) -> &str {
    let text = id.as_str();
    text.get(..length).unwrap_or(text).trim_end_matches('-')
}

#[cfg(test)]
pub(super) mod tests {
    use brattice_protocol::session::ToolsetName;
    use brattice_protocol::{Mode, Network};

    use super::*;

    pub(in crate::commands) fn session(id: &str) -> SessionSummary {
        SessionSummary {
            session: SessionId::new(id),
            label: None,
            workspace: "/w".into(),
            mode: Mode::WorkspaceWrite,
            plan: false,
            toolset: ToolsetName::Standard,
            network: Network::Full,
            attached: false,
            lost: false,
            running: 0,
            opened: 0,
        }
    }

    #[test]
    fn a_session_is_named_by_what_no_other_begins_with() {
        let labelled = SessionSummary { label: Some("build".into()), ..session("0199aaaa-2") };
        let unnamed = SessionSummary { label: Some(" ".into()), ..session("0199bbbb-1") };
        let all = [session("0199aaaa-1"), labelled, unnamed];
        let named = |prefix: &str| match find(&all, prefix) {
            Ok(found) => Ok(found.session.as_str()),
            Err(failure) => Err(failure.to_string()),
        };
        assert_eq!(named("0199b"), Ok("0199bbbb-1"));
        assert_eq!(named("0199aaaa-2"), Ok("0199aaaa-2"));
        let several = "0199aaaa begins several sessions: 0199aaaa-1, 0199aaaa-2 (build)";
        assert_eq!(named("0199aaaa"), Err(several.to_owned()));
        let there = "; there are 0199aaaa-1, 0199aaaa-2 (build), 0199bbbb-1";
        assert_eq!(named("f"), Err(format!("no session f{there}")));
        assert_eq!(named(""), Err(format!("no session ''{there}")));
        let none = find(&[], "f").unwrap_err().to_string();
        assert_eq!(none, "no session f; there are none");
    }

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
            let named: Vec<&SessionId> = ids.iter().collect();
            assert_eq!(short(&named), length, "{texts:?}");
            assert_eq!(ids.iter().map(|id| cut(id, length)).collect::<Vec<_>>(), cuts);
        }
        let same = SessionId::new("s");
        assert_eq!(short(&[&same, &same]), 1, "ids that are equal are shown whole");
    }
}
