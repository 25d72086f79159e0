//! `edit`: what it matches, what it leaves alone, and what it says.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use brattice_tests::World;
use serde_json::json;

use crate::{call, content, edit, fails, names, opening, read, write};

#[test]
fn b064_a_file_with_crlf_is_edited_as_one_with_lf() {
    let world = World::new();
    world.file("w.py", "def f():\r\n    a = 1\r\n    return a\r\n");
    let session = opening(&world).open();
    read(&session, "w.py")
        .says("1|def f():\n2|    a = 1\n3|    return a\n(End of file - total 3 lines)");
    let reply =
        edit(&session, "w.py", "    a = 1\n    return a", "    a = 2\n    b = 3\n    return a + b");
    let path = world.ws().join("w.py");
    reply.says(&format!(
        "edited {}: 1 replacement (+3 -2 lines, from line 2 on)\n 1|def f():\n-2|    a = 1\n-3|    return a\n\
         +2|    a = 2\n+3|    b = 3\n+4|    return a + b",
        path.display()
    ));
    assert_eq!(
        content(&world, "w.py"),
        b"def f():\r\n    a = 2\r\n    b = 3\r\n    return a + b\r\n"
    );
    world.finish();
}

#[test]
fn b065_line_ends_of_lines_that_are_not_edited_stay() {
    let world = World::new();
    world.file("mix.txt", "alpha\r\nbeta\ngam\rma\r\ndelta");
    let session = opening(&world).open();
    read(&session, "mix.txt");
    edit(&session, "mix.txt", "beta", "BETA").holds("1 replacement");
    assert_eq!(content(&world, "mix.txt"), b"alpha\r\nBETA\ngam\rma\r\ndelta");
    world.finish();
}

#[test]
fn b067_a_byte_order_mark_is_kept_and_is_there_once() {
    let world = World::new();
    world.file("s.ps1", "\u{feff}Write-Host \"x\"\n# café\n");
    let session = opening(&world).open();
    read(&session, "s.ps1");
    edit(&session, "s.ps1", "Write-Host \"x\"", "Write-Host \"y\"").holds("1 replacement");
    assert_eq!(content(&world, "s.ps1"), "\u{feff}Write-Host \"y\"\n# café\n".as_bytes());
    write(&session, "s.ps1", "Write-Host \"z\"\n").holds("updated");
    assert_eq!(content(&world, "s.ps1"), "\u{feff}Write-Host \"z\"\n".as_bytes());
    world.finish();
}

#[test]
fn b068_a_replacement_is_literal() {
    let world = World::new();
    world.file("r.sh", "head\nv=[old]\ntail\n");
    let session = opening(&world).open();
    read(&session, "r.sh");
    let literal = r"$$ $& $` $' $1 ${x} \\1 \\0 %s & ~";
    edit(&session, "r.sh", "old", literal).holds("1 replacement");
    assert_eq!(content(&world, "r.sh"), format!("head\nv=[{literal}]\ntail\n").as_bytes());
    edit(&session, "r.sh", "$& $`", r"&& \n").holds("1 replacement");
    let literal = literal.replace("$& $`", r"&& \n");
    assert_eq!(content(&world, "r.sh"), format!("head\nv=[{literal}]\ntail\n").as_bytes());
    let all =
        json!({"file_path": "r.sh", "old_string": "$", "new_string": "$&$$", "replace_all": true});
    let places = literal.matches('$').count();
    call(&session, "edit", all).holds(&format!("{places} replacements"));
    let literal = literal.replace('$', "$&$$");
    assert_eq!(content(&world, "r.sh"), format!("head\nv=[{literal}]\ntail\n").as_bytes());
    world.finish();
}

