//! The cases of writing and editing in the toolsets other than `standard`.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::thread;

use brattice_tests::{Kit, World, kit, kits};
use serde_json::json;

use crate::{call, content, names};

/// Reads files, as one toolset demands, and asserts that they could be.
fn seen(kit: &Kit, names: &[&str]) {
    for name in names {
        let reply = kit.read(name);
        assert!(!reply.is_error(), "{}: {}", kit.toolset, reply.text());
    }
}

#[test]
fn b064_b065_line_ends_are_those_of_the_file_in_every_toolset() {
    let world = World::new();
    for kit in kits(&world) {
        world.file("w.py", "def f():\r\n    a = 1\r\n    return a\r\n");
        world.file("mix.txt", "alpha\r\nbeta\ngam\rma\r\ndelta");
        seen(&kit, &["mix.txt"]);
        kit.read("w.py")
            .lacks("\r")
            .holds(&kit.lines(1, &["def f():", "    a = 1", "    return a"]));
        let edited =
            kit.edit("w.py", "    a = 1\n    return a", "    a = 2\n    b = 3\n    return a + b");
        assert!(!edited.is_error(), "{}", edited.text());
        assert_eq!(
            content(&world, "w.py"),
            b"def f():\r\n    a = 2\r\n    b = 3\r\n    return a + b\r\n"
        );
        assert!(!kit.edit("mix.txt", "beta", "BETA").is_error());
        assert_eq!(content(&world, "mix.txt"), b"alpha\r\nBETA\ngam\rma\r\ndelta");
    }
    world.finish();
}

#[test]
fn b067_b068_marks_stay_and_replacements_are_literal_in_every_toolset() {
    let world = World::new();
    let literal = r"$$ $& $` $' $1 ${x} \\1 \\0 %s & ~";
    for kit in kits(&world) {
        world.file("s.ps1", "\u{feff}Write-Host \"x\"\n# café\n");
        world.file("r.sh", "head\nv=[old]\ntail\n");
        seen(&kit, &["s.ps1", "r.sh"]);
        assert!(!kit.edit("s.ps1", "Write-Host \"x\"", "Write-Host \"y\"").is_error());
        assert_eq!(content(&world, "s.ps1"), "\u{feff}Write-Host \"y\"\n# café\n".as_bytes());
        assert!(!kit.write("s.ps1", "Write-Host \"z\"\n").is_error());
        assert_eq!(content(&world, "s.ps1"), "\u{feff}Write-Host \"z\"\n".as_bytes());
        assert!(!kit.edit("r.sh", "old", literal).is_error());
        assert_eq!(content(&world, "r.sh"), format!("head\nv=[{literal}]\ntail\n").as_bytes());
        assert!(!kit.edit("r.sh", "$& $`", r"&& \n").is_error());
        let changed = literal.replace("$& $`", r"&& \n");
        assert_eq!(content(&world, "r.sh"), format!("head\nv=[{changed}]\ntail\n").as_bytes());
        if let Some(reply) = kit.edit_all("r.sh", "$", "$&$$") {
            assert!(!reply.is_error());
            let changed = changed.replace('$', "$&$$");
            assert_eq!(content(&world, "r.sh"), format!("head\nv=[{changed}]\ntail\n").as_bytes());
        }
    }
    world.finish();
}

