//! Replacing: what a file keeps, what is written through, and what a failure leaves.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use brattice_files::{
    Apply, Cancelled, Errno, Expected, FaultKind, FileType, Fingerprint, Operation, Outcome,
    Replacement, resolved, write,
};
use rustix::fs::{XattrFlags, getxattr, setxattr};

use crate::folder::{Folder, first, kind};

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn b069_modes_stay_and_new_files_take_the_mask() {
    let folder = Folder::new();
    for (name, mode) in
        [("run.sh", 0o755), ("secret.env", 0o600), ("g.txt", 0o664), ("s.sh", 0o4750)]
    {
        let path = folder.put(name, "echo old\n");
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let edited = folder.replace(name, "old", "new").unwrap();
        assert_eq!(edited.outcome, Outcome::Updated { method: Replacement::Exchanged });
        folder.write(name, "echo w\n", Expected::Any).unwrap();
        assert_eq!((folder.mode(name), folder.content(name).as_str()), (mode, "echo w\n"));
    }
    let twin = folder.put("twin.txt", "");
    folder.write("fresh.txt", "n\n", Expected::Absent).unwrap();
    assert_eq!(folder.mode("fresh.txt"), fs::metadata(twin).unwrap().mode() & 0o777);
    assert_eq!(folder.names(), ["fresh.txt", "g.txt", "run.sh", "s.sh", "secret.env", "twin.txt"]);
}

#[test]
fn attributes_stay() {
    let folder = Folder::new();
    let path = folder.put("a.txt", "old\n");
    setxattr(&path, "user.note", b"kept", XattrFlags::empty()).unwrap();
    folder.replace("a.txt", "old", "new").unwrap();
    let mut value = [0_u8; 16];
    let length = getxattr(&path, "user.note", &mut value[..]).unwrap();
    assert_eq!(&value[..length], b"kept");
}

#[test]
fn owners_stay() {
    // Only root can make a file of another owner; an ordinary user's files have his own.
    let folder = Folder::new();
    let path = folder.put("a.txt", "old\n");
    let owner = if is_root() {
        (1777, 1778)
    } else {
        (fs::metadata(&path).unwrap().uid(), fs::metadata(&path).unwrap().gid())
    };
    std::os::unix::fs::chown(&path, Some(owner.0), Some(owner.1)).unwrap();
    folder.replace("a.txt", "old", "new").unwrap();
    let status = fs::metadata(path).unwrap();
    assert_eq!(
        (status.uid(), status.gid(), folder.content("a.txt").as_str()),
        (owner.0, owner.1, "new\n")
    );
}

#[test]
fn b070_links_are_written_through_and_loops_end() {
    let folder = Folder::new();
    folder.put("shared/app.yml", "level: low\n");
    symlink("shared/app.yml", folder.path("app.yml")).unwrap();
    symlink("app.yml", folder.path("alias.yml")).unwrap();
    symlink("loop2", folder.path("loop1")).unwrap();
    symlink("loop1", folder.path("loop2")).unwrap();
    symlink("shared/made/later.yml", folder.path("dangling")).unwrap();
    let edited = folder.replace("alias.yml", "low", "high").unwrap();
    assert_eq!(edited.path, folder.path("shared/app.yml"));
    assert_eq!(resolved(&folder.path("alias.yml")), Ok(folder.path("shared/app.yml")));
    folder.write("app.yml", "level: mid\n", Expected::Any).unwrap();
    assert_eq!(folder.content("shared/app.yml"), "level: mid\n");
    let looped = FaultKind::Kernel { operation: Operation::Find, errno: Errno::LOOP };
    assert_eq!(kind(folder.write("loop1", "x", Expected::Any)), looped);
    folder.write("dangling", "new\n", Expected::Absent).unwrap();
    assert_eq!(folder.content("shared/made/later.yml"), "new\n");
    for name in ["app.yml", "alias.yml", "dangling"] {
        assert!(folder.path(name).is_symlink());
    }
}

#[test]
fn paths_with_dots_lead_where_the_kernel_leads() {
    let folder = Folder::new();
    folder.put("deep/er/a.txt", "a\n");
    symlink("deep/er", folder.path("link")).unwrap();
    folder.put("deep/b.txt", "b\n");
    assert_eq!(resolved(&folder.path("link/../b.txt")), Ok(folder.path("deep/b.txt")));
    assert_eq!(resolved(&folder.path("./deep/./b.txt")), Ok(folder.path("deep/b.txt")));
    let missing = FaultKind::Kernel { operation: Operation::Find, errno: Errno::NOENT };
    assert_eq!(kind(folder.write("none/../b.txt", "x", Expected::Any)), missing);
    assert_eq!(
        kind(folder.write("new/", "x", Expected::Any)),
        FaultKind::NotRegular(FileType::Directory)
    );
}

#[test]
fn b072_hard_links_follow() {
    let folder = Folder::new();
    folder.put("rules.txt", "line old, and more of it\n");
    fs::hard_link(folder.path("rules.txt"), folder.path("copy.txt")).unwrap();
    let edited = folder.replace("rules.txt", "old, and more of it", "new").unwrap();
    assert_eq!(edited.outcome, Outcome::Updated { method: Replacement::InPlace });
    assert_eq!(folder.content("copy.txt"), "line new\n");
    assert_eq!(fs::metadata(folder.path("copy.txt")).unwrap().nlink(), 2);
    assert_eq!(folder.names(), ["copy.txt", "rules.txt"]);
}

