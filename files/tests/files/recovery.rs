//! What a recovery leaves alone, and what it finds elsewhere.

use std::fs;

use brattice_files::{Errno, Recovered, State, recover};
use rustix::fs::{FlockOperation, flock};

use crate::crash::{Scenario, Trace, killed};
use crate::folder::Folder;

/// A workspace whose writer died when both names of the exchange were changed.
fn exchanged() -> Folder {
    let call = Trace::of(Scenario::Exchange, &[]).after("renameat2(");
    killed(Scenario::Exchange, &call, &[])
}

fn state(folder: &Folder) -> Vec<State> {
    recover(&folder.journal()).unwrap().files.into_iter().map(|file| file.state).collect()
}

#[test]
fn a_writer_that_lives_is_left_alone() {
    let folder = exchanged();
    let record = fs::read_dir(folder.journal()).unwrap().next().unwrap().unwrap().path();
    let held = fs::File::open(record).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    let recovery = recover(&folder.journal()).unwrap();
    assert_eq!((recovery.live, recovery.files.len()), (1, 0));
    assert!(folder.content("a").contains("new"));
    drop(held);
    assert_eq!(
        recover(&folder.journal()).unwrap().files,
        [Recovered { path: folder.path("a"), state: State::Old }]
    );
    assert_eq!(folder.names(), ["a", "b", "b2", "c"]);
}

#[test]
fn a_workspace_that_was_renamed_is_found() {
    let folder = exchanged();
    let (here, there) = (folder.root().join("ws"), folder.root().join("renamed"));
    fs::rename(&here, &there).unwrap();
    fs::create_dir(&here).unwrap();
    fs::write(here.join("a"), "another\n").unwrap();
    assert_eq!(state(&folder), [State::Old]);
    assert!(fs::read_to_string(there.join("a")).unwrap().contains("old"));
    assert_eq!(fs::read_dir(&there).unwrap().count(), 4);
    assert_eq!(folder.names(), ["a"]);
}

#[test]
fn a_workspace_that_is_gone_keeps_its_record_until_it_is_back() {
    let folder = exchanged();
    let elsewhere = Folder::new();
    fs::rename(folder.root().join("ws"), elsewhere.root().join("moved")).unwrap();
    for _ in 0..2 {
        assert_eq!(state(&folder), [State::Unfinished { errno: Errno::NOENT }]);
    }
    fs::rename(elsewhere.root().join("moved"), folder.root().join("ws")).unwrap();
    assert_eq!(state(&folder), [State::Old]);
    assert_eq!(folder.names(), ["a", "b", "b2", "c"]);
}

#[test]
fn what_others_changed_since_stays() {
    let folder = exchanged();
    folder.put("a", "edited by hand\n");
    assert_eq!(state(&folder), [State::Foreign { kept: None }]);
    assert_eq!((folder.content("a").as_str(), folder.names().len()), ("edited by hand\n", 4));
}

#[test]
fn what_others_changed_of_a_hard_link_stays_and_the_old_content_is_kept() {
    let call = Trace::of(Scenario::Linked, &[]).at("ftruncate(");
    let folder = killed(Scenario::Linked, &call, &[]);
    let old = "b: old and more of it\n".repeat(3);
    folder.put("b2", "edited by hand\n");
    let states = state(&folder);
    let [State::Foreign { kept: Some(kept) }] = &states[..] else {
        panic!("{states:?}");
    };
    assert_eq!(fs::read_to_string(kept).unwrap(), old);
    fs::remove_file(kept).unwrap();
    assert_eq!((folder.content("b").as_str(), folder.names().len()), ("edited by hand\n", 4));
}

#[test]
fn what_is_no_record_is_harmless() {
    let folder = Folder::new();
    for (name, text) in
        [("a.journal", ""), ("b.journal", "brattice-files 1\nfile exch"), ("c.journal", "what\n")]
    {
        fs::write(folder.journal().join(name), text).unwrap();
    }
    // A terabyte, all of it a hole: nobody could hold what it reads as.
    let huge = fs::File::create(folder.journal().join("d.journal")).unwrap();
    huge.set_len(1 << 40).unwrap();
    assert_eq!(state(&folder), []);
    assert_eq!(fs::read_dir(folder.journal()).unwrap().count(), 0);
    assert_eq!(folder.names(), Vec::<String>::new());
}
