//! Plan mode as the kernel keeps it: whatever starts may only read, whichever tool starts it.

use brattice_protocol::approval::ApprovalChoice;
use brattice_protocol::outcome::Cause;
use brattice_tests::{Kit, Reply, Session, Wire, World, eventually};
use serde_json::{Value, json};

use crate::{TOOLSETS, call, declares, opening};

/// What a refusal in plan mode says.
const MARKERS: [&str; 2] =
    ["[sandbox: file access denied under read-only mode]", "[sandbox: final: plan mode]"];

fn is_refused_for_planning(reply: &Reply) {
    for marker in MARKERS {
        reply.holds(marker);
    }
}

/// A repository with a file in it.
fn repository(world: &World) {
    world.setup(
        "git init -q . && git config user.email a@example.test && git config user.name A && echo 1 > f \
         && git add f && git commit -qm one",
    );
}

/// All that must not change.
fn standing(world: &World) -> String {
    let looked = world.native("git rev-parse HEAD; git status --porcelain; ls; cat f");
    assert_eq!(looked.code, Some(0));
    looked.stdout
}

fn plan(session: &Session, on: bool) -> Value {
    session.request("session.update", json!({"plan": on})).unwrap()
}

#[test]
fn b112_plan_mode_holds_the_shell_and_the_tools_for_files_in_every_toolset() {
    for toolset in TOOLSETS {
        let world = World::new();
        repository(&world);
        let before = standing(&world);
        let opening = world.session("workspace-write").of_toolset(toolset);
        let session = opening.with("plan", json!(true)).answering().open();
        assert_eq!(
            (session.opened().mode.as_str(), session.opened().plan),
            ("read-only", true),
            "{toolset}"
        );
        let kit = Kit::new(toolset, session);
        let session = kit.session();
        for command in [
            "python3 - <<'P'\nopen('unplanned.txt','w').write('x')\nP",
            "git commit --amend -qm two",
            "rm f",
        ] {
            is_refused_for_planning(&session.run(command));
        }
        for tool in ["read", "write", "edit"] {
            assert!(declares(session, &kit.name(tool)), "{toolset}: {tool}");
        }
        let read = kit.read("f");
        assert!(!read.is_error(), "{toolset}: {}", read.text());
        read.holds("1").lacks("[sandbox");
        for refused in [kit.write("p.md", "x"), kit.write("f", "2\n"), kit.edit("f", "1", "2")] {
            assert!(refused.is_error(), "{toolset}: {}", refused.text());
            is_refused_for_planning(&refused);
        }
        let looked = session.run("git log --oneline && cat f && grep -r 1 f");
        looked.exits(0).holds("one").lacks("[sandbox");
        if ["standard", "dsh"].contains(&toolset) {
            let wish = json!({
                "command": "touch z", "sandbox_permissions": "workspace-write",
                "justification": "x",
            });
            let wider = session.bash(wish);
            let text = "plan mode is on: nothing runs in workspace-write before the plan is approved, and nobody \
                        is asked for it; nothing ran\n[sandbox: final: plan mode]";
            wider.is_refused().says(&format!("{}{text}", kit.prefix()));
            assert_eq!(wider.cause(), Cause::Rejected);
        }
        session.is_asked_nothing();
        assert_eq!(standing(&world), before, "{toolset}");
        world.finish();
    }
}

