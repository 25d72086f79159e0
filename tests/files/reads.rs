//! `read`: what is shown of files of all kinds.

use std::fs;

use brattice_tests::World;
use serde_json::json;

use crate::{call, content, edit, fails, opening, read, write};

#[test]
fn b084_what_is_no_regular_file_is_not_opened() {
    let world = World::new();
    world.setup(
        "mkfifo pipe; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'",
    );
    world.file("f.txt", "x\n");
    let session = opening(&world).open();
    let path = |name: &str| world.ws().join(name).display().to_string();
    let fifo = format!("{} is a FIFO, not a regular file", path("pipe"));
    fails(&call(&session, "read", json!({"file_path": "pipe"})), &fifo);
    fails(&write(&session, "pipe", "x"), &fifo);
    fails(&edit(&session, "pipe", "a", "b"), &fifo);
    call(&session, "grep", json!({"pattern": "x"})).says("f.txt:1:x");
    call(&session, "glob", json!({"pattern": "*"})).says("f.txt");
    fails(
        &call(&session, "read", json!({"file_path": "sock"})),
        &format!("{} is a socket, not a regular file", path("sock")),
    );
    world.setup("test -p pipe");
    world.finish();
}

#[test]
fn b085_devices_are_refused_and_pseudo_files_are_read() {
    let world = World::new();
    world.setup("ln -s /dev/zero zeros; ln -s /proc/self/status st");
    let session = opening(&world).open();
    for name in ["/dev/zero", "zeros", "/dev/tty", "/dev/null"] {
        let reply = call(&session, "read", json!({"file_path": name}));
        assert!(reply.is_error(), "{name}");
        reply.holds("is a character device, not a regular file");
    }
    for name in ["/proc/self/status", "st"] {
        read(&session, name).holds("1|Name:\t");
    }
    // Whatever it leads to in the process that works on files: it ends.
    assert!(call(&session, "read", json!({"file_path": "/dev/stdin"})).is_error());
    call(&session, "read", json!({"file_path": "/proc/kmsg", "limit": 1}));
    world.finish();
}

#[test]
fn b087_huge_lines_and_files_are_bounded_and_reachable() {
    let world = World::new();
    world.file("min.js", &format!("{}\nlast();\n", "var a=1;".repeat(400_000)));
    let lines: String = (1..=50_000).map(|number| format!("line {number}\n")).collect();
    world.file("many.txt", &lines);
    let session = opening(&world).open();
    let shown = "var a=1;".repeat(250);
    let reply = read(&session, "min.js");
    reply.says(&format!(
        "1|{shown}… [3198000 characters omitted]\n2|last();\n(End of file - total 2 lines)"
    ));
    assert_eq!(
        reply.result.structured_content,
        json!({
            "path": world.ws().join("min.js"), "lines": [1, 2], "total": 2, "bytes": 3_200_009, "encoding": "utf-8",
            "cut": 3_198_000,
        })
    );
    call(&session, "read", json!({"file_path": "min.js", "offset": 2}))
        .says("2|last();\n(End of file - total 2 lines)");
    let first = read(&session, "many.txt");
    let lines = first.lines();
    assert_eq!((lines[0].as_str(), lines[1999].as_str()), ("1|line 1", "2000|line 2000"));
    assert_eq!(lines[2000..], ["(Showing lines 1-2000 of 50000. Use offset=2001 to continue.)"]);
    call(&session, "read", json!({"file_path": "many.txt", "offset": 49_999}))
        .says("49999|line 49999\n50000|line 50000\n(End of file - total 50000 lines)");
    // The bytes of a selection are bounded as well, and it says where to go on.
    world.file("wide.txt", &format!("{}\n", "é".repeat(900)).repeat(100));
    let reply = read(&session, "wide.txt");
    reply.holds("\n(Showing lines 1-28 of 100. Use offset=29 to continue.)");
    for limit in [json!(0), json!(2001), json!("5")] {
        let reply = call(&session, "read", json!({"file_path": "many.txt", "limit": limit}));
        fails(
            &reply,
            &format!("argument `limit`: expected a whole number from 1 to 2000, got {limit}"),
        );
    }
    world.finish();
}

#[test]
fn b088_a_character_at_the_edge_of_a_probe_makes_no_file_binary() {
    let world = World::new();
    let session = opening(&world).open();
    for end in [512, 1000, 1024, 4096, 8000, 8192] {
        for before in 1..5 {
            let name = format!("u_{end}_{before}.md");
            world.file(&name, &format!("{}{}\n", "a".repeat(end - before), "語😀".repeat(50)));
            read(&session, &name).lacks("\u{fffd}").holds("(End of file - total 1 line)");
        }
    }
    world.finish();
}

