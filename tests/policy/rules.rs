//! Command rules: what they keep from starting, in whose words, and what is written down of it.

use brattice_protocol::approval::ApprovalChoice;
use brattice_protocol::audit::{CommandText, Event};
use brattice_protocol::{ErrorCode, Mode};
use brattice_tests::World;
use serde_json::json;

use crate::worlds::{configured, events, root, users};

/// Forbids one program and asks about another.
const RULES: &str = r#"
[[rule]]
argv = ["git", "push"]
decision = "forbid"
reason = "publishing is for people"
examples = ["git push origin main", "cd x && env -i git push"]
not_examples = ["git pull", "echo git push"]

[[rule]]
argv = ["npm", "publish"]
decision = "ask"
reason = "packages are for everybody"
"#;

/// Where a rule of `RULES` stands, by its line.
fn place(world: &World, line: usize) -> String {
    format!("{}:{line}", users(&root(world)).display())
}

#[test]
fn a_forbidden_command_does_not_start_and_says_why() {
    let world = configured(RULES).start();
    let refusal = format!(
        "command refused by a rule: publishing is for people (the rule for \"git push\", {})",
        place(&world, 2)
    );
    for toolset in ["standard", "dsh"] {
        let session = world.session("workspace-write").with("toolset", json!(toolset)).open();
        for line in ["touch ran; git push origin main", "bash -c 'touch ran; \"git\" push'"] {
            let reply = session.run(line);
            assert!(reply.is_error() && reply.outcome.is_none(), "{toolset}: {reply:?}");
            reply.holds(&refusal);
        }
        assert!(!world.ws().join("ran").exists(), "nothing of the line runs");
        session.run("echo git push; ls").exits(0).says("git push");
    }
    world.finish();
}

#[test]
fn a_task_that_is_forbidden_is_refused_on_the_wire_and_written_down() {
    let world = configured(RULES).start();
    let session = world.session("workspace-write").open();
    let refusal = |words: &str| {
        let place = place(&world, 2);
        format!(
            "command refused by a rule: publishing is for people (the rule for {words:?}, {place})"
        )
    };
    let argv = ["env", "A=1", "/usr/bin/git", "push"].map(str::to_owned).to_vec();
    let cases = [
        (json!({"command": "git push"}), CommandText::Line("git push".to_owned()), "git push"),
        (json!({"argv": argv}), CommandText::Words(argv), "/usr/bin/git push"),
    ];
    let mut expected = Vec::new();
    for (params, command, words) in cases {
        let error = session.request("task.start", params).unwrap_err();
        assert!(error.is(ErrorCode::Refused), "{error:?}");
        assert_eq!(error.message, refusal(words));
        let (session, rule) = (session.opened().session.clone(), Some(place(&world, 2)));
        let reason = refusal(words);
        expected.push(Event::CommandRefused { session, call: None, command, rule, reason });
    }
    assert_eq!(session.request("task.list", json!({})).unwrap(), json!([]));
    let mut written = events(&world);
    written.retain(|event| matches!(event, Event::CommandRefused { .. }));
    assert_eq!(written, expected);
    world.finish();
}

#[test]
fn what_a_rule_asks_about_runs_once_a_person_has_allowed_it_and_in_the_sessions_mode() {
    let world = configured(&RULES.replace("npm", "echo")).start();
    let session = world.session("workspace-write").answering().open();
    let answered = |line: &str, choice| {
        let call = session.begin(json!({"command": line}));
        let question = session.question();
        let request = question.request().clone();
        assert_eq!((request.from, request.to), (Mode::WorkspaceWrite, Mode::WorkspaceWrite));
        assert_eq!(request.rule.as_deref(), Some("packages are for everybody"));
        assert_eq!((request.justification, request.denials), (None, Vec::new()));
        question.choose(choice);
        session.end(call)
    };
    let allowed = answered("echo publish", ApprovalChoice::AllowOnce);
    allowed.exits(0).says("publish");
    assert_eq!(allowed.outcome().escalated_from, None);
    let rejected = answered("touch ran; echo publish", ApprovalChoice::RejectOnce);
    rejected.is_refused().says(
        "the user rejected this command; nothing ran (a rule asks about it: packages are for everybody)",
    );
    assert!(!world.ws().join("ran").exists());
    answered("echo publish; true", ApprovalChoice::AllowAlways).exits(0);
    session.run("echo publish; true").exits(0);
    session.is_asked_nothing();
    session.run("git push").holds("command refused by a rule");
    let error = session.request("task.start", json!({"command": "echo publish"})).unwrap_err();
    assert!(error.message.ends_with("only tool calls are asked about"), "{error:?}");
    world.finish();
}

