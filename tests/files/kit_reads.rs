//! The cases of reading in the toolsets other than `standard`.

use brattice_tests::{World, kit, kits};
use serde_json::json;

use crate::call;

#[test]
fn b084_b085_what_is_no_regular_file_is_refused_in_every_toolset() {
    let world = World::new();
    world.setup(
        "mkfifo pipe; ln -s /dev/zero zeros; ln -s /proc/self/status st\n\
         python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'",
    );
    for kit in kits(&world) {
        let path = |name: &str| world.ws().join(name).display().to_string();
        let fifo = format!("{} is a FIFO, not a regular file", path("pipe"));
        kit.fails(&kit.read("pipe"), &fifo);
        kit.fails(&kit.write("pipe", "x"), &fifo);
        kit.fails(&kit.edit("pipe", "a", "b"), &fifo);
        kit.fails(&kit.read("sock"), &format!("{} is a socket, not a regular file", path("sock")));
        for name in ["/dev/zero", "zeros", "/dev/tty"] {
            let reply = kit.read(name);
            assert!(reply.is_error(), "{name}");
            reply.holds("is a character device, not a regular file");
        }
        for name in ["/proc/self/status", "st"] {
            kit.read(name).holds("Name:\t");
        }
    }
    world.setup("test -p pipe");
    world.finish();
}

#[test]
fn b087_huge_files_are_bounded_and_the_cut_is_told_in_every_toolset() {
    let world = World::new();
    world.file("min.js", &format!("{}\nlast();\n", "var a=1;".repeat(400_000)));
    let many: String = (1..=50_000).map(|number| format!("line {number}\n")).collect();
    world.file("many.txt", &many);
    world.file("wide.txt", &format!("{}\n", "é".repeat(900)).repeat(100));
    // The cut is that of the whole text, of which most was never kept.
    let cut = |whole: &str, most: usize| -> (String, usize) {
        (whole.chars().take(most).collect(), whole.chars().count() - most)
    };
    let glrs = kit(&world, "glrs");
    let minimal = kit(&world, "minimal");
    for name in ["min.js", "many.txt", "wide.txt"] {
        let text = std::fs::read_to_string(world.ws().join(name)).unwrap();
        let numbered: Vec<String> =
            text.lines().zip(1..).map(|(line, number)| format!("{number}|{line}")).collect();
        let (kept, omitted) = cut(&numbered.join("\n"), 30_000);
        let kept = kept.trim_end_matches('\n');
        glrs.read(name).says(&format!("{kept}\n[truncated, {omitted} chars omitted]"));
        let (kept, omitted) = cut(&text, 8_000);
        let kept = kept.trim_end_matches('\n');
        minimal
            .read(name)
            .says(&format!("{kept}\n[output truncated: {omitted} characters omitted]"));
    }
    minimal.read_from("min.js", 2).unwrap().says("last();");
    minimal.read_from("many.txt", 49_999).unwrap().says("line 49999\nline 50000");
    let numbered = json!({"path": "many.txt", "start": 3, "numbered": true});
    let tabbed: Vec<String> =
        many.lines().zip(1..).skip(2).map(|(line, number)| format!("{number}\t{line}")).collect();
    let (kept, omitted) = cut(&format!("{}\n", tabbed.join("\n")), 8_000);
    let kept = kept.trim_end_matches('\n');
    call(minimal.session(), "read_file", numbered)
        .says(&format!("{kept}\n[output truncated: {omitted} characters omitted]"));
    let dsh = kit(&world, "dsh");
    dsh.read("many.txt").holds("\n(Showing lines 1-2000 of 50000. Use offset=2001 to continue.)");
    dsh.read_from("min.js", 2).unwrap().holds("2: last();\n");
    world.finish();
}

#[test]
fn b088_b090_text_is_text_and_binary_files_are_named_in_every_toolset() {
    let world = World::new();
    world.setup(
        "python3 - <<'E'\nimport zipfile\nz = zipfile.ZipFile('sheet.ods', 'w'); z.writestr('content.xml', '<a>' + 'x' * 9000 + '</a>'); z.close()\n\
         open('late_nul.log','wb').write(b'text line\\n' * 2000 + b'\\0\\0' + b'more\\n')\nopen('empty.txt','w').close()\nE",
    );
    let size = world.ws().join("sheet.ods").metadata().unwrap().len();
    for kit in kits(&world) {
        for end in [512, 8192] {
            for before in 1..5 {
                let name = format!("u_{end}_{before}.md");
                let text = format!("{}{}\n", "a".repeat(end - before), "語😀".repeat(50));
                world.file(&name, &text);
                let reply = kit.read(&name);
                assert!(!reply.is_error(), "{name}");
                reply.lacks("\u{fffd}");
            }
        }
        let sheet = world.ws().join("sheet.ods").display().to_string();
        let words = format!("{sheet} is a binary file (zip archive, {size} bytes)");
        kit.fails(&kit.read("sheet.ods"), &words);
        let late = kit.read_from("late_nul.log", 2001).unwrap_or_else(|| kit.read("late_nul.log"));
        assert!(!late.is_error(), "{}", late.text());
        late.lacks("\0").holds("\u{fffd}\u{fffd}more");
        let empty = kit.read("empty.txt");
        assert!(!empty.is_error());
        empty.holds("(The file is empty.)");
        if let Some(past) = kit.read_from("empty.txt", 5) {
            assert!(!past.is_error());
            past.holds(" 5 is past the end: the file has 0 lines.)");
        }
    }
    world.finish();
}