#[test]
fn b069_b070_b072_modes_links_and_other_names_stay_in_every_toolset() {
    let world = World::new();
    for kit in kits(&world) {
        world.setup(
            "rm -rf *; umask 022; printf 'x old\\n' > run.sh; chmod 755 run.sh; printf 'k=old\\n' > secret.env; \
             chmod 600 secret.env; mkdir shared; printf 'level: low\\n' > shared/app.yml; ln -s shared/app.yml app.yml; \
             ln -s loop2 loop1; ln -s loop1 loop2; printf 'line old\\n' > rules.txt; ln rules.txt copy.txt",
        );
        seen(&kit, &["run.sh", "secret.env", "app.yml", "rules.txt"]);
        let mode = |name| world.ws().join(name).metadata().unwrap().permissions().mode() & 0o7777;
        for (name, expected) in [("run.sh", 0o755), ("secret.env", 0o600)] {
            assert!(!kit.edit(name, "old", "new").is_error());
            assert!(!kit.write(name, "whole\n").is_error());
            assert_eq!(mode(name), expected, "{name}");
        }
        assert!(!kit.edit("app.yml", "low", "high").is_error());
        assert_eq!(content(&world, "shared/app.yml"), b"level: high\n");
        assert!(world.ws().join("app.yml").is_symlink());
        let looped = kit.write("loop1", "x");
        assert!(looped.is_error());
        looped.holds("Too many levels of symbolic links");
        kit.edit("rules.txt", "old", "new").holds("[written in place: ");
        assert_eq!(content(&world, "copy.txt"), b"line new\n");
        assert_eq!(world.ws().join("copy.txt").metadata().unwrap().nlink(), 2);
    }
    world.finish();
}

#[test]
fn b074_b075_what_somebody_else_changed_in_every_toolset() {
    let world = World::new();
    for kit in kits(&world) {
        world.file("n.md", "alpha\nbeta\n");
        seen(&kit, &["n.md"]);
        world.setup("printf 'alpha\\nbeta\\nHUMAN LINE\\n' > n.md");
        assert!(!kit.edit("n.md", "beta", "BETA").is_error());
        assert_eq!(content(&world, "n.md"), b"alpha\nBETA\nHUMAN LINE\n");
        world.setup("printf 'theirs\\n' > n.md");
        let reply = kit.write("n.md", "mine\n");
        // The other toolsets do not ask what was read.
        assert_eq!(reply.is_error(), kit.toolset == "dsh", "{}", reply.text());
        let left = if kit.toolset == "dsh" { "theirs\n" } else { "mine\n" };
        assert_eq!(content(&world, "n.md"), left.as_bytes());
        world.file("t.md", "same\n");
        seen(&kit, &["t.md"]);
        world.setup("touch -d '+1 hour' t.md");
        assert!(!kit.write("t.md", "new\n").is_error());
    }
    world.finish();
}

#[test]
fn b074_two_clients_lose_no_edit_in_every_toolset() {
    let world = World::new();
    let lines: String = (0..400).map(|number| format!("line {number}.\n")).collect();
    for toolset in ["dsh", "glrs", "minimal"] {
        world.file("many.txt", &lines);
        let kits = [kit(&world, toolset), kit(&world, toolset)];
        kits.iter().for_each(|kit| seen(kit, &["many.txt"]));
        thread::scope(|scope| {
            for (half, kit) in kits.into_iter().enumerate() {
                scope.spawn(move || {
                    for number in (0..400).skip(half).step_by(2) {
                        let (old, new) = (format!("line {number}."), format!("done {number}."));
                        let reply = kit.edit("many.txt", &old, &new);
                        assert!(!reply.is_error(), "{}", reply.text());
                    }
                });
            }
        });
        assert_eq!(content(&world, "many.txt"), lines.replace("line", "done").as_bytes());
    }
    world.finish();
}

#[test]
fn b076_an_empty_old_text_is_refused_in_every_toolset() {
    let world = World::new();
    for kit in kits(&world) {
        world.setup("rm -f *; printf pqr > e.txt; : > zero.txt");
        seen(&kit, &["e.txt", "zero.txt"]);
        let before = world.ws().join("e.txt").metadata().unwrap();
        for name in ["e.txt", "zero.txt", "absent.txt"] {
            let reply = kit.edit(name, "", "X");
            assert!(reply.is_error(), "{name}");
            reply.holds(&format!("{} must not be empty", kit.old()));
        }
        if let Some(reply) = kit.edit_all("e.txt", "", "X") {
            assert!(reply.is_error());
            reply.holds("old_string must not be empty");
        }
        let same = kit.edit("e.txt", "pqr", "pqr");
        assert!(same.is_error());
        same.holds("nothing to change");
        let after = world.ws().join("e.txt").metadata().unwrap();
        assert_eq!((after.ino(), after.mtime_nsec()), (before.ino(), before.mtime_nsec()));
        assert_eq!(names(&world), ["e.txt", "zero.txt"]);
    }
    world.finish();
}

