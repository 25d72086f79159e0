//! Several writers at once.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use brattice_files::{Apply, Expected, FaultKind};
use rustix::fs::{FlockOperation, flock};

use crate::folder::{Folder, kind};

/// Edits the two lines of a file 200 times each, from two threads, by the names that each is given.
fn both_land(folder: &Folder, names: [&str; 2]) {
    thread::scope(|scope| {
        for (line, name) in ["left", "right"].into_iter().zip(names) {
            scope.spawn(move || {
                for number in 0..200 {
                    let old = format!("{line} {number}.");
                    folder.replace(name, &old, &format!("{line} {}.", number + 1)).unwrap();
                }
            });
        }
    });
    assert_eq!(folder.content(names[0]), "left 200.\nmiddle\nright 200.\n");
}

#[test]
fn b074_two_writers_of_one_file_lose_nothing() {
    let folder = Folder::new();
    folder.put("n.md", "left 0.\nmiddle\nright 0.\n");
    both_land(&folder, ["n.md", "n.md"]);
    assert_eq!(folder.names(), ["n.md"]);
}

#[test]
fn b074_nor_do_two_writers_by_two_names_in_two_folders() {
    let folder = Folder::new();
    folder.put("one/n.md", "left 0.\nmiddle\nright 0.\n");
    fs::create_dir(folder.path("two")).unwrap();
    fs::hard_link(folder.path("one/n.md"), folder.path("two/n.md")).unwrap();
    both_land(&folder, ["one/n.md", "two/n.md"]);
    assert_eq!(folder.names(), ["one/", "one/n.md", "two/", "two/n.md"]);
}

#[test]
fn sets_in_opposite_order_do_not_wait_for_each_other() {
    let folder = Folder::new();
    folder.put("x/a", "0.\n");
    folder.put("y/b", "0.\n");
    thread::scope(|scope| {
        for names in [["x/a", "y/b"], ["y/b", "x/a"]] {
            let folder = &folder;
            scope.spawn(move || {
                for _ in 0..30 {
                    let files = names.map(|name| folder.edits(name, ".", "|."));
                    folder.edit(&files, Apply::Write).unwrap();
                }
            });
        }
    });
    let expected = format!("0{}.\n", "|".repeat(60));
    assert_eq!((folder.content("x/a"), folder.content("y/b")), (expected.clone(), expected));
}

/// Someone who knows no lock of ours replaces the file by a rename, as editors do: each of his versions that stood there is seen
/// by our edits, and none of his is overwritten by one of ours that did not see it.
#[test]
fn a_writer_that_takes_no_lock_is_not_overwritten() {
    let folder = Folder::new();
    folder.put("n.md", "his 0.\nours .\n");
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1..=300 {
                folder.put("his.tmp", format!("his {number}.\nours .\n"));
                fs::rename(folder.path("his.tmp"), folder.path("n.md")).unwrap();
                thread::sleep(Duration::from_millis(1));
            }
            is_over.store(true, Ordering::Release);
        });
        while !is_over.load(Ordering::Acquire) {
            match folder.replace("n.md", "ours ", "ours x") {
                Ok(_) => {}
                Err(faults) => {
                    assert!(faults[0].to_string().ends_with("keeps changing"), "{faults:?}")
                }
            }
        }
    });
    assert!(folder.content("n.md").starts_with("his 300.\nours "), "{}", folder.content("n.md"));
    assert_eq!(folder.names(), ["n.md"]);
}

#[test]
fn a_new_file_is_made_by_one_writer_only() {
    let folder = Folder::new();
    let made = thread::scope(|scope| {
        let write = |text| {
            let folder = &folder;
            scope.spawn(move || folder.write("new/f", text, Expected::Absent))
        };
        let writers = [write("one"), write("two"), write("three")];
        writers.map(|writer| writer.join().unwrap())
    });
    let texts = ["one", "two", "three"];
    let winners: Vec<&str> = texts
        .into_iter()
        .zip(&made)
        .filter_map(|(text, made)| made.is_ok().then_some(text))
        .collect();
    assert_eq!(winners, [folder.content("new/f")]);
    assert_eq!(folder.names(), ["new/", "new/f"]);
}

#[test]
fn a_lock_that_is_held_for_long_is_told() {
    let folder = Folder::new();
    let path = folder.put("a.txt", "old\n");
    let held = fs::File::open(folder.path("")).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    let journal = folder.journal();
    let mut context = folder.context(&journal);
    context.lock_wait = Duration::from_millis(50);
    let write =
        |context| brattice_files::write(&path, "new\n", Expected::Any, Apply::Write, context);
    assert_eq!(kind(write(context)), FaultKind::Busy);
    thread::scope(|scope| {
        context.lock_wait = Duration::from_secs(60);
        let writer = scope.spawn(move || write(context));
        folder.cancel.cancel();
        assert!(matches!(kind(writer.join().unwrap()), FaultKind::Cancelled(_)));
    });
    assert_eq!(folder.content("a.txt"), "old\n");
}