#[test]
fn b069_modes_stay_and_a_new_file_has_that_of_the_umask() {
    let world = World::new();
    world.setup(
        "umask 022; printf '#!/bin/sh\\necho old\\n' > run.sh; chmod 755 run.sh; printf 'k=old\\n' > secret.env; \
         chmod 600 secret.env; printf 'x old\\n' > g.txt; chmod 664 g.txt",
    );
    let session = opening(&world).open();
    let mode = |name| world.ws().join(name).metadata().unwrap().permissions().mode() & 0o7777;
    for (name, expected) in [("run.sh", 0o755), ("secret.env", 0o600), ("g.txt", 0o664)] {
        read(&session, name);
        edit(&session, name, "old", "new").holds("1 replacement");
        assert_eq!(mode(name), expected, "{name}");
    }
    write(&session, "run.sh", "#!/bin/sh\necho w\n").holds("updated");
    assert_eq!(mode("run.sh"), 0o755);
    assert_eq!(world.native("./run.sh").stdout, "w\n");
    write(&session, "fresh.txt", "n\n")
        .says(&format!("created {}", world.ws().join("fresh.txt").display()));
    let umask = session.run("umask").printed();
    assert_eq!(mode("fresh.txt"), 0o666 & !u32::from_str_radix(&umask, 8).unwrap());
    assert_eq!(names(&world), ["fresh.txt", "g.txt", "run.sh", "secret.env"]);
    world.finish();
}

#[test]
fn b070_a_link_is_written_through_and_a_loop_is_an_error() {
    let world = World::new();
    world.setup(
        "mkdir shared; printf 'level: low\\n' > shared/app.yml; ln -s shared/app.yml app.yml; ln -s app.yml alias.yml; \
         ln -s loop2 loop1; ln -s loop1 loop2",
    );
    let session = opening(&world).open();
    read(&session, "app.yml");
    let real = world.ws().join("shared/app.yml");
    let reply = edit(&session, "alias.yml", "low", "high");
    reply.holds(&format!("edited {}: 1 replacement", real.display()));
    assert_eq!(content(&world, "shared/app.yml"), b"level: high\n");
    write(&session, "app.yml", "level: mid\n").holds(&format!("updated {}", real.display()));
    assert_eq!(content(&world, "shared/app.yml"), b"level: mid\n");
    for link in ["app.yml", "alias.yml"] {
        assert!(world.ws().join(link).is_symlink(), "{link}");
    }
    let path = world.ws().join("loop1");
    fails(
        &write(&session, "loop1", "x"),
        &format!(
            "{}: cannot find: Too many levels of symbolic links (os error 40)",
            path.display()
        ),
    );
    world.finish();
}

#[test]
fn b072_a_hard_link_is_written_in_place_and_that_is_said() {
    let world = World::new();
    world.setup("printf 'line old\\n' > rules.txt; ln rules.txt copy.txt");
    let session = opening(&world).open();
    read(&session, "rules.txt");
    let inode = world.ws().join("rules.txt").metadata().unwrap().ino();
    edit(&session, "rules.txt", "old", "new")
        .holds("[written in place: its other names and its owner stay]");
    assert_eq!(content(&world, "copy.txt"), b"line new\n");
    assert_eq!(world.ws().join("copy.txt").metadata().unwrap().ino(), inode);
    world.finish();
}