#[test]
fn b074_a_file_that_changed_since_is_not_overwritten() {
    let folder = Folder::new();
    folder.put("n.md", "alpha\nbeta\n");
    let seen = Expected::Fingerprint(folder.read("n.md", first(1)).unwrap().fingerprint);
    folder.put("n.md", "alpha\nbeta\nHUMAN LINE\n");
    assert_eq!(kind(folder.write("n.md", "alpha\nBETA\n", seen)), FaultKind::Changed);
    assert_eq!(folder.content("n.md"), "alpha\nbeta\nHUMAN LINE\n");
    let edited = folder.replace("n.md", "beta", "BETA").unwrap();
    assert_eq!(folder.content("n.md"), "alpha\nBETA\nHUMAN LINE\n");
    // What an edit returns is what the next write may expect.
    folder.write("n.md", "all new\n", Expected::Fingerprint(edited.fingerprint)).unwrap();
    assert_eq!(kind(folder.write("n.md", "x\n", Expected::Absent)), FaultKind::Exists);
    fs::remove_file(folder.path("n.md")).unwrap();
    let gone = Expected::Fingerprint(Fingerprint::of(b"all new\n"));
    assert_eq!(kind(folder.write("n.md", "x\n", gone)), FaultKind::Changed);
}

#[test]
fn b075_content_decides_and_not_the_time() {
    let folder = Folder::new();
    let path = folder.put("t.md", "same\n");
    let seen = Expected::Fingerprint(folder.read("t.md", first(1)).unwrap().fingerprint);
    let touch = |date: &str| {
        assert!(Command::new("touch").args(["-d", date]).arg(&path).status().unwrap().success());
    };
    touch("2030-01-01");
    let written = folder.write("t.md", "new\n", seen).unwrap();
    touch("2029-01-01");
    folder.put("t.md", "sameX");
    touch("2029-01-01");
    let seen = Expected::Fingerprint(written.fingerprint);
    assert_eq!(kind(folder.write("t.md", "newer\n", seen)), FaultKind::Changed);
}

#[test]
fn a_file_that_may_not_be_written_is_not_replaced_by_a_rename() {
    let folder = Folder::new();
    let path = folder.put("a.txt", "old\n");
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    let written = folder.write("a.txt", "new\n", Expected::Any);
    if is_root() {
        // Whom no mode stops.
        let exchanged = Outcome::Updated { method: Replacement::Exchanged };
        return assert_eq!((written.unwrap().outcome, folder.mode("a.txt")), (exchanged, 0o444));
    }
    let refused = FaultKind::Kernel { operation: Operation::Write, errno: Errno::ACCESS };
    assert_eq!(kind(written), refused);
    // A file that may be, in a folder that takes no new one.
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let workspace = folder.path("");
    fs::set_permissions(&workspace, Permissions::from_mode(0o555)).unwrap();
    let written = folder.write("a.txt", "new\n", Expected::Any).unwrap();
    let made = folder.write("b.txt", "new\n", Expected::Any);
    fs::set_permissions(&workspace, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(written.outcome, Outcome::Updated { method: Replacement::InPlace });
    assert_eq!(
        kind(made),
        FaultKind::Kernel { operation: Operation::Create, errno: Errno::ACCESS }
    );
    assert_eq!(
        (folder.content("a.txt").as_str(), folder.names()),
        ("new\n", vec!["a.txt".to_owned()])
    );
}

#[test]
fn a_cancelled_change_leaves_nothing() {
    let folder = Folder::new();
    folder.put("a.txt", "old\n");
    folder.cancel.cancel();
    let cancelled = FaultKind::Cancelled(Cancelled);
    assert_eq!(kind(folder.write("a.txt", "new\n", Expected::Any)), cancelled);
    assert_eq!(kind(folder.write("new/b.txt", "new\n", Expected::Any)), cancelled);
    assert_eq!(
        (folder.content("a.txt").as_str(), folder.names()),
        ("old\n", vec!["a.txt".to_owned()])
    );
}

#[test]
fn a_journal_that_is_missing_changes_nothing() {
    let folder = Folder::new();
    let path = folder.put("a.txt", "old\n");
    let journal = folder.root().join("none");
    let context = folder.context(&journal);
    let fault = write(&path, "new\n", Expected::Any, Apply::Write, context).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Journal { operation: Operation::Find, errno: Errno::NOENT });
    assert_eq!(
        (fault.path.as_path(), folder.content("a.txt").as_str()),
        (Path::new(&journal), "old\n")
    );
}

#[test]
fn a_running_program_can_be_replaced() {
    let folder = Folder::new();
    fs::copy("/bin/sleep", folder.path("prog")).unwrap();
    let mut running = Command::new(folder.path("prog")).arg("60").spawn().unwrap();
    let written = folder.write("prog", "#!/bin/sh\n", Expected::Any).unwrap();
    assert_eq!(written.outcome, Outcome::Updated { method: Replacement::Exchanged });
    assert_eq!(
        (folder.mode("prog") & 0o111, folder.content("prog").as_str()),
        (0o111, "#!/bin/sh\n")
    );
    running.kill().unwrap();
    running.wait().unwrap();
}
