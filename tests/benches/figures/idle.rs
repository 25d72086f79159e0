//! What tasks that do nothing cost: memory, and processor time.

use std::collections::HashMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::thread;
use std::time::Duration;

use brattice_tests::{Process, World, eventually};
use serde_json::json;

use super::connection::Connection;
use super::role::Role;
use super::row;
use super::scale::Scale;

/// Tasks whose memory is counted. More than a session may have unless it is configured.
const TASKS: usize = 500;

/// Tasks whose keepers are watched.
const WATCHED: usize = 10;

/// Seconds for which nothing happens.
const QUIET: usize = 10;

/// What each runs, without a shell above it.
const SLEEP: &str = "sleep 900";

pub(crate) fn measure(scale: Scale) {
    let mut world = roomy();
    processor(scale, &mut world);
    memory(scale, &mut world);
    world.finish();
}

/// A world whose sessions may have as many tasks as are measured.
fn roomy() -> World {
    let builder = World::builder();
    let file = builder.root().join("out/config.toml");
    fs::write(&file, format!("[limits]\nmax_tasks = {}\n", TASKS + 100)).expect("it is written");
    fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("it is ours");
    builder.wrapper(&["sh", "-c", "exec {} --config out/config.toml"]).start()
}

/// A session with so many tasks that sleep, and nothing else to do.
fn asleep(world: &World, count: usize) -> (Connection, Process) {
    let mut session = Connection::open(world, "workspace-write");
    for _ in 0..count {
        session.start(json!({"command": format!("exec {SLEEP}")}));
    }
    let supervisor = world.supervisor(session.id());
    eventually("they sleep", || {
        let below = Process::below(supervisor.pid);
        let asleep = below.iter().filter(|process| process.arguments == SLEEP);
        (asleep.count() == count).then_some(())
    });
    // What the starts left to do is done, and the next keepers wait.
    thread::sleep(Duration::from_secs(1));
    (session, supervisor)
}

/// Memory of what belongs to sleeping tasks and is not theirs.
fn memory(scale: Scale, world: &mut World) {
    let daemon = world.daemon().pid();
    let tasks = scale.of(TASKS);
    let before = Process::kib(daemon, "RssAnon");
    let (session, supervisor) = asleep(world, tasks);
    let after = Process::kib(daemon, "RssAnon");
    let own: Vec<(Role, u64)> = Role::all_of(&supervisor)
        .iter()
        .map(|(role, process)| (*role, proportional(process.pid)))
        .collect();
    session.close();
    let figure = |what: &str| format!("{tasks} idle tasks: {what}");
    for role in Role::ALL {
        let mut each: Vec<u64> =
            own.iter().filter(|(other, _)| *other == role).map(|(_, kib)| *kib).collect();
        each.sort_unstable();
        if let (Some(least), Some(most)) = (each.first(), each.last()) {
            let (count, sum) = (each.len(), each.iter().sum::<u64>());
            row(
                &figure(&format!("{role}, {count}")),
                format!("{sum} KiB PSS ({least} to {most} each)"),
            );
        }
    }
    let sum: u64 = own.iter().map(|(_, kib)| kib).sum();
    let megabytes = (sum << 10) as f64 / tasks as f64 / 1e6;
    row(&figure("all of these, a task"), format!("**{megabytes:.3} MB PSS**"));
    row(&figure("the daemon grew by"), format!("{:+} KiB", after as i64 - before as i64));
}

/// A process's share of its memory in KiB: what it shares counts in parts (proc_pid_smaps_rollup(5)).
fn proportional(pid: u32) -> u64 {
    let text =
        fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).expect("it runs, and is ours");
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).expect("it has a share")
}

/// Processor time of a daemon and a session's own processes while tasks sleep.
fn processor(scale: Scale, world: &mut World) {
    let (session, supervisor) = asleep(world, WATCHED);
    let daemon = world.daemon().pid();
    let own = Role::all_of(&supervisor);
    let look = |pid: u32| (pid, processor_time(pid));
    let before: HashMap<u32, _> =
        own.iter().map(|(_, process)| process.pid).chain([daemon]).map(look).collect();
    let quiet = Duration::from_secs(scale.of(QUIET) as u64);
    thread::sleep(quiet);
    let used = |pid: u32| {
        let threads = processor_time(pid).into_iter();
        let used: Duration = threads
            .map(|(thread, now)| now - before[&pid].get(&thread).copied().unwrap_or_default())
            .sum();
        used.as_secs_f64() * 1e3
    };
    let figure =
        |who: &str| format!("processor time in {quiet:?} with {WATCHED} idle tasks: {who}");
    row(&figure("daemon"), format!("{:.2} ms", used(daemon)));
    for role in Role::ALL {
        let of_role: Vec<f64> = own
            .iter()
            .filter(|(other, _)| *other == role)
            .map(|(_, process)| used(process.pid))
            .collect();
        if let Some(most) = of_role.iter().copied().reduce(f64::max) {
            row(&figure(&format!("{role}, {}", of_role.len())), format!("{most:.2} ms at most"));
        }
    }
    session.close();
}

/// Processor time of a process's threads (Documentation/scheduler/sched-stats). Of each, because a daemon's threads that
/// waited for a disk end meanwhile.
fn processor_time(pid: u32) -> HashMap<String, Duration> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("it runs").flatten();
    threads
        .filter_map(|thread| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            let spent = Duration::from_nanos(text.split(' ').next()?.parse().ok()?);
            Some((thread.file_name().to_str()?.to_owned(), spent))
        })
        .collect()
}