#[test]
fn b078_b082_tabs_numbers_and_overlaps_in_every_toolset() {
    let world = World::new();
    for kit in kits(&world) {
        world.file("Makefile", "all:\n\tgcc -c a.c\n\t\techo  two\n");
        world.setup("printf 'tick();\\ntick();\\ntick();\\n' > o.txt; printf aaa > p.txt");
        seen(&kit, &["o.txt", "p.txt"]);
        kit.read("Makefile").holds(&kit.lines(1, &["all:", "\tgcc -c a.c", "\t\techo  two"]));
        assert!(!kit.edit("Makefile", "\tgcc -c a.c", "\tgcc -O2 -c a.c").is_error());
        let blanks = kit.edit("Makefile", "    gcc -O2", "    gcc -O3");
        assert!(blanks.is_error());
        blanks.holds(&format!("{} was not found; ", kit.old())).holds("whitespace (tabs, blanks)");
        let numbered = kit.edit("Makefile", "     2|\tgcc", "\tclang");
        assert!(numbered.is_error());
        numbered.holds("without the line numbers, which are display only, it stands in line 2");
        assert_eq!(content(&world, "Makefile"), b"all:\n\tgcc -O2 -c a.c\n\t\techo  two\n");
        let more = if kit.toolset == "minimal" { "" } else { ", or replace all" };
        for (name, old, lines) in [("o.txt", "tick();\ntick();\n", "1, 2"), ("p.txt", "aa", "1, 1")]
        {
            let path = world.ws().join(name).display().to_string();
            let words = format!(
                "{path}: {} occurs 2 times (lines {lines}); add lines around it{more}",
                kit.old()
            );
            kit.fails(&kit.edit(name, old, "b"), &words);
        }
        if let Some(reply) = kit.edit_all("p.txt", "aa", "b") {
            reply.holds("(1 replacement)");
            assert_eq!(content(&world, "p.txt"), b"ba");
        }
    }
    world.finish();
}

#[test]
fn b079_in_glrs_files_are_edited_in_turn_all_or_none() {
    let world = World::new();
    let kit = kit(&world, "glrs");
    for name in ["a", "b", "c"] {
        world.file(&format!("{name}.txt"), &format!("{name} one\n"));
    }
    let inodes =
        || ["a.txt", "b.txt", "c.txt"].map(|name| world.ws().join(name).metadata().unwrap().ino());
    let before = inodes();
    let one = |name: &str, edits: &[(&str, &str)]| {
        let edit = |(old, new): &(&str, &str)| json!({"old_string": old, "new_string": new});
        json!({"path": format!("{name}.txt"), "edits": edits.iter().map(edit).collect::<Vec<_>>()})
    };
    let edit = |old: &str| {
        // The second edit of `a` finds what the first one made.
        let a = one("a", &[("one", "two"), ("a two", "A 2")]);
        let files = json!([a, one("b", &[(old, "1")]), one("c", &[("one", "1")])]);
        call(kit.session(), "edit", json!({"files": files}))
    };
    let path = world.ws().join("b.txt").display().to_string();
    kit.fails(&edit("missing"), &format!("{path}: old_string was not found\nnothing was written"));
    assert_eq!((inodes(), content(&world, "a.txt")), (before, b"a one\n".to_vec()));
    edit("one").says(
        "edited a.txt (2 replacements)\nedited b.txt (1 replacement)\nedited c.txt (1 replacement)",
    );
    assert_eq!(content(&world, "a.txt"), b"A 2\n");
    assert_eq!(content(&world, "c.txt"), b"c 1\n");
    // Not the other way round: each edit sees what the one before made, and no more.
    let files = json!([one("a", &[("2", "two"), ("2", "x"), ("gone", "y")])]);
    let path = world.ws().join("a.txt").display().to_string();
    kit.fails(
        &call(kit.session(), "edit", json!({"files": files})),
        &format!(
            "{path}: edit 2: old_string was not found\n{path}: edit 3: old_string was not found"
        ),
    );
    assert_eq!(content(&world, "a.txt"), b"A 2\n");
    world.finish();
}

