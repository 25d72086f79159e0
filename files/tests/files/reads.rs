//! Reading windows of text, and refusing what is none.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use brattice_files::read::{Caps, LINE_CHARACTERS, SELECTION_BYTES};
use brattice_files::text::{Binary, Encoding, Line, LineEnds, Stop};
use brattice_files::{Cancel, Cancelled, FaultKind, FileType, Fingerprint, Operation, Window};
use brattice_files::{Errno, read};
use proptest::prelude::*;

use crate::folder::{Folder, first, kind};

fn line(number: u64, text: &str) -> Line {
    Line { number, text: text.to_owned(), omitted: 0 }
}

fn read_at(path: &str) -> Result<brattice_files::Reading, brattice_files::Fault> {
    read(Path::new(path), first(2000), Caps::default(), &Cancel::default())
}

#[test]
fn b064_line_ends_are_not_shown_and_are_counted() {
    let folder = Folder::new();
    folder.put("w.py", "def f():\r\n    a = 1\r\nx\n");
    let reading = folder.read("w.py", first(2000)).unwrap();
    assert_eq!(reading.lines, [line(1, "def f():"), line(2, "    a = 1"), line(3, "x")]);
    assert_eq!(reading.line_ends, LineEnds { lf: 1, crlf: 2 });
}

#[test]
fn b078_tabs_are_shown_as_they_are() {
    let folder = Folder::new();
    folder.put("Makefile", "all:\n\tgcc -c a.c\n\t\techo  two\n");
    let lines = folder.read("Makefile", first(2000)).unwrap().lines;
    assert_eq!(lines, [line(1, "all:"), line(2, "\tgcc -c a.c"), line(3, "\t\techo  two")]);
}

#[test]
fn b084_what_is_no_regular_file_is_named_and_not_opened() {
    let folder = Folder::new();
    let status = Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(status.success());
    let _socket = UnixListener::bind(folder.path("sock")).unwrap();
    let refused = |name| kind(folder.read(name, first(1)));
    assert_eq!(refused("pipe"), FaultKind::NotRegular(FileType::Fifo));
    assert_eq!(refused("sock"), FaultKind::NotRegular(FileType::Socket));
    let written = folder.write("pipe", "x", brattice_files::Expected::Any);
    assert_eq!(kind(written), FaultKind::NotRegular(FileType::Fifo));
    let edited = folder.replace("pipe", "a", "b").unwrap_err();
    assert_eq!(
        edited[0].to_string(),
        format!("{}: is a FIFO, not a regular file", folder.path("pipe").display())
    );
    assert_eq!(folder.names(), ["pipe", "sock"]);
}

#[test]
fn b085_devices_are_refused_and_pseudo_files_are_read() {
    let folder = Folder::new();
    symlink("/dev/zero", folder.path("zeros")).unwrap();
    symlink("/proc/self/status", folder.path("st")).unwrap();
    let device = FaultKind::NotRegular(FileType::CharacterDevice);
    assert_eq!(kind(read_at("/dev/zero")), device);
    assert_eq!(kind(read_at("/dev/tty")), device);
    assert_eq!(kind(folder.read("zeros", first(1))), device);
    for reading in [read_at("/proc/self/status").unwrap(), folder.read("st", first(1)).unwrap()] {
        assert!(reading.lines[0].text.starts_with("Name:\t"), "{reading:?}");
        assert!(reading.total_bytes > 0 && reading.total_lines > 1);
    }
    // It has no end, and without O_NONBLOCK waits for the kernel's next message.
    if let Err(fault) = read_at("/proc/kmsg") {
        let FaultKind::Kernel { operation: Operation::Read, errno } = fault.kind else {
            panic!("{fault}");
        };
        assert!([Errno::AGAIN, Errno::PERM, Errno::ACCESS].contains(&errno), "{errno}");
    }
}

#[test]
fn b087_huge_lines_are_cut_and_the_rest_is_reached() {
    let folder = Folder::new();
    folder.put("min.js", "var a=1;".repeat(400_000) + "\nlast();\n");
    let reading = folder.read("min.js", first(2000)).unwrap();
    let cut = Line {
        number: 1,
        text: "var a=1;".repeat(250),
        omitted: 3_200_000 - LINE_CHARACTERS as u64,
    };
    assert_eq!(reading.lines, [cut, line(2, "last();")]);
    assert_eq!(folder.lines("min.js", 2, 2000), [(2, "last();".to_owned())]);
    let many: String = (1..=50_000).map(|number| format!("line {number}\n")).collect();
    folder.put("many.txt", many);
    let reading = folder.read("many.txt", first(2000)).unwrap();
    assert_eq!(
        (reading.lines.len(), reading.total_lines, reading.stop),
        (2000, 50_000, Stop::Window)
    );
    let last = [(49_999, "line 49999".to_owned()), (50_000, "line 50000".to_owned())];
    assert_eq!(folder.lines("many.txt", 49_999, 2000), last);
}