#[test]
fn b091_b094_ends_marks_and_numbers_in_every_toolset() {
    let world = World::new();
    world.setup("seq 10 > ten.txt; printf 'a\\n\\n' > blank.txt; printf 'open' > open.txt");
    world.file("bom.py", "\u{feff}import os\nmid\u{feff}dle\n");
    world.file("ff.py", "a = 1\n\u{c}\nb\rc = 2\nd\u{2028}e\nf\u{b}g\u{1c}h\u{85}i\nNEEDLE\n");
    let ten: Vec<String> = (1..=10).map(|number| number.to_string()).collect();
    let ten: Vec<&str> = ten.iter().map(String::as_str).collect();
    for kit in kits(&world) {
        kit.read("ten.txt").holds(&kit.lines(1, &ten)).lacks("\n11");
        let blank = kit.read("blank.txt").result.text();
        assert!(blank.contains(&kit.lines(1, &["a", ""])), "{blank:?}");
        kit.read("bom.py").holds(&kit.lines(1, &["import os", "mid\u{feff}dle"]));
        kit.read("ff.py").holds(&kit.lines(6, &["NEEDLE"]));
        if let Some(past) = kit.read_from("ten.txt", 11) {
            past.holds(" 11 is past the end: the file has 10 lines.)");
        }
        if let Some(dry) = kit.dry_run("ff.py", "NEEDLE", "PIN") {
            dry.holds("first changed line 6").holds("-6|NEEDLE\n+6|PIN\n");
        }
    }
    let minimal = kit(&world, "minimal");
    let range = |name: &str, start: u64, end: u64, numbered: bool| {
        let arguments = json!({"path": name, "start": start, "end": end, "numbered": numbered});
        call(minimal.session(), "read_file", arguments).result.text()
    };
    // The last newline is there only with the end of the file, and only if the file has it.
    assert_eq!(range("ten.txt", 9, 0, false), "9\n10\n");
    assert_eq!(range("ten.txt", 9, 10, true), "9\t9\n10\t10\n");
    assert_eq!(range("ten.txt", 0, 2, false), "1\n2");
    assert_eq!(range("open.txt", 0, 0, false), "open");
    assert_eq!(range("blank.txt", 0, 0, false), "a\n\n");
    assert_eq!(range("blank.txt", 0, 1, false), "a");
    let glrs = kit(&world, "glrs");
    assert_eq!(glrs.read("blank.txt").result.text(), "1|a\n2|");
    call(glrs.session(), "grep", json!({"pattern": "NEEDLE"})).says("ff.py:6:NEEDLE");
    call(glrs.session(), "grep", json!({"pattern": "^import"})).says("bom.py:1:import os");
    world.finish();
}

#[test]
fn b095_folders_and_what_is_missing_in_every_toolset() {
    let world = World::new();
    world.setup("mkdir src; echo x > src/a.py; echo y > 'name with space .txt'");
    let ws = world.ws().display().to_string();
    for kit in kits(&world) {
        let by = if kit.toolset == "glrs" { "glob" } else { "`ls` in bash" };
        let folder = format!("{ws}/src is a directory, not a regular file; list it with {by}");
        kit.fails(&kit.read("src"), &folder);
        kit.fails(&kit.write("src", "x"), &folder);
        let path = if kit.toolset == "dsh" { "file_path" } else { "path" };
        kit.fails(
            &kit.read(""),
            &format!("argument `{path}`: expected text that is not blank, got \"\""),
        );
        kit.read("name with space .txt").holds(&kit.lines(1, &["y"]));
        for missing in ["src/a.py/x", "src/b.py"] {
            let words = match kit.toolset {
                "minimal" => format!("{missing} does not exist. Create it with write_file"),
                _ => format!("{ws}/{missing} does not exist; close names: {ws}/src/a.py"),
            };
            kit.fails(&kit.read(missing), &words);
        }
    }
    world.finish();
}
