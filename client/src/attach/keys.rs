//! Keys: from what the terminal says to what is meant, and in what words that is told. One table serves all three of the keys
//! that act, the line at the bottom and the help, so that none says what another does not do.
//!
//! A thread reads the terminal, for such a read cannot be called off; it ends with the program.

use std::io;

use ratatui::crossterm::event::{self, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Size;
use tokio::sync::mpsc;

/// What somebody may want.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Leave.
    Quit,
    /// Stop this program, as a shell lets its user do.
    Suspend,
    /// Draw everything anew.
    Redraw,
    /// Show what the keys do.
    Help,
    /// Go to the next part of the screen, or the one before.
    Next,
    /// See [`Action::Next`].
    Previous,
    /// Go to what waits for an answer.
    Waiting,
    /// Give one part the whole screen, or give it back.
    Zoom,
    /// One line up.
    Up,
    /// One line down.
    Down,
    /// One screen up.
    PageUp,
    /// One screen down.
    PageDown,
    /// To the first line.
    First,
    /// To the last line, and on with it.
    Last,
    /// Into what is selected, or yes.
    Enter,
    /// Out again, or no.
    Back,
    /// Show the other stream.
    OtherStream,
    /// Stop the selected task.
    Stop,
    /// Allow what is asked, this once.
    AllowOnce,
    /// Allow it for the session.
    AllowAlways,
    /// Reject it.
    Reject,
    /// Approve a plan.
    Approve,
    /// Answer questions.
    Answer,
    /// Kill at once instead of asking first.
    Force,
    /// Start a daemon.
    Start,
}

/// Where keys go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    /// A list of sessions or tasks.
    List,
    /// Output.
    Output,
    /// An approval that waits for an answer.
    Asked,
    /// Questions that do.
    Questions,
    /// A plan that does.
    Plan,
    /// The options of a question.
    Options,
    /// An answer in one's own words, below the options.
    Own,
    /// A question whether something is really meant.
    Confirm,
    /// The same, of a kill.
    Kill,
    /// A line to type into.
    Text,
    /// The help.
    Help,
    /// No daemon is there.
    Down,
}

/// A key that means something.
struct Binding {
    keys: &'static [Key],
    action: Action,
    /// How it is called.
    name: &'static str,
    /// What it does, in a word or two.
    does: &'static str,
    contexts: &'static [Context],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Sign(char),
    Control(char),
    Code(KeyCode),
}

use Context::{
    Asked, Confirm, Down, Help, Kill, List, Options, Output, Own, Plan, Questions, Text,
};

const LOOKING: &[Context] = &[List, Output, Asked, Questions, Plan, Down];
const READING: &[Context] = &[List, Output, Asked, Questions, Plan, Help, Down];
const ANYWHERE: &[Context] =
    &[List, Output, Asked, Questions, Plan, Options, Own, Confirm, Kill, Text, Help, Down];

macro_rules! bindings {
    ($($($key:expr),+ => $action:ident, $name:literal, $does:literal, $contexts:expr;)*) => {
        &[$(Binding {
            keys: &[$($key),+],
            action: Action::$action,
            name: $name,
            does: $does,
            contexts: $contexts,
        }),*]
    };
}

