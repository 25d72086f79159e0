//! Panes over streams that are read as the daemon reads them.

use super::*;

const AREA: Size = Size { width: 10, height: 4 };

fn pane() -> Pane {
    Pane::new(Which {
        session: SessionId::new("s"),
        task: TaskId::new("bash-1"),
        stream: Stream::Stdout,
    })
}

/// A stream of which a part may be missing, read as the daemon reads it.
struct Spool {
    bytes: Vec<u8>,
    missing: std::ops::Range<u64>,
    status: TaskStatus,
}

impl Spool {
    fn of(bytes: &[u8], status: TaskStatus) -> Spool {
        Spool { bytes: bytes.to_vec(), missing: 0..0, status }
    }

    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn piece(&self, from: u64, to: u64) -> Piece {
        let bytes = self.bytes[from as usize..to as usize].to_vec();
        Piece { offset: from, bytes, status: self.status }
    }

    fn read(&self, sought: Sought) -> Piece {
        let after = |from: u64| if self.missing.contains(&from) { self.missing.end } else { from };
        match sought {
            Sought::Tail => self.piece(after(self.len().saturating_sub(PIECE)), self.len()),
            Sought::Start => self.read(Sought::From(0)),
            Sought::From(from) => {
                let from = after(from);
                let until = if from < self.missing.start { self.missing.start } else { self.len() };
                self.piece(from, (from + PIECE).min(until))
            }
            Sought::Before(to) if self.missing.end == to => {
                let to = self.missing.start;
                self.piece(to.saturating_sub(PIECE), to)
            }
            Sought::Before(to) => self.piece(after(to.saturating_sub(PIECE)), to),
        }
    }

    /// Reads what the pane wants until it wants nothing, or only what does not come yet.
    fn feed(&self, pane: &mut Pane) {
        for _ in 0..10_000 {
            let Some(read) = pane.wants(AREA) else { return };
            let piece = self.read(read.sought);
            let is_news = !piece.bytes.is_empty() || self.status.is_final();
            pane.take(read.sought, piece);
            if !is_news && matches!(read.sought, Sought::From(_)) {
                return;
            }
        }
        panic!("it never has enough");
    }
}

fn shown(pane: &Pane) -> Vec<String> {
    let rows = pane.rows(AREA);
    rows.iter().map(|row| row.iter().map(|run| run.text.as_str()).collect()).collect()
}

fn numbers(count: usize) -> Vec<u8> {
    (0..count).map(|number| format!("{number}\n")).collect::<String>().into_bytes()
}

#[test]
fn the_end_is_shown_and_followed() {
    let mut pane = pane();
    let mut stream = Spool::of(b"", TaskStatus::Running);
    stream.feed(&mut pane);
    assert_eq!((shown(&pane), pane.is_empty()), (vec![], true));
    stream.bytes = numbers(6);
    stream.feed(&mut pane);
    assert_eq!(
        (shown(&pane), pane.side()),
        (["2", "3", "4", "5"].map(str::to_owned).to_vec(), Side::Following)
    );
    stream.bytes.extend_from_slice(b"a line that is long");
    stream.feed(&mut pane);
    assert_eq!(shown(&pane), ["4", "5", "a line tha", "t is long"]);
    stream.status = TaskStatus::Completed;
    stream.feed(&mut pane);
    assert_eq!(pane.wants(AREA), None, "nothing more comes");
}

#[test]
fn what_somebody_reads_stays_where_it_is() {
    let (mut pane, mut stream) = (pane(), Spool::of(&numbers(10), TaskStatus::Running));
    stream.feed(&mut pane);
    pane.scroll(-2, AREA);
    assert_eq!(
        (shown(&pane), pane.side()),
        (["4", "5", "6", "7"].map(str::to_owned).to_vec(), Side::Reading)
    );
    stream.bytes = numbers(30);
    stream.feed(&mut pane);
    assert_eq!(shown(&pane), ["4", "5", "6", "7"]);
    pane.scroll(5, AREA);
    assert_eq!(shown(&pane), ["9", "10", "11", "12"]);
    pane.scroll(1_000, AREA);
    stream.feed(&mut pane);
    assert_eq!(
        (shown(&pane), pane.side()),
        (["26", "27", "28", "29"].map(str::to_owned).to_vec(), Side::Following)
    );
}

