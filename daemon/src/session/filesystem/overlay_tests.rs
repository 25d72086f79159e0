//! Tests of what is taken for an overlay's upper layer. None is mounted: the kernel's table gets one more line.

use std::os::unix::fs::symlink;

use super::*;
use crate::session::testing::Scratch;

/// Folders for layers: `a/u2`, `a/w2` and more of that kind.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    for folder in ["a/u2/sub", "a/w2", "a/u22", "b/u2", "low", "merged"] {
        scratch.folder(folder);
    }
    scratch
}

/// The kernel's table and an overlay with these options on this folder.
fn mounts(point: &str, options: &str) -> Mounts {
    let mut table = std::fs::read("/proc/self/mountinfo").unwrap();
    let line = format!("4000000 1 0:999999 / {point} rw - overlay o rw,lowerdir=/l,{options}\n");
    table.extend(line.into_bytes());
    Mounts::parse(&table)
}

/// Asserts which folders of a scratch are part of the layer, and that no other is.
fn assert_opened_by(scratch: &Scratch, point: &Path, options: &str, expected: &[&str]) {
    let mounts = mounts(&point.display().to_string(), options);
    for folder in ["", "a", "a/u2", "a/u2/sub", "a/w2", "a/u22", "b", "b/u2", "low", "merged"] {
        let found = merged_above(&mounts, &scratch.path(folder).canonicalize().unwrap());
        let merged = expected.contains(&folder).then(|| point.to_owned());
        assert_eq!(found, merged, "{folder:?}: {options}");
    }
}

/// What the layer `a/u2` is opened by.
const ALL: [&str; 4] = ["", "a", "a/u2", "a/u2/sub"];

#[test]
fn f19_the_upper_layer_of_an_overlay_is_no_root() {
    let scratch = scratch();
    let options = format!(
        "upperdir={upper},workdir={work}",
        upper = scratch.path("a/u2").display(),
        work = scratch.path("a/w2").display()
    );
    assert_opened_by(&scratch, &scratch.path("merged"), &options, &ALL);
    let mounts = mounts("/merged", &options);
    assert_eq!(merged_above(&mounts, Path::new("/")), None);
    let others = Mounts::parse(b"22 1 0:5 / / rw - tmpfs upperdir=/ rw,upperdir=/tmp\n");
    assert_eq!(merged_above(&others, &scratch.path("a")), None);
}

#[test]
fn f19_a_layer_that_was_named_through_a_link_is_found() {
    let scratch = scratch();
    symlink("a", scratch.path("link")).unwrap();
    symlink("a/u2", scratch.path("up")).unwrap();
    for upper in ["link/u2", "up", "low/../up/../u2"] {
        let options = format!("upperdir={},workdir=/w", scratch.path(upper).display());
        assert_opened_by(&scratch, &scratch.path("merged"), &options, &ALL);
    }
}

#[test]
fn f19_a_layer_that_was_named_from_a_folder_is_looked_for() {
    let scratch = scratch();
    let merged = scratch.path("merged");
    for (path, work) in [("a/u2", "a/w2"), ("./a//u2/", "low/../a/w2"), ("b/../a/u2", "a/w2")] {
        let options = format!("upperdir={path},workdir={work}");
        assert_opened_by(&scratch, &merged, &options, &ALL);
    }
    // Where the mount is elsewhere, the folders above a root are left.
    assert_opened_by(&scratch, Path::new("/else/merged"), "upperdir=a/u2,workdir=a/w2", &ALL);
    let beside = scratch.path("a/merged");
    assert_opened_by(&scratch, &beside, "upperdir=../a/u2,workdir=w2", &ALL);
    assert_opened_by(&scratch, &beside, "upperdir=.,workdir=../gone", &[]);
    // The folder is not known: the name is all there is.
    let in_it = ["a/u2", "a/u2/sub"];
    assert_opened_by(&scratch, &merged, "upperdir=../../a/u2,workdir=w2", &in_it);
    assert_opened_by(&scratch, &merged, "upperdir=a/u2,workdir=/else/w", &in_it);
    // Each folder beside the other one may be it.
    let beside = ["a/u2", "a/u2/sub", "a/u22", "a/w2"];
    assert_opened_by(&scratch, &merged, "upperdir=.,workdir=../w2", &beside);
}

#[test]
fn f19_a_layer_of_a_root_of_the_file_system_that_is_not_here_is_known_by_its_names_end() {
    let scratch = scratch();
    let top = scratch.path("").canonicalize().unwrap();
    let name = Path::new(top.file_name().unwrap());
    // As a container sees its own: /layers is the host's.
    let options = format!("upperdir=/{0}/a/u2,workdir=/{0}/a/w2", name.display());
    assert_opened_by(&scratch, Path::new("/"), &options, &ALL);
    assert_opened_by(&scratch, Path::new("/"), "upperdir=/layers/u2,workdir=/layers/w2", &[]);
}

#[test]
fn f19_a_layers_name_is_read_whatever_signs_it_has() {
    for (name, written) in [
        ("s p\tt\nn", r"s\040p\011t\012n"),
        (r"x,y", r"x\134\054y"),
        (r"x,y", r"x\054y"),
        (r"b\c", r"b\134\134c"),
        (r"b\c", r"b\134c"),
        (r"\040", r"\134\134040"),
        (r"c:d", r"c\134:d"),
        ("e\u{e9}=#", "e\u{e9}=\\043"),
    ] {
        let scratch = scratch();
        let (up, top) = (scratch.folder(&format!("{name}/up")), scratch.path(""));
        let options = format!("upperdir={}/{written}/up,workdir=/w", top.display());
        let mounts = mounts("/merged", &options);
        let found =
            [up, scratch.path(name), scratch.path("a")].map(|it| merged_above(&mounts, &it));
        assert_eq!(found, [Some("/merged".into()), Some("/merged".into()), None], "{written}");
    }
}