/// All of them, in the order in which they are told.
const BINDINGS: &[Binding] = bindings![
    Key::Sign('y') => AllowOnce, "y", "allow once", &[Asked];
    Key::Sign('a') => AllowAlways, "a", "for the session", &[Asked];
    Key::Sign('n') => Reject, "n", "reject", &[Asked];
    Key::Code(KeyCode::Enter) => Answer, "Enter", "answer", &[Questions];
    Key::Sign('n') => Reject, "n", "no answer", &[Questions];
    Key::Sign('y') => Approve, "y", "approve", &[Plan];
    Key::Sign('n') => Reject, "n", "keep planning", &[Plan];
    Key::Code(KeyCode::Enter) => Enter, "Enter", "choose, and on", &[Options];
    Key::Code(KeyCode::Enter) => Enter, "Enter", "on", &[Own];
    Key::Code(KeyCode::Enter) => Enter, "Enter", "yes", &[Confirm, Kill];
    Key::Sign('f') => Force, "f", "yes, without grace", &[Kill];
    Key::Code(KeyCode::Enter) => Enter, "Enter", "send", &[Text];
    Key::Sign('S') => Start, "S", "start a daemon", &[Down];
    Key::Code(KeyCode::Enter) => Enter, "Enter", "open", &[List, Down];
    Key::Sign('o') => OtherStream, "o", "stdout/stderr", &[List, Output];
    Key::Sign('x') => Stop, "x", "stop it", &[List, Output];
    Key::Sign('w') => Waiting, "w", "what waits", &[List, Output];
    Key::Code(KeyCode::Esc) => Back, "Esc", "back", ANYWHERE;
    Key::Sign('?') => Help, "?", "help", LOOKING;
    Key::Sign('q') => Quit, "q", "quit", READING;
    Key::Code(KeyCode::Tab), Key::Code(KeyCode::Right), Key::Sign('l') => Next, "Tab", "next part", LOOKING;
    Key::Code(KeyCode::BackTab), Key::Code(KeyCode::Left), Key::Sign('h') => Previous, "Shift-Tab", "part before", LOOKING;
    Key::Code(KeyCode::Up) => Up, "Up", "up", &[Options, Own];
    Key::Code(KeyCode::Down) => Down, "Down", "down, to your own words", &[Options];
    Key::Code(KeyCode::Up), Key::Sign('k') => Up, "Up", "up", READING;
    Key::Code(KeyCode::Down), Key::Sign('j') => Down, "Down", "down", READING;
    Key::Code(KeyCode::PageUp), Key::Control('b') => PageUp, "PgUp", "a screen up", READING;
    Key::Code(KeyCode::PageDown), Key::Control('f'), Key::Sign(' ') => PageDown, "PgDn", "a screen down", READING;
    Key::Code(KeyCode::Home), Key::Sign('g') => First, "g", "beginning", LOOKING;
    Key::Code(KeyCode::End), Key::Sign('G') => Last, "G", "end, and follow", LOOKING;
    Key::Sign('z') => Zoom, "z", "whole screen", LOOKING;
    Key::Control('c') => Quit, "Ctrl-C", "quit", ANYWHERE;
    Key::Control('z') => Suspend, "Ctrl-Z", "suspend", ANYWHERE;
    Key::Control('l') => Redraw, "Ctrl-L", "draw anew", ANYWHERE;
];

/// What a key means there.
pub(crate) fn action(context: Context, key: KeyEvent) -> Option<Action> {
    let has = |modifier| key.modifiers.contains(modifier);
    let pressed = match key.code {
        _ if has(KeyModifiers::ALT) => return None,
        KeyCode::Char(sign) if has(KeyModifiers::CONTROL) => {
            Key::Control(sign.to_ascii_lowercase())
        }
        KeyCode::Char(sign) => Key::Sign(sign),
        code => Key::Code(code),
    };
    let mut bindings = BINDINGS.iter().filter(|binding| binding.contexts.contains(&context));
    bindings.find(|binding| binding.keys.contains(&pressed)).map(|binding| binding.action)
}

/// The keys of a place: how each is called, and what it does.
pub(crate) fn told(context: Context) -> impl Iterator<Item = (&'static str, &'static str)> {
    let here = BINDINGS.iter().filter(move |binding| binding.contexts.contains(&context));
    here.map(|binding| (binding.name, binding.does))
}

