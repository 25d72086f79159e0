//! `brattice approvals`, `approve`, `reject`, and `brattice call` on a terminal.

use std::process::Stdio;

use brattice_protocol::approval::ApprovalRequest;
use brattice_tests::{brattice_in, client, on_a_terminal};
use serde_json::{Value, json};

use crate::{DANGER, ask, asking, world};

#[test]
fn what_waits_is_listed_and_answered() {
    let world = world();
    let nothing = brattice_in(&world, &["approvals"]);
    assert_eq!(
        (nothing.stdout.as_str(), nothing.stderr.as_str()),
        ("", "brattice: no approvals wait\n")
    );
    assert_eq!(brattice_in(&world, &["approvals", "--json"]).succeeded().stdout, "[]\n");
    let session = world.session("workspace-write").answering().open();
    let command = "echo '\u{1b}[2J' >> $OUT/log\n# second";
    let call = ask(&session, command, DANGER);
    let question = session.question();
    let id = question.request().id.to_string();
    let told = brattice_in(&world, &["approvals"]);
    let lines: Vec<&str> = told.succeeded().stdout.lines().collect();
    assert!(
        lines[0]
            .starts_with(&format!("{id}  bash  workspace-write → danger-full-access  ends in ")),
        "{told:?}"
    );
    let ws = world.ws().display().to_string();
    assert_eq!(
        &lines[1..7],
        [
            &format!("  session  {}", session.id()),
            &format!("  folder   {ws}"),
            "  command  │ echo '\\u{1b}[2J' >> $OUT/log",
            "           │ # second",
            "           (2 lines, 32 bytes)",
            "  because  the test wants it",
        ]
    );
    let data = brattice_in(&world, &["approvals", "--json"]);
    let data: Vec<ApprovalRequest> = serde_json::from_str(&data.succeeded().stdout).unwrap();
    assert_eq!(data, [question.request().clone()]);
    let approved = brattice_in(&world, &["approve", &id]);
    assert_eq!(approved.succeeded().stdout, format!("{id}  allowed once by the operator\n"));
    session.end(call).exits(0);
    let late = brattice_in(&world, &["reject", &id]);
    assert_eq!(late.code, Some(125));
    assert!(late.stderr.contains("was allowed once already, by the operator"), "{late:?}");
    world.finish();
}

#[test]
fn an_approval_may_be_for_the_session() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    let call = ask(&session, "echo yes", DANGER);
    let question = session.question();
    let id = question.request().id.to_string();
    let told = brattice_in(&world, &["approve", &id, "--session", "--json"]);
    let data: Value = serde_json::from_str(&told.succeeded().stdout).unwrap();
    assert_eq!(
        (&data["id"], &data["outcome"], &data["by"]),
        (&json!(id), &json!("allowed_for_session"), &json!("operator"))
    );
    session.end(call).exits(0).says("yes");
    drop(question);
    session.bash(asking("echo yes", DANGER)).exits(0).says("yes");
    session.is_asked_nothing();
    world.finish();
}

#[test]
fn an_id_is_named_whole() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    let call = ask(&session, "echo hi", DANGER);
    let question = session.question();
    let id = question.request().id.to_string();
    let told = brattice_in(&world, &["approve", &id[..id.len() - 1]]);
    assert_eq!(told.code, Some(125));
    assert!(told.stderr.contains("is open") && told.stderr.contains("hint:"), "{told:?}");
    let rejected = brattice_in(&world, &["reject", &id, "not today"]);
    assert_eq!(rejected.succeeded().stdout, format!("{id}  rejected by the operator\n"));
    session.end(call).is_refused().says("the user rejected this command (not today); nothing ran");
    world.finish();
}

#[test]
fn a_call_on_a_terminal_asks_the_person_there() {
    let world = world();
    let arguments = asking("echo ran >> $OUT/log; echo done", DANGER).to_string();
    let line = ["call", "bash", &arguments];
    let shown = on_a_terminal(&world, &["n"], &line);
    assert!(
        shown.contains("the user rejected this command; nothing ran")
            && shown.ends_with("status 1\n"),
        "{shown}"
    );
    assert!(!world.out().join("log").exists());
    let shown = on_a_terminal(&world, &["y"], &line);
    for part in [
        "  command  │ echo ran >> $OUT/log; echo done\n",
        "  because  the test wants it\n",
        "  denied   nothing that was recorded\n",
        "workspace-write → ",
        "\u{1b}[2mdone",
    ] {
        assert!(shown.contains(part), "{part:?} in {shown}");
    }
    assert!(shown.ends_with("status 0\n"), "{shown}");
    assert_eq!(std::fs::read_to_string(world.out().join("log")).unwrap(), "ran\n");
    world.finish();
}