#[test]
fn all_of_a_large_output_can_be_scrolled_to() {
    let count = 200_000;
    let (mut pane, stream) = (pane(), Spool::of(&numbers(count), TaskStatus::Completed));
    stream.feed(&mut pane);
    for end in (4..count).rev().step_by(7_000) {
        while shown(&pane)[3] != end.to_string() {
            pane.scroll(-7, AREA);
            stream.feed(&mut pane);
        }
    }
    pane.show_start();
    stream.feed(&mut pane);
    assert_eq!(shown(&pane), ["0", "1", "2", "3"]);
    pane.scroll(-1, AREA);
    assert_eq!(shown(&pane), ["0", "1", "2", "3"]);
    for first in (0..7_000).step_by(7) {
        assert_eq!(shown(&pane)[0], first.to_string());
        pane.scroll(7, AREA);
        stream.feed(&mut pane);
    }
    assert_eq!(pane.side(), Side::Reading);
    pane.show_end();
    stream.feed(&mut pane);
    assert_eq!(shown(&pane)[3], (count - 1).to_string());
    assert_eq!(pane.side(), Side::Following);
}

#[test]
fn what_was_not_kept_is_passed_over() {
    let bytes = numbers(50_000);
    let middle = |number: usize| {
        bytes.windows(7).position(|text| text == format!("\n{number}\n").as_bytes()).unwrap() as u64
    };
    let stream = Spool {
        missing: middle(10_000) + 1..middle(49_990) + 1,
        ..Spool::of(&bytes, TaskStatus::Completed)
    };
    let mut pane = pane();
    stream.feed(&mut pane);
    assert_eq!(shown(&pane)[3], "49999");
    pane.scroll(-10, AREA);
    stream.feed(&mut pane);
    let gap = stream.missing.end - stream.missing.start;
    assert_eq!(shown(&pane).concat(), format!("[{gap} bytes were dropped here]"));
    pane.scroll(-1, AREA);
    stream.feed(&mut pane);
    assert_eq!(shown(&pane)[0], "9999");
    pane.show_start();
    stream.feed(&mut pane);
    assert_eq!(shown(&pane)[0], "0");
}

#[test]
fn who_falls_behind_sees_what_is_newest() {
    let (mut pane, stream) = (pane(), Spool::of(&numbers(2_000_000), TaskStatus::Running));
    pane.take(Sought::Tail, Piece { offset: 0, bytes: Vec::new(), status: TaskStatus::Running });
    let mut reads = Vec::new();
    while reads.last() != Some(&Sought::Tail) {
        let Read { sought, .. } = pane.wants(AREA).unwrap();
        pane.take(sought, stream.read(sought));
        reads.push(sought);
    }
    assert_eq!(reads.len(), BEHIND + 1);
    assert_eq!(shown(&pane)[3], "1999999");
}

#[test]
fn a_pane_of_another_size_shows_the_same_place() {
    let (mut pane, stream) = (
        pane(),
        Spool::of(b"0123456789abcdefghij\nsecond\nthird\nfourth\nfifth\n", TaskStatus::Completed),
    );
    stream.feed(&mut pane);
    pane.show_start();
    pane.scroll(1, AREA);
    assert_eq!(shown(&pane)[0], "abcdefghij");
    let wide = Size { width: 40, height: 4 };
    assert_eq!(pane.rows(wide)[0][0].text, "0123456789abcdefghij");
    let flat = Size { width: 40, height: 0 };
    assert_eq!(pane.rows(flat).len(), 0);
    pane.scroll(1, flat);
    pane.scroll(-1, Size { width: 0, height: 0 });
}

#[test]
fn what_cannot_be_read_is_asked_for_no_more() {
    let mut pane = pane();
    pane.fail("no task bash-1".to_owned());
    assert_eq!((pane.wants(AREA), pane.fault()), (None, Some("no task bash-1")));
    pane.retry();
    assert_eq!(pane.wants(AREA).unwrap().sought, Sought::Tail);
}