/// All of them by where they are used, each once, as the help tells them.
pub(crate) fn help() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let has = |binding: &&Binding, context| binding.contexts.contains(&context);
    let part = |wanted: &dyn Fn(&&Binding) -> bool| {
        let bindings = BINDINGS.iter().filter(wanted);
        bindings.map(|binding| (binding.name, binding.does)).collect()
    };
    let only = |context| part(&|binding| has(binding, context) && !has(binding, Output));
    vec![
        ("An approval that waits", only(Asked)),
        ("Questions that wait", only(Questions)),
        ("A plan that waits", only(Plan)),
        (
            "Sessions, tasks, output",
            part(&|binding| (has(binding, List) || has(binding, Output)) && !has(binding, Asked)),
        ),
        ("Everywhere", part(&|binding| has(binding, Output) && has(binding, Asked))),
    ]
}

/// What happens at the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A key.
    Key(KeyEvent),
    /// Text that was pasted. It is never taken for keys: what somebody copied may hold any letter.
    Pasted(String),
    /// Another size.
    Resized(Size),
}

/// Inputs that wait to be taken; the terminal keeps what comes after them.
const QUEUE: usize = 64;

/// Reads the terminal from now on; the last thing that comes is why it cannot be read any more.
pub(super) fn read() -> mpsc::Receiver<io::Result<Input>> {
    let (sender, inputs) = mpsc::channel(QUEUE);
    std::thread::spawn(move || {
        loop {
            let input = event::read().map(input).transpose();
            let Some(input) = input else { continue };
            let is_over = input.is_err();
            if sender.blocking_send(input).is_err() || is_over {
                return;
            }
        }
    });
    inputs
}

fn input(event: event::Event) -> Option<Input> {
    match event {
        event::Event::Key(key) if key.kind == KeyEventKind::Release => None,
        event::Event::Key(key) => Some(Input::Key(key)),
        event::Event::Paste(text) => Some(Input::Pasted(text)),
        event::Event::Resize(width, height) => Some(Input::Resized(Size { width, height })),
        event::Event::FocusGained | event::Event::FocusLost | event::Event::Mouse(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
        KeyEvent::new(code, modifiers)
    }

    #[test]
    fn a_key_means_what_its_place_says() {
        let (none, control) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
        let cases = [
            (Asked, KeyCode::Char('y'), none, Some(Action::AllowOnce)),
            (List, KeyCode::Char('y'), none, None),
            (Text, KeyCode::Char('y'), none, None),
            (Text, KeyCode::Char('q'), none, None),
            (Text, KeyCode::Char('c'), control, Some(Action::Quit)),
            (Text, KeyCode::Enter, none, Some(Action::Enter)),
            (Confirm, KeyCode::Enter, none, Some(Action::Enter)),
            (Confirm, KeyCode::Char('y'), none, None),
            (Confirm, KeyCode::Char('f'), none, None),
            (Kill, KeyCode::Char('f'), none, Some(Action::Force)),
            (Output, KeyCode::Char('G'), KeyModifiers::SHIFT, Some(Action::Last)),
            (Output, KeyCode::Char('x'), KeyModifiers::ALT, None),
            (List, KeyCode::Char('S'), none, None),
            (Down, KeyCode::Char('S'), none, Some(Action::Start)),
        ];
        for (context, code, modifiers, meant) in cases {
            assert_eq!(action(context, pressed(code, modifiers)), meant, "{code:?} in {context:?}");
        }
    }

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for context in ANYWHERE {
            let here = BINDINGS.iter().filter(|binding| binding.contexts.contains(context));
            let keys: Vec<Key> = here.flat_map(|binding| binding.keys).copied().collect();
            let is_double = |key: &&Key| keys.iter().filter(|other| *other == *key).count() > 1;
            assert_eq!(keys.iter().filter(is_double).count(), 0, "{context:?}");
            assert!(told(*context).any(|(name, _)| name == "Ctrl-C"));
        }
    }

    #[test]
    fn a_key_that_is_let_go_is_no_key() {
        let key =
            KeyEvent::new_with_kind(KeyCode::Char('a'), KeyModifiers::NONE, KeyEventKind::Release);
        assert_eq!(input(event::Event::Key(key)), None);
        assert_eq!(input(event::Event::Paste("y".to_owned())), Some(Input::Pasted("y".to_owned())));
    }
}