#[test]
fn b076_an_empty_old_text_and_one_that_changes_nothing_are_refused() {
    let world = World::new();
    world.setup("printf pqr > e.txt; : > zero.txt");
    let session = opening(&world).open();
    for name in ["e.txt", "zero.txt"] {
        read(&session, name);
    }
    let empty = "argument `old_string`: old_string must not be empty: expected the text that is to be replaced, got \"\"";
    for name in ["e.txt", "zero.txt", "absent.txt"] {
        fails(&edit(&session, name, "", "X"), empty);
    }
    let all =
        json!({"file_path": "e.txt", "old_string": "", "new_string": "X", "replace_all": true});
    fails(&call(&session, "edit", all), empty);
    let inside =
        json!({"files": [{"path": "e.txt", "edits": [{"old_string": "", "new_string": "X"}]}]});
    fails(
        &call(&session, "edit", inside),
        "argument `files[0].edits[0].old_string`: old_string must not be empty: expected the text that is to be replaced, got \"\"",
    );
    let before = world.ws().join("e.txt").metadata().unwrap();
    fails(
        &edit(&session, "e.txt", "pqr", "pqr"),
        &format!(
            "{}: nothing to change: old and new text are the same",
            world.ws().join("e.txt").display()
        ),
    );
    let after = world.ws().join("e.txt").metadata().unwrap();
    assert_eq!((after.ino(), after.mtime_nsec()), (before.ino(), before.mtime_nsec()));
    assert_eq!((content(&world, "e.txt"), content(&world, "zero.txt")), (b"pqr".to_vec(), vec![]));
    assert_eq!(names(&world), ["e.txt", "zero.txt"]);
    world.finish();
}

#[test]
fn b078_tabs_are_shown_and_matched_as_tabs() {
    let world = World::new();
    world.file("Makefile", "all:\n\tgcc -c a.c\n\t\techo  two\n");
    let session = opening(&world).open();
    read(&session, "Makefile")
        .says("1|all:\n2|\tgcc -c a.c\n3|\t\techo  two\n(End of file - total 3 lines)");
    edit(&session, "Makefile", "\tgcc -c a.c", "\tgcc -O2 -c a.c").holds("1 replacement");
    let reply = edit(&session, "Makefile", "    gcc -O2", "    gcc -O3");
    let path = world.ws().join("Makefile").display().to_string();
    assert!(reply.is_error());
    reply.holds(&format!("{path}: old_string was not found; ")).holds("whitespace (tabs, blanks)");
    let reply = edit(&session, "Makefile", "     2|\tgcc", "\tclang");
    assert!(reply.is_error());
    reply.holds("without the line numbers, which are display only, it stands in line 2");
    assert_eq!(content(&world, "Makefile"), b"all:\n\tgcc -O2 -c a.c\n\t\techo  two\n");
    world.finish();
}

#[test]
fn b079_several_files_are_edited_all_or_none() {
    let world = World::new();
    let session = opening(&world).open();
    for name in ["a", "b", "c"] {
        world.file(&format!("{name}.txt"), &format!("{name} one\n"));
        read(&session, &format!("{name}.txt"));
    }
    let files = |old: &str, dry_run: bool| {
        let one = |name: &str, old: &str| json!({"path": format!("{name}.txt"), "edits": [{"old_string": old, "new_string": "1"}]});
        json!({"files": [one("a", "one"), one("b", old), one("c", "one")], "dry_run": dry_run})
    };
    let inodes =
        || ["a.txt", "b.txt", "c.txt"].map(|name| world.ws().join(name).metadata().unwrap().ino());
    let (before, ws) = (inodes(), world.ws());
    let reply = call(&session, "edit", files("missing", false));
    assert!(reply.is_error());
    reply.holds(&format!("{}: old_string was not found", ws.join("b.txt").display()));
    assert_eq!(reply.lines().last().unwrap(), "nothing was written");
    let diff = |verb: &str, name: &str| {
        let path = ws.join(format!("{name}.txt"));
        format!(
            "{verb} {}: 1 replacement (+1 -1 lines, from line 1 on)\n-1|{name} one\n+1|{name} 1\n",
            path.display()
        )
    };
    let diffs = |verb| ["a", "b", "c"].map(|name| diff(verb, name)).concat();
    let reply = call(&session, "edit", files("one", true));
    reply.says(&format!("{}(dry run: nothing was written)", diffs("would edit")));
    assert_eq!(reply.result.structured_content["dry_run"], true);
    assert_eq!(inodes(), before);
    let reply = call(&session, "edit", files("one", false));
    reply.says(diffs("edited").trim_end());
    let told = |name: &str| {
        json!({
            "path": ws.join(name), "outcome": "updated", "replaced": 1, "added": 1, "deleted": 1, "first_line": 1,
        })
    };
    assert_eq!(
        reply.result.structured_content,
        json!({"files": [told("a.txt"), told("b.txt"), told("c.txt")], "dry_run": false})
    );
    assert_eq!(content(&world, "b.txt"), b"b 1\n");
    world.finish();
}