#[test]
fn a_selection_is_cut_at_whole_lines() {
    let folder = Folder::new();
    folder.put("wide.txt", ("x".repeat(999) + "\n").repeat(100));
    let reading = folder.read("wide.txt", first(2000)).unwrap();
    assert_eq!((reading.lines.len(), reading.stop), (SELECTION_BYTES / 1000, Stop::Bytes));
    let next = folder.read("wide.txt", Window::lines(52, 2000).unwrap()).unwrap();
    assert_eq!((next.lines.len(), next.lines[0].number, next.stop), (49, 52, Stop::End));
}

#[test]
fn b088_a_probe_cuts_no_character() {
    let folder = Folder::new();
    for back in 1..5 {
        for size in [512_usize, 1000, 1024, 4096, 8000, 8192] {
            let text = "a".repeat(size - back) + &"語😀".repeat(50);
            folder.put("u.md", format!("{text}\n"));
            let caps = Caps { line_characters: usize::MAX, ..Caps::default() };
            let reading = read(&folder.path("u.md"), first(1), caps, &folder.cancel).unwrap();
            assert_eq!(reading.lines, [line(1, &text)]);
            assert_eq!((reading.invalid, reading.replaced), (0, 0));
        }
    }
}

#[test]
fn b090_binary_files_are_named_and_stray_nuls_are_no_reason() {
    let folder = Folder::new();
    let zip = folder.put("sheet.ods", b"PK\x03\x04\x14\0\0\0\0\0<a>xxxx</a>");
    let size = fs::metadata(&zip).unwrap().len();
    let binary = FaultKind::Binary(Binary { kind: "zip archive".into(), size });
    assert_eq!(kind(folder.read("sheet.ods", first(1))), binary);
    assert_eq!(binary.to_string(), format!("is a binary file (zip archive, {size} bytes)"));
    let edited = folder.replace("sheet.ods", "x", "y").unwrap_err();
    assert!(edited[0].to_string().ends_with(&binary.to_string()), "{edited:?}");

    folder.put("late_nul.log", "text line\n".repeat(2000) + "\0\0more\n");
    let reading = folder.read("late_nul.log", Window::lines(2001, 1).unwrap()).unwrap();
    assert_eq!(reading.lines, [line(2001, "\u{fffd}\u{fffd}more")]);
    assert_eq!((reading.replaced, reading.invalid), (2, 0));

    folder.put("empty.txt", "");
    for offset in [1, 5] {
        let reading = folder.read("empty.txt", Window::lines(offset, 5).unwrap()).unwrap();
        assert_eq!((reading.lines, reading.total_lines, reading.total_bytes), (vec![], 0, 0));
    }
}

#[test]
fn b091_the_last_line_end_is_no_line() {
    let folder = Folder::new();
    let ten: String = (1..=10).map(|number| format!("{number}\n")).collect();
    folder.put("ten.txt", ten);
    folder.put("blank.txt", "a\n\n");
    assert_eq!(folder.lines("ten.txt", 1, 2000).len(), 10);
    let five = folder.read("ten.txt", first(5)).unwrap();
    assert_eq!((five.lines.len(), five.total_lines, five.stop), (5, 10, Stop::Window));
    let past = folder.read("ten.txt", Window::lines(11, 5).unwrap()).unwrap();
    assert_eq!((past.lines, past.total_lines, past.stop), (vec![], 10, Stop::End));
    let blank = folder.read("blank.txt", first(2000)).unwrap();
    assert_eq!(blank.lines, [line(1, "a"), line(2, "")]);
}

#[test]
fn b093_only_lf_and_crlf_end_a_line() {
    let folder = Folder::new();
    folder.put("ff.py", "a = 1\n\u{c}\nb\rc = 2\nd\u{2028}e\nf\u{b}g\u{1c}h\u{85}i\nNEEDLE\n");
    assert_eq!(folder.lines("ff.py", 6, 1), [(6, "NEEDLE".to_owned())]);
    assert_eq!(folder.lines("ff.py", 3, 1), [(3, "b\rc = 2".to_owned())]);
    let dry = folder.edit(&[folder.edits("ff.py", "NEEDLE", "x")], brattice_files::Apply::DryRun);
    assert_eq!(dry.unwrap()[0].changes.first_line, Some(6));
}

