//! What a session remembers of answers: commands and changes that were allowed for all of it, those that were rejected, and what
//! was allowed once to a call that had not waited.
//!
//! Pure, and bounded: the oldest is forgotten first, and then somebody is asked again. Texts are kept as digests, for a
//! command may be long. Rejections are forgotten when the person has spoken again (`session.turn`) or has changed what
//! the session may do (`session.update`); all of it is forgotten with the daemon.

use std::collections::VecDeque;
use std::time::Instant;

use brattice_policy::Mode;
use brattice_protocol::ApprovalId;

use super::subject::{Folder, Likeness, Subject};

/// Most answers of either kind that are remembered.
const MOST: usize = 256;

/// A session's memory.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    allowed: VecDeque<Allowed>,
    rejected: VecDeque<Rejected>,
    granted: VecDeque<Granted>,
}

/// What was allowed once to a call that had not waited for it.
#[derive(Debug)]
struct Granted {
    like: Likeness,
    place: Place,
    from: Mode,
    to: Mode,
    approval: ApprovalId,
    until: Instant,
}

/// A command in a folder, or a change of files.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    deed: [u8; 32],
    folder: Folder,
}

#[derive(Debug)]
struct Allowed {
    place: Place,
    from: Mode,
    to: Mode,
    approval: ApprovalId,
}

#[derive(Debug)]
struct Rejected {
    place: Place,
    to: Mode,
    reason: Option<String>,
}

/// What is remembered of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Remembered {
    /// The very same was allowed for the session, by this approval.
    Allowed(ApprovalId),
    /// The same, or less, was rejected.
    Rejected {
        /// What the person said about it.
        reason: Option<String>,
    },
    /// It was not asked yet.
    Nothing,
}

impl Memory {
    /// What was answered to this before.
    pub(crate) fn recall(&self, subject: &Subject) -> Remembered {
        let place = Place::of(subject);
        let allowed = self.allowed.iter().find(|allowed| {
            allowed.place == place && allowed.from == subject.from && allowed.to == subject.to
        });
        if let Some(allowed) = allowed {
            return Remembered::Allowed(allowed.approval.clone());
        }
        let rejected = self
            .rejected
            .iter()
            .rfind(|rejected| rejected.place == place && rejected.to <= subject.to);
        rejected.map_or(Remembered::Nothing, |rejected| Remembered::Rejected {
            reason: rejected.reason.clone(),
        })
    }

    /// It was allowed for the session.
    pub(crate) fn allow(&mut self, subject: &Subject, approval: ApprovalId) {
        let (place, Subject { from, to, .. }) = (Place::of(subject), subject);
        self.rejected.retain(|rejected| rejected.place != place);
        push(&mut self.allowed, Allowed { place, from: *from, to: *to, approval });
    }

    /// The very call that left its question open may run, once, until then.
    pub(crate) fn grant(
        &mut self,
        like: Likeness,
        subject: &Subject,
        approval: ApprovalId,
        until: Instant,
    ) {
        let (place, Subject { from, to, .. }) = (Place::of(subject), subject);
        push(&mut self.granted, Granted { like, place, from: *from, to: *to, approval, until });
    }

    /// Takes what was granted to this very call. It is there once.
    pub(crate) fn take(
        &mut self,
        like: Likeness,
        subject: &Subject,
        now: Instant,
    ) -> Option<ApprovalId> {
        self.granted.retain(|granted| granted.until > now);
        let place = Place::of(subject);
        let index = self.granted.iter().position(|granted| {
            granted.like == like
                && granted.place == place
                && granted.from == subject.from
                && granted.to == subject.to
        })?;
        self.granted.remove(index).map(|granted| granted.approval)
    }

    /// It was rejected.
    pub(crate) fn reject(&mut self, subject: &Subject, reason: Option<String>) {
        push(&mut self.rejected, Rejected { place: Place::of(subject), to: subject.to, reason });
    }

    /// What was rejected may be asked again.
    pub(crate) fn forget_rejections(&mut self) {
        self.rejected.clear();
    }
}

impl Place {
    fn of(subject: &Subject) -> Place {
        Place { deed: subject.deed.digest(), folder: subject.folder.clone() }
    }
}