#[test]
fn edits_of_one_file_are_found_in_its_original_and_every_refusal_is_told() {
    let world = World::new();
    world.file("f", "one\ntwo\nthree\nthree\n");
    let session = opening(&world).open();
    read(&session, "f");
    let edits = |pairs: &[(&str, &str)]| {
        let edits: Vec<_> =
            pairs.iter().map(|(old, new)| json!({"old_string": old, "new_string": new})).collect();
        json!({"files": [{"path": "f", "edits": edits}]})
    };
    // The second would be found in what the first makes, were it not for the original.
    call(&session, "edit", edits(&[("one", "two!"), ("two", "2")])).holds("2 replacements");
    assert_eq!(content(&world, "f"), b"two!\n2\nthree\nthree\n");
    let path = world.ws().join("f").display().to_string();
    fails(
        &call(
            &session,
            "edit",
            edits(&[("2", "two"), ("three", "3"), ("two!\n", "x"), ("!\n2", "y")]),
        ),
        &format!(
            "{path}: edit 2: old_string occurs 2 times (lines 3, 4); add lines around it, or replace all\n\
             {path}: edit 4: overlaps edit 3 in line 1\n{path}: edit 4: overlaps edit 1 in line 2"
        ),
    );
    world.finish();
}

#[test]
fn b082_places_that_overlap_count_separately() {
    let world = World::new();
    world.setup("printf 'tick();\\ntick();\\ntick();\\n' > o.txt; printf aaa > p.txt");
    let session = opening(&world).open();
    for name in ["o.txt", "p.txt"] {
        read(&session, name);
    }
    let path = |name: &str| world.ws().join(name).display().to_string();
    fails(
        &edit(&session, "o.txt", "tick();\ntick();\n", "tock();\n"),
        &format!(
            "{}: old_string occurs 2 times (lines 1, 2); add lines around it, or replace all",
            path("o.txt")
        ),
    );
    fails(
        &edit(&session, "p.txt", "aa", "b"),
        &format!(
            "{}: old_string occurs 2 times (lines 1, 1); add lines around it, or replace all",
            path("p.txt")
        ),
    );
    let all =
        json!({"file_path": "p.txt", "old_string": "aa", "new_string": "b", "replace_all": true});
    call(&session, "edit", all).holds("1 replacement ");
    assert_eq!(content(&world, "p.txt"), b"ba");
    world.finish();
}

#[test]
fn what_is_no_utf8_is_not_edited_and_stays_as_it_is() {
    let world = World::new();
    world.setup("printf 'a\\xffb\\n' > latin; printf '\\xff\\xfea\\0\\n\\0' > utf16");
    let session = opening(&world).open();
    read(&session, "latin").says(
        "1|a\u{fffd}b\n[no text at 1 place of the file, shown as U+FFFD: it cannot be edited]\n(End of file - total 1 line)",
    );
    read(&session, "utf16")
        .says("1|a\n[UTF-16 text: it can be read and not edited]\n(End of file - total 1 line)");
    let path = |name: &str| world.ws().join(name).display().to_string();
    fails(
        &edit(&session, "latin", "a", "b"),
        &format!("{} is not UTF-8 text (line 1)", path("latin")),
    );
    fails(
        &edit(&session, "utf16", "a", "b"),
        &format!("{} is UTF-16 text, which can be read and not edited", path("utf16")),
    );
    assert_eq!(content(&world, "latin"), b"a\xffb\n");
    world.finish();
}