#[test]
fn a_call_on_a_terminal_is_a_title_a_preview_and_what_the_turn_came_to() {
    let world = world();
    let call = |tool: &str, arguments: Value| {
        on_a_terminal(&world, &["n"], &["call", tool, &arguments.to_string()])
    };
    let (bold, dim, off) = ("\u{1b}[1m", "\u{1b}[2m", "\u{1b}[0m");
    let lines: String = (1..=10).map(|number| format!("  {dim}{number}{off}\n")).collect();
    assert_eq!(
        call("bash", json!({"command": "seq 12"})),
        format!(
            "{bold}🛠️ bash: seq 12{off}\n{lines}  {dim}… 2 more lines{off}\n{dim}⚙ 1 command(s){off}\nstatus 0\n"
        )
    );
    assert_eq!(
        call("bash", json!({"command": "true"})),
        format!(
            "{bold}🛠️ bash: true{off}\n  {dim}(no output){off}\n{dim}⚙ 1 command(s){off}\nstatus 0\n"
        )
    );
    let ws = world.ws().display().to_string();
    let shown = call("write", json!({"file_path": "f", "content": "one\n"}));
    assert_eq!(
        shown,
        format!(
            "{bold}🛠️ write: f{off}\n  {dim}created {ws}/f{off}\n{dim}📝 1 file op(s){off}\nstatus 0\n"
        )
    );
    // Into a pipe goes the result alone.
    let told = brattice_in(&world, &["call", "bash", r#"{"command": "seq 12"}"#]);
    let all: String = (1..=12).map(|number| format!("{number}\n")).collect();
    assert_eq!((told.stdout, told.stderr), (all, String::new()));
    world.finish();
}

#[test]
fn a_change_is_put_to_a_person_with_its_diff() {
    let world = world();
    let arguments = json!({
        "file_path": world.out().join("new"), "content": "one\ntwo\u{1b}[2J\n",
        "sandbox_permissions": DANGER, "justification": "the test wants it",
    });
    let line = ["call", "write", &arguments.to_string()];
    let path = world.out().join("new").display().to_string();
    let shown = on_a_terminal(&world, &["n"], &line);
    for part in [
        format!("  change   {path} (new)\n           │ \u{1b}[32m+one\u{1b}[0m\n"),
        "           │ \u{1b}[32m+two\\u{1b}[2J\u{1b}[0m\n".to_owned(),
        "  note     it is made to exactly these files while they are as shown, or not at all\n"
            .to_owned(),
        "the user rejected this change; nothing was written".to_owned(),
    ] {
        assert!(shown.contains(&part), "{part:?} in {shown:?}");
    }
    assert!(!world.out().join("new").exists());
    let shown = on_a_terminal(&world, &["y"], &line);
    assert!(shown.contains(&format!("created {path}")) && shown.ends_with("status 0\n"), "{shown}");
    assert!(world.out().join("new").exists());
    world.finish();
}

#[test]
fn a_call_in_another_clients_session_asks_its_own_terminal() {
    let world = world();
    let session = world.session("workspace-write").open();
    let arguments = asking("echo done", DANGER).to_string();
    let line = ["call", "bash", &arguments, "--session", session.id()];
    let shown = on_a_terminal(&world, &["y"], &line);
    assert!(shown.contains("\u{1b}[2mdone") && shown.ends_with("status 0\n"), "{shown}");
    world.finish();
}

#[test]
fn a_call_without_a_terminal_asks_nobody() {
    let world = world();
    let arguments = asking("echo done", DANGER).to_string();
    let told = brattice_in(&world, &["call", "bash", &arguments]);
    assert_eq!(told.code, Some(1));
    assert!(told.stdout.contains("nobody is there to ask"), "{told:?}");
    world.finish();
}

#[test]
fn whoever_follows_is_there_to_be_asked() {
    use std::io::{BufRead as _, BufReader};

    let world = world();
    let mut following = client(&world, &["approvals", "--follow", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    let session = world.session("workspace-write").open();
    // Its hello may come after the first call's question would have been asked.
    let mut wire = brattice_tests::Wire::open(&world.control());
    let mut refused = 0;
    let call = loop {
        let call = ask(&session, "echo hi", DANGER);
        let is_asked = brattice_tests::eventually("it is asked or refused", || {
            let list = wire.request("approval.list", json!({})).unwrap();
            let is_asked = list["approvals"][0]["id"].is_string();
            let is_refused = world.audited(&["escalation_refused"]).len() > refused;
            (is_asked || is_refused).then_some(is_asked)
        });
        if is_asked {
            break call;
        }
        session.end(call).is_refused();
        refused += 1;
    };
    let pending: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let id = pending["pending"]["id"].as_str().unwrap();
    brattice_in(&world, &["approve", id]).succeeded();
    session.end(call).exits(0).says("hi");
    let settled: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(
        (&settled["settled"]["id"], &settled["settled"]["outcome"]),
        (&json!(id), &json!("allowed_once"))
    );
    following.kill().unwrap();
    following.wait().unwrap();
    world.finish();
}