/// The ids of the approvals that are open.
fn open(world: &World) -> Vec<String> {
    let list = Wire::open(&world.control()).request("approval.list", json!({})).unwrap();
    let ids = list["approvals"].as_array().unwrap().iter();
    ids.map(|asked| asked["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn b112_what_minimal_asks_about_while_planning_stays_open_and_widens_nothing() {
    let world = World::new();
    repository(&world);
    let before = standing(&world);
    let opening = world.session("workspace-write").of_minimal("always");
    let session = opening.with("plan", json!(true)).answering().open();
    let acts = [
        ("bash", json!({"command": "echo 2 > f"})),
        ("write_file", json!({"path": "p.md", "content": "x"})),
        ("edit_file", json!({"path": "f", "edits": [{"old": "1", "new": "2"}]})),
    ];
    for (tool, arguments) in acts {
        let pending = session.begin_call(json!({"name": tool, "arguments": arguments}));
        let question = session.question();
        let (asked, read_only) = (question.request().clone(), brattice_protocol::Mode::ReadOnly);
        assert_eq!((asked.from, asked.to), (read_only, read_only), "{tool}");
        let id = asked.id.to_string();
        assert_eq!(open(&world), [id.as_str()]);
        // Neither of these changes anything.
        Wire::open(&world.control()).request("daemon.reload", json!({})).unwrap();
        assert_eq!(open(&world), [id.as_str()], "{tool}: after the configuration was read again");
        for same in [json!({"plan": true}), json!({"mode": "workspace-write"})] {
            session.request("session.update", same.clone()).unwrap();
            assert_eq!(open(&world), [id.as_str()], "{tool}: after {same}");
        }
        question.choose(ApprovalChoice::AllowOnce);
        is_refused_for_planning(&session.end(pending));
        assert_eq!(open(&world), [""; 0]);
    }
    assert_eq!(standing(&world), before);
    world.finish();
}

#[test]
fn b112_what_starts_in_the_background_only_reads_and_what_ran_before_goes_on() {
    let world = World::new();
    let session = opening(&world, "standard").open();
    let early = session.start("until [ -e go ]; do sleep 0.02; done; echo early > early");
    let reader = session.bash(json!({"command": "bash", "stdin": true, "run_in_background": true}));
    reader.says("started background task bash-2");
    let told = plan(&session, true);
    assert_eq!((&told["mode"], &told["plan"]), (&json!("read-only"), &json!(true)));
    assert_eq!(world.sessions()[0]["plan"], true);

    let call_of = json!({"command": "echo x > late", "run_in_background": true});
    session.bash(call_of).says("started background task bash-3");
    let read = call(&session, "task_output", json!({"task_id": "bash-3", "wait": true}));
    is_refused_for_planning(&read);
    let raw = session.start("echo x > raw");
    assert_eq!(session.wait_for(&raw).exit_code, Some(1));

    let fed = call(&session, "task_input", json!({"task_id": "bash-2", "text": "touch fed\n"}));
    fed.says(
        "plan mode is on: bash-2 runs in workspace-write and is sent nothing before the plan is approved",
    );
    assert!(fed.is_error());

    world.file("go", "");
    let ended = session.wait_for(&early);
    assert_eq!((ended.cause, ended.exit_code), (Cause::Exited, Some(0)));
    let there = world.native("ls").stdout;
    assert_eq!(there, "early\ngo\n");

    let told = plan(&session, false);
    assert_eq!((&told["mode"], &told["plan"]), (&json!("workspace-write"), &json!(false)));
    session.run("echo x > late").exits(0);
    call(&session, "task_input", json!({"task_id": "bash-2", "text": "touch fed; exit\n"}))
        .lacks("plan mode");
    eventually("it is fed", || world.ws().join("fed").exists().then_some(()));
    world.finish();
}

#[test]
fn planning_narrows_a_session_that_nothing_confines() {
    let world = World::new();
    let opening = world.session("danger-full-access").with("plan", json!(true));
    let session = opening.open();
    is_refused_for_planning(&session.run("echo x > made"));
    let wish = json!({
        "command": "echo x > made", "sandbox_permissions": "danger-full-access", "justification": "x",
    });
    session.bash(wish).is_refused().holds("[sandbox: final: plan mode]");
    plan(&session, false);
    session.run("echo x > made").exits(0);
    world.finish();
}

#[test]
fn a_mode_that_is_set_while_planning_holds_after_it() {
    let world = World::new();
    let session = opening(&world, "standard").with("plan", json!(true)).open();
    let told = session.request("session.update", json!({"mode": "danger-full-access"})).unwrap();
    assert_eq!((&told["mode"], &told["plan"]), (&json!("read-only"), &json!(true)));
    is_refused_for_planning(&session.run("echo x > made"));
    assert_eq!(plan(&session, false)["mode"], "danger-full-access");
    world.finish();
}

#[test]
fn an_approval_that_is_open_when_planning_begins_allows_nothing() {
    let builder = World::builder().configured("[session]\nescalation = \"any\"\n");
    let world = builder.start();
    let session = opening(&world, "standard").answering().open();
    let wish = json!({
        "command": "echo x > $OUT/never", "sandbox_permissions": "danger-full-access",
        "justification": "x",
    });
    let pending = session.begin(wish);
    let question = session.question();
    plan(&session, true);
    let text = "plan mode began before the approval was answered; nothing ran";
    session.end(pending).is_refused().says(text);
    question.choose(ApprovalChoice::AllowOnce);
    session.is_heard();
    assert_eq!(world.audited(&["task_started"]), Vec::<Value>::new());
    assert!(!world.out().join("never").exists());
    world.finish();
}

#[test]
fn planning_outlives_the_daemon() {
    let mut world = World::new();
    let session = opening(&world, "standard").open();
    let id = session.id().to_owned();
    plan(&session, true);
    world.restart();
    let session = world.resume(&id).open();
    assert_eq!((session.opened().mode.as_str(), session.opened().plan), ("read-only", true));
    is_refused_for_planning(&session.run("echo x > made"));
    assert_eq!(plan(&session, false)["mode"], "workspace-write");
    session.run("echo x > made").exits(0);
    world.finish();
}
