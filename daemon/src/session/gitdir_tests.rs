//! Tests of what is evidence for a git directory, and of what is none.

use super::*;
use crate::session::testing::Scratch;

/// A repository `repo/.git` with a linked worktree at `tree`, as `git worktree add` makes it.
fn worktree(scratch: &Scratch) {
    for name in ["repo/.git/objects", "repo/.git/refs", "repo/.git/worktrees/w", "tree"] {
        scratch.folder(name);
    }
    scratch.file("repo/.git/HEAD", "ref: refs/heads/main\n");
    scratch.file("repo/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
    scratch.file("repo/.git/worktrees/w/commondir", "../..\n");
    scratch.file(
        "repo/.git/worktrees/w/gitdir",
        &format!("{}\n", scratch.path("tree/.git").display()),
    );
    scratch.file(
        "tree/.git",
        &format!("gitdir: {}\n", scratch.path("repo/.git/worktrees/w").display()),
    );
}

/// A submodule at `super/sub`, as `git submodule add` makes it.
fn submodule(scratch: &Scratch) {
    for name in ["super/.git/modules/sub/objects", "super/.git/modules/sub/refs", "super/sub"] {
        scratch.folder(name);
    }
    scratch.file("super/.git/modules/sub/HEAD", "ref: refs/heads/main\n");
    scratch.file(
        "super/.git/modules/sub/config",
        "[core]\n\tbare = false\n\tworktree = ../../../sub\n",
    );
    scratch.file("super/sub/.git", "gitdir: ../.git/modules/sub\n");
}

fn root(scratch: &Scratch, name: &str, kind: RootKind) -> Root {
    Root { path: scratch.path(name), kind }
}

#[test]
fn a_linked_worktree_gets_its_git_directory_and_the_common_one() {
    let scratch = Scratch::new();
    worktree(&scratch);
    let expected = vec![
        root(&scratch, "repo/.git/worktrees/w", RootKind::GitDir),
        root(&scratch, "repo/.git", RootKind::GitCommonDir),
    ];
    assert_eq!(find(&scratch.path("tree")), expected);

    scratch.file("repo/.git/worktrees/w/gitdir", "../../../../tree/.git\n");
    scratch.file("tree/.git", "gitdir: ../repo/.git/worktrees/w\n");
    assert_eq!(find(&scratch.path("tree")), expected, "with relative pointers");
}

#[test]
fn a_submodule_gets_its_git_directory() {
    let scratch = Scratch::new();
    submodule(&scratch);
    let expected = vec![root(&scratch, "super/.git/modules/sub", RootKind::GitDir)];
    assert_eq!(find(&scratch.path("super/sub")), expected);

    scratch.file("super/.git/modules/sub/config", "[core]\n\tbare = false\n");
    scratch.file(
        "super/.git/modules/sub/config.worktree",
        "[core]\n\tworktree = \"../../../sub\" ; x\n",
    );
    assert_eq!(find(&scratch.path("super/sub")), expected, "with extensions.worktreeConfig");
}

#[test]
fn a_plain_clone_and_a_plain_folder_need_nothing() {
    let scratch = Scratch::new();
    scratch.folder("clone/.git/objects");
    assert_eq!(find(&scratch.path("clone")), []);
    assert_eq!(find(&scratch.folder("plain")), []);
}

#[test]
fn a_foreign_folder_that_does_not_point_back_is_no_root() {
    let scratch = Scratch::new();
    worktree(&scratch);
    submodule(&scratch);
    scratch.folder("ssh");
    let evil = scratch.folder("evil");
    for target in
        ["ssh", "repo/.git", "repo/.git/worktrees/w", "super/.git/modules/sub", "missing", "/"]
    {
        let target = scratch.path(target);
        scratch.file("evil/.git", &format!("gitdir: {}\n", target.display()));
        assert_eq!(find(&evil), [], "{}", target.display());
    }
}

#[test]
fn what_a_command_can_make_inside_the_workspace_opens_nothing_outside() {
    let scratch = Scratch::new();
    scratch.folder("home/worktrees/ws");
    let workspace = scratch.path("home/worktrees/ws");
    scratch.file("home/worktrees/ws/.git", "gitdir: .\n");
    scratch.file("home/worktrees/ws/HEAD", "ref: refs/heads/x\n");
    scratch.file("home/worktrees/ws/gitdir", &format!("{}/.git\n", workspace.display()));
    scratch.file("home/worktrees/ws/commondir", "../..\n");
    assert_eq!(find(&workspace), []);

    // The same from a neighbour that another session may write to: its grandparent is no repository.
    scratch.folder("home/worktrees/other");
    for name in ["HEAD", "gitdir", "commondir"] {
        std::fs::copy(workspace.join(name), scratch.path("home/worktrees/other").join(name))
            .unwrap();
    }
    scratch.file("home/worktrees/ws/.git", "gitdir: ../other\n");
    assert_eq!(find(&workspace), []);
}

/// What a session on the folder above the worktree may do: move it away and put `replacement` in its place.
fn moved_worktree(replacement: impl FnOnce(&Scratch)) -> Scratch {
    let scratch = Scratch::new();
    worktree(&scratch);
    std::fs::rename(scratch.path("tree"), scratch.path("tree.old")).unwrap();
    scratch.folder("other");
    replacement(&scratch);
    scratch
}

#[test]
fn a_worktree_that_was_replaced_by_a_link_lends_its_repository_to_nobody() {
    let scratch = moved_worktree(|scratch| {
        std::os::unix::fs::symlink("other", scratch.path("tree")).unwrap();
        std::fs::copy(scratch.path("tree.old/.git"), scratch.path("other/.git")).unwrap();
    });
    assert_eq!(find(&scratch.path("other")), [], "the recorded path leads through a link");
    assert_eq!(find(&scratch.path("tree.old")), [], "the recorded path leads elsewhere");
}

#[test]
fn a_recorded_path_below_a_link_names_nobody() {
    let scratch = Scratch::new();
    for name in ["above/tree", "repo/.git/objects", "repo/.git/refs", "repo/.git/worktrees/w"] {
        scratch.folder(name);
    }
    worktree(&scratch);
    std::os::unix::fs::symlink("above", scratch.path("link")).unwrap();
    std::fs::copy(scratch.path("tree/.git"), scratch.path("above/tree/.git")).unwrap();
    let record = |path: &str| {
        let path = scratch.path(path).display().to_string();
        scratch.file("repo/.git/worktrees/w/gitdir", &path);
    };
    record("link/tree/.git");
    assert_eq!(find(&scratch.path("above/tree")), []);
    record("above/tree/.git");
    assert_eq!(find(&scratch.path("above/tree")).len(), 2, "without the link it is ours");
}

#[test]
fn a_hard_link_to_the_pointer_file_lends_nothing_either() {
    let scratch = moved_worktree(|scratch| {
        scratch.folder("tree");
        for name in ["tree/.git", "other/.git"] {
            std::fs::hard_link(scratch.path("tree.old/.git"), scratch.path(name)).unwrap();
        }
    });
    assert_eq!(find(&scratch.path("other")), []);
    assert_eq!(find(&scratch.path("tree")).len(), 2, "the recorded path itself is ours");
}

#[test]
fn a_submodule_that_was_replaced_by_a_link_lends_its_git_directory_to_nobody() {
    let scratch = Scratch::new();
    submodule(&scratch);
    scratch.folder("super/other");
    std::fs::copy(scratch.path("super/sub/.git"), scratch.path("super/other/.git")).unwrap();
    std::fs::rename(scratch.path("super/sub"), scratch.path("super/sub.old")).unwrap();
    std::os::unix::fs::symlink("other", scratch.path("super/sub")).unwrap();
    assert_eq!(find(&scratch.path("super/other")), []);
}

#[test]
fn a_common_directory_elsewhere_than_git_puts_it_is_no_root() {
    let scratch = Scratch::new();
    worktree(&scratch);
    for name in ["victim/objects", "victim/refs"] {
        scratch.folder(name);
    }
    scratch.file("victim/HEAD", "ref: refs/heads/main\n");
    scratch.file("repo/.git/worktrees/w/commondir", &scratch.path("victim").display().to_string());
    assert_eq!(find(&scratch.path("tree")), []);
}

#[test]
fn links_fifos_and_nonsense_are_no_pointers() {
    let scratch = Scratch::new();
    worktree(&scratch);
    let dot_git = scratch.path("tree/.git");
    let real = scratch.path("tree/real");
    std::fs::rename(&dot_git, &real).unwrap();
    std::os::unix::fs::symlink(&real, &dot_git).unwrap();
    assert_eq!(find(&scratch.path("tree")), [], "a link");
    for text in ["", "gitdir: ", "gitdir: \n", "gitdir: a\0b\n", "nonsense\n"] {
        std::fs::remove_file(&dot_git).unwrap();
        scratch.file("tree/.git", text);
        assert_eq!(find(&scratch.path("tree")), [], "{text:?}");
    }
    std::fs::remove_file(&dot_git).unwrap();
    rustix::fs::mknodat(CWD, &dot_git, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
    assert_eq!(find(&scratch.path("tree")), [], "a FIFO");
}

#[test]
fn core_worktree_is_read_as_git_writes_it() {
    let cases: [(&str, Option<&str>); 7] = [
        ("[core]\n\tworktree = ../a b\n", Some("../a b")),
        ("[core]\nworktree=\"/a;b\\\\c\"\n", Some("/a;b\\c")),
        ("[core]\nworktree = /a # comment\n", Some("/a")),
        ("[CORE]\nWorkTree = /a\nworktree = /b\n", Some("/b")),
        ("[core \"x\"]\nworktree = /a\n", None),
        ("[core]\nworktree =\n", None),
        ("[remote \"o\"]\nworktree = /a\n", None),
    ];
    for (text, expected) in cases {
        assert_eq!(core_worktree(text.as_bytes()), expected.map(PathBuf::from), "{text:?}");
    }
}
