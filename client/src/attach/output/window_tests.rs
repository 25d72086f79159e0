//! Windows that grow at either end and never without bound.

use super::*;

fn texts(window: &Window) -> Vec<String> {
    (0..window.len()).map(|index| text(window.line(index).unwrap())).collect()
}

fn text(line: &Line) -> String {
    line.runs.iter().map(|run| run.text.as_str()).collect()
}

/// A window on this much of a stream, which came at once.
fn of(offset: u64, bytes: &[u8]) -> Window {
    let mut window = Window::at(offset);
    window.append(offset, bytes, Keep::Last);
    window
}

#[test]
fn pieces_make_the_lines_that_the_whole_makes() {
    let stream = "one\n\u{1b}[31mtwo\nthr\u{e9}e\u{1b}[0m\n\nlast".as_bytes();
    let whole = of(0, stream);
    assert_eq!(texts(&whole), ["one", "two", "thrée", "", "last"]);
    for cut in 0..stream.len() {
        let mut window = Window::at(0);
        window.append(0, &stream[..cut], Keep::Last);
        window.append(cut as u64, &stream[cut..], Keep::Last);
        assert_eq!(window, whole, "cut at {cut}");
        assert_eq!((window.from(), window.to()), (0, stream.len() as u64));
    }
}

#[test]
fn lines_are_found_by_their_offsets() {
    let window = of(10, b"one\ntwo\nlast");
    for (offset, index) in [(0, 0), (10, 0), (13, 0), (14, 1), (17, 1), (18, 2), (100, 2)] {
        assert_eq!(window.index(offset), index, "{offset}");
    }
    assert_eq!(Window::at(5).index(5), 0);
    let offsets: Vec<u64> = (0..3).map(|index| window.line(index).unwrap().offset).collect();
    assert_eq!(offsets, [10, 14, 18]);
    assert_eq!(window.line(3), None);
}

#[test]
fn what_stands_before_is_put_before() {
    let stream = b"zero\none\ntwo\nthree\n";
    let mut window = of(9, &stream[9..]);
    window.prepend(2, &stream[2..9], Begin::Anywhere);
    assert_eq!(
        (texts(&window), window.from()),
        (vec!["one".into(), "two".into(), "three".into()], 5)
    );
    window.prepend(0, &stream[..5], Begin::Line);
    assert_eq!(texts(&window), ["zero", "one", "two", "three"]);
    assert_eq!((window.from(), window.to()), (0, stream.len() as u64));
    // The end of a line that is longer than what was read stands there as it is.
    let mut window = of(6, b"def\n");
    window.prepend(3, b"abc", Begin::Anywhere);
    assert_eq!((texts(&window), window.from()), (vec!["abc".into(), "def".into()], 3));
}

#[test]
fn what_was_not_kept_is_said() {
    let mut window = of(0, b"head");
    window.append(1_000, b"tail\n", Keep::Last);
    assert_eq!(texts(&window), ["head", "[996 bytes were dropped here]", "tail"]);
    let mut window = of(1_000, b"tail\n");
    window.missing_before(4);
    window.prepend(0, b"head", Begin::Line);
    assert_eq!(texts(&window), ["head", "[996 bytes were dropped here]", "tail"]);
    assert_eq!((window.from(), window.to()), (0, 1_005));
}

#[test]
fn a_line_without_end_is_shown_in_pieces() {
    let window = of(0, "é".repeat(LONGEST).as_bytes());
    assert_eq!(texts(&window), ["é".repeat(LONGEST / 2), "é".repeat(LONGEST / 2)]);
    // One that is drawn again and again is none.
    let progress: String = (0..5_000).map(|percent| format!("\r{percent} done")).collect();
    assert_eq!(texts(&of(0, progress.as_bytes())), ["4999 done"]);
    assert_eq!(texts(&of(0, format!("{progress}\r\nnext\n").as_bytes())), ["4999 done", "next"]);
}

#[test]
fn nothing_grows_without_bound() {
    let cases: [&[u8]; 4] = [b"\n", b"x", b"\x1b[31mx\x1b[32my", b"\x1b]0;"];
    for piece in cases {
        let chunk = piece.repeat((32 << 10) / piece.len());
        let (mut window, mut at) = (Window::at(0), 0);
        for _ in 0..15 {
            window.append(at, &chunk, Keep::Last);
            at += chunk.len() as u64;
            assert!(window.bytes <= MOST_BYTES && window.lines.len() <= MOST_LINES);
            let held: usize = window.lines.iter().map(Line::bytes).sum();
            assert_eq!(window.bytes, held);
        }
        assert_eq!(window.to(), at);
        // Back to the beginning, as somebody scrolls.
        while window.from() > 0 {
            let from = window.from();
            let offset = from.saturating_sub(chunk.len() as u64);
            let first = if offset == 0 { Begin::Line } else { Begin::Anywhere };
            let bytes: Vec<u8> = piece
                .iter()
                .copied()
                .cycle()
                .skip(offset as usize % piece.len())
                .take((from - offset) as usize)
                .collect();
            window.prepend(offset, &bytes, first);
            assert!(window.from() < from, "{piece:?} at {from}");
            assert!(window.bytes <= MOST_BYTES && window.lines.len() <= MOST_LINES);
        }
        // And on from there: nothing is missing.
        while window.to() < at {
            let to = window.to();
            let bytes: Vec<u8> = piece
                .iter()
                .copied()
                .cycle()
                .skip(to as usize % piece.len())
                .take(chunk.len().min((at - to) as usize))
                .collect();
            window.append(to, &bytes, Keep::Last);
            assert!(window.to() > to, "{piece:?} at {to}");
        }
    }
}

#[test]
fn what_falls_out_is_read_again_as_it_was() {
    let stream: String =
        (0..10_000).map(|number| format!("\u{1b}[3{}m{number}\n", number % 8)).collect();
    let stream = stream.as_bytes();
    let mut window = Window::at(0);
    window.append(0, stream, Keep::First);
    assert_eq!((window.len(), texts(&window)[MOST_READ - 1].as_str()), (MOST_READ, "1999"));
    let mut seen: Vec<String> = texts(&window);
    while window.to() < stream.len() as u64 {
        let to = window.to();
        window.append(to, &stream[to as usize..], Keep::First);
        let first = window.index(to);
        seen.extend(texts(&window).split_off(first));
        assert!(window.len() <= MOST_LINES);
    }
    assert!(seen.iter().enumerate().all(|(number, text)| *text == number.to_string()));
    assert_eq!(seen.len(), 10_000);
    // The colour of a line is that in which it was printed, however it was come by.
    let whole = of(0, stream);
    assert_eq!(window.line(window.len() - 1), whole.line(whole.len() - 1));
    assert_eq!(window.to(), stream.len() as u64);
    assert_eq!(texts(&window).last().unwrap(), "9999");
}