fn push<T>(entries: &mut VecDeque<T>, entry: T) {
    if entries.len() >= MOST {
        entries.pop_front();
    }
    entries.push_back(entry);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use brattice_protocol::editor::EditorContent;

    use super::*;
    use crate::approval::{Change, Deed};

    const REJECTED: Remembered = Remembered::Rejected { reason: None };

    fn subject(command: &str, to: Mode) -> Subject {
        let folder = Folder::of("/ws", 7);
        Subject { deed: Deed::Command(command.to_owned()), folder, from: Mode::ReadOnly, to }
    }

    #[test]
    fn b119_allowed_is_the_exact_command_in_that_folder_between_those_modes() {
        let mut memory = Memory::default();
        let own = subject("ls && rm -rf ./scratch", Mode::WorkspaceWrite);
        let approval = ApprovalId::new("a");
        memory.allow(&own, approval.clone());
        assert_eq!(memory.recall(&own), Remembered::Allowed(approval));
        let others = [
            subject("rm -rf ./scratch", Mode::WorkspaceWrite),
            subject("ls && rm -rf ./scratch ", Mode::WorkspaceWrite),
            subject("ls && rm -rf ./scratch", Mode::DangerFullAccess),
            Subject { folder: Folder::of("/ws/sub", 8), ..own.clone() },
            Subject { folder: Folder::of("/ws", 8), ..own.clone() },
            Subject { from: Mode::WorkspaceWrite, ..own.clone() },
        ];
        for other in others {
            assert_eq!(memory.recall(&other), Remembered::Nothing, "{other:?}");
        }
    }

    #[test]
    fn a_rejection_holds_for_the_same_command_and_wider_modes_until_it_is_forgotten() {
        let mut memory = Memory::default();
        let own = subject("make install", Mode::WorkspaceWrite);
        memory.reject(&own, Some("not now".to_owned()));
        let reason = Some("not now".to_owned());
        assert_eq!(memory.recall(&own), Remembered::Rejected { reason: reason.clone() });
        let wider = subject("make install", Mode::DangerFullAccess);
        assert_eq!(memory.recall(&wider), Remembered::Rejected { reason });
        assert_eq!(
            memory.recall(&subject("make", Mode::WorkspaceWrite)),
            Remembered::Nothing,
            "another command"
        );
        memory.forget_rejections();
        assert_eq!(memory.recall(&own), Remembered::Nothing);
        memory.reject(&wider, None);
        assert_eq!(memory.recall(&own), Remembered::Nothing, "less than was rejected");
    }

    #[test]
    fn a_change_is_remembered_by_all_of_it() {
        let mut memory = Memory::default();
        let change = |what: &str, path: &str| Subject {
            deed: Deed::Change(Change::new(what.as_bytes(), vec![path.into()])),
            ..subject("", Mode::WorkspaceWrite)
        };
        let own = change("a", "/ws/f");
        memory.allow(&own, ApprovalId::new("a"));
        assert_eq!(memory.recall(&own), Remembered::Allowed(ApprovalId::new("a")));
        for other in [change("b", "/ws/f"), subject("a", Mode::WorkspaceWrite)] {
            assert_eq!(memory.recall(&other), Remembered::Nothing, "{other:?}");
        }
    }

    #[test]
    fn what_is_granted_is_the_very_calls_once_and_for_a_time() {
        let (mut memory, now) = (Memory::default(), Instant::now());
        let own = subject("make", Mode::WorkspaceWrite);
        let later = now + Duration::from_secs(600);
        let granted = ApprovalId::new("a");
        let like = |call: u64, new: &str| {
            let path = "/ws/f".to_owned();
            let shown = EditorContent::Diff { path, old_text: None, new_text: new.to_owned() };
            Likeness::of([1, call], &[shown])
        };
        memory.grant(like(2, "x"), &own, granted.clone(), later);
        assert_eq!(memory.recall(&own), Remembered::Nothing, "it is this call's alone");
        let others = [
            (like(3, "x"), own.clone()),
            (like(2, "y"), own.clone()),
            (like(2, "x"), subject("make x", Mode::WorkspaceWrite)),
            (like(2, "x"), subject("make", Mode::DangerFullAccess)),
            (like(2, "x"), Subject { folder: Folder::of("/ws", 8), ..own.clone() }),
            (like(2, "x"), Subject { from: Mode::WorkspaceWrite, ..own.clone() }),
        ];
        for (call, other) in others {
            assert_eq!(memory.take(call, &other, now), None, "{other:?}");
        }
        let like = like(2, "x");
        assert_eq!(memory.take(like, &own, now), Some(granted.clone()));
        assert_eq!(memory.take(like, &own, now), None, "it was used");
        memory.grant(like, &own, granted, now);
        assert_eq!(memory.take(like, &own, now), None, "its time is over");
    }

    #[test]
    fn the_later_answer_counts() {
        let mut memory = Memory::default();
        let own = subject("make", Mode::WorkspaceWrite);
        memory.reject(&own, None);
        memory.allow(&own, ApprovalId::new("a"));
        assert_eq!(memory.recall(&own), Remembered::Allowed(ApprovalId::new("a")));
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut memory = Memory::default();
        let numbered = |number: usize| subject(&format!("make {number}"), Mode::WorkspaceWrite);
        for number in 0..=MOST {
            memory.reject(&numbered(number), None);
        }
        assert_eq!(memory.recall(&numbered(0)), Remembered::Nothing);
        assert_eq!(memory.recall(&numbered(1)), REJECTED);
        assert_eq!(memory.recall(&numbered(MOST)), REJECTED);
    }
}