#[test]
fn b094_a_mark_is_hidden_at_the_start_only() {
    let folder = Folder::new();
    folder.put("bom.py", "\u{feff}import os\nmid\u{feff}dle\n");
    let reading = folder.read("bom.py", first(2000)).unwrap();
    assert_eq!(reading.lines, [line(1, "import os"), line(2, "mid\u{feff}dle")]);
    assert_eq!(reading.encoding, Encoding::Utf8WithMark);
}

#[test]
fn b095_folders_and_missing_files_are_told_apart() {
    let folder = Folder::new();
    folder.put("src/a.py", "x\n");
    folder.put("name with space .txt", "y\n");
    let directory = FaultKind::NotRegular(FileType::Directory);
    assert_eq!(kind(folder.read("src", first(1))), directory);
    assert_eq!(kind(folder.read("src/", first(1))), directory);
    assert_eq!(kind(read_at("")), FaultKind::NoPath);
    assert_eq!(kind(read_at("relative")), FaultKind::NoPath);
    assert_eq!(folder.lines("name with space .txt", 1, 1), [(1, "y".to_owned())]);
    let near = FaultKind::Missing { near: vec![folder.path("src/a.py")] };
    assert_eq!(kind(folder.read("src/a.py/x", first(1))), near);
    assert_eq!(kind(folder.read("src/b.py", first(1))), near);
    assert_eq!(
        kind(folder.read("srcs/b.py", first(1))),
        FaultKind::Missing { near: vec![folder.path("src")] }
    );
    let written = folder.write("src", "x", brattice_files::Expected::Any);
    assert_eq!(kind(written), directory);
    let edited = folder.replace("src/b.py", "x", "y").unwrap_err();
    assert_eq!(
        edited[0].to_string(),
        format!("{}: does not exist", folder.path("src/b.py").display())
    );
}

#[test]
fn other_encodings_are_read_and_never_edited() {
    let folder = Folder::new();
    let utf16: Vec<u8> = "\u{feff}a😀\r\nb\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    folder.put("u16.txt", &utf16);
    folder.put("latin.txt", b"ok\ncaf\xe9 \xff\n");
    let reading = folder.read("u16.txt", first(9)).unwrap();
    assert_eq!(
        (reading.encoding, reading.total_bytes),
        (Encoding::Utf16Little, utf16.len() as u64)
    );
    assert_eq!(reading.lines, [line(1, "a😀"), line(2, "b")]);
    let latin = folder.read("latin.txt", first(9)).unwrap();
    assert_eq!(latin.lines, [line(1, "ok"), line(2, "caf\u{fffd} \u{fffd}")]);
    assert_eq!((latin.invalid, latin.replaced), (2, 2));
    let refused = |name| folder.replace(name, "ok", "no").unwrap_err()[0].to_string();
    assert!(refused("u16.txt").ends_with("is UTF-16 text, which can be read and not edited"));
    assert!(refused("latin.txt").ends_with("is not UTF-8 text (line 2)"));
    assert_eq!(fs::read(folder.path("latin.txt")).unwrap(), b"ok\ncaf\xe9 \xff\n");
}

#[test]
fn a_read_has_the_fingerprint_of_the_whole_and_can_be_cancelled() {
    let folder = Folder::new();
    let text = "0123456789\n".repeat(100_000);
    folder.put("a.txt", &text);
    let reading = folder.read("a.txt", first(1)).unwrap();
    assert_eq!(reading.fingerprint, Fingerprint::of(text.as_bytes()));
    folder.cancel.cancel();
    assert_eq!(kind(folder.read("a.txt", first(1))), FaultKind::Cancelled(Cancelled));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pages_are_the_file(text in "(\u{feff}|)([a-zäß語\t\r]{0,6}(\n|\r\n|\r)){0,40}[a-z]{0,3}", limit in 1_u64..7) {
        let folder = Folder::new();
        folder.put("a.txt", &text);
        let (mut pages, mut offset) = (Vec::new(), 1);
        loop {
            let reading = folder.read("a.txt", Window::lines(offset, limit).unwrap()).unwrap();
            offset += reading.lines.len() as u64;
            pages.extend(reading.lines.into_iter().map(|line| line.text));
            if reading.stop == Stop::End {
                break;
            }
        }
        let body = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let expected: Vec<&str> = body
            .split_inclusive('\n')
            .map(|line| line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line)))
            .collect();
        prop_assert_eq!(pages, expected);
    }
}
