//! Paths that lead to their very place or nowhere: what a change was shown for is what it is made to, whoever swaps folders,
//! links and contents meanwhile.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use brattice_files::edit::{Edit, Order, Rule};
use brattice_files::{
    Apply, EditFault, Expected, FaultKind, FileEdits, Fingerprint, Links, Written,
};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::folder::Folder;

fn write(
    folder: &Folder,
    path: &Path,
    expected: Expected,
    links: Links,
) -> Result<Written, FaultKind> {
    let journal = folder.journal();
    let context = brattice_files::Context { links, ..folder.context(&journal) };
    let written = brattice_files::write(path, "written\n", expected, Apply::Write, context);
    written.map_err(|fault| fault.kind)
}

/// Ends the exchanges when it is dropped, also where an assertion fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What came of writes to a path whose folder somebody exchanged meanwhile.
#[derive(Default)]
struct Raced {
    /// So many were made.
    written: usize,
    /// So many met a link.
    met_a_link: usize,
    /// Whether something arrived behind the link.
    has_arrived: bool,
}

/// Writes to a path whose folder somebody exchanges with a link to another one, over and over, until that was hit or it is
/// enough.
fn raced(links: Links) -> Raced {
    let folder = Folder::new();
    folder.put("d/f", "old\n");
    folder.put("elsewhere/f", "old\n");
    symlink(folder.path("elsewhere"), folder.path("link")).unwrap();
    let (d, link) = (folder.path("d"), folder.path("link"));
    let (exchanges, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut raced = Raced::default();
    std::thread::scope(|scope| {
        let _over = Over(&is_over);
        let exchanging = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &d, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                exchanges.fetch_add(1, Ordering::Relaxed);
            }
        });
        while exchanges.load(Ordering::Relaxed) == 0 {
            assert!(!exchanging.is_finished(), "nothing is exchanged");
            std::thread::yield_now();
        }
        for _ in 0..4000 {
            match write(&folder, &d.join("f"), Expected::Any, links) {
                Ok(_) => raced.written += 1,
                Err(FaultKind::Link) => raced.met_a_link += 1,
                // The folder was gone or another one in the middle.
                Err(_) => {}
            }
            raced.has_arrived = folder.content("elsewhere/f") != "old\n";
            if raced.has_arrived || raced.written > 100 && raced.met_a_link > 100 {
                break;
            }
        }
    });
    raced
}

#[test]
fn a_folder_that_is_swapped_for_a_link_moves_no_exact_write() {
    assert!(raced(Links::Follow).has_arrived, "the attack works where links are followed");
    let Raced { written, met_a_link, has_arrived } = raced(Links::Refuse);
    assert!(!has_arrived);
    assert!(written > 0 && met_a_link > 0, "{written} were made, {met_a_link} met a link");
}

#[test]
fn a_link_anywhere_on_an_exact_path_is_a_fault() {
    let folder = Folder::new();
    folder.put("real/f", "old\n");
    symlink(folder.path("real"), folder.path("folder")).unwrap();
    symlink(folder.path("real/f"), folder.path("file")).unwrap();
    symlink(folder.path("nowhere"), folder.path("dangling")).unwrap();
    for name in ["folder/f", "folder/new/g", "file", "dangling"] {
        let answer = write(&folder, &folder.path(name), Expected::Any, Links::Refuse);
        assert_eq!(answer.unwrap_err(), FaultKind::Link, "{name}");
    }
    assert_eq!(folder.content("real/f"), "old\n");
    assert!(write(&folder, &folder.path("real/f"), Expected::Any, Links::Refuse).is_ok());
    assert!(write(&folder, &folder.path("real/a/b"), Expected::Absent, Links::Refuse).is_ok());
    assert_eq!(
        folder.names(),
        ["dangling", "file", "folder", "real/", "real/a/", "real/a/b", "real/f"]
    );
}

fn edits(path: PathBuf, expected: Expected) -> FileEdits {
    let edit = Edit { old: "b".to_owned(), new: "B".to_owned(), rule: Rule::Once };
    FileEdits { path, edits: vec![edit], order: Order::Original, expected }
}

#[test]
fn an_edit_is_made_to_the_content_that_it_was_worked_out_for_or_not_at_all() {
    let folder = Folder::new();
    let (one, two) = (folder.put("1", "a\nb\n"), folder.put("2", "b\n"));
    let shown = folder
        .edit(
            &[edits(one.clone(), Expected::Any), edits(two.clone(), Expected::Any)],
            Apply::DryRun,
        )
        .unwrap();
    let expected: Vec<Expected> =
        shown.iter().map(|edited| Expected::Fingerprint(edited.before)).collect();
    assert_eq!(expected[0], Expected::Fingerprint(Fingerprint::of(b"a\nb\n")));
    fs::write(&two, "b\nsomebody else's\n").unwrap();
    let both = [edits(one.clone(), expected[0]), edits(two.clone(), expected[1])];
    let faults = folder.edit(&both, Apply::Write).unwrap_err();
    let kinds: Vec<_> = faults
        .iter()
        .map(|fault| match &fault.fault {
            EditFault::File(file) => (fault.file, Some(file.kind.clone())),
            EditFault::Refused { .. } => (fault.file, None),
        })
        .collect();
    assert_eq!(kinds, [(1, Some(FaultKind::Unexpected))]);
    assert_eq!(folder.content("1"), "a\nb\n");
    fs::write(&two, "b\n").unwrap();
    folder.edit(&both, Apply::Write).unwrap();
    assert_eq!((folder.content("1"), folder.content("2")), ("a\nB\n".into(), "B\n".into()));
}
