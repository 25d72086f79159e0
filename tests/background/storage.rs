//! The state folder takes no more while tasks run: they run on and their codes are told; new ones are refused.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use brattice_protocol::outcome::Cause;
use brattice_protocol::task::TaskStatus;
use brattice_tests::{Session, World, WorldBuilder, eventually};
use serde_json::json;

use crate::ends::ended;

/// A world whose state folder is a small file system of its own, in a mount namespace that outlives its daemons.
struct SmallDisk {
    world: World,
    holder: Child,
}

impl SmallDisk {
    fn new() -> SmallDisk {
        let builder = World::builder();
        let ready = builder.root().join("mounted");
        let mount = format!(
            "mount -t tmpfs -o size=2m,mode=700 tmpfs {}/state && touch {} && exec sleep 3600",
            builder.root().display(),
            ready.display()
        );
        let holder = Command::new("unshare")
            .args(["-rm", "/bin/bash", "-c", &mount])
            .stdin(Stdio::null())
            .spawn()
            .expect("unshare(1) is there");
        eventually("the file system is mounted", || ready.exists().then_some(()));
        let world = enter(builder, &holder).start();
        SmallDisk { world, holder }
    }

    /// A path of the state folder as it is from here.
    fn inside(&self, name: &str) -> PathBuf {
        let root = format!("/proc/{}/root", self.holder.id());
        PathBuf::from(root + self.world.state().to_str().unwrap()).join(name)
    }

    /// Runs a shell text where the state folder is.
    fn shell(&self, text: &str) {
        let holder = self.holder.id().to_string();
        let status = Command::new("nsenter")
            .args(["--preserve-credentials", "-U", "-m", "-t", &holder, "/bin/bash", "-ec", text])
            .status()
            .unwrap();
        assert!(status.success(), "{text}");
    }

    /// Fills the file system to the last byte.
    fn fill(&self) {
        let mut filler = File::create(self.inside("filler")).unwrap();
        while filler.write_all(&[0; 4096]).is_ok() {}
        while filler.write_all(&[0]).is_ok() {}
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        self.holder.kill().ok();
        self.holder.wait().ok();
    }
}

/// Has the daemon started in the holder's namespaces.
fn enter(builder: WorldBuilder, holder: &Child) -> WorldBuilder {
    let pid = holder.id().to_string();
    builder.wrapper(&["nsenter", "--preserve-credentials", "-U", "-m", "-t", &pid])
}

const GATE: &str = "until [ -e go ]; do sleep 0.02; done";

/// Asserts that a background task is refused in words and that nothing of it ran.
fn takes_no_more(world: &World, session: &Session, words: &str) {
    let refusal = session.try_start(json!({"command": "touch never"})).unwrap_err();
    assert!(refusal.message.contains(words), "{refusal:?}");
    assert!(!world.ws().join("never").exists());
    let tasks = session.tasks();
    assert!(tasks.iter().all(|task| !task.command.contains("never")), "{tasks:?}");
}

#[test]
fn t042_a_full_state_folder_costs_running_tasks_nothing() {
    let mut disk = SmallDisk::new();
    let session = disk.world.session("danger-full-access").open();
    let id = session.id().to_owned();
    let tasks: Vec<String> = [7, 8]
        .iter()
        .map(|code| session.start(&format!("echo kept; {GATE}; touch ran-{code}; exit {code}")))
        .collect();
    let later = session.start("until [ -e later ]; do sleep 0.02; done; exit 9");
    disk.fill();
    takes_no_more(&disk.world, &session, "No space left");
    disk.world.file("go", "");
    for (task, code) in tasks.iter().zip([7, 8]) {
        assert_eq!(ended(&session, task), (Cause::Exited, Some(code), None));
        assert!(disk.world.ws().join(format!("ran-{code}")).exists());
        // It cannot go to disk, and this daemon still has it.
        assert_eq!(session.wait_for(task).stdout.lost, None);
        assert_eq!(session.printed(task), "kept\n");
    }
    // Room for the last words was set aside, so they reach the next daemon as well.
    disk.world.kill_daemon();
    disk.world.file("later", "");
    disk.world.is_quiet();
    fs::remove_file(disk.inside("filler")).unwrap();
    disk.world.start();
    let session = disk.world.resume(&id).open();
    for (task, code) in tasks.iter().chain([&later]).zip([7, 8, 9]) {
        assert_eq!(ended(&session, task), (Cause::Exited, Some(code), None));
    }
    let kept: Vec<_> = tasks
        .iter()
        .map(|task| {
            let lost = session.wait_for(task).stdout.lost;
            let read = session.read(task, json!({}));
            (lost.map(|lost| (lost.bytes, lost.error)), read.skipped, read.data)
        })
        .collect();
    // A record that is whole gives back what was too much of its room, which may be enough for the other's output.
    let lost = (Some((5, "ENOSPC".to_owned())), 5, String::new());
    let whole = (None, 0, "kept\n".to_owned());
    assert!(kept.contains(&lost), "{kept:?}");
    assert!(kept.iter().all(|one| [&lost, &whole].contains(&one)), "{kept:?}");
    let next = session.start("echo on");
    session.wait_for(&next);
    assert_eq!(session.printed(&next), "on\n");
}

#[test]
fn t042_a_read_only_state_folder_costs_running_tasks_nothing() {
    let mut disk = SmallDisk::new();
    let session = disk.world.session("danger-full-access").open();
    let id = session.id().to_owned();
    let told = session.start(&format!("{GATE}; exit 7"));
    let alone = session.start("until [ -e later ]; do sleep 0.02; done; exit 9");
    let state = disk.world.state().display().to_string();
    disk.shell(&format!("mount --bind {state} {state}; mount -o remount,bind,ro {state}"));
    takes_no_more(&disk.world, &session, "Read-only file system");
    disk.world.file("go", "");
    assert_eq!(ended(&session, &told), (Cause::Exited, Some(7), None));
    disk.world.kill_daemon();
    disk.world.file("later", "");
    disk.world.is_quiet();
    disk.shell(&format!("umount {state}"));
    disk.world.start();
    let session = disk.world.resume(&id).open();
    assert_eq!(ended(&session, &alone), (Cause::Exited, Some(9), None));
    assert_eq!(ended(&session, &told), (Cause::Exited, Some(7), None));
    assert_eq!(session.task(&told).status, TaskStatus::Completed);
}

/// What a daemon says where nobody can hear it is lost, and nothing else is.
#[test]
fn a_log_that_cannot_be_written_costs_its_lines_alone() {
    let words = ["sh", "-c", "exec {} 2>/dev/full"];
    let world = World::builder().wrapper(&words).start();
    for _ in 0..3 {
        world.session("workspace-write").open().run("echo hi").exits(0).says("hi");
    }
    world.finish();
}
