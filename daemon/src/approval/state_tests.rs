//! Whole lives of an approval: whatever happens in whatever order, the first answer stands and is used once at most.

use std::time::Duration;

use brattice_policy::Mode;
use brattice_protocol::ApprovalId;
use proptest::prelude::*;

use super::*;
use crate::approval::subject::{Deed, Folder};

fn subject(command: &str) -> Subject {
    Subject {
        deed: Deed::Command(command.to_owned()),
        folder: Folder::of("/ws", 7),
        from: Mode::ReadOnly,
        to: Mode::WorkspaceWrite,
    }
}

fn asker(call: &str) -> (SessionId, CallId) {
    (SessionId::new("s"), CallId::new(call))
}

fn asked(choices: Choices, expires: Instant) -> Approval {
    Approval::asked(asker("c"), subject("make"), choices, expires)
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(600)
}

#[test]
fn each_choice_has_its_outcome() {
    let cases = [
        (ApprovalChoice::AllowOnce, ApprovalOutcome::AllowedOnce, Ok(())),
        (ApprovalChoice::AllowAlways, ApprovalOutcome::AllowedForSession, Ok(())),
        (ApprovalChoice::RejectOnce, ApprovalOutcome::Rejected, Err(ClaimRefused::NotAllowed)),
    ];
    for (choice, outcome, claimed) in cases {
        let mut approval = asked(Choices::ForSessionToo, soon());
        let reason = Some("because".to_owned());
        let settlement =
            approval.answer(choice, Actor::Operator, reason.clone(), Instant::now()).unwrap();
        assert_eq!(settlement, Settlement { outcome, by: Actor::Operator, ending: None, reason });
        assert_eq!(approval.claim(&asker("c"), &subject("make")), claimed, "{choice:?}");
    }
}

#[test]
fn an_ending_concerns_what_it_is_about() {
    let request = |to, justification: Option<&str>, rule: Option<&str>| ApprovalRequest {
        id: ApprovalId::new("a"),
        session: SessionId::new("s"),
        call: CallId::new("c"),
        tool: "bash".to_owned(),
        title: "make".to_owned(),
        kind: "execute".to_owned(),
        command: Some("make".to_owned()),
        diff: Vec::new(),
        workdir: "/ws".to_owned(),
        from: Mode::ReadOnly,
        to,
        justification: justification.map(str::to_owned),
        rule: rule.map(str::to_owned),
        denials: Vec::new(),
        options: Vec::new(),
        expires: 0,
    };
    let wider = Mode::WorkspaceWrite;
    let cases = [
        ("the session asks before reading", request(Mode::ReadOnly, None, None), [false, false]),
        ("the session asks before writing", request(wider, None, None), [false, true]),
        ("a rule asks", request(Mode::ReadOnly, None, Some("*")), [true, false]),
        ("more is wanted", request(wider, Some("it writes"), None), [true, true]),
    ];
    for (what, request, [by_silence, by_planning]) in cases {
        assert_eq!(Ending::Silenced.concerns(&request), by_silence, "{what}");
        assert_eq!(Ending::Planning.concerns(&request), by_planning, "{what}");
        for always in [
            Ending::Dismissed,
            Ending::Deserted,
            Ending::Expired,
            Ending::Withdrawn,
            Ending::Closed,
        ] {
            assert!(always.concerns(&request), "{what}, {always:?}");
        }
    }
}

#[test]
fn each_ending_has_its_outcome_and_allows_nothing() {
    let cases = [
        (Ending::Dismissed, ApprovalOutcome::Cancelled),
        (Ending::Deserted, ApprovalOutcome::Cancelled),
        (Ending::Expired, ApprovalOutcome::Expired),
        (Ending::Withdrawn, ApprovalOutcome::Withdrawn),
        (Ending::Closed, ApprovalOutcome::Withdrawn),
        (Ending::Silenced, ApprovalOutcome::Withdrawn),
        (Ending::Planning, ApprovalOutcome::Withdrawn),
    ];
    for (ending, outcome) in cases {
        let mut approval = asked(Choices::OnceOrNot, soon());
        assert_eq!(approval.end(ending, Actor::Daemon).unwrap().outcome, outcome);
        assert_eq!(
            approval.claim(&asker("c"), &subject("make")),
            Err(ClaimRefused::NotAllowed),
            "{ending:?}"
        );
    }
}

