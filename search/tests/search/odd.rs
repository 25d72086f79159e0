//! Trees with something odd in them: links as roots, folders that cannot be read, depth, `/proc`.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use brattice_search::{Cancel, Cause, GrepQuery, Ignored, Output, Stop, Unreadable};
use rustix::fs::{AtFlags, Mode, OFlags};

use crate::tree::Tree;

#[test]
fn a_root_that_is_a_link_stands_for_its_target() {
    let tree = Tree::of(&[("real/.gitignore", "skipped\n"), ("real/a.txt", "x\n")]);
    tree.write("real/skipped", b"x\n");
    tree.link("folder", "real");
    tree.link("file", "real/a.txt");
    assert_eq!(tree.files_with("x", "folder", Ignored::Skip), ["folder/a.txt"]);
    assert_eq!(tree.glob_in("folder", "*", Ignored::Skip), ["folder/a.txt"]);
    assert_eq!(tree.files_with("x", "file", Ignored::Skip), ["file"]);
}

#[test]
fn folders_and_files_that_cannot_be_read_are_told_beside_the_matches() {
    let tree = Tree::of(&[("a.txt", "x\n"), ("closed/b.txt", "x\n"), ("locked.txt", "x\n")]);
    let set = |name: &str, mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(tree.path(name), mode).unwrap();
    };
    set("closed", 0o000);
    set("locked.txt", 0o000);
    let found = tree.grep(&GrepQuery { output: Output::Files, ..tree.query("x") });
    let listed = tree.list(&tree.glob_query("*.txt")).unwrap();
    // Root may read all the same; then these are matches like any.
    let refused = std::fs::File::open(tree.path("locked.txt")).is_err();
    set("closed", 0o755);
    let unreadable = |name: &str| Unreadable { path: tree.path(name), cause: Cause::Errno(13) };
    let files: Vec<String> = found.files.iter().map(|file| tree.shown(&file.path)).collect();
    if refused {
        assert_eq!(files, ["a.txt"]);
        assert_eq!(found.unreadable.first, [unreadable("closed"), unreadable("locked.txt")]);
        assert_eq!(listed.unreadable.first, [unreadable("closed")]);
        assert_eq!(listed.total, 2);
    } else {
        assert_eq!(files, ["a.txt", "closed/b.txt", "locked.txt"]);
        assert_eq!((found.unreadable.first.len(), listed.total), (0, 3));
    }
    assert_eq!(found.stop, Stop::Complete);
}

/// Makes folders within folders until no path reaches the last, with a file in each, and gives what removes them.
fn bottomless(tree: &Tree) -> impl Drop {
    struct Remove(PathBuf);
    impl Drop for Remove {
        fn drop(&mut self) {
            let open = |folder: std::os::fd::BorrowedFd<'_>| {
                let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
                rustix::fs::openat(folder, name(), flags, Mode::empty()).ok()
            };
            let top = rustix::fs::open(&self.0, OFlags::DIRECTORY, Mode::empty()).unwrap();
            let mut chain = vec![top];
            while let Some(next) = open(std::os::fd::AsFd::as_fd(chain.last().unwrap())) {
                chain.push(next);
            }
            for folder in chain.iter().rev() {
                for (name, flags) in
                    [("f.txt".to_owned(), AtFlags::empty()), (name(), AtFlags::REMOVEDIR)]
                {
                    if let Err(error) = rustix::fs::unlinkat(folder, &name, flags) {
                        assert_eq!(error, rustix::io::Errno::NOENT);
                    }
                }
            }
        }
    }
    fn name() -> String {
        "n".repeat(200)
    }
    let mut folder = rustix::fs::open(tree.path(""), OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..25 {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&folder, "f.txt", flags, Mode::from(0o644)).unwrap();
        rustix::io::write(file, b"x\n").unwrap();
        rustix::fs::mkdirat(&folder, name(), Mode::from(0o755)).unwrap();
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        folder = rustix::fs::openat(&folder, name(), flags, Mode::empty()).unwrap();
    }
    Remove(tree.path(""))
}

#[test]
fn what_no_path_reaches_is_told_beside_the_matches() {
    let tree = Tree::new();
    let _remove = bottomless(&tree);
    let found = tree.grep(&tree.query("x"));
    // 4,095 bytes are the longest path.
    let depth = (4095 - tree.path("").as_os_str().len()) / 201;
    let mut unreadable = tree.path("");
    (0..=depth).for_each(|_| unreadable.push("n".repeat(200)));
    let told = Unreadable { path: unreadable, cause: Cause::Errno(36) };
    assert_eq!(found.unreadable.first, std::slice::from_ref(&told));
    assert_eq!((found.files.len(), found.stop), (depth + 1, Stop::Complete));
    let listed = tree.list(&tree.glob_query("*")).unwrap();
    assert_eq!((listed.total, listed.unreadable.first), (depth as u64 + 1, vec![told]));
}

#[test]
fn rule_files_that_are_no_files_hold_nothing_up() {
    let tree = Tree::of(&[("a.txt", "x\n"), ("sub/b.txt", "x\n")]);
    tree.run(
        "mkfifo .gitignore sub/.ignore && mkdir .git sub/.gitignore && ln -s /dev/zero .ignore",
    );
    let found = tree.grep(&tree.query("x"));
    assert_eq!((found.files.len(), found.unreadable.first), (2, vec![]));
}

#[test]
fn a_search_of_proc_ends() {
    let tree = Tree::new();
    let query = GrepQuery {
        root: PathBuf::from("/proc/self"),
        output: Output::Files,
        ignored: Ignored::Include,
        ..tree.query("VmPeak")
    };
    let found = brattice_search::grep(&query, &Cancel::new()).unwrap();
    assert!(found.files.iter().any(|file| file.path.ends_with("self/status")), "{found:?}");
    assert_eq!(found.stop, Stop::Complete);
}
