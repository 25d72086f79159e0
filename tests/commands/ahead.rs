//! Shells that are started before their command is there: which command gets one, and that it cannot tell.

use std::fs;
use std::time::{Duration, Instant};

use brattice_tests::{Process, Session, World, eventually, within};
use serde_json::json;

/// The shell that stands ready in a session, once there is one.
fn standing(world: &World, session: &Session) -> Process {
    let supervisor = world.supervisor(session.id()).pid;
    eventually("a shell stands ready", || {
        Process::below(supervisor).into_iter().find(Process::stands_ready)
    })
}

/// The number of the shell that runs the next command.
fn next(session: &Session, more: serde_json::Value) -> u32 {
    let mut call = json!({"command": "echo $$"});
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    session.bash(call).exits(0).text().parse().unwrap()
}

/// A command that was run by a shell which stood ready: its keeper may say so a moment after it does.
fn taken(world: &World, session: &Session, more: &serde_json::Value) -> u32 {
    eventually("a shell that stands is taken", || {
        let ready = standing(world, session);
        (next(session, more.clone()) == ready.pid).then_some(ready.pid)
    })
}

#[test]
fn a_command_cannot_tell_that_its_shell_was_started_before() {
    let world = World::new();
    let facts = "declare -p; set -o; shopt; trap; ulimit -a; umask; pwd; ls /proc/$$/fd; echo $LINENO $- $0 $#; \
        grep -E '^(SigIgn|SigCgt|Cap|NoNew|Seccomp|Umask|Groups|Uid)' /proc/$$/status; cut -d' ' -f5-8 /proc/$$/stat | sed s/$$/own/g";
    for mode in ["workspace-write", "read-only", "danger-full-access"] {
        let session = world.session(mode).open();
        let told = || {
            let reply = session.run(facts);
            let task = reply.exits(0).outcome().task.clone().unwrap();
            assert!(reply.text().contains(&format!("BRATTICE_TASK_ID=\"{task}\"")));
            // Of the last one only whether it was ever set differs; what it is is told below.
            let changes = ["BASHPID", "EPOCH", "PPID", "RANDOM", "BRATTICE_TASK_ID", "-- SECONDS"];
            let is_same = |line: &&str| !changes.iter().any(|name| line.contains(name));
            reply.text().lines().filter(is_same).map(str::to_owned).collect::<Vec<_>>()
        };
        let first = told();
        taken(&world, &session, &json!({}));
        standing(&world, &session);
        let second = told();
        for (before, now) in first.iter().zip(&second) {
            assert_eq!(now, before, "{mode}");
        }
        assert_eq!(second.len(), first.len());
    }
    world.finish();
}

#[test]
fn a_shell_serves_the_very_setting_that_it_was_started_in() {
    let world = World::new();
    world.setup("mkdir sub other");
    let session = world.session("workspace-write").open();
    next(&session, json!({"workdir": "sub"}));
    let ready = standing(&world, &session);
    assert_ne!(next(&session, json!({"workdir": "other"})), ready.pid);
    next(&session, json!({"workdir": "sub"}));
    let ready = standing(&world, &session);
    let terminal = session.bash(json!({"command": "echo $$", "workdir": "sub", "tty": true}));
    assert_ne!(terminal.exits(0).text().trim(), ready.pid.to_string());
    taken(&world, &session, &json!({"workdir": "sub"}));
    // Another folder of the same name: what stands in the one before is of no use.
    let ready = standing(&world, &session);
    world.setup("mv sub moved; mkdir sub; touch sub/new");
    session
        .bash(json!({"command": "ls; echo $$", "workdir": "sub"}))
        .exits(0)
        .holds("new\n")
        .lacks(&ready.pid.to_string());
    eventually("it has ended", || (!ready.is_alive()).then_some(()));
    world.finish();
}

#[test]
fn a_shell_that_was_killed_is_passed_by() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    for _ in 0..3 {
        session.run("true").exits(0);
        let ready = standing(&world, &session);
        ready.kill();
        assert_ne!(next(&session, json!({})), ready.pid);
    }
    world.finish();
}

#[test]
fn a_shell_that_was_stopped_is_passed_by() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    session.run("true").exits(0);
    let ready = standing(&world, &session);
    ready.stop();
    assert_ne!(next(&session, json!({})), ready.pid);
    eventually("it has ended", || (!ready.is_alive()).then_some(()));
    world.finish();
}

#[test]
fn a_shell_that_reads_a_file_of_the_users_is_not_started_before_its_command() {
    let world = World::builder();
    let file = world.root().join("start.sh");
    // Whoever runs it before the round in which it was written has an older number.
    let write = |number: i32| {
        let text = format!("STARTED=$((STARTED + 1)); ROUND={number}; echo started {number} >&2\n");
        fs::write(&file, text).unwrap();
    };
    write(0);
    let world = world.variable("BASH_ENV", file.to_str().unwrap()).start();
    let session = world.session("workspace-write").open();
    let supervisor = world.supervisor(session.id()).pid;
    for number in 0..5 {
        write(number);
        let expected = format!("1 {number}\n[stderr]\nstarted {number}");
        session.run("echo $STARTED $ROUND").exits(0).says(&expected);
        assert!(Process::below(supervisor).iter().all(|it| !it.stands_ready()));
    }
    world.finish();
}

#[test]
fn a_shell_stands_for_a_minute() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let begun = Instant::now();
    session.run("true").exits(0);
    let ready = standing(&world, &session);
    let has_ended = || (!ready.is_alive()).then_some(());
    within(Duration::from_secs(90), "it has ended", has_ended);
    assert!(begun.elapsed() >= Duration::from_secs(60), "{:?}", begun.elapsed());
    assert_ne!(next(&session, json!({})), ready.pid);
    world.finish();
}