#[test]
fn an_answer_that_is_not_offered_or_late_settles_nothing() {
    let now = Instant::now();
    let mut approval = asked(Choices::OnceOrNot, now);
    let always = approval.answer(ApprovalChoice::AllowAlways, Actor::Client, None, now);
    assert_eq!(always, Err(AnswerRefused::NotOffered));
    let late = approval.answer(ApprovalChoice::AllowOnce, Actor::Client, None, now);
    assert_eq!((late, approval.settlement()), (Err(AnswerRefused::Late), None));
}

#[test]
fn c1_a_claim_is_for_the_very_call_command_folder_and_modes() {
    let mut approval = asked(Choices::OnceOrNot, soon());
    let allow = ApprovalChoice::AllowOnce;
    approval.answer(allow, Actor::Client, None, Instant::now()).unwrap();
    let own = subject("make");
    let others = [
        subject("make "),
        subject("make\n"),
        Subject { folder: Folder::of("/ws/sub", 8), ..own.clone() },
        Subject { folder: Folder::of("/ws", 8), ..own.clone() },
        Subject { from: Mode::WorkspaceWrite, ..own.clone() },
        Subject { to: Mode::DangerFullAccess, ..own.clone() },
    ];
    for other in others {
        assert_eq!(approval.claim(&asker("c"), &other), Err(ClaimRefused::Other), "{other:?}");
    }
    assert_eq!(approval.claim(&asker("d"), &own), Err(ClaimRefused::Other));
    assert_eq!(approval.claim(&asker("c"), &own), Ok(()));
    assert_eq!(approval.claim(&asker("c"), &own), Err(ClaimRefused::Used));
}

#[test]
fn what_was_allowed_for_the_session_is_used_once_by_each_call() {
    let mut approval = Approval::repeated(asker("d"), subject("make"), Actor::Client);
    assert_eq!(approval.claim(&asker("d"), &subject("make")), Ok(()));
    assert_eq!(approval.claim(&asker("d"), &subject("make")), Err(ClaimRefused::Used));
}

/// Something that can happen to an approval.
#[derive(Clone, Copy, Debug)]
enum Step {
    Answer(ApprovalChoice, bool),
    End(Ending),
    Claim(bool),
}

fn step() -> impl Strategy<Value = Step> {
    use ApprovalChoice::{AllowAlways, AllowOnce, RejectOnce};
    let choice = prop::sample::select(vec![AllowOnce, AllowAlways, RejectOnce]);
    let ending = prop::sample::select(vec![
        Ending::Dismissed,
        Ending::Deserted,
        Ending::Expired,
        Ending::Withdrawn,
        Ending::Closed,
        Ending::Silenced,
    ]);
    prop_oneof![
        (choice, any::<bool>()).prop_map(|(choice, late)| Step::Answer(choice, late)),
        ending.prop_map(Step::End),
        any::<bool>().prop_map(Step::Claim),
    ]
}

proptest! {
    #[test]
    fn the_first_answer_stands_and_is_used_once(
        steps in prop::collection::vec(step(), 0..20),
        for_session in any::<bool>(),
    ) {
        let choices = if for_session { Choices::ForSessionToo } else { Choices::OnceOrNot };
        let (now, expires) = (Instant::now(), soon());
        let mut approval = asked(choices, expires);
        let (mut first, mut used) = (None::<Settlement>, 0);
        for step in steps {
            let settled = match step {
                Step::Answer(choice, late) => {
                    let at = if late { expires } else { now };
                    let answered = approval.answer(choice, Actor::Operator, None, at);
                    if let (Err(AnswerRefused::Settled(told)), Some(first)) = (&answered, &first) {
                        prop_assert_eq!(told, first);
                    }
                    let counts = first.is_none() && !late && choices.all().contains(&choice);
                    prop_assert_eq!(answered.is_ok(), counts);
                    answered.ok()
                }
                Step::End(ending) => approval.end(ending, Actor::Daemon),
                Step::Claim(own) => {
                    let claimed = approval.claim(&asker("c"), &subject(if own { "make" } else { "make x" }));
                    let allowed = first.as_ref().is_some_and(|first| first.outcome.is_allowed());
                    prop_assert_eq!(claimed.is_ok(), own && allowed && used == 0);
                    used += usize::from(claimed.is_ok());
                    None
                }
            };
            if let Some(settled) = settled {
                prop_assert!(first.is_none(), "settled twice");
                first = Some(settled);
            }
            prop_assert_eq!(approval.settlement(), first.as_ref());
        }
        prop_assert!(used <= 1);
    }
}
