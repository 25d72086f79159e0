//! Logs that were written as they should be, and what becomes of them when somebody changes something.

use std::convert::Infallible;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::audit::Change;
use crate::{CallId, SessionId};

/// A log in the making: files of lines, and a part of a line where a file has one.
#[derive(Clone, Debug)]
struct Log {
    files: Vec<Vec<Vec<u8>>>,
    head: Head,
}

impl Log {
    fn new() -> Self {
        Log { files: vec![Vec::new()], head: Head::START }
    }

    fn write(&mut self, event: &Event) -> &mut Self {
        let mut line = Vec::new();
        self.head = self.head.append(&mut line, 1_764_000_000_000, event).unwrap();
        self.last().push(line);
        self
    }

    fn call(&mut self, number: usize) -> &mut Self {
        let arguments = json!({"command": format!("make {number}")});
        self.write(&Event::Call {
            session: SessionId::new("s"),
            call: CallId::new(format!("call-{number}")),
            tool: "bash".to_owned(),
            arguments,
        })
    }

    fn rotate(&mut self) -> &mut Self {
        self.files.push(Vec::new());
        self
    }

    fn tear(&mut self, part: &[u8]) -> TornTail {
        let file = number(self.files.len());
        self.last().push(part.to_vec());
        TornTail { file, bytes: part.len() as u64, sha256: Digest::of(part) }
    }

    fn last(&mut self) -> &mut Vec<Vec<u8>> {
        self.files.last_mut().unwrap()
    }

    fn check(&self) -> Result<Verified, Break> {
        self.check_with(None)
    }

    fn check_with(&self, noted: Option<Head>) -> Result<Verified, Break> {
        let lines = (1..).zip(&self.files).flat_map(|(file, lines)| {
            let place = move |line| Place { file: number(file), line };
            (1..).zip(lines).map(move |(line, bytes)| (place(line), bytes.clone()))
        });
        let Ok(verdict) = verify(lines.map(Ok::<_, Infallible>), noted);
        verdict
    }

    /// The same bytes, cut into lines anew.
    fn relined(mut self) -> Self {
        for file in &mut self.files {
            *file =
                file.concat().split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        }
        self
    }
}

fn number(file: usize) -> FileNumber {
    std::iter::successors(Some(FileNumber::FIRST), |file| Some(file.next())).nth(file - 1).unwrap()
}

/// Three files of these many lines.
fn three(lines: [usize; 3]) -> Log {
    let mut log = Log::new();
    let mut count = 0;
    for (file, lines) in lines.into_iter().enumerate() {
        if file > 0 {
            log.rotate();
        }
        for _ in 0..lines {
            count += 1;
            log.call(count);
        }
    }
    log
}

fn fault(log: &Log) -> (String, Fault) {
    let Break { place, fault } = log.check().unwrap_err();
    (place.to_string(), fault)
}

#[test]
fn a_log_that_nobody_touched_is_whole() {
    let log = three([3, 2, 1]);
    let expected = Verified { first: 1, head: Some(log.head), about: Vec::new(), unfinished: 0 };
    assert_eq!(log.check_with(Some(log.head)), Ok(expected));
    assert_eq!(Log::new().check(), Ok(Verified::default()));
}

#[test]
fn a_removed_a_doubled_and_a_swapped_line_are_found() {
    let whole = three([3, 2, 1]);
    let mut log = whole.clone();
    log.files[0].remove(1);
    let number = |expected, found| Fault::Number { expected, found };
    assert_eq!(fault(&log), ("00000001.jsonl:2".to_owned(), number(2, 3)));
    let mut log = whole.clone();
    let twice = log.files[1][0].clone();
    log.files[1].insert(0, twice);
    assert_eq!(fault(&log), ("00000002.jsonl:2".to_owned(), number(5, 4)));
    let mut log = whole.clone();
    log.files[0].swap(1, 2);
    assert_eq!(fault(&log), ("00000001.jsonl:2".to_owned(), number(2, 3)));
}

