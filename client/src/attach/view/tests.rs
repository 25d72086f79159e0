//! Whole screens.

use brattice_protocol::question::{Question, QuestionOption, QuestionRequest};
use brattice_protocol::session::SessionSummary;
use brattice_protocol::task::{TaskStatus, TaskSummary};
use brattice_protocol::{CallId, Mode, QuestionId, SessionId};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier};

use super::*;
use crate::attach::keys::{self, Context};
use crate::attach::samples::{Case, approval, session, task};
use crate::attach::state::{Asked, Told};

fn frame(case: &Case, theme: Theme) -> Buffer {
    let size = case.model.screen;
    let mut terminal = Terminal::new(TestBackend::new(size.width, size.height)).unwrap();
    terminal.draw(|frame| draw(&case.model, theme, frame)).unwrap();
    terminal.backend().buffer().clone()
}

/// The screen as lines, each after a line feed and without blanks at its end.
fn screen(case: &Case) -> String {
    let buffer = frame(case, Theme::Plain);
    let rows = buffer.content.chunks(usize::from(buffer.area.width));
    let text = rows.map(|row| {
        let line: String = row.iter().map(|cell| cell.symbol()).collect();
        format!("\n{}", line.trim_end())
    });
    text.collect()
}

#[test]
fn sessions_tasks_and_output_fit_on_the_usual_terminal() {
    let mut case = Case::busy(80, 14);
    case.print(b"listening on 8080\n\x1b[32mok\x1b[0m GET /\n", TaskStatus::Running);
    assert_eq!(
        screen(&case),
        "
 brattice  2 sessions, 1 task runs
─ Sessions 2 ───────────────────│─ bash-2 runs · 12s · 21B · npm sta… following
▸01a2bbbb write 1 runs api      │listening on 8080
 01a2aaaa write api             │ok GET /
─ Tasks 2 ──────────────────────│
▸bash-2 runs 12s  npm start …   │
 bash-1 done 10s  make test     │
                                │
                                │
                                │
                                │
                                │
                                │
 Enter open  o stdout/stderr  x stop it  w what waits  Esc back  ? help  q quit"
    );
}

#[test]
fn a_question_is_shown_in_full() {
    let mut case = Case::busy(80, 24);
    let command = "mkdir /etc/x\necho a line that is too long for its part of the screen";
    case.ask(&[approval("01a2cccc-0000-7000-8000-000000000000", command), approval("b", "ls")]);
    case.press("w");
    assert_eq!(
        screen(&case),
        "
 brattice  2 sessions, 1 task runs   2 questions wait: w
─ Waiting 2 ────────────────────│─ bash 1 of 2 ─────────────────────────────────
▸DANGER mkdir /etc/x …          │01a2cccc-0000-7000-8000-000000000000  bash
 DANGER ls                      │workspace-write → danger-full-access  ends in
─ Sessions 2 ───────────────────│1m 30s
▸01a2bbbb write 1 runs api      │  session  01a2aaaa-0000
 01a2aaaa write api             │  folder   /home/you/api
─ Tasks 2 ──────────────────────│  command  │ mkdir /etc/x
▸bash-2 runs 12s  npm start …   │           │ echo a line that is too long for i
 bash-1 done 10s  make test     │           ┆ ts part of the screen
                                │           (2 lines, 68 bytes)
                                │  because  the tests need it
                                │  denied   create /etc/x
                                │  note     the files that it runs and reads are
                                │           not part of the approval, and may
                                │           change until it runs
                                │
                                │
                                │
                                │
                                │
                                │
                                │
 y allow once  a for the session  n reject  Esc back  ? help  q quit"
    );
}

#[test]
fn a_question_back_shows_which_one_is_answered() {
    let mut case = Case::busy(60, 16);
    let long = "x".repeat(100);
    let command = format!("one\n{long}\nthree\nfour\nfive\nsix");
    case.ask(&[approval("a", &command)]);
    case.press("w");
    case.press("a");
    assert_eq!(
        screen(&case),
        "
 brattice  2 sessions, 1 task runs   1 question waits: w
─ Waiting 1 ────────────────────────────────────────────────
▸┌ Allow exactly this for the rest of the session? ───────┐
─│ workspace-write → danger-full-access                   │─
a│ bash in /home/you/api                                  │
3│ │ one                                                  │
 │ │ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx │
 │ ┆ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx     │
 │ │ three                                                │
 │ │ four                                                 │x
 │ │ five                                                 │x
 │ and 1 more rows: Esc, and read them                    │
 └────────────────────────────────────────────────────────┘
           │ four
           │ five
 Enter yes  Esc back  Ctrl-C quit  Ctrl-Z suspend"
    );
    case.press("esc");
    case.press("n");
    case.type_in("because of the moon, which is in the wrong place for this sort of thing");
    assert_eq!(
        screen(&case).lines().skip(2).take(14).collect::<Vec<_>>().join("\n"),
        "\
─│ workspace-write → danger-full-access                   │─
▸│ bash in /home/you/api                                  │
─│ │ one                                                  │─
a│ │ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx │
3│ ┆ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx     │
 │ │ three                                                │
 │ │ four                                                 │
 │ │ five                                                 │
 │ and 1 more rows: Esc, and read them                    │x
 │                                                        │x
 │ Why? The model is told. Nothing need be said.          │
 │ …  which is in the wrong place for this sort of thing  │
 └────────────────────────────────────────────────────────┘
           │ five"
    );
}