#[test]
fn b079_in_minimal_edits_are_found_in_the_original_and_all_refusals_are_told() {
    let world = World::new();
    let kit = kit(&world, "minimal");
    world.file("f", "one\ntwo\nthree\nthree\n");
    kit.edits("f", &[("one", "two!"), ("two", "2\nii")], false).says(
        "edited f: 2 edits, 3 lines added, 2 deleted, first changed line 1\n-1|one\n-2|two\n+1|two!\n+2|2\n+3|ii\n 4|three\n \
         5|three",
    );
    assert_eq!(content(&world, "f"), b"two!\n2\nii\nthree\nthree\n");
    let path = world.ws().join("f").display().to_string();
    let reply = kit.edits(
        "f",
        &[("", "x"), ("three", "3"), ("two!\n", "x"), ("!\n2", "y"), ("two!\n", "z"), ("ii", "ii")],
        false,
    );
    kit.fails(
        &reply,
        &format!(
            "{path}: edit 1: old must not be empty\n{path}: edit 6: nothing to change: old and new text are the same"
        ),
    );
    let reply =
        kit.edits("f", &[("three", "3"), ("two!\n", "x"), ("!\n2", "y"), ("two!\n", "z")], false);
    kit.fails(
        &reply,
        &format!(
            "{path}: edit 1: old occurs 2 times (lines 4, 5); add lines around it\n{path}: edit 3: overlaps edit 2 in line 1\n\
             {path}: edit 4: has the same old text as edit 2"
        ),
    );
    assert_eq!(content(&world, "f"), b"two!\n2\nii\nthree\nthree\n");
    let inode = world.ws().join("f").metadata().unwrap().ino();
    kit.dry_run("f", "ii", "II").unwrap().says(
        "would edit f: 1 edit, 1 line added, 1 deleted, first changed line 3\n 1|two!\n 2|2\n-3|ii\n+3|II\n 4|three\n 5|three\n\
         (dry run: nothing was written)",
    );
    assert_eq!(world.ws().join("f").metadata().unwrap().ino(), inode);
    kit.fails(&kit.edit("./gone", "a", "b"), "./gone does not exist. Create it with write_file");
    world.finish();
}

#[test]
fn what_is_written_is_told_as_the_toolset_has_it() {
    let world = World::new();
    let glrs = kit(&world, "glrs");
    glrs.write("sub/new.txt", "a\n").says("wrote sub/new.txt");
    glrs.write("./sub/new.txt", "b\n").says("wrote ./sub/new.txt");
    assert_eq!(content(&world, "sub/new.txt"), b"b\n");
    let minimal = kit(&world, "minimal");
    minimal
        .write("m.txt", "one\ntwo\n")
        .says("created m.txt: 2 lines added, 0 deleted, first changed line 1\n+1|one\n+2|two");
    let inode = world.ws().join("m.txt").metadata().unwrap().ino();
    minimal
        .write("m.txt", "one\ntwo\n")
        .says("m.txt has this content already; nothing was written");
    assert_eq!(world.ws().join("m.txt").metadata().unwrap().ino(), inode);
    minimal
        .write("m.txt", "one\n2\n")
        .says("updated m.txt: 1 line added, 1 deleted, first changed line 2\n 1|one\n-2|two\n+2|2");
    // A long diff is cut, and says so last.
    let long: String = (0..2000).map(|number| format!("line {number}\n")).collect();
    let text = minimal.write("m.txt", &long).text();
    assert!(text.ends_with(" characters omitted]"), "{text}");
    assert_eq!(text.rsplit_once("\n[output truncated: ").unwrap().0.chars().count(), 8_000);
    world.finish();
}
