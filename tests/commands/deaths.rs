//! What happens to a command when one of the processes that keep it is killed from outside.

use std::time::Duration;

use brattice_protocol::outcome::Cause;
use brattice_tests::{Process, Session, World, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// The processes between the daemon and a command that runs, by the tree that ARCHITECTURE.md draws.
struct Chain {
    supervisor: Process,
    launcher: Process,
    zygote: Process,
    keeper: Process,
    program: Process,
}

fn parent_of(process: &Process) -> Process {
    Process::of(process.parent).expect("it has a parent")
}

/// Waits until the command whose shell has this text in its arguments runs, and climbs up from it.
fn chain_above(world: &mut World, argument: &str) -> Chain {
    let daemon = world.daemon().pid();
    let program = eventually("the command runs", || {
        Process::below(daemon).into_iter().find(|process| process.arguments == argument)
    });
    let keeper = parent_of(&program);
    let zygote = parent_of(&keeper);
    let launcher = parent_of(&zygote);
    let supervisor = parent_of(&launcher);
    assert_eq!(supervisor.parent, daemon);
    Chain { supervisor, launcher, zygote, keeper, program }
}

fn kill(process: &Process) {
    let pid = Pid::from_raw(process.pid.cast_signed()).expect("a process number");
    kill_process(pid, Signal::KILL).expect("it is ours");
}

fn begin(session: &Session, seconds: u32) -> brattice_tests::Pending {
    session.begin(json!({"command": format!("exec sleep {seconds}"), "timeoutMs": 600_000}))
}

#[test]
fn a_killed_keeper_takes_its_command_with_it_and_no_other() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let (lost, kept) = (begin(&session, 901), begin(&session, 902));
    let chain = chain_above(&mut world, "sleep 901");
    let other = chain_above(&mut world, "sleep 902");
    kill(&chain.keeper);
    let reply = session.end(lost);
    assert_eq!((reply.cause(), reply.code(), reply.is_error()), (Cause::Lost, None, true));
    assert!(!chain.program.is_alive() && other.program.is_alive());
    session.run("echo on").exits(0).says("on");
    kill(&other.keeper);
    assert_eq!(session.end(kept).cause(), Cause::Lost);
    assert!(!other.program.is_alive());
    session.run("echo and on").exits(0).says("and on");
    world.finish();
}

#[test]
fn a_killed_zygote_is_replaced_and_its_commands_go_on() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let running = session.begin(json!({"command": "sleep 904; echo never", "timeoutMs": 4000}));
    let chain = chain_above_shell(&mut world, "sleep 904");
    kill(&chain.zygote);
    session.run("echo new").exits(0).says("new");
    assert!(chain.program.is_alive());
    is_idle(&chain.supervisor);
    assert_eq!(session.end(running).cause(), Cause::TimedOut);
    assert!(!chain.program.is_alive());
    world.finish();
}

#[test]
fn a_killed_launcher_is_replaced_and_its_commands_are_stopped() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let running = session.begin(json!({"command": "trap '' TERM; sleep 903; echo never"}));
    let chain = chain_above_shell(&mut world, "sleep 903");
    kill(&chain.launcher);
    eventually("the launcher is gone", || (!chain.launcher.is_alive()).then_some(()));
    session.run("echo new").exits(0).says("new");
    let reply = session.end(running);
    assert_eq!((reply.cause(), reply.code()), (Cause::Killed, None));
    assert!(!chain.program.is_alive());
    is_idle(&chain.supervisor);
    world.finish();
}

fn is_idle(supervisor: &Process) {
    let before = cpu_ticks(supervisor);
    std::thread::sleep(Duration::from_millis(1000));
    let used = cpu_ticks(supervisor) - before;
    assert!(used <= 10, "the supervisor used {used} ticks of a second while nothing happened");
}

/// As [`chain_above`], for a command below its shell.
fn chain_above_shell(world: &mut World, argument: &str) -> Chain {
    let daemon = world.daemon().pid();
    let program = eventually("the command runs", || {
        Process::below(daemon).into_iter().find(|process| process.arguments == argument)
    });
    let shell = parent_of(&program);
    let keeper = parent_of(&shell);
    let zygote = parent_of(&keeper);
    let launcher = parent_of(&zygote);
    Chain { supervisor: parent_of(&launcher), launcher, zygote, keeper, program }
}

/// Processor time of a process in clock ticks (proc_pid_stat(5), fields 14 and 15).
fn cpu_ticks(process: &Process) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid)).expect("it lives");
    let fields: Vec<&str> = stat[stat.rfind(')').expect("a name") + 2..].split(' ').collect();
    fields[11..13].iter().map(|field| field.parse::<u64>().expect("a number")).sum()
}

#[test]
fn t076_a_killed_supervisor_ends_its_commands_as_lost_and_no_other_session() {
    let mut world = World::new();
    let (session, other) =
        (world.session("workspace-write").open(), world.session("danger-full-access").open());
    let (lost, lost_too) = (begin(&session, 905), begin(&session, 906));
    let chain = chain_above(&mut world, "sleep 905");
    let second = chain_above(&mut world, "sleep 906");
    kill(&chain.supervisor);
    for pending in [lost, lost_too] {
        let reply = session.end(pending);
        assert_eq!((reply.cause(), reply.code()), (Cause::Lost, None));
    }
    eventually("the keepers have killed their commands", || {
        (!chain.program.is_alive() && !second.program.is_alive()).then_some(())
    });
    session.run("echo hi").is_refused();
    other.run("echo hi").exits(0).says("hi");
    session.request("session.close", json!({})).unwrap();
    world.finish();
}