#[test]
fn b090_a_binary_file_is_named_and_an_empty_one_is_said_to_be() {
    let world = World::new();
    world.setup(
        "python3 - <<'E'\nimport zipfile\nz = zipfile.ZipFile('sheet.ods', 'w'); z.writestr('content.xml', '<a>' + 'x' * 9000 + '</a>'); z.close()\n\
         open('late_nul.log','wb').write(b'text line\\n' * 2000 + b'\\0\\0' + b'more\\n')\nopen('empty.txt','w').close()\nE",
    );
    let session = opening(&world).open();
    let sheet = world.ws().join("sheet.ods");
    let size = fs::metadata(&sheet).unwrap().len();
    fails(
        &call(&session, "read", json!({"file_path": "sheet.ods"})),
        &format!("{} is a binary file (zip archive, {size} bytes)", sheet.display()),
    );
    let reply = call(&session, "read", json!({"file_path": "late_nul.log", "offset": 2001}));
    reply.holds("2001|\u{fffd}\u{fffd}more\n").lacks("\0");
    read(&session, "empty.txt").says("(The file is empty.)\n(End of file - total 0 lines)");
    call(&session, "read", json!({"file_path": "empty.txt", "offset": 5})).says(
        "(The file is empty.)\n(Offset 5 is past the end: the file has 0 lines.)\n(End of file - total 0 lines)",
    );
    world.finish();
}

#[test]
fn b091_a_newline_at_the_end_is_no_line() {
    let world = World::new();
    world.setup("seq 10 > ten.txt; printf 'a\\n\\n' > blank.txt");
    let session = opening(&world).open();
    let lines: String = (1..=10).map(|number| format!("{number}|{number}\n")).collect();
    read(&session, "ten.txt").says(&format!("{lines}(End of file - total 10 lines)"));
    call(&session, "read", json!({"file_path": "ten.txt", "limit": 5}))
        .says("1|1\n2|2\n3|3\n4|4\n5|5\n(Showing lines 1-5 of 10. Use offset=6 to continue.)");
    let reply = call(&session, "read", json!({"file_path": "ten.txt", "offset": 11}));
    reply.says(
        "(Offset 11 is past the end: the file has 10 lines.)\n(End of file - total 10 lines)",
    );
    assert_eq!(
        (reply.is_error(), &reply.result.structured_content["lines"]),
        (false, &json!(null))
    );
    read(&session, "blank.txt").says("1|a\n2|\n(End of file - total 2 lines)");
    world.finish();
}

#[test]
fn b093_read_grep_edit_and_bash_agree_on_line_numbers() {
    let world = World::new();
    world.file("ff.py", "a = 1\n\u{c}\nb\rc = 2\nd\u{2028}e\nf\u{b}g\u{1c}h\u{85}i\nNEEDLE\n");
    let session = opening(&world).open();
    call(&session, "grep", json!({"pattern": "NEEDLE"})).says("ff.py:6:NEEDLE");
    call(&session, "read", json!({"file_path": "ff.py", "offset": 6, "limit": 1}))
        .says("6|NEEDLE\n(End of file - total 6 lines)");
    session.run("grep -n NEEDLE ff.py").says("6:NEEDLE");
    let dry =
        json!({"file_path": "ff.py", "old_string": "NEEDLE", "new_string": "PIN", "dry_run": true});
    let reply = call(&session, "edit", dry);
    reply.holds("\n-6|NEEDLE\n+6|PIN\n");
    assert_eq!(reply.result.structured_content["files"][0]["first_line"], 6);
    world.finish();
}

#[test]
fn b094_a_byte_order_mark_is_not_shown_and_not_searched() {
    let world = World::new();
    world.file("bom.py", "\u{feff}import os\nmid\u{feff}dle\n");
    let session = opening(&world).open();
    let reply = read(&session, "bom.py");
    reply.says("1|import os\n2|mid\u{feff}dle\n(End of file - total 2 lines)");
    assert_eq!(reply.result.structured_content["encoding"], "utf-8-bom");
    call(&session, "grep", json!({"pattern": "^import"})).says("bom.py:1:import os");
    call(&session, "read", json!({"file_path": "bom.py", "offset": 2})).holds("2|mid\u{feff}dle\n");
    assert_eq!(content(&world, "bom.py"), "\u{feff}import os\nmid\u{feff}dle\n".as_bytes());
    world.finish();
}

#[test]
fn b095_a_folder_and_what_is_missing_say_what_to_do() {
    let world = World::new();
    world.setup("mkdir src; echo x > src/a.py; echo y > 'name with space .txt'");
    let session = opening(&world).open();
    let ws = world.ws().display().to_string();
    let folder = format!("{ws}/src is a directory, not a regular file; list it with glob");
    fails(&call(&session, "read", json!({"file_path": "src"})), &folder);
    let reply = call(&session, "read", json!({"file_path": "src/"}));
    assert!(reply.is_error());
    reply.holds("is a directory, not a regular file; list it with glob");
    fails(
        &call(&session, "read", json!({"file_path": ""})),
        "argument `file_path`: expected text that is not blank, got \"\"",
    );
    read(&session, "name with space .txt").says("1|y\n(End of file - total 1 line)");
    for missing in ["src/a.py/x", "src/b.py"] {
        fails(
            &call(&session, "read", json!({"file_path": missing})),
            &format!("{ws}/{missing} does not exist; close names: {ws}/src/a.py"),
        );
    }
    fails(&write(&session, "src", "x"), &folder);
    assert!(world.ws().join("src/a.py").exists());
    world.finish();
}