#[test]
fn a_removed_file_is_found_at_the_beginning_and_in_the_middle() {
    let whole = three([3, 2, 1]);
    let mut log = whole.clone();
    log.files[0].clear();
    assert_eq!(fault(&log), ("00000002.jsonl:1".to_owned(), Fault::Beginning { first: 4 }));
    let mut log = whole;
    log.files[1].clear();
    let expected = Fault::Number { expected: 4, found: 6 };
    assert_eq!(fault(&log), ("00000003.jsonl:1".to_owned(), expected));
}

#[test]
fn files_that_were_removed_for_their_age_are_accounted_for_and_no_others() {
    let mut log = three([3, 2, 0]);
    let through = log.head.seq - 2;
    let boundary = Digest::of(&log.files[0][2]);
    log.write(&Event::Pruned { files: vec![FileNumber::FIRST], through, sha256: boundary });
    log.call(9);
    assert_eq!(log.check().unwrap().first, 1, "the file may still be there after a crash");
    log.files[0].clear();
    let verified = log.check().unwrap();
    assert_eq!((verified.first, verified.head, verified.about.len()), (4, Some(log.head), 1));
    log.files[1].clear();
    assert_eq!(fault(&log), ("00000003.jsonl:1".to_owned(), Fault::Beginning { first: 6 }));
}

#[test]
fn a_torn_line_must_be_accounted_for_by_the_next_one() {
    let mut log = three([2, 0, 0]);
    let end = log.head;
    log.files.truncate(1);
    let tail = log.tear(b"{\"seq\":3,\"ti");
    let verified = log.check().unwrap();
    assert_eq!((verified.unfinished, verified.head), (12, Some(end)), "nobody had to by now");

    let mut silent = log.clone();
    silent.rotate().call(3);
    assert_eq!(fault(&silent), ("00000001.jsonl:3".to_owned(), Fault::Torn { bytes: 12 }));

    log.rotate().write(&Event::Recovered { tails: vec![tail] }).call(4);
    let verified = log.check().unwrap();
    assert_eq!((verified.unfinished, verified.about.len()), (0, 1));

    let mut changed = log.clone();
    changed.files[0][2][3] ^= 1;
    let place = "00000002.jsonl:1".to_owned();
    assert_eq!(fault(&changed), (place.clone(), Fault::NoSuchTail));
    log.files[0].pop();
    assert_eq!(fault(&log), (place, Fault::NoSuchTail));
}

#[test]
fn parts_of_lines_in_several_files_are_accounted_for_together() {
    let mut log = three([2, 0, 0]);
    log.files.truncate(1);
    let boundary = log.head;
    let first = log.tear(b"one");
    log.rotate();
    let second = log.tear(b"two");
    log.rotate().write(&Event::Recovered { tails: vec![first, second] });
    let pruned = vec![number(1), number(2)];
    let Head { seq: through, sha256 } = boundary;
    log.write(&Event::Pruned { files: pruned, through, sha256 });
    assert!(log.check().is_ok());
    log.files[0].clear();
    assert!(log.check().is_ok(), "the first of the files was removed before a crash");
    log.files[1].clear();
    assert!(log.check().is_ok(), "both were removed");
}

#[test]
fn events_of_newer_versions_are_lines_like_others() {
    let mut log = three([2, 0, 0]);
    let Head { seq, sha256 } = log.head;
    let seq = seq + 1;
    let line = format!(
        "{}\n",
        json!({"seq": seq, "time": 1, "prev": sha256, "event": "novelty", "x": [1]})
    );
    log.head = Head { seq, sha256: Digest::of(line.as_bytes()) };
    log.last().push(line.into_bytes());
    log.call(4);
    assert_eq!(log.check().unwrap().head.unwrap().seq, 4);
}

