//! Tests of what a session may be opened on.

use super::*;
use crate::session::testing::Scratch;

/// A daemon that lives in `daemon/`, and a folder `ws` beside it.
fn scratch() -> (Scratch, OwnPaths) {
    let scratch = Scratch::new();
    let own = OwnPaths {
        state: scratch.folder("daemon/state"),
        sockets: vec![scratch.folder("daemon/run")],
        executable: scratch.folder("daemon/bin").join("bratticed"),
        configuration: vec![scratch.folder("daemon/config").join("brattice/config.toml")],
    };
    scratch.folder("ws/sub");
    scratch.file("ws/file", "");
    (scratch, own)
}

fn params(workspace: &str) -> OpenParams {
    OpenParams { workspace: workspace.to_owned(), ..OpenParams::default() }
}

fn fault(params: &OpenParams, own: &OwnPaths) -> String {
    resolve(params, &[], own).unwrap_err().to_string()
}

#[test]
fn roots_are_canonical_each_once_and_the_cwd_widens_nothing() {
    let (scratch, own) = scratch();
    let workspace = scratch.path("ws");
    let link = scratch.path("link");
    std::os::unix::fs::symlink(&workspace, &link).unwrap();
    let text = |name: &str| scratch.path(name).display().to_string();
    let opened = OpenParams {
        cwd: Some("../daemon".to_owned()),
        writable: vec![text("ws/sub/.."), text("ws/sub")],
        ..params(&text("link"))
    };
    let expected = Workspace {
        roots: vec![
            Root { path: workspace.clone(), kind: RootKind::Workspace },
            Root { path: workspace.join("sub"), kind: RootKind::Writable },
        ],
        cwd: scratch.path("daemon"),
    };
    assert_eq!(resolve(&opened, &[], &own).unwrap(), expected);
    assert_eq!(resolve(&params(&text("ws")), &[], &own).unwrap().cwd, workspace);
}

#[test]
fn a_faulty_path_is_named() {
    let (scratch, own) = scratch();
    let text = |name: &str| scratch.path(name).display().to_string();
    let (file, missing, below) = (text("ws/file"), text("missing"), text("ws/file/x"));
    let cases = [
        ("ws", "workspace \"ws\" is not an absolute path".to_owned()),
        ("", "workspace \"\" is not an absolute path".to_owned()),
        ("/a\0b", "workspace \"/a\\0b\" contains a NUL character".to_owned()),
        (&missing, format!("workspace {missing:?} does not exist")),
        (&file, format!("workspace {file:?} is not a folder")),
        (&below, format!("workspace {below:?} is not a folder")),
        ("/", "workspace \"/\" is the root of the file system".to_owned()),
        ("/usr/..", "workspace \"/usr/..\" is the root of the file system".to_owned()),
    ];
    for (path, expected) in cases {
        assert_eq!(fault(&params(path), &own), expected);
        let writable = OpenParams { writable: vec![path.to_owned()], ..params(&text("ws")) };
        assert_eq!(fault(&writable, &own), expected.replacen("workspace", "writable root", 1));
    }
    let cwd = |cwd: &str| OpenParams { cwd: Some(cwd.to_owned()), ..params(&text("ws")) };
    assert_eq!(fault(&cwd("nowhere"), &own), "cwd \"nowhere\" does not exist");
    assert_eq!(fault(&cwd("file"), &own), "cwd \"file\" is not a folder");
    assert_eq!(fault(&cwd("a\0"), &own), "cwd \"a\\0\" contains a NUL character");
}

#[test]
fn a_root_that_holds_what_the_daemon_lives_on_is_refused() {
    let (scratch, own) = scratch();
    scratch.folder("daemon/state/sessions/x");
    let cases = [
        ("daemon", "state folder", "daemon/state"),
        ("daemon/state", "state folder", "daemon/state"),
        ("daemon/state/sessions/x", "state folder", "daemon/state"),
        ("daemon/run", "socket folder", "daemon/run"),
        ("daemon/bin", "executable", "daemon/bin/bratticed"),
        ("daemon/config", "configuration", "daemon/config/brattice/config.toml"),
    ];
    for (root, kind, path) in cases {
        let (root, path) = (scratch.path(root), scratch.path(path));
        let expected = format!("{root:?} would open the daemon's {kind} {path:?} to commands");
        let text = root.display().to_string();
        assert_eq!(fault(&params(&text), &own), format!("workspace {expected}"));
        let workspace = scratch.path("ws").display().to_string();
        let writable = OpenParams { writable: vec![text], ..params(&workspace) };
        assert_eq!(fault(&writable, &own), format!("writable root {expected}"));
    }
}

#[test]
fn a_git_directory_that_holds_the_daemons_state_is_refused() {
    let (scratch, mut own) = scratch();
    own.state = scratch.folder("super/.git/modules/sub/state");
    scratch.folder("super/.git/modules/sub/objects");
    scratch.folder("super/.git/modules/sub/refs");
    scratch.folder("super/sub");
    scratch.file("super/.git/modules/sub/HEAD", "");
    scratch.file("super/.git/modules/sub/config", "[core]\n\tworktree = ../../../sub\n");
    scratch.file("super/sub/.git", "gitdir: ../.git/modules/sub\n");
    let fault = fault(&params(&scratch.path("super/sub").display().to_string()), &own);
    assert!(fault.starts_with("git directory "), "{fault}");
}

#[test]
fn a_root_that_is_the_kernels_is_refused_also_behind_a_link() {
    let (scratch, own) = scratch();
    let itself = PathBuf::from(format!("/proc/{}", std::process::id()));
    let cases = [
        ("/proc/self", itself.as_path(), "procfs"),
        ("/sys", Path::new("/sys"), "sysfs"),
        ("/dev/pts", Path::new("/dev/pts"), "devpts"),
        ("/dev", Path::new("/dev"), "devtmpfs"),
    ];
    for (target, root, kind) in cases {
        let link = scratch.path(kind);
        std::os::unix::fs::symlink(target, &link).unwrap();
        let expected =
            format!("{root:?} is on {kind}, which holds the kernel's own state or devices");
        for path in [target.to_owned(), link.display().to_string()] {
            assert_eq!(fault(&params(&path), &own), format!("workspace {expected}"));
            let workspace = scratch.path("ws").display().to_string();
            let writable = OpenParams { writable: vec![path], ..params(&workspace) };
            assert_eq!(fault(&writable, &own), format!("writable root {expected}"));
        }
    }
}