#[test]
fn what_a_rule_asks_about_runs_in_a_login_shell_too() {
    let world = configured(&RULES.replace("npm", "echo")).start();
    let opening = world.session("workspace-write").with("toolset", json!("glrs"));
    let session = opening.answering().open();
    let call = session.begin(json!({"command": "echo publish; shopt -q login_shell"}));
    session.question().choose(ApprovalChoice::AllowOnce);
    session.end(call).exits(0).holds("publish");
    world.finish();
}

#[test]
fn what_is_to_be_asked_about_is_refused_while_nobody_can_be_asked() {
    let asked = |approval: &str| {
        let world = configured(&format!("[session]\napproval = \"{approval}\"\n{RULES}")).start();
        let reply = world.session("workspace-write").open().run("touch ran; npm publish");
        assert!(reply.is_error() && !world.ws().join("ran").exists(), "{reply:?}");
        world.finish();
        reply.text()
    };
    assert_eq!(
        asked("ask"),
        "this needs an approval and nobody is there to ask: the session's client answers no approvals, and no operator \
         is attached; nothing ran (a rule asks about it: packages are for everybody)"
    );
    assert_eq!(
        asked("never"),
        "command refused: packages are for everybody, which needs an approval, and approval prompts are disabled"
    );
}

#[test]
fn what_cannot_be_read_is_asked_about_only_where_a_rule_narrows() {
    let world = configured(RULES).start();
    let session = world.session("workspace-write").open();
    let reply = session.run("touch ran; x=git; $x push");
    assert!(reply.is_error() && !world.ws().join("ran").exists(), "{reply:?}");
    reply.holds("command rules cannot be checked");
    world.finish();

    let allows = "[[rule]]\nargv = [\"git\"]\ndecision = \"allow\"\nreason = \"harmless\"\n";
    let world = configured(allows).start();
    world.session("workspace-write").open().run("x=echo; $x on").exits(0).says("on");
    world.finish();
}

#[test]
fn b119_a_rule_covers_each_command_of_a_line() {
    let rules = "[[rule]]\nargv = [\"git\"]\ndecision = \"allow\"\nreason = \"harmless\"\n\
                 [[rule]]\nargv = [\"rm\"]\ndecision = \"forbid\"\nreason = \"nothing is deleted\"\n";
    let world = configured(rules).start();
    world.setup("mkdir keep; echo x > keep/f");
    let session = world.session("workspace-write").open();
    for line in [
        "git --version; rm -rf keep",
        "git --version | xargs rm -rf keep",
        "git --version\nrm -rf keep",
        "X=1 rm -rf keep",
        "/bin/rm -rf keep",
        "env rm -rf keep",
    ] {
        let reply = session.run(line);
        assert!(reply.is_error(), "{line}: {reply:?}");
        reply.holds("nothing is deleted");
    }
    session.run("cat keep/f").exits(0).says("x");
    world.finish();
}

#[test]
fn a_session_keeps_the_rules_that_it_was_opened_with_until_the_next_daemon() {
    let mut world = configured("").start();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    crate::worlds::write(&users(&root(&world)), RULES);
    crate::worlds::operator(&world, "daemon.reload").unwrap();
    session.run("npm() { echo mine; }; npm publish").exits(0).says("mine");
    assert!(world.session("workspace-write").open().run("npm publish").is_error());
    drop(session);
    world.restart();
    assert!(world.resume(&id).open().run("npm publish").is_error());
    world.finish();
}
