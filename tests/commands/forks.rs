//! What a daemon starts it starts by posix_spawn: a copy of itself would cost by its size, and hang where another thread holds
//! a lock.

use std::collections::HashSet;
use std::fs;
use std::process::Command;

use brattice_tests::{World, eventually};
use rustix::process::{Pid, Signal, kill_process};

/// The numbers of a process's threads.
fn threads(pid: u32) -> HashSet<String> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    threads.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn the_daemon_never_forks() {
    let mut world = World::new();
    let log = world.out().join("calls");
    let daemon = world.daemon().pid();
    let mut strace = Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=fork,vfork,clone,clone3", "-e", "signal=none", "-o"])
        .arg(&log)
        .args(["-p", &daemon.to_string()])
        .spawn()
        .unwrap();
    eventually("all threads of the daemon are traced", || {
        let is_traced = |thread: &String| {
            let status = fs::read_to_string(format!("/proc/{daemon}/task/{thread}/status"));
            status.is_ok_and(|status| !status.contains("TracerPid:\t0\n"))
        };
        threads(daemon).iter().all(is_traced).then_some(())
    });
    let session = world.session("workspace-write").open();
    for number in 0..3 {
        session.run(&format!("echo {number} | cat")).exits(0).says(&number.to_string());
    }
    assert_eq!(session.wait_for(&session.start("exit 3")).exit_code, Some(3));
    let own = threads(daemon);
    kill_process(Pid::from_child(&strace), Signal::INT).unwrap();
    strace.wait().unwrap();
    // Its supervisor was followed as well, which is not the daemon.
    let told = fs::read_to_string(&log).unwrap();
    let of_daemon: Vec<&str> = told
        .lines()
        .filter(|line| line.split(' ').next().is_some_and(|thread| own.contains(thread)))
        .filter(|line| !line.contains("resumed>") && !line.contains("CLONE_THREAD"))
        .collect();
    assert!(!of_daemon.is_empty(), "the supervisor was started meanwhile:\n{told}");
    let is_spawn = |line: &&str| line.contains("CLONE_VM|CLONE_VFORK") || line.contains("vfork(");
    assert!(of_daemon.iter().all(is_spawn), "{of_daemon:#?}");
    world.finish();
}