#[test]
fn a_noted_end_tells_whether_the_log_still_holds_it() {
    let mut log = three([3, 2, 1]);
    let ends = |log: &Log| {
        let ends = log.files.iter().flatten().zip(1..);
        ends.map(|(line, seq)| Head { seq, sha256: Digest::of(line) }).collect::<Vec<_>>()
    };
    for noted in ends(&log) {
        assert!(log.check_with(Some(noted)).is_ok(), "{noted:?}");
    }
    let noted =
        |log: &Log, seq, sha256| log.check_with(Some(Head { seq, sha256 })).unwrap_err().fault;
    let other = Digest::of(b"other");
    let found = Digest::of(&log.files[1][0]);
    assert_eq!(noted(&log, 4, other), Fault::Noted { seq: 4, found });
    assert_eq!(noted(&log, 7, other), Fault::Missing { seq: 7, last: 6 });
    log.files[2].pop();
    assert_eq!(noted(&log, 6, log.head.sha256), Fault::Missing { seq: 6, last: 5 });

    let end = Digest::of(&log.files[0][2]);
    log.head = Head { seq: 5, sha256: Digest::of(&log.files[1][1]) };
    log.write(&Event::Pruned { files: vec![number(1)], through: 3, sha256: end });
    log.files[0].clear();
    assert!(log.check_with(Some(Head { seq: 3, sha256: end })).is_ok());
    assert_eq!(noted(&log, 3, other), Fault::Noted { seq: 3, found: end });
    assert_eq!(noted(&log, 2, other), Fault::TooOld { seq: 2, first: 4 });
}

#[test]
fn a_log_that_was_written_anew_is_found_by_what_was_noted_only() {
    let noted = three([3, 2, 1]).head;
    let mut anew = Log::new();
    for _ in 0..8 {
        anew.write(&Event::LogChanged { file: number(1), found: Change::Resized });
    }
    assert!(anew.check().is_ok());
    assert!(matches!(anew.check_with(Some(noted)).unwrap_err().fault, Fault::Noted { seq: 6, .. }));
}

proptest! {
    #[test]
    fn any_changed_byte_is_found(
        lines in [1_usize..4, 1..4, 1..4],
        at in any::<prop::sample::Index>(),
        flip in 1_u8..,
    ) {
        let log = three(lines);
        let mut bytes: Vec<(usize, usize, usize)> = Vec::new();
        for (file, lines) in log.files.iter().enumerate() {
            for (line, text) in lines.iter().enumerate() {
                bytes.extend((0..text.len()).map(|byte| (file, line, byte)));
            }
        }
        let (file, line, byte) = bytes[at.index(bytes.len())];
        let mut changed = log.clone();
        changed.files[file][line][byte] ^= flip;
        let changed = changed.relined();
        prop_assert!(changed.check_with(Some(log.head)).is_err());
        let is_last = file == 2 && line + 1 == lines[2];
        prop_assert!(is_last || changed.check().is_err(), "{:?}", (file, line, byte));
    }

    #[test]
    fn any_removed_or_swapped_line_is_found(
        lines in [1_usize..4, 1..4, 1..4],
        one in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
    ) {
        let log = three(lines);
        let mut all: Vec<Vec<u8>> = log.files.concat();
        let (one, other) = (one.index(all.len()), other.index(all.len()));
        if one == other {
            all.remove(one);
        } else {
            all.swap(one, other);
        }
        let changed = Log { files: vec![all], head: log.head };
        prop_assert!(changed.check_with(Some(log.head)).is_err());
        let is_cut_off = one == other && one == log.head.seq as usize - 1;
        prop_assert!(is_cut_off || changed.check().is_err());
    }

    #[test]
    fn any_cut_in_the_middle_of_the_last_line_leaves_the_rest_whole(cut in 1_usize..50) {
        let mut log = three([2, 1, 2]);
        let line = log.last().pop().unwrap();
        log.last().push(line[..cut].to_vec());
        let verified = log.check().unwrap();
        prop_assert_eq!((verified.head.unwrap().seq, verified.unfinished), (4, cut as u64));
    }
}