#[test]
fn a_narrow_terminal_shows_one_part_at_a_time() {
    let mut case = Case::busy(40, 8);
    case.print(b"a line that is longer than forty columns, so it goes on\n", TaskStatus::Running);
    assert_eq!(
        screen(&case),
        "
 brattice  2 sessions, 1 task runs
─ Tasks 2 ──────────────────────────────
▸bash-2 runs 12s  npm start …
 bash-1 done 10s  make test



 Enter open  o stdout/stderr  x stop it"
    );
    case.press("enter");
    assert_eq!(
        screen(&case),
        "
 brattice  2 sessions, 1 task runs
─ bash-2 runs · 12s · 21B · … following
a line that is longer than forty columns
, so it goes on



 o stdout/stderr  x stop it"
    );
    case.press("esc");
    case.press("esc");
    assert_eq!(screen(&case).lines().nth(2).unwrap().trim_end_matches('─'), "─ Sessions 2 ");
}

#[test]
fn every_size_can_be_drawn() {
    for focus in [Focus::Asked, Focus::Sessions, Focus::Tasks, Focus::Output] {
        for (width, height) in
            (0..90).step_by(3).flat_map(|width| (0..30).map(move |height| (width, height)))
        {
            let mut case = Case::busy(width, height);
            case.ask(&[approval("a", "one\ntwo"), approval("b", "three")]);
            case.print(b"some output\n", TaskStatus::Running);
            case.model.focus = focus;
            for key in ["", "?", "n", "y", "x"] {
                if !key.is_empty() {
                    case.press(key);
                }
                let buffer = frame(&case, Theme::Coloured);
                assert_eq!((buffer.area.width, buffer.area.height), (width, height));
                case.press("esc");
                case.model.focus = focus;
            }
        }
    }
    assert!(screen(&Case::busy(20, 5)).starts_with("\nat least 24x6, pleas"));
}

#[test]
fn a_daemon_that_is_gone_is_told_with_what_was_seen_last() {
    let mut case = Case::busy(80, 8);
    case.print(b"kept\n", TaskStatus::Running);
    case.tell(Told::Gone("none answers".to_owned()));
    assert_eq!(
        screen(&case),
        "
 brattice  no daemon (none answers); tasks in the background go on
─ Sessions 2 ───────────────────│─ bash-2 runs · 12s · 21B · npm sta… following
▸01a2bbbb write 1 runs api      │kept
 01a2aaaa write api             │
─ Tasks 2 ──────────────────────│
▸bash-2 runs 12s  npm start …   │
 bash-1 done 10s  make test     │
 S start a daemon  Enter open  Esc back  ? help  q quit  Tab next part"
    );
}

#[test]
fn nothing_is_said_to_be_nothing() {
    let case = Case::new(80, 8);
    assert_eq!(
        screen(&case),
        "
 brattice  0 sessions, 0 tasks run
─ Sessions 0 ───────────────────│─ Nothing runs ────────────────────────────────
 none                           │ No session is open. What an agent runtime
─ Tasks 0 ──────────────────────│ asks for is shown here, and what is started
                                │ by
                                │ brattice task start -- 'make test'
                                │
 Enter open  o stdout/stderr  x stop it  w what waits  Esc back  ? help  q quit"
    );
    let mut case = Case::busy(80, 8);
    case.print(b"", TaskStatus::Running);
    assert!(screen(&case).contains("│ nothing on stdout; o shows stderr\n"), "{}", screen(&case));
    case.press("h");
    assert!(screen(&case).contains("│ mode           workspace-write\n"), "{}", screen(&case));
}

