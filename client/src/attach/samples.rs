//! A model with something in it, for tests.

use brattice_protocol::approval::{ApprovalChoice, ApprovalList, ApprovalOption, ApprovalRequest};
use brattice_protocol::hello::Peer;
use brattice_protocol::outcome::Denial;
use brattice_protocol::session::{SessionSummary, ToolsetName};
use brattice_protocol::task::{TaskKind, TaskStatus, TaskSummary};
use brattice_protocol::{ApprovalId, CallId, Mode, Network, SessionId, TaskId};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Size;

use super::keys::Input;
use super::output::{Piece, Read};
use super::state::{Event, Model, Start, Told, Wish, next};

/// The time in all of it.
pub(super) const NOW: u64 = 1_000_000_000;

pub(super) fn session(id: &str, running: usize) -> SessionSummary {
    SessionSummary {
        session: SessionId::new(id),
        label: None,
        workspace: "/home/you/api".to_owned(),
        mode: Mode::WorkspaceWrite,
        toolset: ToolsetName::Standard,
        network: Network::Full,
        attached: true,
        plan: false,
        lost: false,
        running,
        opened: NOW - 65_000,
    }
}

pub(super) fn task(number: u64, status: TaskStatus, command: &str) -> TaskSummary {
    TaskSummary {
        task: TaskId::numbered(number),
        kind: TaskKind::Bash,
        status,
        cause: None,
        exit_code: (status == TaskStatus::Completed).then_some(0),
        signal: None,
        reason: None,
        background: true,
        command: command.to_owned(),
        started: NOW - 12_000,
        ended: status.is_final().then_some(NOW - 2_000),
        timeout_ms: None,
        bytes: 21,
        last_output: None,
        cpu_ms: 0,
        processes: 1,
        denials_total: None,
    }
}

pub(super) fn approval(id: &str, command: &str) -> ApprovalRequest {
    ApprovalRequest {
        id: ApprovalId::new(id),
        session: SessionId::new("01a2aaaa-0000"),
        call: CallId::new("c"),
        tool: "bash".to_owned(),
        title: "A title".to_owned(),
        kind: "execute".to_owned(),
        command: Some(command.to_owned()),
        diff: Vec::new(),
        workdir: "/home/you/api".to_owned(),
        from: Mode::WorkspaceWrite,
        to: Mode::DangerFullAccess,
        justification: Some("the tests need it".to_owned()),
        rule: None,
        denials: vec![Denial {
            operation: "create".to_owned(),
            path: "/etc/x".to_owned(),
            second_path: None,
            grant: None,
            layer: "landlock".to_owned(),
            needs: "danger-full-access".to_owned(),
            count: 1,
        }],
        options: [
            ApprovalChoice::AllowOnce,
            ApprovalChoice::AllowAlways,
            ApprovalChoice::RejectOnce,
        ]
        .map(ApprovalOption::from)
        .to_vec(),
        expires: NOW + 90_000,
    }
}

/// A model that events happen to.
pub(super) struct Case {
    pub(super) model: Model,
}

impl Case {
    pub(super) fn new(width: u16, height: u16) -> Case {
        let daemon = Peer { name: "bratticed".to_owned(), version: "0".to_owned() };
        Case { model: Model::new(daemon, Start::Allowed, Size { width, height }, NOW) }
    }

    /// Two sessions, and the tasks of the newer one.
    pub(super) fn busy(width: u16, height: u16) -> Case {
        let mut case = Case::new(width, height);
        case.tell(Told::Sessions(vec![session("01a2aaaa-0000", 0), session("01a2bbbb-0000", 1)]));
        let tasks = vec![
            task(1, TaskStatus::Completed, "make test"),
            task(2, TaskStatus::Running, "npm start\n# second"),
        ];
        case.tell(Told::Tasks(SessionId::new("01a2bbbb-0000"), tasks.into()));
        case
    }

    pub(super) fn happen(&mut self, event: Event) -> Vec<Wish> {
        let (model, wishes) = next(self.model.clone(), event);
        self.model = model;
        wishes
    }

    pub(super) fn tell(&mut self, told: Told) {
        assert_eq!(self.happen(Event::Told(told)), Vec::new());
    }

    pub(super) fn ask(&mut self, requests: &[ApprovalRequest]) {
        self.tell(Told::Approvals(ApprovalList { approvals: requests.to_vec(), omitted: 0 }));
    }

    /// Presses a key; a sign, or one of the others by its name.
    pub(super) fn press(&mut self, name: &str) -> Vec<Wish> {
        let (code, modifiers) = match name {
            "enter" => (KeyCode::Enter, KeyModifiers::NONE),
            "esc" => (KeyCode::Esc, KeyModifiers::NONE),
            "tab" => (KeyCode::Tab, KeyModifiers::NONE),
            "up" => (KeyCode::Up, KeyModifiers::NONE),
            "down" => (KeyCode::Down, KeyModifiers::NONE),
            "pgup" => (KeyCode::PageUp, KeyModifiers::NONE),
            "pgdn" => (KeyCode::PageDown, KeyModifiers::NONE),
            "backspace" => (KeyCode::Backspace, KeyModifiers::NONE),
            "ctrl-c" => (KeyCode::Char('c'), KeyModifiers::CONTROL),
            "ctrl-z" => (KeyCode::Char('z'), KeyModifiers::CONTROL),
            sign => (KeyCode::Char(sign.chars().next().unwrap()), KeyModifiers::NONE),
        };
        self.happen(Event::Input(Input::Key(KeyEvent::new(code, modifiers))))
    }

    /// Types a text, key by key.
    pub(super) fn type_in(&mut self, text: &str) {
        for sign in text.chars() {
            assert_eq!(self.press(&sign.to_string()), Vec::new());
        }
    }

    /// Reads what is wanted from an output that is these bytes, until nothing of it is missing.
    pub(super) fn print(&mut self, bytes: &[u8], status: TaskStatus) {
        for _ in 0..10 {
            let Some(read) = self.model.wants().read else { return };
            let Read { sought, .. } = read;
            let from = match sought {
                super::output::Sought::From(from) => usize::try_from(from).unwrap(),
                _ => 0,
            };
            let piece = Piece { offset: from as u64, bytes: bytes[from..].to_vec(), status };
            let is_all = piece.bytes.is_empty();
            self.tell(Told::Read(read, Ok(piece)));
            if is_all {
                return;
            }
        }
    }
}
