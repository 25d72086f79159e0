//! Skills in real trees: what is found, whose claim counts, and what is not followed, waited for or read.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use brattice_skills::{Catalogue, Flat, Root, SkillError, list, read};
use rustix::fs::{CWD, FileType, Mode, mknodat};

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("skills-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path.canonicalize().unwrap())
    }

    fn file(&self, path: &str, text: &str) -> &Self {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn root(&self, name: &str) -> Root {
        Root { path: self.0.join(name), within: None, flat: Flat::Skills }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

fn names(catalogue: &Catalogue) -> Vec<&str> {
    catalogue.skills.iter().map(|skill| skill.name.as_str()).collect()
}

fn unknown(roots: &[Root], name: &str) -> Vec<String> {
    match read(roots, name) {
        Err(SkillError::Unknown { known }) => known,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn skills_are_found_by_their_names_and_the_first_claim_counts() {
    let scratch = Scratch::new("found");
    scratch
        .file("one/both.md", "flat")
        .file("one/both/SKILL.md", "folder")
        .file("one/folder/SKILL.md", "---\nname: folder\ndescription: D\n---\nof one")
        .file("one/folder/notes.md", "no skill")
        .file("one/empty/other.txt", "no skill")
        .file("one/.hidden.md", "no skill")
        .file("two/folder/SKILL.md", "of two")
        .file("two/empty/SKILL.md", "of two");
    let roots = [scratch.root("one"), scratch.root("missing"), scratch.root("two")];
    let catalogue = list(&roots);
    assert_eq!(names(&catalogue), ["both", "empty", "folder"]);
    assert_eq!((catalogue.unreadable.len(), catalogue.omitted), (0, 0));
    let texts = ["both", "empty", "folder"].map(|name| {
        let skill = read(&roots, name).unwrap();
        skill.instructions().to_owned()
    });
    assert_eq!(texts, ["flat", "of two", "of one"]);
    let folder = read(&roots, "folder").unwrap();
    assert_eq!(folder.folder, scratch.0.join("one/folder").display().to_string());
    assert_eq!(unknown(&roots, "Folder"), ["both", "empty", "folder"]);
    let folders = Root { flat: Flat::Ignored, ..scratch.root("one") };
    assert_eq!(names(&list(std::slice::from_ref(&folders))), ["both", "folder"]);
    assert_eq!(read(&[folders], "both").unwrap().instructions(), "folder");
}

#[test]
fn a_name_is_no_path_and_no_link_leads_out() {
    let scratch = Scratch::new("links");
    scratch
        .file("secret/SKILL.md", "secret")
        .file("secret.md", "secret")
        .file("root/inside/SKILL.md", "inside");
    let root = scratch.0.join("root");
    symlink("../secret", root.join("folder")).unwrap();
    symlink("../secret.md", root.join("file.md")).unwrap();
    symlink("inside", root.join("alias")).unwrap();
    symlink(scratch.0.join("root"), scratch.0.join("outward")).unwrap();
    let roots = [scratch.root("root")];
    let catalogue = list(&roots);
    assert_eq!(names(&catalogue), ["alias", "inside"]);
    let why = "it leads out of its folder of skills";
    let whys: Vec<&str> = catalogue.unreadable.iter().map(|fault| fault.why.as_str()).collect();
    assert_eq!(whys, [why, why]);
    assert_eq!(read(&roots, "alias").unwrap().instructions(), "inside");
    for name in ["folder", "file"] {
        let Err(SkillError::Unreadable { why: told, .. }) = read(&roots, name) else {
            panic!("{name}")
        };
        assert_eq!(told, why, "{name}");
    }
    for name in
        ["../secret", "inside/../../secret", "..", ".", "", "/etc/passwd", "inside/SKILL", "a\0b"]
    {
        assert_eq!(unknown(&roots, name), ["alias", "inside"], "{name:?}");
    }
    // A root that a workspace has put there stays in it.
    let outward = Root { within: Some(root), ..scratch.root("secret") };
    assert_eq!(list(std::slice::from_ref(&outward)).unreadable[0].why, why);
    let linked = Root { within: Some(scratch.0.clone()), ..scratch.root("outward") };
    assert_eq!(names(&list(&[linked])), ["alias", "inside"]);
}

#[test]
fn what_is_no_regular_file_or_too_large_is_told_and_not_waited_for() {
    let scratch = Scratch::new("odd");
    scratch.file("root/fine.md", "fine").file("root/folder.md/x", "");
    let root = scratch.0.join("root");
    fs::create_dir(root.join("fifo")).unwrap();
    for fifo in ["fifo.md", "fifo/SKILL.md"] {
        mknodat(CWD, root.join(fifo), FileType::Fifo, Mode::RWXU, 0).unwrap();
    }
    fs::File::create(root.join("huge.md")).unwrap().set_len(5 << 30).unwrap();
    let begun = Instant::now();
    let roots = [scratch.root("root")];
    let catalogue = list(&roots);
    assert_eq!(names(&catalogue), ["fine"]);
    let why = |name: &str| match read(&roots, name) {
        Err(SkillError::Unreadable { why, .. }) => why,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(why("fifo"), "it is no regular file");
    assert_eq!(why("folder"), "it is no regular file");
    assert_eq!(
        why("huge"),
        format!("it is {} bytes long, and a skill may have 1048576", 5_u64 << 30)
    );
    assert_eq!(catalogue.unreadable.len(), 3);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_catalogue_is_bounded() {
    let scratch = Scratch::new("many");
    for number in 0..210 {
        scratch.file(&format!("root/s{number:03}.md"), "x");
    }
    let catalogue = list(&[scratch.root("root")]);
    assert_eq!((catalogue.skills.len(), catalogue.omitted), (200, 10));
    assert_eq!(catalogue.skills[199].name, "s199");
    let root: &Path = &scratch.0.join("root");
    assert_eq!(read(&[scratch.root("root")], "s209").unwrap().folder, root.display().to_string());
}