#[test]
fn nothing_of_others_acts_on_the_terminal() {
    let hostile = "x\u{1b}[2J\u{9b}1m\u{202e}\u{2066}\r\u{7}\u{200b}";
    let mut case = Case::new(100, 40);
    let summary = SessionSummary {
        label: Some(hostile.to_owned()),
        workspace: format!("/{hostile}"),
        mode: Mode::DangerFullAccess,
        ..session("01a2aaaa-0000", 1)
    };
    case.tell(Told::Sessions(vec![summary]));
    let task = TaskSummary {
        signal: Some(hostile.to_owned()),
        reason: Some(hostile.to_owned()),
        ..task(1, TaskStatus::Killed, hostile)
    };
    case.tell(Told::Tasks(SessionId::new("01a2aaaa-0000"), vec![task].into()));
    let mut request = approval("a", hostile);
    (request.tool, request.title, request.workdir) =
        (hostile.into(), hostile.into(), hostile.into());
    request.justification = Some(hostile.to_owned());
    request.rule = Some(hostile.to_owned());
    request.denials[0].path = hostile.to_owned();
    case.ask(&[request]);
    let is_safe = |case: &Case| {
        let text = screen(case);
        for sign in text.chars() {
            let is_harmless =
                sign == '\n' || !sign.is_control() && !"\u{202e}\u{2066}\u{200b}".contains(sign);
            assert!(is_harmless, "{sign:?} in\n{text}");
        }
        assert!(text.contains("x\\u{1b}[2J"), "{text}");
    };
    case.print(hostile.as_bytes(), TaskStatus::Killed);
    is_safe(&case);
    case.press("h");
    is_safe(&case);
    case.press("w");
    is_safe(&case);
    for key in ["y", "n"] {
        case.press(key);
        is_safe(&case);
        case.press("esc");
        case.press("w");
    }
    case.tell(Told::Gone(hostile.to_owned()));
    is_safe(&case);
}

#[test]
fn colours_are_a_commands_own_unless_nobody_wants_any() {
    let mut case = Case::busy(80, 24);
    case.print(b"\x1b[1;35mpurple\x1b[0m\n", TaskStatus::Running);
    let at = case.model.areas().output;
    let cell = |theme| frame(&case, theme)[(at.x, at.y)].clone();
    let coloured = cell(Theme::Coloured);
    assert_eq!((coloured.fg, coloured.modifier), (Color::Magenta, Modifier::BOLD));
    let plain = cell(Theme::Plain);
    assert_eq!((plain.fg, plain.modifier), (Color::Reset, Modifier::BOLD));
    let buffer = frame(&case, Theme::Plain);
    assert!(buffer.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
}

#[test]
fn questions_are_shown_and_answered_over_the_screen() {
    let mut case = Case::busy(80, 18);
    let option = |label: &str, means: Option<&str>| QuestionOption {
        label: label.to_owned(),
        description: means.map(str::to_owned),
    };
    case.tell(Told::Pending(Asked::Questions(QuestionRequest {
        id: QuestionId::new("01a2cccc"),
        session: SessionId::new("01a2aaaa-0000"),
        call: CallId::new("c"),
        questions: vec![Question {
            id: "db".to_owned(),
            question: "Which data base is it to be?\u{1b}[2J".to_owned(),
            header: Some("Storage".to_owned()),
            options: vec![
                option("SQLite", Some("a file, and nothing to look after\u{202e}")),
                option("PostgreSQL", None),
            ],
            multi_select: false,
        }],
    })));
    case.press("w");
    assert_eq!(
        screen(&case).lines().skip(2).take(8).collect::<Vec<_>>().join("\n"),
        "\
─ Waiting 1 ────────────────────│─ question 1 of 1 ─────────────────────────────
▸question Which data base is it │01a2cccc  asks
─ Sessions 2 ───────────────────│  session  01a2aaaa-0000
▸01a2bbbb write 1 runs api      │  db  Storage: Which data base is it to
 01a2aaaa write api             │  be?\\u{1b}[2J
─ Tasks 2 ──────────────────────│    1. SQLite  a file, and nothing to look
▸bash-2 runs 12s  npm start …   │    after\\u{202e}
 bash-1 done 10s  make test     │    2. PostgreSQL"
    );
    case.press("enter");
    case.press("2");
    assert_eq!(
        screen(&case).lines().skip(6).take(7).collect::<Vec<_>>().join("\n"),
        " 01a┌ Question 1 of 1 ─────────────────────────────────────────────────────┐
─ Ta│ Storage: Which data base is it to be?\\u{1b}[2J                       │
▸bas│ ( ) 1. SQLite: a file, and nothing to look after\\u{202e}             │
 bas│ (x) 2. PostgreSQL                                                    │
    │ > in your own words                                                  │
    └──────────────────────────────────────────────────────────────────────┘
                                │"
    );
    assert!(
        screen(&case)
            .ends_with("\n Enter choose, and on  Esc back  Up up  Down down, to your own words"),
        "{}",
        screen(&case)
    );
    case.press("enter");
    assert!(screen(&case).contains("┌ Answer so? "), "{}", screen(&case));
    assert!(screen(&case).contains("│   PostgreSQL "), "{}", screen(&case));
}

#[test]
fn the_help_has_every_key() {
    let mut case = Case::busy(80, 60);
    case.press("?");
    let text = screen(&case);
    let contexts =
        [Context::Asked, Context::Questions, Context::Plan, Context::Output, Context::List];
    for (name, does) in contexts.into_iter().flat_map(keys::told) {
        assert!(text.contains(&format!("{name:<10} {does}")), "{name} in\n{text}");
    }
    let mut case = Case::busy(80, 10);
    case.press("?");
    let first = screen(&case);
    case.press("pgdn");
    assert_ne!(screen(&case), first);
}
